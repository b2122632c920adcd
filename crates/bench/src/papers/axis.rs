//! Round numbers for the axes of figures.

/// Round numbers from below `low` to above `high`, at most `count` and one steps apart.
pub fn steps((low, high): (f64, f64), count: u32) -> Vec<f64> {
    let rough = ((high - low) / f64::from(count)).max(1e-9);
    let power = 10f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].into_iter().map(|times| times * power).find(|step| *step >= rough).unwrap_or(rough);
    let (first, last) = ((low / step).floor() as i64, (high / step).ceil() as i64);
    (first..=last).map(|number| number as f64 * step).collect()
}

/// Powers of ten with 2 and 5 between them, around the values.
pub fn powers(low: f64, high: f64) -> Vec<f64> {
    let all = (-6..=12).flat_map(|power| [1.0, 2.0, 5.0].map(|times| times * 10f64.powi(power)));
    let all: Vec<f64> = all.collect();
    let first = all.iter().rposition(|tick| *tick <= low).unwrap_or(0);
    let last = all.iter().position(|tick| *tick >= high).unwrap_or(all.len() - 1).max(first + 1);
    all[first..=last].to_vec()
}

/// Powers of two, at most nine of them.
pub fn doublings(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.log2().floor() as i32, high.log2().ceil() as i32);
    let step = ((last - first) / 8 + 1).max(1) as usize;
    (first..=last).step_by(step).map(|power| 2f64.powi(power)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_numbers_that_hold_all_values() {
        assert_eq!(steps((0.0, 138.0), 4), [0.0, 50.0, 100.0, 150.0]);
        assert_eq!(steps((-3.3, 38.0), 4), [-20.0, 0.0, 20.0, 40.0]);
        assert_eq!(steps((8.0, 896.0), 6), [0.0, 200.0, 400.0, 600.0, 800.0, 1000.0]);
        assert_eq!(powers(8.0, 130.0), [5.0, 10.0, 20.0, 50.0, 100.0, 200.0]);
        assert_eq!(doublings(1.0, 256.0).len(), 5);
    }
}
