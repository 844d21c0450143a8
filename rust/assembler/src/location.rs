//! Source positions of instructions. Owns the packed form; `linetable` owns the encoding.

/// An `i32` that may be absent, in four bytes.
///
/// Line numbers may be any value that the line table can carry, also 0 and negative ones, so absence needs a value of its
/// own: `i32::MIN`, which no table entry can reach and which never leaves this type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct OptI32(i32);

impl OptI32 {
    /// The absent value.
    pub const NONE: Self = Self(i32::MIN);

    /// A present value. `i32::MIN` itself becomes absent.
    #[must_use]
    pub const fn some(value: i32) -> Self {
        Self(value)
    }

    /// The value as an `Option`.
    #[must_use]
    pub const fn get(self) -> Option<i32> {
        if self.0 == i32::MIN { None } else { Some(self.0) }
    }

    /// The packed value: the absent one sorts below all others.
    #[inline]
    pub(crate) const fn raw(self) -> i32 {
        self.0
    }

    /// Whether a value is present.
    #[must_use]
    pub const fn is_some(self) -> bool {
        self.0 != i32::MIN
    }
}

impl From<Option<i32>> for OptI32 {
    fn from(value: Option<i32>) -> Self {
        value.map_or(Self::NONE, Self::some)
    }
}

impl std::fmt::Debug for OptI32 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.get().fmt(f)
    }
}

/// Where in the source an instruction comes from; any part may be unknown. Columns are UTF-8 byte offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// First line.
    pub line: OptI32,
    /// Last line.
    pub end_line: OptI32,
    /// First column.
    pub col: OptI32,
    /// Column after the last.
    pub end_col: OptI32,
}

impl Location {
    /// No location at all.
    pub const NONE: Self =
        Self { line: OptI32::NONE, end_line: OptI32::NONE, col: OptI32::NONE, end_col: OptI32::NONE };

    /// The same as `==`, in two comparisons: for loops that ask at every instruction.
    #[inline]
    #[must_use]
    pub(crate) const fn same(&self, other: &Self) -> bool {
        const fn pair(low: OptI32, high: OptI32) -> u64 {
            low.0 as u32 as u64 | (high.0 as u32 as u64) << 32
        }
        (pair(self.line, self.end_line) ^ pair(other.line, other.end_line))
            | (pair(self.col, self.end_col) ^ pair(other.col, other.end_col))
            == 0
    }

    /// A line without columns.
    #[must_use]
    pub const fn of_line(line: i32) -> Self {
        Self { line: OptI32::some(line), end_line: OptI32::some(line), ..Self::NONE }
    }
}
