//! From the text in an editor to its diagnostics and names.

use crate::index::{Index, index};
use crate::places::{Place, Places};
use driver::failure::Failure;
use driver::frontend;
use driver::options::Source;
use driver::preprocessor::preprocess_text;
use hlir::diagnostic::{Diagnostic, Severity};
use lsp_types::{DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Position, Range};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub struct Analysis {
    pub places: Places,
    pub index: Index,
    /// By file. Each file of the program that had one before has an entry, maybe an empty one.
    pub diagnostics: BTreeMap<String, Vec<lsp_types::Diagnostic>>,
}

/// Analyses a program with the text of an editor in the place of its file.
pub fn analyse(source: &Source, text: &str) -> Analysis {
    let program = source.program.display().to_string();
    // The preprocessor's positions are of lines with `\n`.
    let text = text.replace("\r\n", "\n");
    let preprocessed = match preprocess_text(source, &text) {
        Ok(preprocessed) => preprocessed,
        Err(failure) => return failed(&program, &text, &failure),
    };
    // What is half written must not end the editor's server: then this look at it finds nothing.
    match catch_unwind(AssertUnwindSafe(|| checked(source, &program, &text, &preprocessed))) {
        Ok(analysis) => analysis,
        Err(_) => {
            let failure = Failure::input("this text cannot be analysed; this is a fault of bacus, please report it");
            failed(&program, &text, &failure)
        }
    }
}

fn checked(source: &Source, program: &str, text: &str, preprocessed: &str) -> Analysis {
    let (map, index, diagnostics) = p4::with_deep_stack(|| {
        let parsed = p4::parse(program, preprocessed);
        let (checked, rules) = p4::check::check(&parsed.program);
        let index = index(&checked, preprocessed);
        let diagnostics = frontend::diagnostics(source, &parsed, (&checked, rules));
        (parsed.map, index, diagnostics)
    });
    let places = Places::new(map, program, text);
    let mut by_file: BTreeMap<String, Vec<lsp_types::Diagnostic>> = BTreeMap::new();
    by_file.insert(program.to_string(), Vec::new());
    for diagnostic in &diagnostics {
        let (file, shown) = shown(diagnostic, &places, program);
        by_file.entry(file).or_default().push(shown);
    }
    Analysis { places, index, diagnostics: by_file }
}

fn shown(diagnostic: &Diagnostic, places: &Places, program: &str) -> (String, lsp_types::Diagnostic) {
    let labels: Vec<(Place, &str)> =
        diagnostic.labels().iter().filter_map(|label| Some((places.place(label.span)?, label.text.as_str()))).collect();
    let mut message = diagnostic.message().to_string();
    if let Some((_, text)) = labels.first().filter(|(_, text)| !text.is_empty()) {
        message.push_str(&format!("\n{text}"));
    }
    for hint in diagnostic.hints() {
        message.push_str(&format!("\nhint: {hint}"));
    }
    let related = labels.iter().skip(1).filter_map(|(place, text)| {
        let location = Location { uri: crate::uri::of(&place.file)?, range: place.range };
        Some(DiagnosticRelatedInformation { location, message: text.to_string() })
    });
    let related: Vec<DiagnosticRelatedInformation> = related.collect();
    let severity = match diagnostic.severity() {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Info => DiagnosticSeverity::INFORMATION,
    };
    let file = labels.first().map_or(program.to_string(), |(place, _)| place.file.clone());
    let shown = lsp_types::Diagnostic {
        range: labels.first().map_or_else(Range::default, |(place, _)| place.range),
        severity: Some(severity),
        code: diagnostic.class().map(|class| NumberOrString::String(class.to_string())),
        source: Some("bacus".to_string()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        ..lsp_types::Diagnostic::default()
    };
    (file, shown)
}

/// A program that the preprocessor refuses: its messages are `FILE(LINE): [--Werror=preprocessor] error: MESSAGE`.
fn failed(program: &str, text: &str, failure: &Failure) -> Analysis {
    let mut by_file: BTreeMap<String, Vec<lsp_types::Diagnostic>> = BTreeMap::new();
    by_file.insert(program.to_string(), Vec::new());
    let report = match failure {
        Failure::Input(text) | Failure::Environment(text) => text.as_str(),
        Failure::Reported => "",
    };
    for line in report.lines().filter(|line| line.contains("error: ")) {
        let (place, message) = line.split_once("error: ").unwrap_or(("", line));
        let placed = place.split_once("): ").and_then(|(place, _)| place.rsplit_once('('));
        let placed = placed.and_then(|(file, number)| Some((file.to_string(), number.parse::<u32>().ok()?)));
        let (file, number) = placed.unwrap_or((program.to_string(), 1));
        let number = number.saturating_sub(1);
        let range = Range { start: Position::new(number, 0), end: Position::new(number, 10_000) };
        let severity = Some(DiagnosticSeverity::ERROR);
        let shown = lsp_types::Diagnostic {
            range,
            severity,
            source: Some("bacus".to_string()),
            message: message.to_string(),
            ..lsp_types::Diagnostic::default()
        };
        by_file.entry(file).or_default().push(shown);
    }
    let map = hlir::source::SourceMap::new(program, text);
    Analysis { places: Places::new(map, program, text), index: Index::default(), diagnostics: by_file }
}
