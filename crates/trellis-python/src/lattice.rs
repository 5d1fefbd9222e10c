//! Lattices as Python classes (000 §2.1, Fig. 3(c): "an ordinary Python class with at least two methods: `join` and the ordering").
//!
//! Elements are a fixed number of machine words to the engines. Which words is read off the object that the class makes for a size: its
//! attributes, in order, each an integer, a truth value or a list of those. `python/trellis_mc/lattice.py` reads the class; this module
//! turns words into objects and back, and remembers the objects of elements seen lately.
//!
//! Python code is the user's own and runs without limits, other than Lua scripts.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PyTuple};
use trellis::order::{Method, MethodKind, Trend, Word};
use trellis::script::{Brought, Class, Declared, Engine, Place, ScriptError};

use crate::failed;

/// So many elements are remembered; then all are forgotten.
const REMEMBERED: usize = 1 << 15;
/// In so many calls it is looked whether functions leave their arguments as they were.
const WATCHED: u64 = 2000;

/// A class that the package has read: `spec(size)` describes the lattice of a size.
#[pyclass(frozen)]
pub struct Lattice {
    name: String,
    file: String,
    text: String,
    spec: Py<PyAny>,
}

#[pymethods]
impl Lattice {
    #[new]
    fn new(name: String, file: String, text: String, spec: Py<PyAny>) -> Lattice {
        Lattice { name, file, text, spec }
    }
}

impl Lattice {
    /// Its name in models, and how it is made.
    pub fn class(&self) -> (String, Arc<dyn Class>) {
        let spec = Python::attach(|py| self.spec.clone_ref(py));
        (self.name.clone(), Arc::new(PythonClass { file: self.file.clone(), text: self.text.clone(), spec }))
    }
}

/// Tells the library how a file in Python is loaded.
pub fn provide() {
    trellis::python::loaded_by(Box::new(load));
}

/// A joining strategy: its file, its text and the function.
type NamedRule = (String, String, Py<PyAny>);

fn load(file: &Path) -> Result<Brought, trellis::Error> {
    Python::attach(|py| {
        let read = || -> PyResult<Brought> {
            let found = py.import("trellis_mc.lattice")?.getattr("load_file")?.call1((file,))?;
            let (lattices, join): (Vec<Py<Lattice>>, Option<NamedRule>) = found.extract()?;
            let join = join.map(|(file, text, f)| Arc::new(crate::strategy::Rule::new(file, text, f)) as _);
            Ok(Brought { classes: lattices.iter().map(|l| l.get().class()).collect(), join })
        };
        read().map_err(|e| {
            let shown = file.display().to_string();
            trellis::Error::Input(format!("error: {}", failed(py, &shown, "loading", &e)))
        })
    })
}

#[derive(Debug)]
struct PythonClass {
    file: String,
    text: String,
    spec: Py<PyAny>,
}

impl Class for PythonClass {
    fn file(&self) -> &str {
        &self.file
    }

    fn text(&self) -> &str {
        &self.text
    }

