//! Runs of transition systems that were generated from composed statecharts (Gamma), told in the words of these: what is raised at which component, the
//! states that each is in, what it sends. What the generator calls things is known: `region_instance` is a variable of an enumeration whose first
//! literal is `__Inactive__`, `Port_event_In_instance` and `Port_event_Out_instance` are truth values, `Port_event_In_parameter_instance` is
//! what an event carries, `variable_instance` any other.
//!
//! Only what people are shown is put into other words; evidence in files stays as it is. Where no variable is named so, nothing is.

use std::io;

use serde_json::Value as Json;
use serde_json::value::RawValue;
use trellis_expr::eval::Valuation;
use trellis_expr::{Type, Value, VarId};
use trellis_model::cfa::Cfa;
use trellis_model::cfa::evidence::{Certificate, Trace};
use trellis_report::present::{Body, Drawing, Shown};
use trellis_report::run::{Run, Values};
use trellis_report::{Present, Program, ReadError};

use super::statechart::{Round, shown};

/// The literal of a region that is not active.
const INACTIVE: &str = "__Inactive__";

/// A region: instance, name and variable.
type Region = (String, String, VarId);
/// An event of an instance: `instance.Port.event`, its variable, and what it carries.
type Event = (String, VarId, Vec<VarId>);

/// The words of a generated model.
pub struct Names {
    regions: Vec<Region>,
    inputs: Vec<Event>,
    outputs: Vec<Event>,
    variables: Vec<(String, VarId)>,
}

impl Names {
    /// None if the model is none that was generated.
    pub fn of(cfa: &Cfa) -> Option<Names> {
        let terms = &cfa.terms;
        let mut regions: Vec<Region> = vec![];
        for &v in &cfa.variables {
            let declared = terms.variable(v);
            let Type::Enum(e) = declared.ty else { continue };
            let ty = terms.enumeration(e);
            if ty.literals.first().is_none_or(|l| l != INACTIVE) {
                continue;
            }
            // `main_region_slp : Main_region_SLP`: the longest name that both begin with is the region's.
            let mut split = declared.name.rmatch_indices('_').map(|(at, _)| declared.name.split_at(at));
            let fits = |region: &str| {
                let mut chars = region.chars();
                let upper: String = chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect();
                [upper.as_str(), region]
                    .iter()
                    .any(|r| ty.name.strip_prefix(r).is_some_and(|rest| rest.starts_with('_')))
            };
            let (region, instance) = split.find(|(region, _)| fits(region))?;
            regions.push((instance[1..].to_string(), region.to_string(), v));
        }
        if regions.is_empty() {
            return None;
        }
        let mut instances: Vec<&str> = regions.iter().map(|r| r.0.as_str()).collect();
        // The longest first: `a_b` before `b`.
        instances.sort_by_key(|i| std::cmp::Reverse(i.len()));
        instances.dedup();
        let (mut inputs, mut outputs, mut variables): (Vec<Event>, Vec<Event>, Vec<(String, VarId)>) =
            Default::default();
        let mut carried: Vec<(String, VarId)> = vec![];
        for &v in &cfa.variables {
            let name = &terms.variable(v).name;
            if regions.iter().any(|r| r.2 == v) {
                continue;
            }
            let own = |i: &&&str| name.strip_suffix(**i).is_some_and(|rest| rest.ends_with('_'));
            let Some(instance) = instances.iter().find(own) else { continue };
            let rest = &name[..name.len() - instance.len() - 1];
            let event = |mark: &str| {
                let (port, event) = rest.strip_suffix(mark)?.split_once('_')?;
                Some(format!("{instance}.{port}.{event}"))
            };
            match (event("_In"), event("_Out")) {
                (Some(event), _) => inputs.push((event, v, vec![])),
                (_, Some(event)) => outputs.push((event, v, vec![])),
                _ if rest.contains("_In_") || rest.contains("_Out_") => carried.push((name.clone(), v)),
                _ => variables.push((format!("{instance}.{rest}"), v)),
            }
        }
        for (name, v) in carried {
            let event = inputs.iter_mut().chain(&mut outputs).find(|(_, flag, _)| {
                // `P_e_In_slp` carries `P_e_In_value_slp`.
                let flag = &terms.variable(*flag).name;
                let mut marks =
                    ["_In_", "_Out_"].into_iter().filter_map(|m| Some(flag.split_at(flag.find(m)? + m.len())));
                marks.any(|(front, end)| name.starts_with(front) && name.ends_with(end))
            });
            if let Some((_, _, values)) = event {
                values.push(v);
            }
        }
        Some(Names { regions, inputs, outputs, variables })
    }

