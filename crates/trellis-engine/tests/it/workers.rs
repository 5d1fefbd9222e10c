//! However many workers there are, they answer alike: the same verdict, the same counts, the same shortest run; and rightly, by the oracle.

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use trellis_engine::network::Answer;
use trellis_engine::reach::{Refine, Update};
use trellis_engine::waitlist::Order;
use trellis_engine::workers::checkpoint::Checkpoint;
use trellis_model::evidence::Verdict;

use crate::automata::{Flavour, generate};
use crate::load::load;
use crate::oracle::Oracle;
use crate::random::for_seeds;
use crate::verdicts::{Case, Extra, case, options};

/// An exploration that is cut off after some states goes on from its last checkpoint, with another number of workers, to the same end.
fn goes_on(c: &Case<'_>, update: Update, dir: &Path) -> Result<(), String> {
    let o = options(update, Order::Bfs, Refine::Never);
    let whole = c.check(o, Extra { workers: NonZeroUsize::new(1), ..Extra::default() })?;
    for (before, after) in [(1, 2), (3, 1), (2, 2)] {
        _ = std::fs::remove_dir_all(dir);
        let kept = Checkpoint { dir: dir.into(), what: "this".into(), every: Duration::ZERO };
        let states = Some(whole.stats.added / 2);
        // Cut off, it has no answer, which `check` takes for an error.
        let cut = Extra { workers: NonZeroUsize::new(before), checkpoint: Some(&kept), states, ..Extra::default() };
        _ = c.check(o, cut);
        if !dir.join("head").exists() {
            continue;
        }
        let from = (dir.into(), "this".to_string());
        let on = c.check(o, Extra { workers: NonZeroUsize::new(after), resume: Some(&from), ..Extra::default() })?;
        if on.stats != whole.stats {
            return Err(format!("{update:?}, {before} and {after} workers: {:?}, at once {:?}", on.stats, whole.stats));
        }
        let length = |a: &Answer| match &a.verdict {
            Verdict::Unsafe(t) => Some(t.steps.len()),
            _ => None,
        };
        if length(&on) != length(&whole) {
            return Err("the runs differ".into());
        }
        let other = (dir.into(), "that".to_string());
        let refused = c.check(o, Extra { workers: NonZeroUsize::new(1), resume: Some(&other), ..Extra::default() });
        if !refused.is_err_and(|why| why.contains("another model")) {
            return Err("the checkpoint of another model was taken up".into());
        }
    }
    Ok(())
}

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
        let dir = std::env::temp_dir().join(format!("trellis-workers-{}-{flavour:?}", std::process::id()));
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
                if seed % 5 == 0 && c.truth.is_some() {
                    for update in [Update::Simple, Update::Cover, Update::Join] {
                        goes_on(&c, update, &dir).map_err(|why| format!("{}: {why}", query.text))?;
                    }
                }
            }
            Ok(())
        };
        for_seeds(first, 30, |seed| generate(seed, flavour).shown(), check);
        _ = std::fs::remove_dir_all(&dir);
        assert!(std::env::var("TRELLIS_SEED").is_ok() || found > 5 && states > 50, "{found} {states}");
    }
}
