//! `trellis cuts`: what safety engineers ask of an AltaRica model.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use trellis_domain::relation::Memory;
use trellis_engine::cuts::{Failing, Limits, cut_sets};
use trellis_meter::Meter;
use trellis_model::hierarchy::Hierarchy;
use trellis_model::hierarchy::observe::EventOf;
use trellis_report::cuts::{self as tell, Outcome, Row};
use trellis_syntax::altarica::ast::Name;
use trellis_syntax::diag::Sources;

use trellis::Error;
use trellis::files::write_file;
use trellis::formalism::hierarchy::load::{build, complain, read};
use trellis::registry;
use trellis::settings::{self, Model};

use crate::{Ran, exit, print};

/// How many cut sets and sequences are listed.
const MANY: usize = 10_000;

#[derive(Args, Debug)]
pub struct Cuts {
    #[command(flatten)]
    pub model: Model,
    /// The top event: what must not happen, as an expression over the node's variables.
    #[arg(long, value_name = "EXPR")]
    pub top: String,
    /// Which events are failures: names with their path, `*` stands for anything; may be given several times. Without it,
    /// all events whose own name begins with `fail`.
    #[arg(long, value_name = "PATTERN")]
    pub failures: Vec<String>,
    /// The node at the top; without it, the last one in the file.
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
    /// At most so many failures in a cut set or a sequence.
    #[arg(long, value_name = "COUNT", default_value_t = 4)]
    pub order: usize,
    /// Also a table of single failures and their effects (FMEA).
    #[arg(long)]
    pub fmea: bool,
    /// Write that table for a spreadsheet.
    #[arg(long, value_name = "FILE")]
    pub fmea_csv: Option<PathBuf>,
    /// Write the cut sets as a fault tree of Open-PSA (XML).
    #[arg(long, value_name = "FILE")]
    pub open_psa: Option<PathBuf>,
    /// At most so long, e.g. 30s.
    #[arg(long, value_name = "TIME", value_parser = settings::duration)]
    pub timeout: Option<Duration>,
    /// At most so much memory for diagrams, e.g. 2G.
    #[arg(long, value_name = "SIZE", value_parser = settings::bytes)]
    pub memory: Option<usize>,
}

/// Does a name match a pattern, in which `*` stands for anything?
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            let mut ends = (0..=name.len()).filter(|&n| name.is_char_boundary(n));
            ends.any(|n| matches(rest, &name[n..]))
        }),
    }
}

/// The failures, by pattern.
fn failures(args: &Cuts, hierarchy: &Hierarchy) -> Result<Vec<EventOf>, Error> {
    let all = hierarchy.all_events();
    let by_default = |e: &EventOf| hierarchy.component(e.component).events[e.event].to_lowercase().starts_with("fail");
    let chosen = |e: &EventOf| match args.failures.is_empty() {
        true => by_default(e),
        false => args.failures.iter().any(|p| matches(p, &hierarchy.event_name(*e))),
    };
    for pattern in &args.failures {
        if !all.iter().any(|&e| matches(pattern, &hierarchy.event_name(e))) {
            return Err(Error::Usage(format!("--failures {pattern}: there is no such event{}", some(hierarchy, &all))));
        }
    }
    let found: Vec<EventOf> = all.iter().copied().filter(chosen).collect();
    if found.is_empty() {
        let text =
            format!("no event is called `fail…`; say which are failures: --failures PATTERN{}", some(hierarchy, &all));
        return Err(Error::Usage(text));
    }
    Ok(found)
}

/// Some events that there are.
fn some(hierarchy: &Hierarchy, all: &[EventOf]) -> String {
    let names: Vec<String> = all.iter().take(8).map(|&e| hierarchy.event_name(e)).collect();
    let more = if all.len() > names.len() { ", …" } else { "" };
    format!(" (there are: {}{more})", names.join(", "))
}

