//! `trellis certify` for evidence about formulas: the command line says what is asked, the model is read with that, and the automaton of
//! the negated formula is made anew; evidence about another one is refused.

use trellis_check::ltl as checker;
use trellis_engine::program;
use trellis_meter::Meter;
use trellis_model::evidence::Verdict;
use trellis_report::json::{self, Header};
use trellis_report::ltl::{Counterexample, Formula, summary};
use trellis_report::{Content, Kind, Program};
use trellis_syntax::scxml::Chart;

use super::question::{Ask, Question};
use crate::binding::Bound;
use crate::cli::Certify;
use crate::evidence::Given;
use crate::pipeline::steps;
use crate::{Failure, Ran};

/// What the command line asks.
pub fn asks(args: &Certify, err_color: bool) -> Result<Vec<Ask>, Failure> {
    let p = &args.properties;
    if !p.properties.is_empty() || !p.errors.is_empty() || !p.labels.is_empty() || p.queries.is_some() {
        return Err(Failure::Usage("--property and its kin: not together with --ltl or --buchi".into()));
    }
    let mut asks: Vec<Ask> = args.ltl.iter().cloned().map(Ask::Formula).collect();
    if let Some(path) = &args.buchi {
        asks.push(Ask::forbidden(path, err_color)?);
    }
    Ok(asks)
}

/// Which of the questions evidence answers. Each has inputs of its own: that of a Büchi automaton its file.
pub fn chosen(
    given: &Given<'_>,
    asks: &[Ask],
    bound: impl Fn(&Ask) -> Bound,
) -> Result<Result<usize, String>, Failure> {
    let mut why = None;
    for (at, ask) in asks.iter().enumerate() {
        match given.asked(&bound(ask), &[&ask.property()])? {
            Ok(_) => return Ok(Ok(at)),
            Err(this) => why = why.or(Some(this)),
        }
    }
    Ok(Err(why.unwrap_or_else(|| "nothing is asked".into())))
}

/// Certifies evidence about a formula.
pub fn certify(args: &Certify, given: &Given<'_>, err_color: bool) -> Ran {
    if args.non_zeno {
        return Err(Failure::Usage("--non-zeno: only for models with clocks".into()));
    }
    if args.node.is_some() || args.start.is_some() {
        return Err(Failure::Usage("--node and --start: not together with --ltl or --buchi".into()));
    }
    let asks = asks(args, err_color)?;
    let mut questions = vec![];
    for ask in &asks {
        questions.push(Question::read(ask, &args.model, &args.reading, args.ltl_step, err_color)?);
    }
    let bound = |at: usize| Bound::new(args, questions[at].inputs.clone());
    let at = match chosen(given, &asks, |ask| bound(asks.iter().position(|a| std::ptr::eq(a, ask)).unwrap_or(0)))? {
        Ok(at) => at,
        Err(why) => return given.rejected(&why),
    };
    let (ask, question) = (&asks[at], &questions[at]);
    let (subject, claim) = (&question.asked.subject, question.claim());
    let program = Program::new(&subject.cfa, &[]);
    let formula = Formula { program: &program, asked: question.about() };
    let content = json::read(&formula, &given.text).map_err(|e| given.unreadable(&e))?;
    let limits = Meter::unlimited();
    let result = match &content {
        Content::Trace(Counterexample::Lasso(lasso)) => checker::replay(subject, claim, lasso)
            .map(|()| format!("the lasso ({}) violates it", steps(lasso.run.steps.len()))),
        Content::Trace(Counterexample::Recurrence(r)) => {
            let count = steps(r.stem.steps.len());
            checker::certify_recurrence(subject, claim, r, &limits)
                .map(|n| format!("after {count}, runs go on forever that violate it; questions to the solver: {n}"))
        }
        Content::Certificate(proof) => checker::certify(subject, claim, proof, &limits)
            .map(|n| format!("{} proves it; questions to the solver: {n}", summary(proof))),
    };
    let mut result = result.map_err(|why| why.to_string());
    if let (Some(chart), Content::Certificate(_)) = (&question.asked.chart, &content) {
        result = result.and_then(|said| queue_is_long_enough(chart).map(|()| said));
    }
    if let (Some(chart), Content::Trace(run)) = (&question.asked.chart, &content) {
        result = result.and_then(|said| crate::statechart::fair(chart, run).map(|()| said));
    }
    let binding = bound(at).to(&ask.property());
    let header = Header { language: question.language, kind: Kind::Ltl, binding: &binding };
    let write = |out: &mut dyn std::io::Write| match &content {
        Content::Trace(t) => json::write_trace(out, &formula, header, t),
        Content::Certificate(proof) => json::write_certificate(out, &formula, header, proof),
    };
    given.judged(ask.text(), result, &write)
}

/// A proof about a statechart knows nothing of runs in which an event did not fit into a queue.
fn queue_is_long_enough(chart: &Chart) -> Result<(), String> {
    if chart.overflow.is_empty() {
        return Ok(());
    }
    let found = program::check(&chart.cfa, &program::Engine::Portfolio(2), &mut Meter::unlimited());
    let Verdict::Safe(invariant) = found.verdict else {
        return Err(crate::statechart::limits(chart));
    };
    let checked = trellis_check::program::certify(&chart.cfa, &invariant, &Meter::unlimited());
    checked.map(|_| ()).map_err(|why| format!("whether the queue is long enough: {why}"))
}
