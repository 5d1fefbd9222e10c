//! Expressions of the reference: evaluated as they are read, by precedence climbing.

/// A value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Val {
    Bool(bool),
    Int(i64),
    Symbol(String),
}

/// What names mean.
pub trait Names {
    fn data(&self, name: &str) -> Val;
    fn is_in(&self, state: &str) -> bool;
}

/// The expression has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault;

pub fn evaluate(text: &str, names: &dyn Names) -> Result<Val, Fault> {
    let mut p = P { text: text.as_bytes(), at: 0, names };
    let v = p.ternary();
    p.blank();
    assert_eq!(p.at, text.len(), "the rest of {text}");
    v
}

struct P<'a> {
    text: &'a [u8],
    at: usize,
    names: &'a dyn Names,
}

type V = Result<Val, Fault>;

fn int(v: V) -> Result<i64, Fault> {
    match v? {
        Val::Int(n) => Ok(n),
        v => panic!("{v:?} is no integer"),
    }
}

fn truth(v: V) -> Result<bool, Fault> {
    match v? {
        Val::Bool(b) => Ok(b),
        v => panic!("{v:?} is no truth value"),
    }
}

impl P<'_> {
    fn blank(&mut self) {
        while self.at < self.text.len() && self.text[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
    }

    fn take(&mut self, s: &str) -> bool {
        self.blank();
        let is = self.text[self.at..].starts_with(s.as_bytes());
        self.at += if is { s.len() } else { 0 };
        is
    }

    fn ternary(&mut self) -> V {
        let c = self.or();
        if !self.take("?") {
            return c;
        }
        let a = self.ternary();
        assert!(self.take(":"));
        let b = self.ternary();
        if truth(c)? { a } else { b }
    }

    // Both sides are read, but what the left one decides is not asked of the right one.
    fn or(&mut self) -> V {
        let mut v = self.and();
        while self.take("||") {
            let right = self.and();
            v = match truth(v) {
                Ok(false) => right,
                done => done.map(Val::Bool),
            };
        }
        v
    }

    fn and(&mut self) -> V {
        let mut v = self.equality();
        while self.take("&&") {
            let right = self.equality();
            v = match truth(v) {
                Ok(true) => right,
                done => done.map(Val::Bool),
            };
        }
        v
    }

    fn equality(&mut self) -> V {
        let v = self.relation();
        for (op, same) in [("===", true), ("!==", false), ("==", true), ("!=", false)] {
            if self.take(op) {
                let w = self.relation();
                return Ok(Val::Bool((v? == w?) == same));
            }
        }
        v
    }

    fn relation(&mut self) -> V {
        let v = self.sum();
        for op in ["<=", ">=", "<", ">"] {
            if self.take(op) {
                let w = self.sum();
                let (v, w) = (int(v)?, int(w)?);
                return Ok(Val::Bool(match op {
                    "<=" => v <= w,
                    ">=" => v >= w,
                    "<" => v < w,
                    _ => v > w,
                }));
            }
        }
        v
    }

    fn sum(&mut self) -> V {
        let mut v = self.product();
        loop {
            if self.take("+") {
                let w = self.product();
                v = int(v).and_then(|v| Ok(Val::Int(v + int(w)?)));
            } else if self.take("-") {
                let w = self.product();
                v = int(v).and_then(|v| Ok(Val::Int(v - int(w)?)));
            } else {
                return v;
            }
        }
    }

    fn product(&mut self) -> V {
        let mut v = self.prefix();
        loop {
            if self.take("*") {
                let w = self.prefix();
                v = int(v).and_then(|v| Ok(Val::Int(v * int(w)?)));
            } else if self.take("%") {
                let w = self.prefix();
                v = int(v).and_then(|v| Ok(Val::Int(v.checked_rem(int(w)?).ok_or(Fault)?)));
            } else {
                return v;
            }
        }
    }

    fn prefix(&mut self) -> V {
        self.blank();
        if self.text[self.at..].starts_with(b"!") && !self.text[self.at..].starts_with(b"!=") {
            self.at += 1;
            return truth(self.prefix()).map(|b| Val::Bool(!b));
        }
        if self.take("-") {
            return int(self.prefix()).map(|n| Val::Int(-n));
        }
        self.primary()
    }

    fn word(&mut self) -> String {
        let start = self.at;
        while self.at < self.text.len() && (self.text[self.at].is_ascii_alphanumeric() || self.text[self.at] == b'_') {
            self.at += 1;
        }
        String::from_utf8_lossy(&self.text[start..self.at]).to_string()
    }

    fn quoted(&mut self) -> String {
        self.blank();
        let quote = self.text[self.at];
        let start = self.at + 1;
        self.at = start + self.text[start..].iter().position(|b| *b == quote).expect("a closing quote") + 1;
        String::from_utf8_lossy(&self.text[start..self.at - 1]).to_string()
    }

    fn primary(&mut self) -> V {
        self.blank();
        match self.text[self.at] {
            b'(' => {
                self.at += 1;
                let v = self.ternary();
                assert!(self.take(")"));
                v
            }
            b'\'' | b'"' => Ok(Val::Symbol(self.quoted())),
            b if b.is_ascii_digit() => Ok(Val::Int(self.word().parse().expect("a number"))),
            _ => match self.word().as_str() {
                "true" => Ok(Val::Bool(true)),
                "false" => Ok(Val::Bool(false)),
                "In" => {
                    assert!(self.take("("));
                    let state = self.quoted();
                    assert!(self.take(")"));
                    Ok(Val::Bool(self.names.is_in(&state)))
                }
                "Math" => {
                    assert!(self.take("."));
                    let how = self.word();
                    assert!(self.take("("));
                    let v = self.product();
                    assert!(self.take("/"));
                    let w = self.prefix();
                    assert!(self.take(")"));
                    let (v, w) = (int(v)?, int(w)?);
                    let q = v.checked_div(w).ok_or(Fault)?;
                    let down = how == "floor" && v % w != 0 && (v < 0) != (w < 0);
                    Ok(Val::Int(q - i64::from(down)))
                }
                name => Ok(self.names.data(name)),
            },
        }
    }
}