    fn engine(&self, size: usize) -> Result<Box<dyn Engine>, ScriptError> {
        Python::attach(|py| {
            let made = self.spec.bind(py).call1((size,)).and_then(|spec| Elements::new(py, &spec, &self.file));
            made.map(|e| Box::new(e) as Box<dyn Engine>).map_err(|e| match e.is_instance_of::<crate::InputError>(py) {
                true => ScriptError::Declaration {
                    place: Place { file: self.file.clone(), line: None },
                    message: e.value(py).to_string(),
                },
                false => failed(py, &self.file, "making an element", &e),
            })
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer,
    Truth,
    Integers(usize),
    Truths(usize),
}

struct Field {
    name: Py<PyAny>,
    shown: String,
    kind: Kind,
}

/// A class at work, for one size.
struct Elements {
    file: String,
    class: Py<PyAny>,
    make: Py<PyAny>,
    fields: Vec<Field>,
    width: usize,
    declared: Declared,
    leq: Py<PyAny>,
    join: Py<PyAny>,
    meet: Option<Py<PyAny>>,
    show: Option<Py<PyAny>>,
    sample: Option<Py<PyAny>>,
    functions: Vec<Py<PyAny>>,
    seen: Mutex<HashMap<Box<[Word]>, Py<PyAny>>>,
    calls: Mutex<u64>,
}

impl Elements {
    fn new(py: Python<'_>, spec: &Bound<'_, PyAny>, file: &str) -> PyResult<Elements> {
        let get = |key: &str| spec.get_item(key);
        let optional = |key: &str| -> PyResult<Option<Py<PyAny>>> {
            let value = spec.get_item(key)?;
            Ok((!value.is_none()).then(|| value.unbind()))
        };
        let class = get("class")?;
        let mut fields = vec![];
        let mut width = 0;
        for entry in get("fields")?.try_iter()? {
            let (name, kind, len): (String, String, usize) = entry?.extract()?;
            let kind = match kind.as_str() {
                "int" => Kind::Integer,
                "bool" => Kind::Truth,
                "ints" => Kind::Integers(len),
                _ => Kind::Truths(len),
            };
            width += len;
            fields.push(Field { name: name.clone().into_pyobject(py)?.into_any().unbind(), shown: name, kind });
        }
        let (mut methods, mut functions) = (vec![], vec![]);
        for entry in get("methods")?.try_iter()? {
            let (name, kind, args, mark, f): (String, String, usize, String, Py<PyAny>) = entry?.extract()?;
            let kind = if kind == "query" { MethodKind::Query } else { MethodKind::Update };
            let trend = match mark.as_str() {
                "up" => Trend::Monotone,
                "down" => Trend::Antitone,
                _ => Trend::Neither,
            };
            methods.push(Method { name, args, kind, trend, truth: false });
            functions.push(f);
        }
        let make = py.import("builtins")?.getattr("object")?.getattr("__new__")?.unbind();
        let mut all = Elements {
            file: file.to_string(),
            class: class.unbind(),
            make,
            fields,
            width,
            declared: Declared {
                methods,
                bits: get("bits")?.extract()?,
                names: get("names")?.extract()?,
                ..Declared::default()
            },
            leq: get("leq")?.unbind(),
            join: get("join")?.unbind(),
            meet: optional("meet")?,
            show: optional("show")?,
            sample: optional("sample")?,
            functions,
            seen: Mutex::default(),
            calls: Mutex::default(),
        };
        let element = |key: &str| -> PyResult<Option<Box<[Word]>>> {
            let value = spec.get_item(key)?;
            if value.is_none() {
                return Ok(None);
            }
            let mut words = vec![0; width];
            all.words(&value, &mut words)?;
            Ok(Some(words.into()))
        };
        let (initial, bottom, top) = (element("initial")?.unwrap_or_default(), element("bottom")?, element("top")?);
        all.declared.initial = initial;
        all.declared.bottom = bottom;
        all.declared.top = top;
        Ok(all)
    }

    /// A new object for an element.
    fn object<'py>(&self, py: Python<'py>, words: &[Word]) -> PyResult<Bound<'py, PyAny>> {
        let object = self.make.bind(py).call1((self.class.bind(py),))?;
        let mut at = 0;
        for field in &self.fields {
            let name = field.name.bind(py).cast::<pyo3::types::PyString>()?;
            match field.kind {
                Kind::Integer => object.setattr(name, words[at] as i64)?,
                Kind::Truth => object.setattr(name, words[at] != 0)?,
                Kind::Integers(n) => {
                    object.setattr(name, PyList::new(py, words[at..at + n].iter().map(|&w| w as i64))?)?;
                }
                Kind::Truths(n) => object.setattr(name, PyList::new(py, words[at..at + n].iter().map(|&w| w != 0))?)?,
            }
            at += match field.kind {
                Kind::Integer | Kind::Truth => 1,
                Kind::Integers(n) | Kind::Truths(n) => n,
            };
        }
        Ok(object)
    }

    /// The words of an object.
    fn words(&self, object: &Bound<'_, PyAny>, out: &mut [Word]) -> PyResult<()> {
        let py = object.py();
        let mut at = 0;
        let number = |value: &Bound<'_, PyAny>, name: &str, truth: bool| -> PyResult<Word> {
            if truth {
                return value.is_truthy().map(Word::from);
            }
            value
                .extract::<i64>()
                .map(|v| v as Word)
                .map_err(|_| PyTypeError::new_err(format!("`{name}` must be an integer of 64 bits, not {value}")))
        };
        for field in &self.fields {
            let value = object
                .getattr(field.name.bind(py).cast::<pyo3::types::PyString>()?)
                .map_err(|_| PyTypeError::new_err(format!("an element has no `{}`: {object}", field.shown)))?;
            match field.kind {
                Kind::Integer | Kind::Truth => {
                    out[at] = number(&value, &field.shown, field.kind == Kind::Truth)?;
                    at += 1;
                }
                Kind::Integers(n) | Kind::Truths(n) => {
                    let truth = matches!(field.kind, Kind::Truths(_));
                    let had = value.len()?;
                    if had != n {
                        let what = format!("`{}` must have {n} entries, as at first, but has {had}", field.shown);
                        return Err(PyValueError::new_err(what));
                    }
                    for (i, entry) in value.try_iter()?.enumerate().take(n) {
                        out[at + i] = number(&entry?, &field.shown, truth)?;
                    }
                    at += n;
                }
            }
        }
        Ok(())
    }

