//! What GNU attributes mean (`__attribute__((…))`).
//!
//! Those without a meaning never come here ([`super::scan`]). Read are `packed`, `aligned`, `mode`, `constructor`,
//! `noreturn` and, on what is defined here, `weak`. What has any other attribute may be declared, but not used: it is refused by the attribute's name. A
//! function that is a `destructor` would run after `main`, and is refused at once.

use lang_c::ast::{
    Declarator, DeclaratorKind, DerivedDeclarator, Expression, Extension, PointerQualifier, TypeSpecifier,
};
use lang_c::span::{Node, Span as CSpan};

use super::DataModel;
use super::lower::{Lower, Lowered};
use super::purity::string_of;
use super::scan::{Written, bare};
use super::types::{CType, IntType};

/// `aligned` without a number: the largest alignment of x86.
const LARGEST: u64 = 16;
/// The priority of a constructor without one: all others come before it.
const LAST: i128 = 65_536;

/// The attributes of one thing.
#[derive(Debug, Clone, Default)]
pub struct Attributes {
    pub packed: bool,
    /// The largest alignment that is asked for.
    pub aligned: Option<u64>,
    /// `mode(QI)`: how many bits.
    pub mode: Option<u8>,
    /// `constructor`: when it runs.
    pub constructor: Option<i128>,
    pub destructor: Option<CSpan>,
    pub weak: bool,
    /// `noreturn`, or `_Noreturn`. Of what is not a function it means nothing: calls through pointers are refused.
    pub no_return: bool,
    /// `asm("name")`
    pub label: Option<(String, CSpan)>,
    /// The first that is not understood, and where.
    pub odd: Option<(String, CSpan)>,
}

impl Attributes {
    /// These and those.
    pub fn and(self, other: &Attributes) -> Attributes {
        let twice = self.aligned.zip(other.aligned).is_some_and(|(a, b)| a != b);
        let twice = twice.then(|| ("aligned".to_string(), CSpan::span(0, 0)));
        Attributes {
            packed: self.packed || other.packed,
            aligned: self.aligned.or(other.aligned),
            mode: self.mode.or(other.mode),
            constructor: self.constructor.or(other.constructor),
            destructor: self.destructor.or(other.destructor),
            weak: self.weak || other.weak,
            no_return: self.no_return || other.no_return,
            label: self.label.or_else(|| other.label.clone()),
            odd: self.odd.or_else(|| other.odd.clone()).or(twice),
        }
    }

    /// The name of one that a variable, a member or a type cannot have here.
    pub fn odd_for_objects(&self) -> Option<&str> {
        let label = self.label.as_ref().map(|_| "asm");
        let function = (self.constructor.is_some()).then_some("constructor");
        self.odd.as_ref().map(|o| &*o.0).or(label).or(function).or(self.destructor.map(|_| "destructor"))
    }

    /// The name of one that a function cannot have here.
    pub fn odd_for_function(&self, name: &str) -> Option<&str> {
        // The headers of glibc give functions of the standard the names of their newer versions.
        let renamed = self.label.as_ref().is_some_and(|(label, _)| {
            let plain = label.strip_prefix("__isoc99_").or(label.strip_prefix("__isoc23_"));
            label != name && plain != Some(name)
        });
        let mode = self.mode.map(|_| "mode").or(self.packed.then_some("packed"));
        self.odd.as_ref().map(|o| &*o.0).or(renamed.then_some("asm")).or(mode)
    }
}

/// A part of what stands before the declarators.
pub enum Piece<'x> {
    Type(&'x Node<TypeSpecifier>),
    Extension(&'x [Node<Extension>]),
    Volatile,
    NoReturn,
    Other,
}

/// What stands before the declarators.
#[derive(Default)]
pub struct Gathered<'x> {
    pub parts: Vec<&'x Node<TypeSpecifier>>,
    /// Of what is declared.
    pub attributes: Attributes,
    pub volatile: bool,
}

