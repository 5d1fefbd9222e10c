//! Runs programs: as automata with the reference interpreter, and as gcc compiles them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use trellis_expr::{Terms, Value, VarId};
use trellis_model::cfa::interpret::{Oracle, State, successors, walk, zero, zero_of};
use trellis_model::cfa::lbe::encode;
use trellis_model::cfa::{Cfa, Kind};
use trellis_syntax::c::{Built, DataModel, Ints, Options, parse};
use trellis_syntax::diag::{Sources, render};

/// Reads a program; the complaints as text if it is refused.
pub fn read(text: &str, ints: Ints) -> Result<Built, String> {
    let mut sources = Sources::default();
    let id = sources.add("test.c", text);
    let options = Options { ints, data_model: DataModel::Lp64, ..Options::default() };
    parse(&mut sources, id, &options).map_err(|d| render(&d, &sources, false))
}

/// Answers a list of inputs, then zeros.
pub struct Inputs(pub Vec<i64>);

impl Oracle for Inputs {
    fn havoc(&mut self, terms: &Terms, v: VarId) -> Option<Value> {
        let ty = terms.variable(v).ty;
        let asked = terms.type_bounds(ty).is_some() || ty == trellis_expr::Type::Int;
        match self.0.first().copied().filter(|_| asked) {
            Some(n) => {
                self.0.remove(0);
                Some(Value::from_word(ty, n))
            }
            None => Some(zero_of(terms, ty)),
        }
    }

    fn choose(&mut self, _: usize) -> Option<usize> {
        Some(0)
    }
}

/// Where a run ends, and the values of the variables there.
pub fn execute(cfa: &Cfa, inputs: &[i64]) -> (Kind, BTreeMap<String, i64>) {
    let start = State { location: cfa.initial, env: zero(cfa) };
    let (end, _) = walk(cfa, start, &mut Inputs(inputs.to_vec()), 200_000);
    let name = |v: &VarId| cfa.terms.variable(*v).name.clone();
    let values = end.env.iter().filter_map(|(v, value)| Some((name(v), value.to_word()?))).collect();
    (cfa.location(end.location).kind, values)
}

/// Is there a compiler?
pub fn has_gcc() -> bool {
    Command::new("gcc").arg("--version").output().is_ok_and(|o| o.status.success())
}

/// Compiles the program, which has `void run(void)`, and prints the named globals after it.
pub fn compile_and_run(text: &str, globals: &[String], inputs: &[i64]) -> BTreeMap<String, i64> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let n = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("trellis-c-{}-{n}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    let prints: String = globals.iter().map(|g| format!("  printf(\"%lld\\n\", (long long) {g});\n")).collect();
    let inputs: Vec<String> = inputs.iter().chain(&[0]).map(i64::to_string).collect();
    let input = format!(
        "int __VERIFIER_nondet_int(void) {{ static int all[] = {{{}}}; static int n; return n < {} ? all[n++] : 0; }}",
        inputs.join(", "),
        inputs.len()
    );
    let whole = format!("{input}\n{text}\n#include <stdio.h>\nint main(void) {{\n  run();\n{prints}  return 0;\n}}\n");
    let file = folder.join("test.c");
    std::fs::write(&file, whole).expect("written");
    let output = build(&file, &folder.join("test"));
    let _ = std::fs::remove_dir_all(&folder);
    let lines = output.lines().map(|l| l.parse().expect("a number"));
    globals.iter().cloned().zip(lines).collect()
}

fn build(file: &Path, program: &Path) -> String {
    let compiled = Command::new("gcc")
        .args(["-std=gnu11", "-w", "-O0", "-fwrapv", "-o"])
        .arg(program)
        .arg(file)
        .output()
        .expect("gcc");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(program).output().expect("the program");
    assert!(ran.status.success(), "the program fails: {ran:?}");
    String::from_utf8(ran.stdout).expect("numbers")
}

/// The same program means the same here and there, and in large blocks.
pub fn agree(text: &str, globals: &[String], inputs: &[i64]) {
    let expected = compile_and_run(text, globals, inputs);
    let whole = format!("{text}\nint main(void) {{ run(); return 0; }}\n");
    let built = read(&whole, Ints::Wrap).unwrap_or_else(|e| panic!("{e}\n{whole}"));
    let (end, ours) = execute(&built.cfa, inputs);
    assert_eq!(end, Kind::Final, "{whole}");
    for (name, value) in &expected {
        // A global that the program does not use has no variable.
        if let Some(mine) = ours.get(name) {
            assert_eq!(mine, value, "{name} in\n{whole}");
        }
    }
    if inputs.is_empty() {
        let blocks = encode(&built.cfa);
        // A local without an initial value has too many.
        if let Some(large) = determined(&blocks.cfa) {
            assert_eq!(large, ours, "{whole}");
        }
    }
}

/// Runs an automaton in which one thing at most can happen at a time, if ways that are blocked do not count.
fn determined(cfa: &Cfa) -> Option<BTreeMap<String, i64>> {
    let mut state = State { location: cfa.initial, env: zero(cfa) };
    for _ in 0..10_000 {
        let mut next = successors(cfa, &state, 1_000_000).ok()?;
        assert!(next.len() <= 1, "{} ways to go on", next.len());
        match next.pop() {
            Some((_, after)) => state = after,
            None => break,
        }
    }
    assert_eq!(cfa.location(state.location).kind, Kind::Final);
    let name = |v: &VarId| cfa.terms.variable(*v).name.clone();
    Some(state.env.iter().filter_map(|(v, value)| Some((name(v), value.to_word()?))).collect())
}
