//! Traces of programs as runs, edge by edge, and back: variables have their full names, edges their numbers, with names and places beside them
//! so that a reader (and the one who reads it back) can tell whether they are still the same.

use rustc_hash::FxHashMap;
use serde_json::{Value as Json, json};
use trellis_expr::eval::Valuation;
use trellis_expr::value::ArrayValue;
use trellis_expr::{Terms, Type, Value, VarId};
use trellis_model::cfa::interpret::{Choice, Step, has_type};
use trellis_model::cfa::{Cfa, EdgeId, Place};

use super::{full_names, picked};
use crate::reader::{ReadError, plain};
use crate::run::{self, Part, Run, Values};
use crate::words::cut;

/// What is said where a run has ended and goes on forever.
const ENDED: &str = "(the run has ended)";

/// A value: words and integers that other readers might spoil are texts.
pub(super) fn json(terms: &Terms, v: &Value) -> Json {
    match v {
        Value::Bool(b) => Json::from(*b),
        Value::Enum(e, n) => {
            let literals = &terms.enumeration(*e).literals;
            literals.get(*n as usize).map_or(Json::Null, |l| Json::from(l.as_str()))
        }
        Value::Array(a) => {
            let entries = a.entries().map(|(i, v)| (i.to_string(), json(terms, v)));
            json!({ "entries": entries.collect::<serde_json::Map<_, _>>(), "default": json(terms, a.default()) })
        }
        Value::Int(_) | Value::Bits { .. } => {
            let n = v.number();
            match i64::try_from(&n) {
                Ok(n) => Json::from(n),
                Err(_) => Json::from(n.to_string()),
            }
        }
    }
}

/// The place of something, for people; without the folder, which is another elsewhere.
pub(crate) fn place(cfa: &Cfa, place: Place) -> run::Place {
    let file = cfa.files.get(place.file as usize).map_or("?", String::as_str);
    let file = file.rsplit(['/', '\\']).next().unwrap_or(file).to_string();
    run::Place { file, line: place.line, column: Some(place.column), text: String::new() }
}

/// Values by name: all, or those that are not as before.
fn values(cfa: &Cfa, names: &[String], now: &Valuation, before: Option<&Valuation>) -> Values {
    let known = cfa.variables.iter().zip(names).filter_map(|(v, name)| now.get(v).map(|x| (v, name, x)));
    let changed = known.filter(|(v, _, x)| before.is_none_or(|b| b.get(v) != Some(*x)));
    changed.map(|(_, name, x)| (name.clone(), json(&cfa.terms, x))).collect()
}

/// A run from its steps; one without an edge is one of a run that has ended.
pub(crate) fn run<'s>(
    cfa: &Cfa,
    start: &'s Valuation,
    steps: impl Iterator<Item = (Option<EdgeId>, &'s [Choice], &'s Valuation)>,
) -> Run {
    let names = full_names(cfa);
    let position: FxHashMap<VarId, usize> = cfa.variables.iter().enumerate().map(|(i, v)| (*v, i)).collect();
    let mut before = start;
    let mut all = vec![];
    for (edge, choices, after) in steps {
        let Some(id) = edge else {
            all.push(run::Step { label: ENDED.into(), ..run::Step::default() });
            continue;
        };
        let edge = cfa.edge(id);
        let mut variables = picked(cfa, before, id, choices).into_iter().map(|(v, _)| v);
        let mut choice = |c: &Choice| match c {
            Choice::Value(v) => {
                let name = variables.next().and_then(|v| position.get(&v)).map_or("", |i| names[*i].as_str());
                json!({ name: json(&cfa.terms, v) })
            }
            Choice::Branch(n) => Json::from(*n),
        };
        let part = Part {
            name: String::new(),
            from: Some(cfa.location(edge.from).name.clone()),
            to: Some(cfa.location(edge.to).name.clone()),
            takes: id.0.into(),
            choices: choices.iter().map(&mut choice).collect(),
            sends: false,
        };
        all.push(run::Step {
            label: cut(&cfa.terms.show_stmt(edge.stmt)),
            delay: None,
            set: values(cfa, &names, after, Some(before)),
            parts: vec![part],
            message: None,
            place: edge.place.map(|p| place(cfa, p)),
        });
        before = after;
    }
    Run { start: values(cfa, &names, start, None), steps: all, ..Run::default() }
}

/// A step that was read; without an edge the run has ended.
pub(crate) struct Read {
    pub edge: Option<EdgeId>,
    pub choices: Vec<Choice>,
    pub after: Valuation,
}

impl From<Read> for Option<Step> {
    fn from(r: Read) -> Option<Step> {
        Some(Step { edge: r.edge?, choices: r.choices, after: r.after })
    }
}

fn wrong<T>(path: String, expected: impl Into<String>, found: &Json) -> Result<T, ReadError> {
    Err(ReadError::found(path, expected, found))
}

