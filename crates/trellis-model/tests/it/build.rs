//! Small timed networks, written down in a few words. (The tests of the checker use this file too.)

#![allow(dead_code)]

use trellis_expr::{StmtId, TermId, Terms, Type, VarId};
use trellis_model::network::{
    Channel, ClockAtom, Condition, DataVar, Edge, Location, Network, Process, Query, QueryKind, Reset, ResetTo, Sync,
    Vector, VectorPart,
};

pub struct Net {
    pub net: Network,
    /// Clock constraints of the question that is being built.
    atoms: Vec<(VarId, ClockAtom)>,
}

/// What an edge is like, apart from where it leads.
#[derive(Default, Clone, Copy)]
pub struct E<'a> {
    /// On clocks: `x >= 2 && x - y < 3`.
    pub guard: &'a str,
    /// `c!` or `c?`.
    pub sync: &'a str,
    /// Clocks that are set: `x = 0, y = x, z = n`.
    pub set: &'a str,
    /// On data.
    pub when: Option<TermId>,
    pub update: Option<StmtId>,
    pub event: Option<u32>,
}

impl Net {
    pub fn new(clocks: &[&str]) -> Net {
        let mut terms = Terms::new();
        let deadlock = terms.declare("deadlock", Type::Bool);
        let temp = DataVar {
            name: "deadlock".into(),
            var: deadlock,
            lo: 0,
            hi: 1,
            is_bool: true,
            dims: vec![],
            init: vec![0],
        };
        let net = Network {
            terms,
            processes: vec![],
            vars: vec![],
            temps: vec![temp],
            clocks: clocks.iter().map(|c| c.to_string()).collect(),
            lattices: vec![],
            functions: vec![],
            channels: vec![],
            vectors: vec![],
            constants: vec![],
            deadlock: Some(deadlock),
            has_priorities: false,
            channel_arrays: Vec::new(),
            clock_arrays: Vec::new(),
            meta: Vec::new(),
            scalars: Vec::new(),
            members: Vec::new(),
        };
        Net { net, atoms: vec![] }
    }

    pub fn var(&mut self, name: &str, lo: i64, hi: i64, init: i64) -> VarId {
        let var = self.net.terms.declare(name, Type::Range(lo, hi));
        let data = DataVar { name: name.into(), var, lo, hi, is_bool: false, dims: vec![], init: vec![init] };
        self.net.vars.push(data);
        var
    }

    pub fn channel(&mut self, name: &str, broadcast: bool, urgent: bool) {
        self.net.channels.push(Channel { name: name.into(), broadcast, urgent, priority: 0 });
    }

    /// Locations end in `!` if they are committed, in `~` if they are urgent, and may have an invariant: `a: x <= 3`.
    pub fn process(&mut self, name: &str, locations: &[&str]) -> usize {
        let location = self.net.terms.declare(name, Type::Range(0, locations.len() as i64 - 1));
        let mut all = Vec::new();
        for text in locations {
            let (name, invariant) = text.split_once(':').unwrap_or((text, ""));
            all.push(Location {
                name: name.trim_end_matches(['!', '~']).into(),
                invariant: None,
                clock_invariant: self.parse(invariant),
                rates: vec![],
                urgent: name.ends_with('~'),
                committed: name.ends_with('!'),
            });
        }
        let process =
            Process { name: name.into(), location, locations: all, init: 0, edges: vec![], priority: 0, sketch: None };
        self.net.processes.push(process);
        self.net.processes.len() - 1
    }

    pub fn edge(&mut self, p: usize, from: &str, to: &str, e: E<'_>) {
        let sync = (!e.sync.is_empty()).then(|| {
            let name = e.sync.trim_end_matches(['!', '?']);
            let base = self.net.channels.iter().position(|c| c.name == name).unwrap() as u32;
            Sync { base, index: None, send: e.sync.ends_with('!') }
        });
        let resets = e.set.split(',').filter(|s| !s.trim().is_empty()).map(|s| {
            let (clock, to) = s.split_once('=').unwrap();
            let to = match self.clock_number(to.trim()) {
                Some(from) => ResetTo::Clock(from),
                None => ResetTo::Value(self.number(to.trim())),
            };
            Reset { when: None, clock: self.clock_number(clock.trim()).unwrap(), to }
        });
        let resets: Vec<Reset> = resets.collect::<Vec<_>>();
        let clock_guard = self.parse(e.guard);
        let terms = &mut self.net.terms;
        let guard = Condition { prepare: terms.skip(), holds: e.when.unwrap_or_else(|| terms.bool(true)) };
        let update = e.update.unwrap_or_else(|| terms.skip());
        let process = &mut self.net.processes[p];
        let at = |name: &str| process.locations.iter().position(|l| l.name == name).unwrap() as u32;
        let (source, target) = (at(from), at(to));
        let origin = process.edges.len() as u32;
        process.edges.push(Edge {
            source,
            target,
            guard,
            clock_guard,
            sync,
            event: e.event,
            update,
            resets,
            origin,
            select: vec![],
            place: format!("here:{origin}:1").into(),
        });
    }

