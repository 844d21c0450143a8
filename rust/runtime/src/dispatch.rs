//! What a call of a `CompiledFunction` does: find the entry whose guards pass, else ask Python what to run.
use crate::bind::{BoundArguments, Call, RebuiltCall, bind};
use crate::cache::{CacheEntry, CodeCache, Follower, lock};
use crate::code_shape::CodeShape;
use crate::errors::pydynamo_error;
use crate::graph_call::take_failure;
use crate::guard::Inputs;
use crate::hook::Suspended;
use crate::shim;
use crate::torch_hook::TorchHookAside;
use crate::twin::twin;
use pyo3::exceptions::PyRecursionError;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyFunction, PyTuple};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// An entry, and the callable that runs its target for one wrapper.
struct Ready {
    entry: Py<CacheEntry>,
    callable: Py<PyAny>,
    /// The target where it is a code object, else NULL; alive as long as the entry.
    code: AtomicPtr<PyObject>,
}

impl Ready {
    /// Calls the target; its own frame is not offered to interceptions, because it is compiled already. If all it did was
    /// to fail in its graph, `original` runs instead.
    ///
    /// # Safety
    /// A valid vectorcall; the GIL is held and `self` and `original` alive to the end of the call.
    #[inline]
    unsafe fn call(
        &self,
        original: *mut PyObject,
        args: *const *mut PyObject,
        nargsf: usize,
        kwnames: *mut PyObject,
    ) -> *mut PyObject {
        // SAFETY: by the caller's word.
        unsafe {
            let code = self.code.load(Ordering::Relaxed);
            if !code.is_null() {
                shim::pydynamo_hook_skip_next(code);
            }
            let result = shim::pydynamo_bounded_vectorcall(self.callable.as_ptr(), args, nargsf, kwnames);
            if result.is_null() && take_failure(Python::assume_attached(), code) {
                return shim::pydynamo_bounded_vectorcall(original, args, nargsf, kwnames);
            }
            result
        }
    }
}

/// A wrapper's own view of its cache: most recently used first, so that wrappers that share a cache do not disturb each other.
#[derive(Clone, Default)]
struct ReadyList {
    version: u64,
    entries: Arc<Vec<Arc<Ready>>>,
}

/// A wrapper's list where its cache can reach it, to have it dropped together with the entries.
struct ReadyCell(Mutex<ReadyList>);

impl Follower for ReadyCell {
    fn forget(&self) {
        // No cache has this version: the next call fills the list again.
        let empty = ReadyList { version: u64::MAX, entries: Arc::default() };
        // The old list is dropped after the lock is free: dropping callables may run code of the user's.
        let old = std::mem::replace(&mut *lock(&self.0), empty);
        drop(old);
    }
}

/// Everything behind one `CompiledFunction`.
pub(crate) struct State {
    pub(crate) function: Py<PyFunction>,
    pub(crate) on_miss: Py<PyAny>,
    pub(crate) cache: Py<CodeCache>,
    /// The function's code when it was wrapped, kept alive so that its address means it.
    code: Py<PyCode>,
    shape: CodeShape,
    ready: Arc<ReadyCell>,
    disabled: AtomicBool,
    misses: AtomicU64,
}

impl State {
    pub(crate) fn new(
        function: &Bound<'_, PyFunction>,
        on_miss: Py<PyAny>,
        cache: Py<CodeCache>,
    ) -> PyResult<Self> {
        let code = function.getattr("__code__")?.cast_into::<PyCode>()?;
        let ready = Arc::new(ReadyCell(Mutex::default()));
        ready.forget();
        let follower: Weak<dyn Follower> = Arc::<ReadyCell>::downgrade(&ready);
        cache.get().add_follower(follower);
        Ok(Self {
            function: function.clone().unbind(),
            on_miss,
            cache,
            shape: CodeShape::of(&code)?,
            code: code.unbind(),
            ready,
            disabled: AtomicBool::new(false),
            misses: AtomicU64::new(0),
        })
    }

    pub(crate) fn name(&self, py: Python<'_>) -> PyResult<String> {
        self.function.bind(py).getattr("__qualname__")?.extract()
    }

