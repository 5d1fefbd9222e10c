//! Terms in two runs, of a smaller and of a larger element: which way a value can go from the first to the second, and whether
//! what faults in the first faults in the second.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_expr::{BitOp, Term, TermId, Type, VarId};
use trellis_model::network::{Function, Network};
use trellis_order::{Composition, Lattice, MethodKind, Shape, Trend};

/// Which way a value goes from the smaller to the larger element, if it goes at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Way {
    Up,
    Down,
}

impl Way {
    fn back(self) -> Way {
        match self {
            Way::Up => Way::Down,
            Way::Down => Way::Up,
        }
    }
}

/// What is known of a value: that it goes only up, only down (both: it stays), and where it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known {
    pub up: bool,
    pub down: bool,
    pub lo: i128,
    pub hi: i128,
}

const INFINITE: i128 = 1 << 96;

impl Known {
    pub fn exactly(n: i128) -> Known {
        Known { up: true, down: true, lo: n, hi: n }
    }

    fn goes(&self, way: Way) -> bool {
        match way {
            Way::Up => self.up,
            Way::Down => self.down,
        }
    }

    fn stays(&self) -> bool {
        self.up && self.down
    }

    /// The same of the truth value "it is not 0".
    pub fn is_nonzero(&self) -> Known {
        let (up, down) = match () {
            () if self.lo >= 0 => (self.up, self.down),
            () if self.hi <= 0 => (self.down, self.up),
            () => (self.stays(), self.stays()),
        };
        Known { up, down, lo: 0, hi: 1 }
    }
}

/// A part of a lattice variable.
#[derive(Debug, Clone)]
pub(super) struct Site {
    pub offset: usize,
    pub lattice: Arc<dyn Lattice>,
    /// A larger variable has a larger part here.
    pub readable: bool,
    /// A larger part makes a larger variable, all else being as it was.
    pub writable: bool,
}

/// The same lattice?
pub(super) fn alike(a: &Arc<dyn Lattice>, b: &Arc<dyn Lattice>) -> bool {
    Arc::ptr_eq(a, b) || (a.is_vouched_for() && b.is_vouched_for() && a.name() == b.name())
}

const MOST_SITES: usize = 1 << 16;
const MOST_CALLS: i128 = 256;
const DEEPEST: u32 = 800;

pub(super) struct Two<'n> {
    net: &'n Network,
    sites: Vec<Site>,
    too_many: bool,
    /// Variables that were written.
    written: FxHashMap<VarId, Known>,
    spans: FxHashMap<TermId, (i128, i128)>,
    ways: FxHashMap<(TermId, Way), bool>,
    quiet: FxHashMap<TermId, bool>,
    /// Terms whose faults are known to stay.
    staying: FxHashMap<TermId, bool>,
}

