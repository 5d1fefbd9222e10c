//! Programs and automata: reading them, and looking at them.

use std::path::Path;

use trellis_expr::TermId;
use trellis_model::cfa::{Cfa, lbe};
use trellis_report::automaton;
use trellis_report::json::Input;
use trellis_syntax::diag::{self, Diagnostic, Severity, SourceId, Sources};
use trellis_syntax::{c, cfa, scxml, sts, xsts};

use crate::binding::c_inputs;
use crate::c_program::{Asked, Scope};
use crate::cli::{Convert, DataModel, Format, Ints, Model, Properties, Reading};
use crate::{Failure, Ran, counter, exit, files::write_file, horn, print};

/// Is it a C program, a control-flow automaton, a transition system or a statechart, by its name?
pub fn is_one(path: &Path) -> bool {
    let extension = path.extension().and_then(|e| e.to_str());
    matches!(extension, Some("c" | "i" | "cfa" | "theta" | "xsts" | "sts" | "system" | "scxml"))
}

/// What to say where a property means nothing.
pub fn no_property() -> Failure {
    Failure::Usage("--property: only transition systems (.xsts, .sts) and statecharts are drawn with a property".into())
}

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

/// Reads a program or an automaton, and all that is asked of it.
pub fn load(model: &Model, reading: &Reading, properties: Option<&Properties>, color: bool) -> Result<Loaded, Failure> {
    let loaded = load_readable(model, reading, properties, color)?;
    match loaded.refused.first() {
        Some((_, why)) => Err(Failure::Input(why.clone())),
        None => Ok(loaded),
    }
}

/// Reads a program or an automaton, and what can be read of what is asked of it. A new language has its place here.
pub fn load_readable(
    model: &Model,
    reading: &Reading,
    properties: Option<&Properties>,
    color: bool,
) -> Result<Loaded, Failure> {
    let path = &model.model;
    if !model.constants.is_empty() {
        return Err(Failure::Usage("--const: only UPPAAL and AltaRica models have constants that can be set".into()));
    }
    let mut sources = Sources::default();
    let (mut charts, mut conditions) = (vec![], vec![]);
    let mut unreadable = Unreadable::new();
    let mut program = None;
    let extension = path.extension().and_then(|e| e.to_str());
    let one = |cfa| vec![(QUESTION.to_string(), cfa)];
    let (language, read): (_, Read) = match extension {
        Some("c" | "i") => {
            no_questions(
                properties,
                "a C program is asked whether reach_error, __VERIFIER_error or a failing assert can \
                                      be reached; write the property as an assert",
            )?;
            let (options, scope) = c_options(path, reading)?;
            let id = sources.read(path).map_err(|d| vec![d]);
            let built = id.and_then(|id| c::parse(&mut sources, id, &options));
            let read = built.map(|mut built| {
                let warnings = std::mem::take(&mut built.warnings);
                let asked = program.insert(Asked::new(built, scope));
                (one(asked.question(&asked.all())), warnings)
            });
            ("c", read)
        }
        Some("xsts") => {
            not_c(reading)?;
            let asked = asked(
                properties,
                "an XSTS is asked whether a property always holds: --property FILE.prop, or an expression",
            )?;
            ("xsts", xsts_questions(path, &asked, &mut sources, &mut conditions, &mut unreadable))
        }
        Some("scxml") => {
            not_c(reading)?;
            let asked = asked(
                properties,
                "a statechart is asked whether an expression over data and In('state') always holds: --property",
            )?;
            let read = scxml_charts(path, &asked, &mut sources, &mut unreadable).map(|(all, warnings)| {
                charts = all;
                conditions = charts.iter().filter_map(|chart| chart.condition).collect();
                let name = |chart: &scxml::Chart| match &chart.property {
                    Some(text) => unescaped(text),
                    None => QUESTION.into(),
                };
                (charts.iter().map(|chart| (name(chart), chart.cfa.clone())).collect(), warnings)
            });
            ("scxml", read)
        }
        Some("sts" | "system") => {
            not_c(reading)?;
            let asked =
                asked(properties, "an STS is asked for its own properties: --property chooses one by its name")?;
            ("sts", sts_questions(path, &asked, &mut sources, &mut conditions, &mut unreadable))
        }
        _ => {
            no_questions(properties, "a control-flow automaton is asked whether its error location can be reached")?;
            not_c(reading)?;
            let id = sources.read(path).map_err(|d| vec![d]);
            ("cfa", id.and_then(|id| cfa::parse(&sources, id)).map(|(cfa, warnings)| (one(cfa), warnings)))
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
            Err(Failure::Nothing(language, advice.into()))
        }
        Err(errors) => Err(unread(language, &errors, &sources, color)),
    }
}

