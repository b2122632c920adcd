//! The examples of docs/stf.md are STF, and its list of commands is complete.

const PAGE: &str = include_str!("../../../../docs/stf.md");

#[test]
fn the_examples_are_stf() {
    let examples: Vec<&str> = PAGE.split("```stf\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(examples.len(), 2);
    for example in examples {
        let commands = stf::parse(example).unwrap_or_else(|mistakes| panic!("{example}: {mistakes:?}"));
        assert!(commands.len() > 8);
    }
}

#[test]
fn every_command_is_listed() {
    for command in stf::COMMANDS {
        assert!(PAGE.contains(&format!("`{command}")), "`{command}` is not in docs/stf.md");
    }
}
