//! What a user waits for: a check, and the time from P4 to a loaded switch.

use driver::compile;
use driver::externs::Externs;
use driver::failure::Failure;
use driver::frontend;
use driver::options::{Native, Passes, Source};
use runtime::{Cache, Pipeline};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Times of one kind are the median of this many.
const TIMES: usize = 7;
const LINES: usize = 1_500;

fn source(program: &Path) -> Source {
    Source::plain(program)
}

fn median(mut once: impl FnMut() -> Result<Duration, Failure>) -> Result<Duration, Failure> {
    let mut times = (0..TIMES).map(|_| once()).collect::<Result<Vec<Duration>, Failure>>()?;
    times.sort();
    Ok(times[TIMES / 2])
}

/// `bacus check` of a program of 1,500 lines, the preprocessor included.
pub fn check(cache: &Cache) -> Result<Duration, Failure> {
    let program = cache.fresh("bench").with_extension("p4");
    let written = fs::write(&program, long_program(LINES));
    written.map_err(|error| Failure::unwritable(&program, &error))?;
    let time = median(|| {
        let start = Instant::now();
        frontend::check(&source(&program))?;
        Ok(start.elapsed())
    });
    let removed = fs::remove_file(&program);
    removed.map_err(|error| Failure::unwritable(&program, &error))?;
    time
}

/// From the P4 text to a pipeline in memory, with nothing in the cache.
pub fn compile_and_load(program: &str, passes: &Passes, native: &Native) -> Result<Duration, Failure> {
    let start = Instant::now();
    let loaded = frontend::load(&source(&PathBuf::from(program)))?;
    let (program, mut plan) = frontend::optimize(loaded, passes, None)?;
    plan.descriptor = hlir::plan::Descriptor::Own;
    let none = Externs::default();
    // A text that no cache has seen.
    let text = format!("{}\n/* {:?} */\n", compile::emit(&program, &plan, &none)?, start);
    let object = compile::object(&program.name, &text, plan.descriptor, (native, &none))?;
    Pipeline::load(&object)?;
    let elapsed = start.elapsed();
    let removed = fs::remove_file(&object).and_then(|()| fs::remove_file(object.with_extension("c")));
    removed.map_err(|error| Failure::unwritable(&object, &error))?;
    Ok(elapsed)
}

/// A v1model program of about so many lines: parser, and tables one after the other with their actions.
fn long_program(lines: usize) -> String {
    let mut text = String::from(
        "#include <core.p4>\n#include <v1model.p4>\n\
         header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }\n\
         struct headers_t { ethernet_t ethernet; }\nstruct metadata_t { bit<32> value; }\n\
         parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {\n\
         \x20   state start { packet.extract(hdr.ethernet); transition accept; }\n}\n\
         control C(inout headers_t hdr, inout metadata_t meta) { apply { } }\n\
         control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) { apply { } }\n\
         control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.ethernet); } }\n\
         control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {\n",
    );
    let tables = (lines - 18) / 18;
    for table in 0..tables {
        let _ = write!(
            text,
            "    action set_{table}(bit<32> value, bit<9> port) {{\n        meta.value = meta.value + value;\n\
             \x20       standard.egress_spec = port;\n    }}\n    action clear_{table}() {{\n        meta.value = 0;\n    }}\n\
             \x20   table table_{table} {{\n        key = {{\n            hdr.ethernet.dst : exact;\n            meta.value : ternary;\n\
             \x20       }}\n        actions = {{\n            set_{table};\n            clear_{table};\n        }}\n\
             \x20       default_action = clear_{table}();\n    }}\n"
        );
    }
    text.push_str("    apply {\n");
    for table in 0..tables {
        let _ = writeln!(text, "        table_{table}.apply();");
    }
    text.push_str("    }\n}\nV1Switch(P(), C(), I(), E(), C(), D()) main;\n");
    text
}

#[cfg(test)]
mod tests {
    use super::{LINES, long_program};

    #[test]
    fn the_long_program_is_as_long_as_it_says() {
        let lines = long_program(LINES).lines().count();
        assert!((1_450..1_650).contains(&lines), "{lines} lines");
    }
}
