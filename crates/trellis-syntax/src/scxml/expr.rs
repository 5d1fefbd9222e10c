//! The expressions of the data model: a small part of ECMAScript.
//!
//! Truth values, integers, string literals, `undefined` and `null`, arrays and objects of these, names, members, `In('state')`,
//! `typeof`, `instanceof Array`, `concat`, the operators below, and integer division as `Math.trunc(a / b)` or `Math.floor(a / b)`:
//! a bare `/` gives fractions, which there are none of here. What begins with a word that no expression of ECMAScript begins with
//! is read as [`Node::Illegal`]: W3C says what happens when it is evaluated.

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
    Undefined,
    Null,
    Array(Vec<Expr>),
    Object(Vec<(String, Expr)>),
    /// `a.name`
    Member(Box<Expr>, String),
    /// `a[b]`
    Index(Box<Expr>, Box<Expr>),
    Typeof(Box<Expr>),
    /// `a instanceof Array`
    IsArray(Box<Expr>),
    /// `'name' in a`
    Has(String, Box<Expr>),
    /// `a.concat(b, …)`
    Concat(Vec<Expr>),
    /// What is no expression in ECMAScript either.
    Illegal,
}

/// The operators with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    /// `==`
    Eq,
    Ne,
    /// `===`
    Same,
    NotSame,
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
const LEVELS: [&[(&str, Op)]; 9] = [
    &[("||", Op::Or)],
    &[("&&", Op::And)],
    &[("|", Op::BitOr)],
    &[("^", Op::BitXor)],
    &[("&", Op::BitAnd)],
    &[("===", Op::Same), ("==", Op::Eq), ("!==", Op::NotSame), ("!=", Op::Ne)],
    &[("<=", Op::Le), ("<", Op::Lt), (">=", Op::Ge), (">", Op::Gt)],
    &[("+", Op::Add), ("-", Op::Sub)],
    &[("*", Op::Mul), ("%", Op::Rem)],
];

/// The level of `+` and below: what can stand before and after a `/`.
const SUM: usize = 7;
/// The level of `<`.
const RELATION: usize = 6;