    /// Parts are process, event, weak.
    pub fn vector(&mut self, parts: &[(u32, u32, bool)]) {
        let part = |&(process, event, weak): &(u32, u32, bool)| VectorPart { process, event, weak };
        self.net.vectors.push(Vector { parts: parts.iter().map(part).collect() });
    }

    fn clock_number(&self, name: &str) -> Option<u32> {
        self.net.clocks.iter().position(|c| c == name).map(|i| i as u32 + 1)
    }

    fn number(&mut self, text: &str) -> TermId {
        match text.parse() {
            Ok(n) => self.net.terms.int(n),
            Err(_) => {
                let var = self.net.vars.iter().find(|v| v.name == text).expect("a number or a variable").var;
                self.net.terms.var(var)
            }
        }
    }

    fn parse(&mut self, text: &str) -> Vec<ClockAtom> {
        let mut atoms = Vec::new();
        for part in text.split("&&").map(str::trim).filter(|p| !p.is_empty()) {
            let op = ["<=", ">=", "==", "<", ">"].into_iter().find(|op| part.contains(op)).unwrap();
            let (difference, bound) = part.split_once(op).unwrap();
            let (left, right) = difference.split_once('-').unwrap_or((difference, ""));
            let left = self.clock_number(left.trim()).unwrap();
            let right = if right.is_empty() { 0 } else { self.clock_number(right.trim()).unwrap() };
            let bound = self.number(bound.trim());
            let negative = self.net.terms.neg(bound);
            let strict = op == "<" || op == ">";
            if op != ">" && op != ">=" {
                atoms.push(ClockAtom { when: None, left, right, strict, bound });
            }
            if op != "<" && op != "<=" {
                atoms.push(ClockAtom { when: None, left: right, right: left, strict, bound: negative });
            }
        }
        atoms
    }

    // Questions.

    /// Is the process there?
    pub fn at(&mut self, p: usize, location: &str) -> TermId {
        let process = &self.net.processes[p];
        let number = process.locations.iter().position(|l| l.name == location).unwrap() as i64;
        let (here, there) = (self.net.terms.var(process.location), self.net.terms.int(number));
        self.net.terms.eq(here, there)
    }

    /// A clock constraint in a question.
    pub fn clock(&mut self, text: &str) -> TermId {
        let mut all = Vec::new();
        for atom in self.parse(text) {
            let var = self.net.terms.declare(text, Type::Bool);
            let temp = DataVar { name: text.into(), var, lo: 0, hi: 1, is_bool: true, dims: vec![], init: vec![0] };
            self.net.temps.push(temp);
            self.atoms.push((var, atom));
            all.push(self.net.terms.var(var));
        }
        self.net.terms.and(all)
    }

    pub fn deadlock(&mut self) -> TermId {
        self.net.terms.var(self.net.deadlock.unwrap())
    }

    pub fn condition(&mut self, holds: TermId) -> Condition {
        Condition { prepare: self.net.terms.skip(), holds }
    }

    /// A question with the clock constraints made since the last one.
    pub fn query(&mut self, kind: QueryKind) -> Query {
        Query { text: String::new(), kind, deadlock: true, atoms: std::mem::take(&mut self.atoms) }
    }

    pub fn possibly(&mut self, p: TermId) -> Query {
        let c = self.condition(p);
        self.query(QueryKind::Possibly(c))
    }

    pub fn always(&mut self, p: TermId) -> Query {
        let c = self.condition(p);
        self.query(QueryKind::Always(c))
    }
}
