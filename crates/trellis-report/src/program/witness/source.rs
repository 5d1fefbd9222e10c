//! As much of the text of a C program as a witness needs: where functions, blocks and `for` statements begin and end.
//!
//! Braces, parentheses, strings and comments are looked at, nothing else. Where that is not enough (macros that open blocks), a
//! variable may seem out of scope, and what speaks of it is left out.

/// A line and a column, both from 1; columns count characters.
pub(super) type Position = (u32, u32);

/// A function, with its body.
pub(super) struct Function {
    pub name: String,
    start: Position,
    end: Position,
}

/// Where names are visible.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Scope {
    start: Position,
    end: Position,
    /// From the keyword of a `for`: what is declared there is known to the whole statement.
    pub is_for: bool,
}

/// What stands where.
pub(super) struct Outline {
    functions: Vec<Function>,
    scopes: Vec<Scope>,
}

impl Scope {
    pub fn contains(&self, at: Position) -> bool {
        self.start <= at && at <= self.end
    }
}

impl Outline {
    /// Of a text.
    pub fn new(text: &str) -> Outline {
        let mut scan = Scan::default();
        for token in tokens(text) {
            scan.token(&token);
        }
        Outline { functions: scan.functions, scopes: scan.scopes }
    }

    /// The function around a place.
    pub fn function(&self, at: Position) -> Option<&Function> {
        self.functions.iter().find(|f| f.start <= at && at <= f.end)
    }

    /// The smallest scope around a place.
    pub fn scope(&self, at: Position) -> Option<Scope> {
        self.scopes.iter().filter(|s| s.contains(at)).max_by_key(|s| s.start).copied()
    }
}

struct Token<'a> {
    text: &'a str,
    at: Position,
}

/// Words and single characters; no comments, texts, directives or blanks.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut out = Vec::new();
    let mut block = false;
    let mut directive = false;
    for (n, line) in text.lines().enumerate() {
        let starts = !block && line.trim_start().starts_with('#');
        let skipped = directive || starts;
        directive = skipped && line.trim_end().ends_with('\\');
        if skipped {
            continue;
        }
        let chars: Vec<(usize, char)> = line.char_indices().collect();
        let mut i = 0;
        while i < chars.len() {
            let (byte, c) = chars[i];
            let next = chars.get(i + 1).map(|c| c.1);
            let at = (n as u32 + 1, i as u32 + 1);
            if block {
                if c == '*' && next == Some('/') {
                    block = false;
                    i += 1;
                }
                i += 1;
                continue;
            }
            match c {
                '/' if next == Some('/') => break,
                '/' if next == Some('*') => {
                    block = true;
                    i += 2;
                }
                '"' | '\'' => {
                    i += 1;
                    while i < chars.len() && chars[i].1 != c {
                        i += if chars[i].1 == '\\' { 2 } else { 1 };
                    }
                    i += 1;
                }
                c if c.is_alphanumeric() || c == '_' => {
                    let start = i;
                    while i < chars.len() && (chars[i].1.is_alphanumeric() || chars[i].1 == '_') {
                        i += 1;
                    }
                    let end = chars.get(i).map_or(line.len(), |c| c.0);
                    out.push(Token { text: &line[chars[start].0..end], at });
                }
                c => {
                    if !c.is_whitespace() {
                        out.push(Token { text: &line[byte..byte + c.len_utf8()], at });
                    }
                    i += 1;
                }
            }
        }
    }
    out
}

/// What an opening bracket belongs to.
enum Open {
    Paren {
        /// The keyword before it, if that is `for`.
        header: Option<Position>,
    },
    Brace {
        start: Position,
        function: Option<String>,
        /// The `for` whose body it is.
        header: Option<Position>,
    },
}

#[derive(Default)]
struct Scan {
    functions: Vec<Function>,
    scopes: Vec<Scope>,
    open: Vec<Open>,
    last: String,
    last_at: Position,
    /// The name before the first parenthesis of a declaration outside of all functions.
    candidate: Option<String>,
    /// A `for` whose header is over and whose body has not begun.
    header: Option<Position>,
}

impl Scan {
    fn token(&mut self, t: &Token<'_>) {
        match t.text {
            "(" => {
                let header = (self.last == "for").then_some(self.last_at);
                if self.open.is_empty() && self.candidate.is_none() {
                    self.candidate = Some(self.last.clone());
                }
                self.open.push(Open::Paren { header });
            }
            ")" => {
                if let Some(Open::Paren { header }) = self.open.pop() {
                    self.header = header.or(self.header.take());
                }
            }
            "{" => {
                let top = self.open.is_empty();
                let function = self.candidate.take().filter(|_| top && self.last == ")");
                let header = self.header.take().filter(|_| self.last == ")");
                self.open.push(Open::Brace { start: t.at, function, header });
            }
            "}" => {
                if let Some(Open::Brace { start, function, header }) = self.open.pop() {
                    let scope = |start, is_for| Scope { start, end: t.at, is_for };
                    self.scopes.push(scope(start, false));
                    self.scopes.extend(header.map(|start| scope(start, true)));
                    self.functions.extend(function.map(|name| Function { name, start, end: t.at }));
                }
            }
            ";" => {
                // Not those in the header of a `for`.
                if !matches!(self.open.last(), Some(Open::Paren { .. })) {
                    let header = self.header.take();
                    self.scopes.extend(header.map(|start| Scope { start, end: t.at, is_for: true }));
                }
                if self.open.is_empty() {
                    self.candidate = None;
                }
            }
            _ => {}
        }
        self.last = t.text.to_string();
        self.last_at = t.at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
int g; /* { */
int f(int a) { return a; } // {
#define M {
int main(void) {
  char *s = \"{\\\"{\";
  for (int i = 0; i < 3; i++) {
    int y;
  }
  for (int k = 0; k < 3; k++)
    g++;
  return 0;
}
";

    #[test]
    fn functions_and_scopes_are_found() {
        let outline = Outline::new(TEXT);
        let name = |line, column| outline.function((line, column)).map(|f| f.name.as_str());
        assert_eq!(name(2, 20), Some("f"));
        assert_eq!(name(7, 5), Some("main"));
        assert_eq!(name(1, 5), None);
        let scope = |line, column| outline.scope((line, column)).map(|s| (s.start, s.end, s.is_for));
        assert_eq!(scope(7, 5), Some(((6, 31), (8, 3), false)));
        assert_eq!(scope(6, 12), Some(((6, 3), (8, 3), true)));
        assert_eq!(scope(9, 12), Some(((9, 3), (10, 8), true)));
        assert_eq!(scope(11, 3), Some(((4, 16), (12, 1), false)));
    }
}
