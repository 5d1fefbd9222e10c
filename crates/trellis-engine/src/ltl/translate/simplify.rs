//! Smaller automata for the same words.
//!
//! States that nothing accepted runs through are cut off, marks that say nothing are taken away, and states are merged by
//! bisimulation, then by direct and by reverse simulation; edges that another one makes superfluous go. A simulation compares edges
//! letter by letter: a cube may be covered by several others together.

use rustc_hash::FxHashMap;
use trellis_model::ltl::{Buchi, Cube, Edge, components};

use super::cubes::{is_covered, merged};

/// Simulations compare each state with each, and each edge with each; larger automata are only merged by bisimulation.
const MAX_SIMULATED: (usize, usize) = (250, 3_000);

/// Where the marks must stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// On edges.
    Edges,
    /// On states: all edges out of a state are alike. There is one mark at most.
    States,
}

/// A smaller automaton.
pub fn simplify(automaton: &Buchi, style: Style) -> Buchi {
    let mut best = trimmed(automaton, style, false);
    loop {
        let mut small = best.clone();
        // A mark on an edge that is on no cycle has no meaning; with and without it there are different things to merge.
        for marked in [false, true] {
            small = bisimilar(&trimmed(&small, style, marked));
            small = merge_transient(&small);
            if small.edges.len() <= MAX_SIMULATED.0 && small.edge_count() <= MAX_SIMULATED.1 {
                small = simulated(&trimmed(&small, style, marked));
                let reverse = reversed(&trimmed(&small, style, marked));
                small = reversed(&reverse_simulated(&reverse, style));
            }
        }
        small = trimmed(&small, style, false);
        let size = |a: &Buchi| (a.edges.len(), a.edge_count(), a.marks);
        if size(&small) >= size(&best) {
            return best;
        }
        best = small;
    }
}

/// For each state its component, and for each component whether it has a cycle, and which marks are in it.
pub struct Parts {
    pub of: Vec<u32>,
    pub cyclic: Vec<bool>,
    pub marks: Vec<u64>,
}

impl Parts {
    pub fn new(a: &Buchi) -> Parts {
        let of = components(a.edges.len(), |s| a.edges[s as usize].iter().map(|e| e.to).collect());
        let count = of.iter().max().map_or(0, |m| *m as usize + 1);
        let mut parts = Parts { of, cyclic: vec![false; count], marks: vec![0; count] };
        for (s, out) in a.edges.iter().enumerate() {
            for e in out.iter().filter(|e| parts.of[e.to as usize] == parts.of[s]) {
                let c = parts.of[s] as usize;
                parts.cyclic[c] = true;
                parts.marks[c] |= e.marks;
            }
        }
        parts
    }

    /// Is the edge on a cycle?
    pub fn inside(&self, from: usize, e: &Edge) -> bool {
        self.of[from] == self.of[e.to as usize]
    }

    /// Can a run stay there and be accepted?
    pub fn accepting(&self, component: u32, a: &Buchi) -> bool {
        let c = component as usize;
        self.cyclic[c] && self.marks[c] & a.all_marks() == a.all_marks()
    }
}

