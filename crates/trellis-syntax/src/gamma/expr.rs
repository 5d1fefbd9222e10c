//! Expressions, triggers and actions.

use super::ast::{Action, ActionKind, Expr, ExprKind, Name, Trigger, Type, Variable};
use super::parser::Parser;
use crate::diag::{Diagnostic, Span};
use crate::text::cursor::Reads;
use crate::text::errors::Read;
use crate::text::tokens::Tok;

/// Words that are no names where an expression goes on.
const WORDS: [&str; 6] = ["and", "or", "xor", "imply", "div", "mod"];

impl<'a> Parser<'a> {
    fn expr(kind: ExprKind<'a>, span: Span) -> Expr<'a> {
        Expr { kind, span }
    }

    fn two(op: &'static str, a: Expr<'a>, b: Expr<'a>) -> Expr<'a> {
        let span = a.span.to(b.span);
        Self::expr(ExprKind::Two(op, Box::new([a, b])), span)
    }

    /// An expression.
    pub fn expression(&mut self) -> Read<Expr<'a>> {
        let start = self.peek().span;
        self.down(start, |p| {
            let c = p.implication()?;
            if !p.take("?") {
                return Ok(c);
            }
            let a = p.expression()?;
            p.require(":")?;
            let b = p.expression()?;
            let span = c.span.to(b.span);
            Ok(Self::expr(ExprKind::Ite(Box::new([c, a, b])), span))
        })
    }

    fn implication(&mut self) -> Read<Expr<'a>> {
        let a = self.left(0)?;
        if !self.take("imply") {
            return Ok(a);
        }
        let span = self.peek().span;
        let b = self.down(span, Self::implication)?;
        Ok(Self::two("imply", a, b))
    }

