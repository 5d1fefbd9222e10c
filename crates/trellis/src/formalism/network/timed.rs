//! The options for timed models: from the command line to an engine, and from an engine to words.

use trellis_engine::timed::bounds::Bounds;
use trellis_engine::timed::lazy::{self, block::Direction};
use trellis_engine::timed::reach::{self, Cover, Extrapolation};
use trellis_engine::timed::{Clocks, Config, Data, Engine, Fastest, default_engine, fastest, obstacle, symmetry};
use trellis_engine::waitlist::Order;
use trellis_meter::Meter;
use trellis_model::evidence::Verdict;
use trellis_model::network::{Certificate, Network, Query, QueryKind, Symmetry, Trace};

use super::folds;
use crate::Error;
use crate::settings::{self, Settings};

/// What came of a question.
type Found = Verdict<Trace, Certificate>;

/// Does the command line ask for lazy abstraction, whatever engine it names?
pub fn lazily(args: &Settings) -> bool {
    args.clocks.is_some() || args.data.is_some() || args.all_clocks
}

/// Does it say how zones are compared?
pub fn by_zones(args: &Settings) -> bool {
    args.extrapolation.is_some() || args.cover.is_some()
}

/// What the command line asks for.
pub fn config(args: &Settings, net: &Network, query: &Query) -> Result<Config, Error> {
    let say = |text: String| Err(Error::Usage(text));
    let order = args.order.map(|o| match o {
        settings::Order::Bfs => Order::Bfs,
        settings::Order::Dfs => Order::Dfs,
        settings::Order::Random => Order::Random(args.seed),
        // `usage` has refused the last.
        settings::Order::Priority | settings::Order::Largest | settings::Order::Error => Order::Priority,
    });
    if args.order == Some(settings::Order::Priority) || args.priority.is_some() {
        return say("--priority is for models without clocks; --order largest explores larger zones first".into());
    }
    if args.update.is_some() || args.join.is_some() || args.audit {
        return say("--update, --join and --audit are about lattices; the model has clocks".into());
    }
    let (lazily, by_zones) = (lazily(args), by_zones(args));
    let shortest = args.trace_kind == Some(settings::TraceKind::Shortest);
    if shortest && (args.order.is_some() || lazily || args.engine == settings::Engine::Lazy) {
        return say("--trace-kind shortest goes with --engine reach, and is an order itself".into());
    }
    let order = if shortest { Some(Order::Shortest) } else { order };
    if lazily && by_zones {
        return say(
            "--extrapolation and --cover go with --engine reach, --clocks, --data and --all-clocks with --engine lazy"
                .into(),
        );
    }
    if args.cover == Some(settings::Cover::Alu) && args.extrapolation.is_some() {
        return say(
            "--cover alu compares zones as they are; --extrapolation goes with --cover inclusion or equality".into()
        );
    }
    if args.symmetry && (lazily || args.engine == settings::Engine::Lazy) {
        return say("--symmetry goes with --engine reach".into());
    }
    if args.symmetry && net.has_priorities {
        return say("--symmetry does not go with priorities beside clocks".into());
    }
    let engine = match args.engine {
        settings::Engine::Reach if lazily => {
            return say("--clocks, --data and --all-clocks go with --engine lazy".into());
        }
        settings::Engine::Lazy if by_zones => return say("--extrapolation and --cover go with --engine reach".into()),
        settings::Engine::Auto if !lazily && !by_zones && !args.symmetry && !shortest => None,
        settings::Engine::Lazy => Some(lazy_engine(args, net, query, order)),
        settings::Engine::Auto if lazily => Some(lazy_engine(args, net, query, order)),
        // The others are for programs, and were refused before.
        _ => {
            let default = reach::Options::default();
            let extrapolation = match args.extrapolation {
                Some(settings::Extrapolation::None) => Extrapolation::None,
                Some(settings::Extrapolation::M) => Extrapolation::M,
                Some(settings::Extrapolation::Lu) => Extrapolation::Lu,
                Some(settings::Extrapolation::LuPlus) => Extrapolation::LuPlus,
                None => default.extrapolation,
            };
            let cover = match args.cover {
                Some(settings::Cover::Equality) => Cover::Equality,
                Some(settings::Cover::Inclusion) => Cover::Inclusion,
                Some(settings::Cover::Alu) => Cover::Alu,
                // Simulation compares exact zones.
                None if args.extrapolation.is_some() => Cover::Inclusion,
                None => default.cover,
            };
            Some(Engine::Reach(reach::Options { extrapolation, cover, order: order.unwrap_or(default.order) }))
        }
    };
    if let Some(why) = engine.and_then(|e| obstacle(net, query, e)) {
        return say(format!("`{}`: {why}", query.text));
    }
    let certificate = !args.no_check || args.certificate.is_some() || args.html.is_some();
    Ok(Config { engine, order, certificate, non_zeno: args.non_zeno, symmetry: folds(args, net) })
}

