//! Strings where they decide what is done: names of events, targets, times.

use trellis_expr::{StmtId, TermId};

use super::expr::{Expr, Node};
use super::lower::Lower;
use super::value::Kind;

impl Lower<'_> {
    /// The strings that an expression may be, each with when it is; and what it is where it is no string.
    pub fn texts(&mut self, e: &Expr) -> Vec<(String, TermId)> {
        let always = self.terms.bool(true);
        if let Node::Text(text) = &e.node {
            return vec![(text.clone(), always)];
        }
        let value = self.eval(e, always);
        if !value.may_be(Kind::Text) && !value.may_be(Kind::Undefined) {
            let found = self.describe_kinds(&value);
            self.mistake(e.span, format!("expected a string, found {found}"));
        }
        let (Some((t, texts)), Some(&guard)) = (&value.text, value.guards.get(&Kind::Text)) else { return vec![] };
        let mut all = vec![];
        for text in texts {
            let is = self.is_text(*t, text);
            all.push((text.clone(), self.terms.and([guard, is])));
        }
        all
    }

    /// For each string that it may be, what is done then; else, what is done if it is none.
    pub fn by_text(
        &mut self,
        all: &[(String, TermId)],
        otherwise: StmtId,
        mut then: impl FnMut(&mut Self, &str) -> StmtId,
    ) -> StmtId {
        let mut stmt = otherwise;
        for (text, when) in all.iter().rev() {
            let this = then(self, text);
            stmt = self.terms.branch(*when, this, stmt);
        }
        stmt
    }
}
