//! Models with variables that decision diagrams cannot have: the same question, asked of an automaton and a solver.

use trellis_check::{hierarchy, program as checker};
use trellis_engine::program::{self, Engine};
use trellis_expr::TermId;
use trellis_meter::Meter;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::hierarchy::Hierarchy;
use trellis_model::hierarchy::automaton::automaton;
use trellis_report::hierarchy::HierarchyReport;
use trellis_report::{Kind, Outcome};

use crate::Failure;
use crate::pipeline::steps;

/// How many ways a flat event may have, and how many cases flows.
const LIMIT: usize = 2_000;

/// Answers, and has the evidence checked if that is wanted; `why` is why there are no diagrams.
pub fn answer(
    hierarchy: &Hierarchy,
    bad: TermId,
    (model, name): (&str, &str),
    why: Reason,
    check: bool,
    budget: &mut Meter,
) -> Result<HierarchyReport, Failure> {
    let unknown = |why: Reason| HierarchyReport::about(model, "altarica", name, Kind::Always, Verdict::Unknown(why));
    let Some(asked) = automaton(hierarchy, bad, LIMIT) else { return Ok(unknown(why)) };
    let outcome = program::check(&asked.cfa, &Engine::Portfolio(1), budget);
    let failed = |what: &str, why: &dyn std::fmt::Display| {
        Failure::Internal(format!("the {what} for `{name}` did not pass its check: {why}"))
    };
    let by = outcome.by.map_or_else(String::new, |by| format!(": {by}"));
    let mut report = match outcome.verdict {
        Verdict::Unknown(why) => unknown(why),
        Verdict::Unsafe(run) => match asked.trace(&run) {
            None => unknown(Reason::Unsupported("a run with numbers that do not fit a machine word".into())),
            Some(trace) => {
                let verdict = Verdict::Unsafe(trace.clone());
                let mut report = HierarchyReport::about(model, "altarica", name, Kind::Always, verdict);
                if check {
                    hierarchy::replay(hierarchy, None, bad, &trace).map_err(|e| failed("run", &e))?;
                    report.checked = Some(format!("run of {} replayed", steps(trace.events.len())));
                }
                report
            }
        },
        Verdict::Safe(certificate) => {
            let mut report = unknown(why);
            (report.outcome, report.reason) = (Outcome::Safe, None);
            if check {
                let levels = hierarchy.levels().map_err(|e| failed("invariant", &e))?;
                hierarchy::same_events(hierarchy, &levels).map_err(|e| failed("invariant", &e))?;
                checker::certify(&asked.cfa, &certificate, &Meter::unlimited()).map_err(|e| failed("invariant", &e))?;
                report.checked = Some("invariant checked by a solver".into());
            }
            report
        }
    };
    report.engine = format!("flattened, predicates asked of a solver{by}");
    Ok(report)
}
