//! [`ScriptLattice`]: a lattice whose order, join and methods are a script's.

use std::fmt;
use std::path::Path;
use std::sync::OnceLock;

use trellis_order::laws::{self, AuditReport};
use trellis_order::{Domain, Join, Lattice, Meet, Method, MethodError, MethodKind, Shape, Word};

use super::engine::{Class, Declared, Engine, name_of};
use super::error::{Place, ScriptError};
use super::vm::{Pool, Source};

/// A lattice defined by a Lua script; the [module](super) describes what it must contain.
///
/// The functions of [`Domain`] and [`Join`] cannot fail, but a script can. The first error is kept and
/// [`error`](Self::error) tells it; from then on nothing is below anything and joins do nothing, so an engine must ask
/// before it believes a result. An error in a method is returned by the call, and not kept.
pub struct ScriptLattice {
    engine: Box<dyn Engine>,
    file: String,
    /// The size a model declares.
    size: usize,
    name: String,
    /// Words per element.
    width: usize,
    /// The script has no `bottom`: elements have one more word, 0 for the bottom that is added and 1 for others.
    lifted: bool,
    initial: Box<[Word]>,
    bottom: Box<[Word]>,
    top: Option<Box<[Word]>>,
    bits: Option<usize>,
    methods: Vec<Method>,
    names: Vec<String>,
    error: OnceLock<ScriptError>,
}

impl ScriptLattice {
    /// Reads a script from a file. `size` is the size a model declares, 8 in `CountSet x[8]`, or 1.
    pub fn load(path: impl AsRef<Path>, size: usize) -> Result<Self, ScriptError> {
        let (file, text) = read(path.as_ref())?;
        Self::parse(&file, &text, size)
    }

    /// Reads a script from a text; `file` is what messages call it.
    pub fn parse(file: &str, text: &str, size: usize) -> Result<Self, ScriptError> {
        let pool = Pool::new(Source { file: file.to_owned(), text: text.to_owned(), size })?;
        Self::of(Box::new(pool), file, name_of(file, size), size)
    }

    /// The lattice of another language; `name` is what a model calls it.
    pub fn of_class(name: &str, class: &dyn Class, size: usize) -> Result<Self, ScriptError> {
        Self::of(class.engine(size)?, class.file(), name_of(name, size), size)
    }

    fn of(engine: Box<dyn Engine>, file: &str, name: String, size: usize) -> Result<Self, ScriptError> {
        let Declared { initial: start, bottom, top, bits, mut methods, names } = engine.declared();
        try_out(&*engine, &start, &bottom, &top)?;
        let lifted = bottom.is_none();
        let mut initial = start.to_vec();
        let mut bottom = bottom.as_deref().unwrap_or_default().to_vec();
        if lifted {
            initial.push(1);
            bottom.resize(initial.len(), 0);
        }
        // A query that answers true or false once must do so always.
        for (number, method) in methods.iter_mut().enumerate().filter(|(_, m)| m.kind == MethodKind::Query) {
            method.truth = engine.query(number, &start, &vec![0; method.args]).is_ok_and(|(_, truth)| truth);
        }
        Ok(Self {
            engine,
            file: file.to_owned(),
            size,
            name,
            width: initial.len(),
            lifted,
            initial: initial.into(),
            bottom: bottom.into(),
            top,
            bits,
            methods,
            names,
            error: OnceLock::new(),
        })
    }

    /// The first error of the script since it was loaded. If there is one, nothing the lattice says can be trusted.
    pub fn error(&self) -> Option<ScriptError> {
        self.error.get().cloned()
    }

    /// Checks the laws of lattices on `samples` elements (see [`laws::audit`]). What it found, or which law the script
    /// breaks and on which elements, or the script's error.
    pub fn audit(&self, samples: usize, seed: u64) -> Result<AuditReport, ScriptError> {
        let outcome = laws::audit(self, samples, seed);
        match (self.error(), outcome) {
            (Some(error), _) => Err(error),
            (None, Ok(report)) => Ok(report),
            (None, Err(violation)) => Err(ScriptError::Law {
                place: Place { file: self.file.clone(), line: None },
                message: violation.explain(self),
            }),
        }
    }

