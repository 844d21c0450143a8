//! Which CPython a code object belongs to. Everything that differs between versions hangs off a [`Version`] value.

/// A supported CPython feature release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Version {
    V311,
    V312,
    V313,
    V314,
    V315,
}

impl Version {
    /// Every supported version, oldest first.
    pub const ALL: [Self; 5] = [Self::V311, Self::V312, Self::V313, Self::V314, Self::V315];

    /// The version of CPython `major.minor`, or `None` if it is not supported.
    #[must_use]
    pub const fn from_release(major: u8, minor: u8) -> Option<Self> {
        match (major, minor) {
            (3, 11) => Some(Self::V311),
            (3, 12) => Some(Self::V312),
            (3, 13) => Some(Self::V313),
            (3, 14) => Some(Self::V314),
            (3, 15) => Some(Self::V315),
            _ => None,
        }
    }

    /// The minor number: 11 to 15.
    #[must_use]
    pub const fn minor(self) -> u8 {
        11 + self as u8
    }
}