/// Why a model cannot be read: there is something wrong with it, or there was no time.
pub fn unread(language: &'static str, errors: &[Diagnostic], sources: &Sources, color: bool) -> Failure {
    match errors.iter().any(|d| d.message == c::TIME_LIMIT) {
        true => Failure::Late(language),
        false => Failure::Input(diag::render(errors, sources, color)),
    }
}

/// Is this a C program?
pub fn is_c(path: &Path) -> bool {
    matches!(path.extension().and_then(|e| e.to_str()), Some("c" | "i"))
}

/// How a C program is to be read.
pub fn c_options(path: &Path, reading: &Reading) -> Result<(c::Options, Scope), Failure> {
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
        folder: path.parent().unwrap_or(Path::new("")).to_path_buf(),
        atoms: vec![],
        deadline: crate::limits::deadline(reading.timeout),
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
fn asked(properties: Option<&Properties>, why: &str) -> Result<Vec<String>, Failure> {
    let Some(p) = properties else { return Ok(vec![]) };
    no_questions(Some(&Properties { properties: vec![], ..p.clone() }), why)?;
    Ok(p.properties.clone())
}

/// Refuses properties where the model has its own.
fn no_questions(properties: Option<&Properties>, why: &str) -> Result<(), Failure> {
    let Some(p) = properties else { return Ok(()) };
    let given = [
        ("--property", !p.properties.is_empty()),
        ("--error", !p.errors.is_empty()),
        ("--labels", !p.labels.is_empty()),
        ("--queries", p.queries.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(Failure::Usage(format!("{name}: {why}"))),
        None => Ok(()),
    }
}

/// Refuses what only C programs need.
pub fn not_c(reading: &Reading) -> Result<(), Failure> {
    let given = [
        ("--ints", reading.ints.is_some()),
        ("--data-model", reading.data_model.is_some()),
        ("--overflow", reading.overflow),
        ("--uninitialised", reading.uninitialised),
        ("--assume-defined", reading.assume_defined),
        ("--property-file", reading.property_file.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(Failure::Usage(format!("{name}: only for C programs (.c, .i)"))),
        None => Ok(()),
    }
}

/// `trellis convert FILE.c --to dot`
pub fn convert(args: &Convert, color: bool) -> Ran {
    let properties = Properties { properties: args.property.clone().into_iter().collect(), ..Properties::default() };
    let loaded = load(&args.model, &args.reading, Some(&properties), color)?;
    eprint!("{}", loaded.warnings);
    if loaded.questions.len() > 1 {
        let names: Vec<&str> = loaded.questions.iter().map(|(name, _)| name.as_str()).collect();
        let names = names.join(", ");
        return Err(Failure::Usage(format!("there are several properties; choose with --property: {names}")));
    }
    let mut text = String::new();
    for (_, mut cfa) in loaded.questions {
        if args.blocks {
            cfa = lbe::encode(&cfa).cfa;
        }
        text.push_str(&match args.to {
            Format::Dot => automaton::dot(&cfa, &loaded.name),
            Format::Xta => return Err(counter::no_instance()),
            Format::Horn => horn::clauses(&cfa).map_err(|what| Failure::Usage(format!("--to horn: {what}")))?,
        });
    }
    match &args.output {
        Some(path) => {
            write_file(path, &text)?;
            Ok(exit::HOLDS)
        }
        None => print(&text),
    }
}
