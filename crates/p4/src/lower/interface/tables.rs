//! The tables of the controller's view.

use std::collections::{BTreeMap, HashSet};

use hlir::interface::{Physical, SourceActionUse, SourceDefault, SourceKey, SourceTable};
use hlir::{NodeKind, TableId};

use super::{controller_width, id_note, ids_together, is_hidden, number};
use crate::lower::Lowering;

const TABLE: u32 = 0x02;

impl Lowering<'_> {
    pub(super) fn source_tables(&mut self) {
        let visible = |table: &hlir::Table| !is_hidden(&table.notes);
        let tables = self.program.tables.iter().filter(|(_, table)| visible(table));
        let names: BTreeMap<String, Option<u32>> =
            tables.map(|(_, table)| (table.name.clone(), id_note(&table.notes))).collect();
        let ids = number(TABLE, &names);
        let reached = self.reached_tables();
        let actions = self.action_ids();
        let mut made = Vec::new();
        for (id, table) in self.program.tables.iter().filter(|(_, table)| visible(table)) {
            let listed = |at: &(usize, _)| !self.facts.unlisted.contains(&(id, at.0 as u32));
            let named = |at: usize| actions[&self.facts.action_names[&(id, at as u32)]];
            let uses = table.actions.iter().enumerate().filter(listed).map(|(at, action)| SourceActionUse {
                action: named(at),
                scope: action.scope,
                notes: self.facts.uses.get(&id).and_then(|uses| uses.get(at)).cloned().unwrap_or_default(),
            });
            let default = table.actions.get(table.default.action as usize).map(|_| SourceDefault {
                action: named(table.default.action as usize),
                arguments: table.default.arguments.clone(),
                constant: table.default_constant,
            });
            made.push(SourceTable {
                id: ids[&table.name],
                name: table.name.clone(),
                alias: String::new(),
                keys: self.source_keys(id, table),
                actions: uses.collect(),
                default,
                profile: None,
                direct: Vec::new(),
                size: table.size,
                idle_timeout: table.idle_timeout.is_some(),
                entries_constant: table.entries_constant,
                entries_initial: !table.entries.is_empty(),
                physical: if reached.contains(&id) { Physical::Table(id) } else { Physical::None },
                notes: table.notes.clone(),
            });
        }
        self.program.interface.tables = made;
        self.program.interface.unapplied = self.unapplied_tables();
    }

    /// The names of tables that nothing applies.
    fn unapplied_tables(&self) -> Vec<String> {
        let lowered = |name: &String| self.program.tables.values().any(|table| table.name == *name);
        let hidden = |declaration| is_hidden(&self.notes_of(declaration));
        let instances = self.objects.table_instances();
        let unapplied = instances.filter(|table| !lowered(&table.name) && !hidden(table.declaration));
        unapplied.map(|table| table.name.clone()).collect()
    }

    fn source_keys(&self, id: TableId, table: &hlir::Table) -> Vec<SourceKey> {
        let types = self.facts.keys.get(&id).map_or(&[][..], |types| types);
        let given: Vec<_> = table.keys.iter().map(|key| id_note(&key.notes)).collect();
        let keys = table.keys.iter().zip(ids_together(&given)).enumerate().map(|(at, (key, id))| SourceKey {
            id,
            name: key.name.clone(),
            width: types.get(at).map_or(0, |of_type| controller_width(of_type, self.width(&key.value))),
            kind: key.kind,
            type_name: types.get(at).and_then(|of_type| self.type_name(of_type)),
            notes: key.notes.clone(),
        });
        keys.collect()
    }

    fn reached_tables(&self) -> HashSet<TableId> {
        let applied = self.program.nodes.iter().filter_map(|(_, node)| match &node.kind {
            NodeKind::Apply { table, .. } => Some(*table),
            NodeKind::State { .. }
            | NodeKind::Block { .. }
            | NodeKind::Branch { .. }
            | NodeKind::Deparse { .. }
            | NodeKind::Buffer { .. } => None,
        });
        applied.collect()
    }
}
