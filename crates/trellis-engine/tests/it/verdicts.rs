//! Every way to explore, against the oracle.
//!
//! Whatever the options, an answer must be right, and its evidence must pass `trellis-check`: a certificate proves, a
//! trace replays. Simple, cover and refined join must answer; join without refinement may shrug. Tame models only: cover
//! and join rest on monotonicity.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use trellis_check::{assuming_monotone, certify, certify_bound, replay, replay_bound};
use trellis_engine::audit::{audit, hazard};
use trellis_engine::learn::answer_learning;
use trellis_engine::network::{Answer, Broken, answer, answer_by_workers};
use trellis_engine::reach::{Options, Refine, Strategy, Update};
use trellis_engine::waitlist::Order;
use trellis_engine::workers::Workers;
use trellis_engine::workers::checkpoint::Checkpoint;
use trellis_meter::Meter;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::network::interpret::Interpreter;
use trellis_model::network::{Certificate, Condition, ModelError, Network, Query, QueryKind, Trace};
use trellis_order::{Domain, Word};

use crate::automata::{Automaton, Flavour, generate};
use crate::load::load;
use crate::oracle::Oracle;
use crate::random::{Random, for_seeds};
use crate::steps::compare_all;

/// Larger models are skipped.
const LIMIT: usize = 400;

/// Joins as it pleases, but always the same way.
pub struct Whimsical(pub u64);

impl Strategy<ModelError> for Whimsical {
    fn accepts(&mut self, key: &[Word], stored: &[Word], new: &[Word]) -> Result<bool, ModelError> {
        let all = key.iter().chain(stored).chain(new);
        let mixed = all.fold(self.0, |h, w| (h ^ w).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29));
        Ok(mixed % 3 > 0)
    }
}

pub struct Case<'a> {
    /// Is the model known to be monotone, whatever can be proved?
    assumed: bool,
    net: &'a Network,
    query: &'a Query,
    oracle: &'a Oracle<'a>,
    /// Is there something to find? Nothing: the question itself faults somewhere.
    pub truth: Option<bool>,
    /// The model or the question faults somewhere.
    faulty: bool,
}

#[derive(Clone, Copy, Default)]
pub struct Extra<'a> {
    pub priority: Option<Condition>,
    pub whimsical: Option<u64>,
    pub workers: Option<NonZeroUsize>,
    pub checkpoint: Option<&'a Checkpoint>,
    pub resume: Option<&'a (PathBuf, String)>,
    pub states: Option<u64>,
    /// Is it learnt when to join?
    pub learns: bool,
}

