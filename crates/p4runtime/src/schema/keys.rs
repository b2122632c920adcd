//! Keys of tables and value sets: a controller's matches, and what they are in the program's own terms.

use super::translation::{Dictionaries, Reading};
use crate::failure::{Failure, Outcome};
use crate::value::{self, ones};
use control::message::runtime::{FieldMatch, field_match};
use field_match::FieldMatchType as Given;
use hlir::interface::{SourceKey, SourceParameter};
use hlir::{Match, MatchKind};
use num_bigint::BigUint;

/// A key, a parameter of an action or a field of a controller header.
#[derive(Clone, Debug)]
pub struct KeySchema {
    pub id: u32,
    pub name: String,
    pub width: u32,
    pub kind: MatchKind,
    pub reading: Reading,
}

#[derive(Clone, Debug, Default)]
pub struct Keys(pub Vec<KeySchema>);

impl KeySchema {
    pub fn parameter(source: &SourceParameter, width: u32, dictionaries: &Dictionaries) -> KeySchema {
        KeySchema {
            id: source.id,
            name: source.name.clone(),
            width,
            kind: MatchKind::Exact,
            reading: dictionaries.reading(source.type_name.as_deref()),
        }
    }

    pub fn read(&self, bytes: &[u8], dictionaries: &Dictionaries) -> Outcome<BigUint> {
        dictionaries.read(bytes, &self.reading, self.width, &self.name)
    }

    fn number(&self, bytes: &[u8]) -> Outcome<BigUint> {
        value::read(bytes, self.width, &self.name)
    }

    fn read_match(&self, given: &FieldMatch, dictionaries: &Dictionaries) -> Outcome<Match> {
        let Some(given) = &given.field_match_type else {
            return Err(Failure::invalid(format!("the match of `{}` is not set", self.name)));
        };
        match (self.kind, given) {
            (MatchKind::Exact, Given::Exact(exact)) => Ok(Match::Exact(self.read(&exact.value, dictionaries)?)),
            (MatchKind::Optional, Given::Optional(value)) => Ok(Match::Exact(self.read(&value.value, dictionaries)?)),
            (MatchKind::Lpm, Given::Lpm(lpm)) => self.read_lpm(lpm),
            (MatchKind::Ternary, Given::Ternary(ternary)) => self.read_ternary(ternary),
            (MatchKind::Range, Given::Range(range)) => self.read_range(range),
            (
                _,
                Given::Exact(_)
                | Given::Optional(_)
                | Given::Lpm(_)
                | Given::Ternary(_)
                | Given::Range(_)
                | Given::Other(_),
            ) => {
                let kind = control::store::kind_name(self.kind);
                Err(Failure::invalid(format!("`{}` is matched as {kind}, the entry has another kind", self.name)))
            }
        }
    }

    fn omitted(&self) -> Failure {
        Failure::invalid(format!("`{}` matches every value: it has to be left out", self.name))
    }

    fn read_lpm(&self, given: &field_match::Lpm) -> Outcome<Match> {
        let (name, width) = (&self.name, self.width);
        let value = self.number(&given.value)?;
        let prefix = u32::try_from(given.prefix_len).ok().filter(|prefix| *prefix <= width).ok_or_else(|| {
            Failure::invalid(format!("`{name}` has {width} bits, not a prefix of {}", given.prefix_len))
        })?;
        if prefix == 0 {
            return Err(self.omitted());
        }
        if value.trailing_zeros().is_some_and(|zeros| zeros < u64::from(width - prefix)) {
            return Err(Failure::invalid(format!("`{name}` has bits behind its prefix that are not 0")));
        }
        Ok(Match::Lpm { value, prefix })
    }

    fn read_ternary(&self, given: &field_match::Ternary) -> Outcome<Match> {
        let (value, mask) = (self.number(&given.value)?, self.number(&given.mask)?);
        if mask == BigUint::ZERO {
            return Err(self.omitted());
        }
        if &value & &mask != value {
            return Err(Failure::invalid(format!("`{}` has bits outside its mask that are not 0", self.name)));
        }
        Ok(Match::Ternary { value, mask })
    }

