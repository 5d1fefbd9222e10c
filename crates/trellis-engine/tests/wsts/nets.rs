//! Nets as files: what the readers make of random nets in random dialects, in any order, against a plain search that was written
//! apart; and the nets of others, where they lie beside the checkout.
//!
//! `TRELLIS_RUNS=5000 cargo test -p trellis-engine --test wsts nets::` is the whole comparison.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fmt::Write;
use std::path::PathBuf;

use trellis_engine::wsts::Engine;
use trellis_model::counter::System;
use trellis_model::counter::evidence::{Trace, Verdict};
use trellis_syntax::diag::{Diagnostic, Sources};
use trellis_syntax::{lola, pnml, spec};

use crate::generator::{Dice, ask, runs};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arc {
    Take(usize, u64),
    Put(usize, u64),
    Inhibit(usize, u64),
    Read(usize, u64),
    Equal(usize, u64),
    Reset(usize),
    Transfer(usize, usize),
}

#[derive(Debug, Clone)]
struct Net {
    marking: Vec<u64>,
    capacity: Vec<Option<u64>>,
    transitions: Vec<Vec<Arc>>,
}

/// What a marking becomes: all conditions are looked at first, then tokens are taken, places emptied, their content moved, tokens put.
fn fire(net: &Net, transition: &[Arc], marking: &[u64]) -> Option<Vec<u64>> {
    let mut taken = vec![0; marking.len()];
    for arc in transition {
        let possible = match *arc {
            Arc::Take(p, n) => {
                taken[p] += n;
                taken[p] <= marking[p]
            }
            Arc::Inhibit(p, n) => marking[p] < n,
            Arc::Read(p, n) => marking[p] >= n,
            Arc::Equal(p, n) => marking[p] == n,
            Arc::Put(..) | Arc::Reset(_) | Arc::Transfer(..) => true,
        };
        if !possible {
            return None;
        }
    }
    let mut next: Vec<u64> = marking.iter().zip(&taken).map(|(m, t)| m - t).collect();
    for arc in transition {
        if let Arc::Reset(p) = *arc {
            next[p] = 0;
        }
    }
    for arc in transition {
        if let Arc::Transfer(p, q) = *arc {
            let all = std::mem::take(&mut next[p]);
            next[q] += all;
        }
    }
    for arc in transition {
        if let Arc::Put(p, n) = *arc {
            next[p] += n;
        }
    }
    let fits = |(n, most): (&u64, &Option<u64>)| most.is_none_or(|most| *n <= most);
    next.iter().zip(&net.capacity).all(fits).then_some(next)
}

/// Is the goal covered by a marking that can be reached? Nothing if too much can be reached to know.
fn search(net: &Net, goal: &[u64]) -> Option<bool> {
    let mut seen = HashSet::from([net.marking.clone()]);
    let mut waiting = VecDeque::from([net.marking.clone()]);
    let mut whole = true;
    while let Some(m) = waiting.pop_front() {
        if m.iter().zip(goal).all(|(m, g)| m >= g) {
            return Some(true);
        }
        for t in &net.transitions {
            let Some(next) = fire(net, t, &m) else { continue };
            if next.iter().any(|n| *n > 9) || seen.len() > 4000 {
                whole = false;
            } else if seen.insert(next.clone()) {
                waiting.push_back(next);
            }
        }
    }
    whole.then_some(false)
}

