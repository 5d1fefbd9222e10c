//! As much of JSON Schema as our schemas use; a keyword that is not known here is a failure, so nothing is overlooked.

use std::collections::BTreeMap;

use serde_json::Value;
use trellis_report::SCHEMAS;

pub struct Validator {
    documents: BTreeMap<String, Value>,
}

impl Validator {
    pub fn new() -> Validator {
        let parse = |(name, text): &(&str, &str)| (format!("{name}.json"), serde_json::from_str(text).unwrap());
        Validator { documents: SCHEMAS.iter().map(parse).collect() }
    }

    pub fn assert_valid(&self, document: &str, v: &Value) {
        if let Some(problem) = self.problem(document, v) {
            panic!("{problem}");
        }
    }

    pub fn problem(&self, document: &str, v: &Value) -> Option<String> {
        self.check(document, &self.documents[document], v, "$").err()
    }

    fn check(&self, document: &str, schema: &Value, v: &Value, path: &str) -> Result<(), String> {
        if let Some(any) = schema.as_bool() {
            return if any { Ok(()) } else { Err(format!("{path}: nothing may be here, found {v}")) };
        }
        for (keyword, what) in schema.as_object().unwrap() {
            self.keyword(document, schema, keyword, what, v, path)?;
        }
        Ok(())
    }

    fn keyword(
        &self,
        document: &str,
        schema: &Value,
        keyword: &str,
        what: &Value,
        v: &Value,
        path: &str,
    ) -> Result<(), String> {
        let need = |ok: bool| if ok { Ok(()) } else { Err(format!("{path}: {keyword} {what}, found {v}")) };
        match keyword {
            "$schema" | "$id" | "$defs" | "title" | "description" => Ok(()),
            "$ref" => {
                let (file, pointer) = what.as_str().unwrap().split_once('#').unwrap_or((what.as_str().unwrap(), ""));
                let file = if file.is_empty() { document } else { file };
                self.check(file, self.documents[file].pointer(pointer).unwrap(), v, path)
            }
            "const" => need(v == what),
            "enum" => need(what.as_array().unwrap().contains(v)),
            "type" => {
                let is = |t: &Value| match t.as_str().unwrap() {
                    "null" => v.is_null(),
                    "boolean" => v.is_boolean(),
                    "integer" => v.is_i64() || v.is_u64(),
                    "number" => v.is_number(),
                    "string" => v.is_string(),
                    "array" => v.is_array(),
                    "object" => v.is_object(),
                    other => panic!("type {other}"),
                };
                need(what.as_array().map_or_else(|| is(what), |all| all.iter().any(is)))
            }
            "minimum" => need(v.as_f64().is_none_or(|n| n >= what.as_f64().unwrap())),
            "minItems" => need(v.as_array().is_none_or(|a| a.len() as u64 >= what.as_u64().unwrap())),
            "maxItems" => need(v.as_array().is_none_or(|a| a.len() as u64 <= what.as_u64().unwrap())),
            "pattern" => {
                let matches: fn(&str) -> bool = match what.as_str().unwrap() {
                    "^0x[0-9a-fA-F]{1,16}$" => |s| {
                        let digits = s.strip_prefix("0x").unwrap_or_default();
                        (1..=16).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit())
                    },
                    "^[0-9]{1,19}(/[1-9][0-9]{0,18})?$" => |s| {
                        let is = |s: &str| (1..=19).contains(&s.len()) && s.bytes().all(|b| b.is_ascii_digit());
                        let (num, den) = s.split_once('/').unwrap_or((s, "1"));
                        is(num) && is(den) && !den.starts_with('0')
                    },
                    other => panic!("pattern {other}"),
                };
                need(v.as_str().is_none_or(matches))
            }
            "oneOf" => {
                let fitting = what.as_array().unwrap().iter().filter(|s| self.check(document, s, v, path).is_ok());
                need(fitting.count() == 1)
            }
            "allOf" => what.as_array().unwrap().iter().try_for_each(|s| self.check(document, s, v, path)),
            "default" => Ok(()),
            "maximum" => need(v.as_f64().is_none_or(|n| n <= what.as_f64().unwrap())),
            "anyOf" => need(what.as_array().unwrap().iter().any(|s| self.check(document, s, v, path).is_ok())),
            "required" => need(
                v.as_object()
                    .is_none_or(|o| what.as_array().unwrap().iter().all(|name| o.contains_key(name.as_str().unwrap()))),
            ),
            "properties" => v.as_object().into_iter().flatten().try_for_each(|(name, part)| match what.get(name) {
                Some(s) => self.check(document, s, part, &format!("{path}.{name}")),
                None => Ok(()),
            }),
            "additionalProperties" => {
                let known = |name: &String| schema.get("properties").is_some_and(|p| p.get(name).is_some());
                let mut others = v.as_object().into_iter().flatten().filter(|(name, _)| !known(name));
                others.try_for_each(|(name, part)| self.check(document, what, part, &format!("{path}.{name}")))
            }
            "items" => v
                .as_array()
                .into_iter()
                .flatten()
                .enumerate()
                .try_for_each(|(i, part)| self.check(document, what, part, &format!("{path}[{i}]"))),
            "prefixItems" => {
                let parts = v.as_array().into_iter().flatten().zip(what.as_array().unwrap());
                parts.enumerate().try_for_each(|(i, (part, s))| self.check(document, s, part, &format!("{path}[{i}]")))
            }
            other => panic!("the validator does not know `{other}`"),
        }
    }
}