    /// Operators of one precedence, from left to right, loosest first.
    fn left(&mut self, level: usize) -> Read<Expr<'a>> {
        const LEVELS: [&[(&str, &str)]; 7] = [
            &[("or", "or"), ("||", "or")],
            &[("xor", "xor")],
            &[("and", "and"), ("&&", "and")],
            // `not` stands between: see below.
            &[("=", "="), ("==", "="), ("/=", "/="), ("!=", "/=")],
            &[("<", "<"), ("<=", "<="), (">", ">"), (">=", ">=")],
            &[("+", "+"), ("-", "-")],
            &[("*", "*"), ("/", "/"), ("div", "/"), ("mod", "%")],
        ];
        if level == 3 && (self.is("not") || self.is("!")) {
            let span = self.bump().span;
            let e = self.down(span, |p| p.left(3))?;
            let whole = span.to(e.span);
            return Ok(Self::expr(ExprKind::Not(Box::new(e)), whole));
        }
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut a = self.left(level + 1)?;
        while let Some((_, op)) = operators.iter().find(|(text, _)| self.is(text)) {
            // The end of a range looks like a minus or a plus.
            if matches!(*op, "+" | "-") && self.ahead(1) == Tok::P(">") {
                break;
            }
            self.bump();
            let b = self.left(level + 1)?;
            a = Self::two(op, a, b);
        }
        Ok(a)
    }

    fn unary(&mut self) -> Read<Expr<'a>> {
        let span = self.peek().span;
        if self.take("+") {
            return self.down(span, Self::unary);
        }
        if self.take("-") {
            let e = self.down(span, Self::unary)?;
            let whole = span.to(e.span);
            return Ok(Self::expr(ExprKind::Neg(Box::new(e)), whole));
        }
        if self.is("!") || self.is("not") {
            return self.down(span, |p| p.left(3));
        }
        let mut e = self.primary()?;
        loop {
            if self.take("[") {
                let i = self.expression()?;
                self.require("]")?;
                let whole = e.span.to(self.last());
                e = Self::expr(ExprKind::Index(Box::new([e, i])), whole);
            } else if self.is(".") && matches!(self.ahead(1), Tok::Name(_)) {
                self.bump();
                let field = self.id("a field")?;
                let whole = e.span.to(field.1);
                e = Self::expr(ExprKind::Field(Box::new(e), field), whole);
            } else {
                return Ok(e);
            }
        }
    }

    fn primary(&mut self) -> Read<Expr<'a>> {
        let t = self.peek();
        match t.tok {
            Tok::Number(digits) => {
                self.bump();
                if (self.is(".") && matches!(self.ahead(1), Tok::Number(_))) || self.is("%") {
                    return self.fail(t.span, "decimals and rationals are not read");
                }
                Ok(Self::expr(ExprKind::Int(digits), t.span))
            }
            Tok::P("(") => {
                self.bump();
                let e = self.expression()?;
                self.require(")")?;
                Ok(e)
            }
            Tok::P("#") => {
                self.bump();
                if !self.is("[") {
                    let name = self.id("`[` or a record's type")?;
                    self.require("{")?;
                    let mut fields = vec![];
                    while !self.take("}") {
                        let field = self.id("a field")?;
                        self.require(":=")?;
                        fields.push((field, self.expression()?));
                        self.take(",");
                    }
                    return Ok(Self::expr(ExprKind::Record(name, fields), t.span.to(self.last())));
                }
                let entries = self.between("[", |p| p.list(Self::expression), "]")?;
                Ok(Self::expr(ExprKind::Array(entries), t.span.to(self.last())))
            }
            Tok::Name("true" | "false") => {
                self.bump();
                Ok(Self::expr(ExprKind::Bool(t.tok == Tok::Name("true")), t.span))
            }
            Tok::Name(word @ ("forall" | "exists")) if self.ahead(1) == Tok::P("(") => {
                self.at += 2;
                let name = self.id("a name")?;
                self.require(":")?;
                let ty = self.ty()?;
                self.require(")")?;
                self.require(":")?;
                let e = self.left(3)?;
                let span = t.span.to(e.span);
                Ok(Self::expr(ExprKind::Quantified(word == "forall", name, ty, Box::new(e)), span))
            }
            Tok::Name("in-state") => {
                self.bump();
                self.require("(")?;
                let path = self.path()?;
                self.require(")")?;
                Ok(Self::expr(ExprKind::About("state", Box::new(path)), t.span.to(self.last())))
            }
            Tok::Name(word @ ("state" | "variable" | "event" | "parameter"))
                if matches!(self.ahead(1), Tok::Name(_)) =>
            {
                self.bump();
                let word = ["state", "variable", "event", "parameter"].into_iter().find(|w| *w == word);
                let path = self.path()?;
                let span = t.span.to(path.span);
                Ok(Self::expr(ExprKind::About(word.unwrap_or("variable"), Box::new(path)), span))
            }
            Tok::Name("raise") => {
                self.bump();
                let path = self.names()?;
                let args = if self.is("(") { self.arguments()? } else { vec![] };
                Ok(Self::expr(ExprKind::Raised(path, args), t.span.to(self.last())))
            }
            Tok::Name(_) => self.path(),
            _ => self.unexpected("an expression"),
        }
    }

    /// `a.b.c`; of instances also `a -> b.c`.
    fn names(&mut self) -> Read<Vec<Name<'a>>> {
        let mut path = vec![self.id("a name")?];
        while self.is(".") || (self.is("->") && matches!(self.ahead(1), Tok::Name(_))) {
            self.bump();
            path.push(self.id("a name")?);
        }
        Ok(path)
    }

    fn path(&mut self) -> Read<Expr<'a>> {
        let start = self.peek().span;
        let path = self.names()?;
        if self.take("::") {
            let literal = match self.peek().tok {
                Tok::Name(word) if !WORDS.contains(&word) => Some(self.id("a name")?),
                _ => None,
            };
            return Ok(Self::expr(ExprKind::Param(path, literal), start.to(self.last())));
        }
        if let ([name], true) = (&path[..], self.is("(")) {
            let (name, args) = (*name, self.arguments()?);
            return Ok(Self::expr(ExprKind::Call(name, args), start.to(self.last())));
        }
        Ok(Self::expr(ExprKind::Path(path), start.to(self.last())))
    }

    /// `(e, e)`, perhaps none.
    pub fn arguments(&mut self) -> Read<Vec<Expr<'a>>> {
        self.require("(")?;
        let args = if self.is(")") { vec![] } else { self.list(Self::expression)? };
        self.require(")")?;
        Ok(args)
    }

    /// A type.
    pub fn ty(&mut self) -> Read<Type<'a>> {
        let t = self.peek();
        Ok(match t.tok {
            Tok::Name("integer") => {
                self.bump();
                if self.take("range") { Type::Other("`integer range`", t.span) } else { Type::Int }
            }
            Tok::Name("boolean") => {
                self.bump();
                Type::Bool
            }
            Tok::Name("decimal" | "rational") => {
                self.bump();
                Type::Other("decimals and rationals", t.span)
            }
            Tok::Name("void") => {
                self.bump();
                Type::Other("`void`", t.span)
            }
            Tok::Name("record") => {
                self.bump();
                self.require("{")?;
                let mut fields = vec![];
                while !self.take("}") {
                    let name = self.id("a field")?;
                    self.require(":")?;
                    fields.push((name, self.down(t.span, Self::ty)?));
                    if !self.take(",") {
                        self.take(";");
                    }
                }
                Type::Record(fields, t.span.to(self.last()))
            }
            Tok::P("#") => {
                self.bump();
                self.require("[")?;
                let lo = self.expression()?;
                self.require("to")?;
                let hi = self.expression()?;
                self.require("]")?;
                Type::Range(Box::new([lo, hi]))
            }
            Tok::Name("enum") => {
                self.bump();
                Type::Enum(self.between("{", |p| p.list(|p| p.id("a literal")), "}")?)
            }
            Tok::P("[") => {
                self.bump();
                self.expression()?;
                self.require("]")?;
                Type::Array(Box::new(self.down(t.span, Self::ty)?))
            }
            _ => Type::Named(self.id("a type")?),
        })
    }

    /// A length of time, in milliseconds.
    pub fn time(&mut self) -> Read<i64> {
        let t = self.peek();
        let Tok::Number(digits) = t.tok else { return self.unexpected("a number of ms, s or h") };
        self.bump();
        let unit = match self.peek().tok {
            Tok::Name("ms") => 1,
            Tok::Name("s") => 1_000,
            Tok::Name("h") => 3_600_000,
            _ => return self.unexpected("`ms`, `s` or `h`"),
        };
        self.bump();
        match digits.parse::<i64>().ok().and_then(|n| n.checked_mul(unit)).filter(|n| *n <= 1_000_000_000_000) {
            Some(n) => Ok(n),
            None => self.fail(t.span, "this is too long a time"),
        }
    }

    /// A trigger.
    pub fn trigger(&mut self) -> Read<Trigger<'a>> {
        let span = self.peek().span;
        self.down(span, |p| p.trigger_at(0))
    }

    fn trigger_at(&mut self, level: usize) -> Read<Trigger<'a>> {
        const LEVELS: [&str; 5] = ["==", "->", "||", "^", "&&"];
        let Some(&op) = LEVELS.get(level) else { return self.trigger_atom() };
        let a = self.trigger_at(level + 1)?;
        if !self.take(op) {
            return Ok(a);
        }
        let span = self.last();
        let b = self.down(span, |p| p.trigger_at(level))?;
        Ok(Trigger::Two(op, Box::new([a, b])))
    }

    fn trigger_atom(&mut self) -> Read<Trigger<'a>> {
        match self.peek().tok {
            Tok::P("!") => {
                self.bump();
                let inner = self.between("(", Self::trigger, ")")?;
                Ok(Trigger::Not(Box::new(inner)))
            }
            Tok::P("(") => self.between("(", Self::trigger, ")"),
            Tok::Name("any") => {
                self.bump();
                Ok(Trigger::Any)
            }
            Tok::Name("cycle") => {
                self.bump();
                Ok(Trigger::Cycle)
            }
            Tok::Name("timeout") => {
                self.bump();
                Ok(Trigger::Timeout(self.id("a timeout")?))
            }
            _ => {
                let port = self.id("a port")?;
                self.require(".")?;
                if self.take("any") {
                    return Ok(Trigger::PortAny(port));
                }
                Ok(Trigger::Event(port, self.id("an event")?))
            }
        }
    }

    /// Actions, as long as some follow.
    pub fn actions(&mut self) -> Read<Vec<Action<'a>>> {
        let mut all = vec![];
        loop {
            match self.peek().tok {
                Tok::P("{") => {}
                Tok::Name("exit" | "entry" | "region" | "invariant") if self.ahead(1) != Tok::P(":=") => break,
                Tok::Name(
                    "transition" | "state" | "initial" | "shallow" | "deep" | "choice" | "merge" | "fork" | "join"
                    | "timeout" | "branch" | "case" | "default" | "port",
                ) if !matches!(self.ahead(1), Tok::P(":=" | "[" | "(" | "." | "{")) => break,
                Tok::Name("transition") if self.ahead(1) == Tok::P("(") => break,
                Tok::Name("branch" | "default" | "case") => break,
                Tok::Name("lambda" | "procedure") => break,
                Tok::Name(_) => {}
                _ => break,
            }
            all.push(self.action()?);
        }
        Ok(all)
    }

    /// One action, as the body of another.
    fn body(&mut self) -> Read<Vec<Action<'a>>> {
        Ok(vec![self.action()?])
    }

    fn action(&mut self) -> Read<Action<'a>> {
        let t = self.peek();
        self.down(t.span, |p| {
            let kind = p.action_kind()?;
            Ok(Action { kind, span: t.span })
        })
    }

    fn action_kind(&mut self) -> Read<ActionKind<'a>> {
        let t = self.peek();
        let kind = match t.tok {
            Tok::P("{") => {
                self.bump();
                let all = self.block()?;
                return Ok(ActionKind::Block(all));
            }
            Tok::Name("if") => {
                self.bump();
                return self.conditional();
            }
            Tok::Name("switch") => {
                self.bump();
                return self.switch();
            }
            Tok::Name("for") => {
                self.bump();
                return self.for_loop();
            }
            Tok::Name("choice") => {
                self.bump();
                self.require("{")?;
                let mut branches = vec![];
                while self.take("branch") {
                    self.require("[")?;
                    let guard = if self.take("else") { None } else { Some(self.expression()?) };
                    self.require("]")?;
                    branches.push((guard, self.body()?));
                }
                self.require("}")?;
                return Ok(ActionKind::Choice(branches));
            }
            Tok::Name("raise") => {
                self.bump();
                let port = self.id("a port")?;
                self.require(".")?;
                let event = self.id("an event")?;
                let args = if self.is("(") { self.arguments()? } else { vec![] };
                ActionKind::Raise(port, event, args)
            }
            Tok::Name("set") => {
                self.bump();
                let timeout = self.id("a timeout")?;
                self.require(":=")?;
                ActionKind::Set(timeout, self.time()?)
            }
            Tok::Name("var" | "const") => {
                self.bump();
                ActionKind::Local(self.variable()?)
            }
            Tok::Name("no") => {
                self.bump();
                self.require("operation")?;
                ActionKind::Nothing
            }
            Tok::Name("return") => {
                self.bump();
                ActionKind::Return(if self.is(";") { None } else { Some(self.expression()?) })
            }
            Tok::Name("break") => {
                self.bump();
                ActionKind::Break
            }
            Tok::Name("deactivate") => return self.fail(t.span, "`deactivate` is not read"),
            Tok::Name("assert") => {
                self.bump();
                self.between("(", Self::expression, ")")?;
                ActionKind::Assert
            }
            Tok::Name(_) => {
                let to = self.unary()?;
                if let ExprKind::Call(name, args) = to.kind {
                    ActionKind::Call(name, args)
                } else {
                    self.require(":=")?;
                    ActionKind::Assign(to, self.expression()?)
                }
            }
            _ => return self.unexpected("an action"),
        };
        self.require(";")?;
        Ok(kind)
    }

    /// Behind an opening brace, to behind the closing one.
    pub fn block(&mut self) -> Read<Vec<Action<'a>>> {
        let mut all = vec![];
        while !self.take("}") {
            all.push(self.action()?);
        }
        Ok(all)
    }

    fn conditional(&mut self) -> Read<ActionKind<'a>> {
        let c = self.between("(", Self::expression, ")")?;
        let then = self.body()?;
        let span = self.peek().span;
        if self.take("elseif") {
            let kind = self.down(span, Self::conditional)?;
            return Ok(ActionKind::If(c, then, vec![Action { kind, span }]));
        }
        let or = if self.take("else") { self.body()? } else { vec![] };
        Ok(ActionKind::If(c, then, or))
    }

    fn switch(&mut self) -> Read<ActionKind<'a>> {
        let e = self.between("(", Self::expression, ")")?;
        self.require("{")?;
        let (mut cases, mut or) = (vec![], vec![]);
        loop {
            if self.take("case") {
                let value = self.expression()?;
                self.require(":")?;
                cases.push((value, self.body()?));
            } else if self.take("default") {
                self.require(":")?;
                or = self.body()?;
            } else {
                break;
            }
        }
        self.require("}")?;
        Ok(ActionKind::Switch(e, cases, or))
    }

    fn for_loop(&mut self) -> Read<ActionKind<'a>> {
        self.require("(")?;
        let counter = self.id("a counter")?;
        self.require(":")?;
        self.ty()?;
        self.require("in")?;
        self.require("<")?;
        let open = self.peek().span;
        let from_next = self.is("-");
        if !self.take("+") {
            self.require("-")?;
        }
        let mut from = self.expression()?;
        if from_next {
            from = Self::two("+", from, Self::expr(ExprKind::Int("1"), open));
        }
        self.require("..")?;
        let mut to = self.expression()?;
        if self.take("+") {
            self.require(">")?;
            let span = to.span;
            to = Self::two("+", to, Self::expr(ExprKind::Int("1"), span));
        } else if !self.take("->") {
            self.require("-")?;
            self.require(">")?;
        }
        self.require(")")?;
        Ok(ActionKind::For(counter, from, to, self.body()?))
    }

    /// `name : T := e`
    pub fn variable(&mut self) -> Read<Variable<'a>> {
        let name = self.id("a name")?;
        self.require(":")?;
        let ty = self.ty()?;
        let value = if self.take(":=") { Some(self.expression()?) } else { None };
        Ok(Variable { name, ty, value, transient: false, resettable: false })
    }

    /// Refuses something by name.
    pub fn refuse<T>(&mut self, what: &str, span: Span) -> Read<T> {
        self.errors.fail(Diagnostic::error(span, format!("{what} is not read")))
    }
}
