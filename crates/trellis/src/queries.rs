//! One property language for all formalisms: `A[] p`, `E<> p`, `A<> p`, `E[] p`, `p --> q`, and `--error p`, with each formalism's own
//! conditions. Networks have it as their own; what another formalism does not answer itself is asked as a formula of linear temporal logic, and
//! a question about some run as the negation of one about all. Formulas say nothing of the states on a run that is blocked, so programs, whose
//! assumptions block runs, are asked about states as such ([`StateQuery`]); `A<>`, `E[]` and `-->` are about complete runs.

use trellis_report::Kind;

use crate::formalism::Own;
use crate::formalism::formula::question::{Ask, parts};
use crate::settings::{Settings, StateQuery};

/// Takes out what is asked as formulas; what is left is the formalism's own.
///
/// Conditions are in the model's own language, between quotes where formulas want them so.
pub fn split(args: &Settings, own: Own, quoted: bool) -> (Settings, Vec<Ask>) {
    let mut left = args.clone();
    let mut asks = vec![];
    if own == Own::All {
        return (left, asks);
    }
    left.properties.properties.clear();
    for text in &args.properties.properties {
        match parts(text) {
            Some((Kind::Always, [p, _])) if own == Own::Reachability => left.properties.properties.push(p),
            Some((kind @ (Kind::Always | Kind::Possibly), [condition, _])) if own == Own::States => {
                let holds = kind == Kind::Possibly;
                left.properties.states.push(StateQuery { text: text.trim().into(), condition, holds, kind })
            }
            Some((Kind::Possibly, _)) if own == Own::Reachability => {
                left.properties.properties.push(text.trim().into())
            }
            Some((kind, parts)) => asks.push(ask(text, kind, &parts, quoted)),
            None => left.properties.properties.push(text.clone()),
        }
    }
    if own == Own::States {
        let errors = std::mem::take(&mut left.properties.errors);
        let never =
            |e: String| StateQuery { text: format!("never {e}"), condition: e, holds: true, kind: Kind::Always };
        left.properties.states.extend(errors.into_iter().map(never));
    }
    if own == Own::None {
        let errors = std::mem::take(&mut left.properties.errors);
        let never = |e: String| {
            let formula = format!("G !{}", atom(&e, quoted));
            Ask::Formula { text: format!("never {e}"), formula, kind: Kind::Always }
        };
        asks.extend(errors.into_iter().map(never));
    }
    (left, asks)
}

/// A condition in a formula.
fn atom(condition: &str, quoted: bool) -> String {
    if quoted && !condition.contains('"') { format!("\"{condition}\"") } else { format!("({condition})") }
}

/// The formula that all runs satisfy if and only if the answer is yes; or, of a question about some run, if and only if it is no.
fn ask(text: &str, kind: Kind, [p, q]: &[String; 2], quoted: bool) -> Ask {
    let (p, q) = (atom(p, quoted), atom(q, quoted));
    let formula = match kind {
        Kind::Possibly => format!("G !{p}"),
        Kind::Eventually => format!("F {p}"),
        Kind::PotentiallyAlways => format!("F !{p}"),
        Kind::LeadsTo => format!("G ({p} -> F {q})"),
        _ => format!("G {p}"),
    };
    Ask::Formula { text: text.trim().into(), formula, kind }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formulas(texts: &[&str], own: Own) -> (Vec<String>, Vec<String>) {
        let mut args = Settings::default();
        args.properties.properties = texts.iter().map(|t| t.to_string()).collect();
        let (left, asks) = split(&args, own, true);
        let formula = |ask: Ask| match ask {
            Ask::Formula { formula, .. } => formula,
            Ask::Forbidden { .. } => String::new(),
        };
        (left.properties.properties, asks.into_iter().map(formula).collect())
    }

    #[test]
    fn queries_become_formulas_where_they_must() {
        let all = ["A[] x > 0", "E<> x = 1", "A<> done", "E[] !done", "a --> b", "x > 0"];
        assert_eq!(formulas(&all, Own::All).0.len(), 6);
        let (left, asked) = formulas(&all, Own::Reachability);
        assert_eq!(left, ["x > 0", "E<> x = 1", "x > 0"]);
        assert_eq!(asked, ["F \"done\"", "F !\"!done\"", "G (\"a\" -> F \"b\")"]);
        assert_eq!(formulas(&all, Own::None).1[0], "G \"x > 0\"");
    }
}
