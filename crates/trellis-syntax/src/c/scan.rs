//! One look at the text before the parser reads it: attributes, pragmas, and what the parser would never come to an end with.
//!
//! *Attributes* that do not change what a program computes are blanked out wherever they stand; the parser does not know all
//! places where GNU C allows them. All others stay in the text and come back in the syntax tree, where [`super::attributes`]
//! reads or refuses them, except those between `struct` and its tag, which the parser has no place for: they are kept here.
//! *Pragmas* are white-listed; `pack` is read.
//!
//! *Time.* The parser is one for parsing expression grammars that remembers (almost) nothing it has tried, so some texts take it
//! exponential time. From its grammar these are: `--` and `++` before an operand, each of which it also tries as two signs when
//! what follows fails; types inside `sizeof (…)`, `_Alignof (…)` and declarators of members, which are tried twice each; and names of
//! types with a parenthesis behind them, `T (T (T (`, each of which may begin parameters or a declarator. The
//! first can never be right in C beyond a few (what `--` has given cannot be changed), the others are nobody's program: all are
//! limited here. What else there may be ends with the time limit of [`super::parallel`].

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::idle::{IDLE_PRAGMAS, NO_MEANING};
use super::preprocess::end_of_quoted;

/// So many `--` or `++` may stand before one operand.
const MAX_STEPS: usize = 4;
/// So deep may types stand in types that stand in expressions.
const MAX_TYPES: usize = 8;
/// So deep may parentheses right behind the name of a type stand in one another.
const MAX_NAMED: usize = 16;

/// An attribute as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Without the underscores around it.
    pub name: String,
    /// What stands in its parentheses.
    pub argument: Option<String>,
    /// Its place in the source.
    pub at: Range<usize>,
}

/// What was found in the text.
#[derive(Debug, Default)]
pub struct Scan {
    /// The attributes between `struct`, `union` or `enum` and what follows, by the place of that word.
    pub tagged: FxHashMap<usize, Vec<Written>>,
    /// Where `#pragma pack` changes the largest alignment, and what it is from there on.
    pub packs: Vec<(usize, Option<u64>)>,
    /// Where `__alignof__` stands, which in the data model ILP32 is not the same as `_Alignof`.
    pub preferred: FxHashSet<usize>,
}

/// What cannot be read: where, and why.
pub struct Unread {
    pub at: Range<usize>,
    pub message: String,
    pub help: Option<&'static str>,
}

impl Scan {
    /// The largest alignment that members may have in a structure that ends there.
    pub fn pack_at(&self, at: usize) -> Option<u64> {
        let before = self.packs.partition_point(|(from, _)| *from <= at);
        before.checked_sub(1).and_then(|k| self.packs[k].1)
    }
}

/// Looks at the text, and blanks out what the parser need not see.
pub fn scan(code: &mut String) -> Result<Scan, Unread> {
    let mut s = Scanner { text: code, found: Scan::default(), blank: vec![], pack: None, stack: vec![] };
    s.all()?;
    let Scanner { found, blank, .. } = s;
    if !blank.is_empty() {
        // Whole words are replaced, so this stays UTF-8.
        let mut bytes = std::mem::take(code).into_bytes();
        for range in blank {
            for b in &mut bytes[range] {
                if *b != b'\n' && *b != b'\r' {
                    *b = b' ';
                }
            }
        }
        *code = String::from_utf8(bytes).unwrap_or_default();
    }
    Ok(found)
}

struct Scanner<'t> {
    text: &'t str,
    found: Scan,
    blank: Vec<Range<usize>>,
    /// What `#pragma pack` says now.
    pack: Option<u64>,
    /// What `#pragma pack(push)` has put aside, perhaps under a name.
    stack: Vec<(Option<String>, Option<u64>)>,
}

/// A bracket that is open.
#[derive(Default)]
struct Bracket {
    /// Is what is inside read twice?
    counts: bool,
    /// Is it a parenthesis?
    round: bool,
    /// Is it one right behind the name of a type?
    named: bool,
}

