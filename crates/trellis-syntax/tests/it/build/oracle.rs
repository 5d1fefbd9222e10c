//! Random functions and updates, run as lowered and by walking the syntax tree: the outcomes must agree.
//!
//! The walker below is UPPAAL's meaning as we understand it, written as plainly as can be: operands from left to right,
//! what is assigned to settled before what is assigned, connectives as short as possible, arguments copied or shared.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use proptest::prelude::*;
use trellis_syntax::uppaal::ast::{
    BaseType, BinOp, Block, Decl, Expr, ExprKind, Function, Init, Nta, Quant, Stmt, TypeExpr, UnOp,
};
use trellis_syntax::uppaal::parse_xta;

use crate::show::SOURCE;

/// A cell with its bounds.
#[derive(Debug)]
struct Slot {
    value: Cell<i64>,
    lo: i64,
    hi: i64,
}

/// A variable: one cell or several.
#[derive(Debug, Clone)]
enum Var {
    One(Rc<Slot>),
    Many(Vec<Var>),
}

impl Var {
    fn new(value: i64, lo: i64, hi: i64) -> Var {
        Var::One(Rc::new(Slot { value: Cell::new(value), lo, hi }))
    }

    /// Fresh cells with the same contents.
    fn copied(&self) -> Var {
        match self {
            Var::One(s) => Var::new(s.value.get(), s.lo, s.hi),
            Var::Many(all) => Var::Many(all.iter().map(Var::copied).collect()),
        }
    }

    fn assign(&self, from: &Var) {
        match (self, from) {
            (Var::One(a), Var::One(b)) => a.value.set(b.value.get()),
            (Var::Many(a), Var::Many(b)) => a.iter().zip(b).for_each(|(a, b)| a.assign(b)),
            _ => panic!("shapes differ"),
        }
    }
}

/// A value out of range, an index outside, a division by zero.
#[derive(Debug)]
struct Fault;

type Run<T> = Result<T, Fault>;

/// What an expression gives.
enum Out {
    Number(i64),
    Variable(Var),
    Nothing,
}

impl Out {
    fn number(&self) -> i64 {
        match self {
            Out::Number(n) => *n,
            Out::Variable(Var::One(s)) => s.value.get(),
            _ => panic!("no number"),
        }
    }
}

type Names = BTreeMap<String, Var>;

struct Walker<'a> {
    functions: BTreeMap<&'a str, &'a Function>,
    globals: Names,
    /// The blocks of the function being run, innermost last.
    blocks: Vec<Names>,
}

