//! Reads tensors without calling Python, through symbols that torch's libraries export.
//!
//! Sizes, strides, dtype, device and layout come from torch's stable C interface (`aoti_torch_*`). Where a tensor object
//! keeps its implementation, and where that keeps its dispatch keys, is *found and proved* on tensors whose answers
//! Python gives (`_cdata`, `_dispatch_keys`); if anything does not agree, there is no link and guards read attributes.
use libc::{RTLD_LAZY, RTLD_NOLOAD, c_char, c_void};
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::ffi::CString;

type TensorHandle = *mut c_void;
type GetPointer = unsafe extern "C" fn(TensorHandle, *mut *const i64) -> i32;
type GetI64 = unsafe extern "C" fn(TensorHandle, *mut i64) -> i32;
type GetI32 = unsafe extern "C" fn(TensorHandle, *mut i32) -> i32;

/// Entry points and proved offsets.
pub(crate) struct TorchLink {
    /// `torch.Tensor`: tensors are its instances and those of its subclasses.
    tensor_type: Py<PyAny>,
    /// Offset of the `at::Tensor` inside a Python tensor object.
    tensor_offset: usize,
    /// Offset of the dispatch key set inside the tensor's implementation.
    keys_offset: usize,
    get_sizes: GetPointer,
    get_strides: GetPointer,
    get_dim: GetI64,
    get_offset: GetI64,
    get_dtype: GetI32,
    get_device_type: GetI32,
    get_device_index: GetI32,
    requires_grad: unsafe extern "C" fn(*const c_void) -> bool,
    pub(crate) grad_mode: unsafe extern "C" fn() -> bool,
    pub(crate) inference_mode: unsafe extern "C" fn() -> bool,
    pub(crate) function_modes: unsafe extern "C" fn() -> i64,
    pub(crate) dispatch_modes: unsafe extern "C" fn() -> i64,
    /// Gives `const std::vector<DynamicLayer>&`: functorch's transforms that are active.
    functorch_layers: unsafe extern "C" fn() -> *const [usize; 2],
}

static LINK: PyOnceLock<Option<TorchLink>> = PyOnceLock::new();

