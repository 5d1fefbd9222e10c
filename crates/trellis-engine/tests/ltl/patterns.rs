//! The formula collections in `models/ltl`: Dwyer's patterns and others.

use std::path::Path;

use trellis_engine::ltl::translate::{Acceptance, translate_to};
use trellis_model::ltl::{Buchi, Formula};
use trellis_syntax::diag::{Sources, render};
use trellis_syntax::ltl::parse_propositional;

use crate::generator::{Random, runs};

pub const FILES: [&str; 5] = ["dac", "eh", "hkrss", "p", "sb"];

/// Negated Dwyer patterns need at most so many states in all; good translators need about 221.
const DWYER_STATES: usize = 230;

fn read(text: &str) -> (Formula, u64) {
    let mut sources = Sources::default();
    let id = sources.add("formula", text);
    match parse_propositional(&sources, id) {
        Ok((f, names)) => (f, names.len() as u64),
        Err(complaints) => panic!("{}", render(&complaints, &sources, false)),
    }
}

pub fn formulas(file: &str) -> Vec<(String, Formula, u64)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/ltl/ltl-{file}-patterns.txt"));
    let text = std::fs::read_to_string(path).expect("a file of formulas");
    text.lines()
        .map(|line| {
            let (f, atoms) = read(line);
            (line.to_string(), f, atoms)
        })
        .collect()
}

fn check(line: &str, f: &Formula, atoms: u64, yes: &Buchi, no: &Buchi) {
    assert!(yes.intersect(no).expect("few marks").is_empty(), "`{line}` and its negation have a word in common");
    let mut random = Random(line.len() as u64);
    for _ in 0..runs(40) {
        let word = random.word(atoms);
        assert_eq!(yes.accepts(&word), word.satisfies(f), "`{line}`: {word:?}");
        assert_eq!(no.accepts(&word), !word.satisfies(f), "!`{line}`: {word:?}");
    }
}

#[test]
fn every_pattern_in_every_form() {
    for file in FILES {
        for (line, f, atoms) in formulas(file) {
            for acceptance in [Acceptance::Generalised, Acceptance::Transition, Acceptance::State] {
                let yes = translate_to(&f, acceptance).expect("small");
                let no = translate_to(&f.clone().negate(), acceptance).expect("small");
                check(&line, &f, atoms, &yes, &no);
            }
        }
    }
}

#[test]
fn negated_dwyer_patterns_are_small() {
    let (mut states, mut edges, mut deterministic) = (0, 0, 0);
    for (line, f, _) in formulas("dac") {
        let a = translate_to(&f.negate(), Acceptance::State).expect("small");
        states += a.edges.len();
        edges += a.edge_count();
        deterministic += usize::from(a.is_deterministic());
        println!("{:3} {:3} {} !({line})", a.edges.len(), a.edge_count(), if a.is_deterministic() { 'd' } else { ' ' });
    }
    println!("{states} states, {edges} edges, {deterministic} deterministic");
    assert!(states <= DWYER_STATES, "{states} states");
}

/// Found by random formulas: bisimulation stopped too early.
#[test]
fn cubes_that_look_alike_only_later() {
    let (f, atoms) = read("(((p0 M !p1) | p1) W p0) <-> !p1");
    let (yes, no) = (&f, &f.clone().negate());
    let to = |f: &Formula| translate_to(f, Acceptance::State).expect("small");
    check("regression", &f, atoms, &to(yes), &to(no));
}

/// Twenty atoms: letters are not enumerated.
#[test]
fn many_atoms() {
    let all: Vec<String> = (0..20).map(|n| format!("p{n}")).collect();
    for line in [format!("G({} -> F q)", all.join(" & ")), format!("F({} & X G q)", all.join(" | "))] {
        let (f, atoms) = read(&line);
        let to = |f: &Formula| translate_to(f, Acceptance::State).expect("small");
        check(&line, &f, atoms, &to(&f), &to(&f.clone().negate()));
    }
}

/// Automata that another translator made of the formulas in their names.
#[test]
fn automata_of_others_accept_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/ltl/hoa");
    for entry in std::fs::read_dir(folder).expect("the automata") {
        let path = entry.expect("a file").path();
        let mut sources = Sources::default();
        let id = sources.read(&path).expect("readable");
        let theirs = trellis_syntax::hoa::read(&sources, id).expect("an automaton");
        // Atoms are named ap0, ap1, … in the order in which both number them.
        let line = decoded(path.file_stem().and_then(|s| s.to_str()).expect("a name"));
        let (f, atoms) = read(&line);
        let mut random = Random(1);
        for _ in 0..runs(200) {
            let word = random.word(atoms);
            assert_eq!(theirs.automaton.accepts(&word), word.satisfies(&f), "{line}: {word:?}");
        }
        let ours = translate_to(&f, Acceptance::Generalised).expect("small");
        let not_ours = translate_to(&f.negate(), Acceptance::Generalised).expect("small");
        assert!(theirs.automaton.intersect(&not_ours).expect("few marks").is_empty(), "{line}");
        assert!(!ours.is_empty() && ours.edges.len() <= theirs.automaton.edges.len(), "{line}");
    }
}

/// `%28a+b%29` is `(a b)`.
fn decoded(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '+' => out.push(' '),
            '%' => {
                let code = u8::from_str_radix(&rest[..2], 16).expect("two digits");
                out.push(char::from(code));
                rest = &rest[2..];
            }
            c => out.push(c),
        }
    }
    out
}
