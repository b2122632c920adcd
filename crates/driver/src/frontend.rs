//! From a program's file to HLIR: preprocessing by the C compiler and the P4 frontend, the reader of BMv2's JSON, or that of HLIR text.

use crate::embedded;
use crate::failure::Failure;
use crate::files;
use crate::inputs;
use crate::options::{Passes, Source};
use crate::plan_file::{PlanFile, PlanFiles};
use crate::preprocessor::{is_bundled, preprocess};
use hlir::diagnostic::Diagnostic;
use hlir::source::SourceMap;
use hlir::{Interface, Plan, Program};
use opt::inputs::Joins;
use std::path::{Path, PathBuf};

/// A program, and the plan after it if its file was HLIR.
pub struct Loaded {
    pub program: Program,
    pub plan: Option<PlanFile>,
}

/// Reads, checks and lowers a program; warnings go to stderr.
pub fn load(source: &Source) -> Result<Loaded, Failure> {
    source.check()?;
    match form(&source.program)? {
        Form::Hlir => load_hlir(source),
        Form::Json => load_json(source, None),
        Form::P4 => load_p4(source),
    }
}

/// A program for the sake of its interface, and why it cannot run if only the target is in the way of that.
pub struct Described {
    pub program: Program,
    pub refused: Option<Failure>,
}

/// Reads a program for the sake of its interface alone, which does not depend on what the target can do.
pub fn load_interface(source: &Source) -> Result<Described, Failure> {
    source.check()?;
    if form(&source.program)? != Form::P4 {
        return Ok(Described { program: load(source)?.program, refused: None });
    }
    let text = preprocess(source)?;
    with_checked(source, &text, Limits::Later, |checked, map, limits| {
        let lowered = p4::lower_interface(checked, map, &name_of(&source.program));
        let (program, more) = lowered.map_err(|wrong| Failure::diagnostics(&wrong, map))?;
        // Where the checker knows of some, those of lowering come of the same.
        let limits = if limits.is_empty() { more } else { limits };
        let refused = (!limits.is_empty()).then(|| Failure::diagnostics(&limits, map));
        Ok(Described { program, refused })
    })
}

/// Reads a program to compile it, and its interface for controllers.
pub fn load_with_interface(source: &Source) -> Result<(Loaded, Program), Failure> {
    source.check()?;
    if form(&source.program)? != Form::P4 {
        let loaded = load(source)?;
        let program = loaded.program.clone();
        return Ok((loaded, program));
    }
    let text = preprocess(source)?;
    with_checked(source, &text, Limits::Now, |checked, map, _| {
        let name = name_of(&source.program);
        let described = p4::lower_interface(checked, map, &name).map(|(program, _)| program);
        let described = described.map_err(|wrong| Failure::diagnostics(&wrong, map))?;
        let program = p4::lower(checked, map, &name).map_err(|wrong| Failure::diagnostics(&wrong, map))?;
        Ok((Loaded { program, plan: None }, described))
    })
}

/// When to stop at what only the target cannot do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Limits {
    Now,
    /// What goes on with the program is given them.
    Later,
}

/// Only finds mistakes: all that `load` would find, too. Programs without a main package pass: there is nothing to lower.
pub fn check(source: &Source) -> Result<(), Failure> {
    source.check()?;
    if form(&source.program)? != Form::P4 {
        return load(source).map(drop);
    }
    let text = preprocess(source)?;
    with_checked(source, &text, Limits::Now, |checked, map, _| stop_at_errors(source, p4::refused(checked, map), map))
}

/// Parses and checks a program, and goes on with it if nothing is wrong, or nothing but limits of the target that come later.
fn with_checked<T: Send>(
    source: &Source,
    text: &str,
    limits: Limits,
    then: impl FnOnce(&p4::check::Checked<'_>, &SourceMap, Vec<Diagnostic>) -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    p4::with_deep_stack(|| {
        let parsed = p4::parse(&source.program.display().to_string(), text);
        stop_at_errors(source, parsed.diagnostics.clone(), &parsed.map)?;
        let (checked, mut diagnostics) = p4::check::check(&parsed.program);
        if !diagnostics.iter().any(Diagnostic::is_error) {
            diagnostics.extend(p4::check::dpdk_limits(&checked, &parsed.map));
        }
        let is_late = |one: &Diagnostic| limits == Limits::Later && p4::check::is_target_limit(one);
        let (late, diagnostics) = diagnostics.into_iter().partition(is_late);
        stop_at_errors(source, diagnostics, &parsed.map)?;
        then(&checked, &parsed.map, late)
    })
}

