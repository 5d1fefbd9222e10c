//! Arrays over too many indexes to list them: by instantiation.
//!
//! All index terms that are used with arrays of one type are collected, and every array of that type gets an entry for each, with the
//! read-over-write equations between them; equal indexes have equal entries; two arrays that differ do so at an index of their
//! own. One more entry stands for all indexes that nobody names (there are always such, as many as an array has), so that
//! constant arrays and equations come out right. This is complete, and quadratic: meant for small problems.

use trellis_expr::value::{ArrayValue, Value};
use trellis_expr::{Terms, Type};

use rustc_hash::FxHashMap;

use super::linear::Linear;
use super::lower::{Code, Lowering, Unsupported};
use super::sat::Lit;

/// An array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MapId(usize);

/// More indexes than that are refused: there must remain one that nobody names.
const MOST_INDEXES: usize = 200;

#[derive(Clone)]
enum Kind {
    Free,
    Constant(Code),
    /// An array with one entry replaced, the index by position.
    Store(MapId, usize, Code),
    Ite(Lit, MapId, MapId),
}

struct Map {
    ty: Type,
    kind: Kind,
    /// By position of the index.
    entries: Vec<Code>,
    elsewhere: Code,
}

#[derive(Default)]
struct Group {
    indexes: Vec<Code>,
    maps: Vec<MapId>,
    equations: Vec<(Lit, MapId, MapId)>,
}

/// All arrays of this kind.
#[derive(Default)]
pub(crate) struct Maps {
    maps: Vec<Map>,
    groups: FxHashMap<Type, Group>,
}

fn parts(terms: &Terms, ty: Type) -> (Type, Type) {
    let Type::Array(index, entry) = ty else { unreachable!("an array") };
    (terms.type_of_id(index), terms.type_of_id(entry))
}

/// Certainly the same, by construction?
fn identical(a: &Code, b: &Code) -> bool {
    match (a, b) {
        (Code::Bool(a), Code::Bool(b)) => a == b,
        (Code::Int(a), Code::Int(b)) => a == b,
        (Code::Word(a), Code::Word(b)) => a == b,
        _ => false,
    }
}

impl Lowering {
    pub fn map_free(&mut self, terms: &Terms, ty: Type) -> Result<Code, Unsupported> {
        let elsewhere = self.free(terms, parts(terms, ty).1)?;
        self.map_new(terms, ty, Kind::Free, elsewhere)
    }

    pub fn map_constant(&mut self, terms: &Terms, ty: Type, value: Code) -> Result<Code, Unsupported> {
        self.map_new(terms, ty, Kind::Constant(value.clone()), value)
    }

    pub fn map_store(&mut self, terms: &Terms, m: MapId, index: Code, value: Code) -> Result<Code, Unsupported> {
        let ty = self.maps.maps[m.0].ty;
        let at = self.map_index(terms, ty, index)?;
        let elsewhere = self.maps.maps[m.0].elsewhere.clone();
        self.map_new(terms, ty, Kind::Store(m, at, value), elsewhere)
    }

    pub fn map_ite(&mut self, terms: &Terms, c: Lit, a: MapId, b: MapId) -> Result<Code, Unsupported> {
        let ty = self.maps.maps[a.0].ty;
        let (x, y) = (self.maps.maps[a.0].elsewhere.clone(), self.maps.maps[b.0].elsewhere.clone());
        let elsewhere = self.ite(terms, c, &x, &y)?;
        self.map_new(terms, ty, Kind::Ite(c, a, b), elsewhere)
    }

    pub fn map_select(&mut self, terms: &Terms, m: MapId, index: Code) -> Result<Code, Unsupported> {
        let at = self.map_index(terms, self.maps.maps[m.0].ty, index)?;
        Ok(self.maps.maps[m.0].entries[at].clone())
    }

    pub fn map_eq(&mut self, terms: &Terms, a: MapId, b: MapId) -> Result<Lit, Unsupported> {
        if a == b {
            return Ok(Lit::TRUE);
        }
        let ty = self.maps.maps[a.0].ty;
        let witness = self.free(terms, parts(terms, ty).0)?;
        let at = self.map_index(terms, ty, witness)?;
        let equal = self.gates.fresh();
        let (x, y) = (self.maps.maps[a.0].elsewhere.clone(), self.maps.maps[b.0].elsewhere.clone());
        let same = self.eq(terms, &x, &y)?;
        self.gates.sat.clause(&[!equal, same]);
        for i in 0..self.maps.groups[&ty].indexes.len() {
            let same = self.map_same(terms, a, b, i)?;
            self.gates.sat.clause(&[!equal, same]);
            if i == at {
                self.gates.sat.clause(&[equal, !same]);
            }
        }
        self.group(ty).equations.push((equal, a, b));
        Ok(equal)
    }