/// Without states that are not reached or that lead nowhere, and with marks only where they say something.
/// `marked`: edges that are on no cycle get all marks (or none).
fn trimmed(a: &Buchi, style: Style, marked: bool) -> Buchi {
    let parts = Parts::new(a);
    let reached = a.reachable();
    // Components are numbered so that edges lead to smaller numbers: what is needed is known.
    let mut order: Vec<usize> = (0..a.edges.len()).collect();
    order.sort_by_key(|&s| parts.of[s]);
    let mut leads: Vec<bool> = (0..parts.cyclic.len()).map(|c| parts.accepting(c as u32, a)).collect();
    for &s in &order {
        if a.edges[s].iter().any(|e| leads[parts.of[e.to as usize] as usize]) {
            leads[parts.of[s] as usize] = true;
        }
    }
    let useful = |s: u32| reached[s as usize] && leads[parts.of[s as usize] as usize];
    // Breadth first, so that numbers do not depend on how the automaton came about.
    let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
    let mut kept: Vec<u32> = vec![];
    let mut small = Buchi { initial: vec![], marks: a.marks, edges: vec![] };
    for &s in a.initial.iter().filter(|s| useful(**s)) {
        let number = *numbers.entry(s).or_insert_with(|| {
            kept.push(s);
            kept.len() as u32 - 1
        });
        if !small.initial.contains(&number) {
            small.initial.push(number);
        }
    }
    let mut at = 0;
    while at < kept.len() {
        let mut out = vec![];
        for e in a.edges[kept[at] as usize].iter().filter(|e| useful(e.to)) {
            let to = *numbers.entry(e.to).or_insert_with(|| {
                kept.push(e.to);
                kept.len() as u32 - 1
            });
            out.push(Edge { to, ..*e });
        }
        small.edges.push(out);
        at += 1;
    }
    set_marks(&mut small, marked);
    if style == Style::States {
        marks_of_states(&mut small, marked);
    }
    drop_marks(&mut small, marked);
    small.edges.iter_mut().for_each(tidy);
    small
}

/// No marks where no accepted run stays; a mark that no cycle avoids, everywhere.
fn set_marks(a: &mut Buchi, marked: bool) {
    let parts = Parts::new(a);
    let all = a.all_marks();
    let mut everywhere = vec![0u64; parts.cyclic.len()];
    for mark in 0..a.marks {
        let bit = 1 << mark;
        let avoiding = |s: usize| a.edges[s].iter().filter(move |e| e.marks & bit == 0);
        let cycles = components(a.edges.len(), |s| avoiding(s as usize).map(|e| e.to).collect());
        let mut avoided = vec![false; parts.cyclic.len()];
        for s in 0..a.edges.len() {
            if avoiding(s).any(|e| cycles[e.to as usize] == cycles[s]) {
                avoided[parts.of[s] as usize] = true;
            }
        }
        for (c, marks) in everywhere.iter_mut().enumerate().filter(|(c, _)| !avoided[*c]) {
            *marks |= if parts.cyclic[c] { bit } else { 0 };
        }
    }
    let accepting: Vec<bool> = (0..parts.cyclic.len()).map(|c| parts.accepting(c as u32, a)).collect();
    for (s, out) in a.edges.iter_mut().enumerate() {
        let c = parts.of[s] as usize;
        for e in out {
            e.marks = match (parts.of[e.to as usize] as usize == c, accepting[c]) {
                (true, true) => (e.marks | everywhere[c]) & all,
                (true, false) => 0,
                (false, _) => {
                    if marked {
                        all
                    } else {
                        0
                    }
                }
            };
        }
    }
}

/// All edges out of a state like those on cycles.
fn marks_of_states(a: &mut Buchi, marked: bool) {
    let parts = Parts::new(a);
    let all = a.all_marks();
    for (s, out) in a.edges.iter_mut().enumerate() {
        let inside = out.iter().find(|e| parts.inside(s, e)).map(|e| e.marks);
        let marks = inside.unwrap_or(if marked { all } else { 0 });
        out.iter_mut().for_each(|e| e.marks = marks);
    }
}