impl TorchLink {
    /// The link to the torch that this process has imported; None if that torch cannot be read natively.
    pub(crate) fn get(py: Python<'_>) -> Option<&'static Self> {
        LINK.get_or_init(py, || Self::open(py).ok().flatten()).as_ref()
    }

    fn open(py: Python<'_>) -> PyResult<Option<Self>> {
        let torch = py.import("torch")?;
        let file: String = torch.getattr("__file__")?.extract()?;
        let Some(folder) = std::path::Path::new(&file).parent().map(|folder| folder.join("lib")) else {
            return Ok(None);
        };
        let suffix = if cfg!(target_os = "macos") { "dylib" } else { "so" };
        let library = |name: &str| Library::loaded(&folder.join(format!("{name}.{suffix}")));
        let (Some(cpu), Some(c10)) = (library("libtorch_cpu"), library("libc10")) else {
            return Ok(None);
        };
        let tensor_type = torch.getattr("Tensor")?.unbind();
        // SAFETY: each symbol is looked up by the (mangled) name of a function with the signature of its field: torch's
        // C interface, and static or const member functions, which take their object as first argument.
        let link = unsafe {
            (|| {
                Some(Self {
                    tensor_type,
                    tensor_offset: 0,
                    keys_offset: 0,
                    get_sizes: std::mem::transmute::<*mut c_void, GetPointer>(
                        cpu.symbol("aoti_torch_get_sizes")?,
                    ),
                    get_strides: std::mem::transmute::<*mut c_void, GetPointer>(
                        cpu.symbol("aoti_torch_get_strides")?,
                    ),
                    get_dim: std::mem::transmute::<*mut c_void, GetI64>(cpu.symbol("aoti_torch_get_dim")?),
                    get_offset: std::mem::transmute::<*mut c_void, GetI64>(
                        cpu.symbol("aoti_torch_get_storage_offset")?,
                    ),
                    get_dtype: std::mem::transmute::<*mut c_void, GetI32>(
                        cpu.symbol("aoti_torch_get_dtype")?,
                    ),
                    get_device_type: std::mem::transmute::<*mut c_void, GetI32>(
                        cpu.symbol("aoti_torch_get_device_type")?,
                    ),
                    get_device_index: std::mem::transmute::<*mut c_void, GetI32>(
                        cpu.symbol("aoti_torch_get_device_index")?,
                    ),
                    requires_grad: std::mem::transmute::<
                        *mut c_void,
                        unsafe extern "C" fn(*const c_void) -> bool,
                    >(c10.symbol("_ZNK3c1010TensorImpl13requires_gradEv")?),
                    grad_mode: std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> bool>(
                        c10.symbol("_ZN3c108GradMode10is_enabledEv")?,
                    ),
                    inference_mode: std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> bool>(
                        c10.symbol("_ZN3c1013InferenceMode10is_enabledEv")?,
                    ),
                    function_modes: std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> i64>(
                        cpu.symbol("_ZN2at4impl22PythonTorchFunctionTLS9stack_lenEv")?,
                    ),
                    dispatch_modes: std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> i64>(
                        c10.symbol("_ZN3c104impl20TorchDispatchModeTLS9stack_lenEv")?,
                    ),
                    functorch_layers: std::mem::transmute::<
                        *mut c_void,
                        unsafe extern "C" fn() -> *const [usize; 2],
                    >(
                        cpu.symbol("_ZN2at9functorch20getDynamicLayerStackEv")?
                    ),
                })
            })()
        };
        match link {
            None => Ok(None),
            Some(mut link) => Ok(link.calibrate(&torch)?.then_some(link)),
        }
    }

    /// Finds both offsets on tensors whose answers are known, and proves them on each; false if they do not agree.
    fn calibrate(&mut self, torch: &Bound<'_, PyModule>) -> PyResult<bool> {
        let py = torch.py();
        let code = c"lambda t: [t.empty(2, 3), t.empty(3, 5, 7).transpose(0, 2), t.empty(1, dtype=t.complex64).conj(), \
            t.empty(4, device='meta', dtype=t.int64), t.nn.Parameter(t.empty(5))]";
        let samples: Vec<Bound<'_, PyAny>> = py.eval(code, None, None)?.call1((torch,))?.extract()?;
        let dispatch_keys = torch.getattr("_C")?.getattr("_dispatch_keys")?;
        let mut known = Vec::new();
        for sample in &samples {
            let cdata: usize = sample.getattr("_cdata")?.extract()?;
            let keys: u64 = dispatch_keys.call1((sample,))?.call_method0("raw_repr")?.extract()?;
            known.push((sample, cdata, keys));
        }
        // The object's own fields follow its 16-byte head; `_cdata` is the pointer that the at::Tensor consists of.
        let offset = [16, 24].into_iter().find(|offset| {
            known.iter().all(|(sample, cdata, _)| {
                // SAFETY: a Python tensor object is larger than 32 bytes.
                unsafe { sample.as_ptr().cast::<usize>().byte_add(*offset).read() == *cdata }
            })
        });
        let Some(offset) = offset else { return Ok(false) };
        // The key set is among the implementation's first 26 words; the search ends at the first word that agrees.
        let keys_offset = (1..26).map(|word| word * 8).find(|offset| {
            // SAFETY: `cdata` is the address of a live TensorImpl; words before the key set lie inside it.
            known.iter().all(|(_, cdata, keys)| unsafe { ((*cdata + offset) as *const u64).read() } == *keys)
        });
        let Some(keys_offset) = keys_offset else { return Ok(false) };
        (self.tensor_offset, self.keys_offset) = (offset, keys_offset);
        for (sample, _, keys) in known {
            let size: Vec<i64> = sample.call_method0("size")?.extract()?;
            let stride: Vec<i64> = sample.call_method0("stride")?.extract()?;
            let grad: bool = sample.getattr("requires_grad")?.extract()?;
            // SAFETY: a live tensor object.
            let same = unsafe {
                let tensor = self.tensor(sample.as_ptr());
                tensor.dim() == Some(size.len())
                    && tensor.sizes(size.len()) == Some(&size[..])
                    && tensor.strides(size.len()) == Some(&stride[..])
                    && tensor.keys() == keys
                    && tensor.requires_grad() == grad
                    && tensor.offset() == Some(0)
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// How many functorch transforms (vmap, grad ...) are active.
    pub(crate) fn functorch_depth_bytes(&self) -> usize {
        // SAFETY: the function returns a reference to a vector, whose first two words are begin and end.
        unsafe {
            let [begin, end] = *(self.functorch_layers)();
            end.wrapping_sub(begin)
        }
    }

    /// Whether `object` is a tensor.
    ///
    /// # Safety
    /// `object` must be alive and the GIL held.
    pub(crate) unsafe fn is_tensor(&self, object: *mut PyObject) -> bool {
        // SAFETY: `torch.Tensor` is a type.
        unsafe { ffi::PyObject_TypeCheck(object, self.tensor_type.as_ptr().cast()) != 0 }
    }

    /// # Safety
    /// `object` must be a live tensor object (an instance of `torch.Tensor`), and stay so while the result is used.
    #[inline]
    pub(crate) unsafe fn tensor(&self, object: *mut PyObject) -> TensorRef<'_> {
        // SAFETY: the calibrated offset lies inside every tensor object.
        TensorRef { link: self, handle: unsafe { object.cast::<u8>().add(self.tensor_offset).cast() } }
    }
}

/// A tensor seen through the link.
#[derive(Clone, Copy)]
pub(crate) struct TensorRef<'link> {
    link: &'link TorchLink,
    handle: TensorHandle,
}

impl TensorRef<'_> {
    fn implementation(self) -> *const u64 {
        // SAFETY: an at::Tensor is one pointer to its implementation, which is never NULL.
        unsafe { *self.handle.cast::<*const u64>() }
    }

    #[inline]
    pub(crate) fn keys(self) -> u64 {
        // SAFETY: the calibrated offset lies inside every TensorImpl.
        unsafe { self.implementation().byte_add(self.link.keys_offset).read() }
    }

    #[inline]
    pub(crate) fn requires_grad(self) -> bool {
        // SAFETY: a const member function of TensorImpl, given its object.
        unsafe { (self.link.requires_grad)(self.implementation().cast()) }
    }

    fn number(self, function: GetI32) -> Option<i32> {
        let mut value = 0;
        // SAFETY: torch's C interface fills `value` unless it returns an error code.
        (unsafe { function(self.handle, &raw mut value) } == 0).then_some(value)
    }

    fn wide_number(self, function: GetI64) -> Option<i64> {
        let mut value = 0;
        // SAFETY: as in `number`.
        (unsafe { function(self.handle, &raw mut value) } == 0).then_some(value)
    }

    #[inline]
    pub(crate) fn dtype(self) -> Option<i32> {
        self.number(self.link.get_dtype)
    }

    #[inline]
    pub(crate) fn device(self) -> Option<(i32, i32)> {
        Some((self.number(self.link.get_device_type)?, self.number(self.link.get_device_index)?))
    }

    pub(crate) fn dim(self) -> Option<usize> {
        self.wide_number(self.link.get_dim).map(|dim| dim as usize)
    }

    pub(crate) fn offset(self) -> Option<i64> {
        self.wide_number(self.link.get_offset)
    }

    fn array<'a>(self, function: GetPointer, dim: usize) -> Option<&'a [i64]> {
        let mut pointer = std::ptr::null();
        // SAFETY: torch's C interface gives a pointer to `dim` numbers that live inside the tensor, which the caller keeps
        // alive and does not resize while it reads them.
        unsafe {
            if function(self.handle, &raw mut pointer) != 0 {
                return None;
            }
            if dim == 0 {
                return Some(&[]);
            }
            Some(std::slice::from_raw_parts(pointer, dim))
        }
    }

    #[inline]
    pub(crate) fn sizes<'a>(self, dim: usize) -> Option<&'a [i64]> {
        self.array(self.link.get_sizes, dim)
    }

    #[inline]
    pub(crate) fn strides<'a>(self, dim: usize) -> Option<&'a [i64]> {
        self.array(self.link.get_strides, dim)
    }
}

/// A shared library that is already loaded in this process.
struct Library(*mut c_void);

impl Library {
    fn loaded(path: &std::path::Path) -> Option<Self> {
        let path = CString::new(path.to_str()?).ok()?;
        // SAFETY: a NUL-terminated path; RTLD_NOLOAD runs no initialisers. The handle is never closed: torch stays loaded.
        let handle = unsafe { libc::dlopen(path.as_ptr(), RTLD_LAZY | RTLD_NOLOAD) };
        (!handle.is_null()).then_some(Self(handle))
    }

    fn symbol(&self, name: &str) -> Option<*mut c_void> {
        let name = CString::new(name).ok()?;
        // SAFETY: a live handle and a NUL-terminated name.
        let pointer = unsafe { libc::dlsym(self.0, name.as_ptr().cast::<c_char>()) };
        (!pointer.is_null()).then_some(pointer)
    }
}
