//! Lossy channel systems: can something bad be reached? [`lazy`] is `LA[BF]` (003 Algorithm 2), the same as of vectors, over words; [`backward`] goes
//! from what is bad to the start (Abdulla, Čerāns, Jonsson and Tsay, LICS 1996). Both end, because subwords are a well-quasi-order.

use trellis_meter::{Meter, Progress, Stats};
use trellis_model::channel::{Action, Certificate, Op, Pattern, RuleId, State, System, interpret, minimal, pre};
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::refinements::History;

use super::in_time;
use super::lazy::tree::Tree;
use super::lazy::words::WordRegions;
use super::lazy::{Options, run as run_tree};

/// The answer, with its evidence.
pub type Answer = Verdict<Vec<Action>, Certificate>;

/// Lazy abstraction; of the options the control and covering at equal depth count. What happened is kept if it is to be.
pub fn lazy(system: &System, options: &Options, keep: bool, meter: &mut Meter) -> (Answer, Stats, Option<History>) {
    let tree = Tree::new(WordRegions::new(system, meter.clone()), *options);
    let (verdict, stats, _, history) = run_tree(tree, keep, meter);
    (verdict, stats, history)
}

/// From the targets to the start, with the smallest patterns only.
pub fn backward(system: &System, meter: &mut Meter) -> (Answer, Stats) {
    let mut stats = Stats::default();
    let verdict = search(system, meter, &mut stats).unwrap_or_else(Verdict::Unknown);
    (verdict, stats)
}

/// What leads to the targets: a pattern, the rule that leads on, and where to.
struct Found {
    pattern: Pattern,
    next: Option<(RuleId, usize)>,
    /// Is there a smaller one now?
    dropped: bool,
}

fn search(system: &System, meter: &mut Meter, stats: &mut Stats) -> Result<Answer, Reason> {
    let mut all: Vec<Found> = vec![];
    for pattern in minimal(system.target.iter().cloned()) {
        all.push(Found { pattern, next: None, dropped: false });
    }
    stats.added = all.len() as u64;
    let mut at = 0;
    while at < all.len() {
        stats.stored = all.iter().filter(|f| !f.dropped).count() as u64;
        meter.check(&Progress { waiting: all.len() - at, stats: *stats })?;
        if all[at].dropped {
            at += 1;
            continue;
        }
        if all[at].pattern.is_below(&system.initial) {
            let mut rules = vec![];
            let mut from = at;
            while let Some((rule, to)) = all[from].next {
                rules.push(rule);
                from = to;
            }
            return Ok(Verdict::Unsafe(run(system, rules.into_iter())?));
        }
        stats.expanded += 1;
        for (r, rule) in system.rules.iter().enumerate() {
            let Some(pattern) = pre(rule, &all[at].pattern) else { continue };
            stats.steps += 1;
            in_time(meter)?;
            if all.iter().any(|f| !f.dropped && f.pattern.leq(&pattern)) {
                stats.covered += 1;
                continue;
            }
            all.iter_mut().filter(|f| pattern.leq(&f.pattern)).for_each(|f| f.dropped = true);
            all.push(Found { pattern, next: Some((r as RuleId, at)), dropped: false });
            stats.added += 1;
        }
        at += 1;
    }
    let basis = all.into_iter().filter(|f| !f.dropped).map(|f| f.pattern).collect();
    Ok(Verdict::Safe(Certificate { regions: vec![basis] }))
}

/// The run from the start that takes these rules and loses no more than it must: whatever is in front of a message that is to be received.
pub(super) fn run(system: &System, rules: impl Iterator<Item = RuleId>) -> Result<Vec<Action>, Reason> {
    let mut actions = vec![];
    let mut state = system.initial.clone();
    let stuck = || Reason::Stuck("a run could not be followed".into());
    for r in rules {
        let mut wanted: Vec<(usize, usize)> = vec![];
        for op in &system.rules[r as usize].ops {
            let Op::Receive(c, a) = op else { continue };
            let place = wanted.iter().filter(|w| w.0 == *c).count();
            while *state.words[*c].get(place).ok_or_else(stuck)? != *a {
                state.words[*c].remove(place);
                actions.push(Action::Lose(*c, place));
            }
            wanted.push((*c, place));
        }
        state = interpret::step(system, &state, Action::Take(r)).ok_or_else(stuck)?;
        actions.push(Action::Take(r));
    }
    if interpret::is_bad(system, &state) { Ok(actions) } else { Err(stuck()) }
}

/// A state in words: `Sender.idle, data = m0 m1`.
pub(super) fn state_text(system: &System, state: &State) -> String {
    let at = state.at.iter().zip(&system.processes).map(|(l, p)| format!("{}.{}", p.name, p.values[*l as usize]));
    let words = state.words.iter().enumerate().filter(|w| !w.1.is_empty());
    let words = words.map(|(c, w)| format!("{} = {}", system.channels[c].name, system.word(c, w)));
    at.chain(words).collect::<Vec<_>>().join(", ")
}
