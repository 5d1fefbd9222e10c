//! A fuzzer of every reader, in process: real models, questions and scripts with a few tokens or lines changed, swapped, doubled or
//! taken from another one, so that a good part is still understood. No reader panics, none takes long. What breaks one is kept in
//! `target/fuzz`, so that it can be put into `tests/malformed` once it is mended.
//!
//! `TRELLIS_FUZZ=600` goes on for so many seconds, `TRELLIS_ONLY=C,HOA` with these kinds (`just fuzz 10m`). Without it nothing is run.
//! What an input does beyond being read is no concern of this test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use trellis_domain::script::{ScriptLattice, ScriptStrategy};
use trellis_expr::Terms;
use trellis_syntax::diag::Sources;
use trellis_syntax::{acheck, mec};

use crate::languages::files;
use crate::read::{Read, Reader, read};
use crate::scan::{C, Kind as Piece, Style, Token, tokens};
use crate::{Random, on_all, root, seed};

/// A text that is understood, and what goes with it.
struct Seed {
    kind: &'static str,
    path: PathBuf,
    text: String,
    beside: String,
    style: Style,
    reader: Reader,
}

/// An input may take so long (on a machine that does other things as well).
const LONG: Duration = Duration::from_secs(10);
/// Larger models tell nothing more.
const LARGE: usize = 12_000;

fn answer(read: bool) -> Read {
    if read { Read::Model(String::new()) } else { Read::Refused(None) }
}

fn smtlib(_: &Path, text: &str, _: &str) -> Read {
    answer(trellis_smt::smtlib::read(text, &mut Terms::new()).is_ok())
}

fn relations(_: &Path, text: &str, _: &str) -> Read {
    let mut world = mec::World::default();
    let mut fine = true;
    for piece in mec::pieces(text) {
        let (start, end) = piece.place();
        let mut sources = Sources::default();
        let id = sources.add("script", mec::only(text, start, end));
        // Most speak of nodes that nobody has built here.
        fine &= match world.define(&sources, id) {
            Ok(_) => true,
            Err(all) => all.iter().all(|d| d.span.is_some()),
        };
    }
    answer(fine)
}

fn specifications(_: &Path, text: &str, _: &str) -> Read {
    let mut sources = Sources::default();
    let id = sources.add("specification", text);
    answer(acheck::nodes(&sources, id).is_ok())
}

fn lattices(_: &Path, text: &str, _: &str) -> Read {
    answer(ScriptLattice::parse("fuzz.lua", text, 2).is_ok())
}

fn strategies(_: &Path, text: &str, _: &str) -> Read {
    answer(ScriptStrategy::parse("fuzz.lua", text, &[("N", 3)]).is_ok())
}

fn runs_on_file(_: &Path, text: &str, _: &str) -> Read {
    let bound = trellis_report::json::read_binding(text).is_ok();
    answer(trellis_report::json::read_run(text).is_ok() && bound)
}

const SCRIPTS: [&str; 3] = [
    "(set-logic QF_LIA)\n(declare-const x Int)\n(declare-const p Bool)\n(define-fun f ((y Int)) Int (+ y (* 2 x)))\n(assert (! (=> p (< (f x) 3)) :named a))\n\
     (push 1)\n(assert (and p (>= x 7)))\n(check-sat)\n(get-unsat-core)\n(pop 1)\n(check-sat-assuming (p (not p)))\n(get-value (x p))\n",
    "(set-option :produce-models true)\n(declare-datatypes ((C 0)) (((red) (green) (blue))))\n(declare-const c C)\n(declare-fun a () (Array Int (_ BitVec 8)))\n\
     (assert (= (select (store a 3 #x0f) 3) (bvadd #b00001111 (_ bv0 8))))\n(assert (distinct c red (ite (= c blue) green blue)))\n(check-sat)\n(get-model)\n",
    "(define-sort W () (_ BitVec 16))\n(declare-const v W)\n(assert (let ((w (bvmul v v))) (bvult ((_ extract 7 0) w) ((_ zero_extend 4) #b0011))))\n\
     (assert (= (concat #x0 #xf) ((_ rotate_left 2) #x3c)))\n(check-sat)\n(echo \"done\")\n(exit)\n",
];

