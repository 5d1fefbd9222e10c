//! Reports and evidence about counter systems as JSON, and evidence back. Variables have their names.

use std::io;

use rustc_hash::FxHashMap;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Value as Json, json};
use trellis_model::counter::evidence::{Bound, Certificate, Trace};
use trellis_model::counter::interpret::{State, step};
use trellis_model::counter::{OMEGA, RuleId, System, Var, Vector};

use super::binding::{other, start};
use super::node::{Fields, Node, Path, ReadError, field, optional};
use super::write::report_head;
use super::{Header, REPORT};
use crate::counter::{CounterReport, bound as bound_text};

/// The `schema` of runs of counter systems.
pub const COUNTER_TRACE: &str = "trellis-counter-trace/2";
/// The `schema` of invariants of counter systems.
pub const COUNTER_CERTIFICATE: &str = "trellis-counter-certificate/2";
/// In a certificate: more than any number.
const UNLIMITED: &str = "unlimited";

/// Writes a report as one line, without the newline. The run is part of it; of the invariant it says how large it is.
pub fn write_counter_report(out: impl io::Write, system: &System, report: &CounterReport) -> io::Result<()> {
    Ok(serde_json::to_writer(out, &ReportDoc { system, report })?)
}

/// Writes a run as a document of its own.
pub fn write_counter_trace(out: impl io::Write, system: &System, header: Header<'_>, trace: &Trace) -> io::Result<()> {
    Ok(serde_json::to_writer_pretty(out, &TraceDoc { system, header, trace })?)
}

/// Writes an invariant as a document of its own.
pub fn write_counter_certificate(
    out: impl io::Write,
    system: &System,
    header: Header<'_>,
    c: &Certificate,
) -> io::Result<()> {
    Ok(serde_json::to_writer_pretty(out, &CertificateDoc { system, header, certificate: c })?)
}

struct ReportDoc<'a> {
    system: &'a System,
    report: &'a CounterReport,
}

impl Serialize for ReportDoc<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let ReportDoc { system, report } = *self;
        let mut m = s.serialize_map(None)?;
        report_head(&mut m, report)?;
        let trace = report.trace.as_ref().map(|trace| TraceDoc { system, header: report.header(), trace });
        m.serialize_entry("trace", &trace)?;
        let size = |c: &Certificate| match c {
            Certificate::Above { bounds, basis } => json!({ "bounds": bounds.len(), "never": basis.len() }),
            Certificate::Below(tops) => json!({ "within": tops.len() }),
            Certificate::Exact { fixed, tops } => json!({ "exactly": fixed.len(), "within": tops.len() }),
        };
        m.serialize_entry("certificate", &report.certificate.as_ref().map(size))?;
        m.serialize_entry("inconclusive", &Json::Null)?;
        m.end()
    }
}

struct TraceDoc<'a> {
    system: &'a System,
    header: Header<'a>,
    trace: &'a Trace,
}

impl Serialize for TraceDoc<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut m = s.serialize_map(None)?;
        start(&mut m, COUNTER_TRACE, self.header)?;
        m.serialize_entry("target", &All(self.system, &self.system.target))?;
        m.serialize_entry("start", &Numbers(self.system, &Vector::dense(&self.trace.initial)))?;
        m.serialize_entry("steps", &Steps(self))?;
        m.end()
    }
}

/// Numbers by name.
struct Numbers<'a>(&'a System, &'a Vector);

impl Serialize for Numbers<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let number = |n| if n == OMEGA { Json::from(UNLIMITED) } else { Json::from(n) };
        s.collect_map(self.1.iter().map(|(v, n)| (&self.0.names[v as usize], number(n))))
    }
}

struct Steps<'a>(&'a TraceDoc<'a>);

impl Serialize for Steps<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let TraceDoc { system, trace, .. } = *self.0;
        let mut seq = s.serialize_seq(Some(trace.rules.len()))?;
        let mut state: State = trace.initial.clone();
        for &rule in &trace.rules {
            let next = step(system, rule, &state).ok().flatten().unwrap_or_else(|| state.clone());
            seq.serialize_element(&step_json(system, rule, &state, &next))?;
            state = next;
        }
        seq.end()
    }
}

/// What is written of a step. All of it follows from the rule and the state before, and is checked when it is read.
fn step_json(system: &System, rule: RuleId, before: &State, after: &State) -> serde_json::Map<String, Json> {
    let r = &system.rules[rule as usize];
    let changed = r.updates.iter().filter(|(v, _)| before[*v as usize] != after[*v as usize]);
    let set: serde_json::Map<String, Json> =
        changed.map(|(v, _)| (system.names[*v as usize].clone(), Json::from(after[*v as usize]))).collect();
    let mut all = serde_json::Map::new();
    all.insert("rule".into(), rule.into());
    all.insert("line".into(), r.line.into());
    if let Some(name) = &r.name {
        all.insert("transition".into(), name.as_str().into());
    }
    if let Some(title) = &r.title {
        all.insert("title".into(), title.as_str().into());
    }
    all.insert("text".into(), system.meaning(rule).into());
    all.insert("set".into(), set.into());
    all
}