fn net(dice: &mut Dice, special: bool) -> Net {
    let places = 2 + dice.roll(4) as usize;
    let marking: Vec<u64> = (0..places).map(|_| dice.roll(5).saturating_sub(2)).collect();
    let capacity = |m: &u64, dice: &mut Dice| (special && dice.roll(6) == 0).then(|| (m + dice.roll(3)).max(1));
    let capacity: Vec<Option<u64>> = marking.iter().map(|m| capacity(m, dice)).collect();
    let mut transitions = vec![];
    for _ in 0..2 + dice.roll(4) {
        let mut arcs: Vec<Arc> = vec![];
        for _ in 0..2 + dice.roll(3) {
            let (p, q) = (dice.roll(places as u64) as usize, dice.roll(places as u64) as usize);
            let n = [1, 1, 1, 2, 3][dice.roll(5) as usize];
            let arc = match dice.roll(if special { 14 } else { 6 }) {
                0..=2 => Arc::Take(p, n),
                3..=5 => Arc::Put(p, n),
                6..=8 => Arc::Inhibit(p, n),
                9 | 10 => Arc::Read(p, n),
                11 => Arc::Equal(p, n - 1),
                12 => Arc::Reset(p),
                _ => Arc::Transfer(p, q),
            };
            // What nobody has given a meaning.
            let clash = |other: &Arc| match (arc, *other) {
                (Arc::Take(a, _), Arc::Read(b, _)) | (Arc::Read(a, _), Arc::Take(b, _)) => a == b,
                (Arc::Inhibit(a, _), Arc::Inhibit(b, _))
                | (Arc::Read(a, _), Arc::Read(b, _))
                | (Arc::Equal(a, _), Arc::Equal(b, _))
                | (Arc::Reset(a), Arc::Reset(b)) => a == b,
                (Arc::Reset(a), Arc::Transfer(b, _)) | (Arc::Transfer(a, _), Arc::Reset(b)) => a == b,
                (Arc::Transfer(..), Arc::Transfer(..)) => true,
                _ => false,
            };
            let full = matches!(arc, Arc::Transfer(_, q) if capacity[q].is_some());
            if !arcs.iter().any(clash) && !full {
                arcs.push(arc);
            }
        }
        transitions.push(arcs);
    }
    Net { marking, capacity, transitions }
}

