//! Routes: of a file, or made with the lengths of a real table.

use crate::traffic::SEED;
use crate::workload::frames::NEXTHOPS;
use driver::failure::Failure;
use driver::random::Random;
use std::collections::HashSet;
use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Prefix {
    pub address: u32,
    pub length: u32,
    pub nexthop: u32,
}

/// Prefix lengths in a table of the Internet, in percent: most are /24, then /22 to /20.
const LENGTHS: [(u32, u64); 8] = [(24, 58), (22, 13), (23, 10), (21, 6), (20, 5), (19, 4), (16, 2), (18, 2)];

/// Different prefixes, with lengths as in a real table.
pub fn made(count: u64) -> Vec<Prefix> {
    let mut random = Random::new(SEED);
    let mut seen = HashSet::new();
    let mut prefixes = Vec::new();
    while (prefixes.len() as u64) < count {
        let mut draw = random.below(100);
        let mut length = 24;
        for (candidate, share) in LENGTHS {
            length = candidate;
            if draw < share {
                break;
            }
            draw -= share;
        }
        // Allocated space is dense: addresses between 1.0.0.0 and 223.255.255.255.
        let address = (0x0100_0000 + random.below(0xdf00_0000 - 0x0100_0000)) as u32 >> (32 - length) << (32 - length);
        if seen.insert((address, length)) {
            prefixes.push(Prefix { address, length, nexthop: (prefixes.len() as u64 % NEXTHOPS) as u32 });
        }
    }
    prefixes
}

/// `count` routes of a file, in no order, drawn without repetition; all if it has no more.
pub fn read(path: &Path, count: u64) -> Result<Vec<Prefix>, Failure> {
    let mut prefixes = parse(&text(path)?);
    if prefixes.is_empty() {
        return Err(Failure::input(format!("{}: no line is `ADDRESS/LENGTH NEXTHOP`", path.display())));
    }
    let mut random = Random::new(SEED);
    for i in 0..prefixes.len().min(count as usize) {
        let other = i + random.below((prefixes.len() - i) as u64) as usize;
        prefixes.swap(i, other);
    }
    prefixes.truncate(count as usize);
    Ok(prefixes)
}

fn text(path: &Path) -> Result<String, Failure> {
    if path.extension().is_none_or(|extension| extension != "gz") {
        return fs::read_to_string(path).map_err(|error| Failure::unreadable(path, &error));
    }
    let output = Command::new("gzip").arg("-dc").arg(path).output();
    let output = output.map_err(|error| Failure::environment(format!("gzip cannot be run: {error}")))?;
    if !output.status.success() {
        return Err(Failure::input(String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn parse(text: &str) -> Vec<Prefix> {
    let mut seen = HashSet::new();
    let route = |line: &str| {
        let (prefix, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let (address, length) = prefix.split_once('/')?;
        let (address, length) = (u32::from(address.parse::<Ipv4Addr>().ok()?), length.parse::<u32>().ok()?);
        if !(1..=32).contains(&length) {
            return None;
        }
        // A small router has few next hops: origins share them.
        let origin = rest.bytes().fold(0u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
        let address = address >> (32 - length) << (32 - length);
        Some(Prefix { address, length, nexthop: origin % 1009 % NEXTHOPS as u32 })
    };
    let mut routes: Vec<Prefix> = text.lines().filter_map(route).collect();
    routes.retain(|route| seen.insert((route.address, route.length)));
    routes
}

pub fn inside(prefix: Prefix, random: &mut Random) -> u32 {
    prefix.address | random.below(1 << (32 - prefix.length)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_of_a_file_are_read_once_each() {
        let routes = parse("1.0.0.0/24\t15169\n1.0.0.7/24 1\nnonsense\n0.0.0.0/0 3\n10.0.0.0/8 7 8\n");
        let found: Vec<(u32, u32)> = routes.iter().map(|route| (route.address, route.length)).collect();
        assert_eq!(found, [(0x0100_0000, 24), (0x0a00_0000, 8)]);
        assert!(routes.iter().all(|route| u64::from(route.nexthop) < NEXTHOPS));
    }

    #[test]
    fn made_routes_differ() {
        let routes = made(5_000);
        let distinct: HashSet<(u32, u32)> = routes.iter().map(|route| (route.address, route.length)).collect();
        assert_eq!(distinct.len(), 5_000);
    }
}
