//! The shared timed models: all ways give the same verdicts, and evidence that can be checked.
//!
//! Models are asked their own questions, and whether each location of the first processes can be reached, with clocks
//! and without; and whether it is reached for sure, by liveness and by the same question as a formula, both searches, with
//! runs along which time stands still and without. They lie beside the repository; where they do not, there is nothing to
//! do. `TRELLIS_MODELS=n` takes n of them, small ones of every family first, `TRELLIS_ONLY=text` those with this in their
//! names; `TRELLIS_NODES=n` lets an exploration add so many nodes, `TRELLIS_SECONDS=n` lets it take so long,
//! `TRELLIS_CLOCKS=n` lets models have so many clocks.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use trellis_engine::ltl::search::Search;
use trellis_engine::ltl::translate::translate;
use trellis_engine::network::Answer;
use trellis_engine::timed::{formula, live::live};
use trellis_meter::Meter;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::ltl::Formula;
use trellis_model::network::{Network, Query, QueryKind, Temporal};
use trellis_syntax::tchecker;

use crate::configurations::ways;
use crate::formula::of_all_runs;
use crate::load::load;
use crate::model::load_tchecker;
use crate::verdicts::{Count, Said, ask};

/// Models with more clocks are left out.
const CLOCKS: usize = 10;

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// What an exploration may take; by default no time is measured.
fn budget(nodes: u64) -> Meter {
    let seconds = std::env::var("TRELLIS_SECONDS").ok().and_then(|v| v.parse().ok());
    Meter::unlimited().states(Some(nodes)).time(seconds.map(Duration::from_secs))
}

/// The models: the smallest of each family first, then the second of each, and so on.
fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/models/timed");
    let mut open = vec![root];
    let mut found = Vec::new();
    while let Some(dir) = open.pop() {
        let Ok(entries) = std::fs::read_dir(dir) else { continue };
        for path in entries.flatten().map(|e| e.path()) {
            let is_model = path.extension().is_some_and(|e| e == "xta" || e == "txt");
            match std::fs::metadata(&path) {
                Ok(data) if data.is_dir() => open.push(path),
                Ok(data) if is_model => found.push((data.len(), path)),
                _ => {}
            }
        }
    }
    found.sort();
    let mut met: HashMap<String, usize> = HashMap::new();
    let mut ranked: Vec<(usize, u64, PathBuf)> = Vec::new();
    for (size, path) in found {
        let place = met.entry(family(&path)).or_default();
        ranked.push((*place, size, path));
        *place += 1;
    }
    ranked.sort();
    ranked.into_iter().map(|(_, _, path)| path).collect()
}

/// `fischer` for `fischer-3-32-64.xta`.
fn family(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    stem.split(['-', '_']).next().unwrap_or_default().trim_end_matches(|c: char| c.is_ascii_digit()).to_lowercase()
}

/// A model's own questions: those beside it, or those of its family.
fn own_questions(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let read = |name: &str| std::fs::read_to_string(path.with_file_name(format!("{name}.q"))).ok();
    read(&stem).or_else(|| read(&family(path))).unwrap_or_default()
}

fn build(text: &str, queries: &str) -> Result<(Network, Vec<Query>), String> {
    if tchecker::looks_like(text) { load_tchecker(text, queries) } else { load(text, queries) }
}

/// Can each location of the first two processes be reached? And with a clock below or above a constant?
fn made_questions(net: &Network) -> Vec<String> {
    let mut all = Vec::new();
    for p in net.processes.iter().take(2) {
        for (i, l) in p.locations.iter().enumerate().take(4) {
            let at = format!("{}.{}", p.name, l.name);
            all.push(format!("E<> {at}"));
            if let Some(x) = net.clocks.get(i % net.clocks.len().max(1)) {
                all.push(match i % 3 {
                    0 => format!("E<> {at} && {x} < 1"),
                    1 => format!("A[] {at} imply {x} <= 7"),
                    _ => format!("E<> {at} && {x} > 20"),
                });
            }
        }
    }
    all.push("A[] not deadlock".into());
    all
}

