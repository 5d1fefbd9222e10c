//! `trellis certify` and `trellis convert`: evidence and models, read and written.

use trellis_model::network::QueryKind;
use trellis_report::{Content, dot, read_evidence};

use crate::cli::{Certify, Convert, Format, Properties};
use crate::load::{Asked, load};
use crate::{Failure, Ran, automaton, counter, exit, files::write_file, hierarchy, ltl, print, program, tree};

pub fn certify(args: &Certify, out_color: bool, err_color: bool) -> Ran {
    let path = &args.evidence;
    let of_networks = [("--fair", !args.fair.is_empty()), ("--buchi", args.buchi.is_some())];
    let of_nodes = hierarchy::is_one(&args.model.model);
    let network = !of_nodes
        && !tree::is_one(&args.model.model)
        && !counter::is_one(&args.model.model)
        && !automaton::is_one(&args.model.model);
    if let Some((name, _)) = of_networks.iter().find(|(_, given)| *given && !network) {
        return Err(Failure::Usage(format!("{name}: only for networks of automata")));
    }
    if args.node.is_some() && !of_nodes {
        return Err(Failure::Usage("--node: only for AltaRica".into()));
    }
    if !network && let Some(done) = ltl::certify(args, out_color, err_color) {
        return done;
    }
    if counter::is_one(&args.model.model) {
        return counter::certify(args, out_color, err_color);
    }
    if tree::is_one(&args.model.model) {
        return tree::certify(args, out_color);
    }
    if of_nodes && tree::is_evidence(path) {
        return tree::certify_nodes(args, out_color, err_color);
    }
    if hierarchy::is_one(&args.model.model) {
        return hierarchy::certify(args, out_color, err_color);
    }
    if automaton::is_one(&args.model.model) {
        return program::certify(args, out_color, err_color);
    }
    automaton::not_c(&args.reading)?;
    if tree::is_evidence(path) {
        return tree::certify_network(args, out_color, err_color);
    }
    let unreadable = |why: &dyn std::fmt::Display| Failure::Input(format!("error: {}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| unreadable(&e))?;
    // The evidence says which question it answers; the model says what that means.
    let bare = load(&args.model, &Asked { color: err_color, ..Default::default() })?;
    let evidence = read_evidence(&bare.network, &text).map_err(|e| unreadable(&e))?;
    if evidence.is_formula {
        return ltl::network::certify(args, evidence, out_color, err_color);
    }
    let question = evidence.query.ok_or_else(|| unreadable(&"it does not say which query it is about"))?;
    let properties = Properties { properties: vec![question], ..Default::default() };
    let loaded = load(&args.model, &Asked { properties: Some(&properties), color: err_color, ..Default::default() })?;
    let (net, query) = (&loaded.network, &loaded.queries[0]);
    let result = match evidence.content {
        Content::Trace(t) => match args.non_zeno {
            true => trellis_check::replay_non_zeno(net, query, &t),
            false => trellis_check::replay(net, query, &t),
        }
        .map(|done| {
            let value = done.value.map_or(String::new(), |v| format!(", value {v}"));
            let grows = if done.unbounded { ", can be made as long as one likes" } else { "" };
            format!("the trace ({} steps{value}{grows}) shows what it claims", t.steps.len())
        }),
        Content::Certificate(c) => match args.non_zeno {
            true => trellis_check::certify_non_zeno(net, query, &c),
            false => trellis_check::certify(net, query, &c),
        }
        .map(|done| {
            let rests = if c.up_to_order { ", given monotone transitions" } else { "" };
            let bound = done.bound.map_or(String::new(), |b| format!(", bound {b}"));
            let clock = match (done.clock, &query.kind) {
                (Some(b), QueryKind::ClockBound { sup, .. }) => match (b.constant(), sup) {
                    (None, _) => ", no bound".into(),
                    (Some(n), true) => format!(", {} {n}", if b.is_strict() { "<" } else { "≤" }),
                    (Some(n), false) => format!(", {} {}", if b.is_strict() { ">" } else { "≥" }, -n),
                },
                _ => String::new(),
            };
            format!("the certificate ({} elements{bound}{clock}) proves its claim{rests}", c.entries.len())
        }),
    };
    judged(&query.text, result.map_err(|why| why.to_string()), out_color)
}

/// Says whether evidence is accepted.
pub fn judged(query: &str, result: Result<String, String>, color: bool) -> Ran {
    let paint = |code: &str, s: &str| if color { format!("\x1b[1;{code}m{s}\x1b[0m") } else { s.to_string() };
    match result {
        Ok(said) => print(&format!("{}  {query}: {said}", paint("32", "VALID"))),
        Err(why) => {
            print(&format!("{}  {query}: {why}", paint("31", "REJECTED")))?;
            Ok(exit::FAILS)
        }
    }
}

pub fn convert(args: &Convert, err_color: bool) -> Ran {
    if counter::is_one(&args.model.model) {
        return counter::convert(args, err_color);
    }
    if args.instance.is_some() || args.to == Format::Xta {
        return Err(counter::no_instance());
    }
    if automaton::is_one(&args.model.model) {
        return automaton::convert(args, err_color);
    }
    automaton::not_c(&args.reading)?;
    if args.property.is_some() {
        return Err(automaton::no_property());
    }
    let loaded = load(&args.model, &Asked { color: err_color, ..Default::default() })?;
    let text = match args.to {
        Format::Dot => dot::network(&loaded.network, &loaded.name),
        Format::Xta => return Err(counter::no_instance()),
        Format::Horn => {
            return Err(Failure::Usage(
                "--to horn: only for programs, control-flow automata and transition systems".into(),
            ));
        }
    };
    match &args.output {
        Some(path) => {
            write_file(path, &text)?;
            Ok(exit::HOLDS)
        }
        None => print(&text),
    }
}
