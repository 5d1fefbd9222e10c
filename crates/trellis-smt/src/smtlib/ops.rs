//! The functions of SMT-LIB's Core, Ints, ArraysEx and FixedSizeBitVectors, as terms that never fault.
//!
//! Fixed-width sorts become unsigned `Bits`; the signed functions convert there and back. A shift by the width or more, and
//! division by zero of bit vectors, have the meaning that SMT-LIB gives them, by `ite`. Integer division by what is not a
//! nonzero literal is foreign: SMT-LIB lets division by zero be any function, and we have none.

use dashu_int::IBig;
use trellis_expr::{BitOp, Division, Term, TermId, Terms, Type};

/// Why a function cannot be applied.
pub enum OpError {
    /// The text is wrong.
    Wrong(String),
    /// It is right, but we have no terms for it.
    Foreign(String),
}

type Applied = Result<TermId, OpError>;

fn wrong<T>(message: impl Into<String>) -> Result<T, OpError> {
    Err(OpError::Wrong(message.into()))
}

/// The widest bit vectors that our terms have.
pub const WIDEST: u64 = 64;

/// A sort as SMT-LIB writes it.
pub fn sort_name(terms: &Terms, ty: Type) -> String {
    match ty {
        Type::Bool => "Bool".into(),
        Type::Int | Type::Range(..) => "Int".into(),
        Type::Enum(e) => super::sexpr::symbol(&terms.enumeration(e).name),
        Type::Bits { width, .. } => format!("(_ BitVec {width})"),
        Type::Array(i, e) => {
            let [i, e] = [i, e].map(|t| sort_name(terms, terms.type_of_id(t)));
            format!("(Array {i} {e})")
        }
    }
}

/// Is it a function of a theory that we do not have?
pub fn is_foreign(name: &str) -> bool {
    const PREFIXES: [&str; 12] =
        ["str.", "re.", "fp.", "seq.", "set.", "bag.", "rel.", "tuple.", "ff.", "int.", "sep.", "table."];
    let named = matches!(
        name,
        "/" | "to_real"
            | "to_int"
            | "is_int"
            | "fp"
            | "to_fp"
            | "to_fp_unsigned"
            | "char"
            | "match"
            | "lambda"
            | "forall"
            | "exists"
            | "choice"
            | "RNE"
            | "RNA"
            | "RTP"
            | "RTN"
            | "RTZ"
            | "roundNearestTiesToEven"
            | "roundNearestTiesToAway"
            | "roundTowardPositive"
            | "roundTowardNegative"
            | "roundTowardZero"
            | "bvnego"
            | "bvuaddo"
            | "bvsaddo"
            | "bvumulo"
            | "bvsmulo"
            | "bvusubo"
            | "bvssubo"
            | "bvsdivo"
            | "iand"
            | "exp"
            | "sin"
            | "cos"
            | "^"
    );
    named || PREFIXES.iter().any(|p| name.starts_with(p))
}

/// The function applied to arguments, which there are.
pub fn apply(terms: &mut Terms, name: &str, indices: &[u64], args: &[TermId]) -> Applied {
    if let Some(t) = core(terms, name, indices, args)? {
        return Ok(t);
    }
    let Some(&first) = args.first() else { return wrong(format!("`{name}` takes arguments")) };
    match terms.ty(first) {
        _ if is_foreign(name) => Err(OpError::Foreign(format!("the function {name}"))),
        Type::Int => ints(terms, name, indices, args),
        Type::Bits { width, .. } => bits(terms, name, indices, args, width),
        Type::Array(..) => arrays(terms, name, args),
        ty => wrong(format!("there is no function `{name}` of {}", sort_name(terms, ty))),
    }
}

fn arity<const N: usize>(name: &str, args: &[TermId]) -> Result<[TermId; N], OpError> {
    match args.try_into() {
        Ok(args) => Ok(args),
        Err(_) => wrong(format!("`{name}` takes {N} argument{}, found {}", if N == 1 { "" } else { "s" }, args.len())),
    }
}

