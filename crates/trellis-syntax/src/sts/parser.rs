//! Specifications, systems and properties. A system is read anew for each property that refers to it, with its parameters.

use rustc_hash::FxHashMap;
use trellis_expr::{TermId, Type, VarId};

use super::{Sts, build};
use crate::cfa::parser::Parser;
use crate::diag::{Diagnostic, SourceId, Sources};
use crate::text::cursor::Reads;
use crate::text::errors::Read;
use crate::text::tokens::Tok;

/// A system as far as it has been read.
#[derive(Default)]
pub struct System {
    pub initial: Vec<TermId>,
    pub invariant: Vec<TermId>,
    pub transition: Vec<TermId>,
    pub variables: Vec<VarId>,
    /// Each variable's copy in the next state.
    pub next: FxHashMap<VarId, VarId>,
}

/// What a specification is made of: where in the tokens.
#[derive(Default)]
struct Index<'a> {
    /// At the word `const` or `var`.
    declarations: Vec<usize>,
    /// Behind the name.
    systems: FxHashMap<&'a str, usize>,
    /// At the name.
    properties: Vec<usize>,
}

/// What a specification is made of.
const ITEMS: &str = "`const`, `var`, `system`, `property` or `}`";

/// All properties; with all that is wrong.
pub fn properties(sources: &Sources, id: SourceId) -> (Vec<Sts>, Vec<Diagnostic>) {
    let mut parser = Parser::new(sources, id);
    let index = parser.index();
    let mut diagnostics = parser.finish();
    let Ok(index) = index else { return (vec![], diagnostics) };
    let mut all = vec![];
    for &at in &index.properties {
        let mut parser = Parser::new(sources, id);
        parser.formulas = true;
        all.extend(parser.property(&index, at));
        for d in parser.finish() {
            // Two properties of one system find the same mistakes in it.
            if !diagnostics.iter().any(|known| known.span == d.span && known.message == d.message) {
                diagnostics.push(d);
            }
        }
    }
    (all, diagnostics)
}

