//! The front end, checked a second time: random programs, run by an evaluator that walks the syntax tree ([`walk`]) and
//! by the network built from them.
//!
//! Each program is printed twice: with all parentheses for the evaluator, and with only those that UPPAAL's precedence
//! needs for the network. So a slip in the parser's precedence shows too.

mod programs;
mod walk;

use trellis_model::network::interpret::Interpreter;
use trellis_model::network::{Network, Post};
use trellis_syntax::diag::{SourceId, Sources, render};
use trellis_syntax::uppaal::parse_xta;

use crate::load::load;
use crate::oracle::Oracle;
use crate::random::for_seeds;
use crate::steps::compare_steps;
use programs::{Program, generate};
use walk::{Outcome, run};

/// What the network does in its first step.
fn by_network(net: &Network) -> Result<Outcome, String> {
    let interpreter = Interpreter::new(net);
    let initial = interpreter.initial().map_err(|e| e.to_string())?;
    let steps = match interpreter.steps(&initial) {
        Ok(steps) => steps,
        Err(e) => return Ok(Outcome::Fault(e.to_string())),
    };
    match &steps[..] {
        [] => Ok(Outcome::Blocked),
        [(_, next)] => {
            let mut data = next.data.iter();
            let cells = |v: &trellis_model::network::DataVar| {
                (v.name.clone(), data.by_ref().take(v.init.len()).map(|&n| i128::from(n)).collect())
            };
            Ok(Outcome::Done(net.vars.iter().map(cells).collect()))
        }
        more => Err(format!("{} steps where one is possible", more.len())),
    }
}

/// Mistakes that the front end finds in constants before anything runs.
fn refused(errors: &str) -> bool {
    ["division by zero", "is outside the array"].iter().any(|e| errors.contains(e))
}

#[derive(Default, Debug)]
struct Count {
    done: usize,
    blocked: usize,
    faults: usize,
    refused: usize,
}

fn check(p: &Program, count: &mut Count) -> Result<(), String> {
    let net = match load(&p.minimal, "") {
        Ok((net, _)) => net,
        Err(errors) if refused(&errors) => {
            count.refused += 1;
            return Ok(());
        }
        Err(errors) => return Err(errors),
    };
    let mut sources = Sources::default();
    let id: SourceId = sources.add("full.xta", p.full.clone());
    let (nta, errors) = parse_xta(id, &p.full);
    if !errors.is_empty() {
        return Err(render(&errors, &sources, false));
    }
    let walked = run(&nta)?;
    let built = by_network(&net)?;
    match (&walked, &built) {
        (Outcome::Fault(_), Outcome::Fault(_)) => count.faults += 1,
        (Outcome::Blocked, Outcome::Blocked) => count.blocked += 1,
        // An edge whose guard is plainly false is not built at all, whatever happens on the way to the falsehood.
        (Outcome::Fault(_), Outcome::Blocked) if net.processes[0].edges.is_empty() => count.blocked += 1,
        (Outcome::Done(a), Outcome::Done(b)) => {
            if a != b {
                let differ = a.iter().filter(|(name, cells)| b.get(*name) != Some(cells));
                let differ: Vec<String> = differ.map(|(n, c)| format!("{n} = {c:?}, not {:?}", b.get(n))).collect();
                return Err(format!("the walk ends with {}", differ.join("; ")));
            }
            count.done += 1;
        }
        _ => return Err(format!("the walk: {walked}\nthe network: {built}")),
    }
    // And the fast code does the same.
    let Some(oracle) = Oracle::explore(&net, 10) else { return Err("more than two states".into()) };
    let initial = oracle.interpreter.initial().map_err(|e| e.to_string())?;
    compare_steps(&mut Post::new(&net), &oracle, &initial)
}

fn agree(first: u64, programs: u64) {
    let mut count = Count::default();
    for_seeds(
        first,
        programs,
        |seed| {
            let p = generate(seed);
            format!("{}\n// with all parentheses:\n{}", p.minimal, p.full)
        },
        |seed| check(&generate(seed), &mut count),
    );
    println!("{programs} programs from {first}: {count:?}");
    if std::env::var("TRELLIS_SEED").is_err() {
        assert!(count.done * 4 > programs as usize, "too few programs run to their end: {count:?}");
    }
}

#[test]
fn networks_do_what_programs_say_1() {
    agree(0, 2000);
}

#[test]
fn networks_do_what_programs_say_2() {
    agree(100_000, 2000);
}
