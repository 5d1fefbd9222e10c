//! Formulas of linear temporal logic on random automata, against a naive tableau over enumerated states.

use std::collections::BTreeMap;
use std::time::Duration;

use trellis_check::ltl as evidence;
use trellis_engine::ltl::search::{self, Path, Search, Space};
use trellis_engine::ltl::translate::translate;
use trellis_engine::ltl::{Engine, Options, check};
use trellis_expr::TermId;
use trellis_expr::code::NoHost;
use trellis_expr::eval::eval;
use trellis_meter::Meter;
use trellis_model::cfa::interpret::{State, successors};
use trellis_model::ltl::evidence::Verdict;
use trellis_model::ltl::product::Subject;
use trellis_model::ltl::{Formula, Spec, components};
use trellis_syntax::diag::Sources;
use trellis_syntax::ltl::subject::{self, Language};

use crate::cegar::{ALL, configuration};
use crate::generator::{Random, atoms, random, runs, valuations};
use crate::tableau::{self, Graph, Step, formula};

/// Does some infinite run violate the formula? The first letter is read after the first edge.
fn is_violated(subject: &Subject, spec: &Spec) -> bool {
    let cfa = &subject.cfa;
    let letter = |s: &State| {
        let holds = |t: &TermId| eval(&cfa.terms, *t, &s.env, &mut NoHost).ok().and_then(|v| v.as_bool()) == Some(true);
        spec.atoms.iter().enumerate().filter(|(_, t)| holds(t)).fold(0, |l, (i, _)| l | 1 << i)
    };
    let key = |s: &State| (s.location, format!("{:?}", s.env));
    let mut states: Vec<State> = vec![];
    let mut known = BTreeMap::new();
    for env in valuations(cfa) {
        let s = State { location: cfa.initial, env };
        known.insert(key(&s), states.len());
        states.push(s);
    }
    let start = states.len();
    let mut graph = Graph::default();
    while graph.steps.len() < states.len() {
        let s = states[graph.steps.len()].clone();
        let next = match subject.is_end(s.location) {
            true => vec![s],
            false => successors(cfa, &s, 100_000).expect("few").into_iter().map(|n| n.1).collect(),
        };
        let mut list = vec![];
        for n in next {
            let id = *known.entry(key(&n)).or_insert_with(|| {
                states.push(n);
                states.len() - 1
            });
            list.push(id);
        }
        list.sort_unstable();
        list.dedup();
        graph.steps.push(list.into_iter().map(|to| Step { to, reads: true, does: 0 }).collect());
    }
    graph.letters = states.iter().map(letter).collect();
    graph.starts = graph.steps[..start].iter().flatten().map(|s| s.to).collect();
    tableau::is_violated(&graph, &spec.formula, 0, &|_| true)
}

/// The answer with its evidence checked; none if there is none.
fn answer(subject: &Subject, spec: &Spec, verdict: &Verdict, who: &str) -> Option<bool> {
    let limits = Meter::unlimited();
    match verdict {
        Verdict::Holds(proof) => {
            evidence::certify(subject, spec, proof, &limits).unwrap_or_else(|e| panic!("{who}: {e}"));
            Some(true)
        }
        Verdict::Violated(lasso) => {
            evidence::replay(subject, spec, lasso).unwrap_or_else(|e| panic!("{who}: {e}"));
            Some(false)
        }
        Verdict::Diverges(r) => {
            evidence::certify_recurrence(subject, spec, r, &limits).unwrap_or_else(|e| panic!("{who}: {e}"));
            Some(false)
        }
        Verdict::Unknown(_) => None,
    }
}

