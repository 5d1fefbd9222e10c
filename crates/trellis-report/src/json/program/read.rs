//! Evidence about a program, back from JSON.

use rustc_hash::FxHashMap;
use trellis_expr::eval::Valuation;
use trellis_expr::value::ArrayValue;
use trellis_expr::{Terms, Type, Value, VarId};
use trellis_model::cfa::evidence::{Certificate, Trace};
use trellis_model::cfa::interpret::{Choice, Step, has_type};
use trellis_model::cfa::{Cfa, EdgeId, LocationId};

use super::{PROGRAM_CERTIFICATE, PROGRAM_TRACE};
use crate::json::REPORT;
use crate::json::binding::other;
use crate::json::node::{Fields, Node, Path, ReadError, field, optional};
use crate::program::full_names;
use crate::program::term::Reader;

/// A run or an invariant.
#[derive(Debug, Clone)]
pub enum ProgramContent {
    /// A run.
    Trace(Trace),
    /// An invariant.
    Certificate(Box<Certificate>),
}

/// Reads a trace, a certificate, or a report that contains one. Names, numbers and types fit the automaton; whether it shows anything
/// is for `trellis-check` to say.
pub fn read_program_evidence(cfa: &Cfa, text: &str) -> Result<ProgramContent, ReadError> {
    document(cfa, Node::top(text)?)
}

fn document(cfa: &Cfa, top: Node<'_, '_>) -> Result<ProgramContent, ReadError> {
    let fields = top.object()?;
    let schema = field(&fields, &top.path, "schema")?;
    let what = format!("\"{PROGRAM_TRACE}\", \"{PROGRAM_CERTIFICATE}\" or \"{REPORT}\"");
    match &*schema.string(&what)? {
        REPORT if matches!(top.path, Path::Top) => from_report(cfa, &fields, &top.path),
        PROGRAM_TRACE => Names::new(cfa).trace(&fields, &top.path).map(ProgramContent::Trace),
        PROGRAM_CERTIFICATE => certificate(cfa, &fields, &top.path).map(|c| ProgramContent::Certificate(Box::new(c))),
        kind => other(&schema, kind, &what),
    }
}

fn from_report(cfa: &Cfa, fields: &Fields<'_>, top: &Path<'_>) -> Result<ProgramContent, ReadError> {
    if let Some(trace) = optional(fields, top, "trace") {
        return document(cfa, trace);
    }
    match optional(fields, top, "certificate") {
        Some(c) if c.object()?.contains_key("schema") => document(cfa, c),
        Some(c) => {
            c.fail("a whole certificate (this report only says how large it is; write it out with --certificate)")
        }
        None => Err(ReadError::Content {
            path: top.to_string(),
            expected: "a report with a trace or a certificate".into(),
            found: "neither".into(),
        }),
    }
}

/// The variables of an automaton, by name.
pub(in crate::json) struct Names<'c> {
    cfa: &'c Cfa,
    variables: FxHashMap<String, VarId>,
}

