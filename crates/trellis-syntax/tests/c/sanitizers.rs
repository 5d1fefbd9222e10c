//! Random programs in which much may be undefined: we report what gcc's sanitizers report, and in the same line; where they
//! report nothing, neither do we, and the variables end with the values that they have in gcc's plain program.
//!
//! Three things the sanitizers do not see. The end of a function whose value is used, a function that returns and must not, and
//! assertions are made visible: what gcc is given has `__builtin_unreachable()` there, which they report. A pointer that leaves its
//! array (into another row, or before it is followed) and one to a variable of a block that is entered again are only in *loose*
//! programs, in which we may report more about pointers, and earlier.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use trellis_syntax::c::{Ints, Kind};

use crate::random::Random;
use crate::undefined::{outcome, read};

/// Numbers are in variables, for gcc computes with constants in advance, and what it can do without is not run.
const NUMBERS: [&str; 10] = ["0", "1", "2", "3", "-1", "7", "31", "2147483647", "-2147483647 - 1", "65536"];

const TYPES: [&str; 8] = ["int", "unsigned", "short", "unsigned char", "long", "signed char", "_Bool", "unsigned long"];

/// The functions that all programs have, with what each gives back: the sum of two entries, say, or a pointer to what is gone.
const FUNCTIONS: &str = "int entry(int *r, int i) {\nreturn r[i];\n}
int total(int *r, int n) {\nint t = 0;\nfor (int i = 0; i < n; i++)\nt += r[i];\nreturn t;\n}
int inner(struct in x, int i) {\nx.u += i;\nreturn x.u ^ x.w[i & 1];\n}
int *gone(int i) {\nint t = i;\nint *r = &t;\nif (i & 1) return r;\nreturn a;\n}
int some(int i) {\nif (i & 3) return i;\ng1 = i;\nMISSING\n}
__attribute__((noreturn)) void stop(int i) {\nif (i & 3) exit(0);\ng1 = i;\nMISSING\n}
";

/// Writes one program.
struct Writer {
    r: Random,
    out: String,
    loops: usize,
    /// May pointers do what the sanitizers do not see?
    loose: bool,
}

