//! The builder of guard programs that Python talks to.
use super::check::{Check, ShapeCheck, SymbolSource};
use super::constant::{Constant, Held, short_repr};
use super::fetch::{Fetch, FetchKey, PlainClass};
use super::program::{GuardProgram, NO_PARENT, Op, Program};
use super::shape_expr::ShapeExpr;
use super::tensor::{TensorCheck, TensorOptions};
use super::torch_link::TorchLink;
use super::torch_state::TorchState;
use crate::code_shape::CodeShape;
use crate::errors::pydynamo_error;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyFrozenSet, PyString, PyTuple, PyType};
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
enum CheckKey {
    Pointer(&'static str, usize, usize),
    Text(&'static str, usize, String),
    TorchState,
}

/// See `GuardBuilder` in `_core.pyi`.
#[pyclass(module = "pydynamo._core")]
pub(crate) struct GuardBuilder {
    state: Option<State>,
}

struct State {
    shape: CodeShape,
    code: Held,
    nodes: Vec<Node>,
    known: HashMap<(Option<usize>, FetchKey), usize>,
    locals: HashMap<usize, usize>,
    checks: Vec<PendingCheck>,
    seen: HashSet<CheckKey>,
}

/// A check over *nodes*; it gets registers when the program is built.
struct PendingCheck {
    nodes: Vec<usize>,
    check: Check,
}

impl GuardBuilder {
    fn state(&mut self, py: Python<'_>) -> PyResult<&mut State> {
        self.state.as_mut().ok_or_else(|| pydynamo_error(py, "this GuardBuilder has been built already"))
    }

    fn node(
        &mut self,
        py: Python<'_>,
        parent: Option<usize>,
        fetch: Fetch,
        source: Option<String>,
    ) -> PyResult<usize> {
        let state = self.state(py)?;
        if let Some(parent) = parent {
            state.check_node(py, parent)?;
        }
        let key = (parent, fetch.key(py));
        if let Some(&node) = state.known.get(&key) {
            return Ok(node);
        }
        let source = source.unwrap_or_else(|| {
            fetch.source(py, parent.map_or("", |parent| state.nodes[parent].source.as_str()))
        });
        state.nodes.push(Node {
            source,
            origin: Origin::Fetched { parent, fetch: Some(fetch) },
            register: None,
        });
        state.known.insert(key, state.nodes.len() - 1);
        Ok(state.nodes.len() - 1)
    }

    fn add(
        &mut self,
        py: Python<'_>,
        nodes: Vec<usize>,
        key: Option<CheckKey>,
        check: Check,
    ) -> PyResult<()> {
        let state = self.state(py)?;
        for &node in &nodes {
            state.check_node(py, node)?;
        }
        if key.is_none_or(|key| state.seen.insert(key)) {
            state.checks.push(PendingCheck { nodes, check });
        }
        Ok(())
    }
}

impl State {
    fn check_node(&self, py: Python<'_>, node: usize) -> PyResult<()> {
        if node < self.nodes.len() {
            return Ok(());
        }
        Err(pydynamo_error(py, format!("node {node} was not made by this GuardBuilder")))
    }

    /// Emits the fetches that lead to `node`, those first that are not there yet; gives its register.
    fn emit(&mut self, node: usize, ops: &mut Vec<Op>, sources: &mut Vec<String>) -> usize {
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
                if let Some(fetch) = fetch {
                    ops.push(Op::Fetch(parent, fetch));
                    self.nodes[node].register = Some(sources.len());
                    sources.push(self.nodes[node].source.clone());
                }
            }
        }
        self.nodes[node].register.unwrap_or(NO_PARENT)
    }

