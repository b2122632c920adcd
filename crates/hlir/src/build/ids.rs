//! P4Runtime's ids and aliases, made of names as p4c makes them.
//!
//! An id is the kind's prefix and 24 bits of a hash of the name. Names are numbered in sorted order; one whose id is taken counts its hash up.

use std::collections::{BTreeMap, HashSet};

/// Jenkins' one-at-a-time hash.
fn one_at_a_time(name: &str) -> u32 {
    let mut hash: u32 = 0;
    for byte in name.bytes() {
        hash = hash.wrapping_add(u32::from(byte));
        hash = hash.wrapping_add(hash << 10);
        hash ^= hash >> 6;
    }
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 11;
    hash.wrapping_add(hash << 15)
}

/// Ids of one kind, by name.
pub fn number(prefix: u32, names: &BTreeMap<String, Option<u32>>) -> BTreeMap<String, u32> {
    let mut taken = HashSet::new();
    let mut ids = BTreeMap::new();
    for (name, given) in names {
        if let Some(given) = given {
            let id = (prefix << 24) | (given & 0xff_ffff);
            taken.insert(id);
            ids.insert(name.clone(), id);
        }
    }
    for (name, given) in names {
        if given.is_some() {
            continue;
        }
        let mut hash = one_at_a_time(name);
        let id = loop {
            let id = (prefix << 24) | (hash & 0xff_ffff);
            if taken.insert(id) {
                break id;
            }
            hash = hash.wrapping_add(1);
        };
        ids.insert(name.clone(), id);
    }
    ids
}

/// The shortest suffix, in whole components, that no other name ends in.
pub fn alias(name: &str, all: &[String]) -> String {
    let components: Vec<&str> = name.split('.').collect();
    for count in 1..components.len() {
        let suffix = components[components.len() - count..].join(".");
        let ends = |other: &&String| **other == suffix || other.ends_with(&format!(".{suffix}"));
        if all.iter().filter(ends).count() == 1 {
            return suffix;
        }
    }
    name.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_p4runtime() {
        // NoAction has this id in every P4Info.
        let names = BTreeMap::from([("NoAction".to_string(), None)]);
        assert_eq!(number(0x01, &names)["NoAction"], 21_257_015);
    }

    #[test]
    fn an_alias_is_the_shortest_suffix_of_its_own() {
        let all = ["ingress.a.t".to_string(), "ingress.b.t".to_string(), "egress.u".to_string()];
        assert_eq!(alias("egress.u", &all), "u");
        assert_eq!(alias("ingress.a.t", &all), "a.t");
    }
}
