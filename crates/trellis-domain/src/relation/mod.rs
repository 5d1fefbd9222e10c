//! Sets and relations over variables with finite domains, as binary decision diagrams (001 §6.1.2).
//!
//! A [`Space`] is a list of variables with their values; each value is written in bits. There are several *copies* of every variable,
//! so that a relation can speak of a state and of the next, or have several arguments; the bits of all copies of a variable lie side
//! by side in the order. The order of variables is the caller's: what is used together should stand together.
//!
//! A [`Relation`] is a function of the bits. Codes that stand for no value are kept out by the caller: every set of states lies
//! within [`Space::valid`]. All operations may run out of memory, and say so.
//!
//! What this deliberately does not do: reorder. OxiDD, on which this is built, can change an order but does not search for one.

// A function is hashed by its node, which does not change.
#[allow(clippy::mutable_key_type)]
mod count;
#[allow(clippy::mutable_key_type)]
mod decide;
#[allow(clippy::mutable_key_type)]
mod saturate;
mod term;

use std::cell::RefCell;

use oxidd::bdd::{BDDFunction, BDDManagerRef, new_manager};
use oxidd::{BooleanFunction, BooleanFunctionQuant, BooleanOperator, Function, FunctionSubst};
use oxidd::{Manager, ManagerRef, Subst, VarNo};
use rustc_hash::FxHashMap;

pub use count::Natural;
pub use decide::{Branch, Decisions, Test};
pub use saturate::Step;
pub use term::{Reader, Values};

/// Why there is no relation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The diagrams need more memory than they may.
    #[error("the decision diagrams need more memory than they may")]
    Memory,
    /// The caller did not want to go on.
    #[error("stopped")]
    Stopped,
    /// Something that diagrams cannot express.
    #[error("{0}")]
    Unsupported(String),
}

/// Something, or why not.
pub type Made<T> = Result<T, Error>;

/// A function of the bits of a space.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Relation(BDDFunction);

impl std::fmt::Debug for Relation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a relation of {} nodes", self.size())
    }
}

/// What may be kept in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// How many nodes of diagrams.
    pub nodes: usize,
    /// How many results are remembered.
    pub cache: usize,
}

impl Memory {
    /// How many bytes a node takes, with its place in a table.
    pub const NODE: usize = 32;

    /// What fits into so many bytes.
    pub fn within(bytes: usize) -> Memory {
        // A node takes some 16 bytes and its place in a table; a result that is remembered takes 32, too.
        let nodes = (bytes / Memory::NODE).clamp(1 << 12, 1 << 30);
        Memory { nodes, cache: (nodes / 4).next_power_of_two().clamp(1 << 12, 1 << 22) }
    }
}

impl Default for Memory {
    fn default() -> Memory {
        Memory { nodes: 1 << 25, cache: 1 << 21 }
    }
}

/// A variable: where its bits are, and what its codes stand for.
#[derive(Debug, Clone)]
struct Column {
    /// For each bit, most significant first, the number of the first copy's; the others follow it.
    bits: Vec<VarNo>,
    values: Vec<i64>,
}

/// Variables, and from which copy to which they move.
type Renames = Vec<(usize, usize, usize)>;

/// A substitution that moves variables from one copy to another. It is kept, because results are remembered by its number.
type Renaming = Subst<BDDFunction>;

/// Variables with finite domains, and the diagrams over them.
pub struct Space {
    manager: BDDManagerRef,
    columns: Vec<Column>,
    copies: usize,
    /// How many nodes there may be.
    limit: usize,
    renamings: RefCell<FxHashMap<Renames, Renaming>>,
}

impl Space {
    /// A space of variables, given by their values, in the order in which they are to be tested.
    pub fn new(order: &[Vec<i64>], copies: usize, memory: Memory) -> Made<Space> {
        let manager = new_manager(memory.nodes, memory.cache, 1);
        let empty = Space { manager, columns: vec![], copies, limit: memory.nodes, renamings: RefCell::default() };
        empty.extended(order)
    }