    fn finish(mut self) -> Program {
        let (mut ops, mut sources, mut local_slots) = (Vec::new(), Vec::new(), Vec::new());
        for node in &mut self.nodes {
            if let Origin::Local(slot) = node.origin {
                node.register = Some(sources.len());
                sources.push(node.source.clone());
                local_slots.push(slot);
            }
        }
        for pending in std::mem::take(&mut self.checks) {
            let registers: Vec<_> =
                pending.nodes.iter().map(|&node| self.emit(node, &mut ops, &mut sources)).collect();
            ops.push(Op::Check(pending.check.with_registers(&registers)));
        }
        Program {
            shape: self.shape,
            code: self.code,
            local_slots: local_slots.into(),
            ops: ops.into(),
            sources: sources.into(),
        }
    }
}

impl Check {
    /// The same check over registers, given in the order in which the builder listed its nodes.
    fn with_registers(self, registers: &[usize]) -> Self {
        match self {
            Self::Exists(_) => Self::Exists(registers[0]),
            Self::Type(_, class) => Self::Type(registers[0], class),
            Self::Is(_, object) => Self::Is(registers[0], object),
            Self::IsNot(_, object) => Self::IsNot(registers[0], object),
            Self::Equals(_, constant) => Self::Equals(registers[0], constant),
            Self::Truth(_, expected) => Self::Truth(registers[0], expected),
            Self::Length(_, expected) => Self::Length(registers[0], expected),
            Self::DictKeys(_, keys) => Self::DictKeys(registers[0], keys),
            Self::Contains(_, key, present) => Self::Contains(registers[0], key, present),
            Self::HasAttr(_, name, present) => Self::HasAttr(registers[0], name, present),
            Self::InInstanceDict(_, name, present) => Self::InInstanceDict(registers[0], name, present),
            Self::ClassLacks(_, name) => Self::ClassLacks(registers[0], name),
            Self::Tensor(_, tensor) => Self::Tensor(registers[0], tensor),
            Self::DynamicMarks(_, allowed) => Self::DynamicMarks(registers[0], allowed),
            Self::Same(..) => Self::Same(registers[0], registers[1]),
            Self::AllDifferent(_) => Self::AllDifferent(registers.into()),
            Self::Shape(mut shape) => {
                for ((_, source), &register) in shape.symbols.iter_mut().zip(registers) {
                    *source = match *source {
                        SymbolSource::Int(_) => SymbolSource::Int(register),
                        SymbolSource::Size(_, dim) => SymbolSource::Size(register, dim),
                        SymbolSource::Stride(_, dim) => SymbolSource::Stride(register, dim),
                        SymbolSource::Offset(_) => SymbolSource::Offset(register),
                    };
                }
                Self::Shape(shape)
            }
            Self::Custom { function, description, .. } => {
                Self::Custom { function, registers: registers.into(), description }
            }
            Self::TorchState(state) => Self::TorchState(state),
        }
    }
}

#[pymethods]
impl GuardBuilder {
    #[new]
    fn new(code: &Bound<'_, PyCode>) -> PyResult<Self> {
        Ok(Self {
            state: Some(State {
                shape: CodeShape::of(code)?,
                code: Held::new(code.as_any())?,
                nodes: Vec::new(),
                known: HashMap::new(),
                locals: HashMap::new(),
                checks: Vec::new(),
                seen: HashSet::new(),
            }),
        })
    }

    #[pyo3(signature = (name, source=None))]
    fn local(&mut self, py: Python<'_>, name: &str, source: Option<String>) -> PyResult<usize> {
        let state = self.state(py)?;
        let Some(slot) = state.shape.parameters.iter().position(|parameter| parameter.bind(py) == name)
        else {
            return Err(pydynamo_error(py, format!("{} has no parameter {name:?}", state.shape.name)));
        };
        if let Some(&node) = state.locals.get(&slot) {
            return Ok(node);
        }
        let source = source.unwrap_or_else(|| name.to_owned());
        state.nodes.push(Node { source, origin: Origin::Local(slot), register: None });
        state.locals.insert(slot, state.nodes.len() - 1);
        Ok(state.nodes.len() - 1)
    }