impl<'a> Walker<'a> {
    fn new(nta: &'a Nta) -> Walker<'a> {
        let mut w = Walker { functions: BTreeMap::new(), globals: Names::new(), blocks: Vec::new() };
        for d in &nta.decls {
            match d {
                Decl::Function(f) => {
                    w.functions.insert(&f.name.name, f);
                }
                Decl::Vars(v) => {
                    for d in &v.names {
                        let sizes: Vec<usize> = d.dims.iter().map(|_| 2).collect();
                        let var = shaped(&v.ty, &sizes);
                        if let Some(init) = &d.init {
                            w.initialise(&var, init).expect("constants");
                        }
                        w.globals.insert(d.name.name.clone(), var);
                    }
                }
                _ => {}
            }
        }
        w
    }

    fn initialise(&mut self, var: &Var, init: &Init) -> Run<()> {
        match (var, init) {
            (Var::Many(all), Init::List(items, _)) => {
                all.iter().zip(items).try_for_each(|(v, (_, i))| self.initialise(v, i))
            }
            (Var::One(s), Init::Expr(e)) => {
                let n = self.number(e)?;
                store(s, n)
            }
            (all, Init::Expr(e)) => match self.eval(e)? {
                Out::Variable(from) => {
                    all.assign(&from);
                    Ok(())
                }
                _ => panic!("no variable"),
            },
            _ => panic!("no list expected"),
        }
    }

    fn find(&self, name: &str) -> Var {
        let local = self.blocks.iter().rev().find_map(|b| b.get(name));
        local.or_else(|| self.globals.get(name)).unwrap_or_else(|| panic!("{name}")).clone()
    }

    fn number(&mut self, e: &Expr) -> Run<i64> {
        Ok(self.eval(e)?.number())
    }

    fn truth(&mut self, e: &Expr) -> Run<bool> {
        Ok(self.number(e)? != 0)
    }

    fn variable(&mut self, e: &Expr) -> Run<Var> {
        match self.eval(e)? {
            Out::Variable(v) => Ok(v),
            _ => panic!("no variable: {e:?}"),
        }
    }

    fn eval(&mut self, e: &Expr) -> Run<Out> {
        let number = |n: i64| Ok(Out::Number(n));
        match &e.kind {
            ExprKind::Int(n) => number(*n),
            ExprKind::Bool(b) => number(i64::from(*b)),
            ExprKind::Name(n) => Ok(Out::Variable(self.find(n))),
            ExprKind::Index(a, i) => {
                let Var::Many(all) = self.variable(a)? else { panic!("no array") };
                let i = self.number(i)?;
                let found = usize::try_from(i).ok().and_then(|i| all.get(i)).ok_or(Fault)?;
                Ok(Out::Variable(found.clone()))
            }
            ExprKind::Unary(op, a) => {
                let a = self.number(a)?;
                number(match op {
                    UnOp::Neg => -a,
                    UnOp::Plus => a,
                    UnOp::Not => i64::from(a == 0),
                })
            }
            ExprKind::Binary(op, a, b) => {
                let left = self.number(a)?;
                let decided = match op {
                    BinOp::And => Some(0).filter(|_| left == 0),
                    BinOp::Or => Some(1).filter(|_| left != 0),
                    BinOp::Imply => Some(1).filter(|_| left == 0),
                    _ => None,
                };
                match decided {
                    Some(n) => number(n),
                    None => {
                        let right = self.number(b)?;
                        number(operate(*op, left, right)?)
                    }
                }
            }
            ExprKind::Cond(c, a, b) => {
                let chosen = if self.truth(c)? { a } else { b };
                Ok(match self.eval(chosen)? {
                    Out::Nothing => Out::Nothing,
                    value => Out::Number(value.number()),
                })
            }
            ExprKind::Assign(op, lhs, rhs) => {
                let to = self.variable(lhs)?;
                match &to {
                    Var::One(s) => {
                        let old = s.value.get();
                        let new = self.number(rhs)?;
                        store(s, op.map_or(Ok(new), |op| operate(op, old, new))?)?;
                    }
                    Var::Many(_) => {
                        let from = self.variable(rhs)?.copied();
                        to.assign(&from);
                    }
                }
                Ok(Out::Variable(to))
            }
            ExprKind::Step { up, prefix, of } => {
                let Var::One(s) = self.variable(of)? else { panic!("no number") };
                let old = s.value.get();
                store(&s, if *up { old + 1 } else { old - 1 })?;
                Ok(if *prefix { Out::Variable(Var::One(s)) } else { Out::Number(old) })
            }
            ExprKind::Quant(q, var, _, body) => {
                let mut result = i64::from(*q == Quant::Forall);
                for n in 0..=1 {
                    self.blocks.push(Names::from([(var.name.clone(), Var::new(n, 0, 1))]));
                    let value = self.number(body);
                    self.blocks.pop();
                    let value = value?;
                    match q {
                        Quant::Sum => result += value,
                        _ => result = i64::from(value != 0),
                    }
                    if (*q == Quant::Forall && result == 0) || (*q == Quant::Exists && result == 1) {
                        break;
                    }
                }
                number(result)
            }
            ExprKind::Call(f, args) => {
                let ExprKind::Name(name) = &f.kind else { panic!("no function") };
                let f = self.functions[name.as_str()];
                let mut params = Names::new();
                for (p, a) in f.params.iter().zip(args) {
                    let given = match (p.by_ref, p.dims.is_empty()) {
                        (true, _) => self.variable(a)?,
                        (false, false) => self.variable(a)?.copied(),
                        (false, true) => {
                            let n = self.number(a)?;
                            let var = shaped(&p.ty, &[]);
                            if let Var::One(s) = &var {
                                store(s, n)?;
                            }
                            var
                        }
                    };
                    params.insert(p.name.name.clone(), given);
                }
                let outer = std::mem::replace(&mut self.blocks, vec![params]);
                let result = self.block(&f.body);
                self.blocks = outer;
                match (result?, &f.ret.base) {
                    (Some(n), _) => {
                        let Var::One(s) = shaped(&f.ret, &[]) else { panic!("a number") };
                        store(&s, n)?;
                        number(s.value.get())
                    }
                    (None, BaseType::Void) => Ok(Out::Nothing),
                    (None, _) => panic!("no return in {name}"),
                }
            }
            other => panic!("{other:?}"),
        }
    }

    /// Runs a block; what it returned, if it did.
    fn block(&mut self, b: &Block) -> Run<Option<i64>> {
        self.blocks.push(Names::new());
        let result = self.block_inside(b);
        self.blocks.pop();
        result
    }

    fn block_inside(&mut self, b: &Block) -> Run<Option<i64>> {
        for d in &b.decls {
            let Decl::Vars(v) = d else { panic!("only variables") };
            for d in &v.names {
                let sizes: Vec<usize> = d.dims.iter().map(|_| 2).collect();
                let var = shaped(&v.ty, &sizes);
                if let Some(init) = &d.init {
                    self.initialise(&var, init)?;
                }
                self.blocks.last_mut().expect("a block").insert(d.name.name.clone(), var);
            }
        }
        for s in &b.stmts {
            if let Some(returned) = self.statement(s)? {
                return Ok(Some(returned));
            }
        }
        Ok(None)
    }

    fn statement(&mut self, s: &Stmt) -> Run<Option<i64>> {
        match s {
            Stmt::Empty => Ok(None),
            Stmt::Expr(e) => self.eval(e).map(|_| None),
            Stmt::Block(b) => self.block(b),
            Stmt::If { cond, then, els } => match (self.truth(cond)?, els) {
                (true, _) => self.statement(then),
                (false, Some(e)) => self.statement(e),
                (false, None) => Ok(None),
            },
            Stmt::While { cond, body, .. } => {
                while self.truth(cond)? {
                    if let Some(n) = self.statement(body)? {
                        return Ok(Some(n));
                    }
                }
                Ok(None)
            }
            Stmt::DoWhile { cond, body, .. } => loop {
                if let Some(n) = self.statement(body)? {
                    return Ok(Some(n));
                }
                if !self.truth(cond)? {
                    return Ok(None);
                }
            },
            Stmt::For { init: Some(init), cond: Some(cond), step: Some(step), body, .. } => {
                self.eval(init)?;
                while self.truth(cond)? {
                    if let Some(n) = self.statement(body)? {
                        return Ok(Some(n));
                    }
                    self.eval(step)?;
                }
                Ok(None)
            }
            Stmt::Iterate { var, body, .. } => {
                for n in 0..=1 {
                    self.blocks.push(Names::from([(var.name.clone(), Var::new(n, 0, 1))]));
                    let result = self.statement(body);
                    self.blocks.pop();
                    if let Some(n) = result? {
                        return Ok(Some(n));
                    }
                }
                Ok(None)
            }
            Stmt::Return(Some(e), _) => self.number(e).map(Some),
            other => panic!("{other:?}"),
        }
    }

    /// All global cells.
    fn cells(&self) -> Vec<i64> {
        fn add(v: &Var, out: &mut Vec<i64>) {
            match v {
                Var::One(s) => out.push(s.value.get()),
                Var::Many(all) => all.iter().for_each(|v| add(v, out)),
            }
        }
        let mut out = Vec::new();
        ["x", "y", "a", "b"].iter().for_each(|n| add(&self.globals[*n], &mut out));
        out
    }
}

/// A fresh variable: plain `int`, or `int[lo,hi]` with numbers, or an array of two by two by …
fn shaped(ty: &TypeExpr, sizes: &[usize]) -> Var {
    if let [n, rest @ ..] = sizes {
        return Var::Many((0..*n).map(|_| shaped(ty, rest)).collect());
    }
    let literal = |e: &Expr| match &e.kind {
        ExprKind::Int(n) => *n,
        ExprKind::Unary(UnOp::Neg, a) => match a.kind {
            ExprKind::Int(n) => -n,
            _ => panic!("a number"),
        },
        _ => panic!("a number"),
    };
    match &ty.base {
        BaseType::Int(Some(bounds)) => {
            let (lo, hi) = (literal(&bounds.0), literal(&bounds.1));
            Var::new(if lo <= 0 && 0 <= hi { 0 } else { lo }, lo, hi)
        }
        _ => Var::new(0, -32768, 32767),
    }
}

fn store(s: &Slot, n: i64) -> Run<()> {
    if n < s.lo || n > s.hi {
        return Err(Fault);
    }
    s.value.set(n);
    Ok(())
}

fn operate(op: BinOp, a: i64, b: i64) -> Run<i64> {
    Ok(match op {
        BinOp::Add => a + b,
        BinOp::Sub => a - b,
        BinOp::Mul => a.checked_mul(b).ok_or(Fault)?,
        BinOp::Div => a.checked_div(b).ok_or(Fault)?,
        BinOp::Mod => a.checked_rem(b).ok_or(Fault)?,
        BinOp::Min => a.min(b),
        BinOp::Max => a.max(b),
        BinOp::Lt => i64::from(a < b),
        BinOp::Le => i64::from(a <= b),
        BinOp::Eq => i64::from(a == b),
        BinOp::Ne => i64::from(a != b),
        BinOp::Ge => i64::from(a >= b),
        BinOp::Gt => i64::from(a > b),
        BinOp::And | BinOp::Or | BinOp::Imply => i64::from(b != 0),
        BinOp::BitAnd => a & b,
        BinOp::BitOr => a | b,
        BinOp::BitXor => a ^ b,
        BinOp::Shl | BinOp::Shr => panic!("not generated"),
    })
}

// Random programs.

/// What may be written and called.
#[derive(Clone, Copy)]
struct Kind {
    /// The names of numbers that may be written.
    numbers: &'static [&'static str],
    /// The names of arrays of two, which may be written.
    arrays: &'static [&'static str],
    /// Calls, with places for arguments: `N` a number, `V` a variable, `A` an array.
    calls: &'static [&'static str],
    /// Whether anything may be written at all.
    effects: bool,
}

