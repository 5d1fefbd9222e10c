//! Tokens one by one, and what is wrong with them: what the parsers of Theta's languages have in common.

use trellis_model::cfa::Place;

use super::lexer::{Tok, Token};
use crate::diag::{Diagnostic, Sources, Span};
use crate::uppaal::errors::{Errors, closest};

/// How deeply things may be nested.
const MAX_DEPTH: usize = 400;

/// A mistake that has been reported already.
#[derive(Debug, Clone, Copy)]
pub struct Reported;

pub type Read<T> = Result<T, Reported>;

pub struct Cursor<'a> {
    pub sources: &'a Sources,
    pub tokens: Vec<Token<'a>>,
    pub at: usize,
    pub errors: Errors,
    pub depth: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(sources: &'a Sources, tokens: Vec<Token<'a>>) -> Cursor<'a> {
        Cursor { sources, tokens, at: 0, errors: Errors::default(), depth: 0 }
    }

    // Looking and taking.

    pub fn peek(&self) -> Token<'a> {
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    pub fn ahead(&self, n: usize) -> Tok<'a> {
        self.tokens[(self.at + n).min(self.tokens.len() - 1)].tok
    }

    pub fn bump(&mut self) -> Token<'a> {
        let t = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        t
    }

    pub fn is(&self, p: &str) -> bool {
        matches!(self.peek().tok, Tok::P(q) | Tok::Name(q) if q == p)
    }

    pub fn take(&mut self, p: &str) -> bool {
        let is = self.is(p);
        if is {
            self.bump();
        }
        is
    }

    pub fn require(&mut self, p: &str) -> Read<()> {
        if self.take(p) { Ok(()) } else { self.unexpected(&format!("`{p}`")) }
    }

    pub fn name(&mut self, what: &str) -> Read<(&'a str, Span)> {
        match self.peek().tok {
            Tok::Name(name) => Ok((name, self.bump().span)),
            _ => self.unexpected(what),
        }
    }

    /// From an opening brace to behind the one that closes it.
    pub fn skip_braces(&mut self) {
        let mut open = 0;
        loop {
            match self.bump().tok {
                Tok::P("{") => open += 1,
                Tok::P("}") if open <= 1 => return,
                Tok::P("}") => open -= 1,
                Tok::End => return,
                _ => {}
            }
        }
    }

    /// One level down; whoever goes down comes up again by lowering `depth`.
    pub fn deeper(&mut self, span: Span) -> Read<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.errors.stop(Diagnostic::error(span, "this is nested too deeply"));
            return Err(Reported);
        }
        Ok(())
    }

    // Complaining.

    pub fn fail<T>(&mut self, span: Span, message: impl Into<String>) -> Read<T> {
        self.errors.push(Diagnostic::error(span, message));
        Err(Reported)
    }

    pub fn unexpected<T>(&mut self, expected: &str) -> Read<T> {
        let t = self.peek();
        self.fail(t.span, format!("expected {expected}, found {}", t.tok.describe()))
    }

    /// There is no such thing; perhaps one of these was meant.
    pub fn unknown<'n, T>(
        &mut self,
        what: &str,
        name: &str,
        span: Span,
        there_are: impl IntoIterator<Item = &'n str>,
    ) -> Read<T> {
        self.errors.push(unknown(what, name, span, there_are));
        Err(Reported)
    }

    pub fn place(&self, span: Span) -> Place {
        let (line, column) = self.sources.line_col(span);
        Place { file: 0, line: line as u32, column: column as u32 }
    }
}

/// There is no such thing; perhaps one of these was meant.
pub fn unknown<'n>(what: &str, name: &str, span: Span, there_are: impl IntoIterator<Item = &'n str>) -> Diagnostic {
    let d = Diagnostic::error(span, format!("there is no {what} `{name}`"));
    match closest(name, there_are) {
        Some(near) => d.help(format!("did you mean `{near}`?")),
        None => d,
    }
}
