//! From a file to a counter system: which language, which target, which invariants.

use std::path::Path;

use trellis_model::counter::{System, Vector};
use trellis_report::counter::question;
use trellis_report::json::Input;
use trellis_syntax::diag::{self, Diagnostic, Severity, SourceId, Sources};
use trellis_syntax::{lola, pnml, spec, tts};

use crate::binding::input;
use crate::formalism::Language;
use crate::settings::{CounterOptions, Model, Properties};
use crate::{Error, after};

/// A system and what is asked about it.
#[derive(Clone)]
pub struct Loaded {
    pub system: System,
    pub question: String,
    pub warnings: String,
    /// The warnings about what is asked, in one line each.
    pub odd: Vec<String>,
    /// Targets that cannot be read, while others can: what was written, and what is wrong with it.
    pub refused: Vec<(String, String)>,
    /// What it was read from.
    pub inputs: Vec<Input>,
}

/// What the command line says about it.
#[derive(Default)]
pub struct Asked<'a> {
    /// Nothing if there is no question.
    pub properties: Option<&'a Properties>,
    pub counters: Option<&'a CounterOptions>,
    pub color: bool,
}

struct Loader {
    sources: Sources,
    color: bool,
    warnings: Vec<Diagnostic>,
    odd: Vec<String>,
    refused: Vec<(String, String)>,
    /// The model, by its bytes.
    model: Option<Input>,
}

impl Loader {
    fn read(&mut self, path: &Path) -> Result<SourceId, Error> {
        let unreadable = |why: String| Error::Input(format!("error: {}: {why}", path.display()));
        let bytes = std::fs::read(path).map_err(|e| unreadable(format!("cannot be read: {e}")))?;
        if bytes.len() as u64 > diag::MAX_FILE {
            return Err(unreadable(format!("larger than {} bytes", diag::MAX_FILE)));
        }
        self.model.get_or_insert_with(|| input(path, &bytes));
        Ok(self.sources.add(path.display().to_string(), spec::decode(bytes)))
    }

    fn broken(&self, d: &[Diagnostic]) -> Error {
        Error::Input(diag::render(d, &self.sources, self.color))
    }
}

/// Reads a system and what is asked about it.
pub fn load(model: &Model, language: &'static Language, asked: &Asked<'_>) -> Result<Loaded, Error> {
    let (warnings, odd, refused) = (vec![], vec![], vec![]);
    let mut l = Loader { sources: Sources::default(), color: asked.color, warnings, odd, refused, model: None };
    let id = l.read(&model.model)?;
    let plain = |system| (system, None, vec![]);
    let read = match language.name {
        "pnml" => pnml::parse(&l.sources, id).map(plain),
        "lola" => lola::parse(&l.sources, id).map(plain),
        "tts" => tts::parse(&l.sources, id).map(|(system, size)| (system, Some(size), vec![])),
        _ => spec::parse(&l.sources, id).map(|s| (s.system, None, s.warnings)),
    };
    let (mut system, threads, warnings) = read.map_err(|d| l.broken(&d))?;
    l.warnings = warnings;
    debug_assert!(l.warnings.iter().all(|w| w.severity == Severity::Warning));
    if let Some(c) = asked.counters {
        configure(&mut l, c, threads, &mut system)?;
    }
    if let Some(p) = asked.properties {
        let targets = targets(&mut l, p, (&model.model, language.name), threads, &system)?;
        system.target = targets.unwrap_or(system.target);
    }
    if let Some(moves) = &model.after {
        after::counters(&mut system, moves)?;
    }
    let question = question(&system);
    let warnings = diag::render(&l.warnings, &l.sources, asked.color);
    let (odd, refused) = (l.odd, l.refused);
    Ok(Loaded { system, question, warnings, odd, refused, inputs: l.model.into_iter().collect() })
}

/// Another start, and invariants.
fn configure(l: &mut Loader, c: &CounterOptions, threads: Option<tts::Size>, system: &mut System) -> Result<(), Error> {
    if let Some(start) = &c.start {
        let Some(size) = threads else {
            return Err(Error::Usage("--start: only for thread transition systems (.tts)".into()));
        };
        let id = l.sources.add("--start", start.as_str());
        tts::parse_start(&l.sources, id, size, system).map_err(|d| l.broken(&d))?;
    }
    if let Some(path) = &c.invariants {
        let id = l.read(path)?;
        let all = spec::parse_invariants(&l.sources, id, system).map_err(|d| l.broken(&d))?;
        system.claimed.extend(all);
    }
    Ok(())
}

/// The targets that were asked for; nothing if the file's own count.
fn targets(
    l: &mut Loader,
    p: &Properties,
    (path, language): (&Path, &'static str),
    threads: Option<tts::Size>,
    system: &System,
) -> Result<Option<Vec<Vector>>, Error> {
    if !p.properties.is_empty() || !p.labels.is_empty() || p.queries.is_some() {
        return Err(Error::Usage(
            "a counter system is asked whether its target can be covered; --error 'x >= 2, y >= 1' asks for another"
                .into(),
        ));
    }
    if p.errors.is_empty() {
        return match (threads, language) {
            (_, "spec") => Ok(None),
            // Where public collections have it.
            (Some(size), _) if path.with_extension("prop").is_file() => {
                let id = l.read(&path.with_extension("prop"))?;
                Ok(Some(vec![tts::parse_target(&l.sources, id, size).map_err(|d| l.broken(&d))?]))
            }
            (Some(_), _) => Err(Error::Nothing(
                language,
                "a thread transition system has no question in it: give a state to be covered, as --error '1|0,2', or \
                 in a file with the same name and the extension .prop"
                    .into(),
            )),
            (None, _) => Err(Error::Nothing(
                language,
                "a net has no question in it: give a marking to be covered, as --error 'p1 >= 2, p2 >= 1'".into(),
            )),
        };
    }
    let mut all = vec![];
    for text in &p.errors {
        let id = l.sources.add("--error", text.as_str());
        let read = match threads.filter(|_| text.contains('|')) {
            Some(size) => tts::parse_target(&l.sources, id, size).map(|target| (vec![target], vec![])),
            None => spec::parse_targets(&l.sources, id, system),
        };
        match read {
            Ok((targets, warnings)) => {
                all.extend(targets);
                l.odd.extend(warnings.iter().map(|w| format!("`{text}`: {}", w.message)));
                l.warnings.extend(warnings);
            }
            // The others are asked all the same.
            Err(d) if p.errors.len() > 1 => l.refused.push((text.clone(), diag::render(&d, &l.sources, l.color))),
            Err(d) => return Err(l.broken(&d)),
        }
    }
    Ok(Some(all))
}
