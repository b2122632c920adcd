//! The path shape: the way of most packets, run in stages for all packets of a group.
//!
//! `path_0` runs a packet ahead, from the entry to the first cut, and says whether it is still on the path; what it does changes nothing outside
//! `struct state`, so every later stage does it again instead of keeping its results, and the C compiler leaves out what that stage does not
//! use. Between two stages stand the look-ups of all packets of the group. `path_finish` runs a packet in its turn, with what was found for it;
//! one that has left the path is run from its beginning by `walk_on`.

use crate::batch::prefetch;
use crate::c::{Expr, Item, Member, Stmt, Struct};
use crate::node::{AheadOf, Nodes};
use crate::table::structure_names;
use crate::unit::Unit;
use crate::walk::Region;
use hlir::path::{self, Stage};
use hlir::plan::{Access, Loop, Placement};
use hlir::{NodeId, NodeKind, TableId};
use std::collections::BTreeSet;

fn name(text: impl Into<String>) -> Expr {
    Expr::Name(text.into())
}

fn each(variable: &str, to: Expr, body: Vec<Stmt>) -> Stmt {
    Stmt::Count { name: variable.to_string(), from: Expr::word(0), to, step: Expr::word(1), body }
}

fn inline(of: &str, title: impl Into<String>, parameters: &[&str], body: Vec<Stmt>) -> [Item; 2] {
    let parameters = parameters.iter().map(|parameter| parameter.to_string()).collect();
    [Item::Function { of: format!("INLINE {of}"), name: title.into(), parameters, body }, Item::Blank]
}

/// The path of a plan, and what its functions are made of.
pub struct Way<'u> {
    unit: &'u Unit<'u>,
    nodes: Vec<NodeId>,
    /// Behind `path_0`; there is at least one.
    stages: Vec<Stage>,
    /// Places whose look-up is made ahead, in order: `found` has a number for each.
    found: Vec<usize>,
    /// Of the nodes before the last cut.
    ahead: Vec<AheadOf>,
}

