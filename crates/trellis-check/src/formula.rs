//! Evidence about formulas of linear temporal logic and networks ([`trellis_model::network::temporal`]).
//!
//! A run is replayed, and the formula is evaluated on its letters; that it is fair is seen from what could move where. In a
//! certificate every element says where the automaton is, and why no fair run is accepted from there
//! ([`Course`](trellis_model::network::Course)): that is checked step by step, and where runs may end the automaton must not accept
//! the last letter for ever. That the automaton is that of the negated formula is proven first ([`crate::language`]).

use std::collections::HashMap;

use trellis_domain::zone::Constraint;
use trellis_model::ltl::{Buchi, Letter, Word};
use trellis_model::network::interpret::Interpreter;
use trellis_model::network::temporal::Obligations;
use trellis_model::network::{
    Action, Certificate, Condition, Course, Level, Network, Never, Party, QueryKind, Snapshot, Temporal, Trace,
};

use crate::certified::Certified;
use crate::dbm::Dbm;
use crate::ltl::{self, of_negation, well_formed};
use crate::state::check;
use crate::timed_liveness::{Checker, Key, Way};
use crate::trace::{Replayed, Run};
use crate::{Cause, Rejection};

fn letter(
    conditions: &[Condition],
    mut holds: impl FnMut(&Condition) -> Result<bool, Rejection>,
) -> Result<Letter, Rejection> {
    let mut letter = 0;
    for (i, c) in conditions.iter().enumerate() {
        letter |= u64::from(holds(c)?) << i;
    }
    Ok(letter)
}

fn name(net: &Network, party: Party) -> String {
    match party {
        Party::Anyone => "somebody".into(),
        Party::Process(p) => format!("`{}`", net.processes[p as usize].name),
        Party::Channel(c) => format!("`{}`", net.channels[c as usize].name),
    }
}

fn beside<T>(why: &'static str) -> Result<T, Rejection> {
    Err(Rejection::new(Cause::BesideThePoint(why)))
}

/// Replays a run that violates a formula.
pub fn replay_formula(net: &Network, asked: &Temporal, trace: &Trace) -> Result<Replayed, Rejection> {
    if !net.clocks.is_empty() && !asked.fair.is_empty() {
        return beside("fairness in models with clocks cannot be checked");
    }
    let run = Run::new(net, &asked.query, trace, asked.non_zeno)?;
    let end = run.end()?;
    let model = |e| Rejection::model(net, e);
    let mut letters = Vec::new();
    for state in &run.states {
        let holds = |c: &Condition| run.interpreter.holds_in(&asked.query, c, state).map_err(model);
        letters.push(letter(&asked.conditions, holds)?);
    }
    let last = letters.len() - 1;
    let word = match run.back_to {
        Some(back) => Word::new(letters[..back].to_vec(), letters[back..last].to_vec()),
        None => Word::new(letters[..last].to_vec(), letters[last..].to_vec()),
    };
    let violated = match &asked.formula {
        Some(formula) => !word.satisfies(formula),
        None => {
            well_formed(&asked.automaton).map_err(|e| Rejection::new(Cause::Automaton(e.to_string())))?;
            asked.automaton.accepts(&word)
        }
    };
    if !violated {
        return Err(Rejection::new(Cause::Satisfied));
    }
    // What happens again and again, and what could.
    let again = run.back_to.map_or(last..last, |back| back..last);
    let states = if again.is_empty() { vec![&run.last] } else { run.states[again.clone()].to_vec() };
    let mut possible: Vec<Vec<Action>> = Vec::new();
    for state in states {
        possible.push(run.interpreter.steps(state).map_err(model)?.into_iter().map(|(a, _)| a).collect());
    }
    for f in &asked.fair {
        let moves = |a: &Action| f.party.moves_in(net, a);
        if trace.steps[again.clone()].iter().any(|s| moves(&s.action)) {
            continue;
        }
        let mut could = possible.iter().map(|all| all.iter().any(moves));
        if if f.strong { could.any(|c| c) } else { could.all(|c| c) } {
            return Err(Rejection::new(Cause::Unfair(name(net, f.party))).number(last).state(net, run.states[last]));
        }
    }
    Ok(Replayed { states: run.states.len(), end, value: None, clock: None, unbounded: false })
}

