//! The translation unit: what is declared at file scope, and `main`.

use lang_c::ast::{
    BlockItem, Declaration, DeclarationSpecifier, DerivedDeclarator, Ellipsis, Expression, ExternalDeclaration,
    FunctionDefinition, Initializer, ParameterDeclaration, Statement, StaticAssert, StorageClassSpecifier,
    TranslationUnit, TypeQualifier,
};
use lang_c::span::{Node, Span as CSpan};
use rustc_hash::FxHashMap;
use trellis_expr::TermId;
use trellis_model::cfa::{Kind, Location};

use super::attributes::Attributes;
use super::decl::{Name, Scope, declared_name};
use super::lower::{Lower, Lowered};
use super::pointer::Targets;
use super::preprocess::Map;
use super::purity::is_impure;
use super::scan::scan;
use super::stmt::Frame;
use super::structs::{Key, Object};
use super::types::{CType, IntType};
use super::volatile::steady;
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
    /// Attributes of functions, from all their declarations.
    pub attributes: FxHashMap<String, Attributes>,
    /// The functions that are defined here, in this order.
    defined: Vec<&'a str>,
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
    volatile: bool,
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
    pub fn declare_global(&mut self, name: &str, ty: CType, span: CSpan, volatile: bool) {
        if let CType::Function(_) = ty {
            return self.declare_function(name, ty);
        }
        let global = Global { ty, span, init: None, elsewhere: true, constant: false, object: None, volatile };
        self.globals.entry(name.to_string()).or_insert(global);
    }

    /// Is this a global variable that is volatile?
    pub fn is_volatile(&self, name: &str) -> bool {
        self.globals.get(name).is_some_and(|g| g.volatile)
    }

    pub fn declare_function(&mut self, name: &str, ty: CType) {
        if let CType::Function(result) = ty {
            self.results.insert(name.to_string(), (*result).clone());
        }
    }

    pub fn result_of(&self, name: &str) -> Option<CType> {
        self.results.get(name).cloned()
    }

    /// Is a function declared never to return?
    pub fn never_returns(&self, name: &str) -> bool {
        self.attributes.get(name).is_some_and(|a| a.no_return)
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
                ExternalDeclaration::StaticAssert(a) => self.static_assert(a),
            };
        }
        self.check_destructors()?;
        let Some(&main) = self.unit.functions.get("main") else {
            let span = unit.0.last().map_or(CSpan::span(0, 0), |item| item.span);
            return self.error(span, "there is no function `main`");
        };
        let start = self.location(main.body.span);
        self.at = Some(start);
        self.constructors()?;
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
        let mut code = format!("int f(void) {{ return {text}; }}");
        let unit = match scan(&mut code) {
            Ok(_) => parallel::parse(code, self.options),
            Err(unread) => return self.error(main, format!("in `{text}`: {}", unread.message)),
        };
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
            let declarator = &node.node.declarator.node;
            let Some((name, span)) = declared_name(declarator) else { continue };
            self.no_bare_names(declarator)?;
            let mut ty = self.derived_type(specified.ty.clone(), declarator)?;
            let own = self.declarator_attributes(declarator)?.and(&specified.attributes);
            let traits = specified.traits_of(declarator, &own);
            self.not_in_a_list(&own)?;
            if let CType::Function(_) = ty
                && specified.storage != Some(StorageClassSpecifier::Typedef)
            {
                self.bind(name, Name::Global);
                self.note_function(name, &own);
                self.unit.declare_function(name, ty);
                continue;
            }
            ty = steady(self.attributed(ty, &own), traits.volatile);
            if specified.storage == Some(StorageClassSpecifier::Typedef) {
                let ty = self.exact_width(name, ty);
                self.bind_type(name, ty, traits);
                continue;
            }
            let before = self.unit.file.names.get(name).filter(|n| !matches!(n, Name::Global));
            if before.is_some() {
                return self.error(span, format!("there are two things called `{name}`"));
            }
            self.bind(name, Name::Global);
            let init = node.node.initializer.as_ref();
            if let (CType::Array(entry, None), Some(init)) = (&ty, init) {
                ty = CType::Array(entry.clone(), Some(self.length(entry, init)?));
            }
            let elsewhere = specified.storage == Some(StorageClassSpecifier::Extern) && init.is_none();
            if own.weak && elsewhere {
                ty = CType::other("something with the attribute `weak`");
            }
            if init.is_some() {
                self.once(name.to_string(), span)?;
            }
            match self.unit.globals.get_mut(name) {
                Some(old) if !compatible(&old.ty, &ty) => {
                    return self.error(span, format!("`{name}` is declared with another type before"));
                }
                Some(old) => {
                    if let CType::Array(_, Some(_)) | CType::Other(_) = ty {
                        old.ty = ty;
                    }
                    old.elsewhere &= elsewhere;
                    old.init = old.init.or(init);
                    old.volatile |= traits.volatile;
                }
                None => {
                    let volatile = traits.volatile;
                    let constant = is_constant(&d.node.specifiers) && !matches!(ty, CType::Pointer(_));
                    let global = Global { ty, span, init, elsewhere, constant, object: None, volatile };
                    self.unit.globals.insert(name.to_string(), global);
                }
            }
        }
        Ok(())
    }

    /// `section(".init_array")`: what stands there is called by nobody in the text.
    fn not_in_a_list(&mut self, own: &Attributes) -> Lowered<()> {
        match own.odd.as_ref().filter(|(name, _)| name == "section") {
            Some((_, span)) => {
                let span = *span;
                self.error(span, "this section is a list of functions that are called, which is not supported")
            }
            None => Ok(()),
        }
    }

    /// Takes note of a function's attributes.
    pub fn note_function(&mut self, name: &str, own: &Attributes) {
        let before = self.unit.attributes.remove(name).unwrap_or_default();
        self.unit.attributes.insert(name.to_string(), before.and(own));
    }

    /// Functions that run after `main` would have to run after every `exit`, too.
    fn check_destructors(&mut self) -> Lowered<()> {
        for name in self.unit.defined.clone() {
            if let Some(span) = self.unit.attributes.get(name).and_then(|a| a.destructor) {
                return self.error(span, format!("`{name}` has the attribute `destructor`, which is not supported"));
            }
        }
        Ok(())
    }

    /// Functions that run before `main`: by priority, then in the order of their definitions.
    fn constructors(&mut self) -> Lowered<()> {
        let mut all = vec![];
        for name in &self.unit.defined {
            let when = self.unit.attributes.get(*name).and_then(|a| a.constructor);
            all.extend(when.zip(self.unit.functions.get(name).copied()));
        }
        all.sort_by_key(|(when, _)| *when);
        for (_, function) in all {
            let span = function.body.span;
            if !self.signature(function)?.parameters.is_empty() {
                let message = format!("the constructor `{}` has parameters, which is not supported", function.name);
                return self.error(span, message);
            }
            self.inline(function, &[], span, false)?;
        }
        Ok(())
    }

    /// `_Static_assert`: a program for which it fails is none.
    pub fn static_assert(&mut self, a: &Node<StaticAssert>) -> Lowered<()> {
        match self.constant_of(&a.node.expression, "what is asserted") {
            Ok(0) => self.error(a.node.expression.span, "this static assertion fails"),
            Ok(_) => Ok(()),
            Err(reported) => Err(reported),
        }
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
            if global.volatile {
                object.vars.iter().for_each(|v| self.volatile.insert(*v));
            }
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
        let own = self.declarator_attributes(&definition.declarator.node)?.and(&specified.attributes);
        self.not_in_a_list(&own)?;
        self.note_function(name, &own);
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
        self.unit.defined.push(name);
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
        let mut own = self.attributes(&p.extensions)?.and(&specified.attributes);
        let (ty, declared, volatile) = match &p.declarator {
            Some(d) => {
                own = self.declarator_attributes(&d.node)?.and(&own);
                let volatile = specified.traits_of(&d.node, &own).volatile;
                let ty = self.derived_type(specified.ty, &d.node)?;
                // Of an array, a pointer comes here.
                let volatile = volatile && !matches!(ty, CType::Array(..));
                (ty, declared_name(&d.node), volatile)
            }
            None => (specified.ty, None, specified.traits.volatile),
        };
        let (name, span) = declared.unwrap_or(("", span));
        // `f(void)`
        let ty = self.attributed(ty.adjusted(), &own);
        if ty == CType::Void {
            return Ok(None);
        }
        self.new_parameter(name, ty, span, volatile).map(Some)
    }

    fn new_parameter(&mut self, name: &str, ty: CType, span: CSpan, volatile: bool) -> Lowered<Parameter> {
        // The parser takes the name for that of a type in the body.
        if let Some(Name::Type(_)) = self.lookup(name) {
            return self.error(span, format!("`{name}` is the name of a type and of a parameter"));
        }
        if volatile {
            self.volatile.note(span.start);
        }
        let ty = steady(ty, volatile);
        Ok(Parameter { name: name.to_string(), ty, span })
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
                    let own = self.declarator_attributes(declarator)?.and(&specified.attributes);
                    let ty = self.derived_type(specified.ty.clone(), declarator)?;
                    let volatile = specified.traits_of(declarator, &own).volatile && !matches!(ty, CType::Array(..));
                    let ty = self.attributed(ty.adjusted(), &own);
                    return self.new_parameter(name, ty, span, volatile);
                }
            }
        }
        self.new_parameter(name, CType::Int(IntType::INT), span, false)
    }
}

/// May a variable be declared with both types? Of what is not supported nobody knows.
fn compatible(a: &CType, b: &CType) -> bool {
    match (a, b) {
        (CType::Other(_), _) | (_, CType::Other(_)) => true,
        (CType::Int(a), CType::Int(b)) => a == b,
        (CType::Array(a, n), CType::Array(b, m)) => compatible(a, b) && (n.is_none() || m.is_none() || n == m),
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
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