/// Checks one model; answers how many verdicts there were.
fn check(path: &Path, nodes: u64, count: &mut Count) -> Result<usize, String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let Ok((net, _)) = build(&text, "") else { return Ok(0) };
    // Zones and certificates of many clocks take long.
    if net.clocks.is_empty() || net.clocks.len() > number("TRELLIS_CLOCKS", CLOCKS) {
        return Ok(0);
    }
    let mut texts = made_questions(&net);
    texts.push(own_questions(path));
    let mut verdicts = 0;
    for (i, text_of_queries) in texts.iter().enumerate() {
        // A word of the query language may name a location.
        let Ok((net, queries)) = build(&text, text_of_queries) else { continue };
        for query in &queries {
            let mut known: Option<(bool, String)> = None;
            for way in ways(i as u64) {
                let at = |why: String| format!("{} by {:?}: {why}", query.text, way.engine);
                match ask(&net, query, &way, budget(nodes), count).map_err(at)? {
                    Said::Verdict(says) => match &known {
                        Some((truth, by)) if *truth != says => return Err(at(format!("{says}, but {truth} by {by}"))),
                        Some(_) => {}
                        None => known = Some((says, format!("{:?}", way.engine))),
                    },
                    Said::Broken(why) => return Err(at(why)),
                    Said::Nothing | Said::TooLarge => {}
                }
            }
            verdicts += usize::from(known.is_some());
        }
    }
    Ok(verdicts + check_liveness(&text, nodes, count)?)
}

/// As formulas: what must happen, and the conditions that its atoms are.
fn as_formula(query: &Query, runs: &Query) -> Option<Temporal> {
    let atom = |n| Box::new(Formula::Atom(n));
    let (formula, conditions) = match query.kind {
        QueryKind::Eventually(p) => (Formula::Finally(atom(0)), vec![p]),
        // What has a run as its witness: that not all runs leave it.
        QueryKind::PotentiallyAlways(p) => (Formula::Finally(Box::new(Formula::Not(atom(0)))), vec![p]),
        QueryKind::LeadsTo(p, q) => {
            let reaches = Formula::Implies(atom(0), Box::new(Formula::Finally(atom(1))));
            (Formula::Globally(Box::new(reaches)), vec![p, q])
        }
        _ => return None,
    };
    let automaton = translate(&Formula::Not(Box::new(formula.clone()))).expect("small");
    let (query, fair) = (runs.clone(), vec![]);
    Some(Temporal { query, conditions, formula: Some(formula), automaton, fair, non_zeno: false })
}

/// Is there a run? `None`: no answer within the limit.
fn said(
    answer: &Answer,
    certify: impl Fn(&trellis_model::network::Certificate) -> Result<(), String>,
    replay: impl Fn(&trellis_model::network::Trace) -> Result<(), String>,
) -> Result<Option<bool>, String> {
    match &answer.verdict {
        Verdict::Safe(cert) => certify(cert).map(|()| Some(false)),
        Verdict::Unsafe(trace) => replay(trace).map(|()| Some(true)),
        Verdict::Unknown(Reason::Iterations | Reason::Unsupported(_) | Reason::Time) => Ok(None),
        Verdict::Unknown(why) => Err(format!("no answer: {why}")),
    }
}

