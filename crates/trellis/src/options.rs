//! Which options go with what: one mechanism for all formalisms. Options stand beside the engines that have them ([`Profile`]); here what
//! was given is compared with that.

use clap::ValueEnum;

use crate::Error;
use crate::formalism::{ALL, Formalism, Language, Profile};
use crate::settings::{Engine, Settings};

/// Options that everything has.
const COMMON: [&str; 25] = [
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
    "html",
    "quiet",
    "stats",
    "no_check",
    "properties",
    "errors",
    "labels",
    "queries",
    "constants",
    "color",
    "ltl",
    "buchi",
    "msc",
    "evidence",
    "more",
];

/// How a value is called on the command line.
pub fn value_name(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |v| v.get_name().to_string())
}

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
            others.join("; "),
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
    let all = ALL.iter().flat_map(|f| [f.profile(), f.formula_profile()]);
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
    let is = |l: &Language| l.name == word || l.extensions.contains(&word);
    let known = [["timed", "uppaal"], ["programs", "c"], ["counters", "spec"], ["hierarchies", "altarica"]];
    let word = known.iter().find(|k| k[0] == word).map_or(word, |k| k[1]);
    let formalism = ALL.iter().find(|f| f.languages().iter().any(|l| is(l) || l.name == word))?;
    Some(vec![named(formalism.profile())])
}

/// Is an option only for some?
pub fn is_special(id: &str) -> bool {
    !COMMON.contains(&id)
}

/// Options of `convert` and `simulate` that everything has.
const PLAIN: [&str; 8] = ["model", "constants", "to", "output", "trace", "random", "seed", "color"];

/// Refuses options of `convert` and `simulate` that a formalism does not have.
pub fn refuse_plain(given: &[String], formalism: &dyn Formalism, language: &Language) -> Result<(), Error> {
    let own = formalism.plain_options();
    match given.iter().find(|id| !PLAIN.contains(&id.as_str()) && !own.contains(&id.as_str())) {
        None => Ok(()),
        Some(id) => {
            let takers = ALL.iter().filter(|f| f.plain_options().contains(&id.as_str())).map(|f| f.profile().who);
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