/// Takes away marks that others imply.
fn drop_marks(a: &mut Buchi, marked: bool) {
    let parts = Parts::new(a);
    let mut inside: Vec<Vec<u64>> = vec![vec![]; parts.cyclic.len()];
    for (s, out) in a.edges.iter().enumerate() {
        inside[parts.of[s] as usize].extend(out.iter().filter(|e| parts.inside(s, e)).map(|e| e.marks));
    }
    let rejecting = (0..inside.len()).any(|c| parts.cyclic[c] && !parts.accepting(c as u32, a));
    let mut kept: Vec<u32> = (0..a.marks).collect();
    for mark in (0..a.marks).rev() {
        let others: Vec<u32> = kept.iter().copied().filter(|m| *m != mark).collect();
        if others.is_empty() && rejecting {
            continue;
        }
        // In a component: wherever the other mark is, or at all.
        let implied = |edges: &Vec<u64>| {
            let by = |other: u64| edges.iter().all(|m| m & other != other || m >> mark & 1 == 1);
            by(0) || others.iter().any(|o| by(1 << o))
        };
        let accepting = inside.iter().enumerate().filter(|(c, _)| parts.accepting(*c as u32, a));
        if accepting.map(|(_, edges)| edges).all(implied) {
            kept = others;
        }
    }
    let all = if kept.is_empty() { 0 } else { u64::MAX >> (64 - kept.len()) };
    for (s, out) in a.edges.iter_mut().enumerate() {
        for e in out {
            let moved = kept.iter().enumerate().map(|(to, from)| (e.marks >> from & 1) << to).sum();
            let outside = parts.of[s] != parts.of[e.to as usize];
            e.marks = if outside && marked && e.marks != 0 { all } else { moved };
        }
    }
    a.marks = kept.len() as u32;
}

/// Edges with the same marks to the same state in as few cubes as possible.
fn tidy(out: &mut Vec<Edge>) {
    let mut groups: FxHashMap<(u32, u64), Vec<Cube>> = FxHashMap::default();
    for e in out.iter() {
        groups.entry((e.to, e.marks)).or_default().push(e.cube);
    }
    *out = groups
        .into_iter()
        .flat_map(|((to, marks), cubes)| merged(cubes).into_iter().map(move |cube| Edge { cube, marks, to }))
        .collect();
    out.sort_by_key(|e| (e.to, e.marks, e.cube));
}

/// States merged: each goes to its class.
fn quotient(a: &Buchi, class: &[u32], count: usize) -> Buchi {
    let mut small = Buchi { initial: vec![], marks: a.marks, edges: vec![vec![]; count] };
    for (s, out) in a.edges.iter().enumerate() {
        let edges = out.iter().map(|e| Edge { to: class[e.to as usize], ..*e });
        small.edges[class[s] as usize].extend(edges);
    }
    small.initial = a.initial.iter().map(|&s| class[s as usize]).collect();
    small.initial.sort_unstable();
    small.initial.dedup();
    small.edges.iter_mut().for_each(tidy);
    small
}

/// Merges states with the same edges, until there are none.
fn bisimilar(a: &Buchi) -> Buchi {
    let mut class = vec![0u32; a.edges.len()];
    let mut count = 1;
    loop {
        // With the class so far, because cubes that mean the same may look different at one time and alike later: classes are only
        // ever split.
        let mut numbers: FxHashMap<(u32, Vec<Edge>), u32> = FxHashMap::default();
        let next: Vec<u32> = a
            .edges
            .iter()
            .enumerate()
            .map(|(s, out)| {
                let mut to: Vec<Edge> = out.iter().map(|e| Edge { to: class[e.to as usize], ..*e }).collect();
                tidy(&mut to);
                let fresh = numbers.len() as u32;
                *numbers.entry((class[s], to)).or_insert(fresh)
            })
            .collect();
        let found = numbers.len();
        class = next;
        if found <= count {
            return quotient(a, &class, found);
        }
        count = found;
    }
}

/// A state on no cycle may be replaced by one with the same edges, whatever their marks.
fn merge_transient(a: &Buchi) -> Buchi {
    let parts = Parts::new(a);
    let plain = |s: usize| {
        let mut out: Vec<Edge> = a.edges[s].iter().map(|e| Edge { marks: 0, ..*e }).collect();
        tidy(&mut out);
        out
    };
    // Those on cycles first: they stay.
    let mut order: Vec<usize> = (0..a.edges.len()).collect();
    order.sort_by_key(|&s| !parts.cyclic[parts.of[s] as usize]);
    let mut first: FxHashMap<Vec<Edge>, u32> = FxHashMap::default();
    let mut class: Vec<u32> = (0..a.edges.len() as u32).collect();
    for s in order {
        let kept = *first.entry(plain(s)).or_insert(s as u32);
        if !parts.cyclic[parts.of[s] as usize] {
            class[s] = kept;
        }
    }
    let mut small = a.clone();
    small.initial.iter_mut().for_each(|s| *s = class[*s as usize]);
    small.initial.sort_unstable();
    small.initial.dedup();
    small.edges.iter_mut().flatten().for_each(|e| e.to = class[e.to as usize]);
    small
}

