//! The generated messages are those of the protocol files. `UPDATE_EXPECT=1` writes them anew.

use prost_build::Config;
use std::fs;
use std::path::Path;

const FILES: [&str; 5] = [
    "google/rpc/status.proto",
    "p4/config/v1/p4types.proto",
    "p4/config/v1/p4info.proto",
    "p4/v1/p4data.proto",
    "p4/v1/p4runtime.proto",
];

/// What a switch of bacus offers beside P4Runtime.
const OWN: &str = "bacus/v1/switch.proto";

/// Where a package is cut into files, so that each is short enough to read: a file, and the first struct of the next one.
type Cuts<'a> = &'a [(&'a str, Option<&'a str>)];

const DESCRIPTION: Cuts<'_> =
    &[("config/types.rs", Some("P4Info")), ("config/info.rs", Some("ActionRef")), ("config/objects.rs", None)];
const RUNTIME: Cuts<'_> = &[
    ("runtime/data.rs", Some("WriteRequest")),
    ("runtime/requests.rs", Some("TableEntry")),
    ("runtime/tables.rs", Some("Index")),
    ("runtime/objects.rs", Some("StreamMessageRequest")),
    ("runtime/stream.rs", Some("SetForwardingPipelineConfigRequest")),
    ("runtime/pipeline.rs", None),
];

fn expect(file: &str, generated: &[u8]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/message").join(file);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, generated).expect("the file can be written");
    }
    let kept = fs::read(&path).unwrap_or_default();
    assert!(kept == generated, "{} is not that of proto/: run this with UPDATE_EXPECT=1", path.display());
}

fn expect_code(file: &str, imports: &str, code: &str) {
    let code: Vec<&str> = code.lines().filter(|line| !line.starts_with("// ")).collect();
    let head = format!("//! Generated from the files in `proto/`: do not edit.\n\n{imports}");
    expect(file, format!("{head}{}\n", code.join("\n")).as_bytes());
}

/// Every file but the first sees all others.
fn expect_cut(cuts: Cuts<'_>, mut code: &str) {
    for (index, (file, next)) in cuts.iter().enumerate() {
        let end = next.map_or(code.len(), |next| {
            let found = code.find(&format!("\npub struct {next} {{")).expect("the package has it");
            code[..found].rfind("#[derive").expect("every message is derived")
        });
        let imports = if index == 0 { "" } else { "use super::*;\n\n" };
        expect_code(file, imports, code[..end].trim_end());
        code = &code[end..];
    }
}

/// The code of some packages, which names those of `known` at their path.
fn generate<const N: usize>(compiler: &protox::Compiler, names: [&str; N], known: &[(&str, &str)]) -> [String; N] {
    let out = std::env::temp_dir().join(format!("bacus-protocol-{}-{}", std::process::id(), names[0]));
    fs::create_dir_all(&out).expect("the temporary directory can be written");
    let mut config = Config::new();
    // Maps keep their order, so that equal programs give equal bytes.
    config.btree_map(["."]).out_dir(&out);
    for (package, path) in known {
        config.extern_path(*package, *path);
    }
    config.compile_fds(compiler.file_descriptor_set()).expect("Rust can express it");
    let read = names.map(|name| fs::read_to_string(out.join(name)).expect("the compiler wrote it"));
    fs::remove_dir_all(&out).expect("the temporary directory can be removed");
    read
}

#[test]
fn generated_messages_are_those_of_the_protocol() {
    let mut compiler = protox::Compiler::new(["proto"]).expect("the protocols are there");
    compiler.include_imports(true).open_files(FILES).expect("the protocols are well formed");
    expect("descriptors.bin", &compiler.encode_file_descriptor_set());
    let none: [(&str, &str); 0] = [];
    let known = [(".google.rpc", "crate::message::status"), (".p4.config.v1", "crate::message::config")];
    let [description, status] = generate(&compiler, ["p4.config.v1.rs", "google.rpc.rs"], &none);
    let [runtime] = generate(&compiler, ["p4.v1.rs"], &known);
    expect_cut(DESCRIPTION, &description);
    expect_cut(RUNTIME, &runtime);
    expect_code("status.rs", "", &status);
}

#[test]
fn generated_messages_of_the_switch_are_those_of_its_protocol() {
    let mut compiler = protox::Compiler::new(["proto"]).expect("the protocol is there");
    compiler.open_file(OWN).expect("the protocol is well formed");
    let [switch] = generate(&compiler, ["bacus.v1.rs"], &[]);
    expect_code("switch.rs", "", &switch);
}
