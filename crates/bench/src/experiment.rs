//! What is measured: cases, and what each is for.

use super::paper_cases;
use super::workload::{self, APPLICATIONS, Application};
use crate::options::Options;
pub use crate::purpose::{EXPERIMENTS, Experiment};
use driver::failure::Failure;
use std::fmt;
use std::str::FromStr;

/// Drops are measured here, by so many percent of the packets.
const DROPS: (&str, u64, [u32; 3]) = ("ipv4fwd", 100_000, [1, 4, 17]);

/// Sizes of a sweep: small, middle and large tables.
const SWEPT: [(&str, [u64; 3]); 4] = [
    ("l2fwd", [256, 65_536, 1 << 20]),
    ("ipv4fwd", [1_000, 100_000, 606_138]),
    ("ipv6fwd", [1_000, 50_000, 200_000]),
    ("l2l3acl", [256, 65_536, 1 << 20]),
];

/// Which case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub application: String,
    pub size: u64,
    pub experiment: Experiment,
}

impl Case {
    /// Of a program that is named by a path, its file.
    pub fn name(&self) -> &str {
        self.application.rsplit('/').next().unwrap_or_default()
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.application, self.size, self.experiment)
    }
}

impl FromStr for Case {
    type Err = String;

    fn from_str(text: &str) -> Result<Case, String> {
        // A program's name may have a colon.
        let mut parts = text.rsplitn(3, ':');
        let mut next = || parts.next().ok_or_else(|| format!("`{text}` is not APPLICATION:SIZE:EXPERIMENT"));
        let (experiment, size, application) = (next()?, next()?, next()?.to_string());
        let size = size.parse().map_err(|error| format!("`{size}`: {error}"))?;
        Ok(Case { application, size, experiment: experiment.parse()? })
    }
}

/// The cases that the options select, in order.
pub fn cases(options: &Options) -> Result<Vec<Case>, Failure> {
    let known = || APPLICATIONS.iter().map(|application| application.name).collect::<Vec<_>>().join(", ");
    let is_known = |name: &String| workload::application(name).is_some() || workload::is_program(name);
    if let Some(unknown) = options.applications.iter().find(|name| !is_known(name)) {
        let hint = "hint: a program is named by its file, as in examples/router.p4";
        return Err(Failure::input(format!("there is no application `{unknown}`; there are {}\n{hint}", known())));
    }
    let is_chosen =
        |name: &str| options.applications.is_empty() || options.applications.iter().any(|chosen| chosen == name);
    let is_asked = |name: &str| match &options.experiment[..] {
        [] => name == "programs" || !(options.quick || options.sweep || !options.sizes.is_empty()),
        asked => asked.iter().any(|other| other == name),
    };
    let case = |name: &str, size, experiment| Case { application: name.to_string(), size, experiment };
    let mut cases = programs(options)?;
    if is_asked("programs") {
        for application in APPLICATIONS.iter().filter(|application| is_chosen(application.name)) {
            let sizes = sizes(application, options).into_iter();
            cases.extend(sizes.map(|size| case(application.name, size, Experiment::Programs)));
        }
    }
    let (name, size, percents) = DROPS;
    if is_asked("drops") && is_chosen(name) {
        cases.extend(percents.map(|percent| case(name, size, Experiment::Drops(percent))));
    }
    let is_whole = options.experiment.is_empty();
    for planned in paper_cases::ALL.iter().filter(|planned| is_chosen(planned.application)) {
        // A whole run has gains, and each of the others where it is named: they take an hour together.
        let is_meant = if is_whole { planned.experiment == Experiment::Gains } else { true };
        if is_meant && is_asked(planned.experiment.name()) {
            let defaults = if options.quick { planned.quick } else { planned.sizes };
            let sizes = if options.sizes.is_empty() { defaults } else { &options.sizes };
            cases.extend(sizes.iter().map(|size| case(planned.application, *size, planned.experiment)));
        }
    }
    if cases.is_empty() {
        let named = options.applications.join(", ");
        let kind = match (options.sweep, &options.experiment[..]) {
            (true, _) => "--sweep".to_string(),
            (false, asked) => format!("--experiment {}", asked.join(",")),
        };
        let hint = "hint: docs/bench.md lists the applications of each experiment; without it, any one is measured";
        return Err(Failure::input(format!("{kind} has no case with {named}\n{hint}")));
    }
    Ok(cases)
}

