//! Bulk send: where the hot path does not move the bounds of packets, a whole group is sent at once, with
//! addresses and lengths copied from the burst. Committing a packet yields its port only, or that it is
//! dropped.

use super::commit::{never, popcount, state_enter};
use super::{HotPath, each, inline, name};
use crate::c::{Expr, Item, Stmt};
use crate::node::{Nodes, Written};
use crate::storage::{Words, words};
use hlir::plan::Placement;
use hlir::{Effect, HeaderId, Next, NodeId, NodeKind, Statement};
use std::collections::{BTreeMap, BTreeSet};

/// Functions of the runtime that leave a packet's bounds as they are. `packet_gather` is not among them: it
/// moves packets of several segments.
const HARMLESS: [&str; 11] = [
    "packet_contiguous",
    "packet_data",
    "packet_length",
    "walk_drop",
    "walk_hash_payload",
    "walk_send",
    "walk_sum",
    "walk_sum_end",
    "walk_sum_number",
    "walk_sum_payload",
    "walk_sum_subtract",
];

/// A node that sends every packet that reaches it, or drops it.
pub struct Sender {
    call: Expr,
    /// What comes before: drops, each of which ends the packet.
    drops: Vec<Stmt>,
    port: Expr,
    /// Whether the port number may have more than 16 bits.
    is_wide: bool,
    pub reason: Expr,
}

