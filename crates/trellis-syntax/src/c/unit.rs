//! The translation unit: what is declared at file scope, and `main`.

use lang_c::ast::{
    BlockItem, Declaration, DeclarationSpecifier, DerivedDeclarator, Ellipsis, Expression, ExternalDeclaration,
    FunctionDefinition, Initializer, ParameterDeclaration, Statement, StorageClassSpecifier, TranslationUnit,
    TypeQualifier,
};
use lang_c::span::{Node, Span as CSpan};
use rustc_hash::FxHashMap;
use trellis_expr::TermId;
use trellis_model::cfa::{Kind, Location};

use super::decl::{Name, Scope, declared_name};
use super::lower::{Lower, Lowered};
use super::pointer::Targets;
use super::preprocess::Map;
use super::purity::is_impure;
use super::stmt::Frame;
use super::structs::{Key, Object};
use super::types::{CType, IntType};
use super::{Built, DataModel, Options, parallel};
use crate::diag::{Diagnostic, Severity, Sources};

/// What is declared at file scope.
#[derive(Default)]
pub struct Unit<'a> {
    pub functions: FxHashMap<&'a str, Function<'a>>,
    pub globals: FxHashMap<String, Global<'a>>,
    /// What functions return, defined or only declared.
    results: FxHashMap<String, CType>,
    pub file: Scope,
}

/// A function with a body.
#[derive(Clone, Copy)]
pub struct Function<'a> {
    pub name: &'a str,
    definition: &'a FunctionDefinition,
    pub body: &'a Node<Statement>,
    /// `f(int, …)`
    pub variadic: bool,
    /// `f()`: any arguments will do.
    pub unspecified: bool,
}

/// A variable at file scope.
pub struct Global<'a> {
    pub ty: CType,
    span: CSpan,
    init: Option<&'a Node<Initializer>>,
    /// Only `extern` declarations so far.
    elsewhere: bool,
    /// Can nobody change it?
    constant: bool,
    /// The variable, once the program uses it.
    object: Option<Object>,
}

/// What a function takes and returns.
pub struct Signature {
    pub parameters: Vec<Parameter>,
    pub result: CType,
}

/// A parameter.
pub struct Parameter {
    pub name: String,
    pub ty: CType,
    pub span: CSpan,
}

impl Unit<'_> {
    /// The variables that other files can change.
    pub fn changeable(&self) -> Vec<Object> {
        self.globals.values().filter(|g| !g.constant).filter_map(|g| g.object.clone()).collect()
    }

    /// A variable that is declared but not defined.
    pub fn declare_global(&mut self, name: &str, ty: CType, span: CSpan) {
        if let CType::Function(_) = ty {
            return self.declare_function(name, ty);
        }
        let global = Global { ty, span, init: None, elsewhere: true, constant: false, object: None };
        self.globals.entry(name.to_string()).or_insert(global);
    }

    pub fn declare_function(&mut self, name: &str, ty: CType) {
        if let CType::Function(result) = ty {
            self.results.insert(name.to_string(), (*result).clone());
        }
    }

    pub fn result_of(&self, name: &str) -> Option<CType> {
        self.results.get(name).cloned()
    }

    pub fn type_of(&self, name: &str) -> CType {
        match self.globals.get(name) {
            Some(global) => global.ty.clone(),
            None => CType::other("a function"),
        }
    }
}

