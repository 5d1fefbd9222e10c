//! Evidence about programs: what is written is valid, comes back as it was, and junk is refused in words.

use serde_json::Value as Json;
use trellis_expr::eval::Valuation;
use trellis_expr::value::ArrayValue;
use trellis_expr::{BitOp, Division, Term, TermId, Terms, Type, Value, VarId};
use trellis_model::cfa::evidence::{Certificate, Trace, Verdict};
use trellis_model::cfa::interpret::{Choice, Step, zero};
use trellis_model::cfa::{Cfa, Edge, EdgeId, Kind as Meaning, Location, LocationId};
use trellis_report::program::text;
use trellis_report::{Content, Kind, Present, Program, ProgramReport, Style, dot, json, text as shown};

use crate::validate::Validator;

/// A small generator of numbers (xorshift), so that a failure can be had again.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

const I8: Type = Type::Bits { width: 8, signed: true };
const U64: Type = Type::Bits { width: 64, signed: false };

/// An automaton with variables of all types and odd names: any of them may get any value, then comes the error.
fn world() -> Cfa {
    let mut terms = Terms::new();
    let color = Type::Enum(terms.declare_enum("Color", ["red", "a b"].map(String::from).to_vec()));
    let numbers = terms.array_type(Type::Range(-1, 2), Type::Int);
    let flags = terms.array_type(color, Type::Bool);
    let types = [Type::Bool, Type::Int, Type::Range(0, 9), color, I8, U64, numbers, flags, Type::Int, Type::Int];
    let names = ["p", "main::x", "r", "true", "|b\\", "f::return", "a", "flags#2", "f::x", "@tmp"];
    let variables: Vec<VarId> = names.iter().zip(types).map(|(n, ty)| terms.declare(*n, ty)).collect();
    let location = |name: &str, kind| Location { name: name.into(), kind, place: None };
    let any: Vec<_> = variables.iter().map(|&v| terms.havoc(v)).collect();
    let (seq, skip) = (terms.seq(any), terms.skip());
    let either = terms.choice([seq, skip]);
    let mut cfa = Cfa::new(terms, location("start", Meaning::Plain));
    cfa.variables = variables;
    let error = cfa.add_location(location("error", Meaning::Error));
    cfa.add_edge(Edge { from: cfa.initial, stmt: either, to: error, place: None });
    cfa
}

fn literal(terms: &mut Terms, ty: Type, r: &mut Random) -> TermId {
    let n = r.below(200) as i64 - 100;
    match ty {
        Type::Bool => terms.bool(n > 0),
        Type::Enum(e) => terms.enum_lit(e, (n & 1) as u32),
        Type::Array(_, e) => {
            let entry = terms.type_of_id(e);
            let v = literal(terms, entry, r);
            terms.const_array(ty, v)
        }
        ty if r.below(5) == 0 => {
            let big = Value::Int("123456789012345678901234567890".parse().unwrap());
            let big = terms.literal(&big).unwrap();
            terms.convert(ty, big)
        }
        ty => terms.number(ty, n.into()),
    }
}

/// A random term of the type, as it is: nothing is simplified away.
fn term(cfa: &mut Cfa, ty: Type, depth: usize, r: &mut Random) -> TermId {
    if depth == 0 || r.below(6) == 0 {
        let fitting: Vec<VarId> =
            cfa.variables.iter().copied().filter(|v| cfa.terms.sort(cfa.terms.variable(*v).ty) == ty).collect();
        return match r.below(3) {
            0 | 1 if !fitting.is_empty() => cfa.terms.var(fitting[r.below(fitting.len())]),
            _ => literal(&mut cfa.terms, ty, r),
        };
    }
    let any = |r: &mut Random| [Type::Int, I8, U64][r.below(3)];
    let arrays: Vec<TermId> = [6, 7].map(|i| cfa.variables[i]).into_iter().map(|v| cfa.terms.var(v)).collect();
    let numbers = cfa.terms.ty(arrays[0]);
    let mut sub = |ty, r: &mut Random| term(cfa, ty, depth - 1, r);
    let node = match (ty, r.below(8)) {
        (Type::Bool, 0) => Term::Not(sub(ty, r)),
        (Type::Bool, 1) => Term::And([sub(ty, r), sub(ty, r), sub(ty, r)].into()),
        (Type::Bool, 2) => Term::Or([sub(ty, r), sub(ty, r)].into()),
        (Type::Bool, 3) => {
            let ty = any(r);
            Term::Lt(sub(ty, r), sub(ty, r))
        }
        (Type::Bool, 4) => {
            let ty = any(r);
            Term::Le(sub(ty, r), sub(ty, r))
        }
        (Type::Bool, 5) => {
            let a = cfa.terms.ty(arrays[r.below(2)]);
            let (x, y) = (term(cfa, a, 1, r), term(cfa, a, 1, r));
            Term::Eq(x, y)
        }
        (Type::Bool, 6) => {
            let Type::Array(color, _) = cfa.terms.ty(arrays[1]) else { unreachable!() };
            let color = cfa.terms.type_of_id(color);
            let i = term(cfa, color, depth - 1, r);
            Term::Select(arrays[1], i)
        }
        (Type::Int | Type::Bits { .. }, n) => {
            let d = [Division::Euclidean, Division::Truncating][r.below(2)];
            let op = [BitOp::And, BitOp::Or, BitOp::Xor][r.below(3)];
            match n {
                0 => Term::Add([sub(ty, r), sub(ty, r), sub(ty, r)].into()),
                1 => Term::Neg(sub(ty, r)),
                2 => Term::Mul(sub(ty, r), sub(ty, r)),
                3 => Term::Div(d, sub(ty, r), sub(ty, r)),
                4 => Term::Rem(d, sub(ty, r), sub(ty, r)),
                5 => Term::Bit(op, sub(ty, r), sub(ty, r)),
                6 => Term::Bit([BitOp::Shl, BitOp::Shr][r.below(2)], sub(ty, r), sub(Type::Int, r)),
                _ => {
                    let from = any(r);
                    let t = sub(from, r);
                    Term::Convert(cfa.terms.type_id(ty), t)
                }
            }
        }
        (Type::Array(..), 0..4) if ty == numbers => {
            let (i, v) = (term(cfa, Type::Int, depth - 1, r), term(cfa, Type::Int, depth - 1, r));
            let i = cfa.terms.intern(Term::Checked(i, -1, 2));
            Term::Store(arrays[0], i, v)
        }
        _ => {
            let c = sub(Type::Bool, r);
            Term::Ite(c, sub(ty, r), sub(ty, r))
        }
    };
    cfa.terms.intern(node)
}

