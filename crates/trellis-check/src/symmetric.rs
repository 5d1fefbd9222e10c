//! Certificates up to symmetry: what an entry stands for includes what it becomes when processes that cannot be told apart are
//! swapped.
//!
//! Which swaps are symmetries is found and verified here anew, from the model and the question alone; the certificate only
//! says that it needs them. Entries and what steps lead to are brought into order alike, and then compared. That
//! the order is always the same for states that are equal up to swaps is not relied on: if it is not, a proof is
//! refused, never a wrong one accepted. The finder is that of the searches; what it finds is tried out here (`tried`).

use trellis_domain::zone::{Constraint, Zone};
use trellis_model::network::symmetry::Symmetry;
use trellis_model::network::{CertEntry, Certificate, LuBounds, Network, Query, Snapshot};

use crate::dbm::Dbm;
use crate::state::check;

mod tried;

pub(crate) use tried::tried;

/// The symmetries that a certificate may use.
pub(crate) fn symmetry(net: &Network, query: &Query, cert: &Certificate) -> Symmetry {
    match cert.up_to_symmetry && cert.entries.stream().all(|e| e.known.is_empty() && e.says.is_none()) {
        true => Symmetry::find(net, query),
        false => Symmetry::default(),
    }
}

/// A state in order, and the swaps that it took.
pub(crate) fn sorted(symmetry: &Symmetry, state: &Snapshot) -> (Snapshot, Vec<u16>) {
    let mut cells = cells(state);
    let mut word = Vec::new();
    symmetry.sort(&mut cells, &mut word);
    let (locations, data) = cells.split_at(state.locations.len());
    let locations = locations.iter().map(|&l| l as u32).collect();
    (Snapshot { locations, data: data.to_vec(), ..state.clone() }, word)
}

fn cells(state: &Snapshot) -> Vec<i64> {
    state.locations.iter().map(|&l| i64::from(l)).chain(state.data.iter().copied()).collect()
}

/// The entries one after the other, each brought into order. Those that are no states of the model stay as they are: somebody will notice.
pub(crate) fn sorted_entries<'c>(
    net: &'c Network,
    symmetry: &'c Symmetry,
    cert: &'c Certificate,
) -> impl Iterator<Item = CertEntry> + 'c {
    let dim = net.clocks.len() + 1;
    let fits = move |e: &CertEntry| {
        check(net, &e.state).is_ok()
            && e.zone.iter().all(|c| c.clocks().0 < dim && c.clocks().1 < dim)
            && e.bounds.as_ref().is_none_or(|b| b.lower.len() == dim && b.upper.len() == dim)
    };
    let sorts = !symmetry.is_empty();
    cert.entries.stream().map(move |e| if sorts && fits(&e) { entry(net, symmetry, &e) } else { e.into_owned() })
}

fn entry(net: &Network, symmetry: &Symmetry, e: &CertEntry) -> CertEntry {
    let (state, word) = sorted(symmetry, &e.state);
    let mut sorted = CertEntry { state, ..renamed(symmetry, &word, e) };
    if let Some(bounds) = &sorted.bounds {
        let mut word = Vec::new();
        sort_zone(symmetry, &sorted.state, bounds, &Dbm::build(net.clocks.len(), &sorted.zone), &mut word);
        sorted = renamed(symmetry, &word, &sorted);
    }
    sorted
}

fn renamed(symmetry: &Symmetry, word: &[u16], e: &CertEntry) -> CertEntry {
    let clock = |c| symmetry.clock(word, c);
    let zone = e.zone.iter().map(|c| Constraint { left: clock(c.left), right: clock(c.right), bound: c.bound });
    let before = |of: &[i32]| (0..of.len()).map(|c| of[symmetry.clock_before(word, c as u32) as usize]).collect();
    let bounds = e.bounds.as_ref().map(|b| LuBounds { lower: before(&b.lower), upper: before(&b.upper) });
    CertEntry { zone: zone.collect(), bounds, ..e.clone() }
}

/// A zone with other names for its clocks.
pub(crate) fn renamed_zone(symmetry: &Symmetry, word: &[u16], zone: &Dbm) -> Dbm {
    let before = |c: usize| symmetry.clock_before(word, c as u32) as usize;
    zone.renamed(&(0..zone.dim()).map(before).collect::<Vec<_>>())
}

/// Finds the swaps that bring a zone into order without moving locations and data. Clocks that the bounds say nothing about
/// make no difference.
pub(crate) fn sort_zone(symmetry: &Symmetry, state: &Snapshot, bounds: &LuBounds, zone: &Dbm, word: &mut Vec<u16>) {
    let dim = bounds.lower.len();
    if zone.is_empty() {
        return;
    }
    let mut zone = zone.clone();
    for c in (1..dim).filter(|&c| bounds.lower[c] < 0 && bounds.upper[c] < 0) {
        zone.free(c);
    }
    // Which order it is makes no difference to whether a proof is one.
    let Ok(mut zone) = Zone::build(dim - 1, &zone.constraints()) else { return };
    let mut fixing = Vec::new();
    symmetry.fixing(&cells(state), &mut fixing);
    let clocks: Vec<u32> = (0..dim as u32).collect();
    symmetry.sort_zone(&fixing, &clocks, &mut zone, word);
}
