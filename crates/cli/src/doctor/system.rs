//! Memory and cores: huge pages, isolated cores, the clock.

use super::finding::{Finding, State};
use super::host::Host;
use super::measured::Measured;

const LARGE_PAGE: usize = 2 << 20;
/// What a switch takes by default for its packet buffers, with room for two.
const ENOUGH_MB: u64 = 256;

pub fn check(host: &Host, measured: &Measured) -> Vec<Finding> {
    let findings = [huge_pages(host, measured), table_pages(host, measured), isolated_cores(host, measured)];
    findings.into_iter().chain(governor(host)).collect()
}

fn cycles(cycles: f64) -> String {
    format!("{cycles:.0} cycles")
}

/// For packet buffers, and DMA.
fn huge_pages(host: &Host, measured: &Measured) -> Finding {
    const OF: &str = "huge pages for packet buffers";
    let number = |name: &str| host.field("proc/meminfo", name).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    let (total, free) = (number("HugePages_Total"), number("HugePages_Free"));
    let page_kb = number("Hugepagesize").max(1);
    if page_kb == 1 {
        return Finding::new(OF, State::Missing, "the kernel has none")
            .costs("packet buffers are on pages of 4 KB, and NICs cannot be opened by DPDK");
    }
    let free_mb = free * page_kb / 1024;
    if free_mb >= ENOUGH_MB {
        return Finding::ok(OF, format!("{free} of {total} free, {free_mb} MB"));
    }
    let pages = total + (ENOUGH_MB - free_mb) * 1024 / page_kb;
    let cost = measured.small_page.filter(|cycles| *cycles >= 1.0);
    let cost =
        cost.map(|cost| format!("up to {} for each packet, measured here for lines on pages of 4 KB; ", cycles(cost)));
    Finding::new(OF, State::Slower, format!("{free} of {total} free; a switch takes about 100 MB"))
        .costs(format!("{}NICs cannot be opened by DPDK", cost.unwrap_or_default()))
        .mended(format!("echo {pages} | sudo tee /proc/sys/vm/nr_hugepages"))
}

/// For tables, which ask for large pages as they grow.
fn table_pages(host: &Host, measured: &Measured) -> Finding {
    const OF: &str = "large pages for tables";
    const FILE: &str = "sys/kernel/mm/transparent_hugepage/enabled";
    let choices = host.text(FILE).unwrap_or_default();
    let chosen = choices.split_whitespace().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    let got = measured.page_bytes;
    match (chosen, got) {
        (Some("always" | "madvise"), None) => {
            Finding::ok(OF, format!("transparent huge pages: {}", chosen.unwrap_or("?")))
        }
        (_, Some(bytes)) if bytes >= LARGE_PAGE => Finding::ok(OF, format!("memory got pages of {} MB", bytes >> 20)),
        (Some("always" | "madvise"), Some(_)) => cost(
            Finding::new(OF, State::Slower, "large pages are allowed, but memory got pages of 4 KB: it is fragmented"),
            measured,
        )
        .mended("echo 1 | sudo tee /proc/sys/vm/compact_memory"),
        (_, _) => cost(Finding::new(OF, State::Slower, "transparent huge pages are switched off"), measured)
            .mended(format!("echo madvise | sudo tee /{FILE}")),
    }
}

fn cost(finding: Finding, measured: &Measured) -> Finding {
    match measured.small_page {
        Some(small) => finding.costs(format!("{} for each lookup in a table of 32 MB, measured here", cycles(small))),
        None => finding,
    }
}

fn isolated_cores(host: &Host, measured: &Measured) -> Finding {
    const OF: &str = "isolated cores";
    let isolated = host.text("sys/devices/system/cpu/isolated").unwrap_or_default();
    let all = host.text("sys/devices/system/cpu/online").unwrap_or_default();
    let last = all.rsplit(['-', ',']).next().and_then(|number| number.parse::<u32>().ok()).unwrap_or(0);
    if !isolated.is_empty() {
        let text = format!("{isolated}, of {all}");
        return Finding::new(OF, State::Ok, text);
    }
    let finding =
        Finding::new(OF, State::Slower, format!("none of {all}: other threads and the kernel interrupt workers"));
    let finding = match measured.interruptions {
        Some(found) => finding.costs(format!(
            "{:.0} interruptions a second, the longest of {:.0} µs, {:.2} % of the time: measured here on one core",
            found.per_second,
            found.longest.as_secs_f64() * 1e6,
            found.share * 100.0
        )),
        None => finding,
    };
    if last == 0 {
        return Finding { state: State::Note, ..finding }
            .costs("there is one core alone, so none can be kept for workers");
    }
    finding.mended(format!(
        "add `isolcpus={last} nohz_full={last} rcu_nocbs={last}` to the kernel's command line, then start bacus with `taskset -c {last}`"
    ))
}

