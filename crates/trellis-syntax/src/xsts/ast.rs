//! XSTS as it is written.

use crate::diag::Span;

/// A whole model.
#[derive(Debug, Clone)]
pub struct File<'a> {
    /// `type T : { A, B }`
    pub types: Vec<TypeDecl<'a>>,
    /// `var x : T = e`
    pub variables: Vec<VarDecl<'a>>,
    /// What the system does.
    pub trans: Set<'a>,
    /// What happens once, at the start.
    pub init: Set<'a>,
    /// What the environment does, before each `trans`.
    pub env: Set<'a>,
    /// `prop { e }`
    pub prop: Option<Expr<'a>>,
    /// What stands between the braces of `ltl { … }`.
    pub ltl: Option<Span>,
}

/// An enumeration.
#[derive(Debug, Clone)]
pub struct TypeDecl<'a> {
    /// Its name.
    pub name: &'a str,
    /// Where that is.
    pub span: Span,
    /// Its literals.
    pub literals: Vec<(&'a str, Span)>,
}

/// A variable, global or local.
#[derive(Debug, Clone)]
pub struct VarDecl<'a> {
    /// Marked as a control variable?
    pub control: bool,
    /// Its name.
    pub name: &'a str,
    /// Where that is.
    pub span: Span,
    /// Its type.
    pub ty: TypeName<'a>,
    /// Its value at the start; any, if there is none.
    pub value: Option<Expr<'a>>,
}

/// A type.
#[derive(Debug, Clone)]
pub struct TypeName<'a> {
    /// What kind it is, with its parts.
    pub kind: TypeKind<'a>,
    /// Its place in the source.
    pub span: Span,
}

/// The kinds of type.
#[derive(Debug, Clone)]
pub enum TypeKind<'a> {
    /// `boolean`
    Bool,
    /// `integer`
    Int,
    /// An enumeration.
    Named(&'a str),
    /// `[K] -> V`
    Array(Box<TypeName<'a>>, Box<TypeName<'a>>),
}

/// `trans { … } or { … }`
#[derive(Debug, Clone)]
pub struct Set<'a> {
    /// The word `trans`, `init` or `env`.
    pub span: Span,
    /// One of these happens.
    pub branches: Vec<Stmt<'a>>,
}

/// A statement.
#[derive(Debug, Clone)]
pub struct Stmt<'a> {
    /// What is done.
    pub kind: StmtKind<'a>,
    /// Its first word or name.
    pub span: Span,
}

/// The kinds of statement.
#[derive(Debug, Clone)]
pub enum StmtKind<'a> {
    /// `{ … }`
    Block(Vec<Stmt<'a>>),
    /// `choice s or s`
    Choice(Vec<Stmt<'a>>),
    /// `if (e) s else s`
    If(Expr<'a>, Box<Stmt<'a>>, Option<Box<Stmt<'a>>>),
    /// `for i from e to e do s`: the second bound is not included.
    For {
        /// The counter.
        name: &'a str,
        /// Where its name is.
        span: Span,
        /// The first value.
        from: Expr<'a>,
        /// One past the last value.
        to: Expr<'a>,
        /// What is repeated.
        body: Box<Stmt<'a>>,
    },
    /// `local var x : T = e;`
    Local(VarDecl<'a>),
    /// `x := e;`
    Assign(&'a str, Expr<'a>),
    /// `a[e] := e;`
    Store(&'a str, Expr<'a>, Expr<'a>),
    /// `havoc x;`
    Havoc(&'a str, Span),
    /// `assume e;`
    Assume(Expr<'a>),
}

/// An expression.
#[derive(Debug, Clone)]
pub struct Expr<'a> {
    /// What kind it is, with its parts.
    pub kind: ExprKind<'a>,
    /// All of it.
    pub span: Span,
}

/// The kinds of expression.
#[derive(Debug, Clone)]
pub enum ExprKind<'a> {
    /// `true`, `false`
    Bool(bool),
    /// Digits.
    Int(&'a str),
    /// A variable or a literal of an enumeration.
    Name(&'a str),
    /// `!e`
    Not(Box<Expr<'a>>),
    /// `-e`
    Neg(Box<Expr<'a>>),
    /// `e + e - e`: operators of one precedence, from left to right.
    Chain(Box<Expr<'a>>, Vec<(Op, Span, Expr<'a>)>),
    /// `if e then e else e`
    Ite(Box<[Expr<'a>; 3]>),
    /// `a[e]`
    Read(Box<[Expr<'a>; 2]>),
    /// `a[e <- e]`
    Write(Box<[Expr<'a>; 3]>),
    /// `[e <- e, default <- e]`, `[<T>default <- e]`
    Array {
        /// The entries that are given.
        entries: Vec<(Expr<'a>, Expr<'a>)>,
        /// The type of the indexes, if given.
        index: Option<TypeName<'a>>,
        /// All other entries.
        default: Box<Expr<'a>>,
    },
}

/// The binary operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Op {
    Iff,
    Imply,
    Or,
    Xor,
    And,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Rem,
}

/// With what tightness they bind, loosest first, and how they are written.
const OPERATORS: [(Op, u8, &str); 17] = [
    (Op::Iff, 0, "iff"),
    (Op::Imply, 1, "=>"),
    (Op::Or, 2, "||"),
    (Op::Xor, 3, "xor"),
    (Op::And, 4, "&&"),
    (Op::Eq, 6, "=="),
    (Op::Ne, 6, "!="),
    (Op::Lt, 7, "<"),
    (Op::Le, 7, "<="),
    (Op::Gt, 7, ">"),
    (Op::Ge, 7, ">="),
    (Op::Add, 8, "+"),
    (Op::Sub, 8, "-"),
    (Op::Mul, 9, "*"),
    (Op::Div, 9, "/"),
    (Op::Mod, 9, "%"),
    (Op::Rem, 9, "rem"),
];

impl Op {
    /// As it is written.
    pub fn text(self) -> &'static str {
        OPERATORS.iter().find(|o| o.0 == self).map_or("", |o| o.2)
    }

    /// By how it is written; with its tightness.
    pub(super) fn of(text: &str) -> Option<(Op, u8)> {
        OPERATORS.iter().find(|o| o.2 == text).map(|o| (o.0, o.1))
    }
}