/// Programs of users: each has the size of its entries.
fn programs(options: &Options) -> Result<Vec<Case>, Failure> {
    let programs: Vec<&String> = options.applications.iter().filter(|name| workload::is_program(name)).collect();
    if programs.len() != 1 && !options.entries.is_empty() {
        return Err(Failure::input("--entries: expected one program, whose entries these are"));
    }
    if programs.is_empty() && options.scoreboard.is_none() && has_preprocessing(options) {
        let hint = "hint: name the file, as in apps/router/router.p4, to measure it with macros of your own";
        return Err(Failure::input(format!("-I, -D and -U are for programs that are named by their files\n{hint}")));
    }
    let case = |name: &String| {
        let size = workload::entries_of(name, options)?;
        Ok(Case { application: name.clone(), size, experiment: Experiment::Programs })
    };
    programs.into_iter().map(case).collect()
}

fn has_preprocessing(options: &Options) -> bool {
    [&options.define, &options.undefine].iter().any(|names| !names.is_empty()) || !options.include.is_empty()
}

fn sizes(application: &Application, options: &Options) -> Vec<u64> {
    if options.sweep && options.sizes.is_empty() {
        let swept = SWEPT.iter().find(|(name, _)| *name == application.name);
        return swept.map_or(Vec::new(), |(_, sizes)| sizes.to_vec());
    }
    match (&options.sizes[..], options.quick) {
        ([], false) => application.sizes.to_vec(),
        // One that is named is measured, though a quick run of all leaves it out.
        ([], true) if application.quick.is_empty() && !options.applications.is_empty() => {
            application.sizes[..1].to_vec()
        }
        ([], true) => application.quick.to_vec(),
        (sizes, _) => sizes.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::Mix;

    #[test]
    fn a_case_goes_from_process_to_process() {
        for experiment in
            [Experiment::Programs, Experiment::JoinSweep, Experiment::Drops(17), Experiment::Paths(Mix::of(90, 10))]
        {
            for application in ["ipv4fwd", "a:b/router.p4"] {
                let case = Case { application: application.into(), size: 4, experiment };
                assert_eq!(case.to_string().parse(), Ok(case));
            }
        }
        assert!("ipv4fwd:4".parse::<Case>().is_err() && "ipv4fwd:4:drops-".parse::<Case>().is_err());
    }

    #[test]
    fn what_is_named_is_measured_or_refused() {
        for application in APPLICATIONS {
            let quick = Options { applications: vec![application.name.into()], quick: true, ..Options::default() };
            assert!(cases(&quick).is_ok_and(|cases| !cases.is_empty()), "{}", application.name);
        }
        let of_none = Options {
            applications: vec!["mpls".into()],
            experiment: vec!["drops".into(), "gains".into()],
            ..Options::default()
        };
        let Err(Failure::Input(refusal)) = cases(&of_none) else { panic!("mpls has neither experiment") };
        assert!(refusal.starts_with("error: --experiment drops,gains has no case with mpls"), "{refusal}");
        let with_macro =
            Options { applications: vec!["nat".into()], define: vec!["MAPPINGS=4".into()], ..Options::default() };
        let Err(Failure::Input(refusal)) = cases(&with_macro) else { panic!("a macro without effect is refused") };
        assert!(refusal.starts_with("error: -I, -D and -U are for programs"), "{refusal}");
    }

    #[test]
    fn experiments_are_of_applications_at_sizes_of_theirs() {
        for planned in paper_cases::ALL {
            let name = planned.application;
            assert!(workload::application(name).is_some(), "{name}");
            assert!(!planned.quick.is_empty() && planned.quick.iter().max() <= planned.sizes.iter().max(), "{name}");
        }
        assert!(workload::application(DROPS.0).is_some_and(|application| application.sizes.contains(&DROPS.1)));
    }
}
