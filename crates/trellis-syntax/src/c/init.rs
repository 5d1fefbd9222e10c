//! Initialisers: what a variable is at first.

use lang_c::ast::{Designator, Initializer, InitializerListItem};
use lang_c::span::{Node, Span as CSpan};
use trellis_expr::{StmtId, TermId, Type, VarId};

use super::lower::{Lower, Lowered};
use super::purity;
use super::types::{CType, IntType};

/// Arrays longer than this are not written down entry by entry.
const MAX_LENGTH: u64 = 1 << 24;

/// The items of a braced list, as they are consumed.
type Items<'i> = std::iter::Peekable<std::slice::Iter<'i, Node<InitializerListItem>>>;

/// The entries of an array so far, by position; later ones replace earlier ones.
struct Entries {
    list: Vec<(u64, TermId)>,
    /// Whether something happens between them, so that values must be kept.
    keep: bool,
}

impl Lower<'_> {
    /// How many entries an array gets that does not say it.
    pub fn length(&mut self, entry: &CType, init: &Node<Initializer>) -> Lowered<u64> {
        let per = match entry {
            CType::Array(..) => entry.flat().map_or(1, |(n, _)| n),
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
                {
                    return Ok(text.len() as u64 + 1);
                }
                // Entries without braces of their own fill up an inner array first.
                let (mut at, mut most, mut loose) = (0u64, 0, 0);
                for item in items {
                    let bounds = self.designated(item)?;
                    if let Some((_, to)) = bounds {
                        (at, loose) = (to, 0);
                    }
                    if per > 1 && matches!(item.node.initializer.node, Initializer::Expression(_)) && bounds.is_none() {
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

    /// `[3] =` or `[1 ... 3] =`
    fn designated(&mut self, item: &Node<InitializerListItem>) -> Lowered<Option<(u64, u64)>> {
        let Some(first) = item.node.designation.first() else { return Ok(None) };
        if item.node.designation.len() > 1 {
            return self.error(first.span, "designators of more than one level are not supported");
        }
        let what = "the index of an initialiser";
        let (from, to) = match &first.node {
            Designator::Index(e) => {
                let n = self.constant_of(e, what)?;
                (n, n)
            }
            Designator::Range(r) => (self.constant_of(&r.node.from, what)?, self.constant_of(&r.node.to, what)?),
            Designator::Member(_) => return self.error(first.span, "structures are not supported"),
        };
        match (u64::try_from(from), u64::try_from(to)) {
            (Ok(from), Ok(to)) if from <= to && to < MAX_LENGTH => Ok(Some((from, to))),
            _ => self.error(first.span, "this index is outside the array"),
        }
    }

    /// A global or static variable gets its value before `main`: zero where nothing else is said.
    pub fn initialise_first(
        &mut self,
        v: VarId,
        ty: &CType,
        init: Option<&Node<Initializer>>,
        span: CSpan,
    ) -> Lowered<()> {
        let (at, defs) = (self.at.take(), std::mem::take(&mut self.defs));
        let stmt = match init {
            Some(init) => self.initial(v, ty, init),
            None => self.zero(v, ty),
        };
        (self.at, self.defs) = (at, defs);
        let place = self.place(span);
        self.first.push((stmt?, place));
        Ok(())
    }

    /// A local variable gets its value here.
    pub fn initialise(&mut self, v: VarId, ty: &CType, init: &Node<Initializer>, span: CSpan) -> Lowered<()> {
        let mark = self.mark();
        if let (CType::Int(int), Initializer::Expression(e)) = (ty, &init.node)
            && self.arbitrary_call(e) == Some(*int)
        {
            // `int x = __VERIFIER_nondet_int();`
            let stmt = self.arbitrary(v, ty);
            self.emit(stmt, span);
            return Ok(());
        }
        let stmt = self.initial(v, ty, init)?;
        self.emit(stmt, span);
        self.release(mark);
        Ok(())
    }

    fn zero(&mut self, v: VarId, ty: &CType) -> Lowered<StmtId> {
        let Some((_, int)) = ty.flat() else { return Ok(self.terms().skip()) };
        let zero = self.number(int, 0);
        let sort = self.cfa.terms.variable(v).ty;
        let terms = self.terms();
        let value = if let Type::Array(..) = sort { terms.const_array(sort, zero) } else { zero };
        Ok(terms.assign(v, value))
    }

    fn initial(&mut self, v: VarId, ty: &CType, init: &Node<Initializer>) -> Lowered<StmtId> {
        let Some((count, int)) = ty.flat() else { return Ok(self.terms().skip()) };
        let CType::Array(..) = ty else {
            let term = self.initial_scalar(init, int)?;
            return Ok(self.terms().assign(v, term));
        };
        let mut entries = Entries { list: vec![], keep: self.at.is_some() && impure_initialiser(init) };
        if count > MAX_LENGTH {
            return self.error(init.span, "this array is too long to be initialised");
        }
        match &init.node {
            Initializer::Expression(e) => match purity::string_of(e) {
                Some(text) => self.text(&text, 0, count, int, &mut entries),
                None => return self.error(init.span, "an array is initialised by a list in braces"),
            },
            Initializer::List(items) => self.list(ty, &mut items.iter().peekable(), 0, true, &mut entries)?,
        }
        let sort = self.cfa.terms.variable(v).ty;
        let zero = self.number(int, 0);
        let mut value = self.terms().const_array(sort, zero);
        let Type::Array(index, _) = sort else { return Ok(self.terms().skip()) };
        let index = self.cfa.terms.type_of_id(index);
        for (n, term) in entries.list {
            let terms = &mut self.cfa.terms;
            let sort = terms.sort(index);
            let i = terms.number(sort, n.into());
            value = terms.store(value, i, term);
        }
        Ok(self.terms().assign(v, value))
    }

    fn initial_scalar(&mut self, init: &Node<Initializer>, int: IntType) -> Lowered<TermId> {
        match &init.node {
            Initializer::Expression(e) => {
                let v = self.value(e)?;
                let v = self.convert(v, int);
                Ok(self.plain(v))
            }
            Initializer::List(items) => match &items[..] {
                [] => Ok(self.number(int, 0)),
                [item, ..] => self.initial_scalar(&item.node.initializer, int),
            },
        }
    }

    fn text(&mut self, text: &[u8], at: u64, count: u64, int: IntType, entries: &mut Entries) {
        for (n, b) in text.iter().enumerate().take(count as usize) {
            let c = self.constant(IntType::CHAR, i128::from(*b as i8));
            let c = self.convert(c, int);
            entries.list.push((at + n as u64, c.term));
        }
    }

    /// Takes the entries of an array (at `at`, counted in integers) from a list: its own one in braces, or the rest of the one
    /// around it.
    fn list(&mut self, ty: &CType, items: &mut Items<'_>, at: u64, braces: bool, entries: &mut Entries) -> Lowered<()> {
        let CType::Array(entry, Some(n)) = ty else { return Ok(()) };
        let Some((size, int)) = entry.flat() else { return Ok(()) };
        let (mut from, mut to) = (0, 0);
        while let Some(item) = items.peek().copied() {
            match self.designated(item)? {
                Some(bounds) if braces => (from, to) = bounds,
                Some(_) => return Ok(()),
                None => {}
            }
            if to >= *n {
                return match braces {
                    true => self.error(item.span, "there are more initialisers than the array has entries"),
                    false => Ok(()),
                };
            }
            // A range of entries gets copies of one value.
            let start = entries.list.len();
            let first = at + from * size;
            match (&item.node.initializer.node, &**entry) {
                (Initializer::List(inner), CType::Array(..)) => {
                    items.next();
                    self.list(entry, &mut inner.iter().peekable(), first, true, entries)?;
                }
                (Initializer::Expression(e), CType::Array(..)) => match purity::string_of(e) {
                    Some(text) => {
                        items.next();
                        self.text(&text, first, size, int, entries);
                    }
                    None => self.list(entry, items, first, false, entries)?,
                },
                _ => {
                    items.next();
                    let mut term = self.initial_scalar(&item.node.initializer, int)?;
                    if entries.keep {
                        term = self.save(term, item.span);
                    }
                    entries.list.push((first, term));
                }
            }
            let copied = entries.list[start..].to_vec();
            for k in 1..=(to - from) {
                entries.list.extend(copied.iter().map(|(n, t)| (n + k * size, *t)));
            }
            (from, to) = (to + 1, to + 1);
        }
        Ok(())
    }
}

/// Does something happen in it?
fn impure_initialiser(init: &Node<Initializer>) -> bool {
    match &init.node {
        Initializer::Expression(e) => purity::is_impure(e),
        Initializer::List(items) => items.iter().any(|i| impure_initialiser(&i.node.initializer)),
    }
}