fn shuffle<T>(dice: &mut Dice, all: &mut [T]) {
    for i in (1..all.len()).rev() {
        all.swap(i, dice.roll(i as u64 + 1) as usize);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// Labels with <text>, `<type value="…"/>`.
    Iso,
    /// Labels with <text>, `<arctype>`.
    ArcType,
    /// Everything an attribute.
    Attributes,
    /// Labels with <value> and a colour.
    Pipe,
    /// Attributes, with ages of tokens that may be any.
    Tapaal,
}

const DIALECTS: [Dialect; 5] = [Dialect::Iso, Dialect::ArcType, Dialect::Attributes, Dialect::Pipe, Dialect::Tapaal];

/// The names are the same in all dialects; the order is not.
fn written(net: &Net, dice: &mut Dice, dialect: Dialect) -> String {
    let number = |name: &str, n: u64| match dialect {
        Dialect::Iso | Dialect::ArcType => {
            format!("<{name}><text> {n} </text><graphics><offset x=\"1\" y=\"2\"/></graphics></{name}>")
        }
        Dialect::Pipe => format!("<{name}><value>Default,{n}</value><graphics/></{name}>"),
        Dialect::Attributes | Dialect::Tapaal => String::new(),
    };
    let attributes = matches!(dialect, Dialect::Attributes | Dialect::Tapaal);
    // The net, and a page.
    let mut parts: [Vec<String>; 2] = [vec![], vec![]];
    let mut ends: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (p, m) in net.marking.iter().enumerate() {
        let id = format!("p.{p}");
        let mut place = format!("<place id=\"{id}\"");
        if attributes {
            write!(place, " initialMarking=\"{m}\"").unwrap();
        }
        if dialect == Dialect::Tapaal {
            place += " invariant=\"&lt; inf\" displayName=\"true\" positionX=\"3\"";
        }
        let mut inside = String::new();
        if dice.roll(2) == 0 {
            write!(inside, "<name><text>the place {p}</text></name>").unwrap();
        }
        if !attributes && (*m > 0 || dice.roll(2) == 0) {
            inside += &number("initialMarking", *m);
        }
        match net.capacity[p] {
            Some(n) if attributes => write!(place, " capacity=\"{n}\"").unwrap(),
            Some(n) if dialect == Dialect::Pipe => write!(inside, "<capacity><value>{n}</value></capacity>").unwrap(),
            Some(n) => write!(inside, "<capacity><text>{n}</text></capacity>").unwrap(),
            None if dialect == Dialect::Pipe => inside += "<capacity><value>0</value></capacity>",
            None => {}
        }
        let side = dice.roll(2) as usize;
        parts[side].push(format!("{place}>{inside}</place>"));
        ends.entry(p).or_default().push(id);
        if dice.roll(4) == 0 {
            parts[1 - side].push(format!("<referencePlace id=\"also.{p}\" ref=\"p.{p}\"/>"));
            ends.entry(p).or_default().push(format!("also.{p}"));
        }
    }
    for t in 0..net.transitions.len() {
        let more = match dialect {
            Dialect::Pipe => {
                "<orientation><value>0</value></orientation><rate><value>1.0</value></rate><timed><value>false</value></timed>\
                 <priority><value>1</value></priority>"
            }
            _ => "",
        };
        let tapaal = if dialect == Dialect::Tapaal { " urgent=\"false\" priority=\"0\" player=\"0\"" } else { "" };
        parts[dice.roll(2) as usize].push(format!("<transition id=\"t{t}\"{tapaal}>{more}</transition>"));
    }
    let mut count = 0;
    for (t, arcs) in net.transitions.iter().enumerate() {
        for arc in arcs {
            let mut write = |p: usize, into: bool, n: u64, kind: &str| {
                let names = &ends[&p];
                let p = names[dice.roll(names.len() as u64) as usize].clone();
                let t = format!("t{t}");
                let (from, to) = if into { (p, t) } else { (t, p) };
                let mut text = format!("<arc id=\"a{count}\" source=\"{from}\" target=\"{to}\"");
                count += 1;
                let mut inside = String::new();
                match dialect {
                    Dialect::Tapaal => {
                        let kind = match kind {
                            "normal" if into => "timed",
                            "inhibitor" => "tapnInhibitor",
                            other => other,
                        };
                        let ages = if kind == "normal" { "1" } else { "[0,inf)" };
                        write!(text, " type=\"{kind}\" inscription=\"{ages}\" weight=\"{n}\"").unwrap();
                    }
                    Dialect::Attributes => write!(text, " type=\"{kind}\" weight=\"{n}\"").unwrap(),
                    _ => {
                        if n != 1 || dice.roll(2) == 0 {
                            inside += &number("inscription", n);
                        }
                        match (kind, dialect) {
                            ("normal", _) if dice.roll(2) == 0 => {}
                            (kind, Dialect::ArcType) => {
                                write!(inside, "<arctype><text>{kind}</text></arctype>").unwrap();
                            }
                            (kind, _) => write!(inside, "<type value=\"{kind}\"/>").unwrap(),
                        }
                    }
                }
                let side = dice.roll(2) as usize;
                parts[side].push(format!("{text}>{inside}</arc>"));
            };
            match *arc {
                Arc::Take(p, n) => write(p, true, n, "normal"),
                Arc::Put(p, n) => write(p, false, n, "normal"),
                Arc::Inhibit(p, n) => write(p, true, n, "inhibitor"),
                Arc::Read(p, n) => write(p, true, n, if n == 2 { "test" } else { "read" }),
                Arc::Equal(p, n) => write(p, true, n, "equal"),
                Arc::Reset(p) => write(p, true, 1, "reset"),
                Arc::Transfer(p, q) => {
                    write(p, true, 1, "transfer");
                    write(q, false, 1, "transfer");
                }
            }
        }
    }
    let [mut outer, mut inner] = parts;
    shuffle(dice, &mut inner);
    outer.push(format!(
        "<page id=\"page\"><toolspecific tool=\"x\" version=\"1\"><place id=\"no\"/></toolspecific>{}</page>",
        inner.join("\n")
    ));
    shuffle(dice, &mut outer);
    format!(
        "<?xml version=\"1.0\"?>\n<pnml><net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\">\n{}\n</net></pnml>",
        outer.join("\n")
    )
}

/// The same for LoLA, which knows ordinary arcs only.
fn written_for_lola(net: &Net, dice: &mut Dice) -> String {
    let mut places: Vec<String> = (0..net.marking.len()).map(|p| format!("p.{p}")).collect();
    shuffle(dice, &mut places);
    // A place that only somebody who changes names mistakes for another.
    places.push("p_0".into());
    let list = |all: Vec<(usize, u64)>| {
        let all: Vec<String> =
            all.into_iter().map(|(p, n)| if n == 1 { format!("p.{p}") } else { format!("p.{p}: {n}") }).collect();
        all.join(", ")
    };
    let marked = net.marking.iter().copied().enumerate().filter(|m| m.1 > 0).collect();
    let mut text = format!("PLACE {};\nMARKING {};\n", places.join(", "), list(marked));
    let mut order: Vec<usize> = (0..net.transitions.len()).collect();
    shuffle(dice, &mut order);
    for t in order {
        let mut arcs = net.transitions[t].clone();
        shuffle(dice, &mut arcs);
        let takes = arcs.iter().filter_map(|a| if let Arc::Take(p, n) = *a { Some((p, n)) } else { None }).collect();
        let puts = arcs.iter().filter_map(|a| if let Arc::Put(p, n) = *a { Some((p, n)) } else { None }).collect();
        writeln!(text, "TRANSITION t{t} CONSUME {}; PRODUCE {};", list(takes), list(puts)).unwrap();
    }
    text
}

type Parse = fn(&Sources, trellis_syntax::diag::SourceId) -> Result<System, Vec<Diagnostic>>;

fn read(text: &str, parse: Parse) -> System {
    let mut sources = Sources::default();
    let id = sources.add("net", text);
    parse(&sources, id).unwrap_or_else(|d| panic!("{}\n{text}", d[0].message))
}

fn with_target(mut system: System, target: &str) -> System {
    let mut sources = Sources::default();
    let id = sources.add("--error", target);
    let (targets, _) =
        spec::parse_targets(&sources, id, &system).unwrap_or_else(|d| panic!("{}: {target}", d[0].message));
    system.target = targets;
    system
}

fn question(goal: &[u64], dice: &mut Dice) -> String {
    let part = |(p, n): (usize, &u64)| match dice.roll(3) {
        0 => format!("\"p.{p}\" >= {n}"),
        _ => format!("p.{p}>={n}"),
    };
    goal.iter().enumerate().filter(|g| *g.1 > 0).map(part).collect::<Vec<_>>().join(", ")
}

/// A run of the system, by the names of its transitions, as a run of the net.
fn run_of_the_net(net: &Net, system: &System, trace: &Trace) -> Vec<u64> {
    let mut marking = net.marking.clone();
    for rule in trace.steps().flat_map(|(rule, times)| (0..times).map(move |_| rule)) {
        let name = system.rules[rule as usize].name.as_deref().expect("a transition has a name");
        let t: usize = name.strip_prefix('t').and_then(|n| n.parse().ok()).expect("its own");
        marking = fire(net, &net.transitions[t], &marking).expect("a step of the net");
    }
    marking
}

/// What is answered, after the run was repeated on the net itself.
fn answer(net: &Net, goal: &[u64], system: &System, text: &str) -> Option<bool> {
    match ask(system, &Engine::Portfolio(1), Some(30_000)).verdict {
        Verdict::Safe(_) => Some(false),
        Verdict::Unsafe(trace) => {
            let end = run_of_the_net(net, system, &trace);
            assert!(end.iter().zip(goal).all(|(m, g)| m >= g), "{end:?} does not cover {goal:?}\n{text}");
            Some(true)
        }
        Verdict::Unknown(_) => None,
    }
}

fn goal(dice: &mut Dice, places: usize) -> Vec<u64> {
    let mut goal: Vec<u64> = (0..places).map(|_| dice.roll(6).saturating_sub(3)).collect();
    if goal.iter().all(|n| *n == 0) {
        goal[dice.roll(places as u64) as usize] = 1 + dice.roll(3);
    }
    goal
}

#[test]
fn random_nets_in_random_dialects_against_a_plain_search() {
    let (mut yes, mut no, mut silent, mut beyond) = (0, 0, 0, 0);
    for seed in 0..runs(120) {
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 77);
        let plain = seed % 4 == 0;
        let net = net(&mut dice, !plain);
        let text = match plain && dice.roll(2) == 0 {
            true => written_for_lola(&net, &mut dice),
            false => {
                let dialect = DIALECTS[dice.roll(5) as usize];
                written(&net, &mut dice, dialect)
            }
        };
        let parse: Parse = if text.starts_with("PLACE") { lola::parse } else { pnml::parse };
        let system = read(&text, parse);
        for _ in 0..3 {
            let goal = goal(&mut dice, net.marking.len());
            let system = with_target(system.clone(), &question(&goal, &mut dice));
            let right = search(&net, &goal);
            // Whatever has no limits may take long to answer.
            if right.is_none() && seed % 50 > 0 {
                beyond += 1;
                continue;
            }
            match (right, answer(&net, &goal, &system, &text)) {
                (Some(right), Some(said)) => {
                    assert_eq!(said, right, "seed {seed}, {goal:?}\n{net:?}\n{text}");
                    if said { yes += 1 } else { no += 1 }
                }
                (Some(_), None) => silent += 1,
                (None, _) => beyond += 1,
            }
        }
    }
    println!("{yes} covered, {no} not, {silent} not answered, {beyond} beyond the plain search");
    assert!(yes > 20 && no > 20 && silent * 100 <= yes + no, "{yes} {no} {silent} {beyond}");
}

