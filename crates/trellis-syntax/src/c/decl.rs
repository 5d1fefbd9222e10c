//! Names, types and declarations inside functions.

use std::rc::Rc;

use lang_c::ast::{
    ArraySize, Declaration, DeclarationSpecifier, Declarator, DeclaratorKind, DerivedDeclarator, Expression,
    FunctionSpecifier, InitDeclarator, Initializer, SpecifierQualifier, StorageClassSpecifier, TypeName, TypeOf,
    TypeQualifier, TypeSpecifier,
};
use lang_c::span::{Node, Span as CSpan};
use rustc_hash::FxHashMap;

use super::attributes::{Attributes, Gathered, Piece, has_pointer_attributes};
use super::lower::{Lower, Lowered};
use super::place::{Base, Place};
use super::purity::is_impure;
use super::structs::Object;
use super::types::{CType, IntType};
use super::volatile::{declares_volatile, steady};

/// What a name stands for.
#[derive(Debug, Clone)]
pub enum Name {
    Variable(Object),
    /// A pointer that is never changed, and plainly points there.
    Reference(Place),
    /// A member of an enumeration.
    Constant(i128, IntType),
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
    /// What names of types say beside the type.
    pub traits: FxHashMap<String, Traits>,
    /// Where variables, enumerations (`enum e`) and their members are defined, which may be done once.
    pub defined: FxHashMap<String, usize>,
}

/// What a name of a type says beside the type.
#[derive(Debug, Clone, Copy, Default)]
pub struct Traits {
    /// `aligned`
    pub align: Option<u64>,
    pub volatile: bool,
}

/// What a declaration says before its declarators.
pub struct Specified {
    pub ty: CType,
    pub storage: Option<StorageClassSpecifier>,
    pub attributes: Attributes,
    /// What is said of the type before the declarators, beside the type.
    pub traits: Traits,
}

impl Specified {
    /// The same of what a declarator makes of it: a pointer to something volatile is not volatile itself.
    pub fn traits_of(&self, d: &Declarator, own: &Attributes) -> Traits {
        let plain = !d.derived.iter().any(|d| !matches!(d.node, DerivedDeclarator::Array(_)))
            && matches!(d.kind.node, DeclaratorKind::Identifier(_));
        let align = if plain { self.traits.align } else { None };
        Traits { align: own.aligned.or(align), volatile: declares_volatile(self.traits.volatile, d) }
    }
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

    /// Refuses a second definition in the innermost block, or at file scope. A type may be read several times, so the place counts.
    pub fn once(&mut self, what: String, span: CSpan) -> Lowered<()> {
        let scope = self.frame.scopes.last_mut().unwrap_or(&mut self.unit.file);
        if *scope.defined.entry(what.clone()).or_insert(span.start) == span.start {
            return Ok(());
        }
        self.error(span, format!("`{what}` is defined twice"))
    }

    // Types.

    pub fn specified(&mut self, specifiers: &[Node<DeclarationSpecifier>]) -> Lowered<Specified> {
        let mut storage = None;
        for s in specifiers {
            if let DeclarationSpecifier::StorageClass(class) = &s.node
                && !matches!(class.node, StorageClassSpecifier::ThreadLocal)
            {
                if storage.is_some() {
                    return self
                        .error(class.span, "a second storage class: a declaration has one (`static`, `extern`, …)");
                }
                storage = Some(class.node.clone());
            }
        }
        let gathered = self.gathered(specifiers.iter().map(|s| match &s.node {
            DeclarationSpecifier::TypeSpecifier(t) => Piece::Type(t),
            DeclarationSpecifier::Extension(list) => Piece::Extension(list),
            DeclarationSpecifier::TypeQualifier(q) if q.node == TypeQualifier::Volatile => Piece::Volatile,
            DeclarationSpecifier::Function(f) if f.node == FunctionSpecifier::Noreturn => Piece::NoReturn,
            _ => Piece::Other,
        }))?;
        let ty = self.base_type(&gathered.parts)?;
        let traits = self.traits(&gathered);
        Ok(Specified { ty, storage, attributes: gathered.attributes, traits })
    }

