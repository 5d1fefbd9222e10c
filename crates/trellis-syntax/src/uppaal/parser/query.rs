//! Queries: `A[]`, `E<>`, `E[]`, `A<>`, `-->`, `sup`, `inf`, `bounds`; others are named and refused later.
//!
//! A query ends at a `;`, or at the end of its line unless a bracket is open, the line ends in an operator or a `\`, or
//! the next line starts with an infix operator.

use super::{Parser, Read};
use crate::diag::Diagnostic;
use crate::uppaal::ast::{Expr, Nta, Query, QueryKind};
use crate::uppaal::token::{Punct, Tok};

impl Parser<'_, '_> {
    /// All queries up to the end.
    pub(super) fn query_list(&mut self) -> Vec<Query> {
        let mark = self.errors.mark();
        let mut queries = self.all_queries();
        if self.errors.stopped() {
            return queries;
        }
        // What is wrong with a query may have been found while the one before it was read.
        for error in self.errors.since(mark) {
            let before =
                |q: &&mut Query| error.span.is_some_and(|s| s.source == q.span.source && s.start >= q.span.start);
            if let Some(query) = queries.iter_mut().rev().find(before) {
                match &mut query.kind {
                    QueryKind::Malformed(errors) => errors.push(error.clone()),
                    kind => *kind = QueryKind::Malformed(vec![error.clone()]),
                }
            }
        }
        queries
    }

    fn all_queries(&mut self) -> Vec<Query> {
        let mut queries = Vec::new();
        loop {
            self.brackets = 0;
            if self.eat(Punct::Semi) {
                continue;
            }
            let start = self.look(0);
            if start.tok == Tok::Eof {
                return queries;
            }
            let comment = self.lexer.comment_above(&start);
            let kind = self.query().and_then(|kind| self.query_end().map(|()| kind));
            match kind {
                // One question for each of several expressions, and two for each range.
                Ok(QueryKind::Bounds { sup, when, of }) if of.len() > 1 || start.tok == RANGE => {
                    let places = std::mem::take(&mut self.bound_places);
                    let before = &self.text.text[start.at..places[0].0];
                    let ends = match before.strip_prefix("bounds") {
                        Some(rest) => vec![(false, format!("inf{rest}")), (true, format!("sup{rest}"))],
                        None => vec![(sup, before.to_string())],
                    };
                    for (of, (from, to)) in of.into_iter().zip(places) {
                        for (sup, before) in &ends {
                            let text = one_line(&format!("{before}{}", &self.text.text[from..to]));
                            let kind = QueryKind::Bounds { sup: *sup, when: when.clone(), of: vec![of.clone()] };
                            let (span, comment) = (start.span.to(self.prev), comment.clone());
                            queries.push(Query { kind, span, text, comment, recorded: None });
                        }
                    }
                }
                Ok(kind) => {
                    let text = one_line(&self.text.text[start.at..self.prev_end.max(start.at)]);
                    queries.push(Query { kind, span: start.span.to(self.prev), text, comment, recorded: None });
                }
                Err(_) => {
                    self.skip_query(start.at);
                    let text = one_line(&self.text.text[start.at..self.prev_end.max(start.at)]);
                    let kind = QueryKind::Malformed(vec![]);
                    queries.push(Query { kind, span: start.span.to(self.prev), text, comment, recorded: None });
                }
            }
        }
    }

    fn query_end(&mut self) -> Read<()> {
        let next = self.look(0);
        if next.first_on_line || matches!(next.tok, Tok::Eof | Tok::P(Punct::Semi)) {
            return Ok(());
        }
        let error = self.unexpected("an operator or the end of the query");
        Err(self.report(match next.tok {
            Tok::P(Punct::RParen | Punct::RBracket | Punct::RBrace) => error.help("this bracket was not opened"),
            Tok::P(Punct::LeadsTo) => error.help("`-->` stands between two conditions, alone"),
            _ => error.help("put each query on a line of its own"),
        }))
    }

