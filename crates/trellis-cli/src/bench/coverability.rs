//! Counter systems: what each engine decides and how fast, beside what other tools do.
//!
//! `--models FOLDER` has models and a table `EXPECTED.tsv` (model, verdict); without it the bundled ones are taken. If there is a table
//! `baselines.tsv` (model, then for each tool verdict and seconds), it is shown beside. The portfolio has 60 seconds of one processor for
//! a model, single engines have 20. At the end the portfolio is compared with the two tools that are best together, on the models that
//! both were tried on, with 20 seconds for a model.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use trellis_check::counter::{certify, replay};
use trellis_engine::wsts::{Engine, backward, check, forward, lazy};
use trellis_meter::Meter;
use trellis_model::counter::System;
use trellis_model::evidence::Verdict;
use trellis_syntax::diag::Sources;
use trellis_syntax::spec;

use super::Watch;
use crate::cli::Bench;
use trellis::Error;

/// What came of one engine on one model.
struct Run {
    safe: Option<bool>,
    seconds: f64,
}

/// What an engine comes to.
#[derive(Default)]
struct Sum {
    decided: usize,
    wrong: usize,
    seconds: f64,
}

fn engines() -> [(&'static str, Engine); 8] {
    let lazily = lazy::Options::default();
    [
        ("portfolio", Engine::Portfolio(1)),
        ("backward", Engine::Backward(backward::Options { prune: true })),
        ("no-prune", Engine::Backward(backward::Options { prune: false })),
        ("forward", Engine::Forward(forward::Options { guide: true })),
        ("no-guide", Engine::Forward(forward::Options { guide: false })),
        ("equation", Engine::Equation),
        ("frames", Engine::Frames),
        ("wsts", Engine::Lazy(lazy::Options { project: true, ..lazily })),
    ]
}

fn load(path: &Path) -> Option<System> {
    let mut sources = Sources::default();
    let id = sources.add(path.display().to_string(), spec::decode(std::fs::read(path).ok()?));
    Some(spec::parse(&sources, id).ok()?.system)
}

/// Model, verdict; other columns are not looked at.
fn rows(path: &Path) -> Result<Vec<Vec<String>>, Error> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::Usage(format!("{}: {e}", path.display())))?;
    Ok(text.lines().map(|l| l.split('\t').map(str::to_string).collect()).collect())
}

fn run(system: &System, engine: &Engine, limit: u64) -> Result<Run, String> {
    let watch = Watch::start();
    let (begin, before) = (std::time::Instant::now(), Watch::everybody());
    let mut budget = Meter::unlimited().time(Some(Duration::from_secs(limit)));
    let outcome = check(system, engine, &mut budget);
    // The portfolio works on a thread of its own.
    let seconds = match engine {
        Engine::Portfolio(_) => match (begin.elapsed().as_secs_f64(), before, Watch::everybody()) {
            (passed, Some(before), Some(now)) if passed > 0.05 => now - before,
            (passed, ..) => passed,
        },
        _ => watch.seconds(),
    };
    let safe = match &outcome.verdict {
        Verdict::Safe(c) => certify(system, c).map(|()| Some(true)).map_err(|e| e.to_string())?,
        Verdict::Unsafe(t) => replay(system, t).map(|()| Some(false)).map_err(|e| e.to_string())?,
        Verdict::Unknown(_) => None,
    };
    Ok(Run { safe, seconds })
}

