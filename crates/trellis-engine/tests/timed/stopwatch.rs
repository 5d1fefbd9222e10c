//! Clocks that stand still, against enumeration with exact steps of time.
//!
//! The oracle lets time pass by halves (or wholes, or thirds) of a unit, and counts no clock further than no constant can tell. It decides what
//! runs with such delays can reach: what it reaches must not be called unreachable. The other way round it says nothing, because runs may need other
//! delays; there a run must replay, step by step, by the interpreter that knows rates exactly. How often there is no answer is counted, and must be seldom.

use std::collections::{HashSet, VecDeque};

use trellis_check::{certify, certify_bound, replay, replay_bound};
use trellis_domain::zone::Rational;
use trellis_engine::timed::answer::{Engine, answer};
use trellis_meter::Meter;
use trellis_model::evidence::Verdict;
use trellis_model::network::interpret::Interpreter;
use trellis_model::network::{Network, Query, QueryKind, Snapshot};

use crate::configurations::ways;
use crate::load::load;
use crate::random::{Random, for_seeds};

/// No constant is larger.
const TOP: i64 = 4;

/// Larger graphs are not explored.
const STATES: usize = 60_000;

fn atom(r: &mut Random, clocks: &[&str], signs: &[&str]) -> String {
    format!("{} {} {}", r.pick(clocks), r.pick(signs), r.range(0, TOP))
}

fn process(r: &mut Random, name: &str, clocks: &[&str]) -> String {
    let n = 2 + r.below(3);
    let mut states = Vec::new();
    for l in 0..n {
        let mut parts = Vec::new();
        if r.percent(35) {
            parts.push(atom(r, clocks, &["<=", "<=", "<"]));
        }
        // Clocks of one's own, so that no two processes disagree.
        for c in clocks.iter().filter(|c| c.starts_with(&name.to_lowercase())) {
            match r.below(6) {
                0 | 1 => parts.push(format!("{c}' == 0")),
                2 => parts.push(format!("{c}' == n")),
                3 => parts.push(format!("(n == 0 imply {c}' == 0)")),
                _ => {}
            }
        }
        states.push(if parts.is_empty() { format!("L{l}") } else { format!("L{l} {{ {} }}", parts.join(" && ")) });
    }
    let urgent = if r.percent(15) { format!("urgent L{}; ", r.below(n)) } else { String::new() };
    let mut edges = Vec::new();
    for _ in 0..2 + r.below(4) {
        let mut guard: Vec<String> = Vec::new();
        for _ in 0..r.below(3) {
            guard.push(atom(r, clocks, &["<=", ">=", ">=", "==", ">", "<"]));
        }
        if r.percent(15) {
            guard.push(format!("n == {}", r.below(2)));
        }
        let sync =
            if r.percent(25) { format!("sync c{}; ", if r.percent(50) { '!' } else { '?' }) } else { String::new() };
        let mut update: Vec<String> = Vec::new();
        if r.percent(50) {
            update.push(format!("{} = {}", r.pick(clocks), if r.percent(80) { 0 } else { r.below(3) }));
        }
        if r.percent(25) {
            update.push(format!("n = {}", r.below(2)));
        }
        let part = |word: &str, list: &[String], by: &str| match list {
            [] => String::new(),
            list => format!("{word} {}; ", list.join(by)),
        };
        let (guard, update) = (part("guard", &guard, " && "), part("assign", &update, ", "));
        edges.push(format!("L{} -> L{} {{ {guard}{sync}{update}}}", r.below(n), r.below(n)));
    }
    format!("process {name}() {{ state {}; {urgent}init L0; trans {}; }}\n", states.join(", "), edges.join(", "))
}

fn generate(seed: u64) -> (String, String) {
    let mut r = Random::new(seed);
    let clocks: &[&str] =
        r.one::<&[&str]>(&[&["p1", "q1"][..], &["p1", "p2", "q1"], &["p1", "p2", "x"], &["p1", "x", "y"]]);
    let two = clocks.contains(&"q1") || r.percent(40);
    let mut text = format!("clock {}; int[0,1] n; chan c;\n{}", clocks.join(", "), process(&mut r, "P", clocks));
    if two {
        text.push_str(&process(&mut r, "Q", clocks));
    }
    text.push_str(if two { "system P, Q;" } else { "system P;" });
    let place = |r: &mut Random| format!("P.L{}", r.below(2) + 1);
    let mut queries = vec![format!("E<> {}", place(&mut r))];
    queries.push(format!("A[] not ({} && {})", place(&mut r), atom(&mut r, clocks, &["<=", ">", ">=", "<"])));
    queries.push(format!("A[] {} imply {}", place(&mut r), atom(&mut r, clocks, &["<=", "<", ">="])));
    queries.push(format!("sup{{{}}}: n", place(&mut r)));
    // Not every process has a third location.
    queries.retain(|q| !q.contains("P.L2") || text.split("process Q").next().is_some_and(|p| p.contains("L2")));
    (text, queries.join("\n"))
}

