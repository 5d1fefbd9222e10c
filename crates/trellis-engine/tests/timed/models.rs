//! The shared timed models: all ways give the same verdicts, and evidence that can be checked.
//!
//! Models are asked their own questions, and whether each location of the first processes can be reached, with clocks
//! and without. They lie beside the repository; where they do not, there is nothing to do. `TRELLIS_MODELS=n` takes n of
//! them, small ones of every family first; `TRELLIS_NODES=n` lets an exploration add so many nodes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use trellis_model::network::{Network, Query};
use trellis_syntax::tchecker;

use crate::configurations::ways;
use crate::load::load;
use crate::model::load_tchecker;
use crate::verdicts::{Count, Said, ask};

/// Models with more clocks are left out.
const CLOCKS: usize = 10;

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
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
    if net.clocks.is_empty() || net.clocks.len() > CLOCKS {
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
                let at = |why: String| format!("{}: {} by {:?}: {why}", path.display(), query.text, way.engine);
                match ask(&net, query, &way, nodes, count).map_err(at)? {
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
    Ok(verdicts)
}

#[test]
fn ways_agree_on_shared_models() {
    let mut count = Count::default();
    let nodes = number("TRELLIS_NODES", 1500) as u64;
    for path in files().iter().take(number("TRELLIS_MODELS", 12)) {
        match check(path, nodes, &mut count) {
            Ok(verdicts) => println!("{}: {verdicts} verdicts", path.display()),
            Err(why) => panic!("{why}"),
        }
    }
    println!("{count:?}");
}
