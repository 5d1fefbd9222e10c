//! What can be seen of an expression without looking any name up.

use lang_c::ast::{
    BinaryOperator, BinaryOperatorExpression, Expression, Statement, UnaryOperator, UnaryOperatorExpression,
};
use lang_c::span::{Node, Span};
use lang_c::visit::{self, Visit};
use rustc_hash::FxHashSet;

/// Does evaluating it do something, or may it?
pub fn is_impure(e: &Node<Expression>) -> bool {
    match &e.node {
        Expression::Call(_) | Expression::Statement(_) | Expression::VaArg(_) | Expression::CompoundLiteral(_) => true,
        Expression::UnaryOperator(u) => steps(&u.node.operator.node).is_some() || is_impure(&u.node.operand),
        Expression::BinaryOperator(b) => {
            let op = &b.node.operator.node;
            *op == BinaryOperator::Assign
                || without_assignment(op).is_some()
                || is_impure(&b.node.lhs)
                || is_impure(&b.node.rhs)
        }
        Expression::Conditional(c) => {
            let c = &c.node;
            is_impure(&c.condition) || is_impure(&c.then_expression) || is_impure(&c.else_expression)
        }
        Expression::Cast(c) => is_impure(&c.node.expression),
        Expression::Comma(parts) => parts.iter().any(is_impure),
        Expression::Member(m) => is_impure(&m.node.expression),
        _ => false,
    }
}

/// The names of variables that a function changes or whose address it takes.
pub fn changed(body: &Node<Statement>) -> FxHashSet<String> {
    let mut found = Changed(FxHashSet::default());
    found.visit_statement(&body.node, &body.span);
    found.0
}

struct Changed(FxHashSet<String>);

impl Changed {
    fn note(&mut self, e: &Node<Expression>) {
        if let Expression::Identifier(i) = &e.node {
            self.0.insert(i.node.name.clone());
        }
    }
}

impl<'ast> Visit<'ast> for Changed {
    fn visit_binary_operator_expression(&mut self, b: &'ast BinaryOperatorExpression, span: &'ast Span) {
        if b.operator.node == BinaryOperator::Assign || without_assignment(&b.operator.node).is_some() {
            self.note(&b.lhs);
        }
        visit::visit_binary_operator_expression(self, b, span);
    }

    fn visit_unary_operator_expression(&mut self, u: &'ast UnaryOperatorExpression, span: &'ast Span) {
        if u.operator.node == UnaryOperator::Address || steps(&u.operator.node).is_some() {
            self.note(&u.operand);
        }
        visit::visit_unary_operator_expression(self, u, span);
    }
}

/// `++` (up) or `--`.
pub fn steps(op: &UnaryOperator) -> Option<bool> {
    match op {
        UnaryOperator::PostIncrement | UnaryOperator::PreIncrement => Some(true),
        UnaryOperator::PostDecrement | UnaryOperator::PreDecrement => Some(false),
        _ => None,
    }
}

/// `+` of `+=`.
pub fn without_assignment(op: &BinaryOperator) -> Option<&'static BinaryOperator> {
    Some(match op {
        BinaryOperator::AssignMultiply => &BinaryOperator::Multiply,
        BinaryOperator::AssignDivide => &BinaryOperator::Divide,
        BinaryOperator::AssignModulo => &BinaryOperator::Modulo,
        BinaryOperator::AssignPlus => &BinaryOperator::Plus,
        BinaryOperator::AssignMinus => &BinaryOperator::Minus,
        BinaryOperator::AssignShiftLeft => &BinaryOperator::ShiftLeft,
        BinaryOperator::AssignShiftRight => &BinaryOperator::ShiftRight,
        BinaryOperator::AssignBitwiseAnd => &BinaryOperator::BitwiseAnd,
        BinaryOperator::AssignBitwiseXor => &BinaryOperator::BitwiseXor,
        BinaryOperator::AssignBitwiseOr => &BinaryOperator::BitwiseOr,
        _ => return None,
    })
}

/// The bytes of a string literal, without the zero at its end.
pub fn string_of(e: &Node<Expression>) -> Option<Vec<u8>> {
    let Expression::StringLiteral(parts) = &e.node else { return None };
    let mut all = vec![];
    for part in &parts.node {
        let inner = part.strip_prefix('"')?.strip_suffix('"')?;
        all.extend(unescape(inner)?);
    }
    Some(all)
}

/// The value of `'a'` (C11 6.4.4.4; several characters in one as gcc has it).
pub fn character(text: &str) -> Option<i128> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let bytes = unescape(inner)?;
    match bytes[..] {
        [] => None,
        [b] => Some((b as i8).into()),
        _ => {
            let n = bytes.iter().fold(0u32, |n, b| n << 8 | u32::from(*b));
            Some((n as i32).into())
        }
    }
}

/// The same of `L'a'` and its like, with the letter before it; only where it is the same in all character sets.
pub fn wide_character(text: &str) -> Option<(char, i128)> {
    let letter = text.chars().next().filter(|c| matches!(c, 'L' | 'u' | 'U'))?;
    let n = character(&text[1..])?;
    let inner = text[1..].trim_matches('\'');
    let plain = (0..128).contains(&n) && (inner.len() == 1 || inner.len() == 2 && inner.starts_with('\\'));
    plain.then_some((letter, n))
}

fn unescape(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    let mut out = vec![];
    let mut i = 0;
    while i < bytes.len() {
        let b = bytes[i];
        i += 1;
        if b != b'\\' {
            out.push(b);
            continue;
        }
        let e = *bytes.get(i)?;
        i += 1;
        let run = |from: usize, most: usize, radix: u32| {
            bytes[from..].iter().take(most).take_while(|b| (**b as char).is_digit(radix)).count()
        };
        out.push(match e {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'v' => 11,
            b'e' => 27,
            b'\\' | b'\'' | b'"' | b'?' => e,
            b'0'..=b'7' => {
                let len = run(i - 1, 3, 8);
                let n = u32::from_str_radix(text.get(i - 1..i - 1 + len)?, 8).ok()?;
                i += len - 1;
                u8::try_from(n).ok()?
            }
            b'x' => {
                let len = run(i, 8, 16);
                let n = u32::from_str_radix(text.get(i..i + len)?, 16).ok()?;
                i += len;
                u8::try_from(n).ok()?
            }
            _ => return None,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::character;

    #[test]
    fn characters() {
        for (text, n) in [("'a'", 97), (r"'\n'", 10), (r"'\0'", 0), (r"'\377'", -1), (r"'\x7f'", 127), ("'ab'", 24930)]
        {
            assert_eq!(character(text), Some(n), "{text}");
        }
        assert_eq!(character("''"), None);
    }
}
