//! Values of a JSON text that know their place in it, for messages: `pipelines[0].tables[3].key[0]`.

use std::collections::HashMap;
use std::rc::Rc;

use hlir::diagnostic::Diagnostic;
use hlir::json_depth;
use num_bigint::{BigInt, BigUint, Sign};
use serde::Deserialize;
use serde_json::Value;

/// The result of reading a part of a program; an error ends the part, not the run.
pub type Read<T> = Result<T, Diagnostic>;

/// A value, and the way to it.
#[derive(Clone, Debug)]
pub struct At<'j> {
    pub value: &'j Value,
    step: Option<Rc<Step<'j>>>,
}

#[derive(Debug)]
enum Step<'j> {
    Field(At<'j>, &'j str),
    Item(At<'j>, usize),
}

/// Parses a text.
pub fn parse(text: &str) -> Read<Value> {
    if json_depth::is_too_deep(text) {
        let message = format!("not valid JSON: it is nested deeper than {} levels", json_depth::DEEPEST);
        return Err(Diagnostic::error(message).kind("syntax-error"));
    }
    let mut reader = serde_json::Deserializer::from_str(text.trim_start_matches('\u{feff}'));
    // Expressions of p4c are nested by hundreds of levels.
    reader.disable_recursion_limit();
    let value = Value::deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    value.map_err(|error| {
        Diagnostic::error(format!("not valid JSON: {error}"))
            .kind("syntax-error")
            .hint("a program of BMv2 is what `p4c-bm2-ss -o FILE.json` writes; is the file complete?")
    })
}

impl<'j> At<'j> {
    pub fn root(value: &'j Value) -> At<'j> {
        At { value, step: None }
    }

    /// The place, as in `actions[2].primitives[0]`.
    pub fn path(&self) -> String {
        match self.step.as_deref() {
            None => String::new(),
            Some(Step::Field(parent, name)) if parent.step.is_none() => (*name).to_string(),
            Some(Step::Field(parent, name)) => format!("{}.{name}", parent.path()),
            Some(Step::Item(parent, index)) => format!("{}[{index}]", parent.path()),
        }
    }

    pub fn error(&self, message: impl AsRef<str>) -> Diagnostic {
        let path = self.path();
        let place = if path.is_empty() { String::new() } else { format!("{path}: ") };
        Diagnostic::error(format!("{place}{}", message.as_ref())).kind("bmv2-json")
    }

    fn expected(&self, what: &str) -> Diagnostic {
        let mut found = self.value.to_string();
        if found.chars().count() > 60 {
            found = found.chars().take(57).collect::<String>() + "...";
        }
        self.error(format!("expected {what}, found {found}"))
    }

    /// A member of an object; nothing if it is missing or null.
    pub fn get(&self, name: &'j str) -> Option<At<'j>> {
        let value = self.value.get(name).filter(|value| !value.is_null())?;
        Some(At { value, step: Some(Rc::new(Step::Field(self.clone(), name))) })
    }

    pub fn field(&self, name: &'j str) -> Read<At<'j>> {
        if !self.value.is_object() {
            return Err(self.expected("an object"));
        }
        self.get(name).ok_or_else(|| self.error(format!("`{name}` is missing")))
    }

    pub fn items(&self) -> Read<Vec<At<'j>>> {
        let Value::Array(items) = self.value else { return Err(self.expected("an array")) };
        let at = |(index, value)| At { value, step: Some(Rc::new(Step::Item(self.clone(), index))) };
        Ok(items.iter().enumerate().map(at).collect())
    }

    /// The items of an array that may be missing.
    pub fn list(&self, name: &'j str) -> Read<Vec<At<'j>>> {
        self.get(name).map_or(Ok(Vec::new()), |list| list.items())
    }

    /// The items of an array of `N`.
    pub fn tuple<const N: usize>(&self) -> Read<[At<'j>; N]> {
        let items = self.items()?;
        items.try_into().map_err(|_| self.expected(&format!("an array of {N}")))
    }

    pub fn text(&self) -> Read<&'j str> {
        self.value.as_str().ok_or_else(|| self.expected("a string"))
    }

    pub fn number(&self) -> Read<u64> {
        self.value.as_u64().ok_or_else(|| self.expected("a number that is not negative"))
    }

    pub fn small(&self) -> Read<u32> {
        u32::try_from(self.number()?).map_err(|_| self.expected("a number below 2^32"))
    }

    pub fn boolean(&self) -> Read<bool> {
        self.value.as_bool().ok_or_else(|| self.expected("true or false"))
    }

    /// A boolean that is false where it is missing.
    pub fn flag(&self, name: &'j str) -> Read<bool> {
        self.get(name).map_or(Ok(false), |flag| flag.boolean())
    }

    /// A number as `"0x1f"` or `"-0x1f"`.
    pub fn hex(&self) -> Read<BigInt> {
        let text = self.text()?;
        let (sign, digits) = text.strip_prefix('-').map_or((Sign::Plus, text), |digits| (Sign::Minus, digits));
        let digits = digits.strip_prefix("0x").unwrap_or(digits);
        let number = BigUint::parse_bytes(digits.as_bytes(), 16);
        number.map(|number| BigInt::from_biguint(sign, number)).ok_or_else(|| self.expected("a hexadecimal number"))
    }

    /// The same where it may not be negative.
    pub fn bits(&self) -> Read<BigUint> {
        self.hex()?.to_biguint().ok_or_else(|| self.expected("a number that is not negative"))
    }

    /// The object's id, which no other one of its kind may have.
    pub fn id<V>(&self, others: &HashMap<u64, V>) -> Read<u64> {
        let id = self.field("id")?;
        let number = id.number()?;
        if others.contains_key(&number) {
            return Err(id.error(format!("another object of this kind has the id {number}, too")));
        }
        Ok(number)
    }

    /// The `type` of a value that has one.
    pub fn kind(&self) -> Read<&'j str> {
        self.field("type")?.text()
    }

    /// The `value` of such a value.
    pub fn content(&self) -> Read<At<'j>> {
        self.field("value")
    }

    pub fn name(&self) -> Read<&'j str> {
        self.field("name")?.text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_names_the_way_to_its_value() {
        let json = parse(r#"{"pipelines": [{"tables": [{"key": ["x"]}]}]}"#).expect("it is valid");
        let path = || -> Read<At<'_>> {
            let pipeline = At::root(&json).list("pipelines")?.remove(0);
            let table = pipeline.list("tables")?.remove(0);
            Ok(table.field("key")?.items()?.remove(0))
        };
        let key = path().expect("the way exists");
        assert_eq!(key.path(), "pipelines[0].tables[0].key[0]");
        let mistake = key.number().expect_err("a string is no number");
        let said = "pipelines[0].tables[0].key[0]: expected a number that is not negative, found \"x\"";
        assert_eq!(mistake.message(), said);
    }

    #[test]
    fn numbers_have_a_sign_and_any_length() {
        let json = parse(r#"["0x10", "-0x1", "ff", "0x100000000000000000000"]"#).expect("it is valid");
        let numbers: Vec<String> = At::root(&json)
            .items()
            .expect("an array")
            .iter()
            .map(|at| at.hex().expect("a number").to_string())
            .collect();
        assert_eq!(numbers, ["16", "-1", "255", "1208925819614629174706176"]);
    }
}