    pub(crate) fn is_disabled(&self) -> bool {
        self.disabled.load(Ordering::Relaxed)
    }

    pub(crate) fn set_disabled(&self, disabled: bool) {
        self.disabled.store(disabled, Ordering::Relaxed);
    }

    pub(crate) fn misses(&self) -> u64 {
        self.misses.load(Ordering::Relaxed)
    }

    /// Shows the garbage collector every object that this owns.
    pub(crate) fn visit(&self, visit: &mut dyn FnMut(*mut PyObject)) {
        visit(self.function.as_ptr());
        visit(self.on_miss.as_ptr());
        visit(self.cache.as_ptr());
        visit(self.code.as_ptr());
        let Ok(ready) = self.ready.0.try_lock() else { return };
        // What a running call holds too is not this wrapper's alone; leaving it out keeps it alive.
        if Arc::strong_count(&ready.entries) > 1 {
            return;
        }
        for ready in ready.entries.iter().filter(|ready| Arc::strong_count(ready) == 1) {
            visit(ready.entry.as_ptr());
            visit(ready.callable.as_ptr());
            // The entry and this wrapper's own function of its code, which nobody else has.
            // SAFETY: the callable is alive, and while the collector is at work no count changes.
            if unsafe { ffi::Py_REFCNT(ready.callable.as_ptr()) } == 1
                && !ready.code.load(Ordering::Relaxed).is_null()
                && let Some(constants) = ready.entry.get().constants_of_code_with(2)
            {
                visit(constants.as_ptr());
            }
        }
    }

    /// Calls the wrapped function: compiled on a hit, by Python's decision on a miss. NULL with an exception set on failure.
    ///
    /// # Safety
    /// A valid vectorcall of the live wrapper `callable`, whose state this is; the GIL is held.
    #[inline]
    pub(crate) unsafe fn call(
        &self,
        py: Python<'_>,
        callable: *mut PyObject,
        args: *const *mut PyObject,
        nargsf: usize,
        kwnames: *mut PyObject,
    ) -> *mut PyObject {
        // SAFETY: (whole function) a valid vectorcall by the caller's word, passed on as it is; the callables are alive
        // during their calls, because `found` or this state holds them.
        unsafe {
            let original = self.function.as_ptr();
            let code_is_replaced =
                (*original.cast::<ffi::PyFunctionObject>()).func_code != self.code.as_ptr();
            // Who steps through a program or counts its lines is to see the user's frames, all of them.
            if self.is_disabled() || code_is_replaced || shim::pydynamo_is_watched() != 0 {
                return shim::pydynamo_bounded_vectorcall(original, args, nargsf, kwnames);
            }
            let nargs = ffi::PyVectorcall_NARGS(nargsf) as usize;
            if kwnames.is_null() && self.shape.binds_directly(nargs) {
                let inputs = Inputs { slots: args, slot_count: nargs, function: original };
                if let Some(found) = self.find(py, inputs) {
                    return found.call(original, args, nargsf, kwnames);
                }
                return self.miss(py, callable, Call { args, nargs, kwnames });
            }
            self.call_bound(py, callable, Call { args, nargs, kwnames })
        }
    }

    /// A call whose arguments have to be bound first.
    ///
    /// # Safety
    /// As for [`State::call`].
    #[inline(never)]
    unsafe fn call_bound(&self, py: Python<'_>, callable: *mut PyObject, call: Call) -> *mut PyObject {
        // SAFETY: (whole function) as in `call`; the bound arguments live to the end of the call.
        unsafe {
            let original = self.function.as_ptr();
            let Some(bound) = bind(&self.shape, original, call) else {
                // The function itself says what is wrong with the arguments.
                return shim::pydynamo_bounded_vectorcall(original, call.args, call.nargs, call.kwnames);
            };
            let BoundArguments { slots, rearranged, .. } = &bound;
            let inputs = Inputs { slots: slots.as_ptr(), slot_count: slots.len(), function: original };
            let Some(found) = self.find(py, inputs) else {
                drop(bound);
                return self.miss(py, callable, call);
            };
            if !rearranged {
                drop(bound);
                return found.call(original, call.args, call.nargs, call.kwnames);
            }
            let Some(rebuilt) = RebuiltCall::new(&self.shape, slots) else { return ptr::null_mut() };
            let call = rebuilt.call();
            found.call(original, call.args, call.nargs, call.kwnames)
        }
    }