/// What the last token was.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Something that may be the end of an operand.
    Operand,
    /// `++` or `--` after an operand.
    After,
    /// `++` or `--` before one.
    Before,
    /// `sizeof` and the like.
    Size,
    /// `struct` or `union`, perhaps with a tag.
    Structure,
    Other,
}

impl Scanner<'_> {
    fn all(&mut self) -> Result<(), Unread> {
        let text = self.text;
        let bytes = text.as_bytes();
        // The keyword before attributes; how many `--` stand before the next operand; brackets, and how many of them matter.
        let (mut owner, mut last, mut steps) = (None, Last::Other, 0);
        let (mut brackets, mut types): (Vec<Bracket>, usize) = (vec![], 0);
        // Names in declarations with `typedef`; where we are in one; parentheses right behind such names.
        let (mut defined, mut typedef, mut named) = (FxHashSet::default(), None, 0);
        let mut behind_name = false;
        let (mut i, mut line_start) = (0, true);
        while i < bytes.len() {
            let start = i;
            let b = bytes[start];
            i += 1;
            match b {
                b'\n' => {
                    line_start = true;
                    continue;
                }
                b if b.is_ascii_whitespace() => continue,
                b'#' if line_start => {
                    i = text[start..].find('\n').map_or(bytes.len(), |n| start + n);
                    self.directive(start..i)?;
                    continue;
                }
                _ => line_start = false,
            }
            let after_name = std::mem::take(&mut behind_name);
            let next = match b {
                b'"' | b'\'' => {
                    i = end_of_quoted(bytes, start, b);
                    Last::Operand
                }
                b'0'..=b'9' => {
                    while i < bytes.len() && (bytes[i].is_ascii_alphanumeric() || bytes[i] == b'.' || bytes[i] == b'_')
                    {
                        i += 1;
                    }
                    Last::Operand
                }
                b if b.is_ascii_alphabetic() || b == b'_' => {
                    while i < bytes.len() && (bytes[i].is_ascii_alphanumeric() || bytes[i] == b'_') {
                        i += 1;
                    }
                    let word = &text[start..i];
                    if typedef.is_some() {
                        defined.insert(word);
                    }
                    behind_name = defined.contains(word);
                    match word {
                        "typedef" => {
                            typedef = Some(brackets.len());
                            Last::Other
                        }
                        "__attribute__" | "__attribute" => {
                            let inside = brackets.last().is_some_and(|b| b.round);
                            i = self.attributes(start, i, owner, inside);
                            continue;
                        }
                        "struct" | "union" => {
                            owner = Some(start);
                            last = Last::Structure;
                            continue;
                        }
                        "enum" => {
                            owner = Some(start);
                            last = Last::Other;
                            continue;
                        }
                        "sizeof" | "_Alignof" => Last::Size,
                        "__alignof__" | "__alignof" => {
                            self.found.preferred.insert(start);
                            Last::Size
                        }
                        "__extension__" => last,
                        // The tag.
                        _ if last == Last::Structure && owner.is_some() => Last::Structure,
                        "return" | "case" | "else" | "do" | "goto" => Last::Other,
                        _ => Last::Operand,
                    }
                }
                b'(' | b'[' | b'{' => {
                    let counts =
                        (b == b'(' && last == Last::Size) || (b == b'{' && last == Last::Structure && types > 0);
                    // A structure in the declarator of another one's member is read twice, too.
                    let counts = counts || (b == b'{' && last == Last::Structure && brackets.len() > 1);
                    let round = b == b'(';
                    brackets.push(Bracket { counts, round, named: round && after_name });
                    types += usize::from(counts);
                    named += usize::from(round && after_name);
                    if types > MAX_TYPES || named > MAX_NAMED {
                        return Err(Unread {
                            at: start..i,
                            message: "types are nested too deeply in expressions and types here".into(),
                            help: Some("give the inner ones names, with `typedef`"),
                        });
                    }
                    Last::Other
                }
                b')' | b']' | b'}' => {
                    let closed = brackets.pop().unwrap_or_default();
                    types -= usize::from(closed.counts);
                    named -= usize::from(closed.named);
                    if b == b'}' { Last::Other } else { Last::Operand }
                }
                b'+' | b'-' if bytes.get(i) == Some(&b) => {
                    i += 1;
                    let after = matches!(last, Last::Operand);
                    if last == Last::After || last == Last::Before {
                        return Err(twice(start..i));
                    }
                    if !after {
                        steps += 1;
                        if steps > MAX_STEPS {
                            return Err(twice(start..i));
                        }
                    }
                    owner = None;
                    last = if after { Last::After } else { Last::Before };
                    continue;
                }
                // `->`
                b'-' if bytes.get(i) == Some(&b'>') => {
                    i += 1;
                    Last::Other
                }
                b'+' | b'-' if last == Last::Before => return Err(twice(start..i)),
                b';' => {
                    typedef = typedef.filter(|depth| *depth < brackets.len());
                    Last::Other
                }
                _ => Last::Other,
            };
            // Between two operands, or brackets, everything counts as standing before the second.
            if matches!(next, Last::Operand) || matches!(b, b'(' | b'{' | b'}' | b';' | b',') {
                steps = 0;
            }
            owner = None;
            last = next;
            if last == Last::Structure {
                // It may be followed by more attributes, but those belong to what is declared.
                owner = None;
            }
        }
        Ok(())
    }

    /// `__attribute__((…))`, perhaps inside parentheses: returns where it ends.
    fn attributes(&mut self, start: usize, from: usize, owner: Option<usize>, inside: bool) -> usize {
        let bytes = self.text.as_bytes();
        let skip = |mut i: usize| {
            while bytes.get(i).is_some_and(u8::is_ascii_whitespace) {
                i += 1;
            }
            i
        };
        let outer = skip(from);
        let inner = skip(outer + 1);
        if bytes.get(outer) != Some(&b'(') || bytes.get(inner) != Some(&b'(') {
            return from;
        }
        let Some(close) = self.closing(inner) else { return from };
        let last = skip(close);
        if bytes.get(last) != Some(&b')') {
            return from;
        }
        let end = last + 1;
        let mut kept = vec![];
        let mut commas = vec![];
        let mut i = inner + 1;
        while i < close - 1 {
            let item = skip(i);
            let mut to = item;
            while to < close - 1 && bytes[to] != b',' {
                to = match bytes[to] {
                    b'(' => self.closing(to).unwrap_or(close - 1),
                    quote @ (b'"' | b'\'') => end_of_quoted(bytes, to, quote),
                    _ => to + 1,
                };
            }
            let to = to.min(close - 1);
            let text = self.text.get(item..to).unwrap_or_default().trim_end();
            if let Some(written) = written(text, item) {
                let idle = NO_MEANING.binary_search(&&*written.name).is_ok() && !is_list_of_functions(&written);
                // Of a parameter that is a pointer to a function it means nothing, and the parser has no place for it there.
                let idle = idle || is_plain_level(&written) || (inside && written.name == "noreturn");
                if !idle {
                    kept.push(written);
                }
            }
            commas.push(to);
            i = to + 1;
        }
        if let Some(owner) = owner {
            self.found.tagged.entry(owner).or_default().append(&mut kept);
        }
        if kept.is_empty() {
            self.blank.push(start..end);
            return end;
        }
        // The parser wants a comma between what is left, and no other.
        let mut from = inner + 1;
        for (k, item) in kept.iter().enumerate() {
            let comma = commas.iter().rev().find(|c| **c < item.at.start).filter(|_| k > 0);
            if let Some(&comma) = comma {
                self.blank.push(from..comma);
                from = comma + 1;
            }
            self.blank.push(from..item.at.start);
            from = item.at.end;
        }
        self.blank.push(from..close - 1);
        end
    }

    /// Where the parenthesis that opens there is closed: one past that.
    fn closing(&self, open: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let (mut depth, mut i) = (0usize, open);
        while i < bytes.len() {
            match bytes[i] {
                quote @ (b'"' | b'\'') => {
                    i = end_of_quoted(bytes, i, quote);
                    continue;
                }
                b'(' => depth += 1,
                b')' => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(i + 1);
                    }
                }
                b';' | b'{' => return None,
                _ => {}
            }
            i += 1;
        }
        None
    }

    /// A line that starts with `#`.
    fn directive(&mut self, at: Range<usize>) -> Result<(), Unread> {
        let line = self.text[at.clone()].trim_end();
        let Some(pragma) = line[1..].trim_start().strip_prefix("pragma") else { return Ok(()) };
        self.blank.push(at.clone());
        let words: Vec<&str> = pragma.split_whitespace().collect();
        let is = |known: &&str| {
            let mut known = known.split(' ');
            known.by_ref().enumerate().all(|(k, word)| words.get(k).is_some_and(|w| w.split('(').next() == Some(word)))
        };
        let whole = at.start..at.start + line.len();
        if pragma.trim_start().starts_with("pack") {
            let argument = pragma.trim_start()["pack".len()..].trim();
            return self.pack(argument, whole);
        }
        if words.is_empty() || IDLE_PRAGMAS.iter().any(is) {
            return Ok(());
        }
        let name = words.iter().take(if words[0] == "GCC" || words[0] == "STDC" { 2 } else { 1 }).copied();
        let name = name.collect::<Vec<_>>().join(" ");
        Err(Unread { at: whole, message: format!("`#pragma {name}` is not supported"), help: None })
    }

    /// `#pragma pack(…)`
    fn pack(&mut self, argument: &str, at: Range<usize>) -> Result<(), Unread> {
        let inner = argument.strip_prefix('(').and_then(|a| a.trim_end().strip_suffix(')'));
        let refused = |help| Unread { at: at.clone(), message: "this `#pragma pack` is not supported".into(), help };
        let Some(inner) = inner else { return Err(refused(Some("write `#pragma pack(1)`"))) };
        let mut words = inner.split(',').map(str::trim);
        let first = words.next().unwrap_or_default();
        let number = |word: &str| match word {
            "1" | "2" | "4" | "8" | "16" => word.parse().ok(),
            _ => None,
        };
        match first {
            "" => self.pack = None,
            "push" | "pop" => {
                let (mut name, mut value) = (None, None);
                for word in words {
                    match number(word) {
                        Some(n) => value = Some(n),
                        None if name.is_none()
                            && !word.starts_with(|c: char| c.is_ascii_digit())
                            && !word.is_empty() =>
                        {
                            name = Some(word.to_string());
                        }
                        None => return Err(refused(None)),
                    }
                }
                if first == "push" {
                    self.stack.push((name, self.pack));
                    self.pack = value.or(self.pack);
                } else {
                    let to = match &name {
                        None => self.stack.len().checked_sub(1),
                        Some(_) => self.stack.iter().rposition(|(n, _)| *n == name),
                    };
                    let (Some(to), None) = (to, value) else {
                        return Err(refused(Some("there must be a `push` for each `pop`")));
                    };
                    self.pack = self.stack[to].1;
                    self.stack.truncate(to);
                }
            }
            word => match number(word) {
                Some(n) if words.next().is_none() => self.pack = Some(n),
                _ => return Err(refused(Some("the alignment is 1, 2, 4, 8 or 16"))),
            },
        }
        self.found.packs.push((at.start, self.pack));
        Ok(())
    }
}

