//! The objects of a program by their names, from its P4Info.

use crate::field::{Field, Look, look_of};
use control::message::config::{
    Action, ActionProfile, Counter, Digest, DirectCounter, DirectMeter, MatchField, Meter, P4Info, P4NamedType,
    Preamble, Register, Table, ValueSet, match_field, p4_new_type_spec, p4_new_type_translation::SdnType,
};
use hlir::MatchKind;
use match_field::MatchType;
use stf::command::Word;
use stf::{Line, Mistake, matches, names};

pub struct Names {
    pub info: P4Info,
    pub ports: Vec<PortName>,
}

/// A port of the switch: values may name its device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortName {
    pub number: u32,
    pub device: String,
}

/// What P4Info has of an object.
pub trait Named {
    fn preamble(&self) -> Option<&Preamble>;

    fn id(&self) -> u32 {
        self.preamble().map_or(0, |preamble| preamble.id)
    }

    fn name(&self) -> &str {
        self.preamble().map_or("", |preamble| &preamble.name)
    }

    /// The shortest name that no other object has.
    fn alias(&self) -> &str {
        self.preamble().map_or("", |preamble| if preamble.alias.is_empty() { &preamble.name } else { &preamble.alias })
    }
}

macro_rules! named {
    ($($kind:ty)*) => {
        $(impl Named for $kind {
            fn preamble(&self) -> Option<&Preamble> {
                self.preamble.as_ref()
            }
        })*
    };
}

named!(Table Action ActionProfile Counter DirectCounter Meter DirectMeter Register ValueSet Digest);

/// The one of the objects that a word names, in full or by its end.
pub fn find<'a, T: Named>(word: &Word, what: &str, objects: &'a [T]) -> Result<&'a T, Mistake> {
    let at = names::find(word, what, objects.iter().map(Named::name))?;
    Ok(&objects[at])
}

/// The object with an id, as it is called.
pub fn name_of<T: Named>(id: u32, objects: &[T]) -> String {
    objects
        .iter()
        .find(|object| object.id() == id)
        .map_or_else(|| format!("{id:#x}"), |object| object.name().to_string())
}

impl Names {
    /// A port: its number, or its device.
    pub fn port(&self, line: &mut Line) -> Result<u32, Mistake> {
        match line.next_name() {
            Some(_) => {
                let word = line.name("a port")?;
                port_number(&word, &self.ports).ok_or_else(|| unknown_port(&word, &self.ports))
            }
            None => matches::small(&line.number()?, "a port"),
        }
    }

    /// The fields of a table's key, or of a value set.
    pub fn keys<'i>(&'i self, keys: &'i [MatchField]) -> Vec<Field<'i>> {
        keys.iter()
            .map(|key| {
                let kind = match key.r#match {
                    Some(match_field::Match::MatchType(kind)) => kind_of(kind),
                    Some(match_field::Match::OtherMatchType(_)) | None => MatchKind::Exact,
                };
                self.field((key.id, &key.name, key.bitwidth), kind, key.type_name.as_ref(), &key.annotations)
            })
            .collect()
    }

    pub fn parameters<'i>(&'i self, action: &'i Action) -> Vec<Field<'i>> {
        let field = |known: &'i control::message::config::action::Param| {
            let (what, kind) = ((known.id, known.name.as_str(), known.bitwidth), MatchKind::Exact);
            self.field(what, kind, known.type_name.as_ref(), &known.annotations)
        };
        action.params.iter().map(field).collect()
    }

    /// The header in front of packets: `packet_in` or `packet_out`. None where the program has none.
    pub fn packet_header(&self, name: &str) -> Vec<Field<'_>> {
        let headers = &self.info.controller_packet_metadata;
        let header = headers.iter().find(|header| header.preamble.as_ref().is_some_and(|known| known.name == name));
        let fields = header.into_iter().flat_map(|header| &header.metadata).map(|known| {
            let (what, kind) = ((known.id, known.name.as_str(), known.bitwidth), MatchKind::Exact);
            self.field(what, kind, known.type_name.as_ref(), &known.annotations)
        });
        fields.collect()
    }

    fn field<'i>(
        &'i self,
        (id, name, width): (u32, &'i str, i32),
        kind: MatchKind,
        type_name: Option<&P4NamedType>,
        annotations: &[String],
    ) -> Field<'i> {
        let width = width.max(0) as u32;
        let look = match type_name.is_some_and(|name| self.is_text(&name.name)) {
            true => Look::Text,
            false => look_of(name, width, kind, annotations),
        };
        Field { id, name, width, kind, look, ports: &self.ports }
    }

    /// Whether controllers write values of this type as texts.
    pub fn is_text(&self, type_name: &str) -> bool {
        let known = self.info.type_info.as_ref().and_then(|types| types.new_types.get(type_name));
        let representation = known.and_then(|known| known.representation.as_ref());
        match representation {
            Some(p4_new_type_spec::Representation::TranslatedType(translated)) => {
                matches!(translated.sdn_type, Some(SdnType::SdnString(_)))
            }
            Some(p4_new_type_spec::Representation::OriginalType(_)) | None => false,
        }
    }

    /// The action of a table that a word names.
    pub fn action_of<'i>(&'i self, table: &Table, word: &Word) -> Result<&'i Action, Mistake> {
        let is_of_table = |action: &&Action| table.action_refs.iter().any(|of_table| of_table.id == action.id());
        let actions: Vec<&Action> = self.info.actions.iter().filter(is_of_table).collect();
        let what = format!("action of table `{}` called", table.name());
        let at = names::find(word, &what, actions.iter().map(|action| action.name()))?;
        Ok(actions[at])
    }

    pub fn action(&self, id: u32) -> Option<&Action> {
        self.info.actions.iter().find(|action| action.id() == id)
    }

    /// A table whose entries use the action profile: it defines the actions.
    pub fn table_of_profile(&self, profile: &ActionProfile) -> Option<&Table> {
        self.info.tables.iter().find(|table| profile.table_ids.contains(&table.id()))
    }

    pub fn direct_counter(&self, table: u32) -> Option<&DirectCounter> {
        self.info.direct_counters.iter().find(|counter| counter.direct_table_id == table)
    }

    pub fn direct_meter(&self, table: u32) -> Option<&DirectMeter> {
        self.info.direct_meters.iter().find(|meter| meter.direct_table_id == table)
    }
}

/// The port whose device a word names.
pub fn port_number(word: &Word, ports: &[PortName]) -> Option<u32> {
    ports.iter().find(|port| port.device == word.text).map(|port| port.number)
}

pub fn unknown_port(word: &Word, ports: &[PortName]) -> Mistake {
    let known: Vec<String> = ports.iter().map(|port| format!("{} {}", port.number, port.device)).collect();
    let known =
        if known.is_empty() { "write its number".to_string() } else { format!("ports are {}", known.join(", ")) };
    Mistake::new(word.place, format!("`{}` is no port of the switch: {known}", word.text))
}

fn kind_of(kind: i32) -> MatchKind {
    match MatchType::try_from(kind) {
        Ok(MatchType::Lpm) => MatchKind::Lpm,
        Ok(MatchType::Ternary) => MatchKind::Ternary,
        Ok(MatchType::Range) => MatchKind::Range,
        Ok(MatchType::Optional) => MatchKind::Optional,
        Ok(MatchType::Exact | MatchType::Unspecified) | Err(_) => MatchKind::Exact,
    }
}

/// Whether entries of the table need a priority.
pub fn has_priorities(fields: &[Field]) -> bool {
    fields.iter().any(|field| matches!(field.kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional))
}