    /// Skips to the end of a query that started at `start`.
    fn skip_query(&mut self, start: usize) {
        let mut depth = 0u32;
        loop {
            let next = self.look(0);
            match next.tok {
                Tok::Eof => return,
                _ if next.at == start => {}
                _ if depth == 0 && next.first_on_line => return,
                Tok::P(Punct::Semi) if depth == 0 => return,
                Tok::P(Punct::LBrace | Punct::LParen | Punct::LBracket) => depth += 1,
                Tok::P(Punct::RBrace | Punct::RParen | Punct::RBracket) => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.bump();
        }
    }

    fn query(&mut self) -> Read<QueryKind> {
        let kind = match (self.peek(), self.look(1).tok, self.look(2).tok) {
            (Tok::Ident("A"), Tok::P(Punct::LBracket), Tok::P(Punct::RBracket)) => self.path(QueryKind::Invariantly)?,
            (Tok::Ident("E"), Tok::P(Punct::LBracket), Tok::P(Punct::RBracket)) => {
                self.path(QueryKind::PotentiallyAlways)?
            }
            (Tok::Ident("E"), Tok::P(Punct::Lt), Tok::P(Punct::Gt)) => {
                if self.look(3).tok == Tok::Ident("control") {
                    return Ok(self.unsupported_query("E<> control:"));
                }
                self.path(QueryKind::Possibly)?
            }
            (Tok::Ident("A"), Tok::P(Punct::Lt), Tok::P(Punct::Gt)) => self.path(QueryKind::Eventually)?,
            (Tok::Ident("A"), Tok::P(Punct::LBracket), _) => return Ok(self.unsupported_query("A[… U …]")),
            (Tok::Ident("E"), Tok::P(Punct::LBracket), _) => return Ok(self.unsupported_query("E[…](…)")),
            (Tok::Ident(word @ ("sup" | "inf" | "bounds")), Tok::P(Punct::Colon | Punct::LBrace), _) => {
                let after = match word {
                    "sup" => "after `sup`",
                    "inf" => "after `inf`",
                    _ => "after `bounds`",
                };
                self.bounds(word == "sup", after)?
            }
            (Tok::Ident(word), next, _) if is_unsupported(word, next) => {
                return Ok(self.unsupported_query(word));
            }
            (Tok::P(Punct::LBrace), ..) if self.braces_lead_to() => {
                let left = self.braced("before `-->`")?;
                self.bump();
                QueryKind::LeadsTo(left, self.braced("after `-->`")?)
            }
            (Tok::P(Punct::LBrace), ..) => return Ok(self.unsupported_query("{…} control:")),
            _ => self.leads_to()?,
        };
        if self.at_word("under") {
            return Ok(self.unsupported_query("under"));
        }
        Ok(kind)
    }

    /// Catches `A[] E<> p`: a condition in a query does not itself start with a path quantifier.
    pub(super) fn no_path_quantifier(&mut self) -> Read<()> {
        let (path, open, close) = (self.look(0), self.look(1), self.look(2));
        let sign = match (path.tok, open.tok, close.tok) {
            (Tok::Ident("A" | "E"), Tok::P(Punct::LBracket), Tok::P(Punct::RBracket)) => "[]",
            (Tok::Ident("A" | "E"), Tok::P(Punct::Lt), Tok::P(Punct::Gt)) => "<>",
            _ => return Ok(()),
        };
        if path.first_on_line {
            return Ok(());
        }
        let found = path.tok.describe();
        let message = format!("expected a condition, found {}{sign}`", found.trim_end_matches('`'));
        let error = Diagnostic::error(path.span.to(close.span), message);
        Err(self.report(error.label("a second path quantifier").help("path quantifiers cannot be nested")))
    }

    fn path(&mut self, kind: fn(Expr) -> QueryKind) -> Read<QueryKind> {
        for _ in 0..3 {
            self.bump();
        }
        self.state_formula().map(kind)
    }

    fn state_formula(&mut self) -> Read<Expr> {
        let expr = self.expr()?;
        self.no_assignment(&expr, "a query");
        Ok(expr)
    }

    fn leads_to(&mut self) -> Read<QueryKind> {
        let left = self.state_formula()?;
        if !self.at(Punct::LeadsTo) {
            if self.at(Punct::Arrow) {
                let error = self.unexpected("`-->`");
                return Err(self.report(error.help("leads-to is written `-->`")));
            }
            let error = Diagnostic::error(left.span, "expected a query, found a condition alone");
            return Err(self.report(
                error
                    .label("not a query by itself")
                    .help("start with `E<>` (can it happen?) or `A[]` (is it always so?), or write `p --> q`"),
            ));
        }
        self.bump();
        let right = self.state_formula()?;
        Ok(QueryKind::LeadsTo(left, right))
    }

    /// Is this `{p} --> …`?
    fn braces_lead_to(&mut self) -> bool {
        let text = &self.text.text[self.look(0).at..];
        let mut depth = 0;
        let end = text.find(|c: char| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth == 0
        });
        end.is_some_and(|end| text[end + 1..].trim_start().starts_with("-->"))
    }

