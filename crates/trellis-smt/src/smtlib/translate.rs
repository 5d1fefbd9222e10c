//! The text of each term, and of where it is defined.

use dashu_int::IBig;
use rustc_hash::FxHashMap;
use trellis_expr::{BitOp, Division, Term, TermId, Terms, Type};

use super::texts::{TextId, Texts};
use super::write::{MOST_INDEXES, sort};

/// What is known of terms so far.
#[derive(Default)]
pub struct Translation {
    values: FxHashMap<TermId, TextId>,
    /// Only of those that may fault.
    defined: FxHashMap<TermId, TextId>,
    /// What is true wherever a term is defined, and cannot be said of variables alone.
    conditions: FxHashMap<TermId, TextId>,
}

type Written = Result<TextId, String>;

impl Translation {
    /// A variable's text.
    pub fn set(&mut self, t: TermId, text: TextId) {
        self.values.insert(t, text);
    }

    /// The text of "defined, and true".
    pub fn holds(&self, t: TermId, texts: &mut Texts) -> TextId {
        let defined = self.defined(t, texts);
        texts.and(defined, self.values[&t])
    }

    /// What must be asserted beside whatever contains the term.
    pub fn condition(&self, t: TermId) -> Option<TextId> {
        self.conditions.get(&t).copied()
    }

    fn defined(&self, t: TermId, texts: &mut Texts) -> TextId {
        self.defined.get(&t).copied().unwrap_or_else(|| texts.bool(true))
    }

    /// Takes in a term, after its sub-terms.
    pub fn add(&mut self, terms: &Terms, t: TermId, texts: &mut Texts) -> Result<(), String> {
        if self.values.contains_key(&t) {
            return Ok(());
        }
        let value = self.value(terms, t, texts)?;
        self.values.insert(t, value);
        if terms.may_fault(t) {
            let defined = self.definedness(terms, t, texts);
            self.defined.insert(t, defined);
        }
        if let Term::Select(a, _) = *terms.get(t)
            && let Type::Array(_, entry) = terms.ty(a)
            && let ty @ (Type::Range(..) | Type::Enum(_)) = terms.type_of_id(entry)
            && let Some((lo, hi)) = terms.type_bounds(ty)
        {
            let (defined, inside) = (self.defined(t, texts), within(texts, value, &lo.into(), &hi.into()));
            let condition = texts.implies(defined, inside);
            self.conditions.insert(t, condition);
        }
        Ok(())
    }

    fn definedness(&self, terms: &Terms, t: TermId, texts: &mut Texts) -> TextId {
        match *terms.get(t) {
            Term::And(ref args) | Term::Or(ref args) => {
                // From left to right, until one decides.
                let and = matches!(terms.get(t), Term::And(_));
                let mut rest = texts.bool(true);
                for &a in args.iter().rev() {
                    let (here, value) = (self.defined(a, texts), self.values[&a]);
                    let later = match and {
                        _ if texts.is_true(rest) => rest,
                        true => texts.implies(value, rest),
                        false => texts.or(value, rest),
                    };
                    rest = texts.and(here, later);
                }
                rest
            }
            Term::Ite(c, a, b) => {
                let [dc, da, db] = [c, a, b].map(|t| self.defined(t, texts));
                let branch = texts.ite(self.values[&c], da, db);
                texts.and(dc, branch)
            }
            _ => {
                let mut all = self.own_condition(terms, t, texts);
                for &c in terms.children(t).iter().rev() {
                    let defined = self.defined(c, texts);
                    all = texts.and(defined, all);
                }
                all
            }
        }
    }

