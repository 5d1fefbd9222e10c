//! How a labelled transition system is written, one thing in a line:
//!
//! ```text
//! start idle            # where it begins
//! idle -coin-> paid     # a step with its label
//! error broken          # what must never be reached
//! ```

use crate::model::Lts;

/// Reads a text; what is wrong with it, with the number of the line.
pub fn parse(text: &str) -> Result<Lts, String> {
    let mut lts = Lts::default();
    let (mut start, mut errors) = (None, vec![]);
    for (n, line) in text.lines().enumerate() {
        let fail = |why: &str| Err(format!("line {}: {why}", n + 1));
        let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
        match words[..] {
            [] => {}
            ["start", _] if start.is_some() => return fail("there is a `start` already"),
            ["start", name] => start = Some(state(&mut lts, name)),
            ["error", name] => errors.push((n + 1, name)),
            [from, arrow, to] => match arrow.strip_prefix('-').and_then(|a| a.strip_suffix("->")) {
                Some(label) if !label.is_empty() => {
                    let (from, to) = (state(&mut lts, from), state(&mut lts, to));
                    lts.steps.push((from, label.into(), to));
                }
                _ => return fail(&format!("expected an arrow with a label, `-go->`, found `{arrow}`")),
            },
            _ => return fail("expected `start STATE`, `error STATE` or `STATE -LABEL-> STATE`"),
        }
    }
    lts.start = start.ok_or("no line says where it begins: `start STATE`")?;
    for (line, name) in errors {
        let known = lts.states.iter().position(|s| s == name);
        lts.errors.push(known.ok_or_else(|| format!("line {line}: no step and no start has a state `{name}`"))?);
    }
    Ok(lts)
}

/// The number of a state, a new one if its name is new.
fn state(lts: &mut Lts, name: &str) -> usize {
    lts.states.iter().position(|s| s == name).unwrap_or_else(|| {
        lts.states.push(name.into());
        lts.states.len() - 1
    })
}
