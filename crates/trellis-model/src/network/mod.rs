//! Networks of automata: processes with locations, bounded data, channels, and lattice variables (000 App. A).
//!
//! A front end builds a [`Network`]: templates instantiated, selects expanded, types checked, expressions lowered to
//! terms. A state is a *key* (locations and data, packed into words by [`Layout`]) and an *element* (the lattice
//! variables' words, side by side). States with the same key are compared by the lattice order only.
//!
//! Rooms: [`state`] (packing), [`post`] (fast successors, compiled code, in-place with undo), [`interpret`] (the
//! reference interpreter, slow and plain, shares nothing with `post` but this file), [`evidence`] (traces and
//! certificates), [`query`] (what can be asked), [`clock`] (clock constraints, resets, synchronisation vectors),
//! [`combine`] (which edges could move together, whatever the data), [`circle`] (when a timed run can go round forever),
//! [`symmetry`] (processes that cannot be told apart), [`parts`] (hierarchical
//! transition systems of processes that share no variables), [`temporal`] (formulas about runs, and fairness), [`region`] (the region graph, for small timed networks only: what
//! others are held against).

use std::sync::Arc;

use trellis_expr::{FnId, StmtId, TermId, Terms, VarId};
use trellis_order::{Domain, Join, Lattice, Word};

pub mod circle;
pub mod clock;
pub mod combine;
mod compiled;
pub mod entries;
pub mod evidence;
pub mod interpret;
pub mod parts;
pub mod post;
pub mod query;
pub mod region;
pub mod sketch;
pub mod state;
pub mod symmetry;
pub mod temporal;

pub use clock::{ClockAtom, Rate, Reset, ResetTo, Vector, VectorPart};
pub use compiled::{Judge, PairJudge, SetClock};
pub use entries::{Entries, Store};
pub use evidence::{Action, CertEntry, Certificate, EdgeRef, LuBounds, Snapshot, Step, Trace};
pub use post::{ModelError, Post, Transition, Transitions};
pub use query::{Query, QueryKind};
pub use sketch::Sketch;
pub use state::{Layout, Packed};
pub use symmetry::Symmetry;
pub use temporal::{Course, Fair, Level, Never, Party, Temporal};

/// A closed network, ready to explore.
#[derive(Debug, Clone, Default)]
pub struct Network {
    /// Where terms and statements live.
    pub terms: Terms,
    /// The processes, in the order of the system line.
    pub processes: Vec<Process>,
    /// The data variables that are part of a state.
    pub vars: Vec<DataVar>,
    /// Variables that live only within one step (function locals, temporaries, `meta`), with their initial value: they
    /// are reset before every guard, update and invariant that uses them.
    pub temps: Vec<DataVar>,
    /// Those of `temps` that an edge may read although it has not written them: constants, and `meta` variables, which may
    /// carry something from one edge of a step to another. All others are written first wherever they are read.
    pub meta: Vec<VarId>,
    /// The names of the clocks, arrays flattened: `P(1).x`, `y[2]`. Clock `i` is number `i + 1` in constraints.
    pub clocks: Vec<String>,
    /// The lattice variables.
    pub lattices: Vec<LatticeVar>,
    /// What the foreign functions in terms stand for.
    pub functions: Vec<Function>,
    /// The channels, arrays flattened.
    pub channels: Vec<Channel>,
    /// Arrays of clocks: the first clock's number, and first index and length of each dimension.
    pub clock_arrays: Vec<(u32, Vec<(i64, i64)>)>,
    /// Arrays of channels: the first channel, and first index and length of each dimension.
    pub channel_arrays: Vec<(u32, Vec<(i64, i64)>)>,
    /// Who moves together over events, in the order in which they are tried.
    pub vectors: Vec<Vector>,
    /// Named integer constants, for reports, strategies and scripts.
    pub constants: Vec<(String, i64)>,
    /// The temporary that stands for `deadlock` in queries, if any asks.
    pub deadlock: Option<VarId>,
    /// Whether priorities were declared at all.
    pub has_priorities: bool,
    /// The scalar sets. That their members are alike is for [`symmetry`] to verify.
    pub scalars: Vec<symmetry::ScalarSet>,
    /// The arguments of processes: as many as processes, or none.
    pub members: Vec<Option<symmetry::Member>>,
}

/// A data variable: one cell, or an array of cells.
#[derive(Debug, Clone)]
pub struct DataVar {
    /// Its name as a reader knows it: `P(1).count`.
    pub name: String,
    /// Its variable in the terms.
    pub var: VarId,
    /// Smallest value of a cell.
    pub lo: i64,
    /// Largest value of a cell.
    pub hi: i64,
    /// Whether a cell is a truth value.
    pub is_bool: bool,
    /// For arrays: first index and length of each dimension, outermost first.
    pub dims: Vec<(i64, i64)>,
    /// The initial value of each cell.
    pub init: Vec<i64>,
}

