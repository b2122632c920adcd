//! Bulk send: where the commit phase is scheduled, a whole group is sent at once, with addresses and lengths copied from
//! the burst. Committing a packet yields its port only, or that it is dropped.

use super::commit::popcount;
use super::{HotPath, each, inline, name, noinline};
use crate::body::drop_reason;
use crate::c::{Expr, Item, Stmt};

impl HotPath<'_> {
    /// Whether groups are sent at once.
    pub(super) fn sends_in_bulk(&self) -> bool {
        !self.commits_by_nodes()
    }

    /// Why a packet is dropped whose port there is not.
    pub(super) fn no_port(&self) -> Expr {
        let reason = "no such port";
        drop_reason(reason, self.unit.drop_number(reason))
    }

    /// Commits a full group without side exits.
    pub fn commit_bulk(&self) -> Vec<Item> {
        if !self.sends_in_bulk() {
            return Vec::new();
        }
        let group = Expr::word(self.plan.group);
        let may_exit = self.scheduled.may_exit();
        let mut code = self.gathering(Expr::long(0), may_exit);
        code.push(Stmt::Blank);
        code.push(room(&group));
        code.push(each("i", group.clone(), self.gather()));
        code.push(match may_exit {
            true => self.rest_sent(&group),
            false => send_gathered(&group, Expr::long(0), self.no_port()),
        });
        code.extend(self.count_look_ups(&group));
        let mut parameters = vec!["struct run *run", "const struct burst *burst", "uint32_t from", "struct path *path"];
        parameters.extend(self.parameters_known());
        let about = "The same for a full group without side exits, which is sent at once.";
        let mut items = vec![Item::Comment(self.about_known(about))];
        items.extend(inline("void", "path_commit_bulk", &parameters, code));
        items
    }

    /// Sends the packets behind the last one that took a side exit.
    pub(super) fn rest_sent(&self, count: &Expr) -> Stmt {
        let [run, burst] = [name("run"), name("burst")];
        Stmt::call("path_send", [run, burst, name("from"), name("first"), count.clone(), name("ports"), name("gone")])
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
        ["hits"].into_iter().chain((!self.actions.is_empty()).then_some("expected"))
    }

    pub(super) fn parameters_known(&self) -> impl Iterator<Item = &'static str> {
        ["bool hits"].into_iter().chain((!self.actions.is_empty()).then_some("bool expected"))
    }

    /// The values of these parameters.
    pub fn known(&self, hits: bool, expected: bool) -> impl Iterator<Item = Expr> {
        let word = |holds| name(if holds { "true" } else { "false" });
        [word(hits)].into_iter().chain((!self.actions.is_empty()).then(|| word(expected)))
    }

    pub(super) fn about_known(&self, about: &str) -> String {
        let expected = if self.actions.is_empty() { "" } else { " `expected`: all run the expected action." };
        format!("{about} `hits`: every lookup found an entry.{expected}")
    }

    /// Whether all entries run the expected actions. Committing then has no dispatch, and reads only the part
    /// of a record that the action needs.
    pub fn runs_expected(&self) -> Vec<Item> {
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
    pub fn as_expected(&self, run: &str, call: impl Fn(bool) -> Stmt) -> Vec<Stmt> {
        if self.actions.is_empty() {
            return vec![call(false)];
        }
        let expected = Expr::call("path_runs_expected", [name(run)]);
        vec![Stmt::If {
            condition: Expr::call("__builtin_expect", [expected, name("1")]),
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
        let most = Expr::binary(">", popcount(missed()), Expr::word(self.plan.group / 2));
        let hits = self.as_expected("&run", |expected| self.together(true, expected));
        vec![(Some(hit), hits), (self.is_out_of_order.then_some(most), vec![self.together(false, false)])]
    }

    fn together(&self, hits: bool, expected: bool) -> Stmt {
        let arguments = ["&run", "&taken", "from", "path"].map(name).into_iter();
        Stmt::call("path_commit_bulk", arguments.chain(self.known(hits, expected)))
    }

    /// The commit results of a group's packets, some of which are dropped already.
    /// With `first`, that of the packets that are not sent.
    pub fn gathering(&self, gone: Expr, may_exit: bool) -> Vec<Stmt> {
        let ports =
            Stmt::Declare { of: "uint16_t".to_string(), name: format!("ports[{}]", self.plan.group), value: None };
        let mut code = vec![ports, Stmt::declare("uint64_t", "gone", gone)];
        if may_exit {
            code.push(Stmt::declare("uint32_t", "first", Expr::word(0)));
        }
        code
    }

    /// `path_send` and `path_leave`, where packets may take a side exit between others that are sent at once.
    pub(super) fn between_items(&self) -> Vec<Item> {
        if !self.sends_in_bulk() || self.is_out_of_order {
            return Vec::new();
        }
        let behind = |of: &str| Expr::binary("+", name(of), name("first"));
        let count = Expr::binary("-", name("end"), name("first"));
        let gone = Expr::binary(">>", name("gone"), name("first"));
        let of_run =
            [name("run->worker"), name("&run->out"), name("burst"), behind("from"), count, behind("ports"), gone];
        let send = Stmt::call("walk_send_group", of_run.into_iter().chain([Expr::long(0), self.no_port()]));
        let some = Expr::binary("<", name("first"), name("end"));
        let body = vec![Stmt::when(some, vec![send])];
        let parameters = |end: &'static str| {
            [
                "struct run *run",
                "const struct burst *burst",
                "uint32_t from",
                "uint32_t first",
                end,
                "const uint16_t *ports",
                "uint64_t gone",
            ]
        };
        let mut items = vec![Item::Comment("Sends the packets of a group from `first` on.".to_string())];
        items.extend(inline("void", "path_send", &parameters("uint32_t end"), body));
        let entry = name(self.unit.place_name(self.plan.nodes[0]));
        let before = ["run", "burst", "from", "first", "i", "ports", "gone"].map(name);
        let body = vec![
            Stmt::Declare { of: "struct state".to_string(), name: "state".to_string(), value: None },
            Stmt::Blank,
            Stmt::call("path_send", before),
            Stmt::call("path_begin", ["run", "&state", "burst", "from + i"].map(name)),
            Stmt::call("path_exit", [name("run"), name("&state"), entry]),
            room(&Expr::word(self.plan.group)),
        ];
        let about = "A side exit: packet `i` runs the plain program, behind those of its group that came before.";
        items.push(Item::Comment(about.to_string()));
        items.extend(noinline("void", "path_leave", &parameters("uint32_t i"), body));
        items
    }

    /// Packet `i` takes a side exit, behind all that came before it.
    pub(super) fn leave_between(&self) -> Vec<Stmt> {
        let leave = ["run", "burst", "from", "first", "i", "ports", "gone"].map(name);
        vec![Stmt::call("path_leave", leave), Stmt::set(name("first"), Expr::binary("+", name("i"), Expr::word(1)))]
    }
}

/// A group that is sent at once needs room for all its packets.
pub fn room(count: &Expr) -> Stmt {
    Stmt::call("walk_room", [name("run->worker"), name("&run->out"), count.clone()])
}

/// Sends a group in between packets of it that were `sent` already.
pub fn send_gathered(count: &Expr, sent: Expr, reason: Expr) -> Stmt {
    let [worker, out, burst, from] = ["run->worker", "&run->out", "burst", "from"].map(name);
    let [ports, gone] = ["ports", "gone"].map(name);
    Stmt::call("walk_send_group", [worker, out, burst, from, count.clone(), ports, gone, sent, reason])
}
