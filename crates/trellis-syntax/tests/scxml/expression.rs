//! Expressions of the reference: evaluated as they are read, by precedence climbing. Values are ECMAScript's; what has one there and
//! none in the front end (`NaN`, for one) is [`Fault::Beyond`].

use std::collections::BTreeMap;

/// A value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Val {
    Undefined,
    Null,
    Bool(bool),
    Int(i64),
    Symbol(String),
    Array(Vec<Val>),
    Object(BTreeMap<String, Val>),
}

/// What names mean.
pub trait Names {
    /// None: there is no such variable.
    fn data(&self, name: &str) -> Option<Val>;
    fn is_in(&self, state: &str) -> bool;
    /// `_event.field`
    fn event(&self, field: &str) -> V;
}

/// Why there is no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Error,
    Beyond,
}

pub fn evaluate(text: &str, names: &dyn Names) -> Result<Val, Fault> {
    if text.starts_with("return") {
        return Err(Fault::Error);
    }
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

pub type V = Result<Val, Fault>;

/// Both, or what is wrong with them. What is beyond goes before errors.
fn both(a: V, b: V) -> Result<(Val, Val), Fault> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (Err(Fault::Beyond), _) | (_, Err(Fault::Beyond)) => Err(Fault::Beyond),
        _ => Err(Fault::Error),
    }
}

/// As a number.
fn int(v: Val) -> Result<i64, Fault> {
    match v {
        Val::Int(n) => Ok(n),
        Val::Bool(b) => Ok(i64::from(b)),
        Val::Null => Ok(0),
        _ => Err(Fault::Beyond),
    }
}

pub fn truth(v: &Val) -> bool {
    match v {
        Val::Undefined | Val::Null => false,
        Val::Bool(b) => *b,
        Val::Int(n) => *n != 0,
        Val::Symbol(s) => !s.is_empty(),
        Val::Array(_) | Val::Object(_) => true,
    }
}

fn number(text: &str) -> Option<i64> {
    if text.trim().is_empty() { Some(0) } else { text.trim().parse().ok() }
}

fn equal(a: &Val, b: &Val, loose: bool) -> Result<bool, Fault> {
    use Val::*;
    Ok(match (a, b) {
        (Undefined | Null, Undefined | Null) => loose || a == b,
        (Bool(_), Bool(_)) | (Int(_), Int(_)) | (Symbol(_), Symbol(_)) => a == b,
        (Array(_), Array(_)) | (Object(_), Object(_)) => return Err(Fault::Beyond),
        _ if !loose => false,
        (Undefined | Null, _) | (_, Undefined | Null) => false,
        (Bool(x), y) if !matches!(y, Object(_) | Array(_)) => return equal(&Int(i64::from(*x)), y, true),
        (x, Bool(y)) if !matches!(x, Object(_) | Array(_)) => return equal(x, &Int(i64::from(*y)), true),
        (Symbol(s), Int(n)) | (Int(n), Symbol(s)) => number(s) == Some(*n),
        (Array(all), y @ (Int(_) | Bool(_))) | (y @ (Int(_) | Bool(_)), Array(all)) => match &all[..] {
            [] => !truth(y),
            [one @ (Int(_) | Symbol(_))] => return equal(one, y, true),
            [_] => return Err(Fault::Beyond),
            _ => false,
        },
        (Object(_), Int(_) | Bool(_)) | (Int(_) | Bool(_), Object(_)) => false,
        _ => return Err(Fault::Beyond),
    })
}

pub fn member(v: Val, name: &str) -> V {
    match v {
        Val::Undefined | Val::Null => Err(Fault::Error),
        Val::Object(fields) => Ok(fields.get(name).cloned().unwrap_or(Val::Undefined)),
        Val::Array(all) if name == "length" => Ok(Val::Int(all.len() as i64)),
        Val::Symbol(_) if name == "length" => Err(Fault::Beyond),
        _ => Ok(Val::Undefined),
    }
}

