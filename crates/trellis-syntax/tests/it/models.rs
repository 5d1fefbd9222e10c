//! Real models read without complaint.

use std::path::{Path, PathBuf};

use trellis_syntax::diag::{Sources, render};
use trellis_syntax::uppaal::{parse_queries, parse_xml, parse_xta};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    let mut entries: Vec<_> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, out);
        } else {
            out.push(path);
        }
    }
}

/// Reads a file by its extension; `None` if it is not for us.
fn complaints(path: &Path) -> Option<String> {
    let mut sources = Sources::default();
    let extension = path.extension()?.to_str()?;
    if !matches!(extension, "xta" | "ta" | "xml" | "q") {
        return None;
    }
    let id = sources.read(path).expect("a readable file");
    let text = sources.get(id).text.clone();
    let diags = match extension {
        "q" => parse_queries(id, &text).1,
        "xml" => parse_xml(id, &text).1,
        _ => parse_xta(id, &text).1,
    };
    Some(render(&diags, &sources, false))
}

#[test]
fn the_models_of_the_repository() {
    let mut paths = Vec::new();
    for dir in ["models/timed", "models/lattice"] {
        files(&root().join(dir), &mut paths);
    }
    let read: Vec<_> = paths.iter().filter_map(|p| complaints(p).map(|c| (p, c))).collect();
    assert!(read.len() >= 12, "{} models", read.len());
    for (path, complaints) in read {
        assert_eq!(complaints, "", "{}", path.display());
    }
}

/// Only where the collection is at hand (the founders' machine); elsewhere there is nothing to do.
#[test]
fn the_models_of_the_collection_if_there() {
    let mut paths = Vec::new();
    for dir in ["timed/theta", "timed/xtasuite", "lattice"] {
        files(&Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/models")).join(dir), &mut paths);
    }
    for path in paths {
        // This one has a stray `=` after a location.
        let broken = path.ends_with("critical/critical-2-25-50.xta");
        if let Some(complaints) = complaints(&path) {
            assert_eq!(complaints.is_empty(), !broken, "{}: {complaints}", path.display());
        }
    }
}

#[test]
fn the_shape_of_a_model() {
    let text = include_str!("../../../../models/timed/engine-classic.xta");
    let mut sources = Sources::default();
    let id = sources.add("engine-classic.xta", text);
    let (nta, _) = parse_xta(id, text);
    let shape: Vec<_> = nta
        .templates
        .iter()
        .map(|t| (t.name.name.as_str(), t.locations.len(), t.edges.len(), t.init.is_some()))
        .collect();
    assert_eq!(shape.len(), 5);
    assert_eq!(shape[0], ("Clutch", 6, 6, true));
    assert_eq!(shape.iter().map(|t| t.2).sum::<usize>(), 84);
}