    #[pyo3(signature = (name, source=None))]
    fn global_var(&mut self, py: Python<'_>, name: &str, source: Option<String>) -> PyResult<usize> {
        let name = PyString::intern(py, name).into_any().unbind();
        self.node(py, None, Fetch::Global(name), source)
    }

    #[pyo3(signature = (name, source=None))]
    fn closure(&mut self, py: Python<'_>, name: &str, source: Option<String>) -> PyResult<usize> {
        let state = self.state(py)?;
        let Some(index) = state.shape.free_variables.iter().position(|variable| variable.bind(py) == name)
        else {
            return Err(pydynamo_error(py, format!("{} has no free variable {name:?}", state.shape.name)));
        };
        let source = source.unwrap_or_else(|| name.to_owned());
        self.node(py, None, Fetch::Closure(index), Some(source))
    }

    #[pyo3(signature = (source=None))]
    fn function(&mut self, py: Python<'_>, source: Option<String>) -> PyResult<usize> {
        let name = self.state(py)?.shape.name.clone();
        self.node(py, None, Fetch::Function, source.or(Some(name)))
    }

    fn constant(&mut self, value: &Bound<'_, PyAny>, source: String) -> PyResult<usize> {
        self.node(value.py(), None, Fetch::Constant(Held::new(value)?), Some(source))
    }

    #[pyo3(signature = (node, name, source=None, *, cls=None))]
    fn attr(
        &mut self,
        py: Python<'_>,
        node: usize,
        name: &str,
        source: Option<String>,
        cls: Option<&Bound<'_, PyType>>,
    ) -> PyResult<usize> {
        let name = PyString::intern(py, name).into_any();
        let fetch = match cls.and_then(|class| PlainClass::new(class, &name)) {
            Some(plain) => Fetch::PlainAttr(name.unbind(), plain),
            None => Fetch::Attr(name.unbind()),
        };
        self.node(py, Some(node), fetch, source)
    }

    #[pyo3(signature = (node, name, source=None))]
    fn dict_attr(
        &mut self,
        py: Python<'_>,
        node: usize,
        name: &str,
        source: Option<String>,
    ) -> PyResult<usize> {
        let name = PyString::intern(py, name).into_any().unbind();
        self.node(py, Some(node), Fetch::DictAttr(name), source)
    }

    #[pyo3(signature = (node, source=None))]
    fn instance_dict(&mut self, py: Python<'_>, node: usize, source: Option<String>) -> PyResult<usize> {
        self.node(py, Some(node), Fetch::InstanceDict, source)
    }

    #[pyo3(signature = (node, key, source=None))]
    fn item(&mut self, node: usize, key: &Bound<'_, PyAny>, source: Option<String>) -> PyResult<usize> {
        self.node(key.py(), Some(node), Fetch::Item(interned_key(key)), source)
    }

    #[pyo3(signature = (node, index, source=None))]
    fn dict_key(
        &mut self,
        py: Python<'_>,
        node: usize,
        index: usize,
        source: Option<String>,
    ) -> PyResult<usize> {
        self.node(py, Some(node), Fetch::DictKey(index), source)
    }

    #[pyo3(signature = (node, index, source=None))]
    fn index(
        &mut self,
        py: Python<'_>,
        node: usize,
        index: usize,
        source: Option<String>,
    ) -> PyResult<usize> {
        self.node(py, Some(node), Fetch::Index(index), source)
    }

    #[pyo3(signature = (node, key, source=None))]
    fn subscript(&mut self, node: usize, key: &Bound<'_, PyAny>, source: Option<String>) -> PyResult<usize> {
        self.node(key.py(), Some(node), Fetch::Subscript(interned_key(key)), source)
    }

    #[pyo3(signature = (node, source=None))]
    fn type_of(&mut self, py: Python<'_>, node: usize, source: Option<String>) -> PyResult<usize> {
        self.node(py, Some(node), Fetch::TypeOf, source)
    }

