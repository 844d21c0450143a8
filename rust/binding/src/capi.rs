//! The few C API functions that `pyo3-ffi` does not declare, and small wrappers. Knows nothing of bytecode.
use pyo3::ffi;
use std::cell::UnsafeCell;
use std::ffi::c_int;

/// A Python object pointer, borrowed or owned as the place says.
pub type Obj = *mut ffi::PyObject;

unsafe extern "C" {
    /// Makes `op`, which has its type, a live object with one reference.
    pub fn _Py_NewReference(op: Obj);
    /// New reference to `co_code`, de-specialised and de-instrumented.
    pub fn PyCode_GetCode(code: Obj) -> Obj;
    pub fn PyCode_GetVarnames(code: Obj) -> Obj;
    pub fn PyCode_GetCellvars(code: Obj) -> Obj;
    pub fn PyCode_GetFreevars(code: Obj) -> Obj;
    #[cfg_attr(not(Py_3_12), link_name = "PyCode_NewWithPosOnlyArgs")]
    pub fn PyUnstable_Code_NewWithPosOnlyArgs(
        argcount: c_int,
        posonlyargcount: c_int,
        kwonlyargcount: c_int,
        nlocals: c_int,
        stacksize: c_int,
        flags: c_int,
        code: Obj,
        consts: Obj,
        names: Obj,
        varnames: Obj,
        freevars: Obj,
        cellvars: Obj,
        filename: Obj,
        name: Obj,
        qualname: Obj,
        firstlineno: c_int,
        linetable: Obj,
        exceptiontable: Obj,
    ) -> Obj;
}

/// `struct _PyCodeConstructor` of 3.11 and 3.12, which export what takes it: what variables there are is passed on as it is.
#[cfg(not(Py_3_13))]
#[repr(C)]
pub struct CodeConstructor {
    pub filename: Obj,
    pub name: Obj,
    pub qualname: Obj,
    pub flags: c_int,
    pub code: Obj,
    pub firstlineno: c_int,
    pub linetable: Obj,
    pub consts: Obj,
    pub names: Obj,
    pub localsplusnames: Obj,
    pub localspluskinds: Obj,
    pub argcount: c_int,
    pub posonlyargcount: c_int,
    pub kwonlyargcount: c_int,
    pub stacksize: c_int,
    pub exceptiontable: Obj,
}

#[cfg(not(Py_3_13))]
unsafe extern "C" {
    /// -1 with an exception set if the parts make no code object.
    pub fn _PyCode_Validate(parts: *const CodeConstructor) -> c_int;
    /// New reference.
    pub fn _PyCode_New(parts: *const CodeConstructor) -> Obj;
}

/// A static that only the holder of the GIL touches.
///
/// The module declares that it needs the GIL, and pydynamo refuses free-threaded builds, so one thread at a time runs
/// code of this crate; what a caller must still see to is that no reference outlives a call that may run Python code.
pub struct GilCell<T>(UnsafeCell<T>);

// SAFETY: every access goes through `get`, whose contract demands the GIL; see the type's documentation.
unsafe impl<T> Sync for GilCell<T> {}

impl<T> GilCell<T> {
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// The value.
    ///
    /// # Safety
    /// The caller holds the GIL, and does not keep the reference while Python code (or another call of this) may run.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn get(&self) -> &mut T {
        // SAFETY: the GIL is held and the reference is short-lived, by the contract above.
        unsafe { &mut *self.0.get() }
    }
}

/// The items of an exact tuple.
///
/// # Safety
/// `tuple` is a live tuple that outlives `'a`; tuples do not change.
pub unsafe fn tuple_items<'a>(tuple: Obj) -> &'a [Obj] {
    // SAFETY: a tuple holds `Py_SIZE` items from `ob_item` on.
    unsafe {
        let len = ffi::Py_SIZE(tuple) as usize;
        let first = (&raw const (*tuple.cast::<ffi::PyTupleObject>()).ob_item).cast::<Obj>();
        std::slice::from_raw_parts(first, len)
    }
}

/// The content of a bytes object.
///
/// # Safety
/// `bytes` is a live bytes object (or a subclass) that outlives `'a`.
pub unsafe fn bytes_content<'a>(bytes: Obj) -> &'a [u8] {
    // SAFETY: a bytes object holds `Py_SIZE` bytes of content.
    unsafe {
        let len = ffi::Py_SIZE(bytes) as usize;
        std::slice::from_raw_parts(ffi::PyBytes_AS_STRING(bytes).cast::<u8>(), len)
    }
}

/// Asks the processor to fetch what `address` points to; it may be any address.
#[inline]
pub fn prefetch(address: Obj) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint: it reads nothing that a program could notice, and never faults.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