impl<'a> Parser<'a> {
    /// Goes through the specification once and notes what is where.
    fn index(&mut self) -> Read<Index<'a>> {
        if self.is("(") {
            return self.unexpected("`specification`: the Lisp-like spelling is not supported");
        }
        self.require("specification")?;
        self.name("the name of the specification")?;
        if self.take("(") && !self.take(")") {
            let span = self.peek().span;
            return self.fail(span, "parameters of a specification are not supported: nobody gives them values");
        }
        self.require("{")?;
        let mut index = Index::default();
        while !self.take("}") {
            let is_system = self.is("system");
            match self.peek().tok {
                Tok::Name("const" | "var") => {
                    index.declarations.push(self.at);
                    self.bump();
                }
                Tok::Name("system") => {
                    self.bump();
                    let (name, span) = self.name("the name of the system")?;
                    if index.systems.insert(name, self.at).is_some() {
                        return self.fail(span, format!("there are two systems `{name}`"));
                    }
                }
                Tok::Name("property") => {
                    self.bump();
                    index.properties.push(self.at);
                    self.name("the name of the property")?;
                }
                _ => return self.unexpected(ITEMS),
            }
            // To the next one.
            while self.peek().tok != Tok::End && !self.ends_item() {
                if self.is("{") {
                    self.skip_braces();
                    // A system ends with its braces. What follows and is none of these is a misspelt property, say.
                    if is_system && self.peek().tok != Tok::End && !self.ends_item() {
                        return self.unexpected(ITEMS);
                    }
                } else {
                    self.bump();
                }
            }
        }
        if self.peek().tok != Tok::End {
            return self.unexpected("the end of the text");
        }
        if index.properties.is_empty() {
            let span = self.peek().span;
            return self.fail(span, crate::xsts::NO_PROPERTY);
        }
        Ok(index)
    }

    /// Does the next part of the specification start here, or end it?
    fn ends_item(&self) -> bool {
        matches!(self.peek().tok, Tok::Name("const" | "var" | "system" | "property") | Tok::P("}"))
    }

    fn property(&mut self, index: &Index<'a>, at: usize) -> Option<Sts> {
        let mut system = System::default();
        let read = (|| {
            for &at in &index.declarations {
                self.at = at;
                self.declaration(&mut system)?;
                if !self.ends_item() {
                    return self.unexpected(ITEMS);
                }
            }
            self.at = at;
            let (name, span) = self.name("the name of the property")?;
            self.require(":")?;
            let constants = self.values.clone();
            self.system(index, &constants, &mut system)?;
            self.require("models")?;
            self.require("G")?;
            self.require("(")?;
            let e = self.truth("G")?;
            self.require(")")?;
            if !self.ends_item() {
                return self.unexpected(ITEMS);
            }
            Ok((name, span, e))
        })();
        let (name, span, e) = read.ok()?;
        (self.errors.count() == 0).then(|| build::build(self, name, span, system, e))
    }

    /// `{ … }`, or `name(arguments)`.
    fn system(&mut self, index: &Index<'a>, constants: &FxHashMap<&'a str, TermId>, system: &mut System) -> Read<()> {
        if self.is("{") {
            return self.body(system);
        }
        let (name, span) = self.name("a system")?;
        let mut arguments = vec![];
        if self.take("(") && !self.take(")") {
            arguments = self.list(|p| {
                let span = p.peek().span;
                Ok((p.expression()?, span))
            })?;
            self.require(")")?;
        }
        let Some(&definition) = index.systems.get(name) else {
            return self.unknown("system", name, span, index.systems.keys().copied());
        };
        // A system that refers to itself ends here.
        self.deeper(span)?;
        let back = std::mem::replace(&mut self.at, definition);
        let mut parameters = vec![];
        if self.take("(") && !self.take(")") {
            parameters = self.list(|p| {
                let (name, _) = p.name("the name of a parameter")?;
                p.require(":")?;
                Ok((name, p.type_of()?))
            })?;
            self.require(")")?;
        }
        self.require(":=")?;
        if parameters.len() != arguments.len() {
            let message = format!("`{name}` has {} parameters, and {} are given", parameters.len(), arguments.len());
            return self.fail(span, message);
        }
        // It does not see what its user has been given.
        self.values = constants.clone();
        for ((parameter, ty), (value, at)) in parameters.into_iter().zip(arguments) {
            self.expect_type(value, ty, parameter, at)?;
            self.values.insert(parameter, value);
        }
        self.system(index, constants, system)?;
        self.depth -= 1;
        self.at = back;
        Ok(())
    }

    fn body(&mut self, system: &mut System) -> Read<()> {
        self.require("{")?;
        let start = self.at;
        // First the names, then what is said of them.
        loop {
            match self.peek().tok {
                Tok::Name("const" | "var") => self.declaration(system)?,
                Tok::P("}") => break,
                Tok::End => return self.unexpected("`}`"),
                _ => {
                    self.bump();
                }
            }
        }
        self.at = start;
        while !self.take("}") {
            match self.peek().tok {
                Tok::Name("const" | "var") => self.skip_declaration()?,
                Tok::Name(word @ ("initial" | "invariant" | "transition")) => {
                    self.bump();
                    self.next = (word == "transition").then(|| system.next.clone());
                    let e = self.truth(word);
                    self.next = None;
                    match word {
                        "initial" => system.initial.push(e?),
                        "invariant" => system.invariant.push(e?),
                        _ => system.transition.push(e?),
                    }
                }
                _ => return self.unexpected("`var`, `const`, `initial`, `invariant`, `transition` or `}`"),
            }
        }
        Ok(())
    }

    fn truth(&mut self, what: &str) -> Read<TermId> {
        let span = self.peek().span;
        let e = self.expression()?;
        self.expect_type(e, Type::Bool, what, span)?;
        Ok(e)
    }

    /// `const c : int := e`, `var x : int`
    fn declaration(&mut self, system: &mut System) -> Read<()> {
        let constant = self.bump().tok == Tok::Name("const");
        let (name, span) = self.name("a name")?;
        self.require(":")?;
        let ty = self.type_of()?;
        if self.is(":=") && !constant {
            return self.unexpected("no value: write `initial`");
        }
        if self.values.contains_key(name) || self.variables.contains_key(name) {
            return self.fail(span, format!("there are two things called `{name}`"));
        }
        if self.take(":=") {
            let at = self.peek().span;
            let value = self.expression()?;
            self.expect_type(value, ty, name, at)?;
            self.values.insert(name, value);
            return Ok(());
        }
        self.declare(name, ty, span)?;
        let v = self.variables[name];
        system.variables.push(v);
        // A constant without a value has one that we do not know and that does not change: it is its own next value.
        if !constant {
            let next = self.terms().declare(format!("{name}'"), ty);
            self.cfa.variables.push(next);
            system.next.insert(v, next);
        }
        Ok(())
    }

    /// What [`Parser::declaration`] has read already.
    fn skip_declaration(&mut self) -> Read<()> {
        self.bump();
        self.bump();
        self.require(":")?;
        self.type_of()?;
        if self.take(":=") {
            self.expression()?;
        }
        Ok(())
    }
}
