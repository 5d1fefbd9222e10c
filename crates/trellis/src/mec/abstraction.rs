//! `:ar-cegar-init` and `:ar-cegar-verify` (001 §6.2). The abstraction is made by the first, with the options that say which one; the second
//! refines it, and when it stops without an answer, the next one goes on from there with the options that are set then.

use trellis_check::hierarchy;
use trellis_check::mec::{Relations, Sets};
use trellis_domain::relation::Relation;
use trellis_engine::cover::cegar::{self, Abstraction, Run, Split, guards};
use trellis_engine::cover::graph::Search;
use trellis_engine::cover::reach::Direction;
use trellis_engine::cover::{Question, reason};
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::hierarchy::evidence::{Certificate, Trace};
use trellis_model::mec::Sort;
use trellis_report::hierarchy::Named;
use trellis_report::text::trace;
use trellis_report::{Style, iterations};

use super::{Failure, Runner, again, usage};
use crate::Error;
use crate::files::write_file;
use crate::formalism::hierarchy::row;

/// An abstraction of a node, and what is asked of it.
pub(super) struct Refined {
    /// The names of the initial states and of the bad ones.
    names: (String, String),
    initial: Relation,
    bad: Relation,
    run: Run,
    /// Both sets once more, as lists, or why not; nothing if nobody asked for that.
    plain: Option<Result<Sets, String>>,
}

impl Runner {
    fn on(&self, option: &str) -> bool {
        self.options.contains_key(option)
    }

    /// What the options that are set mean now.
    fn cegar_options(&self, limit: Option<u64>) -> cegar::Options {
        let is = |option: &str, value: &str| self.options.get(option).is_some_and(|v| v == value);
        let certified =
            ["initial-certification", "split-certification", "feasibility-certification", "cegar-use-must-and-clo"]
                .map(|o| self.on(o));
        cegar::Options {
            pruning: certified.contains(&true),
            abstraction: match self.on("cegar-use-cover-abstraction") {
                true => Abstraction::Cover,
                false => Abstraction::Partition,
            },
            search: if is("cegar-search-algorithm", "DFS") { Search::Dfs } else { Search::Bfs },
            analysis: if is("cegar-ce-analysis", "BACKWARD") { Direction::Backward } else { Direction::Forward },
            split: match is("cegar-abstraction-refinement-algorithm", "SIGMA") {
                true => Split::Sigma,
                false => Split::Direct,
            },
            initial_certification: certified[0],
            split_certification: certified[1],
            feasibility_certification: certified[2],
            must: certified[3],
            super_transitions: self.on("cegar-use-super-transition"),
            limit,
            pictures: self.on("cegar-abstraction-print"),
        }
    }

    /// Makes an abstraction.
    pub(super) fn cegar_init(&mut self, node: &str, init: &str, error: &str, names: &[String]) -> Result<(), Failure> {
        self.refined.remove(node);
        let mut sets = vec![];
        for name in [init, error].into_iter().chain(names.iter().map(String::as_str)) {
            let computed = self.relation(name)?;
            if computed.arguments != [Sort::Configuration(node.into())] {
                return usage(format!("`{name}` is no set of configurations of `{node}`"));
            }
            sets.push(computed.relation);
        }
        let (Some(known), Some(built)) = (self.session.nodes.get(node), self.world.nodes.get(node)) else {
            return usage(format!("there is no node `{node}`"));
        };
        let (m, hierarchy) = (&known.symbolic, &built.hierarchy);
        if self.on("cegar-use-super-transition") && hierarchy.has_priorities() {
            return usage(format!(
                "cegar-use-super-transition: not sound for `{node}`, which has priorities or broadcasts"
            ));
        }
        let fail = |e| Failure::Unknown(node.into(), reason(e));
        let initial = m.states_of(&sets[0]).map_err(fail)?;
        if m.configurations_of(&initial).map_err(fail)? != sets[0] {
            return usage(format!(
                "`{init}` tells configurations apart that differ only in flows, and these move freely"
            ));
        }
        let question = Question { hierarchy, symbolic: m, initial: initial.clone(), bad: sets[1].clone() };
        let mut predicates = sets[2..].to_vec();
        if self.on("cegar-use-guards-as-predicates") {
            predicates.extend(guards(&question).map_err(fail)?);
        }
        let made = Run::new(&question, &predicates, &self.cegar_options(None), &mut self.budget());
        let run = made.map_err(|why| Failure::Unknown(node.into(), why))?;
        let plain = self.sets_again(init, error)?;
        let names = (init.to_string(), error.to_string());
        self.refined.insert(node.into(), Refined { names, initial, bad: sets[1].clone(), run, plain });
        Ok(())
    }

