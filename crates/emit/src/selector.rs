//! Action selectors: an entry that leads to a group runs the action of one of its members, chosen by a hash.

use crate::body::{Body, Presence};
use crate::c::{Expr, Member, Stmt};
use crate::unit::{Unit, number};
use hlir::{ActionCall, HashInput, Selector, TableId};

/// Where a record has the slot of its group.
pub const SLOT: &str = "selector_group";

/// The group to which a record leads that has no action.
pub struct Group {
    /// Declares it, and the hash.
    pub code: Vec<Stmt>,
    pub has_members: Expr,
    /// The record of the member that the hash chooses.
    pub member: Expr,
}

impl Unit<'_> {
    /// The selector that entries of the table may choose by.
    pub fn selector(&self, table: TableId) -> Option<&Selector> {
        self.program.selector(table)
    }

    /// The slot of a group, in a record that has no action.
    pub fn slot_member(&self, table: TableId) -> Option<Member> {
        self.selector(table).map(|_| Member::plain("uint32_t", SLOT, ""))
    }

    /// `offsetof` the slot in a table's record.
    pub fn slot_offset(&self, table: TableId) -> Option<Expr> {
        self.selector(table).filter(|_| self.facts.tables.contains(&number(table)))?;
        Some(Expr::Name(format!("offsetof(struct {}_record, {SLOT})", self.table_name(table))))
    }

    /// Points `to` at a record of the table that the program itself gives.
    fn point_at_constant(&self, table: TableId, call: &ActionCall, to: &str) -> Vec<Stmt> {
        let of = format!("static const struct {}_record", self.table_name(table));
        let (name, address) = ("empty_group", Expr::name("&empty_group"));
        vec![Stmt::declare(of, name, self.constant_record(table, call)), Stmt::set(Expr::name(to), address)]
    }

    /// What an action's data are read from: the entry's record, or that of the member that was chosen.
    pub fn chosen(&self, table: TableId) -> &'static str {
        if self.selector(table).is_some() { "member" } else { "record" }
    }

    /// The group of a record. `hashed` sets `hash`: for groups of several members alone, and most have one.
    pub fn selected(&self, (table, record): (TableId, &str), [group, hash]: [&str; 2], hashed: Vec<Stmt>) -> Group {
        let selection = Expr::index(Expr::name("run->worker->shared->selections"), Expr::word(number(table) as u32));
        let members = Expr::call("selector_members", [selection, Expr::Name(format!("{record}->{SLOT}"))]);
        let has_members = Expr::binary("!=", Expr::name(group), Expr::name("NULL"));
        let has_several = Expr::binary(">", Expr::Name(format!("{group}->count")), Expr::word(1));
        let code = vec![
            Stmt::declare("const struct selector_group *const", group, members),
            Stmt::declare("uint64_t", hash, Expr::long(0)),
            Stmt::when(Expr::binary("&&", has_members.clone(), has_several), hashed),
        ];
        let size = Expr::call("sizeof", [Expr::Name(format!("struct {}_record", self.table_name(table)))]);
        let member = Expr::call("selector_member", [Expr::name(group), Expr::name(hash), size]);
        Group { code, has_members, member }
    }
}

impl Body<'_, '_> {
    /// Declares `record`, the entry's, for the lookup's result `found` among `records`; with a selector also
    /// `member`, whose action runs. A group without members turns the hit into a miss, unless the table has
    /// an action for it.
    pub fn record(&mut self, table: TableId) {
        let name = self.unit.table_name(table);
        let of = format!("const struct {name}_record *");
        let record = |found: Expr| self.unit.record_of(table, Expr::name("records"), found);
        let found = || Expr::name("found");
        let Some(selector) = self.unit.selector(table) else {
            return self.push(Stmt::declare(format!("{of}const"), "record", record(found())));
        };
        self.push(Stmt::declare(of.clone(), "record", record(found())));
        self.push(Stmt::declare(of, "member", Expr::name("record")));
        let (code, _) = self.branch(|body| {
            let [group, chosen] = ["members", "hash"].map(|stem| body.temporary(stem));
            let (hashed, _) = body.branch(|body| {
                let hash = body.selector_hash(table, selector);
                body.push(Stmt::set(Expr::name(&chosen), hash));
            });
            let Group { code, has_members, member } = body.unit.selected((table, "record"), [&group, &chosen], hashed);
            body.out.extend(code);
            body.push(Stmt::set(Expr::name("member"), Expr::conditional(has_members, member, Expr::name("NULL"))));
            let empty = match &body.program().tables[table].empty_group {
                Some(call) => body.unit.point_at_constant(table, call, "member"),
                None => vec![
                    Stmt::set(found(), Expr::word(0)),
                    Stmt::set(Expr::name("record"), record(Expr::word(0))),
                    Stmt::set(Expr::name("member"), Expr::name("record")),
                ],
            };
            body.push(Stmt::when(Expr::binary("==", Expr::name("member"), Expr::name("NULL")), empty));
        });
        let leads_to_group = Expr::binary("==", Expr::name("record->action"), Expr::name("SELECTOR_GROUP"));
        self.push(Stmt::when(leads_to_group, code));
        // The other branch may not have the scratch that this one pointed headers at.
        for header in self.selector_headers(table) {
            let presence = &mut self.present[number(header)];
            if *presence == Presence::Absent {
                *presence = Presence::Maybe;
            }
        }
    }

    fn selector_headers(&self, table: TableId) -> Vec<hlir::HeaderId> {
        let mut headers = std::collections::BTreeSet::new();
        for value in &self.program().tables[table].selector {
            crate::unit::headers_read(value, &mut headers);
        }
        headers.into_iter().collect()
    }

    /// The hash of the selector's inputs, cut to its width.
    fn selector_hash(&mut self, table: TableId, selector: &Selector) -> Expr {
        let data: Vec<HashInput> = self.program().tables[table].selector.iter().cloned().map(HashInput::Bits).collect();
        let hash = self.hash_value_of(selector.algorithm, &data);
        if selector.width >= 64 {
            return hash;
        }
        Expr::binary("&", hash, Expr::long((1u64 << selector.width) - 1))
    }
}
