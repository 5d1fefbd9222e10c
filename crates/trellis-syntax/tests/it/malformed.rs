//! Malformed input: the files in `tests/malformed` and the large ones made in `generated.rs`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use trellis_syntax::diag::{Diagnostic, Folders, Severity, SourceId, Sources, render};
use trellis_syntax::uppaal::build::{Options, Questions, build};
use trellis_syntax::uppaal::{parse_queries, parse_xml, parse_xta};
use trellis_syntax::{altarica, hoa, lcs, lola, ltl, tchecker, tts};

#[path = "../../../../tests/malformed/generated.rs"]
mod generated;

/// Enough for a slow machine with other things to do; the parser needs a hundredth of it for most.
const BUDGET: Duration = Duration::from_secs(20);

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/malformed")
}

/// The files of a folder, scripts apart.
fn files(folder: &str) -> Vec<PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(corpus().join(folder))
        .expect("the corpus")
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|path| path.extension().is_some_and(|e| e != "lua"))
        .collect();
    files.sort();
    files
}

fn kind(path: &Path) -> &str {
    path.extension().and_then(|e| e.to_str()).expect("an extension")
}

fn parse(kind: &str, id: SourceId, text: &str) -> Vec<Diagnostic> {
    match kind {
        "xml" => parse_xml(id, text).1,
        "xta" => parse_xta(id, text).1,
        _ => parse_queries(id, text).1,
    }
}

/// What is wrong with a TChecker model, be it the syntax or what it says.
fn tchecker_errors(id: SourceId, sources: &Sources) -> Vec<Diagnostic> {
    let (ast, mut diags) = tchecker::parse(id, &sources.get(id).text);
    let ast = ast.filter(|_| !diags.iter().any(|d| d.severity == Severity::Error));
    if let Some(ast) = ast {
        diags.extend(tchecker::build(&ast, &tchecker::Questions::default(), sources).err().unwrap_or_default());
    }
    diags
}

/// What is wrong with an AltaRica model, below its last node.
fn altarica_errors(id: SourceId, sources: &Sources) -> Vec<Diagnostic> {
    match altarica::parse(sources, id) {
        Err(diags) => diags,
        Ok((file, _)) => match file.nodes().last() {
            Some(node) => file.build(node, &[]).err().unwrap_or_default(),
            None => vec![],
        },
    }
}

/// What is wrong with a text that is mostly right in its syntax. Queries are asked of the one model there is for them.
fn build_errors(kind: &str, id: SourceId, folder: &Path, sources: &mut Sources) -> Vec<Diagnostic> {
    let mut questions = Questions { embedded: true, ..Questions::default() };
    let is_query = kind == "q";
    let model = if is_query { sources.read(&corpus().join("model.xta")).expect("a readable file") } else { id };
    let text = &sources.get(model).text;
    let (nta, diags) = if kind == "xml" { parse_xml(model, text) } else { parse_xta(model, text) };
    if !diags.is_empty() {
        return diags;
    }
    if is_query {
        let (queries, diags) = parse_queries(id, &sources.get(id).text);
        if !diags.is_empty() {
            return diags;
        }
        questions.queries = queries;
    }
    let options = Options { folders: Folders::of(folder), ..Options::default() };
    build(&nta, &questions, sources, &options).err().unwrap_or_default()
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
    for folder in ["q", "xml", "xta", "names", "types", "tchecker", "ltl", "hoa", "altarica", "lola", "tts", "lcs"] {
        for path in files(folder) {
            count += 1;
            let name = path.file_name().and_then(|n| n.to_str()).expect("a name").to_string();
            let mut sources = Sources::default();
            let started = Instant::now();
            let diags = match (folder, sources.read(&path)) {
                (_, Err(error)) => vec![error],
                ("names" | "types", Ok(id)) => build_errors(kind(&path), id, &corpus().join(folder), &mut sources),
                ("tchecker", Ok(id)) => tchecker_errors(id, &sources),
                ("ltl", Ok(id)) => ltl::parse_propositional(&sources, id).err().unwrap_or_default(),
                ("altarica", Ok(id)) => altarica_errors(id, &sources),
                ("hoa", Ok(id)) => hoa::read(&sources, id).err().unwrap_or_default(),
                ("lola", Ok(id)) => lola::parse(&sources, id).err().unwrap_or_default(),
                ("lcs", Ok(id)) => lcs::parse(&sources, id).err().unwrap_or_default(),
                ("tts", Ok(id)) => tts::parse(&sources, id).err().unwrap_or_default(),
                (_, Ok(id)) => parse(folder, id, &sources.get(id).text),
            };
            assert!(started.elapsed() < BUDGET, "{name}: {:?}", started.elapsed());
            found.push_str(&format!("{folder}/{name}\n"));
            let dir = format!("{}/", path.parent().expect("a folder").display());
            for error in errors(&name, &sources, &diags) {
                found.push_str(&format!("    {}\n", error.replace(&dir, "")));
            }
        }
    }
    assert!(count >= 600, "{count} files");
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

#[test]
fn many_mistakes_are_refused_soon() {
    for (name, kind, text) in generated::mistakes() {
        let mut sources = Sources::default();
        let id = sources.add(format!("{name}.{kind}"), text);
        let started = Instant::now();
        assert!(parse(kind, id, &sources.get(id).text).is_empty(), "{name}: right in its syntax");
        let diags = build_errors(kind, id, &corpus(), &mut sources);
        let took = started.elapsed();
        errors(name, &sources, &diags);
        assert!(took < BUDGET, "{name}.{kind}: {took:?}");
        println!("{name}.{kind}: {took:?}");
    }
}
