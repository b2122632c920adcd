//! The architecture v1model: the nodes around a program's parser and controls, as BMv2's simple_switch has them.
//!
//! What a program asks for by `clone`, `resubmit` and the like is noted in hidden variables. The buffering managers test them at the end of
//! ingress, at the end of egress and at the output. There is a rule only for what the program can ask for.

mod clones;
mod metadata;

use std::collections::BTreeSet;

use super::graph::EndKind;
use super::{Builder, arithmetic};
use crate::{
    Binary, Bytes, Effect, Expression, HeaderId, Intrinsic, Keep, NodeId, Notes, Place, Reentry, Rule, Statement, Type,
    VariableId,
};
pub use metadata::{Metadata, NO_LIST, Request};

/// The blocks that a program's parts end in. They are made before the parts, which lead to them.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    pub begin: NodeId,
    /// The end of the parser, whether it accepts or rejects.
    pub parsed: NodeId,
    pub ingress: NodeId,
    pub egress: NodeId,
    /// The end of the deparser.
    pub output: NodeId,
}

impl Ends {
    pub fn new(builder: &mut Builder) -> Ends {
        let [begin, parsed, ingress, egress, output] =
            ["v1model.begin", "v1model.parsed", "v1model.ingress_end", "v1model.egress_end", "v1model.output"]
                .map(|name| builder.plain_block(name));
        Ends { begin, parsed, ingress, egress, output }
    }
}

/// A program's parts, lowered: where each begins, and what it uses. Verification of checksums leads to ingress, their update to the deparser.
#[derive(Clone, Debug)]
pub struct Parts {
    pub parser: NodeId,
    /// Verification of checksums.
    pub verify: NodeId,
    /// An empty block in front of egress.
    pub egress_begin: NodeId,
    pub egress: NodeId,
    /// Update of checksums.
    pub compute: NodeId,
    /// Variables of the metadata that the parser uses.
    pub parser_uses: Vec<VariableId>,
    /// Headers that a clone does not have: those of the metadata, and those that egress declares.
    pub forgotten: BTreeSet<HeaderId>,
    /// Whether egress may drop a packet.
    pub egress_drops: bool,
    /// Whether egress may read `egress_spec`.
    pub egress_asks: bool,
}

/// Connects the parts of a program, and makes it begin where packets arrive.
pub fn connect(builder: &mut Builder, metadata: Metadata, ends: &Ends, parts: &Parts) {
    let mut v1model = V1model { builder, metadata, parts };
    v1model.output(ends.output);
    v1model.egress_begin();
    v1model.egress_end(ends.egress);
    v1model.ingress_end(ends.ingress);
    v1model.after_parser(ends.parsed);
    v1model.begin(ends.begin);
    builder.program.entry = Some(ends.begin);
}

struct V1model<'b> {
    builder: &'b mut Builder,
    metadata: Metadata,
    parts: &'b Parts,
}

