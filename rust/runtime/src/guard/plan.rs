//! The plan of a guard program: the values that it may fetch, and its conditions in the order they were asked for.
//!
//! Values are numbered as *nodes* while the plan is made. What no condition needs is never fetched: a node gets a register,
//! and its fetch a place among the operations, when the first condition over it is written.
use super::check::{Check, SymbolSource};
use super::constant::Held;
use super::fetch::{Fetch, FetchKey};
use super::program::{NO_PARENT, Op, Program};
use crate::code_shape::CodeShape;
use crate::errors::pydynamo_error;
use pyo3::prelude::*;
use pyo3::types::PyCode;
use std::collections::{HashMap, HashSet};

/// A value that the program can fetch.
struct Node {
    source: String,
    origin: Origin,
    register: Option<usize>,
}

enum Origin {
    Local(usize),
    /// Taken out when the fetch becomes an operation.
    Fetched {
        parent: Option<usize>,
        fetch: Option<Fetch>,
    },
}

/// What makes two checks the same, for the kinds that are asked for again and again.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum CheckKey {
    Pointer(&'static str, usize, usize),
    Text(&'static str, usize, String),
    TorchState,
}

/// A check over *nodes*; it gets registers when the program is written.
struct PendingCheck {
    nodes: Vec<usize>,
    check: Check,
}

pub(super) struct Plan {
    pub(super) shape: CodeShape,
    code: Held,
    nodes: Vec<Node>,
    known: HashMap<(Option<usize>, FetchKey), usize>,
    locals: HashMap<usize, usize>,
    checks: Vec<PendingCheck>,
    seen: HashSet<CheckKey>,
}

impl Plan {
    pub(super) fn new(code: &Bound<'_, PyCode>) -> PyResult<Self> {
        Ok(Self {
            shape: CodeShape::of(code)?,
            code: Held::new(code.as_any())?,
            nodes: Vec::new(),
            known: HashMap::new(),
            locals: HashMap::new(),
            checks: Vec::new(),
            seen: HashSet::new(),
        })
    }

    pub(super) fn check_count(&self) -> usize {
        self.checks.len()
    }

    /// The text of a node's value.
    pub(super) fn source(&self, py: Python<'_>, node: usize) -> PyResult<&str> {
        match self.nodes.get(node) {
            Some(node) => Ok(&node.source),
            None => Err(pydynamo_error(py, format!("node {node} was not made by this GuardBuilder"))),
        }
    }

    /// The node of the argument in a slot.
    pub(super) fn local(&mut self, slot: usize, source: String) -> usize {
        let next = self.nodes.len();
        let node = *self.locals.entry(slot).or_insert(next);
        if node == next {
            self.nodes.push(Node { source, origin: Origin::Local(slot), register: None });
        }
        node
    }

    /// The node of what `fetch` gives, from `parent` unless it starts a path.
    pub(super) fn node(
        &mut self,
        py: Python<'_>,
        parent: Option<usize>,
        fetch: Fetch,
        source: Option<String>,
    ) -> PyResult<usize> {
        let parent_source = parent.map(|parent| self.source(py, parent)).transpose()?.unwrap_or("");
        let key = (parent, fetch.key(py));
        if let Some(&node) = self.known.get(&key) {
            return Ok(node);
        }
        let source = source.unwrap_or_else(|| fetch.source(py, parent_source));
        let node = self.nodes.len();
        self.nodes.push(Node {
            source,
            origin: Origin::Fetched { parent, fetch: Some(fetch) },
            register: None,
        });
        self.known.insert(key, node);
        Ok(node)
    }

    /// Adds a condition over nodes, unless one with its key is there.
    pub(super) fn add(
        &mut self,
        py: Python<'_>,
        nodes: Vec<usize>,
        key: Option<CheckKey>,
        check: Check,
    ) -> PyResult<()> {
        for &node in &nodes {
            self.source(py, node)?;
        }
        if key.is_none_or(|key| self.seen.insert(key)) {
            self.checks.push(PendingCheck { nodes, check });
        }
        Ok(())
    }

    /// The program.
    pub(super) fn write(mut self) -> Program {
        let mut writer = Writer { ops: Vec::new(), sources: Vec::new(), nodes: self.nodes };
        let mut local_slots = Vec::new();
        for node in &mut writer.nodes {
            if let Origin::Local(slot) = node.origin {
                node.register = Some(writer.sources.len());
                writer.sources.push(node.source.clone());
                local_slots.push(slot);
            }
        }
        for PendingCheck { nodes, mut check } in std::mem::take(&mut self.checks) {
            let registers: Vec<_> = nodes.iter().map(|&node| writer.fetch(node)).collect();
            check.set_registers(&registers);
            writer.ops.push(Op::Check(check));
        }
        Program {
            shape: self.shape,
            code: self.code,
            local_slots: local_slots.into(),
            ops: writer.ops.into(),
            sources: writer.sources.into(),
        }
    }
}

/// A program as it is written.
struct Writer {
    ops: Vec<Op>,
    sources: Vec<String>,
    nodes: Vec<Node>,
}

impl Writer {
    /// Writes the fetches that lead to `node`, those first that are not there yet; gives its register.
    fn fetch(&mut self, node: usize) -> usize {
        // The path is walked with a list, not by recursion: a long chain of attributes must not use up the stack.
        let mut path = vec![node];
        while let Some(&last) = path.last() {
            match &self.nodes[last].origin {
                Origin::Fetched { parent: Some(parent), .. } if self.nodes[*parent].register.is_none() => {
                    path.push(*parent);
                }
                _ => break,
            }
        }
        while let Some(node) = path.pop() {
            if self.nodes[node].register.is_some() {
                continue;
            }
            if let Origin::Fetched { parent, fetch } = &mut self.nodes[node].origin {
                let (parent, fetch) = (*parent, fetch.take());
                let parent = parent.and_then(|parent| self.nodes[parent].register).unwrap_or(NO_PARENT);
                if let Some(mut fetch) = fetch {
                    if let Fetch::PlainAttr { owner, .. } = &mut fetch {
                        // The parent of an instance's dict, which is on the path, too.
                        *owner = self.nodes[*owner].register.unwrap_or(NO_PARENT);
                    }
                    self.ops.push(Op::Fetch(parent, fetch));
                    self.nodes[node].register = Some(self.sources.len());
                    self.sources.push(self.nodes[node].source.clone());
                }
            }
        }
        self.nodes[node].register.unwrap_or(NO_PARENT)
    }
}

impl Check {
    /// Makes it a check over these registers, given in the order in which the builder listed its nodes.
    fn set_registers(&mut self, registers: &[usize]) {
        match self {
            Self::Exists(register)
            | Self::Type(register, _)
            | Self::Is(register, _)
            | Self::IsNot(register, _)
            | Self::Equals(register, _)
            | Self::Truth(register, _)
            | Self::Length(register, _)
            | Self::DictKeys(register, _)
            | Self::Contains(register, ..)
            | Self::HasAttr(register, ..)
            | Self::InInstanceDict(register, ..)
            | Self::ClassLacks(register, _)
            | Self::Tensor(register, _)
            | Self::DynamicMarks(register, _) => *register = registers[0],
            Self::Same(first, second) => (*first, *second) = (registers[0], registers[1]),
            Self::AllDifferent(members) | Self::Custom { registers: members, .. } => {
                *members = registers.into();
            }
            Self::Shape(shape) => {
                for ((_, source), &register) in shape.symbols.iter_mut().zip(registers) {
                    match source {
                        SymbolSource::Int(at)
                        | SymbolSource::Size(at, _)
                        | SymbolSource::Stride(at, _)
                        | SymbolSource::Offset(at) => *at = register,
                    }
                }
            }
            Self::TorchState(_) => {}
        }
    }
}
