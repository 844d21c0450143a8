//! The builder of guard programs that Python talks to.
use super::check::{Check, ShapeCheck, SymbolSource};
use super::constant::{Constant, Held, short_repr};
use super::fetch::{DictItem, Fetch, PlainClass};
use super::plan::{CheckKey, Plan};
use super::program::GuardProgram;
use super::shape_expr::ShapeExpr;
use super::tensor::{TensorCheck, TensorOptions};
use super::torch_link::TorchLink;
use super::torch_state::TorchState;
use crate::errors::pydynamo_error;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyFrozenSet, PyString, PyTuple, PyType};

/// See `GuardBuilder` in `_core.pyi`.
#[pyclass(module = "pydynamo._core")]
pub(crate) struct GuardBuilder {
    plan: Option<Plan>,
}

impl GuardBuilder {
    fn plan(&mut self, py: Python<'_>) -> PyResult<&mut Plan> {
        self.plan.as_mut().ok_or_else(|| built_already(py))
    }

    fn node(
        &mut self,
        py: Python<'_>,
        parent: Option<usize>,
        fetch: Fetch,
        source: Option<String>,
    ) -> PyResult<usize> {
        self.plan(py)?.node(py, parent, fetch, source)
    }

    /// The instance dict of a node's value, which several look-ups share; None's node where there is none.
    fn own_dict(&mut self, py: Python<'_>, node: usize) -> PyResult<usize> {
        self.node(py, Some(node), Fetch::OwnDict, None)
    }

    fn add(
        &mut self,
        py: Python<'_>,
        nodes: Vec<usize>,
        key: Option<CheckKey>,
        check: Check,
    ) -> PyResult<()> {
        self.plan(py)?.add(py, nodes, key, check)
    }
}

fn built_already(py: Python<'_>) -> PyErr {
    pydynamo_error(py, "this GuardBuilder has been built already")
}

#[pymethods]
impl GuardBuilder {
    #[new]
    fn new(code: &Bound<'_, PyCode>) -> PyResult<Self> {
        Ok(Self { plan: Some(Plan::new(code)?) })
    }

    #[pyo3(signature = (name, source=None))]
    fn local(&mut self, py: Python<'_>, name: &str, source: Option<String>) -> PyResult<usize> {
        let plan = self.plan(py)?;
        let Some(slot) = plan.shape.parameters.iter().position(|parameter| parameter.bind(py) == name) else {
            return Err(pydynamo_error(py, format!("{} has no parameter {name:?}", plan.shape.name)));
        };
        Ok(plan.local(slot, source.unwrap_or_else(|| name.to_owned())))
    }

    #[pyo3(signature = (name, source=None))]
    fn global_var(&mut self, py: Python<'_>, name: &str, source: Option<String>) -> PyResult<usize> {
        let name = PyString::intern(py, name).into_any().unbind();
        self.node(py, None, Fetch::Global(name), source)
    }

    #[pyo3(signature = (name, source=None))]
    fn closure(&mut self, py: Python<'_>, name: &str, source: Option<String>) -> PyResult<usize> {
        let shape = &self.plan(py)?.shape;
        let Some(index) = shape.free_variables.iter().position(|variable| variable.bind(py) == name) else {
            return Err(pydynamo_error(py, format!("{} has no free variable {name:?}", shape.name)));
        };
        let source = source.unwrap_or_else(|| name.to_owned());
        self.node(py, None, Fetch::Closure(index), Some(source))
    }

    #[pyo3(signature = (source=None))]
    fn function(&mut self, py: Python<'_>, source: Option<String>) -> PyResult<usize> {
        let name = self.plan(py)?.shape.name.clone();
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
        let interned = PyString::intern(py, name).into_any();
        let Some(class) = cls.and_then(|class| PlainClass::new(class, &interned)) else {
            return self.node(py, Some(node), Fetch::Attr(interned.unbind()), source);
        };
        let dict = self.own_dict(py, node)?;
        let source = match source {
            Some(source) => source,
            None => format!("{}.{name}", self.plan(py)?.source(py, node)?),
        };
        let item = DictItem::new(interned.unbind());
        self.node(py, Some(dict), Fetch::PlainAttr { item, owner: node, class }, Some(source))
    }

    #[pyo3(signature = (node, name, source=None))]
    fn dict_attr(
        &mut self,
        py: Python<'_>,
        node: usize,
        name: &str,
        source: Option<String>,
    ) -> PyResult<usize> {
        let dict = self.own_dict(py, node)?;
        let source = match source {
            Some(source) => source,
            None => format!("{}.{name}", self.plan(py)?.source(py, node)?),
        };
        let item = DictItem::new(PyString::intern(py, name).into_any().unbind());
        self.node(py, Some(dict), Fetch::Item(item), Some(source))
    }

    #[pyo3(signature = (node, source=None))]
    fn instance_dict(&mut self, py: Python<'_>, node: usize, source: Option<String>) -> PyResult<usize> {
        self.node(py, Some(node), Fetch::InstanceDict, source)
    }

    #[pyo3(signature = (node, key, source=None))]
    fn item(&mut self, node: usize, key: &Bound<'_, PyAny>, source: Option<String>) -> PyResult<usize> {
        self.node(key.py(), Some(node), Fetch::Item(DictItem::new(key.clone().unbind())), source)
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
        self.node(key.py(), Some(node), Fetch::Subscript(DictItem::new(key.clone().unbind())), source)
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
        self.plan(py)?.source(py, node).map(str::to_owned)
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
        let dict = self.own_dict(py, node)?;
        self.add(py, vec![dict], Some(key), Check::InInstanceDict(0, name, present))
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
        self.plan.as_ref().map_or(0, Plan::check_count)
    }

    fn build(&mut self, py: Python<'_>) -> PyResult<GuardProgram> {
        let plan = self.plan.take().ok_or_else(|| built_already(py))?;
        Ok(GuardProgram(plan.write()))
    }
}
