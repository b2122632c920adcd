//! Pipelines that controllers push: P4 source, HLIR or BMv2's JSON, bare or in the wrapper of p4lang's tools.

use super::live::Built;
use super::port_numbers::PortNumbers;
use super::spread::Spreading;
use control::message::config::P4Info;
use control::{Refusal, RefusalKind};
use driver::embedded;
use driver::failure::Failure;
use driver::options::{Native, Passes, Source};
use driver::port_burst::PortBurst;
use driver::{compile, frontend};
use hlir::plan::{Descriptor, Structure, TablePlan};
use prost::Message;
use runtime::Pipeline;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What all pipelines of a switch are built with.
pub struct Builder {
    /// The program of the command line, and its flags for the preprocessor.
    pub source: Source,
    pub passes: Passes,
    pub native: Native,
    pub burst: Option<u32>,
    /// What the packets of the ports are.
    pub descriptor: Descriptor,
    /// What runs if a controller pushes the form of another switch for the program of the command line.
    pub given: Option<Built>,
    /// Numbers of the switch's ports, as they are when a program is pushed.
    pub ports: PortNumbers,
    pub spreading: Spreading,
    /// Whether a program that takes the C compiler long is compiled quickly first.
    pub is_quick_first: bool,
}

impl Builder {
    /// The same, with nothing that is of another program. It builds no joins: their entries follow at each exchange.
    pub fn with_passes_of(&self, program: &hlir::Program) -> Builder {
        let mut passes = self.passes_of(program);
        (passes.entries, passes.is_counted) = (Vec::new(), true);
        Builder {
            source: self.source.clone(),
            passes,
            native: self.native.clone(),
            burst: self.burst,
            descriptor: self.descriptor,
            given: None,
            ports: self.ports.clone(),
            spreading: self.spreading,
            is_quick_first: false,
        }
    }

    /// Entries, plan, pins and profile are those of the program of the command line: another program is built without.
    fn passes_of(&self, program: &hlir::Program) -> Passes {
        let is_another =
            self.given.as_ref().is_some_and(|given| control::p4info(&given.program) != control::p4info(program));
        if !is_another {
            return self.passes.clone();
        }
        let (plan, pin, profile, files, entries) = (None, None, None, None, Vec::new());
        Passes { plan, pin, profile, files, entries, ..self.passes.clone() }
    }
}

/// `p4.tmp.P4DeviceConfig`, in which the tools of p4lang wrap what they push.
#[derive(Clone, PartialEq, Message)]
struct Wrapper {
    #[prost(bool, tag = "1")]
    reassign: bool,
    #[prost(bytes = "vec", tag = "3")]
    device_data: Vec<u8>,
}

/// What a controller pushed, by its first bytes.
enum Form {
    P4(String),
    Hlir(String),
    /// What p4c writes for BMv2.
    Json(String),
    /// Nothing, or what only another switch runs.
    Other,
}

fn form(bytes: &[u8]) -> Form {
    // The fields 1, 2 or 3 of a message: no text begins with these bytes.
    let wrapped = matches!(bytes.first(), Some(0x08 | 0x12 | 0x1a)).then(|| Wrapper::decode(bytes).ok()).flatten();
    let bytes = wrapped.map_or(bytes.to_vec(), |wrapper| wrapper.device_data);
    // No program has a NUL in it.
    let Ok(text) = String::from_utf8(bytes) else { return Form::Other };
    if text.contains('\0') {
        return Form::Other;
    }
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("//"));
    match first {
        None => Form::Other,
        Some(line) if line.starts_with('{') => match embedded::hlir_of(&text) {
            Some(program) => Form::Hlir(program),
            None if bmv2::is_other_json(&text) => Form::Other,
            None => Form::Json(text),
        },
        Some(line) if line.starts_with("program ") => Form::Hlir(text),
        Some(_) => Form::P4(text),
    }
}

/// Compiles a pipeline.
///
/// # Errors
/// Mistakes of the program, with their places; a form that this switch does not run.
pub fn build(builder: &Builder, config: &[u8], info: Option<&P4Info>) -> Result<Built, Refusal> {
    let (text, extension) = match form(config) {
        Form::P4(text) => (text, "p4"),
        Form::Hlir(text) => (text, "hlir"),
        Form::Json(text) => (text, "json"),
        Form::Other => {
            let built = given(builder, info)?;
            report_unread(builder, config);
            return Ok(built);
        }
    };
    let file = Pushed::write(&text, extension)?;
    let source = Source { program: file.0.clone(), ..builder.source.clone() };
    let loaded = match extension {
        "json" => frontend::load_json(&source, info.map(control::interface_of).as_ref()),
        _ => frontend::load(&source),
    };
    let built = loaded.and_then(|loaded| {
        loaded.program.runnable().map_err(Failure::input)?;
        builder.ports.check(&loaded.program).map_err(Failure::input)?;
        build_loaded(builder, loaded, |_| {})
    });
    built.map_err(|failure| Refusal::wrong(sentence(&failure, &file)))
}

