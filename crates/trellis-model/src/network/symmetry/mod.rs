//! Symmetries: processes, and members of scalar sets, that a network cannot tell apart (Ip and Dill, *Better verification
//! through symmetry*, 1996; Hendriks, Behrmann, Larsen, Niebert, Vaandrager, *Adding symmetry reduction to UPPAAL*, 2003).
//!
//! A [`Swap`] exchanges two of them: processes with their locations and variables, clocks, channels, numbers that stand for
//! them, entries of arrays that are indexed by them. Which swaps there could be is *guessed* (`guess`): from scalar sets,
//! and by comparing processes that look alike. Whether a swap is a symmetry is *verified* (`verify`): the swapped network, term by
//! term, must be the network itself, and the question must be the same question. Nothing else is relied on. The
//! initial state need not be symmetric: only steps and the question count.
//!
//! States are then explored up to swaps: [`Symmetry::sort`] brings a state into the order in which no single swap makes it
//! smaller. That is not always the same state for all that are equal up to swaps, only nearly always; nothing rests on
//! it.
//!
//! What it deliberately does not do: lattices; loops over members in functions (they are written out in one order); questions
//! other than whether a state can be reached.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use trellis_domain::zone::Bound;
use trellis_expr::VarId;

use super::{Action, EdgeRef, Network, Query, QueryKind};

mod guess;
mod image;
mod info;
mod verify;

pub use info::{Holder, Sorts};

/// Two members of a set, exchanged. Applied twice it changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swap {
    /// The image of each process.
    pub processes: Vec<u32>,
    /// The image of each clock, by its number; 0 included.
    pub clocks: Vec<u32>,
    /// The image of each channel.
    pub channels: Vec<u32>,
    /// The images of events: of which process, which event. Others stay.
    pub events: BTreeMap<(u32, u32), u32>,
    /// The images of variables, those that hold locations included. Others stay.
    pub images: BTreeMap<VarId, VarId>,
    /// Which numbers are exchanged in variables, and in indexes.
    pub sorts: Sorts,
}

/// A scalar set, as a front end knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScalarSet {
    /// How many members; they are numbered from 0.
    pub size: i64,
    /// What holds members or is indexed by them.
    pub holders: Vec<Holder>,
    /// Arrays of clocks that are indexed by members: the number in [`Network::clock_arrays`], and which dimension.
    pub clocks: Vec<(u32, u32)>,
}

/// A process of a template, and the arguments by which it differs from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The number of the name that made it.
    pub family: u32,
    /// The scalar set of each argument, if it is from one (its number in [`Network::scalars`]), and its value.
    pub args: Vec<(Option<u32>, i64)>,
}

/// A cell of a state, where its new value comes from, and which numbers are exchanged in it.
type CellMove = (u32, u32, Option<(i64, i64)>);

/// A swap that was verified, ready for use on states.
#[derive(Debug, Clone)]
struct Ready {
    swap: Swap,
    /// The image of each edge of each process: its number in the image of the process.
    edges: Vec<Vec<u32>>,
    /// The cells of a state that change.
    cells: Vec<CellMove>,
}

/// The symmetries of a network under a question.
#[derive(Debug, Clone, Default)]
pub struct Symmetry {
    swaps: Vec<Ready>,
    refused: Vec<Refused>,
}

/// Two processes that look alike, and why they are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// The processes.
    pub processes: (u32, u32),
    /// Why the two are not symmetric, in words.
    pub why: &'static str,
}

impl Symmetry {
    /// Finds symmetries.
    pub fn find(net: &Network, query: &Query) -> Symmetry {
        let right = matches!(query.kind, QueryKind::Always(_) | QueryKind::Possibly(_))
            && net.lattices.is_empty()
            && !net.has_rates();
        if right { guess::all(net, query) } else { Symmetry::default() }
    }

