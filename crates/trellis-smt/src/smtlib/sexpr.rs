//! S-expressions: the tokens of SMT-LIB 2.6 §3.1, nested to any depth.
//!
//! One top-level expression at a time lives in a flat list of nodes, a part always before its whole, so that depth costs no
//! stack, neither here nor in whoever walks them. Nodes keep their place in the text.

use std::borrow::Cow;

use super::Error;

/// A node's number.
pub type NodeId = usize;

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind<'a> {
    /// A symbol, without bars.
    Symbol(&'a str),
    /// `:keyword`, with its colon.
    Keyword(&'a str),
    /// Decimal digits.
    Numeral(&'a str),
    /// Digits with a point.
    Decimal,
    /// `#x…`: the digits.
    Hex(&'a str),
    /// `#b…`: the digits.
    Binary(&'a str),
    /// A string, quotes undone.
    Text(Cow<'a, str>),
    /// A list.
    List(Vec<NodeId>),
}

/// A node and its place.
#[derive(Debug, Clone)]
pub struct Node<'a> {
    pub kind: Kind<'a>,
    pub start: usize,
    pub end: usize,
}

/// Reads one expression after another.
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    pub fn new(text: &'a str) -> Reader<'a> {
        Reader { text, at: 0 }
    }

    /// The nodes of the next expression, which is the last of them; none at the end of the text.
    pub fn next(&mut self) -> Result<Option<Vec<Node<'a>>>, Error> {
        let mut nodes: Vec<Node<'a>> = vec![];
        let mut open: Vec<(usize, Vec<NodeId>)> = vec![];
        loop {
            self.skip_blanks();
            let start = self.at;
            let Some(first) = self.text.as_bytes().get(start).copied() else {
                return match open.last() {
                    Some(&(start, _)) => Err(error(start, start + 1, "this parenthesis is never closed")),
                    None => Ok(None),
                };
            };
            let kind = match first {
                b'(' => {
                    self.at += 1;
                    open.push((start, vec![]));
                    continue;
                }
                b')' => {
                    self.at += 1;
                    let Some((begun, parts)) = open.pop() else {
                        return Err(error(start, start + 1, "this parenthesis closes nothing"));
                    };
                    nodes.push(Node { kind: Kind::List(parts), start: begun, end: self.at });
                    if self.place(&nodes, &mut open) {
                        return Ok(Some(nodes));
                    }
                    continue;
                }
                b'"' => self.string()?,
                b'|' => self.quoted()?,
                b'#' => self.bits()?,
                b':' => {
                    self.at += 1;
                    let name = self.word();
                    if name.is_empty() {
                        return Err(error(start, start + 1, "expected a keyword after the colon"));
                    }
                    Kind::Keyword(&self.text[start..self.at])
                }
                b'0'..=b'9' => self.number()?,
                _ => match self.word() {
                    "" => {
                        let c = self.text[start..].chars().next().unwrap_or(' ');
                        let shown = if c.is_control() { format!("U+{:04X}", c as u32) } else { format!("`{c}`") };
                        return Err(error(
                            start,
                            start + c.len_utf8(),
                            format!("the character {shown} has no meaning here"),
                        ));
                    }
                    word => Kind::Symbol(word),
                },
            };
            nodes.push(Node { kind, start, end: self.at });
            if self.place(&nodes, &mut open) {
                return Ok(Some(nodes));
            }
        }
    }

    /// Puts the last node where it belongs; is the expression complete?
    fn place(&self, nodes: &[Node<'a>], open: &mut [(usize, Vec<NodeId>)]) -> bool {
        match open.last_mut() {
            Some((_, parts)) => {
                parts.push(nodes.len() - 1);
                false
            }
            None => true,
        }
    }

    fn skip_blanks(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(b) = bytes.get(self.at) {
            match b {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                b';' => self.at += bytes[self.at..].iter().position(|b| *b == b'\n').unwrap_or(bytes.len() - self.at),
                _ => return,
            }
        }
    }

    /// The characters of a simple symbol from here on.
    fn word(&mut self) -> &'a str {
        let start = self.at;
        let part = |b: &u8| b.is_ascii_alphanumeric() || b"~!@$%^&*_-+=<>.?/".contains(b);
        self.at += self.text.as_bytes()[start..].iter().take_while(|b| part(b)).count();
        &self.text[start..self.at]
    }

    fn digits(&mut self) {
        self.at += self.text.as_bytes()[self.at..].iter().take_while(|b| b.is_ascii_digit()).count();
    }

    fn number(&mut self) -> Result<Kind<'a>, Error> {
        let start = self.at;
        self.digits();
        let bytes = self.text.as_bytes();
        let kind = if bytes.get(self.at) == Some(&b'.') && bytes.get(self.at + 1).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
            self.digits();
            Kind::Decimal
        } else {
            Kind::Numeral(&self.text[start..self.at])
        };
        match self.word() {
            "" => Ok(kind),
            _ => Err(error(start, self.at, "a symbol does not start with a digit; write it between bars: |…|")),
        }
    }

    fn bits(&mut self) -> Result<Kind<'a>, Error> {
        let start = self.at;
        self.at += 1;
        let digits = self.word().get(1..).unwrap_or_default();
        match self.text.as_bytes().get(start + 1) {
            Some(b'x') if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit()) => Ok(Kind::Hex(digits)),
            Some(b'b') if !digits.is_empty() && digits.bytes().all(|b| matches!(b, b'0' | b'1')) => {
                Ok(Kind::Binary(digits))
            }
            _ => Err(error(start, self.at, "expected #x and hexadecimal digits, or #b and binary digits")),
        }
    }

    fn quoted(&mut self) -> Result<Kind<'a>, Error> {
        let start = self.at;
        let rest = &self.text[start + 1..];
        match rest.find(['|', '\\']) {
            Some(n) if rest.as_bytes()[n] == b'|' => {
                self.at = start + n + 2;
                Ok(Kind::Symbol(&rest[..n]))
            }
            Some(n) => Err(error(start + 1 + n, start + 2 + n, "a symbol between bars may not contain a backslash")),
            None => Err(error(start, start + 1, "this bar is never closed")),
        }
    }

    fn string(&mut self) -> Result<Kind<'a>, Error> {
        let start = self.at;
        let mut end = start + 1;
        loop {
            let Some(n) = self.text[end..].find('"') else {
                return Err(error(start, start + 1, "this string is never closed"));
            };
            end += n + 1;
            if self.text.as_bytes().get(end) != Some(&b'"') {
                break;
            }
            end += 1;
        }
        self.at = end;
        let inner = &self.text[start + 1..end - 1];
        Ok(Kind::Text(if inner.contains('"') { inner.replace("\"\"", "\"").into() } else { inner.into() }))
    }
}