    /// Where the node itself does not fault, if its sub-terms do not.
    fn own_condition(&self, terms: &Terms, t: TermId, texts: &mut Texts) -> TextId {
        let value = |t: TermId| self.values[&t];
        let range = |ty: Type, text: TextId, texts: &mut Texts| match ty {
            Type::Range(lo, hi) => within(texts, text, &lo.into(), &hi.into()),
            _ => texts.bool(true),
        };
        let array = |ty: Type| match ty {
            Type::Array(i, e) => (terms.type_of_id(i), terms.type_of_id(e)),
            ty => (ty, ty),
        };
        match *terms.get(t) {
            Term::Div(_, _, b) | Term::Rem(_, _, b) => {
                let zero = zero(texts, terms.ty(b));
                let is_zero = texts.list(Type::Bool, "=", [value(b), zero]);
                texts.list(Type::Bool, "not", [is_zero])
            }
            Term::Bit(BitOp::Shl | BitOp::Shr, a, by) => {
                let width = match terms.ty(a) {
                    Type::Bits { width, .. } => width,
                    _ => 64,
                };
                match terms.ty(by) {
                    Type::Bits { width: w, signed } => {
                        let mut ok = texts.bool(true);
                        // A distance of few bits may be unable to reach the width.
                        if w >= 7 || u64::from(width) < 1 << w {
                            let limit = texts.bits(w, width.into());
                            ok = texts.list(Type::Bool, "bvult", [value(by), limit]);
                        }
                        if signed {
                            let zero = texts.bits(w, 0);
                            let sign = texts.list(Type::Bool, "bvsge", [value(by), zero]);
                            ok = texts.and(sign, ok);
                        }
                        ok
                    }
                    _ => within(texts, value(by), &IBig::ZERO, &IBig::from(width - 1)),
                }
            }
            Term::Select(a, i) => range(array(terms.ty(a)).0, value(i), texts),
            Term::Store(a, i, v) => {
                let (index, entry) = array(terms.ty(a));
                let (i, v) = (range(index, value(i), texts), range(entry, value(v), texts));
                texts.and(i, v)
            }
            Term::ConstArray(ty, v) => range(array(terms.type_of_id(ty)).1, value(v), texts),
            Term::Checked(a, lo, hi) => within(texts, value(a), &lo.into(), &hi.into()),
            Term::Convert(ty, _) => range(terms.type_of_id(ty), value(t), texts),
            _ => texts.bool(true),
        }
    }

    fn value(&self, terms: &Terms, t: TermId, texts: &mut Texts) -> Written {
        let ty = terms.ty(t);
        let value = |t: TermId| self.values[&t];
        let bits = |t: TermId| matches!(terms.ty(t), Type::Bits { .. });
        let is_signed = |t: TermId| matches!(terms.ty(t), Type::Bits { signed: true, .. });
        Ok(match *terms.get(t) {
            Term::Bool(b) => texts.bool(b),
            Term::Int(n) => texts.int(&n.into()),
            Term::Big(ref n) => texts.int(n),
            Term::EnumLit(_, n) => texts.int(&n.into()),
            Term::Bits(width, _, n) => texts.bits(width, n),
            Term::Var(v) => return Err(format!("the variable {}, which is not declared", terms.variable(v).name)),
            Term::Not(a) => texts.list(ty, "not", [value(a)]),
            Term::And(ref args) if args.is_empty() => texts.bool(true),
            Term::Or(ref args) if args.is_empty() => texts.bool(false),
            Term::And(ref args) => texts.list(ty, "and", args.iter().map(|&a| value(a))),
            Term::Or(ref args) => texts.list(ty, "or", args.iter().map(|&a| value(a))),
            Term::Ite(c, a, b) => texts.list(ty, "ite", [value(c), value(a), value(b)]),
            Term::Eq(a, b) => equal(terms, terms.ty(a), value(a), value(b), texts)?,
            Term::Lt(a, b) | Term::Le(a, b) => {
                let head = match (matches!(terms.get(t), Term::Lt(..)), bits(a), is_signed(a)) {
                    (true, false, _) => "<",
                    (false, false, _) => "<=",
                    (true, true, true) => "bvslt",
                    (false, true, true) => "bvsle",
                    (true, true, false) => "bvult",
                    (false, true, false) => "bvule",
                };
                texts.list(ty, head, [value(a), value(b)])
            }
            Term::Add(ref args) if args.len() == 1 => value(args[0]),
            Term::Add(ref args) if bits(t) => {
                // Two at a time: not every solver takes more.
                args[1..].iter().fold(value(args[0]), |sum, &a| texts.list(ty, "bvadd", [sum, value(a)]))
            }
            Term::Add(ref args) => texts.list(ty, "+", args.iter().map(|&a| value(a))),
            Term::Neg(a) => texts.list(ty, if bits(t) { "bvneg" } else { "-" }, [value(a)]),
            Term::Mul(a, b) => texts.list(ty, if bits(t) { "bvmul" } else { "*" }, [value(a), value(b)]),
            Term::Div(d, a, b) => divide(texts, ty, d, value(a), value(b), true),
            Term::Rem(d, a, b) => divide(texts, ty, d, value(a), value(b), false),
            Term::Bit(op, a, b) if bits(t) => self.bit(terms, op, a, b, texts)?,
            Term::Bit(op @ (BitOp::Shl | BitOp::Shr), a, b) => {
                let Some(by) = terms.as_value(b).and_then(|v| usize::try_from(&v.number()).ok()).filter(|by| *by < 64)
                else {
                    return Err("bitwise operations on unbounded integers".into());
                };
                let power = texts.int(&(IBig::ONE << by));
                texts.list(ty, if op == BitOp::Shl { "*" } else { "div" }, [value(a), power])
            }
            Term::Bit(..) => return Err("bitwise operations on unbounded integers".into()),
            Term::Select(a, i) => texts.list(ty, "select", [value(a), value(i)]),
            Term::Store(a, i, v) => texts.list(ty, "store", [value(a), value(i), value(v)]),
            Term::ConstArray(_, v) => texts.list(ty, format!("(as const {})", sort(terms, ty)?), [value(v)]),
            Term::Checked(a, ..) => value(a),
            Term::Convert(_, a) => convert(texts, terms.ty(a), ty, value(a)),
            Term::Foreign(..) => return Err("foreign functions".into()),
        })
    }