    #[pyo3(signature = (node, name, source=None))]
    fn class_attr(
        &mut self,
        py: Python<'_>,
        node: usize,
        name: &str,
        source: Option<String>,
    ) -> PyResult<usize> {
        let name = PyString::intern(py, name).into_any().unbind();
        self.node(py, Some(node), Fetch::ClassAttr(name), source)
    }

    #[pyo3(signature = (node, source=None))]
    fn code_of(&mut self, py: Python<'_>, node: usize, source: Option<String>) -> PyResult<usize> {
        self.node(py, Some(node), Fetch::CodeOf, source)
    }

    #[pyo3(signature = (node, source=None))]
    fn defaults_of(&mut self, py: Python<'_>, node: usize, source: Option<String>) -> PyResult<usize> {
        self.node(py, Some(node), Fetch::DefaultsOf, source)
    }

    #[pyo3(signature = (node, source=None))]
    fn kwdefaults_of(&mut self, py: Python<'_>, node: usize, source: Option<String>) -> PyResult<usize> {
        self.node(py, Some(node), Fetch::KwdefaultsOf, source)
    }

    #[pyo3(signature = (node, source=None))]
    fn globals_of(&mut self, py: Python<'_>, node: usize, source: Option<String>) -> PyResult<usize> {
        self.node(py, Some(node), Fetch::GlobalsOf, source)
    }

    #[pyo3(signature = (node, index, source=None))]
    fn cell_of(
        &mut self,
        py: Python<'_>,
        node: usize,
        index: usize,
        source: Option<String>,
    ) -> PyResult<usize> {
        self.node(py, Some(node), Fetch::CellOf(index), source)
    }

    #[pyo3(signature = (node, source=None))]
    fn method_self(&mut self, py: Python<'_>, node: usize, source: Option<String>) -> PyResult<usize> {
        self.node(py, Some(node), Fetch::MethodSelf, source)
    }

    #[pyo3(signature = (node, source=None))]
    fn method_function(&mut self, py: Python<'_>, node: usize, source: Option<String>) -> PyResult<usize> {
        self.node(py, Some(node), Fetch::MethodFunction, source)
    }

    #[pyo3(signature = (node, source=None))]
    fn cell_contents(&mut self, py: Python<'_>, node: usize, source: Option<String>) -> PyResult<usize> {
        self.node(py, Some(node), Fetch::CellContents, source)
    }

    #[pyo3(signature = (function, node, source=None))]
    fn derived(
        &mut self,
        function: &Bound<'_, PyAny>,
        node: usize,
        source: Option<String>,
    ) -> PyResult<usize> {
        self.node(function.py(), Some(node), Fetch::Derived(function.clone().unbind()), source)
    }

    fn source(&mut self, py: Python<'_>, node: usize) -> PyResult<String> {
        let state = self.state(py)?;
        state.check_node(py, node)?;
        Ok(state.nodes[node].source.clone())
    }

    fn exists(&mut self, py: Python<'_>, node: usize) -> PyResult<()> {
        self.add(py, vec![node], Some(CheckKey::Pointer("exists", node, 0)), Check::Exists(0))
    }

    fn type_is(&mut self, node: usize, cls: &Bound<'_, PyType>) -> PyResult<()> {
        let key = CheckKey::Pointer("type", node, cls.as_ptr() as usize);
        self.add(cls.py(), vec![node], Some(key), Check::Type(0, Held::new(cls.as_any())?))
    }

    fn is_object(&mut self, node: usize, obj: &Bound<'_, PyAny>) -> PyResult<()> {
        let key = CheckKey::Pointer("is", node, obj.as_ptr() as usize);
        self.add(obj.py(), vec![node], Some(key), Check::Is(0, Held::new(obj)?))
    }

