//! `trellis certify` and `trellis convert`: evidence and models, read and written.
//!
//! Evidence is certified for what is asked, not for what it says: the model and the command line give the questions, as for `check`; the
//! evidence must be bound to the same files, options and tool, and to one of these questions; then its content is checked; and at last, whatever
//! else stands in it must be what `check` writes there.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use trellis_meter::StopReason;
use trellis_report::json::{Binding, read_binding, rewritten};

use crate::binding::TOOL;
use crate::cli::{Certify, Check, Convert, Engine, Formulas};
use crate::files::write_file;
use crate::formalism::counter::CounterOptions;
use crate::formalism::hierarchy::NodeOptions;
use crate::{Failure, Ran, exit, formalism, limits, options, print};

/// A piece of evidence as it stands in its file: nobody believes it yet.
pub struct Given<'a> {
    path: &'a Path,
    /// All of it.
    pub text: String,
    /// What kind of evidence it says that it is.
    pub schema: String,
    /// What it says that it is about.
    claimed: Binding,
    color: bool,
}

impl<'a> Given<'a> {
    fn read(path: &'a Path, color: bool) -> Result<Given<'a>, Failure> {
        let unreadable = |why: &dyn std::fmt::Display| Failure::Input(format!("error: {}: {why}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|e| unreadable(&e))?;
        let (schema, claimed) = read_binding(&text).map_err(|e| unreadable(&e))?;
        if claimed.tool != TOOL {
            let by: String = claimed.tool.chars().take(60).flat_map(char::escape_debug).collect();
            return Err(unreadable(&format_args!("it was written by `{by}`, and this is {TOOL}; run check again")));
        }
        if claimed.property.is_empty() {
            return Err(unreadable(&"it does not say which property it is about"));
        }
        Ok(Given { path, text, schema, claimed, color })
    }

    /// What it says that it is about, as it says it.
    pub fn property(&self) -> &str {
        &self.claimed.property
    }

    /// That it cannot be read.
    pub fn unreadable(&self, why: &dyn std::fmt::Display) -> Failure {
        Failure::Input(format!("error: {}: {why}", self.path.display()))
    }

    /// Which of the questions it is about, or why it is about none: the files, the options or the property differ.
    pub fn asked(&self, all: &[Binding]) -> Result<Result<usize, String>, Failure> {
        let other = |b: &Binding| self.claimed.other_inputs(b).or_else(|| self.claimed.other_options(b));
        if let Some(why) = all.iter().map(other).reduce(|a, b| a.and(b)).flatten() {
            return Ok(Err(why));
        }
        if let Some(at) = all.iter().position(|b| self.claimed.difference(b).is_none()) {
            return Ok(Ok(at));
        }
        let claims = shown(&self.claimed.property);
        match all {
            [] => Err(Failure::Usage(format!(
                "nothing is asked: the model has no property of its own; say which one the evidence must be about, for instance \
                 --property '{claims}'"
            ))),
            [one] => Ok(Err(format!("it is about `{claims}`, and what is asked is `{}`", shown(&one.property)))),
            [one, more @ ..] => Ok(Err(format!(
                "it is about `{claims}`, and what is asked is `{}` and {} more",
                shown(&one.property),
                more.len()
            ))),
        }
    }

    /// Says that it is not accepted.
    pub fn rejected(&self, why: &str) -> Ran {
        limits::finish();
        let name = self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy();
        print(&format!("{}  {name}: {why}", self.paint("31", "REJECTED")))?;
        Ok(exit::FAILS)
    }

    /// Says that nobody knows.
    pub fn undecided(&self, query: &str, why: &str) -> Ran {
        limits::finish();
        print(&format!("UNKNOWN  {query}: {why}"))?;
        Ok(exit::UNDECIDED)
    }

    /// Says whether it is accepted: its content must be good, and the rest of it what is written about such content.
    pub fn judged(
        &self,
        query: &str,
        result: Result<String, String>,
        write: &dyn Fn(&mut dyn Write) -> std::io::Result<()>,
    ) -> Ran {
        let result = result.and_then(|said| match rewritten(&self.text, write) {
            Ok(()) => Ok(said),
            Err(why) => Err(format!("what it says beside is not so: {why}")),
        });
        limits::finish();
        match result {
            Ok(said) => print(&format!("{}  {query}: {said}", self.paint("32", "VALID"))),
            Err(why) => {
                print(&format!("{}  {query}: {why}", self.paint("31", "REJECTED")))?;
                Ok(exit::FAILS)
            }
        }
    }

    fn paint(&self, code: &str, s: &str) -> String {
        if self.color { format!("\x1b[1;{code}m{s}\x1b[0m") } else { s.to_string() }
    }
}

/// The beginning of a property, fit for a terminal.
fn shown(property: &str) -> String {
    let mut short: String = property
        .chars()
        .take(200)
        .flat_map(|c| match c {
            '\'' | '"' => vec![c],
            c => c.escape_debug().collect(),
        })
        .collect();
    if property.chars().nth(200).is_some() {
        short.push('…');
    }
    short
}

/// Watches over time, memory and interrupts. Checking has no loop of its own that asks whether it may go on, and models are read, and scripts
/// run, before it begins: so the whole process ends.
fn watch(args: &Certify) {
    let name = args.evidence.display().to_string();
    let say = move |_: Option<&str>, why: StopReason| match print(&format!("UNKNOWN  {name}: {why}")) {
        Ok(_) if why == StopReason::Cancelled => exit::INTERRUPTED,
        Ok(_) => exit::UNDECIDED,
        Err(_) => exit::INTERNAL,
    };
    limits::watch(limits::Watched { timeout: args.timeout, memory: args.memory, alone: true }, say);
}

/// The same questions as `check` asks with the same options.
fn asked(args: &Certify, given: &Given<'_>) -> Check {
    let formulas = Formulas {
        ltl: args.ltl.clone(),
        buchi: args.buchi.clone(),
        ltl_step: args.ltl_step,
        fair: args.fair.clone(),
        search: None,
    };
    // Proofs about the nodes of a tree are made by one engine.
    let engine = if given.schema.starts_with("trellis-tree-") { Engine::Hierarchy } else { Engine::Auto };
    Check {
        model: args.model.clone(),
        properties: args.properties.clone(),
        engine,
        formulas,
        reading: args.reading.clone(),
        non_zeno: args.non_zeno,
        assume: args.assume,
        nodes: NodeOptions { node: args.node.clone(), ..Default::default() },
        counters: CounterOptions { start: args.start.clone(), ..Default::default() },
        given: args.given.clone(),
        quiet: true,
        ..Check::default()
    }
}

pub fn certify(args: &Certify, out_color: bool, err_color: bool) -> Ran {
    watch(args);
    let given = &Given::read(&args.evidence, out_color)?;
    let formula = !args.ltl.is_empty() || args.buchi.is_some();
    if let Some(said) = given.claimed.property.strip_prefix("LTL ").filter(|_| !formula) {
        return Err(Failure::Usage(format!(
            "the evidence is about a formula; say which one it must be about: {}",
            match said.strip_prefix("never ") {
                Some(file) => format!("--buchi '{}'", shown(file)),
                None => format!("--ltl '{}'", shown(said)),
            }
        )));
    }
    let tasks = formalism::tasks(Arc::new(asked(args, given)), err_color).map_err(|failure| match failure {
        Failure::Nothing(..) => Failure::Usage(format!(
            "nothing is asked: the model has no property of its own; say which one the evidence must be about, for instance \
             --property '{}'",
            shown(&given.claimed.property)
        )),
        failure => failure,
    });
    let mut why = None;
    for case in tasks? {
        match case.certify(given)? {
            Ok(code) => return Ok(code),
            Err(other) => why = why.or(Some(other)),
        }
    }
    given.rejected(&why.unwrap_or_else(|| "nothing is asked".into()))
}

pub fn convert(args: &Convert, err_color: bool) -> Ran {
    let (formalism, language) = formalism::of(&args.model.model)?;
    options::refuse_plain(&args.given, formalism, language)?;
    let text = formalism.convert(args, language, err_color)?;
    match &args.output {
        Some(path) => write_file(path, &text).map(|()| exit::HOLDS),
        None => print(&text),
    }
}