const LOCAL: Kind = Kind {
    numbers: &["k", "p"],
    arrays: &["m", "q"],
    calls: &["half(N)", "inc(V)", "swap(V,V)", "total(A)"],
    effects: true,
};
const PURE: Kind = Kind { calls: &["half(N)", "total(A)", "quiet(N,A)", "early(N,A)"], effects: false, ..GLOBAL };
const GLOBAL: Kind = Kind {
    numbers: &["x", "y"],
    arrays: &["a", "b[0]", "b[x & 1]"],
    calls: &["half(N)", "inc(V)", "swap(V,V)", "total(A)", "quiet(N,A)", "early(N,A)", "loud(N,V,A)", "set(A,N)"],
    effects: true,
};
/// Inside a function that may write everything.
const ANY: Kind = Kind { numbers: &["x", "y", "k", "p", "r"], arrays: &["a", "b[1]", "m", "q"], ..LOCAL };

fn number(kind: Kind) -> BoxedStrategy<String> {
    let name = prop::sample::select(kind.numbers);
    let leaf = prop_oneof![(0..4i64).prop_map(|n| n.to_string()), name.prop_map(str::to_string)];
    leaf.prop_recursive(3, 24, 3, move |inner| {
        let name = prop::sample::select(kind.numbers).prop_map(str::to_string);
        let array = prop::sample::select(kind.arrays).prop_map(str::to_string);
        let cell = (array.clone(), inner.clone()).prop_map(|(a, i)| format!("{a}[({i}) & 1]"));
        let strict = prop::sample::select(&["+", "-", "+", "-", "<?", ">?", "&", "|", "^", "*"][..]);
        let test = prop::sample::select(&["<", "<=", "==", "!=", ">", ">=", "&&", "||", "imply", "&&", "||"][..]);
        let quantifier = prop::sample::select(&["forall", "exists", "sum"][..]);
        let variable = prop_oneof![name, cell.clone()].boxed();
        let call = call(kind, inner.clone().boxed(), variable.clone(), array.boxed());
        let plain = prop_oneof![
            3 => (inner.clone(), strict, inner.clone()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            3 => (inner.clone(), test, inner.clone()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            // Not by a plain zero, which is refused.
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} / (y > 99 ? 1 : {b}))")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} % (y > 99 ? 1 : {b}))")),
            1 => inner.clone().prop_map(|a| format!("(- {a})")),
            1 => inner.clone().prop_map(|a| format!("(!{a})")),
            2 => cell,
            2 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
            1 => (quantifier, inner.clone()).prop_map(|(q, a)| format!("({q} (i : int[0,1]) ({a} + i > 1))")),
            3 => call,
        ];
        if !kind.effects {
            return plain.boxed();
        }
        prop_oneof![3 => plain, 2 => effect(variable, inner)].boxed()
    })
    .boxed()
}

