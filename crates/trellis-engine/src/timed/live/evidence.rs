//! Evidence from the graph: ranked nodes as a certificate, lassos as runs with exact delays.

use trellis_domain::zone::{Constraint, Zone, ZoneDomain};
use trellis_model::network::{CertEntry, Certificate, Judge, Network, SetClock, Trace, Transitions};

use super::{Graph, Measure, NONE, TICK, at_least, measured};
use crate::timed::schedule::{Leg, Plan};
use crate::timed::target::Error;
use crate::timed::{cells, cycle};

impl Graph<'_> {
    /// All nodes that the question is about, with their ranks.
    pub(super) fn certificate(&self, ranks: &[Option<u32>]) -> Certificate {
        let told = |n: &usize| self.nodes[*n].stays || self.question.starts.is_some();
        let entry = |n: usize| CertEntry { rank: ranks[n], ..self.entry(n as u32) };
        let entries = (0..self.nodes.len()).filter(told).map(entry).collect();
        Certificate { entries, up_to_order: false, up_to_symmetry: false }
    }

    /// A node as an element of a certificate.
    pub fn entry(&self, n: u32) -> CertEntry {
        let node = &self.nodes[n as usize];
        let clocks = self.net.clocks.len();
        let mut wide = Vec::new();
        let state = self.post.layout.snapshot(self.net, self.keys.get(node.key), &[]);
        self.keys.active(node.key).widen(self.zones.get(node.zone), clocks + 1, &mut wide);
        CertEntry { zone: ZoneDomain::new(clocks).minimal(&wide), ..CertEntry::of(state) }
    }

    /// Does a condition hold in a node? It does not ask about clocks.
    pub fn holds(&mut self, condition: &Judge, n: u32) -> Result<bool, Error> {
        let key = self.keys.get(self.nodes[n as usize].key);
        Ok(self.post.judge_with(condition, key, &[])? != 0)
    }

    /// The edges that lead to a node from the start.
    fn path_to(&self, n: u32) -> Vec<u32> {
        let mut path = Vec::new();
        let mut at = n;
        while self.nodes[at as usize].parent != NONE {
            let e = self.nodes[at as usize].parent;
            path.push(e);
            at = self.edges[e as usize].from;
        }
        path.reverse();
        path
    }

    /// A node's part in a schedule: what holds when it is entered and while it is stayed in.
    fn stay(&self, n: u32) -> Vec<Constraint> {
        let node = &self.nodes[n as usize];
        let place = &self.places[node.key as usize];
        let mut all = place.invariant.clone();
        all.extend(cells::constraints(&place.atoms, node.cell).unwrap_or_default());
        all
    }

    fn legs(&mut self, path: &[u32]) -> Result<Vec<Leg>, Error> {
        let mut moves = Transitions::default();
        let mut legs = Vec::new();
        for &e in path {
            let edge = self.edges[e as usize];
            let (from, to) = (&self.nodes[edge.from as usize], &self.nodes[edge.to as usize]);
            let key = self.keys.get(from.key).to_vec();
            let mut leg = Leg {
                stay: self.stay(edge.from),
                still: !self.places[from.key as usize].delay,
                stopped: Vec::new(),
                guard: Vec::new(),
                action: None,
                resets: Vec::new(),
            };
            if edge.via == TICK {
                if let Measure::Ticks(z, period) = self.measure {
                    leg.guard.push(at_least(z, period));
                    leg.resets.push(SetClock::Value { clock: z, value: 0 });
                }
            } else if edge.via == NONE {
                let zone = Zone::copied(self.keys.active(from.key).domain(), self.zones.get(from.zone));
                let exits = self.exits(from.key, from.cell, &zone)?;
                let exits = exits.into_iter().filter(|x| x.cell == to.cell);
                leg.guard = exits.flat_map(|x| x.constraints).collect();
            } else {
                self.post.moves(&key, &mut moves)?;
                let m = moves.get(edge.via as usize);
                leg.action = Some(trellis_model::network::Action(m.action.to_vec()));
                (leg.guard, leg.resets) = match self.measure {
                    Measure::None | Measure::Ticks(..) => (m.guard.to_vec(), m.resets.to_vec()),
                    Measure::Steps(z) => measured(&m, z, edge.marked),
                };
            }
            legs.push(leg);
        }
        Ok(legs)
    }

    /// Some run to a node.
    pub fn trace_to(&mut self, net: &Network, n: u32) -> Result<Option<Trace>, Error> {
        let path = self.path_to(n);
        let mut plan = Plan::new(self.net.clocks.len());
        plan.extend(self.legs(&path)?);
        plan.end = self.stay(n);
        Ok(plan.schedule().and_then(|s| s.trace(net)))
    }

    /// A run that shows how the watched clock can grow.
    pub fn growth(&mut self, net: &Network, growth: &cycle::Growth) -> Result<Option<Trace>, Error> {
        let mut plan = Plan::new(self.net.clocks.len());
        plan.extend(self.legs(&self.path_to(growth.node))?);
        let (round, tail) = (self.legs(&growth.round)?, self.legs(&growth.tail)?);
        let last = growth.tail.last().map_or(growth.node, |&e| self.edges[e as usize].to);
        plan.end = self.stay(last);
        plan.still = !self.places[self.nodes[last as usize].key as usize].delay;
        Ok(plan.growing(net, self.query, &round, tail))
    }

    /// A maximal run that stays in φ, if it can be scheduled exactly.
    pub(super) fn counterexample(&mut self, net: &Network, ranks: &[Option<u32>]) -> Result<Option<Trace>, Error> {
        let starts = self.nodes.iter().zip(ranks).enumerate();
        let starts = starts.filter(|(_, (n, r))| n.starts && n.stays && r.is_none()).map(|(i, _)| i as u32);
        let starts: Vec<u32> = starts.collect();
        let lasso = cycle::find(&self.nodes, &self.edges, ranks, &starts, self.measure.clock().is_some());
        let first = lasso.stem.first().or(lasso.round.first()).map_or(lasso.last, |&e| self.edges[e as usize].from);
        let mut path = self.path_to(first);
        path.extend_from_slice(&lasso.stem);
        self.run(net, &path, &lasso.round, lasso.last)
    }

    /// A run along a path to a node, and then round and round from there; if there is no round, it ends there.
    pub fn run(&mut self, net: &Network, path: &[u32], round: &[u32], last: u32) -> Result<Option<Trace>, Error> {
        let mut plan = Plan::new(self.net.clocks.len());
        plan.extend(self.legs(path)?);
        plan.end = self.stay(last);
        if !round.is_empty() {
            let round = self.legs(round)?;
            return Ok(plan.circle(net, self.query, &round, self.measure.clock().is_some()));
        }
        let node = self.nodes[last as usize].clone();
        let zone = Zone::copied(self.keys.active(node.key).domain(), self.zones.get(node.zone));
        let mut moves = Transitions::default();
        let key = self.keys.get(node.key).to_vec();
        self.post.moves(&key, &mut moves)?;
        let exits = self.exits(node.key, node.cell, &zone)?;
        let active = self.keys.active(node.key);
        for part in self.endings(node.key, node.cell, &zone, &exits, &moves)? {
            let place = |c: Constraint| Constraint {
                left: active.clocks[c.left as usize],
                right: active.clocks[c.right as usize],
                bound: c.bound,
            };
            plan.target = part.domain().minimal(&part).into_iter().map(place).collect();
            plan.still = !self.places[node.key as usize].delay;
            if let Some(trace) = plan.schedule().and_then(|s| s.trace(net)) {
                return Ok(Some(trace));
            }
        }
        Ok(None)
    }
}
