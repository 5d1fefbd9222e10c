//! The entries of a certificate: a list, or whatever an engine keeps its states in, from which they are made one at a time.
//!
//! A proof may have millions of entries, and an entry in the model's words is several times as large as a stored state. So whoever checks
//! or writes them goes through the [stream](Entries::stream); a list is made only for those who want to see it as a whole or to change it.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use super::CertEntry;

/// What has states that can be told as entries.
pub trait Store: Send + Sync {
    /// How many there are.
    fn count(&self) -> usize;
    /// All of them, always in the same order.
    fn entries(&self) -> Box<dyn Iterator<Item = CertEntry> + '_>;
}

/// The entries of a certificate.
#[derive(Clone, Default)]
pub struct Entries {
    /// Where they come from, if they are not listed yet.
    store: Option<Arc<dyn Store>>,
    list: OnceLock<Vec<CertEntry>>,
}

impl Entries {
    /// Entries that are made when they are wanted.
    pub fn stored(store: impl Store + 'static) -> Entries {
        Entries { store: Some(Arc::new(store)), list: OnceLock::new() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match (self.list.get(), &self.store) {
            (Some(list), _) => list.len(),
            (None, Some(store)) => store.count(),
            (None, None) => 0,
        }
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One after the other; no list is made.
    pub fn stream(&self) -> Box<dyn Iterator<Item = Cow<'_, CertEntry>> + '_> {
        match (self.list.get(), &self.store) {
            (Some(list), _) => Box::new(list.iter().map(Cow::Borrowed)),
            (None, Some(store)) => Box::new(store.entries().map(Cow::Owned)),
            (None, None) => Box::new(std::iter::empty()),
        }
    }
}

/// As a list, which is made and kept.
impl Deref for Entries {
    type Target = Vec<CertEntry>;

    fn deref(&self) -> &Vec<CertEntry> {
        self.list.get_or_init(|| self.store.iter().flat_map(|s| s.entries()).collect())
    }
}

impl DerefMut for Entries {
    fn deref_mut(&mut self) -> &mut Vec<CertEntry> {
        let _: &Vec<CertEntry> = self;
        self.store = None;
        self.list.get_mut().expect("the list was made")
    }
}

impl From<Vec<CertEntry>> for Entries {
    fn from(list: Vec<CertEntry>) -> Entries {
        Entries { store: None, list: list.into() }
    }
}

impl FromIterator<CertEntry> for Entries {
    fn from_iter<I: IntoIterator<Item = CertEntry>>(entries: I) -> Entries {
        Vec::from_iter(entries).into()
    }
}

impl<'a> IntoIterator for &'a Entries {
    type Item = &'a CertEntry;
    type IntoIter = std::slice::Iter<'a, CertEntry>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Entries {
    type Item = &'a mut CertEntry;
    type IntoIter = std::slice::IterMut<'a, CertEntry>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl PartialEq for Entries {
    fn eq(&self, other: &Entries) -> bool {
        self.len() == other.len() && self.stream().eq(other.stream())
    }
}

impl Eq for Entries {}

impl fmt::Debug for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.stream()).finish()
    }
}
