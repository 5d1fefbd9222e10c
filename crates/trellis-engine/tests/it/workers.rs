//! However many workers there are, they answer alike: the same verdict, the same counts, the same shortest run; and rightly, by the oracle.

use std::num::NonZeroUsize;

use trellis_engine::reach::{Refine, Update};
use trellis_engine::waitlist::Order;
use trellis_model::evidence::Verdict;

use crate::automata::{Flavour, generate};
use crate::load::load;
use crate::oracle::Oracle;
use crate::random::for_seeds;
use crate::verdicts::{Case, Extra, case, options};

/// One, two and three workers, with each update; with simple update what they count is what one thread counts, too.
fn agree(c: &Case<'_>) -> Result<(), String> {
    for update in [Update::Simple, Update::Cover, Update::Join] {
        let o = options(update, Order::Bfs, Refine::Never);
        let by = |n| c.check(o, Extra { workers: NonZeroUsize::new(n), ..Extra::default() });
        let alone = by(1)?;
        for n in [2, 3] {
            let together = by(n)?;
            let differs = |what: &str| Err(format!("{what} of 1 and {n} workers differ, with {update:?}"));
            if together.stats != alone.stats {
                return differs(&format!("the counts {:?} and {:?}", alone.stats, together.stats));
            }
            match (&alone.verdict, &together.verdict) {
                (Verdict::Safe(a), Verdict::Safe(b)) if a.entries.len() == b.entries.len() => {}
                (Verdict::Unsafe(a), Verdict::Unsafe(b)) if a == b => {}
                (Verdict::Unknown(a), Verdict::Unknown(b)) if a == b => {}
                _ => return differs("the verdicts"),
            }
            if together.bound.map(|b| b.value) != alone.bound.as_ref().map(|b| b.value) {
                return differs("the bounds");
            }
        }
        if update == Update::Simple && matches!(alone.verdict, Verdict::Safe(_)) {
            let usual = c.check(o, Extra::default())?;
            if usual.stats != alone.stats {
                return Err(format!("workers count {:?}, one thread {:?}", alone.stats, usual.stats));
            }
        }
    }
    Ok(())
}

#[test]
fn workers_agree_however_many_they_are() {
    for (flavour, first) in [(Flavour::Tame, 80_000), (Flavour::Rich, 90_000)] {
        let (mut found, mut states) = (0, 0);
        let check = |seed| {
            let model = generate(seed, flavour);
            let (net, queries) = load(&model.text, &model.queries())?;
            let Some(oracle) = Oracle::explore(&net, 400) else { return Ok(()) };
            states += oracle.states.len();
            let (reach, rest) = queries.split_at(model.reach.len());
            for query in reach.iter().chain(&rest[model.live.len()..][..model.bounds.len()]) {
                let c = case(&net, query, &oracle, true);
                found += usize::from(c.truth == Some(true));
                agree(&c).map_err(|why| format!("{}: {why}", query.text))?;
            }
            Ok(())
        };
        for_seeds(first, 100, |seed| generate(seed, flavour).shown(), check);
        assert!(std::env::var("TRELLIS_SEED").is_ok() || found > 20 && states > 1000, "{found} {states}");
    }
}
