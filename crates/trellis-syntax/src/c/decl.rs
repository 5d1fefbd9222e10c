//! Names, types and declarations inside functions.

use std::rc::Rc;

use lang_c::ast::{
    ArraySize, Declaration, DeclarationSpecifier, Declarator, DeclaratorKind, DerivedDeclarator, EnumType, Expression,
    InitDeclarator, Initializer, SpecifierQualifier, StorageClassSpecifier, TypeName, TypeOf, TypeSpecifier,
};
use lang_c::span::{Node, Span as CSpan};
use rustc_hash::FxHashMap;

use super::lower::{Lower, Lowered};
use super::place::{Base, Place};
use super::purity::is_impure;
use super::structs::Object;
use super::types::{CType, IntType};

/// What a name stands for.
#[derive(Debug, Clone)]
pub enum Name {
    Variable(Object),
    /// A pointer that is never changed, and plainly points there.
    Reference(Place),
    /// A member of an enumeration.
    Constant(i128),
    Type(CType),
    /// Something at file scope.
    Global,
    /// Something that may be declared but not used.
    Odd(CType),
}

/// The names declared in one block.
#[derive(Debug, Default)]
pub struct Scope {
    pub names: FxHashMap<String, Name>,
    pub tags: FxHashMap<String, CType>,
}

/// What a declaration says before its declarators.
pub struct Specified {
    pub ty: CType,
    pub storage: Option<StorageClassSpecifier>,
}

