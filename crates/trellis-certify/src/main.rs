//! `trellis-certify MODEL EVIDENCE`: is this run, or this proof, one? For people who trust no search.
//!
//! It has the parsers, the meaning of models, the readers of evidence and the checker, and nothing that looks for evidence. What
//! evidence is about is read from it, understood anew with the model that is given, and printed whole: what is printed is what was
//! shown, about this file. So neither names, hashes nor texts in evidence are believed.
//!
//! What it deliberately does not do: programs, hierarchies and formulas of linear temporal logic, whose evidence `trellis certify`
//! checks with the same checker; options, and any assumption.

use std::path::Path;
use std::process::ExitCode;

use trellis_check::counter;
use trellis_model::counter::System;
use trellis_model::network::{Network, Query, QueryKind};
use trellis_report::Content;
use trellis_report::counter::property;
use trellis_report::json::{Binding, read, read_binding};
use trellis_syntax::diag::{Diagnostic, Folders, Severity, SourceId, Sources, render};
use trellis_syntax::uppaal::{self, build};
use trellis_syntax::{pnml, spec};

/// What became of evidence.
enum Judged {
    /// What it shows.
    Shown(String),
    /// Why it shows nothing.
    Not(String),
}

const USAGE: &str = "usage: trellis-certify MODEL EVIDENCE
Checks a trace or a certificate that `trellis check MODEL --trace FILE` or `--certificate FILE` wrote, about a network of automata
(UPPAAL) or a counter system (.spec, .pnml), and says what it shows. Exit code: 0 it shows that, 10 it shows nothing, 2 it cannot be read.
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [model, evidence] = &args[..] else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    match certify(Path::new(model), evidence) {
        Ok(Judged::Shown(what)) => {
            println!("VALID     {what}");
            ExitCode::SUCCESS
        }
        Ok(Judged::Not(why)) => {
            println!("REJECTED  {why}");
            ExitCode::from(10)
        }
        Err(why) => {
            eprintln!("{}", why.trim_end());
            ExitCode::from(2)
        }
    }
}

fn certify(model: &Path, evidence: &str) -> Result<Judged, String> {
    let unreadable = |why: &dyn std::fmt::Display| format!("error: {evidence}: {why}");
    let text = std::fs::read_to_string(evidence).map_err(|e| unreadable(&e))?;
    let (_, claimed) = read_binding(&text).map_err(|e| unreadable(&e))?;
    let mut sources = Sources::default();
    let id = sources.read(model).map_err(|d| render(&[d], &sources, false))?;
    let source = sources.get(id).text.clone();
    let net = source.contains("<pnml");
    if net || ["vars", "rules", "init", "target"].iter().all(|word| source.contains(word)) {
        let system = system(&mut sources, id, net, &claimed).map_err(|d| render(&d, &sources, false))?;
        about_counters(&system, read(&system, &text).map_err(|e| unreadable(&e))?, &claimed)
    } else {
        let (network, query) = network(&mut sources, id, model, &claimed)?;
        let content = read(&network, &text).map_err(|e| unreadable(&e))?;
        about_network(&network, &query, content, &claimed)
    }
}

// Counter systems.

/// The system, with the targets that the evidence is about.
fn system(sources: &mut Sources, id: SourceId, net: bool, claimed: &Binding) -> Result<System, Vec<Diagnostic>> {
    let mut system = if net { pnml::parse(sources, id)? } else { spec::parse(sources, id)?.system };
    system.target.clear();
    for target in claimed.property.split("; ") {
        let id = sources.add("the property of the evidence", target.trim_start_matches("never "));
        let (targets, _) = spec::parse_targets(sources, id, &system)?;
        system.target.extend(targets);
    }
    Ok(system)
}

fn about_counters(
    system: &System,
    content: Content<trellis_model::counter::evidence::Trace, trellis_model::counter::evidence::Certificate>,
    claimed: &Binding,
) -> Result<Judged, String> {
    if let Some(option) = claimed.options.keys().next() {
        return Err(format!("error: the evidence depends on --{option}, which trellis-certify does not know"));
    }
    let asked = property(system);
    let (found, end) = match content {
        Content::Trace(t) => (counter::replay(system, &t), "is violated, by a run that was replayed"),
        Content::Certificate(c) => (counter::certify(system, &c), "holds, by an invariant that was checked"),
    };
    Ok(match found {
        Ok(()) => Judged::Shown(format!("{asked}: {end}")),
        Err(why) => Judged::Not(format!("{asked}: {why}")),
    })
}

