//! Which edges can move together: silent ones, senders with receivers, synchronisation vectors; guards judged, targets not yet.

use std::ops::ControlFlow;

use smallvec::SmallVec;
use trellis_meter::seeded::{self, Bug};

use super::super::compiled::Channel;
use super::super::{EdgeRef, ModelError, VectorPart};
use super::{Edges, Post};

/// In a choice of receiving edges: none of them.
const NOBODY: u32 = u32::MAX;

impl Post<'_> {
    /// Every combination of edges whose data lets them move together, in order.
    pub(super) fn candidates(
        &mut self,
        found: &mut impl FnMut(&mut Self, &[EdgeRef]) -> Result<ControlFlow<()>, ModelError>,
    ) -> Result<ControlFlow<()>, ModelError> {
        let net = self.net;
        let is_committed = |p: usize, base: &[i64]| net.processes[p].locations[base[p] as usize].committed;
        let committed = self.has_committed && (0..net.processes.len()).any(|p| is_committed(p, &self.base));
        self.heard = 0;
        for p in 0..net.processes.len() {
            self.hearing[p] = self.hears[self.at(p)];
            self.heard |= self.hearing[p];
        }
        for p in 0..net.processes.len() {
            let at = self.at(p);
            let p_may_move = !committed || is_committed(p, &self.base);
            for n in 0..self.outgoing[at].active.len() {
                let edge = self.outgoing[at].active[n];
                let first = EdgeRef { process: p as u32, edge };
                let silent = matches!(self.edges[p][edge as usize].channel, Channel::None);
                if (silent && !p_may_move) || !self.test(p, edge, &[])? {
                    continue;
                }
                let flow = match self.channel(first)? {
                    None => found(self, &[first])?,
                    Some(c) if !net.channels[c as usize].broadcast => {
                        self.partners(first, c, committed && !p_may_move, found)?
                    }
                    Some(c) => self.audience(first, c, committed && !p_may_move, found)?,
                };
                if flow.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        for v in 0..net.vectors.len() {
            if self.vector(v, committed, found)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// A synchronisation vector: one edge of each part's event, all choices.
    fn vector(
        &mut self,
        v: usize,
        committed: bool,
        found: &mut impl FnMut(&mut Self, &[EdgeRef]) -> Result<ControlFlow<()>, ModelError>,
    ) -> Result<ControlFlow<()>, ModelError> {
        let net = self.net;
        // Most vectors lack somebody.
        let lacks = |part: &VectorPart| {
            let p = part.process as usize;
            let events = &self.outgoing[self.at(p)].events;
            !part.weak && !events.iter().any(|&e| self.edges[p][e as usize].event == Some(part.event))
        };
        if net.vectors[v].parts.iter().any(lacks) {
            return Ok(ControlFlow::Continue(()));
        }
        let mut choices: SmallVec<[(u32, SmallVec<[u32; 4]>); 4]> = SmallVec::new();
        for part in &net.vectors[v].parts {
            let p = part.process as usize;
            let events = &self.outgoing[self.at(p)].events;
            let of_event = |&&e: &&u32| self.edges[p][e as usize].event == Some(part.event);
            let edges: SmallVec<[u32; 4]> = events.iter().filter(of_event).copied().collect();
            match edges.is_empty() {
                true if part.weak => {}
                true => return Ok(ControlFlow::Continue(())),
                false => choices.push((part.process, edges)),
            }
        }
        let is_committed = |p: u32| net.processes[p as usize].locations[self.base[p as usize] as usize].committed;
        if choices.is_empty() || (committed && !choices.iter().any(|(p, _)| is_committed(*p))) {
            return Ok(ControlFlow::Continue(()));
        }
        if seeded::has(Bug::VectorTail) {
            choices.pop();
        }
        for (p, edges) in &mut choices {
            let mut enabled = SmallVec::new();
            for &edge in edges.iter() {
                if self.test(*p as usize, edge, &[])? {
                    enabled.push(edge);
                }
            }
            if enabled.is_empty() {
                return Ok(ControlFlow::Continue(()));
            }
            *edges = enabled;
        }
        self.odometer(&[], &choices, found)
    }

    /// Calls `found` for each way to choose one edge of each process, the last process's choice changing fastest.
    fn odometer(
        &mut self,
        first: &[EdgeRef],
        choices: &[(u32, SmallVec<[u32; 4]>)],
        found: &mut impl FnMut(&mut Self, &[EdgeRef]) -> Result<ControlFlow<()>, ModelError>,
    ) -> Result<ControlFlow<()>, ModelError> {
        let mut pick: SmallVec<[usize; 8]> = SmallVec::from_elem(0, choices.len());
        loop {
            let mut action: Edges = SmallVec::from_slice(first);
            for (i, (process, edges)) in choices.iter().enumerate() {
                // `NOBODY` stands for a process that is left behind.
                if edges[pick[i]] != NOBODY {
                    action.push(EdgeRef { process: *process, edge: edges[pick[i]] });
                }
            }
            self.absent.clear();
            for (i, (process, edges)) in choices.iter().enumerate() {
                if edges[pick[i]] == NOBODY {
                    let others = edges.iter().filter(|&&e| e != NOBODY);
                    self.absent.extend(others.map(|&edge| EdgeRef { process: *process, edge }));
                }
            }
            let flow = found(self, &action);
            self.absent.clear();
            if flow?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if seeded::has(Bug::FirstChoice) {
                return Ok(ControlFlow::Continue(()));
            }
            let Some(turn) = (0..pick.len()).rev().find(|&i| pick[i] + 1 < choices[i].1.len()) else {
                return Ok(ControlFlow::Continue(()));
            };
            pick[turn] += 1;
            pick[turn + 1..].fill(0);
        }
    }

    /// Binary synchronisation: the sender with each receiver in turn.
    fn partners(
        &mut self,
        sender: EdgeRef,
        channel: u32,
        need_committed: bool,
        found: &mut impl FnMut(&mut Self, &[EdgeRef]) -> Result<ControlFlow<()>, ModelError>,
    ) -> Result<ControlFlow<()>, ModelError> {
        if self.heard >> (channel % 64) & 1 == 0 {
            return Ok(ControlFlow::Continue(()));
        }
        for q in 0..self.net.processes.len() {
            if q == sender.process as usize || !self.may_hear(q, channel) {
                continue;
            }
            let (at, location) = (self.at(q), self.base[q] as usize);
            let receives = self.net.processes[q].locations[location].committed;
            if need_committed && (!receives || seeded::has(Bug::CommittedReceiver)) {
                continue;
            }
            for n in 0..self.outgoing[at].receiving.len() {
                let edge = self.outgoing[at].receiving[n];
                let second = EdgeRef { process: q as u32, edge };
                if self.receives(second, channel)?
                    && self.test(q, edge, &[sender])?
                    && found(self, &[sender, second])?.is_break()
                {
                    return Ok(ControlFlow::Break(()));
                }
            }
            if seeded::has(Bug::FirstPartner) {
                break;
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Broadcast: the sender with one enabled receiving edge of every process that has any.
    fn audience(
        &mut self,
        sender: EdgeRef,
        channel: u32,
        need_committed: bool,
        found: &mut impl FnMut(&mut Self, &[EdgeRef]) -> Result<ControlFlow<()>, ModelError>,
    ) -> Result<ControlFlow<()>, ModelError> {
        let mut receivers = std::mem::take(&mut self.receivers);
        receivers.clear();
        let mut committed = !need_committed;
        for q in 0..self.net.processes.len() {
            if q == sender.process as usize || !self.may_hear(q, channel) {
                continue;
            }
            let (at, location) = (self.at(q), self.base[q] as usize);
            let mut choices = SmallVec::new();
            for n in 0..self.outgoing[at].receiving.len() {
                let edge = self.outgoing[at].receiving[n];
                let second = EdgeRef { process: q as u32, edge };
                if self.receives(second, channel)? && self.test(q, edge, &[sender])? {
                    choices.push(edge);
                }
            }
            if !choices.is_empty() {
                committed |= self.net.processes[q].locations[location].committed;
                if choices.iter().all(|&e| !self.edges[q][e as usize].clock_guard.is_empty())
                    && !seeded::has(Bug::AbsentHears)
                {
                    choices.push(NOBODY);
                }
                receivers.push((q as u32, choices));
            }
        }
        let mut flow = ControlFlow::Continue(());
        if committed {
            let net = self.net;
            flow = self.odometer(&[sender], &receivers, &mut |this, action| {
                let is_committed = |e: &EdgeRef| {
                    net.processes[e.process as usize].locations[this.base[e.process as usize] as usize].committed
                };
                // The committed one may be among those left behind.
                if need_committed && !action.iter().any(is_committed) {
                    return Ok(ControlFlow::Continue(()));
                }
                found(this, action)
            })?;
        }
        self.receivers = receivers;
        Ok(flow)
    }
}