    fn is_not_object(&mut self, node: usize, obj: &Bound<'_, PyAny>) -> PyResult<()> {
        let key = CheckKey::Pointer("is not", node, obj.as_ptr() as usize);
        self.add(obj.py(), vec![node], Some(key), Check::IsNot(0, Held::new(obj)?))
    }

    fn equals(&mut self, node: usize, constant: &Bound<'_, PyAny>) -> PyResult<()> {
        let snapshot = Constant::new(constant)?;
        // A number's text tells it apart from every other of its type; other constants are compared by identity,
        // which holds only while the object is alive, so only those that the snapshot keeps alive have a key.
        let key = match &snapshot {
            Constant::Int(value) => Some(CheckKey::Text("int", node, value.to_string())),
            Constant::Float(bits) => Some(CheckKey::Text("float", node, bits.to_string())),
            Constant::Identity(_) | Constant::Str(_) => {
                Some(CheckKey::Pointer("equals", node, constant.as_ptr() as usize))
            }
            _ => None,
        };
        self.add(constant.py(), vec![node], key, Check::Equals(0, snapshot))
    }

    fn truth(&mut self, py: Python<'_>, node: usize, expected: bool) -> PyResult<()> {
        let key = CheckKey::Pointer("truth", node, usize::from(expected));
        self.add(py, vec![node], Some(key), Check::Truth(0, expected))
    }

    fn length(&mut self, py: Python<'_>, node: usize, expected: usize) -> PyResult<()> {
        self.add(py, vec![node], Some(CheckKey::Pointer("len", node, expected)), Check::Length(0, expected))
    }

    fn dict_keys(&mut self, node: usize, keys: &Bound<'_, PyAny>) -> PyResult<()> {
        let constants = keys.try_iter()?.map(|key| Constant::new(&key?)).collect::<PyResult<Box<[_]>>>()?;
        self.add(keys.py(), vec![node], None, Check::DictKeys(0, constants))
    }

    #[pyo3(signature = (node, key, present=true))]
    fn contains(&mut self, node: usize, key: &Bound<'_, PyAny>, present: bool) -> PyResult<()> {
        self.add(key.py(), vec![node], None, Check::Contains(0, key.clone().unbind(), present))
    }

    #[pyo3(signature = (node, name, present=true))]
    fn has_attr(&mut self, py: Python<'_>, node: usize, name: &str, present: bool) -> PyResult<()> {
        let kind = if present { "has" } else { "has not" };
        let key = CheckKey::Text(kind, node, name.to_owned());
        let name = PyString::intern(py, name).into_any().unbind();
        self.add(py, vec![node], Some(key), Check::HasAttr(0, name, present))
    }

    #[pyo3(signature = (node, name, present=true))]
    fn in_instance_dict(&mut self, py: Python<'_>, node: usize, name: &str, present: bool) -> PyResult<()> {
        let kind = if present { "in dict" } else { "not in dict" };
        let key = CheckKey::Text(kind, node, name.to_owned());
        let name = PyString::intern(py, name).into_any().unbind();
        self.add(py, vec![node], Some(key), Check::InInstanceDict(0, name, present))
    }

    fn class_lacks(&mut self, py: Python<'_>, node: usize, name: &str) -> PyResult<()> {
        let key = CheckKey::Text("class lacks", node, name.to_owned());
        let name = PyString::intern(py, name).into_any().unbind();
        self.add(py, vec![node], Some(key), Check::ClassLacks(0, name))
    }

    #[pyo3(signature = (node, example, *, sizes=None, strides=None, check_strides=true, requires_grad=None))]
    fn tensor(
        &mut self,
        node: usize,
        example: &Bound<'_, PyAny>,
        sizes: Option<Vec<Option<i64>>>,
        strides: Option<Vec<Option<i64>>>,
        check_strides: bool,
        requires_grad: Option<bool>,
    ) -> PyResult<()> {
        let options = TensorOptions { sizes, strides, check_strides, requires_grad };
        let check = TensorCheck::new(example, options)?;
        self.add(example.py(), vec![node], None, Check::Tensor(0, Box::new(check)))
    }

