//! `@id` must give each object a number of its own: a controller names objects of a kind by nothing else. The kind is part of the number.

use std::collections::{BTreeMap, HashMap};

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;
use hlir::{Notes, Origin};

use super::id_note;
use crate::ast::{Annotation, DeclarationKind};
use crate::lower::Lowering;

/// An object with an `@id`: its name, and where it is declared.
type Given<'i> = (&'i str, &'i Notes);

impl Lowering<'_> {
    /// Objects of one kind that were given the same id. The kind is part of the id.
    pub fn shared_ids(&self) -> Vec<Diagnostic> {
        let interface = &self.program.interface;
        let tables = interface.tables.iter().map(|table| (table.id, table.name.as_str(), &table.notes));
        let actions = interface.actions.iter().map(|action| (action.id, action.name.as_str(), &action.notes));
        let objects = interface.objects.iter().map(|object| (object.id, object.name.as_str(), &object.notes));
        let mut first: BTreeMap<u32, Given> = BTreeMap::new();
        let mut shared: Vec<(u32, Given, Given)> = Vec::new();
        let mut foreign: Vec<(u32, u32, Given)> = Vec::new();
        for (id, name, notes) in tables.chain(actions).chain(objects) {
            let Some(written) = id_note(notes) else { continue };
            if written >> 24 != 0 && written >> 24 != id >> 24 {
                foreign.push((written, id >> 24, (name, notes)));
            }
            match first.get(&id) {
                Some(earlier) => shared.push((id, *earlier, (name, notes))),
                None => {
                    first.insert(id, (name, notes));
                }
            }
        }
        if shared.is_empty() && foreign.is_empty() {
            return Vec::new();
        }
        let places = self.id_places();
        let place = |notes: &Notes| notes.origin.as_ref().and_then(|origin| places.get(origin)).copied();
        let report = |(id, earlier, later): &(u32, Given, Given)| {
            let ((one, at), (other, here)) = (earlier, later);
            let message = format!("`{one}` and `{other}` have the same id: {id:#010x}");
            let mut diagnostic = Diagnostic::error(message).kind("duplicate");
            let (at, here) = (place(at).unwrap_or_default(), place(here).unwrap_or_default());
            if at == here {
                // One declaration, in a control that is instantiated twice.
                return diagnostic.label(here, "what has an `@id` can be instantiated only once");
            }
            diagnostic = diagnostic.label(here, format!("given to `{other}` here"));
            diagnostic.label(at, format!("and to `{one}` here"))
        };
        let misplaced = |(written, prefix, (name, notes)): &(u32, u32, Given)| {
            let message = format!("the id {written:#010x} of `{name}` is of another kind of object");
            let hint = format!("write its last 24 bits alone, or with {prefix:#04x} as the first eight");
            Diagnostic::error(message).kind("invalid").label(place(notes).unwrap_or_default(), "").hint(hint)
        };
        shared.iter().map(report).chain(foreign.iter().map(misplaced)).collect()
    }

    /// The place of each `@id`, by the origin of what has it.
    fn id_places(&self) -> HashMap<Origin, Span> {
        let mut places = HashMap::new();
        let mut note = |at: Span, annotations: &[Annotation]| {
            let written = annotations.iter().rev().find(|annotation| annotation.name.as_str() == "id");
            if let Some((written, origin)) = written.zip(self.origin(at)) {
                places.insert(origin, written.span);
            }
        };
        for declaration in self.checked.declarations() {
            let annotations = &declaration.attributes.annotations;
            note(declaration.name.span, annotations);
            note(declaration.span, annotations);
            // A table's profile can be made by one of its properties.
            if let DeclarationKind::Table(table) = &declaration.kind {
                table.properties.iter().for_each(|property| note(property.span, &property.attributes.annotations));
            }
        }
        places
    }
}