/// An assignment or a step, in brackets.
fn effect(
    variable: BoxedStrategy<String>,
    number: impl Strategy<Value = String> + Clone + 'static,
) -> BoxedStrategy<String> {
    let op = prop::sample::select(&["=", "=", "+=", "-=", "|="][..]);
    prop_oneof![
        2 => (variable.clone(), op, number).prop_map(|(v, op, e)| format!("({v} {op} {e})")),
        1 => variable.clone().prop_map(|v| format!("{v}++")),
        1 => variable.clone().prop_map(|v| format!("--{v}")),
        1 => variable.prop_map(|v| format!("++{v}")),
    ]
    .boxed()
}

fn call(
    kind: Kind,
    n: BoxedStrategy<String>,
    v: BoxedStrategy<String>,
    a: BoxedStrategy<String>,
) -> BoxedStrategy<String> {
    let args = (prop::collection::vec(n, 2), prop::collection::vec(v, 2), a);
    (prop::sample::select(kind.calls), args)
        .prop_map(|(call, (n, v, a))| {
            let (mut n, mut v) = (n.into_iter(), v.into_iter());
            let fill = |c: char| match c {
                'N' => n.next().unwrap_or_default(),
                'V' => v.next().unwrap_or_default(),
                'A' => a.clone(),
                c => c.to_string(),
            };
            call.chars().map(fill).collect()
        })
        .boxed()
}

