//! Declarations, one to a line; attributes in braces may go over several lines. After a mistake reading goes on in the
//! next line.

use super::ast::{Ast, Decl, Edge, Ident, IntDecl, Location, Number, Stmt, SyncPart};
use super::lexer::{Lexer, Tok, Token};
use super::program::Program;
use super::{Expr, KEYWORDS};
use crate::diag::shorten;
use crate::diag::{Diagnostic, SourceId, Span};
use crate::text::errors::{Errors, Read, Reported, closest};

/// `key: value`
struct Attribute {
    key: Ident,
    value: Span,
}

pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    ahead: Option<Token<'a>>,
    /// The token last taken.
    prev: Span,
    pub errors: Errors,
}

impl<'a> Parser<'a> {
    pub fn new(source: SourceId, text: &'a str) -> Parser<'a> {
        let lexer = Lexer::new(source, text);
        let prev = lexer.span(0, 0);
        Parser { lexer, ahead: None, prev, errors: Errors::default() }
    }

    pub fn file(&mut self) -> Option<Ast> {
        let system = match self.first() {
            Ok(system) => system,
            Err(Reported) => return None,
        };
        let mut decls = Vec::new();
        while !self.errors.stopped() {
            match self.peek().tok {
                Tok::End => break,
                Tok::Line => {
                    self.bump();
                }
                _ => match self.declaration().and_then(|d| self.end_of_line().map(|()| d)) {
                    Ok(d) => decls.push(d),
                    Err(Reported) => self.skip_line(),
                },
            }
        }
        Some(Ast { system, decls })
    }

    // Looking and taking.

    fn peek(&mut self) -> Token<'a> {
        match self.ahead {
            Some(t) => t,
            None => {
                let t = self.lexer.next();
                self.ahead = Some(t);
                t
            }
        }
    }