impl Case<'_> {
    fn answer(&self, options: Options, extra: Extra<'_>) -> Result<Answer, Box<Broken>> {
        if extra.learns {
            let budget = &mut Meter::unlimited().states(Some(50_000));
            return answer_learning(self.net, self.query, options, extra.priority, budget).0;
        }
        let mut whim = extra.whimsical.map(Whimsical);
        let strategy = whim.as_mut().map(|w| w as &mut dyn Strategy<ModelError>);
        let budget = &mut Meter::unlimited().states(Some(50_000));
        if let Some(workers) = extra.workers {
            let (checkpoint, resume) = (extra.checkpoint.cloned(), extra.resume.cloned());
            let workers = Workers { count: workers, checkpoint, resume };
            let budget = &mut Meter::unlimited().states(Some(extra.states.unwrap_or(50_000)));
            return answer_by_workers(self.net, self.query, options.update, false, &workers, budget);
        }
        answer(self.net, self.query, options, strategy, extra.priority, budget)
    }

    /// Asks in one way, and checks the answer.
    pub fn check(&self, options: Options, extra: Extra<'_>) -> Result<Answer, String> {
        let context = |why: String| format!("{} with {options:?}: {why}", self.query.text);
        let answer = match self.answer(options, extra) {
            Ok(answer) => answer,
            Err(broken) if self.faulty => {
                self.fault_is_real(&broken).map_err(context)?;
                // Nothing more to say.
                return Ok(Answer {
                    verdict: Verdict::Unknown(Reason::Unsupported("a fault".into())),
                    stats: trellis_meter::Stats::default(),
                    inconclusive: None,
                    bound: None,
                    clock_bound: None,
                });
            }
            Err(broken) => return Err(context(format!("a fault that is none: {}", broken.error))),
        };
        let checked = match &answer.verdict {
            Verdict::Safe(cert) => self.check_certificate(cert, options),
            Verdict::Unsafe(trace) => self.check_trace(trace, options),
            // Bounds are not refined: there is no target to refine for.
            Verdict::Unknown(Reason::InconclusiveJoin)
                if options.update == Update::Join
                    && (options.refine == Refine::Never
                        || self.faulty
                        || matches!(self.query.kind, QueryKind::Bound { .. })) =>
            {
                Ok(())
            }
            Verdict::Unknown(reason) => Err(format!("no answer: {reason}")),
        };
        checked.map_err(context)?;
        Ok(answer)
    }

    fn check_certificate(&self, cert: &Certificate, options: Options) -> Result<(), String> {
        if self.truth == Some(true) && !matches!(self.query.kind, QueryKind::Bound { .. }) {
            return Err("UNSOUND: the oracle finds what the engine says is not there".into());
        }
        assuming_monotone(self.assumed, || certify(self.net, self.query, cert))
            .map_err(|r| format!("certificate rejected: {r}"))?;
        let everything = !matches!(self.query.kind, QueryKind::Eventually(_) | QueryKind::PotentiallyAlways(_));
        if !everything {
            return Ok(());
        }
        if self.faulty {
            return Err("a proof although there is a fault".into());
        }
        let order = self.net.elements();
        for s in &self.oracle.states {
            let inside = cert.entries.iter().any(|e| {
                (&e.state.locations, &e.state.data) == (&s.locations, &s.data)
                    && order.leq(&s.element, &e.state.element)
            });
            if !inside {
                return Err(format!("the certificate misses {s:?}"));
            }
        }
        if options.update == Update::Simple && cert.entries.len() != self.oracle.states.len() {
            return Err(format!("{} entries for {} states", cert.entries.len(), self.oracle.states.len()));
        }
        Ok(())
    }

    fn check_trace(&self, trace: &Trace, options: Options) -> Result<(), String> {
        replay(self.net, self.query, trace).map_err(|r| format!("trace rejected: {r}"))?;
        if self.truth == Some(false) {
            return Err("the oracle does not find what the trace shows".into());
        }
        if options.order == Order::Bfs && options.update == Update::Simple {
            let condition = match &self.query.kind {
                QueryKind::Always(p) => Some((p, false)),
                QueryKind::Possibly(p) => Some((p, true)),
                _ => None,
            };
            if let Some((p, value)) = condition {
                let shortest = self.distance(p, value)?;
                if trace.steps.len() != shortest {
                    return Err(format!("a trace of {} steps where {shortest} are enough", trace.steps.len()));
                }
            }
        }
        Ok(())
    }

    /// How many steps are needed to a state where the condition has this value.
    fn distance(&self, c: &Condition, value: bool) -> Result<usize, String> {
        let mut depth = vec![usize::MAX; self.oracle.states.len()];
        depth[0] = 0;
        for (i, steps) in self.oracle.steps.iter().enumerate() {
            // The oracle numbers states in the order of a breadth-first search.
            for (_, n) in steps {
                depth[*n] = depth[*n].min(depth[i].saturating_add(1));
            }
        }
        let interpreter = &self.oracle.interpreter;
        let is = |i: &usize| interpreter.holds(c, self.query.deadlock, &self.oracle.states[*i]).ok() == Some(value);
        (0..depth.len()).filter(is).map(|i| depth[i]).min().ok_or_else(|| "there is no such state".to_string())
    }

    /// The fault that an engine reports happens where it says, and can be reached as it says.
    fn fault_is_real(&self, broken: &Broken) -> Result<(), String> {
        let interpreter = Interpreter::new(self.net);
        let Some(trace) = &broken.trace else {
            let initially = interpreter.initial().is_err() || broken.error.during == "query";
            return if initially { Ok(()) } else { Err(format!("no way to the fault: {}", broken.error)) };
        };
        let mut at = interpreter.initial().map_err(|e| format!("{e} comes first"))?;
        if at != trace.initial {
            return Err("the way to the fault does not start at the beginning".into());
        }
        for step in &trace.steps {
            match interpreter.take(&at, &step.action) {
                Ok(Some(next)) if next == step.state => at = next,
                other => return Err(format!("the way to the fault breaks off: {other:?} for {step:?}")),
            }
        }
        let mut conditions = match self.query.kind {
            QueryKind::Always(p)
            | QueryKind::Possibly(p)
            | QueryKind::Eventually(p)
            | QueryKind::PotentiallyAlways(p) => vec![p],
            QueryKind::LeadsTo(p, q) => vec![p, q],
            QueryKind::ClockBound { .. } => unreachable!("these models have no clocks"),
            QueryKind::Bound { when, of, .. } => vec![when, of],
        };
        conditions.retain(|c| interpreter.number(c, self.query.deadlock, &at).is_err());
        if interpreter.steps(&at).is_err() || !conditions.is_empty() {
            return Ok(());
        }
        Err(format!("no fault where the engine reports {}", broken.error))
    }
}