fn lazy_engine(args: &Settings, net: &Network, query: &Query, order: Option<Order>) -> Engine {
    let default = match default_engine(net, query, None, &Symmetry::default()) {
        Engine::Lazy { clocks, .. } => clocks,
        Engine::Reach(_) => Clocks::Bounds,
    };
    let clocks = match args.clocks {
        Some(settings::Clocks::Forward) => Clocks::Interpolation(Direction::Forward),
        Some(settings::Clocks::Backward) => Clocks::Interpolation(Direction::Backward),
        Some(settings::Clocks::Bounds) => Clocks::Bounds,
        None => default,
    };
    let options = lazy::Options::default();
    let options = lazy::Options { order: order.unwrap_or(options.order), reduce: !args.all_clocks, ..options };
    let data = match args.data {
        None | Some(settings::Data::Identity) => Data::Identity,
        Some(settings::Data::Forward) => Data::Interpolation(Direction::Forward),
        Some(settings::Data::Backward) => Data::Interpolation(Direction::Backward),
        Some(settings::Data::Predicates) => Data::Predicates(Direction::Forward),
        Some(settings::Data::PredicatesBackward) => Data::Predicates(Direction::Backward),
        Some(settings::Data::PredicatesSequence) => Data::Predicates(Direction::Sequence),
    };
    Engine::Lazy { clocks, data, options }
}

/// The engine in words.
pub fn engine_line(config: &Config, net: &Network, query: &Query) -> String {
    if !matches!(query.kind, QueryKind::Always(_) | QueryKind::Possibly(_)) {
        return "zone graph with cycles".into();
    }
    let order = |o: Order| match o {
        Order::Bfs | Order::Shortest => "breadth first".to_string(),
        Order::Dfs => "depth first".to_string(),
        Order::Random(seed) => format!("random order, seed {seed}"),
        Order::Shuffled(seed) => format!("depth first in random order, seed {seed}"),
        Order::Priority => "larger zones first".to_string(),
    };
    let symmetry = symmetry(net, query, config);
    match config.engine.unwrap_or_else(|| default_engine(net, query, config.order, &symmetry)) {
        Engine::Reach(o) => {
            let o = o.sound(query, Bounds::new(net, query).diagonal);
            let forget = match o.extrapolation {
                Extrapolation::None => "exact zones",
                Extrapolation::M => "Extra-M",
                Extrapolation::Lu => "Extra-LU",
                Extrapolation::LuPlus => "Extra-LU+",
            };
            let cover = match o.cover {
                Cover::Equality => format!("{forget}, equality"),
                Cover::Inclusion => format!("{forget}, inclusion"),
                Cover::Alu if query.deadlock => "a⊑M".to_string(),
                Cover::Alu => "a⊑LU".to_string(),
            };
            let folded = if symmetry.is_empty() { "" } else { ", up to symmetry" };
            format!("reach, zones, {cover}, {}{folded}", order(o.order))
        }
        Engine::Lazy { clocks, data, options } => {
            let clocks = match clocks {
                Clocks::Interpolation(Direction::Forward | Direction::Sequence) => "zone interpolation forward",
                Clocks::Interpolation(Direction::Backward) => "zone interpolation backward",
                Clocks::Bounds => "bounds",
            };
            let data = match data {
                Data::Identity => "",
                Data::Interpolation(Direction::Forward | Direction::Sequence) => ", data by interpolation forward",
                Data::Interpolation(Direction::Backward) => ", data by interpolation backward",
                Data::Predicates(Direction::Forward) => ", data by predicates forward",
                Data::Predicates(Direction::Backward) => ", data by predicates backward",
                Data::Predicates(Direction::Sequence) => ", data by predicates, whole paths at once",
            };
            format!("lazy, {clocks}{data}, {}", order(options.order))
        }
    }
}

/// What is asked for where a run was found: one that no other is faster than. Answers what is to be said about it.
pub fn hasten(net: &Network, query: &Query, verdict: &mut Found, meter: &mut Meter) -> Option<String> {
    let Verdict::Unsafe(trace) = verdict else { return None };
    let why = match fastest(net, query, trace, meter) {
        Ok(Fastest::Run(run)) => {
            *trace = run;
            return None;
        }
        Ok(Fastest::Open(least)) => return Some(format!("no run is the fastest: each takes more than {least}")),
        Ok(Fastest::Unknown(why)) => why.to_string(),
        Err(broken) => broken.error.to_string(),
    };
    Some(format!("the run may not be the fastest: {why}"))
}