fn certificate(r: &mut Random) -> (Cfa, Certificate) {
    let cfa = world();
    let mut grown = cfa.clone();
    let mut elements = |r: &mut Random| (0..3).map(|_| term(&mut grown, Type::Bool, 5, r)).collect();
    let invariant = vec![(LocationId(0), elements(r)), (LocationId(1), elements(r))];
    (cfa, Certificate { terms: grown.terms, k: 1 + r.below(3), invariant })
}

const HEADER: json::Header<'_> =
    json::Header { language: "c", kind: trellis_report::Kind::Always, binding: &crate::round_trip::BINDING };

fn certificate_text(cfa: &Cfa, c: &Certificate) -> String {
    let mut out = Vec::new();
    json::write_certificate(&mut out, &Program::new(cfa, &[]), HEADER, c).unwrap();
    String::from_utf8(out).unwrap()
}

fn trace_text(cfa: &Cfa, t: &Trace) -> String {
    let mut out = Vec::new();
    json::write_trace(&mut out, &Program::new(cfa, &[]), HEADER, t).unwrap();
    String::from_utf8(out).unwrap()
}

fn runs() -> u64 {
    std::env::var("TRELLIS_RUNS").ok().and_then(|n| n.parse().ok()).unwrap_or(200)
}

#[test]
fn invariants_come_back_as_they_were() {
    let validator = Validator::new();
    for seed in 1..=runs() {
        let (cfa, c) = certificate(&mut Random(seed * 77));
        let text = certificate_text(&cfa, &c);
        validator.assert_valid("certificate-2.json", &serde_json::from_str(&text).unwrap());
        let read = json::read(&Program::new(&cfa, &[]), &text).unwrap_or_else(|e| panic!("{seed}: {e}\n{text}"));
        let Content::Certificate(back) = read else { panic!("a certificate") };
        assert_eq!(back.k, c.k);
        for ((l, a), (m, b)) in c.invariant.iter().zip(&back.invariant) {
            assert_eq!(l, m);
            let show =
                |terms: &Terms, all: &[TermId]| all.iter().map(|&t| terms.show(t).to_string()).collect::<Vec<_>>();
            assert_eq!(show(&c.terms, a), show(&back.terms, b), "{seed}");
        }
        // Types do not show in the text for people; in this one they do.
        assert_eq!(text, certificate_text(&cfa, &back), "{seed}");
    }
}

fn random_value(terms: &Terms, ty: Type, r: &mut Random) -> Value {
    let n = r.below(300) as i64 - 150;
    match ty {
        Type::Bool => Value::Bool(n > 0),
        Type::Enum(e) => Value::Enum(e, (n & 1) as u32),
        Type::Int if n > 100 => Value::Int("-123456789012345678901234567890".parse().unwrap()),
        Type::Int => Value::Int(n.into()),
        Type::Range(lo, hi) => Value::Int(n.clamp(lo, hi).into()),
        Type::Bits { width, signed } => Value::wrap(width, signed, &n.into()),
        Type::Array(i, e) => {
            let (index, entry) = (terms.type_of_id(i), terms.type_of_id(e));
            let mut array = ArrayValue::new(terms, index, random_value(terms, entry, r));
            for i in Value::all(terms, index, 8).unwrap().iter().filter(|_| n > 0) {
                array.set(i, random_value(terms, entry, r));
            }
            Value::Array(array)
        }
    }
}

