//! The generated messages are those of the protocol files. `UPDATE_EXPECT=1` writes them anew.

use prost_build::Config;
use std::fs;
use std::path::Path;

const FILES: [&str; 3] = ["p4/config/v1/p4types.proto", "p4/config/v1/p4info.proto", "p4/v1/p4runtime.proto"];

fn expect(file: &str, generated: &[u8]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/message").join(file);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, generated).expect("the file can be written");
    }
    let kept = fs::read(&path).unwrap_or_default();
    assert!(kept == generated, "{} is not what proto/ says: run this with UPDATE_EXPECT=1", path.display());
}

fn expect_code(file: &str, imports: &str, code: &str) {
    let code: Vec<&str> = code.lines().filter(|line| !line.starts_with("// ")).collect();
    let head = format!("//! Generated from the files in `proto/`: do not edit.\n\n{imports}");
    expect(file, format!("{head}{}\n", code.join("\n")).as_bytes());
}

#[test]
fn generated_messages_are_those_of_the_protocol() {
    let mut compiler = protox::Compiler::new(["proto"]).expect("the protocols are there");
    compiler.include_imports(true).open_files(FILES).expect("the protocols are well formed");
    expect("descriptors.bin", &compiler.encode_file_descriptor_set());
    let out = std::env::temp_dir().join(format!("bacus-protocol-{}", std::process::id()));
    fs::create_dir_all(&out).expect("the temporary directory can be written");
    // Maps keep their order, so that equal programs give equal bytes.
    let mut config = Config::new();
    config.btree_map(["."]).out_dir(&out).compile_fds(compiler.file_descriptor_set()).expect("Rust can say it");
    let read = |name: &str| fs::read_to_string(out.join(name)).expect("the compiler wrote it");
    let (description, writes) = (read("p4.config.v1.rs"), read("p4.v1.rs"));
    fs::remove_dir_all(&out).expect("the temporary directory can be removed");
    // One package in two files, the types first.
    let boundary = description.find("pub struct P4Info {").expect("the package has it");
    let boundary = description[..boundary].rfind("#[derive").expect("every message is derived");
    expect_code("config/types.rs", "", &description[..boundary]);
    expect_code("config/info.rs", "use super::types::*;\n\n", &description[boundary..]);
    expect_code("runtime.rs", "", &writes);
}
