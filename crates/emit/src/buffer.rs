//! The buffering manager: rules in order, each a condition and an effect.
//!
//! Copies of a multicast group run to their end one after the other, by `walk_copy`; references.rs finds those with the bytes of the original. Packets that
//! enter again go to the worker's queue and run after the burst.

use crate::body::{Body, Presence};
use crate::c::{Expr, Item, Stmt};
use crate::references::Sharing;
use hlir::{Bytes, Effect, Expression, Keep, NodeId, Place, Reentry, Rule};

/// The function that takes a copy of a multicast group to its end.
const WALK: &str = "walk_copy";
/// The one that keeps a copy until the end of the burst.
const ENQUEUE: &str = "run_enqueue";

impl Body<'_, '_> {
    /// A whole buffering manager.
    pub fn buffer(&mut self, rules: &[Rule], otherwise: Option<NodeId>) {
        for rule in rules {
            if rule.condition == Expression::Bool(false) {
                continue;
            }
            let always = rule.condition == Expression::Bool(true);
            let test = self.value(&rule.condition);
            let before = self.present.clone();
            self.assume(&rule.condition, true);
            let code = self.nested(|body| body.effect(&rule.effect));
            self.present = before;
            if always {
                self.out.extend(code);
                if rule.effect.is_last() {
                    return;
                }
            } else {
                self.push(Stmt::when(test, code));
            }
        }
        match otherwise {
            Some(node) => self.go(node),
            // No rule took the packet and there is nowhere to go: it is gone, uncounted.
            None => self.release(),
        }
    }

    fn effect(&mut self, effect: &Effect) {
        match effect {
            Effect::Drop { reason } => self.drop_packet(reason),
            Effect::Send { port } => {
                let port = self.value(port);
                let reason = crate::body::drop_reason("no such port", self.unit.drop_number("no such port"));
                self.push(Stmt::call(
                    "walk_send",
                    [Expr::name("run->worker"), Expr::name("&run->out"), Expr::name("state->packet"), port, reason],
                ));
                self.end();
            }
            Effect::Unicast { set, to } => {
                set.iter().for_each(|(place, value)| self.assign(*place, value));
                self.go(*to);
            }
            Effect::Replicate { group, copy } => {
                let group = self.value(group);
                self.replicate(group, copy, effect);
            }
            Effect::Clone { session, copy } => {
                let session = self.value(session);
                self.mirror(session, copy, effect);
            }
            Effect::Resubmit { copy } | Effect::Recirculate { copy } => {
                self.copy(copy, ENQUEUE, &[], None);
                self.release();
            }
            Effect::Punt { resume, .. } => self.punt(*resume),
        }
    }

    /// Hands the packet and all it carries to the control plane, which copies both.
    fn punt(&mut self, resume: NodeId) {
        let node = self.unit.position(resume);
        let state = |name: &str| Stmt::declare("const struct state", name, Expr::name("*state"));
        let mut code = vec![
            state("whole"),
            Stmt::Declare { of: "struct saved".to_string(), name: "saved".to_string(), value: None },
        ];
        code.push(Stmt::Blank);
        code.push(Stmt::call("state_save", [Expr::name("&whole"), Expr::name("&saved")]));
        let length = Expr::cast("uint16_t", Expr::call("packet_length", [Expr::name("&whole.packet")]));
        let handle = Expr::call("packet_store", [Expr::name("&whole.packet")]);
        let worker = Expr::name("run->worker");
        let arguments =
            [worker, handle, length, Expr::name("&saved"), Expr::name("sizeof(saved)"), Expr::word(node as u32)];
        code.push(Stmt::call("run->worker->shared->punt", arguments));
        self.push(Stmt::Block(code));
        let present = self.present.clone();
        self.exits.push((resume, present));
        self.count_edge(resume);
        self.release();
    }

    /// A loop over the members of the group that `chosen` names, as far as the budget goes.
    fn members(
        &mut self,
        (groups, chosen): (&str, Expr),
        effect: &Effect,
        copy: &Reentry,
        consumer: &str,
    ) -> Vec<Stmt> {
        let sharing = self.unit.sharing(self.node, effect);
        let table = Expr::Name(format!("run->worker->shared->{groups}"));
        let mut code =
            vec![Stmt::declare("const struct group *const", "group", Expr::call("group_find", [table, chosen]))];
        let body = self.nested(|body| body.copy(copy, consumer, &["member", "truncation"], sharing.as_ref()));
        let taken = Expr::call("budget_take", ["run", "state", "group->count"].map(Expr::name));
        code.push(Stmt::declare("const uint32_t", "count", taken));
        code.push(Stmt::Blank);
        let to = Expr::name("count");
        code.push(Stmt::Count { name: "i".to_string(), from: Expr::word(0), to, step: Expr::word(1), body });
        code
    }

    fn replicate(&mut self, chosen: Expr, copy: &Reentry, effect: &Effect) {
        let mut code = self.members(("groups", chosen), effect, copy, WALK);
        let missing = Expr::binary("==", Expr::name("group"), Expr::name("NULL"));
        let empty = Expr::binary("==", Expr::name("group->count"), Expr::word(0));
        let failed = self.nested(|body| body.drop_packet("empty multicast group"));
        code.insert(1, Stmt::when(Expr::binary("||", missing, empty), failed));
        self.push(Stmt::Block(code));
        self.release();
    }

