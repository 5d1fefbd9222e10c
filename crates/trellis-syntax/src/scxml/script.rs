//! `<script>`: a small part of ECMAScript's statements, as executable content.
//!
//! Declarations (`var`), assignments (also `+=` and the like, `++` and `--`), `if`, blocks. A variable that a script declares, or
//! assigns to without declaring it, is one of the data model. Functions and loops are refused by name.

use super::expr::{Expr, Node, Op, Parser, Tok};
use super::tree::{Action, Block};
use crate::diag::{Diagnostic, Span};
use crate::uppaal::text::Text;

type Read<T> = Result<T, Diagnostic>;

const ASSIGNMENTS: [(&str, Option<Op>); 5] =
    [("=", None), ("+=", Some(Op::Add)), ("-=", Some(Op::Sub)), ("*=", Some(Op::Mul)), ("%=", Some(Op::Rem))];

/// Reads all statements of a text.
pub fn parse(text: &Text) -> Read<Block> {
    let mut p = Parser::new(text);
    let mut block = vec![];
    while *p.peek() != Tok::End {
        statement(&mut p, &mut block)?;
    }
    Ok(block)
}

fn keyword(p: &mut Parser, word: &str) -> bool {
    let is = matches!(p.peek(), Tok::Name(name) if name == word);
    if is {
        p.bump();
    }
    is
}

fn statement(p: &mut Parser, block: &mut Block) -> Read<()> {
    let start = p.span();
    if p.take(";") {
        return Ok(());
    }
    if p.take("{") {
        while !p.take("}") {
            p.deeper(|p| statement(p, block))?;
        }
        return Ok(());
    }
    if keyword(p, "var") {
        loop {
            let (tok, span) = p.bump();
            let Tok::Name(name) = tok else {
                return Err(Diagnostic::error(span, "expected the name of a variable"));
            };
            block.push(Action::Declare(name.clone()));
            if p.take("=") {
                let expr = p.expression()?;
                block.push(Action::Assign { to: Expr::new(Node::Name(name), span), expr, create: true });
            }
            if !p.take(",") {
                return Ok(());
            }
        }
    }
    if keyword(p, "if") {
        p.require("(")?;
        let cond = p.expression()?;
        p.require(")")?;
        let (mut then, mut otherwise) = (vec![], vec![]);
        p.deeper(|p| statement(p, &mut then))?;
        p.take(";");
        if keyword(p, "else") {
            p.deeper(|p| statement(p, &mut otherwise))?;
        }
        block.push(Action::If { branches: vec![(cond, then)], otherwise, script: true });
        return Ok(());
    }
    for (sign, op) in [("++", Op::Add), ("--", Op::Sub)] {
        if p.take(sign) {
            let to = p.prefixed()?;
            block.push(change(p, to, op, start)?);
            return Ok(());
        }
    }
    for word in ["for", "while", "do", "function", "return", "switch", "try", "throw"] {
        if keyword(p, word) {
            return Err(Diagnostic::error(start, format!("`{word}` is not supported in scripts")));
        }
    }
    let to = p.prefixed()?;
    for (sign, op) in [("++", Op::Add), ("--", Op::Sub)] {
        if p.take(sign) {
            block.push(change(p, to, op, start)?);
            return Ok(());
        }
    }
    let Some(&(_, op)) = ASSIGNMENTS.iter().find(|(sign, _)| p.take(sign)) else {
        return Err(Diagnostic::error(p.span(), "expected an assignment"));
    };
    let value = p.expression()?;
    let expr = match op {
        None => value,
        Some(op) => p.make(to.span.to(value.span), Node::Binary(op, to.clone().into(), value.into()))?,
    };
    block.push(Action::Assign { create: op.is_none(), to, expr });
    Ok(())
}

/// `x++`
fn change(p: &Parser, to: Expr, op: Op, span: Span) -> Read<Action> {
    let one = p.make(span, Node::Int(1.into()))?;
    let expr = p.make(to.span, Node::Binary(op, to.clone().into(), one.into()))?;
    Ok(Action::Assign { to, expr, create: false })
}
