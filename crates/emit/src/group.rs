//! Grouped lookups, for structures with a function `NAME_find_group` in the runtime.

use crate::c::{Expr, Stmt};
use crate::unit::Unit;
use hlir::TableId;
use hlir::plan::{Hint, Structure};
use hlir::text::written_structure;

/// Packets that the runtime's functions take at most.
pub const GROUP_MOST: u32 = 64;

/// The arrays of a group's keys, hashes and answers.
pub struct Grouped {
    /// Prefix of the lookup's variable names.
    pub name: String,
    /// What makes names of arrays: `path->acl_` for `path->acl_key`.
    pub prefix: String,
    pub run: &'static str,
    pub count: Expr,
    /// Hashes are beside the keys.
    pub is_hashed: bool,
    /// Where addresses are that are still good.
    pub addresses: Option<Expr>,
    /// The hint with which first lines were prefetched, if they were: second lines are prefetched likewise.
    pub requested: Option<Hint>,
    pub found: Expr,
    /// Nodes of a trie are prefetched before the group reads them.
    pub walks_ahead: bool,
    /// Whether the table was empty when the group's keys were due, if that is asked.
    pub is_empty: Option<Expr>,
    pub requests: Option<Requests>,
    /// Where the records are, and their distance, if those that are found are prefetched.
    pub records: Option<[Expr; 2]>,
}

/// Lines of a newer group that lookups prefetch, one each.
pub struct Requests {
    pub addresses: Expr,
    pub count: Expr,
}

impl Unit<'_> {
    /// The call, with its description in a variable.
    pub fn find_group(&self, table: TableId, grouped: Grouped) -> Vec<Stmt> {
        let structure = written_structure(self.structure(table));
        let pointer = Expr::Name(format!("{}{}", grouped.run, self.table_name(table)));
        let is_empty = grouped.is_empty.clone();
        let (declared, group) = self.described(table, grouped);
        let found = Stmt::call(format!("{structure}_find_group"), [pointer, group.clone()]);
        let missed = Stmt::call("table_group_miss", [group.clone()]);
        let looked_up = match is_empty {
            Some(condition) => Stmt::If { condition, then: vec![missed], otherwise: vec![found] },
            None => found,
        };
        let mut code = vec![declared, looked_up];
        code.extend(self.own_parts(table, group));
        code
    }

    /// The same in two halves, for a table whose keys are in one of two lines: other lookups in between
    /// overlap with the second lines.
    pub fn find_halves(&self, table: TableId, grouped: Grouped) -> [Vec<Stmt>; 2] {
        let structure = written_structure(self.structure(table));
        let pointer = Expr::Name(format!("{}{}", grouped.run, self.table_name(table)));
        let (array, second) = (format!("{}_array", grouped.name), format!("{}_second", grouped.name));
        let is_empty = grouped.is_empty.clone();
        let (declared, group) = self.described(table, grouped);
        let taken = Expr::call(format!("{structure}_array"), [pointer.clone()]);
        let arguments = [pointer, Expr::name(&array), group.clone()];
        let mut firsts = Expr::call(format!("{structure}_find_firsts"), arguments.clone());
        if let Some(is_empty) = is_empty {
            firsts = Expr::conditional(is_empty, Expr::call("table_group_miss", [group.clone()]), firsts);
        }
        let seconds = arguments.into_iter().chain([Expr::name(&second)]);
        let seconds = Stmt::call(format!("{structure}_find_seconds"), seconds);
        [
            vec![
                declared,
                Stmt::declare(format!("const struct {structure}_array *const"), array, taken),
                Stmt::declare("const uint64_t", second, firsts),
            ],
            std::iter::once(seconds).chain(self.own_parts(table, group)).collect(),
        ]
    }

    /// Of what was found for a group in an array of two tables, the numbers of this one's records.
    fn own_parts(&self, table: TableId, group: Expr) -> Option<Stmt> {
        let part = self.part(table)?;
        Some(Stmt::call("table_group_part", [group, Expr::word(part.shift), Expr::word(part.bits)]))
    }

    /// The description of a group in a variable, and its address.
    fn described(&self, table: TableId, grouped: Grouped) -> (Stmt, Expr) {
        let limbs = Expr::word(crate::body::limbs(self.key_bits(table)));
        let array = |part: &str| Expr::Name(format!("{}{part}", grouped.prefix));
        let mut members = vec![
            Expr::designated("count", grouped.count),
            Expr::designated("limbs", limbs),
            Expr::designated("keys", array("key[0]")),
            Expr::designated("found", grouped.found),
        ];
        if self.structure(table) == Structure::Scan {
            members.push(Expr::designated("form", self.key_size(table)));
        }
        if grouped.is_hashed {
            members.push(Expr::designated("hashes", array("hash")));
        }
        if let Some(addresses) = grouped.addresses {
            members.push(Expr::designated("addresses", addresses));
        }
        let has_two_lines = self.structure(table).has_two_lines();
        if grouped.requested.is_some() && has_two_lines {
            members.push(Expr::designated("is_far", Expr::word(1)));
        }
        if has_two_lines
            && grouped.requested.is_some()
            && self.structure(table).has_pairs_of_lines(self.key_bits(table))
        {
            members.push(Expr::designated("pairs", Expr::word(1)));
        }
        if grouped.walks_ahead {
            members.push(Expr::designated("walks_ahead", Expr::word(1)));
        }
        let has_requests = grouped.requests.is_some();
        if let Some(requests) = grouped.requests {
            members.push(Expr::designated("requests", requests.addresses));
            members.push(Expr::designated("request_count", requests.count));
        }
        if matches!(grouped.requested, Some(Hint::T1)) && (has_requests || has_two_lines) {
            members.push(Expr::designated("request_far", Expr::word(1)));
        }
        if let Some([records, stride]) = grouped.records {
            members.push(Expr::designated("records", records));
            members.push(Expr::designated("record_stride", stride));
        }
        let group = format!("{}_group", grouped.name);
        let address = Expr::Name(format!("&{group}"));
        (Stmt::declare("const struct table_group", group, Expr::List(members)), address)
    }
}
