//! Which pages this process's memory has: measured, for the system may refuse what it was asked for.

use std::fmt;
use std::fs;

/// Mappings below this hold no tables, and are not counted.
const LARGE_KB: u64 = 4096;

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

/// Of all memory in large mappings that has been touched. `None` where the system does not tell, or nothing is that large.
pub fn measure() -> Option<Pages> {
    judge(&fs::read_to_string("/proc/self/smaps").ok()?)
}

fn judge(text: &str) -> Option<Pages> {
    let (mut touched, mut large) = (0, 0);
    let mut of_mapping = (0, 0, 0);
    let mut close = |(resident, huge, page): (u64, u64, u64)| {
        let resident = if page > 4 { huge } else { resident };
        if resident >= LARGE_KB {
            touched += resident;
            large += huge;
        }
    };
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (name, number) = (words.next().unwrap_or(""), words.next().and_then(|word| word.parse::<u64>().ok()));
        match (name, number) {
            ("Size:", _) => close(std::mem::take(&mut of_mapping)),
            ("Rss:", Some(kb)) => of_mapping.0 = kb,
            ("AnonHugePages:" | "ShmemPmdMapped:" | "Private_Hugetlb:" | "Shared_Hugetlb:", Some(kb)) => {
                of_mapping.1 += kb;
            }
            ("KernelPageSize:", Some(kb)) => of_mapping.2 = kb,
            _ => {}
        }
    }
    close(of_mapping);
    match (large * 10, touched) {
        (_, 0) => None,
        (tenfold, all) if tenfold >= all * 9 => Some(Pages::Large),
        (tenfold, all) if tenfold >= all => Some(Pages::Mixed),
        _ => Some(Pages::Small),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(resident: u64, huge: u64) -> String {
        format!(
            "7f0000-7f1000 rw-p 0 00:00 0\nSize: 1 kB\nKernelPageSize: 4 kB\nRss: {resident} kB\nAnonHugePages: {huge} kB\n"
        )
    }

    #[test]
    fn what_counts_is_where_the_memory_is() {
        assert_eq!(judge(&mapping(100, 0)), None);
        assert_eq!(judge(&(mapping(100, 0) + &mapping(20_480, 20_480))), Some(Pages::Large));
        assert_eq!(judge(&(mapping(20_480, 0) + &mapping(20_480, 20_480))), Some(Pages::Mixed));
        assert_eq!(judge(&(mapping(204_800, 0) + &mapping(20_480, 2_048))), Some(Pages::Small));
    }

    #[test]
    fn pages_that_were_set_aside_are_large() {
        let text = "Size: 1 kB\nKernelPageSize: 2048 kB\nRss: 0 kB\nPrivate_Hugetlb: 8192 kB\n";
        assert_eq!(judge(text), Some(Pages::Large));
    }
}