const SPECIFICATIONS: [&str; 2] = [
    "with Stack3 do\n  empty := any_s & [Top.object = no];\n  full := any_s - empty;\n  again := reach(initial, any_t) & full;\n  show(empty, full);\n  test(again, 3) > 'out';\ndone\n",
    "with Valve, Pump do\n  stuck := any_s & [stucked = 1];\n  good := src(any_t - self) & rsrc(stuck);\n  dot(good, any_t) > '$NODENAME.dot';\n  project(initial, any_t, 'P', true, C);\n  quot();\ndone\n",
];

fn seeds() -> Vec<Seed> {
    let mut all: Vec<Seed> = files()
        .into_iter()
        .filter(|f| f.text.len() <= LARGE)
        .map(|f| Seed {
            kind: f.language.name,
            path: f.path,
            text: f.text,
            beside: f.beside,
            style: f.language.style,
            reader: f.language.reader,
        })
        .collect();
    let lisp = Style { line: &[";"], block: &[], quotes: &['"', '|'] };
    let lua = Style { line: &["--"], block: &[], quotes: &['"', '\''] };
    let mut more = |kind, style, reader, path: PathBuf, text: String| {
        all.push(Seed { kind, path, text, beside: String::new(), style, reader });
    };
    for text in SCRIPTS {
        more("SMT-LIB", lisp, smtlib as Reader, "script.smt2".into(), text.into());
    }
    for text in SPECIFICATIONS {
        more("Acheck", C, specifications, "fuzz.spec".into(), text.into());
    }
    for (folder, end, kind, style, reader) in [
        ("models/altarica", "mec5", "Mec", C, relations as Reader),
        ("models/lattice", "strategy.lua", "strategies", lua, strategies as Reader),
        ("models/lattice", "lua", "lattices", lua, lattices as Reader),
    ] {
        let entries = std::fs::read_dir(root().join(folder)).expect("a folder of models").filter_map(Result::ok);
        let mut paths: Vec<PathBuf> = entries.map(|e| e.path()).collect();
        paths.sort();
        for path in paths {
            let name = path.display().to_string();
            if name.ends_with(end) && (kind != "lattices" || !name.contains(".strategy.")) {
                let text = std::fs::read_to_string(&path).expect("a readable script");
                more(kind, style, reader, path, text);
            }
        }
    }
    // Runs, as the program writes them.
    let folder = tempfile::tempdir().expect("a folder");
    let models = ["models/c/overflow.c", "models/cfa/counter_bv_false.cfa", "models/timed/broadcast.xta"];
    for (n, model) in models.into_iter().enumerate() {
        let file = folder.path().join(format!("{n}.json"));
        let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_trellis"));
        run.current_dir(root()).args(["check", model, "--timeout", "20s", "--trace"]).arg(&file);
        let _ = run.output();
        if let Ok(text) = std::fs::read_to_string(&file)
            && text.len() <= LARGE
        {
            more("runs", C, runs_on_file, "run.json".into(), text);
        }
    }
    all
}

/// Numbers that programs are afraid of.
const NUMBERS: [&str; 14] = [
    "0",
    "1",
    "2",
    "7",
    "63",
    "64",
    "65",
    "255",
    "65536",
    "2147483647",
    "2147483648",
    "9223372036854775807",
    "18446744073709551616",
    "99999999999999999999999999",
];

