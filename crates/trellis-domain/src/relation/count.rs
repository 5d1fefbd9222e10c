//! What is in a relation: how much, one of it, all of it, and its picture.

use std::fmt::Write;

use dashu_int::UBig;
use oxidd::bdd::BDDFunction;
use oxidd::{BooleanFunction, Function, HasLevel, Manager, Node, VarNo};
use rustc_hash::FxHashMap;

use super::{Relation, Space};

/// A number of any size.
pub type Natural = UBig;

/// What a diagram tests first, and what remains.
pub(super) enum Top {
    Full,
    Empty,
    Test(VarNo, BDDFunction, BDDFunction),
}

pub(super) fn top(f: &BDDFunction) -> Top {
    let level = f.with_manager_shared(|m, e| match m.get_node(e) {
        Node::Inner(node) => Some(m.level_to_var(node.level())),
        Node::Terminal(_) => None,
    });
    match (level, f.cofactors()) {
        (Some(var), Some((yes, no))) => Top::Test(var, yes, no),
        _ if f.satisfiable() => Top::Full,
        _ => Top::Empty,
    }
}

impl Space {
    /// Where the bits of copies of variables are, in the order of the diagram.
    fn bits(&self, variables: &[(usize, usize)]) -> Vec<VarNo> {
        let bits = |&(v, copy): &(usize, usize)| self.columns[v].bits.iter().map(move |&b| b + copy as VarNo);
        let mut all: Vec<VarNo> = variables.iter().flat_map(bits).collect();
        all.sort_unstable();
        all
    }

    /// How many rows a relation has. It may speak of nothing but the given copies of variables, and must lie within their valid codes.
    pub fn count(&self, a: &Relation, variables: &[(usize, usize)]) -> Natural {
        let bits = self.bits(variables);
        let places: FxHashMap<VarNo, usize> = bits.iter().enumerate().map(|(i, &b)| (b, i)).collect();
        let mut known = FxHashMap::default();
        let (count, at) = self.count_below(&a.0, &places, bits.len(), &mut known);
        count << at
    }

    /// Rows from the first tested bit on, and the place of that bit.
    fn count_below(
        &self,
        f: &BDDFunction,
        places: &FxHashMap<VarNo, usize>,
        end: usize,
        known: &mut FxHashMap<BDDFunction, (UBig, usize)>,
    ) -> (UBig, usize) {
        if let Some(found) = known.get(f) {
            return found.clone();
        }
        let answer = match top(f) {
            Top::Empty => (UBig::ZERO, end),
            Top::Full => (UBig::ONE, end),
            Top::Test(var, yes, no) => {
                let at = places.get(&var).copied().unwrap_or(end);
                let sides = [yes, no].map(|side| {
                    let (count, below) = self.count_below(&side, places, end, known);
                    count << below.saturating_sub(at + 1)
                });
                (&sides[0] + &sides[1], at)
            }
        };
        known.insert(f.clone(), answer.clone());
        answer
    }

    /// One row of a relation: the values of the given copies of variables. Where there is a choice, the first value.
    pub fn pick(&self, a: &Relation, variables: &[(usize, usize)]) -> Option<Vec<i64>> {
        if a.is_empty() {
            return None;
        }
        let mut set: FxHashMap<VarNo, bool> = FxHashMap::default();
        let mut f = a.0.clone();
        while let Top::Test(var, yes, no) = top(&f) {
            let value = !no.satisfiable();
            set.insert(var, value);
            f = if value { yes } else { no };
        }
        let row = variables.iter().map(|&(v, copy)| {
            let column = &self.columns[v];
            let bit = |code: usize, &b: &VarNo| code << 1 | usize::from(set.get(&(b + copy as VarNo)) == Some(&true));
            column.values.get(column.bits.iter().fold(0, bit)).copied()
        });
        row.collect()
    }

    /// Rows of a relation, no more than so many.
    pub fn rows(&self, a: &Relation, variables: &[(usize, usize)], limit: usize) -> Vec<Vec<i64>> {
        let bits = self.bits(variables);
        let mut rows = vec![];
        let mut set = FxHashMap::default();
        self.rows_below(&a.0, &bits, variables, &mut set, &mut rows, limit);
        rows
    }

    fn rows_below(
        &self,
        f: &BDDFunction,
        bits: &[VarNo],
        variables: &[(usize, usize)],
        set: &mut FxHashMap<VarNo, bool>,
        rows: &mut Vec<Vec<i64>>,
        limit: usize,
    ) {
        if rows.len() >= limit || !f.satisfiable() {
            return;
        }
        let Some((&bit, rest)) = bits.split_first() else {
            let row = variables.iter().map(|&(v, copy)| {
                let column = &self.columns[v];
                let bit = |code: usize, &b: &VarNo| code << 1 | usize::from(set[&(b + copy as VarNo)]);
                column.values.get(column.bits.iter().fold(0, bit)).copied()
            });
            rows.extend(row.collect::<Option<Vec<i64>>>());
            return;
        };
        let (no, yes) = match top(f) {
            Top::Test(var, yes, no) if var == bit => (no, yes),
            _ => (f.clone(), f.clone()),
        };
        for (value, side) in [(false, no), (true, yes)] {
            set.insert(bit, value);
            self.rows_below(&side, rest, variables, set, rows, limit);
        }
        set.remove(&bit);
    }

    /// The diagram as a graph for `dot`; bits are named by the caller.
    pub fn dot(&self, a: &Relation, name: &dyn Fn(usize, usize, usize) -> String) -> String {
        let mut names: FxHashMap<VarNo, String> = FxHashMap::default();
        for (v, column) in self.columns.iter().enumerate() {
            for (i, &bit) in column.bits.iter().enumerate() {
                for copy in 0..self.copies {
                    names.insert(bit + copy as VarNo, name(v, copy, column.bits.len() - 1 - i));
                }
            }
        }
        let mut text = String::from("digraph relation {\n");
        let mut numbers: FxHashMap<BDDFunction, usize> = FxHashMap::default();
        let mut waiting = vec![a.0.clone()];
        numbers.insert(a.0.clone(), 0);
        while let Some(f) = waiting.pop() {
            let n = numbers[&f];
            match top(&f) {
                Top::Full => writeln!(text, "  n{n} [shape=box, label=\"1\"];"),
                Top::Empty => writeln!(text, "  n{n} [shape=box, label=\"0\"];"),
                Top::Test(var, yes, no) => {
                    let mut written = writeln!(text, "  n{n} [label=\"{}\"];", names[&var].replace('"', "'"));
                    for (side, style) in [(yes, "solid"), (no, "dashed")] {
                        let next = numbers.len();
                        let to = *numbers.entry(side.clone()).or_insert_with(|| {
                            waiting.push(side);
                            next
                        });
                        written = written.and(writeln!(text, "  n{n} -> n{to} [style={style}];"));
                    }
                    written
                }
            }
            .expect("writing to a string");
        }
        text.push_str("}\n");
        text
    }
}