impl<'c> Names<'c> {
    pub fn new(cfa: &'c Cfa) -> Names<'c> {
        Names { cfa, variables: full_names(cfa).into_iter().zip(cfa.variables.iter().copied()).collect() }
    }

    /// A value for every variable.
    pub fn start(&self, fields: &Fields<'_>, top: &Path<'_>) -> Result<Valuation, ReadError> {
        let node = field(fields, top, "start")?;
        let mut start = Valuation::new();
        self.values(node, &mut start)?;
        match self.cfa.variables.iter().find(|v| !start.contains_key(v)) {
            Some(&v) => node.fail(format_args!("a value for `{}`", self.cfa.terms.variable(v).name)),
            None => Ok(start),
        }
    }

    fn trace(&self, fields: &Fields<'_>, top: &Path<'_>) -> Result<Trace, ReadError> {
        let start = self.start(fields, top)?;
        let list = field(fields, top, "steps")?;
        let mut steps: Vec<Step> = Vec::new();
        for (i, raw) in list.array()?.into_iter().enumerate() {
            let before = steps.last().map_or(&start, |s| &s.after).clone();
            steps.push(self.step(Node::new(Path::Item(&list.path, i), raw), before)?);
        }
        Ok(Trace { start, steps })
    }

    /// A step, from these values on.
    pub fn step(&self, node: Node<'_, '_>, mut after: Valuation) -> Result<Step, ReadError> {
        let fields = node.object()?;
        let number = field(&fields, &node.path, "edge")?;
        let id = EdgeId(number.index(self.cfa.edges().len(), "an edge")? as u32);
        let edge = self.cfa.edge(id);
        for (name, l) in [("from", edge.from), ("to", edge.to)] {
            expect_name(self.cfa, field(&fields, &node.path, name)?, l)?;
        }
        let list = field(&fields, &node.path, "choices")?;
        let mut choices = Vec::new();
        for (i, raw) in list.array()?.into_iter().enumerate() {
            choices.push(self.pick(Node::new(Path::Item(&list.path, i), raw))?);
        }
        self.values(field(&fields, &node.path, "set")?, &mut after)?;
        Ok(Step { edge: id, choices, after })
    }

    /// `{"branch": 1}` or `{"variable": "x", "value": 5}`.
    fn pick(&self, node: Node<'_, '_>) -> Result<Choice, ReadError> {
        let fields = node.object()?;
        if let Some(branch) = optional(&fields, &node.path, "branch") {
            return Ok(Choice::Branch(branch.index(usize::MAX, "a branch")?));
        }
        let name = field(&fields, &node.path, "variable")?;
        let Some(&v) = self.variables.get(&*name.string("the name of a variable")?) else {
            return name.fail("a variable of this model");
        };
        let node = field(&fields, &node.path, "value")?;
        Ok(Choice::Value(value(&self.cfa.terms, self.cfa.terms.variable(v).ty, node)?))
    }

    fn values(&self, node: Node<'_, '_>, env: &mut Valuation) -> Result<(), ReadError> {
        for (name, raw) in node.object()? {
            let node = Node::new(Path::Field(&node.path, &name), raw);
            let Some(&v) = self.variables.get(&*name) else { return node.fail("a variable of this model") };
            env.insert(v, value(&self.cfa.terms, self.cfa.terms.variable(v).ty, node)?);
        }
        Ok(())
    }
}

/// A location that should have this name.
pub(in crate::json) fn expect_name(cfa: &Cfa, node: Node<'_, '_>, l: LocationId) -> Result<(), ReadError> {
    let name = &cfa.location(l).name;
    if *node.string("the name of a location")? == **name { Ok(()) } else { node.fail(format_args!("\"{name}\"")) }
}

/// A value of the type.
fn value(terms: &Terms, ty: Type, node: Node<'_, '_>) -> Result<Value, ReadError> {
    let wrong = || node.fail(format_args!("a value of type {}", terms.show_type(ty)));
    match ty {
        Type::Bool => node.boolean().map(Value::Bool),
        Type::Enum(e) => {
            let literal = node.string("the name of a literal")?;
            match terms.enumeration(e).literals.iter().position(|l| **l == *literal) {
                Some(n) => Ok(Value::Enum(e, n as u32)),
                None => wrong(),
            }
        }
        Type::Int | Type::Range(..) | Type::Bits { .. } => {
            node.digits().and_then(|d| number(terms, ty, d)).map_or_else(wrong, Ok)
        }
        Type::Array(index, entry) => {
            let (index, entry) = (terms.type_of_id(index), terms.type_of_id(entry));
            let fields = node.object()?;
            let default = value(terms, entry, field(&fields, &node.path, "default")?)?;
            let mut array = ArrayValue::new(terms, index, default);
            let entries = field(&fields, &node.path, "entries")?;
            for (i, raw) in entries.object()? {
                let node = Node::new(Path::Field(&entries.path, &i), raw);
                let Some(i) = number(terms, index, &i) else { return node.fail("an index of this array") };
                array.set(&i, value(terms, entry, node)?);
            }
            Ok(Value::Array(array))
        }
    }
}

/// The scalar of the type that the digits stand for: truth values and literals are numbers too.
fn number(terms: &Terms, ty: Type, digits: &str) -> Option<Value> {
    let n = digits.parse().ok()?;
    let value = match ty {
        Type::Bits { width, signed } => Value::wrap(width, signed, &n),
        Type::Int | Type::Range(..) => Value::Int(n.clone()),
        Type::Bool | Type::Enum(_) => Value::from_word(ty, i64::try_from(&n).ok()?),
        Type::Array(..) => return None,
    };
    (value.number() == n && has_type(terms, &value, ty)).then_some(value)
}

/// A variable must still have the type that it had.
fn variable(reader: &mut Reader, node: Node<'_, '_>) -> Result<(), ReadError> {
    let fields = node.object()?;
    let name = field(&fields, &node.path, "name")?;
    let ty = field(&fields, &node.path, "type")?;
    let Some(expected) = reader.type_of(&name.string("the name of a variable")?) else {
        return name.fail("a variable of this model");
    };
    match reader.ty(&ty.string("a type")?) {
        Ok(ty) if ty == expected => Ok(()),
        _ => ty.fail(format_args!(
            "the type {} (was the program read with other options?)",
            reader.terms.show_type(expected)
        )),
    }
}

/// The variables and the definitions: what terms are made of.
pub(in crate::json) fn terms(cfa: &Cfa, fields: &Fields<'_>, top: &Path<'_>) -> Result<Reader, ReadError> {
    let mut reader = Reader::new(cfa);
    let list = field(fields, top, "variables")?;
    for (i, raw) in list.array()?.into_iter().enumerate() {
        variable(&mut reader, Node::new(Path::Item(&list.path, i), raw))?;
    }
    let list = field(fields, top, "definitions")?;
    for (i, raw) in list.array()?.into_iter().enumerate() {
        let node = Node::new(Path::Item(&list.path, i), raw);
        if let Err(why) = reader.define(&node.string("a term")?) {
            return node.fail(format_args!("a term ({why})"));
        }
    }
    Ok(reader)
}

fn certificate(cfa: &Cfa, fields: &Fields<'_>, top: &Path<'_>) -> Result<Certificate, ReadError> {
    let k = field(fields, top, "k")?.integer(1, i64::from(u16::MAX), "how many steps")? as usize;
    let mut reader = terms(cfa, fields, top)?;
    let list = field(fields, top, "invariant")?;
    let mut invariant = Vec::new();
    for (i, raw) in list.array()?.into_iter().enumerate() {
        let node = Node::new(Path::Item(&list.path, i), raw);
        let fields = node.object()?;
        let number = field(&fields, &node.path, "location")?;
        let l = LocationId(number.index(cfa.locations().len(), "a location")? as u32);
        expect_name(cfa, field(&fields, &node.path, "name")?, l)?;
        let texts = field(&fields, &node.path, "elements")?;
        let mut elements = Vec::new();
        for (j, raw) in texts.array()?.into_iter().enumerate() {
            let node = Node::new(Path::Item(&texts.path, j), raw);
            match reader.condition(&node.string("a term")?) {
                Ok(t) => elements.push(t),
                Err(why) => return node.fail(format_args!("a term ({why})")),
            }
        }
        invariant.push((l, elements));
    }
    Ok(Certificate { terms: reader.terms, k, invariant })
}
