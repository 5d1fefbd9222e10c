//! A package as it is written.

use crate::diag::Span;

/// A name in its place.
pub type Name<'a> = (&'a str, Span);

/// One file.
#[derive(Debug, Clone, Default)]
pub struct Package<'a> {
    pub name: &'a str,
    pub constants: Vec<Variable<'a>>,
    pub types: Vec<(Name<'a>, Type<'a>)>,
    pub functions: Vec<Function<'a>>,
    pub interfaces: Vec<Interface<'a>>,
    pub components: Vec<Component<'a>>,
}

/// A type.
#[derive(Debug, Clone)]
pub enum Type<'a> {
    Bool,
    Int,
    Named(Name<'a>),
    Enum(Vec<Name<'a>>),
    /// Entry type; the length is not needed: an array is a map from integers.
    Array(Box<Type<'a>>),
    /// Both included.
    Range(Box<[Expr<'a>; 2]>),
    Record(Vec<(Name<'a>, Type<'a>)>, Span),
    /// What is not read, in words.
    Other(&'static str, Span),
}

/// A constant, a variable or a parameter.
#[derive(Debug, Clone)]
pub struct Variable<'a> {
    pub name: Name<'a>,
    pub ty: Type<'a>,
    pub value: Option<Expr<'a>>,
    pub transient: bool,
    pub resettable: bool,
}

/// `lambda` has an expression, `procedure` a block.
#[derive(Debug, Clone)]
pub struct Function<'a> {
    pub name: Name<'a>,
    pub params: Vec<Variable<'a>>,
    pub result: Option<Type<'a>>,
    pub body: Result<Expr<'a>, Vec<Action<'a>>>,
}

#[derive(Debug, Clone)]
pub struct Interface<'a> {
    pub name: Name<'a>,
    pub parents: Vec<Name<'a>>,
    pub events: Vec<Event<'a>>,
    pub invariants: Vec<Expr<'a>>,
}

/// Which way an event goes, seen from whoever provides the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    In,
    Out,
    Both,
    Internal,
}

#[derive(Debug, Clone)]
pub struct Event<'a> {
    pub name: Name<'a>,
    pub direction: Direction,
    pub persistent: bool,
    pub params: Vec<Variable<'a>>,
}

#[derive(Debug, Clone)]
pub struct Port<'a> {
    pub name: Name<'a>,
    pub provides: bool,
    pub interface: Name<'a>,
    pub invariants: Vec<Expr<'a>>,
}

/// `@Name = value`
#[derive(Debug, Clone)]
pub struct Annotation<'a> {
    pub name: Name<'a>,
    pub value: Option<Name<'a>>,
    pub capacity: Option<i64>,
}

#[derive(Debug, Clone)]
pub struct Component<'a> {
    pub annotations: Vec<Annotation<'a>>,
    pub name: Name<'a>,
    pub params: Vec<Variable<'a>>,
    pub ports: Vec<Port<'a>>,
    pub body: Body<'a>,
}

#[derive(Debug, Clone)]
pub enum Body<'a> {
    Chart(Chart<'a>),
    Composite(Composite<'a>),
    Adapter(Adapter<'a>),
}

#[derive(Debug, Clone, Default)]
pub struct Chart<'a> {
    pub variables: Vec<Variable<'a>>,
    pub timeouts: Vec<Name<'a>>,
    pub invariants: Vec<Expr<'a>>,
    pub regions: Vec<Region<'a>>,
    pub transitions: Vec<Transition<'a>>,
    pub functions: Vec<Function<'a>>,
}

#[derive(Debug, Clone)]
pub struct Region<'a> {
    pub name: Name<'a>,
    pub nodes: Vec<Node<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    State,
    Initial,
    Shallow,
    Deep,
    Choice,
    Merge,
    Fork,
    Join,
}

#[derive(Debug, Clone)]
pub struct Node<'a> {
    pub kind: NodeKind,
    pub name: Name<'a>,
    pub invariants: Vec<Expr<'a>>,
    pub entry: Vec<Action<'a>>,
    pub exit: Vec<Action<'a>>,
    pub regions: Vec<Region<'a>>,
}

