//! A JSON text, taken apart one level at a time: each part knows its path, for messages, and is looked into only when
//! asked. Nesting costs no stack, whatever is in the text. Knows nothing of what the documents mean.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use trellis_domain::zone::Rational;
use trellis_model::network::interpret::timed::is_clock_value;
use trellis_order::Word;

use crate::words::excerpt;

/// Evidence that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// Not JSON at all.
    #[error("this is not JSON: {0}")]
    Syntax(String),
    /// Of a version that is no longer read.
    #[error("\"{0}\" was written by an older Trellis and is no longer read; run check again to make it anew")]
    Outdated(String),
    /// Something in it is not as it should be.
    #[error("at {path}: expected {expected}, found {found}")]
    Content {
        /// Where: `steps[3].edges[0].process`.
        path: String,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
}

impl ReadError {
    /// Something else was expected where this value is.
    pub fn found(path: String, expected: impl Into<String>, found: &serde_json::Value) -> ReadError {
        let found = match found {
            serde_json::Value::Object(_) => "an object".into(),
            serde_json::Value::Array(items) => format!("an array of {}", items.len()),
            other => crate::words::short(&other.to_string(), 60),
        };
        ReadError::Content { path, expected: expected.into(), found }
    }
}

/// Where a part stands.
#[derive(Clone, Copy)]
pub(crate) enum Path<'p> {
    Top,
    Field(&'p Path<'p>, &'p str),
    Item(&'p Path<'p>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Path::Top => f.write_str("the top"),
            Path::Field(Path::Top, name) => f.write_str(&plain(name)),
            Path::Field(up, name) => write!(f, "{up}.{}", plain(name)),
            Path::Item(Path::Top, i) => write!(f, "[{i}]"),
            Path::Item(up, i) => write!(f, "{up}[{i}]"),
        }
    }
}

/// Names with anything odd in them are quoted, long ones are cut.
pub(crate) fn plain(name: &str) -> Cow<'_, str> {
    let simple = |c: char| c.is_alphanumeric() || "_.()[],".contains(c);
    if !name.is_empty() && name.chars().count() <= 60 && name.chars().all(simple) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(format!("\"{}\"", excerpt(name)))
    }
}

/// A part of a document.
#[derive(Clone, Copy)]
pub(crate) struct Node<'p, 'a> {
    pub path: Path<'p>,
    raw: &'a RawValue,
}

/// The fields of an object; each name occurs once.
pub(crate) type Fields<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

/// The fields of an object, and a name that occurs twice, if there is one: which of the two would count?
struct Object<'a> {
    fields: Fields<'a>,
    twice: Option<Cow<'a, str>>,
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Object<'de>, D::Error> {
        struct Fill;
        impl<'de> Visitor<'de> for Fill {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut all: A) -> Result<Object<'de>, A::Error> {
                let mut object = Object { fields: Fields::new(), twice: None };
                while let Some((name, value)) = all.next_entry::<Name<'de>, &'de RawValue>()? {
                    if object.fields.insert(name.0.clone(), value).is_some() {
                        object.twice = Some(name.0);
                    }
                }
                Ok(object)
            }
        }
        d.deserialize_map(Fill)
    }
}

#[derive(serde::Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Node<'static, 'a> {
    /// A whole text.
    pub fn top(text: &'a str) -> Result<Node<'static, 'a>, ReadError> {
        let text = text.trim_start_matches('\u{feff}');
        let raw = serde_json::from_str(text).map_err(|e| ReadError::Syntax(e.to_string()))?;
        Ok(Node { path: Path::Top, raw })
    }
}

impl<'p, 'a> Node<'p, 'a> {
    pub fn new(path: Path<'p>, raw: &'a RawValue) -> Node<'p, 'a> {
        Node { path, raw }
    }

    /// It should have been something else.
    pub fn fail<T>(&self, expected: impl fmt::Display) -> Result<T, ReadError> {
        let text = self.raw.get();
        let found = match text.as_bytes().first() {
            Some(b'{') => "an object".into(),
            Some(b'[') => match self.items() {
                Some(items) => format!("an array of {}", items.len()),
                None => "an array".into(),
            },
            _ => {
                let mut short: String = text.chars().take(60).collect();
                if short.len() < text.len() {
                    short.push('…');
                }
                short
            }
        };
        Err(ReadError::Content { path: self.path.to_string(), expected: expected.to_string(), found })
    }

