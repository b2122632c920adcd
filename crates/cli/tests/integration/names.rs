//! A program may call anything as it likes: no name clashes with C, its library, DPDK or the runtime.

use crate::command::{bacus, has_dpdk, path, said, scratch};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Keywords, macros, types and functions, of C, POSIX, DPDK and the runtime. P4 has no use for these words but as names.
const WORDS: [&str; 21] = [
    "NULL",
    "strlen",
    "signed",
    "SIZE_MAX",
    "RAND_MAX",
    "ABI_VERSION",
    "INLINE",
    "qsort",
    "labs",
    "goto",
    "size_t",
    "rte_errno",
    "TABLE_OK",
    "records_add",
    "linux",
    "nullptr",
    "memcpy",
    "INT8_MAX",
    "packet_length",
    "int32_t",
    "free",
];

/// Kinds of names. A `$` and the number of a kind is its name in the template.
const KINDS: usize = 21;

const TEMPLATE: &str = "
#include <core.p4>
#include <v1model.p4>
header $0 { bit<8> $1; bit<8> b; bit<16> c; }
struct $2 { $0 $3; }
struct $4 { bit<8> $5; }
parser $6(packet_in p, out $2 h, inout $4 m, inout standard_metadata_t s) {
    value_set<bit<8>>(4) $7;
    state start { p.extract(h.$3); transition select(h.$3.$1) { $7: $8; default: accept; } }
    state $8 { m.$5 = 1; transition accept; }
}
control V(inout $2 h, inout $4 m) { apply { } }
control $9(inout $2 h, inout $4 m, inout standard_metadata_t s) {
    register<bit<8>>(4) $10;
    counter(4, CounterType.packets) $11;
    meter(4, MeterType.packets) $12;
    direct_counter(CounterType.packets) $13;
    action_selector(HashAlgorithm.crc16, 32w16, 32w14) $14;
    action $15(bit<8> $16, bit<8> $17) { h.$3.$1 = $16; m.$5 = $17; }
    action other() { mark_to_drop(s); }
    table $18 { key = { h.$3.b: exact; } actions = { $15; other; } counters = $13; }
    table spread { key = { h.$3.b: exact; h.$3.c: selector; } actions = { $15; other; } implementation = $14; }
    apply {
        bit<8> $19 = m.$5;
        s.egress_spec = 1;
        $10.read($19, 1);
        $10.write(1, $19 + 1);
        $11.count(1);
        $12.execute_meter(1, m.$5);
        if ($18.apply().hit) { spread.apply(); }
        m.$5 = $19;
    }
}
control E(inout $2 h, inout $4 m, inout standard_metadata_t s) { apply { } }
control C(inout $2 h, inout $4 m) { apply { } }
control $20(packet_out p, in $2 h) { apply { p.emit(h.$3); } }
V1Switch($6(), V(), $9(), E(), C(), $20()) main;
";

fn program(turn: usize) -> String {
    (0..KINDS)
        .rev()
        .fold(TEMPLATE.to_string(), |text, kind| text.replace(&format!("${kind}"), WORDS[(kind + turn) % WORDS.len()]))
}

/// The C compiler's verdict on the code of a program.
fn compiles(directory: &Path, text: &str, descriptor: &str) -> Result<(), String> {
    let (program, code) = (directory.join("names.p4"), directory.join("names.c"));
    fs::write(&program, text).expect("there is room for a test");
    let mut emit = bacus();
    emit.arg("compile").arg(&program).args(["--emit", "c", "--descriptor", descriptor, "-o"]).arg(&code);
    let emitted = emit.output().expect("bacus can be run");
    if !emitted.status.success() {
        return Err(said(&emitted));
    }
    let mut compile = Command::new("cc");
    compile.args(["-march=native", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-fsyntax-only"]);
    compile.arg("-I").arg(path("runtime")).args(dpdk_flags(descriptor)).arg(&code);
    let compiled = compile.output().expect("there is a C compiler");
    if compiled.status.success() { Ok(()) } else { Err(said(&compiled)) }
}

fn dpdk_flags(descriptor: &str) -> Vec<String> {
    if descriptor == "own" {
        return Vec::new();
    }
    let flags = Command::new("pkg-config").args(["--cflags", "libdpdk"]).output().expect("pkg-config can be run");
    String::from_utf8_lossy(&flags.stdout).split_whitespace().map(String::from).collect()
}

#[test]
fn names_of_every_kind_may_be_words_of_c() {
    let directory = scratch("names");
    let mut failed = String::new();
    for turn in 0..WORDS.len() {
        for descriptor in ["own", "mbuf"] {
            if descriptor == "mbuf" && !has_dpdk() {
                continue;
            }
            if let Err(why) = compiles(&directory, &program(turn), descriptor) {
                let _ = writeln!(failed, "turn {turn}, {descriptor}: {why}");
            }
        }
    }
    assert!(failed.is_empty(), "{failed}");
}