impl Lower<'_> {
    /// Sorts what stands before the declarators. Attributes right behind a `struct {…}` are those of the structure.
    pub fn gathered<'x>(&mut self, pieces: impl Iterator<Item = Piece<'x>>) -> Lowered<Gathered<'x>> {
        let mut all = Gathered::default();
        let mut body = None;
        for piece in pieces {
            match piece {
                Piece::Type(t) => {
                    body = match &t.node {
                        TypeSpecifier::Struct(s) if s.node.declarations.is_some() => Some(s.span.start),
                        TypeSpecifier::Enum(e) if !e.node.enumerators.is_empty() => Some(e.span.start),
                        _ => None,
                    };
                    all.parts.push(t);
                }
                Piece::Extension(list) => {
                    let found = self.attributes(list)?;
                    match body {
                        Some(at) => {
                            let before = self.tagged.remove(&at).unwrap_or_default();
                            self.tagged.insert(at, before.and(&found));
                        }
                        None => all.attributes = std::mem::take(&mut all.attributes).and(&found),
                    }
                }
                Piece::Volatile => {
                    all.volatile = true;
                    body = None;
                }
                Piece::NoReturn => {
                    all.attributes.no_return = true;
                    body = None;
                }
                Piece::Other => body = None,
            }
        }
        Ok(all)
    }

    /// Reads a list of attributes.
    pub fn attributes(&mut self, list: &[Node<Extension>]) -> Lowered<Attributes> {
        let mut all = Attributes::default();
        for e in list {
            match &e.node {
                Extension::Attribute(a) => {
                    let name = bare(&a.name.node);
                    let number = match a.arguments.first() {
                        // Headers align things like what is not read: `aligned(__alignof__(long double))`.
                        Some(Node { node: Expression::AlignOf(of), span }) if name == "aligned" => {
                            let preferred = self.map.scan.preferred.contains(&span.start);
                            match self.align_of(&of.node.0, preferred)? {
                                Some(n) => Some(n.into()),
                                None => {
                                    all.odd = all.odd.or_else(|| Some((name.to_string(), e.span)));
                                    continue;
                                }
                            }
                        }
                        Some(e) if matches!(name, "aligned" | "constructor") => {
                            Some(self.constant_of(e, "the argument of an attribute")?)
                        }
                        _ => None,
                    };
                    let word = a.arguments.first().and_then(|e| match &e.node {
                        Expression::Identifier(i) => Some(i.node.name.as_str()),
                        _ => None,
                    });
                    self.attribute(&mut all, name, number, word, e.span)?;
                }
                Extension::AsmLabel(text) => {
                    let literal = Node::new(Expression::StringLiteral(Box::new(text.clone())), e.span);
                    let label = string_of(&literal).and_then(|l| String::from_utf8(l).ok()).unwrap_or_default();
                    all.label = Some((label, e.span));
                }
                Extension::AvailabilityAttribute(_) => all.odd = Some(("availability".into(), e.span)),
            }
        }
        Ok(all)
    }

    fn attribute(
        &mut self,
        all: &mut Attributes,
        name: &str,
        number: Option<i128>,
        word: Option<&str>,
        span: CSpan,
    ) -> Lowered<()> {
        let long = if self.options.data_model == DataModel::Lp64 { 64 } else { 32 };
        match name {
            "packed" => all.packed = true,
            "aligned" => match number.map_or(Some(LARGEST), |n| u64::try_from(n).ok()) {
                // The last one counts, or the largest, depending on what it is.
                Some(n) if all.aligned.is_some_and(|other| other != n) => all.odd = Some(("aligned".into(), span)),
                Some(n) if n.is_power_of_two() && n <= 1 << 28 => all.aligned = Some(n),
                _ => return self.error(span, "an alignment is a power of two"),
            },
            "constructor" => all.constructor = Some(number.unwrap_or(LAST)),
            "destructor" => all.destructor = Some(span),
            "weak" => all.weak = true,
            "noreturn" => all.no_return = true,
            "mode" => match word.map(bare) {
                Some("QI" | "byte") => all.mode = Some(8),
                Some("HI") => all.mode = Some(16),
                Some("SI") => all.mode = Some(32),
                Some("DI") => all.mode = Some(64),
                Some("word" | "pointer" | "unwind_word" | "libgcc_shift_count") => all.mode = Some(long),
                other => all.odd = Some((format!("mode({})", other.unwrap_or_default()), span)),
            },
            _ => all.odd = all.odd.take().or_else(|| Some((name.to_string(), span))),
        }
        Ok(())
    }

    /// The attributes of a structure or an enumeration that starts there.
    pub fn tag_attributes(&mut self, start: usize) -> Lowered<Attributes> {
        let mut all = self.tagged.get(&start).cloned().unwrap_or_default();
        let written: Vec<Written> = self.map.scan.tagged.get(&start).cloned().unwrap_or_default();
        for w in &written {
            let span = CSpan::span(w.at.start, w.at.end);
            let number = match (&*w.name, &w.argument) {
                ("aligned", Some(text)) => match text.parse() {
                    Ok(n) => Some(n),
                    Err(_) => return self.error(span, "here the alignment must be a plain number"),
                },
                _ => None,
            };
            self.attribute(&mut all, &w.name, number, w.argument.as_deref(), span)?;
        }
        Ok(all)
    }

    /// The attributes at a declarator.
    pub fn declarator_attributes(&mut self, d: &Declarator) -> Lowered<Attributes> {
        let own = self.attributes(&d.extensions)?;
        match &d.kind.node {
            DeclaratorKind::Declarator(inner) => {
                // GNU C lets them apply to a part of the type.
                let mut inner = self.declarator_attributes(&inner.node)?;
                if inner.odd.is_none() && (inner.packed || inner.aligned.is_some() || inner.mode.is_some()) {
                    inner.odd = Some(("in parentheses".into(), d.kind.span));
                }
                Ok(own.and(&inner))
            }
            _ => Ok(own),
        }
    }

    /// The type of something that has these attributes, too.
    pub fn attributed(&mut self, ty: CType, a: &Attributes) -> CType {
        if let Some(name) = a.odd_for_objects() {
            return CType::other(format!("something with the attribute `{name}`"));
        }
        match (ty, a.mode) {
            (ty, None) => ty,
            (CType::Int(int), Some(width)) if !int.is_bool() => CType::Int(self.int_of(width, int.signed)),
            _ => CType::other("something with the attribute `mode`"),
        }
    }

    /// The integer type of so many bits.
    pub fn int_of(&self, width: u8, signed: bool) -> IntType {
        match width {
            8 => IntType { signed, ..IntType::CHAR },
            16 => IntType::short(signed),
            32 => IntType { signed, ..IntType::INT },
            _ if self.options.data_model == DataModel::Lp64 => IntType::long(DataModel::Lp64, signed),
            _ => IntType::long_long(signed),
        }
    }
}

/// Does a pointer in this declarator have attributes?
pub fn has_pointer_attributes(d: &Declarator) -> bool {
    let with = |q: &Node<PointerQualifier>| matches!(&q.node, PointerQualifier::Extension(list) if !list.is_empty());
    d.derived.iter().any(|p| matches!(&p.node, DerivedDeclarator::Pointer(all) if all.iter().any(with)))
}
