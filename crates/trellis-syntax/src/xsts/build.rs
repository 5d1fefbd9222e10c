//! From the tree to the automaton: declarations, names and types, and how the parts are put together.

use rustc_hash::FxHashMap;
use trellis_expr::{EnumId, Terms, Type, VarId, defined};
use trellis_model::cfa::{Cfa, Edge, Kind, Location, LocationId, Place};

use super::ast::{Expr, File, TypeKind, TypeName, VarDecl};
use super::{Phase, Xsts};
use crate::diag::{Diagnostic, SourceId, Sources, Span};
use crate::text::cursor::unknown;
use crate::text::errors::{Errors, Read, Reported};

/// A variable that is not global.
pub struct Local<'a> {
    pub name: &'a str,
    pub var: VarId,
    /// The counter of a loop.
    pub counter: bool,
}

pub struct Builder<'a> {
    sources: &'a Sources,
    model: SourceId,
    pub errors: Errors,
    pub cfa: Cfa,
    pub globals: FxHashMap<&'a str, VarId>,
    /// The innermost last.
    pub locals: Vec<Local<'a>>,
    /// Where in `locals` the innermost block starts.
    pub block: usize,
    pub types: FxHashMap<&'a str, EnumId>,
    /// For each literal the types that have it, and its position there.
    pub literals: FxHashMap<&'a str, Vec<(EnumId, u32)>>,
    /// Which of `init`, `env` and `trans` is being read.
    pub section: &'static str,
    phases: Vec<Phase>,
}

/// Builds the automaton; the property, if there is one, counts more than the model's.
pub fn build<'a>(
    sources: &'a Sources,
    model: SourceId,
    file: &File<'a>,
    property: Option<&Expr<'a>>,
    needed: bool,
) -> (Option<Xsts>, Vec<Diagnostic>) {
    let mut cfa = Cfa::new(Terms::new(), Location { name: "start".into(), kind: Kind::Plain, place: None });
    cfa.files.push(sources.get(model).name.clone());
    cfa.files.extend(property.map(|p| sources.get(p.span.source).name.clone()));
    let mut builder = Builder {
        sources,
        model,
        errors: Errors::default(),
        cfa,
        globals: FxHashMap::default(),
        locals: vec![],
        block: 0,
        types: FxHashMap::default(),
        literals: FxHashMap::default(),
        section: "",
        phases: vec![],
    };
    let xsts = builder.file(file, property, needed).ok();
    (xsts, builder.errors.finish())
}

impl<'a> Builder<'a> {
    pub fn terms(&mut self) -> &mut Terms {
        &mut self.cfa.terms
    }

    pub fn fail<T>(&mut self, span: Span, message: impl Into<String>) -> Read<T> {
        self.errors.fail(Diagnostic::error(span, message))
    }

    pub fn place(&self, span: Span) -> Option<Place> {
        let (line, column) = self.sources.line_col(span);
        let file = u32::from(span.source != self.model);
        Some(Place { file, line: line as u32, column: column as u32 })
    }

    fn file(&mut self, file: &File<'a>, property: Option<&Expr<'a>>, needed: bool) -> Read<Xsts> {
        self.enumerations(file);
        let mut values = vec![];
        let mut variables = vec![];
        for declared in &file.variables {
            // A mistake here is one everywhere, so go on.
            if let Ok((v, value)) = self.global(declared) {
                variables.push(v);
                values.extend(value.map(|t| self.terms().assign(v, t)));
            }
        }
        let (init, env) = (self.set("init", &file.init), self.set("env", &file.env));
        let trans = self.set("trans", &file.trans);
        if let (Some(own), Some(_)) = (&file.prop, property) {
            self.errors.push(
                Diagnostic::warning(own.span, "this property is not the one that is checked")
                    .label("another one was given"),
            );
        }
        if let (Some(span), true) = (file.ltl, needed) {
            self.errors.push(Diagnostic::warning(span, "this formula of linear time is not looked at"));
        }
        let wanted = property.or(file.prop.as_ref()).filter(|_| needed);
        if wanted.is_none() && needed {
            let end = self.sources.get(self.model).text.len() as u32;
            let span = Span { source: self.model, start: end, end };
            return self.errors.fail(
                Diagnostic::error(span, super::NO_PROPERTY).help("write `prop { … }` here, or give one of your own"),
            );
        }
        let property = match wanted {
            Some(wanted) => self.expression(wanted, Some(Type::Bool))?,
            None => self.terms().bool(true),
        };
        let (init, env, trans) = (init?, env?, trans?);
        if self.errors.count() > 0 {
            return Err(Reported);
        }

        let before_env = self.location("before env", file.env.span);
        let before_trans = self.location("before trans", file.trans.span);
        let mut start = self.cfa.initial;
        if !values.is_empty() {
            let before_init = self.location("before init", file.init.span);
            let values = self.terms().seq(values);
            let first = file.variables.first().map_or(file.init.span, |v| v.span);
            self.edge(start, values, before_init, Phase::Values, first);
            start = before_init;
        }
        self.emit(init, start, before_env, Phase::Init, file.init.span);
        self.emit(env, before_env, before_trans, Phase::Env, file.env.span);
        self.emit(trans, before_trans, before_env, Phase::Trans, file.trans.span);
        if let Some(wanted) = wanted {
            let error = self.location("error", wanted.span);
            self.cfa.location_mut(error).kind = Kind::Error;
            // Nothing foreign is in it, so this always has an answer.
            let holds = defined::holds(self.terms(), property).unwrap_or(property);
            let fails = self.terms().not(holds);
            let fails = self.terms().assume(fails);
            for at in [before_env, before_trans] {
                self.edge(at, fails, error, Phase::Check, wanted.span);
            }
        }
        let empty = Cfa::new(Terms::new(), Location { name: String::new(), kind: Kind::Plain, place: None });
        let cfa = std::mem::replace(&mut self.cfa, empty);
        let phases = std::mem::take(&mut self.phases);
        Ok(Xsts { cfa, property, variables, before_env, before_trans, ltl: file.ltl, phases })
    }