#[test]
fn formulas_agree_with_a_naive_tableau() {
    let (mut decided, mut unknown, mut violated) = (0, 0, 0);
    let first: u64 = std::env::var("SEED").map_or(0, |n| n.parse().expect("a number"));
    for seed in first..first + runs(150) {
        let mut r = Random::new(seed ^ 0xabcd);
        let mut cfa = random(seed, true);
        let count = 1 + r.below(2);
        let atoms = atoms(&mut cfa, seed, count);
        let names = (0..count).map(|i| format!("p{i}")).collect();
        let depth = 1 + r.below(2);
        let formula = formula(&mut |n| r.below(n), count, depth);
        let automaton = translate(&Formula::Not(Box::new(formula.clone()))).expect("small");
        let spec = Spec { formula, atoms, names };
        let subject = Subject::every_edge(cfa);
        let fails = is_violated(&subject, &spec);
        violated += usize::from(fails);
        for k in 0..4 {
            let cegar = configuration((seed as usize * 3 + k) * 1_000_003 % ALL);
            let search = if r.chance(50) { Search::Nested } else { Search::Components };
            let engine = match k {
                0 => Engine::Explicit(search),
                1 if seed % 2 == 0 => Engine::Bounded(Some(12)),
                1 if seed % 7 == 0 => Engine::Portfolio(1 + r.below(2)),
                _ => Engine::Cegar(Options { cegar, search }),
            };
            let who = format!("seed {seed}, {:?}, {engine:?}", spec.formula);
            let mut budget = Meter::unlimited().time(Some(Duration::from_secs(5))).states(Some(3000));
            let outcome = check(&subject, &spec.atoms, &automaton, &engine, &mut budget);
            match answer(&subject, &spec, &outcome.verdict, &who) {
                None if matches!(engine, Engine::Bounded(_)) => {}
                None => {
                    unknown += 1;
                    if std::env::var("SHOW").is_ok() {
                        println!("{who}: {:?}", outcome.verdict);
                    }
                }
                Some(holds) => {
                    decided += 1;
                    assert_eq!(holds, !fails, "{who}");
                }
            }
        }
    }
    println!("{decided} decided, {unknown} unknown; {violated} formulas are violated");
    assert!(unknown * 10 < decided, "{decided} decided, {unknown} unknown");
}

/// Where values are not few nobody can enumerate; but engines do not contradict each other, and what they show is checked.
#[test]
fn engines_do_not_contradict_each_other_about_integers() {
    let (mut held, mut violated, mut unknown) = (0, 0, 0);
    let first: u64 = std::env::var("SEED").map_or(0, |n| n.parse().expect("a number"));
    for seed in first..first + runs(60) {
        let mut r = Random::new(seed ^ 0x1e7);
        let mut cfa = random(seed, false);
        let atoms = atoms(&mut cfa, seed, 2);
        let depth = 1 + r.below(2);
        let formula = formula(&mut |n| r.below(n), 2, depth);
        let automaton = translate(&Formula::Not(Box::new(formula.clone()))).expect("small");
        let spec = Spec { formula, atoms, names: vec!["p".into(), "q".into()] };
        let subject = Subject::every_edge(cfa);
        let mut said: Option<(bool, String)> = None;
        for k in 0..4 {
            let cegar = configuration((seed as usize * 4 + k) * 1_000_003 % ALL);
            let search = if r.chance(50) { Search::Nested } else { Search::Components };
            let engine = match k {
                0 => Engine::Explicit(search),
                1 => Engine::Bounded(Some(8)),
                _ => Engine::Cegar(Options { cegar, search }),
            };
            let who = format!("seed {seed}, {:?}, {engine:?}", spec.formula);
            let mut budget = Meter::unlimited().time(Some(Duration::from_millis(1500))).states(Some(1000));
            let outcome = check(&subject, &spec.atoms, &automaton, &engine, &mut budget);
            match (answer(&subject, &spec, &outcome.verdict, &who), &said) {
                (None, _) => unknown += 1,
                (Some(holds), Some((before, other))) => assert_eq!(holds, *before, "{who} against {other}"),
                (Some(holds), None) => said = Some((holds, who)),
            }
        }
        match said {
            Some((true, _)) => held += 1,
            Some((false, _)) => violated += 1,
            None => {}
        }
    }
    println!("{held} formulas hold, {violated} are violated; {unknown} answers are unknown");
}

