//! From tokens to a system. Lists are read in loops: files have tens of thousands of lines.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use trellis_model::counter::{Interval, LARGEST, Rule, RuleId, System, Update, Var, Vector, shown};

use super::lexer::{describe, question, tokens, unquoted};
use crate::diag::shorten;
use crate::diag::{Diagnostic, Severity, SourceId, Sources, Span};
use crate::text::cursor::{Cursor, Reads, reads};
use crate::text::errors::{Read, Reported, closest};
use crate::text::tokens::{Tok, Token};

/// Longer comments are no names of rules.
const MAX_TITLE: usize = 60;

const SECTIONS: [&str; 5] = ["vars", "rules", "init", "target", "invariants"];

/// Things that are said once per file, however often they occur.
#[derive(Default)]
struct Odd {
    zero_tests: Vec<Span>,
    resets: Vec<Span>,
    fresh: Vec<Span>,
    never: Vec<Span>,
    twice: Vec<Span>,
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    vars: FxHashMap<&'a str, Var>,
    system: System,
    /// The system that is asked about, if this is not its file.
    about: Option<&'a System>,
    /// For each variable whether a rule may raise it, once that was asked.
    raised: Option<Vec<bool>>,
    odd: Odd,
}

reads!(Parser<'a>);

/// The system as far as it could be read, and what is wrong with it.
pub fn parse(sources: &Sources, id: SourceId) -> (System, Vec<Diagnostic>) {
    let mut p = Parser::new(sources, id);
    if p.program().is_ok() {
        p.warn();
    }
    (p.system, p.cursor.errors.finish())
}

/// Targets of a system, and what to know about them.
pub fn parse_targets<'a>(
    sources: &'a Sources,
    id: SourceId,
    system: &'a System,
) -> Result<(Vec<Vector>, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut p = Parser::asking(sources, id, system);
    while p.peek().tok != Tok::End || p.system.target.is_empty() {
        if p.target().is_err() {
            return Err(p.cursor.errors.finish());
        }
    }
    Ok((p.system.target, p.cursor.errors.finish()))
}

/// Invariants of a system, each checked.
pub fn parse_invariants<'a>(
    sources: &'a Sources,
    id: SourceId,
    system: &'a System,
) -> Result<Vec<Vec<(Var, i64)>>, Vec<Diagnostic>> {
    let mut p = Parser::asking(sources, id, system);
    p.take("invariants");
    let mut all = vec![];
    while p.peek().tok != Tok::End || all.is_empty() {
        let start = p.peek().span;
        let Ok(weights) = p.weights() else { return Err(p.cursor.errors.finish()) };
        if let Some(rule) = system.changes(&weights) {
            p.errors.push(no_invariant(system, rule, start));
        }
        all.push(weights);
    }
    if p.errors.count() > 0 { Err(p.cursor.errors.finish()) } else { Ok(all) }
}

/// How many there are at the start.
pub fn parse_instance<'a>(sources: &'a Sources, id: SourceId, system: &'a System) -> Result<Vec<u64>, Vec<Diagnostic>> {
    let mut p = Parser::asking(sources, id, system);
    let mut state: Vec<u64> = system.initial.iter().map(|i| i.low).collect();
    let mut read = || -> Read<()> {
        loop {
            let (v, span) = p.variable()?;
            p.require("=")?;
            let n = p.number()?;
            if !system.initial[v as usize].contains(n) {
                return p.fail(span, format!("`{}` cannot be {n} at the start", system.shown(v)));
            }
            state[v as usize] = n;
            if !p.take(",") {
                return if p.peek().tok == Tok::End { Ok(()) } else { p.unexpected("the end") };
            }
        }
    };
    match read() {
        Ok(()) => Ok(state),
        Err(Reported) => Err(p.cursor.errors.finish()),
    }
}

fn no_invariant(system: &System, rule: RuleId, at: Span) -> Diagnostic {
    let line = system.rules[rule as usize].line.map_or(String::new(), |l| format!(" in line {l}"));
    let mut text = system.describe(rule);
    if text.len() > 160 {
        text = format!("{} …", text.chars().take(150).collect::<String>());
    }
    Diagnostic::error(at, format!("this is no invariant: the rule{line} changes the sum"))
        .label(format!("`{text}` changes it"))
}

fn cursor<'a>(sources: &'a Sources, tokens: Vec<Token<'a>>) -> Cursor<'a> {
    Cursor { describe, ..Cursor::new(sources, tokens) }
}

