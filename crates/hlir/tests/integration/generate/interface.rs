//! Random controller's views.

use super::Generator;
use super::program::KINDS;
use hlir::interface::{
    Definition, Detail, Interface, Member, NamedKind, Physical, SizeSemantics, SourceAction, SourceActionUse,
    SourceDefault, SourceKey, SourceObject, SourceParameter, SourceSelector, SourceTable, SourceType, Translation,
    TypeSpec,
};
use hlir::{CounterUnit, MeterUnit, Scope};

const NAMED: [NamedKind; 6] = [
    NamedKind::Struct,
    NamedKind::Header,
    NamedKind::Union,
    NamedKind::Enumeration,
    NamedKind::Serializable,
    NamedKind::New,
];

impl Generator<'_> {
    pub fn interface(&mut self) {
        let package = self.notes();
        let actions = self.several(2, |it| SourceAction {
            id: it.id(),
            name: it.name(),
            alias: it.name(),
            parameters: it.source_parameters(),
            notes: it.notes(),
        });
        let ids: Vec<u32> = actions.iter().map(|action| action.id).collect();
        let tables = self.several(2, |it| it.source_table(&ids));
        let table_ids: Vec<u32> = tables.iter().map(|table| table.id).collect();
        let objects = self.several(2, |it| {
            let (id, name, detail) = (it.id(), it.name(), it.detail(&table_ids));
            SourceObject {
                id,
                alias: name.rsplit('.').next().unwrap_or("").to_string(),
                name,
                detail,
                notes: it.notes(),
            }
        });
        let types = self.several(2, Self::source_type);
        let unapplied = self.several(2, Self::name);
        let externs = self.some(|_| ()).is_some();
        self.program.interface = Interface { package, tables, actions, objects, types, unapplied, externs };
    }

    fn source_parameters(&mut self) -> Vec<SourceParameter> {
        self.several(2, |it| {
            let (id, name, width) = (it.number(), it.name(), it.width());
            SourceParameter { id, name, width, type_name: it.some(Self::name), notes: it.notes() }
        })
    }

    fn source_keys(&mut self) -> Vec<SourceKey> {
        self.several(2, |it| {
            let (id, name, width) = (it.number(), it.name(), it.width());
            SourceKey { id, name, width, kind: it.pick(&KINDS), type_name: it.some(Self::name), notes: it.notes() }
        })
    }

    fn detail(&mut self, tables: &[u32]) -> Detail {
        let unit = self.pick(&[CounterUnit::Packets, CounterUnit::Bytes, CounterUnit::Both]);
        let meter = self.pick(&[MeterUnit::Packets, MeterUnit::Bytes]);
        let (size, index) = (u64::from(self.number()), self.some(Self::name));
        let table = tables.first().copied();
        match (self.below(9), table) {
            (0, _) => Detail::ValueSet { size, keys: self.source_keys() },
            (1, _) => Detail::ControllerHeader { fields: self.source_parameters() },
            (2, _) => {
                let weights = Some(SizeSemantics::SumOfMembers(self.some(|it| u64::from(it.number()))));
                let semantics = self.pick(&[None, Some(SizeSemantics::SumOfWeights), weights]);
                let selector = self.some(|it| SourceSelector { largest_group: u64::from(it.number()), semantics });
                Detail::ActionProfile { tables: tables.to_vec(), size, selector }
            }
            (3, Some(table)) => Detail::DirectCounter { unit, table },
            (4, Some(table)) => Detail::DirectMeter { unit: meter, table },
            (5, _) => Detail::Meter { unit: meter, size, index },
            (6, _) => Detail::Register { element: self.spec(2), size, index },
            (7, _) => Detail::Digest { record: self.spec(2) },
            _ => Detail::Counter { unit, size, index },
        }
    }

    fn source_type(&mut self) -> SourceType {
        let name = self.name();
        let definition = match self.below(8) {
            0 => Definition::Struct(self.members(|it| it.spec(1))),
            1 => Definition::Header(self.members(|it| it.spec(0))),
            2 => Definition::Union(self.members(Self::name)),
            3 => Definition::Enumeration(self.members(|_| ())),
            4 => Definition::Serializable(32, self.members(|it| it.value(32))),
            5 => Definition::Errors(self.members(|_| ())),
            6 => Definition::New(self.spec(0)),
            _ => {
                let to = if self.once_in(2) { Translation::Text } else { Translation::Bits(self.number()) };
                Definition::Translated { uri: self.text(), to }
            }
        };
        SourceType { name, definition, notes: self.notes() }
    }

    fn members<T>(&mut self, mut value: impl FnMut(&mut Self) -> T) -> Vec<Member<T>> {
        self.several(2, |it| Member { name: it.name(), value: value(it), notes: it.notes() })
    }

    fn spec(&mut self, depth: u32) -> TypeSpec {
        match self.below(8) {
            0 => TypeSpec::Signed(self.number()),
            1 => TypeSpec::Varbit(self.number()),
            2 => TypeSpec::Bool,
            3 => TypeSpec::Error,
            4 => TypeSpec::Named(self.pick(&NAMED), self.name()),
            5 => TypeSpec::Stack(self.pick(&NAMED), self.name(), self.number()),
            6 if depth > 0 => TypeSpec::Tuple(self.several(2, |it| it.spec(depth - 1))),
            _ => TypeSpec::Bits(self.number()),
        }
    }

    /// An id that nothing else has.
    fn id(&mut self) -> u32 {
        self.names += 1;
        0x0200_0000 + self.names
    }

    fn source_table(&mut self, actions: &[u32]) -> SourceTable {
        let keys = self.source_keys();
        let uses = actions.iter().map(|action| {
            let scope = self.pick(&[Scope::Everywhere, Scope::TableOnly, Scope::DefaultOnly]);
            SourceActionUse { action: *action, scope, notes: self.notes() }
        });
        let uses = uses.collect();
        let default = actions.first().filter(|_| self.once_in(2)).copied();
        SourceTable {
            id: self.id(),
            name: self.name(),
            alias: self.name(),
            keys,
            actions: uses,
            default: default.map(|action| SourceDefault {
                action,
                arguments: self.several(2, |it| it.value(128)),
                constant: self.once_in(2),
            }),
            profile: self.some(Self::number),
            direct: self.several(2, Self::number),
            size: self.some(|it| u64::from(it.number())),
            idle_timeout: self.once_in(2),
            entries_constant: self.once_in(2),
            entries_initial: self.once_in(2),
            physical: self.index(self.program.tables.len()).map_or(Physical::None, Physical::Table),
            notes: self.notes(),
        }
    }
}
