//! Formulas about networks of automata: enumeration of states (of zones, if there are clocks), and fairness.

use std::rc::Rc;
use std::sync::Arc;

use trellis_check::Cause;
use trellis_engine::ltl::search::Search;
use trellis_engine::ltl::translate::translate;
use trellis_engine::timed::formula;
use trellis_meter::Meter;
use trellis_model::ltl::Formula;
use trellis_model::network::{Certificate, Condition, Fair, Network, Party, Query, QueryKind, Temporal, Trace};
use trellis_report::json::Input;
use trellis_report::{Ending, Kind, Outcome, PropertyReport, ending};
use trellis_syntax::ltl::network::Said;

use super::idle;
use super::load::{Asked, Loaded, load};
use crate::formalism::formula::question::{Ask, asks};
use crate::formalism::{Cases, Request};
use crate::pipeline::{statistics, steps};
use crate::settings::{self, Settings};
use crate::task::{Evidence, Presenter, Question, Rejection, Task, Unanswered};
use crate::{Error, warnings};

/// A network and formulas about its runs.
struct FormulaTask {
    args: Arc<Settings>,
    loaded: Loaded,
    /// Each formula, as it was asked, with what it means.
    asked: Vec<(Ask, Temporal, Vec<String>)>,
    search: Search,
    /// Formulas that cannot be read, beside others that can.
    refused: Vec<String>,
}

/// Reads the network and the formulas. One that cannot be read leaves the others answered, unless it is the model.
pub fn ask(request: &Request) -> Cases {
    let args = &request.args;
    let mut all = asks(args, request.args.context.color)?;
    let read = |asks: &[Ask]| {
        load(&args.model, request.language, &Asked { asks, color: request.args.context.color, ..Default::default() })
    };
    let mut refused = vec![];
    let mut loaded = match read(&all) {
        Err(Error::Input(_)) if all.len() > 1 && read(&[]).is_ok() => {
            let mut kept = vec![];
            for ask in all {
                match read(std::slice::from_ref(&ask)) {
                    Ok(_) => kept.push(ask),
                    Err(Error::Input(said)) => {
                        args.context.note(format_args!("{}\n", said.trim_end()));
                        refused.push(ask.text().to_string());
                    }
                    Err(failure) => return Err(failure),
                }
            }
            all = kept;
            read(&all)?
        }
        read => read?,
    };
    args.context.note(&loaded.warnings);
    if args.non_zeno && loaded.network.clocks.is_empty() {
        return Err(Error::Usage("--non-zeno is for models with clocks; this one has none".into()));
    }
    let search = match args.formulas.search {
        Some(settings::LassoSearch::Nested) => Search::Nested,
        Some(settings::LassoSearch::Scc) | None => Search::Components,
    };
    let fair = fair(&loaded.network, &args.formulas.fair)?;
    let said = std::mem::take(&mut loaded.said);
    let mut asked = vec![];
    for (ask, said) in all.into_iter().zip(said) {
        let names = said.names.clone();
        let temporal = temporal(&mut loaded.network, &ask, said, fair.clone(), args.non_zeno)?;
        asked.push((ask, temporal, names));
    }
    Ok(vec![Rc::new(FormulaTask { args: args.clone(), loaded, asked, search, refused })])
}

impl Task for FormulaTask {
    type Trace = Trace;
    type Proof = Certificate;

    fn args(&self) -> &Settings {
        &self.args
    }

    fn language(&self) -> &'static str {
        self.loaded.language
    }

    fn inputs(&self) -> Vec<Input> {
        self.loaded.inputs.clone()
    }

    fn questions(&self) -> Vec<Question> {
        let question = |(ask, temporal, names): &(Ask, Temporal, Vec<String>)| {
            let atoms: Vec<_> = temporal.conditions.iter().map(|c| c.holds).collect();
            let of = |f| warnings::of_linear(&self.loaded.network.terms, &atoms, names, f, ask.text());
            let warnings = temporal.formula.as_ref().map(of).unwrap_or_default();
            ask.question(warnings)
        };
        self.asked.iter().map(question).collect()
    }

    fn unanswered(&self) -> Vec<(String, Unanswered)> {
        let refused = |text: &String| (text.clone(), Unanswered::Refused("it cannot be read".into()));
        self.refused.iter().map(refused).collect()
    }

    fn solve(&self, n: usize, meter: &mut Meter) -> Result<PropertyReport, Error> {
        let ((ask, asked, _), loaded) = (&self.asked[n], &self.loaded);
        let mut report = match formula::check(&loaded.network, asked, self.search, meter) {
            Ok(a) => {
                let mut r = PropertyReport::about(&loaded.name, loaded.language, ask.text(), ask.kind(), a.verdict);
                r.statistics = statistics(&a.stats);
                r
            }
            Err(broken) => {
                let (trace, error) = (broken.trace, &broken.error);
                let mut r = PropertyReport::broken(&loaded.name, loaded.language, &asked.query, trace, error);
                r.kind = ask.kind();
                r
            }
        };
        report.engine = engine_line(&loaded.network, self.search);
        report.assumes = assumptions(&self.args.formulas.fair, self.args.non_zeno);
        if let Some(note) = note(&loaded.network, asked, &report).filter(|_| !self.args.quiet && !self.args.json) {
            self.args.context.note(format_args!("note: {note}\n"));
        }
        Ok(report)
    }

    fn replay(&self, n: usize, trace: &Trace, _: &Meter) -> Result<String, Rejection> {
        trellis_check::replay_formula(&self.loaded.network, &self.asked[n].1, trace).map_err(|e| e.to_string())?;
        Ok(format!("run of {} replayed, the formula is false on it", steps(trace.steps.len())))
    }

    fn certify(&self, n: usize, proof: &Certificate, _: &Meter) -> Result<String, Rejection> {
        match trellis_check::certify_formula(&self.loaded.network, &self.asked[n].1, proof) {
            Ok(_) => Ok("certificate re-validated".into()),
            Err(e) if e.why == Cause::Unproven => Err(Rejection::Open(e.why.to_string())),
            Err(e) => Err(Rejection::Wrong(e.to_string())),
        }
    }

    fn accept(&self, _: usize, evidence: Evidence<&Trace, &Certificate>) -> Result<(), Rejection> {
        match evidence {
            Evidence::Trace(_) => Ok(()),
            Evidence::Proof(c) => Ok(idle(&self.loaded.network, Kind::Ltl, c)?),
        }
    }

    fn present(&self, _: usize, then: &mut dyn FnMut(&Presenter<'_, Self>)) {
        then(&self.loaded.network);
    }
}

