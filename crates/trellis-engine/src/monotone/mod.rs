//! Is a network monotone in its lattice variables (000 Def. 2)? A proof from the marks of the lattices' methods, without
//! running anything.
//!
//! Monotone means: if `ℓ ⊑ ℓ'`, then every step of `(s, ℓ)` is matched by one of `(s, ℓ')` that ends under the same key and at
//! least as high; what is looked for holds in `(s, ℓ')` if it does in `(s, ℓ)`; and where `(s, ℓ)` does something undefined,
//! `(s, ℓ')` does too, so that no fault is hidden behind a larger element. Cover and join update rest on it ([`crate::reach`]).
//!
//! Two runs are followed at once in the abstract, one from a smaller and one from a larger element: of each value we keep how
//! the second run's differs from the first's (`value::Directions`) and between which numbers it lies. Guards and invariants may
//! only become true, data must get equal values, updates of lattice values must keep the order, and decisions that differ may
//! lead to nothing but different temporaries. `term` follows expressions, this file statements and what is asked of a model.
//!
//! What it deliberately does not do: be complete. It sees no relation between two variables, gives up at loops whose end
//! depends on a lattice value and at lattice updates or data behind a decision that does, and trusts the marks. `trellis-check`
//! has a proof of its own (top down, without this module); a verdict needs both.

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_expr::{Stmt, StmtId, Term, TermId, VarId};
use trellis_model::network::{ClockAtom, Condition, Edge, Function, Network, Query, QueryKind, ResetTo};
use trellis_order::{MethodKind, Trend};

mod part;
mod term;
mod value;

use part::{Part, parts};
use value::{Directions, Value};

/// How often a loop's body is followed before ranges are given up.
const ROUNDS: usize = 3;

/// What was found out.
#[derive(Debug, Clone, Default)]
pub struct Proof {
    /// Where the proof fails, and why. None: the network is monotone.
    pub obstacles: Vec<Obstacle>,
    /// Lattices that are used and whose marks and laws are only sampled: users' scripts.
    pub rests_on: Vec<String>,
}

impl Proof {
    /// Is the network monotone, given the marks?
    pub fn holds(&self) -> bool {
        self.obstacles.is_empty()
    }
}

/// A place where the proof fails.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Obstacle {
    /// Which guard, update, invariant or question.
    pub place: String,
    /// Why a smaller element may do what a larger one cannot.
    pub reason: String,
}

impl std::fmt::Display for Obstacle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

/// Tries to prove that a network, and what a query looks for, are monotone.
pub fn prove(net: &Network, query: &Query) -> Proof {
    let mut p = Prover::new(net);
    p.network();
    p.question(query);
    p.proof()
}

/// What a statement or condition needs of the two runs.
struct Prover<'n> {
    net: &'n Network,
    /// Every part of every lattice variable; nothing if there are too many.
    parts: Option<Vec<Part>>,
    /// What is known of variables that have been written; of others, that they are the same in both runs.
    env: FxHashMap<VarId, Value>,
    /// Values of terms under `env`.
    known: FxHashMap<TermId, Value>,
    /// The same while `env` is empty, which is where most terms are asked for.
    plain: FxHashMap<TermId, Value>,
    /// Variables that outlive a condition or update.
    lasting: FxHashSet<VarId>,
    /// Are we behind a decision that may differ?
    apart: bool,
    /// The lattice reads that values were found to depend on.
    reads: Vec<String>,
    place: String,
    obstacles: Vec<Obstacle>,
    rests_on: Vec<String>,
}

