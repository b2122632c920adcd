//! The C compilers of this machine, which check that generated C is legal.

use crate::installed;
use hlir::plan::{Access, Descriptor, Hint, Loop, Placement, Plan, Prefetch};
use hlir::{NodeKind, Program};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// As pipelines are compiled: clang may warn of processors newer than itself, whatever it compiles, that their features do not fit together.
#[rustfmt::skip]
const FLAGS: &[&str] = &[
    "-std=c11", "-O3", "-march=native", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-fPIC", "-shared", "-Wno-unknown-warning-option",
    "-Wno-invalid-feature-combination",
];

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What a compiler needs to find DPDK's headers; nothing where DPDK is not installed. Code is for this machine, not for the one that DPDK was built for.
fn dpdk_flags() -> Option<Vec<String>> {
    let output = Command::new("pkg-config").args(["--cflags", "libdpdk"]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output
        .status
        .success()
        .then(|| text.split_whitespace().filter(|flag| !flag.starts_with("-march")).map(str::to_string).collect())
}

fn compile(compiler: &str, c: &Path, more: &[String]) -> Result<(), String> {
    let output = Command::new(compiler)
        .args(FLAGS)
        .arg("-I")
        .arg(repository().join("runtime"))
        .args(more)
        .arg("-o")
        .arg(c.with_extension("so"))
        .arg(c)
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// The plain plan, and one with a loop at each table.
pub fn plans(program: &Program) -> Vec<(&'static str, Plan)> {
    let mut loops = Vec::new();
    for node in program.nodes.values() {
        let NodeKind::Apply { table, .. } = &node.kind else { continue };
        let access = Access::Table(program.tables[*table].name.clone());
        let request = Prefetch { access, placement: Placement::OwnLoop, distance: 1, hint: Hint::T0, reason: None };
        loops.push(Loop {
            node: node.name.clone(),
            batch: 32,
            group: 8,
            vector: 1,
            lookups: Vec::new(),
            prefetches: vec![request],
            reason: None,
        });
    }
    vec![("plain", Plan::default()), ("batched", Plan { burst: 32, loops, ..Plan::default() })]
}

pub static COMPILERS: LazyLock<Compilers> = LazyLock::new(Compilers::installed);

/// What is there to compile with.
pub struct Compilers {
    names: Vec<&'static str>,
    dpdk: Option<Vec<String>>,
}

impl Compilers {
    fn installed() -> Compilers {
        let names = installed::compilers();
        println!("with {names:?}");
        let dpdk = dpdk_flags();
        if dpdk.is_none() {
            println!("DPDK is not installed: mbuf is not tried");
        }
        Compilers { names, dpdk }
    }

    /// The C of a program under a plan, with each compiler and for both descriptors.
    pub fn compile(&self, title: &str, program: &Program, plan: &Plan) {
        let own = Plan { descriptor: Descriptor::Own, ..plan.clone() };
        self.compile_for(&format!("{title}_own"), program, &own, &[]);
        if let Some(dpdk) = &self.dpdk {
            let mbuf = Plan { descriptor: Descriptor::Mbuf, ..plan.clone() };
            self.compile_for(&format!("{title}_mbuf"), program, &mbuf, dpdk);
        }
    }

    /// The C of a program, with what the compiler needs beside; nothing where DPDK is missing.
    fn written(&self, title: &str, program: &Program, plan: &Plan) -> Option<(PathBuf, &[String])> {
        let flags = match plan.descriptor {
            Descriptor::Own => &[][..],
            Descriptor::Mbuf => self.dpdk.as_deref()?,
        };
        let c = emit::emit(program, plan).unwrap_or_else(|errors| panic!("{title}: {errors:?}"));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{title}.c"));
        std::fs::write(&path, c).expect("the C can be written");
        Some((path, flags))
    }

    /// All macros that are defined for the C of a program, and the C after the preprocessor, by the first compiler.
    pub fn preprocessed(&self, title: &str, program: &Program, plan: &Plan) -> Option<(String, String)> {
        let (path, flags) = self.written(title, program, plan)?;
        let run = |how: &[&str]| {
            let mut command = Command::new(self.names[0]);
            command.args(FLAGS).args(how).arg("-I").arg(repository().join("runtime")).args(flags).arg(&path);
            let output = command.output().expect("the compiler can be run");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        Some((run(&["-dM", "-E"]), run(&["-E"])))
    }

    /// Whether the C of a program is legal, by each compiler; no code is made of it.
    pub fn check(&self, title: &str, program: &Program, plan: &Plan) {
        let Some((path, flags)) = self.written(title, program, plan) else { return };
        // Clang warns of flags for the linker, which does not run.
        let how = ["-fsyntax-only", "-Wno-unused-command-line-argument"].map(str::to_string);
        let flags: Vec<String> = flags.iter().cloned().chain(how).collect();
        for compiler in &self.names {
            let place = path.display();
            compile(compiler, &path, &flags).unwrap_or_else(|errors| panic!("{compiler}, {place}:\n{errors}"));
        }
    }

    /// The same for the plan's descriptor, with more flags.
    pub fn compile_for(&self, title: &str, program: &Program, plan: &Plan, flags: &[String]) {
        let c = emit::emit(program, plan).unwrap_or_else(|errors| panic!("{title}: {errors:?}"));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{title}.c"));
        std::fs::write(&path, c).expect("the C can be written");
        for compiler in &self.names {
            let place = path.display();
            compile(compiler, &path, flags).unwrap_or_else(|errors| panic!("{compiler}, {place}:\n{errors}"));
        }
    }
}