impl HotPath<'_> {
    /// The nodes that send, if all packets that end in the commit phase keep their bounds or are dropped. A packet
    /// that looks up again must not leave before older ones of its group that take the same nodes, so a group is sent
    /// at once only if none does ([`HotPath::hits_stay`]).
    pub(super) fn sending(&self, nodes: &Nodes) -> Vec<Sender> {
        let unit = self.unit;
        if !self.heads().is_empty()
            || unit.tracks_insertions() && !self.hits_stay(nodes)
            || !unit.program.externs.is_empty()
            || unit.plan.instrument != hlir::plan::Instrument::default()
        {
            return Vec::new();
        }
        let mut senders = Vec::new();
        for index in self.run_in_turn(nodes) {
            let (node, written) = (unit.facts.order[index], &nodes.written[index]);
            let mut used = Words::new();
            words(&written.items, &mut used);
            if used.contains("walk_send") {
                let Some(sender) = self.sender(node, written) else { return Vec::new() };
                senders.push(sender);
            }
            if self.guard(node).is_some() {
                continue;
            }
            let of_runtime =
                |word: &&String| ["packet_", "walk_", "run_", "copy_"].iter().any(|front| word.starts_with(front));
            if used.iter().filter(of_runtime).any(|word| !HARMLESS.contains(&word.as_str())) {
                return Vec::new();
            }
        }
        senders
    }

    /// Whether packets that hit in all lookups of the hot path commit without inserting an entry and without a side
    /// exit. Then a group of hits is sent at once even where misses insert entries.
    fn hits_stay(&self, nodes: &Nodes) -> bool {
        let learns = |index: &usize| match &self.unit.node(self.unit.facts.order[*index]).kind {
            NodeKind::Apply { table, .. } => self.unit.learns(*table),
            NodeKind::State { .. }
            | NodeKind::Block { .. }
            | NodeKind::Branch { .. }
            | NodeKind::Deparse { .. }
            | NodeKind::Buffer { .. } => false,
        };
        let behind = self.behind(nodes);
        let guarded = behind.iter().any(|index| self.guard(self.unit.facts.order[*index]).is_some());
        (0..=self.end()).all(|place| self.hit_stays(nodes, place)) && !guarded && !behind.iter().any(learns)
    }

    /// Whether a packet that hits goes on along the path.
    fn hit_stays(&self, nodes: &Nodes, place: usize) -> bool {
        let written = &nodes.written[self.unit.position(self.plan.nodes[place])];
        let next = self.plan.nodes.get(place + 1).copied().or_else(|| written.outcomes.first().copied());
        if self.repeated(place).is_some() || self.is_settled(place) || next.is_some() && written.only() == next {
            return true;
        }
        let NodeKind::Apply { table, next: Next::Hit { hit, .. }, .. } = &self.unit.node(self.plan.nodes[place]).kind
        else {
            return false;
        };
        let mut exits = false;
        for statement in self.unit.program.tables[*table].actions.iter().flat_map(|action| &action.body) {
            statement.walk(&mut |inner| exits |= matches!(inner, Statement::Exit));
        }
        self.is_found(place) && next == Some(*hit) && !written.ends && !exits
    }

    /// Side exits in front of the deparsers among these nodes, where a group is sent at once: for packets whose bounds
    /// they would move.
    pub(super) fn guards(&self, order: &[usize]) -> BTreeMap<usize, Stmt> {
        let guard = |index: &usize| Some((*index, self.guard(self.unit.facts.order[*index])?));
        order.iter().filter(|_| !self.senders.is_empty()).filter_map(guard).collect()
    }

    fn guard(&self, node: NodeId) -> Option<Stmt> {
        let NodeKind::Deparse { body, .. } = &self.unit.node(node).kind else { return None };
        let added = self.unit.only_adds(node, body).filter(|added| self.may_lack(node, added))?;
        let adds = Expr::call("__builtin_expect", [self.unit.has_any(&added)?, name("0")]);
        let leave = Stmt::call("path_exit", [name("run"), name("state"), name(self.unit.place_name(node))]);
        Some(Stmt::when(adds, vec![leave, Stmt::Return(None)]))
    }

    /// Whether packets may come along the path to a node without these headers: it is on the path, and nothing before
    /// always makes one of them valid.
    fn may_lack(&self, node: NodeId, headers: &[HeaderId]) -> bool {
        let Some(end) = self.plan.nodes.iter().position(|on| *on == node) else { return false };
        let lacks = |body: &[Statement]| !body.iter().any(|statement| adds_one(statement, headers));
        (0..end).all(|place| match &self.unit.node(self.plan.nodes[place]).kind {
            NodeKind::Apply { table, .. } => {
                let actions = &self.unit.program.tables[*table].actions;
                let expected = self.plan.actions.get(&place);
                expected.map_or_else(|| actions.iter().all(|it| lacks(&it.body)), |it| lacks(&actions[*it].body))
            }
            kind @ (NodeKind::State { .. }
            | NodeKind::Block { .. }
            | NodeKind::Branch { .. }
            | NodeKind::Deparse { .. }
            | NodeKind::Buffer { .. }) => lacks(kind.body()),
        })
    }

    /// Nodes that `path_finish` runs without side exit: those of the path that were not speculated, and the
    /// nodes after it.
    fn run_in_turn(&self, nodes: &Nodes) -> BTreeSet<usize> {
        let position = |place: usize| self.unit.position(self.plan.nodes[place]);
        let as_they_are = (0..=self.end()).filter(|place| self.repeated(*place).is_none());
        let mut run: BTreeSet<usize> = as_they_are.map(position).collect();
        run.extend(self.behind(nodes));
        run
    }

    /// The nodes after the last lookup.
    fn behind(&self, nodes: &Nodes) -> Vec<usize> {
        let last = &nodes.written[self.unit.position(self.plan.nodes[self.end()])];
        let behind = self.plan.nodes.get(self.end() + 1).or_else(|| last.outcomes.first());
        self.reached(nodes, behind.copied())
    }

    fn sender(&self, node: NodeId, written: &Written) -> Option<Sender> {
        let NodeKind::Buffer { rules, .. } = &self.unit.node(node).kind else { return None };
        let ports = rules.iter().filter_map(|rule| match &rule.effect {
            Effect::Send { port } => Some(self.unit.program.port_width(port)),
            Effect::Drop { .. }
            | Effect::Unicast { .. }
            | Effect::Replicate { .. }
            | Effect::Clone { .. }
            | Effect::Resubmit { .. }
            | Effect::Recirculate { .. }
            | Effect::Punt { .. } => None,
        });
        let width = ports.max()?;
        let mut bodies = written.items.iter().filter_map(|item| match item {
            Item::Function { body, .. } => Some(body.as_slice()),
            Item::Comment(_)
            | Item::Directive(_)
            | Item::Enum { .. }
            | Item::Struct(_)
            | Item::Variable { .. }
            | Item::Blank => None,
        });
        let [drops @ .., Stmt::Do(Expr::Call(function, arguments)), Stmt::Return(Some(_))] = bodies.next_back()? else {
            return None;
        };
        let [_, _, _, port, reason] = arguments.as_slice() else { return None };
        let mut drops = drops.to_vec();
        if !drops.iter_mut().all(only_drops) {
            return None;
        }
        let (port, is_wide) = (port.clone(), width > 16);
        let call = Expr::call(self.unit.node_name(node), [name("run"), name("state")]);
        (function == "walk_send").then(|| Sender { call, drops, port, is_wide, reason: reason.clone() })
    }

    /// Commits a full group without side exits.
    pub fn commit_bulk(&self) -> Vec<Item> {
        let Some(sender) = self.senders.first() else { return Vec::new() };
        let group = Expr::word(self.plan.group);
        let mut code = self.gathering(Expr::long(0));
        code.push(Stmt::Blank);
        code.push(room(&group));
        code.push(each("i", group.clone(), self.gather()));
        code.push(send_gathered(&group, Expr::long(0), sender));
        code.extend(self.count_look_ups(&group));
        let mut parameters = vec!["struct run *run", "const struct burst *burst", "uint32_t from", "struct path *path"];
        parameters.extend(self.parameters_known());
        let about = "The same for a full group without side exits, which is sent at once.";
        let mut items = vec![Item::Comment(self.about_known(about))];
        items.extend(inline("void", "path_commit_bulk", &parameters, code));
        items
    }

    /// Commits a set of packets of a group, from one set bit to the next: a branch per packet would often be
    /// mispredicted.
    pub fn commit_some(&self) -> Vec<Item> {
        let first = Expr::cast("uint32_t", Expr::call("__builtin_ctzll", [name("rest")]));
        let mut turn = vec![Stmt::declare("const uint32_t", "i", first), Stmt::Blank];
        turn.push(Stmt::Assign(name("rest"), "&=", Expr::binary("-", name("rest"), Expr::word(1))));
        turn.extend(self.gather());
        let code = vec![
            Stmt::declare("uint64_t", "rest", name("set")),
            Stmt::declare("uint64_t", "gone", Expr::long(0)),
            Stmt::Blank,
            Stmt::While(Expr::binary("!=", name("rest"), Expr::word(0)), turn),
            Stmt::result(name("gone")),
        ];
        let mut parameters = vec![
            "struct run *run",
            "const struct burst *burst",
            "uint32_t from",
            "struct path *path",
            "uint64_t set",
            "uint16_t *ports",
        ];
        parameters.extend(self.parameters_known());
        let about = "Commits the packets of the set. Returns which of them are dropped.";
        let mut items = vec![Item::Comment(self.about_known(about))];
        items.extend(inline("uint64_t", "path_commit_some", &parameters, code));
        items
    }

    /// What is known of all packets that commit, and parameters for it.
    pub(super) fn known_names(&self) -> impl Iterator<Item = &'static str> {
        ["hits"].into_iter().chain((!self.actions.is_empty()).then_some("usual"))
    }

    pub(super) fn parameters_known(&self) -> impl Iterator<Item = &'static str> {
        ["bool hits"].into_iter().chain((!self.actions.is_empty()).then_some("bool usual"))
    }

    /// The values of these parameters.
    pub fn known(&self, hits: bool, usual: bool) -> impl Iterator<Item = Expr> {
        let word = |holds| name(if holds { "true" } else { "false" });
        [word(hits)].into_iter().chain((!self.actions.is_empty()).then(|| word(usual)))
    }

    pub(super) fn about_known(&self, about: &str) -> String {
        let usual = if self.actions.is_empty() { "" } else { " `usual`: all run the usual action." };
        format!("{about} `hits`: every lookup found an entry.{usual}")
    }

    /// Assumptions for the C compiler about the lookup at a place, one by one: of a conjunction, compilers forget what
    /// each part says. They stand where the action runs, since compilers forget them at a store to the packet.
    pub(super) fn known_at(&self, place: usize) -> Vec<Stmt> {
        if self.senders.is_empty() || !self.is_found(place) {
            return Vec::new();
        }
        let missed = ("hits", Expr::unary("!", self.found_at(place)));
        let runs_another = |action: &usize| {
            let record = self.unit.record_of(self.table(place), self.records(place), self.found_at(place));
            ("usual", Expr::binary("!=", Expr::call("record_action", [record]), Expr::word(*action as u32)))
        };
        let known = std::iter::once(missed).chain(self.actions.get(&place).map(runs_another));
        known.map(|(holds, contrary)| never(Expr::binary("&&", name(holds), contrary))).collect()
    }

    /// Whether all entries run the expected actions. Committing then has no dispatch, and reads only the part
    /// of a record that the action needs.
    pub fn runs_usual(&self) -> Vec<Item> {
        let runs_only = |(place, action): (&usize, &usize)| {
            let table = name(format!("&run->{}->table", self.unit.table_name(self.table(*place))));
            Expr::call("table_runs_only", [table, Expr::word(*action as u32)])
        };
        let Some(all) = self.actions.iter().map(runs_only).reduce(|left, right| Expr::binary("&&", left, right)) else {
            return Vec::new();
        };
        let about = "Whether all entries run the expected action of their table. Read after all lookups.";
        let mut items = vec![Item::Comment(about.to_string())];
        items.extend(inline("bool", "path_runs_expected", &["const struct run *run"], vec![Stmt::result(all)]));
        items
    }

    /// The packets of a group that missed. Others commit without a test and without counting; what only rare
    /// actions need is not read.
    pub fn missed(&self) -> Vec<Item> {
        let missed = self
            .plan
            .speculative
            .iter()
            .map(|place| self.missed_at(*place))
            .reduce(|left, right| Expr::binary("|", left, right));
        let code = vec![Stmt::result(missed.unwrap_or(Expr::long(0)))];
        let about =
            "The packets of a full group that missed in some lookup. For a smaller group, only the first bits count.";
        let mut items = vec![Item::Comment(about.to_string())];
        items.extend(inline("uint64_t", "path_missed", &["const struct path *path"], code));
        items
    }

    /// The same for lookups at one place.
    pub(super) fn missed_at(&self, place: usize) -> Expr {
        let found = name(format!("path->{}_found", self.title(place)));
        Expr::call("walk_zeros", [found, Expr::word(self.plan.group)])
    }

    /// Calls for packets that all hit: with expected actions, and without.
    pub fn as_usual(&self, run: &str, call: impl Fn(bool) -> Stmt) -> Vec<Stmt> {
        if self.actions.is_empty() {
            return vec![call(false)];
        }
        let usual = Expr::call("path_runs_expected", [name(run)]);
        vec![Stmt::If {
            condition: Expr::call("__builtin_expect", [usual, name("1")]),
            then: vec![call(true)],
            otherwise: vec![call(false)],
        }]
    }

    /// Committing full groups without side exits: all hits, and others. Where misses may commit out of order,
    /// they do so if at most half have missed; if most miss, the branch predictor expects misses, and hits
    /// would be the exception.
    pub fn turns_together(&self) -> Vec<(Option<Expr>, Vec<Stmt>)> {
        let missed = || Expr::call("path_missed", [name("path")]);
        let mut hit = Expr::binary("==", missed(), Expr::word(0));
        if self.unit.tracks_insertions() {
            let same = Expr::binary("==", name("run.insertions"), name("path->insertions"));
            hit = Expr::binary("&&", hit, same);
        }
        if let Some(scheduled) = self.scheduled.as_ref().filter(|scheduled| scheduled.may_exit()) {
            // A packet that exits at commit is sent at once: others of its group that came before must be gone.
            if !scheduled.expected_stays() {
                return Vec::new();
            }
            let usual = Expr::call("path_runs_expected", [name("&run")]);
            return vec![(Some(Expr::binary("&&", hit, usual)), vec![self.together(true, true)])];
        }
        let most = Expr::binary(">", popcount(missed()), Expr::word(self.plan.group / 2));
        let hits = self.as_usual("&run", |usual| self.together(true, usual));
        let mut turns = vec![(Some(hit), hits)];
        // A packet that looks up again leaves at once: where packets insert entries, other groups keep their order.
        if !self.unit.tracks_insertions() {
            turns.push((self.is_out_of_order.then_some(most), vec![self.together(false, false)]));
        }
        turns
    }

    fn together(&self, hits: bool, usual: bool) -> Stmt {
        let arguments = ["&run", "&taken", "from", "path"].map(name).into_iter();
        Stmt::call("path_commit_bulk", arguments.chain(self.known(hits, usual)))
    }

    /// The commit results of a group's packets, some of which are dropped already.
    pub fn gathering(&self, gone: Expr) -> Vec<Stmt> {
        let ports =
            Stmt::Declare { of: "uint16_t".to_string(), name: format!("ports[{}]", self.plan.group), value: None };
        vec![ports, Stmt::declare("uint64_t", "gone", gone)]
    }

    /// Commits packet `i` without sending it.
    pub(super) fn gather(&self) -> Vec<Stmt> {
        let known = self.known_names().map(name);
        let packet: &[&str] = match self.scheduled.is_some() {
            true => &["run", "burst", "from", "i", "path", "&ports[i]"],
            false => &["run", "&state", "path", "i", "&ports[i]"],
        };
        let finish = Expr::call("path_finish", packet.iter().map(|argument| name(*argument)).chain(known));
        let gone = vec![
            Stmt::Assign(name("gone"), "|=", Expr::binary("<<", name("1ull"), name("i"))),
            Stmt::set(name("ports[i]"), Expr::word(0)),
        ];
        let mut code = self.paid(Placement::WithCommit);
        if self.scheduled.is_none() {
            code.extend(self.packet_again());
            code.push(state_enter());
        }
        code.push(Stmt::when(Expr::call("__builtin_expect", [Expr::unary("!", finish), name("0")]), gone));
        code
    }
}

