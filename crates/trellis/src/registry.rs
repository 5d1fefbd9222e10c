//! The list of formalisms, and how a model finds its own: by the name of its file, or by a look into it. Nothing else in the program knows a
//! formalism by name.
//!
//! It also refuses what does not fit, by one mechanism for all: options stand beside the engines that have them ([`Profile`]), and here what
//! was given is compared with that.

use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use crate::Error;
use crate::formalism::{
    Cases, Formalism, Language, Profile, Request, channel, counter, formula, gamma, hierarchy, network, program, tree,
};
use crate::pipeline::Case;
use crate::queries;
use crate::settings::{Engine, Model, Settings, value_name};

/// Those that are built in.
static BUILT_IN: [&dyn Formalism; 7] = [
    &network::Networks,
    &program::Programs,
    &gamma::Compositions,
    &counter::Counters,
    &channel::Channels,
    &hierarchy::Hierarchies,
    &tree::Trees,
];

/// Those that somebody has added.
static ADDED: Mutex<Vec<&'static dyn Formalism>> = Mutex::new(Vec::new());

/// Adds a formalism of one's own, whose languages are read from then on.
pub fn add(formalism: &'static dyn Formalism) {
    ADDED.lock().unwrap_or_else(PoisonError::into_inner).push(formalism);
}

/// All formalisms.
///
/// ```
/// let languages = trellis::registry::all().into_iter().flat_map(|formalism| formalism.languages());
/// let names: Vec<&str> = languages.map(|language| language.name).collect();
/// assert!(names.contains(&"uppaal") && names.contains(&"c"));
/// ```
pub fn all() -> Vec<&'static dyn Formalism> {
    let added = ADDED.lock().unwrap_or_else(PoisonError::into_inner);
    BUILT_IN.iter().chain(added.iter()).copied().collect()
}

/// All languages, each with its formalism.
fn languages() -> impl Iterator<Item = (&'static dyn Formalism, &'static Language)> {
    all().into_iter().flat_map(|f| f.languages().iter().map(move |l| (f, l)))
}

fn named(path: &Path) -> Option<(&'static dyn Formalism, &'static Language)> {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let ends = |e: &&str| name.strip_suffix(*e).is_some_and(|stem| stem.ends_with('.') && stem.len() > 1);
    languages().find(|(_, l)| l.extensions.iter().any(&ends))
}

/// The language of a file whose name tells.
pub fn by_name(path: &Path) -> Option<&'static Language> {
    named(path).map(|(_, l)| l)
}

/// The formalism and the language of a file: by its name, or by a look into it.
///
/// ```
/// use std::path::Path;
///
/// let (formalism, language) = trellis::registry::of(Path::new("mesi.spec"))?;
/// assert_eq!((language.name, formalism.profile().who), ("spec", "counter systems"));
/// # Ok::<(), trellis::Error>(())
/// ```
pub fn of(path: &Path) -> Result<(&'static dyn Formalism, &'static Language), Error> {
    if let Some(found) = named(path) {
        return Ok(found);
    }
    let text = std::fs::read(path).map_err(|e| Error::Input(format!("error: {}: {e}", path.display())))?;
    let text = String::from_utf8_lossy(&text);
    if let Some(found) = languages().find(|(_, l)| (l.sniff)(&text)) {
        return Ok(found);
    }
    let known: Vec<String> = languages()
        .map(|(_, l)| {
            format!("{} ({})", l.title, l.extensions.iter().map(|e| format!(".{e}")).collect::<Vec<_>>().join(", "))
        })
        .collect();
    let what = match path.extension().and_then(|e| e.to_str()) {
        Some("q") => {
            format!("it is a file of queries; give the model first: trellis check MODEL --queries {}", path.display())
        }
        Some(e) => format!("its name ends in `.{e}`"),
        None => "its name has no extension".into(),
    };
    Err(Error::Usage(format!(
        "cannot tell the language of {}: {what}. Trellis reads {}",
        path.display(),
        known.join(", ")
    )))
}

