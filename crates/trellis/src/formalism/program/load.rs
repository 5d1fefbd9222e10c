//! From a file to automata: C programs, control-flow automata, transition systems and statecharts, and what is asked of them.

use std::path::Path;

use trellis_expr::TermId;
use trellis_model::cfa::Cfa;
use trellis_report::json::Input;
use trellis_syntax::diag::{self, Diagnostic, Severity, SourceId, Sources};
use trellis_syntax::{c, cfa, scxml, sts, xsts};

use super::c::{Asked, Scope};
use crate::Error;
use crate::binding::c_inputs;
use crate::settings::{DataModel, Ints, Model, Properties, Reading};

/// What is asked where the model says nothing else.
pub const QUESTION: &str = "no error is reached";

/// An automaton, or one for each property.
pub struct Loaded {
    /// What is asked, and the automaton whose error locations must not be reached.
    pub questions: Vec<(String, Cfa)>,
    /// Of transition systems, one for each question: what must hold.
    pub properties: Vec<TermId>,
    /// What the user should know, rendered.
    pub warnings: String,
    pub name: String,
    /// The language, as reports call it.
    pub language: &'static str,
    /// The sources, for showing their lines.
    pub sources: Sources,
    /// Of statecharts, one for each question: they tell runs in states and events.
    pub charts: Vec<scxml::Chart>,
    /// Of a C program: what it is asked, one by one.
    pub program: Option<Asked>,
    /// What it was read from.
    pub inputs: Vec<Input>,
    /// Properties that cannot be read, while others can: what was written, and what is wrong with it.
    pub refused: Vec<(String, String)>,
}

impl Loaded {
    /// Nothing yet.
    pub fn empty(language: &'static str, name: String) -> Loaded {
        Loaded {
            questions: vec![],
            properties: vec![],
            warnings: String::new(),
            name,
            language,
            sources: Sources::default(),
            charts: vec![],
            program: None,
            inputs: vec![],
            refused: vec![],
        }
    }

    /// With more questions about the same model.
    pub fn add(&mut self, more: Loaded) {
        self.questions.extend(more.questions);
        self.properties.extend(more.properties);
        self.charts.extend(more.charts);
        self.refused.extend(more.refused);
        if self.inputs.is_empty() {
            (self.inputs, self.sources) = (more.inputs, more.sources);
        }
    }

    /// The text of each file of an automaton, if runs are to be told in lines of it.
    pub fn texts(&self, cfa: &Cfa) -> Vec<Option<String>> {
        texts(self.language, cfa, &self.sources)
    }
}

/// The text of each file of an automaton, if runs are to be told in lines of it.
pub fn texts(language: &str, cfa: &Cfa, sources: &Sources) -> Vec<Option<String>> {
    if language != "c" {
        return Vec::new();
    }
    // The file itself was read already; others may be gone by now.
    let main = |i: usize| (i == 0).then(|| sources.get(SourceId(0)).text.clone());
    let text = |(i, name): (usize, &String)| main(i).or_else(|| std::fs::read_to_string(name).ok());
    cfa.files.iter().enumerate().map(text).collect()
}

/// Questions with their automata, and warnings.
type Read = Result<(Vec<(String, Cfa)>, Vec<Diagnostic>), Vec<Diagnostic>>;

/// Properties that cannot be read, with what is wrong.
type Unreadable = Vec<(String, Vec<Diagnostic>)>;