/// Prints the table; answers whether nobody was wrong.
pub fn bench(args: &Bench) -> Result<bool, Error> {
    let folder = args.models.clone().unwrap_or_else(|| PathBuf::from("models/coverability"));
    let expected = rows(&folder.join("EXPECTED.tsv"))?;
    let baselines = rows(&folder.join("baselines.tsv")).unwrap_or_default();
    let tools: Vec<String> = baselines.first().map_or(vec![], |r| r[1..].to_vec());
    let theirs: BTreeMap<&str, &[String]> = baselines.iter().skip(1).map(|r| (r[0].as_str(), &r[1..])).collect();
    let limit = |e: &Engine| match (args.quick, e) {
        (true, Engine::Portfolio(_)) => 5,
        (true, _) => 2,
        (false, Engine::Portfolio(_)) => 60,
        (false, _) => 20,
    };
    let mut sums: [Sum; 8] = Default::default();
    let mut their_sums: Vec<Sum> = tools.iter().map(|_| Sum::default()).collect();
    let (mut models, mut refused, mut right) = (0, 0, true);
    // Backward search, ours and that of the first tool, on what both decide.
    let mut both: Vec<(String, f64, f64)> = vec![];
    // Models that the portfolio decides in so many seconds.
    let mut decided: BTreeMap<String, f64> = BTreeMap::new();
    print!("{:<60} {:<7}", "model", "verdict");
    engines().iter().for_each(|(name, _)| print!(" {name:>9}"));
    tools.iter().for_each(|name| print!(" {name:>14}"));
    println!();
    for row in expected.iter().skip(1).filter(|r| r.len() >= 2 && r[0].ends_with(".spec")) {
        let Some(system) = load(&folder.join(&row[0])) else {
            refused += 1;
            continue;
        };
        models += 1;
        let mut verdict = row[1].clone();
        let (mut cells, mut backward) = (vec![], None);
        for ((name, engine), sum) in engines().iter().zip(&mut sums) {
            let run = match run(&system, engine, limit(engine)) {
                Ok(run) => run,
                Err(why) => {
                    println!("{}: {name}: evidence refused: {why}", row[0]);
                    (right, sum.wrong) = (false, sum.wrong + 1);
                    continue;
                }
            };
            cells.push(match run.safe {
                None => "-".into(),
                Some(safe) => {
                    let word = if safe { "safe" } else { "unsafe" };
                    if verdict != word && verdict != "?" {
                        println!("{}: {name} says {word}, which is wrong", row[0]);
                        (right, sum.wrong) = (false, sum.wrong + 1);
                    }
                    verdict = word.into();
                    sum.decided += 1;
                    sum.seconds += run.seconds;
                    match *name {
                        "backward" => backward = Some(run.seconds),
                        "portfolio" => drop(decided.insert(row[0].trim_end_matches(".spec").into(), run.seconds)),
                        _ => {}
                    }
                    format!("{:.2}", run.seconds)
                }
            });
        }
        let model = row[0].trim_end_matches(".spec");
        print!("{:<60} {verdict:<7}", &model[model.len().saturating_sub(60)..]);
        cells.iter().for_each(|c| print!(" {c:>9}"));
        if let (Some(Some(other)), Some(ours)) = (theirs.get(model).map(|r| seconds(&r[0])), backward) {
            both.push((model.to_string(), ours, other));
        }
        if let Some(row) = theirs.get(model) {
            for (cell, sum) in row.iter().zip(&mut their_sums) {
                print!(" {cell:>14}");
                if let Some(s) = seconds(cell) {
                    sum.decided += 1;
                    sum.seconds += s;
                }
            }
        }
        println!();
    }
    println!("\n{models} models; {refused} are refused (they ask for reachability, or cannot be read)");
    for ((name, _), sum) in engines().iter().zip(&sums) {
        println!("{name:<14} decides {:>4}, {} wrong, {:.2} s for these", sum.decided, sum.wrong, sum.seconds);
    }
    for (name, sum) in tools.iter().zip(&their_sums) {
        println!("{name:<14} decides {:>4} of those it was tried on, {:.2} s for these", sum.decided, sum.seconds);
    }
    if let Some(tool) = tools.first().filter(|_| !both.is_empty()) {
        let (ours, other) = both.iter().fold((0.0, 0.0), |s, b| (s.0 + b.1, s.1 + b.2));
        let times = other / ours.max(0.01);
        println!(
            "\n{tool} and backward both decide {}: {other:.2} s against {ours:.2} s, {times:.0} times",
            both.len()
        );
        // Their clock has hundredths.
        for (model, ours, other) in both.iter().filter(|b| b.2 + 0.005 < 5.0 * b.1) {
            println!("  less than 5 times: {model}, {other:.2} s against {ours:.3} s");
        }
    }
    if let Some(text) = sample(&tools, &theirs, &decided) {
        println!("\n{text}");
    }
    Ok(right)
}

/// Of the models that two tools were tried on, how many they decide together in 20 seconds each, and how many the portfolio: for the
/// two that decide most.
fn sample(tools: &[String], theirs: &BTreeMap<&str, &[String]>, ours: &BTreeMap<String, f64>) -> Option<String> {
    const LIMIT: f64 = 20.0;
    let within = |cell: &str| seconds(cell).is_some_and(|s| s <= LIMIT);
    let pairs = (0..tools.len()).flat_map(|a| (a + 1..tools.len()).map(move |b| (a, b)));
    let count = |(a, b): (usize, usize)| {
        let tried: Vec<_> = theirs.iter().filter(|(_, r)| r[a] != "-" && r[b] != "-").collect();
        let together = tried.iter().filter(|(_, r)| within(&r[a]) || within(&r[b])).count();
        let here = tried.iter().filter(|(m, _)| ours.get(**m).is_some_and(|s| *s <= LIMIT)).count();
        (together, here, tried.len(), a, b)
    };
    let (together, here, tried, a, b) = pairs.map(count).max_by_key(|c| c.0)?;
    Some(format!(
        "of {tried} models that both {} and {} were tried on, in 20 s each, they decide {together} together; the portfolio {here}",
        tools[a], tools[b]
    ))
}

/// The seconds of a verdict in a table.
fn seconds(cell: &str) -> Option<f64> {
    let (verdict, seconds) = cell.split_once(' ')?;
    if ["safe", "unsafe"].contains(&verdict) { seconds.parse().ok() } else { None }
}
