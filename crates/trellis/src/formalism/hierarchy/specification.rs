//! `trellis check model.alt --spec file.spe`: specifications of Acheck.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use trellis_check::acheck::Sets;
use trellis_check::branching::Reached;
use trellis_engine::acheck::Specification;
use trellis_engine::acheck::draw::{Graph, Rows};
use trellis_engine::cover::reason;
use trellis_expr::TermId;
use trellis_meter::Meter;
use trellis_model::acheck::{Line, Of, Projection, Set};
use trellis_model::evidence::Reason;
use trellis_model::hierarchy::Hierarchy;
use trellis_model::hierarchy::symbolic::Symbolic;
use trellis_report::drawings::{self, Class};
use trellis_report::hierarchy::graph;
use trellis_syntax::acheck;
use trellis_syntax::altarica::ast::Name;
use trellis_syntax::altarica::{Built, File};
use trellis_syntax::diag::{Diagnostic, SourceId, Sources};

use super::load::{build, complain, read};
use super::memory;
use crate::certify::{Given, Judged};
use crate::files::{make_folder, write_file};
use crate::formalism::Request;
use crate::pipeline::{Case, Sink};
use crate::settings::Settings;
use crate::task::Question;
use crate::{Error, warnings};

/// How many configurations and transitions are drawn.
const MOST: usize = 5_000;

/// How long sets are evaluated again, if no limit was given.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many there are in sets, as it was said.
type Found = BTreeMap<String, String>;

/// What is said, on the terminal (no name) and to files.
type Said = BTreeMap<Option<PathBuf>, String>;

/// A specification, and the nodes that it is about.
pub struct SpecificationTask {
    args: Arc<Settings>,
    file: File,
    sources: Sources,
    /// The specification.
    id: SourceId,
    nodes: Vec<Name>,
    /// Is all of it for the one node that was named?
    all: bool,
}

impl SpecificationTask {
    /// Reads the model and the specification.
    pub fn new(request: &Request, path: &Path) -> Result<SpecificationTask, Error> {
        let args = request.args.clone();
        let color = args.context.color;
        let mut sources = Sources::default();
        let file = read(&mut sources, &args.model.model, &args.context)?;
        let Some(last) = file.nodes().last().map(|n| (*n).clone()) else {
            return Err(Error::Input(format!("error: {}: there is no node", args.model.model.display())));
        };
        let id = sources.read(path).map_err(|d| complain(&sources, color)(vec![d]))?;
        let named = acheck::nodes(&sources, id).map_err(complain(&sources, color))?;
        let (nodes, all) = match &args.nodes.node {
            Some(node) => (vec![Name { text: node.clone(), span: last.span }], true),
            None => (named, false),
        };
        if let Some(missing) = nodes.iter().find(|n| !all && file.nodes().iter().all(|known| known.text != n.text)) {
            let d = Diagnostic::error(missing.span, format!("there is no node `{}`", missing.text))
                .help(format!("to evaluate all of this for another node, name it: `--node {}`", last.text));
            return Err(complain(&sources, color)(vec![d]));
        }
        Ok(SpecificationTask { args, file, sources, id, nodes, all })
    }

    /// Evaluates all of it for one node.
    fn evaluate(&self, node: &Name, sink: &mut dyn Sink) -> Result<(), Error> {
        let (args, sources, color) = (&*self.args, &self.sources, self.args.context.color);
        let mut built = build(sources, &self.file, node, &args.model.constants, &args.context)?;
        let only = (!self.all).then_some(node.text.as_str());
        let lines = acheck::lines(sources, self.id, only, &mut built).map_err(complain(sources, color))?;
        for line in &lines {
            if let Line::Define(name, _, _, set) = line {
                let odd = |t: &TermId| warnings::of_nodes(&built.hierarchy, *t, false, name);
                conditions(set).iter().flat_map(odd).for_each(|w| args.context.note(format_args!("warning: {w}\n")));
            }
        }
        let mut budget = args.meter();
        let mut said = Said::new();
        let mut found = Found::new();
        let about = (sources, &self.file, &built);
        let done = evaluate(args, about, &node.text, &lines, &mut budget, (&mut said, &mut found))?;
        for (to, text) in said.into_iter().filter(|(to, text)| to.is_some() || !text.is_empty()) {
            match to {
                None => sink.table(&text, Some(true))?,
                Some(path) => {
                    let folder = path.parent().unwrap_or(Path::new("."));
                    make_folder(folder)?;
                    write_file(&path, &text)?;
                }
            }
        }
        match done {
            Ok(passed) => {
                sink.table("", Some(passed))?;
                if !args.no_check && !checked(&built.hierarchy, &lines, args, &found)? {
                    sink.table("", None)?;
                }
            }
            Err(why) => {
                args.context.note(format_args!("{}: UNKNOWN: {why}\n", node.text));
                sink.table("", None)?;
            }
        }
        Ok(())
    }
}

