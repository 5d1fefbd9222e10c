//! The documents, piece by piece: nothing here builds a tree.

use std::io;

use rustc_hash::FxHashMap;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde::{Serialize as Derive, ser::SerializeTuple};
use trellis_domain::zone::{Constraint, Rational};
use trellis_model::network::{
    CertEntry, Certificate, Course, LatticeVar, LuBounds, Network, Never, Snapshot, Step, Trace,
};
use trellis_order::Word;

use super::binding::start;
use super::{CERTIFICATE, Header, REPORT, TRACE};
use crate::certificate::keys;
use crate::property::{Ending, Kind, PropertyReport};
use crate::tell::{Move, Renderer, states};

/// A report.
pub(super) struct ReportDoc<'a> {
    pub teller: &'a Renderer<'a>,
    pub report: &'a PropertyReport,
    pub certificate: bool,
}

impl Serialize for ReportDoc<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let ReportDoc { teller, report: r, .. } = *self;
        let trace = r.trace.as_ref().map(|trace| {
            let ending = teller.ending(r.kind, r.outcome, trace);
            TraceDoc { teller, header: r.header(), trace, ending }
        });
        let mut m = s.serialize_map(None)?;
        report_head(&mut m, r)?;
        m.serialize_entry("trace", &trace)?;
        match &r.certificate {
            Some(certificate) if self.certificate => {
                m.serialize_entry("certificate", &CertificateDoc::new(teller, r.header(), certificate))?;
            }
            c => {
                let count = c.as_ref().map(|c| Count {
                    entries: c.entries.len(),
                    up_to_order: c.up_to_order,
                    keys: is_timed(teller.net).then(|| keys(c)),
                });
                m.serialize_entry("certificate", &count)?;
            }
        }
        let inconclusive = r.inconclusive.as_ref().map(|i| InconclusiveView {
            initial: State(teller, &i.path.initial),
            steps: Steps(teller, &i.path),
            fails_at: i.fails_at,
            joins: &i.joins,
            pivot: i.pivot,
        });
        m.serialize_entry("inconclusive", &inconclusive)?;
        m.end()
    }
}

/// A report without evidence.
pub(super) struct PlainDoc<'a, T, C>(pub &'a PropertyReport<T, C>);

impl<T, C> Serialize for PlainDoc<'_, T, C> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut m = s.serialize_map(None)?;
        report_head(&mut m, self.0)?;
        for nothing in ["trace", "certificate", "inconclusive"] {
            m.serialize_entry(nothing, &())?;
        }
        m.end()
    }
}

/// What a report says beside its evidence.
pub(super) fn report_head<M: SerializeMap, T, C>(m: &mut M, r: &PropertyReport<T, C>) -> Result<(), M::Error> {
    m.serialize_entry("schema", REPORT)?;
    m.serialize_entry("model", &r.model)?;
    m.serialize_entry("language", &r.language)?;
    m.serialize_entry("query", &r.query)?;
    m.serialize_entry("kind", r.kind.symbol())?;
    m.serialize_entry("class", r.kind.class().name())?;
    m.serialize_entry("verdict", r.outcome.word())?;
    m.serialize_entry("holds", &r.holds())?;
    m.serialize_entry("bound", &r.bound)?;
    if let Some(limit) = r.clock_bound {
        m.serialize_entry("clock_bound", &LimitView { value: limit.value, attained: limit.attained })?;
    }
    m.serialize_entry("reason", &r.reason.as_ref().map(|w| ReasonView { kind: &w.kind, text: &w.text }))?;
    m.serialize_entry("checked", &r.checked)?;
    m.serialize_entry("unchecked", &r.unchecked)?;
    m.serialize_entry("assumes", &r.assumes)?;
    m.serialize_entry("warnings", &r.warnings)?;
    m.serialize_entry("engine", &r.engine)?;
    m.serialize_entry("statistics", &Pairs(r.statistics.iter().map(|(name, n)| (name, n))))?;
    m.serialize_entry("seconds", &if r.seconds.is_finite() { r.seconds } else { 0.0 })
}

/// Only documents about timed models speak of time.
fn is_timed(net: &Network) -> bool {
    !net.clocks.is_empty()
}

#[derive(Derive)]
struct LimitView {
    value: Option<i64>,
    attained: bool,
}

#[derive(Derive)]
struct ReasonView<'a> {
    kind: &'a str,
    text: &'a str,
}

/// What is said about a certificate that is not written out.
#[derive(Derive)]
struct Count {
    entries: usize,
    up_to_order: bool,
    /// Of a timed model, where many entries have the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<usize>,
}

