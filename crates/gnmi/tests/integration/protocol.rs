//! The generated messages and the service are those of the protocol files. `UPDATE_EXPECT=1` writes them anew.

use std::fs;
use std::path::Path;

/// The code of the package: messages and service in one text.
fn generate(name: &str, server: bool) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut compiler = protox::Compiler::new([root.join("proto")]).expect("the protocols are there");
    compiler.include_imports(true).open_file("gnmi/gnmi.proto").expect("the protocol is well formed");
    let out = std::env::temp_dir().join(format!("bacus-gnmi-{name}-{}", std::process::id()));
    fs::create_dir_all(&out).expect("the temporary directory can be written");
    tonic_prost_build::configure()
        .out_dir(&out)
        .emit_rerun_if_changed(false)
        .build_server(server)
        .build_client(!server)
        .btree_map(".")
        .extern_path(".gnmi_ext.Extension", "crate::extension::Extension")
        .compile_fds(compiler.file_descriptor_set())
        .expect("Rust has a form for it");
    let code = fs::read_to_string(out.join("gnmi.rs")).expect("the compiler wrote it");
    fs::remove_dir_all(&out).expect("the temporary directory can be removed");
    code
}

fn expect(path: &str, code: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(path);
    let code: Vec<&str> = code.lines().filter(|line| !line.starts_with("// ")).collect();
    let generated =
        format!("//! Generated from the files in `crates/gnmi/proto`: do not edit.\n\n{}\n", code.join("\n").trim());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &generated).expect("the file can be written");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == generated, "{} is not what the protocol defines: run this with UPDATE_EXPECT=1", path.display());
}

/// Messages end where the service begins.
fn cut(code: &str, marker: &str) -> (String, String) {
    let begin = code.find(marker).expect("the package has a service");
    let (messages, service) = code.split_at(begin);
    (messages.to_string(), service.replace("super::", "crate::message::"))
}

#[test]
fn generated_code_is_that_of_the_protocol() {
    let (messages, server) = cut(&generate("server", true), "/// Generated server implementations.");
    let (_, client) = cut(&generate("client", false), "/// Generated client implementations.");
    expect("message.rs", &messages);
    expect("service/server.rs", &server);
    expect("service/client.rs", &client);
}
