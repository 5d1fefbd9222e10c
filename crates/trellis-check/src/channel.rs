//! Evidence about lossy channel systems: runs are replayed by the reference interpreter, certificates are checked by comparing words.
//!
//! A certificate is a set of states ([`trellis_model::channel::Certificate`]): what is left of the start, and regions, each of what is at least none
//! of some patterns. Such a set is not left by losses. For each rule, what can follow a state of a region must be within one region: where
//! one ends up at least at a pattern of it, one must have come from outside. How that is found out is written here once more, forwards: what a
//! rule does to the words decides what of the pattern must have been there already.

use std::fmt;

use trellis_model::channel::interpret;
use trellis_model::channel::{Action, Certificate, Op, Pattern, Rule, RuleId, State, System};

/// What is wrong with evidence about a lossy channel system.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// It mentions what there is not.
    Malformed,
    /// This step, from 0, cannot be taken.
    Step(usize),
    /// The run does not end in what is asked for.
    Harmless,
    /// This rule may lead from a region (from the start, if none) out of the set.
    Leaves(Option<usize>, RuleId),
    /// This target, by position, is not excluded.
    Target(usize),
    /// There is no target, so there is nothing to prove.
    NothingAsked,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejection::Malformed => write!(f, "it is not about this system"),
            Rejection::Step(n) => write!(f, "step {} is not possible", n + 1),
            Rejection::Harmless => write!(f, "the run does not reach what must never be reached"),
            Rejection::Leaves(None, r) => write!(f, "rule {} leads from the start out of the invariant", r + 1),
            Rejection::Leaves(Some(n), r) => write!(f, "rule {} leads from part {} out of the invariant", r + 1, n + 1),
            Rejection::Target(t) => write!(f, "target {} is inside the invariant", t + 1),
            Rejection::NothingAsked => write!(f, "there is no target, so nothing was asked"),
        }
    }
}

impl std::error::Error for Rejection {}

/// Does the run lead to what must never be reached?
pub fn replay(system: &System, run: &[Action]) -> Result<(), Rejection> {
    let states = interpret::replay(system, run).map_err(Rejection::Step)?;
    match states.last() {
        Some(end) if interpret::is_bad(system, end) => Ok(()),
        _ => Err(Rejection::Harmless),
    }
}

/// Is the certificate a set that contains the start, that nothing leaves, and that no target is in?
pub fn certify(system: &System, certificate: &Certificate) -> Result<(), Rejection> {
    if system.target.is_empty() {
        return Err(Rejection::NothingAsked);
    }
    let regions = &certificate.regions;
    let fits = |m: &Pattern| {
        m.at.len() == system.processes.len()
            && m.words.len() == system.channels.len()
            && m.at.iter().zip(&system.processes).all(|(l, p)| l.is_none_or(|l| (l as usize) < p.values.len()))
            && m.words.iter().zip(&system.channels).all(|(w, c)| w.iter().all(|a| (*a as usize) < c.values.len()))
    };
    if !regions.iter().flatten().all(fits) {
        return Err(Rejection::Malformed);
    }
    let start = Part::Start(&system.initial);
    for (n, t) in system.target.iter().enumerate() {
        let misses = |part: Part<'_>| !part.may_contain(t);
        if !misses(start) || !regions.iter().all(|r| misses(Part::Region(r))) {
            return Err(Rejection::Target(n));
        }
    }
    let parts = regions.iter().enumerate().map(|(n, r)| (Some(n), Part::Region(r)));
    for (n, part) in [(None, start)].into_iter().chain(parts) {
        for (id, rule) in system.rules.iter().enumerate() {
            let impossible = !part.may_contain(&asked(system, rule));
            let stays = |r: &Vec<Pattern>| r.iter().all(|m| from(rule, m).is_none_or(|p| !part.may_contain(&p)));
            if !impossible && !regions.iter().any(stays) {
                return Err(Rejection::Leaves(n, id as RuleId));
            }
        }
    }
    Ok(())
}

/// A part of the set.
#[derive(Clone, Copy)]
enum Part<'a> {
    /// The start, and what losses leave of it.
    Start(&'a State),
    /// What is at least none of these.
    Region(&'a [Pattern]),
}

impl Part<'_> {
    /// Is anything in it that is at least this?
    fn may_contain(self, m: &Pattern) -> bool {
        match self {
            Part::Start(state) => {
                let at = m.at.iter().zip(&state.at).all(|(want, is)| want.is_none_or(|l| l == *is));
                at && m.words.iter().zip(&state.words).all(|(a, b)| embeds(a, b))
            }
            Part::Region(excluded) => !excluded.iter().any(|e| {
                let at = e.at.iter().zip(&m.at).all(|(a, b)| a.is_none() || a == b);
                at && e.words.iter().zip(&m.words).all(|(a, b)| embeds(a, b))
            }),
        }
    }
}

/// Is the first word a subword of the second?
fn embeds(small: &[u32], large: &[u32]) -> bool {
    let mut found = 0;
    for a in large {
        if small.get(found) == Some(a) {
            found += 1;
        }
    }
    found == small.len()
}

/// What a rule asks for.
fn asked(system: &System, rule: &Rule) -> Pattern {
    let mut all = system.anything();
    rule.moves.iter().for_each(|(p, from, _)| all.at[*p] = Some(*from));
    for op in &rule.ops {
        if let Op::Receive(c, a) = op {
            all.words[*c].push(*a);
        }
    }
    all
}

/// The least that is there before a rule, if afterwards there is at least this: the messages that it receives, and behind them as much of each word
/// as is not among what it sends.
fn from(rule: &Rule, m: &Pattern) -> Option<Pattern> {
    if rule.moves.iter().any(|(p, _, to)| m.at[*p].is_some_and(|l| l != *to)) {
        return None;
    }
    let mut before = m.clone();
    rule.moves.iter().for_each(|(p, from, _)| before.at[*p] = Some(*from));
    for (c, word) in before.words.iter_mut().enumerate() {
        let sent = rule.ops.iter().filter_map(|op| match op {
            Op::Send(to, a) if *to == c => Some(*a),
            _ => None,
        });
        // The longest end of the word that is a subword of what is sent.
        for a in sent.collect::<Vec<_>>().into_iter().rev() {
            if word.last() == Some(&a) {
                word.pop();
            }
        }
        let received = rule.ops.iter().filter_map(|op| match op {
            Op::Receive(of, a) if *of == c => Some(*a),
            _ => None,
        });
        *word = received.chain(word.iter().copied()).collect();
    }
    Some(before)
}
