//! The ways to answer a question about a timed network.

use trellis_engine::timed::answer::{Clocks, Config, Data, Engine};
use trellis_engine::timed::lazy;
use trellis_engine::timed::lazy::block::Direction;
use trellis_engine::timed::reach::{self, Cover, Extrapolation};
use trellis_engine::waitlist::Order;

/// All ways, each with an order drawn by `seed`; the last one is what nobody has to choose.
pub fn ways(seed: u64) -> Vec<Config> {
    let orders = [Order::Bfs, Order::Dfs, Order::Random(seed), Order::Priority];
    let mut turn = seed as usize;
    let mut order = || {
        turn += 1;
        orders[turn % orders.len()]
    };
    let mut zones = vec![
        (Extrapolation::None, Cover::Inclusion),
        (Extrapolation::None, Cover::Equality),
        // Alu keeps zones exact, whatever the extrapolation.
        (Extrapolation::LuPlus, Cover::Alu),
        (Extrapolation::None, Cover::Alu),
    ];
    for extrapolation in [Extrapolation::M, Extrapolation::Lu, Extrapolation::LuPlus] {
        zones.extend([Cover::Equality, Cover::Inclusion].map(|cover| (extrapolation, cover)));
    }
    let mut all = Vec::new();
    for (extrapolation, cover) in zones {
        all.push(Some(Engine::Reach(reach::Options { extrapolation, cover, order: order() })));
    }
    for clocks in
        [Clocks::Interpolation(Direction::Forward), Clocks::Interpolation(Direction::Backward), Clocks::Bounds]
    {
        for reduce in [true, false] {
            let options = lazy::Options { order: order(), reduce, ..lazy::Options::default() };
            all.push(Some(Engine::Lazy { clocks, data: Data::Identity, options }));
            for direction in [Direction::Forward, Direction::Backward] {
                let options = lazy::Options { order: order(), ..options };
                all.push(Some(Engine::Lazy { clocks, data: Data::Interpolation(direction), options }));
            }
        }
    }
    // Solvers take their time: each direction with one kind of clocks.
    let kinds = [Clocks::Interpolation(Direction::Forward), Clocks::Interpolation(Direction::Backward), Clocks::Bounds];
    for (k, direction) in [Direction::Forward, Direction::Backward, Direction::Sequence].into_iter().enumerate() {
        // In small models formulas are small: every other time, hardly any is taken back.
        let largest_formula = if seed.is_multiple_of(2) { lazy::Options::default().largest_formula } else { 4 };
        let options = lazy::Options { order: order(), largest_formula, ..lazy::Options::default() };
        let clocks = kinds[(seed as usize + k) % kinds.len()];
        all.push(Some(Engine::Lazy { clocks, data: Data::Predicates(direction), options }));
    }
    all.push(None);
    // What nobody chooses is explored up to symmetry.
    all.into_iter()
        .map(|engine| Config { engine, order: None, non_zeno: false, certificate: true, symmetry: engine.is_none() })
        .collect()
}