    /// A bitwise operation on fixed width. A shift's distance is cut to the width: where the shift is defined, it fits.
    fn bit(&self, terms: &Terms, op: BitOp, a: TermId, b: TermId, texts: &mut Texts) -> Written {
        let (ty, x, mut y) = (terms.ty(a), self.values[&a], self.values[&b]);
        let Type::Bits { width, signed } = ty else { return Err("bitwise operations on unbounded integers".into()) };
        let head = match op {
            BitOp::And => "bvand",
            BitOp::Or => "bvor",
            BitOp::Xor => "bvxor",
            BitOp::Shl => "bvshl",
            BitOp::Shr if signed => "bvashr",
            BitOp::Shr => "bvlshr",
        };
        if matches!(op, BitOp::Shl | BitOp::Shr) {
            y = match terms.as_value(b) {
                Some(v) => match u64::try_from(&v.number()) {
                    Ok(n) => texts.bits(width, n),
                    // Faults anyway.
                    Err(_) => texts.bits(width, 0),
                },
                None => match terms.ty(b) {
                    Type::Bits { width: w, .. } => {
                        convert(texts, Type::Bits { width: w, signed: false }, Type::Bits { width, signed: false }, y)
                    }
                    from => convert(texts, from, ty, y),
                },
            };
        }
        Ok(texts.list(ty, head, [x, y]))
    }
}

/// `lo ≤ text ≤ hi`
pub fn within(texts: &mut Texts, text: TextId, lo: &IBig, hi: &IBig) -> TextId {
    let (lo, hi) = (texts.int(lo), texts.int(hi));
    texts.list(Type::Bool, "<=", [lo, text, hi])
}

fn zero(texts: &mut Texts, ty: Type) -> TextId {
    match ty {
        Type::Bits { width, .. } => texts.bits(width, 0),
        _ => texts.int(&IBig::ZERO),
    }
}

