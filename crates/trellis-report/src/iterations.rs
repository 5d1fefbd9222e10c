//! What an abstraction went through while it was refined (001 Fig. 6.4–6.10): a table, a file for a spreadsheet, and a plot.

use std::fmt::Write;

/// One round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Row {
    /// Abstract states.
    pub states: u64,
    /// Abstract transitions.
    pub transitions: u64,
    /// Length of the abstract counterexample, in states.
    pub path: u64,
    /// States known to be reachable, and known to reach what is bad.
    pub certified: (u64, u64),
    /// Images computed to look at the counterexample.
    pub analysis: u64,
    /// Images computed to redistribute transitions.
    pub distribution: u64,
}

const HEADS: [&str; 8] =
    ["iteration", "states", "transitions", "path", "reachable", "coreachable", "analysis", "distribution"];

fn cells(n: usize, r: &Row) -> [u64; 8] {
    let (reachable, coreachable) = r.certified;
    [n as u64 + 1, r.states, r.transitions, r.path, reachable, coreachable, r.analysis, r.distribution]
}

/// Columns that line up; some rounds before those of the table are not shown.
pub fn table(rows: &[Row], before: usize) -> String {
    let mut out = String::new();
    let head: Vec<String> = HEADS.iter().map(|h| format!("{h:>13}")).collect();
    let _ = writeln!(out, "{}", head.concat());
    for (n, r) in rows.iter().enumerate() {
        let line: Vec<String> = cells(before + n, r).iter().map(|c| format!("{c:>13}")).collect();
        let _ = writeln!(out, "{}", line.concat());
    }
    out
}

/// Comma-separated values.
pub fn csv(rows: &[Row]) -> String {
    let mut out = format!("{}\n", HEADS.join(","));
    for (n, r) in rows.iter().enumerate() {
        let _ = writeln!(out, "{}", cells(n, r).map(|c| c.to_string()).join(","));
    }
    out
}

/// Where one panel of a plot is drawn.
const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 180.0;
const LEFT: f64 = 60.0;
const TOP: f64 = 40.0;

/// Plots side by side, each with a line for each run: abstract states, transitions, length of counterexamples, certified states.
pub fn svg(title: &str, runs: &[(&str, &[Row])]) -> String {
    type Pick = fn(&Row) -> u64;
    let panels: [(&str, Pick); 4] = [
        ("abstract states", |r| r.states),
        ("abstract transitions", |r| r.transitions),
        ("length of the counterexample", |r| r.path),
        ("certified states", |r| r.certified.0 + r.certified.1),
    ];
    let (panel_width, panel_height) = (WIDTH + LEFT + 20.0, HEIGHT + TOP + 40.0);
    let (width, height) = (2.0 * panel_width, 2.0 * panel_height + 40.0);
    let escaped = title.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"20\" y=\"24\" font-size=\"15\">{escaped}</text>\n"
    );
    let colors = ["#1f6fb4", "#d1491f", "#3a8f3a", "#7a4fa3"];
    for (n, (name, pick)) in panels.iter().enumerate() {
        let (x, y) = ((n % 2) as f64 * panel_width + LEFT, (n / 2) as f64 * panel_height + TOP + 30.0);
        let longest = runs.iter().map(|(_, rows)| rows.len()).max().unwrap_or(0).max(2);
        let most = runs.iter().flat_map(|(_, rows)| rows.iter()).map(pick).max().unwrap_or(0).max(1);
        let _ = writeln!(out, "<text x=\"{x}\" y=\"{}\">{name}</text>", y - 8.0);
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"none\" stroke=\"#999\"/>"
        );
        let right = x - 6.0;
        let _ = writeln!(out, "<text x=\"{right}\" y=\"{}\" text-anchor=\"end\">{most}</text>", y + 10.0);
        let _ = writeln!(out, "<text x=\"{right}\" y=\"{}\" text-anchor=\"end\">0</text>", y + HEIGHT);
        let below = y + HEIGHT + 16.0;
        let _ = writeln!(out, "<text x=\"{x}\" y=\"{below}\">1</text>");
        let _ =
            writeln!(out, "<text x=\"{}\" y=\"{below}\" text-anchor=\"end\">{longest} iterations</text>", x + WIDTH);
        for (run, (_, rows)) in runs.iter().enumerate() {
            let point = |(at, row): (usize, &Row)| {
                let across = x + WIDTH * at as f64 / (longest - 1) as f64;
                format!("{across:.1},{:.1}", y + HEIGHT * (1.0 - pick(row) as f64 / most as f64))
            };
            let points: Vec<String> = rows.iter().enumerate().map(point).collect();
            let color = colors[run % colors.len()];
            let _ = writeln!(out, "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\"/>", points.join(" "));
        }
    }
    for (run, (name, _)) in runs.iter().enumerate() {
        let (x, y) = (LEFT + 120.0 * run as f64, height - 12.0);
        let color = colors[run % colors.len()];
        let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\" fill=\"{color}\">— {name}</text>");
    }
    out.push_str("</svg>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_have_all_rows() {
        let row = |n| Row { states: n, transitions: 2 * n, path: 3, certified: (1, n), analysis: 4, distribution: 5 };
        let rows: Vec<Row> = (1..=3).map(row).collect();
        assert_eq!(table(&rows, 0).lines().count(), 4);
        assert!(table(&rows[1..], 1).lines().last().is_some_and(|l| l.trim_start().starts_with('3')));
        assert_eq!(csv(&rows).lines().last(), Some("3,3,6,3,1,3,4,5"));
        let plot = svg("a < b", &[("Cegar", &rows), ("PCegar", &rows[..1])]);
        assert!(plot.contains("a &lt; b") && plot.matches("<polyline").count() == 8 && plot.ends_with("</svg>\n"));
    }
}