    fn group(&mut self, ty: Type) -> &mut Group {
        self.maps.groups.entry(ty).or_default()
    }

    fn map_same(&mut self, terms: &Terms, a: MapId, b: MapId, at: usize) -> Result<Lit, Unsupported> {
        let (x, y) = (self.maps.maps[a.0].entries[at].clone(), self.maps.maps[b.0].entries[at].clone());
        self.eq(terms, &x, &y)
    }

    fn map_new(&mut self, terms: &Terms, ty: Type, kind: Kind, elsewhere: Code) -> Result<Code, Unsupported> {
        let id = MapId(self.maps.maps.len());
        self.maps.maps.push(Map { ty, kind, entries: vec![], elsewhere });
        for at in 0..self.group(ty).indexes.len() {
            self.map_entry(terms, id, at)?;
        }
        self.group(ty).maps.push(id);
        Ok(Code::Map(id))
    }

    /// The position of an index, which every array of the type gets an entry for.
    fn map_index(&mut self, terms: &Terms, ty: Type, index: Code) -> Result<usize, Unsupported> {
        let group = self.group(ty);
        if let Some(at) = group.indexes.iter().position(|i| identical(i, &index)) {
            return Ok(at);
        }
        let at = group.indexes.len();
        if at >= MOST_INDEXES {
            return Err(format!("arrays with more than {MOST_INDEXES} different index terms"));
        }
        group.indexes.push(index);
        for m in group.maps.clone() {
            self.map_entry(terms, m, at)?;
        }
        for (equal, a, b) in self.group(ty).equations.clone() {
            let same = self.map_same(terms, a, b, at)?;
            self.gates.sat.clause(&[!equal, same]);
        }
        Ok(at)
    }

    /// Makes the next entry of an array.
    fn map_entry(&mut self, terms: &Terms, m: MapId, at: usize) -> Result<(), Unsupported> {
        let ty = self.maps.maps[m.0].ty;
        let indexes = self.group(ty).indexes.clone();
        let entry = match self.maps.maps[m.0].kind.clone() {
            Kind::Free => {
                let entry = self.free(terms, parts(terms, ty).1)?;
                for before in 0..at {
                    let same_index = self.eq(terms, &indexes[before], &indexes[at])?;
                    if same_index != Lit::FALSE {
                        let other = self.maps.maps[m.0].entries[before].clone();
                        let same = self.eq(terms, &entry, &other)?;
                        self.gates.sat.clause(&[!same_index, same]);
                    }
                }
                entry
            }
            Kind::Constant(value) => value,
            Kind::Store(base, stored, value) => {
                let same = self.eq(terms, &indexes[stored], &indexes[at])?;
                let inside = self.is_inside(terms, ty, &indexes[stored]);
                let here = self.gates.and([same, inside]);
                let old = self.maps.maps[base.0].entries[at].clone();
                self.ite(terms, here, &value, &old)?
            }
            Kind::Ite(c, a, b) => {
                let (a, b) = (self.maps.maps[a.0].entries[at].clone(), self.maps.maps[b.0].entries[at].clone());
                self.ite(terms, c, &a, &b)?
            }
        };
        debug_assert_eq!(self.maps.maps[m.0].entries.len(), at);
        self.maps.maps[m.0].entries.push(entry);
        Ok(())
    }

    /// Is the index one of the array's? Storing elsewhere faults, but even then the equations must have a solution: they hold of
    /// terms that nobody evaluates as well. So it stores nothing, and all indexes outside are like those that nobody names.
    fn is_inside(&mut self, terms: &Terms, ty: Type, index: &Code) -> Lit {
        match (parts(terms, ty).0, index) {
            (Type::Range(lo, hi), Code::Int(i)) => {
                let above = self.at_most_zero(&Linear::constant(lo).minus(i));
                let below = self.at_most_zero(&i.minus(&Linear::constant(hi)));
                self.gates.and([above, below])
            }
            _ => Lit::TRUE,
        }
    }

    /// The array's value in the model that the search has found.
    pub fn map_value(&self, terms: &Terms, ty: Type, m: MapId) -> Value {
        let (index, entry) = parts(terms, ty);
        let map = &self.maps.maps[m.0];
        let mut array = ArrayValue::new(terms, index, self.value(terms, entry, &map.elsewhere));
        for (i, e) in self.maps.groups[&ty].indexes.iter().zip(&map.entries) {
            let at = self.value(terms, if index.is_int() { Type::Int } else { index }, i);
            array.set(&at, self.value(terms, entry, e));
        }
        Value::Array(array)
    }
}