pub fn options(update: Update, order: Order, refine: Refine) -> Options {
    Options { update, order, refine }
}

/// What the oracle makes of a question.
pub fn case<'a>(net: &'a Network, query: &'a Query, oracle: &'a Oracle<'a>, assumed: bool) -> Case<'a> {
    let truth = oracle.has_trace(query).ok();
    Case { assumed, net, query, oracle, truth, faulty: oracle.fault.is_some() || truth.is_none() }
}

fn check_model(model: &Automaton, seed: u64, count: &mut Count) -> Result<(), String> {
    let (net, queries) = load(&model.text, &model.queries())?;
    let Some(oracle) = Oracle::explore(&net, LIMIT) else {
        count.skipped += 1;
        return Ok(());
    };
    count.states += oracle.states.len();
    count.faults += usize::from(oracle.fault.is_some());
    if seed.is_multiple_of(4) {
        compare_all(&net, &queries, &oracle)?;
    }
    let mut r = Random::new(seed);
    let orders = [Order::Dfs, Order::Random(seed), Order::Priority];
    let (reach, rest) = queries.split_at(model.reach.len());
    let (live, rest) = rest.split_at(model.live.len());
    let (bounds, deadlock) = rest.split_at(model.bounds.len());
    // A number by which to order: any that does not fault.
    let priority = match bounds[0].kind {
        QueryKind::Bound { of, .. } if oracle.bound(&bounds[0]).is_ok() => Some(of),
        _ => None,
    };
    for query in reach {
        if let Some(why) = hazard(&net, query) {
            return Err(format!("a hazard in a tame model: {why}"));
        }
        let c = case(&net, query, &oracle, true);
        count.found += usize::from(c.truth == Some(true));
        for update in [Update::Simple, Update::Cover, Update::Join] {
            let order = *r.one(&orders);
            let other = Extra {
                priority,
                whimsical: (update == Update::Join && r.percent(60)).then_some(seed),
                ..Extra::default()
            };
            c.check(options(update, Order::Bfs, Refine::Split), Extra::default())?;
            if update == Update::Join {
                let learning = Extra { priority, learns: true, ..Extra::default() };
                count.learnt += c.check(options(update, order, Refine::Split), learning)?.stats.refinements;
            }
            let answer = c.check(options(update, order, Refine::Split), other)?;
            count.refinements += answer.stats.refinements;
        }
        for (order, whimsical) in [(Order::Bfs, None), (*r.one(&orders), Some(seed))] {
            let answer = c.check(
                options(Update::Join, order, Refine::Never),
                Extra { priority, whimsical, ..Extra::default() },
            )?;
            count.inconclusive += usize::from(matches!(answer.verdict, Verdict::Unknown(Reason::InconclusiveJoin)));
        }
        if let Some(v) = audit(&net, Some(query), 20, seed).violations.first() {
            return Err(format!("the audit says that a tame model is not monotone: {v:?}"));
        }
    }
    for query in live.iter().chain(deadlock) {
        let c = case(&net, query, &oracle, true);
        count.live += usize::from(c.truth == Some(true));
        c.check(options(Update::Simple, Order::Bfs, Refine::Split), Extra::default())?;
    }
    for query in bounds {
        let c = case(&net, query, &oracle, true);
        let exact = oracle.bound(query).ok().flatten();
        for update in [Update::Simple, Update::Cover, Update::Join] {
            let answer = c.check(options(update, Order::Bfs, Refine::Split), Extra::default())?;
            let Verdict::Safe(cert) = &answer.verdict else { continue };
            let text = format!("{} with {update:?}", query.text);
            let value = answer.bound.as_ref().map(|b| b.value);
            assuming_monotone(true, || certify_bound(&net, query, cert, value)).map_err(|r| format!("{text}: {r}"))?;
            let witness = answer.bound.as_ref().and_then(|b| Some((b.value, b.witness.as_ref()?)));
            if let Some((value, trace)) = witness {
                replay_bound(&net, query, trace, value).map_err(|r| format!("{text}: {r}"))?;
            }
            // Joins may enlarge what is measured.
            if update != Update::Join && (value != exact || witness.is_some() != exact.is_some()) {
                return Err(format!("{text}: {value:?} instead of {exact:?}, witness {witness:?}"));
            }
        }
    }
    Ok(())
}