#[derive(Debug, Clone)]
pub struct Transition<'a> {
    pub id: Option<&'a str>,
    pub priority: i64,
    pub from: Name<'a>,
    pub to: Name<'a>,
    pub trigger: Option<Trigger<'a>>,
    pub guard: Option<Guard<'a>>,
    pub effects: Vec<Action<'a>>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub enum Guard<'a> {
    If(Expr<'a>),
    Else,
}

#[derive(Debug, Clone)]
pub enum Trigger<'a> {
    Any,
    Cycle,
    PortAny(Name<'a>),
    Event(Name<'a>, Name<'a>),
    Timeout(Name<'a>),
    Not(Box<Trigger<'a>>),
    /// `==`, `->`, `||`, `^`, `&&`
    Two(&'static str, Box<[Trigger<'a>; 2]>),
}

/// `instance.Port`
pub type End<'a> = (Name<'a>, Name<'a>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Sync,
    Cascade,
    Scheduled,
    Async,
}

#[derive(Debug, Clone)]
pub struct Composite<'a> {
    pub mode: Mode,
    pub parts: Vec<Instance<'a>>,
    pub binds: Vec<(Name<'a>, End<'a>)>,
    pub channels: Vec<(End<'a>, Vec<End<'a>>)>,
    pub first: Vec<Name<'a>>,
    pub order: Option<Vec<Name<'a>>>,
}

#[derive(Debug, Clone)]
pub struct Instance<'a> {
    pub name: Name<'a>,
    pub ty: Name<'a>,
    pub args: Vec<Expr<'a>>,
}

/// What waits in a queue, or what a control specification is about.
#[derive(Debug, Clone)]
pub enum Source<'a> {
    Any,
    PortAny(Name<'a>),
    Event(Name<'a>, Name<'a>),
    Clock(Name<'a>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    Run,
    Reset,
    ResetQueue,
    ResetQueues,
    ResetOtherQueues,
}

#[derive(Debug, Clone)]
pub struct Queue<'a> {
    pub name: Name<'a>,
    pub priority: i64,
    pub capacity: i64,
    pub oldest: bool,
    pub entries: Vec<(Source<'a>, Option<Source<'a>>)>,
}

#[derive(Debug, Clone)]
pub struct Adapter<'a> {
    pub inner: Instance<'a>,
    /// Rates in milliseconds.
    pub clocks: Vec<(Name<'a>, i64)>,
    pub controls: Vec<(Source<'a>, Control)>,
    pub queues: Vec<Queue<'a>>,
}

#[derive(Debug, Clone)]
pub struct Expr<'a> {
    pub kind: ExprKind<'a>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub enum ExprKind<'a> {
    Bool(bool),
    Int(&'a str),
    /// `x`, `a.b.c`
    Path(Vec<Name<'a>>),
    /// `a.b::c`, or `a.b::`
    Param(Vec<Name<'a>>, Option<Name<'a>>),
    /// `state i.R.S`, `variable i.x`, `event i.P.e`, `in-state(R.S)`: the word and what it is about.
    About(&'static str, Box<Expr<'a>>),
    /// What an execution trace asserts: `raise P.e(args)`.
    Raised(Vec<Name<'a>>, Vec<Expr<'a>>),
    Index(Box<[Expr<'a>; 2]>),
    Field(Box<Expr<'a>>, Name<'a>),
    /// `#T{f := e}`
    Record(Name<'a>, Vec<(Name<'a>, Expr<'a>)>),
    /// `forall (x : T) : e`, or `exists`.
    Quantified(bool, Name<'a>, Type<'a>, Box<Expr<'a>>),
    Call(Name<'a>, Vec<Expr<'a>>),
    Not(Box<Expr<'a>>),
    Neg(Box<Expr<'a>>),
    Two(&'static str, Box<[Expr<'a>; 2]>),
    Ite(Box<[Expr<'a>; 3]>),
    Array(Vec<Expr<'a>>),
}

#[derive(Debug, Clone)]
pub struct Action<'a> {
    pub kind: ActionKind<'a>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub enum ActionKind<'a> {
    Assign(Expr<'a>, Expr<'a>),
    Raise(Name<'a>, Name<'a>, Vec<Expr<'a>>),
    /// The time in milliseconds.
    Set(Name<'a>, i64),
    Local(Variable<'a>),
    Call(Name<'a>, Vec<Expr<'a>>),
    Nothing,
    Block(Vec<Action<'a>>),
    If(Expr<'a>, Vec<Action<'a>>, Vec<Action<'a>>),
    Switch(Expr<'a>, Vec<(Expr<'a>, Vec<Action<'a>>)>, Vec<Action<'a>>),
    /// The counter, its first value and the first one that it does not have.
    For(Name<'a>, Expr<'a>, Expr<'a>, Vec<Action<'a>>),
    Choice(Vec<(Option<Expr<'a>>, Vec<Action<'a>>)>),
    Return(Option<Expr<'a>>),
    Break,
    Assert,
}