#[derive(Derive)]
struct InconclusiveView<'a> {
    initial: State<'a>,
    steps: Steps<'a>,
    fails_at: usize,
    joins: &'a [usize],
    pivot: usize,
}

/// An object from pairs.
struct Pairs<I>(I);

impl<K: Serialize, V: Serialize, I: Iterator<Item = (K, V)> + Clone> Serialize for Pairs<I> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_map(self.0.clone())
    }
}

/// A trace.
pub(super) struct TraceDoc<'a> {
    pub teller: &'a Renderer<'a>,
    pub header: Header<'a>,
    pub trace: &'a Trace,
    pub ending: Ending,
}

/// Evidence about a network says so if it is about a formula of linear temporal logic.
fn formula<M: SerializeMap>(m: &mut M, header: Header<'_>) -> Result<(), M::Error> {
    if header.kind == Kind::Ltl { m.serialize_entry("kind", Kind::Ltl.symbol()) } else { Ok(()) }
}

impl Serialize for TraceDoc<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut m = s.serialize_map(None)?;
        start(&mut m, TRACE, self.header)?;
        formula(&mut m, self.header)?;
        m.serialize_entry("initial", &State(self.teller, &self.trace.initial))?;
        m.serialize_entry("steps", &Steps(self.teller, self.trace))?;
        if is_timed(self.teller.net) || self.trace.rest != Rational::ZERO {
            m.serialize_entry("rest", &Exact(self.trace.rest))?;
        }
        m.serialize_entry("back_to", &self.trace.back_to)?;
        m.serialize_entry("ending", self.ending.name())?;
        m.end()
    }
}

struct Steps<'a>(&'a Renderer<'a>, &'a Trace);

impl Serialize for Steps<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut seq = s.serialize_seq(Some(self.1.steps.len()))?;
        for (before, step) in states(self.1) {
            seq.serialize_element(&StepView(self.0, before, step))?;
        }
        seq.end()
    }
}

struct StepView<'a>(&'a Renderer<'a>, &'a Snapshot, &'a Step);

impl Serialize for StepView<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let StepView(teller, before, step) = *self;
        let edges: Vec<EdgeView<'_>> = teller.moves(before, &step.action).into_iter().map(EdgeView).collect();
        let mut m = s.serialize_map(None)?;
        if is_timed(teller.net) || step.delay != Rational::ZERO {
            m.serialize_entry("delay", &Exact(step.delay))?;
        }
        m.serialize_entry("edges", &edges)?;
        m.serialize_entry("state", &State(teller, &step.state))?;
        m.end()
    }
}

/// `"5/2"`: floating-point numbers, which are what many readers make of numbers, would not be exact.
struct Exact(Rational);

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(&self.0)
    }
}

struct EdgeView<'a>(Move<'a>);

impl Serialize for EdgeView<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let e = &self.0;
        let mut m = s.serialize_map(None)?;
        m.serialize_entry("process", e.process)?;
        m.serialize_entry("edge", &e.edge.origin)?;
        m.serialize_entry("select", &Pairs(e.edge.select.iter().map(|(name, value)| (name, value))))?;
        m.serialize_entry("from", e.from)?;
        m.serialize_entry("to", e.to)?;
        m.serialize_entry("channel", &e.channel.as_ref().map(|c| &c.0))?;
        m.serialize_entry("direction", &e.channel.as_ref().map(|c| if c.1 { "!" } else { "?" }))?;
        m.end()
    }
}

/// A state in the model's names.
struct State<'a>(&'a Renderer<'a>, &'a Snapshot);

impl Serialize for State<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let State(teller, state) = *self;
        let names = &teller.names;
        let location = |(p, &l): (usize, &u32)| (&names.processes[p], &names.locations[p][l as usize]);
        let vars = teller.net.vars.iter().flat_map(|v| v.init.iter().map(move |_| v));
        let cells = names.cells.iter().zip(vars.zip(&state.data));
        let lattice = |(i, name)| (name, Lattice(teller, i, &state.element));
        let mut m = s.serialize_map(None)?;
        m.serialize_entry("locations", &Pairs(state.locations.iter().enumerate().map(location)))?;
        m.serialize_entry("variables", &Pairs(cells.map(|(name, (v, &n))| (name, Cell(v.is_bool, n)))))?;
        m.serialize_entry("lattices", &Pairs(names.lattices.iter().enumerate().map(lattice)))?;
        if !state.clocks.is_empty() {
            m.serialize_entry("clocks", &Pairs(names.clocks.iter().zip(state.clocks.iter().map(|c| Exact(*c)))))?;
        }
        m.end()
    }
}

