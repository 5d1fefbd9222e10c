//! The syntax tree of an UPPAAL model, as written: names unresolved, types unchecked, templates not instantiated.

use std::sync::Arc;

use trellis_model::network::sketch::{Arrow, Spot};

use crate::diag::{Diagnostic, Span};

/// A name and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ident {
    /// The name.
    pub name: String,
    /// Its place.
    pub span: Span,
}

/// A whole model.
#[derive(Debug, Clone, Default)]
pub struct Nta {
    /// Global declarations, in order.
    pub decls: Vec<Decl>,
    /// Templates (`process` in the textual language), in order.
    pub templates: Vec<Template>,
    /// Declarations that stand in the system section (XML `<system>`), before the `system` line; in `.xta` files empty,
    /// everything is in `decls`.
    pub system_decls: Vec<Decl>,
    /// `P1 = Template(args);` instantiations, in order.
    pub instances: Vec<Instance>,
    /// The `system` line: groups of equal priority, lowest priority first (`system A, B < C;` gives `[[A, B], [C]]`).
    pub system: Vec<Vec<Ident>>,
    /// Where the `system` line stands, if there is one.
    pub system_span: Option<Span>,
    /// Where the file ends, and a missing `system` line would stand.
    pub end: Option<Span>,
    /// Channel priorities (`chan priority a, b[0] < default < c;`), lowest first; `None` inside a group is `default`.
    pub chan_priority: Vec<Vec<ChanRef>>,
    /// Queries embedded in the file.
    pub queries: Vec<Query>,
}

/// An entry of a `chan priority` list.
#[derive(Debug, Clone)]
pub enum ChanRef {
    /// The word `default`.
    Default(Span),
    /// A channel, possibly indexed: `a`, `b[0]`.
    Chan(Expr),
}

/// `P1(const int[0,3] i) = Template(3, i);`
#[derive(Debug, Clone)]
pub struct Instance {
    /// The new name.
    pub name: Ident,
    /// Parameters left open (partial instantiation).
    pub params: Vec<Param>,
    /// What is instantiated.
    pub template: Ident,
    /// The arguments given.
    pub args: Vec<Expr>,
    /// All of it.
    pub span: Span,
}

/// A declaration.
#[derive(Debug, Clone)]
pub enum Decl {
    /// Variables, constants, clocks, channels: `const int a = 1, b[2] = {3, 4};`
    Vars(VarDecl),
    /// `typedef int[0, 3] id_t;`
    Typedef {
        /// The type.
        ty: TypeExpr,
        /// The new name with its array suffixes.
        names: Vec<Declarator>,
    },
    /// A function; shared, because whoever builds a model keeps it for every process that declares it.
    Function(Arc<Function>),
    /// `extern UnionBitVector;`, `extern L = Product(Sign, Parity);`, `extern Mine from "mine.lua";` (000 §2.1).
    Extern {
        /// The type's name in this model.
        name: Ident,
        /// What it stands for, if not the library lattice of that name; a call or a name, arguments are lattices,
        /// integers, or `a < b` pairs.
        def: Option<Expr>,
        /// The script that defines it.
        file: Option<(String, Span)>,
        /// All of it.
        span: Span,
    },
    /// A declaration that Trellis reads but does not support (`import`, dynamic templates, gantt …); it is refused by
    /// name when the model is built.
    Unsupported {
        /// What it is.
        what: String,
        /// Its place in the source.
        span: Span,
    },
}

/// `ty a = e, b[2];`
#[derive(Debug, Clone)]
pub struct VarDecl {
    /// The common type.
    pub ty: TypeExpr,
    /// The names.
    pub names: Vec<Declarator>,
    /// All of it.
    pub span: Span,
}

/// `b[2][id_t] = init`
#[derive(Debug, Clone)]
pub struct Declarator {
    /// The name.
    pub name: Ident,
    /// Array suffixes, outermost first.
    pub dims: Vec<Dim>,
    /// The initialiser.
    pub init: Option<Init>,
}

/// One array suffix. `[N]` and `[id_t]` look alike when `N` is a name: that is `Expr(Name)`, resolved later.
#[derive(Debug, Clone)]
pub enum Dim {
    /// `[N + 1]` or `[id_t]`.
    Expr(Expr),
    /// `[int[0,3]]`.
    Type(TypeExpr),
}

/// An initialiser.
#[derive(Debug, Clone)]
pub enum Init {
    /// `= e`
    Expr(Expr),
    /// `= { a, b, field: c }`
    List(Vec<(Option<Ident>, Init)>, Span),
}

/// A type as written.
#[derive(Debug, Clone)]
pub struct TypeExpr {
    /// What kind.
    pub base: BaseType,
    /// `const`
    pub is_const: bool,
    /// `meta`
    pub meta: bool,
    /// `broadcast` (channels)
    pub broadcast: bool,
    /// `urgent` (channels)
    pub urgent: bool,
    /// `hybrid` (clocks)
    pub hybrid: bool,
    /// Its place in the source.
    pub span: Span,
}