    fn enumerations(&mut self, file: &File<'a>) {
        for declared in &file.types {
            let mut names: Vec<String> = vec![];
            for &(literal, span) in &declared.literals {
                let at = (EnumId(self.types.len() as u32), names.len() as u32);
                let known = self.literals.entry(literal).or_default();
                if known.last().is_some_and(|k| k.0 == at.0) {
                    let _ = self.fail::<()>(span, format!("the type has two literals `{literal}`"));
                    continue;
                }
                known.push(at);
                names.push(literal.to_string());
            }
            let e = self.terms().declare_enum(declared.name, names);
            if self.types.insert(declared.name, e).is_some() {
                let _ = self.fail::<()>(declared.span, format!("there are two types `{}`", declared.name));
                // The numbers above would not be right any more.
                return;
            }
        }
    }

    /// Declares a global variable; with its initial value.
    fn global(&mut self, declared: &VarDecl<'a>) -> Read<(VarId, Option<trellis_expr::TermId>)> {
        let ty = self.type_of(&declared.ty);
        let twice = self.globals.contains_key(declared.name);
        // The value speaks of earlier variables only.
        let value = match (&declared.value, &ty) {
            (Some(e), Ok(ty)) => self.expression(e, Some(*ty)).map(Some),
            _ => Ok(None),
        };
        let v = self.declare(declared.name, declared.name, declared.span, ty?)?;
        self.globals.insert(declared.name, v);
        if declared.control {
            self.cfa.control.push(v);
        }
        if twice {
            return self.fail(declared.span, format!("there are two variables `{}`", declared.name));
        }
        Ok((v, value?))
    }

    /// A new variable of the automaton, global or not; what it is called there, and in the text.
    fn declare(&mut self, full: &str, name: &str, span: Span, ty: Type) -> Read<VarId> {
        if self.literals.contains_key(name) {
            return self.fail(span, format!("`{name}` is a literal of a type already"));
        }
        let v = self.terms().declare(full, ty);
        self.cfa.variables.push(v);
        Ok(v)
    }

    /// Declares a variable of the innermost block.
    pub fn local(&mut self, name: &'a str, span: Span, ty: Type, counter: bool) -> Read<VarId> {
        if self.locals[self.block..].iter().any(|l| l.name == name) {
            return self.fail(span, format!("there are two variables `{name}` in this block"));
        }
        let full = format!("{}::{name}", self.section);
        let v = self.declare(&full, name, span, ty)?;
        self.locals.push(Local { name, var: v, counter });
        Ok(v)
    }

    pub fn variable(&self, name: &str) -> Option<VarId> {
        let local = self.locals.iter().rev().find(|l| l.name == name).map(|l| l.var);
        local.or_else(|| self.globals.get(name).copied())
    }

    pub fn type_of(&mut self, ty: &TypeName<'a>) -> Read<Type> {
        match &ty.kind {
            TypeKind::Bool => Ok(Type::Bool),
            TypeKind::Int => Ok(Type::Int),
            TypeKind::Named(name) => match self.types.get(name) {
                Some(&e) => Ok(Type::Enum(e)),
                None => {
                    let there_are = self.types.keys().copied().chain(["integer", "boolean"]);
                    self.errors.fail(unknown("type", name, ty.span, there_are))
                }
            },
            TypeKind::Array(index, entry) => {
                let (of, entry) = (self.type_of(index)?, self.type_of(entry)?);
                match of {
                    Type::Array(..) => self.fail(index.span, "arrays that are indexed by arrays are not supported"),
                    of => Ok(self.terms().array_type(of, entry)),
                }
            }
        }
    }

    pub fn location(&mut self, name: &str, span: Span) -> LocationId {
        let place = self.place(span);
        self.cfa.add_location(Location { name: name.into(), kind: Kind::Plain, place })
    }

    pub fn edge(&mut self, from: LocationId, stmt: trellis_expr::StmtId, to: LocationId, phase: Phase, span: Span) {
        let place = self.place(span);
        self.cfa.add_edge(Edge { from, stmt, to, place });
        self.phases.push(phase);
    }
}