/// Equality. Arrays over bounded integers are arrays over all integers in the text, so they are compared at each index.
fn equal(terms: &Terms, ty: Type, a: TextId, b: TextId, texts: &mut Texts) -> Written {
    let Type::Array(index, entry) = ty else { return Ok(texts.list(Type::Bool, "=", [a, b])) };
    let (index, entry) = (terms.type_of_id(index), terms.type_of_id(entry));
    let (Type::Range(..) | Type::Enum(_)) = index else {
        let mut inner = entry;
        while let Type::Array(i, e) = inner {
            if matches!(terms.type_of_id(i), Type::Range(..) | Type::Enum(_)) {
                return Err("equality of arrays of arrays with bounded indexes".into());
            }
            inner = terms.type_of_id(e);
        }
        return Ok(texts.list(Type::Bool, "=", [a, b]));
    };
    let (lo, hi) = terms.type_bounds(index).ok_or("an enumeration without literals")?;
    if hi.saturating_sub(lo) >= MOST_INDEXES {
        return Err(format!("equality of arrays with more than {MOST_INDEXES} bounded indexes"));
    }
    let mut all = vec![];
    for i in lo..=hi {
        let i = texts.int(&i.into());
        let [x, y] = [a, b].map(|t| texts.list(terms.sort(entry), "select", [t, i]));
        all.push(equal(terms, entry, x, y, texts)?);
    }
    Ok(match all.len() {
        0 => texts.bool(true),
        1 => all[0],
        _ => texts.list(Type::Bool, "and", all),
    })
}

/// Quotient or remainder.
fn divide(texts: &mut Texts, ty: Type, d: Division, a: TextId, b: TextId, quotient: bool) -> TextId {
    let zero = zero(texts, ty);
    match (ty, d) {
        (Type::Bits { signed: false, .. }, _) => texts.list(ty, if quotient { "bvudiv" } else { "bvurem" }, [a, b]),
        (Type::Bits { .. }, Division::Truncating) => texts.list(ty, if quotient { "bvsdiv" } else { "bvsrem" }, [a, b]),
        (Type::Bits { width, .. }, Division::Euclidean) => {
            let (q, r) = (texts.list(ty, "bvsdiv", [a, b]), texts.list(ty, "bvsrem", [a, b]));
            let low = texts.list(Type::Bool, "bvslt", [r, zero]);
            let positive = texts.list(Type::Bool, "bvsgt", [b, zero]);
            let one = texts.bits(width, 1);
            let (of, down, up) = if quotient { (q, "bvsub", one) } else { (r, "bvadd", b) };
            let other = if quotient { "bvadd" } else { "bvsub" };
            let (when_positive, when_negative) = (texts.list(ty, down, [of, up]), texts.list(ty, other, [of, up]));
            let moved = texts.ite(positive, when_positive, when_negative);
            texts.ite(low, moved, of)
        }
        (_, Division::Euclidean) => texts.list(ty, if quotient { "div" } else { "mod" }, [a, b]),
        (_, Division::Truncating) => {
            let head = if quotient { "div" } else { "mod" };
            let low = texts.list(Type::Bool, "<", [a, zero]);
            let minus = texts.list(ty, "-", [a]);
            let (up, down) = (texts.list(ty, head, [a, b]), texts.list(ty, head, [minus, b]));
            let down = texts.list(ty, "-", [down]);
            texts.ite(low, down, up)
        }
    }
}

fn convert(texts: &mut Texts, from: Type, to: Type, a: TextId) -> TextId {
    match (from, to) {
        (Type::Bool, Type::Bits { width, .. }) => {
            let (one, zero) = (texts.bits(width, 1), texts.bits(width, 0));
            texts.ite(a, one, zero)
        }
        (Type::Bool, _) => {
            let (one, zero) = (texts.int(&IBig::ONE), texts.int(&IBig::ZERO));
            texts.ite(a, one, zero)
        }
        (Type::Bits { width: w, signed }, Type::Bits { width, .. }) => match width.cmp(&w) {
            std::cmp::Ordering::Equal => a,
            std::cmp::Ordering::Less => texts.list(to, format!("(_ extract {} 0)", width - 1), [a]),
            std::cmp::Ordering::Greater => {
                let head = if signed { "sign_extend" } else { "zero_extend" };
                texts.list(to, format!("(_ {head} {})", width - w), [a])
            }
        },
        (Type::Bits { width, signed }, _) => {
            let n = texts.list(Type::Int, "bv2nat", [a]);
            if !signed {
                return n;
            }
            let (zero, modulus) = (texts.bits(width, 0), texts.int(&(IBig::ONE << usize::from(width))));
            let low = texts.list(Type::Bool, "bvslt", [a, zero]);
            let less = texts.list(Type::Int, "-", [n, modulus]);
            texts.ite(low, less, n)
        }
        (_, Type::Bits { width, .. }) => texts.list(to, format!("(_ int2bv {width})"), [a]),
        _ => a,
    }
}
