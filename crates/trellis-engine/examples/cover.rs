//! Runs one engine on one file: for measuring.
use std::time::{Duration, Instant};
use trellis_engine::budget::Budget;
use trellis_engine::wsts::{Engine, backward, check, lazy};
use trellis_model::counter::evidence::{Certificate, Verdict};
use trellis_syntax::{diag::Sources, spec};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let engine = match args[1].as_str() {
        "backward" => Engine::Backward(backward::Options { prune: false }),
        "pruned" => Engine::Backward(backward::Options { prune: true }),
        "lazy" => Engine::Lazy(lazy::Options::default()),
        "forward" => Engine::Forward,
        "equation" => Engine::Equation,
        _ => Engine::Portfolio(1),
    };
    let seconds: u64 = args[2].parse().unwrap();
    for path in &args[3..] {
        let mut sources = Sources::default();
        let id = sources.add(path.clone(), spec::decode(std::fs::read(path).unwrap()));
        let Ok(spec) = spec::parse(&sources, id) else { continue };
        let begin = Instant::now();
        let mut budget = Budget::unlimited().time(Some(Duration::from_secs(seconds)));
        let outcome = check(&spec.system, &engine, &mut budget);
        let took = begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        let (word, size, ok) = match &outcome.verdict {
            Verdict::Safe(c) => {
                let size = match c { Certificate::Above { bounds, basis } => format!("{}+{}", bounds.len(), basis.len()), Certificate::Below(t) => format!("<{}", t.len()) };
                ("safe", size, format!("{:?}", trellis_check::counter::certify(&spec.system, c)))
            }
            Verdict::Unsafe(t) => ("unsafe", t.rules.len().to_string(), format!("{:?}", trellis_check::counter::replay(&spec.system, t))),
            Verdict::Unknown(why) => ("?", why.to_string(), String::new()),
        };
        println!("{}\t{word}\t{took:.2}\t{size}\t{ok} {:.2}\t{} stored {} expanded {} refined\t{:?}", path, begin.elapsed().as_secs_f64(), outcome.stats.stored, outcome.stats.expanded, outcome.stats.refinements, outcome.by.map(|e| e.to_string()));
    }
}
