//! A formula about a model in any of the languages that become automata: what its names mean, and when a letter is read.
//!
//! | language | a letter is read |
//! |---|---|
//! | CFA | after each edge; where no edge leaves, again and again |
//! | C | after each edge, from the first one in `main` on (no formula without `X` notices how many there are) |
//! | XSTS | after `init`, each `env` and each `trans`; with [`Moment::Full`] after `init` and each `trans` |
//! | STS | at the start, and after each transition |
//! | SCXML | after each macro-step |
//! | Gamma | after the start, and after each cycle or asynchronous step |
//! | counter systems | at the start, and after each rule |
//! | AltaRica | at the start, and after each flat event that is not ε |
//! | hierarchical transition systems | at the start, and after each step that not all nodes take by resting |

use rustc_hash::FxHashSet;
use trellis_expr::{Division, TermId, Terms, Type, VarId};
use trellis_model::cfa::{Kind, LocationId};
use trellis_model::counter::System;
use trellis_model::hierarchy::tree::Tree;
use trellis_model::ltl::product::Subject;
use trellis_model::ltl::{Formula, Spec, models};

use super::network::chain;
use super::{Names, parse, parse_state};
use crate::altarica::Built;
use crate::diag::{Diagnostic, SourceId, Sources, Span};
use crate::gamma::{self, encode::Encoded};
use crate::{c, cfa, scxml, sts, xsts};

/// What a moment of an XSTS is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Moment {
    /// After `init`, each `env` and each `trans`.
    #[default]
    Half,
    /// After `init` and each `trans`.
    Full,
}