/// `weak`, `strong:P1,go`, `progress`.
fn fair(net: &Network, given: &[String]) -> Result<Vec<Fair>, Error> {
    let mut all = Vec::new();
    for text in given {
        let (kind, names) = text.split_once(':').map_or((text.as_str(), None), |(k, n)| (k, Some(n)));
        let strong = match (kind, names) {
            ("progress", None) => {
                all.push(Fair { party: Party::Anyone, strong: false });
                continue;
            }
            ("weak", _) => false,
            ("strong", _) => true,
            _ => {
                let why = format!("--fair {text}: expected progress, weak, strong, weak:NAMES or strong:NAMES");
                return Err(Error::Usage(why));
            }
        };
        match names {
            None => {
                let everybody = (0..net.processes.len() as u32).map(Party::Process);
                all.extend(everybody.map(|party| Fair { party, strong }));
            }
            Some(names) => {
                for name in names.split(',').map(str::trim) {
                    let Some(party) = party(net, name) else { return Err(nobody(net, name)) };
                    all.push(Fair { party, strong });
                }
            }
        }
    }
    Ok(all)
}

fn array_name(channel: &str) -> &str {
    channel.split('[').next().unwrap_or(channel)
}

fn party(net: &Network, name: &str) -> Option<Party> {
    let process = net.processes.iter().position(|p| p.name == name).map(|p| Party::Process(p as u32));
    process.or_else(|| {
        // An array of channels goes by its name; its first channel stands for it.
        net.channels.iter().position(|c| array_name(&c.name) == name).map(|c| Party::Channel(c as u32))
    })
}

fn nobody(net: &Network, name: &str) -> Error {
    let processes = net.processes.iter().map(|p| p.name.as_str());
    let mut known: Vec<&str> = processes.chain(net.channels.iter().map(|c| array_name(&c.name))).collect();
    known.dedup();
    let some = known.iter().take(20).copied().collect::<Vec<_>>().join(", ");
    let more = if known.len() > 20 { ", …" } else { "" };
    Error::Usage(format!("--fair: there is no process or channel `{name}`; there are: {some}{more}"))
}

fn temporal(net: &mut Network, ask: &Ask, said: Said, fair: Vec<Fair>, non_zeno: bool) -> Result<Temporal, Error> {
    let anything = Condition { prepare: net.terms.skip(), holds: net.terms.bool(true) };
    let kind = QueryKind::PotentiallyAlways(anything);
    let query = Query { text: ask.text().to_string(), kind, deadlock: false, atoms: Vec::new() };
    let (formula, automaton) = match ask {
        Ask::Formula { .. } => {
            let negated = Formula::Not(Box::new(said.formula.clone()));
            (Some(said.formula), translate(&negated).map_err(|why| Error::Usage(format!("--ltl: {why}")))?)
        }
        Ask::Forbidden { hoa, .. } => (None, hoa.automaton.clone()),
    };
    Ok(Temporal { query, conditions: said.conditions, formula, automaton, fair, non_zeno })
}

fn engine_line(net: &Network, search: Search) -> String {
    let states = if net.clocks.is_empty() { "explicit states" } else { "zone graph" };
    let search = match search {
        Search::Nested => "nested depth-first search",
        Search::Components => "components",
    };
    format!("{states}, {search}")
}

fn assumptions(fair: &[String], non_zeno: bool) -> Vec<String> {
    let fair = fair.iter().map(|f| format!("only fair runs count: {f}"));
    fair.chain(non_zeno.then(|| "that no run takes infinitely many steps in finite time (--non-zeno)".into())).collect()
}

/// What may surprise.
fn note(net: &Network, asked: &Temporal, r: &PropertyReport) -> Option<String> {
    let violated = r.outcome == Outcome::Unsafe;
    let idles = r.trace.as_ref().is_some_and(|t| ending(net, Kind::Ltl, t) == Ending::Idle);
    match () {
        () if violated && idles && asked.fair.is_empty() => Some(
            "time may pass for ever where nothing is urgent, so the run may stop there; --fair progress excludes that (in models \
             without clocks), and so do invariants"
                .into(),
        ),
        () if !net.clocks.is_empty() && !asked.non_zeno => {
            Some("runs with infinitely many steps in finite time (Zeno) count; --non-zeno excludes them".into())
        }
        () => None,
    }
}
