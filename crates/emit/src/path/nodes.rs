//! The commit of a packet by the nodes of the plain program, with the records that the stages found. For paths whose
//! commit phase cannot be scheduled.

use super::{HotPath, inline, name};
use crate::c::{Expr, Item, Stmt};
use crate::control_flow::Region;
use crate::node::{Form, Nodes};
use hlir::NodeId;

impl HotPath<'_> {
    /// Whether packets commit by nodes.
    pub(super) fn commits_by_nodes(&self) -> bool {
        self.scheduled.commit().is_none()
    }

    /// `path_finish`: the nodes of the path with the records that were found, then the rest of the graph.
    pub(super) fn plain_commit(&self, nodes: &Nodes) -> Vec<Item> {
        let unit = self.unit;
        let mut body = Vec::new();
        let mut on = None;
        for place in 0..=self.end() {
            let written = &nodes.written[unit.position(self.plan.nodes[place])];
            if self.may_be_stale(place) {
                body.extend(self.look_up_again(place));
            }
            let call = match self.is_found(place) {
                true => {
                    let found = [name("run"), name("state"), self.found_at(place), self.records(place)];
                    // Only misses use the key, and this packet has hit.
                    let arguments = found.into_iter().chain(self.may_be_stale(place).then(|| name("NULL")));
                    Expr::call(format!("{}_act", self.title(place)), arguments)
                }
                false => match &written.form {
                    Form::Function => Expr::call(self.title(place), [name("run"), name("state")]),
                    Form::Test { condition, then, otherwise } => {
                        let at = |node: NodeId| name(unit.place_name(node));
                        Expr::conditional(condition.clone(), at(*then), at(*otherwise))
                    }
                    Form::Statements(statements) => {
                        body.extend(statements.iter().cloned());
                        on = self.plan.nodes.get(place + 1).copied().or_else(|| written.only());
                        continue;
                    }
                },
            };
            on = self.plan.nodes.get(place + 1).copied().or_else(|| written.outcomes.first().copied());
            let Some(next) = on else {
                body.push(Stmt::Do(call));
                break;
            };
            match written.only() == Some(next) {
                true => body.push(Stmt::Do(call)),
                false => body.extend(self.follow(call, place, written.ends, next)),
            }
        }
        let (rest, mut items) = on.map_or_else(Default::default, |on| self.rest(nodes, on));
        body.extend(rest);
        if body.iter().any(|statement| matches!(statement, Stmt::Assign(Expr::Name(place), _, _) if place == "at")) {
            let at = Stmt::Declare { of: "enum node".to_string(), name: "at".to_string(), value: None };
            body.splice(0..0, [at, Stmt::Blank]);
        }
        let about = "Commits a packet on the hot path, with the records that were found for it.";
        let parameters = ["struct run *run", "struct state *state", "struct path *path", "uint32_t i"];
        items.push(Item::Comment(about.to_string()));
        items.extend(inline("void", "path_finish", &parameters, body));
        items
    }

    /// Continues at the path's next node only; elsewhere it is a side exit.
    fn follow(&self, call: Expr, place: usize, ends: bool, next: NodeId) -> [Stmt; 2] {
        let mut leave = self.not_made(place + 1);
        let go_on = Stmt::call("path_exit", ["run", "state", "at"].map(name));
        leave.push(match ends {
            true => Stmt::when(Expr::binary("!=", name("at"), name("ENDED")), vec![go_on]),
            false => go_on,
        });
        leave.push(Stmt::Return(None));
        let left = Expr::binary("!=", name("at"), name(self.unit.place_name(next)));
        let unlikely = Expr::call("__builtin_expect", [left, name("0")]);
        [Stmt::set(name("at"), call), Stmt::when(unlikely, leave)]
    }

    /// The packet makes this lookup, and what follows, by itself if what it found may be out of date.
    fn look_up_again(&self, place: usize) -> [Stmt; 1] {
        let mut leave = self.not_made(place);
        leave.push(Stmt::call("path_exit", [name("run"), name("state"), self.at(place)]));
        leave.push(Stmt::Return(None));
        let missed = Expr::binary("==", self.found_at(place), Expr::word(0));
        let inserted = Expr::binary("!=", name("run->insertions"), name("path->insertions"));
        let stale = Expr::call("__builtin_expect", [Expr::binary("||", missed, inserted), name("0")]);
        [Stmt::when(stale, leave)]
    }

    /// Lookups from a position of the path on were counted for this packet, and it does not use them.
    pub(super) fn not_made(&self, from: usize) -> Vec<Stmt> {
        let behind = self.plan.speculative.iter().filter(|found| **found >= from);
        behind.map(|place| self.unit.take_back_look_up(self.table(*place))).collect()
    }

    /// The graph from a node on; as a function of its own if packets may reach a queue there.
    fn rest(&self, nodes: &Nodes, from: NodeId) -> (Vec<Stmt>, Vec<Item>) {
        let unit = self.unit;
        let first = unit.position(from);
        let mut order = self.reached(nodes, [from]);
        order.retain(|index| *index != first);
        if !self.may_wait(nodes, [from]) {
            order.insert(0, first);
            let region = Region { nodes: order, starts: Vec::new(), heads: &[] };
            return (region.body(unit, &nodes.written), Vec::new());
        }
        let heads = self.heads();
        let mut on = name(unit.place_name(from));
        let mut items = Vec::new();
        if !heads.contains(&from) {
            order.insert(0, first);
            let body = Region { nodes: order, starts: Vec::new(), heads: &heads }.body(unit, &nodes.written);
            items.push(Item::Comment(
                "The graph after the last lookup, up to where a packet ends or waits.".to_string(),
            ));
            let parameters = ["struct run *run", "struct state *state", "enum node at"];
            items.extend(inline("enum node", "path_rest", &parameters, body));
            on = Expr::call("path_rest", [name("run"), name("state"), on]);
        }
        let waits = Expr::binary("!=", name("at"), name("ENDED"));
        let leave = Stmt::call("path_exit", ["run", "state", "at"].map(name));
        let waits = Stmt::when(Expr::call("__builtin_expect", [waits, name("0")]), vec![leave]);
        (vec![Stmt::set(name("at"), on), waits], items)
    }
}
