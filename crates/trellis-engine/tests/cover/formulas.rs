//! Formulas of linear temporal logic about random hierarchies and random trees, against a naive tableau over the plain interpreter, and over
//! Definition 5.1.

use std::time::Duration;

use trellis_engine::ltl::search::Search;
use trellis_engine::ltl::translate::translate;
use trellis_engine::ltl::{Engine, check};
use trellis_expr::TermId;
use trellis_meter::Meter;
use trellis_model::hierarchy::explicit::Meaning;
use trellis_model::hierarchy::tree::meaning::meaning;
use trellis_model::hierarchy::tree::{Condition, Node, Tree};
use trellis_model::ltl::evidence::Verdict;
use trellis_model::ltl::models::tree::TreeSubject;
use trellis_model::ltl::product::Subject;
use trellis_model::ltl::{Formula, Spec, models};

use crate::random::{Random, model};
use crate::read;
use crate::tableau::{Graph, Step, formula, is_violated};
use crate::tree::{rows, runs, size, tree};

#[test]
fn formulas_agree_with_a_naive_tableau() {
    let runs = std::env::var("TRELLIS_RUNS").ok().and_then(|r| r.parse().ok()).unwrap_or(40);
    let (mut done, mut seed, mut violated, mut unknown) = (0, 50_000, 0, 0);
    while done < runs {
        seed += 1;
        let mut r = Random::new(seed);
        let (text, condition) = model(&mut r, true);
        let (built, atom) = read(&text, &condition);
        let h = &built.hierarchy;
        let (Ok(meaning), Some(subject)) = (Meaning::of(h, 400), models::hierarchy(h)) else { continue };
        done += 1;
        let level = &meaning.components[h.top.index()];
        let states = level.configurations.len();
        let mut graph = Graph { letters: vec![0; states], starts: meaning.initial(h, h.top), steps: vec![] };
        meaning.satisfying(h, h.top, atom).into_iter().for_each(|q| graph.letters[q] = 1);
        graph.steps.resize_with(states, Vec::new);
        for &(from, event, to) in &level.transitions {
            if event != 0 {
                graph.steps[from].push(Step { to, reads: true, does: 0 });
            }
        }
        stay(&mut graph);
        let formula = asked(&mut r);
        let context = format!("seed {seed}, {formula:?}, {condition}\n{text}");
        let truth = is_violated(&graph, &formula, 0, &|_| true);
        violated += u32::from(truth);
        let Some(says) = says(&mut r, &subject, atom, formula, &context) else {
            unknown += 1;
            continue;
        };
        assert_eq!(says, truth, "{context}");
    }
    println!("{done} formulas, {violated} violated, {unknown} unknown");
}

/// Where nothing can happen a run stays as it is, and the second letter says so.
fn stay(graph: &mut Graph) {
    for (q, steps) in graph.steps.iter_mut().enumerate().filter(|(_, steps)| steps.is_empty()) {
        steps.push(Step { to: q, reads: true, does: 0 });
        graph.letters[q] |= 2;
    }
}

/// A formula about a condition and `deadlock`.
fn asked(r: &mut Random) -> Formula {
    if r.chance(25) {
        return Formula::Globally(Box::new(Formula::Not(Box::new(Formula::Atom(1)))));
    }
    let depth = 1 + r.below(2);
    formula(&mut |n| r.below(n), 2, depth)
}

/// What a search says, if it knows: is the formula violated? Its evidence passes its check.
fn says(r: &mut Random, subject: &Subject, atom: TermId, formula: Formula, context: &str) -> Option<bool> {
    let automaton = translate(&Formula::Not(Box::new(formula.clone()))).expect("small");
    let atoms = vec![atom, subject.stuck.expect("it may be stuck")];
    let spec = Spec { formula, atoms, names: vec!["atom".into(), "deadlock".into()] };
    let mut budget = Meter::unlimited().time(Some(Duration::from_secs(5)));
    let engine = if r.chance(50) { Engine::Explicit(Search::Components) } else { Engine::Portfolio(1) };
    match check(subject, &spec.atoms, &automaton, &engine, &mut budget).verdict {
        Verdict::Holds(proof) => {
            let checked = trellis_check::ltl::certify(subject, &spec, &proof, &Meter::unlimited());
            checked.unwrap_or_else(|e| panic!("{e}\n{context}"));
            Some(false)
        }
        Verdict::Violated(lasso) => {
            trellis_check::ltl::replay(subject, &spec, &lasso).unwrap_or_else(|e| panic!("{e}\n{context}"));
            Some(true)
        }
        Verdict::Diverges(_) => panic!("finitely many states, and a run that never repeats\n{context}"),
        Verdict::Unknown(_) => None,
    }
}

