//! What can be checked without knowing the stack: opcodes, operands, targets, neighbours, prologue, flags.
//!
//! One pass over all instructions, reachable or not, which also finds the heads of blocks.
use crate::adapt::{delegation, suspension};
use crate::code::{CodeMeta, ConstKind, LocalKind, Program, Region, Trust};
use crate::error::{Error, ErrorKind, Result};
use crate::inst::{Inst, NO_INDEX};
use crate::op::Op;
use crate::shape::prefixes;
use crate::tables::{OpFlags, OpInfo, Tables};
use crate::version::Version;

use super::Origin;
use super::wants::{BORROWS, HAS_EDGE, HAS_RULE, JUMPS, Limits, RANGES, WANTS};

pub(super) const CO_OPTIMIZED: u32 = 0x1;
/// CO_GENERATOR, CO_COROUTINE and CO_ASYNC_GENERATOR.
pub(crate) const SUSPENDING: u32 = 0x20 | 0x80 | 0x200;
/// 3.14: functions made of the code object take its first constant for their docstring without looking whether there is one.
const CO_HAS_DOCSTRING: u32 = 0x400_0000;

/// Instructions that are looked at in one go: the bits of a word.
const CHUNK: usize = 64;

/// What the pass learned.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct Facts {
    /// An `except*` combines exceptions: lists of them matter.
    pub(super) has_except_star: bool,
    /// There are borrowed loads.
    pub(super) has_borrows: bool,
    /// An inlined comprehension uses the slot of the first argument for a variable of its own.
    pub(super) first_is_borrowed: bool,
    /// `.0` is an asynchronous iterator.
    pub(super) is_async_first: bool,
    /// Some edge that looks for no signals may go backward: see [`super::interrupt`].
    pub(super) may_be_deaf: bool,
    /// A RESUME was seen.
    after_prologue: bool,
}

pub(super) struct Check<'a> {
    pub(super) version: Version,
    pub(super) tables: &'static Tables,
    pub(super) program: &'a Program,
    pub(super) meta: &'a CodeMeta<'a>,
    pub(super) origin: Origin,
}