impl V1model<'_> {
    /// Metadata of a packet that has just come in.
    fn begin(&mut self, block: NodeId) {
        if self.is_used("ingress_port") {
            self.set_standard(block, "ingress_port", Expression::Intrinsic(Intrinsic::IngressPort));
        }
        if self.is_used("packet_length") {
            self.set_standard(block, "packet_length", Expression::Intrinsic(Intrinsic::PacketLength));
        }
        if self.is_used("ingress_global_timestamp") {
            let now = microseconds(self.metadata.standard_width("ingress_global_timestamp"));
            self.set_standard(block, "ingress_global_timestamp", now);
        }
        self.builder.graph.goto(block, self.parts.parser);
    }

    fn ingress_end(&mut self, block: NodeId) {
        let mut rules = Vec::new();
        for list in self.metadata.lists_of(Request::CloneIngress) {
            let copy = self.clone_of_ingress(list);
            rules.push(self.clone_rule(Request::CloneIngress, list, copy));
        }
        for list in self.metadata.lists_of(Request::Resubmit) {
            let set = self.reentry_metadata(6);
            let copy = Reentry { bytes: Bytes::Original, keep: self.kept(list), set, to: self.parts.parser };
            let condition = self.request_condition(Request::Resubmit, list);
            rules.push(Rule { condition, effect: Effect::Resubmit { copy } });
        }
        rules.extend(self.multicast());
        let mut set = Vec::new();
        let port = self.standard_place("egress_port");
        if let (Some(port), Some(spec)) = (port, self.used_standard("egress_spec")) {
            let condition = self.metadata.is_drop_port(Expression::Variable(spec));
            rules.push(Rule { condition, effect: Effect::Drop { reason: "ingress drop".to_string() } });
            set.push((port, self.as_standard("egress_port", Expression::Variable(spec))));
        }
        self.set_if_used(&mut set, "instance_type", Expression::constant(0u32, 32));
        let effect = Effect::Unicast { set, to: self.parts.egress_begin };
        rules.push(Rule { condition: Expression::Bool(true), effect });
        let kind = EndKind::Buffer { rules, otherwise: None };
        self.builder.graph.end(block, "v1model.traffic_manager", Notes::default(), kind);
    }

    fn multicast(&mut self) -> Option<Rule> {
        if !self.metadata.uses_multicast {
            return None;
        }
        let group = Expression::place(self.standard_place("mcast_grp")?);
        let copy = Reentry {
            bytes: Bytes::Current,
            keep: Keep::All,
            set: self.replica_metadata(),
            to: self.parts.egress_begin,
        };
        let width = self.metadata.standard_width("mcast_grp");
        let condition = arithmetic::binary(Binary::NotEqual, group.clone(), Expression::constant(0u32, width));
        let group = arithmetic::resize(group, width, 32, false);
        Some(Rule { condition, effect: Effect::Replicate { group, copy } })
    }

    /// At the beginning of egress the request to drop is taken back, and the queue is behind the packet.
    fn egress_begin(&mut self) {
        let block = self.parts.egress_begin;
        self.forget_headers(block);
        if self.parts.egress_asks {
            self.set_standard(block, "egress_spec", Expression::constant(0u32, 32));
        }
        for name in ["enq_timestamp", "egress_global_timestamp"] {
            if self.is_used(name) {
                let now = microseconds(self.metadata.standard_width(name));
                self.set_standard(block, name, now);
            }
        }
        self.builder.graph.goto(block, self.parts.egress);
    }

    fn egress_end(&mut self, block: NodeId) {
        let mut rules = Vec::new();
        for list in self.metadata.lists_of(Request::CloneEgress) {
            let set = self.copy_metadata(2);
            let copy = Reentry { bytes: Bytes::Current, keep: self.kept(list), set, to: self.parts.egress_begin };
            rules.push(self.clone_rule(Request::CloneEgress, list, copy));
        }
        if self.parts.egress_drops
            && let Some(spec) = self.standard_place("egress_spec")
        {
            let condition = self.metadata.is_drop_port(Expression::place(spec));
            rules.push(Rule { condition, effect: Effect::Drop { reason: "egress drop".to_string() } });
        }
        if rules.is_empty() {
            self.builder.graph.goto(block, self.parts.compute);
            return;
        }
        let kind = EndKind::Buffer { rules, otherwise: Some(self.parts.compute) };
        self.builder.graph.end(block, "v1model.egress_buffer", Notes::default(), kind);
    }

    fn output(&mut self, block: NodeId) {
        if self.metadata.hidden.contains_key("truncate") {
            let asked = self.hidden("truncate", Type::Bool);
            let length = self.hidden("truncate_length", Type::Bits(32));
            self.truncate_if(block, Expression::Variable(asked), Expression::Variable(length));
        }
        if [Request::CloneIngress, Request::CloneEgress]
            .iter()
            .any(|request| self.metadata.requests.contains_key(request))
        {
            let limit = Expression::Variable(self.hidden("mirror_limit", Type::Bits(32)));
            let limited = arithmetic::binary(Binary::NotEqual, limit.clone(), Expression::constant(0u32, 32));
            self.truncate_if(block, limited, limit);
        }
        let mut rules = Vec::new();
        for list in self.metadata.lists_of(Request::Recirculate) {
            let set = self.reentry_metadata(4);
            let copy = Reentry { bytes: Bytes::Deparsed, keep: self.kept(list), set, to: self.parts.parser };
            let condition = self.request_condition(Request::Recirculate, list);
            rules.push(Rule { condition, effect: Effect::Recirculate { copy } });
        }
        if let Some(port) = self.standard_place("egress_port") {
            let width = self.metadata.standard_width("egress_port");
            let port = arithmetic::resize(Expression::place(port), width, 32, false);
            rules.push(Rule { condition: Expression::Bool(true), effect: Effect::Send { port } });
        }
        let kind = EndKind::Buffer { rules, otherwise: None };
        self.builder.graph.end(block, "v1model.send", Notes::default(), kind);
    }

    fn truncate_if(&mut self, block: NodeId, condition: Expression, bytes: Expression) {
        let then = vec![Statement::Truncate(bytes)];
        self.builder.emit(block, Statement::If { condition, then, otherwise: Vec::new() });
    }

    /// Whether a request was made, with this field list.
    fn request_condition(&mut self, request: Request, list: u32) -> Expression {
        let asked = Expression::Variable(self.hidden(request.name(), Type::Bool));
        if self.metadata.lists_of(request).len() < 2 {
            return asked;
        }
        let number = Expression::Variable(self.hidden(&request.list_name(), Type::Bits(32)));
        arithmetic::and(asked, arithmetic::is_number(number, u64::from(list), 32))
    }

    fn clone_rule(&mut self, request: Request, list: u32, copy: Reentry) -> Rule {
        let condition = self.request_condition(request, list);
        let session = Expression::Variable(self.hidden(&request.session_name(), Type::Bits(32)));
        Rule { condition, effect: Effect::Clone { session, copy } }
    }

    /// The variables of a field list that the program uses.
    fn kept(&self, list: u32) -> Keep {
        Keep::Only(self.metadata.kept(&self.builder.slots, list))
    }

    fn copy_metadata(&mut self, instance_type: u32) -> Vec<(Place, Expression)> {
        let mut set = Vec::new();
        if let Some(port) = self.standard_place("egress_port") {
            set.push((port, self.as_standard("egress_port", Expression::Intrinsic(Intrinsic::CopyPort))));
        }
        if instance_type == 1 {
            self.standard_place("instance_type");
        }
        self.set_if_used(&mut set, "instance_type", Expression::constant(instance_type, 32));
        self.set_if_used(&mut set, "egress_rid", Expression::Intrinsic(Intrinsic::CopyInstance));
        self.set_if_used(&mut set, "packet_length", Expression::Intrinsic(Intrinsic::PacketLength));
        let limit = self.hidden("mirror_limit", Type::Bits(32));
        set.push((Place::Variable(limit), Expression::Intrinsic(Intrinsic::CopyTruncation)));
        set
    }

    fn reentry_metadata(&mut self, instance_type: u32) -> Vec<(Place, Expression)> {
        let mut set = Vec::new();
        self.set_if_used(&mut set, "instance_type", Expression::constant(instance_type, 32));
        self.set_if_used(&mut set, "packet_length", Expression::Intrinsic(Intrinsic::PacketLength));
        set
    }

    fn replica_metadata(&mut self) -> Vec<(Place, Expression)> {
        let mut set = Vec::new();
        if let Some(port) = self.standard_place("egress_port") {
            set.push((port, self.as_standard("egress_port", Expression::Intrinsic(Intrinsic::CopyPort))));
        }
        self.set_if_used(&mut set, "instance_type", Expression::constant(5u32, 32));
        self.set_if_used(&mut set, "egress_rid", Expression::Intrinsic(Intrinsic::CopyInstance));
        set
    }
}

/// The clock as v1model's timestamps have it.
fn microseconds(width: u32) -> Expression {
    let clock = Expression::Intrinsic(Intrinsic::Clock);
    let micros = arithmetic::binary(Binary::Divide, clock, Expression::constant(1000u32, 64));
    arithmetic::resize(micros, 64, width, false)
}