    /// The symmetry of these swaps, or why one of them is none.
    pub fn of(net: &Network, query: &Query, swaps: Vec<Swap>) -> Result<Symmetry, &'static str> {
        if net.has_rates() {
            return Err("symmetry is not known where clocks can stand still");
        }
        let mut symmetry = Symmetry::default();
        for swap in swaps {
            symmetry.swaps.push(verify::verify(net, query, swap)?);
        }
        Ok(symmetry)
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.swaps.is_empty()
    }

    /// Processes that look alike, but are not.
    pub fn refused(&self) -> &[Refused] {
        &self.refused
    }

    /// The swaps.
    pub fn swaps(&self) -> impl Iterator<Item = &Swap> {
        self.swaps.iter().map(|s| &s.swap)
    }

    /// Which processes are the same but for their names.
    pub fn groups(&self) -> Vec<Vec<u32>> {
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for s in self.swaps() {
            for (p, &q) in s.processes.iter().enumerate().filter(|(p, q)| (*p as u32) < **q) {
                match groups.iter_mut().find(|g| g.contains(&(p as u32))) {
                    Some(g) if !g.contains(&q) => g.push(q),
                    Some(_) => {}
                    None => groups.push(vec![p as u32, q]),
                }
            }
        }
        groups
    }

    /// Sorts the cells of a state (locations and data); notes the swaps, in order.
    pub fn sort(&self, cells: &mut [i64], word: &mut Vec<u16>) {
        loop {
            let before = word.len();
            for (i, s) in self.swaps.iter().enumerate() {
                if s.compare(cells) == Ordering::Less {
                    s.apply(cells);
                    word.push(i as u16);
                }
            }
            if word.len() == before {
                return;
            }
        }
    }

    /// The swaps that leave a state as it is.
    pub fn fixing(&self, cells: &[i64], out: &mut Vec<u16>) {
        out.clear();
        let fixes = |(i, s): (usize, &Ready)| (s.compare(cells) == Ordering::Equal).then_some(i as u16);
        out.extend(self.swaps.iter().enumerate().filter_map(fixes));
    }

    /// Sorts a zone by swaps that leave the rest of the state as it is. `clocks`: the clocks of the zone, ascending, 0 first.
    ///
    /// Bounds of single clocks count before differences, so that clocks about which nothing is known make no difference.
    pub fn sort_zone(&self, fixing: &[u16], clocks: &[u32], zone: &mut [Bound], word: &mut Vec<u16>) {
        let mut places = Vec::new();
        let mut old = Vec::new();
        loop {
            let before = word.len();
            for &i in fixing {
                let images = &self.swaps[i as usize].swap.clocks;
                places.clear();
                places.extend(clocks.iter().map_while(|&c| clocks.binary_search(&images[c as usize]).ok()));
                if places.len() == clocks.len() && smaller(&places, zone) {
                    permute(&places, zone, &mut old);
                    word.push(i);
                }
            }
            if word.len() == before {
                return;
            }
        }
    }

    /// The image of a clock under some swaps, one after the other.
    pub fn clock(&self, word: &[u16], clock: u32) -> u32 {
        word.iter().fold(clock, |c, &i| self.swaps[i as usize].swap.clocks[c as usize])
    }

    /// The clock whose image it is.
    pub fn clock_before(&self, word: &[u16], clock: u32) -> u32 {
        word.iter().rev().fold(clock, |c, &i| self.swaps[i as usize].swap.clocks[c as usize])
    }

    /// The cells of the state of which these are the image.
    pub fn cells_before(&self, word: &[u16], cells: &mut [i64]) {
        word.iter().rev().for_each(|&i| self.swaps[i as usize].apply(cells));
    }

    /// The step of which this is the image.
    pub fn action_before(&self, net: &Network, word: &[u16], action: &[EdgeRef]) -> Action {
        let image = |e: &EdgeRef, s: &Ready| EdgeRef {
            process: s.swap.processes[e.process as usize],
            edge: s.edges[e.process as usize][e.edge as usize],
        };
        let before = |e: &EdgeRef| word.iter().rev().fold(*e, |e, &i| image(&e, &self.swaps[i as usize]));
        let mut all: Vec<EdgeRef> = action.iter().map(before).collect();
        // The sender comes first, then the others in the order of processes.
        let sends =
            all.first().is_some_and(|e| net.processes[e.process as usize].edges[e.edge as usize].sync.is_some());
        all[usize::from(sends)..].sort_unstable();
        Action(all)
    }
}

impl Ready {
    /// What a state becomes, compared with the state.
    fn compare(&self, cells: &[i64]) -> Ordering {
        for &(to, from, values) in &self.cells {
            let new = values.map_or(cells[from as usize], |pair| image::swapped(cells[from as usize], pair));
            match new.cmp(&cells[to as usize]) {
                Ordering::Equal => {}
                decided => return decided,
            }
        }
        Ordering::Equal
    }

    fn apply(&self, cells: &mut [i64]) {
        let old: smallvec::SmallVec<[i64; 16]> = self.cells.iter().map(|c| cells[c.1 as usize]).collect();
        for (&(to, _, values), old) in self.cells.iter().zip(old) {
            cells[to as usize] = values.map_or(old, |pair| image::swapped(old, pair));
        }
    }
}

/// Is the zone smaller when each of its clocks is replaced by the one in this place?
fn smaller(places: &[usize], zone: &[Bound]) -> bool {
    let n = places.len();
    let differ = |(i, j): (usize, usize)| {
        let (new, old) = (zone[places[i] * n + places[j]], zone[i * n + j]);
        (new != old).then(|| new < old)
    };
    let borders = (0..n).map(|j| (0, j)).chain((0..n).map(|i| (i, 0)));
    let inside = (1..n).flat_map(|i| (1..n).map(move |j| (i, j)));
    borders.chain(inside).find_map(differ).unwrap_or(false)
}

/// Replaces each clock of a zone by the one in this place.
fn permute(places: &[usize], zone: &mut [Bound], old: &mut Vec<Bound>) {
    let n = places.len();
    old.clear();
    old.extend_from_slice(zone);
    for i in 0..n {
        for j in 0..n {
            zone[i * n + j] = old[places[i] * n + places[j]];
        }
    }
}