impl<'n> Two<'n> {
    pub fn new(net: &'n Network) -> Two<'n> {
        let mut sites = Vec::new();
        let mut open: Vec<Site> = net
            .lattices
            .iter()
            .map(|l| Site { offset: l.offset, lattice: l.lattice.clone(), readable: true, writable: true })
            .collect();
        let mut too_many = false;
        while let Some(site) = open.pop() {
            if sites.len() + open.len() > MOST_SITES {
                too_many = true;
                break;
            }
            let how = site.lattice.composition();
            let inside = |number: usize, at: usize, lattice: &Arc<dyn Lattice>| Site {
                offset: site.offset + at,
                lattice: lattice.clone(),
                readable: site.readable
                    && (how == Composition::Pointwise || (how == Composition::FirstDecides && number == 0)),
                writable: site.writable
                    && (how == Composition::Pointwise || (how == Composition::FirstDecides && number == 1)),
            };
            match site.lattice.shape() {
                Shape::Vector(n, entry) => open.extend((0..n).map(|i| inside(i, i * entry.width(), entry))),
                Shape::Fields(fields) => {
                    open.extend(fields.iter().enumerate().map(|(i, (_, at, l))| inside(i, *at, l)));
                }
                Shape::Leaf | Shape::Bits(_) => {}
            }
            sites.push(site);
        }
        Two {
            net,
            sites,
            too_many,
            written: FxHashMap::default(),
            spans: FxHashMap::default(),
            ways: FxHashMap::default(),
            quiet: FxHashMap::default(),
            staying: FxHashMap::default(),
        }
    }

    // What has been written.

    fn stale(&mut self) {
        self.spans.clear();
        self.ways.clear();
        self.quiet.clear();
        self.staying.clear();
    }

    pub fn reset(&mut self) {
        if !self.written.is_empty() {
            self.written.clear();
            self.stale();
        }
    }

    pub fn write(&mut self, v: VarId, k: Known) {
        self.written.insert(v, k);
        self.stale();
    }

    pub fn memory(&self) -> FxHashMap<VarId, Known> {
        self.written.clone()
    }

    pub fn restore(&mut self, memory: FxHashMap<VarId, Known>) {
        self.written = memory;
        self.stale();
    }

    /// What is known after either what was written here (the test does not hold) or there (it does).
    pub fn merge(&mut self, test: Known, there: &FxHashMap<VarId, Known>) {
        let vars: FxHashSet<VarId> = self.written.keys().chain(there.keys()).copied().collect();
        for v in vars {
            let initially = self.initially(v);
            let (a, b) = (*there.get(&v).unwrap_or(&initially), *self.written.get(&v).unwrap_or(&initially));
            let jump =
                |way: Way| test.stays() || (a.lo >= b.hi && test.goes(way)) || (a.hi <= b.lo && test.goes(way.back()));
            let merged = Known {
                up: a.up && b.up && jump(Way::Up),
                down: a.down && b.down && jump(Way::Down),
                lo: a.lo.min(b.lo),
                hi: a.hi.max(b.hi),
            };
            self.written.insert(v, merged);
        }
        self.stale();
    }

    /// Does a loop have nothing new to say? If it takes too long, ranges are given up.
    pub fn settled(&mut self, before: &FxHashMap<VarId, Known>, hurry: bool) -> bool {
        let vars: Vec<VarId> = self.written.keys().copied().collect();
        let mut settled = true;
        for v in vars {
            let initially = self.initially(v);
            let (old, new) = (*before.get(&v).unwrap_or(&initially), self.written[&v]);
            if old != new {
                settled = false;
                if hurry {
                    self.written.insert(v, Known { lo: initially.lo, hi: initially.hi, ..new });
                }
            }
        }
        self.stale();
        settled
    }

    fn type_span(&self, ty: Type) -> (i128, i128) {
        let ty = match ty {
            Type::Array(_, entry) => self.net.terms.type_of_id(entry),
            other => other,
        };
        match self.net.terms.type_bounds(ty) {
            Some((lo, hi)) => (lo.into(), hi.into()),
            None => (-INFINITE, INFINITE),
        }
    }

    /// What a variable has room for.
    pub fn room(&self, v: VarId) -> (i128, i128) {
        self.type_span(self.net.terms.variable(v).ty)
    }

    fn initially(&self, v: VarId) -> Known {
        let (lo, hi) = self.room(v);
        Known { up: true, down: true, lo, hi }
    }

    /// All that is known of a term.
    pub fn known(&mut self, t: TermId) -> Known {
        let (lo, hi) = self.span(t);
        Known { up: self.goes(t, Way::Up), down: self.goes(t, Way::Down), lo, hi }
    }

    fn stays(&mut self, t: TermId) -> bool {
        self.goes(t, Way::Up) && self.goes(t, Way::Down)
    }

    // Where a value lies, in either run.

    fn span(&mut self, t: TermId) -> (i128, i128) {
        if let Some(&s) = self.spans.get(&t) {
            return s;
        }
        let terms = &self.net.terms;
        let all = self.type_span(terms.ty(t));
        if terms.depth(t) > DEEPEST {
            return all;
        }
        let cut = |(lo, hi): (i128, i128)| (lo.max(-INFINITE), hi.min(INFINITE));
        let s = match *terms.get(t) {
            Term::Bool(b) => (b.into(), b.into()),
            Term::Int(n) => (n.into(), n.into()),
            Term::EnumLit(_, n) => (n.into(), n.into()),
            Term::Var(v) => self.written.get(&v).map_or(all, |k| (k.lo, k.hi)),
            Term::Not(a) => {
                let (lo, hi) = self.span(a);
                (1 - hi, 1 - lo)
            }
            Term::And(ref parts) => parts.clone().iter().fold((1, 1), |(lo, hi), &p| {
                let s = self.span(p);
                (lo.min(s.0), hi.min(s.1))
            }),
            Term::Or(ref parts) => parts.clone().iter().fold((0, 0), |(lo, hi), &p| {
                let s = self.span(p);
                (lo.max(s.0), hi.max(s.1))
            }),
            Term::Ite(_, a, b) => {
                let (a, b) = (self.span(a), self.span(b));
                (a.0.min(b.0), a.1.max(b.1))
            }
            Term::Add(ref parts) if terms.ty(t).is_int() => parts.clone().iter().fold((0, 0), |(lo, hi), &p| {
                let s = self.span(p);
                cut((lo + s.0, hi + s.1))
            }),
            Term::Neg(a) if terms.ty(t).is_int() => {
                let (lo, hi) = self.span(a);
                (-hi, -lo)
            }
            Term::Mul(a, b) if terms.ty(t).is_int() => {
                let (a, b) = (self.span(a), self.span(b));
                match [a.0, a.1, b.0, b.1].iter().all(|n| n.abs() < 1 << 63) {
                    true => {
                        let ends = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
                        let (lo, hi) = ends.iter().fold((ends[0], ends[0]), |(l, h), &n| (l.min(n), h.max(n)));
                        cut((lo, hi))
                    }
                    false => all,
                }
            }
            Term::Div(_, a, b) if terms.ty(t).is_int() => {
                let (a, b) = (self.span(a), self.span(b));
                let far = a.0.abs().max(a.1.abs());
                (if a.0 >= 0 && b.0 > 0 { 0 } else { -far }, far)
            }
            Term::Rem(_, a, b) if terms.ty(t).is_int() => {
                let (a, b) = (self.span(a), self.span(b));
                let far = (b.0.abs().max(b.1.abs()) - 1).max(0);
                (if a.0 >= 0 { 0 } else { -far }, far)
            }
            Term::Select(a, _) => self.span(a),
            Term::Store(a, _, v) => {
                let (a, v) = (self.span(a), self.span(v));
                (a.0.min(v.0).max(all.0), a.1.max(v.1).min(all.1))
            }
            Term::ConstArray(_, a) => {
                let (lo, hi) = self.span(a);
                (lo.max(all.0), hi.min(all.1))
            }
            Term::Checked(a, lo, hi) => {
                let s = self.span(a);
                (s.0.max(lo.into()), s.1.min(hi.into()))
            }
            Term::Convert(ty, a) => match terms.type_of_id(ty) {
                Type::Bits { .. } => all,
                ty => {
                    let (s, to) = (self.span(a), self.type_span(ty));
                    (s.0.max(to.0), s.1.min(to.1))
                }
            },
            Term::Foreign(f, ref args) => self.answers(&self.net.functions[f.index()], args[0]),
            _ => all,
        };
        self.spans.insert(t, s);
        s
    }

    /// Between which numbers the answers of a query lie.
    fn answers(&self, function: &Function, _: TermId) -> (i128, i128) {
        let word = (i64::MIN.into(), i64::MAX.into());
        let Function::Method { lattice, method } = function else { return (0, 1) };
        let Some(m) = lattice.methods().get(*method) else { return word };
        if m.truth {
            return (0, 1);
        }
        let Some(meet) = lattice.as_meet().filter(|_| lattice.is_vouched_for()) else { return word };
        if m.args > 0 || m.trend == Trend::Neither || m.kind != MethodKind::Query {
            return word;
        }
        // A query that goes one way has its extremes where the lattice has.
        let mut ends = [vec![0; lattice.width()], vec![0; lattice.width()]];
        lattice.bottom(&mut ends[0]);
        meet.top(&mut ends[1]);
        match ends.map(|e| lattice.query(*method, &e, &[])) {
            [Ok(a), Ok(b)] => (a.min(b).into(), a.max(b).into()),
            _ => word,
        }
    }

    // Which way a value goes.

    pub fn must_go(&mut self, t: TermId, way: Way) -> Result<(), String> {
        match self.goes(t, way) {
            true => Ok(()),
            false => Err(match way {
                Way::Up => "it may become less, or false, when the element grows",
                Way::Down => "it may become greater, or true, when the element grows",
            }
            .into()),
        }
    }

    /// Is it certain that the value goes this way only?
    pub fn goes(&mut self, t: TermId, way: Way) -> bool {
        if let Some(&known) = self.ways.get(&(t, way)) {
            return known;
        }
        let goes = self.net.terms.depth(t) <= DEEPEST && self.node_goes(t, way);
        self.ways.insert((t, way), goes);
        goes
    }

    fn all_stay(&mut self, parts: &[TermId]) -> bool {
        parts.iter().all(|&p| self.stays(p))
    }

    fn node_goes(&mut self, t: TermId, way: Way) -> bool {
        let terms = &self.net.terms;
        let is_int = terms.ty(t).is_int();
        match *terms.get(t) {
            Term::Bool(_) | Term::Int(_) | Term::Big(_) | Term::EnumLit(..) | Term::Bits(..) => true,
            Term::Var(v) => self.written.get(&v).is_none_or(|k| k.goes(way)),
            Term::Not(a) => self.goes(a, way.back()),
            Term::And(ref parts) | Term::Or(ref parts) => parts.clone().iter().all(|&p| self.goes(p, way)),
            Term::Ite(c, a, b) => self.choice_goes(c, a, b, way),
            Term::Lt(a, b) | Term::Le(a, b) => self.goes(a, way.back()) && self.goes(b, way),
            Term::Eq(a, b) => {
                let (x, y) = (self.span(a), self.span(b));
                // Equal is as much as "not less", or "not greater", where the other side is at the end of what there is.
                (x.1 <= y.0 && self.goes(a, way) && self.goes(b, way.back()))
                    || (x.0 >= y.1 && self.goes(a, way.back()) && self.goes(b, way))
                    || (self.stays(a) && self.stays(b))
            }
            Term::Add(ref parts) if is_int => parts.clone().iter().all(|&p| self.goes(p, way)),
            Term::Neg(a) if is_int => self.goes(a, way.back()),
            Term::Mul(a, b) if is_int => self.factor(a, b, way) && self.factor(b, a, way),
            Term::Div(_, a, b) if is_int => {
                let divisor = self.span(b);
                self.stays(b)
                    && match () {
                        () if divisor.0 > 0 => self.goes(a, way),
                        () if divisor.1 < 0 => self.goes(a, way.back()),
                        () => self.stays(a),
                    }
            }
            Term::Select(a, i) => self.stays(i) && self.goes(a, way),
            Term::Store(a, i, v) => self.stays(i) && self.goes(a, way) && self.goes(v, way),
            Term::ConstArray(_, a) | Term::Checked(a, ..) => self.goes(a, way),
            Term::Convert(ty, a) => match terms.type_of_id(ty) {
                Type::Bits { .. } => self.stays(a),
                _ => self.goes(a, way),
            },
            Term::Foreign(f, ref args) => {
                let args = args.clone();
                self.all_stay(&args) && self.asked_goes(&self.net.functions[f.index()], args[0], way)
            }
            _ => {
                let parts = terms.children(t);
                self.all_stay(&parts)
            }
        }
    }

    /// Does a product go this way as far as one factor is concerned?
    fn factor(&mut self, a: TermId, other: TermId, way: Way) -> bool {
        let (lo, hi) = self.span(other);
        (lo >= 0 && self.goes(a, way)) || (hi <= 0 && self.goes(a, way.back())) || self.stays(a)
    }

    fn choice_goes(&mut self, c: TermId, a: TermId, b: TermId, way: Way) -> bool {
        if !self.goes(a, way) || !self.goes(b, way) {
            return false;
        }
        if let Term::Lt(p, q) | Term::Le(p, q) = *self.net.terms.get(c)
            && ((p, q) == (a, b) || (q, p) == (a, b))
        {
            // The lesser or the greater of the two.
            return true;
        }
        let (x, y) = (self.span(a), self.span(b));
        self.stays(c) || (x.0 >= y.1 && self.goes(c, way)) || (x.1 <= y.0 && self.goes(c, way.back()))
    }

    /// Does the answer of a query go this way, wherever it may be asked?
    fn asked_goes(&mut self, function: &Function, place: TermId, way: Way) -> bool {
        let Ok(sites) = self.sites(function, place) else { return false };
        sites.iter().all(|s| {
            let trend = match function {
                Function::GetBit(_) => s.lattice.methods().first().map(|m| m.trend),
                Function::Method { lattice, method } => lattice.methods().get(*method).map(|m| m.trend),
                Function::SetBit(_) | Function::Copy(_) => None,
            };
            let right = if way == Way::Up { Trend::Monotone } else { Trend::Antitone };
            s.readable && trend == Some(right)
        })
    }

    /// Where a function may be called, given what says where; at least one place.
    pub fn sites(&mut self, function: &Function, place: TermId) -> Result<Vec<Site>, String> {
        if self.too_many {
            return Err("the lattice variables have too many parts".into());
        }
        if !self.stays(place) {
            return Err("which lattice value is meant depends on lattice values".into());
        }
        let fits = |s: &&Site| match function {
            Function::GetBit(n) | Function::SetBit(n) => {
                s.lattice.packed_bits() && matches!(s.lattice.shape(), Shape::Bits(m) if m == *n)
            }
            Function::Method { lattice, .. } => alike(&s.lattice, lattice),
            Function::Copy(width) => s.lattice.width() == *width,
        };
        let fitting: Vec<Site> = self.sites.iter().filter(fits).cloned().collect();
        let found: Vec<Site> = fitting.into_iter().filter(|s| self.can_be(place, s.offset as i128)).collect();
        if found.is_empty() { Err("a lattice method is called on nothing".into()) } else { Ok(found) }
    }

    /// Can a term for a place have this value?
    fn can_be(&mut self, t: TermId, n: i128) -> bool {
        let (lo, hi) = self.span(t);
        if n < lo || n > hi {
            return false;
        }
        match *self.net.terms.get(t) {
            // A fixed start and one index: `start + i * width`.
            Term::Add(ref parts) => {
                let parts = parts.clone();
                let moving: Vec<TermId> = parts
                    .iter()
                    .copied()
                    .filter(|&p| {
                        let s = self.span(p);
                        s.0 != s.1
                    })
                    .collect();
                let start: i128 = parts.iter().map(|&p| self.span(p)).filter(|s| s.0 == s.1).map(|s| s.0).sum();
                match moving[..] {
                    [] => n == start,
                    [one] => self.can_be(one, n - start),
                    // Several indexes: whatever all of them can be a multiple of.
                    _ => {
                        let step = moving.iter().map(|&p| self.step(p)).fold(0, gcd);
                        step == 0 || (n - start) % step == 0
                    }
                }
            }
            Term::Mul(..) => {
                let step = self.step(t);
                step == 0 || n % step == 0
            }
            _ => true,
        }
    }

    /// A number of which the value is a multiple.
    fn step(&mut self, t: TermId) -> i128 {
        let (lo, hi) = self.span(t);
        if lo == hi {
            return lo.abs();
        }
        match *self.net.terms.get(t) {
            Term::Mul(a, b) => {
                let (a, b) = (self.step(a), self.step(b));
                if a < 1 << 40 && b < 1 << 40 { a * b } else { 1 }
            }
            _ => 1,
        }
    }

    // Faults.

    /// Is it certain that evaluating the term does not fault?
    pub fn is_quiet(&mut self, t: TermId) -> bool {
        if let Some(&known) = self.quiet.get(&t) {
            return known;
        }
        let terms = &self.net.terms;
        let deep = terms.depth(t) > DEEPEST;
        let quiet = !deep && terms.children(t).iter().all(|&c| self.is_quiet(c)) && self.node_is_quiet(t);
        self.quiet.insert(t, quiet);
        quiet
    }

    /// The same of the node alone.
    fn node_is_quiet(&mut self, t: TermId) -> bool {
        let terms = &self.net.terms;
        let is_int = terms.ty(t).is_int();
        let word = |(lo, hi): (i128, i128)| i128::from(i64::MIN) <= lo && hi <= i128::from(i64::MAX);
        let inside = |(lo, hi): (i128, i128), room: (i128, i128)| room.0 <= lo && hi <= room.1;
        let index = |terms: &trellis_expr::Terms, ty: Type| match ty {
            Type::Array(i, _) => match terms.type_bounds(terms.type_of_id(i)) {
                Some((lo, hi)) => (lo.into(), hi.into()),
                None => (-INFINITE, INFINITE),
            },
            _ => (1, 0),
        };
        match *terms.get(t) {
            Term::Add(ref parts) if is_int => {
                let parts = parts.clone();
                let (mut lo, mut hi) = (0i128, 0i128);
                for &p in parts.iter() {
                    let s = self.span(p);
                    (lo, hi) = ((lo + s.0.min(0)).max(-INFINITE), (hi + s.1.max(0)).min(INFINITE));
                }
                word((lo, hi))
            }
            Term::Neg(_) | Term::Mul(..) if is_int => word(self.span(t)),
            Term::Div(_, _, b) | Term::Rem(_, _, b) => {
                let s = self.span(b);
                (s.0 > 0 || s.1 < 0) && word(self.span(t))
            }
            Term::Bit(BitOp::Shl | BitOp::Shr, ..) => false,
            Term::Select(a, i) => inside(self.span(i), index(terms, terms.ty(a))),
            Term::Store(a, i, v) => {
                let (i, v) = (self.span(i), self.span(v));
                inside(i, index(terms, terms.ty(a))) && inside(v, self.type_span(terms.ty(a)))
            }
            Term::ConstArray(_, a) => inside(self.span(a), self.type_span(terms.ty(t))),
            Term::Checked(a, lo, hi) => inside(self.span(a), (lo.into(), hi.into())),
            Term::Convert(ty, a) => match terms.type_of_id(ty) {
                Type::Bits { .. } => true,
                ty => inside(self.span(a), self.type_span(ty)),
            },
            Term::Foreign(f, ref args) => {
                let args = args.clone();
                let values: Vec<Known> = args.iter().map(|&a| self.known(a)).collect();
                match &self.net.functions[f.index()] {
                    Function::GetBit(n) => values[1].lo >= 0 && values[1].hi < *n as i128,
                    Function::Method { lattice, method } => !self.may_fail(lattice, *method, &values[1..]),
                    Function::SetBit(_) | Function::Copy(_) => false,
                }
            }
            _ => true,
        }
    }

    /// May a method fail when it is called with such arguments? The element does not matter for that.
    pub fn may_fail(&self, lattice: &Arc<dyn Lattice>, method: usize, args: &[Known]) -> bool {
        let Some(m) = lattice.methods().get(method) else { return true };
        let calls = args.iter().map(|k| k.hi - k.lo + 1).fold(1i128, |a, b| a.saturating_mul(b));
        let words = args.iter().all(|k| i64::try_from(k.lo).is_ok() && i64::try_from(k.hi).is_ok());
        if !lattice.is_vouched_for() || m.args != args.len() || !words || !(1..=MOST_CALLS).contains(&calls) {
            return true;
        }
        let mut given: Vec<i64> = args.iter().map(|k| k.lo as i64).collect();
        let mut elem = vec![0; lattice.width()];
        loop {
            lattice.initial(&mut elem);
            let failed = match m.kind {
                MethodKind::Query => lattice.query(method, &elem, &given).is_err(),
                MethodKind::Update => lattice.update(method, &mut elem, &given).is_err(),
            };
            if failed {
                return true;
            }
            // The next arguments, the first counting fastest.
            let Some(i) = (0..given.len()).find(|&i| i128::from(given[i]) < args[i].hi) else { return false };
            given[i] += 1;
            (0..i).for_each(|j| given[j] = args[j].lo as i64);
        }
    }

    /// Shows that if the term faults for the smaller element, it does for the larger.
    pub fn faults_stay(&mut self, t: TermId) -> Result<(), String> {
        if self.staying.contains_key(&t) {
            return Ok(());
        }
        let terms = &self.net.terms;
        if terms.depth(t) > DEEPEST {
            return Err("an expression is nested too deeply".into());
        }
        let parts = terms.children(t);
        for &p in parts.iter() {
            self.faults_stay(p)?;
        }
        let skipped = || Err("a lattice value decides whether something is evaluated that may fault".to_string());
        match *terms.get(t) {
            // A conjunction goes on while its parts hold, so they must go on holding; a disjunction while they do not.
            Term::And(_) | Term::Or(_) => {
                let on = if let Term::And(_) = terms.get(t) { Way::Up } else { Way::Down };
                for (i, &p) in parts.iter().enumerate() {
                    if !self.is_quiet(p) && !parts[..i].iter().all(|&q| self.goes(q, on)) {
                        return skipped();
                    }
                }
            }
            Term::Ite(c, a, b) => {
                let (quiet_a, quiet_b) = (self.is_quiet(a), self.is_quiet(b));
                if (!quiet_a && !self.goes(c, Way::Up)) || (!quiet_b && !self.goes(c, Way::Down)) {
                    return skipped();
                }
            }
            // Whatever faults by itself does so for both if its parts are the same.
            _ if !self.node_is_quiet(t) && !self.all_stay(&parts) => {
                return Err("whether something faults depends on lattice values".into());
            }
            Term::Foreign(_, ref args) => {
                let args = args.clone();
                if !self.all_stay(&args) {
                    return Err("an argument of a lattice method depends on lattice values".into());
                }
            }
            _ => {}
        }
        self.staying.insert(t, true);
        Ok(())
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}
