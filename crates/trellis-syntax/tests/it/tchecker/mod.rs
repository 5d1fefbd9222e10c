//! The TChecker language: what each construct becomes, what is refused and where.

mod constructs;
mod damaged;
mod questions;
mod refused;

use std::path::Path;

use trellis_syntax::diag::{Diagnostic, Severity, Sources, render};
use trellis_syntax::tchecker::{Built, Questions, build, looks_like, parse, parse_labels};
use trellis_syntax::uppaal::parse_queries;

/// A model with questions, built; or what is wrong with it, rendered.
pub fn asked(model: &str, labels: &[&str], queries: &str) -> Result<Built, String> {
    let mut sources = Sources::default();
    let id = sources.add("model.tck", model);
    let (ast, mut diags) = parse(id, model);
    let mut questions = Questions::default();
    for set in labels {
        let id = sources.add("--labels", *set);
        let (labels, more) = parse_labels(id, set);
        questions.labels.push(labels);
        diags.extend(more);
    }
    let id = sources.add("queries.q", queries);
    let (queries, more) = parse_queries(id, queries);
    questions.queries = queries;
    diags.extend(more);
    let located = |d: &Diagnostic| assert!(d.span.is_some(), "no place: {}", d.message);
    if diags.iter().any(|d| d.severity == Severity::Error) {
        diags.iter().for_each(located);
        return Err(render(&diags, &sources, false));
    }
    let ast = ast.expect("a tree, if nothing is wrong");
    build(&ast, &questions, &sources)
        .map(|mut built| {
            built.warnings.extend(diags);
            built
        })
        .map_err(|errors| {
            assert!((1..=20).contains(&errors.len()), "{} errors", errors.len());
            errors.iter().for_each(located);
            render(&errors, &sources, false)
        })
}

pub fn built(model: &str) -> Built {
    asked(model, &[], "").unwrap_or_else(|e| panic!("{e}"))
}

/// The files of other people's models: all of them load, without a warning.
#[test]
fn the_shared_models_load() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/models/timed/tchecker"));
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut count = 0;
    for path in entries.filter_map(|e| e.ok().map(|e| e.path())).filter(|p| p.extension().is_some_and(|e| e == "txt")) {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        assert!(looks_like(&text), "{}", path.display());
        let built = built(&text);
        assert!(built.warnings.is_empty(), "{}: {:?}", path.display(), built.warnings);
        assert!(!built.network.clocks.is_empty() && !built.network.processes.is_empty());
        count += 1;
    }
    assert!(count == 0 || count >= 43, "{count} files");
}

/// Those that are kept with Trellis.
#[test]
fn the_bundled_models_are_what_they_should_be() {
    let read = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/timed/tchecker").join(name);
        built(&std::fs::read_to_string(path).expect("a bundled model"))
    };
    let fischer = read("fischer-5.txt");
    assert_eq!(fischer.network.processes.len(), 5);
    assert_eq!(fischer.network.clocks, ["x1", "x2", "x3", "x4", "x5"]);
    assert!(fischer.network.vectors.is_empty());
    assert!(fischer.network.processes.iter().all(|p| p.edges.iter().all(|e| e.event.is_none())));
    assert_eq!(fischer.labels[1], ("cs2".to_string(), vec![(1, 3)]));
    let csmacd = read("csmacd-5.txt");
    assert_eq!(csmacd.network.vectors.len(), 20);
    assert!(csmacd.network.processes[0].locations[3].committed);
    let bus = &csmacd.network.processes[0];
    let silent: Vec<u32> = bus.edges.iter().filter(|e| e.event.is_none()).map(|e| e.origin).collect();
    assert_eq!(silent, [4, 5], "only the tau edges of the bus move alone");
    assert_eq!(read("corsso-3.txt").network.vars.len(), 6);
    assert_eq!(read("gpsmc-2.txt").network.vectors.len(), 9);
}

#[test]
fn what_looks_like_a_model() {
    assert!(looks_like("# a comment\n\n  system:s\n"));
    assert!(looks_like("\u{feff}system : s"));
    assert!(!looks_like("system s;"));
    assert!(!looks_like("systematic:s"));
    assert!(!looks_like("process P() {}"));
    assert!(!looks_like(""));
}
