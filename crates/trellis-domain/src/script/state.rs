//! How an element of a scripted lattice is laid out: words on Trellis's side, an integer or a table on the script's.

use std::fmt;

use mlua::{Lua, Table, Value};
use trellis_order::Word;
use trellis_order::lattice::MAX_WIDTH;

use super::error::ScriptError;
use super::sandbox::{Func, Sandbox, describe, integer};

/// The declared layout of elements.
pub(super) enum State {
    /// One integer, passed as such: no table is ever built.
    Integer,
    /// A table with these fields, in the order of their words.
    Record {
        fields: Vec<Field>,
        freeze: Func,
        width: usize,
    },
}

/// A field of a record.
pub(super) struct Field {
    name: String,
    /// The first of its words.
    start: usize,
    array: Option<Array>,
}

struct Array {
    len: usize,
    freeze: Func,
}

impl State {
    /// Reads a `state` entry: `"integer"`, or a table of field names and array lengths.
    pub fn read(declared: &Value, sandbox: &Sandbox) -> Result<Self, StateError> {
        const USAGE: &str = "write state = \"integer\", or a table of field names and of arrays with their lengths: \
                             state = { \"lo\", \"hi\", ages = 8 }";
        match declared {
            Value::String(s) if *s == "integer" => Ok(Self::Integer),
            Value::Table(table) => Self::read_fields(table, sandbox),
            other => Err(StateError::Unfit(format!(
                "`state` is {}; {USAGE}",
                describe(other)
            ))),
        }
    }

    fn read_fields(table: &Table, sandbox: &Sandbox) -> Result<Self, StateError> {
        // Lua does not keep the order in which named entries were written: plain fields first, as numbered, then
        // arrays by name.
        let (mut plain, mut arrays) = (Vec::new(), Vec::new());
        for pair in table.pairs::<Value, Value>() {
            let (key, value) = pair.map_err(|error| StateError::Unfit(error.to_string()))?;
            match (&key, &value) {
                (Value::Integer(at), Value::String(name)) => {
                    plain.push((*at, name.to_string_lossy()));
                }
                (Value::String(name), Value::Integer(len)) => {
                    arrays.push((name.to_string_lossy(), *len));
                }
                _ => {
                    return Err(StateError::Unfit(format!(
                        "`state` has an entry [{}] = {}; entries are \"name\" for an integer and name = length for \
                         an array",
                        describe(&key),
                        describe(&value)
                    )));
                }
            }
        }
        plain.sort();
        arrays.sort();

        let mut fields: Vec<Field> = Vec::new();
        let mut width = 0;
        let plain = plain.into_iter().map(|(_, name)| (name, None));
        let arrays = arrays.into_iter().map(|(name, len)| (name, Some(len)));
        for (name, len) in plain.chain(arrays) {
            if fields.iter().any(|field| field.name == name) {
                return Err(StateError::Unfit(format!("`state` names `{name}` twice")));
            }
            let start = width;
            let array = match len {
                None => None,
                Some(len) => Some(Array {
                    len: usize::try_from(len)
                        .ok()
                        .filter(|len| (1..=MAX_WIDTH).contains(len))
                        .ok_or_else(|| {
                            StateError::Unfit(format!("`state`: the length of `{name}` is {len}"))
                        })?,
                    freeze: freezer(sandbox, Some(len))?,
                }),
            };
            width += array.as_ref().map_or(1, |array| array.len);
            fields.push(Field { name, start, array });
        }
        if !(1..=MAX_WIDTH).contains(&width) {
            return Err(StateError::Unfit(format!(
                "`state` has {width} integers; there may be 1 to {MAX_WIDTH}"
            )));
        }
        let freeze = freezer(sandbox, None)?;
        Ok(Self::Record {
            fields,
            freeze,
            width,
        })
    }

    /// Words per element.
    pub fn width(&self) -> usize {
        match self {
            Self::Integer => 1,
            Self::Record { width, .. } => *width,
        }
    }

    /// A table of its own, for an update to change.
    pub fn fresh(&self, lua: &Lua, words: &[Word]) -> mlua::Result<Value> {
        match self {
            Self::Integer => Ok(Value::Integer(words[0] as i64)),
            Self::Record { fields, .. } => build(lua, fields, words, |_, array| Ok(array)),
        }
    }

    /// A table that cannot be changed, for everyone to share.
    pub fn frozen(&self, lua: &Lua, words: &[Word]) -> mlua::Result<Value> {
        match self {
            Self::Integer => Ok(Value::Integer(words[0] as i64)),
            Self::Record { fields, freeze, .. } => {
                let freeze_array =
                    |array: &Array, table: Table| array.freeze.function.call::<Table>(table);
                let table = build(lua, fields, words, freeze_array)?;
                freeze.function.call(table)
            }
        }
    }

    /// The words of what the script says is an element, or why it is none.
    pub fn words(&self, value: &Value, out: &mut [Word]) -> Result<(), String> {
        match (self, value) {
            (Self::Integer, value) => {
                out[0] = integer(value).ok_or_else(|| {
                    format!("an element is an integer, but this is {}", describe(value))
                })? as Word;
                Ok(())
            }
            (Self::Record { fields, .. }, Value::Table(table)) => read_record(fields, table, out),
            (Self::Record { fields, .. }, other) => Err(format!(
                "an element is a table with {}, but this is {}",
                names(fields),
                describe(other)
            )),
        }
    }

