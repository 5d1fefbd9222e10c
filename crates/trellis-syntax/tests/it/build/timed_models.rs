//! The timed benchmarks that others publish, if they are at hand: all of them are built, with their queries.

use std::path::{Path, PathBuf};

use trellis_syntax::diag::{Sources, render};
use trellis_syntax::uppaal::build::{Built, Options, Questions, build};
use trellis_syntax::uppaal::{parse_queries, parse_xta};

/// A model file with the queries beside it.
fn file(path: &Path) -> Result<Built, String> {
    let text = std::fs::read_to_string(path).expect("a readable model");
    let mut sources = Sources::default();
    let id = sources.add(path.display().to_string(), &text);
    let (nta, mut diags) = parse_xta(id, &text);
    let asked = std::fs::read_to_string(path.with_extension("q")).unwrap_or_default();
    let id = sources.add("queries.q", &asked);
    let (queries, more) = parse_queries(id, &asked);
    diags.extend(more);
    if diags.iter().any(|d| d.severity == trellis_syntax::diag::Severity::Error) {
        return Err(render(&diags, &sources, false));
    }
    let questions = Questions { queries, ..Questions::default() };
    build(&nta, &questions, &sources, &Options::default()).map_err(|e| render(&e, &sources, false))
}

fn models(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            models(&path, out);
        } else if path.extension().is_some_and(|e| e == "xta") {
            out.push(path);
        }
    }
}

#[test]
fn published_timed_models_are_built() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/models/timed"));
    let mut all = Vec::new();
    for part in ["theta", "xtasuite"] {
        models(&folder.join(part), &mut all);
    }
    all.sort();
    let mut wrong = Vec::new();
    for path in &all {
        // This one has a stray `=`.
        let broken = path.ends_with("critical-2-25-50.xta");
        match file(path) {
            // And this one has no clocks at all.
            Ok(b) if !broken && b.network.clocks.is_empty() == path.ends_with("broadcast.xta") => {}
            Ok(b) => wrong.push(format!("{}: built with {} clocks", path.display(), b.network.clocks.len())),
            Err(_) if broken => {}
            Err(e) => wrong.push(e),
        }
    }
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), all.len(), wrong.join("\n"));
}
