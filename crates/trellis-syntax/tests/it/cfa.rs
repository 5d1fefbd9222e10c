//! Control-flow automata: the public models, the operators, what is refused.

use std::path::{Path, PathBuf};

use trellis_model::cfa::interpret::{Oracle, State, walk, zero, zero_of};
use trellis_model::cfa::{Cfa, Kind};
use trellis_syntax::cfa::parse;
use trellis_syntax::diag::{Sources, render};

fn read(name: &str, text: &str) -> Result<Cfa, String> {
    let mut sources = Sources::default();
    let id = sources.add(name, text);
    parse(&sources, id).map(|(cfa, _)| cfa).map_err(|d| render(&d, &sources, false))
}

struct Zeros;

impl Oracle for Zeros {
    fn havoc(&mut self, terms: &trellis_expr::Terms, v: trellis_expr::VarId) -> Option<trellis_expr::Value> {
        Some(zero_of(terms, terms.variable(v).ty))
    }

    fn choose(&mut self, _: usize) -> Option<usize> {
        Some(0)
    }
}

fn ends(cfa: &Cfa) -> Kind {
    let (end, _) = walk(cfa, State { location: cfa.initial, env: zero(cfa) }, &mut Zeros, 10_000);
    cfa.location(end.location).kind
}

fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/models")
}

#[test]
fn the_public_models_are_read() {
    let mut count = 0;
    for folder in ["cfa", "plc/plcverif", "ltl/cfa"] {
        let Ok(entries) = std::fs::read_dir(shared().join(folder)) else { continue };
        for path in entries.filter_map(|e| e.ok().map(|e| e.path())) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_string();
            if !name.ends_with(".cfa") && !name.ends_with(".theta") {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a text");
            match read(&name, &text) {
                Ok(_) => count += 1,
                Err(said) => assert!(text.contains("fp[") && said.contains("floating-point"), "{name}: {said}"),
            }
        }
    }
    println!("{count} automata are read");
}

/// The first run, with zeros for everything open, of the models in which that decides.
#[test]
fn the_public_verdicts() {
    let table = std::fs::read_to_string(shared().join("cfa/EXPECTED.tsv")).unwrap_or_default();
    for line in table.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [model, _, expected] = columns[..] else { continue };
        let Ok(cfa) = read(model, &std::fs::read_to_string(shared().join("cfa").join(model)).unwrap_or_default())
        else {
            continue;
        };
        match expected {
            "true" => assert_ne!(ends(&cfa), Kind::Error, "{model}"),
            // Its run with zeros is none of those that fail.
            "false" if model != "arrayinit.cfa" => assert_eq!(ends(&cfa), Kind::Error, "{model}"),
            _ => {}
        }
    }
    for name in ["array.cfa", "bv3.cfa", "bv4.cfa", "counter5_true.lisp.cfa"] {
        if let Ok(text) = std::fs::read_to_string(shared().join("cfa").join(name)) {
            assert_eq!(ends(&read(name, &text).expect("a model")), Kind::Final, "{name}");
        }
    }
}

/// Does the expression hold?
fn holds(declarations: &str, e: &str) -> bool {
    let text = format!(
        "main process p {{ {declarations} init loc A final loc Y error loc N A -> Y {{ assume {e} }} A -> N {{ assume not ({e}) }} }}"
    );
    ends(&read("test.cfa", &text).unwrap_or_else(|e| panic!("{e}"))) == Kind::Final
}

