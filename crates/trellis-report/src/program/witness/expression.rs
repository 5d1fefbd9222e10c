//! Terms as C expressions that mean the same, whatever the widths.
//!
//! What wraps in a term must wrap in C, where signed overflow is undefined and narrow operands become `int`: sums and products
//! are made in `unsigned long long` and cut to their type. Mathematical integers are there as far as `long long` holds them: words that
//! were converted, and literals. Arrays (several dimensions are one in a term), shifts, and divisions by what is no literal have no
//! expression here.

use trellis_expr::{BitOp, Division, Term, TermId, Terms, Type, Value, VarId};

/// Longer expressions are not for anybody.
const MAX_LENGTH: usize = 4000;
const MAX_DEPTH: u32 = 60;

/// The expression, if there is one over these names.
pub(super) fn expression(terms: &Terms, t: TermId, name: &dyn Fn(VarId) -> Option<String>) -> Option<String> {
    if terms.depth(t) > MAX_DEPTH {
        return None;
    }
    let sub = |t| expression(terms, t, name).filter(|text| text.len() <= MAX_LENGTH);
    let infix = |a, operator: &str, b| Some(format!("({} {operator} {})", sub(a)?, sub(b)?));
    let list = |all: &[TermId], operator: &str| {
        let all = all.iter().map(|&t| sub(t)).collect::<Option<Vec<_>>>()?;
        Some(format!("({})", all.join(operator)))
    };
    let scalar = |t| matches!(terms.ty(t), Type::Bool | Type::Int | Type::Bits { .. });
    // In a type that wraps, and back.
    let wide = |t| Some(format!("(unsigned long long){}", sub(t)?));
    match *terms.get(t) {
        Term::Bool(b) => Some(u8::from(b).to_string()),
        Term::Bits(..) => terms.as_value(t).and_then(|v| literal(&v)),
        Term::Int(n) if n > i64::MIN => Some(if n < 0 { format!("({n}ll)") } else { format!("{n}ll") }),
        Term::Var(v) => {
            c_type(terms.ty(t)).or((terms.ty(t) == Type::Bool).then_some(""))?;
            name(v)
        }
        Term::Not(a) => match *terms.get(a) {
            Term::Eq(a, b) if scalar(a) => infix(a, "!=", b),
            Term::Lt(a, b) => infix(a, ">=", b),
            Term::Le(a, b) => infix(a, ">", b),
            _ => Some(format!("!{}", sub(a)?)),
        },
        Term::And(ref all) => list(all, " && "),
        Term::Or(ref all) => list(all, " || "),
        Term::Ite(c, a, b) if scalar(a) => Some(format!("({} ? {} : {})", sub(c)?, sub(a)?, sub(b)?)),
        Term::Eq(a, b) if scalar(a) => infix(a, "==", b),
        Term::Lt(a, b) => infix(a, "<", b),
        Term::Le(a, b) => infix(a, "<=", b),
        Term::Add(ref all) => {
            let all = all.iter().map(|&t| wide(t)).collect::<Option<Vec<_>>>()?;
            Some(format!("({})({})", c_type(terms.ty(t))?, all.join(" + ")))
        }
        Term::Neg(a) => Some(format!("({})(-{})", c_type(terms.ty(t))?, wide(a)?)),
        Term::Mul(a, b) => Some(format!("({})({} * {})", c_type(terms.ty(t))?, wide(a)?, wide(b)?)),
        Term::Convert(ty, a) if terms.type_of_id(ty) == Type::Int => match terms.ty(a) {
            Type::Bits { width, signed } if width < 64 || signed => Some(format!("(long long){}", sub(a)?)),
            _ => None,
        },
        Term::Div(Division::Truncating, a, b) if is_harmless(terms, b) => infix(a, "/", b),
        Term::Rem(Division::Truncating, a, b) if is_harmless(terms, b) => infix(a, "%", b),
        Term::Bit(BitOp::And, a, b) => infix(a, "&", b),
        Term::Bit(BitOp::Or, a, b) => infix(a, "|", b),
        Term::Bit(BitOp::Xor, a, b) => infix(a, "^", b),
        Term::Convert(ty, a) => Some(format!("({}){}", c_type(terms.type_of_id(ty))?, sub(a)?)),
        _ => None,
    }
}

/// Is it a literal, and neither zero nor minus one?
fn is_harmless(terms: &Terms, t: TermId) -> bool {
    terms
        .as_value(t)
        .is_some_and(|v| matches!(v, Value::Bits { .. }) && v.number() != 0.into() && v.number() != (-1).into())
}

/// The C type of words of this type.
fn c_type(ty: Type) -> Option<&'static str> {
    Some(match ty {
        Type::Bits { width: 8, signed: true } => "signed char",
        Type::Bits { width: 8, signed: false } => "unsigned char",
        Type::Bits { width: 16, signed: true } => "short",
        Type::Bits { width: 16, signed: false } => "unsigned short",
        Type::Bits { width: 32, signed: true } => "int",
        Type::Bits { width: 32, signed: false } => "unsigned int",
        Type::Bits { width: 64, signed: true } => "long long",
        Type::Bits { width: 64, signed: false } => "unsigned long long",
        Type::Bits { width: 1, signed: false } => "_Bool",
        _ => return None,
    })
}

/// A value as a constant of its type.
pub(super) fn literal(value: &Value) -> Option<String> {
    let &Value::Bits { width, signed, .. } = value else { return None };
    let n = value.number();
    let suffix = match (width, signed) {
        (64, true) => "ll",
        (64, false) => "ull",
        (32, false) => "u",
        (1 | 8 | 16, _) | (32, true) => "",
        _ => return None,
    };
    // The least number is the negation of one that is not there.
    match (i64::try_from(&n), width) {
        (Ok(i64::MIN), 64) => Some("(-9223372036854775807ll - 1)".into()),
        (Ok(-2147483648), 32) => Some("(-2147483647 - 1)".into()),
        (Ok(n), _) if n < 0 => Some(format!("({n}{suffix})")),
        _ => Some(format!("{n}{suffix}")),
    }
}
