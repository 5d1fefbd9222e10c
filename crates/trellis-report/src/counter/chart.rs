//! A run of a counter system as a message sequence chart: one lifeline per process, one row per step.
//!
//! A counter system only counts; here everybody gets a number of their own. What a rule takes away from one variable and adds to
//! another is a process that acts; whoever is moved because its variable is added to another one hears of it. Which of several
//! processes in the same state acts is a choice: the one that acted last, so that charts stay narrow; among those that a rule
//! could take, one from a variable that its guard asks for.

use std::fmt::Write;

use trellis_model::counter::evidence::Trace;
use trellis_model::counter::interpret::step;
use trellis_model::counter::{Rule, System, Var};

/// Larger charts are not drawn.
const MOST_PROCESSES: u64 = 60;
const MOST_STEPS: usize = 500;

/// What happens to a process in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// It acts, and is in this state then.
    Acts(Var),
    /// It acts, and is gone.
    Ends,
    /// It starts in this state.
    Starts(Var),
    /// It is moved to this state.
    Moved(Var),
    /// It is lost where a rule forgets what was there.
    Lost,
}

/// A step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What was done, in words.
    pub rule: String,
    /// Who is concerned, by number, in this order.
    pub events: Vec<(usize, Event)>,
}

/// A chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chart {
    /// For each process where it is at the start, if it is there.
    pub start: Vec<Option<Var>>,
    /// The steps.
    pub rows: Vec<Row>,
}

/// The chart of a run that has been replayed; nothing if there are too many processes or steps to draw.
pub fn chart(system: &System, trace: &Trace) -> Option<Chart> {
    let total = trace.initial.iter().try_fold(0_u64, |s, n| s.checked_add(*n))?;
    if total > MOST_PROCESSES || trace.rules.len() > MOST_STEPS {
        return None;
    }
    // For each variable who is in it; who acted last is last.
    let mut places: Vec<Vec<usize>> = vec![vec![]; system.names.len()];
    let mut start = vec![];
    for (v, n) in trace.initial.iter().enumerate() {
        for _ in 0..*n {
            places[v].push(start.len());
            start.push(Some(v as Var));
        }
    }
    let mut rows = vec![];
    let mut state = trace.initial.clone();
    for &id in &trace.rules {
        let rule = &system.rules[id as usize];
        let events = take(rule, &mut places, &mut start);
        state = step(system, id, &state).ok()??;
        debug_assert!(state.iter().zip(&places).all(|(n, p)| *n == p.len() as u64));
        let line = rule.line.map_or(String::new(), |l| format!("line {l}: "));
        rows.push(Row { rule: format!("{line}{}", system.describe(id)), events });
        if start.len() as u64 > MOST_PROCESSES {
            return None;
        }
    }
    Some(Chart { start, rows })
}

/// Takes a rule: who was where is where the rule leads then.
fn take(rule: &Rule, places: &mut [Vec<usize>], start: &mut Vec<Option<Var>>) -> Vec<(usize, Event)> {
    let before = places.to_vec();
    // Who flows into a variable, with where they come from; those of guarded variables last.
    let mut gone: Vec<usize> = vec![];
    let mut wanted: Vec<Var> = vec![];
    let mut settled: Vec<usize> = vec![];
    let mut after: Vec<(Var, Vec<usize>)> = vec![];
    let destination = |x: Var| {
        if rule.update(x).is_none_or(|u| u.sources.contains(&x)) {
            return Some(x);
        }
        rule.updates.iter().find(|(_, u)| u.sources.contains(&x)).map(|(y, _)| *y)
    };
    for (y, u) in &rule.updates {
        let mut sources = u.sources.clone();
        sources.sort_by_key(|x| (rule.guard(*x).low > 0, *x == *y, *x));
        let mut here: Vec<usize> = vec![];
        let mut copies = 0;
        for x in sources {
            if destination(x) == Some(*y) {
                here.extend(&before[x as usize]);
            } else {
                // A variable that is added in two places: there are new ones in the second.
                copies += before[x as usize].len() as i64;
            }
        }
        let mut change = u.constant + copies;
        while change < 0 {
            gone.extend(here.pop());
            change += 1;
        }
        wanted.extend((0..change).map(|_| *y));
        after.push((*y, here));
    }
    let mut events = vec![];
    // Whoever was taken away goes where something is added, or is gone.
    gone.reverse();
    for y in wanted {
        let who = gone.pop();
        let who = who.unwrap_or_else(|| {
            start.push(None);
            start.len() - 1
        });
        let is_new = before.iter().all(|p| !p.contains(&who));
        events.push((who, if is_new { Event::Starts(y) } else { Event::Acts(y) }));
        settled.push(who);
        if let Some((_, here)) = after.iter_mut().find(|a| a.0 == y) {
            here.push(who);
        }
    }
    events.extend(gone.iter().map(|who| (*who, Event::Ends)));
    settled.append(&mut gone);
    for (y, here) in &after {
        for who in here.iter().filter(|w| !settled.contains(w) && !before[*y as usize].contains(w)) {
            events.push((*who, Event::Moved(*y)));
        }
    }
    for (x, _) in rule.updates.iter().filter(|(x, _)| destination(*x).is_none()) {
        for who in before[*x as usize].iter().filter(|w| !settled.contains(w)) {
            events.push((*who, Event::Lost));
        }
    }
    for (y, here) in after {
        places[y as usize] = here;
    }
    events
}

