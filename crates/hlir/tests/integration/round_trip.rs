//! The text is the IR: every printed program or plan reads back as an equal value, and prints as the same
//! bytes.

use crate::generate::{Generator, Manners};
use hlir::source::SourceMap;
use hlir::text::{parse_file, parse_plan, parse_program, print_file, print_plan, print_program};
use hlir::verify::verify;
use proptest::collection::vec;
use proptest::prelude::*;

fn rendered(errors: &[hlir::diagnostic::Diagnostic], text: &str) -> String {
    let map = SourceMap::new("printed", text);
    errors.iter().map(|error| error.render(&map)).collect()
}

fn reads_back(choices: &[u32], manners: Manners) -> Result<(), TestCaseError> {
    let program = Generator::new(choices, manners).program();
    let printed = print_program(&program);
    match parse_program(&printed) {
        Err(errors) => prop_assert!(false, "{}\n{printed}", rendered(&errors, &printed)),
        Ok(parsed) => {
            prop_assert_eq!(&parsed, &program, "{}", printed);
            prop_assert_eq!(print_program(&parsed), printed);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn orderly_programs_read_back(choices in vec(any::<u32>(), 0..2000)) {
        reads_back(&choices, Manners::Orderly)?;
    }

    #[test]
    fn wild_programs_read_back(choices in vec(any::<u32>(), 0..2000)) {
        reads_back(&choices, Manners::Wild)?;
    }

    /// Ensures that the tests above are about relevant programs.
    #[test]
    fn orderly_programs_are_right(choices in vec(any::<u32>(), 0..2000)) {
        let program = Generator::new(&choices, Manners::Orderly).program();
        let errors = verify(&program);
        prop_assert!(errors.is_empty(), "{}\n{}", rendered(&errors, ""), print_program(&program));
    }

    #[test]
    fn wild_programs_are_judged_without_a_panic(choices in vec(any::<u32>(), 0..2000)) {
        verify(&Generator::new(&choices, Manners::Wild).program());
    }

    #[test]
    fn plans_read_back(choices in vec(any::<u32>(), 0..200)) {
        let plan = Generator::new(&choices, Manners::Wild).plan();
        let printed = print_plan(&plan);
        match parse_plan(&printed) {
            Err(errors) => prop_assert!(false, "{}\n{printed}", rendered(&errors, &printed)),
            Ok(parsed) => {
                prop_assert_eq!(&parsed, &plan, "{}", printed);
                prop_assert_eq!(print_plan(&parsed), printed);
            }
        }
    }

    #[test]
    fn a_program_and_its_plan_are_one_text(choices in vec(any::<u32>(), 0..1000)) {
        let program = Generator::new(&choices, Manners::Orderly).program();
        let plan = Generator::new(&choices, Manners::Orderly).plan();
        let parsed = parse_file(&print_file(&program, Some(&plan))).expect("what was printed can be read");
        prop_assert_eq!(parsed.program, program);
        prop_assert_eq!(parsed.plan, Some(plan));
    }
}