/// The text with one thing changed.
fn mutate(random: &mut Random, text: &str, seed: &Seed, other: &str) -> String {
    let all = tokens(text, 0..text.len(), seed.style);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let of = |kind: Piece| all.iter().filter(|t| t.kind == kind).collect::<Vec<&Token>>();
    let with = |at: std::ops::Range<usize>, new: &str| format!("{}{new}{}", &text[..at.start], &text[at.end..]);
    if all.len() < 2 || lines.is_empty() {
        return format!("{text}{other}");
    }
    let (a, b) = (random.below(all.len() - 1), random.below(all.len()));
    let (x, y) = (random.below(lines.len()), random.below(lines.len()));
    let token = |t: &Token| &text[t.at.clone()];
    match random.below(16) {
        // A number becomes another, one that is near, or one that is in the text.
        0..=4 => {
            let numbers = of(Piece::Number);
            let Some(t) = (!numbers.is_empty()).then(|| numbers[random.below(numbers.len())]) else {
                return with(all[a].at.clone(), token(&all[b]));
            };
            let near = token(t).parse::<i64>().map(|n| n.wrapping_add([1, -1, 2][random.below(3)]).to_string());
            match (random.below(3), near) {
                (0, _) => with(t.at.clone(), NUMBERS[random.below(NUMBERS.len())]),
                (1, Ok(near)) => with(t.at.clone(), &near),
                _ => with(t.at.clone(), token(numbers[random.below(numbers.len())])),
            }
        }
        // A word becomes another one of the text; a sign another sign.
        5..=7 => {
            let same: Vec<&Token> = all.iter().filter(|t| t.kind == all[a].kind).collect();
            with(all[a].at.clone(), token(same[random.below(same.len())]))
        }
        8 => with(all[a].at.clone(), ""),
        9 => with(all[a].at.clone(), &format!("{0} {0}", token(&all[a]))),
        // Neighbours change places.
        10 => {
            let (p, q) = (&all[a], &all[a + 1]);
            with(p.at.start..q.at.end, &format!("{}{}{}", token(q), &text[p.at.end..q.at.start], token(p)))
        }
        11 => lines.iter().enumerate().filter(|(n, _)| *n != x).map(|(_, l)| *l).collect(),
        12 => lines.iter().enumerate().flat_map(|(n, l)| [Some(*l), (n == x).then_some(*l)]).flatten().collect(),
        13 => {
            let mut lines = lines.clone();
            lines.swap(x, y);
            lines.concat()
        }
        // A line of another one.
        14 => {
            let theirs: Vec<&str> = other.split_inclusive('\n').collect();
            let mut lines = lines.clone();
            lines.insert(x, theirs.get(random.below(theirs.len().max(1))).copied().unwrap_or(""));
            lines.concat()
        }
        // Much nesting, or the end too early.
        _ => match random.below(3) {
            0 => with(all[a].at.clone(), &format!("{}{}{}", "(".repeat(2000), token(&all[a]), ")".repeat(2000))),
            1 => text[..all[a].at.start].to_string(),
            _ => with(all[a].at.clone(), &token(&all[a]).repeat(500)),
        },
    }
}

#[derive(Default, Clone)]
struct Count {
    inputs: usize,
    understood: usize,
    slowest: Duration,
}

/// Keeps an input that did harm.
fn keep(kind: &str, n: u64, text: &str) -> PathBuf {
    let folder = root().join("target/fuzz");
    let _ = std::fs::create_dir_all(&folder);
    let path = folder.join(format!("{}-{n}.txt", kind.replace(' ', "-")));
    let _ = std::fs::write(&path, text);
    path
}