impl<'n> Prover<'n> {
    fn new(net: &'n Network) -> Prover<'n> {
        let mut lasting: FxHashSet<VarId> = net.vars.iter().map(|v| v.var).collect();
        lasting.extend(net.processes.iter().map(|p| p.location));
        lasting.extend(&net.meta);
        lasting.extend(net.deadlock);
        let mut rests_on: Vec<String> =
            net.lattices.iter().filter(|l| !l.lattice.is_vouched_for()).map(|l| l.lattice.name()).collect();
        rests_on.sort();
        rests_on.dedup();
        Prover {
            net,
            parts: parts(net),
            env: FxHashMap::default(),
            known: FxHashMap::default(),
            plain: FxHashMap::default(),
            lasting,
            apart: false,
            reads: Vec::new(),
            place: String::new(),
            obstacles: Vec::new(),
            rests_on,
        }
    }

    fn proof(self) -> Proof {
        let mut seen = FxHashSet::default();
        let obstacles = self.obstacles.into_iter().filter(|o| seen.insert(o.clone())).collect();
        Proof { obstacles, rests_on: self.rests_on }
    }

    fn obstacle(&mut self, reason: impl Into<String>) {
        self.obstacles.push(Obstacle { place: self.place.clone(), reason: reason.into() });
    }

    /// The lattice read that a value depends on, for messages.
    fn read(&self, v: Value) -> &str {
        v.by.and_then(|i| self.reads.get(i as usize)).map_or("a lattice value", String::as_str)
    }

    // The model.

    fn network(&mut self) {
        let net = self.net;
        if net.has_rates() {
            self.place = "clocks".into();
            self.obstacle("lattice values where clocks can stand still are not looked into");
        }
        for p in &net.processes {
            for l in &p.locations {
                if let Some(c) = l.invariant {
                    self.place = format!("the invariant of {}.{}", p.name, l.name);
                    let v = self.condition(c);
                    self.must_not_shrink(v, "the invariant may hold for a smaller element and not for a larger one");
                    self.unmoved_under_priorities(v);
                }
                self.place = format!("the clock invariant of {}.{}", p.name, l.name);
                self.clocks(l.invariant, &l.clock_invariant);
            }
            for e in &p.edges {
                self.edge(&p.name, &p.locations[e.source as usize].name, &p.locations[e.target as usize].name, e);
            }
        }
    }

    fn edge(&mut self, process: &str, source: &str, target: &str, e: &Edge) {
        let edge = format!("{} ({process}: {source} -> {target})", e.place);
        self.place = format!("the guard at {edge}");
        let v = self.condition(e.guard);
        let hears = e.sync.is_some_and(|s| !s.send && self.net.channels[s.base as usize].broadcast);
        if hears && v.moves != Directions::FIXED {
            let read = self.read(v).to_string();
            self.obstacle(format!(
                "it asks {read}, and the edge receives a broadcast: all who can receive must, so a larger element may \
                 have to take more edges"
            ));
        } else {
            self.must_not_shrink(v, "the guard may hold for a smaller element and not for a larger one");
        }
        self.unmoved_under_priorities(v);
        self.clocks(Some(e.guard), &e.clock_guard);
        if let Some((prepare, index)) = e.sync.and_then(|s| s.index) {
            self.place = format!("the channel at {edge}");
            let v = self.condition(Condition { prepare, holds: index });
            if v.moves != Directions::FIXED {
                let read = self.read(v).to_string();
                self.obstacle(format!("which channel it is depends on {read}"));
            }
        }
        self.place = format!("the update at {edge}");
        self.forget();
        self.statement(e.update);
        for r in &e.resets {
            let to = match r.to {
                ResetTo::Value(t) => Some(t),
                ResetTo::Clock(_) => None,
            };
            r.when.into_iter().chain(to).for_each(|t| self.unmoved(t));
        }
    }

    /// What is asked of clocks does not depend on lattice values: the larger element can do the same at the same moments.
    fn clocks(&mut self, c: Option<Condition>, atoms: &[ClockAtom]) {
        if atoms.is_empty() {
            return;
        }
        self.forget();
        if let Some(c) = c {
            self.statement(c.prepare);
        }
        atoms.iter().flat_map(|a| a.when.into_iter().chain([a.bound])).for_each(|t| self.unmoved(t));
        self.forget();
    }

    fn unmoved(&mut self, t: TermId) {
        let v = self.value(t);
        if v.moves != Directions::FIXED {
            let read = self.read(v).to_string();
            self.obstacle(format!("what is asked of clocks, or what they are set to, depends on {read}"));
        }
    }

    fn unmoved_under_priorities(&mut self, v: Value) {
        let urgent = !self.net.clocks.is_empty() && self.net.channels.iter().any(|c| c.urgent);
        if urgent && v.moves != Directions::FIXED {
            let read = self.read(v).to_string();
            self.obstacle(format!(
                "it asks {read}, and there are urgent channels beside clocks: a step that only a larger element can take \
                 may hold up time"
            ));
        }
        if self.net.has_priorities && v.moves != Directions::FIXED {
            let read = self.read(v).to_string();
            self.obstacle(format!(
                "it asks {read}, and there are priorities: a step that only a larger element can take may block others"
            ));
        }
    }

    fn must_not_shrink(&mut self, v: Value, what: &str) {
        if v.moves.may_shrink() {
            let read = self.read(v).to_string();
            self.obstacle(format!("{what}, for it asks {read}"));
        }
    }

    fn question(&mut self, query: &Query) {
        self.place = format!("the question `{}`", query.text);
        if query.deadlock {
            self.obstacle("a smaller element may be deadlocked where a larger one is not");
        }
        let what = "a smaller element may be what is looked for where a larger one is not";
        for (_, atom) in &query.atoms {
            self.clocks(None, std::slice::from_ref(atom));
        }
        match query.kind {
            QueryKind::Always(p) => {
                let v = self.condition(p);
                self.must_not_shrink(Value { moves: v.moves.flipped(), ..v }, what);
            }
            QueryKind::Possibly(p) => {
                let v = self.condition(p);
                self.must_not_shrink(v, what);
            }
            QueryKind::Bound { sup, when, of } => {
                let v = self.condition(when);
                self.must_not_shrink(v, "a smaller element may be measured where a larger one is not");
                let v = self.condition(of);
                let moves = if sup { v.moves } else { v.moves.flipped() };
                self.must_not_shrink(Value { moves, ..v }, "a smaller element may have the more extreme value");
            }
            QueryKind::Eventually(_) | QueryKind::PotentiallyAlways(_) | QueryKind::LeadsTo(..) => {
                self.obstacle("covering does not preserve liveness");
            }
            QueryKind::ClockBound { .. } => self.obstacle("it asks about a clock"),
        }
    }

    // Statements.

    fn forget(&mut self) {
        self.env.clear();
        self.known.clear();
        self.apart = false;
    }

    /// The value of a condition, whose temporaries nobody sees afterwards.
    fn condition(&mut self, c: Condition) -> Value {
        self.forget();
        self.statement(c.prepare);
        let v = self.value(c.holds);
        self.forget();
        v
    }

    fn set(&mut self, var: VarId, v: Value) {
        self.env.insert(var, v);
        self.known.clear();
    }

    /// Follows a statement; answers whether it may fault.
    fn statement(&mut self, s: StmtId) -> bool {
        let terms = &self.net.terms;
        match terms.stmt(s) {
            Stmt::Skip => false,
            Stmt::Seq(all) => {
                let mut faults = false;
                for &s in all.iter() {
                    faults |= self.statement(s);
                }
                faults
            }
            Stmt::Assume(t) => {
                let v = self.value(*t);
                if self.apart {
                    self.obstacle("a step may be blocked behind a decision that depends on a lattice value");
                }
                self.must_not_shrink(v, "a larger element may be blocked where a smaller one is not");
                self.unmoved_under_priorities(v);
                v.faults
            }
            Stmt::Assign(var, t) => self.assign(*var, *t),
            Stmt::If(c, a, b) => self.branch(*c, *a, *b),
            Stmt::While(c, body) => self.repeat(*c, *body),
            Stmt::Foreign(f, args) => {
                if self.apart {
                    self.obstacle("whether a lattice value is changed depends on a lattice value");
                }
                self.update(f.index(), args)
            }
            Stmt::Havoc(_) | Stmt::Choice(_) => {
                self.obstacle("it is not deterministic");
                true
            }
        }
    }

    fn assign(&mut self, var: VarId, t: TermId) -> bool {
        let v = self.value(t);
        let whole = self.of_type(self.net.terms.variable(var).ty);
        let fits = whole.lo <= v.lo && v.hi <= whole.hi;
        let name = &self.net.terms.variable(var).name;
        if v.moves != Directions::FIXED {
            let read = self.read(v).to_string();
            if self.lasting.contains(&var) {
                self.obstacle(format!(
                    "`{name}` gets a value that depends on {read}, so that states are told apart by it"
                ));
            } else if !fits {
                self.obstacle(format!("a value that depends on {read} may be out of range"));
            }
        }
        if self.apart && self.lasting.contains(&var) {
            self.obstacle(format!("whether `{name}` is changed depends on a lattice value"));
        }
        self.set(var, Value { lo: v.lo.max(whole.lo), hi: v.hi.min(whole.hi), faults: false, ..v });
        v.faults || !fits
    }

    fn branch(&mut self, c: TermId, a: StmtId, b: StmtId) -> bool {
        let decides = self.value(c);
        let differs = decides.moves != Directions::FIXED;
        let (before, outer) = (self.env.clone(), self.apart);
        self.apart |= differs;
        self.assuming(c, true);
        let a_faults = self.statement(a);
        let then = std::mem::replace(&mut self.env, before);
        self.known.clear();
        self.assuming(c, false);
        let b_faults = self.statement(b);
        self.apart = outer;
        if (a_faults && decides.moves.may_shrink()) || (b_faults && decides.moves.may_grow()) {
            self.hidden_fault(decides);
        }
        let otherwise = std::mem::take(&mut self.env);
        self.known.clear();
        let vars: FxHashSet<VarId> = then.keys().chain(otherwise.keys()).copied().collect();
        for var in vars {
            let of = |env: &FxHashMap<VarId, Value>| env.get(&var).copied().unwrap_or(self.unwritten(var));
            let merged = Value::either(decides, of(&then), of(&otherwise));
            self.env.insert(var, merged);
        }
        decides.faults || a_faults || b_faults
    }

    /// In a branch, both runs know what decided.
    fn assuming(&mut self, c: TermId, holds: bool) {
        match *self.net.terms.get(c) {
            Term::Not(c) => self.assuming(c, !holds),
            Term::Var(v) => self.set(v, Value::number(i128::from(holds))),
            _ => {}
        }
    }

    fn repeat(&mut self, c: TermId, body: StmtId) -> bool {
        for round in 0.. {
            let goes_on = self.value(c);
            if goes_on.moves != Directions::FIXED {
                let read = self.read(goes_on).to_string();
                self.obstacle(format!("how often a loop is run depends on {read}"));
                return true;
            }
            let before = self.env.clone();
            self.statement(body);
            let after = std::mem::take(&mut self.env);
            self.known.clear();
            let vars: FxHashSet<VarId> = before.keys().chain(after.keys()).copied().collect();
            let mut stable = true;
            for var in vars {
                let unwritten = self.unwritten(var);
                let old = before.get(&var).copied().unwrap_or(unwritten);
                let new = after.get(&var).copied().unwrap_or(unwritten);
                let mut merged = Value::either(goes_on, old, new);
                if !merged.same_as(old) {
                    stable = false;
                    if round >= ROUNDS {
                        merged = Value { lo: unwritten.lo, hi: unwritten.hi, ..merged };
                    }
                }
                self.env.insert(var, merged);
            }
            if stable {
                break;
            }
        }
        // It may go on for too long.
        true
    }

    /// A foreign procedure: is the larger element still larger afterwards? Answers whether it may fault.
    fn update(&mut self, f: usize, args: &[TermId]) -> bool {
        let values: Vec<Value> = args.iter().map(|&t| self.value(t)).collect();
        let net = self.net;
        let function = &net.functions[f];
        let at = self.places(function, args[0]);
        let name = self.called(function, &at);
        if at.is_empty() {
            self.obstacle(format!("{name} is called on no lattice value that could be found"));
            return true;
        }
        if !matches!(function, Function::Copy(_)) && at.iter().any(|p| !p.kept) {
            self.obstacle(format!("{name} changes a part on which the order of the whole depends (Lexicographic)"));
        }
        let moving = values.iter().position(|v| v.moves != Directions::FIXED);
        let written = match function {
            Function::SetBit(_) => true,
            Function::Method { lattice, method } => *method == 1 && lattice.packed_bits(),
            _ => false,
        };
        match (moving, function) {
            // The bit that is written may depend on lattice values in the right way.
            (Some(2), _) if written => {
                let bit = Value::not_zero(values[2]);
                for p in &at {
                    let wrong = match p.lattice.methods().first().map(|m| m.trend) {
                        Some(Trend::Monotone) => bit.moves.may_shrink(),
                        Some(Trend::Antitone) => bit.moves.may_grow(),
                        _ => true,
                    };
                    if wrong {
                        let read = self.read(bit).to_string();
                        self.obstacle(format!("{name} writes a bit that depends on {read} in the wrong way"));
                    }
                }
            }
            (Some(i), _) => {
                let read = self.read(values[i]).to_string();
                self.obstacle(format!("an argument of {name} depends on {read}"));
            }
            (None, _) => {}
        }
        match function {
            Function::Copy(width) => {
                let from = self.places(function, args[1]);
                let starts = |parts: &[Part]| parts.iter().map(|p| p.offset).collect::<FxHashSet<usize>>();
                let (targets, sources) = (starts(&at), starts(&from));
                let fits = |to: usize, source: usize| {
                    let to = || at.iter().filter(move |p| p.offset == to && p.kept);
                    let mut from = from.iter().filter(|p| p.offset == source && p.shown);
                    from.any(|p| to().any(|t| p.is_like(&t.lattice)))
                };
                if sources.is_empty() || !targets.iter().all(|&to| sources.iter().all(|&s| fits(to, s))) {
                    self.obstacle(format!("{width} words are copied between lattice values of different orders"));
                }
                values.iter().any(|v| v.faults)
            }
            Function::SetBit(n) => {
                let i = values[1];
                values.iter().any(|v| v.faults) || i.lo < 0 || i.hi >= *n as i128
            }
            Function::Method { lattice, method } => {
                let m = &lattice.methods()[*method];
                if m.kind != MethodKind::Update || m.trend != Trend::Monotone {
                    let mark = if m.trend == Trend::Antitone { "↓" } else { "↕" };
                    self.obstacle(format!("{name} ({mark}) does not keep larger elements larger"));
                }
                values.iter().any(|v| v.faults) || self.may_fail(lattice, *method, &values[1..])
            }
            Function::GetBit(_) => true,
        }
    }

    fn hidden_fault(&mut self, decides: Value) {
        let read = self.read(decides).to_string();
        self.obstacle(format!(
            "{read} decides whether something is evaluated that may fault: a larger element may hide it"
        ));
    }
}