fn element(v: Val, at: Val) -> V {
    match at {
        Val::Symbol(name) => member(v, &name),
        Val::Int(n) => match v {
            Val::Array(all) => Ok(usize::try_from(n).ok().and_then(|n| all.get(n).cloned()).unwrap_or(Val::Undefined)),
            Val::Object(_) => Err(Fault::Beyond),
            v => member(v, ""),
        },
        _ => Err(Fault::Beyond),
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
        if truth(&c?) { a } else { b }
    }

    // Both sides are read, but what the left one decides is not asked of the right one.
    fn or(&mut self) -> V {
        let mut v = self.and();
        while self.take("||") {
            let right = self.and();
            v = match v {
                Ok(left) if !truth(&left) => right,
                left => left,
            };
        }
        v
    }

    fn and(&mut self) -> V {
        let mut v = self.equality();
        while self.take("&&") {
            let right = self.equality();
            v = match v {
                Ok(left) if truth(&left) => right,
                left => left,
            };
        }
        v
    }

    fn equality(&mut self) -> V {
        let v = self.relation();
        for (op, same, loose) in [("===", true, false), ("!==", false, false), ("==", true, true), ("!=", false, true)]
        {
            if self.take(op) {
                let w = self.relation();
                let (v, w) = both(v, w)?;
                return Ok(Val::Bool(equal(&v, &w, loose)? == same));
            }
        }
        v
    }

    fn relation(&mut self) -> V {
        let v = self.sum();
        if self.take("instanceof Array") {
            return v.map(|v| Val::Bool(matches!(v, Val::Array(_))));
        }
        for op in ["<=", ">=", "<", ">"] {
            if self.take(op) {
                let w = self.sum();
                let (v, w) = both(v, w)?;
                if v == Val::Undefined || w == Val::Undefined {
                    return Ok(Val::Bool(false));
                }
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
                v = both(v, w).and_then(|pair| match pair {
                    (Val::Symbol(v), Val::Symbol(w)) => Ok(Val::Symbol(v + &w)),
                    (Val::Symbol(_), _) | (_, Val::Symbol(_)) => Err(Fault::Beyond),
                    (v, w) => Ok(Val::Int(int(v)? + int(w)?)),
                });
            } else if self.take("-") {
                let w = self.product();
                v = both(v, w).and_then(|(v, w)| Ok(Val::Int(int(v)? - int(w)?)));
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
                v = both(v, w).and_then(|(v, w)| Ok(Val::Int(int(v)? * int(w)?)));
            } else if self.take("%") {
                let w = self.prefix();
                v = both(v, w).and_then(|(v, w)| {
                    let (v, w) = (int(v)?, int(w)?);
                    Ok(Val::Int(v.checked_rem(w).ok_or(Fault::Error)?))
                });
            } else {
                return v;
            }
        }
    }

    fn prefix(&mut self) -> V {
        self.blank();
        if self.text[self.at..].starts_with(b"!") && !self.text[self.at..].starts_with(b"!=") {
            self.at += 1;
            return self.prefix().map(|v| Val::Bool(!truth(&v)));
        }
        if self.take("-") {
            return self.prefix().and_then(int).map(|n| Val::Int(-n));
        }
        if self.take("typeof ") {
            self.blank();
            let start = self.at;
            let name = self.word();
            let unknown = !name.starts_with('_') && self.names.data(&name).is_none() && !name.is_empty();
            self.at = start;
            let v = self.prefix();
            let v = if unknown { Val::Undefined } else { v? };
            let name = match v {
                Val::Undefined => "undefined",
                Val::Bool(_) => "boolean",
                Val::Int(_) => "number",
                Val::Symbol(_) => "string",
                Val::Null | Val::Array(_) | Val::Object(_) => "object",
            };
            return Ok(Val::Symbol(name.into()));
        }
        let mut v = self.primary();
        loop {
            if self.take("[") {
                let at = self.ternary();
                assert!(self.take("]"));
                v = both(v, at).and_then(|(v, at)| element(v, at));
            } else if self.take(".concat(") {
                let mut all = vec![v];
                while !self.take(")") {
                    all.push(self.ternary());
                    self.take(",");
                }
                v = concat(all);
            } else if self.take(".") {
                let name = self.word();
                v = v.and_then(|v| member(v, &name));
            } else {
                return v;
            }
        }
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
            b'[' => {
                self.at += 1;
                let mut all = vec![];
                while !self.take("]") {
                    all.push(self.ternary());
                    self.take(",");
                }
                collect(all).map(Val::Array)
            }
            b'{' => {
                self.at += 1;
                let (mut names, mut all) = (vec![], vec![]);
                while !self.take("}") {
                    self.blank();
                    names.push(self.word());
                    assert!(self.take(":"));
                    all.push(self.ternary());
                    self.take(",");
                }
                Ok(Val::Object(names.into_iter().zip(collect(all)?).collect()))
            }
            b'\'' | b'"' => Ok(Val::Symbol(self.quoted())),
            b if b.is_ascii_digit() => Ok(Val::Int(self.word().parse().expect("a number"))),
            _ => match self.word().as_str() {
                "true" => Ok(Val::Bool(true)),
                "false" => Ok(Val::Bool(false)),
                "undefined" => Ok(Val::Undefined),
                "null" => Ok(Val::Null),
                "_event" => {
                    assert!(self.take("."), "only members of `_event`");
                    let field = self.word();
                    self.names.event(&field)
                }
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
                    let (v, w) = both(v, w)?;
                    let (v, w) = (int(v)?, int(w)?);
                    let q = v.checked_div(w).ok_or(Fault::Error)?;
                    let down = how == "floor" && v % w != 0 && (v < 0) != (w < 0);
                    Ok(Val::Int(q - i64::from(down)))
                }
                name => self.names.data(name).ok_or(Fault::Error),
            },
        }
    }
}

/// All of them, or the worst that is wrong with one.
fn collect(all: Vec<V>) -> Result<Vec<Val>, Fault> {
    if all.contains(&Err(Fault::Beyond)) {
        return Err(Fault::Beyond);
    }
    all.into_iter().collect()
}

fn concat(all: Vec<V>) -> V {
    let all = collect(all)?;
    let mut joined = vec![];
    for (n, v) in all.into_iter().enumerate() {
        match v {
            Val::Array(more) => joined.extend(more),
            _ if n == 0 => return Err(Fault::Beyond),
            v => joined.push(v),
        }
    }
    if joined.len() > 8 { Err(Fault::Beyond) } else { Ok(Val::Array(joined)) }
}