struct CertificateDoc<'a> {
    system: &'a System,
    header: Header<'a>,
    certificate: &'a Certificate,
}

struct All<'a>(&'a System, &'a [Vector]);

impl Serialize for All<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(self.1.iter().map(|v| Numbers(self.0, v)))
    }
}

impl Serialize for CertificateDoc<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let system = self.system;
        let mut m = s.serialize_map(None)?;
        start(&mut m, COUNTER_CERTIFICATE, self.header)?;
        m.serialize_entry("target", &All(system, &system.target))?;
        match self.certificate {
            Certificate::Above { bounds, basis } => {
                let name = |v: &Var| system.names[*v as usize].clone();
                let one = |b: &Bound| {
                    let weights: serde_json::Map<String, Json> =
                        b.weights.iter().map(|(v, k)| (name(v), Json::from(*k))).collect();
                    let trap = |(factor, trap): &(i64, Vec<Var>)| json!({ "factor": factor, "variables": trap.iter().map(name).collect::<Vec<_>>() });
                    let traps: Vec<Json> = b.traps.iter().map(trap).collect();
                    json!({ "says": bound_text(system, b), "weights": weights, "traps": traps })
                };
                m.serialize_entry("bounds", &bounds.iter().map(one).collect::<Vec<_>>())?;
                m.serialize_entry("never", &All(system, basis))?;
            }
            Certificate::Below(tops) => m.serialize_entry("within", &All(system, tops))?,
            Certificate::Exact { fixed, tops } => {
                let names: Vec<&String> = fixed.iter().map(|v| &system.names[*v as usize]).collect();
                m.serialize_entry("exactly", &names)?;
                m.serialize_entry("within", &All(system, tops))?;
            }
        }
        m.end()
    }
}

/// A piece of evidence that was read.
#[derive(Debug, Clone)]
pub struct CounterEvidence {
    /// The targets that it is about; they need not be those of the model.
    pub target: Vec<Vector>,
    /// The evidence itself.
    pub content: CounterContent,
}

/// A run or an invariant.
#[derive(Debug, Clone)]
pub enum CounterContent {
    /// A run.
    Trace(Trace),
    /// An invariant.
    Certificate(Certificate),
}

/// Reads a run, an invariant, or a report that contains a run. Names and numbers fit the system, and what is written for people follows
/// from the rest; whether it shows anything is for `trellis-check` to say.
pub fn read_counter_evidence(system: &System, text: &str) -> Result<CounterEvidence, ReadError> {
    let names = system.names.iter().enumerate().map(|(v, name)| (name.as_str(), v as Var)).collect();
    Reader { system, names }.document(Node::top(text)?)
}

struct Reader<'s> {
    system: &'s System,
    names: FxHashMap<&'s str, Var>,
}