/// The language of the model.
#[derive(Debug, Clone, Copy)]
pub enum Language<'o> {
    /// C.
    C(&'o c::Options),
    /// A control-flow automaton.
    Cfa,
    /// An XSTS.
    Xsts(Moment),
    /// An STS.
    Sts,
    /// A statechart.
    Scxml,
    /// Composed statecharts.
    Gamma(&'o gamma::Options),
    /// A counter system, as it was read.
    Counters(&'o System),
    /// A hierarchy of nodes in AltaRica, as it was built.
    Nodes(&'o Built),
    /// A hierarchical transition system, as it was read.
    Tree(&'o Tree),
}

/// A formula and what it is asked of.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The model.
    pub subject: Subject,
    /// The formula.
    pub spec: Spec,
    /// Of a statechart: tells runs in states and events.
    pub chart: Option<scxml::Chart>,
    /// Of composed statecharts: tells runs in cycles.
    pub composed: Option<Box<Encoded>>,
    /// What the user should know.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a model and a formula about it.
pub fn read(
    sources: &mut Sources,
    model: SourceId,
    formula: SourceId,
    language: Language<'_>,
) -> Result<Asked, Vec<Diagnostic>> {
    let (mut names, chart, warnings) = names(sources, model, &[formula], language)?;
    let formula = match &names.composed {
        Some(composed) if !composed.fair.is_empty() || composed.timely.is_some() => {
            let inputs: Vec<usize> = composed.fair.iter().map(|f| f.0).collect();
            let text = gamma::of_fair_runs(&inputs, composed.timely.is_some(), &sources.get(formula).text);
            sources.add("the formula, about fair runs", text.as_str())
        }
        _ => formula,
    };
    let spec = parse(sources, formula, &mut names)?;
    let composed = names.composed;
    Ok(Asked { subject: names.subject, spec, chart, composed, warnings })
}

/// Reads a model and what the atoms of an automaton mean in it. There is no formula: `true` stands for it.
pub fn read_with(
    sources: &mut Sources,
    model: SourceId,
    atoms: &[SourceId],
    language: Language<'_>,
) -> Result<Asked, Vec<Diagnostic>> {
    let (mut names, chart, warnings) = names(sources, model, atoms, language)?;
    let mut spec = Spec { formula: Formula::True, atoms: vec![], names: vec![] };
    for &atom in atoms {
        spec.atoms.push(parse_state(sources, atom, &mut names)?);
        spec.names.push(sources.get(atom).text.to_string());
    }
    let composed = names.composed;
    Ok(Asked { subject: names.subject, spec, chart, composed, warnings })
}

type Found = (Automaton, Option<scxml::Chart>, Vec<Diagnostic>);

/// Reads a model; C must know first what is asked about it.
fn names(
    sources: &mut Sources,
    model: SourceId,
    asked: &[SourceId],
    language: Language<'_>,
) -> Result<Found, Vec<Diagnostic>> {
    let mut warnings = vec![];
    let mut chart = None;
    let names = match language {
        Language::C(options) => {
            let texts: Vec<String> = asked.iter().flat_map(|&id| quoted(&sources.get(id).text)).collect();
            let options = c::Options { atoms: texts.clone(), ..options.clone() };
            let built = c::parse(sources, model, &options)?;
            warnings = built.warnings;
            let mut before = vec![];
            let mut at = built.cfa.initial;
            for _ in 0..built.before_main {
                let Some(&e) = built.cfa.outgoing(at).first() else { break };
                before.push(e);
                at = built.cfa.edge(e).to;
            }
            let mut subject = Subject::every_edge(built.cfa);
            before.into_iter().for_each(|e| subject.reads[e.index()] = false);
            let ended = asked.iter().any(|&id| sources.get(id).text.contains("In(")).then(|| end_of(&mut subject));
            let mut names = Automaton::new(subject, |name| !name.contains("::"));
            names.states = ended.map(|t| ("end".to_string(), t)).into_iter().collect();
            names.quoted = texts.into_iter().zip(built.atoms).collect();
            names.division = Division::Truncating;
            names.by_location = false;
            names
        }
        Language::Cfa => {
            let (cfa, more) = cfa::parse(sources, model)?;
            warnings = more;
            let mut subject = Subject::every_edge(cfa);
            subject.end_where_stuck();
            Automaton::new(subject, |_| true)
        }
        Language::Xsts(moment) => {
            let (xsts, more) = xsts::parse_system(sources, model)?;
            warnings = more;
            let reads = |l: LocationId| l == xsts.before_env || (l == xsts.before_trans && moment == Moment::Half);
            let subject = Subject::without_errors(&xsts.cfa, |e| reads(e.to));
            let visible: FxHashSet<VarId> = xsts.variables.iter().copied().collect();
            let mut names = Automaton::new(subject, |_| true);
            names.variables.retain(|(_, v)| visible.contains(v));
            names.by_location = false;
            names
        }
        Language::Sts => {
            let (all, more) = sts::parse(sources, model)?;
            warnings = more;
            let Some(sts) = all.first() else { return Err(warnings) };
            if let Some(other) = all.get(1) {
                let message = format!("only the system of `{}` is asked about the formula", sts.name);
                warnings.push(Diagnostic::warning(other.span, message));
            }
            let subject = Subject::without_errors(&sts.cfa, |_| true);
            let visible: FxHashSet<VarId> = sts.variables.iter().copied().collect();
            let mut names = Automaton::new(subject, |_| true);
            names.variables.retain(|(_, v)| visible.contains(v));
            names.by_location = false;
            names
        }
        Language::Counters(system) => {
            let mut names = Automaton::new(models::counters(system), |_| true);
            names.by_location = false;
            names
        }
        Language::Nodes(built) => {
            let Some(subject) = models::hierarchy(&built.hierarchy) else {
                let span = Span { source: model, start: 0, end: 0 };
                let what = "formulas about AltaRica need the flattened node, and this one is too large to be flattened";
                return Err(vec![
                    Diagnostic::error(span, what).help("--error and -p ask about states, without flattening"),
                ]);
            };
            let mut names = Automaton::new(subject, |_| true);
            names.by_location = false;
            names.bracketed = true;
            names
        }
        Language::Tree(tree) => {
            let Some(found) = models::tree::tree(tree) else {
                let span = Span { source: model, start: 0, end: 0 };
                let what = "formulas need all flat events of a hierarchical transition system, and these are too many";
                return Err(vec![
                    Diagnostic::error(span, what)
                        .help("what the file says under `never` is asked without listing them"),
                ]);
            };
            let mut names = Automaton::new(found.subject, |_| true);
            names.by_location = false;
            names.bracketed = true;
            let values = found.nodes.into_iter().enumerate().map(|(n, (variable, values))| {
                let states = tree.nodes()[n].behaviour.states.iter().cloned().zip(values).collect();
                NodeNames { name: models::tree::name(tree, n), variable, states }
            });
            names.nodes = values.collect();
            names
        }
        Language::Gamma(options) => {
            let (encoded, more) = gamma::read_encoded(sources, model, options)?;
            warnings = more;
            composed_names(encoded)
        }
        Language::Scxml => {
            let (found, more) = scxml::parse_system(sources, model)?;
            warnings = more;
            let (stable, ended) = (found.stable, found.ended);
            let mut subject = Subject::without_errors(&found.cfa, |e| e.to == stable || e.to == ended);
            // A chart that no event can move stays as it is.
            if subject.cfa.outgoing(stable).is_empty() {
                subject.cfa.location_mut(stable).kind = Kind::Final;
            }
            let mut names = Automaton::new(subject, |_| false);
            names.variables = found.data().map(|(name, v)| (name.to_string(), v)).collect();
            names.states = found.states().map(|(name, t)| (name.to_string(), t)).collect();
            names.by_location = false;
            chart = Some(found);
            names
        }
    };
    Ok((names, chart, warnings))
}

/// A condition on composed statecharts, in an arena that extends the automaton's.
pub fn composed_condition(
    sources: &Sources,
    condition: SourceId,
    encoded: &Encoded,
) -> Result<(TermId, trellis_model::cfa::Cfa), Vec<Diagnostic>> {
    let mut names = composed_names(encoded.clone());
    // Terms of the automaton with its errors.
    let t = parse_state(sources, condition, &mut names)?;
    let mut cfa = encoded.cfa.clone();
    cfa.terms = names.subject.cfa.terms;
    Ok((t, cfa))
}

/// The names of composed statecharts.
fn composed_names(encoded: Encoded) -> Automaton {
    let stable = encoded.stable;
    let subject = Subject::without_errors(&encoded.cfa, |e| e.to == stable);
    let mut names = Automaton::new(subject, |_| false);
    names.by_location = false;
    names.division = Division::Truncating;
    names.composed = Some(Box::new(encoded));
    names
}

/// Has a run of a program ended, by itself or by an error?
fn end_of(subject: &mut Subject) -> TermId {
    let there: Vec<LocationId> = subject.cfa.locations().filter(|l| subject.is_end(*l)).collect();
    let v = subject.cfa.terms.declare("at end".to_string(), Type::Bool);
    subject.places.push((v, there));
    subject.cfa.terms.var(v)
}

/// The texts in quotes.
fn quoted(formula: &str) -> Vec<String> {
    formula.split('"').skip(1).step_by(2).map(String::from).collect()
}

/// A node of a hierarchical transition system: its variable, and the values that are its states.
struct NodeNames {
    name: String,
    variable: VarId,
    states: Vec<(String, TermId)>,
}

/// The names of an automaton.
struct Automaton {
    subject: Subject,
    variables: Vec<(String, VarId)>,
    /// `Type.Literal`, and `Literal` where that is clear.
    literals: Vec<(String, TermId)>,
    quoted: Vec<(String, TermId)>,
    states: Vec<(String, TermId)>,
    /// The nodes of a hierarchical transition system.
    nodes: Vec<NodeNames>,
    division: Division,
    /// Can a formula ask for a location by its name?
    by_location: bool,
    /// Have names brackets in them (`P[0].loc`)?
    bracketed: bool,
    /// Of composed statecharts: whose names are as in properties of their own language.
    composed: Option<Box<Encoded>>,
}

impl Automaton {
    fn new(mut subject: Subject, visible: impl Fn(&str) -> bool) -> Automaton {
        let cfa = &mut subject.cfa;
        let name = |v: &VarId| cfa.terms.variable(*v).name.clone();
        let all = cfa.variables.iter().map(|v| (name(v), *v));
        let variables: Vec<_> = all.filter(|(name, _)| !name.starts_with('@') && visible(name)).collect();
        let mut literals = vec![];
        let mut types = FxHashSet::default();
        for (_, v) in &variables {
            let mut ty = cfa.terms.variable(*v).ty;
            while let Type::Array(index, entry) = ty {
                types.insert(cfa.terms.type_of_id(index));
                ty = cfa.terms.type_of_id(entry);
            }
            types.insert(ty);
        }
        let mut enums: Vec<_> =
            types.into_iter().filter_map(|t| if let Type::Enum(e) = t { Some(e) } else { None }).collect();
        enums.sort_unstable();
        for e in enums {
            let declared = cfa.terms.enumeration(e).clone();
            for (n, literal) in declared.literals.iter().enumerate() {
                let t = cfa.terms.enum_lit(e, n as u32);
                literals.push((format!("{}.{literal}", declared.name), t));
                literals.push((literal.clone(), t));
            }
        }
        Automaton {
            subject,
            variables,
            literals,
            quoted: vec![],
            states: vec![],
            nodes: vec![],
            division: Division::Euclidean,
            by_location: true,
            bracketed: false,
            composed: None,
        }
    }
}

impl Automaton {
    /// `NODE in STATE|STATE and NODE in STATE`: where nodes of a hierarchical transition system are, as it is said of what must never be. A part
    /// may also be `deadlock`, or `not deadlock`.
    fn in_states(&mut self, text: &str) -> Result<TermId, String> {
        let mut all = vec![];
        for part in text.split(" and ").map(str::trim) {
            let positive = part.strip_prefix("not ").or_else(|| part.strip_prefix('!'));
            if let (true, Some(stuck)) = (positive.unwrap_or(part).trim() == "deadlock", self.subject.stuck) {
                all.push(if positive.is_some() { self.subject.cfa.terms.not(stuck) } else { stuck });
                continue;
            }
            let (node, states) = part.split_once(" in ").ok_or("write \"NODE in STATE|STATE and NODE in STATE\"")?;
            let Some(found) = self.nodes.iter().find(|n| n.name == node.trim()) else {
                return Err(format!("there is no node `{}` (the top is called `top`)", node.trim()));
            };
            let terms = &mut self.subject.cfa.terms;
            let here = terms.var(found.variable);
            let mut any = vec![];
            for state in states.split('|').map(str::trim) {
                let Some((_, value)) = found.states.iter().find(|(name, _)| name == state) else {
                    return Err(format!("`{}` has no state `{state}`", node.trim()));
                };
                any.push(terms.eq(here, *value));
            }
            all.push(terms.or(any));
        }
        Ok(self.subject.cfa.terms.and(all))
    }
}

impl Names for Automaton {
    fn name(&mut self, text: &str) -> Option<TermId> {
        if let Some(encoded) = &self.composed {
            return encoded.named(text, &mut self.subject.cfa.terms);
        }
        if let Some((_, v)) = self.variables.iter().find(|(name, _)| name == text) {
            return Some(self.subject.cfa.terms.var(*v));
        }
        let mut found = self.literals.iter().filter(|(name, _)| name == text);
        match (found.next(), found.next()) {
            (Some((_, t)), None) => Some(*t),
            (None, _) if text == "deadlock" => self.subject.stuck,
            _ => None,
        }
    }

    fn quoted(&mut self, text: &str) -> Result<TermId, String> {
        if !self.nodes.is_empty() {
            return self.in_states(text);
        }
        let found = self.quoted.iter().find(|(t, _)| t == text).map(|(_, t)| *t);
        found.ok_or_else(|| "only conditions of C programs are written in quotes".into())
    }

    fn inside(&mut self, state: &str) -> Option<TermId> {
        if let Some(encoded) = &self.composed {
            return encoded.names.state(state);
        }
        if let Some((_, t)) = self.states.iter().find(|(name, _)| name == state) {
            return Some(*t);
        }
        if !self.by_location {
            return None;
        }
        let cfa = &mut self.subject.cfa;
        let name = format!("at {state}");
        if let Some((v, _)) = self.subject.places.iter().find(|(v, _)| cfa.terms.variable(*v).name == name) {
            return Some(cfa.terms.var(*v));
        }
        let there: Vec<LocationId> = cfa.locations().filter(|l| cfa.location(*l).name == state).collect();
        if there.is_empty() {
            return None;
        }
        let v = cfa.terms.declare(name, Type::Bool);
        self.subject.places.push((v, there));
        Some(cfa.terms.var(v))
    }

    fn terms(&mut self) -> &mut Terms {
        &mut self.subject.cfa.terms
    }

    fn division(&self) -> Division {
        self.division
    }

    fn whole<'t>(&self, text: &'t str) -> Option<&'t str> {
        if self.composed.is_some() {
            return Some(gamma::names::whole(text));
        }
        self.bracketed.then(|| &text[..chain(text)])
    }

    fn complaint(&mut self, name: &str) -> Option<String> {
        let several = self.composed.as_ref().is_some_and(|e| e.names.is_ambiguous(name));
        several.then(|| format!("`{name}` may mean several things; write it with the instance before it"))
    }

    fn known(&self) -> Vec<String> {
        if let Some(encoded) = &self.composed {
            return encoded.names.all();
        }
        let variables = self.variables.iter().map(|(name, _)| name.clone());
        variables.chain(self.literals.iter().chain(&self.states).map(|(name, _)| name.clone())).collect()
    }
}