    fn bump(&mut self) -> Token<'a> {
        let t = self.peek();
        self.ahead = None;
        self.prev = t.span;
        t
    }

    fn at(&mut self, p: &str) -> bool {
        matches!(self.peek().tok, Tok::P(q) if q == p)
    }

    fn report(&mut self, d: Diagnostic) -> Reported {
        self.errors.push(d);
        Reported
    }

    fn unexpected(&mut self, expected: &str) -> Diagnostic {
        let t = self.peek();
        let span = match t.tok {
            Tok::Line | Tok::End => Span { start: self.prev.end, ..self.prev },
            _ => t.span,
        };
        Diagnostic::error(span, format!("expected {expected}, found {}", t.tok.describe()))
            .label(format!("expected {expected}"))
    }

    fn require(&mut self, p: &'static str, after: &str, form: &str) -> Read<()> {
        if self.at(p) {
            self.bump();
            return Ok(());
        }
        let d = self.unexpected(&format!("`{p}` after {after}"));
        Err(self.report(d.help(format!("it is written `{form}`"))))
    }

    fn name(&mut self, what: &str, form: &str) -> Read<Ident> {
        match self.peek().tok {
            Tok::Name(name) if KEYWORDS.contains(&name) => {
                let d = self.unexpected(what);
                Err(self.report(d.help(format!("`{name}` is a reserved word; choose another name"))))
            }
            Tok::Name(name) => Ok(Ident { name: name.to_string(), span: self.bump().span }),
            _ => {
                let d = self.unexpected(what);
                Err(self.report(d.help(format!("it is written `{form}`"))))
            }
        }
    }

    /// `:name`
    fn field(&mut self, after: &str, what: &str, form: &str) -> Read<Ident> {
        self.require(":", after, form)?;
        self.name(what, form)
    }

    /// `:-128`
    fn number(&mut self, after: &str, what: &str, form: &str) -> Read<Number> {
        self.require(":", after, form)?;
        let start = self.peek().span;
        let negative = self.at("-");
        if negative || self.at("+") {
            self.bump();
        }
        let t = self.peek();
        let Tok::Int(n) = t.tok else {
            let d = self.unexpected(what);
            return Err(self.report(d.help(format!("it is written `{form}`"))));
        };
        self.bump();
        let span = start.to(t.span);
        let value = n.map(|n| if negative { -n } else { n });
        match value.filter(|n| i32::try_from(*n).is_ok()) {
            Some(value) => Ok(Number { value, span }),
            None => {
                let d = Diagnostic::error(span, "this number does not fit 32 bits");
                Err(self.report(d.help("use a number between -2147483648 and 2147483647")))
            }
        }
    }

    fn end_of_line(&mut self) -> Read<()> {
        if let Tok::Line | Tok::End = self.peek().tok {
            return Ok(());
        }
        let d = self.unexpected("the end of the line after the declaration");
        Err(self.report(d.help("put each declaration on a line of its own; attributes go in `{…}`")))
    }

    fn skip_line(&mut self) {
        if let Some(t) = self.ahead.take() {
            self.lexer.rewind(t.span.start);
        }
        self.lexer.lines(true);
        self.lexer.skip_line();
    }

    // Declarations.

    /// `system:name` comes first.
    fn first(&mut self) -> Read<Ident> {
        while self.peek().tok == Tok::Line {
            self.bump();
        }
        if self.peek().tok != Tok::Name("system") {
            let d = self.unexpected("the declaration `system:name`");
            return Err(self.report(d.help("a TChecker model starts with `system:name`, comments (`#`) aside")));
        }
        self.bump();
        let form = "system:name";
        let name = self.field("`system`", "the name of the system", form)?;
        let given = self.attributes()?;
        self.none_known(&given, "system");
        self.end_of_line()?;
        Ok(name)
    }

    fn declaration(&mut self) -> Read<Decl> {
        let start = self.peek();
        let Tok::Name(word) = start.tok else {
            let d = self.unexpected("a declaration");
            return Err(self.report(d.help(format!("a line starts with one of: {}", KEYWORDS.join(", ")))));
        };
        if !KEYWORDS.contains(&word) {
            let d = self.unexpected("a declaration");
            let help = format!("a line starts with one of: {}", KEYWORDS.join(", "));
            return Err(self.report(d.meant_or(closest(word, KEYWORDS), help)));
        }
        self.bump();
        match word {
            "event" | "process" => {
                let what = if word == "event" { "the name of an event" } else { "the name of a process" };
                let form = if word == "event" { "event:name" } else { "process:name" };
                let name = self.field(&format!("`{word}`"), what, form)?;
                let given = self.attributes()?;
                self.none_known(&given, word);
                Ok(if word == "event" { Decl::Event(name) } else { Decl::Process(name) })
            }
            "clock" => {
                let form = "clock:size:name";
                let size = self.number("`clock`", "how many clocks there are", form)?;
                let name = self.field("the size", "the name of the clock", form)?;
                let given = self.attributes()?;
                self.none_known(&given, word);
                Ok(Decl::Clock(size, name))
            }
            "int" => self.int(),
            "location" => self.location(),
            "edge" => self.edge(start.span),
            "sync" => self.sync(start.span),
            _ => {
                let d = Diagnostic::error(start.span, "a second `system` declaration");
                Err(self.report(d.help("a model has one system; remove this line")))
            }
        }
    }

    fn int(&mut self) -> Read<Decl> {
        let form = "int:size:min:max:init:name";
        let size = self.number("`int`", "how many variables there are", form)?;
        let min = self.number("the size", "the least value", form)?;
        let max = self.number("the least value", "the greatest value", form)?;
        let init = self.number("the greatest value", "the first value", form)?;
        let name = self.field("the first value", "the name of the variable", form)?;
        let given = self.attributes()?;
        self.none_known(&given, "int");
        Ok(Decl::Int(Box::new(IntDecl { size, min, max, init, name })))
    }

    fn location(&mut self) -> Read<Decl> {
        let form = "location:process:name{attributes}";
        let process = self.field("`location`", "the name of a process", form)?;
        let name = self.field("the process", "the name of the location", form)?;
        let (mut initial, mut committed, mut urgent) = (None, None, None);
        let mut labels = Vec::new();
        let mut invariant = None;
        for a in self.attributes()? {
            // What is wrong in an attribute has been said; the location is there all the same.
            let _ = match a.key.name.as_str() {
                "initial" => self.flag(&a, &mut initial),
                "committed" => self.flag(&a, &mut committed),
                "urgent" => self.flag(&a, &mut urgent),
                "invariant" => self.once(&a, invariant.is_some()).and_then(|()| {
                    invariant = Some(self.expression(&a)?);
                    Ok(())
                }),
                "labels" => self.labels(&a, &mut labels),
                _ => {
                    self.unknown(&a, "location", &["initial", "invariant", "labels", "committed", "urgent"]);
                    Ok(())
                }
            };
        }
        let (committed, urgent) = (committed.is_some(), urgent.is_some());
        Ok(Decl::Location(Box::new(Location { process, name, initial, committed, urgent, invariant, labels })))
    }

    fn edge(&mut self, start: Span) -> Read<Decl> {
        let form = "edge:process:source:target:event{attributes}";
        let process = self.field("`edge`", "the name of a process", form)?;
        let source = self.field("the process", "the location the edge leaves", form)?;
        let target = self.field("the source", "the location the edge goes to", form)?;
        let event = self.field("the target", "the name of an event", form)?;
        let span = start.to(event.span);
        let mut guard = None;
        let mut update: Option<Vec<Stmt>> = None;
        for a in self.attributes()? {
            let _ = match a.key.name.as_str() {
                "provided" => self.once(&a, guard.is_some()).and_then(|()| {
                    guard = Some(self.expression(&a)?);
                    Ok(())
                }),
                "do" => self.once(&a, update.is_some()).and_then(|()| {
                    update = Some(self.statements(&a)?);
                    Ok(())
                }),
                _ => {
                    self.unknown(&a, "edge", &["provided", "do"]);
                    Ok(())
                }
            };
        }
        let update = update.unwrap_or_default();
        Ok(Decl::Edge(Box::new(Edge { process, source, target, event, guard, update, span })))
    }

    fn sync(&mut self, start: Span) -> Read<Decl> {
        let form = "sync:process@event:process@event?";
        let mut parts = Vec::new();
        loop {
            let after = if parts.is_empty() { "`sync`" } else { "a process and its event" };
            let process = self.field(after, "the name of a process", form)?;
            self.require("@", "the process", form)?;
            let event = self.name("the name of an event", form)?;
            let weak = self.at("?");
            if weak {
                self.bump();
            }
            parts.push(SyncPart { process, event, weak });
            if !self.at(":") {
                break;
            }
        }
        let span = start.to(self.prev);
        let given = self.attributes()?;
        self.none_known(&given, "sync");
        Ok(Decl::Sync(parts, span))
    }

    // Attributes.

    fn attributes(&mut self) -> Read<Vec<Attribute>> {
        let mut list = Vec::new();
        if !self.at("{") {
            return Ok(list);
        }
        let open = self.bump().span;
        self.lexer.lines(false);
        let read = self.attribute_list(open, &mut list);
        if let Some(t) = self.ahead.take() {
            self.lexer.rewind(t.span.start);
        }
        self.lexer.lines(true);
        read.map(|()| list)
    }

    fn attribute_list(&mut self, open: Span, list: &mut Vec<Attribute>) -> Read<()> {
        let form = "{key: value : key: value}";
        if self.at("}") {
            self.bump();
            return Ok(());
        }
        loop {
            let t = self.peek();
            let Tok::Name(key) = t.tok else {
                if t.tok == Tok::End {
                    return Err(self.unclosed(open));
                }
                let d = self.unexpected("the name of an attribute");
                return Err(self.report(d.help(format!("attributes are written `{form}`"))));
            };
            let key = Ident { name: key.to_string(), span: self.bump().span };
            self.require(":", "the name of an attribute", form)?;
            let value = self.lexer.value();
            // A declaration at the start of a line: the brace was forgotten somewhere before.
            let text = self.lexer.slice(Span { start: self.prev.end, ..value });
            if let Some((_, last)) = text.rsplit_once('\n')
                && KEYWORDS.contains(&last.trim())
                && self.at(":")
            {
                self.ahead = None;
                let line = value.end - last.len() as u32 - 1;
                self.lexer.rewind(line);
                return Err(self.unclosed(open));
            }
            self.prev = value;
            list.push(Attribute { key, value });
            match self.peek().tok {
                Tok::P("}") => {
                    self.bump();
                    return Ok(());
                }
                Tok::P(":") => {
                    self.bump();
                }
                Tok::End => return Err(self.unclosed(open)),
                Tok::Odd('#') => {
                    let d = self.unexpected("`:` or `}` after the value of an attribute");
                    return Err(self.report(d.help("put comments on a line of their own")));
                }
                _ => {
                    let d = self.unexpected("`:` or `}` after the value of an attribute");
                    return Err(self.report(d.help(format!("attributes are written `{form}`"))));
                }
            }
        }
    }

    fn unclosed(&mut self, open: Span) -> Reported {
        let d = Diagnostic::error(open, "this `{` is never closed");
        self.report(d.label("opened here").help("close the attributes with `}`"))
    }

    /// Refuses attributes where none means anything.
    fn none_known(&mut self, list: &[Attribute], of: &str) {
        for a in list {
            let name = shorten(&a.key.name);
            let d = Diagnostic::error(a.key.span, format!("the attribute `{name}` of this {of} is not known"));
            self.errors.push(d.help("only locations and edges have attributes that mean something; remove it"));
        }
    }

    fn unknown(&mut self, a: &Attribute, of: &str, there_are: &[&str]) {
        let name = shorten(&a.key.name);
        let d = Diagnostic::error(a.key.span, format!("the attribute `{name}` of this {of} is not known"));
        let near = closest(&a.key.name, there_are.iter().copied());
        self.errors.push(d.meant_or(near, format!("there are: {}", there_are.join(", "))));
    }

    fn once(&mut self, a: &Attribute, again: bool) -> Read<()> {
        if !again {
            return Ok(());
        }
        let d = Diagnostic::error(a.key.span, format!("a second `{}`", a.key.name));
        let join = if a.key.name == "do" { "`;`" } else { "`&&`" };
        Err(self.report(d.help(format!("put both in one attribute, with {join} between them"))))
    }

    fn flag(&mut self, a: &Attribute, to: &mut Option<Span>) -> Read<()> {
        self.once(a, to.is_some())?;
        if a.value.start == a.value.end {
            *to = Some(a.key.span);
            return Ok(());
        }
        let d = Diagnostic::error(a.value, format!("`{}` has no value", a.key.name));
        Err(self.report(d.help(format!("write `{}:` alone, or leave it out", a.key.name))))
    }

    fn labels(&mut self, a: &Attribute, to: &mut Vec<Ident>) -> Read<()> {
        let (labels, diags) = super::labels_in(a.value, self.lexer.slice(a.value), &[',']);
        to.extend(labels);
        let failed = !diags.is_empty();
        diags.into_iter().for_each(|d| self.errors.push(d));
        if failed { Err(Reported) } else { Ok(()) }
    }

    fn expression(&mut self, a: &Attribute) -> Read<Expr> {
        self.not_empty(a, "an expression")?;
        Program::new(self.lexer.value_of(a.value), a.value, &mut self.errors).expression()
    }

    fn statements(&mut self, a: &Attribute) -> Read<Vec<Stmt>> {
        self.not_empty(a, "statements")?;
        Program::new(self.lexer.value_of(a.value), a.value, &mut self.errors).statements()
    }

    fn not_empty(&mut self, a: &Attribute, what: &str) -> Read<()> {
        if a.value.start < a.value.end {
            return Ok(());
        }
        let d = Diagnostic::error(a.key.span, format!("expected {what} after `{}:`, found nothing", a.key.name));
        Err(self.report(d.help("give it a value, or leave the attribute out")))
    }
}
