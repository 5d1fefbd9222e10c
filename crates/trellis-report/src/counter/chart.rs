//! A run of a counter system as one of processes, for a message sequence chart.
//!
//! A counter system only counts; here everybody gets a number of their own. What a rule takes away from one variable and adds to
//! another is a process that acts; whoever is moved because its variable is added to another one hears of it. Which of several
//! processes in the same state acts is a choice: the one that acted last, so that charts stay narrow; among those that a rule
//! could take, one from a variable that its guard asks for.

use trellis_model::counter::evidence::Trace;
use trellis_model::counter::interpret::step;
use trellis_model::counter::{Rule, System, Var};

use crate::run::{Part, Place, Run, Step};

/// Larger charts are not drawn.
const MOST_PROCESSES: u64 = 60;
const MOST_STEPS: usize = 500;

/// What happens to a process in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
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

/// A run of processes, each by number, where it is at the start, if it is there; and what happens to them, step by step.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Chart {
    start: Vec<Option<Var>>,
    rows: Vec<Vec<(usize, Event)>>,
}

/// The run of the processes; nothing if there are too many, or too many steps, to draw.
pub(super) fn lanes(system: &System, trace: &Trace) -> Option<Run> {
    let Chart { start, rows } = chart(system, trace)?;
    let name = |who: usize| format!("P{}", who + 1);
    let place = |v: Var| system.shown(v).into_owned();
    let mut here: Vec<Option<String>> = start.iter().map(|s| s.map(place)).collect();
    let mut steps = vec![];
    for (events, id) in rows.iter().zip(trace.steps().flat_map(|(id, times)| (0..times).map(move |_| id))) {
        let mut parts = vec![];
        for &(who, event) in events {
            let (to, sends) = match event {
                Event::Acts(v) | Event::Starts(v) => (Some(place(v)), true),
                Event::Moved(v) => (Some(place(v)), false),
                Event::Ends => (None, true),
                Event::Lost => (None, false),
            };
            let from = std::mem::replace(&mut here[who], to.clone());
            parts.push(Part { name: name(who), from, to, takes: id.into(), choices: vec![], sends });
        }
        let place = system.rules[id as usize].line.map(|line| Place { line, ..Place::default() });
        steps.push(Step { label: system.describe(id), parts, place, ..Step::default() });
    }
    let start_values = start.iter().enumerate().filter_map(|(who, s)| Some((name(who), place((*s)?).into())));
    Some(Run { parts: (0..start.len()).map(name).collect(), start: start_values.collect(), steps, ..Run::default() })
}

/// The chart of a run that has been replayed; nothing if there are too many processes or steps to draw.
fn chart(system: &System, trace: &Trace) -> Option<Chart> {
    let total = trace.initial.iter().try_fold(0_u64, |s, n| s.checked_add(*n))?;
    if total > MOST_PROCESSES || trace.length() > MOST_STEPS as u64 {
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
    for id in trace.steps().flat_map(|(id, times)| (0..times).map(move |_| id)) {
        let rule = &system.rules[id as usize];
        let events = take(rule, &mut places, &mut start);
        state = step(system, id, &state).ok()??;
        debug_assert!(state.iter().zip(&places).all(|(n, p)| *n == p.len() as u64));
        rows.push(events);
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
        let chart = chart(&system, &Trace { initial: vec![3, 0, 0], rules: vec![0, 1, 0], times: vec![] })
            .expect("small enough");
        let events: Vec<_> = chart.rows.clone();
        assert_eq!(events[0], [(2, Event::Acts(2))]);
        assert_eq!(events[1], [(1, Event::Acts(1)), (2, Event::Moved(1))]);
        assert_eq!(events[2], [(0, Event::Acts(2)), (2, Event::Moved(0)), (1, Event::Moved(0))]);
        let run = lanes(&system, &Trace { initial: vec![3, 0, 0], rules: vec![0, 1, 0], times: vec![] })
            .expect("small enough");
        let drawn = crate::chart::chart(&run).expect("small enough");
        let said = drawn.text();
        assert_eq!(said.lines().nth(3), Some("   2     |         *shared   ~shared"), "{said}");
        let drawn = drawn.svg();
        assert!(drawn.starts_with("<svg") && drawn.contains("line 3: invalid &gt;= 1"), "{drawn}");
    }

    #[test]
    fn large_runs_are_not_drawn() {
        assert_eq!(chart(&mesi(), &Trace { initial: vec![1_000_000, 0, 0], rules: vec![0], times: vec![] }), None);
    }
}