impl DataVar {
    /// The name of a cell: `count`, `board[1][2]`.
    pub fn cell_name(&self, cell: usize) -> String {
        let mut rest = cell as i64;
        let mut indexes = Vec::new();
        for &(lo, len) in self.dims.iter().rev() {
            indexes.push(lo + rest % len);
            rest /= len;
        }
        indexes.iter().rev().fold(self.name.clone(), |name, i| format!("{name}[{i}]"))
    }
}

/// A lattice variable.
#[derive(Debug, Clone)]
pub struct LatticeVar {
    /// Its name.
    pub name: String,
    /// Its lattice.
    pub lattice: Arc<dyn Lattice>,
    /// Where its words start in an element.
    pub offset: usize,
    /// Its initial words.
    pub init: Vec<Word>,
}

/// What a foreign function does. Its first argument is the word where the lattice value starts.
#[derive(Debug, Clone)]
pub enum Function {
    /// Calls a method of a lattice with the remaining arguments.
    Method {
        /// Whose method.
        lattice: Arc<dyn Lattice>,
        /// Which method.
        method: usize,
    },
    /// Reads the bit given by the second argument, of so many.
    GetBit(usize),
    /// Sets the bit given by the second argument, of so many, to the third.
    SetBit(usize),
    /// Copies so many words from the place given by the second argument.
    Copy(usize),
}

/// One automaton.
#[derive(Debug, Clone)]
pub struct Process {
    /// Its name: `P`, `P(1)`.
    pub name: String,
    /// The variable that holds its current location.
    pub location: VarId,
    /// Its locations.
    pub locations: Vec<Location>,
    /// The initial one.
    pub init: u32,
    /// Its edges, selects expanded, in source order.
    pub edges: Vec<Edge>,
    /// Its priority (higher wins).
    pub priority: i32,
    /// How its template was drawn, if it has one; processes of one template share it.
    pub sketch: Option<Arc<Sketch>>,
}

/// A location.
#[derive(Debug, Clone)]
pub struct Location {
    /// Its name.
    pub name: String,
    /// What must hold of data while here, if anything.
    pub invariant: Option<Condition>,
    /// What must hold of clocks while here: all of it. Terms see what `invariant`'s statements have prepared.
    pub clock_invariant: Vec<ClockAtom>,
    /// How fast clocks run while here; 1 if nothing is said. Terms see what `invariant`'s statements have prepared.
    pub rates: Vec<Rate>,
    /// Time may not pass here.
    pub urgent: bool,
    /// Only transitions that leave a committed location may happen.
    pub committed: bool,
}

/// A condition: some statements that compute into temporaries, then a truth value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition {
    /// Runs first; changes nothing but temporaries.
    pub prepare: StmtId,
    /// The truth value.
    pub holds: TermId,
}

/// An edge.
#[derive(Debug, Clone)]
pub struct Edge {
    /// From.
    pub source: u32,
    /// To.
    pub target: u32,
    /// When, as far as data is concerned.
    pub guard: Condition,
    /// When, as far as clocks are concerned: all of it. Terms see what `guard`'s statements have prepared.
    pub clock_guard: Vec<ClockAtom>,
    /// With whom.
    pub sync: Option<Sync>,
    /// For a process in synchronisation vectors: the event as which this edge takes part. An edge without label and
    /// event moves alone.
    pub event: Option<u32>,
    /// What it does.
    pub update: StmtId,
    /// The clocks it sets, in order, after `update`.
    pub resets: Vec<Reset>,
    /// Which edge of the template this is, from 0 in source order.
    pub origin: u32,
    /// The values chosen for its selects.
    pub select: Vec<(String, i64)>,
    /// Where it stands in the source: `file:line:column`.
    pub place: Arc<str>,
}

/// A synchronisation label.
#[derive(Debug, Clone, Copy)]
pub struct Sync {
    /// First channel of the array.
    pub base: u32,
    /// Which of the array: a term within the array's bounds (or it faults).
    pub index: Option<(StmtId, TermId)>,
    /// `!` rather than `?`.
    pub send: bool,
}

/// A channel.
#[derive(Debug, Clone)]
pub struct Channel {
    /// Its name: `go[2]`.
    pub name: String,
    /// One sender, all receivers that can.
    pub broadcast: bool,
    /// Time may not pass when it can happen.
    pub urgent: bool,
    /// Its priority (higher wins); 0 is that of unlisted channels and of silent steps.
    pub priority: i32,
}

impl Network {
    /// The foreign function behind an id.
    pub fn function(&self, f: FnId) -> &Function {
        &self.functions[f.index()]
    }

