//! `trellis check`: every property, with the engine that suits it, evidence re-checked before anybody sees it.

use trellis_meter::StopReason;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::network::Network;
use trellis_report::{Kind, Present, PropertyReport, dot, json, text};

use crate::cli::{self, Check};
use crate::files::{write_file, write_with};
use crate::pipeline::numbered;
use crate::{Failure, Ran, exit};
use crate::{answers, automaton, counter, hierarchy, limits, ltl, network, program, tree};

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
    let args = &Check { reading, ..args.clone() };
    match answer_all(args, out_color, err_color) {
        Err(Failure::Late(language)) => answers::late(args, language, out_color),
        Err(Failure::Nothing(language, advice)) => answers::nothing(args, language, &advice, out_color),
        ran => ran,
    }
}

fn answer_all(args: &Check, out_color: bool, err_color: bool) -> Ran {
    let is_network = !ltl::is_asked(args)
        && !hierarchy::is_one(&args.model.model)
        && !tree::is_one(&args.model.model)
        && !counter::is_one(&args.model.model)
        && !automaton::is_one(&args.model.model);
    if args.assume.is_some() && !is_network {
        return Err(Failure::Usage("--assume monotone: only for networks with lattice variables".into()));
    }
    if ltl::is_asked(args) {
        return ltl::ask(args, out_color, err_color);
    }
    if !args.formulas.fair.is_empty() {
        return Err(Failure::Usage("--fair goes with --ltl or --buchi".into()));
    }
    if hierarchy::is_one(&args.model.model) {
        return hierarchy::check(args, out_color, err_color);
    }
    if tree::is_one(&args.model.model) {
        return tree::check(args, out_color);
    }
    let other = counter::is_one(&args.model.model) || automaton::is_one(&args.model.model);
    if args.engine == cli::Engine::Hierarchy && other {
        return Err(Failure::Usage(
            "--engine hierarchy: only for AltaRica, hierarchical transition systems, and networks without clocks"
                .into(),
        ));
    }
    // Networks have nodes, too, if they are taken apart.
    let foreign = match args.engine {
        cli::Engine::Hierarchy => args.nodes.of_nodes_only(),
        _ => args.nodes.given(),
    };
    if let Some(name) = foreign {
        return Err(Failure::Usage(format!("{name}: only for models in AltaRica (.alt)")));
    }
    if counter::is_one(&args.model.model) {
        return counter::check(args, out_color, err_color);
    }
    if let Some(text) = counter::given(args) {
        return Err(Failure::Usage(format!("{text}: only for counter systems (.spec, .pnml, .lola, .tts)")));
    }
    if automaton::is_one(&args.model.model) {
        return program::check(args, out_color, err_color);
    }
    network::check(args, out_color, err_color)
}

pub fn show(args: &Check, net: &Network, r: &PropertyReport, style: text::Style) -> Result<(), Failure> {
    let text = if args.json {
        let mut line = Vec::new();
        json::write_report(&mut line, net, r, r.certificate.as_ref().map(|c| net.size(c)))
            .map_err(|e| Failure::Internal(e.to_string()))?;
        String::from_utf8_lossy(&line).into_owned()
    } else if args.quiet {
        // What it rests on is part of a verdict.
        format!("{}{}", text::line(r, style), text::assumptions(r, style))
    } else {
        trellis_report::network::render(r, net, style)
    };
    crate::print(&text)?;
    Ok(())
}

pub fn write_evidence(args: &Check, net: &Network, r: &PropertyReport, several: Option<usize>) -> Result<(), Failure> {
    if let (Some(path), Some(t)) = (&args.trace, &r.trace) {
        write_with(&numbered(path, several), |out| json::write_trace(out, net, r.header(), t))?;
    }
    if let (Some(path), Some(text)) = (&args.dot, dot::report(r, net)) {
        write_file(&numbered(path, several), &text)?;
    }
    if let (Some(path), Some(c)) = (&args.certificate, &r.certificate) {
        write_with(&numbered(path, several), |out| json::write_certificate(out, net, r.header(), c))?;
    }
    Ok(())
}