fn all_of(terms: &Terms, name: &str, args: &[TermId], ty: Type) -> Result<(), OpError> {
    match args.iter().find(|&&a| terms.ty(a) != ty) {
        Some(&a) => {
            let [want, found] = [ty, terms.ty(a)].map(|t| sort_name(terms, t));
            wrong(format!("`{name}` expects {want} here, found {found}"))
        }
        None => Ok(()),
    }
}

fn at_least(name: &str, args: &[TermId], n: usize) -> Result<(), OpError> {
    if args.len() >= n { Ok(()) } else { wrong(format!("`{name}` takes at least {n} arguments, found {}", args.len())) }
}

/// The relation between each argument and the next.
fn chain(terms: &mut Terms, args: &[TermId], mut relation: impl FnMut(&mut Terms, TermId, TermId) -> TermId) -> TermId {
    let parts: Vec<TermId> = args.windows(2).map(|w| relation(terms, w[0], w[1])).collect();
    terms.and(parts)
}

fn core(terms: &mut Terms, name: &str, indices: &[u64], args: &[TermId]) -> Result<Option<TermId>, OpError> {
    let connective = matches!(name, "not" | "and" | "or" | "xor" | "=>");
    if !indices.is_empty() || !(connective || matches!(name, "=" | "distinct" | "ite")) {
        return Ok(None);
    }
    if connective {
        at_least(name, args, 1)?;
        all_of(terms, name, args, Type::Bool)?;
    } else if name != "ite" {
        at_least(name, args, 2)?;
        all_of(terms, name, args, terms.ty(args[0]))?;
    }
    Ok(Some(match name {
        "not" => {
            let [a] = arity(name, args)?;
            terms.not(a)
        }
        "and" if has_long(terms, args) => terms.intern(Term::And(args.into())),
        "or" if has_long(terms, args) => terms.intern(Term::Or(args.into())),
        "and" => terms.and(args.iter().copied()),
        "or" => terms.or(args.iter().copied()),
        "xor" => args[1..].iter().fold(args[0], |a, &b| terms.ne(a, b)),
        "=>" => {
            let (&last, before) = args.split_last().expect("at least one");
            before.iter().rev().fold(last, |b, &a| terms.implies(a, b))
        }
        "=" => chain(terms, args, Terms::eq),
        "distinct" => {
            let pairs = args.iter().enumerate().flat_map(|(i, &a)| args[i + 1..].iter().map(move |&b| (a, b)));
            let parts: Vec<TermId> = pairs.map(|(a, b)| terms.ne(a, b)).collect();
            terms.and(parts)
        }
        _ => {
            let [c, a, b] = arity(name, args)?;
            all_of(terms, name, &[c], Type::Bool)?;
            all_of(terms, name, &[b], terms.ty(a))?;
            terms.ite(c, a, b)
        }
    }))
}

/// Is one of them long already? The builders put the parts of parts side by side, once more for each level; that would take
/// the square of the space that a deep chain of pairs has.
fn has_long(terms: &Terms, args: &[TermId]) -> bool {
    const LONG: usize = 200;
    args.iter().any(|&a| match terms.get(a) {
        Term::And(parts) | Term::Or(parts) | Term::Add(parts) => parts.len() > LONG,
        _ => false,
    })
}

fn sum(terms: &mut Terms, args: &[TermId]) -> TermId {
    if args.len() > 1 && has_long(terms, args) {
        terms.intern(Term::Add(args.into()))
    } else {
        terms.add(args.iter().copied())
    }
}