    fn dynamic_marks(&mut self, py: Python<'_>, node: usize, dims: Vec<i64>) -> PyResult<()> {
        let allowed = PyFrozenSet::new(py, dims)?.into_any().unbind();
        self.add(py, vec![node], None, Check::DynamicMarks(0, allowed))
    }

    fn same_object(&mut self, py: Python<'_>, first: usize, second: usize) -> PyResult<()> {
        let key = CheckKey::Pointer("same", first, second);
        self.add(py, vec![first, second], Some(key), Check::Same(0, 0))
    }

    fn all_different(&mut self, py: Python<'_>, nodes: Vec<usize>) -> PyResult<()> {
        self.add(py, nodes, None, Check::AllDifferent(Box::new([])))
    }

    fn shape(&mut self, py: Python<'_>, expression: &str, symbols: &Bound<'_, PyDict>) -> PyResult<()> {
        let (mut nodes, mut sources, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for (name, place) in symbols.iter() {
            let place = place.cast_into::<PyTuple>()?;
            let node: usize = place.get_item(0)?.extract()?;
            let dim = || place.get_item(2)?.extract::<usize>();
            let kind = if place.len() > 1 { Some(place.get_item(1)?.extract::<String>()?) } else { None };
            let source = match kind.as_deref() {
                None => SymbolSource::Int(0),
                Some("size") => SymbolSource::Size(0, dim()?),
                Some("stride") => SymbolSource::Stride(0, dim()?),
                Some("offset") => SymbolSource::Offset(0),
                Some(other) => {
                    let message =
                        format!("a symbol is a \"size\", a \"stride\" or an \"offset\", not {other:?}");
                    return Err(pydynamo_error(py, message));
                }
            };
            names.push(name.extract::<String>()?);
            sources.push(source);
            nodes.push(node);
        }
        let compiled = ShapeExpr::parse(expression, &names).map_err(|message| pydynamo_error(py, message))?;
        let torch_is_there = py.import("sys")?.getattr("modules")?.contains("torch")?;
        let link = if torch_is_there { TorchLink::get(py) } else { None };
        let symbols = names.into_iter().zip(sources).collect();
        let check = Check::Shape(Box::new(ShapeCheck { expression: compiled, symbols, link }));
        self.add(py, nodes, None, check)
    }

    fn custom(
        &mut self,
        function: &Bound<'_, PyAny>,
        nodes: Vec<usize>,
        description: String,
    ) -> PyResult<()> {
        if !function.is_callable() {
            let message = format!("a custom guard needs a callable, not {}", short_repr(function));
            return Err(pydynamo_error(function.py(), message));
        }
        let check =
            Check::Custom { function: function.clone().unbind(), registers: Box::new([]), description };
        self.add(function.py(), nodes, None, check)
    }

    fn torch_state(&mut self, py: Python<'_>) -> PyResult<()> {
        let check = Check::TorchState(Box::new(TorchState::now(py)?));
        self.add(py, Vec::new(), Some(CheckKey::TorchState), check)
    }

    fn __len__(&self) -> usize {
        self.state.as_ref().map_or(0, |state| state.checks.len())
    }

    fn build(&mut self, py: Python<'_>) -> PyResult<GuardProgram> {
        self.state(py)?;
        match self.state.take() {
            Some(state) => Ok(GuardProgram(state.finish())),
            None => Err(pydynamo_error(py, "this GuardBuilder has been built already")),
        }
    }
}

/// A str key as its interned twin, so that dict look-ups compare pointers; any other key as it is.
fn interned_key(key: &Bound<'_, PyAny>) -> Py<PyAny> {
    match key.cast_exact::<PyString>().map(|text| text.extract::<String>()) {
        Ok(Ok(text)) => PyString::intern(key.py(), &text).into_any().unbind(),
        _ => key.clone().unbind(),
    }
}