/// Makes an automaton of a unit.
pub fn build(
    unit: &TranslationUnit,
    map: &Map,
    sources: &Sources,
    options: &Options,
) -> Result<Built, Vec<Diagnostic>> {
    // What pointers may point to is known after a first reading; without pointers that is the only one.
    let mut known = Targets::default();
    let (mut lower, done) = loop {
        let mut lower = Lower::new(options, map, sources, Unit::default(), known);
        let done = lower.unit(unit);
        let count = |t: &Targets| t.values().map(Vec::len).sum::<usize>();
        if done.is_err() || count(&lower.found) == count(&lower.known) {
            break (lower, done);
        }
        known = lower.found;
    };
    let (atoms, before_main) = (std::mem::take(&mut lower.atoms), lower.before_main);
    let diagnostics = std::mem::take(&mut lower.errors).finish();
    let failed = done.is_err() || diagnostics.iter().any(|d| d.severity == Severity::Error);
    if failed {
        return Err(diagnostics);
    }
    let (cfa, kept) = lower.cfa.pruned_with();
    let mut checks = lower.checks;
    for check in &mut checks {
        check.location = check.location.and_then(|l| kept[l.index()]);
    }
    Ok(Built { cfa, atoms, before_main, checks, bodiless: lower.bodiless, warnings: diagnostics })
}

impl<'a> Lower<'a> {
    fn unit(&mut self, unit: &'a TranslationUnit) -> Lowered<()> {
        for item in &unit.0 {
            // A mistake here has been noted; what does not need it can go on.
            let _ = match &item.node {
                ExternalDeclaration::Declaration(d) => self.file_declaration(d),
                ExternalDeclaration::FunctionDefinition(f) => self.function(f),
                ExternalDeclaration::StaticAssert(_) => Ok(()),
            };
        }
        let Some(&main) = self.unit.functions.get("main") else {
            let span = unit.0.last().map_or(CSpan::span(0, 0), |item| item.span);
            return self.error(span, "there is no function `main`");
        };
        let start = self.location(main.body.span);
        self.at = Some(start);
        self.program(main)?;
        let atoms: Lowered<Vec<TermId>> =
            self.options.atoms.iter().map(|text| self.atom(text, main.body.span)).collect();
        self.atoms = atoms?;
        self.finish()?;
        self.before_main = self.first.len();
        // What comes before `main` is known only now.
        self.at = Some(self.cfa.initial);
        for (stmt, place) in std::mem::take(&mut self.first) {
            let name = format!("L{}", self.cfa.locations().len());
            let to = self.cfa.add_location(Location { name, kind: Kind::Plain, place: Some(place) });
            if let Some(from) = self.at.replace(to) {
                self.cfa.add_edge(trellis_model::cfa::Edge { from, stmt, to, place: Some(place) });
            }
        }
        self.jump(start, main.body.span);
        Ok(())
    }

    /// A condition on global variables.
    fn atom(&mut self, text: &str, main: CSpan) -> Lowered<TermId> {
        let unit = parallel::parse(format!("int f(void) {{ return {text}; }}"));
        let expression = unit.as_ref().ok().and_then(|unit| match &unit.0[..] {
            [one] => match &one.node {
                ExternalDeclaration::FunctionDefinition(f) => returned(&f.node),
                _ => None,
            },
            _ => None,
        });
        let Some(e) = expression.filter(|e| !is_impure(e)) else {
            return self.error(main, format!("`{text}` is no condition of C without side effects"));
        };
        // Places in the condition mean nothing in the program.
        let before = self.errors.count();
        (self.at, self.frame) = (None, Frame::default());
        self.defs.clear();
        let value = self.value(e);
        if self.errors.count() > before {
            return self.error(main, format!("`{text}` is no condition on the global variables of this program"));
        }
        let truth = self.truth(value?);
        let mut all: Vec<TermId> = std::mem::take(&mut self.defs).into_iter().map(|d| d.term).collect();
        all.push(truth);
        Ok(self.terms().and(all))
    }

    fn program(&mut self, main: Function<'a>) -> Lowered<()> {
        let signature = self.signature(main)?;
        let mut names = Scope::default();
        for p in signature.parameters {
            let meaning = match p.ty {
                CType::Int(ty) => {
                    let object = self.local_object(p.span.start, &format!("main::{}", p.name), &p.ty)?;
                    let Some(&v) = object.vars.first() else { continue };
                    let any = self.arbitrary(v, &p.ty);
                    // The number of arguments is not negative.
                    let zero = self.number(ty, 0);
                    let terms = self.terms();
                    let var = terms.var(v);
                    let least = terms.le(zero, var);
                    let assume = terms.assume(least);
                    let stmt = terms.seq([any, assume]);
                    self.emit(stmt, p.span);
                    Name::Variable(object)
                }
                ty => Name::Odd(ty),
            };
            names.names.insert(p.name, meaning);
        }
        self.frame = Frame::new(names, self.end);
        self.stack.push(main.name);
        let done = self.body(main.body);
        self.stack.pop();
        self.frame = Frame::default();
        done
    }

