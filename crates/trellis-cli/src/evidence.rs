//! `trellis certify` and `trellis convert`: evidence read again, and models written in another form.

use std::sync::Arc;

use trellis::certify::{Given, Judged, shown};
use trellis::context::Context;
use trellis::files::write_file;
use trellis::settings::CounterOptions;
use trellis::settings::NodeOptions;
use trellis::settings::{Convert, Format, Formulas, Settings};
use trellis::{Error, registry};
use trellis_meter::StopReason;
use trellis_report::{Style, dot, svg};

use crate::cli::Certify;
use crate::{Ran, exit, limits, print};

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
fn asked(args: &Certify, given: &Given<'_>, err_color: bool) -> Settings {
    let formulas = Formulas {
        ltl: args.ltl.clone(),
        pattern: args.pattern.clone(),
        buchi: args.buchi.clone(),
        ltl_step: args.ltl_step,
        fair: args.fair.clone(),
        search: None,
    };
    Settings {
        model: args.model.clone(),
        properties: args.properties.clone(),
        engine: given.engine(),
        formulas,
        reading: args.reading.clone(),
        non_zeno: args.non_zeno,
        assume: args.assume,
        nodes: NodeOptions { node: args.node.clone(), ..Default::default() },
        counters: CounterOptions { start: args.start.clone(), ..Default::default() },
        given: args.given.clone(),
        quiet: true,
        context: Context { color: err_color, ..limits::context(false, false) },
        ..Settings::default()
    }
}

/// Checks evidence again.
pub fn certify(args: &Certify, style: Style, err_color: bool) -> Ran {
    watch(args);
    let given = &Given::read(&args.evidence)?;
    let formula = !args.ltl.is_empty() || !args.pattern.is_empty() || args.buchi.is_some();
    if let Some(said) = given.property().strip_prefix("LTL ").filter(|_| !formula) {
        return Err(Error::Usage(format!(
            "the evidence is about a formula; say which one it must be about: {}",
            match said.strip_prefix("never ") {
                Some(file) => format!("--buchi '{}'", shown(file)),
                None => format!("--ltl '{}'", shown(said)),
            }
        )));
    }
    let tasks = registry::tasks(Arc::new(asked(args, given, err_color))).map_err(|error| match error {
        Error::Nothing(..) => Error::Usage(format!(
            "nothing is asked: the model has no property of its own; say which one the evidence must be about, for instance \
             --property '{}'",
            shown(given.property())
        )),
        error => error,
    });
    let mut why = None;
    for case in tasks? {
        match case.certify(given)? {
            Ok(judged) => return tell(judged, style),
            Err(other) => why = why.or(Some(other)),
        }
    }
    let name = args.evidence.file_name().unwrap_or(args.evidence.as_os_str()).to_string_lossy().into_owned();
    tell(Judged::Rejected(name, why.unwrap_or_else(|| "nothing is asked".into())), style)
}

/// Prints what became of evidence.
fn tell(judged: Judged, style: Style) -> Ran {
    limits::finish();
    let paint = |code: &str, s: &str| if style.color { format!("\x1b[1;{code}m{s}\x1b[0m") } else { s.to_string() };
    let (word, about, why, code) = match judged {
        Judged::Valid(about, said) => (paint("32", "VALID"), about, said, exit::HOLDS),
        Judged::Rejected(about, why) => (paint("31", "REJECTED"), about, why, exit::FAILS),
        Judged::Undecided(about, why) => ("UNKNOWN".into(), about, why, exit::UNDECIDED),
    };
    print(&format!("{word}  {about}: {why}"))?;
    Ok(code)
}

/// Writes a model in another form.
pub fn convert(args: &Convert, err_color: bool) -> Ran {
    let (formalism, language) = registry::of_model(&args.model)?;
    registry::refuse_plain(&args.given, formalism, language)?;
    let text = match args.to {
        Format::Dot => {
            dot::drawing(&formalism.drawing(args, language, err_color)?, &args.model.model.display().to_string())
        }
        Format::Svg => svg::drawing(&formalism.drawing(args, language, err_color)?, None)
            .map_err(|why| Error::Usage(format!("--to svg: {why}; --to dot leaves drawing to Graphviz")))?,
        _ => formalism.convert(args, language, err_color)?,
    };
    match &args.output {
        Some(path) => write_file(path, &text).map(|()| exit::HOLDS),
        None => print(&text),
    }
}