impl Writer {
    /// An expression of small numbers, mostly, in which much may be undefined, rarely.
    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 || self.r.below(6) == 0 {
            return self.operand();
        }
        let (a, mut b) = (self.expression(depth - 1), self.expression(depth - 1));
        while b == a {
            b = self.expression(depth - 1);
        }
        match self.r.below(19) {
            0 => format!("({}{a})", self.r.pick(&["-", "~"])),
            1 => format!("(({}) {a})", self.r.pick(&TYPES)),
            2 => format!("({} ? {a} : {b})", truth(&self.expression(depth - 1))),
            3 => {
                let op = self.r.pick(&["/", "%"]);
                format!("({a} {op} {})", self.rarely(format!("(({b} & 15) + 1)"), format!("({b} & 7)")))
            }
            4 => {
                let op = self.r.pick(&["<<", ">>"]);
                let by = self.rarely(format!("({b} & 7)"), format!("({b} & 63)"));
                format!("(({a} & 255) {op} {by})")
            }
            5 | 6 => format!("({} {} {})", truth(&a), self.r.pick(&["&&", "||"]), truth(&b)),
            7..=9 => format!("({a} {} {b})", self.r.pick(&["<", ">", "==", "!="])),
            10 | 11 => format!("({a} {} {b})", self.r.pick(&["&", "|", "^"])),
            12 => format!("(({a} & 1023) {} ({b} & 1023))", self.r.pick(&["+", "-", "*"])),
            13 => format!("f(({a}) & 63)"),
            // Not far away: there may be something.
            14 => format!("entry(a, {} & {})", self.variable(), self.r.pick(&["3", "3", "7"])),
            15 => format!("total({}, {} & 3)", self.array(), self.variable()),
            16 => format!("inner({}, {a} & 7)", self.structure()),
            _ => format!("({a} {} {b})", self.r.pick(&["+", "-", "*"])),
        }
    }

    fn operand(&mut self) -> String {
        match self.r.below(13) {
            0 => format!("k{}", self.r.below(NUMBERS.len())),
            1 => format!("a[{}]", self.index()),
            2 => format!("m[{}][{}]", self.index2(), self.index2()),
            3 => "s.u".into(),
            4 => format!("s.w[{}]", self.index2()),
            5 => "*p".into(),
            6 => format!("p[{} & 1]", self.variable()),
            7 => format!("n.e[{}].w[{}]", self.index2(), self.index2()),
            8 => format!("q->{}", self.r.pick(&["u", "w[k0]", "w[k1]"])),
            9 if self.r.below(4) == 0 => format!("some({} & 7)", self.variable()),
            9 => format!("q->w[{}]", self.index2()),
            _ => self.variable(),
        }
    }

    fn rarely(&mut self, often: String, rarely: String) -> String {
        if self.r.below(3) == 0 { rarely } else { often }
    }

    fn variable(&mut self) -> String {
        self.r.pick(&["v0", "v1", "v2", "v3", "v4"]).into()
    }

    fn index(&mut self) -> String {
        let v = self.variable();
        match self.r.below(60) {
            0 => v,
            1 | 2 => format!("{v} & 7"),
            _ => format!("{v} & 3"),
        }
    }

    fn index2(&mut self) -> String {
        let v = self.variable();
        // There are many of these in a program: not more often, or nothing else would be seen.
        if self.r.below(30) == 0 { format!("{v} & 3") } else { format!("{v} & 1") }
    }

    /// Something with two entries at least. Not a member or a row with another one behind it: the sanitizers do not see a step from
    /// one to the next.
    fn array(&mut self) -> String {
        let all: &[&str] = if self.loose { &["a", "p", "m[k0]", "n.e[k1].w", "&m[k0][k1]"] } else { &["a", "s.w"] };
        self.r.pick(all).into()
    }

    fn structure(&mut self) -> String {
        match self.r.below(3) {
            0 => "s".into(),
            1 => "*q".into(),
            _ => format!("n.e[{}]", self.index2()),
        }
    }

    fn line(&mut self, text: String) {
        let _ = writeln!(self.out, "{text}");
    }

    /// Assigns in two steps: what becomes narrow in the end gcc computes in narrow numbers, which do not overflow.
    fn assign(&mut self, v: &str, op: &str, e: &str) {
        self.line(format!("{{ long t = {e}; {v} {op} t; }}"));
    }

    fn statement(&mut self, depth: usize) {
        match self.r.below(if depth == 0 { 18 } else { 26 }) {
            0..=2 => {
                let op = self.r.pick(&["=", "=", "+=", "-=", "^=", "*="]);
                let (v, e) = (self.variable(), self.expression(2));
                self.assign(&v, op, &e);
            }
            3 => {
                let text = format!("a[{}] = {};", self.index(), self.expression(2));
                self.line(text);
            }
            4 => {
                let text = format!("m[{}][{}] += {};", self.index2(), self.index2(), self.expression(1));
                self.line(text);
            }
            5 => {
                let what = self.variable();
                let what = self.rarely(what, "a[k2]".into());
                let text = format!("{what}{};", self.r.pick(&["++", "--"]));
                self.line(text);
            }
            6 => {
                let v = self.variable();
                let places = ["&v0".into(), format!("&a[{v} & 3]"), format!("&s.w[{v} & 1]"), "a".into()];
                let text = format!("p = {};", places[self.r.below(4)]);
                self.line(text);
            }
            7 => {
                let text = format!("if ({} & 7) p = a; else p = 0;", self.variable());
                self.line(text);
            }
            8 => {
                let text = format!("*p = {};", self.expression(1));
                self.line(text);
            }
            // A variable that is gone; not in loops, where it would be there again.
            9 if self.loops == 0 || self.loose => {
                let text = format!("{{ int t = {};\np = &t; *p += 1; }}", self.expression(1));
                self.line(text);
                let text = format!("if ({} & 3) p = a;", self.variable());
                self.line(text);
            }
            9 => {
                let text = format!("s.w[{}] = {};", self.index2(), self.expression(1));
                self.line(text);
            }
            10 => {
                let v = self.variable();
                let text = format!("p = gone({v} & 1);\nif ({} & 3) p = a;", self.variable());
                self.line(text);
            }
            11 => {
                let v = self.variable();
                let places = ["&s".into(), format!("&n.e[{v} & 1]"), format!("({v} & 3) ? &s : 0")];
                let text = format!("q = {};", places[self.r.below(3)]);
                self.line(text);
            }
            12 => {
                let to = self.r.pick(&["s", "*q", "n.e[k1]"]);
                let text = format!("{to} = {};", self.structure());
                self.line(text);
            }
            13 => {
                let (v, op) = (self.variable(), self.r.pick(&["<<=", ">>=", "/=", "%="]));
                let by = self.expression(1);
                let by = self.rarely(format!("(({by} & 7) + 1)"), format!("({by} & 63)"));
                self.assign(&v, op, &by);
            }
            14 => {
                let e = self.expression(1);
                let e = self.rarely(format!("(({e} & 1) || k1)"), truth(&e));
                self.line(format!("if (!{e}) reach_error();"));
            }
            15 => {
                let text = format!("q->{} = {};", self.r.pick(&["u", "w[k1]"]), self.expression(1));
                self.line(text);
            }
            16 if self.loose => {
                let v = self.variable();
                let steps = ["p++;".into(), "p--;".into(), format!("p += {v} & 3;"), format!("p = p - ({v} & 1);")];
                let rows = ["p = m[k0];".into(), format!("p = &m[k1][{v} & 1];"), format!("p = n.e[{v} & 1].w;")];
                let text = if self.r.below(3) == 0 { &rows[self.r.below(3)] } else { &steps[self.r.below(4)] };
                self.line(text.clone());
            }
            17 if self.r.below(4) == 0 => {
                let text = format!("if ({} == 3) stop({} & 7);", self.variable(), self.variable());
                self.line(text);
            }
            16 | 17 => {
                let e = format!("({}++, {})", self.r.pick(&["g2", "g3"]), self.expression(1));
                let v = self.variable();
                self.assign(&v, "=", &e);
            }
            18 | 19 => {
                let text = format!("if {} {{", truth(&self.expression(2)));
                self.line(text);
                self.block(depth - 1);
                self.line("} else {".into());
                self.block(depth - 1);
                self.line("}".into());
            }
            20 => {
                let text = format!("switch ({} & 3) {{", self.expression(1));
                self.line(text);
                for k in 0..3 {
                    self.line(format!("case {k}:;"));
                    self.block(depth - 1);
                    if self.r.below(2) == 0 {
                        self.line("break;".into());
                    }
                }
                self.line("}".into());
            }
            21 => {
                self.loops += 1;
                let out = format!("out{}", self.loops);
                let text = format!("if {} goto {out};", truth(&self.expression(1)));
                self.line(text);
                self.block(depth - 1);
                self.line(format!("{out}:;"));
            }
            22 => {
                self.loops += 1;
                let i = format!("i{}", self.loops);
                let (most, until) = (1 + self.r.below(4), truth(&self.expression(1)));
                let from_end = self.r.below(2) == 0;
                self.line(format!("{{ int {i} = 0;"));
                self.line(if from_end { "do {".into() } else { format!("while ({i} < {most} && {until}) {{") });
                self.block(depth - 1);
                self.line(format!("{i}++;"));
                self.line(if from_end { format!("}} while ({i} < {most} && {until}); }}") } else { "} }".into() });
            }
            _ => {
                self.loops += 1;
                let i = format!("i{}", self.loops);
                let most = 1 + self.r.below(4);
                let text = format!("for (int {i} = 0; {i} < {most} && {}; {i}++) {{", truth(&self.expression(1)));
                self.line(text);
                self.block(depth - 1);
                if self.r.below(3) == 0 {
                    let text = format!("if {} {};", truth(&self.expression(1)), self.r.pick(&["break", "continue"]));
                    self.line(text);
                } else if self.r.below(2) == 0 {
                    // Perhaps one too far.
                    let text = format!("a[{i}{}] ^= {i};", self.r.pick(&["", " + 1"]));
                    self.line(text);
                }
                self.block(depth - 1);
                self.line("}".into());
            }
        }
    }

    fn block(&mut self, depth: usize) {
        for _ in 0..1 + self.r.below(2) {
            self.statement(depth);
        }
    }
}

