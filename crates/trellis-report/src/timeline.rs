//! A timed run as a picture: time runs to the right, each part is a row of coloured bars, one for each stay in a
//! place. Vertical lines join the parts that move together.
//!
//! The picture is inline SVG for the HTML page and has no text that the page does not have elsewhere, so it may leave out
//! labels that do not fit. Positions are floating-point numbers: nothing is decided by them.

use std::fmt::Write;

use trellis_domain::zone::Rational;

use crate::run::{Run, shown};
use crate::text::number_of;
use crate::time::{approximate, exact, plus};
use crate::words::escape;

/// Longer runs, and those of more parts, are not drawn: nobody would see anything.
const MAX_STEPS: usize = 400;
const MAX_ROWS: usize = 60;
/// In pixels.
const WIDTH: f64 = 1000.0;
const ROW: f64 = 26.0;
const BAR: f64 = 18.0;
const CHARACTER: f64 = 6.5;

/// The picture, an `svg` element; nothing if no time passes, or too much happens.
pub fn timeline(run: &Run) -> Option<String> {
    let rows: Vec<&String> = run.parts.iter().filter(|p| run.start.contains_key(*p)).collect();
    let mut moments = vec![Rational::ZERO];
    for step in &run.steps {
        moments.push(plus(*moments.last()?, number_of(step.delay.as_deref()))?);
    }
    let total = plus(*moments.last()?, number_of(run.rest.as_deref()))?;
    if total <= Rational::ZERO || run.steps.len() > MAX_STEPS || rows.len() > MAX_ROWS || rows.is_empty() {
        return None;
    }
    let longest = rows.iter().map(|name| name.chars().count().min(24)).max().unwrap_or(0);
    let left = 16.0 + longest as f64 * CHARACTER;
    let scale = (WIDTH - left - 24.0) / approximate(total);
    let x = |t: Rational| approximate(t) * scale;
    let at: Vec<f64> = moments.iter().map(|t| x(*t)).collect();
    let height = ROW * rows.len() as f64;
    let mut out = format!("<svg class=\"time\" viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\">\n", height + 30.0);
    let _ = writeln!(out, "<title>Where each part is over time</title><g transform=\"translate({left:.1})\">");
    axis(approximate(total), scale, height, &mut out);
    for (p, name) in rows.iter().enumerate() {
        let label: String = name.chars().take(24).collect();
        let _ = writeln!(out, "<text x=\"-8\" y=\"{:.0}\" class=\"name\">{}</text>", middle(p) + 4.0, escape(&label));
        let mut seen: Vec<String> = vec![];
        let mut here = run.start.get(*name).map(shown).unwrap_or_default();
        let mut since = 0;
        for n in 1..=run.steps.len() + 1 {
            let step = run.steps.get(n - 1);
            // A loop back into the same place starts a new stay, too.
            let next = step.and_then(|s| s.set.get(*name)).map(shown);
            if step.is_some_and(|s| next.is_none() && s.parts.iter().all(|part| part.name != **name)) {
                continue;
            }
            let place = seen.iter().position(|s| *s == here).unwrap_or_else(|| {
                seen.push(here.clone());
                seen.len() - 1
            });
            let until = moments.get(n).copied().unwrap_or(total);
            bar(p, &Stay { place, name: &here, from: moments[since], to: until }, &x, &mut out);
            (since, here) = (n, next.unwrap_or(here));
        }
    }
    for (n, step) in run.steps.iter().enumerate() {
        let row = |name: &String| rows.iter().position(|r| *r == name).map(middle);
        let who: Vec<f64> = step.parts.iter().filter_map(|p| row(&p.name)).collect();
        let (top, bottom) =
            (who.iter().copied().fold(f64::INFINITY, f64::min), who.iter().copied().fold(0.0, f64::max));
        if top < bottom {
            let _ = writeln!(out, "<path class=\"sync\" d=\"M{:.1} {top}V{bottom}\"/>", at[n + 1]);
        }
        for y in who {
            let _ = writeln!(out, "<circle cx=\"{:.1}\" cy=\"{y}\" r=\"2.5\"/>", at[n + 1]);
        }
    }
    out += "</g></svg>\n";
    Some(out)
}

fn middle(row: usize) -> f64 {
    ROW * (row as f64 + 0.5)
}

/// How long a part is in a place.
struct Stay<'a> {
    /// The number of the place, in the order in which the part comes to them.
    place: usize,
    name: &'a str,
    from: Rational,
    to: Rational,
}

fn bar(row: usize, stay: &Stay<'_>, x: &dyn Fn(Rational) -> f64, out: &mut String) {
    let name = stay.name;
    // A stay of no length is visible all the same.
    let (from, width) = (x(stay.from), (x(stay.to) - x(stay.from)).max(1.5));
    // Hues that are far apart for neighbouring numbers.
    let hue = stay.place * 137 % 360;
    let _ = writeln!(
        out,
        "<rect x=\"{from:.1}\" y=\"{:.0}\" width=\"{width:.1}\" height=\"{BAR}\" fill=\"hsl({hue} 65% 55% / .4)\">\
         <title>{}: {} to {}</title></rect>",
        middle(row) - BAR / 2.0,
        escape(name),
        exact(stay.from),
        exact(stay.to),
    );
    if name.chars().count() as f64 * CHARACTER + 6.0 < width {
        let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{:.0}\">{}</text>", from + 4.0, middle(row) + 4.0, escape(name));
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
