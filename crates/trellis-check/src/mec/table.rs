//! Lists of rows: each says what some variables of a formula are, by the numbers of their values.

use rustc_hash::{FxHashMap, FxHashSet};

/// Rows of numbers, in no order.
pub type Rows = FxHashSet<Box<[u32]>>;

/// Rows, and which variables they are of, in ascending order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub variables: Vec<usize>,
    pub rows: Rows,
}

impl Table {
    /// The table that says nothing: one row of no variables.
    pub fn unit() -> Table {
        Table { variables: vec![], rows: Rows::from_iter([Box::default()]) }
    }

    /// Where variables are in a row; those that are not in it are left out.
    fn places(&self, variables: &[usize]) -> Vec<usize> {
        variables.iter().filter_map(|v| self.variables.iter().position(|w| w == v)).collect()
    }

    /// The rows of some of its variables.
    pub fn project(&self, onto: &[usize]) -> Table {
        let variables: Vec<usize> = self.variables.iter().copied().filter(|v| onto.contains(v)).collect();
        let places = self.places(&variables);
        let rows = self.rows.iter().map(|row| cut(row, &places)).collect();
        Table { variables, rows }
    }

    /// Every row with every value of one variable more.
    pub fn extend(&self, variable: usize, count: usize, most: usize) -> Option<Table> {
        let at = self.variables.partition_point(|v| *v < variable);
        if self.rows.len().saturating_mul(count) > most {
            return None;
        }
        let mut variables = self.variables.clone();
        variables.insert(at, variable);
        let with =
            |row: &[u32], n: u32| -> Box<[u32]> { row[..at].iter().chain([&n]).chain(&row[at..]).copied().collect() };
        let rows = self.rows.iter().flat_map(|row| (0..count as u32).map(move |n| with(row, n))).collect();
        Some(Table { variables, rows })
    }

    /// The rows of both that agree on the variables they share.
    pub fn join(&self, other: &Table, most: usize) -> Option<Table> {
        let shared: Vec<usize> = self.variables.iter().copied().filter(|v| other.variables.contains(v)).collect();
        let (mine, theirs) = (self.places(&shared), other.places(&shared));
        let mut variables: Vec<usize> = self.variables.iter().chain(&other.variables).copied().collect();
        variables.sort_unstable();
        variables.dedup();
        // Where each value of a row comes from.
        let from: Vec<(bool, usize)> = variables
            .iter()
            .filter_map(|v| {
                let own = self.variables.iter().position(|w| w == v).map(|n| (true, n));
                own.or_else(|| other.variables.iter().position(|w| w == v).map(|n| (false, n)))
            })
            .collect();
        let mut by_shared: FxHashMap<Box<[u32]>, Vec<&[u32]>> = FxHashMap::default();
        for row in &other.rows {
            by_shared.entry(cut(row, &theirs)).or_default().push(row);
        }
        let mut rows = Rows::default();
        for row in &self.rows {
            for fits in by_shared.get(&cut(row, &mine)).into_iter().flatten() {
                rows.insert(from.iter().map(|&(own, n)| if own { row[n] } else { fits[n] }).collect());
                if rows.len() > most {
                    return None;
                }
            }
        }
        Some(Table { variables, rows })
    }
}

/// Some entries of a row.
pub fn cut(row: &[u32], places: &[usize]) -> Box<[u32]> {
    places.iter().map(|&n| row[n]).collect()
}