impl Lower<'_> {
    /// The innermost meaning of a name.
    pub fn lookup(&self, name: &str) -> Option<&Name> {
        let scopes = self.frame.scopes.iter().rev().chain([&self.unit.file]);
        scopes.filter_map(|s| s.names.get(name)).next()
    }

    /// Gives a name a meaning in the innermost block, or at file scope.
    pub fn bind(&mut self, name: &str, meaning: Name) {
        let scope = self.frame.scopes.last_mut().unwrap_or(&mut self.unit.file);
        scope.names.insert(name.to_string(), meaning);
    }

    // Types.

    pub fn specified(&mut self, specifiers: &[Node<DeclarationSpecifier>]) -> Lowered<Specified> {
        let mut storage = None;
        let mut parts = vec![];
        for s in specifiers {
            match &s.node {
                DeclarationSpecifier::StorageClass(class) => storage = Some(class.node.clone()),
                DeclarationSpecifier::TypeSpecifier(t) => parts.push(t),
                _ => {}
            }
        }
        Ok(Specified { ty: self.base_type(&parts)?, storage })
    }

    /// `unsigned long`, a typedef name, an enumeration.
    pub fn base_type(&mut self, parts: &[&Node<TypeSpecifier>]) -> Lowered<CType> {
        let (mut long, mut signed, mut int) = (0, None, None);
        for part in parts {
            match &part.node {
                TypeSpecifier::Void => return Ok(CType::Void),
                TypeSpecifier::Long => long += 1,
                TypeSpecifier::Signed => signed = Some(true),
                TypeSpecifier::Unsigned => signed = Some(false),
                TypeSpecifier::Int => {}
                TypeSpecifier::Char => int = Some(IntType::CHAR),
                TypeSpecifier::Short => int = Some(IntType::short(true)),
                TypeSpecifier::Bool => int = Some(IntType::BOOL),
                TypeSpecifier::Float | TypeSpecifier::Double | TypeSpecifier::TS18661Float(_) => {
                    return Ok(CType::other("a floating-point number"));
                }
                TypeSpecifier::Complex => return Ok(CType::other("a complex number")),
                TypeSpecifier::Atomic(name) => return self.type_name(name),
                TypeSpecifier::Struct(s) => return self.structure(s),
                TypeSpecifier::Enum(e) => return self.enumeration(e),
                TypeSpecifier::TypedefName(name) => {
                    return match self.lookup(&name.node.name) {
                        Some(Name::Type(ty)) => Ok(ty.clone()),
                        _ => Ok(CType::other(format!("of the unknown type `{}`", name.node.name))),
                    };
                }
                TypeSpecifier::TypeOf(t) => {
                    return match &t.node {
                        TypeOf::Type(name) => self.type_name(name),
                        TypeOf::Expression(e) => self.type_of(e),
                    };
                }
            }
        }
        let model = self.options.data_model;
        let int = match (int, long) {
            (Some(int), _) if int.is_bool() => int,
            (Some(int), _) => IntType { signed: signed.unwrap_or(true), ..int },
            (None, 0) => IntType { signed: signed.unwrap_or(true), ..IntType::INT },
            (None, 1) => IntType::long(model, signed.unwrap_or(true)),
            (None, _) => IntType::long_long(signed.unwrap_or(true)),
        };
        Ok(CType::Int(int))
    }

    fn enumeration(&mut self, e: &Node<EnumType>) -> Lowered<CType> {
        let tag = e.node.identifier.as_ref().map(|i| i.node.name.as_str());
        if e.node.enumerators.is_empty() {
            let scopes = self.frame.scopes.iter().rev().chain([&self.unit.file]);
            let known = scopes.filter_map(|s| s.tags.get(tag.unwrap_or_default())).next();
            return Ok(known.cloned().unwrap_or(CType::Int(IntType::UINT)));
        }
        let mut next = 0;
        let mut negative = false;
        for member in &e.node.enumerators {
            if let Some(value) = &member.node.expression {
                next = self.constant_of(value, "the value of an enumeration's member")?;
            }
            negative |= next < 0;
            self.bind(&member.node.identifier.node.name, Name::Constant(next));
            next += 1;
        }
        let ty = CType::Int(if negative { IntType::INT } else { IntType::UINT });
        if let Some(tag) = tag {
            let scope = self.frame.scopes.last_mut().unwrap_or(&mut self.unit.file);
            scope.tags.insert(tag.to_string(), ty.clone());
        }
        Ok(ty)
    }

    pub fn type_name(&mut self, name: &Node<TypeName>) -> Lowered<CType> {
        let mut parts = vec![];
        for s in &name.node.specifiers {
            if let SpecifierQualifier::TypeSpecifier(t) = &s.node {
                parts.push(t);
            }
        }
        let base = self.base_type(&parts)?;
        match &name.node.declarator {
            Some(d) => self.derived_type(base, &d.node),
            None => Ok(base),
        }
    }

    /// What a declarator makes of the type before it: `*x`, `x[3]`, `x(int)`.
    pub fn derived_type(&mut self, base: CType, d: &Declarator) -> Lowered<CType> {
        let pointer = |d: &&Node<DerivedDeclarator>| matches!(d.node, DerivedDeclarator::Pointer(_));
        let mut ty = base;
        for _ in d.derived.iter().filter(pointer) {
            ty = CType::Pointer(Rc::new(ty));
        }
        for part in d.derived.iter().rev().filter(|d| !pointer(d)) {
            ty = match &part.node {
                DerivedDeclarator::Array(array) => {
                    let size = match &array.node.size {
                        ArraySize::Unknown => None,
                        ArraySize::VariableExpression(e) | ArraySize::StaticExpression(e) => {
                            match self.constant_if(e)? {
                                Some(n) if n >= 0 => Some(n as u64),
                                Some(_) => return self.error(e.span, "an array cannot have a negative size"),
                                None => {
                                    ty = CType::other("an array of variable size");
                                    continue;
                                }
                            }
                        }
                        ArraySize::VariableUnknown => {
                            ty = CType::other("an array of variable size");
                            continue;
                        }
                    };
                    match ty {
                        CType::Other(_) => CType::other(format!("an array ({})", ty.describe())),
                        entry => CType::Array(Rc::new(entry), size),
                    }
                }
                DerivedDeclarator::Function(_) | DerivedDeclarator::KRFunction(_) => CType::Function(Rc::new(ty)),
                DerivedDeclarator::Pointer(_) | DerivedDeclarator::Block(_) => CType::other("a pointer"),
            };
        }
        match &d.kind.node {
            DeclaratorKind::Declarator(inner) => self.derived_type(ty, &inner.node),
            _ => Ok(ty),
        }
    }

    // Constants.

    /// The value of a constant expression.
    pub fn constant_of(&mut self, e: &Node<Expression>, what: &str) -> Lowered<i128> {
        match self.constant_if(e)? {
            Some(n) => Ok(n),
            None => self.error(e.span, format!("{what} must be a constant")),
        }
    }

    /// The value of an expression, if it is constant.
    pub fn constant_if(&mut self, e: &Node<Expression>) -> Lowered<Option<i128>> {
        if !self.is_closed(e) {
            return Ok(None);
        }
        let (at, defs) = (self.at.take(), std::mem::take(&mut self.defs));
        let v = self.value(e).map(|v| self.plain(v));
        (self.at, self.defs) = (at, defs);
        let value = self.cfa.terms.as_value(v?);
        Ok(value.and_then(|v| i128::try_from(&v.number()).ok()))
    }

    // Declarations in functions.

    pub fn local_declaration(&mut self, d: &Node<Declaration>) -> Lowered<()> {
        let specified = self.specified(&d.node.specifiers)?;
        for declarator in &d.node.declarators {
            self.local(declarator, &specified)?;
        }
        Ok(())
    }

    fn local(&mut self, node: &Node<InitDeclarator>, specified: &Specified) -> Lowered<()> {
        let declarator = &node.node.declarator;
        let Some((name, span)) = declared_name(&declarator.node) else { return Ok(()) };
        let mut ty = self.derived_type(specified.ty.clone(), &declarator.node)?;
        match specified.storage {
            Some(StorageClassSpecifier::Typedef) => {
                self.bind(name, Name::Type(ty));
                return Ok(());
            }
            Some(StorageClassSpecifier::Extern) => {
                self.unit.declare_global(name, ty, span);
                self.bind(name, Name::Global);
                return Ok(());
            }
            _ => {}
        }
        if let CType::Function(_) = ty {
            self.unit.declare_function(name, ty);
            self.bind(name, Name::Global);
            return Ok(());
        }
        let init = node.node.initializer.as_ref();
        if let (CType::Array(entry, None), Some(init)) = (&ty, init) {
            ty = CType::Array(entry.clone(), Some(self.length(entry, init)?));
        }
        if self.leaves(&ty).is_none() {
            if init.is_some() || matches!(ty, CType::Array(..)) {
                return self.refuse(span, name, &ty);
            }
            // It may stand there if nobody uses it.
            self.bind(name, Name::Odd(ty));
            return Ok(());
        }
        let is_static = specified.storage == Some(StorageClassSpecifier::Static);
        if !is_static && let Some(place) = self.fixed(name, &ty, init)? {
            self.bind(name, Name::Reference(place));
            return Ok(());
        }
        let function = self.stack.last().copied().unwrap_or_default();
        let object = self.local_object(span.start, &format!("{function}::{name}"), &ty)?;
        // The name is known in its own initialiser, as in C.
        self.bind(name, Name::Variable(object.clone()));
        if is_static {
            if self.started.insert(span.start) {
                self.initialise_first(&object, init, span)?;
            }
            return Ok(());
        }
        self.frame.automatic.push(object.clone());
        self.frame.declared.push(object.clone());
        match init {
            Some(init) => self.initialise(&object, init, span),
            None => {
                let stmt = self.unset(&object);
                self.emit(stmt, span);
                Ok(())
            }
        }
    }

    /// What a pointer points to all the time: where it is declared, that is plain, and the function does not change it.
    fn fixed(&mut self, name: &str, ty: &CType, init: Option<&Node<Initializer>>) -> Lowered<Option<Place>> {
        let (CType::Pointer(to), Some(init)) = (ty, init) else { return Ok(None) };
        let Initializer::Expression(e) = &init.node else { return Ok(None) };
        if is_impure(e) || !self.is_pointer(e) || self.changed_here(name) {
            return Ok(None);
        }
        let before = self.defs.len();
        let place = self.seen(e)?;
        let fixed = |p: &Place| {
            let constant = |t| self.cfa.terms.as_value(t).is_some();
            matches!(p.base, Base::Object(_)) && p.steps.iter().all(|s| constant(s.index.term)) && p.ty == **to
        };
        let place = place.filter(fixed);
        self.defs.truncate(before);
        if let Some(place) = &place {
            self.can_point(place, e.span);
            self.flush(e.span);
        }
        Ok(place)
    }
}

/// The name that a declarator declares.
pub fn declared_name(d: &Declarator) -> Option<(&str, CSpan)> {
    match &d.kind.node {
        DeclaratorKind::Identifier(i) => Some((&i.node.name, i.span)),
        DeclaratorKind::Declarator(inner) => declared_name(&inner.node),
        DeclaratorKind::Abstract => None,
    }
}
