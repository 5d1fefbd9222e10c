//! Lattices and joining strategies that users write in Lua (000 §2.1: in opaal, a lattice is "an ordinary Python class
//! with at least two methods: `join` and the ordering", a strategy is a Python function; 000 §B.1 says what a strategy
//! is for).
//!
//! # A lattice
//!
//! A script describes a lattice by one table. This is a whole one: intervals of integers.
//!
//! ```
//! use trellis_domain::script::ScriptLattice;
//! use trellis_order::{Lattice, Shown};
//!
//! let lattice = ScriptLattice::parse("interval.lua", r#"
//! lattice = {
//!   state   = { "lo", "hi" },                       -- an element is a table with two integers
//!   initial = { lo = 0, hi = 0 },
//!   leq     = function(a, b) return b.lo <= a.lo and a.hi <= b.hi end,
//!   join    = function(a, b) return { lo = math.min(a.lo, b.lo), hi = math.max(a.hi, b.hi) } end,
//!
//!   show    = function(a) return "[" .. a.lo .. ", " .. a.hi .. "]" end,
//!   queries = { width = function(a) return a.hi - a.lo end,
//!               may_be = function(a, v) return a.lo <= v and v <= a.hi end },
//!   updates = { add = function(a, v) a.lo = a.lo + v; a.hi = a.hi + v end },
//! }
//! "#, 1)?;
//! lattice.audit(32, 1)?;                               // is it one?
//!
//! let mut x = vec![0; lattice.width()];
//! lattice.initial(&mut x);
//! let mut y = x.clone();
//! let add = lattice.methods().iter().position(|m| m.name == "add").unwrap();
//! lattice.update(add, &mut y, &[5])?;
//! trellis_order::Join::join(&lattice, &mut x, &y);
//! assert_eq!(Shown(&lattice, &x).to_string(), "[0, 5]");
//! assert!(lattice.error().is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | entry | | what it is |
//! |---|---|---|
//! | `state` | required | what an element consists of: `"integer"`, a single integer; or a table of fields: `"lo"` is an integer `a.lo`, `ages = 8` an array of integers `a.ages[1]` to `a.ages[8]` |
//! | `initial` | required | an element, or a function that returns one: the value of a variable that the model does not set |
//! | `leq(a, b)` | required | is `a ⊑ b`, has `b` all behaviour of `a`? `true` or `false` |
//! | `join(a, b)` | required | the least element above both |
//! | `bottom` | | the least element. If it is left out, one is added below all others, and the script never sees it |
//! | `top`, `meet(a, b)` | | both or none, and only with `bottom`: the greatest element, the greatest below both |
//! | `queries` | | methods that guards may call: from an element and integers to an integer, `true` (1) or `false` (0) |
//! | `updates` | | methods that updates may call: they change their element, or return a new one (they must if it is `"integer"`) |
//! | `show(a)` | | a string for traces and messages |
//! | `sample(random)` | | some element, for the audit; `random(n)` is a number from 0 to n - 1. Without it, the audit tries what updates make of `initial`, and joins of those; so give it one if there are no updates |
//! | `bits` | | how many bits `x[i]` can name in a model; needs queries `get(a, i)` and updates `set(a, i, b)` |
//! | `marks` | | how methods move when the element grows: `"up"` (a larger element gives a larger or equal number, or a larger or equal element), `"down"`, or `"none"`, which is what methods without a mark have. A larger element must not hide an error that a smaller one has. The audit samples marks; a proof that a model is monotone rests on them |
//! | `names` | | a list of names that a model may write for the integers 0, 1, … in calls of methods |
//!
//! `N` is the size a model declares, 8 in `CountSet pool[8]`, else 1; `initial`, `bottom` and `top`, if functions, get
//! it as their argument too. Integers have 64 bits and wrap. Lua counts array entries from 1, a model from 0. Two
//! elements are the same iff their integers are, so a set must be represented in one way only; the audit sees to it.
//!
//! Functions must depend on nothing but their arguments: equal elements share one table, several Lua states may run
//! the script at once. To help with that, elements are read-only except in updates, and a function cannot create
//! globals. A model that is checked by covering or joining also needs guards and updates that are monotone (000 Def. 2):
//! `marks` says which methods are, and [`ScriptLattice::audit`] refuses a mark that an element contradicts.
//!
//! Indices and other arguments come from the model: a method refuses what it cannot do with `error("…")`.
//!
//! # A joining strategy
//!
//! A script with a function `join(x, y)` that returns whether two states may be joined. The constants of the model are
//! globals. `x.user` (or `x.vars.user`) is an integer variable, `x.location("DB")` the name of the location of a
//! process, `x.aLogin:num0s()` a query of a lattice variable (with a colon; an integer, so a truth value is compared:
//! `x.pool:has(3) == 1`); variables of a process are `x["DB.n"]`.
//!
//! ```lua
//! -- Do not join states if the result could look as if the database were full (000 §2.1, Fig. 5).
//! function join(x, y)
//!   return x.location("DB") ~= "Idle" or x.aLogin:num0s() + y.aLogin:num0s() < N_USERS
//! end
//! ```
//!
//! # What scripts cannot do
//!
//! Deliberately: no files, processes, clock, chance, printing or loading of code; no `pcall`, coroutines, metatables or
//! string patterns, which could escape the limits. A call may run [`INSTRUCTION_LIMIT`] instructions (counted, not
//! timed, so that a verdict does not depend on the machine) and a state may use [`MEMORY_LIMIT`] bytes. Elements have a
//! fixed size. A strategy says yes or no to a pair; how to split what was joined wrongly, and whether a path is
//! feasible (000 Def. 5, 7), is the engine's to decide. Nothing here knows what a model is: [`StateView`] is all that a
//! strategy sees.
//!
//! # Inside
//!
//! [`Engine`] is what stands behind a lattice: Lua here, and whatever a program that embeds Trellis brings along ([`Class`], [`JoinRule`]).
//! Lua 5.4 was chosen by measurement; `ARCHITECTURE.md` has the table. `sandbox` is the restricted Lua state,
//! `state` translates between words and Lua values, `declaration` reads the table, `vm` calls the functions and
//! remembers the Lua value of elements seen lately, `lattice` makes a lattice of it.

mod declaration;
mod engine;
mod error;
mod lattice;
mod sandbox;
mod state;
mod strategy;
mod vm;

pub use engine::{Brought, Class, Declared, Engine, JoinRule};
pub use error::{Place, ScriptError};
pub use lattice::ScriptLattice;
pub use strategy::{ScriptStrategy, StateView};

/// How many Lua instructions one call of a script's function may execute.
pub const INSTRUCTION_LIMIT: u64 = 10_000_000;

/// How many bytes one Lua state may use.
pub const MEMORY_LIMIT: usize = 256 << 20;
