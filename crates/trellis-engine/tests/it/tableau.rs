//! Formulas on finite graphs, naively: every node is paired with every guess of what holds of the formula's temporal parts; guesses
//! must fit from one moment to the next, and what is promised must come. Shares nothing with the translation to automata.

use trellis_model::ltl::{Formula, components};

/// A step of a graph.
pub struct Step {
    pub to: usize,
    /// A moment passes; else nothing can be noticed of it.
    pub reads: bool,
    /// What it does of what must be done again and again.
    pub does: u64,
}

/// A graph.
#[derive(Default)]
pub struct Graph {
    pub letters: Vec<u64>,
    pub starts: Vec<usize>,
    pub steps: Vec<Vec<Step>>,
}

/// A random formula over so many atoms; `below` draws a number.
pub fn formula(below: &mut dyn FnMut(usize) -> usize, atoms: usize, depth: usize) -> Formula {
    use Formula as F;
    if depth == 0 || below(100) < 15 {
        return F::Atom(below(atoms) as u32);
    }
    let mut sub = || Box::new(formula(below, atoms, depth - 1));
    let (a, b) = (sub(), sub());
    match below(14) {
        0 => F::Not(a),
        1 => F::And(a, b),
        2 => F::Or(a, b),
        3 => F::Implies(a, b),
        4 => F::Iff(a, b),
        5 => F::Next(a),
        6 | 7 => F::Finally(a),
        8 | 9 => F::Globally(a),
        10 => F::Until(a, b),
        11 => F::WeakUntil(a, b),
        12 => F::Release(a, b),
        _ => F::StrongRelease(a, b),
    }
}

/// The temporal parts of a formula, inner ones first.
fn temporal(f: &Formula, out: &mut Vec<Formula>) {
    use Formula as F;
    match f {
        F::True | F::False | F::Atom(_) => return,
        F::Not(a) => return temporal(a, out),
        F::And(a, b) | F::Or(a, b) | F::Implies(a, b) | F::Iff(a, b) => {
            temporal(a, out);
            return temporal(b, out);
        }
        F::Next(a) | F::Finally(a) | F::Globally(a) => temporal(a, out),
        F::Until(a, b) | F::WeakUntil(a, b) | F::Release(a, b) | F::StrongRelease(a, b) => {
            temporal(a, out);
            temporal(b, out);
        }
    }
    if !out.contains(f) {
        out.push(f.clone());
    }
}

/// The value of a formula where the letter is known and the values of temporal parts are guessed.
fn value(f: &Formula, letter: u64, guess: u32, parts: &[Formula]) -> bool {
    use Formula as F;
    let v = |f: &Formula| value(f, letter, guess, parts);
    match f {
        F::True => true,
        F::False => false,
        F::Atom(n) => letter >> n & 1 == 1,
        F::Not(a) => !v(a),
        F::And(a, b) => v(a) && v(b),
        F::Or(a, b) => v(a) || v(b),
        F::Implies(a, b) => !v(a) || v(b),
        F::Iff(a, b) => v(a) == v(b),
        _ => guess >> parts.iter().position(|p| p == f).expect("a part") & 1 == 1,
    }
}

/// Does a run violate the formula in which infinitely many moments pass, and all of this is done again and again? From some time on it
/// stays in the nodes that are `within`.
pub fn is_violated(graph: &Graph, formula: &Formula, all: u64, within: &dyn Fn(usize) -> bool) -> bool {
    use Formula as F;
    let mut parts = vec![];
    temporal(formula, &mut parts);
    let guesses = 1u32 << parts.len();
    let letters = &graph.letters;
    let node = |s: usize, g: u32| s * guesses as usize + g as usize;
    let fits = |now: (u64, u32), next: (u64, u32)| {
        parts.iter().enumerate().all(|(i, p)| {
            let (here, there) = (|f: &Formula| value(f, now.0, now.1, &parts), next.1 >> i & 1 == 1);
            let expected = match p {
                F::Next(a) => value(a, next.0, next.1, &parts),
                F::Finally(a) => here(a) || there,
                F::Globally(a) => here(a) && there,
                F::Until(a, b) | F::WeakUntil(a, b) => here(b) || (here(a) && there),
                F::Release(a, b) | F::StrongRelease(a, b) => here(b) && (here(a) || there),
                _ => unreachable!("temporal"),
            };
            (now.1 >> i & 1 == 1) == expected
        })
    };
    // Where an edge leads, whether a moment passes, what it does.
    let mut edges: Vec<Vec<(usize, bool, u64)>> = vec![vec![]; letters.len() * guesses as usize];
    for (s, steps) in graph.steps.iter().enumerate() {
        for g in 0..guesses {
            for step in steps {
                let fitting = (0..guesses).filter(|&h| match step.reads {
                    true => fits((letters[s], g), (letters[step.to], h)),
                    false => h == g,
                });
                edges[node(s, g)].extend(fitting.map(|h| (node(step.to, h), step.reads, step.does)));
            }
        }
    }
    // Which promises are kept at a node.
    let kept = |s: usize, g: u32| {
        parts.iter().enumerate().fold(0u32, |kept, (i, p)| {
            let v = |f: &Formula| value(f, letters[s], g, &parts);
            let guessed = g >> i & 1 == 1;
            let ok = match p {
                F::Finally(a) => !guessed || v(a),
                F::Globally(a) => guessed || !v(a),
                F::Until(_, b) => !guessed || v(b),
                F::WeakUntil(a, b) => guessed || (!v(a) && !v(b)),
                F::Release(_, b) => guessed || !v(b),
                F::StrongRelease(a, _) => !guessed || v(a),
                _ => true,
            };
            kept | u32::from(ok) << i
        })
    };
    let mut reached = vec![false; edges.len()];
    let mut todo = vec![];
    for &s in &graph.starts {
        todo.extend((0..guesses).filter(|&g| !value(formula, letters[s], g, &parts)).map(|g| node(s, g)));
    }
    while let Some(n) = todo.pop() {
        if !std::mem::replace(&mut reached[n], true) {
            todo.extend(edges[n].iter().map(|e| e.0));
        }
    }
    let inside = |n: usize| within(n / guesses as usize);
    let inner = |n: usize| edges[n].iter().filter(move |e| inside(n) && inside(e.0));
    let component = components(edges.len(), |n| inner(n as usize).map(|e| e.0 as u32).collect());
    let mut sums = vec![(0u32, false, 0u64); edges.len()];
    for n in 0..edges.len() {
        let sum = &mut sums[component[n] as usize];
        sum.0 |= kept(n / guesses as usize, (n % guesses as usize) as u32);
        for e in inner(n).filter(|e| component[e.0] == component[n]) {
            sum.1 |= e.1;
            sum.2 |= e.2;
        }
    }
    (0..edges.len()).any(|n| {
        let (kept, reads, done) = sums[component[n] as usize];
        reached[n] && inside(n) && reads && done & all == all && kept == guesses - 1
    })
}
