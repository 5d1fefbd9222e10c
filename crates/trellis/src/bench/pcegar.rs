//! 001 Table 4.1 beside ours: `Cegar` and `PCegar`, with paths looked at from their start (Post) and from their end (Pre). The thesis's
//! own models are lost; ours are of the same protocols, and most counts are to be compared, not to be equal.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use trellis_domain::relation::Memory;
use trellis_engine::budget::Budget;
use trellis_engine::cover::cegar::{Found, Iteration, Options, cegar, control_locations};
use trellis_engine::cover::reach::Direction;
use trellis_engine::cover::{Question, reason};
use trellis_model::evidence::Verdict;
use trellis_model::hierarchy::symbolic::Symbolic;
use trellis_syntax::altarica::parse;
use trellis_syntax::diag::Sources;

use crate::Failure;
use crate::cli::Bench;

const PAPER: &str = include_str!("../../../../bench/pcegar/paper.tsv");

/// Prints the table; answers whether the counts that are known agree.
pub fn bench(args: &Bench) -> Result<bool, Failure> {
    let (mut agree, mut absent) = (true, 0);
    println!(
        "{:<11} {:<4} {:<3} {:>8} {:>6} {:>9} {:>7} {:>9} {:>8}   in 001",
        "model", "", "", "loops", "path", "images", "states", "moved", "s"
    );
    for row in PAPER.lines().filter(|l| !l.starts_with('#')) {
        let f: Vec<&str> = row.split('\t').collect();
        let [
            name,
            file,
            way,
            loops_c,
            loops_p,
            path_c,
            path_p,
            images_c,
            images_p,
            states_c,
            states_p,
            moved_c,
            moved_p,
            exact,
        ] = f[..]
        else {
            return Err(Failure::Internal(format!("a broken row in the table of the paper: {row}")));
        };
        let Some(model) = find(args, file) else {
            absent += 1;
            continue;
        };
        if args.quick && !file.starts_with("peterson") {
            continue;
        }
        let analysis = if way == "Post" { Direction::Forward } else { Direction::Backward };
        for (pruning, paper) in [
            (false, [loops_c, path_c, images_c, states_c, moved_c]),
            (true, [loops_p, path_p, images_p, states_p, moved_p]),
        ] {
            let options = Options { pruning, analysis, ..Options::default() };
            let started = Instant::now();
            let found = run(&model, &options)?;
            let seconds = started.elapsed().as_secs_f64();
            let algorithm = if pruning { "PC" } else { "C" };
            if !matches!(found.verdict, Verdict::Safe(_)) {
                println!("{name:<11} {way:<4} {algorithm:<3} {:>8}", "no answer");
                continue;
            }
            let n = found.iterations.len() as u64;
            let sum = |of: &dyn Fn(&Iteration) -> u64| found.iterations.iter().map(of).sum::<u64>();
            let mean = |of: &dyn Fn(&Iteration) -> u64| sum(of) / n.max(1);
            let images = sum(&|i| i.analysis);
            let (path, states) = (mean(&|i| i.path as u64), mean(&|i| i.states as u64));
            println!(
                "{name:<11} {way:<4} {algorithm:<3} {n:>8} {path:>6} {images:>9} {states:>7} {:>9} {seconds:>8.2}   {}",
                sum(&|i| i.distribution),
                paper.join(" / ")
            );
            if exact == "exact" && !pruning {
                agree &= n.to_string() == loops_c && images.to_string() == images_c;
            }
        }
    }
    if absent > 0 {
        println!("{absent} rows are left out, because their models are not here (--models FOLDER)");
    }
    Ok(agree)
}

fn find(args: &Bench, file: &str) -> Option<PathBuf> {
    let folders = args.models.iter().map(PathBuf::as_path).chain([Path::new("models/altarica")]);
    folders.map(|f| f.join(format!("{file}.alt"))).find(|p| p.is_file())
}

/// What is bad is in the specification beside the model: `bad := any_s & [condition];`.
fn run(model: &Path, options: &Options) -> Result<Found, Failure> {
    let broken = |what: &str| Failure::Usage(format!("{}: {what}", model.display()));
    let read = |path: &Path| std::fs::read_to_string(path).map_err(|e| broken(&e.to_string()));
    let spec = read(&model.with_extension("spe"))?;
    let line =
        spec.lines().find(|l| l.contains("bad :=")).ok_or_else(|| broken("its specification says not what is bad"))?;
    let (Some(start), Some(end)) = (line.find('['), line.rfind(']')) else {
        return Err(broken("its specification says not what is bad"));
    };
    let mut sources = Sources::default();
    let id = sources.add(model.display().to_string(), read(model)?);
    let (file, _) = parse(&sources, id).map_err(|_| broken("cannot be read"))?;
    let nodes = file.nodes();
    let top = nodes.last().ok_or_else(|| broken("has no node"))?;
    let (mut built, _) = file.build(top, &[]).map_err(|_| broken("cannot be read"))?;
    let id = sources.add("condition", &line[start + 1..end]);
    let bad = built.condition(&sources, id).map_err(|_| broken("what is bad cannot be read"))?;
    let hierarchy = &built.hierarchy;
    let fail = |e| broken(&reason(e).to_string());
    let symbolic = Symbolic::new(hierarchy, 2, Memory::default()).map_err(fail)?;
    let question = Question {
        hierarchy,
        symbolic: &symbolic,
        initial: symbolic.initial(hierarchy).map_err(fail)?,
        bad: symbolic.satisfying(hierarchy, bad).map_err(fail)?,
    };
    let locations = control_locations(&question).map_err(fail)?;
    Ok(cegar(&question, &locations, options, &mut Budget::unlimited().time(Some(Duration::from_secs(120)))))
}
