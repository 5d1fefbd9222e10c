//! How the lattices of this library declare their methods: one table each, from which the method list, the dispatch
//! of calls and the help text all come, so that they cannot disagree.

use super::{Method, MethodError, MethodKind, Word};

/// What happens to a method's result when the element grows.
///
/// Cover checks and joins are sound only for models whose guards keep holding when an element grows (000 Def. 2, the
/// monotonicity property): `q() >= k` does if `q` is monotone, `q() <= k` does if `q` is antitone. The arguments are the
/// same for both elements; whether a call fails depends on them alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trend {
    /// It grows too, or stays: `a ⊑ b` implies `f(a) ≤ f(b)`, or `f(a) ⊑ f(b)` for an update.
    Monotone,
    /// It shrinks, or stays.
    Antitone,
    /// Neither.
    Neither,
}

/// One method, as the help shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodDoc {
    /// How it is called: `set(i, b)`.
    pub usage: &'static str,
    /// Whether it asks or changes.
    pub kind: MethodKind,
    /// How it moves with the element.
    pub trend: Trend,
    /// What it does, in a few words.
    pub about: &'static str,
}

pub(super) type Truth = Result<bool, MethodError>;
pub(super) type Done = Result<(), MethodError>;

/// A row of a lattice's method table.
pub(super) struct Op<L> {
    usage: &'static str,
    trend: Trend,
    about: &'static str,
    body: Body<L>,
}

/// What a method runs. The variant fixes its kind and the number of its arguments.
pub(super) enum Body<L> {
    /// A query that gives a number.
    Num0(fn(&L, &[Word]) -> i64),
    /// A query that gives a truth value.
    Is0(fn(&L, &[Word]) -> bool),
    Is1(fn(&L, &[Word], i64) -> Truth),
    /// An update.
    Do0(fn(&L, &mut [Word])),
    Do1(fn(&L, &mut [Word], i64) -> Done),
    Do2(fn(&L, &mut [Word], i64, i64) -> Done),
    /// An update that takes any argument.
    Put1(fn(&L, &mut [Word], i64)),
}

/// A row of a method table.
pub(super) const fn op<L>(usage: &'static str, trend: Trend, about: &'static str, body: Body<L>) -> Op<L> {
    Op { usage, trend, about, body }
}

impl<L> Op<L> {
    pub(super) fn doc(&self) -> MethodDoc {
        MethodDoc { usage: self.usage, kind: self.signature().0, trend: self.trend, about: self.about }
    }

    fn signature(&self) -> (MethodKind, usize) {
        match self.body {
            Body::Num0(_) | Body::Is0(_) => (MethodKind::Query, 0),
            Body::Is1(_) => (MethodKind::Query, 1),
            Body::Do0(_) => (MethodKind::Update, 0),
            Body::Do1(_) | Body::Put1(_) => (MethodKind::Update, 1),
            Body::Do2(_) => (MethodKind::Update, 2),
        }
    }
}

/// The table as [`Lattice::methods`](super::Lattice::methods) wants it.
pub(super) fn list<L>(table: &[Op<L>]) -> Vec<Method> {
    let method = |op: &Op<L>| {
        let name = op.usage.split('(').next().unwrap_or(op.usage).to_owned();
        let (kind, args) = op.signature();
        let truth = matches!(op.body, Body::Is0(_) | Body::Is1(_));
        Method { name, args, kind, trend: op.trend, truth }
    };
    table.iter().map(method).collect()
}

pub(super) fn query<L>(
    table: &[Op<L>],
    lattice: &L,
    method: usize,
    elem: &[Word],
    args: &[i64],
) -> Result<i64, MethodError> {
    match (table.get(method).map(|op| &op.body), args) {
        (Some(Body::Num0(ask)), []) => Ok(ask(lattice, elem)),
        (Some(Body::Is0(ask)), []) => Ok(ask(lattice, elem).into()),
        (Some(Body::Is1(ask)), &[a]) => ask(lattice, elem, a).map(i64::from),
        _ => Err(misuse(table, method, args, "query")),
    }
}

pub(super) fn update<L>(table: &[Op<L>], lattice: &L, method: usize, elem: &mut [Word], args: &[i64]) -> Done {
    match (table.get(method).map(|op| &op.body), args) {
        (Some(Body::Do0(run)), []) => {
            run(lattice, elem);
            Ok(())
        }
        (Some(Body::Put1(run)), &[a]) => {
            run(lattice, elem, a);
            Ok(())
        }
        (Some(Body::Do1(run)), &[a]) => run(lattice, elem, a),
        (Some(Body::Do2(run)), &[a, b]) => run(lattice, elem, a, b),
        _ => Err(misuse(table, method, args, "update")),
    }
}

#[cold]
fn misuse<L>(table: &[Op<L>], method: usize, args: &[i64], kind: &str) -> MethodError {
    let called = table.get(method).map_or("no such method", |op| op.usage);
    MethodError(format!("method {method} ({called}) is not {kind} with {} arguments", args.len()))
}

/// A lattice without methods of its own answers every call with this.
pub(super) fn no_methods<T>() -> Result<T, MethodError> {
    Err(MethodError("this lattice has no methods of its own; call those of its parts".to_owned()))
}

/// Checks that `i` numbers one of `n` things, and tells the model's author otherwise.
#[inline]
pub(super) fn index(what: &str, i: i64, n: usize) -> Result<usize, MethodError> {
    match usize::try_from(i) {
        Ok(i) if i < n => Ok(i),
        _ => Err(MethodError(format!("there is no {what} {i}: they are numbered 0 to {}", n.saturating_sub(1)))),
    }
}

/// The parts of `impl Lattice` that follow from a `METHODS` table and from having a meet.
macro_rules! from_method_table {
    ($lattice:ty) => {
        fn methods(&self) -> &[$crate::Method] {
            static LIST: std::sync::LazyLock<Vec<$crate::Method>> =
                std::sync::LazyLock::new(|| $crate::lattice::method::list(<$lattice>::METHODS));
            &LIST
        }

        fn query(&self, method: usize, elem: &[Word], args: &[i64]) -> Result<i64, $crate::MethodError> {
            $crate::lattice::method::query(Self::METHODS, self, method, elem, args)
        }

        fn update(&self, method: usize, elem: &mut [Word], args: &[i64]) -> Result<(), $crate::MethodError> {
            $crate::lattice::method::update(Self::METHODS, self, method, elem, args)
        }

        fn as_meet(&self) -> Option<&dyn Meet<Elem = [Word]>> {
            Some(self)
        }

        fn is_vouched_for(&self) -> bool {
            true
        }
    };
}
pub(super) use from_method_table;
