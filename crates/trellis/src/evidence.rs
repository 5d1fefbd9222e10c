//! `trellis certify` and `trellis convert`: evidence and models, read and written.
//!
//! Evidence is certified for what is asked, not for what it says: the model and the command line give the questions, as for `check`; the
//! evidence must be bound to the same files, options and tool, and to one of these questions; then its content is checked; and at last, whatever
//! else stands in it must be what `check` writes there.

use std::io::Write;
use std::path::Path;

use trellis_check::{Cause, Certified, Rejection};
use trellis_meter::StopReason;
use trellis_model::network::{CertEntry, Certificate, Network, Query, QueryKind};
use trellis_report::json::{self, Binding, Header, read_binding, rewritten};
use trellis_report::{Content, Kind};

use crate::binding::{Bound, TOOL};
use crate::cli::{Certify, Convert, Format};
use crate::load::{Asked, load};
use crate::{Failure, Ran, automaton, counter, exit, files::write_file, hierarchy, limits, ltl, print, program, tree};

/// A piece of evidence as it stands in its file: nobody believes it yet.
pub struct Given<'a> {
    path: &'a Path,
    /// All of it.
    pub text: String,
    /// What it says that it is about.
    claimed: Binding,
    color: bool,
}

impl<'a> Given<'a> {
    fn read(path: &'a Path, color: bool) -> Result<Given<'a>, Failure> {
        let unreadable = |why: &dyn std::fmt::Display| Failure::Input(format!("error: {}: {why}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|e| unreadable(&e))?;
        let (_, claimed) = read_binding(&text).map_err(|e| unreadable(&e))?;
        if claimed.tool != TOOL {
            let by: String = claimed.tool.chars().take(60).flat_map(char::escape_debug).collect();
            return Err(unreadable(&format_args!("it was written by `{by}`, and this is {TOOL}; run check again")));
        }
        if claimed.property.is_empty() {
            return Err(unreadable(&"it does not say which property it is about"));
        }
        Ok(Given { path, text, claimed, color })
    }

    /// What it says that it is about, as it says it.
    pub fn property(&self) -> &str {
        &self.claimed.property
    }

    /// Is it about the transition systems that a model was taken apart into?
    pub fn is_about_a_tree(&self) -> bool {
        json::form(&self.text).is_some_and(|form| form == "tree" || form == "partition")
    }

    /// That it cannot be read.
    pub fn unreadable(&self, why: &dyn std::fmt::Display) -> Failure {
        Failure::Input(format!("error: {}: {why}", self.path.display()))
    }

    /// Which of the questions it is about, or why it is about none: the files, the options or the property differ.
    pub fn asked(&self, bound: &Bound, questions: &[&str]) -> Result<Result<usize, String>, Failure> {
        let all: Vec<Binding> = questions.iter().map(|q| bound.to(q)).collect();
        let any = bound.to("");
        if let Some(why) = self.claimed.other_inputs(&any).or_else(|| self.claimed.other_options(&any)) {
            return Ok(Err(why));
        }
        if let Some(at) = all.iter().position(|b| self.claimed.difference(b).is_none()) {
            return Ok(Ok(at));
        }
        let claims = shown(&self.claimed.property);
        match &all[..] {
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

pub fn certify(args: &Certify, out_color: bool, err_color: bool) -> Ran {
    watch(args);
    let path = &args.model.model;
    let of_nodes = hierarchy::is_one(path);
    let network = !of_nodes && !tree::is_one(path) && !counter::is_one(path) && !automaton::is_one(path);
    let formula = !args.ltl.is_empty() || args.buchi.is_some();
    let foreign = [
        ("--fair: only for formulas about networks of automata", !(args.fair.is_empty() || network && formula)),
        ("--assume: only for networks of automata", args.assume.is_some() && !network),
        ("--node: only for AltaRica", args.node.is_some() && !of_nodes),
        ("--start: only for thread transition systems (.tts)", args.start.is_some() && !counter::is_one(path)),
        ("--ltl-step goes with --ltl or --buchi", args.ltl_step.is_some() && !formula),
    ];
    if let Some((why, _)) = foreign.iter().find(|(_, given)| *given) {
        return Err(Failure::Usage((*why).into()));
    }
    let given = &Given::read(&args.evidence, out_color)?;
    match () {
        () if formula && network => ltl::network::certify(args, given, err_color),
        () if formula => ltl::certify(args, given, err_color),
        () if given.claimed.property.starts_with("LTL ") => Err(Failure::Usage(format!(
            "the evidence is about a formula; say which one it must be about: {}",
            match given.claimed.property.strip_prefix("LTL never ") {
                Some(file) => format!("--buchi '{}'", shown(file)),
                None => format!("--ltl '{}'", shown(&given.claimed.property[4..])),
            }
        ))),
        () if counter::is_one(path) => counter::certify(args, given, err_color),
        () if tree::is_one(path) => tree::certify(args, given),
        () if of_nodes => hierarchy::certify(args, given, err_color),
        () if automaton::is_one(path) => program::certify(args, given, err_color),
        () => certify_network(args, given, err_color),
    }
}

/// What stands in a certificate that nobody looks at, for such a query about such a network.
pub fn idle(net: &Network, kind: Kind, c: &Certificate) -> Result<(), String> {
    if c.up_to_order && net.lattices.is_empty() {
        return Err("it speaks of an order, and the model has no lattice variables".into());
    }
    let ranks = kind.is_liveness() && kind != Kind::Ltl;
    let untimed = net.clocks.is_empty();
    let odd = |e: &CertEntry| match () {
        () if e.rank.is_some() && !ranks => Some("a rank"),
        () if e.course.is_some() && kind != Kind::Ltl => Some("a state of an automaton"),
        () if !e.zone.is_empty() && untimed => Some("a zone"),
        () if e.bounds.is_some() && untimed => Some("bounds of clocks"),
        () if e.bounds.as_ref().is_some_and(|b| [&b.lower, &b.upper].iter().any(|side| side[..1] != [i32::MIN])) => {
            Some("bounds of no clock")
        }
        () => None,
    };
    match c.entries.iter().enumerate().find_map(|(i, e)| odd(e).map(|what| (i, what))) {
        Some((i, what)) => Err(format!("entry {i} has {what}, which means nothing here")),
        None => Ok(()),
    }
}

fn certify_network(args: &Certify, given: &Given<'_>, err_color: bool) -> Ran {
    automaton::not_c(&args.reading)?;
    let asked = Asked { properties: Some(&args.properties), color: err_color, ..Default::default() };
    let loaded = load(&args.model, &asked)?;
    let bound = Bound::new(args, loaded.inputs.clone());
    let names: Vec<&str> = loaded.queries.iter().map(|q| q.text.as_str()).collect();
    let at = match given.asked(&bound, &names)? {
        Ok(at) => at,
        Err(why) => return given.rejected(&why),
    };
    let (net, query) = (&loaded.network, &loaded.queries[at]);
    if given.is_about_a_tree() {
        return tree::certify_network(given, &loaded, query, &bound);
    }
    let content = json::read(net, &given.text).map_err(|e| given.unreadable(&e))?;
    let result = match &content {
        Content::Trace(t) => match args.non_zeno {
            true => trellis_check::replay_non_zeno(net, query, t),
            false => trellis_check::replay(net, query, t),
        }
        .map(|done| {
            let value = done.value.map_or(String::new(), |v| format!(", value {v}"));
            let grows = if done.unbounded { ", can be made as long as one likes" } else { "" };
            format!("the trace ({} steps{value}{grows}) shows what it claims", t.steps.len())
        }),
        Content::Certificate(c) => match certified(args, net, query, c)? {
            Ok(done) => Ok(done),
            // Nothing is wrong with it, but for what nobody has proved or stated.
            Err(why) if matches!(why.why, Cause::NotMonotone(_)) => {
                return given.undecided(&query.text, &format!("{why}; --assume monotone states that it is"));
            }
            Err(why) => Err(why),
        }
        .map(|done| {
            let rests = match (c.up_to_order, args.assume) {
                (true, Some(_)) => ", assuming monotone transitions",
                (true, None) => "; the model is proved monotone",
                (false, _) => "",
            };
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
    let binding = bound.to(&query.text);
    let header = Header { language: loaded.language, kind: Kind::of(&query.kind), binding: &binding };
    let result = result.map_err(|why| why.to_string()).and_then(|said| match &content {
        Content::Certificate(c) => idle(net, header.kind, c).map(|()| said),
        Content::Trace(_) => Ok(said),
    });
    let write = |out: &mut dyn Write| match &content {
        Content::Trace(t) => json::write_trace(out, net, header, t),
        Content::Certificate(c) => json::write_certificate(out, net, header, c),
    };
    given.judged(&query.text, result, &write)
}

/// Checks a certificate. One that only wants for monotonicity is told from one that is wrong anyway.
fn certified(
    args: &Certify,
    net: &Network,
    query: &Query,
    c: &Certificate,
) -> Result<Result<Certified, Rejection>, Failure> {
    if args.assume.is_some() && net.lattices.is_empty() {
        return Err(Failure::Usage("--assume monotone: the model has no lattice variables".into()));
    }
    let check = |stated: bool| {
        trellis_check::assuming_monotone(stated, || match args.non_zeno {
            true => trellis_check::certify_non_zeno(net, query, c),
            false => trellis_check::certify(net, query, c),
        })
    };
    Ok(match check(args.assume.is_some()) {
        Err(why) if matches!(why.why, Cause::NotMonotone(_)) => check(true).and(Err(why)),
        done => done,
    })
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
        Format::Dot => trellis_report::network::dot(&loaded.network, &loaded.name),
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
