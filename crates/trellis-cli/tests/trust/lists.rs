//! Lists in a text whose order means nothing: processes, edges, locations, declarations, rules, branches. Each list is the places of its
//! members, which a shuffle exchanges. A member that may not stand where it comes to stand (it is used before it is declared) is refused by
//! the reader, and that is no finding; so declarations are listed whether they depend on each other or not.

use std::ops::Range;

use crate::scan::{self, C, Kind, Style, Token};

/// The places of a list's members.
pub type List = Vec<Range<usize>>;

/// The tokens of a text, with how deep in brackets each is.
struct Tokens<'t> {
    text: &'t str,
    all: Vec<(Token, usize)>,
}

impl<'t> Tokens<'t> {
    fn new(text: &'t str, part: Range<usize>, style: Style) -> Tokens<'t> {
        let mut depth = 0_usize;
        let mut all = vec![];
        for token in scan::tokens(text, part, style) {
            let closes = matches!(&text[token.at.clone()], "}" | ")" | "]");
            depth -= usize::from(closes && depth > 0);
            let opens = matches!(&text[token.at.clone()], "{" | "(" | "[");
            all.push((token, depth));
            depth += usize::from(opens);
        }
        Tokens { text, all }
    }

    fn is(&self, i: usize, what: &str) -> bool {
        self.all.get(i).is_some_and(|(t, _)| &self.text[t.at.clone()] == what)
    }

    fn depth(&self, i: usize) -> usize {
        self.all.get(i).map_or(0, |(_, d)| *d)
    }

    fn start(&self, i: usize) -> usize {
        self.all.get(i).map_or(self.text.len(), |(t, _)| t.at.start)
    }

    fn end(&self, i: usize) -> usize {
        self.all[i].0.at.end
    }

    /// Where the next sign of this depth is.
    fn find(&self, from: usize, what: &str) -> Option<usize> {
        (from..self.all.len()).find(|&i| self.is(i, what) && self.depth(i) == self.depth(from))
    }

    /// What is between signs, from one token up to another.
    fn split(&self, from: usize, to: usize, sign: &str) -> List {
        let (mut list, mut first) = (vec![], from);
        for i in from..=to {
            let ends = i == to || (self.is(i, sign) && self.depth(i) == self.depth(from));
            if ends && i > first {
                list.push(self.start(first)..self.end(i - 1));
            }
            if ends {
                first = i + 1;
            }
        }
        list
    }

    /// What stands on the outside (at a depth): up to a `;`, or to a `}` that nothing follows.
    fn statements(&self, from: usize, depth: usize) -> Vec<(usize, usize)> {
        let (mut list, mut first) = (vec![], from);
        for i in from..self.all.len() {
            if self.depth(i) < depth {
                break;
            }
            let block = self.is(i, "}")
                && !matches!(self.all.get(i + 1), Some((t, _)) if matches!(&self.text[t.at.clone()], ";" | "," | "=" | "["));
            let named = block
                && (i + 1..self.all.len()).take(1).any(|n| {
                    self.is(first, "typedef")
                        || (self.is(first, "struct") && self.all[n].0.kind == Kind::Word && !self.is(n, "struct"))
                });
            if self.depth(i) == depth && (self.is(i, ";") || (block && !named)) {
                list.push((first, i));
                first = i + 1;
            }
        }
        list
    }
}

/// Of UPPAAL's textual form.
pub fn uppaal(text: &str) -> Vec<List> {
    let t = Tokens::new(text, 0..text.len(), C);
    let mut all = vec![];
    for i in 0..t.all.len() {
        let list = match () {
            () if t.is(i, "trans") || t.is(i, "state") || t.is(i, "system") => {
                t.find(i + 1, ";").map(|end| t.split(i + 1, end, ","))
            }
            () => None,
        };
        // An edge may leave out where it starts; then it starts where the one before it does. `<` orders processes by priority.
        let fixed = |at: &Range<usize>| {
            text[at.clone()].starts_with("->") || (t.is(i, "system") && text[at.clone()].contains('<'))
        };
        all.extend(list.filter(|l| !l.iter().any(fixed)));
    }
    let outside = t.statements(0, 0);
    let kind = |process: bool| {
        let mine = |(first, _): &&(usize, usize)| t.is(*first, "process") == process && !t.is(*first, "system");
        outside.iter().filter(mine).map(|(a, b)| t.start(*a)..t.end(*b)).collect::<List>()
    };
    all.extend([kind(true), kind(false)]);
    all
}

/// Of UPPAAL's XML: templates, locations, edges and their labels.
pub fn uppaal_xml(text: &str) -> Vec<List> {
    children(text, &["template", "location", "transition", "label"])
}

/// Of PNML: places, transitions and arcs.
pub fn net_xml(text: &str) -> Vec<List> {
    children(text, &["place", "transition", "arc"])
}

/// The children of these names, by element.
fn children(text: &str, names: &[&str]) -> Vec<List> {
    let elements = scan::elements(text);
    let mut all = vec![];
    for parent in elements.iter().filter_map(|e| e.inside.as_ref()) {
        let inside = |e: &&scan::Element| parent.start <= e.all.start && e.all.end <= parent.end;
        let children = elements.iter().filter(inside).filter(|e| {
            // Directly: nothing in between holds it.
            !elements
                .iter()
                .filter(inside)
                .any(|o| o.inside.as_ref().is_some_and(|i| i.start <= e.all.start && e.all.end <= i.end))
        });
        let children: Vec<&scan::Element> = children.collect();
        for name in names {
            let mut list: List = children.iter().filter(|e| e.name == *name).map(|e| e.all.clone()).collect();
            list.sort_by_key(|at| at.start);
            all.push(list);
        }
    }
    all
}

/// Lines that follow each other and start with the same word.
pub fn lines(text: &str, first_word: fn(&str) -> Option<&str>) -> Vec<List> {
    let (mut all, mut start): (Vec<(Option<String>, List)>, usize) = (vec![], 0);
    for line in text.split_inclusive('\n') {
        let at = start..start + line.trim_end_matches('\n').len();
        start += line.len();
        let word = first_word(line.trim()).map(str::to_string);
        match all.last_mut() {
            Some((last, list)) if *last == word && word.is_some() => list.push(at),
            _ => all.push((word, vec![at])),
        }
    }
    all.into_iter().filter(|(word, _)| word.is_some()).map(|(_, list)| list).collect()
}

/// Of TChecker's language.
pub fn tchecker(text: &str) -> Vec<List> {
    // Attributes may go over several lines; such files have no lists.
    if text.lines().any(|l| l.matches('{').count() != l.matches('}').count()) {
        return vec![];
    }
    lines(text, |l| l.split_once(':').map(|(word, _)| word).filter(|w| !w.starts_with('#') && *w != "system"))
}

/// Of thread transition systems.
pub fn threads(text: &str) -> Vec<List> {
    lines(text, |l| (l.contains("->") || l.contains("+>")).then_some("rule"))
}

/// Of transition systems (STS).
pub fn sts(text: &str) -> Vec<List> {
    lines(text, |l| l.split(' ').next().filter(|w| ["var", "initial", "transition", "invariant"].contains(w)))
}

/// Of control-flow automata: variables, locations, edges.
pub fn automaton(text: &str) -> Vec<List> {
    let t = Tokens::new(text, 0..text.len(), C);
    let kind = |i: usize| match () {
        () if t.depth(i) != 1 => None,
        () if t.is(i, "var") => Some("var"),
        () if t.is(i, "init") || t.is(i, "final") || t.is(i, "error") => Some("loc"),
        () if t.is(i, "loc") && !["init", "final", "error"].iter().any(|w| i > 0 && t.is(i - 1, w)) => Some("loc"),
        () if t.is(i + 1, "->") && t.all[i].0.kind == Kind::Word => Some("edge"),
        () => None,
    };
    let starts: Vec<(usize, &str)> = (0..t.all.len()).filter_map(|i| Some((i, kind(i)?))).collect();
    // The type of an array has an arrow too.
    let in_a_type = |n: usize| starts[n].1 == "edge" && n > 0 && starts[n - 1].1 == "var" && t.is(starts[n].0 - 1, ":");
    let last = (0..t.all.len()).rev().find(|&i| t.is(i, "}")).unwrap_or(t.all.len());
    let end = |n: usize| starts.get(n + 1).map_or(last, |(i, _)| *i) - 1;
    let of = |which: &str| {
        let mine = (0..starts.len()).filter(|&n| starts[n].1 == which && !in_a_type(n));
        mine.map(|n| t.start(starts[n].0)..t.end(end(n))).collect::<List>()
    };
    vec![of("var"), of("loc"), of("edge")]
}

/// Of XSTS: variables, and branches of choices.
pub fn xsts(text: &str) -> Vec<List> {
    let t = Tokens::new(text, 0..text.len(), C);
    let starts = |i: usize| {
        t.depth(i) == 0 && (t.is(i, "var") && !(i > 0 && t.is(i - 1, "ctrl")) || t.is(i, "ctrl") || t.is(i, "type"))
    };
    let after =
        |i: usize| t.depth(i) == 0 && ["trans", "init", "env", "prop", "default", "ltl"].iter().any(|w| t.is(i, w));
    let first: Vec<usize> = (0..t.all.len()).filter(|&i| starts(i)).collect();
    let end = |i: usize| (i + 1..t.all.len()).find(|&j| starts(j) || after(j)).unwrap_or(t.all.len()) - 1;
    let mut all = vec![first.iter().map(|&i| t.start(i)..t.end(end(i))).collect::<List>()];
    let closing = |open: usize| (open + 1..t.all.len()).find(|&i| t.is(i, "}") && t.depth(i) == t.depth(open));
    for i in 0..t.all.len() {
        if !(t.is(i, "{") && i > 0 && (t.is(i - 1, "choice") || t.is(i - 1, "trans"))) {
            continue;
        }
        let (mut list, mut open) = (vec![], i);
        while let Some(close) = closing(open) {
            list.push(t.start(open)..t.end(close));
            if !(t.is(close + 1, "or") && t.is(close + 2, "{")) {
                break;
            }
            open = close + 2;
        }
        all.push(list);
    }
    all
}

/// Of counter systems: variables, rules, and the parts of rules.
pub fn counters(text: &str) -> Vec<List> {
    let t = Tokens::new(text, 0..text.len(), Style { line: &["#"], block: &[], quotes: &[] });
    let at = |word: &str| (0..t.all.len()).find(|&i| t.is(i, word));
    let (Some(vars), Some(rules), Some(init)) = (at("vars"), at("rules"), at("init")) else { return vec![] };
    let mut all = vec![(vars + 1..rules).map(|i| t.start(i)..t.end(i)).collect::<List>()];
    all.push(t.split(rules + 1, init, ";"));
    let mut first = rules + 1;
    for i in rules + 1..init {
        if t.is(i, ";") || t.is(i, "->") {
            all.push(t.split(first, i, ","));
            first = i + 1;
        }
    }
    all
}

/// Of LoLA: places, markings, transitions, and what they take and give.
pub fn net(text: &str) -> Vec<List> {
    let t = Tokens::new(text, 0..text.len(), Style { line: &["//"], block: &[("{", "}")], quotes: &[] });
    let starts: Vec<usize> = (0..t.all.len()).filter(|&i| t.is(i, "TRANSITION")).collect();
    let end = |n: usize| starts.get(n + 1).copied().unwrap_or(t.all.len()) - 1;
    let mut all = vec![(0..starts.len()).map(|n| t.start(starts[n])..t.end(end(n))).collect::<List>()];
    for i in 0..t.all.len() {
        if ["PLACE", "MARKING", "CONSUME", "PRODUCE"].iter().any(|w| t.is(i, w)) {
            all.extend(t.find(i + 1, ";").map(|end| t.split(i + 1, end, ",")));
        }
    }
    all
}

/// Of AltaRica: the members of sections (variables, events, transitions, vectors, assertions).
pub fn nodes(text: &str) -> Vec<List> {
    const SECTIONS: [&str; 9] = ["state", "flow", "event", "trans", "sync", "assert", "init", "sub", "edon"];
    let t = Tokens::new(text, 0..text.len(), C);
    let starts: Vec<usize> = (0..t.all.len()).filter(|&i| SECTIONS.iter().any(|w| t.is(i, w))).collect();
    starts.windows(2).filter(|w| !t.is(w[0], "edon")).map(|w| t.split(w[0] + 1, w[1], ";")).collect()
}

/// Of hierarchical transition systems: what is a set there.
pub fn tree(text: &str) -> Vec<List> {
    const SETS: [&str; 5] = ["\"states\"", "\"initial\"", "\"moves\"", "\"vectors\"", "\"bad\""];
    let t = Tokens::new(text, 0..text.len(), Style { line: &[], block: &[], quotes: &['"'] });
    let opens = |i: &usize| SETS.iter().any(|w| t.is(*i, w)) && t.is(i + 1, ":") && t.is(i + 2, "[");
    let close = |i: usize| (i + 3..t.all.len()).find(|&j| t.is(j, "]") && t.depth(j) == t.depth(i));
    (0..t.all.len()).filter(opens).filter_map(|i| Some(t.split(i + 3, close(i)?, ","))).collect()
}

/// Of C: functions behind their prototypes, and global declarations. The text is made ready first.
pub fn c(text: &str) -> Vec<List> {
    let t = Tokens::new(text, 0..text.len(), C);
    let is_function =
        |(first, last): &&(usize, usize)| t.is(*last, "}") && (*first..*last).any(|i| t.is(i, ")") && t.is(i + 1, "{"));
    let outside = t.statements(0, 0);
    let functions = outside.iter().filter(is_function).map(|(a, b)| t.start(*a)..t.end(*b)).collect::<List>();
    let plain = |s: &&(usize, usize)| !is_function(s) && (s.0..=s.1).all(|i| !t.is(i, "typedef") && !t.is(i, "#"));
    let globals = outside.iter().filter(plain).map(|(a, b)| t.start(*a)..t.end(*b)).collect::<List>();
    vec![functions, globals]
}

/// A prototype of each function of a C program stands before the first of them.
pub fn with_prototypes(text: &str) -> String {
    let t = Tokens::new(text, 0..text.len(), C);
    let outside = t.statements(0, 0);
    let (mut prototypes, mut first) = (String::new(), None);
    for (a, b) in outside {
        let Some(open) = (a..b).find(|&i| t.is(i, "{") && i > 0 && t.is(i - 1, ")") && t.depth(i) == 0) else {
            continue;
        };
        first.get_or_insert(t.start(a));
        let head = &text[t.start(a)..t.end(open - 1)];
        if !head.contains("main") {
            prototypes.push_str(&format!("{head};\n"));
        }
    }
    match first {
        Some(at) => format!("{}{prototypes}{}", &text[..at], &text[at..]),
        None => text.to_string(),
    }
}
