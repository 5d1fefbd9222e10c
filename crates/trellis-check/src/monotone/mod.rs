//! Is being below an entry as good as being one? Only if the model is monotone (000 Def. 2), which is proved here before a
//! certificate up to the order counts.
//!
//! The engines have a proof of their own; this one shares nothing with it but the marks of the lattices' methods. It goes from
//! the top down: to show that a guard can only become true when the element grows, it asks of each part of it what must be
//! shown of that ([`two::Two::goes`]): that it can only grow, or only shrink. Faults are a second question: what goes wrong
//! below an entry must go wrong at the entry, where it is met. The first thing that cannot be shown is the answer.
//!
//! What it does not do: look at relations between variables, follow loops that may end at different moments, or check the
//! marks. A lattice whose marks nobody vouches for (a script's) is named.

use std::cell::Cell;

use trellis_expr::{Stmt, StmtId, Term, TermId, VarId};
use trellis_model::network::{Certificate, ClockAtom, Condition, Function, Network, Query, QueryKind, Reset, ResetTo};
use trellis_order::{MethodKind, Trend};

use crate::{Cause, Rejection};

mod two;

use two::{Known, Two, Way};

thread_local! {
    static ASSUMED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a check of a certificate, with the monotonicity of the model taken for granted or not.
pub fn assuming_monotone<T>(assumed: bool, check: impl FnOnce() -> T) -> T {
    let before = ASSUMED.replace(assumed);
    let result = check();
    ASSUMED.set(before);
    result
}

/// Is the monotonicity of models taken for granted?
pub(crate) fn is_assumed() -> bool {
    ASSUMED.get()
}

/// Cause a question cannot be answered up to the order, however monotone the model is.
pub(crate) fn obstacle(query: &Query) -> Option<&'static str> {
    if query.deadlock {
        return Some("a state below an entry may be a deadlock where the entry is none: list the states themselves");
    }
    if let QueryKind::Eventually(_) | QueryKind::PotentiallyAlways(_) | QueryKind::LeadsTo(..) = query.kind {
        return Some("a state below an entry may do less than the entry: list the states themselves, with ranks");
    }
    None
}

/// Does a certificate stand for what is below its entries? Then the model must be monotone: proved so, or said to be so.
pub(crate) fn rests_on_order(net: &Network, query: &Query, cert: &Certificate) -> Result<bool, Rejection> {
    // Without lattice variables, being below means being equal.
    let up_to_order = cert.up_to_order && net.element_width() > 0;
    if up_to_order && let Some(why) = obstacle(query) {
        return Err(Rejection::new(Cause::BesideThePoint(why)));
    }
    if up_to_order && !is_assumed() {
        match monotone(net, query) {
            Err(why) => return Err(Rejection::new(Cause::NotMonotone(why))),
            Ok(marks) if !marks.is_empty() => {
                let why = format!("that rests on the marks of {}, which are only declared", marks.join(", "));
                return Err(Rejection::new(Cause::NotMonotone(why)));
            }
            Ok(_) => {}
        }
    }
    Ok(up_to_order)
}

/// What is not shown, and where.
type Shown<T = ()> = Result<T, String>;

/// Proves that a model and what is asked of it are monotone; or says what cannot be shown. What is proved may rest on the marks
/// of users' lattices: their names.
pub fn monotone(net: &Network, query: &Query) -> Result<Vec<String>, String> {
    if let Some(why) = obstacle(query) {
        return Err(why.into());
    }
    if net.has_rates() {
        return Err("clocks can stand still".into());
    }
    let mut names: Vec<String> =
        net.lattices.iter().filter(|l| !l.lattice.is_vouched_for()).map(|l| l.lattice.name()).collect();
    names.sort();
    names.dedup();
    let urgent = !net.clocks.is_empty() && net.channels.iter().any(|c| c.urgent);
    let mut m = Model { net, two: Two::new(net), diverged: false, still: net.has_priorities || urgent };
    m.steps()?;
    m.asked(query)?;
    Ok(names)
}

struct Model<'n> {
    net: &'n Network,
    two: Two<'n>,
    /// Are the two runs in different branches, perhaps?
    diverged: bool,
    /// Must the larger element do no more than the smaller? With priorities what it can do holds up other steps, and where there are clocks an
    /// urgent channel holds up time.
    still: bool,
}

/// Puts a place in front of what is wrong.
fn at<T>(place: impl FnOnce() -> String, shown: Shown<T>) -> Shown<T> {
    shown.map_err(|why| format!("{}: {why}", place()))
}

