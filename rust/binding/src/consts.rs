//! What the verifier must know of constants.
use crate::capi::{self, Obj};
use crate::layout::{CodeView, read};
use crate::locals::{FAST_FREE, trust_of, trust_of_parameter};
use crate::state::state;
use pydynamo_assembler::code::{ConstKind, Program, Trust};
use pydynamo_assembler::verify::first_loop;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

const CO_GENERATOR: i32 = 0x20;

/// What the verifier must know of each constant.
pub fn const_kinds(consts: &Bound<'_, PyTuple>, kinds: &mut Vec<ConstKind>) {
    // SAFETY: the tuple is alive and so are its items; only types and sizes are read.
    unsafe {
        kinds.clear();
        kinds.extend(capi::tuple_items(consts.as_ptr()).iter().map(|item| const_kind(*item)));
    }
}

/// What a code object takes its argument `.0` for.
///
/// # Safety
/// `object` is a live code object, and the GIL is held.
unsafe fn first_loop_of(object: Obj, local: u32) -> Trust {
    // SAFETY: as the contract says.
    let code = unsafe { Bound::from_borrowed_ptr(Python::assume_attached(), object) };
    let mut program = Program::default();
    match CodeView::new(&code).and_then(|view| crate::api::take_apart(&view, &mut program)) {
        Ok(()) => first_loop::wanted(state().version, &program, local),
        Err(_) => Trust::Iterator,
    }
}

/// Of which of these types an object is decides its kind.
const SIMPLE: [ConstKind; 6] =
    [ConstKind::Other, ConstKind::None, ConstKind::Str, ConstKind::Int, ConstKind::Bool, ConstKind::Slice];

/// # Safety
/// `object` is live, and the GIL is held.
unsafe fn const_kind(object: Obj) -> ConstKind {
    // SAFETY: each object's type is looked at before it is read as one of that type.
    unsafe {
        let ty = ffi::Py_TYPE(object);
        // Which it is is anybody's guess, so it is found without a branch.
        let types = [
            ffi::Py_TYPE(ffi::Py_None()),
            &raw mut ffi::PyUnicode_Type,
            &raw mut ffi::PyLong_Type,
            &raw mut ffi::PyBool_Type,
            &raw mut ffi::PySlice_Type,
            &raw mut ffi::PyTuple_Type,
            &raw mut ffi::PyCode_Type,
        ];
        let place = (1..).zip(types).map(|(place, it)| place * usize::from(ty == it)).sum::<usize>();
        match SIMPLE.get(place) {
            Some(kind) => *kind,
            None if ty == &raw mut ffi::PyTuple_Type => tuple_kind(object),
            None => code_kind(object),
        }
    }
}

/// # Safety
/// `object` is a live tuple.
unsafe fn tuple_kind(object: Obj) -> ConstKind {
    // SAFETY: as the contract says.
    unsafe {
        let items = capi::tuple_items(object);
        let len = items.len() as u32;
        if items.iter().all(|item| ffi::PyUnicode_CheckExact(*item) != 0) {
            ConstKind::StrTuple(len)
        } else {
            ConstKind::Tuple(len)
        }
    }
}

/// # Safety
/// `object` is a live code object, and the GIL is held.
unsafe fn code_kind(object: Obj) -> ConstKind {
    // SAFETY: as the contract says; the fields are bytes of kinds and a tuple of names.
    unsafe {
        let kinds = capi::bytes_content(read::<Obj>(object, state().layout.localspluskinds));
        let names = capi::tuple_items(read::<Obj>(object, state().layout.localsplusnames));
        let argcount = read::<i32>(object, state().layout.argcount) as usize;
        let flags = read::<i32>(object, state().layout.flags);
        let arg = |i: usize| {
            let mut trust = if i < argcount { trust_of_parameter(names[i]) } else { Trust::None };
            if let (0, Some(next)) = (i, names.get(1)) {
                trust = trust.of_first_parameter(trust_of(*next), argcount);
            }
            if trust == Trust::Iterator && flags as u32 & first_loop::ASYNC != 0 {
                first_loop_of(object, i as u32)
            } else {
                trust
            }
        };
        // What `*args` and `**kwargs` are the call decides.
        let parameters = argcount + read::<i32>(object, state().layout.kwonlyargcount) as usize;
        let takes_more =
            (0..parameters).any(|i| (i >= 2 || i >= argcount) && trust_of_parameter(names[i]).is_relied_on());
        let freevars = kinds.iter().filter(|kind| *kind & FAST_FREE != 0).count() as u32;
        let generator = flags & CO_GENERATOR != 0;
        ConstKind::Code { freevars, generator, args: [arg(0), arg(1)], takes_more }
    }
}
