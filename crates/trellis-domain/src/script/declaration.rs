//! Reads the `lattice` table of a script.

use mlua::{Table, Value};
use trellis_order::{Method, MethodKind, Trend, Word};

use super::error::ScriptError;
use super::sandbox::{Func, Sandbox, describe, integer};
use super::state::{State, StateError};

/// What a script declares.
pub(super) struct Declaration {
    pub state: State,
    pub initial: Box<[Word]>,
    pub bottom: Option<Box<[Word]>>,
    pub leq: Func,
    /// Joins, meets and samples are [producers](State::producer), updates [updaters](State::updater).
    pub join: Func,
    /// The meet, and the top.
    pub meet: Option<(Func, Box<[Word]>)>,
    pub show: Option<Func>,
    pub sample: Option<Func>,
    pub bits: Option<usize>,
    pub names: Vec<String>,
    pub methods: Vec<Method>,
    /// What each method runs.
    pub bodies: Vec<Func>,
}

const ENTRIES: &[&str] = &[
    "state", "initial", "leq", "join", "bottom", "top", "meet", "show", "sample", "queries", "updates", "bits",
    "names", "marks",
];

impl Declaration {
    /// Reads the globals of a script that has run.
    pub fn read(sandbox: &Sandbox, text: &str, size: usize) -> Result<Self, ScriptError> {
        let globals = sandbox.lua().globals();
        let reader = match globals.raw_get("lattice") {
            Ok(Value::Table(table)) => Reader { sandbox, text, size, table },
            _ => {
                return Err(ScriptError::Declaration {
                    place: sandbox.place(None),
                    message: "the script must define a table: lattice = { state = ..., initial = ..., leq = ..., \
                              join = ... }"
                        .to_owned(),
                });
            }
        };
        reader.read()
    }
}

struct Reader<'a> {
    sandbox: &'a Sandbox,
    text: &'a str,
    size: usize,
    table: Table,
}

type Read<T> = Result<T, ScriptError>;