    /// The same space with more variables behind those that it has. Relations of either are relations of both, as long as they do not
    /// speak of what the other lacks.
    pub fn extended(&self, order: &[Vec<i64>]) -> Made<Space> {
        let mut columns = self.columns.clone();
        let mut next: VarNo = self.manager.with_manager_shared(|m| m.num_vars());
        let first = next;
        for values in order {
            let width = usize::BITS - (values.len().max(1) - 1).leading_zeros();
            let bits = (0..width).map(|i| next + i * self.copies as VarNo).collect();
            next += width * self.copies as VarNo;
            columns.push(Column { bits, values: values.clone() });
        }
        self.manager.with_manager_exclusive(|m| m.add_vars(next - first));
        let (manager, renamings) = (self.manager.clone(), RefCell::default());
        Ok(Space { manager, columns, copies: self.copies, limit: self.limit, renamings })
    }

    /// How many variables there are.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Is there no variable?
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// How many copies there are of each.
    pub fn copies(&self) -> usize {
        self.copies
    }

    /// The values of a variable, in the order of their codes.
    pub fn values(&self, variable: usize) -> &[i64] {
        &self.columns[variable].values
    }

    /// How many nodes are in use now.
    pub fn nodes(&self) -> usize {
        self.manager.with_manager_shared(|m| m.num_inner_nodes())
    }

    /// Forgets diagrams that nobody holds.
    pub fn collect(&self) {
        self.manager.with_manager_shared(|m| m.gc());
    }

    fn bit(&self, bit: VarNo, copy: usize) -> VarNo {
        bit + copy as VarNo
    }

    // Making relations.

    /// Everything.
    pub fn all(&self) -> Relation {
        Relation(self.manager.with_manager_shared(|m| BDDFunction::t(m)))
    }

    /// Nothing.
    pub fn none(&self) -> Relation {
        Relation(self.manager.with_manager_shared(|m| BDDFunction::f(m)))
    }

    /// Everything, or nothing.
    pub fn constant(&self, all: bool) -> Relation {
        if all { self.all() } else { self.none() }
    }

    fn literal(&self, var: VarNo, positive: bool) -> Made<Relation> {
        let made = self.manager.with_manager_shared(|m| match positive {
            true => BDDFunction::var(m, var),
            false => BDDFunction::not_var(m, var),
        });
        self.made(made)
    }

    fn made(&self, result: Result<BDDFunction, oxidd::error::OutOfMemory>) -> Made<Relation> {
        result.map(Relation).map_err(|_| Error::Memory)
    }

    /// Where a variable has the code.
    fn coded(&self, variable: usize, copy: usize, code: usize) -> Made<Relation> {
        let column = &self.columns[variable];
        let mut all = self.all();
        for (i, &bit) in column.bits.iter().enumerate().rev() {
            let shift = column.bits.len() - 1 - i;
            all = self.and(&self.literal(self.bit(bit, copy), code >> shift & 1 == 1)?, &all)?;
        }
        Ok(all)
    }

    /// Where a variable has a value; nowhere if it never has.
    pub fn equals(&self, variable: usize, copy: usize, value: i64) -> Made<Relation> {
        match self.columns[variable].values.iter().position(|&v| v == value) {
            Some(code) => self.coded(variable, copy, code),
            None => Ok(self.none()),
        }
    }

    /// Where two copies of a variable have the same code.
    pub fn same(&self, variable: usize, a: usize, b: usize) -> Made<Relation> {
        let mut all = self.all();
        for &bit in self.columns[variable].bits.iter().rev() {
            let (x, y) = (self.literal(self.bit(bit, a), true)?, self.literal(self.bit(bit, b), true)?);
            let equal = self.made(x.0.equiv(&y.0))?;
            all = self.and(&equal, &all)?;
        }
        Ok(all)
    }

    /// Where the codes of some variables stand for values.
    pub fn valid(&self, variables: &[usize], copy: usize) -> Made<Relation> {
        let mut all = self.all();
        for &v in variables.iter().rev() {
            let (n, width) = (self.columns[v].values.len(), self.columns[v].bits.len());
            if n != 1 << width {
                let mut some = self.none();
                for code in 0..n {
                    some = self.or(&some, &self.coded(v, copy, code)?)?;
                }
                all = self.and(&some, &all)?;
            }
        }
        Ok(all)
    }

    // Operations.

    /// Both.
    pub fn and(&self, a: &Relation, b: &Relation) -> Made<Relation> {
        self.made(a.0.and(&b.0))
    }

