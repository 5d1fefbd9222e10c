//! A lattice script at work: one Lua state that has run it, and the elements it has seen.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use mlua::{Function, Value, Variadic};
use rustc_hash::FxHashMap;
use trellis_order::Word;

use super::declaration::Declaration;
use super::engine::{Declared, Engine};
use super::error::ScriptError;
use super::sandbox::{Func, Sandbox, describe, integer};

/// How many words the remembered elements may have together, and how many elements there may be.
const CACHE_WORDS: usize = 1 << 20;
const CACHE_ELEMENTS: usize = 1 << 15;

/// A script that can be run.
pub(super) struct Source {
    pub file: String,
    pub text: String,
    /// The declared size, which the script sees as `N`.
    pub size: usize,
}

/// A Lua state that has run a [`Source`].
pub(super) struct Vm {
    sandbox: Sandbox,
    pub declaration: Declaration,
    /// The script's value of elements seen lately, so that comparing them again costs little more than the bare call.
    /// Emptied when full: simple, and cheap compared with filling it.
    cache: FxHashMap<Box<[Word]>, Value>,
    cache_bound: usize,
    /// What `sample` is given, and the state of its generator.
    random: Function,
    dice: Arc<AtomicU64>,
}

impl Vm {
    pub fn new(source: &Source) -> Result<Self, ScriptError> {
        let size = i64::try_from(source.size).unwrap_or(i64::MAX);
        let sandbox = Sandbox::new(&source.file, &[("N", size)])?;
        let dice = Arc::new(AtomicU64::new(0));
        let random =
            roll(sandbox.lua(), Arc::clone(&dice)).map_err(|error| sandbox.explain("starting Lua", None, &error))?;
        sandbox.run(&source.text)?;
        sandbox.seal()?;
        let declaration = Declaration::read(&sandbox, &source.text, source.size)?;
        let cache_bound = (CACHE_WORDS / declaration.state.width()).clamp(16, CACHE_ELEMENTS);
        Ok(Self { sandbox, declaration, cache: FxHashMap::default(), cache_bound, random, dice })
    }

    pub fn leq(&mut self, a: &[Word], b: &[Word]) -> Result<bool, ScriptError> {
        let args = (self.value(a)?, self.value(b)?);
        let f = &self.declaration.leq;
        match self.sandbox.call(f, args)? {
            Value::Boolean(answer) => Ok(answer),
            other => Err(self.unfit(f, format!("must return true or false, not {}", describe(&other)))),
        }
    }

    /// `a := a ⊔ b`
    pub fn join(&mut self, a: &mut [Word], b: &[Word]) -> Result<(), ScriptError> {
        let args = (self.value(a)?, self.value(b)?);
        self.put(&self.declaration.join, args, a)
    }

    /// `a := a ⊓ b`, for a lattice that has one.
    pub fn meet(&mut self, a: &mut [Word], b: &[Word]) -> Result<(), ScriptError> {
        let args = (self.value(a)?, self.value(b)?);
        match &self.declaration.meet {
            Some((meet, _)) => self.put(meet, args, a),
            None => Ok(()),
        }
    }

    /// The answer of a query, and whether it was a truth value.
    pub fn query(&mut self, method: usize, elem: &[Word], args: &[i64]) -> Result<(i64, bool), ScriptError> {
        let elem = self.value(elem)?;
        let f = &self.declaration.bodies[method];
        let answer = self.sandbox.call(f, (elem, variadic(args)))?;
        match (&answer, integer(&answer)) {
            (Value::Boolean(answer), _) => Ok(((*answer).into(), true)),
            (_, Some(answer)) => Ok((answer, false)),
            _ => {
                let what = describe(&answer);
                Err(self.unfit(f, format!("must return an integer, true or false, not {what}")))
            }
        }
    }

    pub fn update(&mut self, method: usize, elem: &mut [Word], args: &[i64]) -> Result<(), ScriptError> {
        let f = &self.declaration.bodies[method];
        let state = &self.declaration.state;
        let args = state
            .arguments(self.sandbox.lua(), elem, args)
            .map_err(|error| self.sandbox.explain(&f.name, f.line, &error))?;
        self.put(f, args, elem)
    }

    /// The script's own way of writing an element, if it has one.
    pub fn show(&mut self, elem: &[Word]) -> Result<Option<String>, ScriptError> {
        let elem = self.value(elem)?;
        let Some(f) = &self.declaration.show else {
            return Ok(None);
        };
        match self.sandbox.call(f, elem)? {
            Value::String(text) => Ok(Some(text.to_string_lossy())),
            other => Err(self.unfit(f, format!("must return a string, not {}", describe(&other)))),
        }
    }

    /// An element drawn by the script's `sample`; answers whether there is one.
    pub fn sample(&mut self, seed: u64, out: &mut [Word]) -> Result<bool, ScriptError> {
        self.dice.store(seed, Relaxed);
        match &self.declaration.sample {
            Some(f) => self.put(f, &self.random, out).map(|()| true),
            None => Ok(false),
        }
    }

