//! What other programs took of the CPUs while an experiment ran: by `/proc`, all that was busy without this process and its children.

use super::outcome::Load;
use std::fs;
use std::time::Instant;

/// Ticks of the kernel's accounting in a second, on every Linux for x86.
const TICKS: f64 = 100.0;

pub struct Watch {
    begun: Instant,
    before: Option<(f64, f64)>,
}

impl Watch {
    pub fn begin() -> Watch {
        Watch { begun: Instant::now(), before: ticks() }
    }

    pub fn load(&self) -> Load {
        let seconds = self.begun.elapsed().as_secs_f64().max(0.01);
        let others = |(all, own): (f64, f64), (all_before, own_before): (f64, f64)| {
            (((all - all_before) - (own - own_before)) / TICKS / seconds).max(0.0)
        };
        Load { other_cpus: ticks().zip(self.before).map(|(now, before)| others(now, before)) }
    }
}

/// Busy ticks of all CPUs, stolen ones among them; and of this process with the children that it has waited for.
fn ticks() -> Option<(f64, f64)> {
    let numbers = |text: &str| text.split_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<f64>>();
    let all = fs::read_to_string("/proc/stat").ok()?;
    let all = numbers(all.lines().next()?);
    // user nice system idle iowait irq softirq steal
    let busy = all.get(..8)?.iter().sum::<f64>() - all[3] - all[4];
    let own = fs::read_to_string("/proc/self/stat").ok()?;
    // After the name, which may have blanks: the 14th to 17th fields are utime, stime and those of children.
    let own = numbers(own.rsplit_once(')')?.1.trim_start().split_once(' ')?.1);
    Some((busy, own.get(10..14)?.iter().sum()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_work_is_no_load() {
        let Some((all, own)) = ticks() else { return };
        let begun = Instant::now();
        let grown = || ticks().map_or((0.0, 0.0), |(now, own_now)| (now - all, own_now - own));
        while grown().1 < 10.0 && begun.elapsed().as_secs() < 20 {
            (0..1 << 20).for_each(|_| std::hint::spin_loop());
        }
        let (all, own) = grown();
        assert!(own >= 10.0 && all >= 10.0, "{all} {own}");
    }
}