/// Reads a program or an automaton, and what can be read of what is asked of it. A new language has its place here.
pub fn load(
    model: &Model,
    language: &'static str,
    reading: &Reading,
    properties: Option<&Properties>,
    color: bool,
) -> Result<Loaded, Error> {
    let path = &model.model;
    let mut sources = Sources::default();
    let (mut charts, mut conditions) = (vec![], vec![]);
    let mut unreadable = Unreadable::new();
    let mut program = None;
    let one = |cfa| vec![(QUESTION.to_string(), cfa)];
    let read: Read = match language {
        "c" => {
            let (options, scope) = c_options(model, reading)?;
            let id = sources.read(path).map_err(|d| vec![d]);
            let built = id.and_then(|id| c::parse(&mut sources, id, &options));
            built.map(|mut built| {
                let warnings = std::mem::take(&mut built.warnings);
                program = Some(Asked::new(built, scope));
                (vec![], warnings)
            })
        }
        "xsts" => {
            let asked = asked(
                properties,
                "an XSTS is asked whether a property always holds: --property FILE.prop, or an expression",
            )?;
            xsts_questions(path, &asked, &mut sources, &mut conditions, &mut unreadable)
        }
        "scxml" => {
            let asked = asked(
                properties,
                "a statechart is asked whether an expression over data and In('state') always holds: --property",
            )?;
            scxml_charts(path, &asked, &mut sources, &mut unreadable).map(|(all, warnings)| {
                charts = all;
                conditions = charts.iter().filter_map(|chart| chart.condition).collect();
                let name = |chart: &scxml::Chart| match &chart.property {
                    Some(text) => unescaped(text),
                    None => QUESTION.into(),
                };
                (charts.iter().map(|chart| (name(chart), chart.cfa.clone())).collect(), warnings)
            })
        }
        "sts" => {
            let asked =
                asked(properties, "an STS is asked for its own properties: --property chooses one by its name")?;
            sts_questions(path, &asked, &mut sources, &mut conditions, &mut unreadable)
        }
        _ => {
            no_questions(properties, "a control-flow automaton is asked whether its error location can be reached")?;
            let id = sources.read(path).map_err(|d| vec![d]);
            id.and_then(|id| cfa::parse(&sources, id)).map(|(cfa, warnings)| (one(cfa), warnings))
        }
    };
    match read {
        Ok((questions, warnings)) => {
            let warnings = diag::render(&warnings, &sources, color);
            let inputs = c_inputs(path, &sources);
            let name = path.display().to_string();
            let properties = conditions;
            let said = |(text, why): (String, Vec<Diagnostic>)| (text, diag::render(&why, &sources, color));
            let refused = unreadable.into_iter().map(said).collect();
            Ok(Loaded { questions, properties, warnings, name, language, sources, charts, program, inputs, refused })
        }
        Err(errors) if errors.iter().all(|d| d.severity != Severity::Error || d.message == xsts::NO_PROPERTY) => {
            let advice = match language {
                "xsts" => "write `prop { … }` into the file, or give --property with an expression or FILE.prop",
                _ => "write a property into the file: `property NAME : { system : …, G(…) }`",
            };
            Err(Error::Nothing(language, advice.into()))
        }
        Err(errors) => Err(unread(language, &errors, &sources, color)),
    }
}

/// Why a model cannot be read: there is something wrong with it, or there was no time.
pub fn unread(language: &'static str, errors: &[Diagnostic], sources: &Sources, color: bool) -> Error {
    match errors.iter().any(|d| d.message == c::TIME_LIMIT) {
        true => Error::Late(language),
        false => Error::Input(diag::render(errors, sources, color)),
    }
}

/// How a C program is to be read.
pub fn c_options(model: &Model, reading: &Reading) -> Result<(c::Options, Scope), Error> {
    let scope = Scope::of(reading)?;
    let options = c::Options {
        ints: match reading.ints {
            Some(Ints::Math) => c::Ints::Math,
            _ => c::Ints::Wrap,
        },
        data_model: match reading.data_model {
            Some(DataModel::Ilp32) => c::DataModel::Ilp32,
            _ => c::DataModel::Lp64,
        },
        folders: model.folders(),
        atoms: vec![],
        deadline: reading.deadline,
        checks: scope.kinds,
    };
    Ok((options, scope))
}

/// The properties of an XSTS: those asked for (a `.prop` file or an expression), or its own, or that of the `.prop` file beside it.
fn xsts_questions(
    path: &Path,
    asked: &[String],
    sources: &mut Sources,
    conditions: &mut Vec<TermId>,
    unreadable: &mut Unreadable,
) -> Read {
    let id = sources.read(path).map_err(|d| vec![d])?;
    let beside = path.with_extension("prop");
    let mut properties = vec![];
    for text in asked {
        let read = match text.ends_with(".prop") {
            true => sources.read(Path::new(text)),
            false => Ok(sources.add("--property", text.as_str())),
        };
        match read {
            Ok(id) => properties.push((text.clone(), Some(id))),
            Err(d) => leave(text, vec![d], asked, unreadable)?,
        }
    }
    if asked.is_empty() {
        let own = if beside.is_file() { Some(sources.read(&beside).map_err(|d| vec![d])?) } else { None };
        properties.push((String::new(), own));
    }
    let (mut questions, mut warnings) = (vec![], vec![]);
    for (text, property) in properties {
        let (xsts, more) = match xsts::parse(sources, id, property) {
            Err(errors) if only_about(&errors, property) => {
                leave(&text, errors, asked, unreadable)?;
                continue;
            }
            read => read?,
        };
        questions.push((xsts.cfa.terms.show(xsts.property).to_string(), xsts.cfa));
        conditions.push(xsts.property);
        warnings = more;
    }
    Ok((questions, warnings))
}