    fn file_declaration(&mut self, d: &'a Node<Declaration>) -> Lowered<()> {
        let specified = self.specified(&d.node.specifiers)?;
        for node in &d.node.declarators {
            let Some((name, span)) = declared_name(&node.node.declarator.node) else { continue };
            let mut ty = self.derived_type(specified.ty.clone(), &node.node.declarator.node)?;
            if specified.storage == Some(StorageClassSpecifier::Typedef) {
                let ty = self.exact_width(name, ty);
                self.bind(name, Name::Type(ty));
                continue;
            }
            self.bind(name, Name::Global);
            if let CType::Function(_) = ty {
                self.unit.declare_function(name, ty);
                continue;
            }
            let init = node.node.initializer.as_ref();
            if let (CType::Array(entry, None), Some(init)) = (&ty, init) {
                ty = CType::Array(entry.clone(), Some(self.length(entry, init)?));
            }
            let elsewhere = specified.storage == Some(StorageClassSpecifier::Extern) && init.is_none();
            match self.unit.globals.get_mut(name) {
                Some(old) => {
                    if let CType::Array(_, Some(_)) = ty {
                        old.ty = ty;
                    }
                    old.elsewhere &= elsewhere;
                    old.init = old.init.or(init);
                }
                None => {
                    let constant = is_constant(&d.node.specifiers) && !matches!(ty, CType::Pointer(_));
                    let global = Global { ty, span, init, elsewhere, constant, object: None };
                    self.unit.globals.insert(name.to_string(), global);
                }
            }
        }
        Ok(())
    }

    /// Headers for 64 bits say that `int64_t` is a `long`, which in the other data model is too short for it.
    fn exact_width(&self, name: &str, ty: CType) -> CType {
        match ty {
            CType::Int(int)
                if self.options.data_model == DataModel::Ilp32
                    && int.rank == 4
                    && (name.ends_with("64_t") || name.ends_with("max_t")) =>
            {
                CType::Int(IntType::long_long(int.signed))
            }
            ty => ty,
        }
    }

    /// The variable behind a global name. It gets its initial value when the program first uses it, in the text; that is before
    /// `main` in the run.
    pub fn global(&mut self, name: &str, span: CSpan) -> Lowered<Object> {
        let Some(global) = self.unit.globals.get(name) else {
            return self.refuse(span, name, &CType::other("a function"));
        };
        let mut ty = global.ty.clone();
        if let Some(object) = &global.object {
            return Ok(object.clone());
        }
        let (init, place, elsewhere) = (global.init, global.span, global.elsewhere);
        if let CType::Array(entry, None) = ty {
            // C11 6.9.2: a tentative definition of unknown size has one entry.
            ty = CType::Array(entry, (!elsewhere).then_some(1));
        }
        let Some(object) = self.object(name, &ty, Key::Global(name.into())) else {
            return self.refuse(span, name, &ty);
        };
        if let Some(global) = self.unit.globals.get_mut(name) {
            global.object = Some(object.clone());
        }
        if elsewhere {
            // It is defined in another file: nobody knows its value.
            let any = self.arbitrary_object(&object);
            let place = self.place(place);
            self.first.push((any, place));
        } else {
            // The names in its initialiser are those of the file.
            let frame = std::mem::take(&mut self.frame);
            let done = self.initialise_first(&object, init, place);
            self.frame = frame;
            done?;
        }
        Ok(object)
    }