/// The language of a program's file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    P4,
    Hlir,
    /// What p4c writes for BMv2.
    Json,
}

/// By the file's suffix, or by its beginning if it has none of ours.
fn form(path: &Path) -> Result<Form, Failure> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    Ok(match extension {
        Some("hlir") => Form::Hlir,
        Some("json") => Form::Json,
        Some("p4") => Form::P4,
        _ if files::text(path).is_ok_and(|text| bmv2::is_json(&text)) => Form::Json,
        _ => Form::P4,
    })
}

/// Reads a program of BMv2's JSON, or the one that our `p4c` has put into it; `interface` is what came with it for its controller.
pub fn load_json(source: &Source, interface: Option<&Interface>) -> Result<Loaded, Failure> {
    let path = source.program.as_path();
    let text = files::text(path)?;
    if let Some(program) = embedded::hlir_of(&text) {
        return parse_hlir(source, &program);
    }
    let map = SourceMap::new(&path.display().to_string(), &text);
    let program = p4::with_deep_stack(|| bmv2::read(&text, &name_of(path), interface));
    // They name places in the JSON, not in the text.
    let placed = |mistakes: Vec<Diagnostic>| match Failure::diagnostics(&mistakes, &map) {
        Failure::Input(text) => Failure::Input(format!("{}: {text}", path.display())),
        other @ (Failure::Environment(_) | Failure::Reported) => other,
    };
    Ok(Loaded { program: program.map_err(placed)?, plan: None })
}

fn load_hlir(source: &Source) -> Result<Loaded, Failure> {
    parse_hlir(source, &files::text(&source.program)?)
}

fn parse_hlir(source: &Source, text: &str) -> Result<Loaded, Failure> {
    let path = source.program.as_path();
    let map = SourceMap::new(&path.display().to_string(), text);
    let parsed = hlir::text::parse_file(text).map_err(|diagnostics| Failure::diagnostics(&diagnostics, &map))?;
    stop_at_errors(source, parsed.verify(), &map)?;
    let places = parsed.places;
    let plan = parsed.plan.map(|plan| PlanFile::of(plan, places, map));
    Ok(Loaded { program: parsed.program, plan })
}

fn load_p4(source: &Source) -> Result<Loaded, Failure> {
    let text = preprocess(source)?;
    with_checked(source, &text, Limits::Now, |checked, map, _| {
        let program = p4::lower(checked, map, &name_of(&source.program));
        let program = program.map_err(|diagnostics| Failure::diagnostics(&diagnostics, map))?;
        Ok(Loaded { program, plan: None })
    })
}

/// All that is wrong with a program that is parsed, as far as one look finds it: of one that is half written, what is wrong with its syntax.
pub fn diagnostics(
    source: &Source,
    parsed: &p4::Parsed,
    checked: (&p4::check::Checked, Vec<Diagnostic>),
) -> Vec<Diagnostic> {
    let has_errors = |found: &[Diagnostic]| found.iter().any(Diagnostic::is_error);
    let mut found = parsed.diagnostics.clone();
    let (checked, rules) = checked;
    if !has_errors(&found) {
        found.extend(rules);
    }
    if !has_errors(&found) {
        found.extend(p4::check::dpdk_limits(checked, &parsed.map));
    }
    if !has_errors(&found) {
        found.extend(p4::refused(checked, &parsed.map));
    }
    for_users(source, found, &parsed.map)
}

/// Diagnostics as they are shown.
fn for_users(source: &Source, diagnostics: Vec<Diagnostic>, map: &SourceMap) -> Vec<Diagnostic> {
    // What the architectures' own files could do better is no concern of who includes them.
    let diagnostics = p4::check::without_headers(diagnostics, map, |file| is_own(source, file));
    let diagnostics = source.warnings.apply(diagnostics);
    diagnostics.into_iter().map(|one| in_the_program(source, one, map)).collect()
}