// Networks.

/// The network, and the question that the evidence is about.
fn network(sources: &mut Sources, id: SourceId, path: &Path, claimed: &Binding) -> Result<(Network, Query), String> {
    let text = sources.get(id).text.clone();
    let failed = |diags: &[Diagnostic], sources: &Sources| Err(render(diags, sources, false));
    let broken = |diags: &[Diagnostic]| diags.iter().any(|d| d.severity == Severity::Error);
    let is_xml = text.trim_start().starts_with('<');
    let (mut nta, diags) = if is_xml { uppaal::parse_xml(id, &text) } else { uppaal::parse_xta(id, &text) };
    nta.queries.clear();
    if broken(&diags) {
        return failed(&diags, sources);
    }
    let asked = sources.add("the property of the evidence", claimed.property.as_str());
    let (queries, diags) = uppaal::parse_queries(asked, &claimed.property);
    if broken(&diags) {
        return failed(&diags, sources);
    }
    let questions = build::Questions { queries, ..Default::default() };
    let folder = path.parent().map_or_else(Default::default, Path::to_path_buf);
    let options = build::Options {
        folders: Folders { root: None, folder },
        constants: constants(claimed)?,
        ..build::Options::default()
    };
    let built = match build::build(&nta, &questions, sources, &options) {
        Ok(built) => built,
        Err(errors) => return failed(&errors, sources),
    };
    match <[Query; 1]>::try_from(built.queries) {
        Ok([query]) => Ok((built.network, query)),
        Err(_) => Err("error: the evidence is not about one question".into()),
    }
}

/// The constants of the model that the evidence is about: `N=3 --const M=4`.
fn constants(claimed: &Binding) -> Result<Vec<(String, i64)>, String> {
    let wrong = || "error: the constants that the evidence depends on make no sense".to_string();
    let Some(all) = claimed.options.get("const") else { return Ok(Vec::new()) };
    let one = |text: &str| {
        let (name, value) = text.split_once('=').ok_or_else(wrong)?;
        Ok((name.to_string(), value.parse().map_err(|_| wrong())?))
    };
    all.split(" --const ").map(one).collect()
}

fn about_network(
    net: &Network,
    query: &Query,
    content: Content<trellis_model::network::Trace, trellis_model::network::Certificate>,
    claimed: &Binding,
) -> Result<Judged, String> {
    if let Some(option) = claimed.options.keys().find(|k| !["const", "non-zeno"].contains(&k.as_str())) {
        return Err(format!("error: the evidence depends on --{option}, which trellis-certify does not know"));
    }
    let non_zeno = claimed.options.contains_key("non-zeno");
    let given = claimed.options.get("const").map_or(String::new(), |all| format!(" with --const {all}"));
    let zeno = if non_zeno { ", counting only runs along which time passes for ever" } else { "" };
    let asked = format!("{}{given}{zeno}", query.text);
    let universal = query.kind.is_universal();
    let bound = matches!(query.kind, QueryKind::Bound { .. } | QueryKind::ClockBound { .. });
    let (says, found) = match content {
        Content::Trace(t) => {
            let done = match non_zeno {
                true => trellis_check::replay_non_zeno(net, query, &t),
                false => trellis_check::replay(net, query, &t),
            };
            let done = done.map(|r| match (r.value, bound) {
                (Some(n), true) => format!("a run that was replayed reaches {n}"),
                (_, true) => "a run was replayed".to_string(),
                (..) => format!("{}, by a run that was replayed", if universal { "fails" } else { "holds" }),
            });
            (asked, done)
        }
        Content::Certificate(c) => {
            let done = match non_zeno {
                true => trellis_check::certify_non_zeno(net, query, &c),
                false => trellis_check::certify(net, query, &c),
            };
            let done = done.map(|r| match (r.bound, r.clock) {
                (Some(n), _) => format!("nothing is beyond {n}, by a certificate that was checked"),
                (_, Some(b)) => {
                    format!("{b:?} for the clock (its negation, for inf), by a certificate that was checked")
                }
                (None, None) if bound => "no state is measured, by a certificate that was checked".into(),
                (None, None) => {
                    let end = if universal { "holds" } else { "fails" };
                    format!("{end}, by a certificate of {} entries and {} steps that was checked", r.entries, r.steps)
                }
            });
            (asked, done)
        }
    };
    Ok(match found {
        Ok(end) => Judged::Shown(format!("{says}: {end}")),
        Err(why) => Judged::Not(format!("{says}: {why}")),
    })
}
