//! The expressions of the data model: a small part of ECMAScript.
//!
//! Truth values, integers, string literals (the literals of enumerations), names, `In('state')`, the operators below, and
//! integer division as `Math.trunc(a / b)` or `Math.floor(a / b)`: a bare `/` gives fractions, which there are none of here.

use dashu_int::IBig;

use crate::diag::shorten;
use crate::diag::{Diagnostic, Span};
use crate::uppaal::text::Text;

/// How deeply expressions may be nested.
const MAX_DEPTH: usize = 200;

/// An expression in its place.
#[derive(Debug, Clone)]
pub struct Expr {
    pub node: Node,
    pub span: Span,
    depth: usize,
}

/// The kinds of expression.
#[derive(Debug, Clone)]
pub enum Node {
    Bool(bool),
    Int(IBig),
    /// A string literal.
    Text(String),
    /// A variable.
    Name(String),
    /// `In('state')`
    In(String),
    Not(Box<Expr>),
    Neg(Box<Expr>),
    Binary(Op, Box<Expr>, Box<Expr>),
    /// `c ? a : b`
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
}

/// The operators with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Or,
    And,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Add,
    Sub,
    Mul,
    Rem,
    /// `Math.trunc(a / b)`
    Trunc,
    /// `Math.floor(a / b)`
    Floor,
}

/// The operators by precedence, loosest first; in a level the longer ones first.
const LEVELS: [&[(&str, Op)]; 6] = [
    &[("||", Op::Or)],
    &[("&&", Op::And)],
    &[("===", Op::Eq), ("==", Op::Eq), ("!==", Op::Ne), ("!=", Op::Ne)],
    &[("<=", Op::Le), ("<", Op::Lt), (">=", Op::Ge), (">", Op::Gt)],
    &[("+", Op::Add), ("-", Op::Sub)],
    &[("*", Op::Mul), ("%", Op::Rem)],
];