fn random_trace(cfa: &Cfa, r: &mut Random) -> Trace {
    let terms = &cfa.terms;
    let value = |r: &mut Random, v: VarId| random_value(terms, terms.variable(v).ty, r);
    let start: Valuation = cfa.variables.iter().map(|&v| (v, value(r, v))).collect();
    let mut after = start.clone();
    let mut choices = vec![Choice::Branch(r.below(2))];
    if choices[0] == Choice::Branch(0) {
        after = cfa.variables.iter().map(|&v| (v, value(r, v))).collect();
        choices.extend(cfa.variables.iter().map(|v| Choice::Value(after[v].clone())));
    }
    Trace { start, steps: vec![Step { edge: EdgeId(0), choices, after }] }
}

#[test]
fn runs_come_back_as_they_were() {
    let validator = Validator::new();
    let cfa = &world();
    for seed in 1..=runs() {
        let t = random_trace(cfa, &mut Random(seed * 31));
        let text = trace_text(cfa, &t);
        validator.assert_valid("trace-2.json", &serde_json::from_str(&text).unwrap());
        let read = json::read(&Program::new(cfa, &[]), &text).unwrap_or_else(|e| panic!("{seed}: {e}\n{text}"));
        let Content::Trace(back) = read else { panic!("a run") };
        assert_eq!(back, t, "{seed}");
    }
}

#[test]
fn reports_are_valid() {
    let validator = Validator::new();
    let mut r = Random(5);
    let (cfa, c) = certificate(&mut r);
    let t = random_trace(&cfa, &mut r);
    let unknown = Verdict::Unknown(trellis_model::evidence::Reason::Stuck("it is".into()));
    for verdict in [Verdict::Safe(c), Verdict::Unsafe(t), unknown] {
        let report = ProgramReport::about("m.c", "c", "question", Kind::Always, verdict);
        {
            let mut out = Vec::new();
            let p = Program::new(&cfa, &[]);
            json::write_report(&mut out, &p, &report, report.certificate.as_ref().map(|c| p.size(c))).unwrap();
            let value: Json = serde_json::from_slice(&out).unwrap();
            validator.assert_valid("report-1.json", &value);
            let text = String::from_utf8(out).unwrap();
            let read = json::read(&Program::new(&cfa, &[]), &text);
            let there = report.trace.is_some();
            assert_eq!(read.is_ok(), there, "{text}");
        }
    }
}

/// A few characters are changed: the answer is evidence or words, never a panic.
#[test]
fn junk_is_refused_in_words() {
    let cfa = &world();
    let mut r = Random(99);
    let pieces = ["(", ")", "!0", "!9", "|", "-", "1i8", "300u8", "1i65", "u0", "(- 1)", "\"", "9", "{", "store", "p"];
    let mut accepted = 0;
    for seed in 1..=runs() * 5 {
        let (_, c) = certificate(&mut Random(seed));
        let text = match seed % 2 {
            0 => certificate_text(cfa, &c),
            _ => trace_text(cfa, &random_trace(cfa, &mut r)),
        };
        let mut chars: Vec<char> = text.chars().collect();
        for _ in 0..1 + r.below(2) {
            let at = r.below(chars.len());
            let end = (at + r.below(4)).min(chars.len());
            let piece = pieces[r.below(pieces.len())];
            chars.splice(at..end, piece.chars());
        }
        let text: String = chars.into_iter().collect();
        accepted += usize::from(json::read(&Program::new(cfa, &[]), &text).is_ok());
    }
    assert!(accepted < runs() as usize * 4);
    let deep = format!("{}p{}", "(not ".repeat(100_000), ")".repeat(100_000));
    let text = certificate_text(cfa, &certificate(&mut r).1).replacen(
        "\"elements\": [",
        &format!("\"elements\": [\"{deep}\","),
        1,
    );
    assert!(json::read(&Program::new(cfa, &[]), &text).unwrap_err().to_string().contains("too deeply"));
}

#[test]
fn runs_and_invariants_are_told() {
    let mut r = Random(3);
    let (cfa, c) = certificate(&mut r);
    let mut t = random_trace(&cfa, &mut r);
    t.steps[0].after = t.start.clone();
    t.steps[0].choices = vec![Choice::Branch(1)];
    let p = Program::new(&cfa, &[]);
    let told = shown::trace(&p, &t, Style::default());
    // What is the same but for its function has its full name; what nobody has written is not shown.
    assert!(told.contains("main::x = ") && told.contains("f::x = ") && told.contains("f() = "), "{told}");
    assert!(!told.contains("@tmp") && told.contains("start → error"), "{told}");
    assert!(text::invariant(&p, &c, Style::default()).lines().count() >= 8);
    let drawn = dot::run(&p.shown(&t), "run");
    assert!(drawn.starts_with("digraph") && drawn.contains("color=red"), "{drawn}");
    let report = ProgramReport::about("m.c", "c", "question", Kind::Always, Verdict::Unsafe(t));
    let p = Program::new(&cfa, &[]);
    let answer = trellis_report::page::Answer::of(&report, &p, None).unwrap();
    assert!(answer.report.get().contains("UNSAFE") && answer.shown.unwrap().start.contains_key("main::x"));
    assert_eq!(zero(&cfa).len(), cfa.variables.len());
}
