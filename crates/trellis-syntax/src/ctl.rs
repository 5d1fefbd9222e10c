//! Formulas of computation tree logic about AltaRica nodes.
//!
//! ```text
//! not and or =>    ~ ! & |    EX AX EF AF EG AG    E[a U b]  A[a U b]
//! ```
//!
//! Atoms are conditions in AltaRica; one that has `and`, `or` or `=>` of its own inside an expression stands in braces: `{…}`.

use trellis_model::hierarchy::ctl::Formula;

use crate::altarica::Built;
use crate::diag::{Diagnostic, SourceId, Sources, Span};
use crate::mec::only;

/// How deep formulas may be.
const MAX_DEPTH: usize = 200;

/// Reads a formula over the variables of the top node.
pub fn parse(sources: &mut Sources, id: SourceId, built: &mut Built) -> Result<Formula, Vec<Diagnostic>> {
    let text = sources.get(id).text.to_string();
    let mut parser = Parser { sources, id, text: &text, at: 0, built, depth: 0 };
    let formula = parser.implication()?;
    parser.blank();
    if parser.at < text.len() {
        return parser.fail("expected an operator or the end of the formula");
    }
    Ok(formula)
}

struct Parser<'p> {
    sources: &'p mut Sources,
    id: SourceId,
    text: &'p str,
    at: usize,
    built: &'p mut Built,
    depth: usize,
}

type Parsed<T> = Result<T, Vec<Diagnostic>>;

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl Parser<'_> {
    fn fail<T>(&self, text: &str) -> Parsed<T> {
        let next = self.text[self.at..].chars().next().map_or(0, char::len_utf8);
        let span = Span { source: self.id, start: self.at as u32, end: (self.at + next) as u32 };
        Err(vec![Diagnostic::error(span, text)])
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn blank(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// A sign or a word, if it comes next.
    fn eat(&mut self, token: &str) -> bool {
        self.blank();
        let word = token.chars().all(is_name);
        let follows = self.rest().strip_prefix(token).map(|rest| rest.chars().next());
        let found = follows.is_some_and(|next| !word || !next.is_some_and(is_name));
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Parsed<()> {
        if self.eat(token) { Ok(()) } else { self.fail(&format!("expected `{token}`")) }
    }

    fn implication(&mut self) -> Parsed<Formula> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fail("the formula is nested too deeply");
        }
        let left = self.either()?;
        let formula = match self.eat("=>") {
            true => Formula::or(Formula::negated(left), self.implication()?),
            false => left,
        };
        self.depth -= 1;
        Ok(formula)
    }

    fn either(&mut self) -> Parsed<Formula> {
        let mut all = self.both()?;
        while self.eat("or") || self.eat("|") {
            all = Formula::or(all, self.both()?);
        }
        Ok(all)
    }

    fn both(&mut self) -> Parsed<Formula> {
        let mut all = self.unary()?;
        while self.eat("and") || self.eat("&") {
            all = Formula::and(all, self.unary()?);
        }
        Ok(all)
    }

    fn unary(&mut self) -> Parsed<Formula> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fail("the formula is nested too deeply");
        }
        let formula = self.operator()?;
        self.depth -= 1;
        Ok(formula)
    }

    fn operator(&mut self) -> Parsed<Formula> {
        self.blank();
        let negated = self.rest().starts_with('!') && !self.rest().starts_with("!=");
        if (negated && self.eat("!")) || self.eat("~") || self.eat("not") {
            return self.unary().map(Formula::negated);
        }
        type Make = fn(Formula) -> Formula;
        let operators: [(&str, Make); 4] = [
            ("EX", Formula::may_next),
            ("AX", Formula::must_next),
            ("EG", Formula::may_always),
            ("AF", Formula::must_some_time),
        ];
        for (name, make) in operators {
            if self.eat(name) {
                return self.unary().map(make);
            }
        }
        if self.eat("EF") {
            let a = self.unary()?;
            return Ok(Formula::may_until(self.truth()?, a));
        }
        if self.eat("AG") {
            let a = self.unary()?;
            return Ok(Formula::negated(Formula::may_until(self.truth()?, Formula::negated(a))));
        }
        for (name, make) in [("E", Formula::may_until as fn(Formula, Formula) -> Formula), ("A", Formula::must_until)] {
            let here = self.at;
            if self.eat(name) && self.eat("[") {
                let a = self.implication()?;
                self.expect("U")?;
                let b = self.implication()?;
                self.expect("]")?;
                return Ok(make(a, b));
            }
            self.at = here;
        }
        self.blank();
        if self.rest().starts_with('{') {
            let Some(end) = self.rest().find('}').map(|n| self.at + n) else {
                return self.fail("this brace is never closed");
            };
            let atom = self.atom(self.at + 1, end)?;
            self.at = end + 1;
            return Ok(atom);
        }
        if self.rest().starts_with('(') && !self.compared() {
            self.expect("(")?;
            let inner = self.implication()?;
            self.expect(")")?;
            return Ok(inner);
        }
        let (start, end) = (self.at, self.end_of_atom());
        if self.text[start..end].trim().is_empty() {
            return self.fail("expected a formula");
        }
        let atom = self.atom(start, end)?;
        self.at = end;
        Ok(atom)
    }

    fn truth(&mut self) -> Parsed<Formula> {
        let id = self.sources.add("a constant", "true");
        self.built.condition(self.sources, id).map(Formula::Atom)
    }

    fn atom(&mut self, start: usize, end: usize) -> Parsed<Formula> {
        let name = self.sources.get(self.id).name.clone();
        let id = self.sources.add(name, only(self.text, start, end));
        self.built.condition(self.sources, id).map(Formula::Atom)
    }

    /// Is the bracket that opens here a part of a comparison or a sum?
    fn compared(&self) -> bool {
        let mut depth = 0;
        for (n, c) in self.rest().char_indices() {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                let next = self.rest()[n + 1..].trim_start();
                let word = next.split(|c: char| !is_name(c)).next();
                return next.starts_with(['=', '<', '>', '+', '-', '*', '/', '?']) && !next.starts_with("=>")
                    || next.starts_with("!=")
                    || word == Some("mod");
            }
        }
        false
    }

    /// Where a condition ends that starts here: at an operator of formulas, or at a bracket that it did not open.
    fn end_of_atom(&self) -> usize {
        let mut depth = 0;
        let mut at = self.at;
        while let Some(c) = self.text[at..].chars().next() {
            let rest = &self.text[at..];
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' if depth == 0 => return at,
                ')' | ']' | '}' => depth -= 1,
                '&' | '|' if depth == 0 => return at,
                '=' if depth == 0 && rest.starts_with("=>") => return at,
                '\'' | '"' => {
                    // A quoted name.
                    let length = rest[1..].find(c).map_or(rest.len(), |n| n + 2);
                    at += length;
                    continue;
                }
                c if is_name(c) => {
                    let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
                    if depth == 0 && ["and", "or", "U"].contains(&&rest[..length]) {
                        return at;
                    }
                    at += length;
                    continue;
                }
                _ => {}
            }
            at += c.len_utf8();
        }
        at
    }
}