    /// The same inside structures and in casts.
    pub fn qualified(&mut self, specifiers: &[Node<SpecifierQualifier>]) -> Lowered<Specified> {
        let gathered = self.gathered(specifiers.iter().map(|s| match &s.node {
            SpecifierQualifier::TypeSpecifier(t) => Piece::Type(t),
            SpecifierQualifier::Extension(list) => Piece::Extension(list),
            SpecifierQualifier::TypeQualifier(q) if q.node == TypeQualifier::Volatile => Piece::Volatile,
            _ => Piece::Other,
        }))?;
        let ty = self.base_type(&gathered.parts)?;
        let traits = self.traits(&gathered);
        Ok(Specified { ty, storage: None, attributes: gathered.attributes, traits })
    }

    fn traits(&self, gathered: &Gathered<'_>) -> Traits {
        let mut traits = Traits { align: None, volatile: gathered.volatile };
        for part in &gathered.parts {
            let name = match &part.node {
                TypeSpecifier::TypedefName(name) => &name.node.name,
                TypeSpecifier::TypeOf(t) => match &t.node {
                    TypeOf::Expression(e) => match &e.node {
                        Expression::Identifier(i) => &i.node.name,
                        _ => continue,
                    },
                    TypeOf::Type(_) => continue,
                },
                _ => continue,
            };
            let scopes = self.frame.scopes.iter().rev().chain([&self.unit.file]);
            let declared = scopes.filter(|s| s.names.contains_key(name)).map(|s| s.traits.get(name)).next();
            if let Some(Some(found)) = declared {
                traits = Traits { align: found.align, volatile: traits.volatile || found.volatile };
            }
            traits.volatile |= self.is_volatile(name);
        }
        traits
    }

    /// Gives a name of a type its meaning.
    pub fn bind_type(&mut self, name: &str, ty: CType, traits: Traits) {
        self.bind(name, Name::Type(ty));
        let scope = self.frame.scopes.last_mut().unwrap_or(&mut self.unit.file);
        scope.traits.insert(name.to_string(), traits);
    }