impl Sender {
    /// What sends at the end of a scheduled commit.
    pub(super) fn of(reason: Expr) -> Sender {
        Sender { call: Expr::word(0), drops: Vec::new(), port: Expr::word(0), is_wide: false, reason }
    }

    /// The function that says whether a packet is sent, and by which port, where it may be dropped.
    fn title(&self) -> String {
        let Expr::Call(node, _) = &self.call else { unreachable!("a node is called") };
        format!("{node}_port")
    }

    fn told(&self) -> Expr {
        Expr::call(self.title(), ["run", "state", "port"].map(name))
    }

    pub(super) fn items(&self) -> Vec<Item> {
        if self.drops.is_empty() {
            return Vec::new();
        }
        let mut body = self.drops.clone();
        if self.is_wide {
            body.push(beyond_ports(self));
        }
        body.push(Stmt::set(name("*port"), Expr::cast("uint16_t", self.port.clone())));
        body.push(Stmt::result(name("true")));
        let mut items = vec![Item::Comment("Whether a packet is sent, by `port`; else it has gone.".to_string())];
        items.extend(inline("bool", self.title(), &["struct run *run", "struct state *state", "uint16_t *port"], body));
        items
    }
}

/// Whether a statement does nothing but drop packets; lets it return that they have gone.
fn only_drops(statement: &mut Stmt) -> bool {
    let Stmt::If { then, otherwise, .. } = statement else { return false };
    let [before @ .., Stmt::Return(Some(to))] = then.as_mut_slice() else { return false };
    let drops = |it: &Stmt| matches!(it, Stmt::Do(Expr::Call(function, _)) if function == "walk_drop");
    if !otherwise.is_empty() || *to != name("ENDED") || !before.iter().all(drops) {
        return false;
    }
    *to = name("false");
    true
}

