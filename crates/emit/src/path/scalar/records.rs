//! What a lookup yields: the number of a record, and what the record of the action that runs has.

use super::Scalar;
use crate::c::{Expr, Stmt};
use crate::expression::{converted, masked};
use crate::field::load_bits;
use crate::path::name;
use crate::unit::number;
use hlir::{NodeId, NodeKind, TableId};
use schedule::{Found, Value};

impl Scalar<'_> {
    pub(super) fn lookup(&mut self, (node, hash): (NodeId, Option<Value>), what: Found, width: u32) -> Expr {
        match what {
            Found::Number => match self.path.plan.nodes.iter().position(|on_path| *on_path == node) {
                Some(place) if self.path.is_found(place) => self.path.found_at(place),
                _ => self.found_late(node, self.has_ended),
            },
            Found::Action => Expr::Name(format!("{}->action", self.acting((node, hash)))),
            Found::Parameter { action, parameter, low } => {
                self.parameter((node, hash), (action, parameter), low, width)
            }
        }
    }

    /// Bits of a parameter from bit `low` on.
    fn parameter(
        &mut self,
        of: (NodeId, Option<Value>),
        (action, parameter): (usize, usize),
        low: u32,
        width: u32,
    ) -> Expr {
        let unit = self.path.unit;
        let table = self.table(of.0);
        let member = self.member(of, action, parameter);
        let whole = unit.program.tables[table].actions[action].parameters[parameter].width;
        if unit.in_bytes(table, action, parameter) {
            return load_bits(&member, whole - low - width, width, whole / 8);
        }
        if whole > 64 {
            return crate::wide::bits_of(&member, low + width - 1, low);
        }
        let shifted = if low > 0 { Expr::binary(">>", member, Expr::word(low)) } else { member };
        let cut = converted(shifted, whole, width);
        // A record of another action may have any bits here; then the value does not matter.
        if low + width < whole { masked(cut, width) } else { cut }
    }

    /// A parameter in its record. `of`: the lookup, and the hash that chooses a member.
    pub fn member(&mut self, of: (NodeId, Option<Value>), action: usize, parameter: usize) -> Expr {
        let unit = self.path.unit;
        let table = number(self.table(of.0));
        let (data, title) = (&unit.names.actions[table][action], &unit.names.parameters[table][action][parameter]);
        Expr::Name(format!("{}->{data}.{title}", self.acting(of)))
    }

    pub fn table(&self, node: NodeId) -> TableId {
        let NodeKind::Apply { table, .. } = self.path.unit.node(node).kind else {
            unreachable!("only a lookup has a record")
        };
        table
    }

    /// The record whose action runs: the one that a lookup found, or, where that leads to a group, the one of the member that
    /// a hash chooses. The hash is computed for groups of several members alone. Without members it is the group's own.
    pub fn acting(&mut self, (node, hash): (NodeId, Option<Value>)) -> String {
        let Some(hash) = hash else { return self.record(node) };
        if let Some(member) = self.members.get(&(node, hash)) {
            return member.clone();
        }
        let (table, record) = (self.table(node), self.record(node));
        let of = format!("const struct {}_record *", self.path.unit.table_name(table));
        let [member, group, chosen] = ["member", "group", "chosen"].map(|wish| self.titles.unique(wish));
        self.code.push(Stmt::declare(&of, &member, name(&record)));
        let around = self.enter();
        let hashed = self.value(hash);
        self.code.push(Stmt::set(name(&chosen), hashed));
        let hashed = self.leave(around);
        let of_group = self.path.unit.selected((table, &record), [&group, &chosen], hashed);
        let mut choosing = of_group.code;
        choosing.push(Stmt::when(of_group.has_members, vec![Stmt::set(name(&member), of_group.member)]));
        let leads_to_group = Expr::binary("==", Expr::Name(format!("{record}->action")), name("SELECTOR_GROUP"));
        self.code.push(Stmt::when(leads_to_group, choosing));
        self.members.insert((node, hash), member.clone());
        member
    }

    /// What the records of members are called that have been chosen in this block.
    pub fn members(&self) -> Vec<String> {
        self.members.values().cloned().collect()
    }

    /// The record that a lookup found, or the default action's.
    pub fn record(&mut self, node: NodeId) -> String {
        if let Some(record) = self.records.get(&node) {
            return record.clone();
        }
        let unit = self.path.unit;
        let table = self.table(node);
        let place = self.path.plan.nodes.iter().position(|on_path| *on_path == node);
        let (records, found) = match place {
            Some(place) if self.path.is_found(place) => {
                let records = if self.is_commit { self.path.records(place) } else { self.path.records_ahead(place) };
                (records, self.path.found_at(place))
            }
            _ => (unit.records(table), self.found_late(node, self.has_ended)),
        };
        let short = unit.table_name(table).rsplit('_').next().unwrap_or("table").to_string();
        let title = self.titles.unique(&format!("{short}_record"));
        let of = format!("const struct {}_record *const", unit.table_name(table));
        self.code.push(Stmt::declare(of, &title, unit.record_of(table, records, found)));
        self.records.insert(node, title.clone());
        title
    }
}
