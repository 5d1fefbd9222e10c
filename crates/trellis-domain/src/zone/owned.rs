//! [`Zone`]: a zone that owns its memory, for tests, traces and wherever there is no arena.

use std::borrow::{Borrow, BorrowMut};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};

use smallvec::SmallVec;

use super::{Bound, Constraint, ZoneDomain, ZoneError};

/// How many entries are kept inline: those of zones over four clocks.
const INLINE: usize = 25;

/// A zone in canonical form. It is a slice to the functions of its [`domain`](Self::domain); up to four clocks need no
/// allocation.
#[derive(Clone)]
pub struct Zone {
    dim: usize,
    entries: SmallVec<[Bound; INLINE]>,
}

impl Zone {
    /// All valuations of this many clocks.
    pub fn universe(clocks: usize) -> Self {
        Zone::made(clocks, ZoneDomain::universe)
    }

    /// The valuation in which this many clocks are all zero.
    pub fn zero(clocks: usize) -> Self {
        Zone::made(clocks, ZoneDomain::zero)
    }

    /// No valuation of this many clocks.
    pub fn empty(clocks: usize) -> Self {
        Zone::made(clocks, ZoneDomain::empty)
    }

    /// The valuations of this many clocks that satisfy all constraints.
    pub fn build(clocks: usize, constraints: &[Constraint]) -> Result<Self, ZoneError> {
        let mut zone = Zone::universe(clocks);
        zone.domain().constrain_all(&mut zone, constraints)?;
        Ok(zone)
    }

    /// A copy of a zone of this domain.
    pub fn copied(domain: ZoneDomain, z: &[Bound]) -> Self {
        assert_eq!(z.len(), domain.size(), "a zone has a bound for each two clocks");
        Zone { dim: domain.dim(), entries: SmallVec::from_slice(z) }
    }

    /// The domain it belongs to.
    pub fn domain(&self) -> ZoneDomain {
        ZoneDomain::new(self.dim - 1)
    }

    fn made(clocks: usize, fill: impl Fn(ZoneDomain, &mut [Bound])) -> Self {
        let domain = ZoneDomain::new(clocks);
        let mut entries = SmallVec::from_elem(Bound::INF, domain.size());
        fill(domain, &mut entries);
        Zone { dim: domain.dim(), entries }
    }
}

impl Deref for Zone {
    type Target = [Bound];

    fn deref(&self) -> &[Bound] {
        &self.entries
    }
}

impl DerefMut for Zone {
    fn deref_mut(&mut self) -> &mut [Bound] {
        &mut self.entries
    }
}

impl Borrow<[Bound]> for Zone {
    fn borrow(&self) -> &[Bound] {
        self
    }
}

impl BorrowMut<[Bound]> for Zone {
    fn borrow_mut(&mut self) -> &mut [Bound] {
        self
    }
}

impl PartialEq for Zone {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl Eq for Zone {}

// As its slice, as `Borrow` demands.
impl Hash for Zone {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.entries.as_slice().hash(state);
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = (1..self.dim).map(|x| format!("x{x}")).collect();
        write!(f, "{}", self.domain().show(self, &names))
    }
}
