//! `trellis check`: every property, with the engine that suits it, evidence re-checked before anybody sees it.

use std::sync::Arc;

use trellis_meter::StopReason;
use trellis_model::evidence::{Reason, Verdict};
use trellis_report::{Kind, PropertyReport, text};

use crate::cli::{self, Check};
use crate::pipeline::worst;
use crate::{Failure, Ran, answers, exit, formalism, limits};

/// Says UNKNOWN for the question at work when a phase that cannot stop by itself has run out of a limit.
fn watch(args: &Check, color: bool) {
    let watched = limits::Watched { timeout: args.timeout, memory: args.memory, alone: false };
    let args = args.clone();
    limits::watch(watched, move |query, why| {
        let (query, phase) = match query {
            Some(query) => (query, ""),
            None => ("nothing was decided", " (while the model was read, or evidence written)"),
        };
        let reason = match phase {
            "" => why.into(),
            phase => Reason::Solver(format!("{why}{phase}")),
        };
        let model = args.model.model.display().to_string();
        let report: PropertyReport = PropertyReport::about(&model, "", query, Kind::Always, Verdict::Unknown(reason));
        let style = text::Style { color, ..Default::default() };
        match answers::plain(&args, &report, style) {
            Ok(()) if why == StopReason::Cancelled => exit::INTERRUPTED,
            Ok(()) => exit::UNDECIDED,
            Err(_) => exit::INTERNAL,
        }
    });
}

pub fn check(args: &Check, out_color: bool, err_color: bool) -> Ran {
    watch(args, out_color);
    let reading = cli::Reading { timeout: args.timeout, ..args.reading.clone() };
    let args = Arc::new(Check { reading, ..args.clone() });
    match answer_all(&args, out_color, err_color) {
        Err(Failure::Late(language)) => answers::late(&args, language, out_color),
        Err(Failure::Nothing(language, advice)) => answers::nothing(&args, language, &advice, out_color),
        ran => ran,
    }
}

fn answer_all(args: &Arc<Check>, out_color: bool, err_color: bool) -> Ran {
    let mut code = exit::HOLDS;
    for case in formalism::tasks(args.clone(), err_color)? {
        match case.check(out_color)? {
            exit::INTERRUPTED => return Ok(exit::INTERRUPTED),
            more => code = worst(code, more),
        }
    }
    Ok(code)
}