fn adds_one(statement: &Statement, headers: &[HeaderId]) -> bool {
    let (Statement::SetValid(header) | Statement::CopyHeader { to: header, .. }) = statement else { return false };
    headers.contains(header)
}

/// A group that is sent at once needs room for all its packets.
pub fn room(count: &Expr) -> Stmt {
    Stmt::call("walk_room", [name("run->worker"), name("&run->out"), count.clone()])
}

/// Sends a group in between packets of it that were `sent` already.
pub fn send_gathered(count: &Expr, sent: Expr, sender: &Sender) -> Stmt {
    let [worker, out, burst, from] = ["run->worker", "&run->out", "burst", "from"].map(name);
    let [ports, gone] = ["ports", "gone"].map(name);
    Stmt::call("walk_send_group", [worker, out, burst, from, count.clone(), ports, gone, sent, sender.reason.clone()])
}

/// A number of more than 16 bits is no port: the node itself drops the packet.
fn beyond_ports(sender: &Sender) -> Stmt {
    let beyond = Expr::binary(">", sender.port.clone(), name("UINT16_MAX"));
    let unlikely = Expr::call("__builtin_expect", [beyond, name("0")]);
    Stmt::when(unlikely, vec![Stmt::Do(sender.call.clone()), Stmt::result(name("false"))])
}