fn statements(kind: Kind) -> BoxedStrategy<String> {
    let simple = prop_oneof![
        4 => number(kind).prop_map(|e| format!("{e};")),
        1 => number(kind).prop_map(|e| format!("if ({e}) return {e} + 1;")),
    ];
    simple
        .prop_recursive(3, 12, 3, move |inner| {
            prop_oneof![
                2 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} {b}")),
                2 => (number(kind), inner.clone(), inner.clone()).prop_map(|(c, a, b)| format!("if ({c}) {{ {a} }} else {{ {b} }}")),
                1 => (number(kind), inner.clone()).prop_map(|(c, a)| format!("if ({c}) {{ int k = p; {a} }}")),
                1 => inner.clone().prop_map(|a| format!("for (j : int[0,1]) {{ k += j; {a} }}")),
                1 => inner.clone().prop_map(|a| format!("{{ int c; for (c = 0; c < 2; c++) {{ {a} }} }}")),
                1 => (inner.clone(), number(kind)).prop_map(|(a, e)| format!("{{ int c; while (c++ < 2 && {e} < 9) {{ {a} }} }}")),
                1 => (inner.clone(), number(kind)).prop_map(|(a, e)| format!("{{ int c; do {{ {a} }} while (c++ < 2 && ({e}) > 0); }}")),
                1 => number(kind).prop_map(|e| format!("return {e};")),
            ]
        })
        .boxed()
}