/// Words that no expression begins with.
const STATEMENTS: [&str; 21] = [
    "return", "continue", "break", "if", "else", "for", "while", "do", "switch", "case", "default", "throw", "try",
    "catch", "finally", "var", "with", "const", "debugger", "import", "export",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tok {
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
const PUNCTUATION: [&str; 49] = [
    ">>>=", "===", "!==", ">>>", "<<=", ">>=", "**=", "=>", "&&", "||", "==", "!=", "<=", ">=", "++", "--", "+=", "-=",
    "*=", "/=", "%=", "**", "<<", ">>", "??", "?.", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", "(", ")", ".",
    ",", "=", "|", "&", "^", "[", "]", "{", "}", ";",
];

fn tokens(text: &Text) -> Vec<(Tok, Span)> {
    let all = &*text.text;
    let mut out = vec![];
    let mut at = 0;
    loop {
        at += all[at..].len() - all[at..].trim_start().len();
        let rest = &all[at..];
        let comment = [("//", "\n"), ("/*", "*/")].iter().find(|(open, _)| rest.starts_with(open));
        if let Some((_, close)) = comment {
            at += rest[2..].find(close).map_or(rest.len(), |n| n + 2 + close.len());
            continue;
        }
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
    let mut parser = Parser::new(text);
    if matches!(parser.peek(), Tok::Name(word) if STATEMENTS.contains(&word.as_str())) {
        return parser.make(text.span(0, text.text.len()), Node::Illegal);
    }
    let e = parser.expression()?;
    match parser.peek() {
        Tok::End => Ok(e),
        Tok::P("/") => Err(parser.fraction()),
        found => Err(Diagnostic::error(parser.span(), format!("expected an operator, found {}", found.describe()))),
    }
}

pub struct Parser {
    tokens: Vec<(Tok, Span)>,
    at: usize,
    depth: usize,
}

type Read<T> = Result<T, Diagnostic>;

impl Parser {
    pub fn new(text: &Text) -> Parser {
        Parser { tokens: tokens(text), at: 0, depth: 0 }
    }

    pub fn peek(&self) -> &Tok {
        &self.tokens[self.at].0
    }

    pub fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    pub fn bump(&mut self) -> (Tok, Span) {
        let t = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        t
    }

    pub fn take(&mut self, p: &'static str) -> bool {
        let is = *self.peek() == Tok::P(p);
        if is {
            self.bump();
        }
        is
    }

    pub fn require(&mut self, p: &'static str) -> Read<()> {
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

    pub fn make(&self, span: Span, node: Node) -> Read<Expr> {
        let depth = 1 + node.parts().iter().map(|e| e.depth).max().unwrap_or(0);
        if depth > MAX_DEPTH {
            return Err(Diagnostic::error(span, "this is nested too deeply"));
        }
        Ok(Expr { node, span, depth })
    }

    pub fn deeper<T>(&mut self, read: impl FnOnce(&mut Parser) -> Read<T>) -> Read<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Diagnostic::error(self.span(), "this is nested too deeply"));
        }
        let result = read(self);
        self.depth -= 1;
        result
    }

    pub fn expression(&mut self) -> Read<Expr> {
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
        if level == RELATION && *self.peek() == Tok::Name("in".into()) {
            let Node::Text(field) = left.node else {
                return Err(Diagnostic::error(left.span, "expected the name of a member in quotes"));
            };
            self.bump();
            let of = self.level(level + 1)?;
            return self.make(left.span.to(of.span), Node::Has(field, of.into()));
        }
        if level == RELATION && *self.peek() == Tok::Name("instanceof".into()) {
            self.bump();
            let (class, span) = self.bump();
            if class != Tok::Name("Array".into()) {
                return Err(Diagnostic::error(span, format!("expected `Array`, found {}", class.describe())));
            }
            left = self.make(left.span.to(span), Node::IsArray(left.into()))?;
        }
        Ok(left)
    }

    pub fn prefixed(&mut self) -> Read<Expr> {
        let start = self.span();
        if self.take("!") {
            let a = self.deeper(Parser::prefixed)?;
            return self.make(start.to(a.span), Node::Not(a.into()));
        }
        if self.take("-") {
            let a = self.deeper(Parser::prefixed)?;
            return self.make(start.to(a.span), Node::Neg(a.into()));
        }
        if *self.peek() == Tok::Name("typeof".into()) {
            self.bump();
            let a = self.deeper(Parser::prefixed)?;
            return self.make(start.to(a.span), Node::Typeof(a.into()));
        }
        self.postfixed()
    }

    /// Members and elements.
    fn postfixed(&mut self) -> Read<Expr> {
        let mut e = self.primary()?;
        while !matches!(e.node, Node::Int(_)) {
            if self.take("[") {
                let at = self.expression()?;
                let end = self.span();
                self.require("]")?;
                e = self.make(e.span.to(end), Node::Index(e.into(), at.into()))?;
                continue;
            }
            if !self.take(".") {
                break;
            }
            let (tok, span) = self.bump();
            let Tok::Name(name) = tok else {
                return Err(Diagnostic::error(
                    span,
                    format!("expected the name of a member, found {}", tok.describe()),
                ));
            };
            let whole = e.span.to(span);
            e = match self.peek() {
                Tok::P("(") if name == "concat" => {
                    self.bump();
                    let mut parts = vec![e];
                    parts.extend(self.list(")")?);
                    self.make(whole, Node::Concat(parts))?
                }
                Tok::P("(") => {
                    return Err(Diagnostic::error(span, format!("there is no method `{}`", shorten(&name)))
                        .help("the only one is `concat`, of arrays"));
                }
                _ => self.make(whole, Node::Member(e.into(), name))?,
            };
        }
        Ok(e)
    }

    /// Expressions up to a bracket.
    fn list(&mut self, close: &'static str) -> Read<Vec<Expr>> {
        let mut all = vec![];
        while !self.take(close) {
            all.push(self.expression()?);
            if !self.take(",") {
                self.require(close)?;
                break;
            }
        }
        Ok(all)
    }

    /// `{a: 1, 'b': 2}`
    fn object(&mut self, start: Span) -> Read<Expr> {
        let mut fields: Vec<(String, Expr)> = vec![];
        while *self.peek() != Tok::P("}") {
            let (tok, span) = self.bump();
            let (Tok::Name(name) | Tok::Text(name)) = tok else {
                return Err(Diagnostic::error(
                    span,
                    format!("expected the name of a member, found {}", tok.describe()),
                ));
            };
            self.require(":")?;
            fields.push((name, self.expression()?));
            if !self.take(",") {
                break;
            }
        }
        let end = self.span();
        self.require("}")?;
        self.make(start.to(end), Node::Object(fields))
    }

    fn primary(&mut self) -> Read<Expr> {
        let (tok, span) = self.bump();
        match tok {
            Tok::P("[") => {
                let parts = self.deeper(|p| p.list("]"))?;
                self.make(span.to(self.tokens[self.at - 1].1), Node::Array(parts))
            }
            Tok::P("{") => self.deeper(|p| p.object(span)),
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
                "_x" => Err(Diagnostic::error(span, format!("the system variable `{name}` is not supported"))),
                "null" => self.make(span, Node::Null),
                "undefined" => self.make(span, Node::Undefined),
                "new" | "function" | "void" | "delete" | "this" | "NaN" | "Infinity" => {
                    Err(Diagnostic::error(span, format!("`{name}` is not supported")))
                }
                _ => match self.peek() {
                    Tok::P("(") => Err(Diagnostic::error(span, format!("there is no function `{}`", shorten(&name)))
                        .help("the functions are In, Math.trunc and Math.floor")),
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

impl Node {
    /// The parts, from left to right.
    fn parts(&self) -> Vec<&Expr> {
        match self {
            Node::Not(a) | Node::Neg(a) | Node::Member(a, _) | Node::Typeof(a) | Node::IsArray(a) => vec![a],
            Node::Has(_, a) => vec![a],
            Node::Binary(_, a, b) | Node::Index(a, b) => vec![a, b],
            Node::Cond(a, b, c) => vec![a, b, c],
            Node::Array(all) | Node::Concat(all) => all.iter().collect(),
            Node::Object(fields) => fields.iter().map(|(_, e)| e).collect(),
            _ => vec![],
        }
    }
}

impl Node {
    /// The same, to be changed.
    pub fn parts_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Node::Not(a) | Node::Neg(a) | Node::Member(a, _) | Node::Typeof(a) | Node::IsArray(a) => vec![a],
            Node::Has(_, a) => vec![a],
            Node::Binary(_, a, b) | Node::Index(a, b) => vec![a, b],
            Node::Cond(a, b, c) => vec![a, b, c],
            Node::Array(all) | Node::Concat(all) => all.iter_mut().collect(),
            Node::Object(fields) => fields.iter_mut().map(|(_, e)| e).collect(),
            _ => vec![],
        }
    }
}

impl Expr {
    /// Something that stands here.
    pub fn new(node: Node, span: Span) -> Expr {
        Expr { node, span, depth: 1 }
    }

    /// All parts, the outermost first.
    pub fn visit<'a>(&'a self, see: &mut dyn FnMut(&'a Expr)) {
        see(self);
        self.node.parts().into_iter().for_each(|e| e.visit(see));
    }

    /// Is it written out in full?
    pub fn is_literal(&self) -> bool {
        let known = |e: &Expr| {
            let plain = matches!(e.node, Node::Bool(_) | Node::Int(_) | Node::Text(_) | Node::Null);
            let negative = matches!(&e.node, Node::Neg(a) if matches!(a.node, Node::Int(_)));
            plain || negative || matches!(e.node, Node::Array(_) | Node::Object(_))
        };
        let mut all = true;
        self.visit(&mut |e| all &= known(e));
        all
    }
}
