//! The generated service is that of the protocol files. `UPDATE_EXPECT=1` writes it anew.

use std::fs;
use std::path::Path;

/// A protocol file, and the module that tonic makes of it.
struct Protocol {
    file: &'static str,
    module: &'static str,
}

const P4RUNTIME: Protocol = Protocol { file: "p4/v1/p4runtime.proto", module: "p4.v1.rs" };
const SWITCH: Protocol = Protocol { file: "bacus/v1/switch.proto", module: "bacus.v1.rs" };

/// Messages are those of `control`, but what a Read answers is encoded already when it reaches the server's codec.
fn generate(protocol: &Protocol, name: &str, server: bool) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut compiler = protox::Compiler::new([root.join("../control/proto")]).expect("the protocols are there");
    compiler.include_imports(true).open_file(protocol.file).expect("the protocol is well formed");
    let out = std::env::temp_dir().join(format!("bacus-{}-{}", name.replace('/', "-"), std::process::id()));
    fs::create_dir_all(&out).expect("the temporary directory can be written");
    let answer = if server { "crate::encoded::Encoded" } else { "::control::message::runtime::ReadResponse" };
    tonic_prost_build::configure()
        .out_dir(&out)
        .emit_rerun_if_changed(false)
        .build_server(server)
        .build_client(!server)
        .extern_path(".google.rpc", "::control::message::status")
        .extern_path(".p4.config.v1", "::control::message::config")
        .extern_path(".p4.v1.ReadResponse", answer)
        .extern_path(".p4.v1", "::control::message::runtime")
        .extern_path(".bacus.v1", "::control::message::switch")
        .compile_fds(compiler.file_descriptor_set())
        .expect("Rust can express it");
    let code = fs::read_to_string(out.join(protocol.module)).expect("the compiler wrote it");
    fs::remove_dir_all(&out).expect("the temporary directory can be removed");
    let code: Vec<&str> = code.lines().filter(|line| !line.starts_with("// ")).collect();
    format!("//! Generated from the files in `crates/control/proto`: do not edit.\n\n{}\n", code.join("\n"))
}

fn expect(protocol: &Protocol, name: &str, server: bool) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/service").join(name);
    let generated = generate(protocol, name, server);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &generated).expect("the file can be written");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == generated, "{} is not that of the protocol: run this with UPDATE_EXPECT=1", path.display());
}

#[test]
fn generated_services_are_those_of_the_protocols() {
    expect(&P4RUNTIME, "server.rs", true);
    expect(&P4RUNTIME, "client.rs", false);
    expect(&SWITCH, "switch_server.rs", true);
    expect(&SWITCH, "switch_client.rs", false);
}
