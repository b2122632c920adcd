//! Takes out of measured costs what cannot be so: that a line of a larger working set costs less, or of more lines in flight more.
//!
//! Neighbours that contradict each other are replaced by their geometric mean, as often as needed: isotonic regression by pooling adjacent violators.
//! Without it the noise of one point makes the larger of two structures the cheaper one.

/// Sweeps over rows and columns: each may disturb the other a little.
const SWEEPS: usize = 3;

/// `table` has a row for each working set, rising, and in it a column for each number of lines in flight, rising.
pub fn smooth(table: &mut [Vec<f64>]) {
    let columns = table.first().map_or(0, Vec::len);
    for _ in 0..SWEEPS {
        for row in table.iter_mut() {
            let mut falling: Vec<f64> = row.iter().rev().copied().collect();
            rise(&mut falling);
            row.iter_mut().rev().zip(falling).for_each(|(point, cycles)| *point = cycles);
        }
        for column in 0..columns {
            let mut rising: Vec<f64> = table.iter().map(|row| row[column]).collect();
            rise(&mut rising);
            table.iter_mut().zip(rising).for_each(|(row, cycles)| row[column] = cycles);
        }
    }
}

/// The nearest costs that never fall.
pub fn rise(costs: &mut [f64]) {
    costs.iter_mut().for_each(|cost| *cost = cost.ln());
    rise_evenly(costs);
    costs.iter_mut().for_each(|cost| *cost = cost.exp());
}

/// The same of differences, which may be below zero: neighbours that contradict each other are replaced by their mean.
pub fn rise_evenly(numbers: &mut [f64]) {
    // Runs of equal numbers: which, and how many there are.
    let mut runs: Vec<(f64, usize)> = Vec::new();
    for number in numbers.iter() {
        let mut run = (*number, 1);
        while let Some((before, count)) = runs.pop_if(|(before, _)| *before > run.0) {
            let all = count + run.1;
            run = ((before * count as f64 + run.0 * run.1 as f64) / all as f64, all);
        }
        runs.push(run);
    }
    let pooled = runs.into_iter().flat_map(|(number, count)| std::iter::repeat_n(number, count));
    numbers.iter_mut().zip(pooled).for_each(|(number, pooled)| *number = pooled);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_that_rise_stay() {
        let mut costs = [1.0, 2.0, 2.0, 300.0];
        rise(&mut costs);
        costs.iter().zip([1.0, 2.0, 2.0, 300.0]).for_each(|(cost, wanted)| assert!((cost - wanted).abs() < 1e-9));
    }

    #[test]
    fn neighbours_that_contradict_each_other_meet() {
        let mut costs = [1.0, 8.0, 2.0, 16.0];
        rise(&mut costs);
        costs.iter().zip([1.0, 4.0, 4.0, 16.0]).for_each(|(cost, wanted)| assert!((cost - wanted).abs() < 1e-9));
    }

    #[test]
    fn differences_below_zero_pull_their_neighbours_no_further_than_they_are() {
        let mut differences = [4.0, -1.0, 6.0, 5.0];
        rise_evenly(&mut differences);
        assert_eq!(differences, [1.5, 1.5, 5.5, 5.5]);
    }

    #[test]
    fn more_lines_in_flight_never_cost_more() {
        let mut table = vec![vec![4.0, 1.0, 2.0], vec![3.0, 2.0, 9.0], vec![300.0, 80.0, 20.0]];
        smooth(&mut table);
        for row in &table {
            assert!(row.windows(2).all(|pair| pair[0] >= pair[1] * (1.0 - 1e-9)), "{row:?}");
        }
    }
}
