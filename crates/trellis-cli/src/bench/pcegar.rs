//! 001 Table 4.1 beside ours: `Cegar` and `PCegar`, with paths looked at from their start (Post) and from their end (Pre). The thesis's
//! own models are lost; ours are of the same protocols, and most counts are to be compared, not to be equal. Below them, all other models
//! of the folder that say what is bad.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use trellis_domain::relation::Memory;
use trellis_engine::cover::cegar::{Found, Iteration, Options, cegar, control_locations};
use trellis_engine::cover::reach::Direction;
use trellis_engine::cover::{Question, reason};
use trellis_meter::Meter;
use trellis_model::evidence::Verdict;
use trellis_model::hierarchy::symbolic::Symbolic;
use trellis_report::iterations;
use trellis_syntax::altarica::parse;
use trellis_syntax::diag::Sources;

use crate::cli::Bench;
use trellis::Error;
use trellis::files::write_file;
use trellis::formalism::hierarchy::row;

const PAPER: &str = include_str!("../../../../bench/pcegar/paper.tsv");

/// How long each run may take; the thesis had 1800 seconds.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long a run may take on models that the thesis has nothing of.
const OTHERS: Duration = Duration::from_secs(20);

/// The columns of the table, each for Cegar (C) and PCegar (PC).
const COLUMNS: [&str; 7] =
    ["time (s)", "memory (MiB)", "loops", "average path", "path images", "avg. states", "step images"];

/// What the table has of one run; nothing of one that did not end.
type Cells = Option<[u64; 7]>;

/// A run's row, whether what is bad can happen, and how it went.
struct Run {
    cells: Cells,
    is_unsafe: bool,
    iterations: Vec<iterations::Row>,
}

/// Prints the table; answers whether the counts that are known agree, and whether pruning never makes paths or abstractions larger.
pub fn bench(args: &Bench) -> Result<bool, Error> {
    let (mut agree, mut absent, mut larger) = (true, 0, 0);
    // Of what no run ended, larger ones are not tried.
    let mut hopeless: Vec<String> = vec![];
    let mut gains = vec![];
    let heads: String = COLUMNS.iter().map(|c| format!(" {c:>15}")).collect();
    println!("{:<22}{heads}   PCegar's gain", "");
    let pairs: String = COLUMNS.iter().map(|_| format!(" {:>7} {:>7}", "C", "PC")).collect();
    println!("{:<22}{pairs}   path, states", "");
    let paper = PAPER.lines().filter(|l| !l.starts_with('#')).map(String::from);
    for row in paper.chain(others(args)) {
        let f: Vec<&str> = row.split('\t').collect();
        let ([name, file, way], [exact]) = (&f[..3], &f[17..]) else {
            return Err(Error::Internal(format!("a broken row in the table of the paper: {row}")));
        };
        let Some(model) = find(args, file) else {
            absent += 1;
            continue;
        };
        if args.quick && !file.starts_with("peterson") {
            continue;
        }
        let family = format!("{}{way}", family(file));
        if hopeless.contains(&family) {
            larger += 1;
            continue;
        }
        let analysis = if *way == "Post" { Direction::Forward } else { Direction::Backward };
        let patience = if f[3..17].iter().all(|cell| cell.is_empty()) { OTHERS } else { PATIENCE };
        let run = |pruning: bool| run(&model, &Options { pruning, analysis, ..Options::default() }, patience);
        let (without, with) = (run(false)?, run(true)?);
        let (c, pc) = (without.cells, with.cells);
        if c.is_none() && pc.is_none() {
            hopeless.push(family);
        }
        if let Some(folder) = &args.write {
            let both = [("Cegar", &without.iterations[..]), ("PCegar", &with.iterations[..])];
            let plot = iterations::svg(&format!("{name}, {way}"), &both);
            write_file(&folder.join(format!("{file}-{}.svg", way.to_lowercase())), &plot)?;
        }
        let cell = |cells: &Cells, n: usize| cells.map_or("×".into(), |cells| cells[n].to_string());
        let ours: Vec<String> = (0..COLUMNS.len()).flat_map(|n| [cell(&c, n), cell(&pc, n)]).collect();
        let theirs: Vec<String> = f[3..17].iter().map(|s| s.replace('-', "×")).collect();
        let line = |cells: &[String]| cells.iter().map(|c| format!(" {c:>7}")).collect::<String>();
        let gain = match (&c, &pc) {
            _ if without.is_unsafe || with.is_unsafe => "(bad can happen)".into(),
            (Some(c), Some(pc)) if c[2] > 0 && pc[2] > 0 => {
                let by = [3, 5].map(|n| c[n] as f64 / pc[n].max(1) as f64);
                gains.push(by);
                agree &= by.iter().all(|&by| by >= 1.0);
                format!("{:.1}, {:.1}", by[0], by[1])
            }
            _ => String::new(),
        };
        println!("{name:<11}{way:<5} ours {}   {gain}", line(&ours));
        if theirs.iter().any(|cell| !cell.is_empty()) {
            println!("{:<16} thesis {}", "", line(&theirs));
        }
        if *exact == "exact" {
            // Cegar's loops, and its images for paths.
            agree &= [4, 8].iter().all(|&cell| ours[cell] == theirs[cell]);
        }
    }
    if !gains.is_empty() {
        let mean = |n: usize| (gains.iter().map(|g| g[n].ln()).sum::<f64>() / gains.len() as f64).exp();
        println!(
            "where both end, PCegar's paths are {:.1} times shorter than Cegar's, and its abstractions {:.1} times smaller (geometric means)",
            mean(0),
            mean(1)
        );
    }
    println!(
        "images are of sets of configurations, along paths and for abstract steps; memory is that of diagrams' nodes at the end; \
         × did not end within {} s, or {} s if the thesis has no such model (there: 1800 s, 5 GiB)",
        PATIENCE.as_secs(),
        OTHERS.as_secs()
    );
    if larger > 0 {
        println!("{larger} rows are left out, because smaller models of their families did not end");
    }
    if absent > 0 {
        println!("{absent} rows are left out, because their models are not here (--models FOLDER)");
    }
    Ok(agree)
}

