//! What a reader made of a text, in process: refused, or a model. The model is kept as `Debug` prints it, without places in
//! the source and without what only repeats the text of a question: two texts mean the same to Trellis if these are equal.

use std::path::Path;

use trellis_syntax::diag::{Diagnostic, Folders, Severity, Sources};
use trellis_syntax::uppaal::{self, build};
use trellis_syntax::{altarica, c, cfa, hoa, lcs, lola, ltl, pnml, scxml, spec, sts, tchecker, tts, xsts};

/// What became of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Read {
    /// Refused; with what is wrong with the refusal, if anything is.
    Refused(Option<String>),
    /// Understood.
    Model(String),
    /// The reader broke.
    Panic(String),
}

/// A reader: the file's name, its text, and another text that goes with it (a question about the model, or the model of a question).
pub type Reader = fn(&Path, &str, &str) -> Read;

/// Runs a reader; a panic is an answer too.
pub fn read(reader: Reader, path: &Path, text: &str, beside: &str) -> Read {
    match std::panic::catch_unwind(|| reader(path, text, beside)) {
        Ok(read) => read,
        Err(why) => {
            let text = why.downcast_ref::<String>().cloned();
            Read::Panic(text.or_else(|| why.downcast_ref::<&str>().map(|s| s.to_string())).unwrap_or_default())
        }
    }
}

fn refused(errors: &[Diagnostic]) -> Read {
    let errors: Vec<&Diagnostic> = errors.iter().filter(|d| d.severity == Severity::Error).collect();
    Read::Refused(match errors.first() {
        None => Some("no error says why".into()),
        Some(d) if d.span.is_none() => Some(format!("no place: {}", d.message)),
        Some(_) => None,
    })
}

fn model(of: &dyn std::fmt::Debug) -> Read {
    Read::Model(without_places(&format!("{of:?}")))
}

/// Leaves out where things stand in the source.
fn without_places(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let starts = [("Place { ", '}'), ("Span { ", '}'), ("place: \"", '"')];
    while let Some((at, start, end)) = starts.iter().filter_map(|(s, end)| Some((rest.find(s)?, s, *end))).min() {
        out.push_str(&rest[..at]);
        rest = &rest[at + start.len()..];
        rest = &rest[rest.find(end).map_or(rest.len(), |n| n + 1)..];
    }
    out + rest
}

fn result<T: std::fmt::Debug>(read: Result<T, Vec<Diagnostic>>) -> Read {
    match read {
        Ok(t) => model(&t),
        Err(errors) => refused(&errors),
    }
}

fn one(text: &str) -> (Sources, trellis_syntax::diag::SourceId) {
    let mut sources = Sources::default();
    let id = sources.add("model", text);
    (sources, id)
}

/// UPPAAL, XML or text, with what is asked in the file or beside it.
pub fn network(path: &Path, text: &str, queries: &str) -> Read {
    let (mut sources, id) = one(text);
    let asked = sources.add("queries", queries);
    let is_xml = path.extension().is_some_and(|e| e == "xml");
    let (nta, mut diags) = if is_xml { uppaal::parse_xml(id, text) } else { uppaal::parse_xta(id, text) };
    let (mut all, more) = uppaal::parse_queries(asked, queries);
    diags.extend(more);
    if diags.iter().any(|d| d.severity == Severity::Error) {
        return refused(&diags);
    }
    all.extend(nta.queries.iter().cloned());
    let questions = build::Questions { queries: all, ..Default::default() };
    let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
    match build::build(
        &nta,
        &questions,
        &sources,
        &build::Options { folders: Folders::of(folder), ..Default::default() },
    ) {
        Ok(built) => {
            let asked: Vec<_> = built.queries.iter().map(|q| (q.kind, q.deadlock, q.atoms.clone())).collect();
            model(&(built.network, asked))
        }
        Err(errors) => refused(&errors),
    }
}

/// Questions about a network.
pub fn queries(path: &Path, text: &str, of: &str) -> Read {
    network(&path.with_extension("xta"), of, text)
}

/// TChecker's language.
pub fn tchecker(_: &Path, text: &str, queries: &str) -> Read {
    let (mut sources, id) = one(text);
    let asked = sources.add("queries", queries);
    let (ast, mut diags) = tchecker::parse(id, text);
    let (queries, more) = uppaal::parse_queries(asked, queries);
    diags.extend(more);
    let Some(ast) = ast.filter(|_| diags.iter().all(|d| d.severity != Severity::Error)) else { return refused(&diags) };
    match tchecker::build(&ast, &tchecker::Questions { queries, ..Default::default() }, &sources) {
        Ok(built) => model(&(built.network, built.labels)),
        Err(errors) => refused(&errors),
    }
}

