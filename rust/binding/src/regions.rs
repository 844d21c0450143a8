//! From exception table entries, which name their first and last instruction, to regions per instruction.
use crate::capi::Obj;
use crate::entry::InstructionExnTabEntry;
use crate::instruction::ahead;
use crate::lower::{Failure, Places};
use pydynamo_assembler::code::{Program, Region, RegionDepth};
use pydynamo_assembler::inst::NO_INDEX;
use pydynamo_assembler::{Error, ErrorKind};
use pyo3::prelude::*;

/// An entry and the instructions that carry it.
struct Carried<'py> {
    entry: Bound<'py, InstructionExnTabEntry>,
    first: u32,
    last: u32,
    count: u32,
}

/// The entries met so far.
#[derive(Default)]
pub struct Regions<'py> {
    carried: Vec<Carried<'py>>,
}

/// A region between two places of the list, both included.
#[derive(Clone, Copy)]
struct Span {
    start: u32,
    end: u32,
    region: u32,
}

fn fail<T>(index: u32, reason: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Core(Error::at(ErrorKind::BadRegion, index, reason)))
}

impl<'py> Regions<'py> {
    /// Notes that instruction `index` carries `object`; the number of its region.
    pub fn carry(&mut self, py: Python<'py>, index: u32, object: Obj) -> Result<u32, Failure> {
        if let Some(last) = self.carried.last_mut()
            && last.entry.as_ptr() == object
        {
            last.last = index;
            last.count += 1;
            return Ok(self.carried.len() as u32 - 1);
        }
        // SAFETY: the instruction owns the entry.
        let bound = unsafe { Bound::from_borrowed_ptr(py, object) };
        let entry = bound.cast_into::<InstructionExnTabEntry>().map_err(PyErr::from)?;
        let stamp = entry.borrow().stamp;
        if let Some(known) = self.carried.get_mut(stamp as usize)
            && known.entry.as_ptr() == object
        {
            known.last = index;
            known.count += 1;
            return Ok(stamp);
        }
        let stamp = self.carried.len() as u32;
        entry.borrow_mut().stamp = stamp;
        self.carried.push(Carried { entry, first: index, last: index, count: 1 });
        Ok(stamp)
    }

    /// Resolves what was carried into the program's regions, and gives every instruction its innermost one.
    pub fn finish(self, py: Python<'py>, places: &Places<'_>, program: &mut Program) -> Result<(), Failure> {
        if self.carried.is_empty() {
            return Ok(());
        }
        let mut spans = Vec::with_capacity(self.carried.len());
        let ahead = ahead(self.carried.len());
        for (i, carried) in self.carried.iter().enumerate() {
            if let Some(later) = self.carried.get(i + ahead) {
                later.entry.borrow().prefetch();
            }
            let (span, region) = resolve(py, carried, places, i as u32)?;
            spans.push(span);
            program.regions.push(region);
        }
        spans.sort_unstable_by_key(|span| (span.start, u32::MAX - span.end, span.region));
        let disjoint = spans.windows(2).all(|pair| pair[0].end < pair[1].start);
        let complete = spans.iter().all(|span| {
            let carried = &self.carried[span.region as usize];
            let inside = span.start <= carried.first && carried.last <= span.end;
            inside && carried.count == span.end - span.start + 1
        });
        if disjoint && complete {
            return Ok(());
        }
        cover(&spans, program)
    }
}

fn resolve(
    py: Python<'_>,
    carried: &Carried<'_>,
    places: &Places<'_>,
    number: u32,
) -> Result<(Span, Region), Failure> {
    let entry = carried.entry.borrow();
    let [start, end, target] = entry.ends().map(|object| object.and_then(|o| places.of(o.bind(py).as_ptr())));
    let Some(target) = target else {
        return fail(carried.first, "the region's handler (target) is not in the list");
    };
    let span =
        Span { start: start.unwrap_or(carried.first), end: end.unwrap_or(carried.last), region: number };
    if span.end < span.start {
        return fail(
            carried.first,
            format!("the region ends (at {}) before it starts (at {})", span.end, span.start),
        );
    }
    let stated = entry.stated_depth();
    let depth = match (entry.height, start) {
        (Some(height), Some(anchor)) => RegionDepth::Below { anchor, height, stated },
        _ => RegionDepth::Fixed(stated),
    };
    Ok((span, Region { target, depth, lasti: entry.wants_lasti() }))
}

/// Gives every instruction the innermost region around it; one that carries a region outside of its span is protected by
/// that all the same. `spans` is sorted by start, then by decreasing end.
fn cover(spans: &[Span], program: &mut Program) -> Result<(), Failure> {
    let mut span_of = vec![(0, 0); program.regions.len()];
    for span in spans {
        span_of[span.region as usize] = (span.start, span.end);
    }
    let mut open: Vec<Span> = Vec::new();
    let mut next = spans.iter().peekable();
    for index in 0..program.insts.len() as u32 {
        while open.last().is_some_and(|span| span.end < index) {
            open.pop();
        }
        while let Some(&span) = next.next_if(|span| span.start == index) {
            if let Some(outer) = open.last() {
                if span.end > outer.end {
                    let reason = format!(
                        "its region, {} to {}, and another, {} to {}, overlap without one being inside the other",
                        span.start, span.end, outer.start, outer.end
                    );
                    return fail(index, reason);
                }
                if (span.start, span.end) == (outer.start, outer.end) {
                    let [a, b] = [span.region, outer.region].map(|r| program.regions[r as usize]);
                    if a.target != b.target || a.lasti != b.lasti || !same_depth(a.depth, b.depth) {
                        return fail(
                            index,
                            "two regions span the same instructions but have different handlers",
                        );
                    }
                    continue;
                }
            }
            open.push(span);
        }
        let region = &mut program.insts[index as usize].region;
        let strayed =
            span_of.get(*region as usize).is_some_and(|(start, end)| index < *start || index > *end);
        if !strayed {
            *region = open.last().map_or(NO_INDEX, |span| span.region);
        }
    }
    Ok(())
}

fn same_depth(a: RegionDepth, b: RegionDepth) -> bool {
    let stated = |depth| match depth {
        RegionDepth::Fixed(stated) | RegionDepth::Below { stated, .. } => stated,
    };
    stated(a) == stated(b)
}
