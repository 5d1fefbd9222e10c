//! The reference meaning of lossy channel systems: explicit, slow, plain. Losses are steps of their own.

use super::{Action, Op, RuleId, State, System};

/// Where an action leads, if it can be taken.
pub fn step(system: &System, state: &State, action: Action) -> Option<State> {
    let mut after = state.clone();
    match action {
        Action::Lose(channel, place) => {
            let word = after.words.get_mut(channel)?;
            if place >= word.len() {
                return None;
            }
            word.remove(place);
        }
        Action::Take(rule) => {
            let rule = system.rules.get(rule as usize)?;
            for (p, from, to) in &rule.moves {
                if state.at[*p] != *from {
                    return None;
                }
                after.at[*p] = *to;
            }
            for op in &rule.ops {
                match op {
                    Op::Send(c, a) => after.words[*c].push(*a),
                    Op::Receive(c, a) => {
                        if after.words[*c].first() != Some(a) {
                            return None;
                        }
                        after.words[*c].remove(0);
                    }
                }
            }
        }
    }
    Some(after)
}

/// All that can happen.
pub fn steps(system: &System, state: &State) -> Vec<(Action, State)> {
    let rules = (0..system.rules.len() as RuleId).map(Action::Take);
    let words = state.words.iter().enumerate();
    let losses = words.flat_map(|(c, w)| (0..w.len()).map(move |place| Action::Lose(c, place)));
    rules.chain(losses).filter_map(|a| Some((a, step(system, state, a)?))).collect()
}

/// Must this never be reached?
pub fn is_bad(system: &System, state: &State) -> bool {
    system.target.iter().any(|t| t.is_below(state))
}

/// The states of a run, the start first; or which of its steps, from 0, cannot be taken.
pub fn replay(system: &System, run: &[Action]) -> Result<Vec<State>, usize> {
    let mut states = vec![system.initial.clone()];
    for (n, action) in run.iter().enumerate() {
        states.push(step(system, &states[n], *action).ok_or(n)?);
    }
    Ok(states)
}
