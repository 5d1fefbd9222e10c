//! Branch points: an edge that leads to one, and one of those that leave it, are one step.
//!
//! Weights are for probabilities, and symbolic questions ask what can happen: each branch is an edge of its own, with select, guard and
//! synchronisation of the edge that leads to the branch point, and both updates, one right after the other. What UPPAAL does not
//! allow on edges from branch points (selects, guards, synchronisations, other branch points) is refused.

use std::borrow::Cow;

use super::ast::{Edge, Nta, Template};
use super::{Builder, ast};
use crate::diag::{Diagnostic, Span};

impl Builder<'_> {
    /// The model, without branch points.
    pub fn without_branch_points<'n>(&mut self, nta: &'n Nta) -> Cow<'n, Nta> {
        let weighs = |e: &Edge| e.weight.is_some();
        let has = |t: &Template| t.locations.iter().any(|l| l.branches) || t.edges.iter().any(weighs);
        let mut nta = Cow::Borrowed(nta);
        if nta.templates.iter().any(has) {
            nta.to_mut().templates.iter_mut().for_each(|t| self.join_branches(t));
        }
        nta
    }

    fn join_branches(&mut self, t: &mut Template) {
        let branches = |i: usize| t.locations[i].branches;
        for e in &t.edges {
            if !branches(e.source) {
                if let Some(span) = e.weight {
                    self.no_branch(span, "a weight stands on edges from branch points only");
                }
                continue;
            }
            let guard = e.guard.as_ref().map(|g| g.span);
            let sync = e.sync.as_ref().map(|s| s.span);
            let select = e.select.first().map(|(name, _)| name.span);
            if let Some(span) = guard.or(sync).or(select) {
                self.no_branch(span, "an edge from a branch point has an update and a weight, and nothing else");
            }
            if branches(e.target) {
                self.no_branch(e.span, "an edge from a branch point to a branch point is not supported");
            }
        }
        if let Some(init) = t.init.filter(|&i| branches(i)) {
            self.no_branch(t.locations[init].name.span, "a branch point cannot be the initial location");
            t.init = None;
        }
        let mut edges = Vec::new();
        for e in t.edges.iter().filter(|e| !branches(e.source)) {
            if !branches(e.target) {
                edges.push(e.clone());
                continue;
            }
            let before = edges.len();
            for b in t.edges.iter().filter(|b| b.source == e.target) {
                let update = [e.update.as_slice(), &b.update].concat();
                edges.push(Edge { target: b.target, update, weight: b.weight, ..e.clone() });
            }
            if edges.len() == before {
                self.no_branch(e.span, "this edge leads to a branch point that no edge leaves");
            }
        }
        // Locations are numbered anew.
        let kept: Vec<usize> = (0..t.locations.len()).filter(|&i| !branches(i)).collect();
        let number = |old: usize| kept.binary_search(&old).unwrap_or(0);
        for e in &mut edges {
            (e.source, e.target) = (number(e.source), number(e.target));
        }
        t.init = t.init.map(number);
        t.edges = edges;
        t.locations.retain(|l: &ast::Location| !l.branches);
    }

    fn no_branch(&mut self, span: Span, what: &str) {
        self.report(
            Diagnostic::error(span, what).help("write `A -> b { guard g; }, b -> B { assign u; probability 3; }`"),
        );
    }
}
