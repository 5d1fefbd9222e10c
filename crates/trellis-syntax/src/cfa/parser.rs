//! The ordinary spelling. Names are declared in a first pass, because edges may come before them.

use rustc_hash::FxHashMap;
use trellis_expr::{StmtId, TermId, Terms, Type, VarId};
use trellis_model::cfa::{Cfa, Edge, Kind, Location, LocationId};

use super::lexer::tokens;
use crate::diag::{Diagnostic, SourceId, Sources, Span};
use crate::text::cursor::{Cursor, Reads, reads};
use crate::text::errors::{Read, Reported};
use crate::text::tokens::Tok;

pub struct Parser<'a> {
    cursor: Cursor<'a>,
    pub cfa: Cfa,
    pub variables: FxHashMap<&'a str, VarId>,
    pub locations: FxHashMap<&'a str, LocationId>,
    /// Names that stand for a value: constants and parameters.
    pub values: FxHashMap<&'a str, TermId>,
    /// In a system of formulas: the variables of the next state, where formulas may speak of it.
    pub next: Option<FxHashMap<VarId, VarId>>,
    /// Is this a system of formulas?
    pub formulas: bool,
    initial: Option<LocationId>,
}

reads!(Parser<'a>);

impl<'a> Parser<'a> {
    pub fn new(sources: &'a Sources, id: SourceId) -> Parser<'a> {
        let source = sources.get(id);
        let mut cfa = Cfa::new(Terms::new(), Location { name: String::new(), kind: Kind::Plain, place: None });
        cfa.files.push(source.name.clone());
        Parser {
            cursor: Cursor::new(sources, tokens(id, &source.text)),
            cfa,
            variables: FxHashMap::default(),
            locations: FxHashMap::default(),
            values: FxHashMap::default(),
            next: None,
            formulas: false,
            initial: None,
        }
    }

    pub fn finish(self) -> Vec<Diagnostic> {
        self.cursor.errors.finish()
    }

    pub fn terms(&mut self) -> &mut Terms {
        &mut self.cfa.terms
    }

    // Declarations.

    pub fn file(&mut self) -> Option<Cfa> {
        let start = self.main_process()?;
        // First the names, then the edges.
        for edges in [false, true] {
            self.at = 0;
            while self.peek().tok != Tok::End && !self.errors.stopped() {
                let process = self.is("process") || (self.is("main") && self.ahead(1) == Tok::Name("process"));
                let done = if process {
                    if self.at == start { self.process(edges) } else { self.skip_process() }
                } else if self.is("var") {
                    if edges { self.skip_variable() } else { self.variable() }
                } else {
                    self.unexpected("`var` or `process`")
                };
                if done.is_err() {
                    self.skip_to_declaration();
                }
            }
            if self.errors.count() > 0 {
                return None;
            }
        }
        self.done()
    }

    pub fn done(&mut self) -> Option<Cfa> {
        let Some(initial) = self.initial else {
            let end = self.tokens[self.tokens.len() - 1].span;
            self.errors.push(Diagnostic::error(end, "there is no initial location").help("declare one: `init loc L0`"));
            return None;
        };
        self.cfa.initial = initial;
        let empty = Cfa::new(Terms::new(), Location { name: String::new(), kind: Kind::Plain, place: None });
        // The first location was a placeholder; it goes with everything else that no edges lead to.
        Some(std::mem::replace(&mut self.cfa, empty).pruned())
    }

    /// Where the main process starts: the one that says so, or the only one.
    fn main_process(&mut self) -> Option<usize> {
        let is = |n: usize| self.tokens[n].tok == Tok::Name("process");
        let all: Vec<usize> = (0..self.tokens.len()).filter(|&n| is(n)).collect();
        let main = |n: &&usize| **n > 0 && self.tokens[**n - 1].tok == Tok::Name("main");
        let mains: Vec<usize> = all.iter().filter(main).map(|n| n - 1).collect();
        match (&mains[..], &all[..]) {
            ([one], _) | ([], [one]) => Some(*one),
            ([], []) => {
                let span = self.peek().span;
                let _ = self.fail::<()>(span, "there is no process");
                None
            }
            (many, _) => {
                let at = many.get(1).copied().unwrap_or(all[1]);
                let span = self.tokens[at].span;
                let _ = self.fail::<()>(span, "there are several processes: exactly one must be `main`");
                None
            }
        }
    }

    fn skip_process(&mut self) -> Read<()> {
        let span = self.peek().span;
        self.errors.push(Diagnostic::warning(span, "this process is not the main one, and nobody calls it"));
        while !self.is("{") {
            if self.bump().tok == Tok::End {
                return self.unexpected("`{`");
            }
        }
        self.skip_braces();
        Ok(())
    }

    fn skip_to_declaration(&mut self) {
        self.bump();
        while !matches!(self.peek().tok, Tok::End | Tok::Name("var" | "process" | "main")) {
            self.bump();
        }
    }

    fn process(&mut self, edges: bool) -> Read<()> {
        self.take("main");
        self.require("process")?;
        self.name("the name of the process")?;
        if self.take("(") {
            while !self.take(")") {
                if edges {
                    self.skip_declared()?
                } else {
                    self.declared("parameter")?
                }
                if !self.take(",") && !self.is(")") {
                    return self.unexpected("`,` or `)`");
                }
            }
        }
        self.require("{")?;
        while !self.take("}") {
            let done = match self.peek().tok {
                Tok::Name("var") if edges => self.skip_variable(),
                Tok::Name("var") => self.variable(),
                Tok::Name("init" | "final" | "error" | "loc") => self.location(edges),
                Tok::Name(_) if edges => self.edge(),
                Tok::Name(_) => {
                    self.bump();
                    self.skip_edge()
                }
                Tok::End => return self.unexpected("`}`"),
                _ => self.unexpected("a declaration or an edge"),
            };
            if done.is_err() {
                if self.errors.stopped() {
                    return Err(Reported);
                }
                self.skip_member();
            }
        }
        Ok(())
    }

    /// To the next member of the process that can be told as such.
    fn skip_member(&mut self) {
        loop {
            match self.peek().tok {
                Tok::End | Tok::Name("var" | "init" | "final" | "error" | "loc") => return,
                Tok::P("}") => {
                    self.bump();
                    return;
                }
                Tok::Name(_) if self.ahead(1) == Tok::P("->") => return,
                _ => {
                    self.bump();
                }
            }
        }
    }

    fn skip_edge(&mut self) -> Read<()> {
        self.require("->")?;
        self.name("a location")?;
        if self.is("{") {
            self.skip_braces();
        }
        Ok(())
    }

    fn variable(&mut self) -> Read<()> {
        self.require("var")?;
        self.declared("variable")
    }

    fn skip_variable(&mut self) -> Read<()> {
        self.bump();
        self.skip_declared()
    }

    fn skip_declared(&mut self) -> Read<()> {
        self.bump();
        self.require(":")?;
        self.type_of().map(|_| ())
    }

    fn declared(&mut self, what: &str) -> Read<()> {
        let (name, span) = self.name(&format!("the name of the {what}"))?;
        self.require(":")?;
        let ty = self.type_of()?;
        self.declare(name, ty, span)
    }

    pub fn declare(&mut self, name: &'a str, ty: Type, span: Span) -> Read<()> {
        let v = self.terms().declare(name, ty);
        self.cfa.variables.push(v);
        match self.variables.insert(name, v) {
            Some(_) => self.fail(span, format!("there are two variables `{name}`")),
            None => Ok(()),
        }
    }

    pub fn type_of(&mut self) -> Read<Type> {
        let t = self.bump();
        match t.tok {
            Tok::Name("bool") => Ok(Type::Bool),
            Tok::Name("int") => Ok(Type::Int),
            Tok::Name("rat") => self.fail(t.span, "rational numbers (`rat`) are not supported"),
            Tok::Name("fp") => self.fail(t.span, "floating-point numbers (`fp`) are not supported"),
            Tok::P("(") => self.fail(t.span, "functions as values are not supported"),
            Tok::Name("bv") => {
                self.require("[")?;
                let size = self.bump();
                self.require("]")?;
                let Tok::Number(digits) = size.tok else { return self.fail(size.span, "expected a number of bits") };
                match digits.parse() {
                    Ok(width @ 1..=64) => Ok(Type::Bits { width, signed: false }),
                    _ => {
                        self.fail(size.span, format!("bit-vectors of {digits} bits are not supported, only of 1 to 64"))
                    }
                }
            }
            Tok::P("[") => {
                let (index, entry) = self.down(t.span, |p| {
                    let index = p.type_of()?;
                    p.require("]")?;
                    p.require("->")?;
                    Ok((index, p.type_of()?))
                })?;
                match index {
                    Type::Array(..) => self.fail(t.span, "arrays that are indexed by arrays are not supported"),
                    index => Ok(self.terms().array_type(index, entry)),
                }
            }
            tok => self.fail(t.span, format!("expected a type, found {}", tok.describe())),
        }
    }

    fn location(&mut self, known: bool) -> Read<()> {
        let kind = match self.peek().tok {
            Tok::Name(word @ ("init" | "final" | "error")) => {
                self.bump();
                word
            }
            _ => "",
        };
        self.require("loc")?;
        let (name, span) = self.name("the name of the location")?;
        if known { Ok(()) } else { self.add_location(kind, name, span) }
    }

    pub fn add_location(&mut self, kind: &str, name: &'a str, span: Span) -> Read<()> {
        let place = Some(self.place(span));
        let meaning = match kind {
            "final" => Kind::Final,
            "error" => Kind::Error,
            _ => Kind::Plain,
        };
        let l = self.cfa.add_location(Location { name: name.to_string(), kind: meaning, place });
        if self.locations.insert(name, l).is_some() {
            return self.fail(span, format!("there are two locations `{name}`"));
        }
        if kind == "init" && self.initial.replace(l).is_some() {
            return self.fail(span, "there are two initial locations");
        }
        Ok(())
    }

    pub fn located(&mut self, name: &str, span: Span) -> Read<LocationId> {
        match self.locations.get(name) {
            Some(&l) => Ok(l),
            None => self.cursor.unknown("location", name, span, self.locations.keys().copied()),
        }
    }

    // Edges.

    fn edge(&mut self) -> Read<()> {
        let (source, span) = self.name("a location")?;
        self.require("->")?;
        let (target, target_span) = self.name("a location")?;
        let (from, to) = (self.located(source, span), self.located(target, target_span));
        let mut stmts = vec![];
        if self.take("{") {
            while !self.take("}") {
                stmts.push(self.statement()?);
            }
        }
        let stmt = self.terms().seq(stmts);
        self.add_edge(from?, stmt, to?, span);
        Ok(())
    }

    pub fn add_edge(&mut self, from: LocationId, stmt: StmtId, to: LocationId, span: Span) {
        let place = Some(self.place(span));
        self.cfa.add_edge(Edge { from, stmt, to, place });
    }

    fn statement(&mut self) -> Read<StmtId> {
        let t = self.peek();
        match t.tok {
            Tok::Name("havoc") => {
                self.bump();
                let (name, span) = self.name("a variable")?;
                let v = self.variable_of(name, span)?;
                Ok(self.terms().havoc(v))
            }
            Tok::Name("assume") => {
                self.bump();
                let e = self.expression()?;
                self.expect_type(e, Type::Bool, "assume", t.span)?;
                Ok(self.terms().assume(e))
            }
            Tok::Name("return") => {
                self.bump();
                self.expression()?;
                Ok(self.terms().skip())
            }
            Tok::Name(name) => {
                self.bump();
                let v = self.variable_of(name, t.span)?;
                self.require(":=")?;
                let e = self.expression()?;
                self.assigned(v, e, t.span)
            }
            _ => self.unexpected("a statement (`x := e`, `havoc x`, `assume e`) or `}`"),
        }
    }

    pub fn assigned(&mut self, v: VarId, e: TermId, span: Span) -> Read<StmtId> {
        let ty = self.cfa.terms.variable(v).ty;
        self.expect_type(e, ty, ":=", span)?;
        Ok(self.terms().assign(v, e))
    }

    pub fn variable_of(&mut self, name: &str, span: Span) -> Read<VarId> {
        match self.variables.get(name) {
            Some(&v) => Ok(v),
            None => self.cursor.unknown("variable", name, span, self.variables.keys().copied()),
        }
    }
}
