//! Guard programs: conditions on a call's arguments, globals and closure, run natively before compiled code.
//!
//! A program is a straight list of operations over registers: *fetches* (this value's attribute, that dict's item) and
//! *checks* (its type, its value). It stops at the first that does not hold. It knows nothing of caches or frames.
mod builder;
mod check;
mod constant;
mod dict_item;
mod fetch;
mod plan;
mod program;
mod shape_expr;
mod tensor;
mod torch_link;
mod torch_state;

pub(crate) use builder::GuardBuilder;
pub(crate) use constant::Held;
pub(crate) use program::{GuardProgram, Inputs, with_inputs};