#[test]
fn the_order_in_a_net_does_not_matter() {
    for seed in 0..runs(40) {
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 99);
        let net = net(&mut dice, seed % 3 > 0);
        let goal = goal(&mut dice, net.marking.len());
        if search(&net, &goal).is_none() && seed % 50 > 0 {
            continue;
        }
        let dialect = DIALECTS[dice.roll(5) as usize];
        let mut first: Option<(bool, String)> = None;
        for _ in 0..4 {
            let text = written(&net, &mut dice, dialect);
            let system = with_target(read(&text, pnml::parse), &question(&goal, &mut dice));
            let Some(said) = answer(&net, &goal, &system, &text) else { continue };
            let (before, text_before) = first.get_or_insert((said, text.clone()));
            assert_eq!(*before, said, "seed {seed}\n{text_before}\n{text}");
        }
    }
}

/// A folder of models that are not ours, if it is there.
fn shared(folder: &str) -> Option<PathBuf> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let path = std::env::var_os("TRELLIS_SHARED").map_or_else(beside, PathBuf::from).join("models").join(folder);
    if !path.is_dir() {
        eprintln!("skipped: there is no {}", path.display());
        return None;
    }
    Some(path)
}

fn rows(folder: &std::path::Path) -> Vec<[String; 3]> {
    let text = std::fs::read_to_string(folder.join("EXPECTED.tsv")).expect("EXPECTED.tsv");
    let lines = text.lines().filter(|l| !l.starts_with('#'));
    lines
        .map(|l| l.split('\t').map(String::from).collect::<Vec<_>>()[..3].to_vec().try_into().expect("three"))
        .collect()
}

