//! What lacks cost on this machine, measured in a second: cache lines with pages of both sizes, and a core that others interrupt.

use driver::files;
use runtime::probe::Access;
use runtime::{Compiler, Probe, Undisturbed, core_isolation};
use std::time::{Duration, Instant};

/// More than a cache has; lines are read in random order.
pub const BYTES: usize = 64 << 20;
/// One line on each page of this much.
const SPAN: usize = 32 << 20;
const SAMPLES: usize = 15;

/// An interruption is a longer pause between two looks at the clock.
const PAUSE: Duration = Duration::from_micros(5);
const LOOP: Duration = Duration::from_millis(400);

#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Cycles of a line of 64 MB, on the pages that tables get.
    pub line: Option<f64>,
    /// The size of those pages.
    pub page_bytes: Option<usize>,
    /// Cycles more for a line that is alone on its page of 4 KB, as a packet buffer is without huge pages.
    pub small_page: Option<f64>,
    pub interruptions: Option<Interruptions>,
}

/// Pauses of a thread that does not pause by itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interruptions {
    pub per_second: f64,
    pub longest: Duration,
    /// Of the time.
    pub share: f64,
}

pub fn measure(cc: Option<&str>) -> Measured {
    core_isolation::be_ordinary();
    core_isolation::pin();
    let interruptions = Some(interruptions());
    let mut measured = Measured { interruptions, ..Measured::default() };
    // Without a compiler there is nothing to measure with, which is reported elsewhere.
    let (Ok(compiler), Ok(cache)) = (Compiler::find(cc), files::cache()) else { return measured };
    if let Ok(probe) = Probe::open(&compiler, &cache, BYTES) {
        probe.touch(BYTES);
        measured.page_bytes = Some(probe.page_bytes());
        measured.line = least(|| probe.lines(BYTES, Access::Load, 1));
    }
    if let Ok(probe) = Probe::open_small(&compiler, &cache, BYTES) {
        probe.touch(BYTES);
        measured.small_page = least(|| Some(probe.apart(SPAN, Access::Load, 1)));
    }
    core_isolation::spread();
    measured
}

/// The lower quartile: disturbances only make a sample longer.
fn least(mut sample: impl FnMut() -> Option<f64>) -> Option<f64> {
    let _undisturbed = Undisturbed::begin();
    let mut samples: Vec<f64> = (0..SAMPLES).filter_map(|_| sample()).collect();
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 4).copied()
}

fn interruptions() -> Interruptions {
    let begin = Instant::now();
    let (mut before, mut count, mut lost, mut longest) = (begin, 0u32, Duration::ZERO, Duration::ZERO);
    while before - begin < LOOP {
        let now = Instant::now();
        let pause = now - before;
        if pause > PAUSE {
            count += 1;
            lost += pause;
            longest = longest.max(pause);
        }
        before = now;
    }
    let seconds = (before - begin).as_secs_f64();
    Interruptions { per_second: f64::from(count) / seconds, longest, share: lost.as_secs_f64() / seconds }
}
