//! Labels: boolean expressions over atoms, as disjunctions of cubes.

use rustc_hash::FxHashMap;
use trellis_model::ltl::Cube;

use crate::diag::Span;
use crate::text::cursor::Cursor;
use crate::text::errors::Read;
use crate::text::tokens::Tok;

/// More cubes than that in one label are refused.
const MAX_CUBES: usize = 4096;

/// What satisfies a label, and what does not.
#[derive(Debug, Clone)]
pub struct Label {
    pub yes: Vec<Cube>,
    no: Vec<Cube>,
}

impl Label {
    pub fn constant(holds: bool) -> Label {
        let (all, none) = (vec![Cube::default()], vec![]);
        if holds { Label { yes: all, no: none } } else { Label { yes: none, no: all } }
    }

    fn atom(n: u32) -> Label {
        let bit = 1 << n;
        Label { yes: vec![Cube { positive: bit, negative: 0 }], no: vec![Cube { positive: 0, negative: bit }] }
    }

    fn not(self) -> Label {
        Label { yes: self.no, no: self.yes }
    }

    pub fn and(&self, other: &Label) -> Option<Label> {
        let mut yes = vec![];
        for a in &self.yes {
            yes.extend(other.yes.iter().map(|b| a.and(*b)).filter(|c| !c.is_false()));
        }
        let no = self.no.iter().chain(&other.no).copied().collect();
        let label = Label { yes: shortest(yes), no: shortest(no) };
        (label.yes.len() <= MAX_CUBES && label.no.len() <= MAX_CUBES).then_some(label)
    }
}

/// Without cubes that others contain.
fn shortest(mut all: Vec<Cube>) -> Vec<Cube> {
    all.sort_unstable();
    all.dedup();
    if all.len() > MAX_CUBES {
        return all;
    }
    let kept = (0..all.len()).filter(|&i| !(0..all.len()).any(|j| i != j && all[i].implies(all[j])));
    kept.map(|i| all[i]).collect()
}

pub struct Labels<'p> {
    pub atoms: usize,
    pub aliases: &'p FxHashMap<String, Label>,
}

impl Labels<'_> {
    /// A whole expression.
    pub fn expression(&self, c: &mut Cursor) -> Read<Label> {
        let mut left = self.conjunction(c)?;
        while c.is("|") {
            let span = c.bump().span;
            let right = self.conjunction(c)?;
            left = small(c, left.not().and(&right.not()), span)?.not();
        }
        Ok(left)
    }

    fn conjunction(&self, c: &mut Cursor) -> Read<Label> {
        let mut left = self.operand(c)?;
        while c.is("&") {
            let span = c.bump().span;
            let right = self.operand(c)?;
            left = small(c, left.and(&right), span)?;
        }
        Ok(left)
    }

    fn operand(&self, c: &mut Cursor) -> Read<Label> {
        let t = c.bump();
        match t.tok {
            Tok::Name("t") => Ok(Label::constant(true)),
            Tok::Name("f") => Ok(Label::constant(false)),
            Tok::Number(digits) => match digits.parse::<usize>() {
                Ok(n) if n < self.atoms => Ok(Label::atom(n as u32)),
                _ => c.fail(t.span, format!("there is no atom {digits}: the header declares {}", self.atoms)),
            },
            Tok::Name(alias) if alias.starts_with('@') => match self.aliases.get(alias) {
                Some(label) => Ok(label.clone()),
                None => c.unknown("alias", alias, t.span, self.aliases.keys().map(String::as_str)),
            },
            Tok::P("!") => {
                c.deeper(t.span)?;
                let inner = self.operand(c)?;
                c.depth -= 1;
                Ok(inner.not())
            }
            Tok::P("(") => {
                c.deeper(t.span)?;
                let inner = self.expression(c)?;
                c.depth -= 1;
                c.require(")")?;
                Ok(inner)
            }
            tok => c.fail(t.span, format!("expected a label, found {}", tok.describe())),
        }
    }
}

fn small(c: &mut Cursor, label: Option<Label>, span: Span) -> Read<Label> {
    match label {
        Some(label) => Ok(label),
        None => c.fail(span, "this label is too large"),
    }
}
