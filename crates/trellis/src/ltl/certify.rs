//! `trellis certify` for evidence about formulas: the evidence says what was asked, the model is read again with that, and the
//! automaton of the negated formula is made anew; evidence about another one is refused.

use trellis_check::ltl as checker;
use trellis_engine::budget::Budget;
use trellis_engine::program;
use trellis_model::evidence::Verdict;
use trellis_report::json::{LtlContent, LtlQuestion, ltl_question, read_ltl_evidence};
use trellis_report::ltl::{Counterexample, summary};
use trellis_smt::Limits;
use trellis_syntax::hoa::Hoa;
use trellis_syntax::scxml::Chart;

use super::question::{Ask, Question};
use crate::check::steps;
use crate::cli::{Certify, LtlStep};
use crate::evidence::judged;
use crate::{Failure, Ran};

/// Certifies evidence about a formula; nothing if it is about something else.
pub fn certify(args: &Certify, out_color: bool, err_color: bool) -> Option<Ran> {
    let path = &args.evidence;
    // Whoever reads other evidence says what is wrong with the file.
    let text = std::fs::read_to_string(path).ok()?;
    match ltl_question(&text) {
        Ok(found) => found.map(|asked| certified(args, asked, &text, out_color, err_color)),
        Err(why) if text.contains("trellis-ltl-") || text.contains("\"LTL\"") => {
            Some(Err(Failure::Input(format!("error: {}: {why}", path.display()))))
        }
        Err(_) => None,
    }
}

fn certified(args: &Certify, asked: LtlQuestion, text: &str, out_color: bool, err_color: bool) -> Ran {
    if args.non_zeno {
        return Err(Failure::Usage("--non-zeno: only for models with clocks".into()));
    }
    if args.node.is_some() {
        return Err(Failure::Usage("--node: formulas are about the last node of a file".into()));
    }
    let unreadable = |why: &dyn std::fmt::Display| Failure::Input(format!("error: {}: {why}", args.evidence.display()));
    let is_xsts = args.model.model.extension().is_some_and(|e| e == "xsts");
    let step = match asked.step.as_deref() {
        _ if !is_xsts => None,
        Some("full") => Some(LtlStep::Full),
        Some("half") => Some(LtlStep::Half),
        _ => return Err(unreadable(&"it does not say when a letter is read (step: half or full)")),
    };
    let ask = match asked.forbidden {
        Some((atoms, automaton)) => Ask::Forbidden(asked.query, Hoa { automaton, atoms, name: None }),
        None => Ask::Formula(asked.query),
    };
    let question = Question::read(&ask, &args.model, &args.reading, step, err_color)?;
    let (subject, claim) = (&question.asked.subject, question.claim());
    let content = read_ltl_evidence(subject, claim.atoms, &question.automaton, text).map_err(|e| unreadable(&e))?;
    let limits = Limits::none();
    let result = match &content {
        LtlContent::Counterexample(Counterexample::Lasso(lasso)) => checker::replay(subject, claim, lasso)
            .map(|()| format!("the lasso ({}) violates it", steps(lasso.run.steps.len()))),
        LtlContent::Counterexample(Counterexample::Recurrence(r)) => {
            let count = steps(r.stem.steps.len());
            checker::certify_recurrence(subject, claim, r, &limits)
                .map(|n| format!("after {count}, runs go on forever that violate it; questions to the solver: {n}"))
        }
        LtlContent::Proof(proof) => checker::certify(subject, claim, proof, &limits)
            .map(|n| format!("{} proves it; questions to the solver: {n}", summary(proof))),
    };
    let mut result = result.map_err(|why| why.to_string());
    if let (Some(chart), LtlContent::Proof(_)) = (&question.asked.chart, &content) {
        result = result.and_then(|said| queue_is_long_enough(chart).map(|()| said));
    }
    if let (Some(chart), LtlContent::Counterexample(run)) = (&question.asked.chart, &content) {
        result = result.and_then(|said| crate::statechart::fair(chart, run).map(|()| said));
    }
    judged(ask.text(), result, out_color)
}

/// A proof about a statechart knows nothing of runs in which an event did not fit into a queue.
fn queue_is_long_enough(chart: &Chart) -> Result<(), String> {
    if chart.overflow.is_empty() {
        return Ok(());
    }
    let found = program::check(&chart.cfa, &program::Engine::Portfolio(2), &mut Budget::unlimited());
    let Verdict::Safe(invariant) = found.verdict else {
        return Err(crate::statechart::limits(chart));
    };
    let checked = trellis_check::program::certify(&chart.cfa, &invariant, &Limits::none());
    checked.map(|_| ()).map_err(|why| format!("whether the queue is long enough: {why}"))
}