    fn raised(&self, cfa: &Cfa, events: &[Event], values: &Valuation) -> Vec<String> {
        let mut all = vec![];
        for (name, flag, carried) in events {
            if values.get(flag) != Some(&Value::Bool(true)) {
                continue;
            }
            let with: Vec<String> =
                carried.iter().filter_map(|v| Some(cfa.terms.show_value(values.get(v)?).to_string())).collect();
            all.push(if with.is_empty() { name.clone() } else { format!("{name}({})", with.join(", ")) });
        }
        all
    }

    /// A run in cycles: `env` raises, `trans` is what happens then.
    fn tell(&self, cfa: &Cfa, trace: &Trace) -> Vec<Round> {
        let mut all: Vec<Round> = vec![];
        let mut came: Option<Vec<String>> = None;
        let last = trace.steps.len().saturating_sub(1);
        for (n, step) in trace.steps.iter().enumerate() {
            let to = cfa.location(cfa.edge(step.edge).to).name.as_str();
            let over = to == "before env";
            if to == "before trans" {
                came = Some(self.raised(cfa, &self.inputs, &step.after));
            }
            // A run that ends after `env` has a cycle that is not over.
            let open = n == last && came.is_some() && !over;
            if !over && !open {
                continue;
            }
            let label = match &came {
                None if all.is_empty() => "start".to_string(),
                Some(raised) if !raised.is_empty() => format!("raise {}", raised.join(", ")),
                _ => "nothing comes".to_string(),
            };
            all.push(self.round(cfa, label, came.take().map(|c| c.join(", ")), &step.after, over));
        }
        all
    }

    fn round(&self, cfa: &Cfa, label: String, event: Option<String>, values: &Valuation, stable: bool) -> Round {
        let (mut shown, mut place) = (Values::new(), vec![]);
        let mut instances: Vec<&str> = self.regions.iter().map(|r| r.0.as_str()).collect();
        instances.dedup();
        for instance in instances {
            let mut states = vec![];
            for (_, region, v) in self.regions.iter().filter(|r| r.0 == instance) {
                let Some(Value::Enum(e, n)) = values.get(v) else { continue };
                let literal = &cfa.terms.enumeration(*e).literals[*n as usize];
                if literal != INACTIVE {
                    states.push(format!("{region}.{literal}"));
                }
            }
            place.extend(states.iter().map(|s| format!("{instance}.{s}")));
            shown.insert(instance.to_string(), states.join(", ").into());
        }
        for (name, v) in &self.variables {
            if let Some(value) = values.get(v) {
                shown.insert(name.clone(), cfa.terms.show_value(value).to_string().into());
            }
        }
        shown.insert("sent".into(), self.raised(cfa, &self.outputs, values).join(", ").into());
        Round { label, event, shown, place: place.join(", "), stable, ..Round::default() }
    }
}

/// Runs in cycles, everything else as of any automaton.
pub struct Annotated<'a> {
    pub program: Program<'a>,
    pub cfa: &'a Cfa,
    pub names: &'a Names,
}

impl Present for Annotated<'_> {
    type Trace = Trace;
    type Proof = Certificate;

    fn run(&self, trace: &Trace) -> io::Result<Run> {
        self.program.run(trace)
    }

    fn trace(&self, run: &Run) -> Result<Trace, ReadError> {
        self.program.trace(run)
    }

    fn shown(&self, trace: &Trace) -> Shown {
        match self.names.tell(self.cfa, trace) {
            // There is nothing to tell in cycles.
            rounds if rounds.is_empty() => self.program.shown(trace),
            rounds => shown(rounds),
        }
    }

    fn drawing(&self) -> Drawing {
        self.program.drawing()
    }

    fn body<'a>(&'a self, proof: &'a Certificate) -> io::Result<Body<'a>> {
        self.program.body(proof)
    }

    fn proof(&self, kind: &str, assumes: &[String], body: &RawValue) -> Result<Certificate, ReadError> {
        self.program.proof(kind, assumes, body)
    }

    fn size(&self, proof: &Certificate) -> Json {
        self.program.size(proof)
    }
}
