//! Values whose form in P4Runtime differs from that in the program: types with `@p4runtime_translation`.
//!
//! Numbers of another width stay the numbers that they are. For strings, the switch numbers each text when it first comes (P4Runtime 1.5,
//! 8.4.6): a text that is a plain decimal number gets that number where it is free, all others the lowest from 1 on that is free. 0 is what
//! metadata holds that nothing has set, so no text means it but "0" itself.

use crate::failure::{Failure, Outcome};
use crate::value;
use control::Record;
use hlir::interface::{Definition, Interface, Translation};
use num_bigint::BigUint;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use tonic::Code;

/// How the bytes of a value are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    Number,
    /// A number of so many bits for the controller.
    Bits(u32),
    /// A text, numbered by the dictionary with this number.
    Text(usize),
}

#[derive(Clone, Default)]
struct Dictionary {
    type_name: String,
    numbers: HashMap<String, u64>,
    texts: BTreeMap<u64, String>,
}

/// The texts of all translated types.
pub struct Dictionaries {
    readings: HashMap<String, Reading>,
    texts: Vec<Mutex<Dictionary>>,
    /// Numbered since the last [`Dictionaries::take_new`].
    new: Mutex<Vec<Record>>,
}

impl Dictionaries {
    pub fn of(interface: &Interface) -> Dictionaries {
        let mut made = Dictionaries { readings: HashMap::new(), texts: Vec::new(), new: Mutex::default() };
        for declared in &interface.types {
            let reading = match &declared.definition {
                Definition::Translated { to: Translation::Bits(bits), .. } => Reading::Bits(*bits),
                Definition::Translated { to: Translation::Text, .. } => {
                    let type_name = declared.name.clone();
                    made.texts.push(Mutex::new(Dictionary { type_name, ..Dictionary::default() }));
                    Reading::Text(made.texts.len() - 1)
                }
                Definition::Struct(_)
                | Definition::Header(_)
                | Definition::Union(_)
                | Definition::Enumeration(_)
                | Definition::Serializable(..)
                | Definition::Errors(_)
                | Definition::New(_) => continue,
            };
            made.readings.insert(declared.name.clone(), reading);
        }
        made
    }

    pub fn reading(&self, type_name: Option<&str>) -> Reading {
        type_name.and_then(|name| self.readings.get(name)).cloned().unwrap_or(Reading::Number)
    }