/// Every way to answer one question of liveness, with time that must pass and without.
fn ask_liveness(
    net: &Network,
    query: &Query,
    runs: &Query,
    nodes: u64,
    count: &mut Count,
) -> Result<[Vec<(String, bool)>; 2], String> {
    use trellis_check::{certify, certify_formula, certify_non_zeno, replay, replay_formula, replay_non_zeno};
    let rejected = |r: trellis_check::Rejection| format!("evidence rejected: {r}");
    let mut all = [vec![], vec![]];
    for non_zeno in [false, true] {
        let mut note = |way: String, says: Option<bool>| match says {
            Some(true) => {
                count.traces += 1;
                all[usize::from(non_zeno)].push((way, true));
            }
            Some(false) => {
                count.certificates += 1;
                all[usize::from(non_zeno)].push((way, false));
            }
            None => count.stopped += 1,
        };
        let answer =
            live(net, query, non_zeno, &mut budget(nodes)).map_err(|b| format!("a fault that is none: {}", b.error))?;
        let check = if non_zeno { certify_non_zeno } else { certify };
        let run = if non_zeno { replay_non_zeno } else { replay };
        let says = said(
            &answer,
            |c| check(net, query, c).map(drop).map_err(rejected),
            |t| run(net, query, t).map(drop).map_err(rejected),
        );
        note("liveness".into(), says?);
        let Some(asked) = as_formula(query, runs).map(|asked| Temporal { non_zeno, ..asked }) else { continue };
        for search in [Search::Nested, Search::Components] {
            let answer = formula::check(net, &asked, search, &mut budget(nodes))
                .map_err(|b| format!("a fault that is none: {}", b.error))?;
            let says = said(
                &answer,
                |c| certify_formula(net, &asked, c).map(drop).map_err(rejected),
                |t| replay_formula(net, &asked, t).map(drop).map_err(rejected),
            );
            note(format!("formula, {search:?}"), says.map_err(|why| format!("{search:?}: {why}"))?);
        }
    }
    Ok(all)
}

fn check_liveness(text: &str, nodes: u64, count: &mut Count) -> Result<usize, String> {
    let Ok((net, _)) = build(text, "") else { return Ok(0) };
    let mut verdicts = 0;
    for p in net.processes.iter().take(2) {
        let at = |i: usize| format!("{}.{}", p.name, p.locations[i % p.locations.len()].name);
        for i in 0..p.locations.len().min(4) {
            let (here, next) = (at(i), at(i + 1));
            // The first two are the same question.
            let questions = format!("A<> {here}\nE[] not {here}\n{here} --> {next}");
            let Ok((mut net, queries)) = build(text, &questions) else { continue };
            let runs = of_all_runs(&mut net, "runs".into());
            let mut same: Option<(bool, String)> = None;
            for (number, query) in queries.iter().enumerate() {
                let at = |why: String| format!("{}: {why}", query.text);
                let all = ask_liveness(&net, query, &runs, nodes, count).map_err(at)?;
                for said in &all {
                    if let [(_, first), rest @ ..] = &said[..] {
                        verdicts += 1;
                        if let Some((way, _)) = rest.iter().find(|(_, says)| says != first) {
                            return Err(at(format!("{way} says otherwise than {}", said[0].0)));
                        }
                    }
                }
                // A run along which time diverges is a run.
                let first = |said: &[(String, bool)]| said.first().map(|(_, says)| *says);
                if (first(&all[0]), first(&all[1])) == (Some(false), Some(true)) {
                    return Err(at("a run along which time diverges, but no run".into()));
                }
                if let (true, Some((_, says))) = (number < 2, all[0].first()) {
                    if same.as_ref().is_some_and(|(known, _)| known != says) {
                        return Err(at(format!("{says}, otherwise than {}", same.unwrap_or_default().1)));
                    }
                    same = Some((*says, query.text.clone()));
                }
            }
        }
    }
    Ok(verdicts)
}

#[test]
fn ways_agree_on_shared_models() {
    let mut count = Count::default();
    let nodes = number("TRELLIS_NODES", 1500) as u64;
    let only = std::env::var("TRELLIS_ONLY").unwrap_or_default();
    let files = files();
    let wanted = files.iter().filter(|p| p.to_string_lossy().contains(&only));
    for path in wanted.take(number("TRELLIS_MODELS", 12)) {
        match check(path, nodes, &mut count) {
            Ok(verdicts) => println!("{}: {verdicts} verdicts", path.display()),
            Err(why) => panic!("{}: {why}", path.display()),
        }
    }
    println!("{count:?}");
}
