//! Random controller's views.

use super::Generator;
use super::program::KINDS;
use hlir::Scope;
use hlir::interface::{
    Interface, ObjectKind, Physical, SourceAction, SourceActionUse, SourceKey, SourceObject, SourceParameter,
    SourceTable,
};

const OBJECTS: [ObjectKind; 9] = [
    ObjectKind::ValueSet,
    ObjectKind::ControllerHeader,
    ObjectKind::ActionProfile,
    ObjectKind::Counter,
    ObjectKind::DirectCounter,
    ObjectKind::Meter,
    ObjectKind::DirectMeter,
    ObjectKind::Register,
    ObjectKind::Digest,
];

impl Generator<'_> {
    pub fn interface(&mut self) {
        let actions = self.several(2, |it| SourceAction {
            id: it.id(),
            name: it.name(),
            alias: it.name(),
            parameters: it.several(2, |it| {
                let (id, name, width) = (it.number(), it.name(), it.width());
                SourceParameter { id, name, width, notes: it.notes() }
            }),
            notes: it.notes(),
        });
        let ids: Vec<u32> = actions.iter().map(|action| action.id).collect();
        let tables = self.several(2, |it| it.source_table(&ids));
        let objects = self.several(2, |it| {
            let (kind, id, name) = (it.pick(&OBJECTS), it.id(), it.name());
            SourceObject { kind, id, alias: name.rsplit('.').next().unwrap_or("").to_string(), name, notes: it.notes() }
        });
        self.program.interface = Interface { tables, actions, objects };
    }

    /// An id that nothing else has.
    fn id(&mut self) -> u32 {
        self.names += 1;
        0x0200_0000 + self.names
    }

    fn source_table(&mut self, actions: &[u32]) -> SourceTable {
        let keys = self.several(2, |it| {
            let (id, name, width) = (it.number(), it.name(), it.width());
            SourceKey { id, name, width, kind: it.pick(&KINDS), notes: it.notes() }
        });
        let uses = actions.iter().map(|action| {
            let scope = self.pick(&[Scope::Everywhere, Scope::TableOnly, Scope::DefaultOnly]);
            SourceActionUse { action: *action, scope, notes: self.notes() }
        });
        let actions = uses.collect();
        SourceTable {
            id: self.id(),
            name: self.name(),
            alias: self.name(),
            keys,
            actions,
            size: self.some(|it| u64::from(it.number())),
            entries_constant: self.once_in(2),
            physical: self.index(self.program.tables.len()).map_or(Physical::None, Physical::Table),
            notes: self.notes(),
        }
    }
}