impl Check<'_> {
    /// Checks everything; `mark` is called with each instruction that control may jump to.
    #[allow(clippy::needless_bitwise_bool, reason = "no branch for three rare conditions")]
    pub(super) fn run(&self, mut mark: impl FnMut(u32)) -> Result<Facts> {
        let insts = &self.program.insts;
        if insts.is_empty() {
            return Err(Error::whole(ErrorKind::FallsOffEnd, "there are no instructions: end with a RETURN"));
        }
        if insts.len() > 1 << 23 {
            return Err(Error::whole(ErrorKind::TooLarge, "there are more than 8 million instructions"));
        }
        if self.meta.trusted_locals.len() != self.meta.locals.len() {
            return Err(Error::whole(ErrorKind::BadLocal, "locals and their names differ in number"));
        }
        if self.version >= Version::V314
            && self.meta.flags & CO_HAS_DOCSTRING != 0
            && self.meta.consts.is_empty()
        {
            return Err(Error::whole(
                ErrorKind::BadFlags,
                "co_flags say that the first constant is a docstring, but there are no constants",
            ));
        }
        let mut facts = Facts::default();
        let wants = &WANTS[self.version as usize];
        let regions = &self.program.regions;
        let limits = Limits::new(self.meta);
        let (mut seen, mut region) = (0, NO_INDEX);
        // Which instruction needs a closer look is anybody's guess: so ask first, a word's bits at a time and without a branch,
        // then go through the answers.
        for (base, chunk) in (0..).step_by(CHUNK).zip(insts.chunks(CHUNK)) {
            let mut closer = 0_u64;
            let mut before = region;
            for (bit, inst) in chunk.iter().enumerate() {
                let wants = wants[inst.opcode as usize];
                seen |= wants.bits;
                closer |= u64::from(
                    wants.doubt(inst.arg, &limits)
                        | (wants.bits & (JUMPS | HAS_RULE) != 0)
                        | (inst.region != before),
                ) << bit;
                before = inst.region;
            }
            while closer != 0 {
                let index = base + closer.trailing_zeros();
                closer &= closer - 1;
                let inst = &insts[index as usize];
                let wants = wants[inst.opcode as usize];
                if wants.doubt(inst.arg, &limits) {
                    self.operand(index, inst)?;
                    self.indexed_operand(index, inst)?;
                }
                if inst.region != region {
                    facts.may_be_deaf |= leads_back(regions, region, index);
                    region = inst.region;
                    if region != NO_INDEX && region as usize >= regions.len() {
                        let reason = format!("there is no region {region}");
                        return Err(Error::at(ErrorKind::BadRegion, index, reason));
                    }
                }
                if wants.bits & JUMPS != 0 {
                    self.target(index, inst)?;
                    if wants.bits & HAS_EDGE != 0 {
                        mark(inst.target);
                    }
                }
                if wants.bits & HAS_RULE != 0 {
                    self.rules(index, inst, &mut facts)?;
                }
            }
        }
        facts.may_be_deaf |= leads_back(regions, region, insts.len() as u32);
        facts.has_borrows = seen & BORROWS != 0;
        for region in regions {
            if region.target as usize >= insts.len() {
                return Err(Error::whole(
                    ErrorKind::BadRegion,
                    "a region's handler is outside of the program",
                ));
            }
            mark(region.target);
        }
        Ok(facts)
    }

    /// A closer look at an operand that is out of its range.
    #[cold]
    pub(super) fn operand(&self, index: u32, inst: &Inst) -> Result<()> {
        let info = &self.tables.info[inst.opcode as usize];
        if inst.arg > info.max_arg && !info.is_jump() && !is_ignored(inst.arg, info) {
            return Err(too_large(index, info));
        }
        if let Some((_, least, most)) = RANGES.iter().find(|(op, ..)| *op == info.op)
            && !(*least..=*most).contains(&inst.arg)
        {
            let wanted = match (*least, *most) {
                (least, u32::MAX) => format!("{least} or more"),
                (0, 1) => "0 or 1".to_owned(),
                (0, 2) => "0, 1 or 2".to_owned(),
                (2, 3) => "2 or 3".to_owned(),
                (1, 3) => "1, 2 or 3".to_owned(),
                (_, most) => format!("at most {most}"),
            };
            return Err(out_of_range(index, &wanted));
        }
        Ok(())
    }

    #[cold]
    pub(super) fn indexed_operand(&self, index: u32, inst: &Inst) -> Result<()> {
        let info = &self.tables.info[inst.opcode as usize];
        if info.has(OpFlags::ILLEGAL) {
            return Err(illegal(index, inst.opcode, info));
        }
        let bad = |kind, what: &str, value: u32, len: usize| {
            Err(Error::at(kind, index, format!("the operand wants {what} {value}, but there are {len}")))
        };
        let (consts, names, locals) = (self.meta.consts.len(), self.meta.names, self.meta.locals.len());
        if info.has(OpFlags::HAS_CONST) && inst.arg as usize >= consts {
            return bad(ErrorKind::BadConstant, "constant", inst.arg, consts);
        }
        if info.has(OpFlags::HAS_NAME) && inst.arg >> info.name_shift >= names {
            return bad(ErrorKind::BadName, "name", inst.arg >> info.name_shift, names as usize);
        }
        if info.flags.any(OpFlags::HAS_LOCAL.union(OpFlags::HAS_FREE)) {
            let largest =
                if info.has(OpFlags::FUSED_PAIR) { (inst.arg >> 4).max(inst.arg & 15) } else { inst.arg };
            if largest as usize >= locals {
                return bad(ErrorKind::BadLocal, "local", largest, locals);
            }
        }
        Ok(())
    }

    fn target(&self, index: u32, inst: &Inst) -> Result<()> {
        if inst.target as usize >= self.program.insts.len() {
            return Err(Error::at(ErrorKind::BadTarget, index, "its target is not in the program"));
        }
        // Other jumps are turned or inverted where they must.
        let op = self.tables.op(inst.opcode);
        let forward_only =
            matches!(op, Op::FOR_ITER | Op::SEND | Op::JUMP_IF_FALSE_OR_POP | Op::JUMP_IF_TRUE_OR_POP);
        if forward_only && inst.target <= index {
            return Err(Error::at(
                ErrorKind::BadJump,
                index,
                "it can only jump forward: place its target after it",
            ));
        }
        Ok(())
    }

    fn next(&self, index: u32) -> Option<(Op, &Inst)> {
        let inst = self.program.insts.get(index as usize + 1)?;
        Some((self.tables.op(inst.opcode), inst))
    }

    /// Rules of single operations.
    #[allow(clippy::too_many_lines, reason = "one arm for each operation")]
    fn rules(&self, index: u32, inst: &Inst, facts: &mut Facts) -> Result<()> {
        let (arg, op) = (inst.arg, self.tables.op(inst.opcode));
        let range = |ok: bool, wanted: &str| if ok { Ok(()) } else { Err(out_of_range(index, wanted)) };
        match op {
            Op::SET_FUNCTION_ATTRIBUTE => {
                let ok = matches!(arg, 1 | 2 | 4 | 8) || (arg == 16 && self.version >= Version::V314);
                range(ok, "1, 2, 4 or 8, or 16 from 3.14 on")
            }
            Op::COMPARE_OP => {
                range(self.is_comparison(arg), "a comparison and the hint bits that belong to it")
            }
            Op::CALL_INTRINSIC_1 => {
                range(arg >= 1, "1 or more")?;
                if arg == 2 { self.want_no_fast_locals(index) } else { Ok(()) }
            }
            Op::CALL_INTRINSIC_2 => {
                facts.has_except_star |= arg == 1;
                range(arg >= 1, "1 or more")
            }
            Op::PREP_RERAISE_STAR => {
                facts.has_except_star = true;
                Ok(())
            }
            Op::IMPORT_STAR | Op::LOAD_CLASSDEREF => self.want_no_fast_locals(index),
            Op::MAKE_CELL
                if facts.after_prologue && self.meta.trusted_locals[arg as usize] != Trust::None =>
            {
                Err(Error::at(
                    ErrorKind::BadLocal,
                    index,
                    "this cell is the compiler's own, made once in the prologue",
                ))
            }
            Op::MAKE_CELL => match self.meta.locals[arg as usize] {
                // A comprehension may make a new cell where a free variable's was.
                LocalKind::Cell { .. } | LocalKind::Free => Ok(()),
                LocalKind::Local { .. } => {
                    Err(Error::at(ErrorKind::BadLocal, index, "only a cell variable can be made a cell"))
                }
            },
            Op::LOAD_FAST_AND_CLEAR => {
                facts.first_is_borrowed |= arg == 0;
                Ok(())
            }
            Op::KW_NAMES => match self.meta.consts.get(arg as usize) {
                Some(ConstKind::StrTuple(_)) => Ok(()),
                _ => Err(Error::at(
                    ErrorKind::BadConstant,
                    index,
                    "keyword names must be a constant tuple of str",
                )),
            },
            Op::PRECALL => match self.next(index) {
                Some((Op::CALL, call)) if call.arg == arg => Ok(()),
                _ => Err(adjacency(index, "3.11 wants CALL with the same operand directly after PRECALL")),
            },
            Op::CALL if self.version == Version::V311 => {
                let before =
                    index.checked_sub(1).map(|i| self.tables.op(self.program.insts[i as usize].opcode));
                if before != Some(Op::PRECALL) {
                    return Err(adjacency(index, "3.11 wants PRECALL directly before CALL"));
                }
                // A specialised PRECALL steps over as many units as CALL has without needless prefixes.
                Self::want_no_prefix(index, inst)
            }
            Op::YIELD_VALUE => self.yield_value(index, inst),
            Op::RESUME => {
                facts.after_prologue = true;
                range(arg <= self.largest_resume(), "0 to 3, or with the depth bit")
            }
            Op::JUMP_BACKWARD_NO_INTERRUPT => {
                facts.may_be_deaf = true;
                Ok(())
            }
            Op::FOR_ITER => self.for_iter(index, inst),
            Op::SEND => self.send(index, inst),
            _ => Ok(()),
        }
    }

    const fn largest_resume(&self) -> u32 {
        match self.version {
            Version::V311 | Version::V312 => 3,
            Version::V313 | Version::V314 => 7,
            Version::V315 => 15,
        }
    }

    /// The comparison is one, and the bits that specialised code reads instead of it mean the same.
    fn is_comparison(&self, arg: u32) -> bool {
        // unordered 1, less 2, greater 4, equal 8; in the order <, <=, ==, !=, >, >=
        const MASKS: [u32; 6] = [2, 10, 8, 7, 4, 12];
        let Some(mask) = MASKS.get((arg >> self.tables.compare_shift) as usize) else { return false };
        self.version == Version::V311 || arg & 15 == *mask
    }

    /// Operations that use the frame's dict of locals without looking whether there is one.
    fn want_no_fast_locals(&self, index: u32) -> Result<()> {
        if self.meta.flags & CO_OPTIMIZED == 0 {
            return Ok(());
        }
        Err(Error::at(ErrorKind::BadFlags, index, "functions (CO_OPTIMIZED) have no dict of locals for it"))
    }

    /// CPython looks at the unit before or behind, or steps over just so many.
    fn want_no_prefix(index: u32, inst: &Inst) -> Result<()> {
        if inst.written.prefixes() <= prefixes(inst.arg) {
            return Ok(());
        }
        Err(adjacency(index, "CPython counts on finding it without needless EXTENDED_ARG"))
    }

    /// CPython finds out from the next instruction what a suspended generator is doing.
    fn yield_value(&self, index: u32, inst: &Inst) -> Result<()> {
        let Some((Op::RESUME, resume)) = self.next(index) else {
            return Err(adjacency(index, "RESUME must follow YIELD_VALUE directly"));
        };
        Self::want_no_prefix(index, inst)?;
        Self::want_no_prefix(index + 1, resume)?;
        let place = suspension::place(self.version, resume);
        if !(1..=3).contains(&place) {
            return Err(Error::at(
                ErrorKind::OperandOutOfRange,
                index + 1,
                "after YIELD_VALUE it is 1, 2 or 3",
            ));
        }
        if self.origin == Origin::Edited && suspension::skips_another(self.version, resume) {
            let reason = "close() would skip it though it waits for another generator: RESUME must not say that it is in no `try`";
            return Err(adjacency(index, reason));
        }
        if self.version >= Version::V313 {
            if inst.arg > 1 || (inst.arg == 1) != (place >= 2) {
                return Err(Error::at(
                    ErrorKind::OperandOutOfRange,
                    index,
                    "the operand must be 1 where RESUME 2 or 3 follows (`yield from`, `await`), else 0",
                ));
            }
        } else if self.version == Version::V311 && place >= 2 {
            // throw() steps back to SEND and jumps by its operand's low byte.
            let send = index.checked_sub(1).map(|i| &self.program.insts[i as usize]);
            let fits = send.is_some_and(|send| {
                self.tables.op(send.opcode) == Op::SEND && self.units_between(index - 1, send.target) <= 250
            });
            if !fits {
                return Err(adjacency(
                    index,
                    "3.11 wants a short SEND directly before a YIELD_VALUE that delegates",
                ));
            }
        }
        Ok(())
    }

    /// An upper bound of the code units from after one instruction up to another.
    fn units_between(&self, from: u32, to: u32) -> u64 {
        let insts = self.program.insts.get(from as usize + 1..to as usize).unwrap_or_default();
        insts.iter().map(|inst| 4 + u64::from(self.tables.info[inst.opcode as usize].caches)).sum()
    }

    /// Exhaustion jumps to END_FOR and then past it, and in 3.13 past POP_TOP, without looking.
    fn for_iter(&self, index: u32, inst: &Inst) -> Result<()> {
        if self.version < Version::V312 {
            return Ok(());
        }
        let end = &self.program.insts[inst.target as usize];
        if self.tables.op(end.opcode) != Op::END_FOR {
            return Err(adjacency(index, "FOR_ITER must jump to END_FOR and to nothing before it"));
        }
        Self::want_no_prefix(inst.target, end)?;
        // Tracing marks the instruction behind as the start of a line, be it reachable or not.
        let skipped = if self.version == Version::V312 { 1 } else { 2 };
        if self.program.insts.len() <= (inst.target + skipped) as usize {
            return Err(adjacency(inst.target, "something must stand behind the end of the loop"));
        }
        if self.version == Version::V313 {
            let Some((Op::POP_TOP, pop)) = self.next(inst.target) else {
                return Err(adjacency(inst.target, "3.13 wants POP_TOP directly after END_FOR"));
            };
            Self::want_no_prefix(inst.target + 1, pop)?;
        }
        Ok(())
    }

    /// The distance is kept in 16 bits while a generator runs.
    fn send(&self, index: u32, inst: &Inst) -> Result<()> {
        let far = inst.target - index > 2000 && self.units_between(index, inst.target) > 60_000;
        if self.version >= Version::V312 && far {
            return Err(Error::at(ErrorKind::BadJump, index, "SEND cannot jump further than 65535 units"));
        }
        if self.version >= Version::V312 && !delegation::leads_well(self.tables, self.program, inst.target) {
            let reason =
                "SEND must lead to END_SEND: not to a jump, the last instruction or one with EXTENDED_ARG";
            return Err(adjacency(index, reason));
        }
        Ok(())
    }
}

