//! The parser: one recursive descent for declarations, statements, expressions, processes and queries, used by the
//! textual language and, piece by piece, by the XML reader.
//!
//! It goes on after a mistake (at the next `;` or `}`), nests at most [`MAX_DEPTH`] levels, and builds no expression
//! higher than [`MAX_HEIGHT`], so that neither it nor anything that walks the tree runs out of stack. It resolves no
//! names and checks no types; where old and new syntax differ it reads both and remembers which it saw.

mod decl;
mod expr;
mod primary;
mod process;
mod query;
mod stmt;
mod system;

use super::ast::{Expr, Ident, Nta, Query};
use super::lexer::Lexer;
use super::text::Text;
use super::token::{Kw, Punct, Tok, Token};
use crate::diag::{Diagnostic, SourceId, Span};
use crate::text::errors::{Errors, Read, Reported};

pub(super) use process::duplicate_location;
pub(super) use query::add_commented;
pub(super) use system::by_reference_if_old;

/// How deep brackets, blocks and types may nest.
pub const MAX_DEPTH: u32 = 200;

/// How high the tree of one expression may grow, for example by a chain of operators. Chains of `&&` or of `||` are
/// built balanced and so may be of any length.
pub const MAX_HEIGHT: u32 = 500;

/// How far the parser looks ahead: `sum ( i :`.
const LOOK: usize = 4;

/// The parser.
pub struct Parser<'a, 'e> {
    lexer: Lexer<'a>,
    text: &'a Text<'a>,
    errors: &'e mut Errors,
    ahead: [Token<'a>; LOOK],
    filled: usize,
    /// The span of the token last taken.
    prev: Span,
    /// Where it ends in the text.
    prev_end: usize,
    /// Where the expressions of the last `sup` or `inf` stand.
    bound_places: Vec<(usize, usize)>,
    depth: u32,
    /// The height of the expression last returned.
    height: u32,
    /// In queries: how many brackets are open, so that a line end outside them can end the query.
    brackets: u32,
    queries: bool,
    /// Whether something was seen that only the old syntax has (`const N 5;`, `;` between parameters …).
    pub old: bool,
}

impl<'a, 'e> Parser<'a, 'e> {
    /// Starts at the beginning of a text.
    pub fn new(text: &'a Text<'a>, errors: &'e mut Errors) -> Parser<'a, 'e> {
        Parser::with(text, errors, false, 0, text.text.len())
    }

    fn with(text: &'a Text<'a>, errors: &'e mut Errors, queries: bool, start: usize, end: usize) -> Parser<'a, 'e> {
        let place = text.span(start, start);
        let nothing =
            Token { tok: Tok::Eof, span: place, at: start, end: start, comment: (0, 0), first_on_line: false };
        Parser {
            lexer: Lexer::new(text, queries, start, end),
            text,
            errors,
            ahead: [nothing; LOOK],
            filled: 0,
            prev: place,
            prev_end: start,
            bound_places: Vec::new(),
            depth: 0,
            height: 0,
            brackets: 0,
            queries,
            old: false,
        }
    }

    // ---- looking and taking ----

    /// The token `n` places ahead; 0 is the next one.
    fn look(&mut self, n: usize) -> Token<'a> {
        while self.filled <= n {
            self.ahead[self.filled] = self.lexer.next(self.errors);
            self.filled += 1;
        }
        if self.errors.stopped() { Token { tok: Tok::Eof, ..self.ahead[n] } } else { self.ahead[n] }
    }