    /// All of them.
    pub fn and_all<'r>(&self, all: impl IntoIterator<Item = &'r Relation>) -> Made<Relation> {
        all.into_iter().try_fold(self.all(), |acc, r| self.and(&acc, r))
    }

    /// Either.
    pub fn or(&self, a: &Relation, b: &Relation) -> Made<Relation> {
        self.made(a.0.or(&b.0))
    }

    /// Any of them.
    pub fn or_all<'r>(&self, all: impl IntoIterator<Item = &'r Relation>) -> Made<Relation> {
        all.into_iter().try_fold(self.none(), |acc, r| self.or(&acc, r))
    }

    /// Where it does not hold; codes that stand for no value included.
    pub fn not(&self, a: &Relation) -> Made<Relation> {
        self.made(a.0.not())
    }

    /// The first without the second.
    pub fn minus(&self, a: &Relation, b: &Relation) -> Made<Relation> {
        // imp_strict(b, a) is "a but not b".
        self.made(b.0.imp_strict(&a.0))
    }

    /// If-then-else.
    pub fn ite(&self, c: &Relation, a: &Relation, b: &Relation) -> Made<Relation> {
        self.made(c.0.ite(&a.0, &b.0))
    }

    /// Do they have something in common?
    pub fn meets(&self, a: &Relation, b: &Relation) -> Made<bool> {
        Ok(self.and(a, b)?.0.satisfiable())
    }

    /// Is the first within the second?
    pub fn within(&self, a: &Relation, b: &Relation) -> Made<bool> {
        Ok(!self.minus(a, b)?.0.satisfiable())
    }

    /// The bits of copies of variables, to be quantified.
    pub fn cube(&self, variables: impl IntoIterator<Item = (usize, usize)>) -> Made<Relation> {
        let mut bits: Vec<VarNo> = variables
            .into_iter()
            .flat_map(|(v, copy)| self.columns[v].bits.iter().map(move |&b| b + copy as VarNo))
            .collect();
        bits.sort_unstable();
        let mut all = self.all();
        for bit in bits.into_iter().rev() {
            all = self.and(&self.literal(bit, true)?, &all)?;
        }
        Ok(all)
    }

    /// For some values of what the cube names.
    pub fn exists(&self, a: &Relation, cube: &Relation) -> Made<Relation> {
        self.made(a.0.exists(&cube.0))
    }

    /// For some values of what the cube names, both (the relational product).
    pub fn and_exists(&self, a: &Relation, b: &Relation, cube: &Relation) -> Made<Relation> {
        self.made(a.0.apply_exists(BooleanOperator::And, &b.0, &cube.0))
    }

    /// The same relation of another copy of some variables; it must not speak of that copy yet.
    pub fn rename(&self, a: &Relation, variables: &[usize], from: usize, to: usize) -> Made<Relation> {
        let moves: Vec<(usize, usize, usize)> = variables.iter().map(|&v| (v, from, to)).collect();
        self.moved(a, &moves)
    }

    /// The same relation of other copies of variables, all at once: each move is a variable, and from which copy to which. No two moves
    /// may end at the same copy, nor where the relation speaks of something that stays.
    pub fn moved(&self, a: &Relation, moves: &[(usize, usize, usize)]) -> Made<Relation> {
        let moves: Vec<(usize, usize, usize)> = moves.iter().copied().filter(|(_, from, to)| from != to).collect();
        if moves.is_empty() {
            return Ok(a.clone());
        }
        if !self.renamings.borrow().contains_key(&moves) {
            let (mut vars, mut new) = (vec![], vec![]);
            for &(v, from, to) in &moves {
                for &bit in &self.columns[v].bits {
                    vars.push(self.bit(bit, from));
                    new.push(self.literal(self.bit(bit, to), true)?.0);
                }
            }
            self.renamings.borrow_mut().insert(moves.clone(), Subst::new(vars, new));
        }
        match self.renamings.borrow().get(&moves) {
            Some(subst) => self.made(a.0.substitute(subst)),
            None => Ok(a.clone()),
        }
    }
}

impl Relation {
    /// Does it hold nowhere?
    pub fn is_empty(&self) -> bool {
        !self.0.satisfiable()
    }

    /// Does it hold everywhere, codes without a meaning included?
    pub fn is_full(&self) -> bool {
        self.0.valid()
    }

    /// How many nodes its diagram has.
    pub fn size(&self) -> usize {
        self.0.node_count()
    }
}