    /// Can clocks stand still?
    pub fn has_rates(&self) -> bool {
        let mut rates = self.processes.iter().flat_map(|p| &p.locations).flat_map(|l| &l.rates);
        rates.any(|r| self.terms.as_int(r.rate) != Some(1))
    }

    /// The names of the data cells of a state, in order.
    pub fn cell_names(&self) -> Vec<String> {
        self.vars.iter().flat_map(|v| (0..v.init.len()).map(|i| v.cell_name(i))).collect()
    }

    /// The lattice part of the states, as a domain.
    pub fn elements(&self) -> Elements {
        Elements::new(&self.lattices)
    }

    /// Words per element.
    pub fn element_width(&self) -> usize {
        self.lattices.iter().map(|l| l.lattice.width()).sum()
    }

    /// The initial element.
    pub fn initial_element(&self) -> Vec<Word> {
        self.lattices.iter().flat_map(|l| l.init.iter().copied()).collect()
    }
}

/// The product of all lattice variables of a network: the domain of its elements.
#[derive(Debug, Clone)]
pub struct Elements {
    /// Where each part starts, its width, its lattice.
    parts: Vec<(usize, usize, Arc<dyn Lattice>)>,
    /// If all parts are sets of packed bits: what to flip in each word so that `⊑` is inclusion
    /// ([`Lattice::subset_order`]). Comparing is the innermost loop of an exploration.
    flips: Option<Vec<Word>>,
}

impl Elements {
    fn new(lattices: &[LatticeVar]) -> Elements {
        let flips = |l: &LatticeVar| l.lattice.subset_order().map(|f| vec![f; l.lattice.width()]);
        Elements {
            parts: lattices.iter().map(|l| (l.offset, l.lattice.width(), l.lattice.clone())).collect(),
            flips: lattices.iter().map(flips).collect::<Option<Vec<_>>>().map(|f| f.concat()),
        }
    }
}

impl Elements {
    /// Are there infinite (or very long) chains of elements, which widening cuts short?
    pub fn widens(&self) -> bool {
        self.parts.iter().any(|(_, _, l)| l.as_widen().is_some())
    }

    /// `a := a ∇ b`, variable by variable; those without widening are joined. Answers whether `a` grew.
    pub fn widen(&self, a: &mut [Word], b: &[Word]) -> bool {
        let widen = |(at, n, l): &(usize, usize, Arc<dyn Lattice>), a: &mut [Word]| {
            trellis_order::lattice::widen(&**l, &mut a[*at..at + n], &b[*at..at + n])
        };
        self.parts.iter().fold(false, |grew, part| widen(part, a) | grew)
    }
}

impl Domain for Elements {
    type Elem = [Word];

    #[inline]
    fn leq(&self, a: &[Word], b: &[Word]) -> bool {
        match &self.flips {
            Some(flips) => a.iter().zip(b).zip(flips).all(|((a, b), f)| (a ^ f) & !(b ^ f) == 0),
            None => self.parts.iter().all(|(at, n, l)| l.leq(&a[*at..at + n], &b[*at..at + n])),
        }
    }

    fn is_bottom(&self, a: &[Word]) -> bool {
        self.parts.iter().all(|(at, n, l)| l.is_bottom(&a[*at..at + n]))
    }
}

impl Join for Elements {
    fn join(&self, a: &mut [Word], b: &[Word]) -> bool {
        let mut grew = false;
        for (at, n, l) in &self.parts {
            grew |= l.join(&mut a[*at..at + n], &b[*at..at + n]);
        }
        grew
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trellis_order::lattice::library::build;

    #[test]
    fn comparing_packed_bits_is_comparing_elements() {
        let mut random = 7u64;
        let mut next = move || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random
        };
        let mut offset = 0;
        let mut lattices = Vec::new();
        for name in ["UnionBitVector", "IntersectionBitVector", "Powerset", "PresentAbsent"] {
            let lattice = build(name, &[], Some(70)).expect("a lattice of the library");
            let init = vec![0; lattice.width()];
            offset += init.len();
            lattices.push(LatticeVar { name: name.into(), lattice, offset: offset - init.len(), init });
        }
        let quick = Elements::new(&lattices);
        let slow = Elements { flips: None, ..quick.clone() };
        assert!(quick.flips.is_some());
        let mut ordered = 0;
        for _ in 0..20_000 {
            let mut draw = || {
                let mut e = vec![0; offset];
                for l in &lattices {
                    l.lattice.sample(&mut next, &mut e[l.offset..l.offset + l.lattice.width()]);
                }
                e
            };
            let (a, mut b) = (draw(), draw());
            assert_eq!(quick.leq(&a, &b), slow.leq(&a, &b));
            slow.join(&mut b, &a);
            assert!(quick.leq(&a, &b));
            ordered += usize::from(quick.leq(&b, &a));
        }
        assert!(ordered > 0, "the samples were too far apart to say anything");
    }
}