/// The level of `+` and below: what can stand before and after a `/`.
const SUM: usize = 4;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Tok {
    Name(String),
    Number(String),
    Text(String),
    P(&'static str),
    /// What belongs to no token here.
    Odd(String),
    End,
}

impl Tok {
    fn describe(&self) -> String {
        match self {
            Tok::Name(text) | Tok::Number(text) | Tok::Odd(text) => format!("`{}`", shorten(text)),
            Tok::Text(text) => format!("'{}'", shorten(text)),
            Tok::P(p) => format!("`{p}`"),
            Tok::End => "the end of the expression".into(),
        }
    }
}

/// The longer ones first. Those that mean nothing here are cut too, so that they can be named.
const PUNCTUATION: [&str; 41] = [
    ">>>=", "===", "!==", ">>>", "<<=", ">>=", "**=", "=>", "&&", "||", "==", "!=", "<=", ">=", "++", "--", "+=", "-=",
    "*=", "/=", "%=", "**", "<<", ">>", "??", "?.", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", "(", ")", ".",
    ",", "=",
];

fn tokens(text: &Text) -> Vec<(Tok, Span)> {
    let all = &*text.text;
    let mut out = vec![];
    let mut at = 0;
    loop {
        at += all[at..].len() - all[at..].trim_start().len();
        let rest = &all[at..];
        let Some(first) = rest.chars().next() else { break };
        let word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let run = |inside: &dyn Fn(char) -> bool| rest.find(|c| !inside(c)).unwrap_or(rest.len());
        let (tok, len) = match first {
            '0'..='9' => {
                let len = run(&word);
                let digits = &rest[..len];
                let plain = digits.bytes().all(|b| b.is_ascii_digit()) && (len == 1 || !digits.starts_with('0'));
                (if plain { Tok::Number(digits.into()) } else { Tok::Odd(digits.into()) }, len)
            }
            '\'' | '"' => match rest[1..].find([first, '\\', '\n']) {
                Some(end) if rest[1 + end..].starts_with(first) => (Tok::Text(rest[1..1 + end].into()), end + 2),
                _ => (Tok::Odd(first.into()), 1),
            },
            c if word(c) => {
                let len = run(&word);
                (Tok::Name(rest[..len].into()), len)
            }
            c => match PUNCTUATION.iter().find(|p| rest.starts_with(**p)) {
                Some(p) => (Tok::P(p), p.len()),
                None => (Tok::Odd(c.into()), c.len_utf8()),
            },
        };
        out.push((tok, text.span(at, at + len)));
        at += len;
    }
    out.push((Tok::End, text.span(all.len(), all.len())));
    out
}

/// Reads an expression that is the whole text.
pub fn parse(text: &Text) -> Result<Expr, Diagnostic> {
    let mut parser = Parser { tokens: tokens(text), at: 0, depth: 0 };
    let e = parser.expression()?;
    match parser.peek() {
        Tok::End => Ok(e),
        Tok::P("/") => Err(parser.fraction()),
        found => Err(Diagnostic::error(parser.span(), format!("expected an operator, found {}", found.describe()))),
    }
}

struct Parser {
    tokens: Vec<(Tok, Span)>,
    at: usize,
    depth: usize,
}

type Read<T> = Result<T, Diagnostic>;

impl Parser {
    fn peek(&self) -> &Tok {
        &self.tokens[self.at].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    fn bump(&mut self) -> (Tok, Span) {
        let t = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        t
    }

    fn take(&mut self, p: &'static str) -> bool {
        let is = *self.peek() == Tok::P(p);
        if is {
            self.bump();
        }
        is
    }

    fn require(&mut self, p: &'static str) -> Read<()> {
        if self.take(p) {
            return Ok(());
        }
        if *self.peek() == Tok::P("/") {
            return Err(self.fraction());
        }
        Err(Diagnostic::error(self.span(), format!("expected `{p}`, found {}", self.peek().describe())))
    }

    fn fraction(&self) -> Diagnostic {
        Diagnostic::error(self.span(), "`/` may give fractions, which are not supported")
            .help("write `Math.trunc(a / b)` or `Math.floor(a / b)`")
    }

    fn make(&self, span: Span, node: Node) -> Read<Expr> {
        let depth = 1 + match &node {
            Node::Bool(_) | Node::Int(_) | Node::Text(_) | Node::Name(_) | Node::In(_) => 0,
            Node::Not(a) | Node::Neg(a) => a.depth,
            Node::Binary(_, a, b) => a.depth.max(b.depth),
            Node::Cond(a, b, c) => a.depth.max(b.depth).max(c.depth),
        };
        if depth > MAX_DEPTH {
            return Err(Diagnostic::error(span, "this is nested too deeply"));
        }
        Ok(Expr { node, span, depth })
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Parser) -> Read<T>) -> Read<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Diagnostic::error(self.span(), "this is nested too deeply"));
        }
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn expression(&mut self) -> Read<Expr> {
        self.deeper(|p| {
            let c = p.level(0)?;
            if !p.take("?") {
                return Ok(c);
            }
            let a = p.expression()?;
            p.require(":")?;
            let b = p.expression()?;
            p.make(c.span.to(b.span), Node::Cond(c.into(), a.into(), b.into()))
        })
    }

    fn level(&mut self, level: usize) -> Read<Expr> {
        let Some(operators) = LEVELS.get(level) else { return self.prefixed() };
        let mut left = self.level(level + 1)?;
        while let Some(&(_, op)) = operators.iter().find(|(p, _)| *self.peek() == Tok::P(p)) {
            self.bump();
            let right = self.level(level + 1)?;
            left = self.make(left.span.to(right.span), Node::Binary(op, left.into(), right.into()))?;
        }
        Ok(left)
    }

    fn prefixed(&mut self) -> Read<Expr> {
        let start = self.span();
        if self.take("!") {
            let a = self.deeper(Parser::prefixed)?;
            return self.make(start.to(a.span), Node::Not(a.into()));
        }
        if self.take("-") {
            let a = self.deeper(Parser::prefixed)?;
            return self.make(start.to(a.span), Node::Neg(a.into()));
        }
        self.primary()
    }

    fn primary(&mut self) -> Read<Expr> {
        let (tok, span) = self.bump();
        match tok {
            Tok::Number(digits) => match digits.parse() {
                Ok(n) => self.make(span, Node::Int(n)),
                Err(_) => Err(Diagnostic::error(span, "this is not a number")),
            },
            Tok::Text(text) => self.make(span, Node::Text(text)),
            Tok::P("(") => {
                let e = self.expression()?;
                let end = self.span();
                self.require(")")?;
                Ok(Expr { span: span.to(end), ..e })
            }
            Tok::Name(name) => match name.as_str() {
                "true" | "false" => self.make(span, Node::Bool(name == "true")),
                "In" => self.is_in(span),
                "Math" => self.division(span),
                "_event" | "_sessionid" | "_name" | "_ioprocessors" | "_x" => {
                    Err(Diagnostic::error(span, format!("the system variable `{name}` is not supported")))
                }
                "null" | "undefined" | "new" | "function" | "typeof" | "void" | "delete" | "this" | "NaN"
                | "Infinity" => Err(Diagnostic::error(span, format!("`{name}` is not supported"))),
                _ => match self.peek() {
                    Tok::P("(") => Err(Diagnostic::error(span, format!("there is no function `{}`", shorten(&name)))
                        .help("the functions are In, Math.trunc and Math.floor")),
                    Tok::P(".") => Err(Diagnostic::error(self.span(), "objects are not supported")),
                    _ => self.make(span, Node::Name(name)),
                },
            },
            Tok::Odd(text) if text == "'" || text == "\"" => {
                Err(Diagnostic::error(span, "this string is not closed, or has a `\\` in it, which is not supported"))
            }
            tok => Err(Diagnostic::error(span, format!("expected an expression, found {}", tok.describe()))),
        }
    }

    /// `In('state')`
    fn is_in(&mut self, start: Span) -> Read<Expr> {
        self.require("(")?;
        let (tok, span) = self.bump();
        let Tok::Text(name) = tok else {
            return Err(Diagnostic::error(
                span,
                format!("expected the name of a state in quotes, found {}", tok.describe()),
            ));
        };
        let end = self.span();
        self.require(")")?;
        self.make(start.to(end), Node::In(name))
    }

    /// `Math.trunc(a / b)`
    fn division(&mut self, start: Span) -> Read<Expr> {
        self.require(".")?;
        let (tok, span) = self.bump();
        let op = match &tok {
            Tok::Name(name) if name == "trunc" => Op::Trunc,
            Tok::Name(name) if name == "floor" => Op::Floor,
            tok => {
                return Err(Diagnostic::error(span, format!("expected `trunc` or `floor`, found {}", tok.describe())));
            }
        };
        self.require("(")?;
        // A `/` binds like a `*`, and must be the last of its level: what stands before it may be a product.
        self.deeper(|p| {
            let a = p.level(SUM + 1)?;
            p.require("/")?;
            let b = p.prefixed()?;
            let end = p.span();
            p.require(")")?;
            p.make(start.to(end), Node::Binary(op, a.into(), b.into()))
        })
    }
}

impl Expr {
    /// All parts, the outermost first.
    pub fn visit<'a>(&'a self, see: &mut dyn FnMut(&'a Expr)) {
        see(self);
        match &self.node {
            Node::Bool(_) | Node::Int(_) | Node::Text(_) | Node::Name(_) | Node::In(_) => {}
            Node::Not(a) | Node::Neg(a) => a.visit(see),
            Node::Binary(_, a, b) => [a, b].into_iter().for_each(|e| e.visit(see)),
            Node::Cond(a, b, c) => [a, b, c].into_iter().for_each(|e| e.visit(see)),
        }
    }
}