/// `at(p, q)`: is all that `p` can do done by `q`?
struct Relation {
    size: usize,
    bits: Vec<bool>,
}

impl Relation {
    /// The largest direct simulation within a first guess.
    fn new(a: &Buchi, guess: impl Fn(usize, usize) -> bool) -> Relation {
        let size = a.edges.len();
        let mut relation = Relation { size, bits: vec![true; size * size] };
        for p in 0..size {
            for q in 0..size {
                relation.bits[p * size + q] = guess(p, q);
            }
        }
        loop {
            let mut changed = false;
            for p in 0..size {
                for q in 0..size {
                    if p != q && relation.bits[p * size + q] && !relation.follows(a, p, q) {
                        relation.bits[p * size + q] = false;
                        changed = true;
                    }
                }
            }
            if !changed {
                return relation;
            }
        }
    }

    fn at(&self, p: u32, q: u32) -> bool {
        self.bits[p as usize * self.size + q as usize]
    }

    fn follows(&self, a: &Buchi, p: usize, q: usize) -> bool {
        a.edges[p].iter().all(|e| is_covered(e.cube, &self.better(e, a.edges[q].iter())))
    }

    /// The cubes of the edges that are as good as this one.
    fn better<'e>(&self, e: &Edge, others: impl Iterator<Item = &'e Edge>) -> Vec<Cube> {
        others.filter(|f| e.marks & !f.marks == 0 && self.at(e.to, f.to)).map(|f| f.cube).collect()
    }

    /// Merges states that simulate each other, and drops edges that others are better than.
    fn reduced(&self, a: &Buchi) -> Buchi {
        let mut class = vec![0u32; self.size];
        let mut kept: Vec<u32> = vec![];
        for s in 0..self.size as u32 {
            let same = kept.iter().position(|&k| self.at(k, s) && self.at(s, k));
            class[s as usize] = same.unwrap_or_else(|| {
                kept.push(s);
                kept.len() - 1
            }) as u32;
        }
        let mut small = quotient(a, &class, kept.len());
        let back = |e: &Edge| Edge { to: kept[e.to as usize], ..*e };
        for out in &mut small.edges {
            let mut at = 0;
            while at < out.len() {
                let e = out.remove(at);
                let others: Vec<Edge> = out.iter().map(back).collect();
                if !is_covered(e.cube, &self.better(&back(&e), others.iter())) {
                    out.insert(at, e);
                    at += 1;
                }
            }
        }
        small
    }
}

fn simulated(a: &Buchi) -> Buchi {
    Relation::new(a, |_, _| true).reduced(a)
}

/// Runs backwards: what leads to a state must lead to the other, and where one starts one may start in the other.
fn reverse_simulated(reverse: &Buchi, style: Style) -> Buchi {
    let starts: Vec<bool> = (0..reverse.edges.len()).map(|s| reverse.initial.contains(&(s as u32))).collect();
    let forward = reversed(reverse);
    let marks = |s: usize| if style == Style::States { forward.edges[s].first().map_or(0, |e| e.marks) } else { 0 };
    // On states a mark is part of the state.
    Relation::new(reverse, |p, q| (!starts[p] || starts[q]) && marks(p) == marks(q)).reduced(reverse)
}

fn reversed(a: &Buchi) -> Buchi {
    let mut back = Buchi { initial: a.initial.clone(), marks: a.marks, edges: vec![vec![]; a.edges.len()] };
    for (s, out) in a.edges.iter().enumerate() {
        for e in out {
            back.edges[e.to as usize].push(Edge { to: s as u32, ..*e });
        }
    }
    back
}