fn twice(at: Range<usize>) -> Unread {
    Unread {
        at,
        message: "this sign is not expected here: what `++` and `--` give cannot be changed".into(),
        help: Some("write a space between signs that belong to different operators"),
    }
}

/// `name` or `name(argument)`
fn written(text: &str, at: usize) -> Option<Written> {
    let name = text.split('(').next().unwrap_or_default().trim();
    let argument = text.find('(').map(|open| text[open + 1..].trim_end().trim_end_matches(')').trim().to_string());
    let plain = bare(name).to_string();
    (!name.is_empty()).then(|| Written { name: plain, argument, at: at..at + text.len() })
}

/// A name without the underscores around it.
pub fn bare(name: &str) -> &str {
    name.strip_prefix("__").and_then(|n| n.strip_suffix("__")).unwrap_or(name)
}

/// `optimize("O2")`: how much, and not what overflow means.
fn is_plain_level(a: &Written) -> bool {
    let levels = ["O0", "O1", "O2", "O3", "Og", "Os", "0", "1", "2", "3"];
    a.name == "optimize" && a.argument.as_deref().is_some_and(|a| levels.contains(&a.trim_matches('"')))
}

/// `section(".init_array")`: what stands there is called before `main`, or after it.
fn is_list_of_functions(a: &Written) -> bool {
    let lists = ["init", "fini", "ctors", "dtors"];
    a.name == "section" && a.argument.as_deref().is_none_or(|a| lists.iter().any(|l| a.contains(l)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned(text: &str) -> Result<(String, Scan), String> {
        let mut code = text.to_string();
        let found = scan(&mut code).map_err(|u| u.message)?;
        Ok((code, found))
    }

    #[test]
    fn attributes_without_meaning_are_blanked() {
        let (code, found) = scanned("int x __attribute__((unused, aligned(8), __used__, weak));").expect("read");
        assert_eq!(code, "int x __attribute__((        aligned(8)          , weak));");
        assert!(found.tagged.is_empty());
        let (code, _) = scanned("L: __attribute__ ( ( unused ) ) ;").expect("read");
        assert_eq!(code, "L:                              ;");
        let (code, found) = scanned("struct __attribute__((packed, may_alias)) s { int a; };").expect("read");
        assert_eq!(code, "struct                                    s { int a; };");
        assert_eq!(found.tagged[&0][0].name, "packed");
    }

    #[test]
    fn pack_is_a_stack() {
        let text = "#pragma pack(1)\na\n#pragma pack(push, 4)\nb\n#pragma pack(pop)\nc\n#pragma pack()\nd\n";
        let (code, found) = scanned(text).expect("read");
        assert_eq!(code.split_whitespace().collect::<String>(), "abcd");
        let at = |word| found.pack_at(text.find(&format!("\n{word}\n")).expect("there"));
        assert_eq!([at("a"), at("b"), at("c"), at("d")], [Some(1), Some(4), Some(1), None]);
        for text in
            ["#pragma pack(3)", "#pragma pack(pop)", "#pragma omp parallel for", "#pragma weak f = g", "  #pragma foo"]
        {
            assert!(scanned(text).is_err(), "{text}");
        }
        assert!(scanned("#pragma GCC diagnostic push\n#pragma once\n").is_ok());
    }

    #[test]
    fn parentheses_behind_names_of_types_are_counted() {
        let text = |n: usize, close: &str| format!("typedef int T; int f(int); int x = {}1{};", "T (".repeat(n), close);
        assert!(scanned(&text(16, &")".repeat(16))).is_ok());
        assert!(scanned(&text(17, "")).is_err() && scanned(&text(17, &")".repeat(17))).is_err());
        assert!(scanned(&text(17, &")".repeat(17)).replace("T (", "f(")).is_ok(), "calls of functions");
    }

    #[test]
    fn signs_are_counted() {
        for text in
            ["x - --y", "x-- - --y", "x---y", "a[i++]--", "- - - -x", "--*++p", "f(--x, --y)", "1e--x", "x = -- y"]
        {
            assert!(scanned(text).is_ok(), "{text}");
        }
        for text in ["----x", "--+x", "int x = -----;", "-- - x", "x-- --y", "--*--*--*--*--*x"] {
            assert!(scanned(text).is_err(), "{text}");
        }
    }
}
