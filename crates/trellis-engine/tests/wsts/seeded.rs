//! Bugs on purpose ([`trellis_meter::seeded`]) in what the engines compute with: the checker refuses whatever became wrong by them.

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use trellis_engine::wsts::check;
use trellis_meter::{Meter, seeded};
use trellis_model::counter::evidence::Verdict;

use crate::generator::{Kind, Seen, engines, enumerate, runs, system};

#[test]
fn wrong_verdicts_are_refused() {
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let mut table = String::new();
    let (mut believed, mut noticed) = (0, 0);
    for &(bug, what) in seeded::ALL {
        let (mut answers, mut wrong, mut accepted, mut refused, mut panics) = (0, 0, 0, 0, 0);
        for seed in 0..runs(60) {
            let kind = Kind { transfers: seed % 2 == 0, upper_bounds: false };
            let system = system(40_000 + seed, kind);
            let truth = match enumerate(&system, 5) {
                Seen::Bad => true,
                Seen::Good => false,
                Seen::Small => continue,
            };
            for engine in engines(!kind.transfers) {
                let time = Some(std::time::Duration::from_secs(2));
                let mut meter = Meter::unlimited().states(Some(2000)).time(time);
                let work = || match check(&system, &engine, &mut meter).verdict {
                    Verdict::Safe(c) => Some((false, trellis_check::counter::certify(&system, &c).is_ok())),
                    Verdict::Unsafe(t) => Some((true, trellis_check::counter::replay(&system, &t).is_ok())),
                    Verdict::Unknown(_) => None,
                };
                match catch_unwind(AssertUnwindSafe(|| seeded::with(bug, work))) {
                    Err(_) => panics += 1,
                    Ok(None) => {}
                    Ok(Some((found, good))) => {
                        answers += 1;
                        wrong += usize::from(found != truth);
                        accepted += usize::from(found != truth && good);
                        refused += usize::from(found == truth && !good);
                    }
                }
            }
        }
        _ = writeln!(table, "| {bug:?} | {what} | {answers} | {wrong} | {} | {refused} | {panics} |", wrong - accepted);
        believed += accepted;
        noticed += usize::from(wrong > 0);
    }
    std::panic::set_hook(quiet);
    println!(
        "| bug | | answers | wrong | of these refused | right and refused | panics |\n|---|---|---|---|---|---|---|\n{table}"
    );
    assert!(believed == 0 && noticed >= 2, "{table}");
}
