//! Verdicts of lattice models under default options, and the two proofs of monotonicity behind them.
//!
//! What both the engine's and the checker's proof accept is searched with join update (cover for bounds), everything else with
//! simple update: so does the command line. Verdicts must be those of the oracle, certificates must pass the checker, which has
//! to prove monotonicity itself; and where a proof holds, an audit must find nothing.
//!
//! `TRELLIS_RUNS=100000 cargo test -p trellis-engine --test it monotone::default -- --nocapture` runs so many models.

use trellis_check::{certify_bound, monotone};
use trellis_engine::audit::audit;
use trellis_engine::monotone::prove;
use trellis_engine::reach::{Refine, Update};
use trellis_engine::waitlist::Order;
use trellis_model::evidence::Verdict;
use trellis_model::network::{Network, Query, QueryKind};

use crate::automata::{Automaton, Flavour, generate};
use crate::load::load;
use crate::oracle::Oracle;
use crate::random::for_seeds;
use crate::verdicts::{Extra, case, options};

#[derive(Default, Debug)]
struct Count {
    models: usize,
    odd: usize,
    skipped: usize,
    questions: usize,
    found: usize,
    faulty: usize,
    /// Proved by both, of the monotone models and of the odd ones.
    proved: usize,
    proved_odd: usize,
    /// By the one and not by the other.
    engine_alone: usize,
    checker_alone: usize,
}

/// Proved by both?
fn proved(net: &Network, query: &Query, count: &mut Count) -> bool {
    let engine = prove(net, query).holds();
    let checker = monotone(net, query).is_ok();
    count.engine_alone += usize::from(engine && !checker);
    count.checker_alone += usize::from(checker && !engine);
    if std::env::var("TRELLIS_SEED").is_ok() {
        println!("{}: {:?} {:?}", query.text, prove(net, query).obstacles.first(), monotone(net, query));
    }
    engine && checker
}

fn check_model(model: &Automaton, seed: u64, odd: bool, count: &mut Count) -> Result<(), String> {
    let (net, queries) = load(&model.text, &model.queries())?;
    count.models += 1;
    count.odd += usize::from(odd);
    let Some(oracle) = Oracle::explore(&net, 250) else {
        count.skipped += 1;
        return Ok(());
    };
    let asked = |q: &&Query| {
        matches!(q.kind, QueryKind::Always(_) | QueryKind::Possibly(_) | QueryKind::Bound { .. }) && !q.deadlock
    };
    for query in queries.iter().filter(asked) {
        let c = case(&net, query, &oracle, false);
        count.questions += 1;
        count.found += usize::from(c.truth == Some(true));
        count.faulty += usize::from(c.truth.is_none() || oracle.fault.is_some());
        let proved = !net.lattices.is_empty() && proved(&net, query, count);
        if !net.lattices.is_empty() {
            *(if odd { &mut count.proved_odd } else { &mut count.proved }) += usize::from(proved);
        }
        let is_bound = matches!(query.kind, QueryKind::Bound { .. });
        let update = match () {
            () if !proved => Update::Simple,
            () if is_bound => Update::Cover,
            () => Update::Join,
        };
        let answer = c.check(options(update, Order::Bfs, Refine::Split), Extra::default())?;
        if let (true, Verdict::Safe(cert)) = (is_bound, &answer.verdict) {
            let value = answer.bound.as_ref().map(|b| b.value);
            let exact = oracle.bound(query).ok().flatten();
            if value != exact {
                return Err(format!("{} with {update:?}: {value:?} instead of {exact:?}", query.text));
            }
            certify_bound(&net, query, cert, value).map_err(|r| format!("{}: {r}", query.text))?;
        }
        if proved && let Some(v) = audit(&net, Some(query), 24, seed).violations.first() {
            return Err(format!("{}: proved monotone, but the audit finds {v:?}", query.text));
        }
    }
    Ok(())
}

/// A small share of what `TRELLIS_RUNS` can run.
#[test]
fn default_verdicts_of_random_lattice_models_are_right() {
    let mut count = Count::default();
    for_seeds(
        200_000,
        600,
        |seed| generate(seed, Flavour::Mixed).shown(),
        |seed| check_model(&generate(seed, Flavour::Mixed), seed, seed.is_multiple_of(3), &mut count),
    );
    println!("{count:?}");
    if std::env::var("TRELLIS_SEED").is_err() {
        assert!(count.odd * 4 > count.models, "too few models are odd: {count:?}");
        assert!(count.skipped * 10 < count.models, "too many models are too large: {count:?}");
        assert!(count.proved * 3 > count.questions, "too little is proved: {count:?}");
        assert!(count.found * 10 > count.questions, "too little is found: {count:?}");
    }
}

/// The proofs must be strong enough for models that are monotone by construction.
#[test]
fn most_tame_models_are_proved_monotone() {
    let (mut all, mut count) = (0, Count::default());
    let mut holds = 0;
    for seed in 0..200 {
        let model = generate(seed, Flavour::Rich);
        let (net, queries) = load(&model.text, &model.queries()).expect("a model that can be read");
        for query in &queries[..model.reach.len()] {
            all += 1;
            holds += usize::from(proved(&net, query, &mut count));
        }
    }
    assert!(holds * 10 > all * 9, "{holds} of {all}: {count:?}");
}
