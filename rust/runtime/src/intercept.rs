//! Interceptions: which callbacks watch this thread's frames, and what they decide about one.
use crate::cache::{CodeCache, lock};
use crate::code_shape::CodeShape;
use crate::errors::pydynamo_error;
use crate::guard::{Held, Inputs};
use crate::hook;
use crate::shim;
use pyo3::ffi::PyObject;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyTuple};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread::{self, ThreadId};

/// A call that is about to start, borrowed from its frame.
pub(crate) struct View {
    pub code: *mut PyObject,
    pub function: *mut PyObject,
    pub args: *const *mut PyObject,
    pub nargs: usize,
}

thread_local! {
    /// The interceptions that this thread has entered, innermost last.
    static WATCHERS: RefCell<Vec<Py<Interception>>> = const { RefCell::new(Vec::new()) };
}

/// What an interception knows about a code object besides its callback.
enum Known {
    Ignored,
    Cached(Py<CodeCache>),
}

/// See `Interception` in `_core.pyi`.
#[pyclass(frozen, module = "pydynamo._core")]
pub(crate) struct Interception {
    callback: Py<PyAny>,
    known: Mutex<HashMap<usize, (Held, Known)>>,
    /// The threads that have entered it, once for each entry.
    entered: Mutex<Vec<ThreadId>>,
}

/// What an interception says about one call.
enum Answer<'py> {
    Run(Bound<'py, PyAny>),
    NotMine,
}

/// Asks this thread's interceptions, the innermost first; None if the call runs as it is.
pub(crate) fn decide<'py>(py: Python<'py>, view: &View) -> PyResult<Option<Bound<'py, PyAny>>> {
    let count = WATCHERS.with_borrow(Vec::len);
    for index in (0..count).rev() {
        // A callback may leave interceptions, so each is looked up again.
        let watcher = WATCHERS.with_borrow(|all| all.get(index).map(|watcher| watcher.clone_ref(py)));
        let Some(watcher) = watcher else { continue };
        if let Answer::Run(code) = Interception::ask(watcher.bind(py), view)? {
            return Ok(Some(code));
        }
    }
    Ok(None)
}

impl Interception {
    fn ask<'py>(slf: &Bound<'py, Self>, view: &View) -> PyResult<Answer<'py>> {
        let py = slf.py();
        let this = slf.get();
        let key = view.code as usize;
        let cache = match lock(&this.known).get(&key) {
            // SAFETY: the frame keeps its code alive; the GIL is held.
            Some((held, known)) if unsafe { held.is(view.code) } => match known {
                Known::Ignored => return Ok(Answer::NotMine),
                Known::Cached(cache) => Some(cache.clone_ref(py)),
            },
            _ => None,
        };
        if let Some(cache) = cache {
            // SAFETY: the frame keeps its function and arguments alive.
            if let Some(code) = unsafe { cached_code(py, cache.get(), view) } {
                return Ok(Answer::Run(code));
            }
        }
        let mut guarded_view =
            View { code: view.code, function: view.function, args: view.args, nargs: view.nargs };
        let call = Py::new(
            py,
            FrameCall { view: AtomicPtr::new(&raw mut guarded_view), owner: slf.clone().unbind() },
        )?;
        // SAFETY: the frame keeps its code alive.
        let code = unsafe { Bound::from_borrowed_ptr(py, view.code) };
        let answer = this.callback.bind(py).call1((code, &call));
        call.get().view.store(ptr::null_mut(), Ordering::Relaxed);
        let answer = answer?;
        if answer.is_none() {
            Ok(Answer::NotMine)
        } else if answer.is_instance_of::<PyCode>() {
            Ok(Answer::Run(answer))
        } else {
            let message =
                format!("an intercept callback must return a code object or None, not {}", answer.get_type());
            Err(pydynamo_error(py, message))
        }
    }

    fn remember(&self, code: &Bound<'_, PyCode>, known: Option<Known>) -> PyResult<()> {
        let held = Held::new(code.as_any())?;
        let key = code.as_ptr() as usize;
        let old = match known {
            Some(known) => lock(&self.known).insert(key, (held, known)),
            None => lock(&self.known).remove(&key),
        };
        drop(old); // after the lock is free: dropping a cache may run code of the user's
        Ok(())
    }
}

/// The code of the first cache entry whose guards pass.
///
/// # Safety
/// `view` must describe a frame whose objects are alive; the GIL is held.
unsafe fn cached_code<'py>(py: Python<'py>, cache: &CodeCache, view: &View) -> Option<Bound<'py, PyAny>> {
    let inputs = Inputs { slots: view.args, slot_count: view.nargs, function: view.function };
    for entry in cache.snapshot().iter() {
        let entry = entry.get();
        let program = &entry.guards.get().0;
        let target = entry.target.bind(py);
        // SAFETY: by the caller's word.
        let fits = unsafe { entry.is_valid() && program.is_for(view.code) && program.passes(py, inputs) };
        if fits && target.is_instance_of::<PyCode>() {
            entry.count_hit();
            return Some(target.clone());
        }
    }
    None
}

