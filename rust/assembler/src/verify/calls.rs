//! Functions made and called: callee, arguments, closure.
use super::machine::{Machine, is_tuple, satisfies};
use super::slot::{Slot, Tag};
use crate::code::{ConstKind, Trust};
use crate::error::{ErrorKind, Result};
use crate::version::Version;

pub(super) fn want_function(m: &Machine<'_>, from_top: usize) -> Result<Slot> {
    let slot = m.peek(from_top);
    if matches!(slot.tag(), Tag::Function | Tag::OpenFunction | Tag::GuardedFunction) {
        return Ok(slot);
    }
    Err(m.wrong_type(from_top, "a function made by MAKE_FUNCTION"))
}

/// CALL and CALL_KW: `[NULL or method, callable or self, args…]` until 3.12, `[callable, self or NULL, args…]` from 3.13 on.
#[inline(always)]
pub(super) fn call(m: &mut Machine<'_>, arg: u32, names: u32) -> Result<()> {
    let count = arg as usize;
    if names > arg {
        return Err(m.error(
            ErrorKind::BadConstant,
            format!("there are {names} keyword names for {count} arguments"),
        ));
    }
    m.want_objects(count)?;
    let (low, high) = (m.peek(count + 1), m.peek(count));
    // The callee, if it is known, and whether it gets no self. Until 3.12 whatever stands above a method is self, NULL or not.
    let (callee, self_is_null) = match (m.version < Version::V313, low.is(Tag::Null)) {
        (true, true) => (high, true),
        (true, false) => (low, false),
        (false, _) => (low, high.is(Tag::Null)),
    };
    if callee.is(Tag::GuardedFunction) {
        guarded_call(m, count, names, callee, self_is_null)?;
    } else if m.version < Version::V313 {
        m.want_object(count)?;
        m.want_nullable(count + 1, "NULL or a method")?;
    } else {
        m.want_nullable(count, "NULL or self")?;
        m.want_object(count + 1)?;
    }
    let makes_iterator = matches!(callee.tag(), Tag::Function | Tag::GuardedFunction)
        && matches!(
            m.meta.consts.get(callee.constant() as usize),
            Some(ConstKind::Code { generator: true, .. })
        );
    m.drop(count + 2);
    m.push(Slot::of(if makes_iterator { Tag::Iter } else { Tag::Obj }));
    Ok(())
}

/// A call of code whose first parameters have compilers' names: the arguments must be what those names promise.
fn guarded_call(m: &Machine<'_>, count: usize, names: u32, function: Slot, self_is_null: bool) -> Result<()> {
    if names != 0 {
        return Err(m.error(ErrorKind::BadStackType, "a comprehension's function takes no keywords"));
    }
    let total = count + usize::from(!self_is_null);
    for (position, trust) in m.code_of(function).1.into_iter().enumerate().take(total) {
        if trust != Trust::None && !satisfies(m.peek(total - 1 - position), trust) {
            return Err(m.wrong_type(
                total - 1 - position,
                "what this function's parameter is named for (call GET_ITER for `.0`)",
            ));
        }
    }
    m.want_objects(total)
}

/// The slot of the missing method is dropped unseen, and keyword arguments are read as an exact dict.
pub(super) fn call_function_ex(m: &mut Machine<'_>, arg: u32) -> Result<()> {
    let always = m.version >= Version::V314;
    let has_kwargs = always || arg & 1 != 0;
    let args = usize::from(has_kwargs);
    if has_kwargs && !(always && m.peek(0).is(Tag::Null)) {
        m.want(0, Tag::Dict, "a dict made by BUILD_MAP and DICT_MERGE")?;
    }
    m.want_object(args)?;
    let (function, null) =
        if m.version < Version::V313 { (args + 1, args + 2) } else { (args + 2, args + 1) };
    m.want_object(function)?;
    if !m.peek(null).is(Tag::Null) {
        return Err(m.wrong_type(null, "NULL"));
    }
    m.drop(3 + args);
    m.push(Slot::OBJ);
    Ok(())
}

/// Until 3.12 the operand says which attributes lie below the code; they are stored unseen.
pub(super) fn make_function(m: &mut Machine<'_>, arg: u32) -> Result<()> {
    let code = m.peek(0);
    if !code.is(Tag::Code) {
        return Err(m.wrong_type(0, "a constant code object"));
    }
    let flags = if m.version < Version::V313 { arg } else { 0 };
    if matches!(m.meta.consts.get(code.constant() as usize), Some(ConstKind::Code { takes_more: true, .. })) {
        let wanted = "code whose compiler's names for parameters are those of the first two at most";
        return Err(m.wrong_type(0, wanted));
    }
    let function = Slot::with(Tag::OpenFunction, code.constant());
    let mut at = 1;
    for flag in [8, 4, 2, 1] {
        if flags & flag != 0 {
            want_attribute(m, flag, at, function)?;
            at += 1;
        }
    }
    m.drop(at);
    let slot = finished(m, function, flags & 8 != 0);
    m.push(slot);
    Ok(())
}

pub(super) fn set_function_attribute(m: &mut Machine<'_>, arg: u32) -> Result<()> {
    let function = want_function(m, 0)?;
    want_attribute(m, arg, 1, function)?;
    m.drop(2);
    let slot =
        if arg == 8 && function.is(Tag::OpenFunction) { finished(m, function, true) } else { function };
    m.push(slot);
    Ok(())
}

/// A function once its closure is or is not there.
fn finished(m: &Machine<'_>, function: Slot, has_closure: bool) -> Slot {
    let (freevars, args) = m.code_of(function);
    let tag = if freevars > 0 && !has_closure {
        Tag::OpenFunction
    } else if args.iter().any(|trust| trust.is_relied_on()) {
        Tag::GuardedFunction
    } else {
        Tag::Function
    };
    Slot::with(tag, function.constant())
}

fn want_attribute(m: &Machine<'_>, flag: u32, from_top: usize, function: Slot) -> Result<()> {
    let slot = m.peek(from_top);
    if matches!(flag, 1 | 2) && m.code_of(function).1.iter().any(|trust| trust.is_relied_on()) {
        let reason = "a default would stand for what this function's parameter is named for: pass it";
        return Err(m.error(ErrorKind::BadStackType, reason));
    }
    match flag {
        // Defaults
        1 => {
            m.want_tuple(from_top, "a tuple of defaults")?;
        }
        // Keyword defaults
        2 => {
            m.want(from_top, Tag::Dict, "a dict of keyword defaults")?;
        }
        // Annotations, as a dict or as a tuple that is read in pairs
        4 => {
            let pairs = is_tuple(slot) && slot.len().is_some_and(|len| len % 2 == 0);
            if !pairs && !slot.is(Tag::Dict) && !slot.is(Tag::Any) {
                return Err(m.wrong_type(from_top, "a tuple of names and annotations, or a dict"));
            }
        }
        // Closure
        8 => {
            let (freevars, args) = m.code_of(function);
            let fits = match slot.tag() {
                Tag::CellTuple => slot.len() == Some(freevars),
                Tag::Any => true,
                // Dynamo fetches the closures of its resume functions from where it keeps the frame's values.
                _ if slot.is_obj() && args.contains(&Trust::Any) => true,
                _ => is_tuple(slot) && slot.len() == Some(0) && freevars == 0,
            };
            if !fits {
                return Err(m.wrong_type(
                    from_top,
                    &format!("a tuple of the code's {freevars} cells, made by BUILD_TUPLE"),
                ));
            }
        }
        // __annotate__
        _ => {
            m.want_object(from_top)?;
        }
    }
    Ok(())
}