/// The same for a model whose constants may be set: a language without constants refuses that.
pub fn of_model(model: &Model) -> Result<(&'static dyn Formalism, &'static Language), Error> {
    let (formalism, language) = of(&model.model)?;
    if model.constants.is_empty() || formalism.has_constants(language) {
        return Ok((formalism, language));
    }
    let with: Vec<&str> = languages().filter(|(f, l)| f.has_constants(l)).map(|(_, l)| l.title).collect();
    let why = format!("--const: no constants can be set in {}; there are some in {}", language.title, with.join("; "));
    Err(Error::Usage(why))
}

/// The language that a text looks like.
///
/// ```
/// let chart = r#"<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0"/>"#;
/// assert_eq!(trellis::registry::sniffed(chart).map(|language| language.name), Some("scxml"));
/// ```
pub fn sniffed(text: &str) -> Option<&'static Language> {
    all().into_iter().flat_map(|f| f.languages()).find(|l| (l.sniff)(text))
}

/// The tasks of a command line.
pub fn tasks(args: Arc<Settings>) -> Cases {
    let (formalism, language) = of_model(&args.model)?;
    if formula::is_asked(&args) {
        refuse(&args, formalism.formula_profile(), language)?;
        return formalism.ask_formulas(&Request { args, language });
    }
    let (own, asks) = queries::split(&args, formalism.own_queries(language), formalism.quoted_conditions(language));
    if asks.is_empty() {
        refuse(&own, formalism.profile(), language)?;
        return formalism.ask(&Request { args: Arc::new(own), language });
    }
    let mut cases: Vec<Rc<dyn Case>> = vec![];
    let p = &own.properties;
    if !p.properties.is_empty() || !p.errors.is_empty() || !p.states.is_empty() {
        // Their files would have the same names.
        if [&own.trace, &own.certificate, &own.dot, &own.svg, &own.html, &own.msc].iter().any(|file| file.is_some()) {
            let why = "ask about states and about runs (A<>, E[], -->) one after the other to write their evidence";
            return Err(Error::Usage(why.into()));
        }
        refuse(&own, formalism.profile(), language)?;
        cases = formalism.ask(&Request { args: Arc::new(own), language })?;
    } else {
        refuse(&args, formalism.formula_profile(), language)?;
    }
    let request = Request { args, language };
    cases.push(Rc::new(formula::task(&request, formalism.subject(&request)?, asks)?));
    Ok(cases)
}

/// Options that everything has.
const COMMON: [&str; 30] = [
    "model",
    "engine",
    "seed",
    "timeout",
    "memory",
    "states",
    "json",
    "trace",
    "certificate",
    "dot",
    "svg",
    "html",
    "quiet",
    "stats",
    "full_trace",
    "no_check",
    "check",
    "properties",
    "errors",
    "labels",
    "queries",
    "constants",
    "root",
    "color",
    "ltl",
    "pattern",
    "buchi",
    "msc",
    "evidence",
    "more",
];

fn engines(all: &[Engine]) -> String {
    all.iter().filter(|e| **e != Engine::Auto).map(|e| value_name(*e)).collect::<Vec<_>>().join(" or ")
}

/// Refuses engines and options that a profile does not have.
pub fn refuse(args: &Settings, profile: &Profile, language: &Language) -> Result<(), Error> {
    if !profile.engines.contains(&args.engine) {
        let others: Vec<&str> = profiles().filter(|p| p.engines.contains(&args.engine)).map(|p| p.who).collect();
        return Err(Error::Usage(format!(
            "--engine {}: only for {}; for {} there is --engine {}",
            value_name(args.engine),
            others.join(" and "),
            profile.who,
            engines(profile.engines)
        )));
    }
    for id in args.given.iter().filter(|id| !COMMON.contains(&id.as_str())) {
        let flag = format!("--{}", id.replace('_', "-"));
        let Some((_, with)) = profile.options.iter().find(|(name, _)| name == id) else {
            return Err(Error::Usage(match takers(id) {
                all if all.is_empty() => format!("{flag}: not for {} ({})", profile.who, language.title),
                all => format!("{flag}: not for {}, only for {}", profile.who, all.join("; ")),
            }));
        };
        if !with.is_empty() && !with.contains(&args.engine) {
            return Err(Error::Usage(match engines(with) {
                all if all.is_empty() => format!("{flag} goes with no --engine of one's own choice"),
                all => format!("{flag} goes with --engine {all}"),
            }));
        }
    }
    Ok(())
}