impl Model<'_> {
    fn steps(&mut self) -> Shown {
        let net = self.net;
        let grows = |m: &mut Self, c: Condition, still: bool| {
            m.condition(c, Way::Up)?;
            if still {
                m.condition(c, Way::Down)?;
            }
            Ok(())
        };
        for p in &net.processes {
            for l in &p.locations {
                if let Some(c) = l.invariant {
                    at(|| format!("the invariant of {}.{}", p.name, l.name), grows(self, c, self.still))?;
                }
                let clocks = self.clocks(l.invariant, &l.clock_invariant);
                at(|| format!("the clock invariant of {}.{}", p.name, l.name), clocks)?;
            }
            for e in &p.edges {
                // Receivers of a broadcast must take part if they can, and priorities block what others can do.
                let hears = e.sync.is_some_and(|s| !s.send && net.channels[s.base as usize].broadcast);
                let edge = |part: &str| format!("the {part} of the edge of {} at {}", p.name, e.place);
                at(|| edge("guard"), grows(self, e.guard, hears || self.still))?;
                at(|| edge("clock guard"), self.clocks(Some(e.guard), &e.clock_guard))?;
                if let Some((prepare, holds)) = e.sync.and_then(|s| s.index) {
                    at(|| edge("channel"), grows(self, Condition { prepare, holds }, true))?;
                }
                at(
                    || edge("update"),
                    self.fresh().and_then(|()| self.run(e.update)).and_then(|_| self.sets(&e.resets)),
                )?;
            }
        }
        Ok(())
    }

    /// What is asked of clocks is the same for both elements. (That a step is possible at some values of the clocks, and that time may pass,
    /// is then a question about the clocks alone.)
    fn clocks(&mut self, c: Option<Condition>, atoms: &[ClockAtom]) -> Shown {
        if atoms.is_empty() {
            return Ok(());
        }
        self.fresh()?;
        if let Some(c) = c {
            self.run(c.prepare)?;
        }
        for t in atoms.iter().flat_map(|a| a.when.into_iter().chain([a.bound])) {
            self.stays(t)?;
        }
        self.fresh()
    }

    /// Clocks are set alike, after an update.
    fn sets(&mut self, resets: &[Reset]) -> Shown {
        for r in resets {
            let to = match r.to {
                ResetTo::Value(t) => Some(t),
                ResetTo::Clock(_) => None,
            };
            for t in r.when.into_iter().chain(to) {
                self.stays(t)?;
            }
        }
        Ok(())
    }

    fn stays(&mut self, t: TermId) -> Shown {
        self.two.faults_stay(t)?;
        self.two.must_go(t, Way::Up)?;
        self.two.must_go(t, Way::Down)
    }

    fn asked(&mut self, query: &Query) -> Shown {
        for (_, a) in &query.atoms {
            at(|| format!("the question `{}`", query.text), self.clocks(None, std::slice::from_ref(a)))?;
        }
        let shown = match query.kind {
            // What is looked for is that it does not hold.
            QueryKind::Always(p) => self.condition(p, Way::Down),
            QueryKind::Possibly(p) => self.condition(p, Way::Up),
            QueryKind::Bound { sup, when, of } => {
                self.condition(when, Way::Up).and_then(|()| self.condition(of, if sup { Way::Up } else { Way::Down }))
            }
            _ => Err("this cannot be asked of states below entries".into()),
        };
        at(|| format!("the question `{}`", query.text), shown)
    }

    fn fresh(&mut self) -> Shown {
        self.two.reset();
        self.diverged = false;
        Ok(())
    }

    /// The value goes this way only, and what faults goes on to fault.
    fn condition(&mut self, c: Condition, way: Way) -> Shown {
        self.fresh()?;
        self.run(c.prepare)?;
        self.two.faults_stay(c.holds)?;
        self.two.must_go(c.holds, way)?;
        self.fresh()
    }

    fn lasts(&self, v: VarId) -> bool {
        let net = self.net;
        net.vars.iter().any(|d| d.var == v)
            || net.processes.iter().any(|p| p.location == v)
            || net.meta.contains(&v)
            || net.deadlock == Some(v)
    }

    /// Follows a statement in both runs. May it fault?
    fn run(&mut self, s: StmtId) -> Shown<bool> {
        let net = self.net;
        match net.terms.stmt(s) {
            Stmt::Skip => Ok(false),
            Stmt::Seq(all) => all.iter().try_fold(false, |faults, &s| Ok(self.run(s)? | faults)),
            Stmt::Havoc(_) | Stmt::Choice(_) => Err("a statement with several outcomes".into()),
            Stmt::Assume(t) => {
                self.together("a step is blocked")?;
                self.two.faults_stay(*t)?;
                self.two.must_go(*t, Way::Up)?;
                if self.still {
                    self.two.must_go(*t, Way::Down)?;
                }
                Ok(!self.two.is_quiet(*t))
            }
            Stmt::Assign(v, t) => {
                self.two.faults_stay(*t)?;
                let value = self.two.known(*t);
                let room = self.two.room(*v);
                let fits = room.0 <= value.lo && value.hi <= room.1;
                let same = value.up && value.down;
                if self.lasts(*v) {
                    let name = &net.terms.variable(*v).name;
                    self.together(&format!("`{name}` is written"))?;
                    if !same {
                        return Err(format!("`{name}` gets a value that depends on lattice values"));
                    }
                }
                if !fits && !same {
                    return Err("whether a value is in range depends on lattice values".into());
                }
                let faults = !fits || !self.two.is_quiet(*t);
                self.two.write(*v, Known { lo: value.lo.max(room.0), hi: value.hi.min(room.1), ..value });
                Ok(faults)
            }
            Stmt::If(c, a, b) => self.decide(*c, *a, *b),
            Stmt::While(c, body) => self.again(*c, *body),
            Stmt::Foreign(f, args) => {
                self.together("a lattice value is changed")?;
                self.change(&net.functions[f.index()], args)
            }
        }
    }

    fn together(&self, what: &str) -> Shown {
        match self.diverged {
            true => Err(format!("{what} where a lattice value decides whether it happens")),
            false => Ok(()),
        }
    }

    fn decide(&mut self, c: TermId, a: StmtId, b: StmtId) -> Shown<bool> {
        self.two.faults_stay(c)?;
        let quiet = self.two.is_quiet(c);
        let test = self.two.known(c);
        let outer = self.diverged;
        self.diverged |= !(test.up && test.down);
        let start = self.two.memory();
        self.suppose(c, true);
        let first = self.run(a)?;
        let then = self.two.memory();
        self.two.restore(start);
        self.suppose(c, false);
        let second = self.run(b)?;
        self.diverged = outer;
        // Whoever is in a branch that faults must be followed there.
        if (first && !test.up) || (second && !test.down) {
            return Err("a lattice value decides whether something that may fault is run".into());
        }
        self.two.merge(test, &then);
        Ok(!quiet || first || second)
    }

    fn suppose(&mut self, c: TermId, holds: bool) {
        match *self.net.terms.get(c) {
            Term::Not(c) => self.suppose(c, !holds),
            Term::Var(v) => self.two.write(v, Known::exactly(i128::from(holds))),
            _ => {}
        }
    }

    fn again(&mut self, c: TermId, body: StmtId) -> Shown<bool> {
        for round in 0.. {
            self.two.faults_stay(c)?;
            let test = self.two.known(c);
            if !(test.up && test.down) {
                return Err("a lattice value decides how often a loop is run".into());
            }
            let before = self.two.memory();
            self.run(body)?;
            self.two.merge(test, &before);
            if self.two.settled(&before, round > 2) {
                break;
            }
        }
        // A loop may be cut off for running too long.
        Ok(true)
    }

    /// A lattice value is changed: the larger stays larger.
    fn change(&mut self, function: &Function, args: &[TermId]) -> Shown<bool> {
        let mut faults = false;
        for &t in args {
            self.two.faults_stay(t)?;
            faults |= !self.two.is_quiet(t);
        }
        let places = self.two.sites(function, args[0])?;
        let values: Vec<Known> = args.iter().map(|&t| self.two.known(t)).collect();
        let bit_written = match function {
            Function::SetBit(_) => true,
            Function::Method { lattice, method: 1 } => lattice.packed_bits(),
            _ => false,
        };
        for (i, v) in values.iter().enumerate().filter(|(_, v)| !(v.up && v.down)) {
            if !(bit_written && i == 2) {
                return Err("an argument of a lattice update depends on lattice values".into());
            }
            let written = v.is_nonzero();
            for p in &places {
                // Is a vector with a 1 larger than one with a 0?
                let fine = match p.lattice.methods().first().map(|m| m.trend) {
                    Some(Trend::Monotone) => written.up,
                    Some(Trend::Antitone) => written.down,
                    _ => false,
                };
                if !fine {
                    return Err("a bit is written that moves against the order".into());
                }
            }
        }
        if let Function::Copy(_) = function {
            let sources = self.two.sites(function, args[1])?;
            for to in &places {
                for from in &sources {
                    let at = |list: &[two::Site], offset| {
                        list.iter().filter(|s| s.offset == offset).cloned().collect::<Vec<_>>()
                    };
                    let (to, from) = (at(&places, to.offset), at(&sources, from.offset));
                    let agree = to
                        .iter()
                        .any(|t| t.writable && from.iter().any(|f| f.readable && two::alike(&t.lattice, &f.lattice)));
                    if !agree {
                        return Err("a lattice value is copied to one with another order".into());
                    }
                }
            }
            return Ok(faults);
        }
        if places.iter().any(|p| !p.writable) {
            return Err("a part is changed that the order of the whole depends on".into());
        }
        match function {
            Function::SetBit(n) => Ok(faults || values[1].lo < 0 || values[1].hi >= *n as i128),
            Function::Method { lattice, method } => {
                let m = &lattice.methods()[*method];
                if m.kind != MethodKind::Update || m.trend != Trend::Monotone {
                    return Err(format!("the update `{}` does not keep larger elements larger", m.name));
                }
                Ok(faults || self.two.may_fail(lattice, *method, &values[1..]))
            }
            Function::GetBit(_) | Function::Copy(_) => Err("no update".into()),
        }
    }
}
