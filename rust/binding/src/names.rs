//! Names found by their text: a hash table of places in a row of exact `str` objects.
//!
//! The row belongs to whoever asks, who says with each question what stands at a place. A Python dict would do, but it keeps an
//! `int` for each place and its entries in the order of insertion: of tens of thousands of names neither fits the caches.
use crate::capi::Obj;
use crate::locals::same_text;
use hashbrown::HashTable;
use pyo3::ffi;

/// Where a name stands, and what its hash is, so that few names are compared and none when the table grows.
struct Entry {
    place: u32,
    hash: u32,
}

/// The first place of each name.
#[derive(Default)]
pub struct Places(HashTable<Entry>);

impl Places {
    /// The places of the names of a row.
    pub fn of(row: &[Obj]) -> Self {
        let mut places = Self(HashTable::with_capacity(row.len()));
        for (place, name) in (0..).zip(row) {
            places.find_or_add(*name, place, |place| row[place as usize]);
        }
        places
    }

    /// Where a name is. `at` says which name stands at a place.
    pub fn find(&self, name: Obj, at: impl Fn(u32) -> Obj) -> Option<u32> {
        let hash = hash_of(name);
        let is_it = |entry: &Entry| entry.hash == hash && same_text(at(entry.place), name);
        self.0.find(spread(hash), is_it).map(|entry| entry.place)
    }

    /// Where a name is; if it is nowhere, it is at `place` from now on.
    pub fn find_or_add(&mut self, name: Obj, place: u32, at: impl Fn(u32) -> Obj) -> u32 {
        let hash = hash_of(name);
        let is_it = |entry: &Entry| entry.hash == hash && same_text(at(entry.place), name);
        let entry = self.0.entry(spread(hash), is_it, |entry| spread(entry.hash));
        entry.or_insert(Entry { place, hash }).get().place
    }
}

/// Half of what Python's own hash says.
fn hash_of(name: Obj) -> u32 {
    // SAFETY: an exact `str` that the caller keeps alive, whose hash can always be had.
    let hash = unsafe { ffi::PyObject_Hash(name) };
    hash as u32
}

/// All bits of a table's hash from those of a name's.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
