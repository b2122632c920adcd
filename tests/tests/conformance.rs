//! What the runner over p4c's corpus takes of it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use tests::conformance::cases::{Job, Kind, sample, without_dead_links};

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

#[test]
fn a_program_that_is_a_link_to_nothing_is_no_case() {
    let folder = std::env::temp_dir().join(format!("bacus-dead-links-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a directory can be made");
    fs::write(folder.join("here.p4"), "").expect("a file can be written");
    symlink("here.p4", folder.join("alive.p4")).expect("a link can be made");
    symlink("backends/elsewhere.p4", folder.join("dead.p4")).expect("a link can be made");
    // A program that does not exist is named in a list: that is a failure, and must be reported.
    let names = ["here.p4", "alive.p4", "dead.p4", "misspelt.p4"];
    let job = |name: &str| Job { name: name.to_string(), program: folder.join(name), kind: Kind::Accept };
    let (jobs, absent) = without_dead_links(names.map(job).into());
    assert_eq!(jobs.iter().map(|job| job.name.as_str()).collect::<Vec<&str>>(), ["here.p4", "alive.p4", "misspelt.p4"]);
    assert_eq!(absent.into_iter().collect::<Vec<String>>(), ["dead.p4"]);
    fs::remove_dir_all(folder).expect("it was made above");
}
