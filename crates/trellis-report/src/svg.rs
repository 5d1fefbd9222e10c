//! Models and runs as pictures that any browser shows: SVG with nothing outside it. Where things stand is for [`layout`](crate::layout) to say.

use std::fmt::Write;

use crate::chart::chart;
use crate::layout::{Layout, RADIUS, centred, layout};
use crate::present::{Drawing, DrawnNode, NodeShape, Present, lit};
use crate::property::PropertyReport;
use crate::run::Values;
use crate::timeline::timeline;
use crate::words::{escape, one_line, short};

/// The head of a picture of this size.
fn head(width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<style>{}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        include_str!("picture.css")
    )
}

/// A model, with the boxes lit that a state lights; or why it cannot be drawn.
pub fn drawing(drawing: &Drawing, state: Option<&Values>) -> Result<String, String> {
    let at = layout(drawing)?;
    let lit = state.map(|s| lit(drawing, s)).unwrap_or_default();
    let mut out = head(at.size.0, at.size.1);
    out.push_str(
        "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">\
         <path d=\"M0,0 L8,4 L0,8 z\" fill=\"context-stroke\"/></marker></defs>\n",
    );
    // Frames first: what is within them is drawn upon them.
    for (n, node) in drawing.nodes.iter().enumerate() {
        let by = lit.iter().find(|(m, _)| *m == n).map(|(_, by)| &by[..]);
        shape(node, n, &at, by, &mut out);
    }
    for (e, edge) in drawing.edges.iter().enumerate().filter(|(e, _)| at.arrows[*e].len() > 1) {
        let color = edge.color.as_ref().map_or(String::new(), |c| format!(" style=\"stroke:{c}\""));
        // An arrow that somebody has drawn has corners; one that was laid out is a curve.
        let placed = drawing.nodes[edge.from].at.is_some();
        let _ = writeln!(out, "<path class=\"arrow\"{color} d=\"{}\"/>", line(&at.arrows[e], !placed));
    }
    let class = |n: &DrawnNode| match n.shape {
        NodeShape::Frame => " class=\"title\"",
        _ if centred(n) => " class=\"centred\"",
        _ => "",
    };
    let texts = drawing.nodes.iter().zip(&at.texts).map(|(n, at)| (&n.lines, at, class(n)));
    let labels = drawing.edges.iter().zip(&at.labels).map(|(e, at)| (&e.lines, at, ""));
    for (lines, at, class) in texts.chain(labels) {
        for (text, (x, y)) in lines.iter().zip(at) {
            let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\"{class}>{}</text>", escape(text));
        }
    }
    out.push_str("</svg>\n");
    Ok(out)
}

/// A line through points: straight, or smooth (the splines of Catmull and Rom).
fn line(points: &[(f64, f64)], smooth: bool) -> String {
    let mut out = format!("M{:.1} {:.1}", points[0].0, points[0].1);
    for (i, pair) in points.windows(2).enumerate() {
        let (a, b) = (pair[0], pair[1]);
        if smooth {
            let (before, after) = (points[i.saturating_sub(1)], points[(i + 2).min(points.len() - 1)]);
            let first = (a.0 + (b.0 - before.0) / 6.0, a.1 + (b.1 - before.1) / 6.0);
            let second = (b.0 - (after.0 - a.0) / 6.0, b.1 - (after.1 - a.1) / 6.0);
            let _ = write!(out, "C{:.1} {:.1} {:.1} {:.1} ", first.0, first.1, second.0, second.1);
        } else {
            out.push('L');
        }
        let _ = write!(out, "{:.1} {:.1}", b.0, b.1);
    }
    out
}

