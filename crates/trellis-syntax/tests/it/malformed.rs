//! Malformed input: the files in `tests/malformed/{xml,xta,q}` and the large ones made in `generated.rs`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use trellis_syntax::diag::{Diagnostic, Severity, SourceId, Sources, render};
use trellis_syntax::uppaal::{parse_queries, parse_xml, parse_xta};

#[path = "../../../../tests/malformed/generated.rs"]
mod generated;

/// Enough for a slow machine with other things to do; the parser needs a hundredth of it for most.
const BUDGET: Duration = Duration::from_secs(20);

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/malformed")
}

fn files(kind: &str) -> Vec<PathBuf> {
    let dir = corpus().join(kind);
    let mut files: Vec<_> = std::fs::read_dir(&dir)
        .expect("the corpus")
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|path| path.extension().is_some_and(|e| e == kind))
        .collect();
    files.sort();
    files
}

fn parse(kind: &str, id: SourceId, text: &str) -> Vec<Diagnostic> {
    match kind {
        "xml" => parse_xml(id, text).1,
        "xta" => parse_xta(id, text).1,
        _ => parse_queries(id, text).1,
    }
}

/// The errors, as `line:column: message`, after checking that there are some and that they can be shown.
fn errors(name: &str, sources: &Sources, diags: &[Diagnostic]) -> Vec<String> {
    let errors: Vec<_> = diags.iter().filter(|d| d.severity == Severity::Error).collect();
    assert!(!errors.is_empty(), "{name}: no error");
    assert!(errors.len() <= 20, "{name}: {} errors", errors.len());
    let report = render(diags, sources, false);
    assert!(report.len() < 30_000, "{name}: a report of {} bytes", report.len());
    let show = |d: &&Diagnostic| {
        let span = d.span.unwrap_or_else(|| panic!("{name}: no place for {:?}", d.message));
        assert!(span.start <= span.end && span.end as usize <= sources.get(span.source).text.len(), "{name}: {span:?}");
        let (line, column) = sources.line_col(span);
        format!("{line}:{column}: {}", d.message)
    };
    errors.iter().map(show).collect()
}

#[test]
fn each_file_gives_the_errors_it_should() {
    let mut found = String::new();
    let mut count = 0;
    for kind in ["q", "xml", "xta"] {
        for path in files(kind) {
            count += 1;
            let name = path.file_name().and_then(|n| n.to_str()).expect("a name").to_string();
            let mut sources = Sources::default();
            let started = Instant::now();
            let diags = match sources.read(&path) {
                Ok(id) => parse(kind, id, &sources.get(id).text.clone()),
                Err(error) => vec![error],
            };
            assert!(started.elapsed() < BUDGET, "{name}: {:?}", started.elapsed());
            found.push_str(&format!("{kind}/{name}\n"));
            let dir = format!("{}/", path.parent().expect("a folder").display());
            for error in errors(&name, &sources, &diags) {
                found.push_str(&format!("    {}\n", error.replace(&dir, "")));
            }
        }
    }
    assert!(count >= 120, "{count} files");
    let expected = corpus().join("expected.txt");
    if std::env::var_os("TRELLIS_BLESS").is_some() {
        std::fs::write(&expected, &found).expect("a writable corpus");
    }
    let expected = std::fs::read_to_string(&expected).unwrap_or_default();
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected, "(TRELLIS_BLESS=1 accepts what is found)");
    }
    assert_eq!(found.lines().count(), expected.lines().count());
}

#[test]
fn the_large_ones_are_refused_soon() {
    for (name, kind, text) in generated::cases() {
        let mut sources = Sources::default();
        let id = sources.add(format!("{name}.{kind}"), text);
        let started = Instant::now();
        let diags = parse(kind, id, &sources.get(id).text);
        let took = started.elapsed();
        errors(name, &sources, &diags);
        assert!(took < BUDGET, "{name}.{kind}: {took:?}");
        println!("{name}.{kind}: {took:?}");
    }
}