/// The values at the start, and the steps.
pub(crate) fn read(cfa: &Cfa, run: &Run) -> Result<(Valuation, Vec<Read>), ReadError> {
    let names: FxHashMap<String, VarId> = full_names(cfa).into_iter().zip(cfa.variables.iter().copied()).collect();
    let mut now = Valuation::new();
    set(cfa, &names, &run.start, "start", &mut now)?;
    if let Some(&v) = cfa.variables.iter().find(|v| !now.contains_key(v)) {
        return wrong("start".into(), format!("a value for `{}`", cfa.terms.variable(v).name), &json!({}));
    }
    let start = now.clone();
    let mut steps = vec![];
    for (i, step) in run.steps.iter().enumerate() {
        let at = |field: &str| format!("steps[{i}].parts[0].{field}");
        let [part] = &step.parts[..] else {
            if step.parts.is_empty() {
                steps.push(Read { edge: None, choices: vec![], after: now.clone() });
                continue;
            }
            return wrong(format!("steps[{i}].parts"), "one part, the program", &json!(step.parts.len()));
        };
        let id = part.takes.as_u64().filter(|n| (*n as usize) < cfa.edges().len());
        let Some(id) = id.map(|n| EdgeId(n as u32)) else {
            let expected = match cfa.edges().len() {
                0 => "no edge, for there is none".into(),
                n => format!("an edge: a number from 0 to {}", n - 1),
            };
            return wrong(at("takes"), expected, &part.takes);
        };
        let edge = cfa.edge(id);
        for (end, said, l) in [("from", &part.from, edge.from), ("to", &part.to, edge.to)] {
            let name = &cfa.location(l).name;
            if said.as_ref() != Some(name) {
                return wrong(at(end), format!("\"{name}\""), &said.clone().into());
            }
        }
        let mut choices = vec![];
        for (k, c) in part.choices.iter().enumerate() {
            choices.push(choice(cfa, &names, c, &|| format!("steps[{i}].parts[0].choices[{k}]"))?);
        }
        set(cfa, &names, &step.set, &format!("steps[{i}].set"), &mut now)?;
        steps.push(Read { edge: Some(id), choices, after: now.clone() });
    }
    Ok((start, steps))
}

/// `1`, a branch; or `{"x": 5}`, a value.
fn choice(cfa: &Cfa, names: &FxHashMap<String, VarId>, c: &Json, at: &dyn Fn() -> String) -> Result<Choice, ReadError> {
    if let Some(branch) = c.as_u64() {
        return Ok(Choice::Branch(branch as usize));
    }
    let one = c.as_object().filter(|o| o.len() == 1).and_then(|o| o.iter().next());
    match one.and_then(|(name, raw)| Some((names.get(name)?, raw))) {
        Some((&v, raw)) => Ok(Choice::Value(value(&cfa.terms, cfa.terms.variable(v).ty, raw, at)?)),
        None => wrong(at(), "the number of a branch, or a variable of this model and its value", c),
    }
}

fn set(
    cfa: &Cfa,
    names: &FxHashMap<String, VarId>,
    values: &Values,
    path: &str,
    env: &mut Valuation,
) -> Result<(), ReadError> {
    for (name, raw) in values {
        let at = || format!("{path}.{}", plain(name));
        let Some(&v) = names.get(name) else { return wrong(at(), "a variable of this model", raw) };
        env.insert(v, value(&cfa.terms, cfa.terms.variable(v).ty, raw, &at)?);
    }
    Ok(())
}

/// A value of the type.
pub(super) fn value(terms: &Terms, ty: Type, raw: &Json, at: &dyn Fn() -> String) -> Result<Value, ReadError> {
    let wrong = || wrong(at(), format!("a value of type {}", terms.show_type(ty)), raw);
    match ty {
        Type::Bool => raw.as_bool().map(Value::Bool).map_or_else(wrong, Ok),
        Type::Enum(e) => {
            let of = |name: &str| terms.enumeration(e).literals.iter().position(|l| **l == *name);
            raw.as_str().and_then(of).map_or_else(wrong, |n| Ok(Value::Enum(e, n as u32)))
        }
        Type::Int | Type::Range(..) | Type::Bits { .. } => {
            let digits = match raw {
                Json::String(text) => Some(text.clone()),
                Json::Number(n) if n.is_i64() || n.is_u64() => Some(n.to_string()),
                _ => None,
            };
            digits.and_then(|d| number(terms, ty, &d)).map_or_else(wrong, Ok)
        }
        Type::Array(index, entry) => {
            let (index, entry) = (terms.type_of_id(index), terms.type_of_id(entry));
            let (Some(default), Some(entries)) = (raw.get("default"), raw.get("entries").and_then(Json::as_object))
            else {
                return wrong();
            };
            let mut array = ArrayValue::new(terms, index, value(terms, entry, default, at)?);
            for (i, raw) in entries {
                let Some(i) = number(terms, index, i) else { return wrong() };
                array.set(&i, value(terms, entry, raw, at)?);
            }
            Ok(Value::Array(array))
        }
    }
}

/// The scalar of the type that the digits stand for: truth values and literals are numbers too.
fn number(terms: &Terms, ty: Type, digits: &str) -> Option<Value> {
    let unsigned = digits.strip_prefix('-').unwrap_or(digits);
    let n =
        Some(digits).filter(|_| !unsigned.is_empty() && unsigned.bytes().all(|b| b.is_ascii_digit()))?.parse().ok()?;
    let value = match ty {
        Type::Bits { width, signed } => Value::wrap(width, signed, &n),
        Type::Int | Type::Range(..) => Value::Int(n.clone()),
        Type::Bool | Type::Enum(_) => Value::from_word(ty, i64::try_from(&n).ok()?),
        Type::Array(..) => return None,
    };
    (value.number() == n && has_type(terms, &value, ty)).then_some(value)
}
