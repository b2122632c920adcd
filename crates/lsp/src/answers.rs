//! Answers about the name under the cursor, and costs beside tables.

use crate::analysis::Analysis;
use crate::index::{Occurrence, Symbol};
use driver::explained::Cost;
use driver::preprocessor::is_bundled;
use hlir::source::Span;
use lsp_types::{
    Hover, HoverContents, InlayHint, InlayHintLabel, InlayHintTooltip, Location, MarkupContent, MarkupKind, Position,
    TextEdit, Uri, WorkspaceEdit,
};
use p4::ast::DeclarationId;
use std::collections::HashMap;
use std::path::Path;

impl Analysis {
    fn name_at(&self, file: &str, position: Position) -> Option<(Span, &Occurrence)> {
        self.places.offsets(file, position).into_iter().find_map(|offset| self.index.at(offset))
    }

    fn symbol_at(&self, file: &str, position: Position) -> Option<(DeclarationId, &Symbol)> {
        let (_, occurrence) = self.name_at(file, position)?;
        let id = occurrence.symbol?;
        Some((id, self.index.symbols.get(&id)?))
    }

    pub fn definition(&self, file: &str, position: Position) -> Option<Location> {
        let (_, symbol) = self.symbol_at(file, position)?;
        let place = self.places.place(symbol.span)?;
        Some(Location { uri: crate::uri::of(&place.file)?, range: place.range })
    }

    pub fn references(&self, file: &str, position: Position) -> Vec<Location> {
        let Some((id, _)) = self.symbol_at(file, position) else { return Vec::new() };
        let places = self.index.uses(id).into_iter().filter_map(|span| self.places.place(span));
        places.filter_map(|place| Some(Location { uri: crate::uri::of(&place.file)?, range: place.range })).collect()
    }

    /// The declaration, the type, and the width.
    pub fn hover(&self, file: &str, position: Position, costs: &[Cost]) -> Option<Hover> {
        let (span, occurrence) = self.name_at(file, position)?;
        let symbol = occurrence.symbol.and_then(|id| self.index.symbols.get(&id));
        let title = match (symbol, &occurrence.of_type) {
            (Some(symbol), _) => symbol.title.clone(),
            (None, Some(of_type)) => of_type.clone(),
            (None, None) => return None,
        };
        let value =
            symbol.and_then(|symbol| symbol.value.as_ref()).map(|value| format!(" = {value}")).unwrap_or_default();
        let mut text = format!("```p4\n{title}{value}\n```");
        if let Some(bits) = symbol.and_then(|symbol| symbol.bits).or(occurrence.bits) {
            text.push_str(&width(bits));
        }
        if let Some(symbol) = symbol.filter(|symbol| symbol.is_table) {
            for cost in costs.iter().filter(|cost| is_of(cost, &symbol.name)) {
                text.push_str(&format!("\n\n{}: {}", cost.table, tooltip(cost)));
            }
        }
        if let Some(documentation) = symbol.and_then(|symbol| symbol.documentation.as_ref()) {
            text.push_str(&format!("\n\n{documentation}"));
        }
        let range = self.places.place(span).map(|place| place.range);
        Some(Hover {
            contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: text }),
            range,
        })
    }

    /// Edits of all places of a name; or why it cannot be renamed.
    pub fn rename(&self, file: &str, position: Position, to: &str) -> Result<WorkspaceEdit, String> {
        let Some((id, symbol)) = self.symbol_at(file, position) else {
            return Err("there is no name here whose declaration is known".to_string());
        };
        if !p4::is_name(to) {
            return Err(format!("`{to}` cannot be a name: expected letters, digits and `_`, and no reserved word"));
        }
        if !symbol.is_renamed {
            return Err(format!("`{}` cannot be renamed: not all of its uses are known", symbol.name));
        }
        let taken = self.index.symbols.values().find(|other| other.name == to && !self.is_bundled(other.span));
        if let Some(place) = taken.and_then(|other| self.places.place(other.span)) {
            let line = place.range.start.line + 1;
            return Err(format!("`{to}` is declared at {}:{line}: choose another name", place.file));
        }
        #[allow(clippy::mutable_key_type, reason = "the protocol's own type; the key of a URI does not change")]
        let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
        for span in self.index.uses(id) {
            let place = self.places.place(span).ok_or("a use has no place in a file")?;
            let line = place.range.start.line + 1;
            if is_bundled(Path::new(&place.file)) {
                return Err(format!("`{}` is of the architecture: {}:{line}", symbol.name, place.file));
            }
            if !place.is_exact || self.written(&place.file, place.range) != symbol.name {
                return Err(format!("`{}` comes of a macro at {}:{line}: rename it by hand", symbol.name, place.file));
            }
            let uri = crate::uri::of(&place.file).ok_or("a file has no URI")?;
            let edits = changes.entry(uri).or_default();
            let edit = TextEdit { range: place.range, new_text: to.to_string() };
            // A file may be included twice.
            if !edits.contains(&edit) {
                edits.push(edit);
            }
        }
        Ok(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() })
    }

    fn is_bundled(&self, span: Span) -> bool {
        is_bundled(Path::new(&*self.places.map.locate(span.start).file))
    }

    fn written(&self, file: &str, range: lsp_types::Range) -> String {
        let lines = self.places.lines(file);
        let line = lines.get(range.start.line as usize).map_or("", String::as_str);
        let at = |position: Position| crate::places::bytes(line, position.character);
        line.get(at(range.start)..at(range.end)).unwrap_or_default().to_string()
    }

    /// The cycles of the last explanation behind the names of tables.
    pub fn hints(&self, file: &str, costs: &[Cost]) -> Vec<InlayHint> {
        let mut hints = Vec::new();
        for symbol in self.index.symbols.values().filter(|symbol| symbol.is_table) {
            let of_table: Vec<&Cost> = costs.iter().filter(|cost| is_of(cost, &symbol.name)).collect();
            let Some(place) = self.places.place(symbol.span).filter(|place| place.file == file) else { continue };
            if of_table.is_empty() {
                continue;
            }
            let cycles: Vec<String> = of_table.iter().map(|cost| format!("{:.1}", cost.cycles)).collect();
            let about: Vec<String> = of_table.iter().map(|cost| format!("{}: {}", cost.table, tooltip(cost))).collect();
            hints.push(InlayHint {
                position: place.range.end,
                label: InlayHintLabel::String(format!("{} cycles", cycles.join(" + "))),
                kind: None,
                text_edits: None,
                tooltip: Some(InlayHintTooltip::String(about.join("\n"))),
                padding_left: Some(true),
                padding_right: None,
                data: None,
            });
        }
        hints.sort_by_key(|hint| hint.position);
        hints
    }
}

/// Whether a cost is of a table of this name, in any instance.
fn is_of(cost: &Cost, name: &str) -> bool {
    cost.table.rsplit('.').next() == Some(name)
}

fn tooltip(cost: &Cost) -> String {
    let Cost { structure, cycles, entries, origin, .. } = cost;
    format!("{cycles:.1} cycles per packet, {structure}, {entries} entries {origin} (the last bacus explain)")
}

fn width(bits: u32) -> String {
    if bits.is_multiple_of(8) { format!("\n\n{bits} bits, {} bytes", bits / 8) } else { format!("\n\n{bits} bits") }
}