/// The row of a run.
fn cells(found: &Found, seconds: f64, nodes: usize) -> Cells {
    let n = found.iterations.len() as u64;
    let sum = |of: &dyn Fn(&Iteration) -> u64| found.iterations.iter().map(of).sum::<u64>();
    let mean = |of: &dyn Fn(&Iteration) -> u64| (sum(of) + n / 2) / n.max(1);
    (!matches!(found.verdict, Verdict::Unknown(_))).then(|| {
        let megabytes = (nodes * Memory::NODE) >> 20;
        [
            seconds.round() as u64,
            megabytes as u64,
            n,
            mean(&|i| i.path as u64),
            sum(&|i| i.analysis),
            mean(&|i| i.states as u64),
            sum(&|i| i.distribution),
        ]
    })
}

fn find(args: &Bench, file: &str) -> Option<PathBuf> {
    let folders = args.models.iter().map(PathBuf::as_path).chain([Path::new("models/altarica")]);
    folders.map(|f| f.join(format!("{file}.alt"))).find(|p| p.is_file())
}

/// `lift` of `lift16`.
fn family(file: &str) -> &str {
    file.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// Rows like the paper's, without figures, of the models that the paper's table does not name.
fn others(args: &Bench) -> Vec<String> {
    let named = |file: &str| PAPER.lines().any(|row| row.split('\t').nth(1) == Some(file));
    let folder = args.models.as_deref().unwrap_or(Path::new("models/altarica"));
    let paths = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let says_what_is_bad = |p: &PathBuf| {
        p.extension().is_some_and(|e| e == "alt")
            && std::fs::read_to_string(p.with_extension("spe")).is_ok_and(|spec| spec.contains("bad :="))
    };
    let stem = |p: PathBuf| Some(p.file_stem()?.to_str()?.to_string());
    let mut files: Vec<String> = paths.filter(says_what_is_bad).filter_map(stem).filter(|f| !named(f)).collect();
    // By family, then by size.
    files.sort_by_key(|f| (family(f).to_string(), f.len(), f.clone()));
    let row = |file: &String, way: &str| format!("{file}\t{file}\t{way}{}", "\t".repeat(15));
    files.iter().flat_map(|file| [row(file, "Post"), row(file, "Pre")]).collect()
}

/// What is bad is in the specification beside the model: `bad := any_s & [condition];`.
fn run(model: &Path, options: &Options, patience: Duration) -> Result<Run, Error> {
    let broken = |what: &str| Error::Usage(format!("{}: {what}", model.display()));
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
    let started = Instant::now();
    let found = cegar(&question, &locations, options, &mut Meter::unlimited().time(Some(patience)));
    let cells = cells(&found, started.elapsed().as_secs_f64(), symbolic.space.nodes());
    let is_unsafe = matches!(found.verdict, Verdict::Unsafe(_));
    Ok(Run { cells, is_unsafe, iterations: found.iterations.iter().map(row).collect() })
}