    fn read_range(&self, given: &field_match::Range) -> Outcome<Match> {
        let (low, high) = (self.number(&given.low)?, self.number(&given.high)?);
        if low > high {
            return Err(Failure::invalid(format!("the range of `{}` ends before it begins", self.name)));
        }
        if low == BigUint::ZERO && high == ones(self.width) {
            return Err(self.omitted());
        }
        Ok(Match::Range { low, high })
    }

    /// Nothing for a key that matches every value.
    fn write_match(&self, found: &Match, dictionaries: &Dictionaries) -> Option<FieldMatch> {
        let written = |value: &BigUint| dictionaries.write(value, &self.reading);
        let made = match (self.kind, found) {
            (_, Match::Any) => return None,
            (MatchKind::Optional, Match::Exact(value)) => {
                Given::Optional(field_match::Optional { value: written(value) })
            }
            (MatchKind::Lpm, Match::Exact(value)) => {
                Given::Lpm(field_match::Lpm { value: value::write(value), prefix_len: self.width as i32 })
            }
            (MatchKind::Ternary, Match::Exact(value)) => Given::Ternary(field_match::Ternary {
                value: value::write(value),
                mask: value::write(&ones(self.width)),
            }),
            (MatchKind::Range, Match::Exact(value)) => {
                Given::Range(field_match::Range { low: value::write(value), high: value::write(value) })
            }
            (MatchKind::Exact, Match::Exact(value)) => Given::Exact(field_match::Exact { value: written(value) }),
            (_, Match::Lpm { value, prefix }) => {
                Given::Lpm(field_match::Lpm { value: value::write(value), prefix_len: *prefix as i32 })
            }
            (_, Match::Ternary { value, mask }) => {
                Given::Ternary(field_match::Ternary { value: value::write(value), mask: value::write(mask) })
            }
            (_, Match::Range { low, high }) => {
                Given::Range(field_match::Range { low: value::write(low), high: value::write(high) })
            }
        };
        Some(FieldMatch { field_id: self.id, field_match_type: Some(made) })
    }
}

impl Keys {
    pub fn of(keys: &[SourceKey], widths: &[u32], dictionaries: &Dictionaries) -> Keys {
        let keys = keys.iter().zip(widths).map(|(key, width)| KeySchema {
            id: key.id,
            name: key.name.clone(),
            width: *width,
            kind: key.kind,
            reading: dictionaries.reading(key.type_name.as_deref()),
        });
        Keys(keys.collect())
    }

    /// A match for every key, from those that the controller has not left out.
    pub fn read(&self, given: &[FieldMatch], dictionaries: &Dictionaries) -> Outcome<Vec<Match>> {
        let mut found: Vec<Option<Match>> = vec![None; self.0.len()];
        for (at, field) in given.iter().enumerate() {
            // Controllers list the fields in their order, so the first guess is right.
            let guess = self.0.get(at).filter(|key| key.id == field.field_id).map(|_| at);
            let place = guess.or_else(|| self.0.iter().position(|key| key.id == field.field_id));
            let Some(place) = place else {
                return Err(Failure::invalid(format!("there is no match field with id {}", field.field_id)));
            };
            if found[place].is_some() {
                return Err(Failure::invalid(format!("match field `{}` is given twice", self.0[place].name)));
            }
            found[place] = Some(self.0[place].read_match(field, dictionaries)?);
        }
        let mut matches = Vec::with_capacity(found.len());
        for (found, key) in found.into_iter().zip(&self.0) {
            match found {
                Some(found) => matches.push(found),
                None if key.kind == MatchKind::Exact => {
                    return Err(Failure::invalid(format!("exact match field `{}` is left out", key.name)));
                }
                None => matches.push(Match::Any),
            }
        }
        Ok(matches)
    }

    pub fn write(&self, matches: &[Match], dictionaries: &Dictionaries) -> Vec<FieldMatch> {
        let keys = self.0.iter().zip(matches);
        keys.filter_map(|(key, found)| key.write_match(found, dictionaries)).collect()
    }
}
