//! All configurations of some states, and all that a hierarchy may start in: flows take every value that the assertions allow.

use trellis_expr::eval::Valuation;
use trellis_expr::{Value, VarId};

use super::{Cluster, MAX_EFFORT, TooHard, Walker, holds, number};

impl Walker<'_> {
    /// All configurations with given values of state variables, if there are no more than so many; values of flows that are given do not
    /// matter.
    pub fn configurations(&self, states: &[i64], most: usize) -> Result<Vec<Vec<i64>>, TooHard> {
        self.effort.set(0);
        let h = self.hierarchy();
        let clusters = &self.clusters[h.top.index()];
        let here = self.valuation(states);
        let mut rows: Vec<Vec<i64>> = vec![states.to_vec()];
        for cluster in clusters {
            let mut found = vec![];
            self.all(cluster, &cluster.flows, &mut here.clone(), most, &mut found)?;
            rows = combined(&rows, &found, most)?;
        }
        for flow in (0..states.len()).filter(|&v| h.variables[v].flow) {
            let id = VarId(flow as u32);
            if clusters.iter().all(|c| !c.flows.contains(&id)) {
                // No assertion speaks of it.
                let values = h.variables[flow].domain.values(MAX_EFFORT).ok_or(TooHard)?;
                let found: Vec<Vec<(VarId, i64)>> = values.into_iter().map(|n| vec![(id, n)]).collect();
                rows = combined(&rows, &found, most)?;
            }
        }
        Ok(rows)
    }

    /// All configurations that a hierarchy may start in, if there are no more than so many.
    pub fn initial(&self, most: usize) -> Result<Vec<Vec<i64>>, TooHard> {
        let h = self.hierarchy();
        let init = h.initial(h.top);
        let mut rows = vec![vec![0; h.variables.len()]];
        for v in (0..h.variables.len()).filter(|&v| !h.variables[v].flow) {
            let id = VarId(v as u32);
            let fixed = init.iter().find(|(w, t)| *w == id && h.terms.free_vars(*t).is_empty());
            let values = match fixed {
                Some(&(_, t)) => number(h, t, &Valuation::default()).into_iter().collect(),
                None => h.variables[v].domain.values(MAX_EFFORT).ok_or(TooHard)?,
            };
            let inside = values.into_iter().filter(|n| h.variables[v].domain.contains(*n));
            let found: Vec<Vec<(VarId, i64)>> = inside.map(|n| vec![(id, n)]).collect();
            rows = combined(&rows, &found, most)?;
        }
        let mut all = vec![];
        for row in rows {
            let starts = |values: &Vec<i64>| {
                let here = self.valuation(values);
                init.iter().all(|&(v, t)| number(h, t, &here) == Some(values[v.index()]))
            };
            all.extend(self.configurations(&row, most)?.into_iter().filter(starts));
            if all.len() > most {
                return Err(TooHard);
            }
        }
        Ok(all)
    }

    /// All configurations, whether they can be reached or not, if neither they nor the values of the states are more than so many.
    pub fn everything(&self, most: usize) -> Result<Vec<Vec<i64>>, TooHard> {
        let h = self.hierarchy();
        let mut rows = vec![vec![0; h.variables.len()]];
        for v in (0..h.variables.len()).filter(|&v| !h.variables[v].flow) {
            let values = h.variables[v].domain.values(MAX_EFFORT).ok_or(TooHard)?;
            let found: Vec<Vec<(VarId, i64)>> = values.into_iter().map(|n| vec![(VarId(v as u32), n)]).collect();
            rows = combined(&rows, &found, most)?;
        }
        let mut all = vec![];
        for row in rows {
            all.extend(self.configurations(&row, most)?);
            if all.len() > most {
                return Err(TooHard);
            }
        }
        Ok(all)
    }

    /// All values of some flows of a cluster.
    fn all(
        &self,
        cluster: &Cluster,
        left: &[VarId],
        here: &mut Valuation,
        most: usize,
        found: &mut Vec<Vec<(VarId, i64)>>,
    ) -> Result<(), TooHard> {
        let mut next: Option<(usize, VarId)> = None;
        for (assertion, flows) in &cluster.assertions {
            let unknown: Vec<VarId> = flows.iter().copied().filter(|f| left.contains(f)).collect();
            match unknown.first() {
                None => {
                    self.spend()?;
                    if !holds(&self.hierarchy, *assertion, here) {
                        return Ok(());
                    }
                }
                Some(&flow) if next.is_none_or(|(n, _)| unknown.len() < n) => next = Some((unknown.len(), flow)),
                _ => {}
            }
        }
        let Some((_, flow)) = next else {
            let value = |f: &VarId| Some((*f, here.get(f)?.to_word()?));
            found.push(cluster.flows.iter().map(value).collect::<Option<_>>().ok_or(TooHard)?);
            return if found.len() > most { Err(TooHard) } else { Ok(()) };
        };
        let rest: Vec<VarId> = left.iter().copied().filter(|f| *f != flow).collect();
        let ty = self.hierarchy.terms.variable(flow).ty;
        for value in self.hierarchy.variable(flow).domain.values(MAX_EFFORT).ok_or(TooHard)? {
            self.spend()?;
            here.insert(flow, Value::from_word(ty, value));
            self.all(cluster, &rest, here, most, found)?;
        }
        Ok(())
    }
}

/// Every row with every choice of some values.
fn combined(rows: &[Vec<i64>], choices: &[Vec<(VarId, i64)>], most: usize) -> Result<Vec<Vec<i64>>, TooHard> {
    if rows.len().saturating_mul(choices.len()) > most {
        return Err(TooHard);
    }
    let with = |row: &Vec<i64>, choice: &Vec<(VarId, i64)>| {
        let mut row = row.clone();
        choice.iter().for_each(|&(v, n)| row[v.index()] = n);
        row
    };
    Ok(rows.iter().flat_map(|row| choices.iter().map(move |choice| with(row, choice))).collect())
}
