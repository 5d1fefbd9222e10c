//! Structures, and what objects consist of.
//!
//! An object is flattened into *leaves*, one variable for each integer or pointer in its type. Arrays become arrays of leaves: an
//! array of structures is a structure of arrays, so an entry's position among the entries of all arrays around it is the same
//! for all its leaves. A member of a type that is not understood has no leaf, and may not be used.

use std::rc::Rc;

use lang_c::ast::{StructDeclaration, StructKind, StructType};
use lang_c::span::{Node, Span as CSpan};
use trellis_expr::{StmtId, VarId};

use super::DataModel;
use super::attributes::Attributes;
use super::decl::declared_name;
use super::lower::{Lower, Lowered, index_type};
use super::types::{CType, IntType, StructId};
use super::volatile::steady;

/// An integer or a pointer in an object.
#[derive(Debug, Clone)]
pub struct Leaf {
    /// Of type [`CType::Int`] or [`CType::Pointer`].
    pub ty: CType,
    /// How many there are, if arrays are around it.
    pub count: Option<u64>,
    /// `.a.b`
    pub path: String,
    /// Is it in a member that is declared so?
    pub volatile: bool,
}

/// A member of a structure.
#[derive(Debug, Clone)]
pub struct Member {
    /// Empty for a structure without a name inside another one.
    pub name: String,
    pub ty: CType,
    /// Its first leaf.
    pub leaf: usize,
}

/// What a structure consists of.
#[derive(Debug, Default)]
pub struct Structure {
    pub members: Vec<Member>,
    pub leaves: Vec<Leaf>,
    /// In bytes; none if it is not known.
    pub size: Option<(u64, u64)>,
}

/// Which variable of the program an object is: the same in every pass over the program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Key {
    Global(Rc<str>),
    /// By the place of its declarator.
    Local(usize),
    /// What a function returns, or a literal: it has no address.
    Temporary,
}

/// A variable of the program.
#[derive(Debug, Clone)]
pub struct Object {
    pub vars: Rc<[VarId]>,
    pub key: Key,
    pub ty: CType,
}

