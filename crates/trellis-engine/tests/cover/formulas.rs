//! Formulas of linear temporal logic about random hierarchies, against a naive tableau over the plain interpreter.

use std::time::Duration;

use trellis_engine::budget::Budget;
use trellis_engine::ltl::search::Search;
use trellis_engine::ltl::translate::translate;
use trellis_engine::ltl::{Engine, check};
use trellis_model::hierarchy::explicit::Meaning;
use trellis_model::ltl::evidence::Verdict;
use trellis_model::ltl::{Formula, Spec, models};
use trellis_smt::Limits;

use crate::random::{Random, model};
use crate::read;
use crate::tableau::{Graph, Step, formula, is_violated};

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
        for (q, steps) in graph.steps.iter_mut().enumerate().filter(|(_, steps)| steps.is_empty()) {
            steps.push(Step { to: q, reads: true, does: 0 });
        }
        let depth = 1 + r.below(2);
        let formula = formula(&mut |n| r.below(n), 1, depth);
        let context = format!("seed {seed}, {formula:?}, {condition}\n{text}");
        let truth = is_violated(&graph, &formula, 0, &|_| true);
        violated += u32::from(truth);
        let automaton = translate(&Formula::Not(Box::new(formula.clone()))).expect("small");
        let spec = Spec { formula, atoms: vec![atom], names: vec![condition] };
        let mut budget = Budget::unlimited().time(Some(Duration::from_secs(5)));
        let engine = if r.chance(50) { Engine::Explicit(Search::Components) } else { Engine::Portfolio(1) };
        let says = match check(&subject, &spec.atoms, &automaton, &engine, &mut budget).verdict {
            Verdict::Holds(proof) => {
                let checked = trellis_check::ltl::certify(&subject, &spec, &proof, &Limits::none());
                checked.unwrap_or_else(|e| panic!("{e}\n{context}"));
                false
            }
            Verdict::Violated(lasso) => {
                trellis_check::ltl::replay(&subject, &spec, &lasso).unwrap_or_else(|e| panic!("{e}\n{context}"));
                true
            }
            Verdict::Diverges(_) => panic!("finitely many states, and a run that never repeats\n{context}"),
            Verdict::Unknown(_) => {
                unknown += 1;
                continue;
            }
        };
        assert_eq!(says, truth, "{context}");
    }
    println!("{done} formulas, {violated} violated, {unknown} unknown");
}