#[derive(Default, Debug)]
struct Count {
    states: usize,
    skipped: usize,
    faults: usize,
    found: usize,
    live: usize,
    refinements: u64,
    learnt: u64,
    inconclusive: usize,
}

fn agree(flavour: Flavour, first: u64, models: u64) -> Count {
    let mut count = Count::default();
    for_seeds(
        first,
        models,
        |seed| generate(seed, flavour).shown(),
        |seed| check_model(&generate(seed, flavour), seed, &mut count),
    );
    println!("{models} {flavour:?} models from {first}: {count:?}");
    if std::env::var("TRELLIS_SEED").is_err() {
        assert!(count.skipped * 20 < models as usize, "too many models are too large: {count:?}");
    }
    count
}

/// Ten thousand models, in parts so that they run side by side.
const PART: u64 = 1250;

#[test]
fn engines_agree_with_the_oracle_1() {
    agree(Flavour::Tame, 0, PART);
}

#[test]
fn engines_agree_with_the_oracle_2() {
    agree(Flavour::Tame, 10_000, PART);
}

#[test]
fn engines_agree_with_the_oracle_3() {
    agree(Flavour::Tame, 20_000, PART);
}

#[test]
fn engines_agree_with_the_oracle_4() {
    agree(Flavour::Tame, 30_000, PART);
}

#[test]
fn engines_agree_with_the_oracle_where_joins_matter_1() {
    agree(Flavour::Rich, 40_000, PART);
}

#[test]
fn engines_agree_with_the_oracle_where_joins_matter_2() {
    agree(Flavour::Rich, 50_000, PART);
}

#[test]
fn engines_agree_with_the_oracle_where_joins_matter_3() {
    agree(Flavour::Rich, 60_000, PART);
}

#[test]
fn engines_agree_with_the_oracle_where_joins_matter_4() {
    agree(Flavour::Rich, 70_000, PART);
}
