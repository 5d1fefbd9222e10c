//! Where variables lie: each scalar leaf of a variable is one cell or one flat array of cells, and a part of a variable
//! is the same leaves with an index.

use rustc_hash::FxHashMap;
use trellis_expr::{TermId, Type, VarId};
use trellis_model::network::DataVar;
use trellis_model::network::symmetry::Holder;

use super::scope::{Kind, Value};
use super::types::{Range, Ty};
use super::{Builder, Res};
use crate::diag::Span;

/// A variable or a part of one. Structs of arrays, arrays of structs: each scalar leaf is one flat array, and `index` says
/// where in all of them the part lies.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub ty: Ty,
    pub leaves: Vec<VarId>,
    pub index: TermId,
    pub writable: bool,
}

/// A channel or an array of them.
#[derive(Debug, Clone)]
pub(crate) struct ChanPlace {
    pub ty: Ty,
    pub base: u32,
    pub index: TermId,
}

/// What is known of a leaf.
#[derive(Debug, Clone)]
pub(crate) struct Leaf {
    pub lo: i64,
    pub hi: i64,
    pub is_bool: bool,
    /// Whether it is an array in the terms.
    pub array: bool,
    /// For constants: the cells' values.
    pub value: Option<Vec<i64>>,
    /// Whether only updates may write it: it is part of the state, or `meta`.
    pub shared: bool,
    /// For clocks: the number of the first, and how many there are. Such a variable stands for them in places only; no
    /// term reads it.
    pub clocks: Option<(u32, u32)>,
}

/// What a variable is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Part of the state.
    State,
    /// Visible to all edges, but not part of the state.
    Meta,
    /// Local to a function, or a help in the middle of an expression.
    Temp,
    Const,
}

/// Temporaries of one shape, which every guard, update or query uses anew.
#[derive(Debug, Default)]
pub(crate) struct Temps {
    vars: Vec<VarId>,
    /// How many are in use, by which unit.
    used: usize,
    unit: u64,
}

/// All temporaries by bounds, kind and length.
pub(crate) type Pool = FxHashMap<(i64, i64, bool, usize), Temps>;

/// The shape of a leaf.
#[derive(Debug, Clone)]
struct Shape {
    name: String,
    lo: i64,
    hi: i64,
    is_bool: bool,
    is_clock: bool,
    /// First index and length of each dimension, outermost first.
    dims: Vec<(i64, i64)>,
    /// The scalar set that a cell's value is from, and those that the dimensions are indexed by; 0 for numbers.
    set: u32,
    sets: Vec<u32>,
}

impl Shape {
    fn cells(&self) -> usize {
        self.dims.iter().map(|d| d.1 as usize).product()
    }
}

