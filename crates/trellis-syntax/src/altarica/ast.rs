//! The tree of a model, as it is written.

use crate::diag::Span;

/// A name in its place.
#[derive(Debug, Clone)]
pub struct Name {
    /// The name, without quotes.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// What a file consists of.
#[derive(Debug, Clone)]
pub enum Item {
    /// `const N = 4;`
    Const(Const),
    /// `domain D = …;`
    Domain(Name, Dom),
    /// A node.
    Node(Node),
    /// A directive of another tool.
    Directive(Directive),
}

/// A directive of another tool (`extern law <event fail> = exponential 0.001;`), kept as it is written.
#[derive(Debug, Clone)]
pub struct Directive {
    /// Its text, without `extern` and the semicolon.
    pub text: String,
    /// The event that it is about, if it says `<event …>`.
    pub event: Option<String>,
    /// Where it stands.
    pub span: Span,
}

/// A constant.
#[derive(Debug, Clone)]
pub struct Const {
    /// Its name.
    pub name: Name,
    /// Its domain.
    pub dom: Option<Dom>,
    /// Its value; one without must be given on the command line.
    pub value: Option<Expr>,
}

/// A domain.
#[derive(Debug, Clone)]
pub struct Dom {
    /// What it is.
    pub kind: DomKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of domain.
#[derive(Debug, Clone)]
pub enum DomKind {
    /// `bool`
    Bool,
    /// `integer`
    Integer,
    /// `[a, b]`
    Range(Box<Expr>, Box<Expr>),
    /// `{a, b}`
    Enum(Vec<Name>),
    /// A domain that has a name.
    Named(String),
    /// `struct … tcurts`
    Struct(Vec<(Vec<Name>, Dom)>),
    /// So many of something.
    Array(Box<Dom>, Vec<Expr>),
}

/// A node.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its name.
    pub name: Name,
    /// State variables.
    pub states: Vec<Vars>,
    /// Flow variables.
    pub flows: Vec<Vars>,
    /// Parameters.
    pub params: Vec<Vars>,
    /// Sub-nodes.
    pub subs: Vec<Subs>,
    /// Events with their priorities.
    pub events: Vec<Prio>,
    /// Transitions.
    pub trans: Vec<Trans>,
    /// Synchronisation vectors.
    pub sync: Vec<Vector>,
    /// Assertions.
    pub asserts: Vec<Expr>,
    /// Initial values.
    pub init: Vec<(Path, Expr)>,
    /// Values of sub-nodes' parameters.
    pub param_set: Vec<(Path, Expr)>,
    /// What it says to other tools.
    pub directives: Vec<Directive>,
}

/// Variables of one domain.
#[derive(Debug, Clone)]
pub struct Vars {
    /// Their names.
    pub names: Vec<Name>,
    /// Their domain.
    pub dom: Dom,
    /// Attributes, in lower case.
    pub attributes: Vec<Name>,
}

/// Sub-nodes of one kind.
#[derive(Debug, Clone)]
pub struct Subs {
    /// Their names.
    pub names: Vec<Name>,
    /// The node that each of them is.
    pub node: Name,
    /// Sizes, if they are arrays.
    pub sizes: Vec<Expr>,
}

/// Groups of events; between two groups, whether the left one is lower.
#[derive(Debug, Clone)]
pub struct Prio {
    /// The groups.
    pub groups: Vec<Vec<Name>>,
    /// One fewer than groups: `<` is true, `>` is false.
    pub lower: Vec<bool>,
}

/// Transitions that share a guard.
#[derive(Debug, Clone)]
pub struct Trans {
    /// When.
    pub guard: Expr,
    /// On which events, with which updates.
    pub branches: Vec<Branch>,
}

/// One arrow of a transition.
#[derive(Debug, Clone)]
pub struct Branch {
    /// The events.
    pub events: Vec<Name>,
    /// The assignments.
    pub updates: Vec<(Path, Expr)>,
    /// Where it stands.
    pub span: Span,
}

/// A synchronisation vector.
#[derive(Debug, Clone)]
pub struct Vector {
    /// Events; with `?`, those that may be left out.
    pub parts: Vec<(Path, bool)>,
    /// How many of those with `?` must take part.
    pub constraint: Option<(BinaryOp, Expr)>,
    /// Where it stands.
    pub span: Span,
}

/// A path to a variable, an event or a relation's argument.
#[derive(Debug, Clone)]
pub struct Path {
    /// The first name.
    pub first: Name,
    /// The rest.
    pub rest: Vec<Segment>,
    /// All of it.
    pub span: Span,
}

/// One step of a path.
#[derive(Debug, Clone)]
pub enum Segment {
    /// `.name`
    Name(Name),
    /// `[index]`
    Index(Expr),
}

/// An expression.
#[derive(Debug, Clone)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of expression. The last three are Mec 5's only.
#[derive(Debug, Clone)]
pub enum ExprKind {
    /// A truth value.
    Bool(bool),
    /// A number.
    Int(i64),
    /// A variable, a constant, or a literal.
    Path(Path),
    /// `not`
    Not(Box<Expr>),
    /// Unary minus.
    Neg(Box<Expr>),
    /// An operator between two.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `if`, `?:` or a branch of `case`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `min` (true) or `max`.
    Extreme(bool, Vec<Expr>),
    /// `<x : T>` (true) or `[x : T]`.
    Quantified(bool, Vec<(Name, Option<TypeName>)>, Box<Expr>),
    /// `R(x, y)`, `Node!t(x, e, y)`
    Apply(TypeName, Vec<Expr>),
}

/// A relation's name, or the name of a type of its arguments: `R`, `Node!c`.
#[derive(Debug, Clone)]
pub struct TypeName {
    /// The first part.
    pub name: Name,
    /// What stands behind `!`.
    pub member: Option<Name>,
    /// For arguments that are plain values: their domain.
    pub dom: Option<Box<Dom>>,
}

/// Operators between two expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Implies,
    Or,
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
}

impl BinaryOp {
    /// How it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Implies => "=>",
            BinaryOp::Or => "or",
            BinaryOp::And => "and",
            BinaryOp::Eq => "=",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Mod => "mod",
        }
    }
}