    fn items(&self) -> Option<Vec<&'a RawValue>> {
        serde_json::from_str(self.raw.get()).ok()
    }

    /// The part as a value, which must be this one.
    pub fn must_be(&self, expected: &serde_json::Value) -> Result<(), ReadError> {
        match serde_json::from_str::<serde_json::Value>(self.raw.get()) {
            Ok(found) if found == *expected => Ok(()),
            _ => self.fail(expected),
        }
    }

    /// As it stands there.
    pub fn text(&self) -> &'a str {
        self.raw.get()
    }

    pub fn raw(&self) -> &'a RawValue {
        self.raw
    }

    pub fn is_null(&self) -> bool {
        self.raw.get() == "null"
    }

    pub fn object(&self) -> Result<Fields<'a>, ReadError> {
        match serde_json::from_str::<Object<'a>>(self.raw.get()) {
            Ok(Object { fields, twice: None }) => Ok(fields),
            Ok(Object { twice: Some(name), .. }) => {
                self.fail(format_args!("each name once, and \"{}\" occurs twice", excerpt(&name)))
            }
            Err(_) => self.fail("an object"),
        }
    }

    pub fn array(&self) -> Result<Vec<&'a RawValue>, ReadError> {
        self.items().map_or_else(|| self.fail("an array"), Ok)
    }

    /// An array of exactly so many.
    pub fn array_of(&self, n: usize, what: &str) -> Result<Vec<&'a RawValue>, ReadError> {
        match self.items() {
            Some(items) if items.len() == n => Ok(items),
            _ => self.fail(format_args!("an array of {n} {what}")),
        }
    }

    pub fn string(&self, what: &str) -> Result<Cow<'a, str>, ReadError> {
        match serde_json::from_str::<Name<'a>>(self.raw.get()) {
            Ok(name) => Ok(name.0),
            Err(_) => self.fail(what),
        }
    }

    pub fn boolean(&self) -> Result<bool, ReadError> {
        serde_json::from_str(self.raw.get()).or_else(|_| self.fail("true or false"))
    }

    /// An integer from `lo` to `hi`.
    pub fn integer(&self, lo: i64, hi: i64, what: &str) -> Result<i64, ReadError> {
        match serde_json::from_str::<i64>(self.raw.get()) {
            Ok(n) if (lo..=hi).contains(&n) => Ok(n),
            _ => self.fail(format_args!("{what}: an integer from {lo} to {hi}")),
        }
    }

    /// A number below `n`.
    pub fn index(&self, n: usize, what: &str) -> Result<usize, ReadError> {
        match serde_json::from_str::<usize>(self.raw.get()) {
            Ok(i) if i < n => Ok(i),
            _ if n == 0 => self.fail(format_args!("no {what}, for there is none")),
            _ => self.fail(format_args!("{what}: a number from 0 to {}", n - 1)),
        }
    }

    /// A number that fits 32 bits.
    pub fn count(&self, what: &str) -> Result<u32, ReadError> {
        serde_json::from_str(self.raw.get()).or_else(|_| self.fail(what))
    }

    /// `"0x1f"`.
    pub fn word(&self) -> Result<Word, ReadError> {
        const WHAT: &str = "a word in hexadecimal, like \"0x1f\"";
        let text = self.string(WHAT)?;
        let digits = text.strip_prefix("0x").filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        match digits.and_then(|d| Word::from_str_radix(d, 16).ok()) {
            Some(word) => Ok(word),
            None => self.fail(WHAT),
        }
    }

    /// As a list of so many integers, some of which may be missing, if that is what it is.
    pub fn integers(&self, n: usize) -> Option<Vec<Option<i64>>> {
        serde_json::from_str::<Vec<Option<i64>>>(self.raw.get()).ok().filter(|all| all.len() == n)
    }
}

/// A field that must be there.
pub(crate) fn field<'p, 'a>(fields: &Fields<'a>, up: &'p Path<'p>, name: &'p str) -> Result<Node<'p, 'a>, ReadError> {
    match fields.get(name) {
        Some(raw) => Ok(Node::new(Path::Field(up, name), raw)),
        None => Err(ReadError::Content {
            path: up.to_string(),
            expected: format!("a field `{name}`"),
            found: "none".into(),
        }),
    }
}

/// A field that may be missing or `null`.
pub(crate) fn optional<'p, 'a>(fields: &Fields<'a>, up: &'p Path<'p>, name: &'p str) -> Option<Node<'p, 'a>> {
    let node = Node::new(Path::Field(up, name), fields.get(name)?);
    (!node.is_null()).then_some(node)
}

/// What is expected where a fraction should be.
pub(crate) fn rational_expected(what: &str) -> String {
    format!(
        "{what}: a fraction like \"5/2\" or \"3\" that is not negative, up to 2^60 and with a denominator from 1 to 2^30"
    )
}

/// `5/2`, `3`: a fraction that is not negative, and such that one can calculate with it.
pub(crate) fn rational(text: &str) -> Option<Rational> {
    let (num, den) = text.split_once('/').unwrap_or((text, "1"));
    // Digits only: the parser of numbers would take signs.
    let number = |t: &str| t.parse::<i64>().ok().filter(|_| t.bytes().all(|b| b.is_ascii_digit()));
    let (num, den) = (number(num)?, number(den).filter(|d| *d > 0)?);
    Some(Rational::new(num, den)).filter(|r| is_clock_value(*r))
}