/// Checks a proof that all runs satisfy a formula.
pub fn certify_formula(net: &Network, asked: &Temporal, cert: &Certificate) -> Result<Certified, Rejection> {
    let timed = !net.clocks.is_empty();
    if timed && (!net.lattices.is_empty() || net.has_priorities || !asked.fair.is_empty()) {
        return beside("formulas with clocks, and fairness, priorities or lattice variables, cannot be checked");
    }
    let automaton = |e: ltl::Rejection| match e {
        ltl::Rejection::Unproven => Rejection::new(Cause::Unproven),
        e => Rejection::new(Cause::Automaton(e.to_string())),
    };
    match &asked.formula {
        Some(formula) => of_negation(formula, &asked.automaton).map_err(automaton)?,
        None => well_formed(&asked.automaton).map_err(automaton)?,
    }
    let Some(obligations) = asked.obligations() else { return beside("more than 64 obligations") };
    let mut measured = net.clone();
    let measure = asked.non_zeno.then(|| {
        measured.clocks.push("the measure of divergence".into());
        measured.clocks.len() as u32
    });
    let QueryKind::PotentiallyAlways(anything) = &asked.query.kind else {
        return beside("the question is not about all runs");
    };
    let mut checker = Checker::new(&measured, &asked.query, (anything, true), measure);
    let courses = courses(net, asked, &obligations, cert)?;
    if !net.lattices.is_empty() {
        return plainly(net, asked, &obligations, &courses, cert);
    }
    for (number, e) in cert.entries.iter().enumerate() {
        checker.read(number, e).map_err(|r| r.number(number))?;
    }
    let mut proof =
        Proof { net, asked, obligations, courses, checker, letters: HashMap::new(), for_ever: HashMap::new() };
    proof.start()?;
    for i in 0..proof.checker.entries.len() {
        proof.goes_on(i)?;
    }
    let steps = proof.checker.steps;
    Ok(Certified { entries: cert.entries.len(), steps, up_to_order: false, bound: None, clock: None })
}

/// Where the entries say that the automaton is, and why nothing is accepted from there.
fn courses<'c>(
    net: &Network,
    asked: &Temporal,
    obligations: &Obligations,
    cert: &'c Certificate,
) -> Result<Vec<&'c Course>, Rejection> {
    let mut courses = Vec::new();
    for (number, e) in cert.entries.iter().enumerate() {
        let wrong = |what: &str| Rejection::new(Cause::Malformed(what.into())).number(number).state(net, &e.state);
        let course = e.course.as_ref().ok_or_else(|| wrong("an entry does not say where the automaton is"))?;
        if course.at as usize >= asked.automaton.edges.len() {
            return Err(wrong("a state that the automaton does not have"));
        }
        let exists = |level: &Level| match level.never {
            Never::Step => true,
            Never::Mark(m) => obligations.all.checked_shr(m).unwrap_or(0) & 1 == 1,
            Never::Party(p) => (p as usize) < obligations.strong.len(),
        };
        if !course.levels.iter().all(exists) {
            return Err(wrong("something that need not happen is said never to happen"));
        }
        courses.push(course);
    }
    Ok(courses)
}

