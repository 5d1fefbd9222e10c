//! Random programs without undefined behaviour: we and gcc agree on what they compute.

use std::fmt::Write;

use crate::run::{agree, has_gcc};

pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % n
    }

    pub fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

const TYPES: [&str; 11] = [
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long",
    "unsigned long",
    "long long",
    "unsigned long long",
    "_Bool",
];

const LITERALS: [&str; 16] = [
    "0",
    "1",
    "2",
    "(-1)",
    "7",
    "127",
    "128",
    "255u",
    "32768",
    "65535",
    "2147483647",
    "(-2147483647 - 1)",
    "4294967295u",
    "0x7fffffffffffffffL",
    "0xdeadbeefL",
    "1ull",
];

const VARIABLES: usize = TYPES.len();

/// An expression in which nothing happens.
fn expression(r: &mut Random, depth: usize) -> String {
    if depth == 0 || r.below(8) == 0 {
        return match r.below(3) {
            0 => r.pick(&LITERALS).to_string(),
            1 => format!("a[{} & 3]", variable(r)),
            _ => variable(r),
        };
    }
    let a = expression(r, depth - 1);
    match r.below(14) {
        0 => format!("({}{a})", r.pick(&["-", "~", "!", "+"])),
        1 => format!("(({}) {a})", r.pick(&TYPES)),
        2 => format!("({a} ? {} : {})", expression(r, depth - 1), expression(r, depth - 1)),
        // A divisor that is positive, a distance that is small enough for an int.
        3 => format!("({a} {} (({} & 15) + 1))", r.pick(&["/", "%"]), expression(r, depth - 1)),
        4 => format!("({a} {} ({} & 31))", r.pick(&["<<", ">>"]), expression(r, depth - 1)),
        5 => format!("({a} {} {})", r.pick(&["&&", "||"]), expression(r, depth - 1)),
        6 | 7 => format!("({a} {} {})", r.pick(&["<", ">", "<=", ">=", "==", "!="]), expression(r, depth - 1)),
        _ => format!("({a} {} {})", r.pick(&["+", "-", "*", "&", "|", "^"]), expression(r, depth - 1)),
    }
}

/// An expression in which something happens, in an order that C fixes.
fn condition(r: &mut Random, depth: usize) -> String {
    let a = expression(r, depth);
    match r.below(6) {
        0 => format!("{a} && ({} = {})", variable(r), expression(r, depth)),
        4 if r.below(2) == 0 => format!("__VERIFIER_nondet_int() > {a}"),
        1 => format!("({}++, {a}) || f{}({a})", variable(r), r.below(2)),
        2 => format!("!(--{} && {a})", variable(r)),
        3 => format!("f{}({a}) ? {a} : ({} ^= {})", r.below(2), variable(r), expression(r, 1)),
        _ => a,
    }
}

fn variable(r: &mut Random) -> String {
    format!("v{}", r.below(VARIABLES))
}