/// As a condition gcc would look at the operands of a difference instead of subtracting.
fn truth(e: &str) -> String {
    format!("({e} != k0)")
}

/// What is compared at the end.
const ENDS: [&str; 11] =
    ["a[0]", "a[1]", "a[2]", "a[3]", "m[0][1]", "m[1][0]", "s.u", "s.w[1]", "n.e[1].u", "n.e[0].w[1]", "n.z"];
/// Those that are variables.
const PLAIN: [&str; 9] = ["v0", "v1", "v2", "v3", "v4", "g0", "g1", "g2", "g3"];

/// A program, and whether it is a loose one.
fn program(seed: u64) -> (String, bool) {
    let mut w = Writer {
        r: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
        out: format!("/* seed {seed} */\nvoid reach_error(void);\nvoid exit(int);\n"),
        loops: 0,
        loose: seed.is_multiple_of(3),
    };
    for (n, number) in NUMBERS.iter().enumerate() {
        w.line(format!("int k{n} = {number};"));
    }
    for n in 0..PLAIN.len() - 4 {
        // Pointers go to the first one.
        let ty = if n == 0 || n == 3 { "int" } else { TYPES[w.r.below(TYPES.len())] };
        let text = format!("{ty} v{n} = {};", w.r.below(9));
        w.line(text);
    }
    w.line("int g0, g1, g2, g3;\nint a[4] = {1, 2, 3, 4};\nint m[2][2] = {{1, 2}, {3, 4}};".into());
    w.line(
        "struct in { int u; int w[2]; };\nstruct { struct in e[2]; int z; } n = {{{1, {2, 3}}, {4, {5}}}, 6};".into(),
    );
    w.line("struct in s = {5, {6, 7}};\nint *p = a;\nstruct in *q = &s;".into());
    for k in 0..ENDS.len() {
        w.line(format!("int e{k};"));
    }
    w.out.push_str(FUNCTIONS);
    let mut own = || loop {
        let e = w.expression(2);
        // Functions do not call themselves.
        if !e.contains("f(") {
            return e;
        }
    };
    let (first, second) = (own(), own());
    w.line(format!("int f(int i) {{\nif (i > 3) return i;\ng0 = {first};\nreturn i + {second};\n}}"));
    w.line("int main(void) {".into());
    for _ in 0..5 {
        w.statement(2);
    }
    for (k, end) in ENDS.iter().enumerate() {
        w.line(format!("e{k} = {end};"));
    }
    w.line("SHOW\nreturn 0;\n}".into());
    (w.out, w.loose)
}

