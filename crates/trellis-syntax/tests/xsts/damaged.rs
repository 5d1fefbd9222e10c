//! Damaged models: nothing panics, every refusal has a place, and nothing takes long.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use trellis_syntax::diag::{Severity, Sources, render};
use trellis_syntax::{sts, xsts};

use crate::run::{bundled, shared};

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % n.max(1)
    }
}

fn models() -> Vec<(String, String)> {
    let folders = [
        bundled().join("xsts"),
        shared().join("xsts/model"),
        shared().join("xsts/valid-models"),
        shared().join("statechart/models"),
        shared().join("ltl/xsts"),
    ];
    let mut all: Vec<PathBuf> = vec![];
    for folder in folders {
        all.extend(std::fs::read_dir(folder).into_iter().flatten().filter_map(|e| e.ok().map(|e| e.path())));
    }
    all.sort();
    let kind = |p: &PathBuf| p.extension().and_then(|e| e.to_str()).unwrap_or("").to_string();
    all.retain(|p| matches!(&*kind(p), "xsts" | "sts" | "prop"));
    all.iter().map(|p| (kind(p), std::fs::read_to_string(p).unwrap_or_default())).collect()
}

fn check(kind: &str, text: &str) {
    let mut sources = Sources::default();
    let id = sources.add("damaged", text);
    let diags = match kind {
        "sts" => sts::parse(&sources, id).err(),
        "prop" => {
            let model = sources.add("model", "var x : integer = 0 trans {} init {} env {}");
            xsts::parse(&sources, model, Some(id)).err()
        }
        _ => xsts::parse(&sources, id, None).err(),
    };
    let Some(diags) = diags else { return };
    let errors: Vec<_> = diags.iter().filter(|d| d.severity == Severity::Error).collect();
    assert!(!errors.is_empty() && errors.len() <= 20 && errors.iter().all(|d| d.span.is_some()), "{text}");
    assert!(render(&diags, &sources, false).contains("damaged:") || kind != "xsts", "{text}");
}

const WORDS: [&str; 24] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    "or",
    "choice",
    "if",
    "for",
    "local var",
    ":=",
    "==",
    "!",
    "-",
    "x",
    "0",
    "env",
    "prop",
    "'",
    "models G(",
    "é",
    "<-",
];

#[test]
fn mutations() {
    let mut r = Random(0x1234_5678_9abc_def1);
    let count = std::env::var("TRELLIS_RUNS").ok().and_then(|v| v.parse().ok()).unwrap_or(200);
    for (kind, text) in models() {
        // Large ones are cut, so that each mutation is quick.
        let letters: Vec<char> = text.chars().take(6000).collect();
        for _ in 0..count {
            let mut damaged = letters.clone();
            for _ in 0..1 + r.below(3) {
                let at = r.below(damaged.len());
                let end = (at + r.below(12)).min(damaged.len());
                match r.below(4) {
                    0 => drop(damaged.drain(at..end)),
                    1 => {
                        let copy: Vec<char> = damaged[at..end].to_vec();
                        let to = r.below(damaged.len());
                        damaged.splice(to..to, copy);
                    }
                    2 => {
                        let word = format!(" {} ", WORDS[r.below(WORDS.len())]);
                        damaged.splice(at..end, word.chars());
                    }
                    _ => damaged.truncate(at),
                }
            }
            check(&kind, &damaged.into_iter().collect::<String>());
        }
    }
}

#[test]
fn what_is_nested_too_deeply_is_refused() {
    let n = 100_000;
    let wrap = |trans: String| {
        format!(
            "var x : integer = 0 var a : [integer] -> integer trans {{ {trans} }} init {{}} env {{}} prop {{ true }}"
        )
    };
    let deep = [
        wrap(format!("x := {}1{};", "(".repeat(n), ")".repeat(n))),
        wrap(format!("x := {}1;", "-".repeat(n))),
        wrap(format!("assume {}true;", "!".repeat(n))),
        wrap(format!("assume {}true;", "true => ".repeat(n))),
        wrap(format!("assume {}true;", "true iff true => true || true xor true && 1 + 1 * (".repeat(n))),
        wrap(format!("x := {}1;", "if true then 1 else ".repeat(n))),
        wrap(format!("x := a{};", "[0]".repeat(n))),
        wrap(format!("x := {}", "a[".repeat(n))),
        wrap("{".repeat(n)),
        wrap("choice ".repeat(n)),
        wrap(format!("{} x := 1;", "if (true) x := 1; else ".repeat(n))),
        wrap("for i from 0 to 1 do ".repeat(n)),
        format!("var x : {}integer trans {{}}", "[integer] -> ".repeat(n)),
        format!("var x : {}integer trans {{}}", "[".repeat(n)),
    ];
    for text in deep {
        let mut sources = Sources::default();
        let id = sources.add("deep.xsts", &text);
        let started = Instant::now();
        let said = render(&xsts::parse(&sources, id, None).expect_err("too deep"), &sources, false);
        assert!(said.contains("nested too deeply"), "{said}");
        assert!(started.elapsed() < Duration::from_secs(10), "{}", &text[..100]);
    }
    // As deep as is allowed, on the stack of a test.
    for inside in [
        format!("x := {}1{};", "(1 + 1 * ".repeat(190), ")".repeat(190)),
        format!("assume {}true{};", "true && (true => ".repeat(120), ")".repeat(120)),
        format!("{} x := 1;", "if (true) x := 1; else ".repeat(190)),
        format!("x := {}0{};", "[".repeat(100), " <- 0, default <- 1][0]".repeat(100)),
        format!("{}{}", "{".repeat(390), "}".repeat(390)),
    ] {
        let mut sources = Sources::default();
        let id = sources.add("deep.xsts", wrap(inside));
        let started = Instant::now();
        if let Err(d) = xsts::parse(&sources, id, None) {
            panic!("{}", render(&d, &sources, false));
        }
        assert!(started.elapsed() < Duration::from_secs(10));
    }
}
