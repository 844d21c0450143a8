//! CALL_INTRINSIC_1 and CALL_INTRINSIC_2, and 3.11's operations that became intrinsics.
use super::calls::want_function;
use super::containers::list_to_tuple;
use super::machine::Machine;
use super::slot::{Slot, Tag};
use crate::error::Result;

pub(super) fn want_exc_or_none(m: &Machine<'_>, from_top: usize) -> Result<()> {
    if matches!(m.peek(from_top).tag(), Tag::ExcOrNone | Tag::Exc | Tag::None | Tag::Any) {
        return Ok(());
    }
    Err(m.wrong_type(from_top, "an exception or None"))
}

/// It reads the fields of every item of the list.
pub(super) fn prep_reraise_star(m: &mut Machine<'_>) -> Result<()> {
    m.want(0, Tag::ExcList, "a list from BUILD_LIST 0 that holds nothing but exceptions and None")?;
    m.want_exc(1)?;
    m.drop(2);
    m.push(Slot::of(Tag::ExcOrNone));
    Ok(())
}

pub(super) fn intrinsic_1(m: &mut Machine<'_>, arg: u32) -> Result<()> {
    m.want_object(0)?;
    let result = match arg {
        // STOPITERATION_ERROR
        3 => {
            m.want_exc(0)?;
            Tag::Exc
        }
        // LIST_TO_TUPLE
        6 => return list_to_tuple(m),
        // TYPEVAR, PARAMSPEC, TYPEVARTUPLE
        7..=9 => {
            m.want(0, Tag::Str, "a str")?;
            Tag::Obj
        }
        // SUBSCRIPT_GENERIC
        10 => {
            m.want_tuple(0, "a tuple of type parameters")?;
            Tag::Obj
        }
        // TYPEALIAS
        11 => {
            m.want(
                0,
                Tag::AliasTuple,
                "a tuple of a str, a tuple or None, and a function, made by BUILD_TUPLE 3",
            )?;
            Tag::Obj
        }
        // PRINT, IMPORT_STAR, ASYNC_GEN_WRAP, UNARY_POSITIVE
        _ => Tag::Obj,
    };
    m.poke(0, Slot::of(result));
    Ok(())
}

pub(super) fn intrinsic_2(m: &mut Machine<'_>, arg: u32) -> Result<()> {
    let result = match arg {
        // PREP_RERAISE_STAR
        1 => return prep_reraise_star(m),
        // TYPEVAR_WITH_BOUND, TYPEVAR_WITH_CONSTRAINTS
        2 | 3 => {
            m.want_object(0)?;
            m.want(1, Tag::Str, "a str")?;
            Slot::OBJ
        }
        // SET_FUNCTION_TYPE_PARAMS
        4 => {
            m.want_tuple(0, "a tuple of type parameters")?;
            want_function(m, 1)?
        }
        // SET_TYPEPARAM_DEFAULT
        _ => {
            m.want_objects(2)?;
            Slot::OBJ
        }
    };
    m.drop(2);
    m.push(result);
    Ok(())
}