#[test]
fn operators() {
    for e in [
        "-5 / 3 = -2",
        "-5 mod 3 = 1",
        "5 rem -3 = -2",
        "-5 rem 3 = 1",
        "not 1 > 2",
        "not false and false = false",
        "false imply false imply false",
        "true xor false",
        "(if 1 < 2 then 3 else 4) = 3",
        "1 + 2 * 3 = 7",
        "10 - 3 - 2 = 5",
        "2 < 3 iff true",
        "8'd255 bvadd 8'd1 = 8'd0",
        "8'd-1 = 8'xff",
        "8'xff bvslt 8'd0",
        "not 8'xff bvult 8'd0",
        "8'd7 bvudiv 8'd0 = 8'xff",
        "8'd7 bvurem 8'd0 = 8'd7",
        "8'd-7 bvsdiv 8'd2 = 8'd-3",
        "8'd-7 bvsdiv 8'd0 = 8'd1",
        "8'd7 bvsdiv 8'd0 = 8'd-1",
        "8'd-7 bvsrem 8'd2 = 8'd-1",
        "8'd-7 bvsmod 8'd2 = 8'd1",
        "8'd7 bvsmod 8'd-2 = 8'd-1",
        "8'd-8 bvsmod 8'd-2 = 8'd0",
        "8'd1 bvshl 8'd9 = 8'd0",
        "8'x80 bvashr 8'd9 = 8'xff",
        "8'x80 bvashr 8'd1 = 8'xc0",
        "8'x80 bvlshr 8'd1 = 8'x40",
        "4'b0011 bvrol 4'd3 = 4'b1001",
        "4'b0011 bvror 4'd5 = 4'b1001",
        "4'b0011 bvror 4'd4 = 4'b0011",
        "3'b101 bvror 3'd7 = 3'b110",
        "bvnot 4'b0101 = 4'b1010",
        "bvneg 4'd1 = 4'd15",
        "2'b10 ++ 2'b01 = 4'b1001",
        "(4'b1001)[3:1] = 2'b00",
        "4'b1001 bv_sign_extend bv[6] = 6'b111001",
        "[0 <- 1, 0 <- 2, default <- 3][0] = 1",
        "[0 <- 1, default <- 3][1 <- 5][1] = 5",
        "[<int>default <- 3][99] = 3",
        "x = y and (x or not y)",
    ] {
        assert!(holds("var x : bool var y : bool", e), "{e}");
    }
}

#[test]
fn what_is_not_understood_is_refused_with_its_place() {
    for (text, message, place) in [
        ("main process p { var x : rat init loc A }", "rational numbers (`rat`) are not supported", ":1:26"),
        ("main process p { var x : fp[8:24] init loc A }", "floating-point numbers (`fp`) are not supported", ":1:26"),
        ("main process p { var x : bv[65] init loc A }", "bit-vectors of 65 bits are not supported", ":1:29"),
        ("main process p { var x : (int) -> int init loc A }", "functions as values are not supported", ":1:26"),
        ("main process p { loc A }", "there is no initial location", ":1:"),
        ("main process p { init loc A A -> B }", "there is no location `B`", ":1:34"),
        ("main process p { init loc A A -> A { y := 1 } }", "there is no variable `y`", ":1:38"),
        ("main process p { var y : int init loc A A -> A { y := true } }", "`:=` needs int, and this is bool", ":1:50"),
        ("main process p { init loc A A -> A { assume forall (x : int) true } }", "quantifiers (`forall`)", ":1:45"),
        ("main process p { init loc A A -> A { assume 1 + true = 2 } }", "`+` needs int, and this is bool", ":1:47"),
        ("process p { } process q { }", "there are several processes", ":1:15"),
        ("(process (init A) (edge A B))", "there is no location `B`", ":1:27"),
        ("(process (var x Rat) (init A))", "the type `Rat` is not supported", ":1:17"),
        ("main process p { init loc A A -> A { assume 4%5 = 1 } }", "rational numbers are not supported", ":1:45"),
    ] {
        let said = read("test.cfa", text).expect_err(text);
        assert!(said.contains(message) && said.contains(&format!("test.cfa{place}")), "{text}\n{said}");
    }
}

#[test]
fn broken_text_never_panics() {
    let text = "var g : [int] -> bool main process p(a : int) { var x : bv[4] init loc A final loc B error loc C \
                A -> B { x := x bvadd 4'd1 assume g[a <- true][a] and x[3:1] = 2'b01 havoc a } A -> C }";
    assert!(read("test.cfa", text).is_ok());
    let mut seed = 7u64;
    let mut random = |n: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % n
    };
    for _ in 0..5_000 {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..1 + random(3) {
            let at = random(bytes.len());
            if random(2) == 0 {
                bytes.remove(at);
            } else {
                bytes[at] = text.as_bytes()[random(text.len())];
            }
        }
        let _ = read("test.cfa", &String::from_utf8_lossy(&bytes));
    }
    for n in [300, 100_000] {
        let _ = read("a", &format!("main process p {{ init loc A A -> A {{ assume {} true }} }}", "(".repeat(n)));
        let _ = read("a", &format!("main process p {{ init loc A A -> A {{ assume {} true }} }}", "not ".repeat(n)));
        let _ = read("a", &format!("main process p {{ var x : {} init loc A }}", "[".repeat(n)));
        let _ = read("a", &"(".repeat(n));
        let deep = format!("{}true{}", "(true iff ".repeat(n), ")".repeat(n));
        let _ = read("a", &format!("main process p {{ init loc A A -> A {{ assume {deep} }} }}"));
    }
}
