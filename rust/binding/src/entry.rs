//! `InstructionExnTabEntry`: an exception region as Python sees it.
use crate::instruction::short_of;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::{PyTraverseError, PyVisit};

/// An exception region: the instructions from `start` to `end`, both included, as they stand in the list, are protected
/// by the handler at `target`, to which the stack is unwound to `depth`.
///
/// One entry object may be shared by all instructions of its region. Regions may nest; the innermost counts. If `start`
/// or `end` is no longer in the list, the first or last instruction that carries the entry takes its place. An
/// instruction that carries the entry and stands elsewhere is protected, too, by itself.
#[pyclass(module = "pydynamo._core", weakref)]
pub struct InstructionExnTabEntry {
    start: Option<Py<PyAny>>,
    end: Option<Py<PyAny>>,
    target: Option<Py<PyAny>>,
    depth: u32,
    lasti: bool,
    /// Slots between the stack at `start` and `depth`, if disassembly made the entry and nobody set its depth since.
    pub height: Option<u32>,
    /// Scratch of the lowering pass: the place in the list of regions.
    pub stamp: u32,
    /// The batch that has just been made owns it, and the garbage collector does not know it yet.
    pub deferred: bool,
}

impl InstructionExnTabEntry {
    /// An entry as disassembly makes it, before it knows its instructions.
    pub fn disassembled(depth: u32, height: Option<u32>, lasti: bool) -> Self {
        Self { start: None, end: None, target: None, depth, lasti, height, stamp: 0, deferred: false }
    }

    /// Gives it its instructions.
    pub fn set_ends(&mut self, start: Py<PyAny>, end: Py<PyAny>, target: Py<PyAny>) {
        self.start = Some(start);
        self.end = Some(end);
        self.target = Some(target);
    }

    /// First instruction, last instruction, handler, as they are (None only after the collector broke a cycle).
    pub fn ends(&self) -> [Option<&Py<PyAny>>; 3] {
        [self.start.as_ref(), self.end.as_ref(), self.target.as_ref()]
    }

    /// Lets go of its instructions; for an entry that nobody will read again.
    pub fn let_go(&mut self) {
        self.start = None;
        self.end = None;
        self.target = None;
    }

    /// Asks for the memory of its instructions.
    pub fn prefetch(&self) {
        for object in self.ends().into_iter().flatten() {
            crate::instruction::prefetch(object.as_ptr());
        }
    }

    /// Stated depth.
    pub fn stated_depth(&self) -> u32 {
        self.depth
    }

    /// Whether the handler wants the offset of the raising instruction.
    pub fn wants_lasti(&self) -> bool {
        self.lasti
    }

    /// The three instructions.
    pub fn references<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyAny>> {
        self.ends().into_iter().flatten().map(|object| object.bind(py).clone()).collect()
    }

    /// An entry with the same fields.
    pub fn duplicate(&self, py: Python<'_>) -> Self {
        let own = |object: &Option<Py<PyAny>>| object.as_ref().map(|o| o.clone_ref(py));
        Self {
            start: own(&self.start),
            end: own(&self.end),
            target: own(&self.target),
            depth: self.depth,
            lasti: self.lasti,
            height: self.height,
            stamp: 0,
            deferred: false,
        }
    }

    /// Replaces the instructions that `map` knows.
    pub fn remap(&mut self, map: impl Fn(&Py<PyAny>) -> Option<Py<PyAny>>) {
        for slot in [&mut self.start, &mut self.end, &mut self.target] {
            if let Some(new) = slot.as_ref().and_then(&map) {
                *slot = Some(new);
            }
        }
    }
}

fn instruction(value: Bound<'_, PyAny>, what: &str) -> PyResult<Option<Py<PyAny>>> {
    if !crate::instruction::Instruction::check(value.as_ptr()) && !value.hasattr("opname")? {
        return Err(PyTypeError::new_err(format!(
            "{what} must be an Instruction, not {}",
            value.get_type().name()?
        )));
    }
    Ok(Some(value.unbind()))
}