impl<'u> Way<'u> {
    /// None where the plan has no path, or one without stages.
    pub fn new(unit: &'u Unit<'u>, nodes: &Nodes) -> Option<Way<'u>> {
        let path = path::nodes(unit.program, unit.plan.path.as_ref()?)?;
        let stages = path::stages(unit.program, unit.plan, &path);
        let last = stages.last()?.place;
        let taken: BTreeSet<usize> = stages.iter().flat_map(|stage| stage.looked_up.iter().copied()).collect();
        let on_the_way = (0..last).filter(|place| path::table_of(unit.program, path[*place]).is_some());
        let found: BTreeSet<usize> = taken.iter().copied().chain(on_the_way).collect();
        let ahead = path[..last].iter().map(|node| nodes.ahead(unit, *node)).collect();
        Some(Way { unit, nodes: path, stages, found: found.into_iter().collect(), ahead })
    }

    fn planned(&self, stage: &Stage) -> &'u Loop {
        &self.unit.plan.loops[stage.number]
    }

    /// Packets that go through the stages together.
    fn group(&self) -> u32 {
        self.stages.iter().map(|stage| self.planned(stage).group).min().unwrap_or(1).clamp(1, 64)
    }

    fn table(&self, place: usize) -> TableId {
        path::table_of(self.unit.program, self.nodes[place]).expect("what is looked up ahead has a key")
    }

    fn at(&self, place: usize) -> Expr {
        name(self.unit.place_name(self.nodes[place]))
    }

    fn title(&self, place: usize) -> &str {
        self.unit.node_name(self.nodes[place])
    }

    fn found_number(&self, place: usize) -> Option<u32> {
        self.found.iter().position(|found| *found == place).map(|number| number as u32)
    }

    /// Whether a node looks up a table, with or without a key.
    fn applies(&self, place: usize) -> bool {
        matches!(self.unit.node(self.nodes[place]).kind, NodeKind::Apply { .. })
    }

    /// Where the look-up of a place is made between two stages, if it is.
    fn stage_of(&self, place: usize) -> Option<usize> {
        self.stages.iter().position(|stage| stage.looked_up.contains(&place))
    }

    pub fn items(&self, nodes: &Nodes, entry: NodeId) -> Vec<Item> {
        let mut items = Vec::new();
        for ahead in &self.ahead {
            items.extend(ahead.items.clone());
        }
        for stage in &self.stages {
            for place in stage.looked_up.iter().filter(|place| **place != stage.place) {
                let from = self.nodes[stage.place];
                items.extend(nodes.key_ahead(self.unit, self.nodes[*place], self.table(*place), from));
            }
        }
        items.extend(self.struct_path());
        for place in
            (0..self.last()).filter(|place| self.found_number(*place).is_some() && self.stage_of(*place).is_none())
        {
            items.extend(self.find(place));
        }
        (0..self.stages.len()).for_each(|number| items.extend(self.run_ahead(number)));
        items.extend(self.walk_on(nodes, entry));
        items.extend(self.leave());
        items.extend(self.finish(nodes));
        items.extend(self.begin());
        (0..self.stages.len()).for_each(|number| items.extend(self.stage(number)));
        items.extend(self.turn());
        items.extend(self.whole_group());
        items
    }

    fn last(&self) -> usize {
        self.ahead.len()
    }

    /// What the stages of a group hand on.
    fn struct_path(&self) -> [Item; 3] {
        let group = self.group();
        let mut members = Vec::new();
        for place in self.stages.iter().flat_map(|stage| &stage.looked_up) {
            let table = self.unit.table_name(self.table(*place));
            let limbs = crate::body::limbs(self.unit.key_bits(self.table(*place)));
            members.push(Member::plain("uint64_t", format!("{table}_key[{group}][{limbs}]"), ""));
            members.push(Member::plain("uint64_t", format!("{table}_hash[{group}]"), ""));
            members.push(Member::plain("const void *", format!("{table}_address[{group}]"), ""));
        }
        members.push(Member::plain("uint32_t", format!("found[{group}][{}]", self.found.len()), "numbers of records"));
        members.push(Member::plain("uint64_t", "left", "packets that have left the path, a bit each"));
        [
            Item::Comment("What the stages of the path hand on, of a group of packets.".to_string()),
            Item::Struct(Struct { name: "path".to_string(), members }),
            Item::Blank,
        ]
    }

    /// A look-up on the way to a cut, at once.
    fn find(&self, place: usize) -> [Item; 2] {
        let table = self.table(place);
        let (structure, _) = structure_names(self.unit.structure(table));
        let limbs = crate::body::limbs(self.unit.key_bits(table));
        let held = name(format!("run->{}", self.unit.table_name(table)));
        let (run, state, key) = (name("run"), name("state"), name("key"));
        let hash = Expr::call(format!("{structure}_hash"), [held.clone(), key.clone(), Expr::word(limbs)]);
        let address = Expr::call(format!("{structure}_address"), [held.clone(), name("hash")]);
        let found =
            Expr::call(format!("{structure}_find"), [held, address, name("hash"), key.clone(), Expr::word(limbs)]);
        let body = vec![
            Stmt::Declare { of: "uint64_t".to_string(), name: format!("key[{limbs}]"), value: None },
            Stmt::Declare { of: "uint64_t".to_string(), name: "hash".to_string(), value: None },
            Stmt::Blank,
            Stmt::call(format!("{}_key", self.title(place)), [run, state, key]),
            Stmt::set(name("hash"), hash),
            Stmt::result(found),
        ];
        let parameters = ["struct run *run", "struct state *state"];
        inline("uint32_t", format!("{}_find", self.title(place)), &parameters, body)
    }

    /// `path_N`: from one cut to the next. What it looks up on the way it keeps in `found`, so that doing it again gives the same.
    fn run_ahead(&self, number: usize) -> Vec<Item> {
        let from = if number == 0 { 0 } else { self.stages[number - 1].place };
        let to = self.stages[number].place;
        let mut body = Vec::new();
        for place in from..to {
            let found = self.found_number(place);
            if let Some(found) = found.filter(|_| self.stage_of(place).is_none()) {
                let look_up = Expr::call(format!("{}_find", self.title(place)), [name("run"), name("state")]);
                let keep = Stmt::set(name(format!("found[{found}]")), look_up);
                body.push(Stmt::when(Expr::unary("!", name("again")), vec![keep]));
            }
            if self.ahead[place].answers {
                let leaves = Expr::binary("!=", self.call_ahead(place), self.at(place + 1));
                body.push(Stmt::when(leaves, vec![Stmt::result(name("false"))]));
            } else {
                body.push(Stmt::Do(self.call_ahead(place)));
            }
        }
        body.push(Stmt::result(name("true")));
        let mut unused: Vec<Stmt> = Vec::new();
        for parameter in ["run", "state", "found", "again"] {
            if !body.iter().any(|statement| statement.mentions(parameter)) {
                unused.push(Stmt::Do(Expr::cast("void", name(parameter))));
            }
        }
        body.splice(0..0, unused);
        let about = match number {
            0 => format!("From the entry up to {}.", self.unit.node(self.nodes[to]).name),
            _ => {
                let node = |place: usize| &self.unit.node(self.nodes[place]).name;
                format!("From what was found at {} up to {}.", node(from), node(to))
            }
        };
        let parameters = ["struct run *run", "struct state *state", "uint32_t *found", "bool again"];
        let mut items = vec![Item::Comment(format!("{about} False if the packet leaves the path."))];
        items.extend(inline("bool", format!("path_{number}"), &parameters, body));
        items
    }

    fn call_ahead(&self, place: usize) -> Expr {
        let mut arguments = vec![name("run"), name("state")];
        if let Some(found) = self.found_number(place) {
            arguments.push(name(format!("found[{found}]")));
        }
        Expr::call(self.ahead[place].name.clone(), arguments)
    }

    /// The plain program, from any node on; by a function of its own, since it is rare.
    fn walk_on(&self, nodes: &Nodes, entry: NodeId) -> Vec<Item> {
        let unit = self.unit;
        let mut starts: BTreeSet<usize> = BTreeSet::new();
        let position = |node: NodeId| unit.facts.order.iter().position(|known| *known == node);
        for node in self.nodes.iter().take(self.end() + 1) {
            let index = position(*node).expect("a path's nodes are reachable");
            starts.extend(nodes.written[index].outcomes.iter().filter_map(|to| position(*to)));
        }
        let mut starts: Vec<NodeId> = starts.into_iter().map(|index| unit.facts.order[index]).collect();
        starts.retain(|start| *start != entry);
        let region = Region { nodes: (0..nodes.written.len()).collect(), starts, heads: &[] };
        let code = region.body(unit, &nodes.written);
        let mut body = vec![Stmt::declare("struct state *const", "state", name("&whole")), Stmt::Blank];
        body.extend(crate::walk::measuring(&code));
        body.extend(code);
        if !body.iter().skip(1).any(|statement| statement.mentions("at")) {
            body.insert(2, Stmt::Do(Expr::cast("void", name("at"))));
        }
        let parameters = ["struct run *run", "struct state whole", "enum node at"];
        let of = "static __attribute__((noinline)) void".to_string();
        let parameters = parameters.iter().map(|parameter| parameter.to_string()).collect();
        vec![
            Item::Comment("The way of a packet that has left the path.".to_string()),
            Item::Function { of, name: "walk_on".to_string(), parameters, body },
            Item::Blank,
        ]
    }

    /// Leaves the path. `walk_on` works on a copy of `run`: what it changes must not be in memory all the time for its sake.
    fn leave(&self) -> [Item; 2] {
        let body = vec![
            Stmt::declare("struct run", "copy", name("*run")),
            Stmt::Blank,
            Stmt::call("walk_on", [name("&copy"), name("*state"), name("at")]),
            Stmt::set(name("*run"), name("copy")),
        ];
        inline("void", "path_leave", &["struct run *run", "struct state *state", "enum node at"], body)
    }

    /// Place of the last look-up that is made ahead.
    fn end(&self) -> usize {
        self.found.last().copied().unwrap_or(0)
    }

    /// A packet in its turn: the path with what was found, then the rest of the graph.
    fn finish(&self, nodes: &Nodes) -> Vec<Item> {
        let unit = self.unit;
        let mut body = Vec::new();
        let mut on = None;
        let mut certain = true;
        for place in 0..=self.end() {
            let index = unit.facts.order.iter().position(|known| *known == self.nodes[place]);
            let written = &nodes.written[index.expect("a path's nodes are reachable")];
            certain &= !self.applies(place);
            let next = self.nodes.get(place + 1).copied().or_else(|| written.outcomes.first().copied());
            // Whoever comes here has been at this place before: what led elsewhere cannot do so now, for nothing has changed since.
            if let Some(ahead) = self.ahead.get(place).filter(|ahead| certain && !ahead.waits) {
                if !ahead.answers {
                    body.push(Stmt::Do(self.call_ahead(place)));
                } else {
                    let elsewhere = Expr::binary("!=", self.call_ahead(place), self.at(place + 1));
                    body.push(Stmt::when(elsewhere, vec![Stmt::call("__builtin_unreachable", [])]));
                }
                on = next;
                continue;
            }
            let call = match self.found_number(place) {
                Some(found) => Expr::call(
                    format!("{}_act", self.title(place)),
                    [name("run"), name("state"), name(format!("found[{found}]"))],
                ),
                None => Expr::call(self.title(place), [name("run"), name("state")]),
            };
            on = next;
            let Some(next) = next else {
                body.push(Stmt::Do(call));
                break;
            };
            if written.only() == Some(next) {
                body.push(Stmt::Do(call));
                continue;
            }
            body.push(Stmt::set(name("at"), call));
            let mut leave = vec![Stmt::call("path_leave", ["run", "state", "at"].map(name))];
            if written.ends {
                leave = vec![Stmt::when(Expr::binary("!=", name("at"), name("ENDED")), leave)];
            }
            leave.push(Stmt::Return(None));
            let left = Expr::binary("!=", name("at"), name(unit.place_name(next)));
            body.push(Stmt::when(Expr::call("__builtin_expect", [left, name("0")]), leave));
        }
        if let Some(on) = on {
            let rest = self.rest(nodes, on);
            body.extend(rest);
        }
        let mut declared = crate::walk::measuring(&body);
        if body.iter().any(|statement| matches!(statement, Stmt::Assign(Expr::Name(place), _, _) if place == "at")) {
            declared.push(Stmt::Declare { of: "enum node".to_string(), name: "at".to_string(), value: None });
        }
        if !declared.is_empty() {
            declared.push(Stmt::Blank);
        }
        declared.extend(body);
        let parameters = ["struct run *run", "struct state *state", "uint32_t *found"];
        let mut items = vec![Item::Comment(
            "A packet that is still on the path, in its turn, with the records that were found for it.".to_string(),
        )];
        items.extend(inline("void", "path_finish", &parameters, declared));
        items
    }

    /// The graph from a node on.
    fn rest(&self, nodes: &Nodes, from: NodeId) -> Vec<Stmt> {
        let unit = self.unit;
        let position =
            |node: NodeId| unit.facts.order.iter().position(|known| *known == node).expect("outcomes are reachable");
        let mut reached = BTreeSet::from([position(from)]);
        let mut left = vec![position(from)];
        while let Some(index) = left.pop() {
            left.extend(nodes.written[index].outcomes.iter().map(|to| position(*to)).filter(|to| reached.insert(*to)));
        }
        reached.remove(&position(from));
        let order = std::iter::once(position(from)).chain(reached).collect();
        Region { nodes: order, starts: Vec::new(), heads: &[] }.body(unit, &nodes.written)
    }

    /// A packet of the burst.
    fn begin(&self) -> [Item; 2] {
        let number = Expr::binary("+", name("run->worker->packet_number"), name("i"));
        let arguments = [
            Expr::call("packet_take", [name("burst"), name("i")]),
            name("burst->ports[i]"),
            name("&run->memory->scratch"),
            number,
        ];
        let parameters = ["struct run *run", "const struct burst *burst", "uint32_t i"];
        inline("struct state", "path_begin", &parameters, vec![Stmt::result(Expr::call("state_begin", arguments))])
    }

    /// A stage for all packets of a group: run ahead to the cut, then compute keys and request what the look-ups will read.
    fn stage(&self, number: usize) -> Vec<Item> {
        let stage = &self.stages[number];
        let on = |number: usize, again: bool| {
            Expr::call(
                format!("path_{number}"),
                [name("run"), name("&state"), name("path->found[i]"), name(if again { "true" } else { "false" })],
            )
        };
        let mut stays = on(number, false);
        for earlier in (0..number).rev() {
            stays = Expr::binary("&&", on(earlier, true), stays);
        }
        if number > 0 {
            let left = Expr::binary("&", Expr::binary(">>", name("left"), name("i")), name("1"));
            stays = Expr::binary("&&", Expr::unary("!", left), stays);
        }
        let mut keys = Vec::new();
        let mut zeros = vec![Stmt::Assign(name("path->left"), "|=", Expr::binary("<<", name("1ull"), name("i")))];
        let mut requests = Vec::new();
        for &place in &stage.looked_up {
            let table = self.table(place);
            let held = self.unit.table_name(table);
            let early = if place == stage.place { "key" } else { "key_ahead" };
            let key = name(format!("path->{held}_key[i]"));
            let arguments = [name("run"), name("&state"), key.clone()];
            keys.push(Stmt::call(format!("{}_{early}", self.title(place)), arguments));
            zeros.push(Stmt::call("memset", [key.clone(), name("0"), Expr::call("sizeof", [key.clone()])]));
            requests.extend(self.request(stage, table, key));
        }
        let mut body = vec![
            Stmt::declare("struct state", "state", Expr::call("path_begin", ["run", "burst", "from + i"].map(name))),
            Stmt::Blank,
        ];
        body.push(Stmt::If {
            condition: Expr::call("__builtin_expect", [stays, name("1")]),
            then: keys,
            otherwise: zeros,
        });
        body.extend(requests);
        let mut code = vec![each("i", name("count"), body)];
        code.push(each("i", name("count"), self.look_ups(stage)));
        if number == 0 {
            code.insert(0, Stmt::Do(Expr::cast("void", name("left"))));
        }
        let parameters = [
            "struct run *run",
            "const struct burst *burst",
            "uint32_t from",
            "uint32_t count",
            "struct path *path",
            "uint64_t left",
        ];
        let mut items = vec![Item::Comment(format!(
            "Stage {number}: all packets of a group up to {}, and the look-up there.",
            self.unit.node(self.nodes[stage.place]).name
        ))];
        items.extend(inline("void", format!("path_stage_{number}"), &parameters, code));
        items
    }

    /// Hash and address of a key, and the plan's request for what lies there.
    fn request(&self, stage: &Stage, table: TableId, key: Expr) -> Vec<Stmt> {
        let held = self.unit.table_name(table);
        let (structure, _) = structure_names(self.unit.structure(table));
        let limbs = Expr::word(crate::body::limbs(self.unit.key_bits(table)));
        let pointer = name(format!("run->{held}"));
        let (hash, address) = (name(format!("path->{held}_hash[i]")), name(format!("path->{held}_address[i]")));
        let computed = Expr::call(format!("{structure}_address"), [pointer.clone(), hash.clone()]);
        let mut code = vec![
            Stmt::set(hash, Expr::call(format!("{structure}_hash"), [pointer, key, limbs])),
            Stmt::set(address.clone(), computed),
        ];
        let wanted = &self.unit.program.tables[table].name;
        for request in &self.planned(stage).requests {
            let first_line = matches!(&request.access, Access::Table { table, line: 0 } if table == wanted);
            if first_line && request.placement != Placement::None {
                code.push(prefetch(address.clone(), request.hint));
            }
        }
        code
    }

    fn look_ups(&self, stage: &Stage) -> Vec<Stmt> {
        let mut code = Vec::new();
        for &place in &stage.looked_up {
            let table = self.table(place);
            let held = self.unit.table_name(table);
            let (structure, _) = structure_names(self.unit.structure(table));
            let limbs = Expr::word(crate::body::limbs(self.unit.key_bits(table)));
            let part = |part: &str| name(format!("path->{held}_{part}[i]"));
            let arguments = [name(format!("run->{held}")), part("address"), part("hash"), part("key"), limbs];
            let found = self.found_number(place).expect("what is looked up ahead is kept");
            code.push(Stmt::set(
                name(format!("path->found[i][{found}]")),
                Expr::call(format!("{structure}_find"), arguments),
            ));
        }
        code
    }

    /// The last stage.
    fn turn(&self) -> [Item; 3] {
        let left = Expr::binary("&", Expr::binary(">>", name("left"), name("i")), name("1"));
        let first = name(self.unit.place_name(self.nodes[0]));
        let body = vec![
            Stmt::declare("struct state", "state", Expr::call("path_begin", ["run", "burst", "from + i"].map(name))),
            Stmt::Blank,
            Stmt::call("state_enter", [name("&state")]),
            Stmt::If {
                condition: left,
                then: vec![Stmt::call("path_leave", [name("run"), name("&state"), first])],
                otherwise: vec![Stmt::call("path_finish", [name("run"), name("&state"), name("path->found[i]")])],
            },
        ];
        let parameters = [
            "struct run *run",
            "const struct burst *burst",
            "uint32_t from",
            "uint32_t count",
            "struct path *path",
            "uint64_t left",
        ];
        let [function, blank] = inline("void", "path_turn", &parameters, vec![each("i", name("count"), body)]);
        [Item::Comment("The last stage: each packet in its turn.".to_string()), function, blank]
    }

    /// All stages for a group. A group that nobody has left has code of its own.
    fn whole_group(&self) -> [Item; 2] {
        let mut body = vec![
            Stmt::Declare { of: "struct path".to_string(), name: "path".to_string(), value: None },
            Stmt::Blank,
            Stmt::set(name("path.left"), Expr::word(0)),
        ];
        let first = self.stages.first().map(|stage| &self.planned(stage).requests).into_iter().flatten();
        let mut packets = first.filter(|request| request.access == Access::Packet);
        if let Some(request) = packets.find(|request| request.placement != Placement::None) {
            let address = Expr::call("packet_address_data", ["burst", "from + i"].map(name));
            body.push(each("i", name("count"), vec![prefetch(address, request.hint)]));
        }
        let call = |function: &str, left: &str| {
            let arguments = ["run", "burst", "from", "count", "&path", left].map(name);
            Stmt::call(function, arguments)
        };
        let nobody =
            || Expr::call("__builtin_expect", [Expr::binary("==", name("path.left"), Expr::word(0)), name("1")]);
        body.push(call("path_stage_0", "0"));
        let rest = (1..self.stages.len()).map(|number| format!("path_stage_{number}"));
        for function in rest.chain(std::iter::once("path_turn".to_string())) {
            body.push(Stmt::If {
                condition: nobody(),
                then: vec![call(&function, "0")],
                otherwise: vec![call(&function, "path.left")],
            });
        }
        let parameters = ["struct run *run", "const struct burst *burst", "uint32_t from", "uint32_t count"];
        inline("void", "path_group", &parameters, body)
    }

    /// The burst, group by group; a full group's size is known to the C compiler.
    pub fn process(&self) -> Vec<Stmt> {
        let group = Expr::word(self.group());
        let size = Expr::binary("-", name("count"), name("from"));
        let call = |size: Expr| Stmt::call("path_group", [name("&run"), name("&taken"), name("from"), size]);
        let body = vec![Stmt::If {
            condition: Expr::binary(">=", size.clone(), group.clone()),
            then: vec![call(group.clone())],
            otherwise: vec![call(size)],
        }];
        // A copy of the burst's pointers, which no store to a packet can change.
        let taken = Stmt::declare("const struct burst", "taken", name("*burst"));
        vec![
            taken,
            Stmt::Blank,
            Stmt::Count { name: "from".to_string(), from: Expr::word(0), to: name("count"), step: group, body },
        ]
    }
}
