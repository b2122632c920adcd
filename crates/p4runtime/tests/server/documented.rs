//! docs/p4runtime.md ties each clause to a test: every test that it names exists, and it names every test.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn the_conformance_table_names_every_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("../../docs/p4runtime.md")).expect("the page is there");
    let named: BTreeSet<String> =
        page.split('`').skip(1).step_by(2).filter(|code| code.contains("::")).map(str::to_string).collect();
    let mut written = BTreeSet::new();
    let files = fs::read_dir(root.join("tests/server")).expect("the folder is there");
    for file in files.filter_map(|file| Some(file.ok()?.path())).filter(|path| path.extension().is_some()) {
        let text = fs::read_to_string(&file).expect("it is there");
        let file = file.file_stem().and_then(|name| name.to_str()).expect("it has a name");
        if ["documented", "protocol"].contains(&file) {
            continue;
        }
        for after in text.split("#[test]\nfn ").skip(1) {
            let name = after.split('(').next().expect("a function has a name");
            written.insert(format!("{file}::{name}"));
        }
    }
    assert!(written.len() > 50, "{} tests", written.len());
    assert_eq!(named.difference(&written).collect::<Vec<_>>(), Vec::<&String>::new(), "the page names them");
    assert_eq!(written.difference(&named).collect::<Vec<_>>(), Vec::<&String>::new(), "the page does not name them");
}
