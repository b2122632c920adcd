//! docs/embedding.md as written: what `make install` installs, and the example that is built with it.

use crate::command::{bacus, path, said, scratch};
use std::process::Command;

#[test]
fn a_program_embeds_a_pipeline_with_what_is_installed() {
    let directory = scratch("embedding");
    let built = |command: &mut Command| {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", said(&output));
        said(&output)
    };
    let assign = |name: &str, below: &str| format!("{name}={}", directory.join(below).display());
    let arguments = [assign("OUT", "build"), assign("DESTDIR", "root"), "PREFIX=/opt/bacus".to_string()];
    built(Command::new("make").arg("-s").arg("-C").arg(path("runtime")).arg("install").args(arguments));
    let prefix = directory.join("root/opt/bacus");
    // Elsewhere than installed for: pkg-config is told so.
    let flags = built(
        Command::new("pkg-config")
            .args(["--cflags", "--libs", "bacus"])
            .arg(format!("--define-variable=prefix={}", prefix.display()))
            .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")),
    );
    built(
        bacus()
            .args(["compile", "--descriptor", "own", "-o"])
            .arg(directory.join("embed.so"))
            .arg(path("docs/examples/embed.p4")),
    );
    let warnings = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-o", "embed"];
    built(
        Command::new("gcc")
            .args(warnings)
            .arg(path("docs/examples/embed.c").canonicalize().unwrap())
            .args(flags.split_whitespace())
            .current_dir(&directory),
    );
    let printed = built(Command::new("./embed").arg("embed.so").current_dir(&directory));
    let page = std::fs::read_to_string(path("docs/embedding.md")).unwrap();
    let expected: String = printed.lines().map(|line| format!("    {line}\n")).collect();
    assert!(printed.lines().count() == 4 && page.contains(&expected), "{printed}");
    let refused = Command::new("./embed").arg("other.so").current_dir(&directory).output().unwrap();
    assert!(!refused.status.success() && said(&refused).contains("no pipeline: "), "{}", said(&refused));
}