fn ints(terms: &mut Terms, name: &str, indices: &[u64], args: &[TermId]) -> Applied {
    all_of(terms, name, args, Type::Int)?;
    match (name, indices) {
        ("+", []) => Ok(sum(terms, args)),
        ("-", []) if args.len() == 1 => Ok(terms.neg(args[0])),
        ("-", []) => {
            let parts: Vec<TermId> =
                args.iter().enumerate().map(|(i, &a)| if i == 0 { a } else { terms.neg(a) }).collect();
            Ok(sum(terms, &parts))
        }
        ("*", []) => Ok(args[1..].iter().fold(args[0], |a, &b| terms.mul(a, b))),
        ("div", []) => {
            at_least(name, args, 2)?;
            args[1..].iter().try_fold(args[0], |a, &b| {
                nonzero(terms, name, b)?;
                Ok(terms.div(Division::Euclidean, a, b))
            })
        }
        ("mod", []) => {
            let [a, b] = arity(name, args)?;
            nonzero(terms, name, b)?;
            Ok(terms.rem(Division::Euclidean, a, b))
        }
        ("abs", []) => {
            let [a] = arity(name, args)?;
            let zero = terms.int(0);
            let (negative, minus) = (terms.lt(a, zero), terms.neg(a));
            Ok(terms.ite(negative, minus, a))
        }
        ("<", []) => relation(terms, name, args, Terms::lt),
        ("<=", []) => relation(terms, name, args, Terms::le),
        (">", []) => relation(terms, name, args, |terms, a, b| terms.lt(b, a)),
        (">=", []) => relation(terms, name, args, |terms, a, b| terms.le(b, a)),
        ("divisible", &[n]) if n > 0 => {
            let [a] = arity(name, args)?;
            let (n, zero) = (terms.big(IBig::from(n)), terms.int(0));
            let rest = terms.rem(Division::Euclidean, a, n);
            Ok(terms.eq(rest, zero))
        }
        ("int2bv" | "int_to_bv", &[width]) => {
            let [a] = arity(name, args)?;
            let ty = bits_type(width)?;
            Ok(terms.convert(ty, a))
        }
        _ => wrong(format!("there is no function `{name}` of Int")),
    }
}

fn relation(
    terms: &mut Terms,
    name: &str,
    args: &[TermId],
    f: impl FnMut(&mut Terms, TermId, TermId) -> TermId,
) -> Applied {
    at_least(name, args, 2)?;
    Ok(chain(terms, args, f))
}

/// A divisor must be a literal other than zero.
fn nonzero(terms: &Terms, name: &str, b: TermId) -> Result<(), OpError> {
    match terms.as_value(b) {
        Some(v) if v.number() != IBig::ZERO => Ok(()),
        Some(_) => Err(OpError::Foreign(format!("{name} by zero"))),
        None => Err(OpError::Foreign(format!("{name} by a term that is no literal"))),
    }
}

/// The type of a bit-vector sort.
pub fn bits_type(width: u64) -> Result<Type, OpError> {
    match width {
        0 => wrong("a bit vector has at least one bit"),
        1..=WIDEST => Ok(Type::Bits { width: width as u8, signed: false }),
        _ => Err(OpError::Foreign(format!("bit vectors of more than {WIDEST} bits"))),
    }
}

fn unsigned(width: u8) -> Type {
    Type::Bits { width, signed: false }
}

fn signed(terms: &mut Terms, a: TermId, width: u8) -> TermId {
    terms.convert(Type::Bits { width, signed: true }, a)
}

fn arrays(terms: &mut Terms, name: &str, args: &[TermId]) -> Applied {
    let Type::Array(index, entry) = terms.ty(args[0]) else { return wrong("not an array") };
    let (index, entry) = (terms.type_of_id(index), terms.type_of_id(entry));
    match name {
        "select" => {
            let [a, i] = arity(name, args)?;
            all_of(terms, name, &[i], index)?;
            Ok(terms.select(a, i))
        }
        "store" => {
            let [a, i, v] = arity(name, args)?;
            all_of(terms, name, &[i], index)?;
            all_of(terms, name, &[v], entry)?;
            Ok(terms.store(a, i, v))
        }
        _ => wrong(format!("there is no function `{name}` of arrays")),
    }
}