    /// Calls a function that returns an element. If it fails, `out` is as it was.
    fn put(&self, f: &Func, args: impl mlua::IntoLuaMulti, out: &mut [Word]) -> Result<(), ScriptError> {
        let returned: Variadic<Value> = self.sandbox.call(f, args)?;
        let mut words = vec![0; out.len()];
        match self.declaration.state.decode(&returned, &mut words) {
            Ok(()) => {
                out.copy_from_slice(&words);
                Ok(())
            }
            Err(message) => Err(self.unfit(f, message)),
        }
    }

    /// The script's value of an element: shared, so not to be changed.
    fn value(&mut self, words: &[Word]) -> Result<Value, ScriptError> {
        if let super::state::State::Integer = self.declaration.state {
            return Ok(Value::Integer(words[0] as i64));
        }
        if let Some(value) = self.cache.get(words) {
            return Ok(value.clone());
        }
        let value = self
            .declaration
            .state
            .frozen(self.sandbox.lua(), words)
            .map_err(|error| self.sandbox.explain("building an element", None, &error))?;
        if self.cache.len() >= self.cache_bound {
            self.cache.clear();
        }
        self.cache.insert(words.into(), value.clone());
        Ok(value)
    }

    #[cold]
    fn unfit(&self, f: &Func, message: String) -> ScriptError {
        self.sandbox.unfit(f, message)
    }
}

fn variadic(args: &[i64]) -> Variadic<i64> {
    args.iter().copied().collect()
}

/// `random(n)`: an integer from 0 to n - 1, by the SplitMix64 generator.
fn roll(lua: &mlua::Lua, state: Arc<AtomicU64>) -> mlua::Result<Function> {
    lua.create_function(move |_, n: Value| match integer(&n) {
        Some(n) if n > 0 => {
            const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
            let mut z = state.fetch_add(STEP, Relaxed).wrapping_add(STEP);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            Ok((z ^ (z >> 31)) % n as u64)
        }
        _ => Err(mlua::Error::runtime(format!("random(n) wants a positive integer, not {}", describe(&n)))),
    })
}

/// Lua states for one script: a thread takes whichever is free, and starts another while there are fewer than
/// processors. The functions of a script depend on nothing but their arguments, so it does not matter which.
pub(super) struct Pool {
    source: Source,
    slots: Box<[OnceLock<Mutex<Vm>>]>,
}

impl Pool {
    pub fn new(source: Source) -> Result<Self, ScriptError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let slots: Box<[_]> = (0..threads).map(|_| OnceLock::new()).collect();
        let _ = slots[0].set(Mutex::new(Vm::new(&source)?));
        Ok(Self { source, slots })
    }

    /// A Lua state for the caller alone.
    pub fn take(&self) -> MutexGuard<'_, Vm> {
        for slot in &self.slots {
            if slot.get().is_none()
                && let Ok(vm) = Vm::new(&self.source)
            {
                // If another thread was faster, there is one more to try all the same.
                let _ = slot.set(Mutex::new(vm));
            }
            match slot.get().map(Mutex::try_lock) {
                Some(Ok(vm)) => return vm,
                Some(Err(TryLockError::Poisoned(vm))) => return vm.into_inner(),
                Some(Err(TryLockError::WouldBlock)) | None => {}
            }
        }
        let mut started = self.slots.iter().filter_map(OnceLock::get);
        let first = started.next().expect("the first is started by `new`");
        first.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine for Pool {
    fn declared(&self) -> Declared {
        let vm = self.take();
        let d = &vm.declaration;
        Declared {
            initial: d.initial.clone(),
            bottom: d.bottom.clone(),
            top: d.meet.as_ref().map(|(_, top)| top.clone()),
            bits: d.bits,
            methods: d.methods.clone(),
            names: d.names.clone(),
        }
    }

    fn leq(&self, a: &[Word], b: &[Word]) -> Result<bool, ScriptError> {
        self.take().leq(a, b)
    }

    fn join(&self, a: &mut [Word], b: &[Word]) -> Result<(), ScriptError> {
        self.take().join(a, b)
    }

    fn meet(&self, a: &mut [Word], b: &[Word]) -> Result<(), ScriptError> {
        self.take().meet(a, b)
    }

    fn query(&self, method: usize, elem: &[Word], args: &[i64]) -> Result<(i64, bool), ScriptError> {
        self.take().query(method, elem, args)
    }

    fn update(&self, method: usize, elem: &mut [Word], args: &[i64]) -> Result<(), ScriptError> {
        self.take().update(method, elem, args)
    }

    fn show(&self, elem: &[Word]) -> Result<Option<String>, ScriptError> {
        self.take().show(elem)
    }

    fn show_parts(&self, elem: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.take().declaration.state.show(elem, f)
    }

    fn sample(&self, seed: u64, out: &mut [Word]) -> Result<bool, ScriptError> {
        self.take().sample(seed, out)
    }
}