/// What gcc is given.
fn visible(text: &str) -> String {
    let ends = (0..ENDS.len()).map(|k| format!("e{k}"));
    let all = PLAIN.iter().map(ToString::to_string).chain(ends);
    let shown: String = all.map(|v| format!("printf(\"{v} %ld\\n\", (long) {v}); ")).collect();
    let text = text.replace("MISSING", "__builtin_unreachable();").replace("SHOW", &shown);
    text.replace("void reach_error(void);", "int printf(const char *, ...);")
        .replace("reach_error()", "__builtin_unreachable()")
}

/// What the sanitizers say, and where.
struct Report {
    said: String,
    line: Option<u32>,
}

impl Report {
    /// What it is about, in few words: `index`, `null pointer`, `stack-use-after-scope`.
    fn about(&self) -> &'static str {
        let all = [
            "out of bounds",
            "null pointer",
            "division by zero",
            "shift exponent",
            "left shift of negative",
            "left shift of",
            "negation of",
            "signed integer overflow",
            "unreachable",
            "stack-use-after-scope",
            "stack-use-after-return",
            "global-buffer-overflow",
            "stack-buffer",
            "division of",
            "SEGV",
        ];
        all.into_iter().find(|a| self.said.contains(a)).unwrap_or("something else")
    }
}

fn compile(folder: &Path, text: &str, flags: &[&str]) -> PathBuf {
    let (file, program) = (folder.join("test.c"), folder.join("test"));
    std::fs::write(&file, text).expect("written");
    let compiled = Command::new("gcc")
        .args(["-std=gnu11", "-w", "-O0"])
        .args(flags)
        .arg("-o")
        .arg(&program)
        .arg(&file)
        .output()
        .expect("gcc");
    assert!(compiled.status.success(), "{}\n{text}", String::from_utf8_lossy(&compiled.stderr));
    program
}

/// What the sanitizers say, if they say anything.
fn sanitised(folder: &Path, text: &str) -> Option<Report> {
    let flags = ["-g", "-fsanitize=undefined,address,bounds-strict", "-fno-sanitize-recover=all"];
    let program = compile(folder, text, &flags);
    let options = "detect_stack_use_after_return=1:detect_leaks=0:symbolize=0";
    let ran = Command::new(&program).env("ASAN_OPTIONS", options).output().expect("the program");
    if ran.status.success() {
        return None;
    }
    let said = String::from_utf8_lossy(&ran.stderr).to_string();
    let report = said.lines().find(|l| l.contains("runtime error") || l.contains("AddressSanitizer"));
    let said = report.unwrap_or_else(|| panic!("the program fails without a report: {said}\n{text}")).to_string();
    // `test.c:12:5: runtime error: …`
    let line = said.split_once("test.c:").and_then(|(_, rest)| rest.split(':').next()?.parse().ok());
    Some(Report { said, line })
}

