//! What answers questions about states when nobody chooses an engine: several searches in turns ([`crate::scheduler`]).
//!
//! Half of the time is for what is best for most models ([`super::answer::default_engine`]: zones up to symmetry, or lazy bounds if there are many
//! clocks; lazy abstraction of data where there is much of it), so that it never takes more than twice as long as alone. The rest is for those that are far better where it is not: lazy abstraction of
//! data, by values and by predicates; lazy bounds, depth first; and for errors that lie deep a depth-first search in random order, which begins
//! anew, with another order, after more and more states.
//!
//! A search goes on where it was when its next turn comes; nothing is done twice, but all that has begun stays in memory. With a limit on states
//! the first search that meets it ends them all.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use trellis_meter::{Meter, Stats};
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::network::{Network, Symmetry};

use super::answer::{Asked, Clocks, Data, Engine, Turn, obstacle, search, unknown};
use super::bounds::Bounds;
use super::lazy::{self, block::Direction};
use super::reach;
use crate::network::{Answer, Broken};
use crate::scheduler::{self, Runner, rounds};
use crate::waitlist::Order;

/// A turn of each but the first search.
const TURN: Duration = Duration::from_millis(250);

/// With so many numbers beside clocks, lazy abstraction of data comes first.
const MUCH_DATA: usize = 24;

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

/// Is there so much data beside clocks that hardly all of it can matter?
fn has_much_data(net: &Network) -> bool {
    let cells: usize = net.vars.iter().map(|v| v.init.len()).sum();
    cells >= MUCH_DATA && cells > 3 * net.clocks.len()
}

/// Who takes turns, what they are called, and whose turns are how long. The first has half of the time.
fn all(asked: Asked<'_>, usual: Engine) -> Vec<(&'static str, Engine, u32)> {
    let Asked { net, query, .. } = asked;
    let mut all = vec![(if matches!(usual, Engine::Reach(_)) { "zones" } else { "lazy" }, usual, 1)];
    if net.has_rates() {
        return all;
    }
    let diagonal = Bounds::new(net, query).diagonal;
    let clocks = if diagonal { Clocks::Interpolation(Direction::Forward) } else { Clocks::Bounds };
    let options = lazy::Options::default();
    let deep = lazy::Options { order: Order::Dfs, ..options };
    let zones = reach::Options::default();
    let data = |data| Engine::Lazy { clocks, data, options };
    if !net.vars.is_empty() {
        all.push(("data by values", data(Data::Interpolation(Direction::Forward)), 1));
        all.push(("data by predicates", data(Data::Predicates(Direction::Forward)), 1));
    }
    all.push(("lazy bounds", Engine::Lazy { clocks, data: Data::Identity, options: deep }, 1));
    if matches!(usual, Engine::Lazy { .. }) && !diagonal {
        all.push(("zones", Engine::Reach(zones), 1));
    }
    all.push(("random order", Engine::Reach(reach::Options { order: Order::Shuffled(0), ..zones }), 1));
    let mut rest = all.split_off(1);
    rest.retain(|(_, e, _)| *e != usual && obstacle(net, query, *e).is_none());
    all.append(&mut rest);
    if has_much_data(net) && all.get(1).is_some_and(|(name, ..)| *name == "data by values") {
        all.swap(0, 1);
        all[1].2 = 2;
    }
    all[0].2 = all[1..].iter().map(|(_, _, share)| share).sum::<u32>().max(1);
    all
}

/// Depth first in random order, again and again.
fn restarts<'n>(asked: Asked<'n>, symmetry: &Symmetry, first: reach::Options) -> Turn<'n> {
    let symmetry = symmetry.clone();
    let (mut seed, mut most, mut now) = (0, DEEP, None);
    Box::new(move |meter| {
        loop {
            let turn = now.get_or_insert_with(|| {
                seed += 1;
                let engine = Engine::Reach(reach::Options { order: Order::Shuffled(seed), ..first });
                search(asked, engine, &symmetry, meter)
            });
            let answer = turn(&mut meter.clone().at_most(most))?;
            let again = matches!(answer.verdict, Verdict::Unknown(Reason::Iterations)) && answer.stats.added > most;
            if !again {
                return Ok(answer);
            }
            now = None;
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
    let all = all(asked, usual);
    if all.len() == 1 {
        return Ok((search(asked, usual, symmetry, meter)(meter)?, Some(usual)));
    }
    let (stats, limited) = (RefCell::new(Stats::default()), Cell::new(false));
    let runner = |&(name, engine, share): &(&'static str, Engine, u32)| {
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
        Runner::new(name, run).with_share(share)
    };
    let runners = all.iter().map(runner).collect();
    match rounds(runners, TURN, meter) {
        Ok(Found(answer, engine)) => Ok((answer?, Some(engine))),
        Err(why) => Ok((unknown(*stats.borrow(), why), Some(usual))),
    }
}