    /// The first entry whose guards pass.
    ///
    /// # Safety
    /// `inputs` must hold live objects and the function be live; the GIL is held.
    #[inline(never)]
    unsafe fn find(&self, py: Python<'_>, inputs: Inputs) -> Option<Arc<Ready>> {
        let list = self.ready_list(py);
        for (index, ready) in list.iter().enumerate() {
            let entry = ready.entry.get();
            // SAFETY: by the caller's word.
            if entry.is_valid() && unsafe { entry.guards.get().0.passes(py, inputs) } {
                entry.count_hit();
                let found = Arc::clone(ready);
                if index > 0 {
                    self.move_to_front(&list, index);
                }
                return Some(found);
            }
        }
        None
    }

    /// The entry that a call would use.
    ///
    /// # Safety
    /// As for [`State::find`].
    pub(crate) unsafe fn find_entry(&self, py: Python<'_>, inputs: Inputs) -> Option<Py<CacheEntry>> {
        let passes = |entry: &Arc<Ready>| {
            // SAFETY: by the caller's word.
            entry.entry.get().is_valid() && unsafe { entry.entry.get().guards.get().0.passes(py, inputs) }
        };
        self.ready_list(py).iter().find(|ready| passes(ready)).map(|ready| ready.entry.clone_ref(py))
    }

    /// Why each valid entry does not fit.
    ///
    /// # Safety
    /// As for [`State::find`].
    pub(crate) unsafe fn reasons(&self, py: Python<'_>, inputs: Inputs) -> Vec<String> {
        let entries = self.cache.get().snapshot();
        let valid = entries.iter().filter(|entry| entry.get().is_valid());
        // SAFETY: by the caller's word.
        valid.filter_map(|entry| unsafe { entry.get().guards.get().0.reason(py, inputs) }).collect()
    }

    fn ready_list(&self, py: Python<'_>) -> Arc<Vec<Arc<Ready>>> {
        let version = self.cache.get().version();
        {
            let ready = lock(&self.ready.0);
            if ready.version == version {
                return Arc::clone(&ready.entries);
            }
        }
        self.refresh(py, version)
    }

    /// Follows the cache: entries that this wrapper knows keep their callables, new ones get theirs, and come first.
    #[cold]
    fn refresh(&self, py: Python<'_>, version: u64) -> Arc<Vec<Arc<Ready>>> {
        let known = Arc::clone(&lock(&self.ready.0).entries);
        let mut fresh = Vec::new();
        let entries = self.cache.get().snapshot();
        for entry in entries.iter().filter(|entry| entry.get().is_valid()) {
            let same = known.iter().find(|ready| ready.entry.is(entry));
            match same {
                Some(ready) => fresh.push(Arc::clone(ready)),
                None if !self.is_own_code(py, entry) => {}
                None => {
                    let target = entry.get().target.bind(py);
                    if let Ok(callable) = self.callable(py, target) {
                        let code =
                            if target.is_instance_of::<PyCode>() { target.as_ptr() } else { ptr::null_mut() };
                        fresh.push(Arc::new(Ready {
                            entry: entry.clone_ref(py),
                            callable: callable.unbind(),
                            code: AtomicPtr::new(code),
                        }));
                    }
                }
            }
        }
        let fresh = Arc::new(fresh);
        let new = ReadyList { version, entries: Arc::clone(&fresh) };
        // The old list is dropped after the lock is free: dropping callables may run code of the user's.
        let old = std::mem::replace(&mut *lock(&self.ready.0), new);
        drop(old);
        fresh
    }

    /// Whether an entry was made for this function's code; a cache may hold entries of other code by mistake.
    fn is_own_code(&self, _: Python<'_>, entry: &Py<CacheEntry>) -> bool {
        // SAFETY: this state keeps the code alive; the token says that the GIL is held.
        unsafe { entry.get().guards.get().0.is_for(self.code.as_ptr()) }
    }