/// The kinds of type.
#[derive(Debug, Clone)]
pub enum BaseType {
    /// `int`, or `int[lo, hi]`.
    Int(Option<(Box<Expr>, Box<Expr>)>),
    /// `bool`
    Bool,
    /// `clock`
    Clock,
    /// `chan`
    Chan,
    /// `void` (functions only)
    Void,
    /// `double`, `string`: read, refused by name when the model is built.
    Unsupported(String),
    /// `scalar[N]`
    Scalar(Box<Expr>),
    /// `struct { … }`
    Struct(Vec<(TypeExpr, Vec<Declarator>)>),
    /// A `typedef` or `extern` name.
    Named(Ident),
}

/// A formal parameter: `const id_t id`, `int &x`, `chan &c[2]`.
#[derive(Debug, Clone)]
pub struct Param {
    /// The type.
    pub ty: TypeExpr,
    /// `&`
    pub by_ref: bool,
    /// The name and its array suffixes.
    pub name: Ident,
    /// Array suffixes.
    pub dims: Vec<Dim>,
}

/// A function.
#[derive(Debug, Clone)]
pub struct Function {
    /// What it returns.
    pub ret: TypeExpr,
    /// Its name.
    pub name: Ident,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Its body.
    pub body: Block,
}

/// `{ declarations statements }`
#[derive(Debug, Clone)]
pub struct Block {
    /// Local declarations.
    pub decls: Vec<Decl>,
    /// Statements.
    pub stmts: Vec<Stmt>,
    /// All of it.
    pub span: Span,
}

/// A statement of a function body.
#[derive(Debug, Clone)]
pub enum Stmt {
    /// `;`
    Empty,
    /// An expression for its effect.
    Expr(Expr),
    /// A block.
    Block(Block),
    /// `for (init; cond; step) body`; each part may be absent.
    For {
        /// First.
        init: Option<Expr>,
        /// While.
        cond: Option<Expr>,
        /// After each.
        step: Option<Expr>,
        /// The statement that is repeated or guarded.
        body: Box<Stmt>,
        /// All of it.
        span: Span,
    },
    /// `for (i : type) body`
    Iterate {
        /// The variable.
        var: Ident,
        /// What it ranges over.
        ty: TypeExpr,
        /// The statement that is repeated or guarded.
        body: Box<Stmt>,
        /// All of it.
        span: Span,
    },
    /// `while (cond) body`
    While {
        /// While.
        cond: Expr,
        /// The statement that is repeated or guarded.
        body: Box<Stmt>,
        /// All of it.
        span: Span,
    },
    /// `do body while (cond);`
    DoWhile {
        /// The statement that is repeated or guarded.
        body: Box<Stmt>,
        /// While.
        cond: Expr,
        /// All of it.
        span: Span,
    },
    /// `if (cond) a else b`
    If {
        /// If.
        cond: Expr,
        /// Then.
        then: Box<Stmt>,
        /// Else.
        els: Option<Box<Stmt>>,
    },
    /// `return e;`
    Return(Option<Expr>, Span),
    /// `break;` and the like: read, refused by name when the model is built.
    Unsupported {
        /// What it is.
        what: String,
        /// Its place in the source.
        span: Span,
    },
}

/// A template, or `process` in the textual language.
#[derive(Debug, Clone)]
pub struct Template {
    /// Its name.
    pub name: Ident,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Local declarations.
    pub decls: Vec<Decl>,
    /// Locations.
    pub locations: Vec<Location>,
    /// Index into `locations` of the initial one; `None` if the source names none (an error later, with its place).
    pub init: Option<usize>,
    /// Edges.
    pub edges: Vec<Edge>,
    /// Where it stands.
    pub span: Span,
}

/// A location.
#[derive(Debug, Clone)]
pub struct Location {
    /// Its name; XML locations without a name carry their id here and are `anonymous`.
    pub name: Ident,
    /// Whether the name was made up from the XML id.
    pub anonymous: bool,
    /// Its invariant.
    pub invariant: Option<Expr>,
    /// `urgent`
    pub urgent: bool,
    /// `committed`
    pub committed: bool,
    /// Where its exponential rate stands: it changes no answer that Trellis gives.
    pub rate: Option<Span>,
    /// Not a location but a branch point: edges that lead here go on at once along one of those that leave it.
    pub branches: bool,
    /// How it is drawn.
    pub drawn: Spot,
}

impl Location {
    /// One with a name and nothing else.
    pub fn new(name: Ident, anonymous: bool) -> Location {
        let (urgent, committed, branches, drawn) = (false, false, false, Spot::default());
        Location { name, anonymous, invariant: None, urgent, committed, rate: None, branches, drawn }
    }
}

