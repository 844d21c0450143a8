//! Reads what `scripts/dump_corpus.py` wrote.
use pydynamo_assembler::code::RawCode;
use pydynamo_assembler::version::Version;

/// One code object.
#[allow(dead_code, reason = "not every user needs every field")]
pub struct Record {
    /// File, line and qualified name.
    pub name: String,
    pub code: Vec<u8>,
    pub linetable: Vec<u8>,
    pub exceptiontable: Vec<u8>,
    pub firstlineno: i32,
    pub stacksize: u32,
    pub flags: u32,
    pub locals: u32,
}

impl Record {
    pub fn raw(&self) -> RawCode<'_> {
        RawCode {
            code: &self.code,
            live: false,
            linetable: &self.linetable,
            exceptiontable: &self.exceptiontable,
            firstlineno: self.firstlineno,
        }
    }
}

/// The code objects of one interpreter.
pub struct Corpus {
    pub version: Version,
    pub records: Vec<Record>,
}

impl Corpus {
    /// Reads a file.
    ///
    /// # Panics
    /// If there is no such file, or it was not written by the script.
    pub fn load(path: &str) -> Self {
        let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let (minor, mut rest) = bytes.split_first().expect("an empty corpus");
        let version = Version::from_release(3, *minor).expect("an unknown version");
        let mut records = Vec::new();
        while !rest.is_empty() {
            let (head, mut body) = rest.split_at(32);
            let number =
                |i: usize| u32::from_le_bytes(head[4 * i..4 * i + 4].try_into().expect("four bytes"));
            let mut part = |i: usize| {
                let (part, tail) = body.split_at(number(i) as usize);
                body = tail;
                part.to_vec()
            };
            let (name, code, linetable, exceptiontable) = (part(0), part(1), part(2), part(3));
            let name = String::from_utf8_lossy(&name).into_owned();
            records.push(Record {
                name,
                code,
                linetable,
                exceptiontable,
                firstlineno: number(4) as i32,
                stacksize: number(5),
                flags: number(6),
                locals: number(7),
            });
            rest = body;
        }
        Self { version, records }
    }
}
