//! Runs of UPPAAL's models as UPPAAL's own symbolic traces (`.xtr`), for its simulator: numbers and dots, in the form of UPPAAL 4.1 and 5, as UPPAAL's public
//! utility `tracer` reads it. Symbolic states are computed along the run: its delays are one choice of many, and the trace has all of them.
//!
//! A state is a line with the location of each process, a line and a dot for each of the fewest bounds on differences of clocks (twice the constant, and 1 more
//! if it is strict), and a line with the values of all variables; each list ends in a dot. Clock 0 is zero, clock 1 the time since the start. A step follows the state that it leads
//! to: process, edge and the values of its selects, for each process that moves. Lattices and other languages are no part of UPPAAL.

use std::fmt::Write;

use trellis_domain::zone::{Constraint, Zone};
use trellis_model::network::post::Transitions;
use trellis_model::network::{EdgeRef, Layout, Network, Post, SetClock, Snapshot, Trace};

/// What the names of such files end in.
pub(super) const ENDING: &str = ".xtr";

/// The trace; or why there is none.
pub(super) fn write(net: &Network, trace: &Trace) -> Result<String, String> {
    if net.processes.iter().any(|p| p.sketch.is_none()) || !net.lattices.is_empty() {
        return Err("only runs of UPPAAL models without lattices are written as .xtr".into());
    }
    let none = |e: &dyn std::fmt::Display| format!("the run has no symbolic trace: {e}");
    let (layout, mut post) = (Layout::new(net), Post::new(net));
    // The last clock is the time since the start.
    let mut zone = Zone::zero(net.clocks.len() + 1);
    let domain = zone.domain();
    let wait = |zone: &mut Zone, invariant: &[Constraint], delay: bool| {
        domain.constrain_all(zone, invariant).map_err(|e| none(&e))?;
        if delay {
            domain.up(zone);
            domain.constrain_all(zone, invariant).map_err(|e| none(&e))?;
        }
        Ok::<(), String>(())
    };
    let (mut key, mut invariant) = (layout.key_of(&trace.initial), vec![]);
    let delay = post.timing(&key, &mut invariant).map_err(|e| none(&e))?;
    wait(&mut zone, &invariant, delay)?;
    let mut out = String::new();
    state(net, &trace.initial, &zone, &mut out);
    let mut moves = Transitions::default();
    for step in &trace.steps {
        let to = layout.key_of(&step.state);
        post.moves(&key, &mut moves).map_err(|e| none(&e))?;
        let found = moves.iter().find(|m| m.action == step.action.0 && m.key == to);
        let m = found.ok_or_else(|| none(&"one of its steps is not possible"))?;
        domain.constrain_all(&mut zone, m.guard).map_err(|e| none(&e))?;
        for reset in m.resets {
            match *reset {
                SetClock::Value { clock, value } => {
                    domain.reset(&mut zone, clock as usize, value).map_err(|e| none(&e))?;
                }
                SetClock::Copy { clock, from } => domain.assign(&mut zone, clock as usize, from as usize),
            }
        }
        wait(&mut zone, m.invariant, m.delay)?;
        if domain.is_empty(&zone) {
            return Err(none(&"the clocks do not allow one of its steps"));
        }
        state(net, &step.state, &zone, &mut out);
        step.action.0.iter().for_each(|e| edge(net, *e, &mut out));
        out.push_str(".\n");
        key = to;
    }
    out.push_str(".\n");
    Ok(out)
}

fn numbers<N: std::fmt::Display>(all: &[N], out: &mut String) {
    all.iter().for_each(|n| _ = write!(out, "{n} "));
    out.push_str("\n.\n");
}

fn state(net: &Network, state: &Snapshot, zone: &Zone, out: &mut String) {
    numbers(&state.locations, out);
    let clock = |n: u32| match n as usize {
        0 => 0,
        n if n > net.clocks.len() => 1,
        n => n + 1,
    };
    for c in zone.domain().minimal(zone) {
        let Some(constant) = c.bound.constant() else { continue };
        let bound = 2 * constant + i32::from(c.bound.is_strict());
        let _ = writeln!(out, "{} {} {bound}\n.", clock(c.left), clock(c.right));
    }
    out.push_str(".\n");
    numbers(&state.data, out);
}

fn edge(net: &Network, e: EdgeRef, out: &mut String) {
    let edge = &net.processes[e.process as usize].edges[e.edge as usize];
    let _ = write!(out, "{} {} ", e.process, edge.origin);
    edge.select.iter().for_each(|(_, value)| _ = write!(out, "{value} "));
    out.push_str("; ");
}
