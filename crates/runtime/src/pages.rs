//! Which pages this process's memory has: measured, for the system may refuse a request.
//!
//! Advice is taken without a word where large pages are switched off or none is free; only what has been touched shows what it got.

use std::fmt;
use std::fs;

/// What has been touched of a mapping must be as much as a large page to matter.
const LARGE_KB: u64 = 2048;

/// What pages large mappings lie in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    Large,
    /// Some of either.
    Mixed,
    Small,
}

impl fmt::Display for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Pages::Large => "2M",
            Pages::Mixed => "mixed",
            Pages::Small => "4K",
        })
    }
}

/// A mapping as the system describes it.
#[derive(Clone, Copy, Default)]
struct Mapping {
    first: usize,
    /// The address behind it.
    end: usize,
    /// What its pages are made of: the size of those that were set aside.
    unit_kb: u64,
    resident_kb: u64,
    large_kb: u64,
    /// Large pages were requested.
    is_meant: bool,
}

/// Of all memory for which large pages were asked, and which has been touched. `None` where the system does not report it, or there is none: small tables
/// need no pages of their own.
pub fn measure() -> Option<Pages> {
    judge(&fs::read_to_string("/proc/self/smaps").ok()?)
}

/// Bytes of the pages that the mapping around `address` lies in; of mixed ones, the smaller. `None` where the system does not report it.
pub fn bytes_at(address: usize) -> Option<usize> {
    bytes_in(&fs::read_to_string("/proc/self/smaps").ok()?, address)
}

fn bytes_in(text: &str, address: usize) -> Option<usize> {
    let mappings = mappings(text);
    let mapping = mappings.iter().find(|mapping| (mapping.first..mapping.end).contains(&address))?;
    let is_large = mapping.resident_kb >= LARGE_KB && mapping.large_kb * 10 >= mapping.resident_kb * 9;
    let kb = if is_large { mapping.unit_kb.max(LARGE_KB) } else { mapping.unit_kb };
    Some((kb as usize) << 10)
}

fn judge(text: &str) -> Option<Pages> {
    let mappings = mappings(text);
    let meant = || mappings.iter().filter(|mapping| mapping.is_meant && mapping.resident_kb >= LARGE_KB);
    let touched: u64 = meant().map(|mapping| mapping.resident_kb).sum();
    let large: u64 = meant().map(|mapping| mapping.large_kb).sum();
    match (large * 10, touched) {
        (_, 0) => None,
        (tenfold, all) if tenfold >= all * 9 => Some(Pages::Large),
        (tenfold, all) if tenfold >= all => Some(Pages::Mixed),
        _ => Some(Pages::Small),
    }
}

fn mappings(text: &str) -> Vec<Mapping> {
    let mut mappings: Vec<Mapping> = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or("");
        if let Some((first, end)) = range(name) {
            mappings.push(Mapping { first, end, ..Mapping::default() });
            continue;
        }
        let Some(mapping) = mappings.last_mut() else { continue };
        if name == "VmFlags:" {
            // `hg`: advised; `ht`: set aside by the system.
            mapping.is_meant = words.any(|flag| flag == "hg" || flag == "ht");
            continue;
        }
        let kb = words.next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
        match name {
            "KernelPageSize:" => mapping.unit_kb = kb,
            "Rss:" => mapping.resident_kb += kb,
            "AnonHugePages:" | "ShmemPmdMapped:" => mapping.large_kb += kb,
            // Memory that was set aside is not counted as resident.
            "Private_Hugetlb:" | "Shared_Hugetlb:" => {
                mapping.resident_kb += kb;
                mapping.large_kb += kb;
            }
            _ => {}
        }
    }
    mappings
}

/// The addresses with which the description of a mapping begins.
fn range(word: &str) -> Option<(usize, usize)> {
    let (first, end) = word.split_once('-')?;
    Some((usize::from_str_radix(first, 16).ok()?, usize::from_str_radix(end, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(resident: u64, large: u64, flags: &str) -> String {
        format!(
            "7f00-7f10 rw-p 0 00:00 0\nSize: 1 kB\nKernelPageSize: 4 kB\nRss: {resident} kB\nAnonHugePages: {large} kB\n\
             VmFlags: rd wr {flags}\n"
        )
    }

    #[test]
    fn what_counts_is_where_the_memory_is_that_was_meant_to_be_large() {
        let large = mapping(20_480, 20_480, "hg");
        assert_eq!(judge(&mapping(100, 0, "hg")), None);
        assert_eq!(judge(&mapping(204_800, 0, "mr")), None);
        assert_eq!(judge(&(mapping(204_800, 0, "mr") + &large)), Some(Pages::Large));
        assert_eq!(judge(&(mapping(20_480, 0, "hg") + &large)), Some(Pages::Mixed));
        assert_eq!(judge(&(mapping(204_800, 0, "hg") + &mapping(20_480, 2_048, "hg"))), Some(Pages::Small));
    }

    #[test]
    fn pages_that_were_set_aside_are_large() {
        let text = "7f00-7f10 rw-p 0 00:00 0\nSize: 1 kB\nKernelPageSize: 2048 kB\nRss: 0 kB\nPrivate_Hugetlb: 8192 kB\nVmFlags: rd ht\n";
        assert_eq!(judge(text), Some(Pages::Large));
        assert_eq!(bytes_in(text, 0x7f00), Some(2 << 20));
    }

    #[test]
    fn the_pages_of_an_address_are_those_of_its_mapping() {
        let at = |large, flags| bytes_in(&mapping(20_480, large, flags), 0x7f0f);
        assert_eq!((at(20_480, "hg"), at(2_048, "hg"), at(0, "hg")), (Some(2 << 20), Some(4096), Some(4096)));
        assert_eq!(bytes_in(&mapping(20_480, 20_480, "hg"), 0x7f10), None);
    }
}
