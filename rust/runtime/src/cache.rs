//! The code cache: compiled versions of one code object, and what was seen for each root.
use crate::code_shape::CodeShape;
use crate::errors::pydynamo_error;
use crate::guard::{GuardProgram, Held};
use pyo3::ffi;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyTuple};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Locks; a panic elsewhere leaves these plain values whole, so poisoning is no reason to fail.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// See `CacheEntry` in `_core.pyi`.
#[pyclass(frozen, module = "pydynamo._core")]
pub(crate) struct CacheEntry {
    pub(crate) guards: Py<GuardProgram>,
    pub(crate) target: Py<PyAny>,
    /// The constants of a target that is a code object: the collector does not look into those by itself.
    constants: Option<Py<PyTuple>>,
    root: Option<Held>,
    hits: AtomicU64,
    valid: AtomicBool,
    info: Mutex<Py<PyAny>>,
}

impl CacheEntry {
    pub(crate) fn is_valid(&self) -> bool {
        self.valid.load(Ordering::Relaxed)
    }

    pub(crate) fn count_hit(&self) {
        self.hits.fetch_add(1, Ordering::Relaxed);
    }

    /// The constants of the target's code if that has no more than these holders. The collector takes code for something that
    /// refers to nothing: who knows all its holders shows it what the code holds, once.
    pub(crate) fn constants_of_code_with(&self, holders: isize) -> Option<&Py<PyTuple>> {
        // SAFETY: the target is alive; called while the collector is at work, when no count changes.
        self.constants.as_ref().filter(|_| unsafe { ffi::Py_REFCNT(self.target.as_ptr()) } == holders)
    }

    fn belongs_to(&self, root: &Bound<'_, PyAny>) -> bool {
        // SAFETY: `root` is alive and the GIL is held.
        self.root.as_ref().is_some_and(|held| unsafe { held.is(root.as_ptr()) })
    }

    /// Whether it can never be used again.
    fn is_dead(&self, py: Python<'_>) -> bool {
        !self.is_valid()
            || self.root.as_ref().is_some_and(|root| root.get(py).is_none())
            || self.guards.get().0.refers_to_the_dead(py)
    }
}

#[pymethods]
impl CacheEntry {
    #[getter]
    fn guards(&self, py: Python<'_>) -> Py<GuardProgram> {
        self.guards.clone_ref(py)
    }

    #[getter]
    fn target(&self, py: Python<'_>) -> Py<PyAny> {
        self.target.clone_ref(py)
    }

    #[getter]
    fn root<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.root.as_ref().and_then(|root| root.get(py))
    }

    #[getter]
    fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    #[getter]
    fn valid(&self) -> bool {
        self.is_valid()
    }

    #[getter]
    fn get_info(&self, py: Python<'_>) -> Py<PyAny> {
        lock(&self.info).clone_ref(py)
    }

    #[setter]
    fn set_info(&self, info: Py<PyAny>) {
        // The old value is dropped after the lock is free: dropping it may run code that asks for this entry.
        let old = std::mem::replace(&mut *lock(&self.info), info);
        drop(old);
    }

    fn invalidate(&self) {
        self.valid.store(false, Ordering::Relaxed);
    }

    fn __repr__(&self) -> String {
        let name = &self.guards.get().0.shape.name;
        let state = if self.is_valid() { "valid" } else { "invalid" };
        format!("<CacheEntry of {name}: {state}, {} hits>", self.hits())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.guards)?;
        visit.call(&self.target)?;
        if let Some(constants) = &self.constants {
            visit.call(constants)?;
            if self.constants_of_code_with(1).is_some() {
                visit.call(constants)?; // once more, for the code
            }
        }
        if let Some(Held::Strong(root)) = &self.root {
            visit.call(root)?;
        }
        match self.info.try_lock() {
            Ok(info) => visit.call(&*info),
            Err(_) => Ok(()),
        }
    }
}

/// Someone with a view of a cache's entries, which must not outlive them when the cache is cleared.
pub(crate) trait Follower: Send + Sync {
    fn forget(&self);
}

/// See `CodeCache` in `_core.pyi`.
#[pyclass(frozen, weakref, module = "pydynamo._core")]
#[derive(Default)]
pub(crate) struct CodeCache {
    entries: Mutex<Arc<Vec<Py<CacheEntry>>>>,
    /// Changes whenever the entries do.
    version: AtomicU64,
    added: AtomicU64,
    own_history: Mutex<Option<Py<PyDict>>>,
    histories: Mutex<HashMap<usize, (Held, Py<PyDict>)>>,
    followers: Mutex<Vec<Weak<dyn Follower>>>,
}

