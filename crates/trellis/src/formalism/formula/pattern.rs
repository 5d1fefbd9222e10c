//! Requirements in words: the specification patterns of Dwyer, Avrunin and Corbett (ICSE 1999) in their scopes, as formulas of linear temporal logic.
//!
//! `KIND: … [, SCOPE]`, where conditions are as in formulas. Deliberately left out: chains, and bounded existence.

/// What is asked in a scope.
enum Pattern {
    Absence(String),
    Existence(String),
    Universality(String),
    /// `A precedes B`: B only after A.
    Precedence(String, String),
    /// `A leads to B`.
    Response(String, String),
}

enum Scope {
    Globally,
    Before(String),
    After(String),
    Between(String, String),
    AfterUntil(String, String),
}

const FORMS: &str = "write `absence: P`, `existence: P`, `universality: P`, `precedence: A precedes B` or `response: A leads to B`, and perhaps a \
                     scope: `, globally`, `, before R`, `, after Q`, `, between Q and R`, `, after Q until R`";

/// The formula of a requirement, or what is wrong with it.
pub fn formula(text: &str) -> Result<String, String> {
    let (kind, rest) = text.split_once(':').filter(|(_, rest)| !rest.starts_with(':')).ok_or(FORMS)?;
    let (what, scope) = match split(rest, ",") {
        Some((what, scope)) => (what, scope_of(scope)?),
        None => (rest, Scope::Globally),
    };
    let one = || condition(what);
    let two = |word: &str| {
        let (a, b) = split(what, word).ok_or_else(|| format!("expected `A{word}B` after `{}:`", kind.trim()))?;
        Ok::<_, String>((condition(a)?, condition(b)?))
    };
    let pattern = match kind.trim() {
        "absence" => Pattern::Absence(one()?),
        "existence" => Pattern::Existence(one()?),
        "universality" => Pattern::Universality(one()?),
        "precedence" => two(" precedes ").map(|(a, b)| Pattern::Precedence(a, b))?,
        "response" => two(" leads to ").map(|(a, b)| Pattern::Response(a, b))?,
        _ => return Err(FORMS.into()),
    };
    Ok(written(&pattern, &scope))
}

/// Where a word stands outside of quotes and brackets: within them it belongs to a condition.
fn outside<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let (mut quoted, mut depth) = (false, 0_i32);
    text.char_indices().filter_map(move |(at, c)| {
        let free = !quoted && depth <= 0;
        match c {
            '"' => quoted = !quoted,
            '(' | '[' | '{' if !quoted => depth += 1,
            ')' | ']' | '}' if !quoted => depth -= 1,
            _ => {}
        }
        (free && text[at..].starts_with(word)).then_some(at)
    })
}

/// What stands before and after the first such place.
fn split<'a>(text: &'a str, word: &'a str) -> Option<(&'a str, &'a str)> {
    outside(text, word).next().map(|at| (&text[..at], &text[at + word.len()..]))
}

fn condition(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err(format!("a condition is missing; {FORMS}")),
        text => Ok(format!("({text})")),
    }
}

fn scope_of(text: &str) -> Result<Scope, String> {
    let text = text.trim();
    let two = |rest: &str, word: &str| {
        let (q, r) = split(rest, word)?;
        Some((condition(q).ok()?, condition(r).ok()?))
    };
    if text == "globally" {
        return Ok(Scope::Globally);
    }
    if let Some(rest) = text.strip_prefix("before ") {
        return Ok(Scope::Before(condition(rest)?));
    }
    if let Some(rest) = text.strip_prefix("between ") {
        let parts = outside(rest, " and ").count();
        let (q, r) = two(rest, " and ")
            .filter(|_| parts == 1)
            .ok_or("write `between Q and R`; in Q and R, write `&&` for `and`")?;
        return Ok(Scope::Between(q, r));
    }
    if let Some(rest) = text.strip_prefix("after ") {
        return match two(rest, " until ") {
            Some((q, r)) => Ok(Scope::AfterUntil(q, r)),
            None => Ok(Scope::After(condition(rest)?)),
        };
    }
    Err(FORMS.into())
}

/// The formulas of the authors' collection.
fn written(pattern: &Pattern, scope: &Scope) -> String {
    use Pattern::*;
    use Scope::*;
    match (pattern, scope) {
        (Existence(p), Globally) => format!("F {p}"),
        (Existence(p), Before(r)) => format!("(!{r}) W ({p} and !{r})"),
        (Existence(p), After(q)) => format!("(G !{q}) or F ({q} and F {p})"),
        (Existence(p), Between(q, r)) => format!("G (({q} and !{r}) -> ((!{r}) W ({p} and !{r})))"),
        (Existence(p), AfterUntil(q, r)) => format!("G (({q} and !{r}) -> ((!{r}) U ({p} and !{r})))"),
        (Precedence(s, p), Globally) => format!("(!{p}) W {s}"),
        (Precedence(s, p), Before(r)) => format!("(F {r}) -> ((!{p}) U ({s} or {r}))"),
        (Precedence(s, p), After(q)) => format!("(G !{q}) or F ({q} and ((!{p}) W {s}))"),
        (Precedence(s, p), Between(q, r)) => format!("G (({q} and !{r} and F {r}) -> ((!{p}) U ({s} or {r})))"),
        (Precedence(s, p), AfterUntil(q, r)) => format!("G (({q} and !{r}) -> ((!{p}) W ({s} or {r})))"),
        (Response(p, s), Globally) => format!("G ({p} -> F {s})"),
        (Response(p, s), After(q)) => format!("G ({q} -> G ({p} -> F {s}))"),
        (pattern, scope) => {
            // What holds at each moment of the scope.
            let (always, held) = match pattern {
                Absence(p) => (format!("(!{p})"), format!("(!{p})")),
                Universality(p) => (p.clone(), p.clone()),
                Response(p, s) => {
                    let within = |r: &String| format!("({p} -> ((!{r}) U ({s} and !{r})))");
                    let held = match scope {
                        Before(r) | Between(_, r) | AfterUntil(_, r) => within(r),
                        _ => String::new(),
                    };
                    (held.clone(), held)
                }
                _ => (String::new(), String::new()),
            };
            match scope {
                Globally => format!("G {always}"),
                Before(r) => format!("(F {r}) -> ({held} U {r})"),
                After(q) => format!("G ({q} -> G {always})"),
                Between(q, r) => format!("G (({q} and !{r} and F {r}) -> ({held} U {r}))"),
                AfterUntil(q, r) => format!("G (({q} and !{r}) -> ({held} W {r}))"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::formula;

    #[test]
    fn requirements_become_formulas() {
        assert_eq!(formula("response: a leads to b").unwrap(), "G ((a) -> F (b))");
        assert_eq!(formula("absence: p, after q until r").unwrap(), "G (((q) and !(r)) -> ((!(p)) W (r)))");
        assert_eq!(formula("precedence: s precedes p, before r").unwrap(), "(F (r)) -> ((!(p)) U ((s) or (r)))");
        // What separates is not looked for within a condition.
        assert_eq!(formula("response: \"f(v, 1) > 2\" leads to b").unwrap(), "G ((\"f(v, 1) > 2\") -> F (b))");
        assert_eq!(
            formula("response: min(v, 1) leads to b, before (c and d)").map(|f| f.matches("min(v, 1)").count()),
            Ok(1)
        );
        assert!(formula("absence: p, between \"q and s\" and r").is_ok());
        for broken in ["response: a", "a leads to b", "absence:", "absence: p, sometimes", "presence: p"] {
            assert!(formula(broken).is_err(), "{broken}");
        }
    }
}
