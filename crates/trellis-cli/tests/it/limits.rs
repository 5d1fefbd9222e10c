//! `--timeout`, `--memory` and `--states` mean the same in every engine of every formalism: running out is UNKNOWN, with the reason. So does an
//! interrupt, and every engine says on the way how far it is.

use std::any::Any;
use std::fmt::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use trellis::{Listener, Model};
use trellis_meter::{Board, Stats};

use crate::streams::shell;
use crate::{root, stderr, stdout, trellis};

/// An engine, and a question that it does not answer in its first states.
const ENGINES: [&[&str]; 20] = [
    &["lattice/leader.xml", "--update", "simple"],
    &["timed/fischer-4-32-64.xta", "--engine", "reach", "-p", "A[] not (P(1).cs and P(2).cs)"],
    &["timed/fischer-4-32-64.xta", "--engine", "lazy", "-p", "A[] not (P(1).cs and P(2).cs)"],
    &["c/lock.c", "--engine", "bmc"],
    &["c/lock.c", "--engine", "cegar"],
    &["c/lock.c", "--engine", "lazy"],
    &["c/lock.c", "--engine", "induction"],
    &["c/lock.c", "--engine", "explicit"],
    &["c/lock.c"],
    &["coverability/german.spec", "--engine", "wsts"],
    &["coverability/german.spec", "--engine", "backward"],
    &["coverability/german.spec", "--engine", "forward"],
    &["coverability/german.spec", "--engine", "frames"],
    &["coverability/german.spec"],
    &["altarica/lift3.alt", "--engine", "reach", "--error", "F[1].door = open"],
    &["altarica/lift3.alt", "--engine", "cegar", "--error", "F[1].door = open"],
    &["altarica/lift3.alt", "--engine", "hierarchy", "--error", "F[1].door = open"],
    &["hierarchy/wheels3.hts.json"],
    &["ltl/cfa/wave_flag.cfa", "--ltl", "G F(x)"],
    &["ltl/networks/semaphore.xta", "--ltl", "G F A.inside"],
];

/// Finds proofs without listing states: a limit of states does not concern it.
fn has_no_states(engine: &[&str]) -> bool {
    engine.contains(&"induction") || engine == ["c/lock.c"]
}