    /// Takes the numbers that a store has for the texts of types of these names. So what was written in their numbers reads as it was
    /// written (P4Runtime 1.5, 14: the forwarding state is preserved).
    pub fn take<'t>(&mut self, texts: impl Iterator<Item = (&'t str, &'t str, u64)>) {
        for (type_name, text, number) in texts {
            let Some(Reading::Text(at)) = self.readings.get(type_name) else { continue };
            let dictionary = self.texts[*at].get_mut().unwrap_or_else(PoisonError::into_inner);
            dictionary.numbers.insert(text.to_string(), number);
            dictionary.texts.insert(number, text.to_string());
        }
    }

    /// The numbers that texts have got since the last time, for the store.
    pub fn take_new(&self) -> Vec<Record> {
        std::mem::take(&mut *self.new.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A number that the store has not taken: it comes again.
    pub fn give_back(&self, text: Record) {
        self.new.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    /// The number of a text, which is new or known.
    fn number(&self, at: usize, text: &str, width: u32, place: &str) -> Outcome<BigUint> {
        let mut dictionary = self.texts[at].lock().unwrap_or_else(PoisonError::into_inner);
        let before = dictionary.numbers.get(text).copied();
        let number = dictionary.number(text, width, place)?;
        if before != Some(number) {
            let type_name = dictionary.type_name.clone();
            let record = Record::Text { type_name, text: text.to_string(), number: Some(number) };
            self.new.lock().unwrap_or_else(PoisonError::into_inner).push(record);
        }
        Ok(BigUint::from(number))
    }

    /// What the program has for the controller's bytes.
    pub fn read(&self, bytes: &[u8], reading: &Reading, width: u32, place: &str) -> Outcome<BigUint> {
        match reading {
            Reading::Number => value::read(bytes, width, place),
            Reading::Bits(bits) => value::read(bytes, (*bits).min(width), place),
            Reading::Text(number) => {
                let text = std::str::from_utf8(bytes)
                    .map_err(|_| Failure::invalid(format!("the value of `{place}` is no text in UTF-8")))?;
                self.number(*number, text, width, place)
            }
        }
    }

    /// The number that a text has where no text gets one of its own, as for ports: one that was written before, or a plain decimal number.
    pub fn known(&self, text: &str, number: usize, width: u32, place: &str) -> Outcome<BigUint> {
        let dictionary = self.texts[number].lock().unwrap_or_else(PoisonError::into_inner);
        let own = text.parse::<u64>().ok().filter(|number| number.to_string() == text);
        match own.filter(|_| !dictionary.numbers.contains_key(text)) {
            Some(own) if BigUint::from(own).bits() > u64::from(width) => {
                Err(Failure::new(Code::OutOfRange, format!("{place} {own} does not fit {width} bits")))
            }
            Some(own) if dictionary.texts.contains_key(&own) => {
                Err(Failure::invalid(format!("{place} {own} has another name than `{text}`")))
            }
            None if !dictionary.numbers.contains_key(text) => {
                Err(Failure::invalid(format!("no {place} has the name `{text}`")))
            }
            Some(_) | None => {
                drop(dictionary);
                self.number(number, text, width, place)
            }
        }
    }

    /// What the controller has for the program's value.
    pub fn write(&self, value: &BigUint, reading: &Reading) -> Vec<u8> {
        let Reading::Text(number) = reading else { return value::write(value) };
        let dictionary = self.texts[*number].lock().unwrap_or_else(PoisonError::into_inner);
        let known = u64::try_from(value).ok().and_then(|value| dictionary.texts.get(&value));
        known.map_or_else(|| value.to_string().into_bytes(), |text| text.clone().into_bytes())
    }
}

impl Dictionary {
    fn number(&mut self, text: &str, width: u32, place: &str) -> Outcome<u64> {
        let last = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
        match self.numbers.get(text) {
            Some(number) if *number <= last => return Ok(*number),
            // The type was wider in an earlier program. Nothing that was written has the text: it would not have been carried over.
            Some(number) => drop(self.texts.remove(number)),
            None => {}
        }
        let own = text.parse::<u64>().ok().filter(|number| *number <= last && number.to_string() == text);
        let own = own.filter(|number| !self.texts.contains_key(number));
        let Some(number) = own.or_else(|| self.lowest_free(last)) else {
            let sentence = format!("all {width}-bit numbers of `{place}` are used for other texts");
            return Err(Failure::new(Code::ResourceExhausted, sentence));
        };
        self.numbers.insert(text.to_string(), number);
        self.texts.insert(number, text.to_string());
        Ok(number)
    }

    fn lowest_free(&self, last: u64) -> Option<u64> {
        let mut free = 1;
        for (taken, _) in self.texts.range(1..) {
            if *taken != free {
                break;
            }
            free = taken.checked_add(1)?;
        }
        Some(free).filter(|number| *number <= last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_get_numbers_of_their_own() {
        let mut texts = Dictionary::default();
        assert_eq!(texts.number("2", 3, "x"), Ok(2));
        assert_eq!(texts.number("vrf", 3, "x"), Ok(1), "0 is the value of metadata that nothing has set");
        assert_eq!(texts.number("vrf", 3, "x"), Ok(1));
        assert_eq!(texts.number("02", 3, "x"), Ok(3));
        assert_eq!(texts.number("5", 3, "x"), Ok(5));
        assert_eq!(texts.number("70", 3, "x"), Ok(4));
        assert_eq!([texts.number("a", 3, "x"), texts.number("b", 3, "x")], [Ok(6), Ok(7)]);
        assert_eq!(texts.number("more", 3, "x").map_err(|failure| failure.code), Err(Code::ResourceExhausted));
        assert_eq!(texts.number("0", 3, "x"), Ok(0));
        let mut wide = Dictionary::default();
        assert_eq!([wide.number("9", 4, "x"), wide.number("1", 4, "x")], [Ok(9), Ok(1)]);
        assert_eq!(wide.number("9", 3, "x"), Ok(2), "the type is narrower than it was");
        assert!(!wide.texts.contains_key(&9));
    }
}
