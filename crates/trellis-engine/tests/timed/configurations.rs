//! The ways to explore a timed network.

use trellis_engine::budget::Budget;
use trellis_engine::lazy::block::{Direction, Interpolating};
use trellis_engine::lazy::lu::Bounding;
use trellis_engine::lazy::zone::ZoneInterpolation;
use trellis_engine::lazy::{self, Lazy, Refiner};
use trellis_engine::timed::bounds::Bounds;
use trellis_engine::timed::reach::{self, Cover, Extrapolation, ZoneGraph};
use trellis_engine::timed::target::{Target, Trouble};
use trellis_engine::waitlist::Order;
use trellis_model::network::{Condition, Network, Post, Query, QueryKind};

/// What is refined lazily, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refine {
    Forward,
    Backward,
    Bounds,
}

/// One way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Zones(Extrapolation, Cover, Order),
    Lazy(Refine, Order, bool),
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// There is something to find.
    Found,
    /// There is nothing.
    Nothing,
    /// A limit.
    Stopped,
    /// The model is broken.
    Broken(String),
    /// This way is not for this question.
    Unsuited,
}

/// All ways, with the orders drawn by `seed`.
pub fn ways(seed: u64) -> Vec<Way> {
    let orders = [Order::Bfs, Order::Dfs, Order::Random(seed), Order::Priority];
    let mut turn = seed as usize;
    let mut order = || {
        turn += 1;
        orders[turn % orders.len()]
    };
    let mut all = vec![
        Way::Zones(Extrapolation::None, Cover::Inclusion, order()),
        Way::Zones(Extrapolation::None, Cover::Equality, order()),
        // Alu keeps zones exact, whatever the extrapolation.
        Way::Zones(Extrapolation::LuPlus, Cover::Alu, order()),
        Way::Zones(Extrapolation::None, Cover::Alu, order()),
    ];
    for extrapolation in [Extrapolation::M, Extrapolation::Lu, Extrapolation::LuPlus] {
        for cover in [Cover::Equality, Cover::Inclusion] {
            all.push(Way::Zones(extrapolation, cover, order()));
        }
    }
    for refine in [Refine::Forward, Refine::Backward, Refine::Bounds] {
        for reduce in [true, false] {
            // Lazy abstraction has no ranks to order by.
            let order = match order() {
                Order::Priority => Order::Bfs,
                order => order,
            };
            all.push(Way::Lazy(refine, order, reduce));
        }
    }
    all
}

/// What is looked for: a condition, and the value that it is to have.
pub fn sought(query: &Query) -> Option<(Condition, bool)> {
    match query.kind {
        QueryKind::Always(p) => Some((p, false)),
        QueryKind::Possibly(p) => Some((p, true)),
        _ => None,
    }
}

fn trouble(trouble: Trouble) -> Outcome {
    Outcome::Broken(match trouble {
        Trouble::Model(e) => e.to_string(),
        Trouble::Range => "a constant out of range".into(),
    })
}

/// Answers a question in one way.
pub fn explore(net: &Network, query: &Query, way: Way, limit: u64) -> Outcome {
    let Some((condition, value)) = sought(query) else { return Outcome::Unsuited };
    let mut target = Target::new(&Post::new(net), query, condition, value);
    let budget = &mut Budget::unlimited().states(Some(limit));
    let (refine, options) = match way {
        Way::Zones(extrapolation, cover, order) => {
            let mut graph = ZoneGraph::new(net, query, reach::Options { extrapolation, cover, order });
            return match graph.explore(query, Some(&mut target), budget) {
                reach::Ending::Exhausted => Outcome::Nothing,
                reach::Ending::Found(..) => Outcome::Found,
                reach::Ending::Stopped(_) => Outcome::Stopped,
                reach::Ending::Broken(_, t) => trouble(t),
            };
        }
        Way::Lazy(refine, order, reduce) => (refine, lazy::Options { order, reduce }),
    };
    fn lazily<R: Refiner>(mut l: Lazy<'_, R>, query: &Query, t: &mut Target, budget: &mut Budget<'_>) -> Outcome {
        match l.check(query, Some(t), budget) {
            lazy::Ending::Closed => Outcome::Nothing,
            lazy::Ending::Found(..) => Outcome::Found,
            lazy::Ending::Stopped(_) => Outcome::Stopped,
            lazy::Ending::Broken(_, t) => trouble(t),
        }
    }
    let interpolating = |direction| Interpolating::new(ZoneInterpolation::default(), direction);
    match refine {
        Refine::Forward => {
            lazily(Lazy::new(net, query, options, interpolating(Direction::Forward)), query, &mut target, budget)
        }
        Refine::Backward => {
            lazily(Lazy::new(net, query, options, interpolating(Direction::Backward)), query, &mut target, budget)
        }
        Refine::Bounds if Bounds::new(net, query).diagonal => Outcome::Unsuited,
        Refine::Bounds => {
            lazily(Lazy::new(net, query, options, Bounding::new(net.clocks.len())), query, &mut target, budget)
        }
    }
}
