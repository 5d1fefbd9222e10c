//! A timed run as a picture: time runs to the right, each process is a row of coloured bars, one for each stay in a
//! location. Vertical lines join the processes that move together.
//!
//! The picture is inline SVG for the HTML page and has no text that the page does not have elsewhere, so it may leave out
//! labels that do not fit. Positions are floating-point numbers: nothing is decided by them.

use std::fmt::Write;

use trellis_domain::zone::Rational;
use trellis_model::network::Trace;

use crate::html::escape;
use crate::tell::Renderer;
use crate::time::{approximate, exact, plus};

/// Longer runs, and those of more processes, are not drawn: nobody would see anything.
const MAX_STEPS: usize = 400;
const MAX_ROWS: usize = 60;
/// In pixels.
const WIDTH: f64 = 1000.0;
const ROW: f64 = 26.0;
const BAR: f64 = 18.0;
const CHARACTER: f64 = 6.5;

/// A picture of a run.
pub(crate) struct Timeline {
    /// An `svg` element with a line of class `cursor`.
    pub svg: String,
    /// How far each state is from the start of the axis, for moving the cursor.
    pub at: Vec<f64>,
}

/// The picture; nothing if no time passes, or too much happens.
pub(crate) fn timeline(teller: &Renderer<'_>, trace: &Trace) -> Option<Timeline> {
    let rows = &teller.names.processes;
    let mut moments = vec![Rational::ZERO];
    for step in &trace.steps {
        moments.push(plus(*moments.last()?, step.delay)?);
    }
    let total = plus(*moments.last()?, trace.rest)?;
    if total <= Rational::ZERO || trace.steps.len() > MAX_STEPS || rows.len() > MAX_ROWS {
        return None;
    }
    let longest = rows.iter().map(|name| name.chars().count().min(24)).max().unwrap_or(0);
    let left = 16.0 + longest as f64 * CHARACTER;
    let scale = (WIDTH - left - 24.0) / approximate(total);
    let x = |t: Rational| approximate(t) * scale;
    let at: Vec<f64> = moments.iter().map(|t| x(*t)).collect();
    let height = ROW * rows.len() as f64;
    let mut out = format!("<svg class=\"time\" viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\">\n", height + 30.0);
    let _ = writeln!(out, "<title>Where each process is over time</title><g transform=\"translate({left:.1})\">");
    axis(approximate(total), scale, height, &mut out);
    for (p, name) in rows.iter().enumerate() {
        let short: String = name.chars().take(24).collect();
        let _ = writeln!(out, "<text x=\"-8\" y=\"{:.0}\" class=\"name\">{}</text>", middle(p) + 4.0, escape(&short));
        let place = |n: usize| if n == 0 { &trace.initial } else { &trace.steps[n - 1].state }.locations[p];
        let mut since = 0;
        for n in 1..=trace.steps.len() + 1 {
            // A loop back into the same location starts a new stay, too.
            let moves = |n: usize| trace.steps[n - 1].action.0.iter().any(|e| e.process as usize == p);
            if n <= trace.steps.len() && !moves(n) && place(n) == place(since) {
                continue;
            }
            let until = moments.get(n).copied().unwrap_or(total);
            let stay = Stay { location: place(since), from: moments[since], to: until };
            bar(teller, p, &stay, &x, &mut out);
            since = n;
        }
    }
    for (n, step) in trace.steps.iter().enumerate() {
        let who = || step.action.0.iter().map(|e| middle(e.process as usize));
        let (top, bottom) = (who().fold(f64::INFINITY, f64::min), who().fold(0.0, f64::max));
        if top < bottom {
            let _ = writeln!(out, "<path class=\"sync\" d=\"M{:.1} {top}V{bottom}\"/>", at[n + 1]);
        }
        for y in who() {
            let _ = writeln!(out, "<circle cx=\"{:.1}\" cy=\"{y}\" r=\"2.5\"/>", at[n + 1]);
        }
    }
    let _ = writeln!(out, "<path class=\"cursor\" d=\"M0 0V{height}\"/></g></svg>");
    Some(Timeline { svg: out, at })
}

fn middle(row: usize) -> f64 {
    ROW * (row as f64 + 0.5)
}

/// How long a process is in a location.
struct Stay {
    location: u32,
    from: Rational,
    to: Rational,
}

fn bar(teller: &Renderer<'_>, p: usize, stay: &Stay, x: &dyn Fn(Rational) -> f64, out: &mut String) {
    let name = &teller.names.locations[p][stay.location as usize];
    // A stay of no length is visible all the same.
    let (from, width) = (x(stay.from), (x(stay.to) - x(stay.from)).max(1.5));
    // Hues that are far apart for neighbouring numbers.
    let hue = u64::from(stay.location) * 137 % 360;
    let _ = writeln!(
        out,
        "<rect x=\"{from:.1}\" y=\"{:.0}\" width=\"{width:.1}\" height=\"{BAR}\" fill=\"hsl({hue} 65% 55% / .4)\">\
         <title>{}: {} to {}</title></rect>",
        middle(p) - BAR / 2.0,
        escape(name),
        exact(stay.from),
        exact(stay.to),
    );
    if name.chars().count() as f64 * CHARACTER + 6.0 < width {
        let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{:.0}\">{}</text>", from + 4.0, middle(p) + 4.0, escape(name));
    }
}

/// A line below, with marks at round numbers.
fn axis(total: f64, scale: f64, height: f64, out: &mut String) {
    let _ = writeln!(out, "<path class=\"axis\" d=\"M0 {height}H{:.1}\"/>", total * scale);
    let magnitude = 10f64.powf((total / 8.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|f| f * magnitude).into_iter().find(|s| total / s <= 10.0);
    let Some(step) = step.filter(|s| s.is_finite() && *s > 0.0) else { return };
    // As many as the step has; what is only just below a power of ten is one.
    let digits = (-(step.log10() + 1e-9).floor()).max(0.0) as usize;
    for i in 0..=(total / step) as usize {
        let (t, y) = (i as f64 * step, height + 18.0);
        let _ = writeln!(
            out,
            "<path class=\"axis\" d=\"M{0:.1} {height}v5\"/><text x=\"{0:.1}\" y=\"{y}\" class=\"tick\">{t:.digits$}</text>",
            t * scale
        );
    }
}