#[pymethods]
impl InstructionExnTabEntry {
    #[new]
    fn new(
        start: Bound<'_, PyAny>,
        end: Bound<'_, PyAny>,
        target: Bound<'_, PyAny>,
        depth: u32,
        lasti: bool,
    ) -> PyResult<Self> {
        Ok(Self {
            start: instruction(start, "start")?,
            end: instruction(end, "end")?,
            target: instruction(target, "target")?,
            depth,
            lasti,
            height: None,
            stamp: 0,
            deferred: false,
        })
    }

    /// The first instruction of the region. Assigning it makes `depth` count as stated.
    #[getter]
    fn start(&self) -> Option<&Py<PyAny>> {
        self.start.as_ref()
    }

    #[setter]
    fn set_start(&mut self, value: Bound<'_, PyAny>) -> PyResult<()> {
        self.start = instruction(value, "start")?;
        self.height = None;
        Ok(())
    }

    /// The last instruction of the region.
    #[getter]
    fn end(&self) -> Option<&Py<PyAny>> {
        self.end.as_ref()
    }

    #[setter]
    fn set_end(&mut self, value: Bound<'_, PyAny>) -> PyResult<()> {
        self.end = instruction(value, "end")?;
        Ok(())
    }

    /// The first instruction of the handler.
    #[getter]
    fn target(&self) -> Option<&Py<PyAny>> {
        self.target.as_ref()
    }

    #[setter]
    fn set_target(&mut self, value: Bound<'_, PyAny>) -> PyResult<()> {
        self.target = instruction(value, "target")?;
        Ok(())
    }

    /// Stack depth to which the handler's stack is unwound.
    ///
    /// An entry that disassembly made follows the stack: when edits change the depth at `start`, assembly changes this
    /// depth by as much. Assigning it makes it count as stated.
    #[getter]
    fn depth(&self) -> u32 {
        self.depth
    }

    #[setter]
    fn set_depth(&mut self, value: u32) {
        self.depth = value;
        self.height = None;
    }

    /// Whether the offset of the raising instruction is pushed below the exception.
    #[getter]
    fn lasti(&self) -> bool {
        self.lasti
    }

    #[setter]
    fn set_lasti(&mut self, value: bool) {
        self.lasti = value;
    }

    /// How far `depth` lies below the stack at `start`, if it follows the stack.
    #[getter]
    fn _height(&self) -> Option<u32> {
        self.height
    }

    #[setter(_height)]
    fn set_height(&mut self, value: Option<u32>) {
        self.height = value;
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let [start, end, target] =
            self.ends().map(|o| o.map_or_else(|| "None".to_owned(), |o| short_of(o.bind(py))));
        let lasti = if self.lasti { "True" } else { "False" };
        format!(
            "InstructionExnTabEntry(start={start}, end={end}, target={target}, depth={}, lasti={lasti})",
            self.depth
        )
    }

    fn __richcmp__(&self, other: &Bound<'_, PyAny>, op: CompareOp) -> Py<PyAny> {
        let py = other.py();
        let (Ok(that), CompareOp::Eq | CompareOp::Ne) = (other.cast::<Self>(), op) else {
            return py.NotImplemented();
        };
        // The other one may be this one, which is borrowed already; two shared borrows are fine.
        let that = that.borrow();
        let identity = |ends: [Option<&Py<PyAny>>; 3]| ends.map(|o| o.map(Py::as_ptr));
        let equal = identity(self.ends()) == identity(that.ends())
            && (self.depth, self.lasti) == (that.depth, that.lasti);
        pyo3::types::PyBool::new(py, equal == matches!(op, CompareOp::Eq)).to_owned().into_any().unbind()
    }

    fn __copy__(&self, py: Python<'_>) -> Self {
        self.duplicate(py)
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        crate::instruction::deep_copy(slf.as_any(), memo)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let py = slf.py();
        let this = slf.borrow();
        let args =
            (this.ends()[0], this.ends()[1], this.ends()[2], this.depth, this.lasti).into_pyobject(py)?;
        Ok((slf.get_type().into_any(), args.into_any()))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        for object in self.ends().into_iter().flatten() {
            visit.call(object)?;
        }
        Ok(())
    }

    fn __clear__(&mut self) {
        self.let_go();
    }
}
