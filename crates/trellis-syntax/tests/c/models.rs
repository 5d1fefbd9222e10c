//! The public C programs: how many are read, and why the others are not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use trellis_expr::{Terms, Type, Value, VarId};
use trellis_model::cfa::interpret::{Oracle, State, Trace, replay, walk, zero, zero_of};
use trellis_model::cfa::lbe::encode;
use trellis_syntax::c::{DataModel, Ints, Options, parse};
use trellis_syntax::diag::{Folders, Sources};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/models/c")
}

fn programs() -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder()) else { return vec![] };
    let mut files: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "c"));
    files.sort();
    files
}

fn features() -> BTreeMap<String, String> {
    let table = std::fs::read_to_string(folder().join("EXPECTED.tsv")).unwrap_or_default();
    let row = |line: &str| {
        let columns: Vec<&str> = line.split('\t').collect();
        Some((columns.first()?.to_string(), columns.get(4).copied().unwrap_or_default().to_string()))
    };
    table.lines().skip(1).filter_map(row).collect()
}

/// The message without names, so that alike ones count together.
fn reason(message: &str) -> String {
    let mut out = String::new();
    for (n, part) in message.split('`').enumerate() {
        out.push_str(if n % 2 == 1 { "…" } else { part });
    }
    out
}

#[test]
fn the_public_programs_are_read() {
    let programs = programs();
    if programs.is_empty() {
        eprintln!("skipped: there are no models");
        return;
    }
    let features = features();
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for file in &programs {
        for ints in [Ints::Wrap, Ints::Math] {
            let mut sources = Sources::default();
            let id = sources.read(file).expect("a file");
            let options =
                Options { ints, data_model: DataModel::Ilp32, folders: Folders::of(folder()), ..Options::default() };
            let stem = file.file_stem().unwrap_or_default().to_string_lossy().to_string();
            let family = stem.split("__").next().unwrap_or_default().to_string();
            let outcome = match parse(&mut sources, id, &options) {
                Ok(built) => {
                    let large = encode(&built.cfa);
                    assert!(large.cfa.locations().len() <= built.cfa.locations().len(), "{stem}");
                    assert!(built.cfa.errors().count() <= built.checks.len(), "{stem}");
                    "read".to_string()
                }
                Err(diagnostics) => {
                    let message = diagnostics.first().map(|d| d.message.clone()).unwrap_or_default();
                    let recursive = features.get(&stem).is_some_and(|f| f.contains("recursion"));
                    eprintln!("{stem}: {message}");
                    assert!(recursive || !message.contains("recursion"), "{stem}: {message}");
                    reason(&message)
                }
            };
            if ints == Ints::Wrap {
                *counts.entry((family, outcome)).or_default() += 1;
            }
        }
    }
    println!("{:<12} {:>5}  outcome", "family", "files");
    for ((family, outcome), n) in &counts {
        println!("{family:<12} {n:>5}  {outcome}");
    }
    let read: usize = counts.iter().filter(|((_, o), _)| o == "read").map(|(_, n)| n).sum();
    println!("{read} of {} are read", programs.len());
    let linear = features.values().filter(|f| !f.contains("recursion")).count();
    assert!(read >= linear, "{read} of {linear}");
}

/// Answers mostly small numbers.
struct Guess(u64);

impl Guess {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % n
    }
}

impl Oracle for Guess {
    fn havoc(&mut self, terms: &Terms, v: VarId) -> Option<Value> {
        let ty = terms.variable(v).ty;
        if let Type::Array(..) = ty {
            return Some(zero_of(terms, ty));
        }
        let n = match self.below(8) {
            0 => [i64::from(i32::MAX), i64::from(i32::MIN), 1000, -1000][self.below(4)],
            1 => self.below(200) as i64 - 100,
            _ => self.below(12) as i64 - 3,
        };
        match ty {
            Type::Range(lo, hi) => Some(Value::from_word(ty, n.clamp(lo, hi))),
            _ => Some(Value::from_word(ty, n)),
        }
    }

    fn choose(&mut self, branches: usize) -> Option<usize> {
        (branches > 0).then(|| self.below(branches))
    }
}

/// Programs that are said to be safe and are not, for mathematical integers either: for 27 and 31 take `n = 0`, for 61 and 62
/// `n = 1`, for 72 and 75 `y = 128`; there no loop need be entered more than once.
const WRONG: [&str; 6] = [
    "code2inv__code2inv_27",
    "code2inv__code2inv_31",
    "code2inv__code2inv_61",
    "code2inv__code2inv_62",
    "code2inv__code2inv_72",
    "code2inv__code2inv_75",
];

/// No run of a program that is known to be safe reaches the error; many that are not do.
#[test]
fn random_runs_respect_the_verdicts() {
    let table = std::fs::read_to_string(folder().join("EXPECTED.tsv")).unwrap_or_default();
    let (mut failing, mut found, mut odd) = (0, 0, vec![]);
    for line in table.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [task, _, safe, ..] = columns[..] else { continue };
        let file = folder().join(format!("{task}.c"));
        // The verdicts of code2inv hold for mathematical integers.
        let ints = if task.starts_with("code2inv") { Ints::Math } else { Ints::Wrap };
        let mut sources = Sources::default();
        let Ok(id) = sources.read(&file) else { continue };
        let options =
            Options { ints, data_model: DataModel::Ilp32, folders: Folders::of(folder()), ..Options::default() };
        let Ok(built) = parse(&mut sources, id, &options) else { continue };
        let cfa = built.cfa;
        let mut reached = false;
        for seed in 1..=12 {
            let start = State { location: cfa.initial, env: zero(&cfa) };
            let (end, steps) = walk(&cfa, start.clone(), &mut Guess(seed * 0x9e37_79b9 + 1), 600);
            let trace = Trace { start: start.env, steps };
            assert_eq!(replay(&cfa, &trace).as_ref(), Ok(&end), "{task}");
            reached |= cfa.is_error(end.location);
        }
        match safe {
            "true" if reached => odd.push(task.to_string()),
            "false" => {
                failing += 1;
                found += usize::from(reached);
            }
            _ => {}
        }
    }
    odd.retain(|task| !WRONG.contains(&task.as_str()));
    assert!(odd.is_empty(), "these are safe: {odd:?}");
    println!("random runs find {found} of {failing} errors");
}

/// `cargo test --release -p trellis-syntax --test c -- --ignored --nocapture ten`
#[test]
#[ignore = "measures time"]
fn ten_megabytes() {
    let mut text = String::from("typedef int number;\n");
    let mut n = 0;
    while text.len() < 10_000_000 {
        n += 1;
        text.push_str(&format!(
            "number f{n}(int a, unsigned b)\n{{\n    int x = a + {n};\n    for (int i = 0; i < 10; i++) {{\n        if (a > b && x != 3)\n            \
             x += i * 2;\n        else\n            x = (x << 1) ^ b;\n    }}\n    return x;\n}}\n\n"
        ));
    }
    text.push_str("int main(void)\n{\n    return f1(1, 2);\n}\n");
    let mut sources = Sources::default();
    let id = sources.add("ten.c", text);
    let start = std::time::Instant::now();
    let built = parse(&mut sources, id, &Options::default()).expect("a program");
    println!("{n} functions, {} edges: {:.2?}", built.cfa.edges().len(), start.elapsed());
}
