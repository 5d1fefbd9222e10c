//! A Lua state that can do nothing but compute, and not for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use mlua::{FromLuaMulti, Function, HookTriggers, IntoLuaMulti, Lua, StdLib, Table, VmState};

use super::error::{CHUNK, Place, ScriptError, anatomy};
use super::{INSTRUCTION_LIMIT, MEMORY_LIMIT};

/// How often the running script is interrupted to see whether it should stop, in instructions.
const STRIDE: u32 = 10_000;

/// All that a script can reach. Left out on purpose: files, processes, loading code, printing, the clock and chance
/// (a verdict must not depend on them); `pcall` and coroutines (they could outlive the instruction limit); metatables
/// (finalisers run outside it); string patterns and `table.move` (they can run for ever inside one instruction).
const ALLOWED: &[&str] = &[
    "assert error ipairs pairs select tonumber tostring type",
    "math.abs math.ceil math.cos math.deg math.exp math.floor math.fmod math.huge math.log math.max math.maxinteger",
    "math.min math.mininteger math.modf math.pi math.rad math.sin math.sqrt math.tan math.tointeger math.type math.ult",
    "string.byte string.char string.format string.len string.lower string.rep string.reverse string.sub string.upper",
    "table.concat table.insert table.pack table.remove table.sort table.unpack",
];

/// A Lua state for one script.
pub(super) struct Sandbox {
    lua: Lua,
    file: String,
    tools: Table,
    fuel: Arc<Fuel>,
}

/// A function of the script.
#[derive(Clone)]
pub(super) struct Func {
    /// What messages call it.
    pub name: String,
    /// Where it begins.
    pub line: Option<usize>,
    pub function: Function,
}

/// How long the current call has been running.
#[derive(Default)]
struct Fuel {
    used: AtomicU64,
    line: AtomicUsize,
}

impl Sandbox {
    /// A state in which the globals are what is allowed, and the given constants.
    pub fn new(file: &str, constants: &[(&str, i64)]) -> Result<Self, ScriptError> {
        let start = || -> mlua::Result<(Lua, Table, Arc<Fuel>)> {
            let libraries = StdLib::MATH | StdLib::STRING | StdLib::TABLE;
            let lua = Lua::new_with(libraries, mlua::LuaOptions::default())?;
            let tools: Table = lua.load(include_str!("prelude.lua")).set_name("=trellis").eval()?;
            restrict(&lua)?;
            let constants = lua.create_table_from(constants.iter().copied())?;
            let prepare: Function = tools.raw_get("prepare")?;
            prepare.call::<()>((lua.globals(), constants))?;
            lua.set_memory_limit(MEMORY_LIMIT)?;
            let fuel = Arc::new(Fuel::default());
            let watched = Arc::clone(&fuel);
            let triggers = HookTriggers::new().every_nth_instruction(STRIDE);
            lua.set_hook(triggers, move |_, at| watched.burn(at))?;
            Ok((lua, tools, fuel))
        };
        match start() {
            Ok((lua, tools, fuel)) => Ok(Self { lua, file: file.to_owned(), tools, fuel }),
            Err(error) => Err(ScriptError::Failed {
                place: Place { file: file.to_owned(), line: None },
                function: "starting Lua".to_owned(),
                message: anatomy(&error).0,
            }),
        }
    }

    pub fn lua(&self) -> &Lua {
        &self.lua
    }

    /// A function of the prelude.
    pub fn tool(&self, name: &str) -> Result<Func, ScriptError> {
        match self.tools.raw_get(name) {
            Ok(function) => Ok(Func { name: name.to_owned(), line: None, function }),
            Err(error) => Err(self.explain(name, None, &error)),
        }
    }

    /// Runs the script's text, which defines its globals.
    pub fn run(&self, text: &str) -> Result<(), ScriptError> {
        let chunk = self.lua.load(text).set_name(format!("={CHUNK}")).set_mode(mlua::chunk::ChunkMode::Text);
        let function = chunk.into_function().map_err(|error| {
            let (message, line) = anatomy(&error);
            let place = self.place(line);
            ScriptError::Syntax { place, message }
        })?;
        let name = "running the script".to_owned();
        self.call(&Func { name, line: None, function }, ())
    }