fn functions() -> impl Strategy<Value = String> {
    (number(LOCAL), statements(LOCAL), statements(LOCAL), statements(ANY), number(ANY)).prop_map(
        |(e, quiet, early, loud, f)| {
            format!(
                "int half(int p) {{ return p / 2; }} int inc(int &p) {{ return ++p; }} \
             int swap(int &p, int &q) {{ int h = p; p = q; q = h; return p; }} \
             int total(const int q[2]) {{ return q[0] * 10 + q[1]; }} \
             int set(int &q[2], int p) {{ int m[2] = {{ p, q[0] }}; q = m; return q[1]; }}\n\
             int quiet(int p, int q[2]) {{ int k, m[2]; {quiet} return k + m[0] + {e}; }}\n\
             int early(int[-99,99] p, int q[2]) {{ int k = 1, m[2] = {{ p, 2 }}; {early} return k; }}\n\
             int loud(int p, int &r, int &q[2]) {{ int k, m[2]; {loud} return {f}; }}\n"
            )
        },
    )
}

const GLOBALS: &str = "int x = 1, y = 2, a[2] = { 3, 4 }, b[2][2] = { { 5, 6 }, { 7, 8 } };\n";

/// What the walker and both interpreters make of an update.
fn compare(text: &str, update: &str) -> Result<bool, TestCaseError> {
    let model = format!(
        "{GLOBALS}{text}process P() {{ state A, B; init A; trans A -> B {{ assign {update}; }}; }}\nsystem P;\n"
    );
    let (nta, diags) = parse_xta(SOURCE, &model);
    prop_assert!(diags.is_empty(), "{model}\n{diags:?}");
    let mut walker = Walker::new(&nta);
    let walked = nta.templates[0].edges[0].update.iter().try_for_each(|u| walker.eval(u).map(|_| ()));
    let net = super::built(&model, "").map_err(TestCaseError::fail)?.network;
    match (walked, super::steps(&net)) {
        (Ok(()), Ok(after)) => prop_assert_eq!(&after[0].data, &walker.cells(), "{}", model),
        (Err(Fault), Err(_)) => return Ok(false),
        (Ok(()), Err(e)) => prop_assert!(false, "{e} in {model}"),
        (Err(Fault), Ok(_)) => prop_assert!(false, "no fault in {model}"),
    }
    Ok(true)
}

/// The same for a number in a query.
fn compare_query(text: &str, query: &str) -> Result<bool, TestCaseError> {
    let model = format!("{GLOBALS}{text}process P() {{ state A; init A; }} system P;\n");
    let (nta, diags) = parse_xta(SOURCE, &model);
    prop_assert!(diags.is_empty(), "{model}\n{diags:?}");
    let asked = trellis_syntax::uppaal::parse_expr(SOURCE, query).0.expect("an expression");
    let walked = Walker::new(&nta).number(&asked).ok();
    let built = super::built(&model, &format!("sup: {query}")).map_err(TestCaseError::fail)?;
    prop_assert_eq!(super::judged(&built.network, &built.queries[0]).ok(), walked, "{} in {}", query, model);
    Ok(walked.is_some())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn updates_mean_what_they_say(functions in functions(), update in prop::collection::vec(number(GLOBAL), 1..4)) {
        compare(&functions, &update.join(", "))?;
    }

    #[test]
    fn queries_mean_what_they_say(functions in functions(), query in number(PURE)) {
        compare_query(&functions, &query)?;
    }
}

/// The random programs are of use only if most of them run to their end.
#[test]
fn most_random_programs_run() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let all = (functions(), number(GLOBAL));
    let mut ran = 0;
    for _ in 0..200 {
        let (functions, update) = all.new_tree(&mut runner).expect("a program").current();
        ran += usize::from(compare(&functions, &update).unwrap_or_else(|e| panic!("{e}")));
    }
    assert!(ran > 120, "{ran} of 200");
}
