//! Growth with the number of nodes: each node abstracted where it stands (001 Ch. 5), against all reachable states on relations. The models
//! are made here ([`families`]); what hierarchical refinement counts is known (`bench/hierarchy/expected.tsv`) and must be the same.

use std::time::{Duration, Instant};

use trellis_domain::relation::Memory;
use trellis_engine::cover::Question;
use trellis_engine::cover::reach::{Direction, reach};
use trellis_engine::hierarchy::cover::Neat;
use trellis_engine::hierarchy::predicates::Rows;
use trellis_engine::hierarchy::{Options, Split, cegar_in};
use trellis_meter::Meter;
use trellis_model::evidence::Verdict;
use trellis_model::hierarchy::symbolic::Symbolic;
use trellis_model::hierarchy::tree::detach::detach;
use trellis_syntax::altarica::{Built, parse};
use trellis_syntax::diag::Sources;

use super::families::{self, Model};
use crate::cli::Bench;
use trellis::Error;

const EXPECTED: &str = include_str!("../../../../bench/hierarchy/expected.tsv");
/// How long each search may take.
const LIMIT: Duration = Duration::from_secs(60);

/// A family and its numbers.
type Family = (&'static str, fn(usize) -> Model, &'static [usize]);

const FAMILIES: [Family; 8] = [
    ("stack", families::stack, &[5, 10, 20, 40]),
    ("fifo", families::fifo, &[2, 4, 6, 8, 10]),
    ("wheels", |n| families::wheels(n, false), &[5, 10, 15, 20]),
    ("dysfunctional wheels", |n| families::wheels(n, true), &[2, 4, 6, 10, 20]),
    ("token ring", families::ring, &[4, 8, 12, 16]),
    ("counting", families::count, &[4, 8, 12, 14]),
    ("alarm", families::alarm, &[4, 8, 16, 40]),
    ("clients", families::clients, &[4, 8, 16, 40]),
];

/// How refinements and pruning are chosen, for those that need one or the other.
const CHOICES: [(&str, Options); 6] = [
    ("default", choice(Split::Along, Neat::Watched, true)),
    ("no pruning", choice(Split::Along, Neat::Watched, false)),
    ("refine failure", choice(Split::Failure, Neat::Watched, true)),
    ("refine interpolants", choice(Split::Interpolants, Neat::Watched, true)),
    ("neat", choice(Split::Along, Neat::All, true)),
    ("no symmetry", Options { symmetry: false, ..choice(Split::Along, Neat::Watched, true) }),
];
const CHOSEN: [Family; 4] = [
    ("token ring", families::ring, &[4, 8, 12]),
    ("alarm", families::alarm, &[8, 12]),
    ("clients", families::clients, &[6, 10]),
    ("fifo", families::fifo, &[6]),
];

const fn choice(split: Split, neat: Neat, pruning: bool) -> Options {
    Options { neat, split, pruning, symmetry: true, limit: None }
}

/// Prints the table; answers whether all counts are as expected.
pub fn bench(args: &Bench) -> Result<bool, Error> {
    let mut agree = true;
    println!(
        "{:<21} {:>3}  {:<7} {:>9} {:>8} {:>8}   {:<7} {:>22} {:>8}",
        "", "N", "nodes", "abstract", "refined", "s", "all", "configurations", "s"
    );
    for (name, make, numbers) in FAMILIES {
        for &n in numbers {
            if args.quick && n > 8 {
                continue;
            }
            let model = make(n);
            let (built, bad) = read(&model)?;
            let ours = here(&built, bad, &Options::default())?;
            let theirs = everything(&built, bad);
            println!("{name:<21} {n:>3}  {}   {theirs}", ours.0);
            let expected = EXPECTED.lines().find(|l| l.starts_with(&format!("{name}\t{n}\t")));
            if expected != Some(&format!("{name}\t{n}\t{}", ours.1)) {
                println!("   expected {}, found {}", expected.unwrap_or("nothing"), ours.1.replace('\t', " "));
                agree = false;
            }
        }
    }
    println!("\n{:<21} {:>3}  {:<20} {:<7} {:>9} {:>8} {:>8}", "", "N", "choice", "nodes", "abstract", "refined", "s");
    for (name, make, numbers) in CHOSEN {
        for &n in numbers.iter().filter(|n| !args.quick || **n <= 8) {
            let (built, bad) = read(&make(n))?;
            for (words, options) in &CHOICES {
                println!("{name:<21} {n:>3}  {words:<20} {}", here(&built, bad, options)?.0);
            }
        }
    }
    Ok(agree)
}

fn read(model: &Model) -> Result<(Built, trellis_expr::TermId), Error> {
    let broken = |what: &str| Error::Internal(format!("a model of the benchmark: {what}"));
    let mut sources = Sources::default();
    let id = sources.add("model.alt", model.text.as_str());
    let (file, _) = parse(&sources, id).map_err(|_| broken("cannot be read"))?;
    let nodes = file.nodes();
    let top = nodes.last().ok_or_else(|| broken("has no node"))?;
    let (mut built, _) = file.build(top, &[]).map_err(|_| broken("cannot be built"))?;
    let id = sources.add("condition", model.bad.as_str());
    let bad = built.condition(&sources, id).map_err(|_| broken("what is bad cannot be read"))?;
    Ok((built, bad))
}

fn word<T, C>(verdict: &Verdict<T, C>) -> &'static str {
    match verdict {
        Verdict::Safe(_) => "SAFE",
        Verdict::Unsafe(_) => "UNSAFE",
        Verdict::Unknown(_) => "UNKNOWN",
    }
}

/// A row, and what must be the same each time.
fn here(built: &Built, bad: trellis_expr::TermId, options: &Options) -> Result<(String, String), Error> {
    let started = Instant::now();
    let h = &built.hierarchy;
    let refused = |e: trellis_model::hierarchy::tree::detach::Error| Error::Internal(e.to_string());
    let detached = detach(h, 1 << 20).map_err(refused)?;
    let bad = detached.condition(h, bad).map_err(refused)?;
    let mut budget = Meter::unlimited().time(Some(LIMIT));
    let rows: Vec<Rows> = detached.units.iter().map(|u| u.configurations.to_vec()).collect();
    let found = cegar_in(&detached.tree, &bad, &rows, options, &mut budget);
    let seconds = started.elapsed().as_secs_f64();
    let (said, states, refined) = (word(&found.verdict), found.states, found.refinements);
    Ok((format!("{said:<7} {states:>9} {refined:>8} {seconds:>8.3}"), format!("{said}\t{states}\t{refined}")))
}

fn everything(built: &Built, bad: trellis_expr::TermId) -> String {
    let started = Instant::now();
    let h = &built.hierarchy;
    let answer = Symbolic::new(h, 2, Memory::default()).and_then(|m| {
        let question = Question { hierarchy: h, symbolic: &m, initial: m.initial(h)?, bad: m.satisfying(h, bad)? };
        let found = reach(&question, Direction::Forward, &mut Meter::unlimited().time(Some(LIMIT)));
        let count = found.configurations.map_or_else(|| "-".into(), |n| n.to_string());
        Ok((word(&found.verdict), count))
    });
    let seconds = started.elapsed().as_secs_f64();
    match answer {
        Ok((said, count)) => format!("{said:<7} {count:>22} {seconds:>8.3}"),
        Err(why) => format!("{why}"),
    }
}