    fn peek(&mut self) -> Tok<'a> {
        self.look(0).tok
    }

    fn span(&mut self) -> Span {
        self.look(0).span
    }

    fn bump(&mut self) -> Token<'a> {
        let token = self.look(0);
        if token.tok != Tok::Eof {
            self.ahead.copy_within(1.., 0);
            self.filled -= 1;
            self.prev = token.span;
            self.prev_end = token.end;
        }
        token
    }

    fn at(&mut self, p: Punct) -> bool {
        self.peek() == Tok::P(p)
    }

    fn at_kw(&mut self, kw: Kw) -> bool {
        self.peek() == Tok::Kw(kw)
    }

    fn at_eof(&mut self) -> bool {
        self.peek() == Tok::Eof
    }

    /// Whether the next token is this word, which is a keyword only here.
    fn at_word(&mut self, word: &str) -> bool {
        self.peek() == Tok::Ident(word)
    }

    fn eat(&mut self, p: Punct) -> bool {
        let found = self.at(p);
        if found {
            self.bump();
        }
        found
    }

    /// `a, b, c`: one at least.
    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut all = vec![read(self)?];
        while self.eat(Punct::Comma) {
            all.push(read(self)?);
        }
        Ok(all)
    }

    fn eat_kw(&mut self, kw: Kw) -> bool {
        let found = self.at_kw(kw);
        if found {
            self.bump();
        }
        found
    }

    fn ident(&mut self, what: &str) -> Read<Ident> {
        match self.peek() {
            Tok::Ident(name) => {
                let span = self.bump().span;
                Ok(Ident { name: name.to_string(), span })
            }
            Tok::Kw(kw) => {
                let error = self.unexpected(what);
                Err(self.report(error.help(format!("`{}` is a reserved word; choose another name", kw.text()))))
            }
            _ => {
                let error = self.unexpected(what);
                Err(self.report(error))
            }
        }
    }

    // ---- complaining ----

    fn report(&mut self, error: Diagnostic) -> Reported {
        self.errors.push(error);
        Reported
    }

    /// The place right after the token last taken.
    fn end_of_prev(&self) -> Span {
        Span { start: self.prev.end, ..self.prev }
    }

    /// "expected …, found …" at the next token.
    fn unexpected(&mut self, expected: &str) -> Diagnostic {
        let token = self.look(0);
        // At the end, the last thing there was is the place to look at.
        let span = if token.tok == Tok::Eof { self.end_of_prev() } else { token.span };
        Diagnostic::error(span, format!("expected {expected}, found {}", token.tok.describe()))
            .label(format!("expected {expected}"))
    }

    /// Takes `p`, or complains: `after` says after what it is missing.
    fn require(&mut self, p: Punct, after: &str) -> Read<Span> {
        let token = self.look(0);
        if token.tok == Tok::P(p) {
            return Ok(self.bump().span);
        }
        let expected = format!("`{}`", p.text());
        let mut error = self.unexpected(&format!("{expected} {after}"));
        // If the next token is on another line, it is this line that lacks something.
        if token.first_on_line {
            error.span = Some(self.end_of_prev());
        }
        error = error.label(format!("{expected} missing"));
        error = match (p, token.tok) {
            (Punct::RParen | Punct::RBracket, Tok::P(Punct::Assign)) => {
                error.help("`=` assigns; to compare, write `==`")
            }
            (Punct::Semi | Punct::Comma, _) => error.help(format!("put {expected} here")),
            (Punct::RParen | Punct::RBracket | Punct::RBrace, _) => {
                error.help(format!("close the bracket with {expected}"))
            }
            _ => error,
        };
        Err(self.report(error))
    }

    fn expect_end(&mut self, what: &str) -> Read<()> {
        if self.at_eof() {
            return Ok(());
        }
        let error = self.unexpected(&format!("nothing more after {what}"));
        Err(self.report(error))
    }

    // ---- limits ----

    /// Goes one level down; too deep is fatal.
    fn enter(&mut self) -> Read<()> {
        self.depth += 1;
        if self.depth <= MAX_DEPTH {
            return Ok(());
        }
        let span = self.span();
        self.errors.stop(
            Diagnostic::error(span, format!("nested more than {MAX_DEPTH} levels deep"))
                .label("too deep")
                .help("split it up: give parts of it names"),
        );
        Err(Reported)
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        let result = self.enter().and_then(|()| read(self));
        self.depth -= 1;
        result
    }

    /// Notes the height of a new node above nodes of the given height; too high is fatal.
    fn grow(&mut self, below: u32, span: Span) -> Read<()> {
        self.height = below + 1;
        if self.height <= MAX_HEIGHT {
            return Ok(());
        }
        self.errors.stop(
            Diagnostic::error(span, format!("this expression chains more than {MAX_HEIGHT} operators"))
                .label("too long")
                .help("put brackets around parts of it, or move parts into functions"),
        );
        Err(Reported)
    }

    // ---- going on after a mistake ----

    /// Goes on after a mistake in something that started at `start`: skips to its end, and at least one token unless a
    /// block ends here.
    fn recover(&mut self, start: usize) {
        self.skip_item();
        if self.look(0).at == start && !self.at(Punct::RBrace) {
            self.bump();
            self.skip_item();
        }
    }

    /// Skips to the end of the current declaration or statement: past the next `;`, or past a `{…}` that is not
    /// followed by a `;`, or up to a `}` or a word that starts something new.
    fn skip_item(&mut self) {
        let mut depth = 0u32;
        loop {
            let token = self.look(0);
            match token.tok {
                Tok::Eof => return,
                Tok::P(Punct::LBrace) => depth += 1,
                Tok::P(Punct::RBrace) if depth == 0 => return,
                Tok::P(Punct::RBrace) => {
                    depth -= 1;
                    if depth == 0 {
                        self.bump();
                        self.eat(Punct::Semi);
                        return;
                    }
                }
                Tok::P(Punct::Semi) if depth == 0 => {
                    self.bump();
                    return;
                }
                Tok::Kw(Kw::Process | Kw::System | Kw::Typedef | Kw::State | Kw::Trans | Kw::Init)
                    if token.first_on_line =>
                {
                    return;
                }
                Tok::Kw(
                    Kw::Const | Kw::Int | Kw::Bool | Kw::Clock | Kw::Chan | Kw::Broadcast | Kw::Urgent | Kw::Return,
                ) if token.first_on_line && depth == 0 => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// Takes an opening bracket and skips up to and past the one that closes it.
    fn skip_bracketed(&mut self) {
        let open = self.bump();
        let mut depth = 1u32;
        while depth > 0 {
            match self.bump().tok {
                Tok::Eof => {
                    let error = Diagnostic::error(open.span, format!("{} is never closed", open.tok.describe()));
                    self.report(error.label("opened here").help("close it, or remove it"));
                    return;
                }
                Tok::P(Punct::LBrace | Punct::LParen | Punct::LBracket) => depth += 1,
                Tok::P(Punct::RBrace | Punct::RParen | Punct::RBracket) => depth -= 1,
                _ => {}
            }
        }
    }
}

/// A text longer than a span can point into.
fn too_long(source: SourceId, text: &str) -> Option<Diagnostic> {
    (u32::try_from(text.len()).is_err()).then(|| {
        Diagnostic::error(Span { source, start: 0, end: 0 }, "this file is larger than 4 GiB, which is the limit")
    })
}

/// Reads a model in the textual language (`.xta`, `.ta`; old syntax and new).
pub fn parse_xta(source: SourceId, text: &str) -> (Nta, Vec<Diagnostic>) {
    let mut nta = Nta::default();
    if let Some(error) = too_long(source, text) {
        return (nta, vec![error]);
    }
    if let Some(start) = text.find(|c: char| !c.is_whitespace() && c != '\u{feff}')
        && text[start..].starts_with('<')
    {
        let span = Span { source, start: start as u32, end: start as u32 + 1 };
        let error = Diagnostic::error(span, "expected a model in the textual language, found XML");
        return (nta, vec![error.help("if this is a model in XML, call the file .xml")]);
    }
    let mut errors = Errors::default();
    let text = Text::plain(source, text);
    let mut parser = Parser::new(&text, &mut errors);
    parser.file(&mut nta);
    nta.end = Some(parser.end_of_prev());
    let old = parser.old;
    by_reference_if_old(&mut nta, old);
    (nta, errors.finish())
}

/// Reads a query file (`.q`).
pub fn parse_queries(source: SourceId, text: &str) -> (Vec<Query>, Vec<Diagnostic>) {
    if let Some(error) = too_long(source, text) {
        return (Vec::new(), vec![error]);
    }
    let mut errors = Errors::default();
    let queries = queries_of(&Text::plain(source, text), &mut errors);
    (queries, errors.finish())
}

/// Reads the queries of a text.
pub(super) fn queries_of(text: &Text<'_>, errors: &mut Errors) -> Vec<Query> {
    let mut parser = Parser::with(text, errors, true, 0, text.text.len());
    parser.query_list()
}

/// Reads one expression, as from the command line.
pub fn parse_expr(source: SourceId, text: &str) -> (Option<Expr>, Vec<Diagnostic>) {
    if let Some(error) = too_long(source, text) {
        return (None, vec![error]);
    }
    let mut errors = Errors::default();
    let text = Text::plain(source, text);
    let mut parser = Parser::new(&text, &mut errors);
    let expr = parser.expr().and_then(|e| parser.expect_end("the expression").map(|()| e));
    (expr.ok(), errors.finish())
}
