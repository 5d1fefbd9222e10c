//! Models with clocks: those of 002 Table 6.1 as Theta counts them, TChecker's counts, lazy bounds on FDDI, and orders, beside ours.
//!
//! The table says what is to be counted (`bench/lazy/table.tsv`); models are files. A row whose model is not there is
//! left out, and so is one whose configuration no engine has yet; both are said.

use std::path::{Path, PathBuf};

use trellis_engine::timed::lazy::{self, block::Direction};
use trellis_engine::timed::reach::{self, Cover, Extrapolation};
use trellis_engine::timed::{Clocks, Config, Data, Engine, answer};
use trellis_engine::waitlist::Order;
use trellis_meter::{Meter, Stats};
use trellis_model::evidence::Verdict;

use super::Watch;
use trellis::Error;
use trellis::settings::{Model, Properties};

use crate::cli::Bench;
use trellis::formalism::network::load::{Asked, load};

const TABLE: &str = include_str!("../../../../bench/lazy/table.tsv");
/// Where models are looked for, from the current folder.
const BUNDLED: &str = "models/timed";

/// The largest count that `--quick` waits for: a zone of FDDI has hundreds of clocks.
fn quick(table: &str) -> u64 {
    if table == "fddi" { 400 } else { 20_000 }
}

/// One row of a table.
struct Row<'t> {
    table: &'t str,
    model: &'t str,
    labels: Option<&'t str>,
    config: &'t str,
    counts: Vec<Count>,
    seconds: Option<f64>,
}

/// What a count must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    Exactly(u64),
    AtMost(u64),
    /// Nobody says.
    Any,
}

impl Count {
    fn read(text: &str) -> Option<Count> {
        match text.strip_prefix("<=") {
            Some(n) => n.parse().ok().map(Count::AtMost),
            None if text == "-" => Some(Count::Any),
            None => text.parse().ok().map(Count::Exactly),
        }
    }

    fn allows(self, n: u64) -> bool {
        match self {
            Count::Exactly(c) => n == c,
            Count::AtMost(c) => n <= c,
            Count::Any => true,
        }
    }

    fn size(self) -> u64 {
        match self {
            Count::Exactly(c) | Count::AtMost(c) => c,
            Count::Any => 0,
        }
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Count::Exactly(c) => write!(f, "{c}"),
            Count::AtMost(c) => write!(f, "≤{c}"),
            Count::Any => f.write_str("-"),
        }
    }
}

fn rows(text: &str) -> Result<Vec<Row<'_>>, Error> {
    let broken = |line: &str| Error::Internal(format!("a broken row in bench/lazy/table.tsv: {line}"));
    text.lines()
        .filter(|l| !l.starts_with('#') && !l.is_empty())
        .map(|line| {
            let f: Vec<&str> = line.split('\t').collect();
            let [table, model, labels, config, counts, seconds] = f[..] else { return Err(broken(line)) };
            let counts = counts.split('/').map(Count::read).collect::<Option<_>>().ok_or_else(|| broken(line))?;
            let labels = Some(labels).filter(|l| *l != "-");
            Ok(Row { table, model, labels, config, counts, seconds: seconds.parse().ok() })
        })
        .collect()
}

/// The engines of a configuration, one for each run; `None` if there is no such engine yet.
fn engines(config: &str) -> Option<Vec<Engine>> {
    let zones = |cover, order| Engine::Reach(reach::Options { extrapolation: Extrapolation::LuPlus, cover, order });
    let lazily = |clocks, order| {
        let options = lazy::Options { order, ..lazy::Options::default() };
        vec![Engine::Lazy { clocks, data: Data::Identity, options }]
    };
    // The prototype's integers have no bounds, and so no faults.
    let both = |data, clocks| {
        let options = lazy::Options { reduce: false, pin_faults: false, hashed: true, ..lazy::Options::default() };
        let (data, clocks) = (Data::Interpolation(data), Clocks::Interpolation(clocks));
        vec![Engine::Lazy { clocks, data, options }]
    };
    // As 002's prototype: all clocks in all zones.
    let theta = |clocks| {
        let options = lazy::Options { reduce: false, hashed: true, ..lazy::Options::default() };
        vec![Engine::Lazy { clocks, data: Data::Identity, options }]
    };
    Some(match config {
        "none/FW" => theta(Clocks::Interpolation(Direction::Forward)),
        "none/BW" => theta(Clocks::Interpolation(Direction::Backward)),
        "none/LU" => theta(Clocks::Bounds),
        "FW/FW" => both(Direction::Forward, Direction::Forward),
        "FW/BW" => both(Direction::Forward, Direction::Backward),
        "bounds/bfs" => lazily(Clocks::Bounds, Order::Bfs),
        "bounds/dfs" => lazily(Clocks::Bounds, Order::Dfs),
        "inclusion" => vec![zones(Cover::Inclusion, Order::Bfs)],
        "alu" => vec![zones(Cover::Alu, Order::Bfs)],
        "orders" => [Order::Bfs, Order::Dfs, Order::Priority].map(|o| zones(Cover::Inclusion, o)).to_vec(),
        _ => return None,
    })
}

/// What the counts of a table are.
fn counted(table: &str, stats: &Stats) -> Vec<u64> {
    match table {
        "art" => vec![stats.added, stats.covered, stats.refinements],
        "zones" => vec![stats.expanded, stats.stored],
        "orders" => vec![stats.expanded],
        _ => vec![stats.added],
    }
}

fn find(folders: &[PathBuf], file: &str) -> Option<PathBuf> {
    let places = folders.iter().flat_map(|f| ["", "theta", "tchecker"].map(|sub| f.join(sub).join(file)));
    places.into_iter().find(|p| p.is_file())
}