    /// A condition, in braces or not.
    fn braced(&mut self, place: &str) -> Read<Expr> {
        if !self.eat(Punct::LBrace) {
            return self.state_formula();
        }
        let p = self.bracketed(Self::state_formula)?;
        self.require(Punct::RBrace, place)?;
        Ok(p)
    }

    /// `sup: a, b` or `sup{p}: a, b`; `inf` and `bounds` likewise
    fn bounds(&mut self, sup: bool, after: &'static str) -> Read<QueryKind> {
        self.bump();
        let mut when = None;
        if self.eat(Punct::LBrace) {
            when = Some(self.bracketed(Self::state_formula)?);
            self.require(Punct::RBrace, "after the condition")?;
        }
        self.require(Punct::Colon, after)?;
        self.bound_places.clear();
        let of = self.list(|p| {
            let from = p.look(0).at;
            let e = p.expr()?;
            p.bound_places.push((from, p.prev_end));
            Ok(e)
        })?;
        Ok(QueryKind::Bounds { sup, when, of })
    }

    /// Skips a query of a kind that is not supported.
    fn unsupported_query(&mut self, what: &str) -> QueryKind {
        let mut depth = 0u32;
        let mut first = true;
        loop {
            let next = self.look(0);
            match next.tok {
                Tok::Eof => break,
                _ if depth == 0 && next.first_on_line && !first => break,
                Tok::P(Punct::Semi) if depth == 0 => break,
                Tok::P(Punct::LBrace | Punct::LParen | Punct::LBracket) => depth += 1,
                Tok::P(Punct::RBrace | Punct::RParen | Punct::RBracket) => depth = depth.saturating_sub(1),
                _ => {}
            }
            first = false;
            self.bump();
        }
        QueryKind::Unsupported(what.to_string())
    }
}

/// Whether a query that starts with this word is one that UPPAAL knows and Trellis does not.
fn is_unsupported(word: &str, next: Tok<'_>) -> bool {
    match word {
        "control" | "scenario" => next == Tok::P(Punct::Colon),
        "control_t" => next == Tok::P(Punct::Star),
        "Pr" | "minE" | "maxE" | "minPr" | "maxPr" | "simulate" | "loadStrategy" | "saveStrategy" => {
            matches!(next, Tok::P(Punct::LBracket | Punct::LParen | Punct::LBrace) | Tok::Int(_))
        }
        "strategy" | "Pmax" => matches!(next, Tok::Ident(_) | Tok::P(Punct::LParen)),
        _ => false,
    }
}

/// How a question for both bounds begins.
const RANGE: Tok<'_> = Tok::Ident("bounds");

/// Several lines as one.
fn one_line(text: &str) -> String {
    if !text.contains('\n') {
        return text.trim().to_string();
    }
    let lines = text.lines().map(|line| line.trim().trim_end_matches('\\').trim_end());
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Puts a comment from elsewhere (an XML element) on queries, and what was recorded about them.
pub(in crate::uppaal) fn add_commented(nta: &mut Nta, queries: Vec<Query>, comment: &str, recorded: Option<bool>) {
    // An outcome belongs to one question.
    let recorded = recorded.filter(|_| queries.len() == 1);
    nta.queries.extend(queries.into_iter().map(|mut query| {
        query.recorded = recorded;
        if !comment.is_empty() {
            query.comment = comment.to_string();
        }
        query
    }));
}