    /// Ends the time in which the script may define globals.
    pub fn seal(&self) -> Result<(), ScriptError> {
        self.call(&self.tool("seal")?, self.lua.globals())
    }

    /// Calls a function of the script within the limits.
    pub fn call<R: FromLuaMulti>(&self, f: &Func, args: impl IntoLuaMulti) -> Result<R, ScriptError> {
        self.fuel.used.store(0, Relaxed);
        f.function.call(args).map_err(|error| self.explain(&f.name, f.line, &error))
    }

    /// Makes a Lua error readable.
    #[cold]
    pub fn explain(&self, function: &str, begins: Option<usize>, error: &mlua::Error) -> ScriptError {
        let function = function.to_owned();
        if self.fuel.is_spent() {
            let line = self.fuel.line.load(Relaxed);
            return ScriptError::Endless {
                place: self.place(Some(line).filter(|&line| line > 0).or(begins)),
                function,
                limit: INSTRUCTION_LIMIT,
            };
        }
        let (message, line) = anatomy(error);
        let place = self.place(line.or(begins));
        if let mlua::Error::MemoryError(_) = error {
            return ScriptError::Memory { place, function, limit: MEMORY_LIMIT };
        }
        ScriptError::Failed { place, function, message }
    }

    /// A function of the script returned something unfit.
    #[cold]
    pub fn unfit(&self, f: &Func, message: String) -> ScriptError {
        ScriptError::Failed { place: self.place(f.line), function: f.name.clone(), message }
    }

    pub fn place(&self, line: Option<usize>) -> Place {
        Place { file: self.file.clone(), line }
    }
}

impl Fuel {
    fn burn(&self, at: &mlua::debug::Debug) -> mlua::Result<VmState> {
        self.used.fetch_add(STRIDE.into(), Relaxed);
        if self.is_spent() {
            self.line.store(at.current_line().unwrap_or(0), Relaxed);
            return Err(mlua::Error::runtime("too many instructions"));
        }
        Ok(VmState::Continue)
    }

    fn is_spent(&self) -> bool {
        self.used.load(Relaxed) >= INSTRUCTION_LIMIT
    }
}

/// Removes every global that is not [`ALLOWED`].
fn restrict(lua: &Lua) -> mlua::Result<()> {
    let allowed: Vec<&str> = ALLOWED.iter().flat_map(|line| line.split_whitespace()).collect();
    let globals = lua.globals();
    for global in keys(&globals)? {
        let within: Vec<_> = allowed.iter().filter_map(|name| name.strip_prefix(&global)?.strip_prefix('.')).collect();
        if within.is_empty() && !allowed.contains(&global.as_str()) {
            globals.raw_remove(global)?;
        } else if !within.is_empty() {
            let library: Table = globals.raw_get(global)?;
            for name in keys(&library)? {
                if !within.contains(&name.as_str()) {
                    library.raw_remove(name)?;
                }
            }
        }
    }
    Ok(())
}

fn keys(table: &Table) -> mlua::Result<Vec<String>> {
    table.pairs::<String, mlua::Value>().map(|pair| Ok(pair?.0)).collect()
}

/// How messages name the kind of a value.
pub(super) fn describe(value: &mlua::Value) -> String {
    match value {
        mlua::Value::Integer(n) => n.to_string(),
        mlua::Value::Number(n) => n.to_string(),
        mlua::Value::Boolean(b) => b.to_string(),
        mlua::Value::String(s) => {
            format!("the string {:?}", s.to_string_lossy().chars().take(40).collect::<String>())
        }
        mlua::Value::Nil => "nil".to_owned(),
        other => format!("a {}", other.type_name()),
    }
}

/// An integer, or a float that is exactly one (Lua's `/` makes those).
pub(super) fn integer(value: &mlua::Value) -> Option<i64> {
    match *value {
        mlua::Value::Integer(n) => Some(n),
        // Every float in this range that has no fraction is an i64.
        mlua::Value::Number(x) if x.fract() == 0.0 && (-(2f64.powi(63))..2f64.powi(63)).contains(&x) => Some(x as i64),
        _ => None,
    }
}
