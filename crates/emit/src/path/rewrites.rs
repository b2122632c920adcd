//! Header rewrites that are computed before the lookup which decides about them; `hlir::vector` says what is
//! known there.
//!
//! `path->NODE_ACTION_HEADER_BYTE[i]` has the bytes of packet `i`, in network order. `path_vector` computes
//! them for many packets at once, `NODE_ACTION_rewrites` for one. The commit phase stores them.

use super::{HotPath, name};
use crate::body::{Body, storage_bytes};
use crate::c::{Expr, Item, Member, Stmt};
use crate::field::Spot;
use crate::namer::Namer;
use crate::names::copied;
use crate::node::Nodes;
use hlir::vector::{Rewrites, Store};
use hlir::{HeaderId, Place, Statement, TableId};
use std::collections::{BTreeSet, HashMap};

/// The stores of a lookup's actions with their bytes, by action number.
pub struct RewritesAt {
    actions: Vec<(Rewrites, Vec<Expr>)>,
}

impl HotPath<'_> {
    /// The place whose actions have precomputed stores.
    fn rewriting(&self) -> Option<(usize, &[Rewrites])> {
        let (_, lanes) = self.lanes.as_ref()?;
        let place = self.plan.stages.first()?.place;
        (!lanes.rewrites.is_empty() && !self.may_be_stale(place)).then_some((place, lanes.rewrites.as_slice()))
    }

    /// The precomputed stores of a place.
    pub(super) fn rewrites_of(&self, place: usize) -> Option<&[Rewrites]> {
        self.rewriting().filter(|(of, _)| *of == place).map(|(_, rewrites)| rewrites)
    }

    /// Place and action as part of a C name.
    fn rewrites_title(&self, place: usize, rewrites: &Rewrites) -> String {
        let table = crate::unit::number(self.table(place));
        format!("{}_{}", self.title(place), self.unit.names.actions[table][rewrites.action])
    }

    /// Different pairs of action and header may give the same concatenated name.
    fn store_name(&self, place: usize, rewrites: &Rewrites, store: &Store) -> String {
        let mut namer = Namer::new([]);
        let mut names = HashMap::new();
        for of in self.rewrites_of(place).into_iter().flatten() {
            for header in of.stores.iter().map(|store| store.header) {
                let name =
                    || namer.unique(&format!("{}_{}", self.rewrites_title(place, of), self.unit.header_name(header)));
                names.entry((of.action, header)).or_insert_with(name);
            }
        }
        format!("{}_{}", names[&(rewrites.action, store.header)], store.byte)
    }

    /// The bytes of packet `i`, by store.
    pub(super) fn stores(&self) -> Vec<(Expr, &Store)> {
        let Some((place, rewrites)) = self.rewriting() else { return Vec::new() };
        let of = |action| self.stores_of(place, action).into_iter().zip(&action.stores);
        rewrites.iter().flat_map(of).collect()
    }

    fn stores_of(&self, place: usize, action: &Rewrites) -> Vec<Expr> {
        let name_of = |store| name(format!("path->{}[i]", self.store_name(place, action, store)));
        action.stores.iter().map(name_of).collect()
    }

    /// Members of `struct path`.
    pub(super) fn rewrite_members(&self) -> Vec<Member> {
        let Some((place, rewrites)) = self.rewriting() else { return Vec::new() };
        let mut members = Vec::new();
        for action in rewrites {
            for store in &action.stores {
                let (title, last) = (self.store_name(place, action, store), store.byte + store.bytes - 1);
                let about = format!("bytes {} to {last} of the header, as they will be", store.byte);
                members.push(Member::plain("uint32_t", format!("{title}[{}]", self.plan.group), about));
            }
        }
        members
    }

    pub(super) fn rewrite_items(&self, nodes: &Nodes) -> Vec<Item> {
        let Some((place, rewrites)) = self.rewriting() else { return Vec::new() };
        let (unit, node) = (self.unit, self.plan.nodes[place]);
        let mut items = Vec::new();
        for action in rewrites {
            let declared = &unit.program.tables[self.table(place)].actions[action.action];
            items.push(Item::Comment(format!(
                "The header bytes that {} will write, which do not depend on the lookup.",
                declared.name
            )));
            items.extend(nodes.rewrites(
                unit,
                node,
                &self.rewrites_title(place, action),
                &RewritesAt { actions: vec![(action.clone(), self.stores_of(place, action))] },
            ));
        }
        let actions = rewrites.iter().map(|action| (action.clone(), self.stores_of(place, action))).collect();
        let about = format!("{} in a packet's turn: what was made ahead of it is stored.", unit.node(node).name);
        items.push(Item::Comment(about));
        items.extend(nodes.act_rewritten(unit, node, &RewritesAt { actions }));
        items
    }

    /// The bytes of one packet at the lookup.
    pub(super) fn rewrites_made(&self) -> Vec<Stmt> {
        let Some((place, rewrites)) = self.rewriting() else { return Vec::new() };
        let make = |action| {
            let title = format!("{}_rewrites", self.rewrites_title(place, action));
            Stmt::call(title, ["run", "&state", "path", "i"].map(name))
        };
        rewrites.iter().map(make).collect()
    }
}