/// The chart as text: `*` acts, `+` starts, `~` is moved, `x` is gone.
pub fn text(system: &System, chart: &Chart) -> String {
    let name = |v: Var| system.shown(v);
    let word = |e: Event| match e {
        Event::Acts(v) => format!("*{}", name(v)),
        Event::Starts(v) => format!("+{}", name(v)),
        Event::Moved(v) => format!("~{}", name(v)),
        Event::Ends | Event::Lost => "x".into(),
    };
    let mut width: Vec<usize> = chart.start.iter().map(|s| s.map_or(1, |v| name(v).chars().count() + 1)).collect();
    for (who, e) in chart.rows.iter().flat_map(|r| &r.events) {
        width[*who] = width[*who].max(word(*e).chars().count());
    }
    let mut out = String::from("        ");
    let put = |out: &mut String, who: usize, text: &str| {
        let _ = write!(out, "{text:<w$}  ", w = width[who]);
    };
    let end = |out: &mut String| {
        out.truncate(out.trim_end().len());
        out.push('\n');
    };
    (0..chart.start.len()).for_each(|who| put(&mut out, who, &format!("P{}", who + 1)));
    end(&mut out);
    let mut alive: Vec<bool> = chart.start.iter().map(Option::is_some).collect();
    out.push_str("   0    ");
    for (who, s) in chart.start.iter().enumerate() {
        put(&mut out, who, &s.map_or(String::new(), |v| format!(" {}", name(v))));
    }
    end(&mut out);
    for (i, row) in chart.rows.iter().enumerate() {
        let _ = write!(out, "{:>4}    ", i + 1);
        for (who, alive) in alive.iter_mut().enumerate() {
            match row.events.iter().find(|e| e.0 == who) {
                Some((_, e)) => {
                    *alive = !matches!(e, Event::Ends | Event::Lost);
                    put(&mut out, who, &word(*e));
                }
                None => put(&mut out, who, if *alive { " |" } else { "" }),
            }
        }
        end(&mut out);
    }
    out.push_str("        * acts, + starts, ~ is moved along, x is gone\n");
    out
}