    fn mirror(&mut self, chosen: Expr, copy: &Reentry, effect: &Effect) {
        let mut code = self.members(("sessions", chosen), effect, copy, ENQUEUE);
        let repeat = code.split_off(1);
        code.push(Stmt::when(Expr::binary("!=", Expr::name("group"), Expr::name("NULL")), repeat));
        self.push(Stmt::Block(code));
    }

    /// Makes a copy of the packet, sets what is to be set in it, and hands it to `consumer`: by a function of its own, since copies are rare.
    fn copy(&mut self, reentry: &Reentry, consumer: &str, member: &[&str], sharing: Option<&Sharing>) {
        let made = self.made_copy(reentry, consumer, sharing);
        if self.unit.facts.random {
            self.push(Stmt::Assign(Expr::name("state->copies"), "+=", Expr::word(1)));
        }
        self.temporaries += 1;
        let name = format!("{}_copy{}", self.unit.node_name(self.node), self.temporaries);
        let outer = self.present.clone();
        if reentry.bytes != Bytes::Current {
            self.present.fill(Presence::Absent);
        }
        let code = self.nested(|body| {
            body.push(Stmt::declare("struct copy *const", "copy", made));
            body.push(Stmt::Declare { of: "struct state *".to_string(), name: "state".to_string(), value: None });
            body.push(Stmt::Blank);
            let none = Expr::binary("==", Expr::name("copy"), Expr::name("NULL"));
            let reason = "no memory for a copy";
            let reason = crate::body::drop_reason(reason, body.unit.drop_number(reason));
            let drops = Expr::unary("&", Expr::index(Expr::name("run->worker->drops"), reason));
            body.push(Stmt::when(none, vec![Stmt::call("counter_increment", [drops]), Stmt::Return(None)]));
            let head = body.out.len();
            body.keep(&reentry.keep);
            for (place, value) in &reentry.set {
                body.assign(*place, value);
            }
            match body.out[head..].iter().any(|statement| statement.mentions("state")) {
                true => body.out.insert(head, Stmt::set(Expr::name("state"), Expr::name("&copy->state"))),
                false => {
                    body.out.retain(|statement| !matches!(statement, Stmt::Declare { name, .. } if name == "state"))
                }
            }
            let present = body.present.clone();
            body.exits.push((reentry.to, present));
            body.count_edge(reentry.to);
            let place = Expr::name(body.unit.place_name(reentry.to));
            body.push(Stmt::call(consumer, [Expr::name("run"), Expr::name("copy"), place]));
        });
        self.present = outer;
        let mut parameters = vec!["struct run *run".to_string(), "struct state whole".to_string()];
        let mut arguments = vec![Expr::name("run"), Expr::name("*state")];
        for (name, of) in [("member", "const struct member *"), ("truncation", "uint32_t ")] {
            if member.contains(&name) && code.iter().any(|statement| statement.mentions(name)) {
                parameters.push(format!("{of}{name}"));
                arguments.push(match name {
                    "member" => Expr::unary("&", Expr::index(Expr::name("group->members"), Expr::name("i"))),
                    _ => Expr::name("group->truncation"),
                });
            }
        }
        let of = "static __attribute__((noinline)) void".to_string();
        let code = crate::node::without_unused(code);
        self.helpers.push(Item::Function { of, name: name.clone(), parameters, body: code });
        self.push(Stmt::call(name, arguments));
    }

    /// The call that makes a copy, or a reference where it may be one.
    fn made_copy(&self, reentry: &Reentry, consumer: &str, sharing: Option<&Sharing>) -> Expr {
        let made = |function: &str| Expr::call(function, ["run", "&whole"].map(Expr::name));
        let (own, shared) = match self.unit.bytes_of(self.node, reentry) {
            Bytes::Original => ("copy_original", "copy_original"),
            Bytes::Deparsed => ("copy_deparsed", "copy_shared"),
            Bytes::Current => ("copy_current", "copy_reference"),
        };
        let Some(Sharing { limits }) = sharing else { return made(own) };
        let whole = limits.iter().map(|limit| Expr::Name(format!("whole.{}", self.unit.variable_name(*limit))));
        let given = (consumer == ENQUEUE && !limits.is_empty()).then(|| Expr::name("truncation"));
        let zero = whole.chain(given).map(|limit| Expr::binary("==", limit, Expr::word(0)));
        match zero.reduce(|all, one| Expr::binary("&&", all, one)) {
            Some(uncut) => Expr::conditional(uncut, made(shared), made(own)),
            None => made(shared),
        }
    }

    /// Takes variables back to zero that a copy does not keep.
    fn keep(&mut self, keep: &Keep) {
        let Keep::Only(kept) = keep else { return };
        for (id, variable) in self.program().variables.iter() {
            if kept.contains(&id) || !self.unit.facts.variables.contains(&crate::unit::number(id)) {
                continue;
            }
            let width = variable.kind.width();
            if width > 64 {
                let array = self.wide_variable(id);
                self.push(Stmt::call("wide_zero", [array, Expr::word(width)]));
                continue;
            }
            let zero = if variable.kind == hlir::Type::Bool { Expr::name("false") } else { Expr::word(0) };
            let place = self.place(Place::Variable(id));
            self.push(Stmt::set(place, zero));
        }
    }
}