fn shape(node: &DrawnNode, n: usize, at: &Layout, by: Option<&[&str]>, out: &mut String) {
    let (r, (x, y)) = (at.boxes[n], at.boxes[n].middle());
    let lit = if by.is_some() { " lit" } else { "" };
    let who = by.map_or(String::new(), |by| format!("<title>{}</title>", escape(&by.join(", "))));
    let color = node.color.as_ref().map_or(String::new(), |c| format!(" style=\"fill:{c}\""));
    let class = match node.shape {
        NodeShape::Frame => "frame",
        NodeShape::Bar => "bar",
        NodeShape::Start => "start",
        NodeShape::Initial => "initial",
        NodeShape::Committed => "committed",
        NodeShape::Urgent => "urgent",
        NodeShape::Error => "error",
        NodeShape::Final => "final",
        NodeShape::Plain => "place",
    };
    if node.shape == NodeShape::Start {
        if r.w > 0.0 {
            let _ = writeln!(out, "<circle class=\"start\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"/>");
        }
        return;
    }
    if node.at.is_none() {
        let round = if matches!(node.shape, NodeShape::Bar) { 0 } else { 8 };
        let _ = writeln!(
            out,
            "<rect class=\"{class}{lit}\"{color} x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{round}\">{who}</rect>",
            r.x, r.y, r.w, r.h
        );
        if matches!(node.shape, NodeShape::Final | NodeShape::Initial | NodeShape::Committed) {
            let (w, h) = (r.w - 5.0, r.h - 5.0);
            let (left, top) = (r.x + 2.5, r.y + 2.5);
            let _ = writeln!(
                out,
                "<rect class=\"inner\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{w:.1}\" height=\"{h:.1}\" rx=\"6\"/>"
            );
        }
        return;
    }
    let _ = writeln!(
        out,
        "<circle class=\"{class}{lit}\"{color} cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{RADIUS}\">{who}</circle>"
    );
    if at.initial[n] {
        let _ = writeln!(out, "<circle class=\"inner\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{:.0}\"/>", RADIUS - 3.5);
    }
    let letter = match node.shape {
        NodeShape::Committed => "C",
        NodeShape::Urgent => "U",
        _ => "",
    };
    if !letter.is_empty() {
        let _ = writeln!(out, "<text class=\"letter\" x=\"{x:.1}\" y=\"{:.1}\">{letter}</text>", y + 4.0);
    }
}

/// The run of a report: where its parts are over time, if time passes, and who acts on whom. Nothing if there is none, or too much to draw.
pub fn report<P: Present + ?Sized, C>(r: &PropertyReport<P::Trace, C>, p: &P) -> Option<String> {
    let trace = r.trace.as_ref()?;
    let time = timeline(&p.shown(trace).run);
    let chart = p.lanes(trace).and_then(|lanes| chart(&lanes)).map(|c| c.svg());
    let pictures: Vec<String> = time.into_iter().chain(chart).collect();
    if pictures.is_empty() {
        return None;
    }
    let said = format!("{}: {} {}", r.model, r.outcome.word(), one_line(&r.query));
    let (mut body, mut width, mut below) = (String::new(), crate::layout::width(&said).min(1000.0) + 40.0, 40.0);
    for svg in &pictures {
        let (w, h) = size(svg)?;
        // One within another: it stands somewhere, and has a size.
        let inner = svg.replacen("<svg ", &format!("<svg x=\"0\" y=\"{below:.0}\" "), 1);
        let inner = match inner.contains("width=\"") && svg.starts_with("<svg xmlns") {
            true => inner,
            false => inner.replacen("<svg ", &format!("<svg width=\"{w:.0}\" height=\"{h:.0}\" "), 1),
        };
        body.push_str(&inner);
        (width, below) = (width.max(w), below + h + 10.0);
    }
    let title = escape(&short(&said, 140));
    Some(format!("{}<text class=\"title\" x=\"20\" y=\"24\">{title}</text>\n{body}</svg>\n", head(width, below)))
}

/// The width and height of a picture, from its `viewBox`.
fn size(svg: &str) -> Option<(f64, f64)> {
    let mut numbers = svg.split("viewBox=\"").nth(1)?.split('"').next()?.split(' ').skip(2).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}