fn bits(terms: &mut Terms, name: &str, indices: &[u64], args: &[TermId], width: u8) -> Applied {
    if name == "concat" && indices.is_empty() {
        at_least(name, args, 2)?;
        return args[1..].iter().try_fold(args[0], |a, &b| concat(terms, a, b));
    }
    if let Some(t) = indexed(terms, name, indices, args, width)? {
        return Ok(t);
    }
    if !indices.is_empty() {
        return wrong(format!("there is no indexed function `{name}` of bit vectors"));
    }
    all_of(terms, name, args, unsigned(width))?;
    let fold = |terms: &mut Terms, f: fn(&mut Terms, TermId, TermId) -> TermId| {
        at_least(name, args, 2)?;
        Ok(args[1..].iter().fold(args[0], |a, &b| f(terms, a, b)))
    };
    match name {
        "bvadd" => return Ok(sum(terms, args)),
        "bvmul" => return fold(terms, Terms::mul),
        "bvand" => return fold(terms, |terms, a, b| terms.bit(BitOp::And, a, b)),
        "bvor" => return fold(terms, |terms, a, b| terms.bit(BitOp::Or, a, b)),
        "bvxor" => return fold(terms, |terms, a, b| terms.bit(BitOp::Xor, a, b)),
        "bvnot" | "bvneg" | "ubv_to_int" | "bv2nat" | "sbv_to_int" => {
            let [a] = arity(name, args)?;
            return Ok(match name {
                "bvnot" => complement(terms, a, width),
                "bvneg" => terms.neg(a),
                "sbv_to_int" => {
                    let a = signed(terms, a, width);
                    terms.convert(Type::Int, a)
                }
                _ => terms.convert(Type::Int, a),
            });
        }
        _ => {}
    }
    let two = || arity::<2>(name, args);
    Ok(match name {
        "bvsub" => {
            let [a, b] = two()?;
            terms.sub(a, b)
        }
        "bvnand" | "bvnor" | "bvxnor" => {
            let [a, b] = two()?;
            let op = match name {
                "bvnand" => BitOp::And,
                "bvnor" => BitOp::Or,
                _ => BitOp::Xor,
            };
            let t = terms.bit(op, a, b);
            complement(terms, t, width)
        }
        "bvcomp" => {
            let [a, b] = two()?;
            let same = terms.eq(a, b);
            let (one, zero) = (terms.bits(1, false, 1), terms.bits(1, false, 0));
            terms.ite(same, one, zero)
        }
        "bvult" | "bvule" | "bvugt" | "bvuge" | "bvslt" | "bvsle" | "bvsgt" | "bvsge" => {
            let [mut a, mut b] = two()?;
            if name.as_bytes()[2] == b's' {
                (a, b) = (signed(terms, a, width), signed(terms, b, width));
            }
            match &name[3..] {
                "lt" => terms.lt(a, b),
                "le" => terms.le(a, b),
                "gt" => terms.lt(b, a),
                _ => terms.le(b, a),
            }
        }
        "bvshl" | "bvlshr" | "bvashr" => {
            let [a, by] = two()?;
            shift(terms, name, a, by, width)
        }
        "bvudiv" | "bvurem" | "bvsdiv" | "bvsrem" | "bvsmod" => {
            let [a, b] = two()?;
            divide(terms, name, a, b, width)
        }
        _ => return wrong(format!("there is no function `{name}` of bit vectors")),
    })
}

fn complement(terms: &mut Terms, a: TermId, width: u8) -> TermId {
    let ones = terms.bits(width, false, u64::MAX);
    terms.bit(BitOp::Xor, a, ones)
}

fn concat(terms: &mut Terms, a: TermId, b: TermId) -> Applied {
    let (Type::Bits { width: high, .. }, Type::Bits { width: low, .. }) = (terms.ty(a), terms.ty(b)) else {
        return wrong("`concat` takes bit vectors");
    };
    let ty = bits_type(u64::from(high) + u64::from(low))?;
    let (a, b, by) = (terms.convert(ty, a), terms.convert(ty, b), terms.int(low.into()));
    let a = terms.bit(BitOp::Shl, a, by);
    Ok(terms.bit(BitOp::Or, a, b))
}

