//! 000 Fig. 4, 5 and 6 beside ours. Times are shown as ratios to the paper's own.

use std::time::Instant;

use trellis_engine::network::{ExprStrategy, answer};
use trellis_engine::reach::{Options, Refine, Strategy, Update};
use trellis_engine::waitlist::Order;
use trellis_meter::Meter;
use trellis_model::evidence::{Reason, Verdict};
use trellis_syntax::diag::Sources;
use trellis_syntax::uppaal::{self, build};

use crate::cli::Bench;
use trellis::Error;
use trellis::formalism::network::monotone::{Basis, basis};

const PAPER: &str = include_str!("../../../../bench/lattice/paper.tsv");
const MODELS: [(&str, &str, &str); 3] = [
    ("leader", include_str!("../../../../models/lattice/leader.xml"), "N"),
    ("database-work", include_str!("../../../../models/lattice/database-work.xml"), "N_USERS"),
    ("database-full", include_str!("../../../../models/lattice/database-full.xml"), "N_USERS"),
];
const REFINED: &str = "x.aLogin.num0s() + y.aLogin.num0s() < N_USERS";

/// One row of a figure.
struct Row<'t> {
    figure: &'t str,
    model: &'t str,
    n: i64,
    config: &'t str,
    counter: &'t str,
    count: u64,
    seconds: Option<f64>,
}

fn rows(text: &str) -> Result<Vec<Row<'_>>, Error> {
    let broken = |line: &str| Error::Internal(format!("a broken row in the table of the paper: {line}"));
    text.lines()
        .filter(|l| !l.starts_with('#') && !l.is_empty())
        .map(|line| {
            let f: Vec<&str> = line.split('\t').collect();
            let [figure, model, n, config, counter, count, seconds] = f[..] else { return Err(broken(line)) };
            Ok(Row {
                figure,
                model,
                n: n.parse().map_err(|_| broken(line))?,
                config,
                counter,
                count: count.parse().map_err(|_| broken(line))?,
                seconds: seconds.parse().ok(),
            })
        })
        .collect()
}

/// What one run gave.
struct Run {
    verdict: &'static str,
    added: u64,
    stored: u64,
    seconds: f64,
}

fn run(row: &Row<'_>) -> Result<Run, Error> {
    let (_, text, size) = MODELS
        .iter()
        .find(|m| m.0 == row.model)
        .ok_or_else(|| Error::Internal(format!("no bundled model {}", row.model)))?;
    let mut sources = Sources::default();
    let id = sources.add(row.model, *text);
    let (nta, _) = uppaal::parse_xml(id, text);
    let mut questions = build::Questions { embedded: true, ..Default::default() };
    if row.config == "join-refined" {
        let id = sources.add("strategy", REFINED);
        questions.strategy = uppaal::parse_expr(id, REFINED).0;
    }
    let options = build::Options { constants: vec![(size.to_string(), row.n)], ..Default::default() };
    let start = Instant::now();
    let built = build::build(&nta, &questions, &sources, &options)
        .map_err(|_| Error::Internal(format!("the bundled model {} does not build", row.model)))?;
    let update = match row.config {
        "simple" => Update::Simple,
        "cover" => Update::Cover,
        _ => Update::Join,
    };
    let options = Options { update, order: Order::Bfs, refine: Refine::Never };
    let mut strategy = built.strategy.map(|s| ExprStrategy::new(&built.network, s.condition, s.uses_joined));
    let strategy = strategy.as_mut().map(|s| s as &mut dyn Strategy<_>);
    let query = &built.queries[0];
    let a = answer(&built.network, query, options, strategy, None, &mut Meter::unlimited())
        .map_err(|b| Error::Internal(b.error.to_string()))?;
    let seconds = start.elapsed().as_secs_f64();
    let verdict = match a.verdict {
        // The login guard of database-full is antitone: there, joining is right only if somebody says so.
        Verdict::Safe(c) if c.up_to_order && !matches!(basis(&built.network, query, false), Basis::Proved) => {
            "SAFE, assumed"
        }
        Verdict::Safe(_) => "SAFE",
        Verdict::Unsafe(_) => "UNSAFE",
        Verdict::Unknown(Reason::InconclusiveJoin) => "inconclusive",
        Verdict::Unknown(_) => "UNKNOWN",
    };
    Ok(Run { verdict, added: a.stats.added, stored: a.stats.stored, seconds })
}

/// Prints the table; answers whether every count agrees.
pub fn bench(args: &Bench) -> Result<bool, Error> {
    let rows = rows(PAPER)?;
    let mut agree = !rows.is_empty();
    let mut figure = "";
    for row in rows {
        if args.quick && row.count > 20_000 {
            continue;
        }
        if row.figure != figure {
            figure = row.figure;
            println!("\n000 Fig. {figure}");
            println!(
                "{:<14} {:>4}  {:<13} {:<13} {:>9} {:>9} {:>9}   {:>8} {:>10} {:>9}",
                "model", "N", "update", "verdict", "paper", "added", "stored", "paper s", "ours s", "quicker"
            );
        }
        let r = run(&row)?;
        let ours = if row.counter == "added" { r.added } else { r.stored };
        agree &= ours == row.count;
        println!(
            "{:<14} {:>4}  {:<13} {:<13} {:>9} {:>9} {:>9} {} {:>8} {:>10.4} {:>9}",
            row.model,
            row.n,
            row.config,
            r.verdict,
            row.count,
            r.added,
            r.stored,
            if ours == row.count { "=" } else { "≠" },
            row.seconds.map_or("-".into(), |s| if s <= 1.0 { "<1".into() } else { format!("{s}") }),
            r.seconds,
            row.seconds.filter(|&s| s > 1.0).map_or("-".into(), |s| format!("{:.0}×", s / r.seconds)),
        );
    }
    println!(
        "\nThe paper's figures mix two counters; \"=\" compares with the one it means (see bench/lattice/paper.tsv)."
    );
    println!("{}", if agree { "Every count agrees." } else { "Some counts do NOT agree." });
    Ok(agree)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_table_is_there() {
        let Ok(rows) = rows(PAPER) else { panic!("a broken table") };
        assert_eq!(rows.len(), 47);
    }
}