impl Lower<'_> {
    /// What objects of this type consist of; none if there can be no such objects.
    pub fn leaves(&self, ty: &CType) -> Option<Vec<Leaf>> {
        match ty {
            CType::Int(_) => Some(vec![Leaf { ty: ty.clone(), count: None, path: String::new(), volatile: false }]),
            CType::Pointer(to) if !matches!(**to, CType::Void | CType::Function(_) | CType::Other(_)) => {
                Some(vec![Leaf { ty: ty.clone(), count: None, path: String::new(), volatile: false }])
            }
            CType::Array(entry, Some(n)) => {
                let mut all = self.leaves(entry)?;
                for leaf in &mut all {
                    leaf.count = Some(leaf.count.unwrap_or(1).checked_mul(*n)?);
                }
                Some(all)
            }
            CType::Struct(id) => Some(self.structs.get(id)?.leaves.clone()),
            _ => None,
        }
    }

    /// How many leaves come before and how many belong to something of this type.
    pub fn leaf_count(&self, ty: &CType) -> usize {
        match ty {
            CType::Array(entry, _) => self.leaf_count(entry),
            CType::Struct(id) => self.structs.get(id).map_or(0, |s| s.leaves.len()),
            _ => usize::from(self.leaves(ty).is_some()),
        }
    }

    /// How many integers and pointers an initialiser without braces has for something of this type.
    pub fn scalars(&self, ty: &CType) -> u64 {
        let all = self.leaves(ty).unwrap_or_default();
        all.iter().map(|l| l.count.unwrap_or(1)).sum()
    }

    /// Variables for something of this type.
    pub fn object(&mut self, name: &str, ty: &CType, key: Key) -> Option<Object> {
        let leaves = self.leaves(ty)?;
        let ints = self.ints();
        let mut vars = vec![];
        for leaf in leaves {
            let (entry, mark) = match &leaf.ty {
                CType::Int(int) => (int.variable(ints), ""),
                CType::Pointer(to) => (self.address_variable(to), "@"),
                _ => continue,
            };
            let sort = match leaf.count {
                Some(n) => self.terms().array_type(index_type(ints, n), entry),
                None => entry,
            };
            let var = self.declare(&format!("{name}{}{mark}", leaf.path), sort);
            if let CType::Pointer(to) = &leaf.ty {
                self.pointers.push((var, to.clone(), leaf.count));
            }
            if leaf.volatile || matches!(key, Key::Local(start) if self.volatile.is_noted(start)) {
                self.volatile.insert(var);
            }
            vars.push(var);
        }
        Some(Object { vars: vars.into(), key, ty: ty.clone() })
    }

    /// Gives an object any value.
    pub fn arbitrary_object(&mut self, o: &Object) -> StmtId {
        let leaves = self.leaves(&o.ty).unwrap_or_default();
        let all: Vec<StmtId> = o
            .vars
            .iter()
            .zip(leaves)
            .map(|(v, leaf)| match leaf.count {
                Some(_) => self.terms().havoc(*v),
                None => self.arbitrary(*v, &leaf.ty),
            })
            .collect();
        self.terms().seq(all)
    }

    // Declarations of structures.

    /// `struct s`, perhaps with its members.
    pub fn structure(&mut self, s: &Node<StructType>) -> Lowered<CType> {
        let tag = s.node.identifier.as_ref().map(|i| i.node.name.as_str());
        if s.node.kind.node == StructKind::Union {
            let name = tag.map_or(String::new(), |t| format!(" `{t}`"));
            return Ok(CType::other(format!("a union{name}")));
        }
        let here = self.frame.scopes.last().unwrap_or(&self.unit.file);
        let known = match (&s.node.declarations, tag) {
            (_, None) => None,
            (Some(_), Some(tag)) => here.tags.get(tag).cloned(),
            (None, Some(tag)) => {
                let scopes = self.frame.scopes.iter().rev().chain([&self.unit.file]);
                scopes.filter_map(|s| s.tags.get(tag)).next().cloned()
            }
        };
        if let (Some(CType::Other(_)), None) = (&known, &s.node.declarations) {
            return Ok(known.unwrap_or(CType::Void));
        }
        let id = match known {
            Some(CType::Struct(id)) => id,
            _ => StructId(s.span.start),
        };
        if let Some(tag) = tag {
            let scope = self.frame.scopes.last_mut().unwrap_or(&mut self.unit.file);
            if s.node.declarations.is_some() || known.is_none() {
                scope.tags.insert(tag.to_string(), CType::Struct(id));
            }
        }
        if let (Some(_), Some(tag)) = (&s.node.declarations, &s.node.identifier) {
            self.once(format!("struct {}", tag.node.name), tag.span)?;
        }
        if let Some(members) = &s.node.declarations {
            let attributes = self.tag_attributes(s.span.start)?;
            if let Some(odd) = attributes.odd_for_objects().or(attributes.mode.map(|_| "mode")) {
                let ty = CType::other(format!("a structure with the attribute `{odd}`"));
                if let Some(tag) = tag {
                    let scope = self.frame.scopes.last_mut().unwrap_or(&mut self.unit.file);
                    scope.tags.insert(tag.to_string(), ty.clone());
                }
                return Ok(ty);
            }
            let pack = self.map.scan.pack_at(s.span.end.saturating_sub(1));
            let structure = self.members(members, &attributes, pack)?;
            self.structs.insert(id, Rc::new(structure));
        }
        Ok(CType::Struct(id))
    }

    /// The members of a structure with these attributes; `pack` is the largest alignment that they may have.
    fn members(
        &mut self,
        declarations: &[Node<StructDeclaration>],
        attributes: &Attributes,
        pack: Option<u64>,
    ) -> Lowered<Structure> {
        let mut s = Structure::default();
        let (mut size, mut align) = (Some(0u64), 1);
        for d in declarations {
            let field = match &d.node {
                StructDeclaration::Field(field) => field,
                StructDeclaration::StaticAssert(a) => {
                    self.static_assert(a)?;
                    continue;
                }
            };
            let specified = self.qualified(&field.node.specifiers)?;
            let base = specified.ty.clone();
            let mut found = vec![];
            if field.node.declarators.is_empty() {
                found.push((String::new(), base.clone(), specified.attributes.clone(), specified.traits));
            }
            for declarator in &field.node.declarators {
                let Some(d) = &declarator.node.declarator else {
                    // Bits without a name.
                    size = None;
                    continue;
                };
                let (name, span) = declared_name(&d.node).unwrap_or(("", d.span));
                if found.iter().map(|f| &f.0).chain(s.members.iter().map(|m| &m.name)).any(|n| n == name) {
                    return self.error(span, format!("there are two members `{name}`"));
                }
                let name = name.to_string();
                let own = self.declarator_attributes(&d.node)?.and(&specified.attributes);
                let ty = match &declarator.node.bit_width {
                    Some(_) => CType::other("a bit-field"),
                    None => self.derived_type(base.clone(), &d.node)?,
                };
                let traits = specified.traits_of(&d.node, &own);
                found.push((name, ty, own, traits));
            }
            for (name, ty, own, traits) in found {
                let ty = steady(self.attributed(ty, &own), traits.volatile);
                match (size, self.layout(&ty)) {
                    (Some(n), Some((bytes, natural))) => {
                        // gcc: what is packed may lie anywhere, unless it is aligned itself, or by its type.
                        let packed = attributes.packed || own.packed;
                        let by_type =
                            specified.traits.align.filter(|_| own.aligned.is_none() && traits.align.is_some());
                        let natural = by_type.unwrap_or(natural);
                        let least = if packed { 1 } else { natural };
                        let a = own.aligned.map_or(least, |a| a.max(least));
                        let a = pack.map_or(a, |most| a.min(most));
                        size = n.next_multiple_of(a).checked_add(bytes);
                        align = align.max(a);
                    }
                    _ => size = None,
                }
                let leaf = s.leaves.len();
                for inner in self.leaves(&ty).unwrap_or_default() {
                    let dot = if name.is_empty() { "" } else { "." };
                    let volatile = inner.volatile || traits.volatile;
                    s.leaves.push(Leaf { path: format!("{dot}{name}{}", inner.path), volatile, ..inner });
                }
                s.members.push(Member { name, ty, leaf });
            }
        }
        let align = attributes.aligned.map_or(align, |a| a.max(align));
        s.size = size.map(|n| (n.next_multiple_of(align), align));
        Ok(s)
    }

    /// How many bytes something takes, and of what its address is a multiple.
    pub fn layout(&self, ty: &CType) -> Option<(u64, u64)> {
        match ty {
            // Where words have 32 bits, larger numbers need not lie at multiples of 8.
            CType::Int(int) if self.options.data_model == DataModel::Ilp32 => Some((int.size(), int.size().min(4))),
            CType::Int(int) => Some((int.size(), int.size())),
            CType::Pointer(_) => {
                let size = IntType::long(self.options.data_model, false).size();
                Some((size, size))
            }
            CType::Array(entry, Some(n)) => {
                let (size, align) = self.layout(entry)?;
                Some((size.checked_mul(*n)?, align))
            }
            CType::Struct(id) => self.structs.get(id)?.size,
            _ => None,
        }
    }

    /// A member of a structure: its type and its first leaf.
    pub fn member(&mut self, of: &CType, name: &str, span: CSpan) -> Lowered<(CType, usize)> {
        let CType::Struct(id) = of else {
            return self.error(span, format!("this is {}, which has no member `{name}`", of.describe()));
        };
        match self.member_in(*id, name) {
            Some(found) => Ok(found),
            None if self.structs.contains_key(id) => self.error(span, format!("there is no member `{name}`")),
            None => self.error(span, "the members of this structure are not known here"),
        }
    }

    fn member_in(&self, id: StructId, name: &str) -> Option<(CType, usize)> {
        let s = self.structs.get(&id)?;
        s.members.iter().find_map(|m| match &m.ty {
            CType::Struct(inner) if m.name.is_empty() => {
                let (ty, leaf) = self.member_in(*inner, name)?;
                Some((ty, m.leaf + leaf))
            }
            _ => (m.name == name).then(|| (m.ty.clone(), m.leaf)),
        })
    }
}