/// Control-flow automata.
pub fn automaton(_: &Path, text: &str, _: &str) -> Read {
    let (sources, id) = one(text);
    result(cfa::parse(&sources, id).map(|(cfa, _)| cfa))
}

/// XSTS, with a property of its own or beside it.
pub fn xsts(_: &Path, text: &str, property: &str) -> Read {
    let (mut sources, id) = one(text);
    let property = (!property.is_empty()).then(|| sources.add("property", property));
    result(xsts::parse(&sources, id, property).map(|(x, _)| (x.cfa, x.property, x.variables)))
}

/// XSTS of which no property is asked.
pub fn xsts_system(_: &Path, text: &str, _: &str) -> Read {
    let (sources, id) = one(text);
    result(xsts::parse_system(&sources, id).map(|(x, _)| (x.cfa, x.variables)))
}

/// A property of an XSTS.
pub fn property(path: &Path, text: &str, of: &str) -> Read {
    xsts(path, of, text)
}

/// STS.
pub fn sts(_: &Path, text: &str, _: &str) -> Read {
    let (sources, id) = one(text);
    result(sts::parse(&sources, id).map(|(all, _)| all))
}

/// Statecharts.
pub fn chart(_: &Path, text: &str, _: &str) -> Read {
    let (sources, id) = one(text);
    result(scxml::parse(&sources, id, &[]).map(|(mut all, _)| {
        all.iter_mut().for_each(|chart| chart.property = None);
        all
    }))
}

/// Counter systems.
pub fn counters(_: &Path, text: &str, _: &str) -> Read {
    let (sources, id) = one(text);
    result(spec::parse(&sources, id).map(|s| s.system))
}

/// Petri nets.
pub fn net(path: &Path, text: &str, _: &str) -> Read {
    let (sources, id) = one(text);
    result(match path.extension().is_some_and(|e| e == "pnml") {
        true => pnml::parse(&sources, id),
        false => lola::parse(&sources, id),
    })
}

/// Thread transition systems.
pub fn threads(_: &Path, text: &str, _: &str) -> Read {
    let (sources, id) = one(text);
    result(tts::parse(&sources, id).map(|(system, _)| system))
}

/// Lossy channel systems.
pub fn channels(_: &Path, text: &str, _: &str) -> Read {
    let (sources, id) = one(text);
    result(lcs::parse(&sources, id))
}

/// AltaRica: the last node of the file.
pub fn nodes(_: &Path, text: &str, _: &str) -> Read {
    let (sources, id) = one(text);
    let read = altarica::parse(&sources, id).and_then(|(file, _)| {
        let all = file.nodes();
        let Some(top) = all.last() else { return Ok(None) };
        file.build(top, &[]).map(|(built, _)| Some((built.hierarchy, built.directives)))
    });
    result(read)
}

/// Hierarchical transition systems.
pub fn tree(_: &Path, text: &str, _: &str) -> Read {
    match trellis_report::tree::read_tree(text) {
        Ok(file) => model(&(file.tree, file.bad)),
        Err(why) if why.to_string().is_empty() => Read::Refused(Some("no reason".into())),
        Err(_) => Read::Refused(None),
    }
}

/// Büchi automata.
pub fn buchi(_: &Path, text: &str, _: &str) -> Read {
    let (sources, id) = one(text);
    result(hoa::read(&sources, id).map(|hoa| (hoa.automaton, hoa.atoms)))
}

/// A formula on each line.
pub fn formulas(_: &Path, text: &str, _: &str) -> Read {
    let mut all = vec![];
    for line in text.lines().filter(|l| !l.trim().is_empty()) {
        let (sources, id) = one(line);
        match ltl::parse_propositional(&sources, id) {
            Ok(formula) => all.push(formula),
            Err(errors) => return refused(&errors),
        }
    }
    model(&all)
}

/// C.
pub fn program(path: &Path, text: &str, _: &str) -> Read {
    let (mut sources, id) = one(text);
    let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
    result(
        c::parse(&mut sources, id, &c::Options { folders: Folders::of(folder), ..Default::default() }).map(|b| b.cfa),
    )
}
