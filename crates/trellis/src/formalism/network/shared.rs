//! Who explores a network without clocks, or with lattice variables beside them: one thread, or several workers, and such as can be taken up again: `--workers`, `--checkpoint`,
//! `--resume`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use trellis_engine::learn::answer_learning;
use trellis_engine::network::{Answer, Broken, answer, answer_by_workers, answer_up_to_symmetry};
use trellis_engine::reach::{Refine, Strategy, Update};
use trellis_engine::timed::product;
use trellis_engine::workers::Workers;
use trellis_engine::workers::checkpoint::{self, Checkpoint};
use trellis_meter::Meter;
use trellis_model::network::{ModelError, Query, QueryKind};

use super::load::Loaded;
use super::{NetworkTask, Plan, folds};
use crate::Error;
use crate::settings::{JoinZones, Order, Settings};
use crate::task::Task;

/// Without `--every`.
const USUALLY: Duration = Duration::from_secs(300);

fn is_wanted(args: &Settings) -> bool {
    args.workers.is_some() || args.checkpoint.is_some() || args.resume.is_some()
}

/// Are the options at odds with others?
pub(super) fn usage(args: &Settings) -> Result<(), Error> {
    let given = args.join.as_deref().is_some_and(|j| !matches!(j, "all" | "none" | "auto"));
    if is_wanted(args) && (given || args.order.is_some_and(|o| o != Order::Bfs)) {
        let why = "--workers, --checkpoint and --resume explore breadth first, and join everything or nothing: neither --order nor a \
                   joining strategy goes with them";
        return Err(Error::Usage(why.into()));
    }
    Ok(())
}

/// Who explores, in words.
pub(super) fn by(workers: Option<&Workers>) -> String {
    match workers.map(|w| w.count.get()) {
        None => String::new(),
        Some(1) => ", by 1 worker".into(),
        Some(n) => format!(", by {n} workers"),
    }
}

/// Explores a network without clocks, or with lattice variables beside them.
pub(super) fn explore(
    args: &Settings,
    loaded: &Loaded,
    query: &Query,
    plan: &Plan,
    strategy: Option<&mut dyn Strategy<ModelError>>,
    meter: &mut Meter,
) -> Result<Answer, Box<Broken>> {
    let net = &loaded.network;
    if !net.clocks.is_empty() {
        let hull = args.join_zones == Some(JoinZones::Hull);
        return product::answer(
            net,
            query,
            product::Options { reach: plan.options, hull },
            strategy,
            loaded.priority,
            meter,
        );
    }
    let joins = plan.options.update == Update::Join && strategy.is_none() && plan.workers.is_none();
    if joins && let Some(proved) = trellis_engine::widen::answer(net, query, meter) {
        return Ok(proved);
    }
    match &plan.workers {
        Some(by) => answer_by_workers(net, query, plan.options.update, folds(args, net), by, meter),
        None if folds(args, net) => answer_up_to_symmetry(net, query, plan.options.order, meter),
        None if strategy.is_none() && plan.options.refine == Refine::Split => {
            let (found, learnt) = answer_learning(net, query, plan.options, loaded.priority, meter);
            if let Some(join) = learnt.filter(|_| !args.quiet && !args.json) {
                args.context.note(format_args!("note: learnt when to join: --join '{join}'\n"));
            }
            found
        }
        None => answer(net, query, plan.options, strategy, loaded.priority, meter),
    }
}

impl NetworkTask {
    /// Lets several explore, and keep what they explore, where that goes.
    pub(super) fn share(&self, n: usize, plan: &mut Plan) -> Result<(), Error> {
        let (args, query) = (&*self.args, &self.loaded.queries[n]);
        if !is_wanted(args) {
            return Ok(());
        }
        let live =
            matches!(query.kind, QueryKind::Eventually(_) | QueryKind::PotentiallyAlways(_) | QueryKind::LeadsTo(..));
        let alone = match (plan.options.update, plan.options.refine) {
            _ if !self.net().clocks.is_empty() => Some("of models with clocks"),
            _ if live => Some("of liveness"),
            _ if self.loaded.brought.join.is_some() => Some("with a joining strategy"),
            (Update::Join, Refine::Split) => {
                Some("with joins that are refined (--update simple, --update cover and --join all need no refinement)")
            }
            _ => None,
        };
        if let Some(which) = alone {
            if args.checkpoint.is_some() || args.resume.is_some() {
                return Err(Error::Usage(format!("--checkpoint, --resume: not for explorations {which}")));
            }
            plan.notes.push(format!("--workers: explorations {which} are not shared; one thread explores"));
            return Ok(());
        }
        // A checkpoint is of a model, a property, and what decides which states are stored.
        let bound = crate::pipeline::bound(self, &self.question(n));
        let how = (plan.options.update, folds(args, self.net()));
        let what = crate::binding::digest(format!("{bound:?} {how:?}").as_bytes());
        let dir = |dir: &PathBuf| match self.loaded.queries.len() {
            1 => dir.clone(),
            _ => dir.join(format!("{}", n + 1)),
        };
        let every = args.every.unwrap_or(USUALLY);
        let kept = args.checkpoint.as_ref().map(|d| Checkpoint { dir: dir(d), what: what.clone(), every });
        // Of several properties, some may not have been begun.
        let begun = |dir: &PathBuf| self.loaded.queries.len() == 1 || dir.exists();
        let resume = args.resume.as_ref().map(dir).filter(begun).map(|d| (d, what));
        if let Some((dir, what)) = &resume {
            checkpoint::is_of(dir, what, plan.options.update).map_err(|why| Error::Input(format!("error: {why}")))?;
        }
        let count = NonZeroUsize::new(args.workers.unwrap_or(1).into()).unwrap_or(NonZeroUsize::MIN);
        plan.workers = Some(Workers { count, checkpoint: kept, resume });
        Ok(())
    }
}