    fn move_to_front(&self, list: &Arc<Vec<Arc<Ready>>>, index: usize) {
        let mut order = Vec::clone(list);
        order[..=index].rotate_right(1);
        let mut ready = lock(&self.ready.0);
        let old = if Arc::ptr_eq(&ready.entries, list) {
            Some(std::mem::replace(&mut ready.entries, Arc::new(order)))
        } else {
            None
        };
        drop(ready);
        drop(old);
    }

    /// What runs a target: the target itself, or a function of the target's code that shares the original's surroundings.
    fn callable<'py>(&self, py: Python<'py>, target: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let Ok(code) = target.cast::<PyCode>() else { return Ok(target.clone()) };
        self.shape.check_replacement(py, &CodeShape::of(code)?)?;
        twin(self.function.bind(py).as_any(), code)
    }

    /// Asks `on_miss` what to run, and runs it.
    ///
    /// # Safety
    /// As for [`State::call`].
    #[cold]
    unsafe fn miss(&self, py: Python<'_>, callable: *mut PyObject, call: Call) -> *mut PyObject {
        self.misses.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the wrapper is alive, the call valid, by the caller's word.
        match unsafe { self.decide(py, callable, call) } {
            Ok(chosen) => {
                // SAFETY: as above; `chosen` is alive to the end of its call, and so is what it is a function of.
                unsafe {
                    let run = |target| {
                        shim::pydynamo_bounded_vectorcall(target, call.args, call.nargs, call.kwnames)
                    };
                    let result = run(chosen.as_ptr());
                    if !result.is_null() || !chosen.is_instance_of::<PyFunction>() {
                        return result;
                    }
                    let code = (*chosen.as_ptr().cast::<ffi::PyFunctionObject>()).func_code;
                    if take_failure(py, code) { run(self.function.as_ptr()) } else { result }
                }
            }
            Err(error) => {
                error.restore(py);
                ptr::null_mut()
            }
        }
    }

    /// # Safety
    /// As for [`State::call`].
    unsafe fn decide<'py>(
        &self,
        py: Python<'py>,
        callable: *mut PyObject,
        call: Call,
    ) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: (whole block) indices are below the counts of the call; every object is alive.
        let (args, kwargs, wrapper) = unsafe {
            let object = |index: usize| Bound::from_borrowed_ptr(py, *call.args.add(index));
            let args = PyTuple::new(py, (0..call.nargs).map(object))?;
            let kwargs = PyDict::new(py);
            for index in 0..call.keyword_count() {
                let name = Bound::from_borrowed_ptr(py, ffi::PyTuple_GET_ITEM(call.kwnames, index as isize));
                kwargs.set_item(name, object(call.nargs + index))?;
            }
            (args, kwargs, Bound::from_borrowed_ptr(py, callable))
        };
        let chosen = {
            let _suspended = Suspended::new(py);
            let _aside = TorchHookAside::new(py);
            self.on_miss.bind(py).call1((wrapper, args, kwargs))
        };
        let chosen = match chosen {
            // Compiling takes more of the stack than is left; the original may do with it.
            Err(error) if error.is_instance_of::<PyRecursionError>(py) => py.None().into_bound(py),
            chosen => chosen?,
        };
        if chosen.is_none() {
            return Ok(self.function.bind(py).clone().into_any());
        }
        if let Ok(entry) = chosen.cast::<CacheEntry>() {
            let list = self.ready_list(py);
            if let Some(ready) = list.iter().find(|ready| ready.entry.is(entry)) {
                return Ok(ready.callable.bind(py).clone());
            }
            return self.callable(py, entry.get().target.bind(py));
        }
        if chosen.is_instance_of::<PyCode>() || chosen.is_callable() {
            return self.callable(py, &chosen);
        }
        let message = format!(
            "on_miss of {} must return a callable, a code object, a CacheEntry or None, not {}",
            self.shape.name,
            chosen.get_type()
        );
        Err(pydynamo_error(py, message))
    }
}