/// The values at the end of gcc's plain program; nothing if it ends elsewhere.
fn values(folder: &Path, text: &str) -> BTreeMap<String, i64> {
    let ran = Command::new(compile(folder, text, &[])).output().expect("the program");
    assert!(ran.status.success(), "the program fails: {ran:?}\n{text}");
    let value = |line: &str| line.split_once(' ').map(|(v, n)| (v.to_string(), n.parse().expect("a number")));
    String::from_utf8_lossy(&ran.stdout).lines().filter_map(value).collect()
}

fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("trellis-undefined-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    folder
}

fn has_sanitizers(folder: &Path) -> bool {
    let (file, program) = (folder.join("try.c"), folder.join("try"));
    let _ = std::fs::write(&file, "int main(void) { return 0; }\n");
    let built = Command::new("gcc").args(["-fsanitize=undefined,address", "-o"]).arg(&program).arg(&file).output();
    built.is_ok_and(|o| o.status.success()) && Command::new(&program).output().is_ok_and(|o| o.status.success())
}

/// Is a line in a function, or does it call one? Whether a call comes before what stands beside it is not specified.
fn calls(text: &str, line: u32) -> bool {
    let inside = text.lines().skip(line as usize).any(|l| l.starts_with("int main"));
    let names = ["f(", "entry(", "total(", "inner(", "gone(", "some(", "stop("];
    inside || text.lines().nth(line as usize - 1).is_none_or(|l| names.iter().any(|name| l.contains(name)))
}

/// Compares one program: what the sanitizers report, or nothing; or why we do not agree.
fn compare(folder: &Path, seed: u64) -> Result<(Option<&'static str>, Option<Kind>), String> {
    const ASKED: [Kind; 7] =
        [Kind::Assertion, Kind::Bounds, Kind::Pointer, Kind::Division, Kind::Shift, Kind::Return, Kind::Overflow];
    let (text, loose) = program(seed);
    let theirs = sanitised(folder, &visible(&text));
    let plain = text.replace("MISSING", "").replace("SHOW", "");
    let built = read(&plain, Ints::Wrap, &ASKED);
    let ours = outcome(&built);
    let about = theirs.as_ref().map(Report::about);
    let kind = ours.as_ref().err().map(|check| check.kind);
    let more = loose && matches!(kind, Some(Kind::Bounds | Kind::Pointer));
    match (&theirs, &ours) {
        (None, Ok(end)) => {
            let expected = values(folder, &visible(&text));
            let terms = &built.cfa.terms;
            for (v, value) in &end.env {
                let name = &terms.variable(*v).name;
                if let (Some(theirs), Some(ours)) = (expected.get(name), value.to_word())
                    && *theirs != ours
                {
                    return Err(format!("{name} is {theirs}, and here {ours}\n{text}"));
                }
            }
        }
        (Some(Report { said, line }), Err(check)) => {
            let own = check.place.line;
            let agreed = line.is_none_or(|line| line == own || calls(&text, line) || calls(&text, own));
            if !agreed && !more {
                return Err(format!("they: {said}\nwe: {check:?}\n{text}"));
            }
        }
        (None, Err(_)) if more => {}
        (Some(Report { said, .. }), Ok(_)) => return Err(format!("they: {said}\nwe: nothing\n{text}")),
        (None, Err(check)) => return Err(format!("they: nothing\nwe: {check:?}\n{text}")),
    }
    Ok((about, kind))
}

/// By default a few; `TRELLIS_RUNS=5000 cargo test -p trellis-syntax --test c sanitizers` for the full number.
#[test]
fn the_sanitizers_agree() {
    let folder = folder();
    if !has_sanitizers(&folder) {
        eprintln!("skipped: there is no gcc with sanitizers");
        return;
    }
    let number = |name: &str| std::env::var(name).ok().and_then(|s| s.parse::<u64>().ok());
    let (runs, first) = (number("TRELLIS_RUNS").unwrap_or(25), number("TRELLIS_SEED").unwrap_or(1));
    let (mut all, mut wrong) = (BTreeMap::new(), vec![]);
    for seed in first..first + runs {
        match compare(&folder, seed) {
            Ok(said) => *all.entry(said).or_insert(0) += 1,
            Err(why) => {
                eprintln!("{why}");
                wrong.push(seed);
            }
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    println!("{runs} programs; what the sanitizers report and what we do:");
    for ((theirs, ours), count) in all {
        println!("{count}\t{}\t{}", theirs.unwrap_or("-"), ours.map_or("-", Kind::name));
    }
    assert!(wrong.is_empty(), "the seeds {wrong:?} of {runs}");
}