/// Where the system chooses the core's clock.
fn governor(host: &Host) -> Option<Finding> {
    const OF: &str = "core clock";
    let chosen = host.text("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")?;
    let clock = |name: &str| host.number(&format!("sys/devices/system/cpu/cpu0/cpufreq/{name}"));
    if chosen == "performance" {
        return Some(Finding::ok(OF, "governor performance"));
    }
    let (least, most) = (clock("cpuinfo_min_freq")?, clock("cpuinfo_max_freq")?);
    let finding = Finding::new(OF, State::Slower, format!("governor {chosen}"))
        .costs(format!("a core that was idle begins at down to {} of {} MHz", least / 1000, most / 1000))
        .mended("echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor");
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::host::tests::host;
    use crate::doctor::measured::Interruptions;
    use std::time::Duration;

    const FEW: &str = "HugePages_Total:       8\nHugePages_Free:        4\nHugepagesize:       2048 kB\n";
    const MANY: &str = "HugePages_Total:     200\nHugePages_Free:      160\nHugepagesize:       2048 kB\n";

    #[test]
    fn huge_pages_are_counted_in_megabytes_that_are_free() {
        let measured = Measured { small_page: Some(31.4), ..Measured::default() };
        let few = huge_pages(&host("pages", &[("proc/meminfo", FEW)]), &measured);
        assert_eq!(
            (few.state, few.mend.as_deref()),
            (State::Slower, Some("echo 132 | sudo tee /proc/sys/vm/nr_hugepages"))
        );
        assert!(few.cost.is_some_and(|cost| cost.contains("31 cycles for each packet")));
        let many = huge_pages(&host("many-pages", &[("proc/meminfo", MANY)]), &measured);
        assert_eq!(many, Finding::ok("huge pages for packet buffers", "160 of 200 free, 320 MB"));
        assert_eq!(huge_pages(&host("no-pages", &[]), &measured).state, State::Missing);
    }

    #[test]
    fn pages_that_memory_got_count_for_more_than_what_is_allowed() {
        let of = |chosen: &str, page_bytes: Option<usize>| {
            let host = host("thp", &[("sys/kernel/mm/transparent_hugepage/enabled", chosen)]);
            let measured = Measured { page_bytes, small_page: Some(20.0), ..Measured::default() };
            let found = table_pages(&host, &measured);
            (found.state, found.mend.unwrap_or_default())
        };
        assert_eq!(of("always [madvise] never", Some(LARGE_PAGE)).0, State::Ok);
        assert_eq!(of("always [madvise] never", None).0, State::Ok);
        assert!(of("always [madvise] never", Some(4096)).1.contains("compact_memory"));
        assert!(of("always madvise [never]", None).1.contains("echo madvise"));
    }

    #[test]
    fn cores_are_isolated_or_interrupted() {
        let cores = |isolated: &str, online: &str| {
            host("cores", &[("sys/devices/system/cpu/isolated", isolated), ("sys/devices/system/cpu/online", online)])
        };
        let interruptions = Interruptions { per_second: 250.0, longest: Duration::from_micros(120), share: 0.003 };
        let measured = Measured { interruptions: Some(interruptions), ..Measured::default() };
        assert_eq!(isolated_cores(&cores("2-3\n", "0-3\n"), &measured).state, State::Ok);
        let none = isolated_cores(&cores("\n", "0-3\n"), &measured);
        assert!(
            none.cost.is_some_and(|cost| cost.contains("250 interruptions a second, the longest of 120 µs, 0.30 %"))
        );
        assert!(none.mend.is_some_and(|mend| mend.contains("isolcpus=3 ")));
        assert_eq!(isolated_cores(&cores("", "0"), &measured).mend, None);
    }

    #[test]
    fn a_clock_that_nothing_chooses_is_not_reported() {
        let folder = "sys/devices/system/cpu/cpu0/cpufreq";
        let name = |file: &str| format!("{folder}/{file}");
        let chosen = |governor: &str| {
            let (least, most) = (name("cpuinfo_min_freq"), name("cpuinfo_max_freq"));
            let files = [(name("scaling_governor"), governor), (least, "800000"), (most, "3200000")];
            governor_of(&files)
        };
        assert_eq!(governor(&host("no-clock", &[])), None);
        assert_eq!(chosen("performance").state, State::Ok);
        assert!(chosen("powersave").cost.is_some_and(|cost| cost.contains("800 of 3200 MHz")));
    }

    fn governor_of(files: &[(String, &str)]) -> Finding {
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
        governor(&host("clock", &files)).expect("a governor is chosen")
    }
}
