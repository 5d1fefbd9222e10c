//! Runs as Value Change Dumps (IEEE 1364), for waveform viewers: every value is a signal. Truth values are wires, integers are vectors of 64 bits,
//! everything else is a string, as GTKWave reads it. Time is exact: the time scale is such that every moment is a whole number. Where time does not
//! count, each step takes one unit.

use std::io;

use serde_json::Value;
use trellis_domain::zone::Rational;

use crate::run::{Run, Values, shown};
use crate::text::number_of;

/// A short identifier of printable characters.
fn identifier(mut n: usize) -> String {
    let mut out = String::new();
    loop {
        out.push(char::from(b'!' + (n % 94) as u8));
        n /= 94;
        if n == 0 {
            return out;
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Sort {
    Bit,
    Integer,
    Text,
}

fn change(sort: Sort, id: &str, value: &Value, out: &mut dyn io::Write) -> io::Result<()> {
    match (sort, value) {
        (Sort::Bit, Value::Bool(b)) => writeln!(out, "{}{id}", u8::from(*b)),
        (Sort::Integer, v) => writeln!(out, "b{:b} {id}", v.as_i64().unwrap_or(0)),
        (_, v) => {
            let text: String = shown(v).chars().map(|c| if c.is_whitespace() { '_' } else { c }).collect();
            writeln!(out, "s{} {id}", if text.is_empty() { "-" } else { &text })
        }
    }
}

/// Writes a run.
pub fn write_vcd(run: &Run, mut out: impl io::Write) -> io::Result<()> {
    let timed = run.steps.iter().any(|s| s.delay.is_some()) || run.rest.is_some();
    let delay = |d: &Option<String>| if timed { number_of(d.as_deref()) } else { Rational::new(1, 1) };
    // All moments are whole numbers of this part of a unit.
    let delays: Vec<Rational> =
        run.steps.iter().map(|s| delay(&s.delay)).chain([number_of(run.rest.as_deref())]).collect();
    let parts =
        delays.iter().map(|d| i128::from(d.denominator())).try_fold(1_i128, |a, b| a.checked_mul(b / gcd(a, b)));
    let parts =
        parts.ok_or_else(|| io::Error::other("the delays of the run have no common measure that is small enough"))?;
    let mut start: Values = run.start.clone();
    for (name, _) in run.steps.iter().flat_map(|s| &s.set) {
        start.entry(name.clone()).or_insert(0.into());
    }
    let sort = |name: &str| {
        let all = || run.steps.iter().filter_map(|s| s.set.get(name)).chain(start.get(name));
        match () {
            () if all().all(Value::is_boolean) => Sort::Bit,
            () if all().all(|v| v.as_i64().is_some()) => Sort::Integer,
            () => Sort::Text,
        }
    };
    let signals: Vec<(String, Sort)> = start.keys().enumerate().map(|(i, n)| (identifier(i), sort(n))).collect();
    writeln!(
        out,
        "$comment one time unit of the model is {parts} here $end\n$timescale 1 us $end\n$scope module run $end"
    )?;
    for (name, (id, sort)) in start.keys().zip(&signals) {
        let (kind, width) = match sort {
            Sort::Bit => ("wire", 1),
            Sort::Integer => ("integer", 64),
            Sort::Text => ("string", 1),
        };
        let plain: String = name.chars().map(|c| if c.is_whitespace() { '_' } else { c }).collect();
        writeln!(out, "$var {kind} {width} {id} {} $end", if plain.is_empty() { "_" } else { &plain })?;
    }
    let label = identifier(signals.len());
    writeln!(out, "$var string 1 {label} step $end\n$upscope $end\n$enddefinitions $end\n#0\n$dumpvars")?;
    for (value, (id, sort)) in start.values().zip(&signals) {
        change(*sort, id, value, &mut out)?;
    }
    change(Sort::Text, &label, &"start".into(), &mut out)?;
    writeln!(out, "$end")?;
    let ticks = |d: Rational| i128::from(d.numerator()) * (parts / i128::from(d.denominator()));
    let (mut now, mut said) = (0, 0);
    for (step, d) in run.steps.iter().zip(&delays) {
        now += ticks(*d);
        if now != said {
            writeln!(out, "#{now}")?;
            said = now;
        }
        for (name, value) in &step.set {
            if let Some(at) = start.get_index_of(name) {
                let (id, sort) = &signals[at];
                change(*sort, id, value, &mut out)?;
            }
        }
        change(Sort::Text, &label, &step.label.as_str().into(), &mut out)?;
    }
    let end = now + delays.last().map_or(0, |d| ticks(*d));
    writeln!(out, "#{}", if end == said { end + 1 } else { end })
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