/// A program for the ports of a switch; `adjust` has the last word on its plan.
pub fn build_loaded(
    builder: &Builder,
    loaded: frontend::Loaded,
    adjust: impl FnOnce(&mut hlir::Plan),
) -> Result<Built, Failure> {
    let program = Arc::new(loaded.program.clone());
    let spread = builder.spreading.of(&program).map_err(Failure::input)?.steps;
    let mut passes = builder.passes_of(&loaded.program);
    passes.descriptor = Some(builder.descriptor);
    let burst = PortBurst::of(builder.burst, passes.read_plans()?, &loaded, &mut passes);
    let (mut planned, mut has_hot_path, mut has_stages) = (Vec::new(), false, false);
    // Better code takes over the state of the quick code, except that of custom externs, which is the pipeline's.
    let is_carried = program.externs.is_empty();
    let code = compile::code(loaded, &passes, &builder.native, |plan| {
        plan.descriptor = builder.descriptor;
        plan.burst = burst.of_plan(plan);
        adjust(plan);
        planned.clone_from(&plan.tables);
        (has_hot_path, has_stages) = (plan.hot_path.is_some(), !plan.loops.is_empty());
    })?;
    let compiled = Arc::new(code.program.clone());
    let quick = if builder.is_quick_first && is_carried { code.quick_pipeline()? } else { None };
    let (pipeline, better) = match quick {
        Some(pipeline) => (pipeline, Some(Arc::new(code))),
        None => (code.pipeline()?, None),
    };
    let structures = structures(&compiled, &pipeline, &planned);
    Ok(Built { program, compiled, pipeline, structures, has_hot_path, has_stages, spread, better })
}

/// The structures of a pipeline's tables, given by its plan or by their keys.
pub fn structures(compiled: &hlir::Program, pipeline: &Pipeline, planned: &[TablePlan]) -> Vec<TablePlan> {
    let is_there = |name: &str| pipeline.description().tables.iter().any(|table| table.name == name);
    let structure = |(id, table): (hlir::TableId, &hlir::Table)| {
        let planned = planned.iter().find(|planned| planned.table == table.name).map(|planned| planned.structure);
        let structure = planned.unwrap_or_else(|| Structure::of_keys(&compiled.held_keys(id)));
        TablePlan { table: table.name.clone(), structure, reason: None }
    };
    compiled.tables.iter().filter(|(_, table)| is_there(&table.name)).map(structure).collect()
}

/// The program of the command line, if the controller means it.
fn given(builder: &Builder, info: Option<&P4Info>) -> Result<Built, Refusal> {
    let Some(built) = &builder.given else {
        let sentence = "the device config is neither P4 source nor HLIR nor BMv2's JSON: push the program's text, or start \
                        the switch with the program and push its P4Info";
        return Err(Refusal::wrong(sentence));
    };
    let tables = |info: &P4Info| info.tables.iter().map(|table| table.preamble.clone()).collect::<Vec<_>>();
    if info.is_some_and(|info| tables(info) != tables(&control::p4info(&built.program))) {
        let sentence = "the P4Info is not that of the program that the switch was started with";
        return Err(Refusal::wrong(sentence));
    }
    Ok(built.clone())
}

/// The user ought to know that the switch does not run what was pushed.
fn report_unread(builder: &Builder, config: &[u8]) {
    if !config.is_empty() {
        let program = builder.source.program.display();
        eprintln!("note: a controller has pushed a config for another switch, which is not read: {program} runs");
    }
}

/// A file with the program's text, while it is read. All have one name, in directories of their own: the name goes into the emitted C, by which
/// switches that one controller gives a program to, or a switch that it gives it to again, find it compiled.
struct Pushed(PathBuf);

impl Pushed {
    fn write(text: &str, extension: &str) -> Result<Pushed, Refusal> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("bacus-{}-{number}", std::process::id()));
        let path = folder.join(format!("pushed.{extension}"));
        // Only a new directory, which no other user writes to: another one may have put a link there.
        let made = DirBuilder::new().mode(0o700).create(&folder);
        let written = made.and_then(|()| fs::write(&path, text));
        written.map_err(|error| Refusal::new(RefusalKind::Full, format!("the program cannot be kept: {error}")))?;
        Ok(Pushed(path))
    }
}

impl Drop for Pushed {
    fn drop(&mut self) {
        if let Some(folder) = self.0.parent() {
            drop(fs::remove_dir_all(folder));
        }
    }
}

/// Mistakes as the controller sees them: the file is its own.
fn sentence(failure: &Failure, file: &Pushed) -> String {
    let text = match failure {
        Failure::Input(_) | Failure::Environment(_) => failure.message(),
        Failure::Reported => "the program cannot be compiled",
    };
    text.replace(&file.0.display().to_string(), "program")
}