/// Checks a proof about a model with lattice variables and without clocks: state by state, by the reference interpreter.
fn plainly(
    net: &Network,
    asked: &Temporal,
    obligations: &Obligations,
    courses: &[&Course],
    cert: &Certificate,
) -> Result<Certified, Rejection> {
    let interpreter = Interpreter::new(net);
    let model = |e| Rejection::model(net, e);
    let mut index: HashMap<&Snapshot, Vec<&Course>> = HashMap::new();
    for (number, (e, course)) in cert.entries.iter().zip(courses).enumerate() {
        check(net, &e.state).map_err(|r| r.number(number))?;
        if !e.known.is_empty() || e.says.is_some() || e.bounds.is_some() || !e.zone.is_empty() {
            return beside("entries that stand for more than their state are no proof about a formula");
        }
        index.entry(&e.state).or_default().push(course);
    }
    let has =
        |state: &Snapshot, fits: &dyn Fn(&Course) -> bool| index.get(state).is_some_and(|c| c.iter().any(|c| fits(c)));
    let initial = interpreter.initial().map_err(model)?;
    if !asked.automaton.initial.iter().all(|&q| has(&initial, &|c| c.at == q)) {
        return Err(Rejection::new(Cause::InitialMissing).state(net, &initial));
    }
    let able = |steps: &[(Action, Snapshot)]| parties(net, obligations, steps.iter().map(|s| &s.0));
    let mut count = 0;
    for (number, (e, course)) in cert.entries.iter().zip(courses).enumerate() {
        let steps = interpreter.steps(&e.state).map_err(model)?;
        count += steps.len() as u64;
        let letter = letter(&asked.conditions, |c| interpreter.holds_in(&asked.query, c, &e.state).map_err(model))?;
        let (before, able_weakly) = able(&steps);
        let resting = obligations.weak.iter().fold(0, |all, w| all | 1u64 << w.1) & !able_weakly;
        for (action, next) in &steps {
            let (moves, marks) = parties(net, obligations, [action].into_iter());
            let after =
                if obligations.strong.is_empty() { 0 } else { able(&interpreter.steps(next).map_err(model)?).0 };
            for b in asked.automaton.edges[course.at as usize].iter().filter(|b| b.cube.admits(letter)) {
                let deed = Deed { marks: marks | resting | b.marks, moves, before, after };
                if !has(next, &|to| to.at == b.to && advances(course, to, deed)) {
                    let wrong = Rejection::new(Cause::NoProgress).number(number).state(net, &e.state);
                    return Err(wrong.step(net, action).next(net, next));
                }
            }
        }
        let may_end = || Ok(steps.is_empty() || interpreter.may_idle(&e.state).map_err(model)?);
        let from_here = Buchi { initial: vec![course.at], ..asked.automaton.clone() };
        if before == 0 && able_weakly == 0 && may_end()? && from_here.accepts(&Word::new(vec![], vec![letter])) {
            return Err(Rejection::new(Cause::MayEnd).number(number).state(net, &e.state));
        }
    }
    Ok(Certified { entries: cert.entries.len(), steps: count, up_to_order: false, bound: None, clock: None })
}

/// Which parties move by some of these: those treated strongly fairly, and the marks of those treated weakly fairly.
fn parties<'a>(net: &Network, obligations: &Obligations, actions: impl Iterator<Item = &'a Action>) -> (u64, u64) {
    let (mut strong, mut weak) = (0, 0);
    for action in actions {
        let moves = |party: &Party| u64::from(party.moves_in(net, action));
        strong = obligations.strong.iter().enumerate().fold(strong, |all, (i, party)| all | moves(party) << i);
        weak = obligations.weak.iter().fold(weak, |all, (party, mark)| all | moves(party) << mark);
    }
    (strong, weak)
}

/// What a step does.
#[derive(Clone, Copy)]
struct Deed {
    marks: u64,
    /// Which of the parties that are treated strongly fairly move, and which could move before and after.
    moves: u64,
    before: u64,
    after: u64,
}

struct Proof<'a> {
    net: &'a Network,
    asked: &'a Temporal,
    obligations: Obligations,
    /// By the numbers of entries.
    courses: Vec<&'a Course>,
    checker: Checker<'a>,
    letters: HashMap<Key, Letter>,
    for_ever: HashMap<(u32, Letter), bool>,
}

