//! The automaton of a formula is proved to be that of the formula, by the checker's own tableau; one that is not is refused.

use trellis_check::language::{Relation, compare, satisfiable};
use trellis_engine::ltl::translate::{Acceptance, translate, translate_to};
use trellis_model::ltl::{Buchi, Cube, Edge, Formula, Word};

use crate::generator::{Class, Random, runs};
use crate::patterns::{FILES, formulas};

/// Each formula and its negation, as engines ask for them.
#[test]
fn the_automata_of_all_collections_are_proved() {
    let mut open = vec![];
    for file in FILES {
        for (line, f, _) in formulas(file) {
            for f in [f.clone(), f.negate()] {
                let started = std::time::Instant::now();
                match compare(&f, &translate(&f).expect("small")) {
                    Relation::Same => {}
                    Relation::Open => open.push(line.clone()),
                    other => panic!("{line}: {other:?}"),
                }
                if started.elapsed().as_millis() > 300 {
                    println!("{:?} {line}", started.elapsed());
                }
            }
        }
    }
    assert!(open.is_empty(), "{open:#?}");
}

#[test]
fn the_automata_of_random_formulas_are_proved() {
    let (mut all, mut open) = (0, vec![]);
    for class in Class::ALL {
        for seed in 0..runs(60) {
            let mut random = Random(seed * 37 + class as u64);
            let size = 1 + random.below(9);
            let f = random.formula(class, size);
            let acceptance = [Acceptance::Generalised, Acceptance::Transition, Acceptance::State][(seed % 3) as usize];
            let a = translate_to(&f, acceptance).expect("small");
            all += 1;
            let started = std::time::Instant::now();
            match compare(&f, &a) {
                Relation::Same => {}
                Relation::Open => open.push(format!("{class:?} {seed} {}: {} states", f.show(&[]), a.edges.len())),
                Relation::Differ(word) => panic!("{class:?} {seed} {}: {word:?}", f.show(&[])),
                _ => unreachable!(),
            }
            if started.elapsed().as_millis() > 1000 {
                println!("{:?} {}", started.elapsed(), f.show(&[]));
            }
        }
    }
    println!("{} of {all} not decided", open.len());
    assert!(open.is_empty(), "{open:#?}");
}

/// An edge taken away or turned, a mark taken away or added, another start: whatever changes the words is noticed, and what does not
/// is not refused.
#[test]
fn mutated_automata_are_refused_exactly_if_their_words_differ() {
    let (mut refused, mut same, mut open) = (0, 0, 0);
    for class in Class::ALL {
        for seed in 0..runs(60) {
            let mut random = Random(seed * 41 + class as u64);
            let size = 1 + random.below(6);
            let f = random.formula(class, size);
            let mut a = translate(&f).expect("small");
            if !mutate(&mut random, &mut a, class.atoms()) {
                continue;
            }
            let words: Vec<Word> = (0..60).map(|_| random.word(class.atoms())).collect();
            let wrong = words.iter().find(|w| a.accepts(w) != w.satisfies(&f));
            match compare(&f, &a) {
                Relation::Same => {
                    assert_eq!(wrong, None, "{class:?} {seed} {}", f.show(&[]));
                    same += 1;
                }
                Relation::Differ(word) => {
                    assert_ne!(a.accepts(&word), word.satisfies(&f));
                    refused += 1;
                }
                _ => open += 1,
            }
        }
    }
    println!("{refused} refused, {same} the same, {open} not decided");
    assert!(refused > same / 4 && open * 50 <= refused, "{refused} refused, {same} the same, {open} not decided");
}

fn mutate(random: &mut Random, a: &mut Buchi, atoms: u64) -> bool {
    let mut below = |n: usize| random.below(n.max(1) as u64) as usize;
    let states = a.edges.len();
    let busy: Vec<usize> = (0..states).filter(|&s| !a.edges[s].is_empty()).collect();
    let Some(&s) = busy.get(below(busy.len())) else { return false };
    let n = below(a.edges[s].len());
    let (mark, atom, to) = (1u64 << below(a.marks as usize), 1u64 << below(atoms as usize), below(states) as u32);
    match below(6) {
        0 => drop(a.edges[s].remove(n)),
        1 if a.marks > 0 => a.edges[s][n].marks ^= mark,
        2 => a.edges[s][n].to = to,
        3 => {
            let cube = &mut a.edges[s][n].cube;
            *cube = Cube { positive: cube.positive & !atom, negative: cube.negative & !atom };
        }
        4 => a.edges[s].push(Edge { cube: Cube { positive: atom, negative: 0 }, marks: mark - 1, to }),
        _ => a.initial = vec![to],
    }
    true
}

/// "Within 8 letters" looks like "some time" on all short words.
#[test]
fn some_time_is_not_within_eight_letters() {
    let a = Cube { positive: 1, negative: 0 };
    let mut edges: Vec<Vec<Edge>> = (1..=8)
        .map(|n| vec![Edge { cube: a, marks: 0, to: 8 }, Edge { cube: Cube::default(), marks: 0, to: n }])
        .collect();
    edges[7].pop();
    edges.push(vec![Edge { cube: Cube::default(), marks: 1, to: 8 }]);
    let within = Buchi { initial: vec![0], marks: 1, edges };
    let f = Formula::Finally(Box::new(Formula::Atom(0)));
    let Relation::Differ(word) = compare(&f, &within) else { panic!("it is not the automaton of F p") };
    assert!(word.satisfies(&f) && !within.accepts(&word), "{word:?}");
    assert_eq!(compare(&f, &translate(&f).expect("small")), Relation::Same);
}

/// Two letters that no random word would meet.
#[test]
fn twenty_four_atoms() {
    let all = (1..24).fold(Formula::Atom(0), |all, n| Formula::And(Box::new(all), Box::new(Formula::Atom(n))));
    let f = Formula::Globally(Box::new(Formula::Not(Box::new(all))));
    let anything = Edge { cube: Cube::default(), marks: 0, to: 0 };
    let true_automaton = Buchi { initial: vec![0], marks: 0, edges: vec![vec![anything]] };
    assert!(matches!(compare(&f, &true_automaton), Relation::Differ(_)));
    assert_eq!(compare(&f, &translate(&f).expect("small")), Relation::Same);
}

#[test]
fn what_cannot_hold_and_what_always_holds() {
    let p = || Box::new(Formula::Atom(0));
    let both = Formula::And(Box::new(Formula::Globally(p())), Box::new(Formula::Finally(Box::new(p().negate()))));
    assert_eq!(satisfiable(&both), Some(false));
    assert_eq!(satisfiable(&both.clone().negate()), Some(true));
    assert_eq!(satisfiable(&Formula::Finally(p())), Some(true));
}