fn statement(r: &mut Random, out: &mut String, depth: usize, loops: &mut usize) {
    let pick = r.below(if depth == 0 { 6 } else { 11 });
    match pick {
        0..=2 => {
            let op = r.pick(&["=", "=", "=", "+=", "-=", "*=", "&=", "|=", "^="]);
            let _ = writeln!(out, "{} {op} {};", variable(r), expression(r, 3));
        }
        3 if r.below(3) == 0 => {
            let _ = writeln!(out, "{} = __VERIFIER_nondet_int();", variable(r));
        }
        3 => {
            let _ = writeln!(out, "{}{};", variable(r), r.pick(&["++", "--"]));
        }
        4 => {
            let _ = writeln!(out, "a[{} & 3] {} {};", expression(r, 1), r.pick(&["=", "+=", "^="]), expression(r, 2));
        }
        5 => {
            let _ = writeln!(out, "{} = ({}) ? {} : v0;", variable(r), condition(r, 1), expression(r, 2));
        }
        6 | 7 => {
            let _ = writeln!(out, "if ({}) {{", condition(r, 2));
            block(r, out, depth - 1, loops);
            let _ = writeln!(out, "}} else {{");
            block(r, out, depth - 1, loops);
            let _ = writeln!(out, "}}");
        }
        8 => {
            *loops += 1;
            let i = format!("i{loops}");
            let _ = writeln!(out, "for (int {i} = 0; {i} < {} && ({}); {i}++) {{", 1 + r.below(4), condition(r, 1));
            block(r, out, depth - 1, loops);
            if r.below(3) == 0 {
                let _ = writeln!(out, "if ({}) {};", expression(r, 1), r.pick(&["break", "continue"]));
            }
            block(r, out, depth - 1, loops);
            let _ = writeln!(out, "}}");
        }
        9 => {
            let _ = writeln!(out, "switch ({} & 3) {{", expression(r, 2));
            for k in 0..3 {
                let _ = writeln!(out, "case {k}:");
                block(r, out, depth - 1, loops);
                if r.below(2) == 0 {
                    let _ = writeln!(out, "break;");
                }
            }
            let _ = writeln!(out, "default: ;");
            block(r, out, depth - 1, loops);
            let _ = writeln!(out, "}}");
        }
        _ => {
            let _ = writeln!(out, "{} = f{}({});", variable(r), r.below(2), expression(r, 2));
        }
    }
}

fn block(r: &mut Random, out: &mut String, depth: usize, loops: &mut usize) {
    for _ in 0..1 + r.below(2) {
        statement(r, out, depth, loops);
    }
}

fn program(seed: u64) -> (String, Vec<String>) {
    let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut text = String::new();
    for (n, ty) in TYPES.iter().enumerate() {
        let _ = writeln!(text, "{ty} v{n} = {};", r.pick(&LITERALS));
    }
    let _ = writeln!(text, "int a[4] = {{1, -2, 3}};\nlong long e0, e1, e2, e3;");
    for n in 0..2 {
        let [result, parameter] = [0, 0].map(|_| TYPES[r.below(TYPES.len())]);
        let (change, back) = (expression(&mut r, 2), expression(&mut r, 2));
        let _ = writeln!(
            text,
            "{result} f{n}({parameter} p) {{ if (p > 3) return p; {} = {change}; p += v1; return {back} + p; }}",
            variable(&mut r)
        );
    }
    let _ = writeln!(text, "void run(void) {{");
    let mut loops = 0;
    for _ in 0..6 {
        statement(&mut r, &mut text, 2, &mut loops);
    }
    let _ = writeln!(text, "e0 = a[0]; e1 = a[1]; e2 = a[2]; e3 = a[3];\n}}");
    let globals = (0..VARIABLES).map(|n| format!("v{n}")).chain((0..4).map(|n| format!("e{n}"))).collect();
    (text, globals)
}

fn check(seeds: std::ops::Range<u64>) {
    if !has_gcc() {
        eprintln!("skipped: there is no gcc");
        return;
    }
    for seed in seeds {
        let (text, globals) = program(seed);
        let text = format!("/* seed {seed} */\nint __VERIFIER_nondet_int(void);\n{text}");
        let mut r = Random(seed | 1);
        let inputs: Vec<i64> = match text.matches("__VERIFIER_nondet_int").count() {
            1 => vec![],
            _ => (0..200).map(|_| [r.below(20) as i64 - 10, i64::from(r.below(1 << 32) as i32)][r.below(2)]).collect(),
        };
        agree(&text, &globals, &inputs);
    }
}

#[test]
fn programs_mean_the_same() {
    check(1..40);
}

/// Long: `cargo test -p trellis-syntax --test c -- --ignored many`
#[test]
#[ignore = "takes minutes"]
fn many_programs_mean_the_same() {
    let seeds = std::env::var("SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(3_000);
    check(1_000..1_000 + seeds);
}
