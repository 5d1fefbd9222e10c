//! A second meaning of XSTS, straight on the tree and as plain as can be: all states that a statement can lead to. Values have no
//! types: a literal of an enumeration is its name. Local variables live in frames that come and go. Nothing is shared with the
//! front end but the tree.

use std::collections::{BTreeMap, BTreeSet};

use trellis_syntax::xsts::ast::{Expr, ExprKind, File, Op, Set, Stmt, StmtKind, TypeKind, TypeName};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    Bool(bool),
    Int(i64),
    Literal(String),
    /// The entries that were given, and all others.
    Array(BTreeMap<Value, Value>, Box<Value>),
}

/// Frames of variables; the first one is the global one.
pub type State = Vec<Vec<(String, Value)>>;

pub struct Reference<'a> {
    pub file: &'a File<'a>,
}

impl<'a> Reference<'a> {
    /// All values of a type; none, if there are infinitely many.
    fn all(&self, ty: &TypeName<'a>) -> Option<Vec<Value>> {
        match &ty.kind {
            TypeKind::Bool => Some(vec![Value::Bool(false), Value::Bool(true)]),
            TypeKind::Int => None,
            TypeKind::Named(name) => {
                let ty = self.file.types.iter().find(|t| t.name == *name)?;
                Some(ty.literals.iter().map(|l| Value::Literal(l.0.to_string())).collect())
            }
            TypeKind::Array(index, entry) => {
                let (indexes, entries) = (self.all(index)?, self.all(entry)?);
                let mut all = vec![BTreeMap::new()];
                for i in &indexes {
                    let with = |a: &BTreeMap<Value, Value>, v: &Value| {
                        let mut a = a.clone();
                        a.insert(i.clone(), v.clone());
                        a
                    };
                    all = all.iter().flat_map(|a| entries.iter().map(|v| with(a, v)).collect::<Vec<_>>()).collect();
                }
                Some(all.into_iter().map(|a| Value::Array(a, Box::new(entries[0].clone()))).collect())
            }
        }
    }

    /// As text, in the way of `run::show`.
    fn show(&self, ty: &TypeName<'a>, value: &Value) -> String {
        match (value, &ty.kind) {
            (Value::Bool(b), _) => b.to_string(),
            (Value::Int(n), _) => n.to_string(),
            (Value::Literal(name), _) => name.clone(),
            (Value::Array(entries, default), TypeKind::Array(index, entry)) => {
                let all = self.all(index).expect("few indexes");
                let at = |i: &Value| self.show(entry, entries.get(i).unwrap_or(default));
                format!("[{}]", all.iter().map(at).collect::<Vec<_>>().join(" "))
            }
            _ => unreachable!("an array of another type"),
        }
    }

    pub fn key(&self, state: &State) -> String {
        let value = |(n, v): (usize, &(String, Value))| self.show(&self.file.variables[n].ty, &v.1);
        state[0].iter().enumerate().map(value).collect::<Vec<_>>().join(", ")
    }

    /// The states before `init`.
    pub fn start(&self) -> Vec<State> {
        let mut all: Vec<State> = vec![vec![vec![]]];
        for v in &self.file.variables {
            let mut next = vec![];
            for state in all {
                let values = match &v.value {
                    Some(e) => self.eval(e, &state).into_iter().collect(),
                    None => self.all(&v.ty).expect("few values"),
                };
                for value in values {
                    let mut state = state.clone();
                    state[0].push((v.name.to_string(), value));
                    next.push(state);
                }
            }
            all = next;
        }
        all
    }

    /// All that a set can do to a state.
    pub fn set(&self, set: &Set<'a>, state: &State) -> Vec<State> {
        set.branches.iter().flat_map(|b| self.run(b, state.clone())).map(|s| vec![s[0].clone()]).collect()
    }

    /// What the property says; nothing if it has no value.
    pub fn holds(&self, e: &Expr<'a>, state: &State) -> Option<bool> {
        self.truth(e, state)
    }

    fn run(&self, s: &Stmt<'a>, mut state: State) -> Vec<State> {
        match &s.kind {
            StmtKind::Block(all) => {
                state.push(vec![]);
                let mut states = vec![state];
                for s in all {
                    let after: BTreeSet<State> = states.into_iter().flat_map(|state| self.run(s, state)).collect();
                    states = after.into_iter().collect();
                }
                for state in &mut states {
                    state.pop();
                }
                states
            }
            StmtKind::Choice(branches) => branches.iter().flat_map(|b| self.run(b, state.clone())).collect(),
            StmtKind::If(c, then, otherwise) => match (self.truth(c, &state), otherwise) {
                (None, _) => vec![],
                (Some(true), _) => self.run(then, state),
                (Some(false), Some(otherwise)) => self.run(otherwise, state),
                (Some(false), None) => vec![state],
            },
            StmtKind::For { name, from, to, body, .. } => {
                let (Some(from), Some(to)) = (self.number(from, &state), self.number(to, &state)) else {
                    return vec![];
                };
                let mut states = vec![state];
                for i in from..to {
                    let mut after = BTreeSet::new();
                    for mut state in states {
                        state.push(vec![(name.to_string(), Value::Int(i))]);
                        for mut state in self.run(body, state) {
                            state.pop();
                            after.insert(state);
                        }
                    }
                    states = after.into_iter().collect();
                }
                states
            }
            StmtKind::Local(v) => {
                let values = match &v.value {
                    Some(e) => self.eval(e, &state).into_iter().collect(),
                    None => self.all(&v.ty).expect("few values"),
                };
                let with = |value| {
                    let mut state = state.clone();
                    state.last_mut().expect("a frame").push((v.name.to_string(), value));
                    state
                };
                values.into_iter().map(with).collect()
            }
            StmtKind::Assign(name, e) => match self.eval(e, &state) {
                Some(value) => {
                    assign(&mut state, name, value);
                    vec![state]
                }
                None => vec![],
            },
            StmtKind::Store(name, i, e) => {
                let (Some(i), Some(e)) = (self.eval(i, &state), self.eval(e, &state)) else { return vec![] };
                let Some(Value::Array(mut entries, default)) = lookup(&state, name) else { unreachable!("no array") };
                entries.insert(i, e);
                assign(&mut state, name, Value::Array(entries, default));
                vec![state]
            }
            StmtKind::Havoc(name, _) => {
                let ty = self.file.variables.iter().find(|v| v.name == *name).map(|v| &v.ty).expect("a global one");
                let with = |value| {
                    let mut state = state.clone();
                    assign(&mut state, name, value);
                    state
                };
                self.all(ty).expect("few values").into_iter().map(with).collect()
            }
            StmtKind::Assume(e) => match self.truth(e, &state) {
                Some(true) => vec![state],
                _ => vec![],
            },
        }
    }

