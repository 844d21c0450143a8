//! Source lines of instructions that have none.
use crate::code::Program;
use crate::location::Location;

/// Gives each instruction without a line that of the instruction before it (without columns), so that deleting the one does not lose the
/// line of the other. Instructions before the first line stay without.
pub fn propagate_line_nums(program: &mut Program) {
    let mut line = Location::NONE.line;
    for inst in &mut program.insts {
        if inst.loc.line.is_some() {
            line = inst.loc.line;
        } else {
            inst.loc = Location { line, end_line: line, ..Location::NONE };
        }
    }
}
