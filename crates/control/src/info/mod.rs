//! P4Info: the interface of a program as P4Runtime describes it to controllers.
//!
//! Field for field and in the order of p4c, so that controllers and tests written for its output find the same. The interface has all of it;
//! nothing is decided here but its form.

mod annotations;
mod objects;
mod read;
mod tables;
mod types;

use crate::message::config::{P4Info, PkgInfo, PlatformProperties, Preamble};
use crate::number::int32;
use annotations::Annotations;
use hlir::interface::{Definition, Interface, Translation};
use hlir::{Notes, Program};
pub use read::interface_of;
use std::collections::HashMap;

/// Entries that a table has room for if the source has no size.
const USUAL_SIZE: u64 = 1024;

/// Describes a program to controllers.
pub fn p4info(program: &Program) -> P4Info {
    let interface = &program.interface;
    let translations = Translations::of(interface);
    let mut info = P4Info {
        // A program without `main` is no package.
        pkg_info: (program.architecture != "none").then(|| package(&program.architecture, &interface.package)),
        tables: interface.tables.iter().map(|table| tables::table(table, interface, &translations)).collect(),
        actions: interface.actions.iter().map(|action| tables::action(action, &translations)).collect(),
        type_info: types::type_info(interface),
        ..P4Info::default()
    };
    for object in &interface.objects {
        objects::add(object, &translations, &mut info);
    }
    info
}

/// Types whose values have another form in P4Runtime (`@p4runtime_translation`).
pub struct Translations<'a>(HashMap<&'a str, Translation>);

impl<'a> Translations<'a> {
    fn of(interface: &'a Interface) -> Translations<'a> {
        let translated = interface.types.iter().filter_map(|declared| match &declared.definition {
            Definition::Translated { to, .. } => Some((declared.name.as_str(), *to)),
            Definition::Struct(_)
            | Definition::Header(_)
            | Definition::Union(_)
            | Definition::Enumeration(_)
            | Definition::Serializable(..)
            | Definition::Errors(_)
            | Definition::New(_) => None,
        });
        Translations(translated.collect())
    }

    /// Bits of a value as the controller writes it; none if it writes a string.
    pub fn width(&self, type_name: Option<&str>, width: u32) -> i32 {
        match type_name.and_then(|name| self.0.get(name)) {
            Some(Translation::Bits(bits)) => int32(*bits),
            Some(Translation::Text) => 0,
            None => int32(width),
        }
    }
}

fn package(architecture: &str, notes: &Notes) -> PkgInfo {
    let annotations = Annotations::of(notes, &["pkginfo", "platform_property"]);
    let text = |key: &str| annotations::property(notes, "pkginfo", key).unwrap_or_default();
    let number = |key: &str| annotations::property(notes, "platform_property", key)?.parse::<i32>().ok();
    let has_properties = notes.annotations.iter().any(|note| note.name == "platform_property");
    let platform_properties = has_properties.then(|| PlatformProperties {
        multicast_group_table_size: number("multicast_group_table_size").unwrap_or(0),
        multicast_group_table_total_replicas: number("multicast_group_table_total_replicas").unwrap_or(0),
        multicast_group_table_max_replicas_per_entry: number("multicast_group_table_max_replicas_per_entry")
            .unwrap_or(0),
    });
    PkgInfo {
        name: text("name"),
        version: text("version"),
        doc: annotations.doc,
        annotations: annotations.plain,
        arch: architecture.to_string(),
        organization: text("organization"),
        contact: text("contact"),
        url: text("url"),
        structured_annotations: annotations.structured,
        platform_properties,
        ..PkgInfo::default()
    }
}

fn preamble(id: u32, name: &str, alias: &str, notes: &Notes, said_elsewhere: &[&str]) -> Option<Preamble> {
    let annotations = Annotations::of(notes, said_elsewhere);
    Some(Preamble {
        id,
        name: name.to_string(),
        alias: alias.to_string(),
        annotations: annotations.plain,
        doc: annotations.doc,
        structured_annotations: annotations.structured,
        ..Preamble::default()
    })
}