/// What is computed is a table, not verdicts: so it goes its own way.
impl Case for SpecificationTask {
    fn questions(&self) -> Vec<Question> {
        vec![]
    }

    fn check_only(self: Rc<Self>, _: Option<usize>, sink: &mut dyn Sink) -> Result<(), Error> {
        self.nodes.iter().try_for_each(|node| self.evaluate(node, sink))
    }

    fn certify(&self, _: &Given<'_>) -> Result<Result<Judged, String>, Error> {
        Ok(Err("specifications have no evidence on file".into()))
    }
}

/// All conditions on values in a set.
fn conditions(set: &Set) -> Vec<TermId> {
    match set {
        Set::Condition(t) => vec![*t],
        Set::Name(_) | Set::Any(_) | Set::Empty(_) | Set::Initial | Set::Own(_) | Set::Label(..) => vec![],
        Set::Sources(a) | Set::Targets(a) | Set::From(a) | Set::To(a) => conditions(a),
        Set::And(a, b) | Set::Or(a, b) | Set::Minus(a, b) | Set::Reach(a, b) | Set::Coreach(a, b) => {
            [conditions(a), conditions(b)].concat()
        }
        Set::Trace(a, b, c) => [conditions(a), conditions(b), conditions(c)].concat(),
    }
}

/// Counts the sets again, plainly. Those that are too much for that are no answer, and said to be none.
fn checked(hierarchy: &Hierarchy, lines: &[Line], args: &Settings, found: &Found) -> Result<bool, Error> {
    if found.is_empty() {
        return Ok(true);
    }
    let until = args.context.deadline(args.timeout).or_else(|| Instant::now().checked_add(PATIENCE));
    let reached = Reached::new(hierarchy, until);
    let mut open = vec![];
    if let Some(reached) = &reached {
        let mut sets = Sets::new(reached);
        for line in lines {
            if let Line::Define(name, of, fixpoint, set) = line {
                sets.define(name, *of, *fixpoint, set);
            }
        }
        for (name, count) in found {
            match sets.cardinal(name) {
                Some(again) if again.to_string() == *count => {}
                Some(again) => {
                    let why = format!("`{name}` has {count} by relations and {again} when it is listed");
                    return Err(Error::Internal(why));
                }
                None => open.push(name.as_str()),
            }
        }
    } else {
        open.extend(found.keys().map(String::as_str));
    }
    if !open.is_empty() {
        let why = if reached.is_some() { "what cannot be reached counts, too" } else { "there is too much to list" };
        args.context
            .note(format_args!("UNKNOWN: computed on relations and not counted again ({why}): {}\n", open.join(", ")));
    }
    Ok(open.is_empty())
}

/// Where a result goes: a file below the folder that was given, or the terminal.
fn target(args: &Settings, node: &str, to: Option<&String>) -> Result<Option<PathBuf>, Error> {
    let (Some(folder), Some(to)) = (&args.nodes.redirect, to) else { return Ok(None) };
    let path = PathBuf::from(to.replace("$NODENAME", node));
    match path.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir)) {
        true => Ok(Some(folder.join(path))),
        false => Err(Error::Usage(format!("`> {to}` leads out of {}", folder.display()))),
    }
}

/// The transitions of a projection: each event where it is possible.
fn projected(hierarchy: &Hierarchy, p: &Projection, found: &[(usize, Rows, Rows)]) -> String {
    let (component, below) = (hierarchy.component(p.of), hierarchy.variables_below(p.of));
    let mut out = String::new();
    for (some, title) in [(true, "Existential"), (false, "Universal")] {
        out += &format!("/* {title} transitions */\n");
        for (event, exists, wins) in found {
            let rows = if some { exists } else { wins };
            if !rows.is_empty() {
                let guard = drawings::condition(hierarchy, &component.path, &below, rows);
                out += &format!("    {guard} |- '{}' -> ;\n", component.events[*event]);
            }
        }
    }
    if out.contains("|-") { out } else { String::new() }
}

/// What is drawn must be few.
fn listed(sets: &Specification<'_>, states: &Set, transitions: &Set) -> Result<Graph, Reason> {
    let drawn = sets.graph(states, transitions, MOST).map_err(reason)?;
    drawn.ok_or_else(|| Reason::Unsupported(format!("a drawing of more than {MOST} configurations or transitions")))
}

