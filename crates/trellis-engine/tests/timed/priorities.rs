//! Priorities of channels and processes beside clocks: every way to answer, and liveness, against the region graph, which asks the interpreter.

use crate::generator::{Asked, prioritised};
use crate::model::Model;
use crate::random::for_seeds;
use crate::verdicts::{self, check_or_shrink};
use crate::{runs, verdicts::Count};

fn agree(first: u64, models: u64, asked: Asked, check: &dyn Fn(&Model, u64) -> Result<(), String>) {
    let shown = |seed| prioritised(seed, asked).map_or_else(String::new, |m| m.shown());
    for_seeds(first, models, shown, |seed| match prioritised(seed, asked) {
        Some(model) => check(&model, seed).or_else(|_| check_or_shrink(&model, &mut |m| check(m, seed))),
        None => Ok(()),
    });
}

#[test]
fn states_with_priorities_agree_with_regions() {
    agree(5_000_000, 200, Asked::States, &|m, seed| verdicts::check(m, seed, &mut Count::default()));
}

#[test]
fn runs_with_priorities_agree_with_regions() {
    agree(6_000_000, 100, Asked::Runs, &|m, _| runs::check(m, &mut runs::Count::default()));
}