struct Plain {
    edges: Vec<Vec<u32>>,
    marks: Vec<u64>,
    all: u64,
}

impl Space for Plain {
    type Error = std::convert::Infallible;

    fn roots(&mut self) -> Result<Vec<u32>, Self::Error> {
        Ok(vec![0])
    }

    fn successors(&mut self, n: u32) -> Result<Vec<(u32, u32)>, Self::Error> {
        Ok(self.edges[n as usize].iter().map(|&to| (n, to)).collect())
    }

    fn marks(&self, n: u32) -> u64 {
        self.marks[n as usize]
    }

    fn all_marks(&self) -> u64 {
        self.all
    }
}

impl Plain {
    fn has_fair_cycle(&self) -> bool {
        let mut reached = vec![false; self.edges.len()];
        let mut todo = vec![0u32];
        while let Some(n) = todo.pop() {
            if !std::mem::replace(&mut reached[n as usize], true) {
                todo.extend(&self.edges[n as usize]);
            }
        }
        let component = components(self.edges.len(), |n| self.edges[n as usize].clone());
        let mut marks = vec![0; self.edges.len()];
        (0..self.edges.len()).for_each(|n| marks[component[n] as usize] |= self.marks[n]);
        (0..self.edges.len()).any(|n| {
            let cyclic = self.edges[n].iter().any(|&m| component[m as usize] == component[n]);
            reached[n] && cyclic && marks[component[n] as usize] & self.all == self.all
        })
    }

    fn judge(&self, path: &Path) {
        let mut at = path.root;
        for &(from, to) in path.stem.iter().chain(&path.cycle) {
            assert!(from == at && self.edges[at as usize].contains(&to), "a path");
            at = to;
        }
        assert_eq!(at, path.head(), "closed");
        assert!(!path.cycle.is_empty());
        let marks = path.cycle.iter().fold(0, |m, s| m | self.marks[s.1 as usize]);
        assert_eq!(marks & self.all, self.all, "fair");
    }
}

/// Both searches find a fair cycle if there is one, in whatever order edges come.
#[test]
fn searches_agree_on_random_graphs() {
    let mut fair = 0;
    for seed in 0..runs(3000) {
        let mut r = Random::new(seed);
        let count = 2 + r.below(9);
        let marks = r.below(4);
        let mut edges = vec![vec![]; count];
        for _ in 0..count + r.below(count) {
            edges[r.below(count)].push(r.below(count) as u32);
        }
        let has = (0..count).map(|_| (0..marks).filter(|_| r.chance(30)).fold(0, |m, i| m | 1 << i)).collect();
        let mut plain = Plain { edges, marks: has, all: (1 << marks) - 1 };
        let expected = plain.has_fair_cycle();
        fair += usize::from(expected);
        for _ in 0..3 {
            for search in [Search::Nested, Search::Components] {
                let Ok(found) = search::find(&mut plain, search);
                assert_eq!(found.is_some(), expected, "seed {seed}, {search:?}");
                found.iter().for_each(|path| plain.judge(path));
            }
            // Another order.
            for list in &mut plain.edges {
                for i in (1..list.len()).rev() {
                    list.swap(i, r.below(i + 1));
                }
            }
        }
    }
    println!("{fair} graphs have a fair cycle");
}

/// A search that never comes back to a node that it has expanded misses this cycle: 1 is done before the way from 2 to it closes.
#[test]
fn a_cycle_that_closes_late_is_found() {
    // 0 → 1, 0 → 2, 1 → 3, 2 → 1, 3 → 2; only 2 is fair.
    for edges in [vec![vec![1, 2], vec![3], vec![1], vec![2]], vec![vec![2, 1], vec![3], vec![1], vec![2]]] {
        let mut plain = Plain { edges, marks: vec![0, 0, 1, 0], all: 1 };
        for search in [Search::Nested, Search::Components] {
            let Ok(found) = search::find(&mut plain, search);
            plain.judge(&found.expect("there is one"));
        }
    }
    // The fair node is met first by a way that does not lead back to it: 0 → 1 → 2 → 3 → 1, fair is 0's other successor 4 → 2 → … → 4.
    let edges = vec![vec![1, 4], vec![2], vec![3], vec![1, 4], vec![2]];
    let mut plain = Plain { edges, marks: vec![0, 0, 0, 0, 1], all: 1 };
    for search in [Search::Nested, Search::Components] {
        let Ok(found) = search::find(&mut plain, search);
        plain.judge(&found.expect("there is one"));
    }
}