impl Builder<'_> {
    /// A variable of data and clocks, given its cells in type order (arrays of structs: entry by entry).
    pub fn declare_place(&mut self, name: &str, ty: &Ty, cells: &[i64], role: Role, span: Span) -> Res<Place> {
        // A variable takes more room than its cells.
        self.spend_cells(cells.len() as i64 + 3, span)?;
        let mut shapes = Vec::new();
        leaf_shapes(ty, name.to_string(), &[], &mut shapes);
        let mut values = vec![Vec::new(); shapes.len()];
        distribute(ty, &mut cells.iter().copied(), &mut values);
        let mut names = vec![Vec::new(); shapes.len()];
        if ty.has_clocks() {
            let mut all = Vec::new();
            cell_names(ty, name.to_string(), &mut all);
            distribute(ty, &mut all.into_iter(), &mut names);
        }
        let mut leaves = Vec::new();
        for ((shape, values), names) in shapes.into_iter().zip(values).zip(names) {
            leaves.push(if shape.is_clock {
                let first = self.add_clocks(names, span)?;
                if !shape.dims.is_empty() {
                    self.net.clock_arrays.push((first, shape.dims.clone()));
                }
                for (j, set) in shape.sets.iter().enumerate() {
                    if let Some(s) = set.checked_sub(1).and_then(|s| self.net.scalars.get_mut(s as usize)) {
                        s.clocks.push((self.net.clock_arrays.len() as u32 - 1, j as u32));
                    }
                }
                self.clock_leaf(&shape, first)
            } else {
                self.declare_leaf(shape, values, role)
            });
        }
        let index = self.int(0);
        Ok(Place { ty: ty.clone(), leaves, index, writable: role != Role::Const })
    }

    fn declare_leaf(&mut self, shape: Shape, init: Vec<i64>, role: Role) -> VarId {
        let Shape { name, lo, hi, is_bool, dims, set, sets, .. } = shape;
        let cell = if is_bool { Type::Bool } else { Type::Range(lo, hi) };
        let array = !dims.is_empty();
        let ty = if array { self.net.terms.array_type(Type::Range(0, init.len() as i64 - 1), cell) } else { cell };
        let var = self.net.terms.declare(name.clone(), ty);
        let value = (role == Role::Const).then(|| init.clone());
        let shared = matches!(role, Role::State | Role::Meta);
        self.leaves.insert(var, Leaf { lo, hi, is_bool, array, value, shared, clocks: None });
        let data = DataVar { name, var, lo, hi, is_bool, dims, init };
        if role == Role::State {
            self.net.vars.push(data);
            self.note_scalar(set, Holder::Value(var));
            for (j, set) in sets.into_iter().enumerate() {
                self.note_scalar(set, Holder::Dim(var, j as u32));
            }
        } else {
            self.net.temps.push(data);
            if role != Role::Temp {
                self.net.meta.push(var);
            }
        }
        var
    }

    /// This holds members of a scalar set, or is indexed by them.
    pub fn note_scalar(&mut self, set: u32, holder: Holder) {
        if let Some(s) = set.checked_sub(1).and_then(|s| self.net.scalars.get_mut(s as usize)) {
            s.holders.push(holder);
        }
    }

    /// What stands for some clocks in places.
    fn clock_leaf(&mut self, shape: &Shape, first: u32) -> VarId {
        let (array, cells) = (!shape.dims.is_empty(), shape.cells());
        let cell = Type::Range(0, 0);
        let ty = if array { self.net.terms.array_type(Type::Range(0, cells as i64 - 1), cell) } else { cell };
        let var = self.net.terms.declare(shape.name.clone(), ty);
        let clocks = Some((first, cells as u32));
        self.leaves.insert(var, Leaf { lo: 0, hi: 0, is_bool: false, array, value: None, shared: true, clocks });
        var
    }

    /// A temporary of its own, which no unit uses for anything else.
    pub fn lone_temp(&mut self, name: String) -> VarId {
        let shape =
            Shape { name, lo: 0, hi: 1, is_bool: true, is_clock: false, dims: Vec::new(), set: 0, sets: Vec::new() };
        self.declare_leaf(shape, vec![0], Role::Temp)
    }

    /// From here on, temporaries may be used anew: a guard, an update, a query begins.
    pub fn new_unit(&mut self) {
        self.unit += 1;
    }

    /// A temporary that nothing else in this unit uses: one cell, or an array of so many.
    pub fn temp(&mut self, lo: i64, hi: i64, is_bool: bool, array: Option<usize>) -> VarId {
        let shape = (lo, hi, is_bool, array.unwrap_or(0));
        let temps = self.pool.entry(shape).or_default();
        if temps.unit != self.unit {
            (temps.unit, temps.used) = (self.unit, 0);
        }
        temps.used += 1;
        if let Some(&v) = temps.vars.get(temps.used - 1) {
            return v;
        }
        self.owe(16 + array.unwrap_or(0) as u64);
        let name = format!("tmp{}", self.net.temps.len());
        let dims = array.map(|n| (0, n as i64)).into_iter().collect();
        let init = vec![default_value(lo, hi); array.unwrap_or(1)];
        let v = self.declare_leaf(
            Shape { name, lo, hi, is_bool, is_clock: false, dims, set: 0, sets: Vec::new() },
            init,
            Role::Temp,
        );
        self.pool.entry(shape).or_default().vars.push(v);
        v
    }

    /// A temporary for one value.
    pub fn temp_for(&mut self, kind: Kind) -> VarId {
        match kind {
            Kind::Bool => self.temp(0, 1, true, None),
            _ => self.temp(i64::MIN / 2, i64::MAX / 2, false, None),
        }
    }

    /// The temporary that says whether a state is a deadlock.
    pub fn deadlock(&mut self) -> VarId {
        if let Some(d) = self.net.deadlock {
            return d;
        }
        let d = self.lone_temp("deadlock".into());
        self.net.deadlock = Some(d);
        d
    }

    /// Cells for a local variable of a function. (Clocks in it only occur when a function that nobody calls is looked at;
    /// which ones they are does not matter then.)
    pub fn local_place(&mut self, ty: &Ty) -> Place {
        let mut shapes = Vec::new();
        leaf_shapes(ty, String::new(), &[], &mut shapes);
        let len = |s: &Shape| (!s.dims.is_empty()).then(|| s.cells());
        let mut leaf = |s: &Shape| match s.is_clock {
            true => self.clock_leaf(s, 1),
            false => self.temp(s.lo, s.hi, s.is_bool, len(s)),
        };
        let leaves = shapes.iter().map(&mut leaf).collect();
        let index = self.int(0);
        Place { ty: ty.clone(), leaves, index, writable: true }
    }

    /// The position in a flat array: `index * len + (i - lo)`, with `i` checked.
    pub fn flat_index(&mut self, index: TermId, i: TermId, lo: i64, len: i64) -> TermId {
        let checked = self.terms().checked(i, lo, lo + len - 1);
        let lo = self.int(-lo);
        let rel = self.terms().add([checked, lo]);
        let len = self.int(len);
        let row = self.terms().mul(index, len);
        self.terms().add([row, rel])
    }

    /// One entry of an array.
    pub fn entry(&mut self, p: &Place, i: TermId) -> Place {
        let Ty::Array(r, t) = &p.ty else { return p.clone() };
        let index = self.flat_index(p.index, i, r.lo, r.len);
        Place { ty: (**t).clone(), leaves: p.leaves.clone(), index, writable: p.writable }
    }

    /// One entry of an array, by a number.
    pub fn constant_entry(&mut self, p: &Place, i: i64) -> Place {
        let i = self.int(i);
        self.entry(p, i)
    }

    /// The fields of a struct.
    pub fn fields(p: &Place) -> Vec<(String, Place)> {
        let Ty::Struct(fields) = &p.ty else { return Vec::new() };
        let mut at = 0;
        let mut all = Vec::new();
        for (name, t) in fields.iter() {
            let leaves = p.leaves[at..at + t.leaf_count()].to_vec();
            at += leaves.len();
            all.push((name.clone(), Place { ty: t.clone(), leaves, index: p.index, writable: p.writable }));
        }
        all
    }

    /// One field of a struct.
    pub fn field(p: &Place, name: &str) -> Option<Place> {
        Self::fields(p).into_iter().find(|(n, _)| n == name).map(|(_, field)| field)
    }

    /// The value of a scalar variable.
    pub fn read(&mut self, p: &Place) -> Value {
        let kind = Kind::of(&p.ty);
        let var = p.leaves[0];
        let leaf = &self.leaves[&var];
        if let (Some(cells), Some(i)) = (&leaf.value, self.net.terms.as_int(p.index))
            && let Some(&n) = cells.get(i as usize)
        {
            return self.literal(n, kind);
        }
        let array = leaf.array;
        let mut term = self.terms().var(var);
        if array {
            term = self.terms().select(term, p.index);
        }
        Value { term, kind }
    }

    /// Is it all of a variable, not an entry of an array?
    pub fn is_whole(&self, p: &Place) -> bool {
        let len = |v: &VarId| match self.net.terms.variable(*v).ty {
            Type::Array(index, _) => {
                self.net.terms.type_bounds(self.net.terms.type_of_id(index)).map(|(_, last)| last + 1)
            }
            _ => Some(1),
        };
        self.net.terms.as_int(p.index) == Some(0)
            && p.leaves.iter().map(len).eq(p.ty.leaf_sizes().into_iter().map(Some))
    }

    /// Is it a constant, all of it and in one known place?
    pub fn is_constant(&self, p: &Place) -> bool {
        self.net.terms.as_int(p.index).is_some() && p.leaves.iter().all(|v| self.leaves[v].value.is_some())
    }
}

