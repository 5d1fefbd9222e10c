//! Tokens one by one, and what is wrong with them. A parser has a cursor and, by [`reads!`], is one.

use std::ops::DerefMut;

use trellis_model::cfa::Place;

use super::errors::{Errors, Read, Reported, closest};
use super::tokens::{Tok, Token};
use crate::diag::{Diagnostic, Sources, Span};

/// How deeply things may be nested.
const MAX_DEPTH: usize = 400;

pub struct Cursor<'a> {
    pub sources: &'a Sources,
    pub tokens: Vec<Token<'a>>,
    pub at: usize,
    pub errors: Errors,
    pub depth: usize,
    /// How a diagnostic names a token.
    pub describe: fn(Tok<'_>) -> String,
}

impl<'a> Cursor<'a> {
    pub fn new(sources: &'a Sources, tokens: Vec<Token<'a>>) -> Cursor<'a> {
        Cursor { sources, tokens, at: 0, errors: Errors::default(), depth: 0, describe: |tok| tok.describe() }
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

    /// Where the token stands that was taken last.
    pub fn last(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
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
        self.errors.fail(Diagnostic::error(span, message))
    }

    pub fn unexpected<T>(&mut self, expected: &str) -> Read<T> {
        let t = self.peek();
        self.fail(t.span, format!("expected {expected}, found {}", (self.describe)(t.tok)))
    }

    /// There is no such thing; perhaps one of these was meant.
    pub fn unknown<'n, T>(
        &mut self,
        what: &str,
        name: &str,
        span: Span,
        there_are: impl IntoIterator<Item = &'n str>,
    ) -> Read<T> {
        self.errors.fail(unknown(what, name, span, there_are))
    }

    pub fn place(&self, span: Span) -> Place {
        let (line, column) = self.sources.line_col(span);
        Place { file: 0, line: line as u32, column: column as u32 }
    }
}

/// What a parser around a cursor can do.
pub trait Reads<'a>: DerefMut<Target = Cursor<'a>> {
    /// Reads something one level down.
    #[inline]
    fn down<T>(&mut self, span: Span, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.deeper(span)?;
        let depth = self.depth;
        let done = read(self);
        self.depth = depth - 1;
        done
    }

    /// `a, b, c`: one at least.
    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut all = vec![read(self)?];
        while self.take(",") {
            all.push(read(self)?);
        }
        Ok(all)
    }

    /// Something between two marks.
    fn between<T>(&mut self, open: &str, read: impl FnOnce(&mut Self) -> Read<T>, close: &str) -> Read<T> {
        self.require(open)?;
        let inside = read(self)?;
        self.require(close)?;
        Ok(inside)
    }
}

impl<'a, P: DerefMut<Target = Cursor<'a>>> Reads<'a> for P {}

/// Makes a parser with a field `cursor` stand for it.
macro_rules! reads {
    ($parser:ident<$a:lifetime $(, $more:lifetime)?>) => {
        impl<$a $(, $more)?> std::ops::Deref for $parser<$a $(, $more)?> {
            type Target = $crate::text::cursor::Cursor<$a>;

            fn deref(&self) -> &Self::Target {
                &self.cursor
            }
        }

        impl<$a $(, $more)?> std::ops::DerefMut for $parser<$a $(, $more)?> {
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.cursor
            }
        }
    };
}
pub(crate) use reads;

/// There is no such thing; perhaps one of these was meant.
pub fn unknown<'n>(what: &str, name: &str, span: Span, there_are: impl IntoIterator<Item = &'n str>) -> Diagnostic {
    Diagnostic::error(span, format!("there is no {what} `{name}`")).meant(closest(name, there_are))
}