impl Reader<'_> {
    fn document(&self, top: Node<'_, '_>) -> Result<CounterEvidence, ReadError> {
        let fields = top.object()?;
        let schema = field(&fields, &top.path, "schema")?;
        let what = format!("\"{COUNTER_TRACE}\", \"{COUNTER_CERTIFICATE}\" or \"{REPORT}\"");
        let kind = schema.string(&what)?;
        if kind == REPORT && matches!(top.path, Path::Top) {
            return match optional(&fields, &top.path, "trace") {
                Some(trace) => self.document(trace),
                None => top.fail("a report with a trace (write certificates out with --certificate)"),
            };
        }
        let content = match &*kind {
            COUNTER_TRACE => {
                let first = self.vector(field(&fields, &top.path, "start")?)?;
                let mut initial = vec![0; self.system.names.len()];
                first.iter().for_each(|(v, n)| initial[v as usize] = n);
                CounterContent::Trace(self.trace(initial, field(&fields, &top.path, "steps")?)?)
            }
            COUNTER_CERTIFICATE => CounterContent::Certificate(self.certificate(&fields, &top.path)?),
            _ => return other(&schema, &kind, &what),
        };
        let target = self.vectors(field(&fields, &top.path, "target")?)?;
        Ok(CounterEvidence { target, content })
    }

    /// A run; what is told of each step must be what the rule does there.
    fn trace(&self, initial: State, list: Node<'_, '_>) -> Result<Trace, ReadError> {
        let mut rules = vec![];
        // Nothing behind a rule that cannot be taken.
        let mut state = Some(initial.clone());
        for (i, raw) in list.array()?.into_iter().enumerate() {
            let node = Node::new(Path::Item(&list.path, i), raw);
            let fields = node.object()?;
            let rule = field(&fields, &node.path, "rule")?.index(self.system.rules.len(), "a rule")? as RuleId;
            rules.push(rule);
            let after = state.as_ref().and_then(|s| step(self.system, rule, s).ok().flatten());
            if let (Some(before), Some(after)) = (&state, &after) {
                let told = step_json(self.system, rule, before, after);
                for (name, raw) in &fields {
                    let part = Node::new(Path::Field(&node.path, name), raw);
                    match told.get(&**name) {
                        Some(expected) => part.must_be(expected)?,
                        None => return part.fail("nothing of this name"),
                    }
                    if **name == *"set" {
                        part.object()?;
                    }
                }
                if let Some(missing) = told.keys().find(|name| !fields.contains_key(name.as_str())) {
                    return node.fail(format_args!("a step with \"{missing}\""));
                }
            }
            state = after;
        }
        Ok(Trace { initial, rules })
    }

    fn certificate(&self, fields: &Fields<'_>, top: &Path<'_>) -> Result<Certificate, ReadError> {
        if let Some(within) = optional(fields, top, "within") {
            let forms = ["bounds", "never"].iter().find(|name| fields.contains_key(**name));
            if forms.is_some() {
                return within.fail("one kind of invariant, not two");
            }
            let tops = self.vectors(within)?;
            let Some(list) = optional(fields, top, "exactly") else { return Ok(Certificate::Below(tops)) };
            let mut fixed = self.variables(&list)?;
            fixed.sort_unstable();
            fixed.dedup();
            return Ok(Certificate::Exact { fixed, tops });
        }
        let list = field(fields, top, "bounds")?;
        let mut bounds = vec![];
        for (i, raw) in list.array()?.into_iter().enumerate() {
            bounds.push(self.bound(Node::new(Path::Item(&list.path, i), raw))?);
        }
        let basis = self.vectors(field(fields, top, "never")?)?;
        Ok(Certificate::Above { bounds, basis })
    }

    fn variable(&self, node: &Node<'_, '_>, name: &str) -> Result<Var, ReadError> {
        match self.names.get(name) {
            Some(v) => Ok(*v),
            None => node.fail(format_args!("variables of the system, and `{name}` is none")),
        }
    }

    fn vectors(&self, list: Node<'_, '_>) -> Result<Vec<Vector>, ReadError> {
        let items = list.array()?.into_iter().enumerate();
        items.map(|(i, raw)| self.vector(Node::new(Path::Item(&list.path, i), raw))).collect()
    }

    fn vector(&self, node: Node<'_, '_>) -> Result<Vector, ReadError> {
        let mut entries = vec![];
        for (name, raw) in node.object()? {
            let value = Node::new(Path::Field(&node.path, &name), raw);
            let n = match value.string("") {
                Ok(word) if word == UNLIMITED => OMEGA,
                _ => value.integer(0, i64::MAX, "a number that is not negative")? as u64,
            };
            entries.push((self.variable(&node, &name)?, n));
        }
        Ok(Vector::new(entries))
    }

    fn bound(&self, node: Node<'_, '_>) -> Result<Bound, ReadError> {
        let fields = node.object()?;
        let list = field(&fields, &node.path, "weights")?;
        let mut weights = vec![];
        for (name, raw) in list.object()? {
            let value = Node::new(Path::Field(&list.path, &name), raw);
            weights.push((self.variable(&list, &name)?, value.integer(-i64::MAX, i64::MAX, "a whole number")?));
        }
        weights.sort_unstable();
        let list = field(&fields, &node.path, "traps")?;
        let mut traps = vec![];
        for (i, raw) in list.array()?.into_iter().enumerate() {
            let trap = Node::new(Path::Item(&list.path, i), raw);
            let fields = trap.object()?;
            let factor = field(&fields, &trap.path, "factor")?.integer(1, i64::MAX, "a positive number")?;
            traps.push((factor, self.variables(&field(&fields, &trap.path, "variables")?)?));
        }
        let bound = Bound { weights, traps };
        field(&fields, &node.path, "says")?.must_be(&bound_text(self.system, &bound).into())?;
        Ok(bound)
    }

    fn variables(&self, list: &Node<'_, '_>) -> Result<Vec<Var>, ReadError> {
        let mut all = vec![];
        for (i, raw) in list.array()?.into_iter().enumerate() {
            let name = Node::new(Path::Item(&list.path, i), raw);
            all.push(self.variable(&name, &name.string("the name of a variable")?)?);
        }
        Ok(all)
    }
}
