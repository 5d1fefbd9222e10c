//! The toy formalism `examples/lts` through everything that a formalism has, by way of its own program.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The example's program, beside that of this test. `cargo test` builds examples; `--test toy` alone does not, so it is built here if it is
/// not there, and only then: a second cargo beside the first could replace libraries that the documentation's tests are about to use.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let me = std::env::current_exe().expect("a test has a program");
        let folder = me.parent().and_then(Path::parent).expect("target/PROFILE/deps");
        let program = folder.join("examples").join(format!("lts{}", std::env::consts::EXE_SUFFIX));
        if program.is_file() {
            return program;
        }
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--locked", "--package", "trellis-cli", "--example", "lts"]);
        cargo.args(folder.ends_with("release").then_some("--release")).current_dir(env!("CARGO_MANIFEST_DIR"));
        assert!(cargo.status().expect("cargo runs").success());
        program
    })
}

/// Runs it on the bundled model; exit code and what it prints.
fn lts(args: &[&str], input: &str) -> (i32, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut child = Command::new(program())
        .args(args)
        .current_dir(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the example is built");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("it reads");
    let out = child.wait_with_output().expect("it ends");
    let text = [out.stdout, out.stderr].concat();
    (out.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
}

/// Exit code and a part of what is printed.
fn says(args: &[&str], input: &str, code: i32, part: &str) {
    let (found, text) = lts(args, input);
    assert!(found == code && text.contains(part), "{args:?}: {found}\n{text}");
}

const MODEL: &str = "models/lts/coffee.lts";

#[test]
fn verdicts_and_evidence() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let content = |name: &str| std::fs::read_to_string(path(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    says(&["check", MODEL], "", 10, "run of 3 steps replayed");
    says(&["check", MODEL, "--json"], "", 10, "\"verdict\":\"UNSAFE\"");
    let (trace, proof) = (path("trace.json"), path("proof.json"));
    says(&["check", MODEL, "--error", "broken", "--trace", &trace], "", 10, "UNSAFE");
    says(&["certify", MODEL, &trace, "--error", "broken"], "", 0, "VALID");
    says(&["simulate", MODEL, "--trace", &trace], "", 0, "replayed: 3 steps");
    says(&["check", MODEL, "--error", "free", "--certificate", &proof], "", 0, "SAFE");
    says(&["certify", MODEL, &proof, "--error", "free"], "", 0, "VALID");
    // A set that lacks a state is not closed.
    let body = content("proof.json");
    let start = body.find("\"body\"").expect("a body");
    let open = start + body[start..].find('[').expect("a list");
    let close = open + body[open..].find(']').expect("its end");
    std::fs::write(&proof, format!("{}[0]{}", &body[..open], &body[close + 1..])).expect("written");
    says(&["certify", MODEL, &proof, "--error", "free"], "", 10, "`coin` leaves the states, to `state = paid`");
    let (html, dot, svg) = (path("run.html"), path("run.dot"), path("run.svg"));
    says(&["check", MODEL, "--error", "broken", "--html", &html, "--dot", &dot, "--msc", &svg], "", 10, "UNSAFE");
    assert!(content("run.html").contains("<html") && content("run.dot").contains("kick"));
    assert!(content("run.svg").contains("<svg"));
    says(&["check", MODEL, "--error", "broken", "--svg", &svg], "", 10, "UNSAFE");
    assert!(content("run.svg").contains("UNSAFE") && content("run.svg").contains("kick"));
    says(&["check", MODEL, "--error", "broken", "--msc", "-"], "", 10, "*broken");
}

#[test]
fn walks_pictures_and_formulas() {
    says(&["simulate", MODEL], "0\nu\n0\nt\nq\n", 0, "coin");
    says(&["simulate", MODEL, "--random", "5"], "", 0, "coin");
    says(&["convert", MODEL, "--to", "dot"], "", 0, "digraph");
    says(&["convert", MODEL, "--to", "svg"], "", 0, "coin</text>");
    says(&["check", MODEL, "--ltl", "G F \"state in idle\""], "", 10, "UNSAFE");
    says(&["check", MODEL, "--ltl", "G !\"state in free\""], "", 0, "SAFE");
    says(&["check", MODEL, "-p", "A[] state in idle"], "", 10, "UNSAFE");
    says(&["check", MODEL, "-p", "E<> state in paid"], "", 0, "state in paid");
}

#[test]
fn what_is_wrong_is_said() {
    says(&["check", MODEL, "--error", "tea"], "", 2, "there is no state `tea`");
    says(&["check", MODEL, "--engine", "cegar"], "", 2, "--engine cegar");
    says(&["check", MODEL, "--states", "1"], "", 20, "UNKNOWN");
    let file = tempfile::Builder::new().suffix(".lts").tempfile().expect("a file");
    std::fs::write(&file, "start a\na -> b\n").expect("written");
    says(&["check", &file.path().display().to_string()], "", 2, "line 2: expected an arrow");
}