/// Explores everything; answers the counts and the seconds.
fn run(row: &Row<'_>, path: &Path, engines: &[Engine]) -> Result<(Vec<u64>, f64), Error> {
    let labels = row.labels.map(str::to_string);
    let everything = labels.is_none().then(|| "A[] true".to_string());
    let properties = Properties {
        labels: labels.into_iter().collect(),
        properties: everything.into_iter().collect(),
        ..Default::default()
    };
    let model = Model { model: path.to_path_buf(), ..Model::default() };
    let (_, language) = trellis::registry::of_model(&model)?;
    let loaded = load(&model, language, &Asked { properties: Some(&properties), ..Default::default() })?;
    let wrong = |why: &str| Error::Internal(format!("{} with {}: {why}", path.display(), row.config));
    let query = loaded.queries.first().ok_or_else(|| wrong("no question"))?;
    let (mut counts, watch) = (Vec::new(), Watch::start());
    for &engine in engines {
        let config = Config { engine: Some(engine), order: None, non_zeno: false, certificate: false, symmetry: false };
        let a = answer(&loaded.network, query, &config, &mut Meter::unlimited())
            .map_err(|b| wrong(&b.error.to_string()))?;
        if !matches!(a.verdict, Verdict::Safe(_)) {
            return Err(wrong("not everything was explored"));
        }
        counts.extend(counted(row.table, &a.stats));
    }
    Ok((counts, watch.seconds()))
}

fn title(table: &str) -> (&'static str, &'static str) {
    match table {
        "art" => {
            ("The models of Cziborová's Table 6.1 as Theta counts them: data/clocks", "nodes/coverages/refinements")
        }
        "zones" => ("Zones breadth first, as TChecker counts them", "visited/stored"),
        "fddi" => ("Lazy bounds on FDDI", "nodes"),
        _ => ("Orders: zones expanded", "breadth/depth/larger first"),
    }
}

fn joined<T: ToString>(all: &[T]) -> String {
    all.iter().map(T::to_string).collect::<Vec<_>>().join("/")
}

/// Prints the tables; answers whether every count agrees.
pub fn bench(args: &Bench) -> Result<bool, Error> {
    let folders: Vec<PathBuf> = args.models.iter().cloned().chain([PathBuf::from(BUNDLED)]).collect();
    let (mut agree, mut compared, mut absent, mut later) = (true, 0, 0, 0);
    let mut table = "";
    for row in rows(TABLE)? {
        if args.quick && row.counts.iter().any(|c| c.size() > quick(row.table)) {
            continue;
        }
        let Some(path) = find(&folders, row.model) else {
            absent += 1;
            continue;
        };
        if row.table != table {
            table = row.table;
            let (name, counts) = title(table);
            println!("\n{name}");
            let last = if table == "orders" { "to best" } else { "ratio" };
            println!(
                "{:<26} {:<11} {counts:>27} {:>27}   {:>8} {:>8} {last:>8}",
                "model", "how", "ours", "theirs s", "ours s"
            );
        }
        let expected = joined(&row.counts);
        let Some(engines) = engines(row.config) else {
            later += 1;
            println!("{:<26} {:<11} {expected:>27} {:>27}", row.model, row.config, "not yet");
            continue;
        };
        let (counts, seconds) = run(&row, &path, &engines)?;
        let same = counts.len() == row.counts.len() && row.counts.iter().zip(&counts).all(|(c, &n)| c.allows(n));
        agree &= same;
        compared += 1;
        let ratio = match (row.table, &counts[..], row.seconds) {
            ("orders", &[b, d, l], _) => format!("{:.2}", l as f64 / b.min(d) as f64),
            (_, _, Some(theirs)) => format!("{:.1}×", theirs / seconds),
            _ => "-".into(),
        };
        println!(
            "{:<26} {:<11} {expected:>27} {:>27} {} {:>8} {seconds:>8.3} {ratio:>8}",
            row.model,
            row.config,
            joined(&counts),
            if same { "=" } else { "≠" },
            row.seconds.map_or("-".into(), |s| s.to_string()),
        );
    }
    if compared == 0 {
        let places = folders.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(" and ");
        return Err(Error::Usage(format!("no models in {places}; start from the root of Trellis, or give --models")));
    }
    println!("\nSeconds are of one processor; \"theirs\" are of another day (bench/lazy/table.tsv).");
    if absent > 0 {
        println!("Left out: {absent} rows whose models are not here (--models FOLDER).");
    }
    if later > 0 {
        println!("Left out: {later} rows that abstract data, which no engine does yet.");
    }
    println!("{}", if agree { "Every count agrees." } else { "Some counts do NOT agree." });
    Ok(agree)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_there() {
        let Ok(rows) = rows(TABLE) else { panic!("a broken table") };
        for table in ["art", "zones", "fddi", "orders"] {
            assert!(rows.iter().any(|r| r.table == table), "{table}");
        }
        let known = |r: &&Row<'_>| engines(r.config).is_some();
        assert!(rows.iter().filter(known).all(|r| r.counts.len() == expected_counts(r)));
    }

    fn expected_counts(r: &Row<'_>) -> usize {
        let runs = engines(r.config).map_or(0, |e| e.len());
        runs * counted(r.table, &Stats::default()).len()
    }

    #[test]
    fn counts_are_read() {
        assert_eq!(Count::read("<=324"), Some(Count::AtMost(324)));
        assert!(Count::AtMost(324).allows(324) && !Count::AtMost(324).allows(325));
        assert!(Count::Any.allows(7) && Count::read("many").is_none());
    }
}
