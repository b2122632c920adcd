//! Prints the C of a `.hlir` file: `cargo run -p emit --example emit FILE [own]`. The plan is the file's, or the plain one.

use hlir::source::SourceMap;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("a .hlir file is named");
    let text = std::fs::read_to_string(&path).expect("the file can be read");
    let map = SourceMap::new(&path, &text);
    let parsed = match hlir::text::parse_file(&text) {
        Ok(parsed) => parsed,
        Err(errors) => return errors.iter().for_each(|error| eprint!("{}", error.render(&map))),
    };
    let mut plan = parsed.plan.unwrap_or_default();
    if arguments.next().as_deref() == Some("own") {
        plan.descriptor = hlir::plan::Descriptor::Own;
    }
    match emit::emit(&parsed.program, &plan) {
        Ok(text) => print!("{text}"),
        Err(errors) => errors.iter().for_each(|error| eprint!("{}", error.render(&map))),
    }
}
