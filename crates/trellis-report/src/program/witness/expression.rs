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

/// Random terms and values: gcc must think of the expressions what the reference evaluator thinks of the terms.
#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::process::Command;

    use trellis_expr::code::NoHost;
    use trellis_expr::eval::{Valuation, eval};

    use super::*;

    struct Random(u64);

    impl Random {
        fn below(&mut self, n: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) as usize % n
        }

        /// Often near the edges.
        fn word(&mut self) -> u64 {
            match self.below(4) {
                0 => self.below(5) as u64,
                1 => (self.below(5) as u64).wrapping_neg(),
                2 => (1 << self.below(64)) - self.below(2) as u64,
                _ => self.0,
            }
        }
    }

    fn term(terms: &mut Terms, vars: &[VarId], ty: Type, depth: usize, r: &mut Random) -> TermId {
        let types: Vec<Type> = vars.iter().map(|&v| terms.variable(v).ty).collect();
        let any = types[r.below(types.len())];
        if let (0, Type::Bits { width, signed }) = (depth, ty) {
            let fitting: Vec<VarId> = vars.iter().copied().filter(|v| terms.variable(*v).ty == ty).collect();
            return match r.below(3) {
                0 => terms.literal(&Value::wrap(width, signed, &r.word().into())).expect("a scalar"),
                _ => terms.var(fitting[r.below(fitting.len())]),
            };
        }
        let n = r.below(8);
        let mut sub = |ty| term(terms, vars, ty, depth.saturating_sub(1), r);
        let node = match (ty, n) {
            (Type::Bool, 0) if depth > 0 => Term::Not(sub(ty)),
            (Type::Bool, 1) if depth > 0 => Term::And([sub(ty), sub(ty)].into()),
            (Type::Bool, 2) if depth > 0 => Term::Or([sub(ty), sub(ty)].into()),
            (Type::Bool, 3) => {
                let (a, b) = (sub(any), sub(any));
                let int = terms.type_id(Type::Int);
                let (a, b) = (terms.intern(Term::Convert(int, a)), terms.intern(Term::Convert(int, b)));
                Term::Le(a, b)
            }
            (Type::Bool, 4 | 5) => Term::Eq(sub(any), sub(any)),
            (Type::Bool, 6) => Term::Le(sub(any), sub(any)),
            (Type::Bool, _) => Term::Lt(sub(any), sub(any)),
            (_, 0) => Term::Add([sub(ty), sub(ty), sub(ty)].into()),
            (_, 1) => Term::Neg(sub(ty)),
            (_, 2) => Term::Mul(sub(ty), sub(ty)),
            (Type::Bits { width, signed }, 3 | 4) => {
                let a = sub(ty);
                let b = terms.literal(&Value::wrap(width, signed, &r.word().into())).expect("a scalar");
                let d = Division::Truncating;
                if n == 3 { Term::Div(d, a, b) } else { Term::Rem(d, a, b) }
            }
            (_, 5) => Term::Bit([BitOp::And, BitOp::Or, BitOp::Xor][depth % 3], sub(ty), sub(ty)),
            (_, 6) => Term::Ite(sub(Type::Bool), sub(ty), sub(ty)),
            (_, _) => {
                let a = sub(any);
                Term::Convert(terms.type_id(ty), a)
            }
        };
        terms.intern(node)
    }

    #[test]
    fn gcc_thinks_so_too() {
        let runs = std::env::var("TRELLIS_RUNS").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
        let mut terms = Terms::new();
        let mut vars = Vec::new();
        let mut code = String::new();
        for width in [8, 16, 32, 64] {
            for signed in [true, false] {
                let ty = Type::Bits { width, signed };
                let name = format!("{}{width}", if signed { 'i' } else { 'u' });
                let _ = writeln!(code, "volatile {} {name};", c_type(ty).expect("a type"));
                vars.push(terms.declare(name, ty));
            }
        }
        code.push_str("int main(void) {\n");
        let mut r = Random(42);
        let mut said = 0;
        for _ in 0..runs {
            let t = term(&mut terms, &vars, Type::Bool, 4, &mut r);
            let name = |v: VarId| Some(terms.variable(v).name.clone());
            let Some(text) = expression(&terms, t, &name) else { continue };
            let mut env = Valuation::new();
            for &v in &vars {
                let Type::Bits { width, signed } = terms.variable(v).ty else { unreachable!() };
                let value = Value::wrap(width, signed, &r.word().into());
                let _ = write!(code, "{} = {}; ", terms.variable(v).name, literal(&value).expect("a literal"));
                env.insert(v, value);
            }
            if let Ok(value) = eval(&terms, t, &env, &mut NoHost) {
                said += 1;
                let _ = writeln!(code, "if (!!({text}) != {}) return 1;", u8::from(value.as_bool() == Some(true)));
            }
        }
        code.push_str("return 0; }\n");
        assert!(said > runs / 3, "{said}");
        let folder = std::env::temp_dir().join(format!("trellis-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let (file, program) = (folder.join("x.c"), folder.join("x"));
        std::fs::write(&file, &code).expect("written");
        if let Ok(built) = Command::new("gcc").args(["-w", "-O0"]).arg(&file).arg("-o").arg(&program).output() {
            assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
            assert!(Command::new(&program).status().expect("it runs").success(), "{code}");
        }
        let _ = std::fs::remove_dir_all(folder);
    }
}
