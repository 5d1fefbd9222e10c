//! The public automata and programs: what is decided is right, and its evidence is accepted.

use std::path::{Path, PathBuf};
use std::time::Duration;

use trellis_engine::program::{Program, bmc, induction};
use trellis_meter::Meter;
use trellis_model::cfa::Cfa;
use trellis_syntax::c::{DataModel, Ints, Options};
use trellis_syntax::diag::Sources;

use crate::cegar::answer;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/models")
}

/// The rows of a table, without its head.
fn table(name: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(folder().join(name)).unwrap_or_default();
    text.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// Both engines; how many answers there were.
fn decided(cfa: &Cfa, expected: Option<bool>, name: &str) -> usize {
    let budget = || Meter::unlimited().time(Some(Duration::from_secs(2)));
    let outcomes = [
        bmc::check(&mut Program::new(cfa), &bmc::Options { depth: Some(10), ..bmc::Options::default() }, &mut budget()),
        induction::check(&mut Program::new(cfa), &induction::Options::default(), &mut budget()),
    ];
    let mut count = 0;
    for outcome in outcomes {
        if let Some(safe) = answer(cfa, &outcome, name) {
            assert_eq!(Some(safe), expected.or(Some(safe)), "{name}");
            count += 1;
        }
    }
    count
}

/// The public automata that can be read, with what is known of them.
pub fn automata() -> Vec<(String, Cfa, Option<bool>)> {
    let mut all: Vec<(PathBuf, Option<bool>)> = vec![];
    for row in table("cfa/EXPECTED.tsv") {
        all.push((folder().join("cfa").join(&row[0]), row[2].parse().ok()));
    }
    for row in table("plc/EXPECTED.tsv") {
        let name = Path::new(&row[1]).file_name().unwrap_or_default();
        all.push((folder().join("plc").join(&row[0]).join(name), row[4].parse().ok()));
    }
    let read = |(file, safe): (PathBuf, Option<bool>)| {
        let mut sources = Sources::default();
        let id = sources.read(&file).ok()?;
        let (cfa, _) = trellis_syntax::cfa::parse(&sources, id).ok()?;
        Some((file.file_name()?.to_string_lossy().into_owned(), cfa, safe))
    };
    all.into_iter().filter_map(read).collect()
}

/// The public transition systems that are small, with what is known of them.
pub fn systems() -> Vec<(String, Cfa, Option<bool>)> {
    let read = |row: Vec<String>| {
        let lines: usize = row[1].parse().ok()?;
        let mut sources = Sources::default();
        let model = sources.read(&folder().join("xsts").join(&row[0])).ok()?;
        let property = sources.read(&folder().join("xsts").join(&row[2])).ok()?;
        let (xsts, _) = trellis_syntax::xsts::parse(&sources, model, Some(property)).ok()?;
        (lines < 60).then(|| (format!("{} {}", row[0], row[2]), xsts.cfa, row[4].parse().ok()))
    };
    table("xsts/EXPECTED.tsv").into_iter().filter_map(read).collect()
}

#[test]
fn the_public_automata() {
    let all = automata();
    if all.is_empty() {
        eprintln!("skipped: there are no models");
        return;
    }
    let (mut count, mut read) = (0, 0);
    for (name, cfa, safe) in all {
        let n = decided(&cfa, safe, &name);
        println!("{n} of 2: {name}");
        (count, read) = (count + n, read + 1);
    }
    assert!(count >= read, "{count} answers for {read} automata");
}

/// Every eighth of the C programs, because all of them take a while: `trellis bench c` is for that.
#[test]
fn some_public_programs() {
    for row in table("c/EXPECTED.tsv").iter().step_by(8) {
        let (task, folder) = (&row[0], folder().join("c"));
        let math = task.starts_with("code2inv");
        let options = Options {
            ints: if math { Ints::Math } else { Ints::Wrap },
            data_model: DataModel::Ilp32,
            folders: trellis_syntax::diag::Folders::of(folder.clone()),
            ..Options::default()
        };
        let mut sources = Sources::default();
        let Ok(id) = sources.read(&folder.join(format!("{task}.c"))) else { continue };
        let Ok(built) = trellis_syntax::c::parse(&mut sources, id, &options) else { continue };
        // A few of code2inv are said to be safe and are not; evidence decides.
        let expected = (!math).then_some(row[2] == "true");
        decided(&built.cfa, expected, task);
    }
}