    /// The object of an element that is only looked at.
    fn shared<'py>(&self, py: Python<'py>, words: &[Word]) -> PyResult<Bound<'py, PyAny>> {
        {
            let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(object) = seen.get(words) {
                return Ok(object.bind(py).clone());
            }
        }
        let object = self.object(py, words)?;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let forgotten = if seen.len() >= REMEMBERED { std::mem::take(&mut *seen) } else { HashMap::new() };
        seen.insert(words.into(), object.clone().unbind());
        drop(seen);
        // Objects may run code when they go: not under the lock.
        drop(forgotten);
        Ok(object)
    }

    /// Has a function left an element as it was? Looked at in the first calls, which are the audit's.
    fn unchanged(&self, object: &Bound<'_, PyAny>, words: &[Word]) -> PyResult<()> {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if *calls >= WATCHED {
            return Ok(());
        }
        *calls += 1;
        drop(calls);
        let mut now = vec![0; self.width];
        self.words(object, &mut now)?;
        if now == words { Ok(()) } else { Err(PyValueError::new_err("it changes an element that it only may look at")) }
    }

    fn run<R>(&self, function: &str, work: impl FnOnce(Python<'_>) -> PyResult<R>) -> Result<R, ScriptError> {
        Python::attach(|py| work(py).map_err(|e| failed(py, &self.file, function, &e)))
    }

    /// Calls a function that makes an element of two; it may as well change the first.
    fn combine(&self, name: &str, f: &Py<PyAny>, a: &mut [Word], b: &[Word]) -> Result<(), ScriptError> {
        self.run(name, |py| {
            let (x, y) = (self.object(py, a)?, self.shared(py, b)?);
            let made = f.bind(py).call1((&x, &y))?;
            self.unchanged(&y, b)?;
            let mut words = vec![0; self.width];
            self.words(if made.is_none() { &x } else { &made }, &mut words)?;
            a.copy_from_slice(&words);
            Ok(())
        })
    }
}

impl Engine for Elements {
    fn declared(&self) -> Declared {
        self.declared.clone()
    }

    fn leq(&self, a: &[Word], b: &[Word]) -> Result<bool, ScriptError> {
        self.run("the order", |py| {
            let (x, y) = (self.shared(py, a)?, self.shared(py, b)?);
            let answer = self.leq.bind(py).call1((&x, &y))?;
            self.unchanged(&x, a)?;
            self.unchanged(&y, b)?;
            answer.extract().map_err(|_| PyTypeError::new_err(format!("must return True or False, not {answer:?}")))
        })
    }

    fn join(&self, a: &mut [Word], b: &[Word]) -> Result<(), ScriptError> {
        self.combine("join", &self.join, a, b)
    }

    fn meet(&self, a: &mut [Word], b: &[Word]) -> Result<(), ScriptError> {
        match &self.meet {
            Some(meet) => self.combine("meet", meet, a, b),
            None => Ok(()),
        }
    }

    fn query(&self, method: usize, elem: &[Word], args: &[i64]) -> Result<(i64, bool), ScriptError> {
        self.run(&self.declared.methods[method].name, |py| {
            let x = self.shared(py, elem)?;
            let answer = self.functions[method].bind(py).call1(with(&x, args)?)?;
            self.unchanged(&x, elem)?;
            let truth = answer.is_instance_of::<PyBool>();
            let number = answer
                .extract::<i64>()
                .map_err(|_| PyTypeError::new_err(format!("must return an integer, True or False, not {answer:?}")))?;
            Ok((number, truth))
        })
    }

    fn update(&self, method: usize, elem: &mut [Word], args: &[i64]) -> Result<(), ScriptError> {
        self.run(&self.declared.methods[method].name, |py| {
            let x = self.object(py, elem)?;
            let made = self.functions[method].bind(py).call1(with(&x, args)?)?;
            let mut words = vec![0; self.width];
            self.words(if made.is_none() { &x } else { &made }, &mut words)?;
            elem.copy_from_slice(&words);
            Ok(())
        })
    }

    fn show(&self, elem: &[Word]) -> Result<Option<String>, ScriptError> {
        let Some(show) = &self.show else { return Ok(None) };
        self.run("__str__", |py| show.bind(py).call1((self.shared(py, elem)?,))?.extract().map(Some))
    }

    fn show_parts(&self, elem: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut at = 0;
        f.write_str("{")?;
        for (i, field) in self.fields.iter().enumerate() {
            write!(f, "{}{} = ", if i == 0 { "" } else { ", " }, field.shown)?;
            match field.kind {
                Kind::Integer | Kind::Truth => {
                    write!(f, "{}", elem[at] as i64)?;
                    at += 1;
                }
                Kind::Integers(n) | Kind::Truths(n) => {
                    f.debug_list().entries(elem[at..at + n].iter().map(|&w| w as i64)).finish()?;
                    at += n;
                }
            }
        }
        f.write_str("}")
    }

    fn sample(&self, seed: u64, out: &mut [Word]) -> Result<bool, ScriptError> {
        let Some(sample) = &self.sample else { return Ok(false) };
        self.run("sample", |py| {
            let made = sample.bind(py).call1((seed,))?;
            self.words(&made, out).map(|()| true)
        })
    }
}

fn with<'py>(x: &Bound<'py, PyAny>, args: &[i64]) -> PyResult<Bound<'py, PyTuple>> {
    let py = x.py();
    let mut all = vec![x.clone()];
    for &arg in args {
        all.push(arg.into_pyobject(py)?.into_any());
    }
    PyTuple::new(py, all)
}