    /// Refines it, from where it is.
    pub(super) fn cegar_verify(&mut self, node: &str, limit: Option<u64>) -> Result<(), Failure> {
        let options = self.cegar_options(limit);
        let (told, mut budget) = (self.on("cegar-print-iteration-stats"), self.budget());
        let say = self.say.clone();
        let (Some(known), Some(built), Some(refined)) =
            (self.session.nodes.get(node), self.world.nodes.get(node), self.refined.get_mut(node))
        else {
            return usage(format!("`:ar-cegar-init {node} …` comes first"));
        };
        let (m, hierarchy) = (&known.symbolic, &built.hierarchy);
        let (initial, bad) = (refined.initial.clone(), refined.bad.clone());
        let question = Question { hierarchy, symbolic: m, initial, bad };
        let (run, (init, error)) = (&mut refined.run, &refined.names);
        let (before, drawn) = (run.iterations().len(), run.pictures().len());
        let verdict = run.go_on(&question, &options, &mut budget);
        if told && before < run.iterations().len() {
            let rows: Vec<iterations::Row> = run.iterations()[before..].iter().map(row).collect();
            say.line(iterations::table(&rows, before).trim_end());
        }
        let (first, last) = (drawn + 1, run.pictures().len());
        for (n, picture) in run.pictures()[drawn..].iter().enumerate() {
            write_file(&self.folder.join(format!("{node}-{}.dot", first + n)), picture)?;
        }
        if first <= last {
            say.line(&format!("{node}-{first}.dot to {node}-{last}.dot written"));
        }
        let rounds = run.iterations().len();
        let doubt = believed(self.plain.as_ref(), node, &question, &refined.plain, &verdict)?;
        self.unchecked |= doubt.is_some();
        let said = again::aside(doubt);
        match verdict {
            Verdict::Safe(_) => say.line(&format!("{error} is not reachable from {init}: {rounds} refinements{said}")),
            Verdict::Unsafe(t) => {
                say.line(&format!("{error} is reachable from {init}: {rounds} refinements{said}"));
                let full = Style { full: true, ..Style::default() };
                say.line(trace(&Named { hierarchy, levels: &m.levels }, &t, full).trim_end());
            }
            Verdict::Unknown(Reason::Iterations) => {
                say.line(&format!("no answer after {rounds} refinements; `:ar-cegar-verify {node}` goes on"));
            }
            Verdict::Unknown(why) => {
                return Err(Failure::Unknown(format!("{error} from {init}, after {rounds} refinements"), why));
            }
        }
        Ok(())
    }
}

/// Is a verdict what its evidence shows, and what the lists of both sets say? Why not, if these are not there; a verdict that is wrong
/// is a mistake in here.
fn believed(
    plain: Option<&Relations>,
    node: &str,
    question: &Question<'_>,
    sets: &Option<Result<Sets, String>>,
    verdict: &Verdict<Trace, Certificate>,
) -> Result<Option<String>, Error> {
    let wrong = |why: String| Error::Internal(format!("the answer about `{node}` was rejected: {why}"));
    let (Some(plain), Some(sets), Verdict::Safe(_) | Verdict::Unsafe(_)) = (plain, sets, verdict) else {
        return Ok(None);
    };
    if let Verdict::Safe(proof) = verdict {
        let checked = hierarchy::same_events(question.hierarchy, &question.symbolic.levels)
            .and_then(|()| hierarchy::certify(&question.initial, &question.bad, question.symbolic, proof));
        checked.map_err(|e| wrong(e.to_string()))?;
    }
    let sets = match sets {
        Ok(sets) => sets,
        Err(why) => return Ok(Some(why.clone())),
    };
    let agrees = match verdict {
        Verdict::Unsafe(t) => plain.leads(node, sets, &t.configurations, &t.events),
        _ => plain.reachable(node, sets).map(|reached| !reached),
    };
    match agrees {
        Ok(true) => Ok(None),
        Ok(false) => Err(wrong("listed, configuration by configuration, it is another one".into())),
        Err(why) => Ok(Some(why.to_string())),
    }
}