    fn function(&mut self, f: &'a Node<FunctionDefinition>) -> Lowered<()> {
        let definition = &f.node;
        let Some((name, span)) = declared_name(&definition.declarator.node) else { return Ok(()) };
        let specified = self.specified(&definition.specifiers)?;
        let ty = self.derived_type(specified.ty, &definition.declarator.node)?;
        self.unit.declare_function(name, ty);
        self.bind(name, Name::Global);
        let mut function =
            Function { name, definition, body: &definition.statement, variadic: false, unspecified: false };
        for derived in &definition.declarator.node.derived {
            match &derived.node {
                DerivedDeclarator::Function(d) => {
                    function.variadic = d.node.ellipsis == Ellipsis::Some;
                    function.unspecified = d.node.parameters.is_empty();
                }
                DerivedDeclarator::KRFunction(names) => function.unspecified = names.is_empty(),
                _ => {}
            }
        }
        if self.unit.functions.insert(name, function).is_some() {
            return self.error(span, format!("there are two functions `{name}`"));
        }
        Ok(())
    }

    /// What a function takes and returns, in the names of the file.
    pub fn signature(&mut self, f: Function<'a>) -> Lowered<Signature> {
        let frame = std::mem::take(&mut self.frame);
        let done = self.signature_here(f);
        self.frame = frame;
        done
    }

    fn signature_here(&mut self, f: Function<'a>) -> Lowered<Signature> {
        let result = self.unit.result_of(f.name).unwrap_or(CType::Void);
        let mut parameters = vec![];
        for derived in &f.definition.declarator.node.derived {
            match &derived.node {
                DerivedDeclarator::Function(d) => {
                    for p in &d.node.parameters {
                        parameters.extend(self.parameter(&p.node, p.span)?);
                    }
                }
                DerivedDeclarator::KRFunction(names) => {
                    for name in names {
                        parameters.push(self.old_parameter(f, &name.node.name, name.span)?);
                    }
                }
                _ => {}
            }
        }
        Ok(Signature { parameters, result })
    }

    fn parameter(&mut self, p: &ParameterDeclaration, span: CSpan) -> Lowered<Option<Parameter>> {
        let specified = self.specified(&p.specifiers)?;
        let (ty, declared) = match &p.declarator {
            Some(d) => (self.derived_type(specified.ty, &d.node)?, declared_name(&d.node)),
            None => (specified.ty, None),
        };
        let (name, span) = declared.unwrap_or(("", span));
        // `f(void)`
        let ty = ty.adjusted();
        Ok((ty != CType::Void).then(|| Parameter { name: name.to_string(), ty, span }))
    }

    /// `int f(a) int a; {…}`
    fn old_parameter(&mut self, f: Function<'a>, name: &str, span: CSpan) -> Lowered<Parameter> {
        for d in &f.definition.declarations {
            for declarator in &d.node.declarators {
                let declarator = &declarator.node.declarator.node;
                if let Some((declared, span)) = declared_name(declarator)
                    && declared == name
                {
                    let specified = self.specified(&d.node.specifiers)?;
                    let ty = self.derived_type(specified.ty, declarator)?.adjusted();
                    return Ok(Parameter { name: name.to_string(), ty, span });
                }
            }
        }
        let ty = CType::Int(IntType::INT);
        Ok(Parameter { name: name.to_string(), ty, span })
    }
}

/// Does a declaration say `const`?
fn is_constant(specifiers: &[Node<DeclarationSpecifier>]) -> bool {
    let is = |s: &Node<DeclarationSpecifier>| match &s.node {
        DeclarationSpecifier::TypeQualifier(q) => q.node == TypeQualifier::Const,
        _ => false,
    };
    specifiers.iter().any(is)
}

/// What `f` returns, if it does nothing else.
fn returned(f: &FunctionDefinition) -> Option<&Node<Expression>> {
    let Statement::Compound(items) = &f.statement.node else { return None };
    let [item] = &items[..] else { return None };
    match &item.node {
        BlockItem::Statement(s) => match &s.node {
            Statement::Return(e) => e.as_deref(),
            _ => None,
        },
        _ => None,
    }
}