impl<'a> Parser<'a> {
    fn new(sources: &'a Sources, id: SourceId) -> Parser<'a> {
        Parser {
            cursor: cursor(sources, tokens(id, &sources.get(id).text)),
            vars: FxHashMap::default(),
            system: System::default(),
            about: None,
            raised: None,
            odd: Odd::default(),
        }
    }

    /// About a system that was read.
    fn asking(sources: &'a Sources, id: SourceId, system: &'a System) -> Parser<'a> {
        Parser {
            cursor: cursor(sources, question(id, &sources.get(id).text)),
            vars: system.names.iter().enumerate().map(|(v, name)| (name.as_str(), v as Var)).collect(),
            about: Some(system),
            ..Parser::new(sources, id)
        }
    }

    fn subject(&self) -> &System {
        self.about.unwrap_or(&self.system)
    }

    fn at_section(&self) -> bool {
        matches!(self.peek().tok, Tok::Name(n) if SECTIONS.contains(&n)) || self.peek().tok == Tok::End
    }

    fn number(&mut self) -> Read<u64> {
        let t = self.peek();
        let Tok::Number(digits) = t.tok else { return self.unexpected("a number") };
        self.bump();
        match digits.parse::<u64>() {
            Ok(n) if n <= LARGEST => Ok(n),
            _ => self.fail(t.span, format!("this number is too large; the limit is {LARGEST}")),
        }
    }