    /// An element as the state lists it: `{lo = 1, hi = 2, ages = [0, 0]}`.
    pub fn show(&self, words: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Record { fields, .. } = self else {
            return write!(f, "{}", words[0] as i64);
        };
        for (i, field) in fields.iter().enumerate() {
            write!(f, "{}{} = ", if i == 0 { "{" } else { ", " }, field.name)?;
            match &field.array {
                None => write!(f, "{}", words[field.start] as i64)?,
                Some(array) => {
                    let entries = &words[field.start..field.start + array.len];
                    f.debug_list()
                        .entries(entries.iter().map(|&w| w as i64))
                        .finish()?;
                }
            }
        }
        f.write_str("}")
    }
}

/// Why a `state` entry cannot be used.
pub(super) enum StateError {
    /// It says something else than a state.
    Unfit(String),
    /// Lua failed.
    Script(ScriptError),
}

fn freezer(sandbox: &Sandbox, len: Option<i64>) -> Result<Func, StateError> {
    let make = || {
        let function = sandbox.call(&sandbox.tool("freezer")?, len)?;
        Ok(Func {
            name: "freezer".to_owned(),
            line: None,
            function,
        })
    };
    make().map_err(StateError::Script)
}

fn build(
    lua: &Lua,
    fields: &[Field],
    words: &[Word],
    wrap: impl Fn(&Array, Table) -> mlua::Result<Table>,
) -> mlua::Result<Value> {
    let table = lua.create_table_with_capacity(0, fields.len())?;
    for field in fields {
        match &field.array {
            None => table.raw_set(field.name.as_str(), words[field.start] as i64)?,
            Some(array) => {
                let entries = &words[field.start..field.start + array.len];
                let entries = lua.create_sequence_from(entries.iter().map(|&w| w as i64))?;
                table.raw_set(field.name.as_str(), wrap(array, entries)?)?;
            }
        }
    }
    Ok(Value::Table(table))
}

fn read_record(fields: &[Field], table: &Table, out: &mut [Word]) -> Result<(), String> {
    let table = thawed(table);
    let mut seen = 0;
    each(&table, |key, value| {
        let field = match &key {
            Value::String(key) => fields.iter().find(|field| *key == field.name.as_str()),
            _ => None,
        };
        let Some(field) = field else {
            let key = match &key {
                Value::String(key) => format!("`{}`", key.to_string_lossy()),
                other => format!("[{}]", describe(other)),
            };
            return Err(format!("an element has {}, but no {key}", names(fields)));
        };
        seen += 1;
        match &field.array {
            None => {
                out[field.start] = integer(&value).ok_or_else(|| {
                    format!(
                        "`{}` must be an integer, not {}",
                        field.name,
                        describe(&value)
                    )
                })? as Word;
                Ok(())
            }
            Some(array) => read_array(
                &field.name,
                &value,
                &mut out[field.start..field.start + array.len],
            ),
        }
    })?;
    if seen == fields.len() {
        return Ok(());
    }
    let missing: Vec<_> = fields
        .iter()
        .filter(|field| !matches!(table.contains_key(field.name.as_str()), Ok(true)))
        .map(|field| format!("`{}`", field.name))
        .collect();
    Err(format!("the element lacks {}", missing.join(", ")))
}

fn read_array(name: &str, value: &Value, out: &mut [Word]) -> Result<(), String> {
    let Value::Table(table) = value else {
        return Err(format!(
            "`{name}` must be an array of {} integers, not {}",
            out.len(),
            describe(value)
        ));
    };
    let mut seen = 0;
    each(&thawed(table), |key, value| {
        let at = match key {
            Value::Integer(at) if (1..=out.len() as i64).contains(&at) => at as usize - 1,
            other => {
                return Err(format!(
                    "`{name}` has an entry [{}]: its entries are numbered 1 to {}",
                    describe(&other),
                    out.len()
                ));
            }
        };
        out[at] = integer(&value).ok_or_else(|| {
            format!(
                "`{name}[{}]` must be an integer, not {}",
                at + 1,
                describe(&value)
            )
        })? as Word;
        seen += 1;
        Ok(())
    })?;
    if seen == out.len() {
        Ok(())
    } else {
        Err(format!(
            "`{name}` must have {} entries, but has {seen}",
            out.len()
        ))
    }
}

/// Calls `visit` with all entries, in no order.
fn each(
    table: &Table,
    mut visit: impl FnMut(Value, Value) -> Result<(), String>,
) -> Result<(), String> {
    let mut problem = Ok(());
    let outcome = table.for_each(|key: Value, value: Value| {
        if problem.is_ok() {
            problem = visit(key, value);
        }
        Ok(())
    });
    problem.and(outcome.map_err(|error| error.to_string()))
}

/// The real table behind a read-only one. Scripts cannot make metatables, so whatever has one is ours.
fn thawed(table: &Table) -> Table {
    table
        .metatable()
        .and_then(|meta| meta.raw_get("__index").ok())
        .unwrap_or_else(|| table.clone())
}

fn names(fields: &[Field]) -> String {
    let names: Vec<_> = fields
        .iter()
        .map(|field| format!("`{}`", field.name))
        .collect();
    format!(
        "the field{} {}",
        if names.len() == 1 { "" } else { "s" },
        names.join(", ")
    )
}
