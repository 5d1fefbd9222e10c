//! Questions about the syntax tree alone: what returns, what is written, what is mentioned.

use super::ast::{self, Block, Expr, ExprKind, Stmt};
use crate::diag::Span;

/// Can the statement return?
pub(crate) fn may_return(s: &Stmt) -> bool {
    match s {
        Stmt::Return(..) => true,
        Stmt::Block(b) => block_returns(b, may_return),
        Stmt::If { then, els, .. } => may_return(then) || els.as_ref().is_some_and(|e| may_return(e)),
        Stmt::For { body, .. } | Stmt::Iterate { body, .. } | Stmt::While { body, .. } | Stmt::DoWhile { body, .. } => {
            may_return(body)
        }
        Stmt::Empty | Stmt::Expr(_) | Stmt::Unsupported { .. } => false,
    }
}

/// Does the statement return whatever happens?
pub(crate) fn must_return(s: &Stmt) -> bool {
    match s {
        Stmt::Return(..) => true,
        Stmt::Block(b) => block_returns(b, must_return),
        Stmt::If { then, els, .. } => must_return(then) && els.as_ref().is_some_and(|e| must_return(e)),
        Stmt::DoWhile { body, .. } => must_return(body),
        _ => false,
    }
}

/// Does some statement of the block return, in the one sense or the other?
pub(crate) fn block_returns(b: &Block, returns: fn(&Stmt) -> bool) -> bool {
    b.stmts.iter().any(returns)
}

/// Does something happen after a return, so that a flag is needed?
pub(crate) fn returns_early(stmts: &[Stmt]) -> bool {
    let Some((last, rest)) = stmts.split_last() else { return false };
    rest.iter().any(may_return) || ends_early(last)
}

fn ends_early(last: &Stmt) -> bool {
    match last {
        Stmt::Block(b) => returns_early(&b.stmts),
        Stmt::If { then, els, .. } => ends_early(then) || els.as_ref().is_some_and(|e| ends_early(e)),
        Stmt::Return(..) => false,
        loop_ => may_return(loop_),
    }
}

/// Where an initialiser stands.
pub(crate) fn init_span(init: &ast::Init) -> Span {
    match init {
        ast::Init::Expr(e) => e.span,
        ast::Init::List(_, span) => *span,
    }
}

/// Does a template assign to a name anywhere? (By name only: a shadowing local counts too, which is harmless.)
pub(crate) fn template_writes(t: &ast::Template, name: &str) -> bool {
    let in_decl = |d: &ast::Decl| matches!(d, ast::Decl::Function(f) if block_writes(&f.body, name));
    t.decls.iter().any(in_decl) || t.edges.iter().any(|e| e.update.iter().any(|u| writes_to(u, name, &|_, _| true)))
}

fn block_writes(b: &Block, name: &str) -> bool {
    b.stmts.iter().any(|s| stmt_writes(s, name))
}

pub(crate) fn stmt_writes(s: &Stmt, name: &str) -> bool {
    let expr_writes = |e: &Expr| writes_to(e, name, &|_, _| true);
    let some = |e: &Option<Expr>| e.as_ref().is_some_and(expr_writes);
    match s {
        Stmt::Empty | Stmt::Unsupported { .. } => false,
        Stmt::Expr(e) => expr_writes(e),
        Stmt::Block(b) => block_writes(b, name),
        Stmt::For { init, cond, step, body, .. } => some(init) || some(cond) || some(step) || stmt_writes(body, name),
        Stmt::Iterate { body, .. } => stmt_writes(body, name),
        Stmt::While { cond, body, .. } | Stmt::DoWhile { cond, body, .. } => {
            expr_writes(cond) || stmt_writes(body, name)
        }
        Stmt::If { cond, then, els } => {
            expr_writes(cond) || stmt_writes(then, name) || els.as_ref().is_some_and(|e| stmt_writes(e, name))
        }
        Stmt::Return(e, _) => some(e),
    }
}

/// Whether a function, given by name, takes an argument by reference.
pub(crate) type ByRef<'r> = &'r dyn Fn(&str, usize) -> bool;

/// Does the expression assign to a name, or hand it to a function that takes it by reference?
pub(crate) fn writes_to(e: &Expr, name: &str, by_ref: ByRef<'_>) -> bool {
    let own = match &e.kind {
        ExprKind::Assign(_, lhs, _) => root(lhs) == Some(name),
        ExprKind::Step { of, .. } => root(of) == Some(name),
        ExprKind::Call(f, args) => {
            let may_write = |i: usize| !matches!(&f.kind, ExprKind::Name(f) if !by_ref(f, i));
            args.iter().enumerate().any(|(i, a)| root(a) == Some(name) && may_write(i))
        }
        _ => false,
    };
    own || parts(e).into_iter().any(|p| writes_to(p, name, by_ref))
}

/// How often the expression mentions a name; what a quantifier repeats counts twice.
pub(crate) fn uses(e: &Expr, name: &str) -> usize {
    let times = if matches!(e.kind, ExprKind::Quant(..)) { 2 } else { 1 };
    let own = usize::from(matches!(&e.kind, ExprKind::Name(n) if n == name));
    let below = parts(e).into_iter().map(|p| uses(p, name)).fold(0, usize::saturating_add);
    own.saturating_add(below.saturating_mul(times))
}

/// Is the name evaluated whenever the expression is?
pub(crate) fn surely_uses(e: &Expr, name: &str) -> bool {
    use ast::BinOp::{And, Imply, Or};
    let sure = |e: &Expr| surely_uses(e, name);
    match &e.kind {
        ExprKind::Name(n) => n == name,
        ExprKind::Binary(And | Or | Imply, a, _) => sure(a),
        ExprKind::Cond(c, a, b) => sure(c) || (sure(a) && sure(b)),
        // The function may not look at it.
        ExprKind::Call(..) => false,
        _ => parts(e).into_iter().any(sure),
    }
}

/// Does an expression change nothing, whatever happens?
pub(crate) fn is_pure(e: &Expr) -> bool {
    !matches!(e.kind, ExprKind::Assign(..) | ExprKind::Step { .. } | ExprKind::Call(..))
        && parts(e).into_iter().all(is_pure)
}

/// The variable that an expression is a part of.
pub(crate) fn root(e: &Expr) -> Option<&str> {
    match &e.kind {
        ExprKind::Name(n) => Some(n),
        ExprKind::Index(a, _) | ExprKind::Field(a, _) => root(a),
        _ => None,
    }
}

/// The expressions directly inside an expression.
fn parts(e: &Expr) -> Vec<&Expr> {
    match &e.kind {
        ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Unsupported(_) | ExprKind::Name(_) | ExprKind::Deadlock => {
            vec![]
        }
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Assign(_, a, b) | ExprKind::Comma(a, b) => {
            vec![a, b]
        }
        ExprKind::Field(a, _) | ExprKind::Unary(_, a) | ExprKind::Rate(a) => vec![a],
        ExprKind::Step { of, .. } => vec![of],
        ExprKind::Call(f, args) => std::iter::once(&**f).chain(args).collect(),
        ExprKind::Cond(a, b, c) => vec![a, b, c],
        ExprKind::Quant(_, _, _, body) => vec![body],
    }
}
