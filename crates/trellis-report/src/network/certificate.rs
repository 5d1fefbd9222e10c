//! Certificates for people: how large one is, and its entries, those of one key together.
//!
//! A key is what two entries must share to be compared: locations, data and lattice values. Below it stand the zones that
//! a timed model may be in there.

use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_model::network::{CertEntry, Certificate, Network};
use trellis_order::Word;

use super::Renderer;
use crate::time;
use crate::words::wrap;

/// The indentation of what belongs to a key.
const INDENT: usize = 9;

/// What tells one key from another; a cell that is not known is nothing.
type Key<'a> = (&'a [u32], Vec<Option<i64>>, &'a [Word]);

fn key(e: &CertEntry) -> Key<'_> {
    let known = |i: usize| e.known.get(i).is_none_or(|k| *k);
    let data = e.state.data.iter().enumerate().map(|(i, n)| known(i).then_some(*n)).collect();
    (&e.state.locations, data, &e.state.element)
}

/// How many different keys its entries have.
pub(crate) fn keys(c: &Certificate) -> usize {
    let owned = |e: &CertEntry| {
        let (locations, data, element) = key(e);
        (locations.to_vec(), data, element.to_vec())
    };
    c.entries.stream().map(|e| owned(&e)).collect::<FxHashSet<_>>().len()
}

/// `certificate of 86 entries`, for a timed model `certificate of 86 zones at 12 keys (locations and data)`.
pub(crate) fn summary(net: &Network, c: &Certificate) -> String {
    let count = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    let how = match () {
        () if c.up_to_order => ", up to the lattice order",
        () if c.up_to_symmetry => ", up to symmetry",
        () => "",
    };
    let n = c.entries.len();
    if net.clocks.is_empty() {
        return format!("certificate of {}{how}", count(n, "entry", "entries"));
    }
    let (zones, keys) = (count(n, "zone", "zones"), count(keys(c), "key", "keys"));
    format!("certificate of {zones} at {keys} (locations and data){how}")
}

/// The entries of the first so many keys.
pub(crate) fn show(renderer: &Renderer<'_>, c: &Certificate, most: usize) -> String {
    let mut places: FxHashMap<Key<'_>, usize> = FxHashMap::default();
    let mut groups: Vec<Vec<&CertEntry>> = Vec::new();
    for e in &c.entries {
        let at = *places.entry(key(e)).or_insert(groups.len());
        if at == groups.len() {
            groups.push(Vec::new());
        }
        groups[at].push(e);
    }
    let mut out = String::new();
    for (i, group) in groups.iter().take(most).enumerate() {
        let _ = write!(out, "{i:>6}   ");
        out.push_str(wrap(&renderer.locations(&group[0].state), INDENT).trim());
        out.push('\n');
        out.push_str(&wrap(&renderer.values_known(&group[0].state, &group[0].known), INDENT));
        for e in group {
            let parts = entry(renderer, e);
            if !parts.is_empty() {
                let _ = writeln!(out, "{:INDENT$}{}", "", parts.join("; "));
            }
        }
    }
    if groups.len() > most {
        let _ = writeln!(out, "{:INDENT$}… and {} more", "", groups.len() - most);
    }
    out
}

/// What an entry says beside its key.
fn entry(renderer: &Renderer<'_>, e: &CertEntry) -> Vec<String> {
    let mut parts = Vec::new();
    let clocks = &renderer.names.clocks;
    if !clocks.is_empty() {
        parts.push(time::zone(clocks, &e.zone));
    }
    if let Some(b) = &e.bounds {
        parts.push(format!("up to a⊑LU with {}", time::bounds(clocks, b)));
    }
    if let Some(says) = &e.says {
        let lines = says.lines().filter(|l| l.starts_with("(assert") || l.starts_with("(define"));
        parts.push(lines.collect::<Vec<_>>().join(" "));
    }
    if let Some(rank) = e.rank {
        parts.push(format!("rank {rank}"));
    }
    parts
}
