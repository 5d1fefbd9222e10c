//! Bugs on purpose ([`trellis_meter::seeded`]) in what the searches compute with: the checker refuses whatever became wrong by them.
//!
//! For each bug, random networks are asked about in several ways, and their answers compared with the region graph, which has no bug. The
//! bug is there while evidence is checked, too: what the checker shares with the searches would be wrong in both.

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use trellis_engine::timed::answer::{Config, answer};
use trellis_meter::Meter;
use trellis_meter::seeded::{self, Bug};
use trellis_model::evidence::Verdict;
use trellis_model::network::region::{Options, Regions};
use trellis_model::network::{Network, Query};

use crate::configurations::ways;
use crate::generator::{Asked, generate};

/// What became of the answers under one bug.
#[derive(Default, Debug, Clone, Copy)]
pub struct Tally {
    answers: usize,
    /// Answers that are not those of the region graph, and those of them whose evidence was accepted.
    wrong: usize,
    accepted: usize,
    /// Right answers whose evidence was refused.
    refused: usize,
    panics: usize,
}

fn ask(net: &Network, query: &Query, way: &Config, truth: bool, tally: &mut Tally) {
    let work = || {
        let found = answer(net, query, way, &mut Meter::unlimited().states(Some(1500))).ok()?;
        match &found.verdict {
            Verdict::Safe(cert) => Some((false, trellis_check::certify(net, query, cert).is_ok())),
            Verdict::Unsafe(trace) => Some((true, trellis_check::replay(net, query, trace).is_ok())),
            Verdict::Unknown(_) => None,
        }
    };
    let Ok(said) = catch_unwind(AssertUnwindSafe(work)) else {
        tally.panics += 1;
        return;
    };
    let Some((found, accepted)) = said else { return };
    tally.answers += 1;
    match found == truth {
        true => tally.refused += usize::from(!accepted),
        false => {
            tally.wrong += 1;
            tally.accepted += usize::from(accepted);
        }
    }
}

fn hunt(models: u64) -> Vec<(Bug, &'static str, Tally)> {
    let mut all: Vec<_> = seeded::ALL.iter().map(|&(bug, what)| (bug, what, Tally::default())).collect();
    for seed in 0..models {
        let Ok((net, queries)) = generate(seed, Asked::States).load() else { continue };
        for query in &queries {
            let Some(o) = Regions::explore(&net, Some(query), Options { limit: 1000, ..Options::default() }) else {
                continue;
            };
            let (None, Ok(truth)) = (&o.fault, o.has_trace(query)) else { continue };
            let ways = ways(seed);
            for (bug, _, tally) in &mut all {
                // Three of the ways, and what nobody chooses.
                for i in [seed as usize, seed as usize + 5, seed as usize + 11, ways.len() - 1] {
                    let way = &ways[i % ways.len()];
                    seeded::with(*bug, || ask(&net, query, way, truth, tally));
                }
            }
        }
    }
    all
}

#[test]
fn wrong_verdicts_are_refused() {
    let runs = std::env::var("TRELLIS_RUNS").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let all = hunt(runs);
    std::panic::set_hook(quiet);
    let mut table = String::new();
    for (bug, what, t) in &all {
        let refused = t.wrong - t.accepted;
        _ = writeln!(
            table,
            "| {bug:?} | {what} | {} | {} | {refused} | {} | {} |",
            t.answers, t.wrong, t.refused, t.panics
        );
    }
    println!(
        "| bug | | answers | wrong | of these refused | right and refused | panics |\n|---|---|---|---|---|---|---|\n{table}"
    );
    // The finder of symmetries is shared.
    let own = || all.iter().filter(|(bug, ..)| *bug != Bug::Question);
    assert!(own().all(|(.., t)| t.accepted == 0), "{table}");
    assert!(own().filter(|(.., t)| t.wrong > 0).count() >= 5, "{table}");
}