/// Lets `path_finish` return whether the packet is sent, and its port in `*port`.
pub fn tell_port(code: &mut Vec<Stmt>, senders: &[Sender]) {
    tell_ports_within(code, senders);
    match code.last() {
        Some(Stmt::Do(call)) if senders.iter().any(|sender| sender.call == *call) => {
            code.push(Stmt::Return(None));
            tell_ports_within(code, senders);
        }
        Some(Stmt::Return(_)) => {}
        _ => code.push(Stmt::result(name("false"))),
    }
}

fn tell_ports_within(code: &mut Vec<Stmt>, senders: &[Sender]) {
    for at in (0..code.len()).rev() {
        for body in code[at].bodies_mut() {
            tell_ports_within(body, senders);
        }
        if code[at] != Stmt::Return(None) {
            continue;
        }
        let before = at.checked_sub(1).map(|before| code[before].clone());
        let sender = senders.iter().find(|sender| before == Some(Stmt::Do(sender.call.clone())));
        match sender {
            Some(sender) if !sender.drops.is_empty() => {
                code[at] = Stmt::result(sender.told());
                code.remove(at - 1);
            }
            Some(sender) => {
                code[at - 1] = Stmt::set(name("*port"), Expr::cast("uint16_t", sender.port.clone()));
                code[at] = Stmt::result(name("true"));
                if sender.is_wide {
                    code.insert(at - 1, beyond_ports(sender));
                }
            }
            None => code[at] = Stmt::result(name("false")),
        }
    }
}