#[test]
fn limits_hold_in_every_engine() {
    let mut wrong = vec![];
    let limits =
        [("--timeout", "0s", "time limit"), ("--memory", "1KiB", "memory limit"), ("--states", "1", "state limit")];
    for engine in ENGINES {
        for (option, value, says) in limits {
            if option == "--states" && has_no_states(engine) {
                continue;
            }
            let out = trellis(&[&["check", "-q", option, value], engine].concat());
            let said = stdout(&out);
            let fine = out.status.code() == Some(20) && said.contains("UNKNOWN") && said.contains(says);
            if !fine {
                wrong.push(format!("{engine:?} {option} {value}: {:?}\n{said}{}", out.status.code(), stderr(&out)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The certificate of bounded model checking of a loop grew to a gigabyte under a limit of 50 MiB.
#[test]
fn memory_is_that_of_the_process() {
    let out = trellis(&["check", "c/lock.c", "--engine", "bmc", "--memory", "50MiB", "--timeout", "60s", "-q"]);
    assert_eq!(out.status.code(), Some(20), "{}", stderr(&out));
    assert!(stdout(&out).contains("memory limit"), "{}", stdout(&out));
}

/// A counter of bits, each in a node of its own above the rest: as AltaRica with what must never hold, and as a tree.
fn wheels(bits: usize) -> (String, String, String) {
    let mut nodes = String::from(
        "node Wheels1 state bit : [0,1] : public; init bit := 0; event inc, reset; trans bit = 0 |- inc -> bit := 1;
         bit = 1 |- reset -> bit := 0; edon\n",
    );
    let wheel = r#""events": ["", "inc", "reset"], "behaviour": "wheel" }"#;
    let link = r#""events": ["", "inc", "reset"], "behaviour": "link", "vectors":
        [["", "", ""], ["", "", "inc"], ["inc", "inc", "reset"], ["reset", "reset", "reset"]], "subs": "#;
    let (mut tree, mut never) = (wheel.to_string(), (vec!["bit = 1".to_string()], vec![String::new()]));
    for n in 2..=bits {
        let sync = "sync <Low.inc>; <inc, High.inc, Low.reset>; <reset, High.reset, Low.reset>;";
        let low = n - 1;
        _ = writeln!(
            nodes,
            "node Wheels{n} sub High : Wheels1; Low : Wheels{low}; event inc, reset; trans true |- inc, reset -> ; {sync} edon"
        );
        tree = format!(r#"{link} [{{ "name": "high", {wheel}, {{ "name": "low", {tree}] }}"#);
        never.0.iter_mut().for_each(|place| *place = format!("Low.{place}"));
        never.0.push("High.bit = 1".into());
        never.1.iter_mut().for_each(|place| *place = format!("low.{place}"));
        never.1.push("high".into());
    }
    let places: Vec<String> = never.1.iter().map(|p| format!(r#""{}": ["1"]"#, p.trim_end_matches('.'))).collect();
    let tree = format!(
        r#"{{ "schema": "trellis-hierarchy/1", "behaviours": {{
            "link": {{ "states": ["here"], "initial": ["here"],
                       "moves": [["here", "", "here"], ["here", "inc", "here"], ["here", "reset", "here"]] }},
            "wheel": {{ "states": ["0", "1"], "initial": ["0"],
                        "moves": [["0", "", "0"], ["1", "", "1"], ["0", "inc", "1"], ["1", "reset", "0"]] }} }},
            "top": {{ {tree}, "never": [{{ {} }}] }}"#,
        places.join(", ")
    );
    (nodes, never.0.join(" & "), tree)
}

/// Vectors of tokens that are exchanged, three for two.
fn tokens() -> String {
    let mut text = String::from("vars p0 p1 p2 p3 p4 p5 p6 p7\nrules\n");
    for i in 0..8 {
        for j in [(i + 1) % 8, (3 * i + 2) % 8].into_iter().filter(|j| *j != i) {
            let k = (j + 2) % 8;
            _ = writeln!(text, "p{i} >= 3 -> p{i}' = p{i} - 3, p{j}' = p{j} + 2;");
            _ = writeln!(text, "p{j} >= 1, p{k} >= 1 -> p{j}' = p{j} - 1, p{i}' = p{i} + 1;");
        }
    }
    let zero: Vec<String> = (1..8).map(|i| format!("p{i} = 0")).collect();
    let many: Vec<String> = (0..8).map(|i| format!("p{i} >= {}", 4 + i % 3)).collect();
    format!("{text}init p0 = 40, {}\ntarget\n{}\n", zero.join(", "), many.join(", "))
}

const DIGITS: &str = "int[0,9] a, b, c, d, e, f, g, h;
    process P(int[0,9] &x) { state S; init S; trans S -> S { assign x = (x + 1) % 10; }; }
    A = P(a); B = P(b); C = P(c); D = P(d); E = P(e); F = P(f); G = P(g); H = P(h);
    system A, B, C, D, E, F, G, H;";

const RANDOM: &str = "extern void reach_error(void);
    unsigned x = 1, y = 3;
    int main(void) {
        while (1) {
            x = x * 1664525u + 1013904223u;
            y = y * 22695477u + x;
            if (x == 12345u && y == 54321u) reach_error();
        }
    }";

/// Questions that nobody answers soon, for every engine of every formalism, with the models in a folder.
fn endless(folder: &Path, bits: usize) -> Vec<Vec<String>> {
    let (nodes, error, tree) = wheels(bits);
    let fischer = std::fs::read_to_string(root().join("models/timed/fischer-4-32-64.xta")).unwrap();
    for (name, text) in [
        ("digits.xta", DIGITS),
        ("random.c", RANDOM),
        ("tokens.spec", &tokens()),
        ("wheels.alt", &nodes),
        ("wheels.hts.json", &tree),
        ("fischer.xta", &fischer.replace("N = 4", "N = 11")),
    ] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let (all, apart) = ("A[] a+b+c+d+e+f+g+h < 72", "A[] not (P(1).cs and P(2).cs)");
    let rows: [&[&str]; 25] = [
        &["digits.xta", "-p", all, "--update", "simple"],
        &["digits.xta", "-p", all, "--update", "cover"],
        &["digits.xta", "-p", all, "--update", "join"],
        &["digits.xta", "--ltl", "G F (a = 0)"],
        &["fischer.xta", "-p", apart, "--engine", "reach", "--order", "bfs"],
        &["fischer.xta", "-p", apart, "--engine", "lazy"],
        &["fischer.xta", "-p", "P(1).req --> P(1).cs"],
        &["random.c"],
        &["random.c", "--engine", "cegar"],
        &["random.c", "--engine", "lazy"],
        &["random.c", "--engine", "bmc"],
        &["random.c", "--engine", "induction"],
        &["random.c", "--engine", "explicit"],
        &["random.c", "--ltl", "G F \"x == 0\""],
        &["random.c", "--ltl", "G F \"x == 0\"", "--engine", "explicit"],
        &["random.c", "--ltl", "G F \"x == 0\"", "--engine", "bmc"],
        &["tokens.spec"],
        &["tokens.spec", "--engine", "wsts"],
        &["tokens.spec", "--engine", "backward"],
        &["tokens.spec", "--engine", "forward"],
        &["tokens.spec", "--engine", "frames"],
        &["tokens.spec", "--engine", "explicit"],
        &["wheels.alt", "--error", &error, "--engine", "reach"],
        &["wheels.alt", "--error", &error, "--engine", "cegar"],
        &["wheels.hts.json"],
    ];
    rows.iter().map(|row| row.iter().map(|s| s.to_string()).collect()).collect()
}

fn start(folder: &Path, row: &[String], more: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_trellis"))
        .args(["check", "-q"])
        .args(row)
        .args(more)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs")
}

/// What was resident at most until it ended, in kilobytes, where the system says.
fn most_resident(child: &mut Child) -> u64 {
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
        most = line.and_then(|l| l.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0).max(most);
        std::thread::sleep(Duration::from_millis(2));
    }
    most
}

/// Wall time within the limit and a second, resident memory within 1.25 times the limit and 20 MB. A machine that does something else may
/// stop anybody for a second, so there are three attempts; an engine that does not look at the clock fails all of them.
#[test]
fn time_and_memory_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = vec![];
    for row in endless(folder.path(), 26) {
        let attempt = || {
            let began = Instant::now();
            let mut child = start(folder.path(), &row, &["--timeout", "1s", "--memory", "150MB"]);
            let most = most_resident(&mut child);
            let (time, out) = (began.elapsed(), child.wait_with_output().unwrap());
            let said = stdout(&out);
            let reason = ["time limit", "memory limit"].iter().any(|why| said.contains(why));
            let fine = out.status.code() == Some(20) && reason && time < Duration::from_secs(2);
            match fine && most * 1024 < 150_000_000 / 4 * 5 + 20_000_000 {
                true => Ok(()),
                false => Err(format!("{row:?}: {time:?}, {most} kB\n{said}{}", stderr(&out))),
            }
        };
        wrong.extend(attempt().or_else(|_| attempt()).or_else(|_| attempt()).err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn interrupts_end_every_engine() {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = vec![];
    for row in endless(folder.path(), 26) {
        let attempt = || {
            let child = start(folder.path(), &row, &[]);
            std::thread::sleep(Duration::from_millis(400));
            shell(&format!("kill -INT {}", child.id()));
            let (began, out) = (Instant::now(), child.wait_with_output().unwrap());
            let (time, said) = (began.elapsed(), stdout(&out));
            let fine = out.status.code() == Some(130) && said.contains("UNKNOWN") && said.contains("interrupted");
            match fine && time < Duration::from_secs(1) {
                true => Ok(()),
                false => Err(format!("{row:?}: {time:?}, {:?}\n{said}{}", out.status.code(), stderr(&out))),
            }
        };
        wrong.extend(attempt().or_else(|_| attempt()).or_else(|_| attempt()).err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Remembers the boards of all questions.
#[derive(Default)]
struct Boards(Mutex<Vec<Board>>);

impl Listener for Boards {
    fn working(&self, _: &str, board: &Board) -> Option<Box<dyn Any>> {
        self.0.lock().unwrap().push(board.clone());
        None
    }
}

/// There is no watch behind the library, and an operation on decision diagrams cannot be stopped: so few bits here.
#[test]
fn every_engine_shows_how_far_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = vec![];
    for row in endless(folder.path(), 12) {
        let model = Model::open(folder.path().join(&row[0])).unwrap();
        let mut options: Vec<&[String]> = row[1..].chunks(2).collect();
        let asked =
            options.iter().position(|o| ["-p", "--ltl", "--error"].contains(&&*o[0])).map(|n| options.remove(n));
        let property = match asked {
            Some([how, text]) if how == "-p" => model.property(text).unwrap(),
            Some([how, text]) if how == "--ltl" => model.ltl(text).unwrap(),
            Some([_, text]) => model.never(text).unwrap(),
            _ => model.properties().unwrap().remove(0),
        };
        let boards = Arc::new(Boards::default());
        let check = model.check(&property).timeout("1s").listener(boards.clone());
        let report = options.iter().fold(check, |check, o| check.option(&o[0], &o[1])).run().unwrap();
        let boards = boards.0.lock().unwrap();
        let lines: Vec<_> = boards.iter().flat_map(|board| board.lines()).filter_map(|l| l.progress()).collect();
        let counted = |s: &Stats| s.added + s.stored + s.expanded + s.steps + s.refinements > 0;
        // Without an engine several race, each with its line.
        let race = ["random.c", "tokens.spec"].contains(&&*row[0]) && !row.iter().any(|o| o == "--engine");
        if lines.len() <= usize::from(race) || !lines.iter().all(|p| counted(&p.stats)) {
            wrong.push(format!("{row:?}: {report}\n{lines:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
