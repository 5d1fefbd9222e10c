//! A cactus plot as SVG: for each tool its tasks, quickest first; how long the n-th takes.

use std::fmt::Write;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 60.0;
const BOTTOM: f64 = 50.0;
const TOP: f64 = 40.0;
const COLORS: [&str; 4] = ["#0b6e4f", "#c1440e", "#3a5ba0", "#7d4e9e"];

/// The least time that is told apart.
const LEAST: f64 = 0.01;

/// Draws times, one line for each name; time is logarithmic.
pub fn cactus(title: &str, lines: &[(&str, Vec<f64>)]) -> String {
    let count = lines.iter().map(|(_, times)| times.len()).max().unwrap_or(0).max(1);
    let most = lines.iter().flat_map(|(_, times)| times).fold(1.0_f64, |a, &b| a.max(b));
    let decades = (most / LEAST).log10().ceil().max(1.0);
    let x = |n: usize| LEFT + (WIDTH - LEFT - 20.0) * n as f64 / count as f64;
    let y = |t: f64| {
        let part = (t.max(LEAST) / LEAST).log10() / decades;
        HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * part
    };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"{LEFT}\" y=\"22\" font-size=\"15\">{title}</text>\n"
    );
    for d in 0..=decades as i32 {
        let at = y(LEAST * 10f64.powi(d));
        let label = LEAST * 10f64.powi(d);
        _ = write!(
            out,
            "<line x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{:.1}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label} s</text>\n",
            WIDTH - 20.0,
            LEFT - 6.0,
            at + 4.0
        );
    }
    let every = [1, 2, 5, 10, 20, 50, 100, 200, 500].into_iter().find(|n| count / n <= 10).unwrap_or(1000);
    for n in (0..=count).step_by(every) {
        let at = x(n);
        let foot = HEIGHT - BOTTOM + 16.0;
        _ = writeln!(out, "<text x=\"{at:.1}\" y=\"{foot:.1}\" text-anchor=\"middle\">{n}</text>");
    }
    let (middle, foot) = (WIDTH / 2.0, HEIGHT - 12.0);
    _ = writeln!(out, "<text x=\"{middle}\" y=\"{foot}\" text-anchor=\"middle\">tasks decided</text>");
    for (i, (name, times)) in lines.iter().enumerate() {
        let color = COLORS[i % COLORS.len()];
        let mut times = times.clone();
        times.sort_by(f64::total_cmp);
        let points: Vec<String> =
            times.iter().enumerate().map(|(n, &t)| format!("{:.1},{:.1}", x(n + 1), y(t))).collect();
        let points = points.join(" ");
        let (from, to, at) = (LEFT + 12.0, LEFT + 34.0, TOP + 14.0 + 18.0 * i as f64);
        let (label, below) = (LEFT + 40.0, at + 4.0);
        _ = write!(
            out,
            "<polyline fill=\"none\" stroke=\"{color}\" stroke-width=\"2\" points=\"{points}\"/>\n\
             <line x1=\"{from}\" y1=\"{at}\" x2=\"{to}\" y2=\"{at}\" stroke=\"{color}\" stroke-width=\"2\"/>\n\
             <text x=\"{label}\" y=\"{below}\">{name}: {}</text>\n",
            times.len()
        );
    }
    out.push_str("</svg>\n");
    out
}
