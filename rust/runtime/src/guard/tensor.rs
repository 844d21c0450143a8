//! The condition "a tensor like this one": type, dispatch keys, dtype, device, requires_grad, sizes, strides.
use super::constant::{Held, short_repr};
use super::torch_link::{TensorRef, TorchLink};
use crate::errors::pydynamo_error;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;

/// What a tensor must look like. `None` in sizes and strides means any.
pub(crate) struct TensorCheck {
    class: Held,
    keys: u64,
    dtype: Py<PyAny>,
    device: Py<PyAny>,
    layout: Py<PyAny>,
    requires_grad: bool,
    sizes: Box<[Option<i64>]>,
    /// None where strides do not matter or the layout has none.
    strides: Option<Box<[Option<i64>]>>,
    native: Option<NativeCheck>,
}

/// The same facts as torch's C interface tells them.
struct NativeCheck {
    link: &'static TorchLink,
    dtype: i32,
    device: (i32, i32),
}

/// What the caller changes about the example.
#[derive(Default)]
pub(crate) struct TensorOptions {
    pub sizes: Option<Vec<Option<i64>>>,
    pub strides: Option<Vec<Option<i64>>>,
    pub check_strides: bool,
    pub requires_grad: Option<bool>,
}

impl TensorCheck {
    pub(crate) fn new(example: &Bound<'_, PyAny>, options: TensorOptions) -> PyResult<Self> {
        let py = example.py();
        let torch = py.import("torch")?;
        if !example.is_instance(&torch.getattr("Tensor")?)? {
            let message = format!("a tensor guard needs a tensor as example, not {}", short_repr(example));
            return Err(pydynamo_error(py, message));
        }
        let keys = torch.getattr("_C")?.getattr("_dispatch_keys")?.call1((example,))?;
        let has_strides = example.getattr("layout")?.is(&torch.getattr("strided")?);
        let sizes = match options.sizes {
            Some(sizes) => sizes,
            None => example.call_method0("size")?.extract::<Vec<i64>>()?.into_iter().map(Some).collect(),
        };
        let strides = if !options.check_strides || !has_strides {
            None
        } else if options.strides.is_some() {
            options.strides
        } else {
            Some(example.call_method0("stride")?.extract::<Vec<i64>>()?.into_iter().map(Some).collect())
        };
        if strides.as_ref().is_some_and(|strides| strides.len() != sizes.len()) {
            return Err(pydynamo_error(py, "a tensor guard needs as many strides as sizes"));
        }
        let requires_grad = match options.requires_grad {
            Some(required) => required,
            None => example.getattr("requires_grad")?.extract()?,
        };
        // SAFETY: a live tensor, checked above.
        let native = TorchLink::get(py).and_then(|link| unsafe {
            let tensor = link.tensor(example.as_ptr());
            Some(NativeCheck { link, dtype: tensor.dtype()?, device: tensor.device()? })
        });
        Ok(Self {
            class: Held::new(example.get_type().as_any())?,
            keys: keys.call_method0("raw_repr")?.extract()?,
            dtype: example.getattr("dtype")?.unbind(),
            device: example.getattr("device")?.unbind(),
            layout: example.getattr("layout")?.unbind(),
            requires_grad,
            sizes: sizes.into(),
            strides: strides.map(Into::into),
            native,
        })
    }

    /// Whether `object` is such a tensor.
    ///
    /// # Safety
    /// `object` must be alive (the caller holds a reference) and the GIL held.
    pub(crate) unsafe fn matches(&self, py: Python<'_>, object: *mut PyObject) -> bool {
        // SAFETY: a live object; once its exact type is the example's it is a tensor, as `TensorRef` asks.
        unsafe {
            if !self.class.is(ffi::Py_TYPE(object).cast()) {
                return false;
            }
            if let Some(native) = &self.native {
                return self.native_matches(native, native.link.tensor(object));
            }
            let object = Bound::from_borrowed_ptr(py, object);
            matches!(self.difference(&object), Ok(None))
        }
    }