pub fn error(start: usize, end: usize, message: impl Into<String>) -> Error {
    Error { start, end, message: message.into() }
}

/// A symbol as it is written: between bars where it has to be.
pub fn symbol(name: &str) -> String {
    let part = |b: u8| b.is_ascii_alphanumeric() || b"~!@$%^&*_-+=<>.?/".contains(&b);
    let plain = !name.is_empty() && name.bytes().all(part) && !name.as_bytes()[0].is_ascii_digit();
    let reserved = ["_", "!", "as", "let", "exists", "forall", "match", "par", "BINARY", "DECIMAL", "HEXADECIMAL"];
    if plain && !reserved.contains(&name) && !["NUMERAL", "STRING"].contains(&name) {
        name.to_string()
    } else {
        format!("|{}|", name.replace(['|', '\\'], "_"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Result<Vec<String>, String> {
        let mut reader = Reader::new(text);
        let mut all = vec![];
        while let Some(nodes) = reader.next().map_err(|e| format!("{}..{}: {e}", e.start, e.end))? {
            let mut shown: Vec<String> = vec![];
            for node in &nodes {
                shown.push(match &node.kind {
                    Kind::List(parts) => {
                        format!("({})", parts.iter().map(|&p| shown[p].clone()).collect::<Vec<_>>().join(" "))
                    }
                    _ => text[node.start..node.end].to_string(),
                });
            }
            all.push(shown.pop().unwrap());
        }
        Ok(all)
    }

    #[test]
    fn tokens_and_nesting() {
        let text = "(a |b c| :k ; comment )\n (#xfF #b01 12 1.50 \"say \"\"hi\"\"\"))() x";
        assert_eq!(shape(text).unwrap(), ["(a |b c| :k (#xfF #b01 12 1.50 \"say \"\"hi\"\"\"))", "()", "x"]);
        assert_eq!(shape("(a (b)").unwrap_err(), "0..1: this parenthesis is never closed");
        assert_eq!(shape("a)").unwrap_err(), "1..2: this parenthesis closes nothing");
        assert!(shape("(12x)").is_err() && shape("#y1").is_err() && shape("|a").is_err() && shape("\"a").is_err());
        assert!(shape("(é)").unwrap_err().contains("`é` has no meaning"));
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = "(".repeat(1_000_000) + &")".repeat(1_000_000);
        assert_eq!(Reader::new(&deep).next().unwrap().unwrap().len(), 1_000_000);
    }

    #[test]
    fn symbols_are_quoted_where_needed() {
        assert_eq!(symbol("x!1"), "x!1");
        assert_eq!(symbol("1x"), "|1x|");
        assert_eq!(symbol("let"), "|let|");
        assert_eq!(symbol("a|b"), "|a_b|");
    }
}