/// Shows warnings and goes on, or fails with everything that was found.
fn stop_at_errors(source: &Source, diagnostics: Vec<Diagnostic>, map: &SourceMap) -> Result<(), Failure> {
    let diagnostics = for_users(source, diagnostics, map);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(Failure::diagnostics(&diagnostics, map));
    }
    for diagnostic in diagnostics {
        let file = if diagnostic.span().is_none() { format!("{}: ", source.program.display()) } else { String::new() };
        eprint!("{file}{}", diagnostic.render(map));
    }
    Ok(())
}

/// A mistake that shows in a file that is not the user's is placed at the line of the program that included it, too: the way out is near it.
fn in_the_program(source: &Source, diagnostic: Diagnostic, map: &SourceMap) -> Diagnostic {
    let place = diagnostic.span();
    if place.is_none() || is_own(source, &map.locate(place.start).file) {
        return diagnostic;
    }
    match map.inclusion(place.start) {
        Some(line) => diagnostic.first_label(line, "included here"),
        None => diagnostic,
    }
}

/// Whether the user wrote a file: the program, and what lies beside or below it. What is found in the directories of `-I` elsewhere, and what
/// bacus brings, is not the user's.
fn is_own(source: &Source, file: &str) -> bool {
    let file = Path::new(file);
    let beside = source.program.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_below = |folder: &Path| folder == Path::new(".") && file.is_relative() || file.starts_with(folder);
    let elsewhere = |folder: &PathBuf| file.starts_with(folder) && !beside.starts_with(folder);
    is_below(beside) || !(source.include.iter().any(elsewhere) || is_bundled(file))
}

/// The name of generated files: letters, digits and `_`.
fn name_of(path: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let plain: String = stem.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    if plain.starts_with(|letter: char| letter.is_ascii_alphabetic()) { plain } else { format!("p_{plain}") }
}

/// The plan and the program after the passes that were chosen, up to and including `until`.
pub fn optimize(loaded: Loaded, passes: &Passes, until: Option<&str>) -> Result<(Program, Plan), Failure> {
    let Loaded { mut program, plan } = loaded;
    let files = passes.read_plans()?;
    files.iter().try_for_each(|file| file.check_ports(passes.descriptor, passes.burst))?;
    let PlanFiles { written, pinned } = files;
    let given = written.or(plan);
    let selection = passes.selection();
    let selection = if given.is_none() { selection } else { selection.rewrites() };
    let mut inputs = inputs::gather(&program, passes)?;
    if let Some(file) = &pinned {
        (inputs.constraints, inputs.constrained_descriptor) = (file.plan.clone(), file.descriptor());
    }
    if let Some(file) = given.as_ref().filter(|_| pinned.is_none()) {
        inputs.constraints.joins.clone_from(&file.plan.joins);
    }
    // A plan that is given has all that is chosen.
    if given.is_some() && inputs.joins == Joins::Chosen {
        inputs.joins = Joins::None;
    }
    let mut plan = given.as_ref().map(|file| file.plan.clone()).unwrap_or_default();
    opt::optimize(&mut program, &mut plan, &inputs, &selection, until);
    match (&given, &pinned) {
        // Before the last pass, pins are not all in the plan yet.
        (_, Some(file)) if until.is_some() => file.check_alone(&program)?,
        (_, Some(file)) => file.check_in(&program, &plan)?,
        (Some(_), None) if passes.is_shown && passes.plan.is_none() => {}
        (Some(file), None) => file.check(&program)?,
        (None, None) => {}
    }
    Ok((program, plan))
}

/// The passes that rewrite the program, without planners: to count packets on each branch, also on those for which a plan
/// might prefer a lookup. Tables are joined only where the user names that pass.
pub fn counting(passes: &Passes) -> Passes {
    let is_named = |name: &str| passes.passes.iter().flatten().any(|named| named == name);
    match passes.selection().counting() {
        opt::Selection::Only(mut names) => {
            names.extend(is_named("join").then(|| "join".to_string()));
            Passes { passes: Some(names), without: Vec::new(), is_counted: true, ..passes.clone() }
        }
        opt::Selection::All | opt::Selection::None | opt::Selection::Without(_) => passes.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_become_names_of_programs() {
        assert_eq!(name_of(Path::new("a/l2-fwd.v2.p4")), "l2_fwd_v2");
        assert_eq!(name_of(Path::new("3.p4")), "p_3");
    }
}
