//! Where a pipeline's time goes, by lines of its C text, while it runs as it is.
//!
//! A timer's signal notes the address of the instruction that the thread waits for, some thousand times a second; `addr2line` of the binutils, which
//! every C compiler brings, gives the source line of an address. The object must have been compiled with [`crate::compile::Symbols::Lines`], which
//! does not change its code.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::{fs, io, thread};

unsafe extern "C" {
    fn sampler_begin(places: *mut u64, room: usize, period_ns: u64) -> i32;
    fn sampler_end() -> usize;
}

/// Odd, so that it does not beat with loops of packets.
const PERIOD_NS: u64 = 199_999;

/// One timer and one handler for the whole process.
static TAKEN: Mutex<()> = Mutex::new(());

/// A function that an instruction belongs to, and the line of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Frame {
    pub function: String,
    pub file: String,
    pub line: usize,
}

/// How often an instruction was found waiting, and the functions it is in, from the innermost on. None for code outside the object.
pub type Places = Vec<(Vec<Frame>, u64)>;

/// Runs `step` until `count` samples of this thread are taken or `steps` are done; gives the
/// addresses. None are taken in `between`, behind each step.
pub fn sample<T>(
    count: usize,
    steps: usize,
    on: &mut T,
    step: impl Fn(&mut T),
    between: impl Fn(&mut T),
) -> Option<Vec<u64>> {
    let _one = TAKEN.lock().ok()?;
    let mut places = vec![0u64; count];
    let mut taken = 0;
    for _ in 0..steps {
        if taken == count {
            break;
        }
        let rest = &mut places[taken..];
        // SAFETY: the array lives until the timer is deleted, and the handler writes no further than its length.
        if unsafe { sampler_begin(rest.as_mut_ptr(), rest.len(), PERIOD_NS) } == 0 {
            return None;
        }
        step(on);
        // SAFETY: the timer was begun above.
        taken += unsafe { sampler_end() };
        between(on);
    }
    places.truncate(taken);
    Some(places)
}

/// The functions and lines at the addresses, of which those in `object` are looked up.
pub fn places(object: &Path, addresses: &[u64]) -> io::Result<Places> {
    let (start, end) = loaded_at(object)?;
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    let mut outside = 0;
    for address in addresses {
        if (start..end).contains(address) {
            *counts.entry(address - start).or_default() += 1;
        } else {
            outside += 1;
        }
    }
    let text = ask(object, counts.keys().copied().collect())?;
    let mut places: Places = vec![(Vec::new(), outside)];
    for (chain, count) in parse(&text).into_iter().zip(counts.values()) {
        places.push((chain, *count));
    }
    Ok(places)
}

/// First and last address of a loaded object.
fn loaded_at(object: &Path) -> io::Result<(u64, u64)> {
    let name = object.display().to_string();
    let maps = fs::read_to_string("/proc/self/maps")?;
    let ranges = maps.lines().filter(|line| line.ends_with(&name)).filter_map(|line| {
        let (start, end) = line.split(' ').next()?.split_once('-')?;
        Some((u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?))
    });
    let whole = ranges.reduce(|(start, end), (other, last)| (start.min(other), end.max(last)));
    whole.ok_or_else(|| io::Error::other(format!("{name} is not loaded")))
}

fn ask(object: &Path, offsets: Vec<u64>) -> io::Result<String> {
    let mut child = Command::new("addr2line")
        .args(["-a", "-f", "-i", "-e"])
        .arg(object)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut input = child.stdin.take().ok_or_else(|| io::Error::other("no pipe to addr2line"))?;
    // It answers while it is asked: both pipes would fill up.
    let asking = thread::spawn(move || offsets.iter().try_for_each(|offset| writeln!(input, "{offset:#x}")));
    let output = child.wait_with_output()?;
    asking.join().map_err(|_| io::Error::other("addr2line was not asked"))??;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// An address a block; behind it function and line by turns, from the innermost on.
fn parse(text: &str) -> Vec<Vec<Frame>> {
    let mut blocks: Vec<Vec<Frame>> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("0x") {
            blocks.push(Vec::new());
            continue;
        }
        let place = lines.next().unwrap_or("??:0");
        let place = place.split(" (").next().unwrap_or(place);
        let (file, number) = place.rsplit_once(':').unwrap_or((place, "0"));
        let frame =
            Frame { function: line.to_string(), file: file.to_string(), line: number.parse().unwrap_or_default() };
        if let Some(block) = blocks.last_mut() {
            block.push(frame);
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn answers_are_read_as_chains_of_functions() {
        let text = "0x0000000000001139\nexact_find\n/r/table/exact.h:31\nBridge_dmac\n/c/l2fwd.c:7 (discriminator 3)\n0x12\n??\n??:?\n";
        let blocks = parse(text);
        let frame = |function: &str, file: &str, line| Frame { function: function.into(), file: file.into(), line };
        assert_eq!(blocks[0], [frame("exact_find", "/r/table/exact.h", 31), frame("Bridge_dmac", "/c/l2fwd.c", 7)]);
        assert_eq!(blocks[1], [frame("??", "??", 0)]);
    }

    #[test]
    fn a_thread_that_works_is_found_at_its_work() {
        let mut sum = 0u64;
        let work = |sum: &mut u64| (0..100_000u64).for_each(|number| *sum = black_box(sum.wrapping_mul(31) + number));
        let places = sample(50, 100_000, &mut sum, work, |_| {}).expect("there are timers");
        assert_eq!(places.len(), 50);
        assert!(places.iter().all(|place| *place != 0));
    }
}