/// The functions of one bit vector with numbers in their name.
fn indexed(
    terms: &mut Terms,
    name: &str,
    indices: &[u64],
    args: &[TermId],
    width: u8,
) -> Result<Option<TermId>, OpError> {
    let w = u64::from(width);
    let a = args[0];
    let t = match (name, indices) {
        ("extract", &[high, low]) if low <= high && high < w => {
            let by = terms.int(low as i64);
            let shifted = if low == 0 { a } else { terms.bit(BitOp::Shr, a, by) };
            terms.convert(unsigned((high - low + 1) as u8), shifted)
        }
        ("extract", &[high, low]) => return wrong(format!("there are no bits {high} to {low} in (_ BitVec {width})")),
        ("zero_extend", &[n]) => {
            let ty = bits_type(w.saturating_add(n))?;
            terms.convert(ty, a)
        }
        ("sign_extend", &[n]) => {
            let ty = bits_type(w.saturating_add(n))?;
            let Type::Bits { width: to, .. } = ty else { return wrong("not a bit vector") };
            let a = signed(terms, a, width);
            let a = signed(terms, a, to);
            terms.convert(ty, a)
        }
        ("repeat", &[n]) if n > 0 => {
            bits_type(w.saturating_mul(n))?;
            (1..n).try_fold(a, |t, _| concat(terms, t, a))?
        }
        ("rotate_left" | "rotate_right", &[n]) => {
            let n = n % w;
            let left = if name == "rotate_left" { n } else { (w - n) % w };
            let (up, down) = (terms.int(left as i64), terms.int((w - left) as i64));
            if left == 0 {
                a
            } else {
                let (high, low) = (terms.bit(BitOp::Shl, a, up), terms.bit(BitOp::Shr, a, down));
                terms.bit(BitOp::Or, high, low)
            }
        }
        _ => return Ok(None),
    };
    arity::<1>(name, args)?;
    Ok(Some(t))
}

/// Zeros, or copies of the sign, come in from the end; by the width or more, nothing else is left.
fn shift(terms: &mut Terms, name: &str, a: TermId, by: TermId, width: u8) -> TermId {
    let zero = terms.bits(width, false, 0);
    let limit = terms.bits(width, false, width.into());
    let fits = terms.lt(by, limit);
    match name {
        "bvashr" => {
            let s = signed(terms, a, width);
            let shifted = terms.bit(BitOp::Shr, s, by);
            let (minus, none) = (terms.bits(width, true, u64::MAX), terms.bits(width, true, 0));
            let negative = terms.lt(s, none);
            let rest = terms.ite(negative, minus, none);
            let t = terms.ite(fits, shifted, rest);
            terms.convert(unsigned(width), t)
        }
        _ => {
            let op = if name == "bvshl" { BitOp::Shl } else { BitOp::Shr };
            let shifted = terms.bit(op, a, by);
            terms.ite(fits, shifted, zero)
        }
    }
}

/// Division by zero: the quotient is all ones (signed: 1 for a negative dividend), the remainder is the dividend.
fn divide(terms: &mut Terms, name: &str, a: TermId, b: TermId, width: u8) -> TermId {
    let s = name.as_bytes()[2] == b's';
    let (a, b) = if s { (signed(terms, a, width), signed(terms, b, width)) } else { (a, b) };
    let [zero, one, ones] = [0, 1, u64::MAX].map(|n| terms.bits(width, s, n));
    let by_zero = terms.eq(b, zero);
    let t = match name {
        "bvudiv" | "bvsdiv" => {
            let quotient = terms.div(Division::Truncating, a, b);
            let negative = terms.lt(a, zero);
            let otherwise = if s { terms.ite(negative, one, ones) } else { ones };
            terms.ite(by_zero, otherwise, quotient)
        }
        _ => {
            let mut rest = terms.rem(Division::Truncating, a, b);
            if name == "bvsmod" {
                // The sign of the divisor.
                let moved = terms.add([rest, b]);
                let (below, negative, none) = (terms.lt(rest, zero), terms.lt(b, zero), terms.eq(rest, zero));
                let other = terms.ne(below, negative);
                let some = terms.not(none);
                let moves = terms.and([some, other]);
                rest = terms.ite(moves, moved, rest);
            }
            terms.ite(by_zero, a, rest)
        }
    };
    terms.convert(unsigned(width), t)
}