/// All profiles, each once.
fn profiles() -> impl Iterator<Item = &'static Profile> {
    let mut seen: Vec<&str> = vec![];
    let all = all().into_iter().flat_map(|f| [f.profile(), f.formula_profile()]);
    all.filter(move |p| {
        let new = !seen.contains(&p.who);
        seen.push(p.who);
        new
    })
}

/// Who has an option.
fn takers(id: &str) -> Vec<&'static str> {
    profiles().filter(|p| p.options.iter().any(|(name, _)| *name == id)).map(|p| p.who).collect()
}

/// The options of a check that go with everything, or with what a word names: a formalism, a language or an extension (`c`), or `ltl`.
/// Nothing if it names nothing. Who they are for, and their names.
pub fn of_topic(word: &str) -> Option<Vec<(&'static str, Vec<&'static str>)>> {
    let named = |p: &Profile| (p.who, p.options.iter().map(|(name, _)| *name).collect());
    if word == "ltl" {
        let formulas = profiles().filter(|p| p.who.starts_with("formulas"));
        return Some(formulas.map(named).collect());
    }
    let known = [["timed", "uppaal"], ["programs", "c"], ["counters", "spec"], ["hierarchies", "altarica"]];
    let word = known.iter().find(|k| k[0] == word).map_or(word, |k| k[1]);
    Some(vec![named(with_language(word)?.profile())])
}

/// The languages of the formalism that has one of this name or extension.
pub fn sisters(word: &str) -> &'static [Language] {
    with_language(word).map_or(&[], |formalism| formalism.languages())
}

fn with_language(word: &str) -> Option<&'static dyn Formalism> {
    let is = |l: &Language| l.name == word || l.extensions.contains(&word);
    all().into_iter().find(|f| f.languages().iter().any(is))
}

/// Is an option only for some?
pub fn is_special(id: &str) -> bool {
    !COMMON.contains(&id)
}

/// Options of `convert` and `simulate` that everything has.
const PLAIN: [&str; 9] = ["model", "constants", "root", "to", "output", "trace", "random", "seed", "color"];

/// Refuses options of `convert` and `simulate` that a formalism does not have.
pub fn refuse_plain(given: &[String], formalism: &dyn Formalism, language: &Language) -> Result<(), Error> {
    let own = formalism.plain_options();
    match given.iter().find(|id| !PLAIN.contains(&id.as_str()) && !own.contains(&id.as_str())) {
        None => Ok(()),
        Some(id) => {
            let takers =
                all().into_iter().filter(|f| f.plain_options().contains(&id.as_str())).map(|f| f.profile().who);
            Err(Error::Usage(format!(
                "--{}: not for {}, only for {}",
                id.replace('_', "-"),
                language.title,
                takers.collect::<Vec<_>>().join("; ")
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Args;

    use super::*;

    /// An option that no formalism has, and that not everything has, cannot be used.
    #[test]
    fn every_option_of_check_is_somebodys() {
        let command = Settings::augment_args(clap::Command::new("check"));
        let known: Vec<String> = command.get_arguments().map(|a| a.get_id().to_string()).collect();
        for id in &known {
            assert!(COMMON.contains(&id.as_str()) || !takers(id).is_empty(), "{id}");
        }
        for profile in profiles() {
            for (name, _) in profile.options {
                assert!(known.iter().any(|id| id == name), "{name}");
            }
        }
    }
}