/// Did all tests pass?
fn evaluate(
    args: &Settings,
    (sources, file, built): (&Sources, &File, &Built),
    node: &str,
    lines: &[Line],
    budget: &mut Meter,
    (said, counted): (&mut Said, &mut Found),
) -> Result<Result<bool, Reason>, Error> {
    let targets: Vec<Option<PathBuf>> = lines
        .iter()
        .map(|line| match line {
            Line::Define(..) => Ok(None),
            Line::Show(_, to)
            | Line::Test(_, _, to)
            | Line::Dot(_, _, to)
            | Line::Quotient(to)
            | Line::Modes(to)
            | Line::Project(_, to) => target(args, node, to.as_ref()),
        })
        .collect::<Result<_, Error>>()?;
    let hierarchy = &built.hierarchy;
    let run = || -> Result<bool, Reason> {
        let symbolic = Symbolic::new(hierarchy, 2, memory(args)).map_err(reason)?;
        let mut sets = Specification::new(hierarchy, &symbolic, budget)?;
        let mut passed = true;
        let mut open = None;
        for (line, to) in lines.iter().zip(targets) {
            let out = said.entry(to).or_default();
            let mut answer = || -> Result<(), Reason> {
                match line {
                    Line::Define(name, of, fixpoint, set) => sets.define(name, *of, *fixpoint, set).map_err(reason)?,
                    Line::Show(names, _) => {
                        for name in names {
                            if let Some(set) = sets.defined.get(name) {
                                let count = sets.cardinal(set);
                                *out += &format!("{name}\t{count}\n");
                                counted.insert(name.clone(), count.to_string());
                            }
                        }
                    }
                    Line::Test(name, expected, _) => {
                        let found = sets.defined.get(name).map(|set| sets.cardinal(set));
                        let ok = found.as_ref() == Some(&(*expected).into());
                        passed &= ok;
                        let found = found.map_or_else(String::new, |n| n.to_string());
                        counted.insert(name.clone(), found.clone());
                        let word = if ok { "passed" } else { "failed" };
                        *out += &format!("test {name} = {expected}: {word} ({found})\n");
                    }
                    Line::Dot(states, transitions, _) => {
                        let g = listed(&sets, states, transitions)?;
                        *out += &graph(hierarchy, &symbolic.levels, &g.configurations, &g.initial, &g.steps);
                    }
                    Line::Quotient(_) => {
                        let g = listed(&sets, &Set::Any(Of::States), &Set::Any(Of::Transitions))?;
                        let (names, marks): (Vec<String>, Vec<Vec<bool>>) =
                            sets.marks(&g).map_err(reason)?.into_iter().unzip();
                        let q = g.quotient(&marks);
                        let class = |members: &Vec<usize>| {
                            let within =
                                names.iter().zip(&marks).filter(|(_, m)| m[members[0]]).map(|(n, _)| n.clone());
                            Class {
                                configurations: members.iter().map(|&n| g.configurations[n].clone()).collect(),
                                sets: within.collect(),
                            }
                        };
                        let classes: Vec<Class> = q.classes.iter().map(class).collect();
                        *out += &drawings::quotient(hierarchy, &symbolic.levels, node, &classes, &q.steps);
                    }
                    Line::Project(p, _) => {
                        let found = sets.project(p, MOST).map_err(reason)?;
                        let too_many =
                            || Reason::Unsupported(format!("a projection on more than {MOST} configurations"));
                        let text = projected(hierarchy, p, &found.ok_or_else(too_many)?);
                        let component = hierarchy.component(p.of);
                        let written = file.rewritten(sources, &component.node, &p.name, &text);
                        let has_parameters =
                            || Reason::Unsupported(format!("`project` for `{}`, which has parameters", component.node));
                        let written = written.ok_or_else(has_parameters)?;
                        *out += &format!("/* What `{}` does in `{node}`. */\n{written}", component.node);
                    }
                    Line::Modes(_) => {
                        let g = listed(&sets, &Set::Any(Of::States), &Set::Any(Of::Transitions))?;
                        let flows: Vec<bool> = hierarchy.variables.iter().map(|v| v.flow).collect();
                        let m = g.modes(&flows);
                        *out += &drawings::modes(hierarchy, &symbolic.levels, node, &m.modes, &m.steps);
                    }
                }
                Ok(())
            };
            match answer() {
                // What comes after it is answered all the same.
                Err(why @ Reason::Unsupported(_)) if !matches!(line, Line::Define(..)) => {
                    *out += &format!("/* not answered: {why} */\n");
                    open.get_or_insert(why);
                }
                done => done?,
            }
        }
        if let Some(why) = open {
            return Err(why);
        }
        Ok(passed)
    };
    Ok(run())
}