#[test]
fn readers_bear_anything() {
    if std::env::var_os("TRELLIS_FUZZ").is_none() {
        println!("skipped: TRELLIS_FUZZ does not say for how many seconds");
        return;
    }
    let mut seeds = seeds();
    if let Ok(only) = std::env::var("TRELLIS_ONLY") {
        seeds.retain(|s| only.split(',').any(|name| s.kind == name));
    }
    let mut kinds: Vec<&str> = seeds.iter().map(|s| s.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let by_kind: BTreeMap<&str, Vec<usize>> =
        kinds.iter().map(|k| (*k, (0..seeds.len()).filter(|&i| seeds[i].kind == *k).collect())).collect();
    let time = std::env::var("TRELLIS_FUZZ").ok().map(|t| Duration::from_secs(t.parse().expect("seconds")));
    let started = Instant::now();
    let counts: Mutex<BTreeMap<&str, Count>> = Mutex::default();
    let findings: Mutex<Vec<String>> = Mutex::default();
    let mut round = 0u64;
    std::thread::spawn(|| {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            watch(&BUSY);
        }
    });
    loop {
        let each = if time.is_some() { 200 } else { 40 };
        let todo: Vec<(u64, &str)> = kinds
            .iter()
            .flat_map(|k| (0..each).map(move |n| (n, *k)))
            .enumerate()
            .map(|(i, (_, k))| (seed().wrapping_mul(1_000_003) ^ (round << 32) ^ i as u64, k))
            .collect();
        on_all(&todo, |&(n, kind)| {
            let mut random = Random(n);
            let of = &by_kind[kind];
            let s = &seeds[of[random.below(of.len())]];
            let other = &seeds[of[random.below(of.len())]];
            let mut text = s.text.clone();
            for _ in 0..[1, 1, 1, 2, 3][random.below(5)] {
                text = mutate(&mut random, &text, s, &other.text);
            }
            let start = Instant::now();
            BUSY.lock().expect("what is being read").insert(n, (start, kind.to_string(), text.clone()));
            let done = read(s.reader, &s.path, &text, &s.beside);
            let took = start.elapsed();
            BUSY.lock().expect("what is being read").remove(&n);
            let complaint = match &done {
                Read::Panic(why) => Some(format!("a panic: {why}")),
                Read::Refused(Some(why)) => Some(why.clone()),
                _ if took > LONG => Some(format!("it took {took:?}")),
                _ => None,
            };
            if let Some(what) = complaint {
                let kept = keep(kind, n, &text);
                findings.lock().expect("findings").push(format!("{kind}: {what} ({})", kept.display()));
            }
            let mut counts = counts.lock().expect("counts");
            let count = counts.entry(kind).or_default();
            count.inputs += 1;
            count.understood += usize::from(matches!(done, Read::Model(_)));
            count.slowest = count.slowest.max(took);
        });
        round += 1;
        if time.is_none_or(|t| started.elapsed() >= t) {
            break;
        }
    }
    let counts = counts.into_inner().expect("counts");
    for (kind, c) in &counts {
        let part = 100 * c.understood / c.inputs.max(1);
        println!("  {kind}: {} inputs, {part} % understood, slowest {:?}", c.inputs, c.slowest);
    }
    let (inputs, understood): (usize, usize) =
        counts.values().fold((0, 0), |(a, b), c| (a + c.inputs, b + c.understood));
    println!("{inputs} inputs of {} kinds, {} % understood", counts.len(), 100 * understood / inputs.max(1));
    let mut findings = findings.into_inner().expect("findings");
    findings.sort();
    let shown = findings.len().min(40);
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings[..shown].join("\n"));
    assert!(10 * understood >= 3 * inputs, "only {understood} of {inputs} inputs are understood");
}

/// What is being read, and since when; a thread that reads for ever cannot be stopped, so the test is.
type Busy = Mutex<BTreeMap<u64, (Instant, String, String)>>;

static BUSY: Busy = Mutex::new(BTreeMap::new());

fn watch(busy: &Busy) {
    let all = busy.lock().expect("what is being read");
    if let Some((n, (_, kind, text))) = all.iter().find(|(_, (since, ..))| since.elapsed() > 6 * LONG) {
        eprintln!("{kind}: read for more than a minute: {}", keep(kind, *n, text).display());
        std::process::exit(1);
    }
}