/// What was written in XML, as it is meant.
fn unescaped(text: &str) -> String {
    let escapes = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    escapes.iter().fold(text.to_string(), |text, (escape, meant)| text.replace(escape, meant))
}

/// Is what is wrong wrong with the property alone?
fn only_about(errors: &[Diagnostic], property: Option<SourceId>) -> bool {
    property.is_some() && errors.iter().all(|d| d.span.map(|span| span.source) == property)
}

/// Leaves out a property that cannot be read, if others are asked.
fn leave(text: &str, why: Vec<Diagnostic>, asked: &[String], out: &mut Unreadable) -> Result<(), Vec<Diagnostic>> {
    if asked.len() < 2 {
        return Err(why);
    }
    out.push((text.into(), why));
    Ok(())
}

/// A statechart for each property: those asked for, or its own.
fn scxml_charts(
    path: &Path,
    asked: &[String],
    sources: &mut Sources,
    unreadable: &mut Unreadable,
) -> Result<(Vec<scxml::Chart>, Vec<Diagnostic>), Vec<Diagnostic>> {
    let id = sources.read(path).map_err(|d| vec![d])?;
    if asked.is_empty() {
        return scxml::parse(sources, id, &[]);
    }
    let (mut charts, mut warnings) = (vec![], vec![]);
    for text in asked {
        let property = sources.add("--property", text.as_str());
        match scxml::parse(sources, id, &[property]) {
            Err(errors) if only_about(&errors, Some(property)) => leave(text, errors, asked, unreadable)?,
            read => {
                let (more, said) = read?;
                charts.extend(more);
                warnings = said;
            }
        }
    }
    Ok((charts, warnings))
}

/// The properties of an STS: all, or those with the names that are asked for.
fn sts_questions(
    path: &Path,
    asked: &[String],
    sources: &mut Sources,
    conditions: &mut Vec<TermId>,
    unreadable: &mut Unreadable,
) -> Read {
    let id = sources.read(path).map_err(|d| vec![d])?;
    let (mut all, warnings) = sts::parse(sources, id)?;
    for name in asked.iter().filter(|a| all.iter().all(|s| s.name != **a)) {
        let names: Vec<&str> = all.iter().map(|s| s.name.as_str()).collect();
        let help = format!("choose among: {}", names.join(", "));
        let place = all.last().map(|s| Diagnostic::error(s.span, format!("there is no property `{name}`")).help(help));
        leave(name, place.into_iter().collect(), asked, unreadable)?;
    }
    all.retain(|s| asked.is_empty() || asked.contains(&s.name));
    conditions.extend(all.iter().map(|s| s.property));
    Ok((all.into_iter().map(|s| (s.name, s.cfa)).collect(), warnings))
}

/// The properties on the command line; other ways of asking are refused.
fn asked(properties: Option<&Properties>, why: &str) -> Result<Vec<String>, Error> {
    let Some(p) = properties else { return Ok(vec![]) };
    no_questions(Some(&Properties { properties: vec![], ..p.clone() }), why)?;
    Ok(p.properties.clone())
}

/// Refuses properties where the model has its own.
pub fn no_questions(properties: Option<&Properties>, why: &str) -> Result<(), Error> {
    let Some(p) = properties else { return Ok(()) };
    let given = [
        ("--property", !p.properties.is_empty()),
        ("--error", !p.errors.is_empty()),
        ("--labels", !p.labels.is_empty()),
        ("--queries", p.queries.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(Error::Usage(format!("{name}: {why}"))),
        None => Ok(()),
    }
}
