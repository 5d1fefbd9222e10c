//! The public C programs: how many are read, and why the others are not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use trellis_model::cfa::lbe::encode;
use trellis_syntax::c::{DataModel, Ints, Options, parse};
use trellis_syntax::diag::Sources;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/models/c")
}

fn programs() -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder()) else { return vec![] };
    let mut files: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "c"));
    files.sort();
    files
}

fn features() -> BTreeMap<String, String> {
    let table = std::fs::read_to_string(folder().join("EXPECTED.tsv")).unwrap_or_default();
    let row = |line: &str| {
        let columns: Vec<&str> = line.split('\t').collect();
        Some((columns.first()?.to_string(), columns.get(4).copied().unwrap_or_default().to_string()))
    };
    table.lines().skip(1).filter_map(row).collect()
}

/// The message without names, so that alike ones count together.
fn reason(message: &str) -> String {
    let mut out = String::new();
    for (n, part) in message.split('`').enumerate() {
        out.push_str(if n % 2 == 1 { "…" } else { part });
    }
    out
}

#[test]
fn the_public_programs_are_read() {
    let programs = programs();
    if programs.is_empty() {
        eprintln!("skipped: there are no models");
        return;
    }
    let features = features();
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for file in &programs {
        for ints in [Ints::Wrap, Ints::Math] {
            let mut sources = Sources::default();
            let id = sources.read(file).expect("a file");
            let options = Options { ints, data_model: DataModel::Ilp32, folder: folder() };
            let stem = file.file_stem().unwrap_or_default().to_string_lossy().to_string();
            let family = stem.split("__").next().unwrap_or_default().to_string();
            let outcome = match parse(&mut sources, id, &options) {
                Ok(built) => {
                    let large = encode(&built.cfa);
                    assert!(large.cfa.locations().len() <= built.cfa.locations().len(), "{stem}");
                    assert!(built.cfa.errors().count() <= 1, "{stem}");
                    "read".to_string()
                }
                Err(diagnostics) => {
                    let message = diagnostics.first().map(|d| d.message.clone()).unwrap_or_default();
                    let recursive = features.get(&stem).is_some_and(|f| f.contains("recursion"));
                    eprintln!("{stem}: {message}");
                    assert!(recursive || !message.contains("recursion"), "{stem}: {message}");
                    reason(&message)
                }
            };
            if ints == Ints::Wrap {
                *counts.entry((family, outcome)).or_default() += 1;
            }
        }
    }
    println!("{:<12} {:>5}  outcome", "family", "files");
    for ((family, outcome), n) in &counts {
        println!("{family:<12} {n:>5}  {outcome}");
    }
    let read: usize = counts.iter().filter(|((_, o), _)| o == "read").map(|(_, n)| n).sum();
    println!("{read} of {} are read", programs.len());
    let linear = features.values().filter(|f| !f.contains("recursion")).count();
    assert!(read >= linear, "{read} of {linear}");
}