/// What a cell holds when the model does not say: zero, or the lower bound where zero does not fit.
pub(crate) fn default_value(lo: i64, hi: i64) -> i64 {
    if lo <= 0 && 0 <= hi { 0 } else { lo }
}

/// One flat array per scalar leaf.
fn leaf_shapes(ty: &Ty, name: String, ranges: &[Range], out: &mut Vec<Shape>) {
    let shape = |name, (lo, hi, is_bool), is_clock| Shape {
        name,
        lo,
        hi,
        is_bool,
        is_clock,
        dims: ranges.iter().map(|r| (r.lo, r.len)).collect(),
        set: if let Ty::Scalar { set, .. } = ty { *set } else { 0 },
        sets: ranges.iter().map(|r| r.set).collect(),
    };
    match ty {
        Ty::Array(r, t) => leaf_shapes(t, name, &[ranges, &[*r]].concat(), out),
        Ty::Struct(fields) => {
            fields.iter().for_each(|(f, t)| leaf_shapes(t, format!("{name}.{f}"), ranges, out));
        }
        Ty::Clock => out.push(shape(name, (0, 0, false), true)),
        _ => out.extend(ty.scalar().map(|bounds| shape(name, bounds, false))),
    }
}

/// Deals cells in type order out to the leaves they belong to.
fn distribute<T: Default>(ty: &Ty, cells: &mut impl Iterator<Item = T>, leaves: &mut [Vec<T>]) {
    match ty {
        Ty::Array(r, t) => (0..r.len).for_each(|_| distribute(t, cells, leaves)),
        Ty::Struct(fields) => {
            let mut rest = leaves;
            for (_, t) in fields.iter() {
                let (mine, others) = rest.split_at_mut(t.leaf_count());
                distribute(t, cells, mine);
                rest = others;
            }
        }
        _ => leaves[0].push(cells.next().unwrap_or_default()),
    }
}

/// What a reader calls the cells, in type order: `s[1].c`.
fn cell_names(ty: &Ty, name: String, out: &mut Vec<String>) {
    match ty {
        Ty::Array(r, t) => (r.lo..r.lo + r.len).for_each(|i| cell_names(t, format!("{name}[{i}]"), out)),
        Ty::Struct(fields) => fields.iter().for_each(|(f, t)| cell_names(t, format!("{name}.{f}"), out)),
        _ => out.push(name),
    }
}
