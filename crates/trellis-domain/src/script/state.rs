//! How an element of a scripted lattice is laid out: words on Trellis's side, an integer or a table on the script's.

use std::fmt;

use mlua::{Function, Lua, Table, Value, Variadic};
use trellis_order::Word;
use trellis_order::lattice::MAX_WIDTH;

use super::error::ScriptError;
use super::sandbox::{Func, Sandbox, describe, integer};

/// What the prelude compiles for a record holds each field in two of the 255 registers of a Lua function.
const MAX_FIELDS: usize = 100;

/// The declared layout of elements.
pub(super) enum State {
    /// One integer, passed as such: no table is ever built.
    Integer,
    /// A table with these fields, in the order of their words.
    Record(Box<Record>),
}

/// A declared record, and what the prelude compiled for it.
pub(super) struct Record {
    fields: Vec<Field>,
    width: usize,
    read: Function,
    freeze: Function,
    producer: Func,
    updater: Func,
}

/// A field of a record.
pub(super) struct Field {
    name: String,
    /// Where its words begin.
    start: usize,
    /// How many, if it is an array.
    len: Option<usize>,
}

impl State {
    /// Reads a `state` entry: `"integer"`, or a table of field names and array lengths.
    pub fn read(declared: &Value, sandbox: &Sandbox) -> Result<Self, StateError> {
        const USAGE: &str = "write state = \"integer\", or a table of field names and of arrays with their lengths: \
                             state = { \"lo\", \"hi\", ages = 8 }";
        match declared {
            Value::String(s) if *s == "integer" => Ok(Self::Integer),
            Value::Table(table) => Self::read_fields(table, sandbox),
            other => Err(StateError::Unfit(format!("`state` is {}; {USAGE}", describe(other)))),
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
                return unfit(format!("`state` names `{name}` twice"));
            }
            let len = match len.map(usize::try_from) {
                None => None,
                Some(Ok(len @ 1..=MAX_WIDTH)) => Some(len),
                Some(_) => return unfit(format!("`state`: `{name}` must have 1 to {MAX_WIDTH} entries")),
            };
            let start = width;
            width += len.unwrap_or(1);
            fields.push(Field { name, start, len });
        }
        if !(1..=MAX_WIDTH).contains(&width) || fields.len() > MAX_FIELDS {
            return unfit(format!(
                "`state` has {} fields with {width} integers; there may be 1 to {MAX_FIELDS} fields, with up to \
                 {MAX_WIDTH} integers",
                fields.len()
            ));
        }
        let record = Record::new(fields, width, sandbox).map_err(StateError::Script)?;
        Ok(Self::Record(Box::new(record)))
    }

    /// Words per element.
    pub fn width(&self) -> usize {
        match self {
            Self::Integer => 1,
            Self::Record(record) => record.width,
        }
    }

    /// The value of an element, for everyone to share: a table that cannot be changed.
    pub fn frozen(&self, lua: &Lua, words: &[Word]) -> mlua::Result<Value> {
        match self {
            Self::Integer => Ok(Value::Integer(words[0] as i64)),
            Self::Record(record) => record.freeze.call(record.values(lua, words)?),
        }
    }

    /// Makes of a function that returns an element one that returns what [`decode`](Self::decode) wants.
    pub fn producer(&self, f: Func, sandbox: &Sandbox) -> Result<Func, ScriptError> {
        match self {
            Self::Integer => Ok(f),
            Self::Record(record) => wrap(&record.producer, f, sandbox),
        }
    }

    /// Makes of an update, which changes its argument or returns another, a function of
    /// [`arguments`](Self::arguments) that returns what [`decode`](Self::decode) wants.
    pub fn updater(&self, f: Func, sandbox: &Sandbox) -> Result<Func, ScriptError> {
        match self {
            Self::Integer => Ok(f),
            Self::Record(record) => wrap(&record.updater, f, sandbox),
        }
    }

    pub fn arguments(&self, lua: &Lua, words: &[Word], args: &[i64]) -> mlua::Result<Variadic<Value>> {
        let mut values = match self {
            Self::Integer => std::iter::once(Value::Integer(words[0] as i64)).collect(),
            Self::Record(record) => record.values(lua, words)?,
        };
        values.extend(args.iter().map(|&arg| Value::Integer(arg)));
        Ok(values)
    }

    /// The words of what a function returned, or why it is no element.
    pub fn decode(&self, returned: &[Value], out: &mut [Word]) -> Result<(), String> {
        match (self, returned) {
            (Self::Integer, returned) => {
                let value = returned.first().unwrap_or(&Value::Nil);
                let what = || format!("an element is an integer, but this is {}", describe(value));
                out[0] = integer(value).ok_or_else(what)? as Word;
                Ok(())
            }
            (Self::Record(record), [Value::Boolean(true), values @ ..]) => {
                let mut fields = record.fields.iter().zip(values);
                fields.try_for_each(|(field, value)| field.read(value, out))
            }
            (Self::Record(record), returned) => Err(record.explain(returned.get(1).unwrap_or(&Value::Nil))),
        }
    }

    /// The words of what the script says is an element, or why it is none.
    pub fn words(&self, value: &Value, out: &mut [Word]) -> Result<(), String> {
        match self {
            Self::Integer => self.decode(std::slice::from_ref(value), out),
            Self::Record(record) => {
                let returned: Variadic<Value> = record.read.call(value).map_err(|error| error.to_string())?;
                self.decode(&returned, out)
            }
        }
    }

    /// An element as the state lists it: `{lo = 1, hi = 2, ages = [0, 0]}`.
    pub fn show(&self, words: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Record(record) = self else {
            return write!(f, "{}", words[0] as i64);
        };
        for (i, field) in record.fields.iter().enumerate() {
            write!(f, "{}{} = ", if i == 0 { "{" } else { ", " }, field.name)?;
            let values = field.of(words).iter().map(|&word| word as i64);
            match field.len {
                None => write!(f, "{}", words[field.start] as i64)?,
                Some(_) => f.debug_list().entries(values).finish()?,
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

fn unfit<T>(message: String) -> Result<T, StateError> {
    Err(StateError::Unfit(message))
}

impl Field {
    /// Its part of an element.
    fn of<'a>(&self, words: &'a [Word]) -> &'a [Word] {
        &words[self.start..self.start + self.len.unwrap_or(1)]
    }

    fn read(&self, value: &Value, out: &mut [Word]) -> Result<(), String> {
        let out = &mut out[self.start..self.start + self.len.unwrap_or(1)];
        match (self.len, integer(value)) {
            (None, Some(value)) => {
                out[0] = value as Word;
                Ok(())
            }
            (None, None) => {
                let what = describe(value);
                Err(format!("`{}` must be an integer, not {what}", self.name))
            }
            (Some(_), _) => read_array(&self.name, value, out),
        }
    }
}

impl Record {
    fn new(fields: Vec<Field>, width: usize, sandbox: &Sandbox) -> Result<Self, ScriptError> {
        let names: Vec<&str> = fields.iter().map(|field| &*field.name).collect();
        let lengths: Vec<usize> = fields.iter().map(|field| field.len.unwrap_or(0)).collect();
        let codec = sandbox.tool("codec")?;
        let (read, freeze, producer, updater) = sandbox.call(&codec, (names, lengths))?;
        let tool = |function| Func { name: codec.name.clone(), line: None, function };
        let (producer, updater) = (tool(producer), tool(updater));
        Ok(Self { fields, width, read, freeze, producer, updater })
    }

    /// The values of the fields.
    fn values(&self, lua: &Lua, words: &[Word]) -> mlua::Result<Variadic<Value>> {
        let value = |field: &Field| match field.len {
            None => Ok(Value::Integer(words[field.start] as i64)),
            Some(_) => {
                let entries = field.of(words).iter().map(|&word| word as i64);
                Ok(Value::Table(lua.create_sequence_from(entries)?))
            }
        };
        self.fields.iter().map(value).collect()
    }

    /// What is wrong with something that has not exactly the declared fields.
    #[cold]
    fn explain(&self, value: &Value) -> String {
        let Value::Table(table) = value else {
            let what = describe(value);
            return format!("an element is a table with {}, but this is {what}", self.names());
        };
        let mut found = Vec::new();
        let outcome = each(table, |key, _| {
            found.push(match &key {
                Value::String(key) => key.to_string_lossy(),
                other => format!("[{}]", describe(other)),
            });
            Ok(())
        });
        let stray = found.iter().find(|&name| !self.fields.iter().any(|field| field.name == *name));
        match (outcome, stray) {
            (Err(error), _) => error,
            (_, Some(name)) => format!("an element has {}, but no `{name}`", self.names()),
            (_, None) => {
                let missing: Vec<_> = (self.fields.iter())
                    .filter(|field| !found.contains(&field.name))
                    .map(|field| format!("`{}`", field.name))
                    .collect();
                format!("the element lacks {}", missing.join(", "))
            }
        }
    }

    fn names(&self) -> String {
        let names: Vec<_> = (self.fields.iter()).map(|field| format!("`{}`", field.name)).collect();
        let s = if names.len() == 1 { "" } else { "s" };
        format!("the field{s} {}", names.join(", "))
    }
}

/// A function of the script, seen through one that the prelude makes of it.
fn wrap(wrapper: &Func, f: Func, sandbox: &Sandbox) -> Result<Func, ScriptError> {
    let function = sandbox.call(wrapper, f.function)?;
    Ok(Func { function, ..f })
}

fn read_array(name: &str, value: &Value, out: &mut [Word]) -> Result<(), String> {
    let Value::Table(table) = value else {
        return Err(format!("`{name}` must be an array of {} integers, not {}", out.len(), describe(value)));
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
        out[at] = integer(&value)
            .ok_or_else(|| format!("`{name}[{}]` must be an integer, not {}", at + 1, describe(&value)))?
            as Word;
        seen += 1;
        Ok(())
    })?;
    if seen == out.len() { Ok(()) } else { Err(format!("`{name}` must have {} entries, but has {seen}", out.len())) }
}

/// Calls `visit` with all entries, in no order.
fn each(table: &Table, mut visit: impl FnMut(Value, Value) -> Result<(), String>) -> Result<(), String> {
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
    table.metatable().and_then(|meta| meta.raw_get("__index").ok()).unwrap_or_else(|| table.clone())
}