/// A condition on nodes as a term.
fn term(found: &mut TreeSubject, condition: &Condition) -> TermId {
    match condition {
        Condition::Constant(b) => found.subject.cfa.terms.bool(*b),
        Condition::Local { node, states } => {
            let (variable, values) = found.nodes[*node].clone();
            let terms = &mut found.subject.cfa.terms;
            let here = terms.var(variable);
            let any: Vec<TermId> = values.iter().zip(states).filter(|v| *v.1).map(|v| terms.eq(here, *v.0)).collect();
            terms.or(any)
        }
        Condition::Not(a) => {
            let a = term(found, a);
            found.subject.cfa.terms.not(a)
        }
        Condition::All(all) => {
            let all: Vec<TermId> = all.iter().map(|a| term(found, a)).collect();
            found.subject.cfa.terms.and(all)
        }
        Condition::Any(all) => {
            let all: Vec<TermId> = all.iter().map(|a| term(found, a)).collect();
            found.subject.cfa.terms.or(all)
        }
    }
}

/// The same tree with some events that have no name.
fn unnamed(r: &mut Random, tree: &Tree) -> Tree {
    let mut nodes: Vec<Node> = tree.nodes().to_vec();
    nodes.iter_mut().filter(|_| r.chance(70)).for_each(|n| n.events[0] = String::new());
    Tree::new(nodes).expect("a tree")
}

/// Does an event have no name, and change nothing?
fn rests(node: &Node, event: u32) -> bool {
    let mut moves = (0..).zip(&node.behaviour.moves).flat_map(|(q, all)| all.iter().map(move |m| (q, m.0, m.1)));
    node.events[event as usize].is_empty() && moves.all(|(q, e, to)| e != event || q == to)
}

#[test]
fn formulas_about_trees_agree_with_a_naive_tableau() {
    let (mut done, mut seed, mut violated, mut unknown, mut resting) = (0, 0, 0, 0, 0);
    while done < runs(60) {
        seed += 1;
        let mut r = Random::new(seed);
        let (plain, condition) = if r.chance(50) { tree(&mut r, true) } else { rows(&mut r) };
        if size(&plain) > 60 {
            continue;
        }
        let tree = unnamed(&mut r, &plain);
        let mut found = models::tree::tree(&tree).expect("small");
        let atom = term(&mut found, &condition);
        done += 1;
        let levels = meaning(&tree);
        let top = &levels[tree.top()];
        let starts = |q: &Vec<u32>| tree.nodes().iter().zip(q).all(|(n, s)| n.behaviour.initial.contains(s));
        let mut graph = Graph { letters: vec![], starts: vec![], steps: vec![] };
        for (n, q) in top.states.iter().enumerate() {
            graph.letters.push(u64::from(condition.holds(q)) as _);
            graph.starts.extend(starts(q).then_some(n));
            graph.steps.push(vec![]);
        }
        for &(from, event, to) in &top.transitions {
            let events = tree.nodes().iter().zip(&top.events[event]);
            if events.into_iter().all(|(n, &v)| rests(n, n.vectors[v][0])) {
                resting += 1;
            } else {
                graph.steps[from].push(Step { to, reads: true, does: 0 });
            }
        }
        stay(&mut graph);
        let formula = asked(&mut r);
        let context = format!("seed {seed}, {formula:?}");
        let truth = is_violated(&graph, &formula, 0, &|_| true);
        violated += u32::from(truth);
        match says(&mut r, &found.subject, atom, formula, &context) {
            Some(says) => assert_eq!(says, truth, "{context}"),
            None => unknown += 1,
        }
    }
    println!("{done} formulas about trees, {violated} violated, {unknown} unknown; {resting} steps that are none");
    assert!(violated > 0 && violated < done as u32 && resting > 0);
}