impl Body<'_, '_> {
    /// An action's body; false if control does not reach its end. Precomputed assignments become stores.
    pub fn action_body(&mut self, action: usize, body: &[Statement]) -> bool {
        let made = self.rewrites.and_then(|rewrites| rewrites.actions.iter().find(|(of, _)| of.action == action));
        let Some((rewrites, made)) = made else { return self.statements(body) };
        let mut from = 0;
        for at in 0..body.len() {
            let Some(index) = rewrites.stores.iter().position(|store| store.statements.contains(&at)) else { continue };
            if !self.statements(&body[from..at]) {
                return false;
            }
            from = at + 1;
            let store = &rewrites.stores[index];
            if store.statements.last() == Some(&at) {
                self.ensure(store.header);
                self.store_made(store, made[index].clone());
            }
        }
        self.statements(&body[from..])
    }

    /// Stores precomputed bytes. A single byte of a header that is summed goes with its word ([`Unit::stores_words`]).
    fn store_made(&mut self, store: &Store, made: Expr) {
        let spot = Spot { bit: 8 * store.byte, width: 8 * store.bytes, behind_varbit: false };
        if self.unit.stores_words(store.header, spot) {
            let (bit, width) = (Expr::word(spot.bit), Expr::word(spot.width));
            return self.push(Stmt::call("bits_store_in_word", [self.header(store.header), bit, width, made]));
        }
        let to = self.bytes_of(store);
        self.push(Stmt::call("memcpy", [to, Expr::unary("&", made), Expr::word(store.bytes)]));
    }

    fn bytes_of(&self, store: &Store) -> Expr {
        match store.byte {
            0 => self.header(store.header),
            byte => Expr::binary("+", self.header(store.header), Expr::word(byte)),
        }
    }

    /// Computes the bytes of one action's stores for one packet: runs the known part of the action on copies
    /// of the headers that it writes and of all other state.
    pub fn rewrites_of_one(&mut self, table: TableId, rewrites: &RewritesAt) {
        let [(rewrites, made)] = rewrites.actions.as_slice() else { return };
        let action = &self.program().tables[table].actions[rewrites.action];
        let known = || rewrites.known.iter().map(|number| &action.body[*number]);
        let headers: BTreeSet<HeaderId> = known()
            .filter_map(|statement| {
                let Statement::Assign { target: Place::Field(field), .. } = statement else { return None };
                Some(field.header)
            })
            .collect();
        self.push(Stmt::declare("struct state", "copy", name("*given")));
        self.push(Stmt::declare("struct state *const", "state", name("&copy")));
        for header in &headers {
            let bytes = storage_bytes(self.program(), *header);
            let copy = format!("{}[{bytes}]", copied(self.unit.header_name(*header)));
            self.push(Stmt::Declare { of: "uint8_t".to_string(), name: copy, value: None });
        }
        self.push(Stmt::Blank);
        for header in &headers {
            self.ensure(*header);
            let copy = name(copied(self.unit.header_name(*header)));
            let bytes = Expr::word(storage_bytes(self.program(), *header));
            let copied = Expr::call("memcpy", [copy, self.header(*header), bytes]);
            self.push(Stmt::set(self.header(*header), copied));
        }
        for statement in known() {
            self.statements(std::slice::from_ref(statement));
        }
        for (store, made) in rewrites.stores.iter().zip(made) {
            let from = self.bytes_of(store);
            self.push(Stmt::call("memcpy", [Expr::unary("&", made.clone()), from, Expr::word(store.bytes)]));
        }
    }
}
