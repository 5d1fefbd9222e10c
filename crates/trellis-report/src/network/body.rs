//! The body of a network's certificate: its columns, then one row per entry, each on a line. Nothing here builds a tree: there may be hundreds
//! of thousands of rows.

use std::io;

use rustc_hash::FxHashMap;
use serde::ser::{Serialize, Serializer};
use serde::{Serialize as Derive, ser::SerializeTuple};
use trellis_domain::zone::Constraint;
use trellis_model::network::{CertEntry, Certificate, Course, LatticeVar, LuBounds, Network, Never};
use trellis_order::Word;

use super::names::Names;
use crate::present::{Body, ProofKind};

/// What is written of a certificate.
pub(super) fn body<'a>(net: &'a Network, certificate: &'a Certificate) -> Body<'a> {
    let assumed = [(certificate.up_to_order, "order"), (certificate.up_to_symmetry, "symmetry")];
    Body {
        kind: ProofKind::States,
        assumes: assumed.into_iter().filter(|(is, _)| *is).map(|(_, what)| what).collect(),
        write: Box::new(move |out| Rows::new(net, certificate).write(out)),
    }
}

/// A certificate, ready to be written.
struct Rows<'a> {
    net: &'a Network,
    names: Names,
    certificate: &'a Certificate,
    /// The different bounds, and the number of each: thousands of entries may share a few.
    bounds: Vec<LuBounds>,
    numbers: FxHashMap<LuBounds, usize>,
}

impl<'a> Rows<'a> {
    fn new(net: &'a Network, certificate: &'a Certificate) -> Rows<'a> {
        let (mut bounds, mut numbers) = (Vec::new(), FxHashMap::default());
        let timed = || certificate.entries.stream().filter_map(|e| e.bounds.clone());
        for b in (!net.clocks.is_empty()).then(timed).into_iter().flatten() {
            if !numbers.contains_key(&b) {
                numbers.insert(b.clone(), bounds.len());
                bounds.push(b);
            }
        }
        Rows { net, names: Names::new(net), certificate, bounds, numbers }
    }

    fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        write!(out, "{{\n  \"columns\": {}", serde_json::to_string(&self.columns())?)?;
        if !self.bounds.is_empty() {
            let view = |b: &LuBounds| BoundsView { lower: compared(&b.lower), upper: compared(&b.upper) };
            let bounds: Vec<BoundsView> = self.bounds.iter().map(view).collect();
            write!(out, ",\n  \"bounds\": {}", serde_json::to_string(&bounds)?)?;
        }
        out.write_all(b",\n  \"entries\": [")?;
        let timed = !self.net.clocks.is_empty();
        for (i, entry) in self.certificate.entries.stream().enumerate() {
            out.write_all(if i == 0 { b"\n" } else { b",\n" })?;
            let bounds = entry.bounds.as_ref().and_then(|b| self.numbers.get(b).copied());
            serde_json::to_writer(&mut *out, &Row { entry: &entry, timed, bounds })?;
        }
        out.write_all(b"\n]}")
    }

    fn columns(&self) -> Columns<'_> {
        let names = &self.names;
        let process = |p: usize| ProcessColumn { name: &names.processes[p], locations: &names.locations[p] };
        let lattice = |i: usize| {
            let l: &LatticeVar = &self.net.lattices[i];
            LatticeColumn { name: &names.lattices[i], lattice: l.lattice.name(), width: l.lattice.width() }
        };
        Columns {
            processes: (0..names.processes.len()).map(process).collect(),
            variables: &names.cells,
            lattices: (0..names.lattices.len()).map(lattice).collect(),
            clocks: &names.clocks,
        }
    }
}

#[derive(Derive)]
struct Columns<'a> {
    processes: Vec<ProcessColumn<'a>>,
    variables: &'a [String],
    lattices: Vec<LatticeColumn<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    clocks: &'a [String],
}

#[derive(Derive)]
struct BoundsView {
    lower: Vec<Option<i32>>,
    upper: Vec<Option<i32>>,
}

/// Bounds of clocks; nothing for one that is never compared so.
fn compared(bounds: &[i32]) -> Vec<Option<i32>> {
    bounds.iter().map(|&n| (n != i32::MIN).then_some(n)).collect()
}

#[derive(Derive)]
struct ProcessColumn<'a> {
    name: &'a str,
    locations: &'a [String],
}

#[derive(Derive)]
struct LatticeColumn<'a> {
    name: &'a str,
    lattice: String,
    width: usize,
}

/// Locations by number, cells, words; for liveness also the rank; for timed models, after the rank or `null`, the zone, and
/// perhaps the number of its bounds, and, after it or `null`, what more it says of data; for formulas, after all of these, the
/// course.
struct Row<'a> {
    entry: &'a CertEntry,
    timed: bool,
    bounds: Option<usize>,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let CertEntry { state, known, zone, rank, says, course, .. } = self.entry;
        let length = match (self.bounds, rank) {
            _ if course.is_some() => 8,
            _ if says.is_some() => 7,
            (Some(_), _) => 6,
            _ if self.timed || !zone.is_empty() => 5,
            (None, Some(_)) => 4,
            (None, None) => 3,
        };
        let mut t = s.serialize_tuple(length)?;
        t.serialize_element(&state.locations)?;
        match known[..] {
            [] => t.serialize_element(&state.data)?,
            _ => t.serialize_element(&Known(&state.data, known))?,
        }
        t.serialize_element(&Words(&state.element))?;
        if length > 3 {
            t.serialize_element(rank)?;
        }
        if length > 4 {
            t.serialize_element(&ZoneView(zone))?;
        }
        if length > 5 {
            t.serialize_element(&self.bounds)?;
        }
        if length > 6 {
            t.serialize_element(says)?;
        }
        if let Some(course) = course {
            t.serialize_element(&CourseView(course))?;
        }
        t.end()
    }
}

/// `[3, [[2, "mark", 0], [1, "party", 1], [0, "step"]]]`: a state of the automaton, and ranks with what never happens.
struct CourseView<'a>(&'a Course);

impl Serialize for CourseView<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut t = s.serialize_tuple(2)?;
        t.serialize_element(&self.0.at)?;
        let levels = self.0.levels.iter().map(|l| match l.never {
            Never::Step => (l.rank, "step", 0),
            Never::Mark(m) => (l.rank, "mark", m),
            Never::Party(p) => (l.rank, "party", p),
        });
        t.serialize_element(&levels.collect::<Vec<_>>())?;
        t.end()
    }
}

/// Cells; `null` where the entry allows any value, so that nobody who does not expect this takes it for a value.
struct Known<'a>(&'a [i64], &'a [bool]);

impl Serialize for Known<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let known = |i: usize| self.1.get(i).is_none_or(|k| *k);
        s.collect_seq(self.0.iter().enumerate().map(|(i, n)| known(i).then_some(n)))
    }
}

/// `[[1, 2, "<", 3], …]`. A constraint without a bound says nothing and is not written.
struct ZoneView<'a>(&'a [Constraint]);

impl Serialize for ZoneView<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let view = |c: &Constraint| {
            let sign = if c.bound.is_strict() { "<" } else { "≤" };
            c.bound.constant().map(|n| (c.left, c.right, sign, n))
        };
        s.collect_seq(self.0.iter().filter_map(view))
    }
}

struct Words<'a>(&'a [Word]);

impl Serialize for Words<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(self.0.iter().map(|w| Hex(*w)))
    }
}

struct Hex(Word);

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(&format_args!("{:#x}", self.0))
    }
}