#[pymethods]
impl Interception {
    #[new]
    fn new(callback: &Bound<'_, PyAny>) -> PyResult<Self> {
        if !callback.is_callable() {
            let message = format!("an interception needs a callable, not {}", callback.get_type());
            return Err(pydynamo_error(callback.py(), message));
        }
        Ok(Self { callback: callback.clone().unbind(), known: Mutex::default(), entered: Mutex::default() })
    }

    #[getter]
    fn callback(&self, py: Python<'_>) -> Py<PyAny> {
        self.callback.clone_ref(py)
    }

    fn ignore(&self, code: &Bound<'_, PyCode>) -> PyResult<()> {
        self.remember(code, Some(Known::Ignored))
    }

    #[pyo3(signature = (code, cache))]
    fn attach(&self, code: &Bound<'_, PyCode>, cache: Option<Py<CodeCache>>) -> PyResult<()> {
        self.remember(code, cache.map(Known::Cached))
    }

    fn __enter__(slf: &Bound<'_, Self>) -> PyResult<Py<Self>> {
        hook::require(slf.py())?;
        lock(&slf.get().entered).push(thread::current().id());
        WATCHERS.with_borrow_mut(|all| all.push(slf.clone().unbind()));
        // SAFETY: closed again by `__exit__`, which only this thread may run for this entry.
        unsafe { shim::pydynamo_hook_open_region() };
        Ok(slf.clone().unbind())
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(slf: &Bound<'_, Self>, _exception: &Bound<'_, PyTuple>) -> PyResult<bool> {
        let here = thread::current().id();
        let mut entered = lock(&slf.get().entered);
        let Some(index) = entered.iter().rposition(|thread| *thread == here) else {
            drop(entered);
            let message = "an interception is left by the thread that entered it, once for each time";
            return Err(pydynamo_error(slf.py(), message));
        };
        entered.remove(index);
        drop(entered);
        // Not always the innermost: a generator may leave its own late.
        let left = WATCHERS.with_borrow_mut(|all| {
            all.iter().rposition(|watcher| watcher.is(slf)).map(|index| all.remove(index))
        });
        drop(left);
        // SAFETY: this thread opened it.
        unsafe { shim::pydynamo_hook_close_region() };
        Ok(false)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.callback)?;
        if let Ok(known) = self.known.try_lock() {
            for (_, known) in known.values() {
                if let Known::Cached(cache) = known {
                    visit.call(cache)?;
                }
            }
        }
        Ok(())
    }
}

/// See `FrameCall` in `_core.pyi`.
#[pyclass(frozen, module = "pydynamo._core")]
pub(crate) struct FrameCall {
    /// NULL once the callback has returned: the frame has moved on.
    view: AtomicPtr<View>,
    owner: Py<Interception>,
}

impl FrameCall {
    fn view(&self, py: Python<'_>) -> PyResult<&View> {
        // SAFETY: NULL, or a view that lives until the callback returns, which is when it becomes NULL. Methods of this
        // class hold the GIL and call no Python code between this check and their last use of the view.
        unsafe { self.view.load(Ordering::Relaxed).as_ref() }
            .ok_or_else(|| pydynamo_error(py, "a FrameCall can be read only until its callback returns"))
    }
}

#[pymethods]
impl FrameCall {
    #[getter]
    fn code<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: alive while the view is.
        Ok(unsafe { Bound::from_borrowed_ptr(py, self.view(py)?.code) })
    }

    #[getter]
    fn function<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: alive while the view is.
        Ok(unsafe { Bound::from_borrowed_ptr(py, self.view(py)?.function) })
    }

    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let view = self.view(py)?;
        // SAFETY: alive while the view is: `nargs` argument slots. All are taken before anything else runs.
        let (code, values) = unsafe {
            let slots = std::slice::from_raw_parts(view.args, view.nargs);
            let take = |slot: &*mut PyObject| Bound::from_borrowed_ptr(py, *slot);
            (Bound::from_borrowed_ptr(py, view.code), slots.iter().map(take).collect::<Vec<_>>())
        };
        let shape = CodeShape::of(code.cast()?)?;
        let result = PyDict::new(py);
        for (name, value) in shape.parameters.iter().zip(values) {
            result.set_item(name.bind(py), value)?;
        }
        Ok(result)
    }

    fn ignore(&self, py: Python<'_>) -> PyResult<()> {
        self.owner.get().ignore(self.code(py)?.cast()?)
    }
}
