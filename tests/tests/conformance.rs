//! What the runner over p4c's corpus takes of it.

use std::path::PathBuf;
use tests::conformance::cases::{Job, Kind, sample};

#[test]
fn a_sample_is_the_first_case_and_each_so_many_behind_it() {
    let sampled = |count: usize, every: u64| -> Vec<usize> {
        let job = |number: usize| Job { name: number.to_string(), program: PathBuf::new(), kind: Kind::Accept };
        let jobs = sample((0..count).map(job).collect(), every);
        jobs.iter().map(|job| job.name.parse().expect("the name is a number")).collect()
    };
    assert_eq!(sampled(5, 1), [0, 1, 2, 3, 4]);
    assert_eq!(sampled(7, 3), [0, 3, 6]);
    assert_eq!(sampled(6, 3), [0, 3]);
    assert_eq!(sampled(2, 100), [0]);
    assert_eq!(sampled(0, 2), [0; 0]);
}
