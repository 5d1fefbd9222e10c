//! [`ScriptStrategy`]: a script that says which states may be joined.

use std::fmt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use mlua::{Function, LuaString, Value, Variadic};

use super::error::ScriptError;
use super::lattice::read;
use super::sandbox::{Func, Sandbox, describe, integer};

/// What a joining strategy can see of a state. Names are those of the model; a variable of a process is `P.x`.
pub trait StateView {
    /// All variables, integer and lattice: for messages, and to tell a lattice variable from a slip of the pen.
    fn names(&self) -> Vec<String>;

    /// The value of an integer variable.
    fn get(&self, name: &str) -> Option<i64>;

    /// The name of the location that a process is in.
    fn location(&self, process: &str) -> Option<String>;

    /// Calls a query of a lattice variable; the error is a message for the strategy's author.
    fn call(&self, lattice_var: &str, method: &str, args: &[i64]) -> Result<i64, String>;
}

/// A joining strategy (000 §B.1, Def. 6) defined by a Lua script; the [module](super) describes what it must contain.
pub struct ScriptStrategy {
    file: String,
    text: String,
    loaded: Mutex<Loaded>,
}

struct Loaded {
    sandbox: Sandbox,
    /// Calls the script's `join`, given the functions that look at the two states.
    join: Func,
}

impl ScriptStrategy {
    /// Reads a script from a file; it sees the constants as globals.
    pub fn load(path: impl AsRef<Path>, constants: &[(&str, i64)]) -> Result<Self, ScriptError> {
        let (file, text) = read(path.as_ref())?;
        Self::parse(&file, &text, constants)
    }

    /// Reads a script from a text; `file` is what messages call it.
    pub fn parse(file: &str, text: &str, constants: &[(&str, i64)]) -> Result<Self, ScriptError> {
        Ok(Self {
            file: file.to_owned(),
            text: text.to_owned(),
            loaded: Mutex::new(Loaded::new(file, text, constants)?),
        })
    }

    /// Replaces the constants. The script is run again, since what it computed when it was loaded may depend on them.
    pub fn set_constants(&mut self, constants: &[(&str, i64)]) -> Result<(), ScriptError> {
        self.loaded = Mutex::new(Loaded::new(&self.file, &self.text, constants)?);
        Ok(())
    }

    /// May these two states be joined?
    pub fn accepts(&self, x: &dyn StateView, y: &dyn StateView) -> Result<bool, ScriptError> {
        let loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.accepts([x, y])
    }
}

impl fmt::Debug for ScriptStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptStrategy").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Loaded {
    fn new(file: &str, text: &str, constants: &[(&str, i64)]) -> Result<Self, ScriptError> {
        let sandbox = Sandbox::new(file, constants)?;
        sandbox.run(text)?;
        sandbox.seal()?;
        let join = match sandbox.lua().globals().raw_get("join") {
            Ok(Value::Function(function)) => function,
            _ => {
                return Err(ScriptError::Declaration {
                    place: sandbox.place(None),
                    message: "a strategy must define a function: function join(x, y) ... end, which returns true \
                              if the states may be joined"
                        .to_owned(),
                });
            }
        };
        let line = join.info().line_defined;
        let function: Function = sandbox.call(&sandbox.tool("strategy")?, join)?;
        let join = Func { name: "join".to_owned(), line, function };
        Ok(Self { sandbox, join })
    }

    fn accepts(&self, states: [&dyn StateView; 2]) -> Result<bool, ScriptError> {
        // Lua counts from 1; only the prelude calls these, and only with 1 or 2.
        let state = |which: usize| states[which - 1];
        let mut answer = None;
        let outcome = self.sandbox.lua().scope(|scope| {
            let get =
                scope.create_function(|_, (which, name): (usize, LuaString)| get(state(which), &name.to_str()?))?;
            let find =
                scope.create_function(|_, (which, name): (usize, LuaString)| find(state(which), &name.to_str()?))?;
            let location =
                scope.create_function(|_, (which, process): (usize, Value)| location(state(which), &process))?;
            let call = scope.create_function(
                |_, (which, variable, method, args): (usize, LuaString, LuaString, Variadic<Value>)| {
                    call(state(which), &variable.to_str()?, &method.to_str()?, &args)
                },
            )?;
            answer = Some(self.sandbox.call::<Value>(&self.join, (get, find, location, call)));
            Ok(())
        });
        outcome.map_err(|error| self.sandbox.explain("join", self.join.line, &error))?;
        match answer {
            Some(Ok(Value::Boolean(answer))) => Ok(answer),
            Some(Ok(other)) => {
                let message = format!("must return true or false, not {}", describe(&other));
                Err(self.sandbox.unfit(&self.join, message))
            }
            Some(Err(error)) => Err(error),
            None => unreachable!("the scope ran to its end"),
        }
    }
}

/// The value of an integer variable: `x.vars.name`.
fn get(state: &dyn StateView, name: &str) -> mlua::Result<i64> {
    state.get(name).ok_or_else(|| {
        if state.names().iter().any(|known| known == name) {
            let message = format!("`{name}` is a lattice variable: call one of its methods, x.{name}:method()");
            mlua::Error::runtime(message)
        } else {
            unknown(state, name)
        }
    })
}

/// The value of an integer variable, nothing for a lattice variable: `x.name`.
fn find(state: &dyn StateView, name: &str) -> mlua::Result<Option<i64>> {
    match state.get(name) {
        None if !state.names().iter().any(|known| known == name) => Err(unknown(state, name)),
        value => Ok(value),
    }
}

fn location(state: &dyn StateView, process: &Value) -> mlua::Result<String> {
    let Value::String(name) = process else {
        let message = format!("location wants the name of a process, not {}", describe(process));
        return Err(mlua::Error::runtime(message));
    };
    let name = name.to_string_lossy();
    state.location(&name).ok_or_else(|| mlua::Error::runtime(format!("there is no process `{name}`")))
}

fn call(state: &dyn StateView, variable: &str, method: &str, args: &[Value]) -> mlua::Result<i64> {
    let args: Result<Vec<i64>, String> = args
        .iter()
        .map(|arg| integer(arg).ok_or_else(|| format!("{variable}:{method} wants integers, not {}", describe(arg))))
        .collect();
    args.and_then(|args| state.call(variable, method, &args)).map_err(mlua::Error::runtime)
}

#[cold]
fn unknown(state: &dyn StateView, name: &str) -> mlua::Error {
    let known = state.names().join(", ");
    mlua::Error::runtime(format!("there is no variable `{name}`; there are: {known}"))
}
