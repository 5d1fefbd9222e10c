//! Initialisers (C11 6.7.9).

use lang_c::ast::{Designator, Expression, Initializer, InitializerListItem};
use lang_c::span::{Node, Span as CSpan};
use trellis_expr::{StmtId, TermId, Type};

use super::lower::{Lower, Lowered};
use super::place::Place;
use super::purity;
use super::structs::Object;
use super::types::{CType, IntType};

/// Arrays longer than this are not written down entry by entry.
const MAX_LENGTH: u64 = 1 << 24;

/// The items of a braced list, as they are consumed.
type Items<'i> = std::iter::Peekable<std::slice::Iter<'i, Node<InitializerListItem>>>;

/// Where something is in an object: its first leaf, and its position among the entries of all arrays around it.
#[derive(Debug, Clone, Copy)]
struct Spot {
    leaf: usize,
    at: u64,
}

/// The values of an object so far, by leaf and position; later ones replace earlier ones.
struct Entries {
    list: Vec<(usize, u64, TermId)>,
    /// Whether something happens between them, so that values must be kept.
    keep: bool,
}

/// What an item of a list is for.
enum Part {
    Entries(u64, u64),
    Member(usize),
}

impl Lower<'_> {
    /// How many entries an array gets that does not say it.
    pub fn length(&mut self, entry: &CType, init: &Node<Initializer>) -> Lowered<u64> {
        let per = match entry {
            CType::Array(..) | CType::Struct(_) => self.scalars(entry).max(1),
            _ => 1,
        };
        match &init.node {
            Initializer::Expression(e) => match purity::string_of(e) {
                Some(text) => Ok(text.len() as u64 + 1),
                None => self.error(init.span, "an array is initialised by a list in braces"),
            },
            Initializer::List(items) => {
                if let [item] = &items[..]
                    && let Initializer::Expression(e) = &item.node.initializer.node
                    && let Some(text) = purity::string_of(e)
                    && matches!(entry, CType::Int(_))
                {
                    return Ok(text.len() as u64 + 1);
                }
                // Entries without braces of their own fill up an inner array first.
                let array = CType::Array(entry.clone().into(), None);
                let (mut at, mut most, mut loose) = (0u64, 0, 0);
                for item in items {
                    let bounds = self.designated(item, &array)?;
                    if let Some(Part::Entries(_, to)) = bounds {
                        (at, loose) = (to, 0);
                    }
                    let one = match &item.node.initializer.node {
                        Initializer::Expression(e) => {
                            let text = matches!(e.node, Expression::StringLiteral(_));
                            let ty = self.type_of(e)?;
                            let whole = ty == *entry || text && matches!(entry.entry(), Some(CType::Int(_)));
                            if per > 1 && !whole && (text || matches!(ty, CType::Struct(_))) {
                                return self.error(item.span, "each entry of this array needs braces of its own");
                            }
                            !text && (per == 1 || !whole)
                        }
                        Initializer::List(_) => false,
                    };
                    if per > 1 && one {
                        loose += 1;
                        most = most.max(at + 1);
                        if loose == per {
                            (at, loose) = (at + 1, 0);
                        }
                        continue;
                    }
                    if loose > 0 {
                        (at, loose) = (at + 1, 0);
                    }
                    at += 1;
                    most = most.max(at);
                }
                Ok(most)
            }
        }
    }

    /// `[3] =` or `[1 ... 3] =` or `.m =`
    fn designated(&mut self, item: &Node<InitializerListItem>, of: &CType) -> Lowered<Option<Part>> {
        let Some(first) = item.node.designation.first() else { return Ok(None) };
        if item.node.designation.len() > 1 {
            return self.error(first.span, "designators of more than one level are not supported");
        }
        let what = "the index of an initialiser";
        let (from, to) = match (&first.node, of) {
            (Designator::Index(e), CType::Array(..)) => {
                let n = self.constant_of(e, what)?;
                (n, n)
            }
            (Designator::Range(r), CType::Array(..)) => {
                (self.constant_of(&r.node.from, what)?, self.constant_of(&r.node.to, what)?)
            }
            (Designator::Member(m), CType::Struct(id)) => {
                let members = self.structs.get(id).cloned().unwrap_or_default();
                let found = members.members.iter().position(|x| x.name == m.node.name);
                return match found {
                    Some(k) => Ok(Some(Part::Member(k))),
                    None => self.error(first.span, format!("there is no member `{}` here", m.node.name)),
                };
            }
            _ => return self.error(first.span, format!("{} has no such part", of.describe())),
        };
        match (u64::try_from(from), u64::try_from(to)) {
            (Ok(from), Ok(to)) if from <= to && to < MAX_LENGTH => Ok(Some(Part::Entries(from, to))),
            _ => self.error(first.span, "this index is outside the array"),
        }
    }

    /// A global or static variable gets its value before `main`: zero where nothing else is said.
    pub fn initialise_first(&mut self, o: &Object, init: Option<&Node<Initializer>>, span: CSpan) -> Lowered<()> {
        let (at, defs) = (self.at.take(), std::mem::take(&mut self.defs));
        let stmt = match init {
            Some(init) => self.initial(o, init),
            None => self.assembled(o, &[]),
        };
        (self.at, self.defs) = (at, defs);
        let place = self.place(span);
        self.first.push((stmt?, place));
        Ok(())
    }

    /// The array of characters that a string is; it is there from the start.
    pub fn literal_text(&mut self, e: &Node<Expression>) -> Lowered<Object> {
        let Some(text) = purity::string_of(e) else {
            return self.error(e.span, "this string is not understood");
        };
        let ty = CType::Array(CType::Int(IntType::CHAR).into(), Some(text.len() as u64 + 1));
        let object = self.local_object(e.span.start, &format!("@text{}", e.span.start), &ty)?;
        if self.started.insert(e.span.start) {
            let mut entries = Entries { list: vec![], keep: false };
            self.text(&text, Spot { leaf: 0, at: 0 }, text.len() as u64, IntType::CHAR, &mut entries);
            let stmt = self.assembled(&object, &entries.list)?;
            let place = self.place(e.span);
            self.first.push((stmt, place));
        }
        Ok(object)
    }

    /// A local variable gets its value here.
    pub fn initialise(&mut self, o: &Object, init: &Node<Initializer>, span: CSpan) -> Lowered<()> {
        let mark = self.mark();
        if let (CType::Int(int), Initializer::Expression(e), [v]) = (&o.ty, &init.node, &o.vars[..])
            && self.arbitrary_call(e) == Some(*int)
        {
            // `int x = __VERIFIER_nondet_int();`
            let stmt = self.arbitrary(*v, &o.ty);
            self.emit(stmt, span);
            return Ok(());
        }
        if let (CType::Struct(_), Initializer::Expression(e)) = (&o.ty, &init.node) {
            self.assign_structure(&Place::whole(o.clone()), e, span)?;
            self.release(mark);
            return Ok(());
        }
        let stmt = self.initial(o, init)?;
        self.emit(stmt, span);
        self.release(mark);
        Ok(())
    }

    /// An object gets the values of a list in braces.
    pub fn initialise_by(&mut self, o: &Object, items: &[Node<InitializerListItem>], span: CSpan) -> Lowered<()> {
        let keep = self.at.is_some() && items.iter().any(|i| impure_initialiser(&i.node.initializer));
        let mut entries = Entries { list: vec![], keep };
        self.all(&o.ty, items, span, &mut entries)?;
        let stmt = self.assembled(o, &entries.list)?;
        self.emit(stmt, span);
        Ok(())
    }

    fn initial(&mut self, o: &Object, init: &Node<Initializer>) -> Lowered<StmtId> {
        let mut entries = Entries { list: vec![], keep: self.at.is_some() && impure_initialiser(init) };
        match (&o.ty, &init.node) {
            (CType::Int(_) | CType::Pointer(_), _) => {
                let term = self.initial_scalar(init, &o.ty)?;
                entries.list.push((0, 0, term));
            }
            (CType::Array(entry, Some(n)), Initializer::Expression(e)) => match (purity::string_of(e), &**entry) {
                (Some(text), CType::Int(int)) => self.text(&text, Spot { leaf: 0, at: 0 }, *n, *int, &mut entries),
                _ => return self.error(init.span, "an array is initialised by a list in braces"),
            },
            (_, Initializer::Expression(e)) => {
                return self.error(e.span, "the value of a global structure must be a list in braces");
            }
            (ty, Initializer::List(items)) => self.all(&ty.clone(), items, init.span, &mut entries)?,
        }
        self.assembled(o, &entries.list)
    }

    fn all(
        &mut self,
        ty: &CType,
        items: &[Node<InitializerListItem>],
        span: CSpan,
        entries: &mut Entries,
    ) -> Lowered<()> {
        if self.scalars(ty) > MAX_LENGTH {
            return self.error(span, "this is too long to be initialised");
        }
        // `char a[] = {"text"}`
        if let (CType::Array(entry, Some(n)), [item]) = (ty, items)
            && let CType::Int(int) = **entry
            && let Initializer::Expression(e) = &item.node.initializer.node
            && let Some(text) = purity::string_of(e)
        {
            self.text(&text, Spot { leaf: 0, at: 0 }, *n, int, entries);
            return Ok(());
        }
        let spot = Spot { leaf: 0, at: 0 };
        match ty {
            CType::Int(_) | CType::Pointer(_) => match items {
                [] => Ok(()),
                [item, ..] => {
                    let term = self.initial_scalar(&item.node.initializer, ty)?;
                    entries.list.push((0, 0, term));
                    Ok(())
                }
            },
            _ => self.list(ty, &mut items.iter().peekable(), spot, true, entries),
        }
    }

    /// All leaves get their values: zero where nothing else is said.
    fn assembled(&mut self, o: &Object, list: &[(usize, u64, TermId)]) -> Lowered<StmtId> {
        let mut all = vec![];
        let leaves = self.leaves(&o.ty).unwrap_or_default();
        let mut by_leaf: Vec<Vec<(u64, TermId)>> = vec![vec![]; leaves.len()];
        for (leaf, at, term) in list {
            if let Some(mine) = by_leaf.get_mut(*leaf) {
                mine.push((*at, *term));
            }
        }
        for ((leaf, mine), &v) in leaves.iter().zip(by_leaf).zip(o.vars.iter()) {
            let value = match leaf.count {
                None => match (mine.last(), &leaf.ty) {
                    (Some((_, term)), _) => *term,
                    (None, CType::Pointer(to)) => self.null(to),
                    (None, CType::Int(int)) => self.number(*int, 0),
                    _ => continue,
                },
                Some(n) => {
                    let mut value = self.zeros(&leaf.ty, n);
                    let Type::Array(index, _) = self.cfa.terms.ty(value) else { continue };
                    let terms = &mut self.cfa.terms;
                    let sort = terms.sort(terms.type_of_id(index));
                    for (at, term) in mine {
                        let i = terms.number(sort, at.into());
                        value = terms.store(value, i, term);
                    }
                    value
                }
            };
            all.push(self.terms().assign(v, value));
        }
        Ok(self.terms().seq(all))
    }

    fn initial_scalar(&mut self, init: &Node<Initializer>, ty: &CType) -> Lowered<TermId> {
        match (&init.node, ty) {
            (Initializer::Expression(e), CType::Pointer(to)) => Ok(self.pointer(e, Some(to))?.0),
            (Initializer::Expression(e), CType::Int(int)) => {
                let v = self.value(e)?;
                let v = self.convert(v, *int);
                Ok(self.plain(v))
            }
            (Initializer::List(items), CType::Int(_) | CType::Pointer(_)) => match (&items[..], ty) {
                ([item, ..], _) => self.initial_scalar(&item.node.initializer, ty),
                (_, CType::Int(int)) => Ok(self.number(*int, 0)),
                (_, CType::Pointer(to)) => Ok(self.null(to)),
                _ => Ok(self.number(IntType::INT, 0)),
            },
            _ => self.error(init.span, format!("{} cannot be initialised", ty.describe())),
        }
    }

    fn text(&mut self, text: &[u8], spot: Spot, count: u64, int: IntType, entries: &mut Entries) {
        for (n, b) in text.iter().enumerate().take(count as usize) {
            let c = self.constant(IntType::CHAR, i128::from(*b as i8));
            let c = self.convert(c, int);
            entries.list.push((spot.leaf, spot.at + n as u64, c.term));
        }
    }

    /// Takes the parts of an array or a structure from a list: its own one in braces, or the rest of the one around it.
    fn list(
        &mut self,
        ty: &CType,
        items: &mut Items<'_>,
        spot: Spot,
        braces: bool,
        entries: &mut Entries,
    ) -> Lowered<()> {
        // The next part is number `from`, and the value is also for all up to `to`.
        let (mut from, mut to) = (0u64, 0u64);
        // Without braces, the designators of the first item have led here.
        let mut here = !braces;
        while let Some(item) = items.peek().copied() {
            if !braces && !here && !item.node.designation.is_empty() {
                return Ok(());
            }
            let part = if std::mem::take(&mut here) { None } else { self.designated(item, ty)? };
            match part {
                Some(Part::Entries(a, b)) => (from, to) = (a, b),
                Some(Part::Member(k)) => (from, to) = (k as u64, k as u64),
                None => {}
            }
            let (part, inside) = match ty {
                CType::Array(entry, Some(n)) if to < *n => {
                    ((**entry).clone(), Spot { leaf: spot.leaf, at: spot.at * n + from })
                }
                CType::Struct(id) => {
                    let members = self.structs.get(id).cloned().unwrap_or_default();
                    match members.members.get(from as usize) {
                        Some(m) => (m.ty.clone(), Spot { leaf: spot.leaf + m.leaf, at: spot.at }),
                        None if braces => {
                            return self.error(item.span, "there are more initialisers than the structure has members");
                        }
                        None => return Ok(()),
                    }
                }
                _ if braces => return self.error(item.span, "there are more initialisers than the array has entries"),
                _ => return Ok(()),
            };
            // A range of entries gets copies of one value.
            let start = entries.list.len();
            self.part(&part, item, items, inside, entries)?;
            let copied = entries.list[start..].to_vec();
            let leaves = self.leaves(&part).unwrap_or_default();
            for k in 1..=(to - from) {
                for (leaf, at, term) in &copied {
                    let each = leaves.get(leaf - inside.leaf).and_then(|l| l.count).unwrap_or(1);
                    entries.list.push((*leaf, at + k * each, *term));
                }
            }
            (from, to) = (to + 1, to + 1);
        }
        Ok(())
    }

    fn part(
        &mut self,
        ty: &CType,
        item: &Node<InitializerListItem>,
        items: &mut Items<'_>,
        spot: Spot,
        entries: &mut Entries,
    ) -> Lowered<()> {
        match (&item.node.initializer.node, ty) {
            (Initializer::List(inner), CType::Array(..) | CType::Struct(_)) => {
                items.next();
                self.list(ty, &mut inner.iter().peekable(), spot, true, entries)
            }
            (Initializer::Expression(e), CType::Array(entry, n)) => match (purity::string_of(e), &**entry) {
                (Some(text), CType::Int(int)) => {
                    items.next();
                    let count = n.unwrap_or(0);
                    self.text(&text, Spot { at: spot.at * count, ..spot }, count, *int, entries);
                    Ok(())
                }
                _ => self.list(ty, items, spot, false, entries),
            },
            (Initializer::Expression(e), CType::Struct(_)) => {
                if self.type_of(e)? != *ty {
                    return self.list(ty, items, spot, false, entries);
                }
                items.next();
                let values = self.structure_of(e, ty)?;
                let leaves = self.leaves(ty).unwrap_or_default();
                for (k, (leaf, value)) in leaves.iter().zip(values).enumerate() {
                    if leaf.count.is_some() {
                        return self.error(e.span, "structures with arrays are not copied into a list");
                    }
                    let value = if entries.keep { self.save(value, item.span) } else { value };
                    entries.list.push((spot.leaf + k, spot.at, value));
                }
                Ok(())
            }
            _ => {
                items.next();
                let mut term = self.initial_scalar(&item.node.initializer, ty)?;
                if entries.keep {
                    term = self.save(term, item.span);
                }
                entries.list.push((spot.leaf, spot.at, term));
                Ok(())
            }
        }
    }
}

/// Does something happen in it?
fn impure_initialiser(init: &Node<Initializer>) -> bool {
    match &init.node {
        Initializer::Expression(e) => purity::is_impure(e),
        Initializer::List(items) => items.iter().any(|i| impure_initialiser(&i.node.initializer)),
    }
}