/// Whether the handler of a region that ends before `end` stands before that.
fn leads_back(regions: &[Region], region: u32, end: u32) -> bool {
    regions.get(region as usize).is_some_and(|region| region.target < end)
}

#[cold]
fn out_of_range(index: u32, wanted: &str) -> Error {
    Error::at(ErrorKind::OperandOutOfRange, index, format!("the operand must be {wanted}"))
}

#[cold]
fn adjacency(index: u32, reason: &str) -> Error {
    Error::at(ErrorKind::BadAdjacency, index, reason)
}

/// CPython ignores the byte of an instruction without an operand: Dynamo leaves 3.13's flag at 3.14's CALL_FUNCTION_EX.
#[cold]
fn is_ignored(arg: u32, info: &OpInfo) -> bool {
    arg <= 0xff && !info.has(OpFlags::HAS_ARG) && !info.has(OpFlags::ILLEGAL)
}

#[cold]
fn too_large(index: u32, info: &OpInfo) -> Error {
    if info.has(OpFlags::ILLEGAL) {
        return illegal(index, 0, info);
    }
    Error::at(ErrorKind::OperandOutOfRange, index, format!("the operand must be at most {}", info.max_arg))
}

#[cold]
fn illegal(index: u32, opcode: u8, info: &OpInfo) -> Error {
    if info.name.is_empty() {
        return Error::at(
            ErrorKind::UnknownOpcode,
            index,
            format!("opcode {opcode} means nothing in this version"),
        );
    }
    Error::at(
        ErrorKind::IllegalOpcode,
        index,
        format!("{} is for the interpreter's own use: write the plain operation", info.name),
    )
}
