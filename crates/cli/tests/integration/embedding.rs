//! docs/embedding.md as written: what `make install` installs, and the example that is built with it.

use crate::command::{bacus, path, said, scratch};
use std::path::Path;
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
    // Not where it was installed for: pkg-config needs that place.
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

/// `make install` of a command, and what it prints.
fn installed(bacus: &Path, root: &Path) -> (bool, String) {
    let assign = |name: &str, path: &Path| format!("{name}={}", path.display());
    let output = Command::new("make")
        .args(["-s", "install", "PREFIX=/opt/bacus"])
        .args([assign("BACUS", bacus), assign("DESTDIR", root), assign("OUT", &root.join("build"))])
        .current_dir(path("."))
        .output()
        .unwrap();
    (output.status.success(), said(&output))
}

#[test]
fn a_command_that_is_older_than_its_sources_is_not_installed() {
    let directory = scratch("install");
    let copy = directory.join("bacus");
    std::fs::copy(bacus().get_program(), &copy).unwrap();
    let (is_installed, text) = installed(&copy, &directory.join("root"));
    assert!(is_installed, "{text}");
    let [size, stripped] =
        [copy.clone(), directory.join("root/opt/bacus/bin/bacus")].map(|file| file.metadata().unwrap().len());
    assert!(stripped < size / 2, "{stripped} of {size} bytes");
    let old = std::time::SystemTime::UNIX_EPOCH;
    std::fs::File::options().write(true).open(&copy).unwrap().set_modified(old).unwrap();
    let (is_installed, text) = installed(&copy, &directory.join("other"));
    assert!(!is_installed && text.contains("older than its sources: run `make build`"), "{text}");
}