/// The states that are reached if time passes by so much at a time; nothing if they are too many.
fn grid(net: &Network, unit: Rational) -> Option<Vec<Snapshot>> {
    let it = Interpreter::new(net);
    let cap = |mut s: Snapshot| {
        s.clocks.iter_mut().for_each(|c| *c = (*c).min(Rational::new(TOP + 1, 1)));
        s
    };
    let first = it.initial().ok()?;
    let mut seen = HashSet::from([first.clone()]);
    let mut waiting = VecDeque::from([first]);
    let mut all = Vec::new();
    while let Some(s) = waiting.pop_front() {
        let next = it.steps(&s).ok()?.into_iter().map(|(_, next)| next);
        for next in next.chain(it.wait(&s, unit).ok()?).map(cap) {
            if seen.insert(next.clone()) {
                waiting.push_back(next);
            }
        }
        all.push(s);
        if seen.len() > STATES {
            return None;
        }
    }
    Some(all)
}

#[derive(Default, Debug)]
struct Count {
    models: usize,
    safe: usize,
    reached: usize,
    open: usize,
    bounds: usize,
    large: usize,
    plain: usize,
}

fn ask(net: &Network, query: &Query, seed: u64, states: &[Snapshot], count: &mut Count) -> Result<(), String> {
    let it = Interpreter::new(net);
    let holds = |c| states.iter().map(|s| it.holds_in(query, c, s).expect("no faults")).collect::<Vec<bool>>();
    let mut ways = ways(seed);
    ways.retain(|w| matches!(w.engine, None | Some(Engine::Reach(_))));
    let way = if seed.is_multiple_of(4) { ways[seed as usize / 4 % ways.len()] } else { ways[ways.len() - 1] };
    let answer = answer(net, query, &way, &mut Meter::default().states(Some(4000))).map_err(|b| b.error.to_string())?;
    let reached = match &query.kind {
        QueryKind::Always(p) => holds(p).contains(&false),
        QueryKind::Possibly(p) => holds(p).contains(&true),
        QueryKind::Bound { when, of, .. } => {
            let Verdict::Safe(cert) = &answer.verdict else {
                count.open += 1;
                return Ok(());
            };
            let found = answer.bound.as_ref().map(|b| b.value);
            certify_bound(net, query, cert, found).map_err(|r| format!("bound rejected: {r}"))?;
            if let Some(b) = &answer.bound {
                let witness = b.witness.as_ref().ok_or("no witness")?;
                replay_bound(net, query, witness, b.value).map_err(|r| format!("witness rejected: {r}"))?;
            }
            let at = states.iter().zip(holds(when)).filter(|(_, m)| *m);
            let most = at.map(|(s, _)| it.number_in(query, of, s).expect("no faults")).max();
            count.bounds += 1;
            return if most <= found { Ok(()) } else { Err(format!("the bound {found:?} is exceeded by {most:?}")) };
        }
        _ => return Err("not asked".into()),
    };
    match answer.verdict {
        Verdict::Safe(cert) => {
            certify(net, query, &cert).map_err(|r| format!("certificate rejected: {r}"))?;
            count.safe += 1;
            if reached { Err("called unreachable, and it is reached".into()) } else { Ok(()) }
        }
        Verdict::Unsafe(trace) => {
            count.reached += 1;
            replay(net, query, &trace).map(|_| ()).map_err(|r| format!("trace rejected: {r}"))
        }
        Verdict::Unknown(_) => {
            count.open += 1;
            Ok(())
        }
    }
}

fn check(seed: u64, count: &mut Count) -> Result<(), String> {
    let (model, queries) = generate(seed);
    let (net, queries) = load(&model, &queries)?;
    count.plain += usize::from(!net.has_rates());
    let Some(states) = grid(&net, Rational::new(1, [2, 1, 3, 2][seed as usize % 4])) else {
        count.large += 1;
        return Ok(());
    };
    count.models += 1;
    for query in &queries {
        ask(&net, query, seed, &states, count).map_err(|why| format!("{}: {why}", query.text))?;
    }
    Ok(())
}

#[test]
fn what_stands_still_agrees_with_enumeration() {
    let mut count = Count::default();
    let shown = |seed| {
        let (model, queries) = generate(seed);
        format!("{model}\n{queries}")
    };
    for_seeds(0, 300, shown, |seed| check(seed, &mut count));
    println!("{count:?}");
    if count.models > 100 {
        assert!(count.safe > 50 && count.reached > 50, "{count:?}");
        assert!(count.open * 10 < count.safe + count.reached + count.bounds, "too often no answer: {count:?}");
    }
}

#[test]
fn what_only_zones_reach_is_no_run() {
    // In B, y - x is what y was ahead of x, and s what x was then: together at most 3, which no zone says.
    let model = |ahead: i64| {
        format!(
            "clock x, y, s; process P() {{ state A0 {{ y <= 3 }}, A1 {{ y <= 3 }}, B {{ s' == 0 && x <= 5 }}, C; init A0; \
             trans A0 -> A1 {{ assign x = 0, s = 0; }}, A1 -> B {{ }}, B -> C {{ guard x == 5 && y >= {} && s >= 2; }}; }} \
             system P;",
            5 + ahead
        )
    };
    let ask = |ahead| {
        let (net, queries) = load(&model(ahead), "E<> P.C").expect("a model");
        let way = *ways(0).last().expect("a way");
        let verdict = answer(&net, &queries[0], &way, &mut Meter::default()).ok().expect("no fault").verdict;
        if let Verdict::Unsafe(trace) = &verdict {
            replay(&net, &queries[0], trace).expect("a run");
        }
        verdict
    };
    assert!(matches!(ask(1), Verdict::Unsafe(_)));
    assert!(matches!(ask(2), Verdict::Unknown(_)), "{:?}", ask(2));
    assert!(matches!(ask(4), Verdict::Safe(_)));
}
