//! Writes formulas of paths through C programs, one SMT-LIB file each: problems for `trellis bench smt`.
//!
//!     cargo run --release -p trellis-syntax --example paths -- FOLDER-OF-C OUT [PATHS-PER-PROGRAM]
//!     trellis bench smt --models OUT
//!
//! Each program is read with integers that wrap and with mathematical ones, as it is and in large blocks. The paths are random
//! ones that end in an error (`wander`), those of random runs (`run`, which have a solution), and such runs that go on to an error
//! by the shortest way (`turn`). Folder and name say which is which; a file says as `:status` what is known.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use trellis_expr::ssa::Unrolling;
use trellis_expr::{StmtId, Terms, Type, Value, VarId};
use trellis_model::cfa::interpret::{Oracle, State, walk, zero, zero_of};
use trellis_model::cfa::paths::{to_error, wander};
use trellis_model::cfa::{Cfa, EdgeId, lbe};
use trellis_smt::smtlib;
use trellis_syntax::c::{DataModel, Ints, Options, parse};
use trellis_syntax::diag::{Folders, Sources};

/// Answers with mostly small numbers.
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
        let n = if self.below(6) == 0 { self.below(2000) as i64 - 1000 } else { self.below(20) as i64 - 4 };
        Some(match ty {
            Type::Array(..) => zero_of(terms, ty),
            Type::Range(lo, hi) => Value::from_word(ty, n.clamp(lo, hi)),
            Type::Bool => Value::from_word(ty, n & 1),
            ty => Value::from_word(ty, n),
        })
    }

    fn choose(&mut self, branches: usize) -> Option<usize> {
        (branches > 0).then(|| self.below(branches))
    }
}

/// The path of a random run of at most so many edges.
fn run(cfa: &Cfa, edges: usize, seed: u64) -> Vec<EdgeId> {
    let mut oracle = Guess(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    // In large blocks most ways through a choice are closed: try again and again.
    let mut state = State { location: cfa.initial, env: zero(cfa) };
    let mut path = vec![];
    for _ in 0..50 * edges {
        let (next, steps) = walk(cfa, state, &mut oracle, 1);
        state = next;
        path.extend(steps.iter().map(|s| s.edge));
        if path.len() >= edges || cfa.is_error(state.location) || cfa.outgoing(state.location).is_empty() {
            break;
        }
    }
    path
}

fn statements(cfa: &Cfa, path: &[EdgeId]) -> Vec<StmtId> {
    path.iter().map(|&e| cfa.edge(e).stmt).collect()
}

fn formula(cfa: &mut Cfa, path: &[EdgeId], status: &str) -> Option<String> {
    let mut unrolling = Unrolling::new();
    let mut assertions = vec![];
    for s in statements(cfa, path) {
        assertions.push(unrolling.step(&mut cfa.terms, s).ok()?);
    }
    let script = smtlib::script(&cfa.terms, &assertions).ok()?;
    Some(format!("(set-info :status {status})\n{script}"))
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [from, to, ..] = &args[..] else {
        eprintln!("usage: paths FOLDER-OF-C OUT [PATHS-PER-PROGRAM]");
        std::process::exit(2);
    };
    let per: u64 = args.get(2).and_then(|n| n.parse().ok()).unwrap_or(1);
    let (from, to) = (PathBuf::from(from), PathBuf::from(to));
    std::fs::create_dir_all(&to).expect("a folder to write to");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&from).expect("a folder with programs").filter_map(|e| e.ok().map(|e| e.path())).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "c"));
    files.sort();
    let mut seen = BTreeSet::new();
    let mut count = 0;
    for (n, file) in files.iter().enumerate() {
        count += problems(file, &from, &to, n as u64, per, &mut seen);
    }
    println!("{count} problems");
}

/// Writes the problems of one program; answers how many.
fn problems(file: &Path, folder: &Path, to: &Path, seed: u64, per: u64, seen: &mut BTreeSet<String>) -> usize {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().to_string();
    let mut count = 0;
    for ints in [Ints::Wrap, Ints::Math] {
        let mut sources = Sources::default();
        let options =
            Options { ints, data_model: DataModel::Ilp32, folders: Folders::of(folder), ..Options::default() };
        let Ok(id) = sources.read(file) else { continue };
        let Ok(built) = parse(&mut sources, id, &options) else { continue };
        let small = built.cfa;
        let large = lbe::encode(&small).cfa;
        for (encoding, mut cfa) in [("small", small), ("large", large)] {
            for k in 0..per {
                let seed = seed * 1000 + k;
                // From 10 to 200 statements; a block holds some ten of them.
                let length = 10 + (seed * 7919 % 190) as usize;
                let length = if encoding == "large" { 2 + length / 10 } else { length };
                let kind = ["wander", "run", "turn"][((seed / 1000 + k) % 3) as usize];
                let mut path = if kind == "wander" { wander(&cfa, length, seed) } else { run(&cfa, length, seed) };
                if kind == "turn" {
                    let at = path.last().map_or(cfa.initial, |&e| cfa.edge(e).to);
                    path.extend(to_error(&cfa, at).unwrap_or_default());
                }
                let status = if kind == "run" { "sat" } else { "unknown" };
                let Some(text) = formula(&mut cfa, &path, status).filter(|t| seen.insert(t.clone())) else { continue };
                let ints = if ints == Ints::Wrap { "wrap" } else { "math" };
                let family = to.join(format!("{ints}-{encoding}"));
                std::fs::create_dir_all(&family).expect("a folder to write to");
                std::fs::write(family.join(format!("{stem}-{kind}-{k}.smt2")), text).expect("written");
                count += 1;
            }
        }
    }
    count
}
