//! Addresses of lookups: computed for a group before its lookups, for the plan's prefetches.

use super::stages::in_loop;
use super::{HotPath, inline, name};
use crate::batch::prefetch;
use crate::c::{Expr, Item, Stmt};
use hlir::plan::{Hint, Placement};
use hlir::resolved::{ResolvedStage, StagedLookup};
use hlir::text::written_structure;

/// Packets whose addresses are computed at once, a power of two: few, so that prefetches of the first ones
/// overlap with work on others.
const TOGETHER: u32 = 8;

impl HotPath<'_> {
    /// The lookup's name and the hint, if the plan prefetches its first line and the key determines it.
    pub(super) fn requested(&self, lookup: &StagedLookup) -> Option<(&str, Hint)> {
        let prefetch = lookup.prefetch.filter(|_| self.unit.structure(lookup.table).is_addressed())?;
        Some((self.look_up_name(lookup.place), prefetch.hint))
    }

    /// The same for a prefetch with this placement.
    pub(super) fn requested_in(&self, lookup: &StagedLookup, placement: Placement) -> Option<(&str, Hint)> {
        self.requested(lookup).filter(|_| lookup.prefetch.is_some_and(|prefetch| prefetch.placement == placement))
    }

    /// Prefetches for another group that are interleaved with the work on packet `i`: one per table with this
    /// placement.
    pub(super) fn paid(&self, placement: Placement) -> Vec<Stmt> {
        let Some(first) = self.plan.stages.first() else { return Vec::new() };
        let requested = |lookup| Some((lookup, self.requested_in(lookup, placement)?));
        let line = |held: &str| name(format!("run->requested->{held}_address[i]"));
        let lines = |(lookup, (held, hint)): (&StagedLookup, (&str, Hint))| {
            self.unit.prefetch_bucket(lookup.table, line(held), hint)
        };
        first.lookups.iter().filter_map(requested).flat_map(lines).collect()
    }

    /// Whether prefetches are interleaved with commit or key computation.
    pub(super) fn requests_with_work(&self) -> bool {
        [Placement::WithCommit, Placement::WithKeys].iter().any(|placement| !self.paid(*placement).is_empty())
    }

    /// Addresses that were computed for a prefetch, for as long as they are valid. With `moved`, that was one
    /// burst ago, and the table may have been replaced since.
    pub(super) fn known_addresses(&self, lookup: &StagedLookup, moved: bool) -> Option<Expr> {
        let (held, _) = self.requested(lookup)?;
        let addresses = name(format!("path->{held}_address"));
        if !moved || self.unit.structure(lookup.table).keeps_its_lines() {
            return Some(addresses);
        }
        let structure = self.lines(lookup)?;
        let array = format!("run->{}", self.unit.table_name(lookup.table));
        let same = [array, format!("&path->{held}_lines")].map(name);
        Some(Expr::conditional(Expr::call(format!("{structure}_is_at"), same), addresses, name("NULL")))
    }

    /// Whether a key's hash is kept for its lookup.
    pub(super) fn keeps_hash(&self, lookup: &StagedLookup) -> bool {
        let bits = self.unit.key_bits(lookup.table);
        self.unit.structure(lookup.table).has_expensive_hash(bits) && self.requested(lookup).is_some()
    }

    /// The structure of a prefetched table, if addresses are computed for several packets at once: all lie in
    /// one array.
    pub(super) fn lines(&self, lookup: &StagedLookup) -> Option<&'static str> {
        let structure = self.unit.structure(lookup.table);
        let together = structure.is_addressed_together(self.unit.key_bits(lookup.table));
        (together && self.requested(lookup).is_some()).then(|| written_structure(structure))
    }

    /// Whether the table of a staged lookup was empty when the group's keys were due, where that is asked.
    pub(super) fn was_empty(&self, place: usize) -> Option<Expr> {
        self.unit.skips_empty(self.table(place)).then(|| name(format!("path->{}_empty", self.look_up_name(place))))
    }

    /// Runs code of a staged lookup only if its table is not empty. A group that is prefetched for later needs
    /// addresses in any case: `otherwise`.
    fn unless_empty(&self, place: usize, code: Vec<Stmt>, otherwise: Vec<Stmt>) -> Vec<Stmt> {
        let Some(is_empty) = self.was_empty(place).filter(|_| !code.is_empty()) else { return code };
        vec![match otherwise.is_empty() {
            true => Stmt::when(Expr::unary("!", is_empty), code),
            false => Stmt::If { condition: is_empty, then: otherwise, otherwise: code },
        }]
    }

    /// Asks which tables of a stage are empty, once for a group.
    pub(super) fn empty_asked(&self, stage: &ResolvedStage) -> Vec<Stmt> {
        let ask =
            |lookup: &StagedLookup| Some(Stmt::set(self.was_empty(lookup.place)?, self.unit.is_empty(lookup.table)));
        stage.lookups.iter().filter_map(ask).collect()
    }

    /// A table got its first entries between the keys of a group and its lookups. What another lookup of the
    /// group has found may have been written after them, so all packets exit: they look up again.
    pub(super) fn filled_meanwhile(&self, stage: &ResolvedStage) -> Option<Stmt> {
        let filled = |lookup: &StagedLookup| {
            let is_empty = self.unit.is_empty(lookup.table);
            Some(Expr::binary("&&", self.was_empty(lookup.place)?, Expr::unary("!", is_empty)))
        };
        let any = stage.lookups.iter().filter_map(filled).reduce(|one, other| Expr::binary("||", one, other))?;
        let all = Expr::call("walk_first", [name("count")]);
        let is_any = Expr::call("__builtin_expect", [any, name("0")]);
        Some(Stmt::when(is_any, vec![Stmt::Assign(name("path->exits"), "|=", all)]))
    }

    /// The address of a key's line, and the plan's prefetch of it.
    pub(super) fn request(&self, lookup: &StagedLookup, key: Expr) -> Vec<Stmt> {
        let table = lookup.table;
        let Some((held, hint)) = self.requested(lookup) else { return Vec::new() };
        if self.lines(lookup).is_some() {
            return Vec::new();
        }
        let structure = self.unit.lookup_prefix(table);
        let limbs = Expr::word(crate::body::limbs(self.unit.key_bits(table)));
        let pointer = name(format!("run->{}", self.unit.table_name(table)));
        let mut code = Vec::new();
        let mut hash = Expr::call(format!("{structure}_hash"), [pointer.clone(), key, limbs]);
        if self.keeps_hash(lookup) {
            let kept = name(format!("path->{held}_hash[i]"));
            code.push(Stmt::set(kept.clone(), hash));
            hash = kept;
        }
        let address = name(format!("path->{held}_address[i]"));
        code.push(Stmt::set(address.clone(), Expr::call(format!("{structure}_address"), [pointer, hash])));
        if !self.plan.is_pipelined() {
            code.extend(self.unit.prefetch_bucket(table, address.clone(), hint));
        }
        let anywhere = self.plan.is_pipelined().then(|| Stmt::set(address, name("path")));
        self.unless_empty(lookup.place, code, anywhere.into_iter().collect())
    }

    /// Addresses that are computed for several packets at once, and the plan's prefetches of them.
    pub(super) fn addresses(&self, number: usize) -> Vec<Item> {
        let stage = &self.plan.stages[number];
        let mut code = Vec::new();
        for lookup in &stage.lookups {
            let Some((held, hint)) = self.requested(lookup) else { continue };
            let Some(structure) = self.lines(lookup) else { continue };
            let arguments = [
                name(format!("&path->{held}_lines")),
                name(format!("path->{held}_key[from]")),
                name(format!("&path->{held}_address[from]")),
                name("count"),
            ];
            let address = || name(format!("path->{held}_address[from + i]"));
            let mut made = vec![Stmt::call(format!("{structure}_addresses"), arguments)];
            let mut anywhere = None;
            if self.plan.is_pipelined() {
                anywhere = in_loop(name("count"), vec![Stmt::set(address(), name("path"))]);
            } else {
                made.extend(in_loop(name("count"), vec![prefetch(address(), hint)]));
            }
            code.extend(self.unless_empty(lookup.place, made, anywhere.into_iter().collect()));
        }
        if code.is_empty() {
            return Vec::new();
        }
        let parameters = ["struct path *path", "uint32_t from", "uint32_t count"];
        let about = "The addresses of some packets' lookups, from their keys.";
        let mut items = vec![Item::Comment(about.to_string())];
        items.extend(inline("void", format!("path_addresses_{number}"), &parameters, code));
        items
    }

    /// Loads the base arrays of a group's addresses.
    pub(super) fn lines_taken(&self, stage: &ResolvedStage) -> Vec<Stmt> {
        let take = |lookup: &StagedLookup| {
            let structure = self.lines(lookup)?;
            let array = name(format!("run->{}", self.unit.table_name(lookup.table)));
            let taken = Expr::call(format!("{structure}_lines"), [array]);
            Some(Stmt::set(name(format!("path->{}_lines", self.look_up_name(lookup.place))), taken))
        };
        stage.lookups.iter().filter_map(take).collect()
    }
}

/// The addresses of the packets up to `i`, if `i` is the last of a batch of addresses; and after the loop,
/// those of the remainder.
pub(super) fn addressed_together(number: usize, group: u32) -> (Option<Stmt>, Stmt) {
    let addresses =
        |from: Expr, count: Expr| Stmt::call(format!("path_addresses_{number}"), [name("path"), from, count]);
    let within = |count: &str| Expr::binary("&", name(count), Expr::word(TOGETHER - 1));
    let first = Expr::binary("-", name("i"), Expr::word(TOGETHER - 1));
    let is_last = Expr::binary("==", within("i"), Expr::word(TOGETHER - 1));
    if group < TOGETHER {
        return (None, addresses(Expr::word(0), name("count")));
    }
    let some = Stmt::when(is_last, vec![addresses(first, Expr::word(TOGETHER))]);
    (Some(some), addresses(Expr::binary("-", name("count"), within("count")), within("count")))
}