    fn truth(&self, e: &Expr<'a>, state: &State) -> Option<bool> {
        match self.eval(e, state)? {
            Value::Bool(b) => Some(b),
            other => unreachable!("{other:?} is no truth value"),
        }
    }

    fn number(&self, e: &Expr<'a>, state: &State) -> Option<i64> {
        match self.eval(e, state)? {
            Value::Int(n) => Some(n),
            other => unreachable!("{other:?} is no number"),
        }
    }

    /// Nothing: it has no value.
    fn eval(&self, e: &Expr<'a>, state: &State) -> Option<Value> {
        Some(match &e.kind {
            ExprKind::Bool(b) => Value::Bool(*b),
            ExprKind::Int(digits) => Value::Int(digits.parse().expect("a small number")),
            ExprKind::Name(name) => match lookup(state, name) {
                Some(value) => value,
                None => Value::Literal(name.rsplit('.').next().unwrap_or(name).to_string()),
            },
            ExprKind::Not(a) => Value::Bool(!self.truth(a, state)?),
            ExprKind::Neg(a) => Value::Int(-self.number(a, state)?),
            ExprKind::Chain(first, rest) => {
                let mut left = self.eval(first, state)?;
                for (op, _, right) in rest {
                    left = self.apply(left, *op, right, state)?;
                }
                left
            }
            ExprKind::Ite(parts) => match self.truth(&parts[0], state)? {
                true => self.eval(&parts[1], state)?,
                false => self.eval(&parts[2], state)?,
            },
            ExprKind::Read(parts) => {
                let (array, i) = (self.eval(&parts[0], state)?, self.eval(&parts[1], state)?);
                let Value::Array(entries, default) = array else { unreachable!("no array") };
                entries.get(&i).cloned().unwrap_or(*default)
            }
            ExprKind::Write(parts) => {
                let (array, i) = (self.eval(&parts[0], state)?, self.eval(&parts[1], state)?);
                let Value::Array(mut entries, default) = array else { unreachable!("no array") };
                entries.insert(i, self.eval(&parts[2], state)?);
                Value::Array(entries, default)
            }
            ExprKind::Array { entries, default, .. } => {
                let default = self.eval(default, state)?;
                let mut all = BTreeMap::new();
                for (i, v) in entries {
                    let (i, v) = (self.eval(i, state)?, self.eval(v, state)?);
                    all.entry(i).or_insert(v);
                }
                Value::Array(all, Box::new(default))
            }
        })
    }

    fn apply(&self, left: Value, op: Op, right: &Expr<'a>, state: &State) -> Option<Value> {
        // These need not look at the right.
        match (op, &left) {
            (Op::And, Value::Bool(false)) => return Some(Value::Bool(false)),
            (Op::Or, Value::Bool(true)) | (Op::Imply, Value::Bool(false)) => return Some(Value::Bool(true)),
            _ => {}
        }
        let right = self.eval(right, state)?;
        if let (Value::Int(a), Value::Int(b)) = (&left, &right) {
            let (a, b) = (*a, *b);
            return Some(match op {
                Op::Eq => Value::Bool(a == b),
                Op::Ne => Value::Bool(a != b),
                Op::Lt => Value::Bool(a < b),
                Op::Le => Value::Bool(a <= b),
                Op::Gt => Value::Bool(a > b),
                Op::Ge => Value::Bool(a >= b),
                Op::Add => Value::Int(a + b),
                Op::Sub => Value::Int(a - b),
                Op::Mul => Value::Int(a * b),
                Op::Div => Value::Int(a.checked_div_euclid(b)?),
                Op::Mod => Value::Int(a.checked_rem_euclid(b)?),
                Op::Rem => Value::Int(a.checked_rem_euclid(b)? * b.signum()),
                _ => unreachable!("{op:?} of numbers"),
            });
        }
        Some(match op {
            Op::And | Op::Or | Op::Imply => right,
            Op::Iff | Op::Eq => Value::Bool(left == right),
            Op::Xor | Op::Ne => Value::Bool(left != right),
            _ => unreachable!("{op:?} of {left:?}"),
        })
    }
}

fn lookup(state: &State, name: &str) -> Option<Value> {
    state.iter().rev().flat_map(|frame| frame.iter().rev()).find(|v| v.0 == name).map(|v| v.1.clone())
}

fn assign(state: &mut State, name: &str, value: Value) {
    let all = state.iter_mut().rev().flat_map(|frame| frame.iter_mut().rev());
    all.into_iter().find(|v| v.0 == name).expect("a variable").1 = value;
}