impl CodeCache {
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Relaxed)
    }

    pub(crate) fn snapshot(&self) -> Arc<Vec<Py<CacheEntry>>> {
        Arc::clone(&lock(&self.entries))
    }

    pub(crate) fn add_follower(&self, follower: Weak<dyn Follower>) {
        let mut followers = lock(&self.followers);
        // Those that are gone leave whenever the list is full, so that it grows with the living only.
        if followers.len() == followers.capacity() {
            followers.retain(|follower| follower.strong_count() > 0);
        }
        followers.push(follower);
    }

    fn replace_entries(&self, entries: Vec<Py<CacheEntry>>) {
        // The old list is dropped after the lock is free: dropping entries may run code of the user's.
        let old = std::mem::replace(&mut *lock(&self.entries), Arc::new(entries));
        self.version.fetch_add(1, Ordering::Relaxed);
        drop(old);
    }
}

#[pymethods]
impl CodeCache {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    #[pyo3(signature = (guards, target, *, root=None, info=None))]
    fn add(
        &self,
        guards: &Bound<'_, GuardProgram>,
        target: &Bound<'_, PyAny>,
        root: Option<&Bound<'_, PyAny>>,
        info: Option<Py<PyAny>>,
    ) -> PyResult<Py<CacheEntry>> {
        let py = guards.py();
        let constants = match target.cast::<PyCode>() {
            Ok(code) => {
                guards.get().0.shape.check_replacement(py, &CodeShape::of(code)?)?;
                Some(code.getattr("co_consts")?.cast_into::<PyTuple>()?.unbind())
            }
            Err(_) if target.is_callable() => None,
            Err(_) => {
                return Err(pydynamo_error(py, "a cache entry's target is a code object or a callable"));
            }
        };
        let entry = Py::new(
            py,
            CacheEntry {
                guards: guards.clone().unbind(),
                target: target.clone().unbind(),
                constants,
                root: root.map(Held::new).transpose()?,
                hits: AtomicU64::new(0),
                valid: AtomicBool::new(true),
                info: Mutex::new(info.unwrap_or_else(|| py.None())),
            },
        )?;
        let mut entries = vec![entry.clone_ref(py)];
        let living = self.snapshot();
        entries
            .extend(living.iter().filter(|entry| !entry.get().is_dead(py)).map(|entry| entry.clone_ref(py)));
        self.replace_entries(entries);
        self.added.fetch_add(1, Ordering::Relaxed);
        Ok(entry)
    }

    #[pyo3(signature = (root=None))]
    fn entries(&self, py: Python<'_>, root: Option<&Bound<'_, PyAny>>) -> Vec<Py<CacheEntry>> {
        let wanted = |entry: &&Py<CacheEntry>| {
            let entry = entry.get();
            entry.is_valid() && root.is_none_or(|root| entry.belongs_to(root))
        };
        self.snapshot().iter().filter(wanted).map(|entry| entry.clone_ref(py)).collect()
    }

    /// How many entries were ever added.
    #[getter]
    fn added(&self) -> u64 {
        self.added.load(Ordering::Relaxed)
    }

    #[pyo3(signature = (root=None))]
    fn history(&self, py: Python<'_>, root: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyDict>> {
        let fresh = PyDict::new(py).unbind();
        let Some(root) = root else {
            return Ok(lock(&self.own_history).get_or_insert(fresh).clone_ref(py));
        };
        let held = Held::new(root)?;
        let mut dropped = Vec::new();
        let mut histories = lock(&self.histories);
        let key = root.as_ptr() as usize;
        // SAFETY: `root` is alive and the GIL is held.
        if let Some((_, known)) = histories.get(&key).filter(|(held, _)| unsafe { held.is(root.as_ptr()) }) {
            return Ok(known.clone_ref(py));
        }
        // Histories of the dead go whenever the table is full, so that it grows with the living only.
        if histories.len() == histories.capacity() {
            let dead: Vec<_> =
                histories.iter().filter(|(_, (held, _))| !held.is_alive(py)).map(|(key, _)| *key).collect();
            dropped.extend(dead.iter().filter_map(|key| histories.remove(key)));
        }
        dropped.extend(histories.insert(key, (held, fresh.clone_ref(py))));
        drop(histories);
        Ok(fresh)
    }

    fn clear(&self) {
        for entry in self.snapshot().iter() {
            entry.get().invalidate();
        }
        self.replace_entries(Vec::new());
        let old = (std::mem::take(&mut *lock(&self.histories)), lock(&self.own_history).take());
        drop(old);
        let followers = lock(&self.followers).clone();
        for follower in followers.iter().filter_map(Weak::upgrade) {
            follower.forget();
        }
    }

    fn __repr__(&self) -> String {
        format!("<CodeCache of {} entries>", self.snapshot().len())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Ok(entries) = self.entries.try_lock() {
            // A list that someone else holds too is not this object's alone: leaving it out keeps it alive.
            if Arc::strong_count(&entries) == 1 {
                for entry in entries.iter() {
                    visit.call(entry)?;
                }
            }
        }
        if let Ok(history) = self.own_history.try_lock() {
            history.as_ref().map_or(Ok(()), |history| visit.call(history))?;
        }
        if let Ok(histories) = self.histories.try_lock() {
            for (held, history) in histories.values() {
                if let Held::Strong(root) = held {
                    visit.call(root)?;
                }
                visit.call(history)?;
            }
        }
        Ok(())
    }

    fn __clear__(&self) {
        self.clear();
    }
}