impl Proof<'_> {
    fn letter(&mut self, key: &Key) -> Result<Letter, Rejection> {
        if let Some(&l) = self.letters.get(key) {
            return Ok(l);
        }
        let c = &self.checker;
        let state = key;
        let l = letter(&self.asked.conditions, |p| {
            c.interpreter.value_given(p, state, None, &[]).map(|v| v != 0).map_err(|e| c.model(e))
        })?;
        self.letters.insert(key.clone(), l);
        Ok(l)
    }

    fn start(&mut self) -> Result<(), Rejection> {
        let key = self.checker.initial()?;
        self.checker.place(&key)?;
        let c = &self.checker;
        let zone = Dbm::zero(c.clocks()).within(&c.places[&key].invariant);
        let zone = c.later(&zone, &c.places[&key], &[]);
        for q in &self.asked.automaton.initial {
            if c.missing(&key, &zone, |e| self.courses[e.number].at == *q) {
                return Err(Rejection::new(Cause::InitialMissing).state(self.net, &key));
            }
        }
        Ok(())
    }

    /// Which parties can move by one of these.
    fn able(&self, ways: &[Way]) -> (u64, u64) {
        parties(self.net, &self.obligations, ways.iter().map(|w| &w.action))
    }

    /// Nothing accepted goes on for ever from an entry, if that is so for those that follow.
    fn goes_on(&mut self, i: usize) -> Result<(), Rejection> {
        let (key, number) = (self.checker.entries[i].key.clone(), self.checker.entries[i].number);
        let ways = self.checker.ways(&key)?;
        let letter = self.letter(&key)?;
        let (before, able_weakly) = self.able(&ways);
        let resting = self.obligations.weak.iter().fold(0, |all, w| all | 1u64 << w.1) & !able_weakly;
        let at = self.courses[number].at;
        for way in ways.iter() {
            let (moves, weak) = parties(self.net, &self.obligations, [&way.action].into_iter());
            let marks = weak | resting | self.obligations.time.map_or(0, |mark| u64::from(way.counts) << mark);
            let after = if self.obligations.strong.is_empty() {
                0
            } else {
                let next = self.checker.ways(&way.key)?;
                self.able(&next).0
            };
            let c = &self.checker;
            let zone = c.after(&c.entries[i].zone, way)?;
            let zone = c.later(&zone, &c.places[&way.key], &[]);
            if zone.is_empty() {
                continue;
            }
            for b in self.asked.automaton.edges[at as usize].iter().filter(|b| b.cube.admits(letter)) {
                let deed = Deed { marks: marks | b.marks, moves, before, after };
                let fits = |to: &Course| to.at == b.to && advances(self.courses[number], to, deed);
                if c.missing(&way.key, &zone, |e| fits(self.courses[e.number])) {
                    let wrong = c.wrong(Cause::NoProgress, i, &zone).step(self.net, &way.action);
                    return Err(wrong.next(self.net, &way.key));
                }
            }
        }
        // A run that ends here reads the letter for ever.
        if before == 0 && able_weakly == 0 && self.may_end(i, &key, &ways) && self.accepts(at, letter) {
            return Err(self.checker.wrong(Cause::MayEnd, i, &self.checker.entries[i].zone));
        }
        Ok(())
    }

    fn accepts(&mut self, at: u32, letter: Letter) -> bool {
        let automaton = &self.asked.automaton;
        *self.for_ever.entry((at, letter)).or_insert_with(|| {
            Buchi { initial: vec![at], ..automaton.clone() }.accepts(&Word::new(vec![], vec![letter]))
        })
    }

    /// Is there a valuation from which time passes for ever, or after which nothing can happen?
    fn may_end(&self, i: usize, key: &Key, ways: &[Way]) -> bool {
        let c = &self.checker;
        let place = &c.places[key];
        let limits = |c: &Constraint| c.left != 0 && c.right == 0 && !c.bound.is_inf();
        if place.delay && !place.invariant.iter().any(limits) {
            return true;
        }
        let mut stuck = vec![c.later(&c.entries[i].zone, place, &[])];
        for way in ways {
            let mut zone = c.before(place, way);
            if place.delay {
                zone.down();
            }
            stuck = stuck.iter().flat_map(|part| part.minus(&zone)).collect();
        }
        !stuck.is_empty()
    }
}

/// May a step lead from one course to another, so that no run does so for ever that is accepted and fair?
fn advances(from: &Course, to: &Course, deed: Deed) -> bool {
    for (k, a) in from.levels.iter().enumerate() {
        let Some(b) = to.levels.get(k) else { return false };
        if a.rank != b.rank {
            return b.rank < a.rank;
        }
        if a.never != b.never {
            return false;
        }
        match a.never {
            Never::Step => return false,
            Never::Mark(m) => return deed.marks.checked_shr(m).unwrap_or(0) & 1 == 0,
            Never::Party(p) => {
                let is = |set: u64| set.checked_shr(p).unwrap_or(0) & 1 == 1;
                if is(deed.moves) {
                    return false;
                }
                // A party that is never let move cannot move in the long run; the next level is for then.
                if is(deed.before) || is(deed.after) {
                    return true;
                }
            }
        }
    }
    false
}