/// The chart as a picture: lifelines from top to bottom, states in boxes, an arrow from whoever acts to whoever hears of it.
pub fn svg(system: &System, chart: &Chart) -> String {
    const TOP: usize = 70;
    const ROW: usize = 46;
    /// So far above the states of a row its arrows are.
    const ARROW: usize = 17;
    let longest = chart
        .start
        .iter()
        .flatten()
        .copied()
        .chain(chart.rows.iter().flat_map(|r| &r.events).filter_map(|e| match e.1 {
            Event::Acts(v) | Event::Starts(v) | Event::Moved(v) => Some(v),
            _ => None,
        }))
        .map(|v| system.shown(v).chars().count())
        .max()
        .unwrap_or(1);
    let column = longest * 8 + 36;
    let left = 40;
    let x = |who: usize| left + who * column + column / 2;
    let y = |row: usize| TOP + row * ROW;
    let rules = chart.start.len() * column + left + 20;
    let widest = chart.rows.iter().map(|r| r.rule.chars().count()).max().unwrap_or(0).min(120);
    let (width, height) = (rules + widest * 7 + 20, y(chart.rows.len()) + 40);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">\
         <path d=\"M0,0 L8,4 L0,8 z\"/></marker></defs>\n"
    );
    let boxed = |out: &mut String, who: usize, row: usize, v: Var, style: &str| {
        let label = &system.shown(v);
        let w = label.chars().count() * 8 + 14;
        let _ = writeln!(
            out,
            "<rect x=\"{}\" y=\"{}\" width=\"{w}\" height=\"22\" rx=\"4\" {style}/><text x=\"{}\" y=\"{}\" \
             text-anchor=\"middle\">{}</text>",
            x(who) - w / 2,
            y(row) - 11,
            x(who),
            y(row) + 4,
            crate::html::escape(label),
        );
    };
    const QUIET: &str = "fill=\"#eee\" stroke=\"#555\"";
    const ACTING: &str = "fill=\"#ffd\" stroke=\"black\" stroke-width=\"2\"";
    const MOVED: &str = "fill=\"#def\" stroke=\"#555\"";
    for (who, s) in chart.start.iter().enumerate() {
        let is = |e: &(usize, Event), ends: bool| {
            e.0 == who && if ends { matches!(e.1, Event::Ends | Event::Lost) } else { matches!(e.1, Event::Starts(_)) }
        };
        let when = |ends: bool| chart.rows.iter().position(|r| r.events.iter().any(|e| is(e, ends))).map(|i| i + 1);
        // From the arrow that starts it, if one does, to where it is gone.
        let from = if s.is_some() { y(0) } else { when(false).map_or(y(0), |row| y(row) - ARROW) };
        let to = when(true).map_or(y(chart.rows.len()) + ARROW, y);
        let _ = writeln!(
            out,
            "<text x=\"{0}\" y=\"{1}\" text-anchor=\"middle\" font-weight=\"bold\">P{2}</text>\n\
             <line x1=\"{0}\" y1=\"{3}\" x2=\"{0}\" y2=\"{4}\" stroke=\"#999\"/>",
            x(who),
            TOP - 40,
            who + 1,
            from,
            to,
        );
        if let Some(v) = s {
            boxed(&mut out, who, 0, *v, QUIET);
        }
    }
    for (i, row) in chart.rows.iter().enumerate() {
        let at = i + 1;
        let _ = writeln!(out, "<text x=\"6\" y=\"{}\" fill=\"#777\">{at}</text>", y(at) + 4);
        let actor = row.events.iter().find(|e| matches!(e.1, Event::Acts(_) | Event::Ends)).or(row.events.first());
        for (who, e) in &row.events {
            if let Some((from, _)) = actor.filter(|a| a.0 != *who) {
                let dashes = if matches!(e, Event::Moved(_) | Event::Lost) { " stroke-dasharray=\"4 3\"" } else { "" };
                let _ = writeln!(
                    out,
                    "<line x1=\"{}\" y1=\"{2}\" x2=\"{}\" y2=\"{2}\" stroke=\"black\"{dashes} marker-end=\"url(#head)\"/>",
                    x(*from),
                    x(*who),
                    y(at) - ARROW,
                );
            }
        }
        for (who, e) in &row.events {
            match e {
                Event::Acts(v) | Event::Starts(v) => boxed(&mut out, *who, at, *v, ACTING),
                Event::Moved(v) => boxed(&mut out, *who, at, *v, MOVED),
                Event::Ends | Event::Lost => {
                    let _ = writeln!(
                        out,
                        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-weight=\"bold\">×</text>",
                        x(*who),
                        y(at) + 4
                    );
                }
            }
        }
        let mut rule: String = row.rule.chars().take(120).collect();
        if rule.len() < row.rule.len() {
            rule.push('…');
        }
        let _ = writeln!(
            out,
            "<text x=\"{rules}\" y=\"{}\" fill=\"#777\">{}</text>",
            y(at) + 4,
            crate::html::escape(&rule)
        );
    }
    out.push_str("</svg>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use trellis_model::counter::{Interval, Update, Vector};

    fn mesi() -> System {
        // Whoever writes is modified alone; whoever reads shares with the writer.
        let sum = |sources: &[Var], constant| Update { sources: sources.to_vec(), constant };
        let write = Rule {
            guards: vec![(0, Interval::at_least(1))],
            updates: vec![(0, sum(&[0, 1, 2], -1)), (1, sum(&[], 0)), (2, sum(&[], 1))],
            ..Rule::default()
        };
        let read = Rule {
            guards: vec![(0, Interval::at_least(1))],
            updates: vec![(0, sum(&[0], -1)), (1, sum(&[1, 2], 1)), (2, sum(&[], 0))],
            line: Some(3),
            ..Rule::default()
        };
        let names = ["invalid", "shared", "modified"].map(String::from).to_vec();
        let initial = vec![Interval::at_least(1), Interval::exactly(0), Interval::exactly(0)];
        let target = vec![Vector::new(vec![(2, 2)])];
        System { names, rules: vec![write, read], initial, target, ..System::default() }
    }

    #[test]
    fn who_acts_and_who_hears_of_it() {
        let system = mesi();
        let chart = chart(&system, &Trace { initial: vec![3, 0, 0], rules: vec![0, 1, 0] }).expect("small enough");
        let events: Vec<_> = chart.rows.iter().map(|r| r.events.clone()).collect();
        assert_eq!(events[0], [(2, Event::Acts(2))]);
        assert_eq!(events[1], [(1, Event::Acts(1)), (2, Event::Moved(1))]);
        assert_eq!(events[2], [(0, Event::Acts(2)), (2, Event::Moved(0)), (1, Event::Moved(0))]);
        let said = text(&system, &chart);
        assert_eq!(said.lines().nth(3), Some("   2     |         *shared   ~shared"), "{said}");
        let drawn = svg(&system, &chart);
        assert!(drawn.starts_with("<svg") && drawn.contains("line 3: invalid &gt;= 1"), "{drawn}");
    }

    #[test]
    fn large_runs_are_not_drawn() {
        assert_eq!(chart(&mesi(), &Trace { initial: vec![1_000_000, 0, 0], rules: vec![0] }), None);
    }
}