    fn variable(&mut self) -> Read<(Var, Span)> {
        let t = self.peek();
        let name: Cow<'a, str> = match t.tok {
            Tok::Name(name) => name.into(),
            Tok::Quoted(raw) => match unquoted(raw) {
                Some(name) => name.into(),
                None => {
                    return self
                        .fail(t.span, "expected `\\\"`, `\\\\`, `\\n` or `\\u{…}` behind the backslash in this name");
                }
            },
            _ => return self.unexpected("a variable"),
        };
        let mut meant: Vec<Var> = self.vars.get(&*name).copied().into_iter().collect();
        let aliases = self.about.map_or(&[][..], |s| &s.aliases);
        meant.extend(aliases.iter().filter(|a| a.0 == *name).map(|a| a.1));
        meant.sort_unstable();
        meant.dedup();
        match meant[..] {
            [v] => {
                self.bump();
                Ok((v, t.span))
            }
            [] if SECTIONS.contains(&&*name) && t.tok == Tok::Name(&name) => self.unexpected("a variable"),
            [] => {
                let d = Diagnostic::error(t.span, format!("there is no variable `{}`", shorten(&name)));
                let names = self.subject().names.iter().chain(aliases.iter().map(|a| &a.0));
                let help = match closest(&name, names.map(String::as_str)) {
                    Some(near) => format!("did you mean `{}`?", shown(near)),
                    None if self.about.is_some() => {
                        "it has no variable or place, by name or by id, of this name".into()
                    }
                    None => "variables are declared under `vars`".into(),
                };
                self.errors.fail(d.help(help))
            }
            _ => {
                let ids: Vec<String> = meant.iter().map(|v| self.subject().shown(*v).into_owned()).collect();
                let d =
                    Diagnostic::error(t.span, format!("`{}` may be {} different places", shorten(&name), meant.len()))
                        .help(format!("their ids are {}; each needs a name that no other has", ids.join(", ")));
                self.errors.fail(d)
            }
        }
    }

    fn program(&mut self) -> Read<()> {
        self.require("vars")?;
        while let Tok::Name(name) = self.peek().tok {
            if SECTIONS.contains(&name) {
                break;
            }
            let span = self.bump().span;
            let v = self.system.names.len() as Var;
            if self.vars.insert(name, v).is_some() {
                return self.fail(span, format!("the variable `{name}` is declared twice"));
            }
            self.system.names.push(name.into());
        }
        self.require("rules")?;
        let mut broken = false;
        while !self.at_section() && !self.errors.stopped() {
            if self.rule().is_err() {
                broken = true;
                while !self.at_section() && !self.take(";") {
                    self.bump();
                }
            }
        }
        if broken {
            return Err(Reported);
        }
        self.require("init")?;
        self.system.initial = vec![Interval::ANY; self.system.names.len()];
        loop {
            let (v, interval, span) = self.constraint()?;
            let both = self.system.initial[v as usize].and(interval);
            if both.is_empty() {
                return self.fail(span, "the system cannot start: no number is in all these intervals");
            }
            self.system.initial[v as usize] = both;
            if !self.take(",") {
                break;
            }
        }
        self.require("target")?;
        while !self.at_section() {
            self.target()?;
        }
        if self.system.target.is_empty() {
            return self.unexpected("a target such as `x >= 1`");
        }
        if self.take("invariants") {
            while self.peek().tok != Tok::End {
                self.invariant()?;
            }
        }
        match self.peek().tok {
            Tok::End => Ok(()),
            _ => self.unexpected("the end of the file"),
        }
    }

    /// `x = N`, `x >= N` or `x in [N, N]`; from the variable to the end.
    fn constraint(&mut self) -> Read<(Var, Interval, Span)> {
        let (v, start) = self.variable()?;
        let interval = if self.take("=") {
            Interval::exactly(self.number()?)
        } else if self.take(">=") {
            Interval::at_least(self.number()?)
        } else if self.take("in") {
            self.require("[")?;
            let low = self.number()?;
            self.require(",")?;
            let high = self.number()?;
            self.require("]")?;
            Interval { low, high: Some(high) }
        } else {
            return self.unexpected("`=`, `>=` or `in`");
        };
        let span = start.to(self.last());
        if interval.is_empty() {
            return self.fail(span, "there is no number in this interval");
        }
        Ok((v, interval, span))
    }

    fn rule(&mut self) -> Read<()> {
        let start = self.peek().span;
        let name = self.rule_name()?;
        let title = if name.is_none() { self.comment_above(start) } else { None };
        let mut guards: Vec<(Var, Interval)> = vec![];
        loop {
            if !(matches!(self.peek().tok, Tok::Name("true")) && !self.vars.contains_key("true") && self.take("true")) {
                let (v, interval, span) = self.constraint()?;
                if interval.high.is_some() {
                    self.odd.zero_tests.push(span);
                }
                guards.push((v, interval));
            }
            if !self.take(",") {
                break;
            }
        }
        self.require("->")?;
        let mut updates: Vec<(Var, Update)> = vec![];
        let mut spans = vec![];
        while matches!(self.peek().tok, Tok::Name(_)) {
            let (v, update, span) = self.update()?;
            updates.push((v, update));
            spans.push((v, span));
            if !self.take(",") {
                break;
            }
        }
        self.require(";")?;
        self.note_differences(&updates, &spans);
        guards.sort_by_key(|g| g.0);
        let guards: Vec<(Var, Interval)> = guards
            .chunk_by(|a, b| a.0 == b.0)
            .map(|same| (same[0].0, same.iter().fold(Interval::ANY, |i, g| i.and(g.1))))
            .filter(|g| g.1 != Interval::ANY)
            .collect();
        // Of several updates of one variable the last counts.
        for (n, (v, span)) in spans.iter().enumerate() {
            if spans[..n].iter().any(|s| s.0 == *v) {
                self.odd.twice.push(*span);
            }
        }
        updates.reverse();
        updates.sort_by_key(|u| u.0);
        updates.dedup_by_key(|u| u.0);
        // What stays needs no mention.
        updates.retain(|(v, u)| u.constant != 0 || u.sources != [*v]);
        if guards.iter().any(|g| g.1.is_empty()) {
            self.odd.never.push(start);
            return Ok(());
        }
        let line = self.sources.line_col(start).0 as u32;
        self.system.rules.push(Rule { guards, updates, line: Some(line), name, title });
        Ok(())
    }

    /// `rule NAME:` before a rule, or `NAME:`. (The public tools know no names; they are for runs.)
    fn rule_name(&mut self) -> Read<Option<String>> {
        if self.is("rule") && matches!(self.ahead(1), Tok::Name(_)) && self.ahead(2) == Tok::P(":") {
            self.bump();
        } else if !(matches!(self.peek().tok, Tok::Name(_)) && self.ahead(1) == Tok::P(":")) {
            return Ok(None);
        }
        let (name, span) = self.cursor.name("the name of a rule")?;
        self.bump();
        if self.system.rules.iter().any(|r| r.name.as_deref() == Some(name)) {
            return self.fail(span, format!("there is a rule `{name}` already"));
        }
        Ok(Some(name.into()))
    }

    /// A comment of one line right above a rule that begins its line says what the rule is. One with an arrow is a rule that was taken out.
    fn comment_above(&self, start: Span) -> Option<String> {
        let text = &self.sources.get(start.source).text[..start.start as usize];
        let mut lines = text.rsplit('\n');
        let begins = lines.next().is_some_and(|before| before.trim().is_empty());
        let comment = lines.next()?.trim().strip_prefix('#')?.trim();
        let alone = !lines.next().is_some_and(|line| line.trim_start().starts_with('#'));
        let short = !comment.is_empty() && comment.chars().count() <= MAX_TITLE;
        (begins && alone && short && !comment.contains("->")).then(|| comment.into())
    }

    /// `x' = N`, or `x' = y + z - N`.
    fn update(&mut self) -> Read<(Var, Update, Span)> {
        let (v, start) = self.variable()?;
        self.require("'")?;
        self.require("=")?;
        let mut sources = vec![];
        let mut constant: i128 = 0;
        let mut sign = 1;
        loop {
            match self.peek().tok {
                Tok::Number(_) => constant += sign * i128::from(self.number()?),
                Tok::Name(_) if sign > 0 => {
                    let (x, span) = self.variable()?;
                    if sources.contains(&x) {
                        let name = self.system.names[x as usize].clone();
                        return self.errors.fail(
                            Diagnostic::error(span, format!("`{name}` is added twice"))
                                .help("a sum may contain each variable once"),
                        );
                    }
                    sources.push(x);
                }
                Tok::Name(_) => {
                    let span = self.peek().span;
                    return self.fail(span, "variables can only be added, not subtracted");
                }
                _ => return self.unexpected("a number or a variable"),
            }
            if self.take("+") {
                sign = 1;
            } else if self.take("-") {
                sign = -1;
            } else {
                break;
            }
        }
        let span = start.to(self.last());
        let Some(constant) = i64::try_from(constant).ok().filter(|c| c.unsigned_abs() <= LARGEST) else {
            return self.fail(span, "the numbers in this sum are too large");
        };
        sources.sort_unstable();
        Ok((v, Update { sources, constant }, span))
    }

    /// Where a public tool reads something else.
    fn note_differences(&mut self, updates: &[(Var, Update)], spans: &[(Var, Span)]) {
        for ((v, u), (_, span)) in updates.iter().zip(spans) {
            if u.sources.is_empty() {
                let moved = updates.iter().any(|(w, other)| w != v && other.sources.contains(v));
                if !moved {
                    self.odd.resets.push(*span);
                }
            } else if !u.sources.contains(v) {
                self.odd.fresh.push(*span);
            }
        }
    }

    fn target(&mut self) -> Read<()> {
        let mut entries = vec![];
        let mut spans = vec![];
        loop {
            if let Some(system) = self.about.filter(|_| self.is("fireable") && self.names_rule()) {
                for (v, n) in self.fireable(system)?.iter() {
                    entries.push((v, n));
                    spans.push(self.last());
                }
                if !self.take(",") {
                    break;
                }
                continue;
            }
            let (v, interval, span) = self.constraint()?;
            spans.push(span);
            if interval.high.is_some() {
                return self.errors.fail(
                    Diagnostic::error(
                        span,
                        "a target that limits a variable from above is reachability, not coverability",
                    )
                    .label("expected `>=`")
                    .help("Trellis decides whether a state can be reached that is at least as large as the target"),
                );
            }
            entries.push((v, interval.low));
            if !self.take(",") {
                break;
            }
        }
        if !spans.is_empty() {
            self.note_constant(&entries, &spans);
        }
        self.system.target.push(Vector::new(entries));
        Ok(())
    }

    fn names_rule(&self) -> bool {
        matches!(self.ahead(1), Tok::Name(_) | Tok::Quoted(_))
    }

    /// `fireable NAME`: what a rule, or a transition, asks for.
    fn fireable(&mut self, system: &System) -> Read<Vector> {
        self.bump();
        let t = self.bump();
        let name = match t.tok {
            Tok::Quoted(raw) => unquoted(raw).unwrap_or_default(),
            Tok::Name(name) => name.to_string(),
            _ => String::new(),
        };
        let is = |n: &Option<String>| n.as_deref() == Some(&*name);
        let mut called: Vec<&Rule> = system.rules.iter().filter(|r| is(&r.name)).collect();
        if called.is_empty() {
            called = system.rules.iter().filter(|r| is(&r.title)).collect();
        }
        let [rule] = called[..] else {
            let names = system.rules.iter().flat_map(|r| r.name.iter().chain(&r.title)).map(String::as_str);
            let text = match called.len() {
                0 => format!("there is no rule and no transition `{}`", shorten(&name)),
                n => format!("{n} rules are called `{}`", shorten(&name)),
            };
            return self.errors.fail(Diagnostic::error(t.span, text).meant(closest(&name, names)));
        };
        let sums = rule.updates.iter().any(|(_, u)| u.constant < 0 && u.sources.len() != 1);
        if sums || rule.guards.iter().any(|(_, g)| g.high.is_some()) {
            let text = format!("when `{}` can be taken is no matter of how many there are at least", shorten(&name));
            return self.errors.fail(Diagnostic::error(t.span, text).help("ask for a state: -p 'E<> x = 0 && y >= 1'"));
        }
        Ok(rule.least())
    }

    /// Warns of a target whose answer does not depend on what the system does.
    fn note_constant(&mut self, entries: &[(Var, u64)], spans: &[Span]) {
        let whole = spans[0].to(spans[spans.len() - 1]);
        if entries.iter().all(|e| e.1 == 0) {
            let warning = Diagnostic::warning(whole, "every state covers this target: no number is negative");
            self.errors.push(warning.help("ask for at least 1"));
            return;
        }
        // Files of this language list every variable, also those that may be anything.
        if self.about.is_none() {
            return;
        }
        for ((v, n), span) in entries.iter().zip(spans) {
            if *n == 0 {
                let warning = Diagnostic::warning(*span, "this part of the target always holds: no number is negative");
                self.errors.push(warning);
                continue;
            }
            let start = self.subject().initial[*v as usize];
            if start.high.is_none_or(|h| h >= *n) || self.may_raise(*v) {
                continue;
            }
            let name = self.subject().shown(*v).into_owned();
            let most = start.high.unwrap_or(0);
            let message = format!("no rule raises `{name}`, which is at most {most} at the start");
            self.errors.push(Diagnostic::warning(*span, message).help("so this target is never covered"));
        }
    }

    fn may_raise(&mut self, v: Var) -> bool {
        let system = self.about.unwrap_or(&self.system);
        let raised = self.raised.get_or_insert_with(|| system.raisers().iter().map(|r| !r.is_empty()).collect());
        raised[v as usize]
    }

    fn invariant(&mut self) -> Read<()> {
        let start = self.peek().span;
        let weights = self.weights()?;
        if let Some(rule) = self.system.changes(&weights) {
            let no = no_invariant(&self.system, rule, start);
            let help = "Trellis does not use it; it finds invariants of its own";
            self.errors.push(Diagnostic { severity: Severity::Warning, ..no }.help(help));
            return Ok(());
        }
        self.system.claimed.push(weights);
        Ok(())
    }

    /// `x = 1, y = 2`: how much each variable counts.
    fn weights(&mut self) -> Read<Vec<(Var, i64)>> {
        let mut weights: Vec<(Var, i64)> = self.list(|p| {
            let (v, _) = p.variable()?;
            p.require("=")?;
            // At most 2^50, so it fits.
            Ok((v, p.number()? as i64))
        })?;
        weights.retain(|w| w.1 != 0);
        weights.sort_unstable();
        Ok(weights)
    }

    fn warn(&mut self) {
        let odd = std::mem::take(&mut self.odd);
        let more = |n: usize| match n {
            1 => String::new(),
            n => format!(" (and {} more like this)", n - 1),
        };
        let mut say = |spans: &[Span], message: &str, help: &str| {
            if let Some(first) = spans.first() {
                let message = format!("{message}{}", more(spans.len()));
                self.errors.push(Diagnostic::warning(*first, message).help(help));
            }
        };
        say(
            &odd.zero_tests,
            "a guard with an upper bound: this system is not well-structured",
            "the answer is exact, but the search may not end where the numbers that are tested have no limit",
        );
        say(
            &odd.resets,
            "this forgets what the variable was: a reset",
            "updates are simultaneous assignments; a public tool ignores this one",
        );
        say(
            &odd.fresh,
            "the old value of this variable is not in the sum",
            "updates are simultaneous assignments; a public tool adds the sum to the old value",
        );
        say(
            &odd.twice,
            "this rule has set the variable already",
            "the last update of a variable counts; remove the other, or mend the name",
        );
        say(&odd.never, "no number satisfies this guard: the rule is never taken", "it was left out");
    }
}
