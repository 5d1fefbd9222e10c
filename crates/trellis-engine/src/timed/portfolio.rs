//! What answers questions about states when nobody chooses an engine: several searches in turns ([`crate::scheduler`]).
//!
//! Half of the time is for what is best for most models ([`super::answer::default_engine`]: zones up to symmetry, or lazy bounds if there are many
//! clocks), so that it never takes more than twice as long as alone. The rest is for those that are far better where it is not: lazy abstraction of
//! data, by values and by predicates; lazy bounds, depth first; and for errors that lie deep a depth-first search in random order, which begins
//! anew, with another order, after more and more states.
//!
//! A search goes on where it was when its next turn comes; nothing is done twice, but all that has begun stays in memory. With a limit on states
//! the first search that meets it ends them all.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use trellis_meter::{Meter, Stats};
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::network::Symmetry;

use super::answer::{Asked, Clocks, Data, Engine, Turn, obstacle, search, unknown};
use super::bounds::Bounds;
use super::lazy::{self, block::Direction};
use super::reach;
use crate::network::{Answer, Broken};
use crate::scheduler::{self, Runner, turns};
use crate::waitlist::Order;

/// The first turn of each but the first search.
const FIRST: Duration = Duration::from_millis(250);

/// After so many states the search in random order begins anew for the first time.
const DEEP: u64 = 5_000;

/// What came of a turn, and by which engine.
struct Found(Result<Answer, Box<Broken>>, Engine);

impl scheduler::Outcome for Found {
    fn undecided(&self) -> Option<&Reason> {
        match &self.0 {
            Ok(Answer { verdict: Verdict::Unknown(why), .. }) => Some(why),
            _ => None,
        }
    }
}

/// Who takes turns beside the first, and what they are called.
fn others(asked: Asked<'_>, usual: Engine) -> Vec<(&'static str, Engine)> {
    let Asked { net, query, .. } = asked;
    if net.has_rates() {
        return Vec::new();
    }
    let diagonal = Bounds::new(net, query).diagonal;
    let clocks = if diagonal { Clocks::Interpolation(Direction::Forward) } else { Clocks::Bounds };
    let options = lazy::Options::default();
    let deep = lazy::Options { order: Order::Dfs, ..options };
    let zones = reach::Options::default();
    let mut all = Vec::new();
    if !net.vars.is_empty() {
        all.push(("data by values", Engine::Lazy { clocks, data: Data::Interpolation(Direction::Forward), options }));
        all.push(("data by predicates", Engine::Lazy { clocks, data: Data::Predicates(Direction::Forward), options }));
    }
    all.push(("lazy bounds", Engine::Lazy { clocks, data: Data::Identity, options: deep }));
    if matches!(usual, Engine::Lazy { .. }) && !diagonal {
        all.push(("zones", Engine::Reach(zones)));
    }
    all.push(("random order", Engine::Reach(reach::Options { order: Order::Shuffled(0), ..zones })));
    all.retain(|(_, e)| *e != usual && obstacle(net, query, *e).is_none());
    all
}

/// Depth first in random order, again and again.
fn restarts<'n>(asked: Asked<'n>, symmetry: &Symmetry, first: reach::Options) -> Turn<'n> {
    let symmetry = symmetry.clone();
    let (mut seed, mut most) = (0, DEEP);
    Box::new(move |meter| {
        loop {
            seed += 1;
            let engine = Engine::Reach(reach::Options { order: Order::Shuffled(seed), ..first });
            let answer = search(asked, engine, &symmetry, meter)(&mut meter.clone().at_most(most))?;
            let again = matches!(answer.verdict, Verdict::Unknown(Reason::Iterations)) && answer.stats.added > most;
            if !again {
                return Ok(answer);
            }
            most += most / 2;
        }
    })
}

/// Asks all of them; tells who has answered.
pub(super) fn check(
    asked: Asked<'_>,
    usual: Engine,
    symmetry: &Symmetry,
    meter: &mut Meter,
) -> Result<(Answer, Option<Engine>), Box<Broken>> {
    let others = others(asked, usual);
    if others.is_empty() {
        return Ok((search(asked, usual, symmetry, meter)(meter)?, Some(usual)));
    }
    let (stats, limited) = (RefCell::new(Stats::default()), Cell::new(false));
    let runner = |name: &'static str, engine: Engine, share: usize| {
        // Made when its turn comes.
        let (stats, limited, whole) = (&stats, &limited, meter.clone());
        let mut turn: Option<Turn<'_>> = None;
        let run = move |meter: &mut Meter| {
            if limited.get() {
                return Found(Ok(unknown(*stats.borrow(), Reason::Iterations)), engine);
            }
            let turn = turn.get_or_insert_with(|| match engine {
                Engine::Reach(options) if matches!(options.order, Order::Shuffled(_)) => {
                    restarts(asked, symmetry, options)
                }
                _ => search(asked, engine, symmetry, &whole),
            });
            let found = turn(meter);
            if let Ok(answer) = &found {
                if engine == usual {
                    *stats.borrow_mut() = answer.stats;
                }
                limited.set(matches!(answer.verdict, Verdict::Unknown(Reason::Iterations)));
            }
            Found(found, engine)
        };
        Runner::new(name, run).with_share(share as u32)
    };
    let first = if matches!(usual, Engine::Reach(_)) { "zones" } else { "lazy" };
    let mut runners = vec![runner(first, usual, others.len())];
    runners.extend(others.iter().map(|&(name, engine)| runner(name, engine, 1)));
    match turns(runners, FIRST, meter) {
        Ok(Found(answer, engine)) => Ok((answer?, Some(engine))),
        Err(why) => Ok((unknown(*stats.borrow(), why), Some(usual))),
    }
}