/// An edge.
#[derive(Debug, Clone)]
pub struct Edge {
    /// Index of the source location.
    pub source: usize,
    /// Index of the target location.
    pub target: usize,
    /// `select i : id_t, j : int[0,2]`
    pub select: Vec<(Ident, TypeExpr)>,
    /// The guard.
    pub guard: Option<Expr>,
    /// The synchronisation.
    pub sync: Option<Sync>,
    /// The updates, in order.
    pub update: Vec<Expr>,
    /// Where its weight stands, for edges from branch points: it changes no answer that Trellis gives.
    pub weight: Option<Span>,
    /// Something that Trellis refuses by name.
    pub unsupported: Option<(String, Span)>,
    /// How it is drawn.
    pub drawn: Arrow,
    /// Where it stands.
    pub span: Span,
}

impl Edge {
    /// One that says nothing; its ends are to be set.
    pub fn new(span: Span) -> Edge {
        let (select, update, drawn) = (Vec::new(), Vec::new(), Arrow::default());
        let (weight, unsupported) = (None, None);
        Edge { source: 0, target: 0, select, guard: None, sync: None, update, weight, unsupported, drawn, span }
    }
}

/// `c[i]!` or `c?`
#[derive(Debug, Clone)]
pub struct Sync {
    /// The channel.
    pub chan: Expr,
    /// `!` rather than `?`.
    pub send: bool,
    /// All of it.
    pub span: Span,
}

/// A query.
#[derive(Debug, Clone)]
pub struct Query {
    /// What is asked.
    pub kind: QueryKind,
    /// All of it.
    pub span: Span,
    /// The text as written, for reports.
    pub text: String,
    /// The comment that came with it.
    pub comment: String,
    /// Whether it was satisfied when UPPAAL was asked, or is expected to be, if the file says so.
    pub recorded: Option<bool>,
}

/// The kinds of query.
#[derive(Debug, Clone)]
pub enum QueryKind {
    /// `E<> p`
    Possibly(Expr),
    /// `A[] p`
    Invariantly(Expr),
    /// `E[] p`
    PotentiallyAlways(Expr),
    /// `A<> p`
    Eventually(Expr),
    /// `p --> q`
    LeadsTo(Expr, Expr),
    /// `sup{p}: e1, e2` or `inf{…}: …`
    Bounds {
        /// `sup` rather than `inf`.
        sup: bool,
        /// The state predicate in braces.
        when: Option<Expr>,
        /// What is measured.
        of: Vec<Expr>,
    },
    /// A query that Trellis reads but does not answer (`Pr[…]`, `control:`, `simulate` …).
    Unsupported(String),
    /// Not a query, for these reasons; whoever reads queries has heard of them, too.
    Malformed(Vec<Diagnostic>),
}

/// An expression.
#[derive(Debug, Clone)]
pub struct Expr {
    /// What kind.
    pub kind: ExprKind,
    /// Its place in the source.
    pub span: Span,
}

/// The kinds of expression.
#[derive(Debug, Clone)]
pub enum ExprKind {
    /// `42`
    Int(i64),
    /// `true`
    Bool(bool),
    /// A floating literal or a string: read, refused by name when the model is built.
    Unsupported(String),
    /// `x`
    Name(String),
    /// `a[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `s.f`, `P.loc`, `P.x`
    Field(Box<Expr>, Ident),
    /// `f(x)`, `P(1)` (a process with a free parameter), `v.method(x)` (a `Field` is called)
    Call(Box<Expr>, Vec<Expr>),
    /// `-x`, `!x`, `not x`, `+x`
    Unary(UnOp, Box<Expr>),
    /// `x + y` …
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// `c ? a : b`
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `x = e`, `x := e`, `x += e` …; `None` is plain assignment
    Assign(Option<BinOp>, Box<Expr>, Box<Expr>),
    /// `x++`, `--x`
    Step {
        /// `++` rather than `--`.
        up: bool,
        /// Before rather than after.
        prefix: bool,
        /// The variable that is changed.
        of: Box<Expr>,
    },
    /// `forall (i : T) e`, `exists (i : T) e`, `sum (i : T) e`
    Quant(Quant, Ident, Box<TypeExpr>, Box<Expr>),
    /// `deadlock`
    Deadlock,
    /// `x'` (a clock's rate)
    Rate(Box<Expr>),
    /// `a, b` inside a `for` header or a guard (old syntax: conjunction)
    Comma(Box<Expr>, Box<Expr>),
}

/// Unary operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnOp {
    /// `-`
    Neg,
    /// `+`
    Plus,
    /// `!`, `not`
    Not,
}

/// Binary operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    /// `<?`
    Min,
    /// `>?`
    Max,
    Lt,
    Le,
    Eq,
    Ne,
    Ge,
    Gt,
    /// `&&`, `and`
    And,
    /// `||`, `or`
    Or,
    /// `imply`
    Imply,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
}

/// Quantifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Quant {
    Forall,
    Exists,
    Sum,
}