fn file(path: &std::path::Path) -> Result<System, Vec<Diagnostic>> {
    let mut sources = Sources::default();
    let id = sources.add("net", std::fs::read_to_string(path).expect("a file"));
    pnml::parse(&sources, id)
}

#[test]
fn nets_of_tapaal_are_answered_as_expected() {
    let Some(folder) = shared("nets-tapaal") else { return };
    let (mut answered, all) = (0, rows(&folder));
    for [net, target, right] in &all {
        let system = file(&folder.join(net)).unwrap_or_else(|d| panic!("{net}: {}", d[0].message));
        let outcome = ask(&with_target(system, target), &Engine::Portfolio(2), None);
        let said = match outcome.verdict {
            Verdict::Safe(_) => "SAFE",
            Verdict::Unsafe(_) => "UNSAFE",
            Verdict::Unknown(_) => continue,
        };
        assert_eq!(said, right, "{net} {target}");
        answered += 1;
    }
    assert!(answered * 100 >= all.len() * 95, "{answered} of {}", all.len());
}

#[test]
fn probes_of_dialects_are_answered_as_expected_or_refused() {
    let Some(folder) = shared("nets-probes") else { return };
    for [net, target, right] in &rows(&folder) {
        let said = match file(&folder.join(net)) {
            Err(_) => "refused",
            Ok(system) => match ask(&with_target(system, target), &Engine::Portfolio(1), None).verdict {
                Verdict::Safe(_) => "SAFE",
                Verdict::Unsafe(_) => "UNSAFE",
                Verdict::Unknown(_) => "UNKNOWN",
            },
        };
        assert!(right.split([' ', ',']).any(|word| word == said), "{net} {target}: {said}, not {right}");
    }
}