struct Cell(bool, i64);

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match *self {
            Cell(true, n @ (0 | 1)) => s.serialize_bool(n == 1),
            Cell(_, n) => s.serialize_i64(n),
        }
    }
}

struct Lattice<'a>(&'a Renderer<'a>, usize, &'a [Word]);

impl Serialize for Lattice<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let Lattice(teller, i, element) = *self;
        let l = &teller.net.lattices[i];
        let mut m = s.serialize_map(Some(2))?;
        m.serialize_entry("words", &Words(&element[l.offset..l.offset + l.lattice.width()]))?;
        m.serialize_entry("shown", &teller.lattice(i, element))?;
        m.end()
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

/// A certificate.
pub(super) struct CertificateDoc<'a> {
    pub teller: &'a Renderer<'a>,
    pub header: Header<'a>,
    pub certificate: &'a Certificate,
    /// The different bounds, and the number of each: thousands of entries may share a few.
    bounds: Vec<&'a LuBounds>,
    numbers: FxHashMap<&'a LuBounds, usize>,
}

impl<'n> CertificateDoc<'n> {
    pub fn new(teller: &'n Renderer<'n>, header: Header<'n>, certificate: &'n Certificate) -> CertificateDoc<'n> {
        let (mut bounds, mut numbers) = (Vec::new(), FxHashMap::default());
        for b in certificate.entries.iter().filter_map(|e| e.bounds.as_ref()) {
            numbers.entry(b).or_insert_with(|| {
                bounds.push(b);
                bounds.len() - 1
            });
        }
        CertificateDoc { teller, header, certificate, bounds, numbers }
    }

    fn rows(&self) -> impl Iterator<Item = Row<'n>> {
        let timed = is_timed(self.teller.net);
        let number = |e: &CertEntry| e.bounds.as_ref().map(|b| self.numbers[b]);
        self.certificate.entries.iter().map(move |e| Row { entry: e, timed, bounds: number(e) })
    }

    /// As [`Serialize`], but each entry on a line of its own.
    pub fn write_lines(&self, out: &mut impl io::Write) -> io::Result<()> {
        // The entries come last, so that what comes before can be written as one object.
        let head = serde_json::to_string(&Head(self))?;
        let head = head.strip_suffix('}').unwrap_or(&head);
        write!(out, "{head},\"entries\":[")?;
        for (i, row) in self.rows().enumerate() {
            out.write_all(if i == 0 { b"\n" } else { b",\n" })?;
            serde_json::to_writer(&mut *out, &row)?;
        }
        out.write_all(b"\n]}\n")
    }

    fn head<M: SerializeMap>(&self, m: &mut M) -> Result<(), M::Error> {
        start(m, CERTIFICATE, self.header)?;
        formula(m, self.header)?;
        m.serialize_entry("up_to_order", &self.certificate.up_to_order)?;
        if self.certificate.up_to_symmetry {
            m.serialize_entry("up_to_symmetry", &true)?;
        }
        let (net, names) = (self.teller.net, &self.teller.names);
        let process = |(name, locations): (&'n String, &'n Vec<String>)| ProcessColumn { name, locations };
        let lattice = |(name, l): (&'n String, &LatticeVar)| LatticeColumn {
            name,
            lattice: l.lattice.name(),
            width: l.lattice.width(),
        };
        let columns = Columns {
            processes: names.processes.iter().zip(&names.locations).map(process).collect(),
            variables: &names.cells,
            lattices: names.lattices.iter().zip(&net.lattices).map(lattice).collect(),
            clocks: &names.clocks,
        };
        m.serialize_entry("columns", &columns)?;
        if !self.bounds.is_empty() {
            let view = |b: &&LuBounds| BoundsView { lower: compared(&b.lower), upper: compared(&b.upper) };
            m.serialize_entry("bounds", &self.bounds.iter().map(view).collect::<Vec<_>>())?;
        }
        Ok(())
    }
}

/// The part of a certificate above its entries.
struct Head<'a, 'b>(&'a CertificateDoc<'b>);

impl Serialize for Head<'_, '_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut m = s.serialize_map(None)?;
        self.0.head(&mut m)?;
        m.end()
    }
}

impl Serialize for CertificateDoc<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut m = s.serialize_map(None)?;
        self.head(&mut m)?;
        m.serialize_entry("entries", &Rows(self))?;
        m.end()
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

struct Rows<'a>(&'a CertificateDoc<'a>);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(self.0.rows())
    }
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