/// An automaton in Theta's language, and what holds of it; decided by the portfolio and by abstraction refinement, evidence checked.
fn decided(model: &str, formulas: &[(&str, bool)]) {
    for &(text, expected) in formulas {
        let mut sources = Sources::default();
        let (model, formula) = (sources.add("model.cfa", model), sources.add("formula", text));
        let asked = subject::read(&mut sources, model, formula, Language::Cfa).expect("well-formed");
        let automaton = translate(&Formula::Not(Box::new(asked.spec.formula.clone()))).expect("small");
        let cegar = Options { cegar: Default::default(), search: Search::Components };
        for engine in [Engine::Portfolio(2), Engine::Cegar(cegar)] {
            let who = format!("{text}, {engine:?}");
            let mut budget = Meter::unlimited().time(Some(Duration::from_secs(60)));
            let outcome = check(&asked.subject, &asked.spec.atoms, &automaton, &engine, &mut budget);
            let holds = answer(&asked.subject, &asked.spec, &outcome.verdict, &who);
            assert_eq!(holds, Some(expected), "{who}: {:?}", outcome.stats);
        }
    }
}

#[test]
fn a_counter_that_never_ends_is_decided() {
    let model = "main process p { var x : int  init loc I  loc L  I -> L { x := 0 }  L -> L { x := x + 1 } }";
    let formulas = [
        ("F G(x > 5)", true),
        ("G F(x mod 2 = 0)", true),
        ("F(x < 0)", false),
        ("G F(x < 3)", false),
        ("G(x >= 0)", true),
    ];
    decided(model, &formulas);
}

#[test]
fn a_countdown_reaches_zero() {
    let model = "main process p { var x : int  init loc I  loc L  final loc E \
        I -> L { havoc x assume x > 0 }  L -> L { assume x > 0 x := x - 1 }  L -> E { assume x <= 0 } }";
    decided(model, &[("F(x = 0)", true), ("F(E)", true), ("G(x > 0)", false), ("F G(x = 0)", true)]);
}

#[test]
fn nested_loops_end_by_a_lexicographic_ranking() {
    let model = "main process p { var x : int  var y : int  init loc I  loc A  loc B  final loc E \
        I -> A { havoc x }  A -> E { assume x <= 0 }  A -> B { assume x > 0 x := x - 1 havoc y } \
        B -> B { assume y > 0 y := y - 1 }  B -> A { assume y <= 0 } }";
    decided(model, &[("F(E)", true), ("F(B)", false), ("G F(A or E)", true)]);
    // Without a bound on what is chosen inside.
    let model = "main process p { var x : int  var y : int  init loc I  loc A  final loc E \
        I -> A { havoc x havoc y }  A -> A { assume x > 0 and y > 0 x := x - 1 havoc y } \
        A -> A { assume x > 0 and y > 0 y := y - 1 }  A -> E { assume x <= 0 or y <= 0 } }";
    decided(model, &[("F(E)", true)]);
}

/// The ranking is 11 x + 7 y or the like: too large to be guessed, not for Farkas' lemma.
#[test]
fn a_ranking_with_large_coefficients_is_found() {
    let model = "main process p { var x : int  var y : int  init loc I  loc L  final loc E \
        I -> L { havoc x havoc y }  \
        L -> L { assume 11 * x + 7 * y > 0 x := x - 7 y := y + 10 }  \
        L -> L { assume 11 * x + 7 * y > 0 x := x + 5 y := y - 8 }  \
        L -> E { assume 11 * x + 7 * y <= 0 } }";
    decided(model, &[("F(E)", true)]);
}