    /// The part of an element that the script sees; nothing for the bottom that was added.
    fn seen<'a>(&self, elem: &'a [Word]) -> Option<&'a [Word]> {
        match (self.lifted, elem) {
            (false, _) => Some(elem),
            (true, [seen @ .., 1]) => Some(seen),
            (true, _) => None,
        }
    }

    fn seen_mut<'a>(&self, elem: &'a mut [Word]) -> Option<&'a mut [Word]> {
        let seen = self.seen(elem)?.len();
        Some(&mut elem[..seen])
    }

    /// Runs something that may fail where failing is not foreseen.
    fn ask<R>(&self, otherwise: R, run: impl FnOnce(&dyn Engine) -> Result<R, ScriptError>) -> R {
        if self.error.get().is_some() {
            return otherwise;
        }
        run(&*self.engine).unwrap_or_else(|error| {
            let _ = self.error.set(error);
            otherwise
        })
    }

    fn check_call(&self, method: usize, args: &[i64], kind: MethodKind) -> Result<(), MethodError> {
        match self.methods.get(method) {
            Some(m) if m.kind == kind && m.args == args.len() => Ok(()),
            m => Err(MethodError(format!(
                "method {method} ({}) of {} is not one of this kind with {} arguments",
                m.map_or("no such method", |m| &m.name),
                self.name,
                args.len()
            ))),
        }
    }

    /// An element that a model might reach: some updates of the initial one. Calls that the script refuses are not
    /// made.
    fn wander(&self, random: &mut dyn FnMut() -> u64, out: &mut [Word]) -> Result<(), ScriptError> {
        out.copy_from_slice(&self.initial);
        let updates: Vec<usize> =
            (0..self.methods.len()).filter(|&m| self.methods[m].kind == MethodKind::Update).collect();
        if updates.is_empty() {
            return Ok(());
        }
        let size = self.size.max(4) as u64;
        let Some(seen) = self.seen_mut(out) else {
            return Ok(());
        };
        for _ in 0..random() % 8 {
            let method = updates[(random() % updates.len() as u64) as usize];
            let args: Vec<i64> = (0..self.methods[method].args)
                .map(|_| match random() % 4 {
                    0 => (random() % 64) as i64 - 16,
                    _ => (random() % size) as i64,
                })
                .collect();
            match self.engine.update(method, seen, &args) {
                Err(error) if error.is_limit() => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Reads a script's text.
pub(super) fn read(path: &Path) -> Result<(String, String), ScriptError> {
    let file = path.display().to_string();
    match std::fs::read_to_string(path) {
        Ok(text) => Ok((file, text)),
        Err(error) => Err(ScriptError::Unreadable { place: Place { file, line: None }, reason: error.to_string() }),
    }
}

/// Calls every function of known parameters once, so that most slips show before anything depends on them.
fn try_out(
    engine: &dyn Engine,
    initial: &[Word],
    bottom: &Option<Box<[Word]>>,
    top: &Option<Box<[Word]>>,
) -> Result<(), ScriptError> {
    for other in std::iter::once(initial).chain(bottom.as_deref()).chain(top.as_deref()) {
        engine.leq(initial, other)?;
        engine.join(&mut initial.to_vec(), other)?;
        if top.is_some() {
            engine.meet(&mut initial.to_vec(), other)?;
        }
        engine.show(other)?;
    }
    engine.sample(0, &mut initial.to_vec())?;
    Ok(())
}

impl Domain for ScriptLattice {
    type Elem = [Word];

    fn leq(&self, a: &[Word], b: &[Word]) -> bool {
        match (self.seen(a), self.seen(b)) {
            (None, _) => true,
            (_, None) => false,
            (Some(a), Some(b)) => self.ask(false, |engine| engine.leq(a, b)),
        }
    }

    fn is_bottom(&self, a: &[Word]) -> bool {
        *a == *self.bottom
    }
}

impl Join for ScriptLattice {
    fn join(&self, a: &mut [Word], b: &[Word]) -> bool {
        let Some(seen) = self.seen(b) else {
            return false;
        };
        match self.seen_mut(a) {
            None => {
                a.copy_from_slice(b);
                true
            }
            Some(a) => self.ask(false, |engine| {
                let before: Box<[Word]> = (&*a).into();
                engine.join(a, seen)?;
                Ok(*a != *before)
            }),
        }
    }
}

impl Meet for ScriptLattice {
    fn top(&self, a: &mut [Word]) {
        // Only `as_meet` leads here, and only if there is a top.
        a.copy_from_slice(self.top.as_deref().unwrap_or(&self.initial));
    }

    fn meet(&self, a: &mut [Word], b: &[Word]) -> bool {
        self.ask(false, |engine| {
            let before: Box<[Word]> = (&*a).into();
            engine.meet(a, b)?;
            Ok(*a != *before)
        })
    }
}

impl fmt::Debug for ScriptLattice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptLattice")
            .field("name", &self.name)
            .field("file", &self.file)
            .field("width", &self.width)
            .field("error", &self.error.get())
            .finish_non_exhaustive()
    }
}

impl Lattice for ScriptLattice {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn width(&self) -> usize {
        self.width
    }

    fn is_element(&self, words: &[Word]) -> bool {
        // Any integers may be a state; the added least element is all zeros.
        self.seen(words).is_some() || words.iter().all(|&w| w == 0)
    }

    fn initial(&self, out: &mut [Word]) {
        out.copy_from_slice(&self.initial);
    }

    fn bottom(&self, out: &mut [Word]) {
        out.copy_from_slice(&self.bottom);
    }

    fn methods(&self) -> &[Method] {
        &self.methods
    }

    fn query(&self, method: usize, elem: &[Word], args: &[i64]) -> Result<i64, MethodError> {
        self.check_call(method, args, MethodKind::Query)?;
        let Some(elem) = self.seen(elem) else {
            return Err(MethodError(format!(
                "{} asks the bottom element of {}, which stands for no state",
                self.methods[method].name, self.name
            )));
        };
        let answer = self.engine.query(method, elem, args);
        let (answer, truth) = answer.map_err(|error| MethodError(error.to_string()))?;
        if self.methods[method].truth && !truth {
            let name = &self.methods[method].name;
            return Err(MethodError(format!("{name} of {} answers true or false, and then {answer}", self.name)));
        }
        Ok(answer)
    }

    fn update(&self, method: usize, elem: &mut [Word], args: &[i64]) -> Result<(), MethodError> {
        self.check_call(method, args, MethodKind::Update)?;
        let Some(elem) = self.seen_mut(elem) else {
            return Ok(()); // Whatever is done to no state leaves no state.
        };
        let outcome = self.engine.update(method, elem, args);
        outcome.map_err(|error| MethodError(error.to_string()))
    }

    fn shape(&self) -> Shape<'_> {
        self.bits.map_or(Shape::Leaf, Shape::Bits)
    }

    /// An element as the script's `show` writes it; without one, or if it fails, field by field.
    fn show(&self, elem: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(elem) = self.seen(elem) else {
            return f.write_str("⊥");
        };
        match self.engine.show(elem) {
            Ok(Some(text)) => f.write_str(&text),
            Ok(None) | Err(_) => self.engine.show_parts(elem, f),
        }
    }

    fn sample(&self, random: &mut dyn FnMut() -> u64, out: &mut [Word]) {
        match (random() % 12, &self.top) {
            (0, _) => return self.bottom(out),
            (1, _) => return self.initial(out),
            (2, Some(top)) => return out.copy_from_slice(top),
            _ => {}
        }
        let seed = random();
        // An element other than the added bottom, for the script to write on.
        out.copy_from_slice(&self.initial);
        let Some(seen) = self.seen_mut(out) else {
            return;
        };
        if self.ask(true, |engine| engine.sample(seed, seen)) {
            return;
        }
        let wandered = self.wander(random, out);
        self.ask((), |_| wandered);
        if random().is_multiple_of(3) {
            let mut other = self.initial.clone();
            let wandered = self.wander(random, &mut other);
            self.ask((), |_| wandered);
            self.join(out, &other);
        }
    }

    fn as_meet(&self) -> Option<&dyn Meet<Elem = [Word]>> {
        match self.top {
            Some(_) => Some(self),
            None => None,
        }
    }

    fn failure(&self) -> Option<String> {
        self.error().map(|e| e.to_string())
    }

    fn names(&self) -> &[String] {
        &self.names
    }
}