impl Reader<'_> {
    fn read(&self) -> Read<Declaration> {
        for key in self.keys("lattice", &self.table)? {
            if !ENTRIES.contains(&key.as_str()) {
                let known = ENTRIES.join(", ");
                return Err(self.wrong(&key, format!("unknown entry `{key}`; there are: {known}")));
            }
        }
        let declared = self.entry("state")?;
        let state = State::read(&declared, self.sandbox).map_err(|error| match error {
            StateError::Unfit(message) => self.wrong("state", message),
            StateError::Script(error) => error,
        })?;
        let initial = self
            .element("initial", &state)?
            .ok_or_else(|| self.missing("initial", "an element, or a function that gives one"))?;
        let bottom = self.element("bottom", &state)?;
        let top = self.element("top", &state)?;
        let leq = self.function("leq", 2)?.ok_or_else(|| self.missing("leq", "function(a, b) ... end, the order"))?;
        let join = self
            .function("join", 2)?
            .ok_or_else(|| self.missing("join", "function(a, b) ... end, the least upper bound"))?;
        let meet = match (self.function("meet", 2)?, top, &bottom) {
            (None, None, _) => None,
            (Some(meet), Some(top), Some(_)) => Some((state.producer(meet, self.sandbox)?, top)),
            _ => {
                let message = "a lattice with `meet` or `top` has both, and `bottom`".to_owned();
                return Err(self.wrong("lattice", message));
            }
        };
        let sample = match self.function("sample", 1)? {
            Some(sample) => Some(state.producer(sample, self.sandbox)?),
            None => None,
        };
        let (mut methods, bodies) = self.methods(&state)?;
        self.marks(&mut methods)?;
        let mut declaration = Declaration {
            join: state.producer(join, self.sandbox)?,
            state,
            initial,
            bottom,
            leq,
            meet,
            show: self.function("show", 1)?,
            sample,
            bits: self.bits()?,
            names: self.names()?,
            methods,
            bodies,
        };
        if declaration.bits.is_some() {
            self.put_indexing_first(&mut declaration)?;
        }
        Ok(declaration)
    }

    fn entry(&self, key: &str) -> Read<Value> {
        self.table.raw_get(key).map_err(|error| self.sandbox.explain(key, self.line_of(key), &error))
    }

    /// An element, or a function of the declared size that gives one.
    fn element(&self, key: &str, state: &State) -> Read<Option<Box<[Word]>>> {
        let value = match self.entry(key)? {
            Value::Nil => return Ok(None),
            Value::Function(function) => {
                let f = self.func(key, function);
                self.sandbox.call(&f, self.size)?
            }
            value => value,
        };
        let mut words = vec![0; state.width()].into_boxed_slice();
        match state.words(&value, &mut words) {
            Ok(()) => Ok(Some(words)),
            Err(message) => Err(self.wrong(key, format!("`{key}`: {message}"))),
        }
    }

    fn function(&self, key: &str, parameters: u8) -> Read<Option<Func>> {
        match self.entry(key)? {
            Value::Nil => Ok(None),
            Value::Function(function) => {
                let f = self.func(key, function);
                let info = f.function.info();
                if info.num_params != parameters && !info.is_vararg {
                    let had = info.num_params;
                    let message = format!("`{key}` takes {parameters} parameters, not {had}");
                    return Err(self.wrong_function(&f, message));
                }
                Ok(Some(f))
            }
            other => Err(self.wrong(key, format!("`{key}` must be a function, not {}", describe(&other)))),
        }
    }

    fn func(&self, name: &str, function: mlua::Function) -> Func {
        Func { name: name.to_owned(), line: function.info().line_defined, function }
    }

    /// The methods by kind and name: a Lua table has no order of its own.
    fn methods(&self, state: &State) -> Read<(Vec<Method>, Vec<Func>)> {
        let (mut methods, mut bodies): (Vec<Method>, Vec<Func>) = Default::default();
        for (group, kind) in [("queries", MethodKind::Query), ("updates", MethodKind::Update)] {
            let table = match self.entry(group)? {
                Value::Nil => continue,
                Value::Table(table) => table,
                other => {
                    let message = format!("`{group}` must be a table, not {}", describe(&other));
                    return Err(self.wrong(group, message));
                }
            };
            for name in self.keys(group, &table)? {
                let Ok(Value::Function(function)) = table.raw_get(name.as_str()) else {
                    let message = format!("{group}.{name} must be a function");
                    return Err(self.wrong(&name, message));
                };
                let f = self.func(&format!("{group}.{name}"), function);
                let info = f.function.info();
                let Some(args) = info.num_params.checked_sub(1).filter(|_| !info.is_vararg) else {
                    let message =
                        format!("{group}.{name} must take the element first, then a fixed number of integers");
                    return Err(self.wrong_function(&f, message));
                };
                if methods.iter().any(|method| method.name == name) {
                    let message = format!("`{name}` is both a query and an update");
                    return Err(self.wrong_function(&f, message));
                }
                methods.push(Method { name, args: args.into(), kind, trend: Trend::Neither, truth: false });
                bodies.push(match kind {
                    MethodKind::Query => f,
                    MethodKind::Update => state.updater(f, self.sandbox)?,
                });
            }
        }
        Ok((methods, bodies))
    }

    /// How methods move when the element grows, as the script says.
    fn marks(&self, methods: &mut [Method]) -> Read<()> {
        let table = match self.entry("marks")? {
            Value::Nil => return Ok(()),
            Value::Table(table) => table,
            other => {
                let message = format!("`marks` must be a table, not {}", describe(&other));
                return Err(self.wrong("marks", message));
            }
        };
        for name in self.keys("marks", &table)? {
            let Some(method) = methods.iter_mut().find(|method| method.name == name) else {
                let message = format!("marks.{name}: there is no query and no update of this name");
                return Err(self.wrong(&name, message));
            };
            let value: Value = table.raw_get(name.as_str()).unwrap_or(Value::Nil);
            let mark = match &value {
                Value::String(s) => s.to_string_lossy(),
                _ => String::new(),
            };
            method.trend = match mark.as_str() {
                "up" => Trend::Monotone,
                "down" => Trend::Antitone,
                "none" => Trend::Neither,
                _ => {
                    let message =
                        format!("marks.{name} must be \"up\", \"down\" or \"none\", not {}", describe(&value));
                    return Err(self.wrong(&name, message));
                }
            };
        }
        Ok(())
    }

    fn bits(&self) -> Read<Option<usize>> {
        let value = self.entry("bits")?;
        match integer(&value).map(usize::try_from) {
            _ if value.is_nil() => Ok(None),
            Some(Ok(bits)) if bits > 0 => Ok(Some(bits)),
            _ => {
                let message = format!("`bits` must be the number of bits, not {}", describe(&value));
                Err(self.wrong("bits", message))
            }
        }
    }

    fn names(&self) -> Read<Vec<String>> {
        let wrong = |what: &Value| {
            let message = format!("`names` must be a list of names, not {}", describe(what));
            self.wrong("names", message)
        };
        let table = match self.entry("names")? {
            Value::Nil => return Ok(Vec::new()),
            Value::Table(table) => table,
            other => return Err(wrong(&other)),
        };
        table
            .sequence_values::<Value>()
            .map(|name| match name {
                Ok(Value::String(name)) => Ok(name.to_string_lossy()),
                Ok(other) => Err(wrong(&other)),
                Err(error) => Err(self.sandbox.explain("names", self.line_of("names"), &error)),
            })
            .collect()
    }

    /// `x[i]` calls the methods number 0 and 1.
    fn put_indexing_first(&self, declaration: &mut Declaration) -> Read<()> {
        let wanted = [("get", 1, MethodKind::Query), ("set", 2, MethodKind::Update)];
        for (to, (name, args, kind)) in wanted.into_iter().enumerate() {
            let fits = |method: &Method| (&*method.name, method.args, method.kind) == (name, args, kind);
            let Some(from) = declaration.methods.iter().position(fits) else {
                let message = "a lattice with `bits` has queries.get(a, i) and updates.set(a, i, b)";
                return Err(self.wrong("bits", message.to_owned()));
            };
            declaration.methods[to..=from].rotate_right(1);
            declaration.bodies[to..=from].rotate_right(1);
        }
        Ok(())
    }

    /// The names in a table, sorted.
    fn keys(&self, of: &str, table: &Table) -> Read<Vec<String>> {
        let mut keys = Vec::new();
        for pair in table.pairs::<Value, Value>() {
            match pair {
                Ok((Value::String(key), _)) => keys.push(key.to_string_lossy()),
                Ok((other, _)) => {
                    let message = format!("`{of}` has an entry without a name: [{}]", describe(&other));
                    return Err(self.wrong(of, message));
                }
                Err(error) => {
                    return Err(self.sandbox.explain(of, self.line_of(of), &error));
                }
            }
        }
        keys.sort();
        Ok(keys)
    }

    fn missing(&self, key: &str, what: &str) -> ScriptError {
        self.wrong("lattice", format!("the lattice lacks `{key}`: {what}"))
    }

    fn wrong(&self, key: &str, message: String) -> ScriptError {
        ScriptError::Declaration { place: self.sandbox.place(self.line_of(key)), message }
    }

    fn wrong_function(&self, f: &Func, message: String) -> ScriptError {
        ScriptError::Declaration { place: self.sandbox.place(f.line), message }
    }

    /// The line that seems to define an entry of the table, or the table: Lua forgets where entries were written.
    fn line_of(&self, key: &str) -> Option<usize> {
        let lines = || (1..).zip(self.text.lines());
        let start = lines().find(|(_, line)| defines(line, "lattice"));
        let later = format!("lattice.{key}");
        let found = lines().filter(|(_, line)| defines(line, &later)).last();
        let within = || lines().skip(start?.0 - 1).find(|(_, line)| defines(line, key));
        Some(found.or_else(within)?.0)
    }
}

/// Does the line assign to `name`?
fn defines(line: &str, name: &str) -> bool {
    let code = line.split("--").next().unwrap_or_default();
    code.match_indices(name).any(|(at, _)| {
        let within_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let after = code[at + name.len()..].trim_start();
        !code[..at].ends_with(within_word) && after.starts_with('=') && !after.starts_with("==")
    })
}