    /// `unsigned long`, a typedef name, an enumeration.
    pub fn base_type(&mut self, parts: &[&Node<TypeSpecifier>]) -> Lowered<CType> {
        if let Some(span) = odd_word(parts) {
            return self.error(span, "these words do not make up a type together");
        }
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
                        // The parser takes the name of a type for that of a variable here.
                        TypeOf::Expression(e) => match &e.node {
                            Expression::Identifier(i) => match self.lookup(&i.node.name) {
                                Some(Name::Type(ty)) => Ok(ty.clone()),
                                _ => self.type_of(e),
                            },
                            _ => self.type_of(e),
                        },
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

    pub fn type_name(&mut self, name: &Node<TypeName>) -> Lowered<CType> {
        let specified = self.qualified(&name.node.specifiers)?;
        let (base, attributes) = (specified.ty, specified.attributes);
        let ty = match &name.node.declarator {
            Some(d) => self.derived_type(base, &d.node)?,
            None => base,
        };
        Ok(self.attributed(ty, &attributes))
    }

    /// Of what the addresses of such things are multiples; `preferred` is what gcc does where it may choose.
    pub fn align_of(&mut self, name: &Node<TypeName>, preferred: bool) -> Lowered<Option<u64>> {
        let ty = self.type_name(name)?;
        let own = match &name.node.declarator {
            None => self.qualified(&name.node.specifiers)?.traits.align,
            Some(_) => None,
        };
        let entry = ty.innermost();
        let wide = matches!(entry, CType::Int(int) if int.width == 64);
        let natural = if preferred && wide { Some(8) } else { self.layout(&ty).map(|l| l.1) };
        Ok(own.or(natural))
    }

    /// What a declarator makes of the type before it: `*x`, `x[3]`, `x(int)`.
    pub fn derived_type(&mut self, base: CType, d: &Declarator) -> Lowered<CType> {
        let pointer = |d: &&Node<DerivedDeclarator>| matches!(d.node, DerivedDeclarator::Pointer(_));
        let mut ty = base;
        if has_pointer_attributes(d) {
            return Ok(CType::other("a pointer with an attribute"));
        }
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

    /// Refuses `f(a)` where no body follows: `a` is no type, and where types are missing there is nothing to declare.
    pub fn no_bare_names(&mut self, d: &Declarator) -> Lowered<()> {
        for part in &d.derived {
            if let DerivedDeclarator::KRFunction(names) = &part.node
                && let Some(name) = names.first()
            {
                return self.error(name.span, format!("`{}` is not the name of a type", name.node.name));
            }
        }
        Ok(())
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
        self.no_bare_names(&declarator.node)?;
        let mut ty = self.derived_type(specified.ty.clone(), &declarator.node)?;
        let own = self.declarator_attributes(&declarator.node)?.and(&specified.attributes);
        let traits = specified.traits_of(&declarator.node, &own);
        let function = matches!(ty, CType::Function(_));
        if !function {
            ty = steady(self.attributed(ty, &own), traits.volatile);
        }
        match specified.storage {
            Some(StorageClassSpecifier::Typedef) => {
                self.bind_type(name, ty, traits);
                return Ok(());
            }
            Some(StorageClassSpecifier::Extern) if !function => {
                self.unit.declare_global(name, ty, span, traits.volatile);
                self.bind(name, Name::Global);
                return Ok(());
            }
            _ => {}
        }
        if function {
            self.note_function(name, &own);
            self.unit.declare_function(name, ty);
            self.bind(name, Name::Global);
            return Ok(());
        }
        let init = node.node.initializer.as_ref();
        if let (CType::Array(entry, None), Some(init)) = (&ty, init) {
            ty = CType::Array(entry.clone(), Some(self.length(entry, init)?));
        }
        self.once(name.to_string(), span)?;
        if self.leaves(&ty).is_none() {
            if init.is_some() || matches!(ty, CType::Array(..)) || own.odd_for_objects().is_some() {
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
        if traits.volatile {
            self.volatile.note(span.start);
        }
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

/// The first word of a type that does not fit those before it (C11 6.7.2).
fn odd_word(parts: &[&Node<TypeSpecifier>]) -> Option<CSpan> {
    // How often each is there: the basic type, `int`, `short`, `long`, a sign, `_Complex`.
    let [mut basic, mut int, mut short, mut long, mut sign, mut complex] = [0; 6];
    let mut last = None;
    for part in parts {
        match &part.node {
            TypeSpecifier::Int => int += 1,
            TypeSpecifier::Short => short += 1,
            TypeSpecifier::Long => long += 1,
            TypeSpecifier::Signed | TypeSpecifier::Unsigned => sign += 1,
            TypeSpecifier::Complex => complex += 1,
            other => {
                basic += 1;
                last = Some(other);
            }
        }
        let floating =
            matches!(last, Some(TypeSpecifier::Float | TypeSpecifier::Double | TypeSpecifier::TS18661Float(_)));
        let fits = match last {
            _ if basic > 1 || int > 1 || sign > 1 || complex > 1 || short > 1 || long > 2 || short * long > 0 => false,
            None => true,
            Some(TypeSpecifier::Char) => int + short + long + complex == 0,
            Some(TypeSpecifier::Double) => int + short + sign == 0 && long <= 1,
            _ => int + short + long + sign == 0 && (complex == 0 || floating),
        };
        if !fits {
            return Some(part.span);
        }
    }
    None
}

/// The name that a declarator declares.
pub fn declared_name(d: &Declarator) -> Option<(&str, CSpan)> {
    match &d.kind.node {
        DeclaratorKind::Identifier(i) => Some((&i.node.name, i.span)),
        DeclaratorKind::Declarator(inner) => declared_name(&inner.node),
        DeclaratorKind::Abstract => None,
    }
}