/// `trellis cuts model.alt --top EXPR`
pub fn cuts(args: &Cuts, color: bool) -> Ran {
    if registry::of_model(&args.model)?.1.name != "altarica" {
        return Err(Error::Usage("cuts: only for AltaRica models (.alt)".into()));
    }
    let context = &crate::limits::colored(color);
    let mut sources = Sources::default();
    let file = read(&mut sources, &args.model.model, context)?;
    let Some(last) = file.nodes().last().map(|n| (*n).clone()) else {
        return Err(Error::Input(format!("error: {}: there is no node", args.model.model.display())));
    };
    let top = Name { text: args.node.clone().unwrap_or(last.text), span: last.span };
    let mut built = build(&sources, &file, &top, &args.model.constants, context)?;
    let id = sources.add("the top event", args.top.clone());
    let bad = built.condition(&sources, id).map_err(complain(&sources, color))?;
    let hierarchy = &built.hierarchy;
    let failures = failures(args, hierarchy)?;
    let names: Vec<String> = failures.iter().map(|&e| hierarchy.event_name(e)).collect();
    let memory = args.memory.map_or_else(Memory::default, Memory::within);
    let limits = Limits { order: Some(args.order), count: MANY };
    let budget = || context.meter(args.timeout, args.memory);
    let note = |complete: bool| {
        let at_most = match args.order < names.len() {
            true => format!(" with at most {}", args.order),
            false => String::new(),
        };
        let more = if complete { "" } else { " (there are more)" };
        format!("{at_most} of {} failures{more}", names.len())
    };
    let name = |n: &usize| names[*n].clone();
    let said = |e: &EventOf| {
        let event = &hierarchy.component(e.component).events[e.event];
        let about = built.directives.iter().filter(|(c, d)| *c == e.component && d.event.as_ref() == Some(event));
        about.map(|(_, d)| d.text.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<String>>()
    };
    let said: Vec<Vec<String>> = failures.iter().map(said).collect();
    let run = || -> Result<Result<(), Error>, trellis_model::evidence::Reason> {
        let sets = cut_sets(hierarchy, &failures, bad, memory, limits, &mut budget())?;
        let listed: Vec<Vec<String>> = sets.found.iter().map(|set| set.iter().map(name).collect()).collect();
        if let Err(failure) = print(&tell::cut_sets(&listed, &note(sets.complete))) {
            return Ok(Err(failure));
        }
        if let Some(path) = &args.open_psa
            && let Err(failure) = write_file(path, &tell::open_psa(&top.text, &args.top, &names, &said, &sets.found))
        {
            return Ok(Err(failure));
        }
        let failing = Failing::new(hierarchy, &failures, bad, memory)?;
        let sequences = failing.sequences(limits, &mut budget())?;
        let steps = |step: &Vec<usize>| step.iter().map(name).collect();
        let listed: Vec<Vec<Vec<String>>> = sequences.found.iter().map(|s| s.iter().map(steps).collect()).collect();
        if let Err(failure) = print(&tell::sequences(&listed, &note(sequences.complete))) {
            return Ok(Err(failure));
        }
        if args.fmea || args.fmea_csv.is_some() {
            let rows = rows(hierarchy, &failures, &failing, &mut budget())?;
            if args.fmea
                && let Err(failure) = print(&tell::effects(&rows))
            {
                return Ok(Err(failure));
            }
            if let Some(path) = &args.fmea_csv {
                return Ok(write_file(path, &tell::effects_csv(&rows)));
            }
        }
        Ok(Ok(()))
    };
    match run() {
        Ok(done) => done.map(|()| exit::HOLDS),
        Err(why) => {
            eprintln!("UNKNOWN: {why}");
            Ok(exit::UNDECIDED)
        }
    }
}

/// The table of effects.
fn rows(
    hierarchy: &Hierarchy,
    failures: &[EventOf],
    failing: &Failing<'_>,
    budget: &mut Meter,
) -> Result<Vec<Row>, trellis_model::evidence::Reason> {
    let effects = failing.effects(failures.len(), budget)?;
    let row = |(failure, effect): (&EventOf, trellis_engine::cuts::Effect)| {
        let component = hierarchy.component(failure.component);
        let mut row = Row {
            component: component.path.clone(),
            failure: component.events[failure.event].clone(),
            local: vec![],
            system: vec![],
            outcome: match (effect.possible, effect.bad) {
                (false, _) => Outcome::NotFirst,
                (true, true) => Outcome::Enough,
                (true, false) => Outcome::NotEnough,
            },
        };
        for (v, values) in effect.values {
            let variable = hierarchy.variable(v);
            let values: Vec<String> = values.iter().map(|&n| hierarchy.show_value(v, n)).collect();
            let text = format!("{} = {}", variable.name, values.join(" or "));
            if variable.owner == failure.component { row.local.push(text) } else { row.system.push(text) }
        }
        row
    };
    Ok(failures.iter().zip(effects).map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns() {
        assert!(matches("*.fail", "a.b.fail"));
        assert!(matches("a*l", "a.b.fail"));
        assert!(matches("a.b.fail", "a.b.fail"));
        assert!(!matches("*.fail", "a.fails"));
        assert!(!matches("b*", "a.b"));
        assert!(matches("*", ""));
    }
}
