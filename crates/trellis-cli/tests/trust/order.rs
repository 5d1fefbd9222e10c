//! *Order*: where the order of a list means nothing, another order has the same verdicts; and where all states are listed, the same counts.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::lists::{self, List};
use crate::run::trellis;
use crate::{Random, on_all, root, runs, seed};

type Lists = fn(&str) -> Vec<List>;

/// A model whose lists are shuffled.
struct Case {
    model: &'static str,
    options: &'static [&'static str],
    lists: Lists,
    /// Are states listed one by one, so that their number is the same?
    counted: bool,
}

const EXPLICIT: &[&str] = &["--update", "simple", "--order", "bfs", "--no-symmetry"];

const fn network(model: &'static str) -> Case {
    Case { model, options: EXPLICIT, lists: lists::uppaal, counted: true }
}

const fn case(model: &'static str, options: &'static [&'static str], lists: Lists) -> Case {
    Case { model, options, lists, counted: false }
}

static CASES: &[Case] = &[
    network("data/peterson.xta"),
    network("data/philosophers.xta"),
    network("data/token.xta"),
    network("data/queue.xta"),
    network("lattice/lossy.xta"),
    case("lattice/leader.xml", &[], lists::uppaal_xml),
    case("timed/lamp.xml", &[], lists::uppaal_xml),
    case("timed/engine-classic.xta", &[], lists::uppaal),
    case("timed/fischer-2-32-64.xta", &[], lists::uppaal),
    case("timed/csma-05.xta", &["-p", "E<>deadlock"], lists::uppaal),
    case("timed/tchecker/gpsmc-2.txt", &["--labels", "error"], lists::tchecker),
    case("timed/tchecker/csmacd-5.txt", &["-p", "E<>Station1.Start&&Station2.Start"], lists::tchecker),
    case("cfa/locking.cfa", &[], lists::automaton),
    case("cfa/arrays.cfa", &[], lists::automaton),
    case("cfa/counter5_true.cfa", &[], lists::automaton),
    case("ltl/cfa/wave_flags.cfa", &["--ltl", "G F(y)"], lists::automaton),
    case("xsts/counter5.xsts", &["-p", "x < 5", "-p", "x < 6"], lists::xsts),
    case("xsts/localvars3.xsts", &["-p", "localvars3.prop"], lists::xsts),
    case("xsts/trafficlight_v2.xsts", &["-p", "green_and_red.prop"], lists::xsts),
    case("xsts/lights.sts", &[], lists::sts),
    case("coverability/mesi.spec", &[], lists::counters),
    case("coverability/mesi_bug.spec", &[], lists::counters),
    case("coverability/synapse.spec", &[], lists::counters),
    case("coverability/futurebus.spec", &[], lists::counters),
    case("coverability/lock.tts", &["--error", "1|1,1"], lists::threads),
    case("../crates/trellis-cli/tests/trust/samples/mutex.pnml", &["--error", "inside >= 2"], lists::net_xml),
    case("../crates/trellis-cli/tests/trust/samples/mutex.lola", &["--error", "inside >= 1"], lists::net),
    case("altarica/peterson2.alt", &["--error", "P[0].loc = cs & P[1].loc = cs"], lists::nodes),
    case("altarica/fifo2.alt", &["--error", "Head.object = no & Queue.object != no"], lists::nodes),
    case("altarica/lift3.alt", &["--error", "F[2].door = open & C.pos = 2"], lists::nodes),
    case("altarica/dwheels3.alt", &["--error", "High.bit = 1 & Low.High.bit = 1"], lists::nodes),
    case(
        "altarica/stack3.alt",
        &["--error", "Top.object != no and Stack.Top.object = no and Stack.Stack.object = no"],
        lists::nodes,
    ),
    case("hierarchy/alarm4.hts.json", &[], lists::tree),
    case("hierarchy/priority.hts.json", &[], lists::tree),
    case("c/lock.c", &[], lists::c),
    case("c/count.c", &[], lists::c),
    case("c/queue.c", &[], lists::c),
    case("c/votes.c", &[], lists::c),
    case("c/overflow.c", &[], lists::c),
];

/// Exchanges the members of some lists.
fn shuffled(text: &str, lists: Lists, random: &mut Random) -> String {
    let mut text = text.to_string();
    for _ in 0..1 + random.below(3) {
        let all: Vec<List> = lists(&text).into_iter().filter(|l| l.len() > 1).collect();
        if all.is_empty() {
            break;
        }
        let list = &all[random.below(all.len())];
        let mut members: Vec<&str> = list.iter().map(|at| &text[at.clone()]).collect();
        random.shuffle(&mut members);
        let (mut out, mut from) = (String::new(), 0);
        for (at, member) in list.iter().zip(members) {
            out.push_str(&text[from..at.start]);
            out.push_str(member);
            from = at.end;
        }
        text = out + &text[from..];
    }
    text
}

/// Verdicts, and counts where they mean something: all states of what holds everywhere, the length of a shortest run.
fn answers(case: &Case, folder: &std::path::Path, file: &str) -> Result<Option<Vec<String>>, String> {
    let mut args = vec!["check", file, "--json"];
    args.extend(case.options);
    let answer = trellis(folder, &args);
    if let Some(why) = answer.broken() {
        return Err(why);
    }
    let reports: Vec<Value> = answer.stdout.lines().filter_map(|l| serde_json::from_str(l).ok()).collect();
    let one = |r: &Value| {
        let verdict = r["verdict"].as_str().unwrap_or("none");
        match (case.counted, verdict) {
            (true, "SAFE") => format!("{verdict} {}", r["statistics"]["stored"]),
            _ => format!("{verdict} {}", r["bound"]),
        }
    };
    match answer.code {
        Some(2) if reports.is_empty() => Ok(None),
        _ => Ok(Some(reports.iter().map(one).collect())),
    }
}

#[test]
fn another_order_has_the_same_verdicts_and_counts() {
    let texts: Vec<String> = CASES
        .iter()
        .map(|c| {
            let text = std::fs::read_to_string(root().join("models").join(c.model)).expect("a model");
            if c.model.ends_with(".c") { lists::with_prototypes(&text) } else { text }
        })
        .collect();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = |n: usize, i: usize, text: &str| {
        let path = root().join("models").join(CASES[i].model);
        let here = folder.path().join(n.to_string());
        std::fs::create_dir_all(&here).expect("a folder");
        for entry in std::fs::read_dir(path.parent().expect("a folder")).expect("a folder").filter_map(Result::ok) {
            let copied = entry.path();
            let model = path.file_stem() == copied.file_stem() && path.extension() != copied.extension();
            if copied.is_file() && (model || copied.extension().is_some_and(|e| e == "lua" || e == "prop")) {
                std::fs::copy(&copied, here.join(entry.file_name())).expect("a copy");
            }
        }
        let file = path.file_name().and_then(|f| f.to_str()).expect("a name").to_string();
        std::fs::write(here.join(&file), text).expect("writable");
        let answers = answers(&CASES[i], &here, &file);
        let _ = std::fs::remove_dir_all(&here);
        answers
    };
    let numbers: Vec<usize> = (0..CASES.len()).collect();
    let before = on_all(&numbers, |&i| run(usize::MAX - i, i, &texts[i]));
    for (i, answers) in before.iter().enumerate() {
        let known =
            |a: &Vec<String>| !a.is_empty() && a.iter().all(|v| !v.starts_with("UNKNOWN") && !v.starts_with("none"));
        assert!(matches!(answers, Ok(Some(a)) if known(a)), "{}: {answers:?}\n{}", CASES[i].model, texts[i]);
    }
    let numbers: Vec<usize> = (0..runs(120)).collect();
    let done = on_all(&numbers, |&n| {
        let i = n % CASES.len();
        let mut random = Random(seed().wrapping_mul(1 << 32).wrapping_add(n as u64));
        let text = shuffled(&texts[i], CASES[i].lists, &mut random);
        if text == texts[i] { None } else { Some((run(n, i, &text), text)) }
    });
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut findings = vec![];
    for (n, (after, text)) in done.into_iter().enumerate().filter_map(|(n, d)| Some((n, d?))) {
        let i = n % CASES.len();
        let count = counts.entry(CASES[i].model).or_default();
        match after {
            Ok(None) => count.1 += 1,
            Ok(Some(a)) if Ok(Some(&a)) == before[i].as_ref().map(Option::as_ref) => count.0 += 1,
            other => {
                findings.push(format!("{}, shuffle {n}: {:?}, was {:?}\n{text}", CASES[i].model, other, before[i]))
            }
        }
    }
    let (same, refused) = counts.values().fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
    println!(
        "order: {} shuffles of {} models, seed {}: {same} the same, {refused} refused",
        same + refused + findings.len(),
        CASES.len(),
        seed()
    );
    for (model, (same, refused)) in counts {
        println!("  {model}: {same} the same, {refused} refused");
    }
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n\n"));
}
