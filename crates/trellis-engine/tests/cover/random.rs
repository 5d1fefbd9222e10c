//! Random hierarchies of three levels, with priorities, flows and broadcasts: the plain interpreter, flattening, composition
//! on relations, reachability both ways, `Cegar` and `PCegar` under random options, at once and in parts, must agree.

use std::collections::BTreeSet;
use std::fmt::Write;

use trellis_engine::cover::Question;
use trellis_engine::cover::cegar::{Abstraction, Options, Run, Split, cegar, control_locations, guards};
use trellis_engine::cover::graph::Search;
use trellis_engine::cover::reach::{Direction, reach};
use trellis_meter::Meter;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::hierarchy::explicit::{Level, Meaning};
use trellis_model::hierarchy::flatten::flatten;
use trellis_model::hierarchy::walk::Walker;

use crate::{read, symbolic};

pub struct Random(pub u64);

impl Random {
    /// Different for each seed.
    pub fn new(seed: u64) -> Random {
        let mut r = Random(u64::wrapping_mul(seed, 0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..10 {
            r.below(2);
        }
        r
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }
}

/// A variable as seen from somewhere: its path and what kind of values it has.
#[derive(Clone)]
struct Seen {
    path: String,
    kind: usize,
}

fn literal(r: &mut Random, kind: usize) -> &'static str {
    match kind {
        0 => r.pick(&["true", "false"]),
        1 => r.pick(&["0", "1", "2"]),
        _ => r.pick(&["a", "b", "c"]),
    }
}

const DOMAINS: [&str; 3] = ["bool", "[0, 2]", "{a, b, c}"];

fn atom(r: &mut Random, seen: &[Seen]) -> String {
    if seen.is_empty() {
        return "true".into();
    }
    let v = r.pick(seen);
    let same: Vec<Seen> = seen.iter().filter(|s| s.kind == v.kind && s.path != v.path).cloned().collect();
    let other = if !same.is_empty() && r.chance(30) { r.pick(&same).path } else { literal(r, v.kind).into() };
    let op = if v.kind == 1 { r.pick(&["=", "!=", "<", ">="]) } else { r.pick(&["=", "!="]) };
    format!("({} {op} {other})", v.path)
}

fn condition(r: &mut Random, seen: &[Seen]) -> String {
    let n = r.below(3);
    let mut text = atom(r, seen);
    for _ in 0..n {
        let op = r.pick(&["and", "or", "=>"]);
        text = format!("({text} {op} {})", atom(r, seen));
    }
    if r.chance(20) { format!("not {text}") } else { text }
}

fn value(r: &mut Random, v: &Seen, seen: &[Seen]) -> String {
    let same: Vec<Seen> = seen.iter().filter(|s| s.kind == v.kind).cloned().collect();
    match r.below(4) {
        0 if v.kind == 1 => format!("{} + 1", v.path),
        1 if v.kind == 1 => format!("{} - 1", v.path),
        2 => r.pick(&same).path,
        _ => literal(r, v.kind).into(),
    }
}

/// A node with its name, its variables, and its events.
struct Kind {
    name: String,
    variables: Vec<Seen>,
    events: Vec<String>,
}

fn node(r: &mut Random, name: &str, subs: &[(&str, &Kind)], deep: bool, text: &mut String) -> Kind {
    let (states, flows) = (r.below(2) + usize::from(subs.is_empty()), r.below(2));
    let mut own = vec![];
    let _ = writeln!(text, "node {name}");
    for (sub, kind) in subs {
        let _ = writeln!(text, "  sub {sub} : {};", kind.name);
    }
    for (n, section, prefix) in [(states, "state", "s"), (flows, "flow", "f")] {
        for i in 0..n {
            let kind = if section == "flow" { r.pick(&[0, 0, 2]) } else { r.below(3) };
            let path = format!("{prefix}{i}");
            let _ = writeln!(text, "  {section} {path} : {} : public;", DOMAINS[kind]);
            own.push(Seen { path, kind });
        }
    }
    let below = subs.iter().flat_map(|(sub, kind)| {
        kind.variables.iter().map(move |v| Seen { path: format!("{sub}.{}", v.path), kind: v.kind })
    });
    let visible: Vec<Seen> = own.iter().cloned().chain(below).collect();
    // What it speaks of itself.
    let seen = if deep { visible.clone() } else { own.clone() };
    for v in own.iter().filter(|v| v.path.starts_with('s')) {
        if r.chance(80) {
            let _ = writeln!(text, "  init {} := {};", v.path, literal(r, v.kind));
        }
    }
    // A parent overrides.
    for v in visible.iter().filter(|v| v.path.contains(".s")) {
        if r.chance(15) {
            let _ = writeln!(text, "  init {} := {};", v.path, literal(r, v.kind));
        }
    }
    for v in own.iter().filter(|v| v.path.starts_with('f')) {
        if v.kind == 0 && r.chance(70) {
            let _ = writeln!(text, "  assert {} = {};", v.path, condition(r, &seen));
        }
    }
    if r.chance(30) {
        let _ = writeln!(text, "  assert {};", condition(r, &seen));
    }
    let events: Vec<String> = (0..1 + r.below(3)).map(|i| format!("e{i}")).collect();
    let sign = |r: &mut Random| r.pick(&[", ", ", ", " < ", " > "]);
    let list = events.iter().skip(1).fold(events[0].clone(), |all, e| format!("{all}{}{e}", sign(r)));
    // A chain that goes up and down is no circle: each event occurs once.
    let _ = writeln!(text, "  event {list};");
    let assignable: Vec<Seen> = own.iter().filter(|v| v.path.starts_with('s')).cloned().collect();
    for e in &events {
        for _ in 0..1 + r.below(2) {
            let guard = if r.chance(25) { "true".into() } else { condition(r, &seen) };
            let update = match assignable.is_empty() || r.chance(20) {
                true => String::new(),
                false => {
                    let v = r.pick(&assignable);
                    format!("{} := {}", v.path, value(r, &v, &seen))
                }
            };
            let _ = writeln!(text, "  trans {guard} |- {e} -> {update};");
        }
    }
    if !subs.is_empty() {
        for _ in 0..r.below(4) {
            let mut parts = vec![];
            if r.chance(60) {
                parts.push(r.pick(&events));
            }
            for (sub, kind) in subs {
                if r.chance(70) {
                    let optional = if r.chance(30) { "?" } else { "" };
                    parts.push(format!("{sub}.{}{optional}", r.pick(&kind.events)));
                }
            }
            let some = parts.iter().any(|p| p.ends_with('?'));
            let count = if some && r.chance(40) { " >= 1" } else { "" };
            if !parts.is_empty() {
                let _ = writeln!(text, "  sync <{}>{count};", parts.join(", "));
            }
        }
    }
    let _ = writeln!(text, "edon");
    Kind { name: name.into(), variables: visible, events }
}

/// A model and a bad condition. Deep ones have nodes that speak of variables below them.
pub fn model(r: &mut Random, deep: bool) -> (String, String) {
    let mut text = String::new();
    let l = node(r, "L", &[], deep, &mut text);
    let k = node(r, "K", &[], deep, &mut text);
    // Only the middle, only the top, or both.
    let inner = deep && r.chance(50);
    let both = deep && r.chance(50);
    let mid = node(r, "M", &[("x", &l), ("y", &k)], inner || both, &mut text);
    let top = if r.chance(50) {
        node(r, "T", &[("m", &mid), ("z", &l)], deep && !inner, &mut text)
    } else {
        node(r, "T", &[("m", &mid)], deep && !inner, &mut text)
    };
    let bad = format!("{} and {}", atom(r, &top.variables), atom(r, &top.variables));
    (text, bad)
}

/// The same without priorities and broadcasts.
fn plain(text: &str) -> String {
    let line = |l: &str| match l.trim_start() {
        event if event.starts_with("event") => l.replace(['<', '>'], ","),
        sync if sync.starts_with("sync") => l.replace('?', "").replace(" >= 1", ""),
        _ => l.to_string(),
    };
    text.lines().map(|l| line(l) + "\n").collect()
}

fn options(r: &mut Random) -> Options {
    Options {
        pruning: r.chance(70),
        abstraction: r.pick(&[Abstraction::Partition, Abstraction::Cover]),
        search: r.pick(&[Search::Bfs, Search::Dfs]),
        analysis: r.pick(&[Direction::Forward, Direction::Backward]),
        split: r.pick(&[Split::Direct, Split::Sigma]),
        initial_certification: r.chance(50),
        split_certification: r.chance(50),
        feasibility_certification: r.chance(50),
        must: r.chance(50),
        super_transitions: false,
        limit: None,
        pictures: r.chance(10),
    }
}

#[test]
fn all_agree() {
    let runs = std::env::var("TRELLIS_RUNS").ok().and_then(|r| r.parse().ok()).unwrap_or(150);
    let (mut done, mut safe, mut flattened, mut free, mut seed) = (0, 0, 0, 0, 0);
    while done < runs {
        seed += 1;
        let mut r = Random::new(seed);
        let (text, bad) = model(&mut r, true);
        let text = if seed % 5 == 0 { plain(&text) } else { text };
        let bad = match seed % 7 {
            0 => "deadlock".into(),
            1 => format!("deadlock and ({bad})"),
            2 => format!("({bad}) and !deadlock"),
            _ => bad,
        };
        let context = format!("seed {seed}, bad {bad}\n{text}");
        let (built, bad) = read(&text, &bad);
        let h = &built.hierarchy;
        let Ok(meaning) = Meaning::of(h, 20_000) else { continue };
        done += 1;
        let level = &meaning.components[h.top.index()];
        let initial = meaning.initial(h, h.top);
        let reachable = meaning.reachable(h.top, &initial);
        let reached = meaning.satisfying(h, h.top, bad).iter().any(|q| reachable.contains(q));
        safe += u32::from(!reached);

        // Flattening: the same configurations and the same transitions.
        if let Some(meaning) = flatten(h, 500).and_then(|flat| Some((Meaning::of(&flat, 20_000).ok()?, flat))) {
            let (meaning, flat) = meaning;
            flattened += 1;
            let one = &meaning.components[flat.top.index()];
            let rows = |level: &Level| {
                let row = |&(from, event, to): &(usize, usize, usize)| {
                    (level.configurations[from].clone(), event, level.configurations[to].clone())
                };
                level.transitions.iter().map(row).collect::<BTreeSet<_>>()
            };
            assert!(rows(one) == rows(level), "flattened: {context}");
        }

        // Composition: the same configurations and the same transitions.
        let m = symbolic(&built);
        let order = h.variables_below(h.top);
        let copy = |copy: usize| order.iter().map(move |v| (v.index(), copy));
        let columns = |c: usize| copy(c).map(|(v, c)| (m.columns[v], c)).collect::<Vec<_>>();
        let all = m.configurations().unwrap();
        let rows: BTreeSet<Vec<i64>> = m.space.rows(&all, &columns(0), 100_000).into_iter().collect();
        assert_eq!(rows, level.configurations.iter().cloned().collect(), "{context}");
        let mut transitions = 0;
        let both: Vec<_> = columns(0).into_iter().chain(columns(1)).collect();
        for event in &m.events {
            let relation = m.transitions(event, &all).unwrap();
            for row in m.space.rows(&relation, &both, 1_000_000) {
                let (from, to) = row.split_at(order.len());
                let number = |v: &[i64]| level.configurations.iter().position(|c| c == v).unwrap();
                let (from, to) = (number(from), number(to));
                assert!(level.transitions.contains(&(from, event.number, to)), "{context}");
                transitions += 1;
            }
        }
        assert_eq!(transitions, level.transitions.len(), "{context}");

        // One configuration at a time.
        let walker = Walker::new(h).unwrap();
        for (from, configuration) in level.configurations.iter().enumerate().filter(|_| r.chance(5)) {
            let by_number = |configuration: &Vec<i64>| {
                let mut values = vec![0; configuration.len()];
                order.iter().zip(configuration).for_each(|(v, &value)| values[v.index()] = value);
                values
            };
            let here = by_number(configuration);
            let states = |values: &[i64]| -> Vec<i64> {
                (0..values.len()).filter(|&v| !h.variables[v].flow).map(|v| values[v]).collect()
            };
            let moves: BTreeSet<(usize, Vec<i64>)> = walker
                .moves(&here)
                .unwrap()
                .into_iter()
                .map(|(event, changes)| {
                    let mut there = here.clone();
                    changes.iter().for_each(|(v, value)| there[v.index()] = *value);
                    (event, states(&there))
                })
                .collect();
            let transitions = level.transitions.range((from, 0, 0)..(from + 1, 0, 0));
            let expected: BTreeSet<(usize, Vec<i64>)> =
                transitions.map(|&(_, e, to)| (e, states(&by_number(&level.configurations[to])))).collect();
            assert_eq!(moves, expected, "at {here:?}: {context}");
            let found = walker.configuration(&here).unwrap().unwrap();
            let known = |c: &Vec<i64>| by_number(c) == found;
            assert!(level.configurations.iter().any(known) && states(&found) == states(&here), "{context}");
        }

        // Verdicts.
        let start = m.initial(h).unwrap();
        let question = Question { hierarchy: h, symbolic: &m, initial: start, bad: m.satisfying(h, bad).unwrap() };
        let judge = |verdict: &Verdict<_, _>, who: &str| match verdict {
            Verdict::Safe(certificate) => {
                assert!(!reached, "{who}: {context}");
                trellis_check::hierarchy::certify(&question.initial, &question.bad, &m, certificate)
                    .unwrap_or_else(|e| panic!("{who}: {e}\n{context}"));
                trellis_check::hierarchy::compare(h, &m, bad, certificate)
                    .unwrap_or_else(|e| panic!("{who}: {e}\n{context}"));
                // To a list of tests and back.
                let tests = m.decisions(&certificate.states);
                assert!(m.decided(&tests).unwrap().as_ref() == Some(&certificate.states), "{who}: {context}");
            }
            Verdict::Unsafe(trace) => {
                assert!(reached, "{who}: {context}");
                trellis_check::hierarchy::replay(h, Some(&m), bad, trace)
                    .unwrap_or_else(|e| panic!("{who}: {e}\n{context}"));
            }
            Verdict::Unknown(why) => panic!("{who}: {why}\n{context}"),
        };
        let forward = reach(&question, Direction::Forward, &mut Meter::unlimited());
        judge(&forward.verdict, "forward");
        if !reached {
            assert_eq!(forward.configurations.unwrap().to_string(), reachable.len().to_string(), "{context}");
        }
        judge(&reach(&question, Direction::Backward, &mut Meter::unlimited()).verdict, "backward");
        let sets = [vec![], control_locations(&question).unwrap(), guards(&question).unwrap()];
        for _ in 0..3 {
            let options = options(&mut r);
            let predicates = match options.abstraction {
                Abstraction::Partition => &sets[r.below(2)],
                Abstraction::Cover => &sets[r.below(3)],
            };
            let found = cegar(&question, predicates, &options, &mut Meter::unlimited());
            judge(&found.verdict, &format!("{options:?}"));
            // With super transitions: the very same rounds.
            let supers = Options { super_transitions: true, ..options.clone() };
            let with = cegar(&question, predicates, &supers, &mut Meter::unlimited());
            match h.has_priorities() {
                true => assert!(matches!(with.verdict, Verdict::Unknown(Reason::Unsupported(_))), "{context}"),
                false => {
                    judge(&with.verdict, &format!("{supers:?}"));
                    assert_eq!(with.iterations, found.iterations, "{supers:?}: {context}");
                    free += 1;
                }
            }
            // Some rounds at a time: the very same rounds.
            let mut run = Run::new(&question, predicates, &options, &mut Meter::unlimited()).unwrap();
            let some = Options { limit: Some(1 + r.below(3) as u64), ..options.clone() };
            let verdict = loop {
                match run.go_on(&question, &some, &mut Meter::unlimited()) {
                    Verdict::Unknown(Reason::Iterations) => {}
                    verdict => break verdict,
                }
            };
            judge(&verdict, &format!("{some:?}"));
            assert_eq!(run.iterations(), found.iterations, "{some:?}: {context}");
            // With other options after each.
            let mut run = Run::new(&question, predicates, &options, &mut Meter::unlimited()).unwrap();
            let verdict = loop {
                let other = Options { limit: Some(1), ..self::options(&mut r) };
                match run.go_on(&question, &other, &mut Meter::unlimited()) {
                    Verdict::Unknown(Reason::Iterations) => {}
                    verdict => break verdict,
                }
            };
            judge(&verdict, "changing options");
        }
    }
    eprintln!(
        "{done} models, {safe} of them safe, {flattened} flattened, {free} runs with super transitions, of {seed}"
    );
    assert!(flattened > 0 && free > 0 && safe > 0 && safe < done, "only one verdict was ever seen");
}