    fn native_matches(&self, native: &NativeCheck, tensor: TensorRef<'_>) -> bool {
        let fits = |wanted: &[Option<i64>], found: Option<&[i64]>| {
            found.is_some_and(|found| {
                wanted.iter().zip(found).all(|(wanted, found)| wanted.is_none_or(|w| w == *found))
            })
        };
        let rank = self.sizes.len();
        tensor.keys() == self.keys
            && tensor.dtype() == Some(native.dtype)
            && tensor.device() == Some(native.device)
            && tensor.requires_grad() == self.requires_grad
            && tensor.dim() == Some(rank)
            && fits(&self.sizes, tensor.sizes(rank))
            && self.strides.as_ref().is_none_or(|strides| fits(strides, tensor.strides(rank)))
    }

    /// The first difference, in words; None if there is none. Reads attributes: the slow, portable way.
    pub(crate) fn difference(&self, object: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        let py = object.py();
        // SAFETY: the type of a live object.
        if !unsafe { self.class.is(ffi::Py_TYPE(object.as_ptr()).cast()) } {
            return Ok(Some(format!(
                "type is {}, expected {}",
                short_repr(object.get_type().as_any()),
                self.class.describe(py)
            )));
        }
        for (name, expected) in [("dtype", &self.dtype), ("device", &self.device), ("layout", &self.layout)] {
            let found = object.getattr(name)?;
            if !found.eq(expected.bind(py))? {
                let expected = short_repr(expected.bind(py));
                return Ok(Some(format!("{name} is {}, expected {expected}", short_repr(&found))));
            }
        }
        let grad: bool = object.getattr("requires_grad")?.extract()?;
        if grad != self.requires_grad {
            let text = |value: bool| if value { "True" } else { "False" };
            return Ok(Some(format!(
                "requires_grad is {}, expected {}",
                text(grad),
                text(self.requires_grad)
            )));
        }
        let sizes: Vec<i64> = object.call_method0("size")?.extract()?;
        if sizes.len() != self.sizes.len() {
            return Ok(Some(format!("it has {} dimensions, expected {}", sizes.len(), self.sizes.len())));
        }
        if let Some(text) = first_difference("size", &self.sizes, &sizes) {
            return Ok(Some(text));
        }
        if let Some(strides) = &self.strides {
            let found: Vec<i64> = object.call_method0("stride")?.extract()?;
            if let Some(text) = first_difference("stride", strides, &found) {
                return Ok(Some(text));
            }
        }
        let dispatch_keys = py.import("torch")?.getattr("_C")?.getattr("_dispatch_keys")?;
        let keys = dispatch_keys.call1((object,))?;
        if keys.call_method0("raw_repr")?.extract::<u64>()? != self.keys {
            return Ok(Some(format!("its dispatch keys differ: {}", keys.str()?)));
        }
        Ok(None)
    }

    pub(crate) fn describe(&self, py: Python<'_>) -> String {
        let list = |values: &[Option<i64>]| {
            let texts: Vec<_> =
                values.iter().map(|value| value.map_or_else(|| "any".into(), |v| v.to_string())).collect();
            format!("[{}]", texts.join(", "))
        };
        let strides =
            self.strides.as_ref().map_or_else(String::new, |strides| format!(", stride {}", list(strides)));
        format!(
            "{} {} on {}, size {}{strides}, requires_grad={}",
            self.class.describe(py),
            short_repr(self.dtype.bind(py)),
            short_repr(self.device.bind(py)),
            list(&self.sizes),
            if self.requires_grad { "True" } else { "False" }
        )
    }
}

fn first_difference(what: &str, wanted: &[Option<i64>], found: &[i64]) -> Option<String> {
    let different = |(wanted, found): (&Option<i64>, &i64)| wanted.is_some_and(|wanted| wanted != *found);
    let index = wanted.iter().zip(found).position(different)?;
    Some(format!("{what}[{index}] is {}, expected {}", found[index], wanted[index]?))
}
