//! Properties (`.gpd`): a path quantifier with a formula of linear temporal logic, or a state formula; as text of the common grammar of formulas,
//! which says what their names mean.
//!
//! A formula about some run is asked as the negation of one about all. `p WB q` is "q only after p": ¬(¬p U q); `p B q` is that, and p at some time.

use super::ast::{Expr, ExprKind};
use super::names::{joined, place};
use super::parser::Parser;
use crate::diag::{Diagnostic, SourceId, Sources};
use crate::text::cursor::Reads;
use crate::text::errors::Read;
use crate::text::tokens::Tok;

/// A property.
#[derive(Debug, Clone)]
pub struct Property {
    /// As it is written.
    pub text: String,
    /// The formula that all runs satisfy, or some if `exists`.
    pub formula: String,
    /// Is it about some run?
    pub exists: bool,
    /// The condition, where it is `A G [condition]`, or `E F [condition]` (then true).
    pub states: Option<(String, bool)>,
}

/// Reads a file of properties.
pub fn read(sources: &Sources, id: SourceId) -> Result<Vec<Property>, Vec<Diagnostic>> {
    let mut parser = Parser::new(sources, id);
    let read = parser.properties(&sources.get(id).text);
    match (read, parser.finish()) {
        (Ok(all), errors) if errors.is_empty() => Ok(all),
        (_, errors) => Err(errors),
    }
}

impl<'a> Parser<'a> {
    fn properties(&mut self, text: &str) -> Read<Vec<Property>> {
        self.imports()?;
        self.require("component")?;
        self.id("the component that the properties are about")?;
        let mut all = vec![];
        while self.peek().tok != Tok::End {
            if self.take("@") {
                self.require("(")?;
                self.bump();
                self.require(")")?;
                continue;
            }
            let start = self.peek().span.start as usize;
            let property = self.property()?;
            let end = self.last().end as usize;
            let written: Vec<&str> = text.get(start..end).unwrap_or_default().split_whitespace().collect();
            all.push(Property { text: written.join(" "), ..property });
            self.take(";");
        }
        Ok(all)
    }

    fn property(&mut self) -> Read<Property> {
        let exists = self.is("E");
        if exists || self.is("A") {
            self.bump();
            let formula = self.path_formula()?;
            let inner = |prefix: &str| Some(formula.strip_prefix(prefix)?.strip_suffix(')')?.to_string());
            let states = match exists {
                true => inner("F (").map(|c| (c, true)),
                false => inner("G (").map(|c| (c, false)),
            };
            let states = states.filter(|(c, _)| is_plain(c));
            return Ok(Property { text: String::new(), formula, exists, states });
        }
        // What holds at the start.
        let formula = self.state_formula()?;
        Ok(Property { text: String::new(), formula, exists: false, states: None })
    }

    /// Loosest first: `->`, `||`, `^`, `&&`.
    fn path_formula(&mut self) -> Read<String> {
        self.connected(0)
    }

    fn connected(&mut self, level: usize) -> Read<String> {
        const LEVELS: [(&str, &str); 4] = [("->", "->"), ("||", "or"), ("^", "^"), ("&&", "and")];
        let Some((written, op)) = LEVELS.get(level) else { return self.unary_path() };
        let a = self.connected(level + 1)?;
        if !self.take(written) {
            return Ok(a);
        }
        let span = self.peek().span;
        let b = self.down(span, |p| p.connected(level))?;
        Ok(if *op == "^" { format!("!(({a}) <-> ({b}))") } else { format!("(({a}) {op} ({b}))") })
    }

    fn unary_path(&mut self) -> Read<String> {
        let span = self.peek().span;
        for op in ["!", "G", "F", "X"] {
            if self.take(op) {
                let a = self.down(span, Self::unary_path)?;
                return Ok(format!("{op} ({a})"));
            }
        }
        let a = self.operand()?;
        for op in ["U", "R", "WU", "B", "WB"] {
            if self.take(op) {
                let b = self.down(span, Self::operand)?;
                return Ok(match op {
                    "U" | "R" => format!("(({a}) {op} ({b}))"),
                    "WU" => format!("(({a}) W ({b}))"),
                    "WB" => format!("(!((!({a})) U ({b})))"),
                    _ => format!("((!((!({a})) U ({b}))) and F ({a}))"),
                });
            }
        }
        Ok(a)
    }

    fn operand(&mut self) -> Read<String> {
        if self.take("[") {
            let a = self.state_formula()?;
            self.require("]")?;
            return Ok(a);
        }
        if self.take("(") {
            let span = self.peek().span;
            let a = self.down(span, Self::path_formula)?;
            self.require(")")?;
            return Ok(a);
        }
        self.unexpected("`[ state formula ]`, `( path formula )`, or an operator")
    }

    fn state_formula(&mut self) -> Read<String> {
        if self.take("{") {
            let e = self.expression()?;
            self.require("}")?;
            return self.written(&e);
        }
        if self.take("(") {
            let span = self.peek().span;
            let a = self.down(span, Self::state_formula)?;
            self.require(")")?;
            return Ok(a);
        }
        if self.is("A") || self.is("E") {
            let span = self.peek().span;
            return self.refuse("a path quantifier within a formula", span);
        }
        self.unexpected("`{ condition }`")
    }

    /// An expression in the common grammar.
    fn written(&mut self, e: &Expr<'a>) -> Read<String> {
        Ok(match &e.kind {
            ExprKind::Bool(b) => b.to_string(),
            ExprKind::Int(digits) => digits.to_string(),
            ExprKind::Not(a) => format!("!({})", self.written(a)?),
            ExprKind::Neg(a) => format!("(-{})", self.written(a)?),
            ExprKind::About(word, path) => match (*word, &path.kind) {
                ("state", ExprKind::Path(path)) => format!("In({})", joined(path)),
                ("variable" | "event", ExprKind::Path(path)) => joined(path),
                ("parameter", ExprKind::Param(path, Some(name))) => format!("{}::{}", joined(path), name.0),
                _ => return self.fail(path.span, format!("expected a name after `{word}`")),
            },
            ExprKind::Param(path, Some(literal)) => format!("{}::{}", joined(path), literal.0),
            ExprKind::Two(op, parts) => {
                let (a, b) = (self.written(&parts[0])?, self.written(&parts[1])?);
                match *op {
                    "imply" => format!("(({a}) -> ({b}))"),
                    "xor" => format!("!(({a}) <-> ({b}))"),
                    "/=" => format!("(({a}) != ({b}))"),
                    op => format!("(({a}) {op} ({b}))"),
                }
            }
            ExprKind::Path(path) => {
                let (name, span) = (joined(path), place(path));
                return self.fail(span, format!("write `state {name}`, `variable {name}` or `event {name}`"));
            }
            _ => return self.fail(e.span, "this is not read in properties"),
        })
    }
}

/// Has a text no temporal operators?
fn is_plain(text: &str) -> bool {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.' || c == ':'));
    let mut depth = 0_i32;
    let balanced = text.chars().all(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth >= 0
    });
    balanced && depth == 0 && words.into_iter().all(|w| !["G", "F", "X", "U", "R", "W", "->", "<->"].contains(&w))
}
