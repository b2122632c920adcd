//! The architecture v1model: the nodes around the program's own parser and controls, as BMv2's simple_switch has them.
//!
//! What a program asks for by calling `clone`, `resubmit` and the like is noted in hidden variables, which the buffering managers test at the
//! end of ingress, at the end of egress and at the output. There is a rule only for what a program can ask for.

use std::collections::{BTreeSet, HashMap};

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;
use hlir::{
    Binary, Bytes, Effect, Expression as Hlir, HeaderId, Intrinsic, Keep, NodeId, Notes, Place, Reentry, Rule,
    VariableId,
};

use super::Architecture;
use crate::ast::walk::declaration_expressions;
use crate::ast::{DeclarationId, Expression, ExpressionKind};
use crate::check::Callee;
use crate::lower::effects::Touch;
use crate::lower::graph::{EndKind, Role};
use crate::lower::objects::{Object, ObjectId, Package};
use crate::lower::scope::Binding;
use crate::lower::storage::{Leaf, Slot, Storage};
use crate::lower::value::{Target, Value};
use crate::lower::{Lowered, Lowering, arithmetic};
use crate::types::{Type, substitute};

/// What the lowering of an architecture remembers.
#[derive(Debug, Default)]
pub struct State {
    pub kind: Architecture,
    /// The fields of the standard metadata, by name.
    pub standard: HashMap<String, Storage>,
    /// Variables of the architecture's own.
    pub hidden: HashMap<String, Storage>,
    /// Metadata that each field list keeps.
    pub lists: HashMap<u32, Vec<Slot>>,
    /// Field lists that each request was made with: `clone_i2e`, `clone_e2e`, `resubmit`, `recirculate`.
    pub requests: HashMap<&'static str, Vec<u32>>,
    /// All user and standard metadata.
    pub metadata: Vec<Slot>,
    pub digests: HashMap<String, hlir::DigestId>,
    pub uses_multicast: bool,
    /// What a PNA program asks for: there is a rule only for that.
    pub verdicts: BTreeSet<u64>,
    /// Mirror slots that a PNA program names.
    pub mirror_slots: BTreeSet<u64>,
    /// The data of each checksum that is hashed as a whole, by the name of the instance.
    pub strings: HashMap<String, Vec<HeaderId>>,
}

/// Nodes that edges lead to before they are filled.
struct Nodes {
    parser: NodeId,
    egress: NodeId,
}

impl<'a> Lowering<'a> {
    /// A variable of the architecture's own.
    pub fn hidden(&mut self, name: &str, of_type: hlir::Type) -> Storage {
        if let Some(known) = self.architecture.hidden.get(name) {
            return known.clone();
        }
        let slot = self.slot(&format!("{}.{name}", self.program.architecture), of_type, Notes::default());
        let storage = Storage::Scalar { leaf: Leaf::Slot(slot), of_type };
        self.architecture.hidden.insert(name.to_string(), storage.clone());
        storage
    }

    fn is_used(&self, name: &str) -> bool {
        self.standard_variable(name).is_some()
    }

    /// The variable of a field of the standard metadata, if anything uses it.
    pub(super) fn standard_variable(&self, name: &str) -> Option<VariableId> {
        match self.architecture.standard.get(name) {
            Some(Storage::Scalar { leaf: Leaf::Slot(slot), .. }) => self.slots.variable(*slot),
            _ => None,
        }
    }

    pub fn standard_place(&mut self, name: &str) -> Option<Place> {
        match self.architecture.standard.get(name).cloned() {
            Some(Storage::Scalar { leaf, .. }) => Some(self.place(leaf)),
            _ => None,
        }
    }

    fn set_standard(&mut self, name: &str, value: Hlir) {
        if let Some(storage) = self.architecture.standard.get(name).cloned() {
            let value = self.as_standard(name, value);
            self.assign(&storage, Value::Scalar(value));
        }
    }

    /// How wide a field of the standard metadata is in the file that is included.
    pub fn standard_width(&self, name: &str) -> u32 {
        match self.architecture.standard.get(name) {
            Some(Storage::Scalar { of_type, .. }) => of_type.width(),
            _ => 32,
        }
    }

    /// A number as wide as a field of the standard metadata is.
    pub fn as_standard(&self, name: &str, value: Hlir) -> Hlir {
        let width = self.width(&value);
        arithmetic::resize(value, width, self.standard_width(name), false)
    }

    /// The port that means dropping: the largest number that `egress_spec` holds, 511 of nine bits.
    pub fn drop_port(&self) -> Hlir {
        let width = self.standard_width("egress_spec");
        Hlir::constant(arithmetic::ones(width), width)
    }

    fn is_drop_port(&self, spec: Hlir) -> Hlir {
        arithmetic::equal(spec, self.drop_port())
    }

    pub fn lower_v1model(&mut self, package: &Package, span: Span) -> Lowered<()> {
        let [parser, verify, ingress, egress, compute, deparser] = &self.blocks_of(package, span)?[..] else {
            return Err(self.internal(span, "a V1Switch without its six parts"));
        };
        let (parser, verify, ingress, egress, compute, deparser) =
            (*parser, *verify, *ingress, *egress, *compute, *deparser);
        self.architecture.uses_multicast = self.mentions_field("mcast_grp");
        let (headers, metadata, standard) = self.v1model_storage(ingress)?;
        let all = |storages: &[&Storage]| -> Vec<Binding> {
            storages.iter().map(|storage| Binding::Target(Target::Storage((*storage).clone()))).collect()
        };
        let packet = Binding::Value(Value::Object(self.objects.add(Object::Packet)));
        let with_packet =
            |bindings: Vec<Binding>| -> Vec<Binding> { std::iter::once(packet.clone()).chain(bindings).collect() };

        let [begin, parsed, ingress_end, egress_end, output] =
            ["v1model.begin", "v1model.parsed", "v1model.ingress_end", "v1model.egress_end", "v1model.output"]
                .map(|name| self.plain_block(name));
        let [to_ingress, to_deparser] = [self.bridge(), self.bridge()];

        let error = self.standard_place("parser_error");
        let Some(Place::Variable(error)) = error else {
            return Err(self.internal(span, "a v1model without parser_error"));
        };
        let bindings = with_packet(all(&[&headers, &metadata, &standard]));
        let parser = self.top_parser(parser, bindings, (parsed, parsed), error)?;
        let parser_uses = self.used_metadata();

        let after_parser = self.top_control(verify, all(&[&headers, &metadata]), to_ingress, Role::Plain)?;
        let ingress = self.top_control(ingress, all(&[&headers, &metadata, &standard]), ingress_end, Role::Plain)?;
        self.graph.goto(to_ingress, ingress);
        let egress_control = egress;
        let egress_name = self.block_name(egress);
        let egress_begin = self.plain_block(&format!("{egress_name}.begin"));
        let egress_written = self.position();
        let egress = self.top_control(egress, all(&[&headers, &metadata, &standard]), egress_end, Role::Plain)?;
        let mut forgotten = self.written_headers(egress_written);
        forgotten.extend(metadata.headers());
        forgotten.retain(|header| !headers.headers().contains(header));
        let egress_drops = self.wrote_standard(egress_written, "egress_spec");
        let egress_asks = egress_drops || self.control_mentions(egress_control, "egress_spec");
        let compute = self.top_control(compute, all(&[&headers, &metadata]), to_deparser, Role::Plain)?;
        let deparser = self.top_control(deparser, with_packet(all(&[&headers])), output, Role::Deparse)?;
        self.graph.goto(to_deparser, deparser);

        let nodes = Nodes { parser, egress: egress_begin };
        self.in_path("v1model", |lowering| {
            lowering.output(output, &nodes);
            lowering.egress_begin(egress_begin, egress, egress_asks, &forgotten);
            lowering.egress_end(egress_end, compute, egress_drops, &nodes);
            lowering.ingress_end(ingress_end, &nodes, &parser_uses);
            lowering.after_parser(parsed, after_parser, &parser_uses, nodes.egress);
            lowering.begin(begin, parser);
        });
        self.program.entry = Some(begin);
        Ok(())
    }

    /// Whether a call gets the standard metadata as one of its arguments.
    fn passes_metadata(&self, call: &Expression) -> bool {
        let ExpressionKind::Call { arguments, .. } = &call.kind else { return false };
        arguments.iter().any(|argument| {
            let of_type = self.checked.used_type(&argument.value).nominal();
            of_type.is_some_and(|of_type| &*of_type.name == "standard_metadata_t")
        })
    }

    /// Whether the text of a control, or of one that it may apply, names a field.
    fn control_mentions(&self, object: ObjectId, field: &str) -> bool {
        let Object::Block(block) = self.objects.get(object) else { return false };
        let Some(declaration) = self.checked.node(block.declaration).declaration() else { return false };
        let mut mentions = false;
        declaration_expressions(declaration, &mut |expression| match &expression.kind {
            ExpressionKind::Member { member, .. } => mentions |= member.as_str() == field,
            // The metadata may go on to another control, or an action of none, as a whole.
            ExpressionKind::Call { .. } => {
                let callee = self.checked.call(expression).map(|call| &call.callee);
                mentions |= matches!(
                    callee,
                    Some(Callee::Apply { .. } | Callee::ApplyDirect { .. } | Callee::Action(_) | Callee::Function(_))
                ) && self.passes_metadata(expression);
            }
            _ => {}
        });
        mentions
    }

    fn block_name(&self, object: ObjectId) -> String {
        match self.objects.get(object) {
            Object::Block(block) => block.name.clone(),
            Object::Extern(_) | Object::Table(_) | Object::Package(_) | Object::ValueSet(_) | Object::Packet => {
                String::new()
            }
        }
    }

    /// The parsers and controls that a package is made of.
    pub fn blocks_of(&self, package: &Package, span: Span) -> Lowered<Vec<ObjectId>> {
        let mut blocks = Vec::new();
        for argument in &package.arguments {
            match argument {
                Value::Object(object) => blocks.push(*object),
                _ => return Err(self.internal(span, "a package argument that is no instance")),
            }
        }
        Ok(blocks)
    }

    /// Headers, metadata and standard metadata, named as the ingress control names them.
    fn v1model_storage(&mut self, ingress: ObjectId) -> Lowered<(Storage, Storage, Storage)> {
        let Object::Block(block) = self.object(ingress) else {
            return Err(self.internal(Span::NONE, "an ingress that is no control"));
        };
        let mut storages = Vec::new();
        let parameters = self.checked.parameters(block.declaration);
        for parameter in parameters {
            let of_type = substitute(self.checked.declared_type(parameter.id), &block.scope.types);
            let storage = self.allocate(&of_type, parameter.name.as_str(), &Notes::default());
            storages.push((of_type, storage));
        }
        let [(_, headers), (metadata_type, metadata), (standard_type, standard)] = &storages[..] else {
            return Err(self.internal(Span::NONE, "an ingress without its three parameters"));
        };
        for (at, field) in self.checked.fields_of(standard_type).into_iter().enumerate() {
            self.architecture.standard.insert(field.name.to_string(), standard.member(at));
        }
        for leaf in metadata.leaves().into_iter().chain(standard.leaves()) {
            if let Leaf::Slot(slot) = leaf {
                self.architecture.metadata.push(slot);
            }
        }
        self.collect_lists(metadata_type, metadata, &[]);
        self.collect_lists(standard_type, standard, &[]);
        Ok((headers.clone(), metadata.clone(), standard.clone()))
    }

    /// Notes which variables the annotations `@field_list(n, …)` name.
    fn collect_lists(&mut self, of_type: &Type, storage: &Storage, inherited: &[u32]) {
        for (at, field) in self.checked.fields_of(of_type).into_iter().enumerate() {
            let mut lists = inherited.to_vec();
            lists.extend(self.lists_of(field.id));
            let member = storage.member(at);
            if matches!(field.of_type, Type::Struct(_)) {
                self.collect_lists(&field.of_type, &member, &lists);
                continue;
            }
            for leaf in member.leaves() {
                let Leaf::Slot(slot) = leaf else {
                    if !lists.is_empty() {
                        self.refuse_listed_header(field.id);
                    }
                    break;
                };
                for list in &lists {
                    self.architecture.lists.entry(*list).or_default().push(slot);
                }
            }
        }
    }

    /// A packet that begins anew has no headers but those that its parser finds.
    fn refuse_listed_header(&mut self, field: DeclarationId) {
        let node = self.checked.node(field);
        let report = Diagnostic::error(format!("a field list cannot keep `{}`, which holds a header", node.name()));
        let report = report.kind("unsupported").label(node.span(), "metadata that is no header can be kept");
        self.diagnostics.push(report.hint("copy its fields to a struct of the metadata, and list that"));
    }

    /// The numbers of the lists that a field is annotated with. Only constants are, as the checker has seen to.
    fn lists_of(&self, field: DeclarationId) -> Vec<u32> {
        let annotations = self.attributes_of(field).map_or(&[][..], |attributes| &attributes.annotations);
        let named = annotations.iter().filter(|annotation| annotation.name.as_str() == "field_list");
        let numbers = named.flat_map(|annotation| annotation.expressions());
        numbers.filter_map(|number| u32::try_from(self.checked.constant(number)?.integer()?).ok()).collect()
    }

    fn wrote_standard(&self, since: usize, name: &str) -> bool {
        let Some(variable) = self.standard_variable(name) else { return false };
        self.log[since..].contains(&Touch::Variable(variable))
    }

    /// Metadata of a packet that has just come in.
    fn begin(&mut self, block: NodeId, parser: NodeId) {
        self.current = block;
        if self.is_used("ingress_port") {
            self.set_standard("ingress_port", Hlir::Intrinsic(Intrinsic::IngressPort));
        }
        if self.is_used("packet_length") {
            self.set_standard("packet_length", Hlir::Intrinsic(Intrinsic::PacketLength));
        }
        if self.is_used("ingress_global_timestamp") {
            let now = microseconds(self.standard_width("ingress_global_timestamp"));
            self.set_standard("ingress_global_timestamp", now);
        }
        self.graph.goto(block, parser);
    }

    /// The variables of a field list that the program uses.
    pub(super) fn kept(&self, list: u32) -> Vec<VariableId> {
        let slots = self.architecture.lists.get(&list);
        slots.map_or_else(Vec::new, |slots| slots.iter().filter_map(|slot| self.slots.variable(*slot)).collect())
    }

    fn ingress_end(&mut self, block: NodeId, nodes: &Nodes, parser_uses: &[VariableId]) {
        self.current = block;
        let mut rules = Vec::new();
        for list in self.architecture.requests.get("clone_i2e").cloned().unwrap_or_default() {
            let copy = self.clone_of_ingress(list, nodes.parser, parser_uses);
            rules.push(self.clone_rule("clone_i2e", list, copy));
        }
        for list in self.architecture.requests.get("resubmit").cloned().unwrap_or_default() {
            let set = self.reentry_metadata(6);
            let copy = Reentry { bytes: Bytes::Original, keep: Keep::Only(self.kept(list)), set, to: nodes.parser };
            let condition = self.request_condition("resubmit", list);
            rules.push(Rule { condition, effect: Effect::Resubmit { copy } });
        }
        if self.architecture.uses_multicast
            && let Some(group) = self.standard_place("mcast_grp")
        {
            let set = self.replica_metadata();
            let copy = Reentry { bytes: Bytes::Current, keep: Keep::All, set, to: nodes.egress };
            let group = Hlir::place(group);
            let width = self.standard_width("mcast_grp");
            let condition = arithmetic::binary(Binary::NotEqual, group.clone(), Hlir::constant(0u32, width));
            let group = arithmetic::resize(group, width, 32, false);
            rules.push(Rule { condition, effect: Effect::Replicate { group, copy } });
        }
        let mut set = Vec::new();
        let port = self.standard_place("egress_port");
        if let (Some(port), Some(spec)) = (port, self.standard_variable("egress_spec")) {
            let condition = self.is_drop_port(Hlir::Variable(spec));
            rules.push(Rule { condition, effect: Effect::Drop { reason: "ingress drop".to_string() } });
            set.push((port, self.as_standard("egress_port", Hlir::Variable(spec))));
        }
        if self.is_used("instance_type")
            && let Some(place) = self.standard_place("instance_type")
        {
            set.push((place, self.as_standard("instance_type", Hlir::constant(0u32, 32))));
        }
        let effect = Effect::Unicast { set, to: nodes.egress };
        rules.push(Rule { condition: Hlir::Bool(true), effect });
        let kind = EndKind::Buffer { rules, otherwise: None };
        self.graph.end(block, "v1model.traffic_manager", Notes::default(), kind);
    }

    /// At the beginning of egress the request to drop is taken back, and the queue is behind the packet.
    fn egress_begin(&mut self, block: NodeId, next: NodeId, asks: bool, forgotten: &BTreeSet<HeaderId>) {
        self.current = block;
        self.forget_headers(forgotten);
        if asks {
            self.set_standard("egress_spec", Hlir::constant(0u32, 32));
        }
        if self.is_used("enq_timestamp") {
            let now = microseconds(self.standard_width("enq_timestamp"));
            self.set_standard("enq_timestamp", now);
        }
        if self.is_used("egress_global_timestamp") {
            let now = microseconds(self.standard_width("egress_global_timestamp"));
            self.set_standard("egress_global_timestamp", now);
        }
        self.graph.goto(self.current, next);
    }

    fn egress_end(&mut self, block: NodeId, next: NodeId, drops: bool, nodes: &Nodes) {
        let mut rules = Vec::new();
        for list in self.architecture.requests.get("clone_e2e").cloned().unwrap_or_default() {
            let set = self.copy_metadata(2);
            let copy = Reentry { bytes: Bytes::Current, keep: Keep::Only(self.kept(list)), set, to: nodes.egress };
            rules.push(self.clone_rule("clone_e2e", list, copy));
        }
        if drops && let Some(spec) = self.standard_place("egress_spec") {
            let condition = self.is_drop_port(Hlir::place(spec));
            rules.push(Rule { condition, effect: Effect::Drop { reason: "egress drop".to_string() } });
        }
        if rules.is_empty() {
            self.graph.goto(block, next);
            return;
        }
        let kind = EndKind::Buffer { rules, otherwise: Some(next) };
        self.graph.end(block, "v1model.egress_buffer", Notes::default(), kind);
    }

    fn output(&mut self, block: NodeId, nodes: &Nodes) {
        self.current = block;
        if self.architecture.hidden.contains_key("truncate") {
            let flag = self.hidden("truncate", hlir::Type::Bool);
            let length = self.hidden("truncate_length", hlir::Type::Bits(32));
            let (flag, length) = (self.read(&flag), self.read(&length));
            self.branch(flag, "", |lowering| lowering.emit(hlir::Statement::Truncate(length)), |_| {});
        }
        if ["clone_i2e", "clone_e2e"].iter().any(|request| self.architecture.requests.contains_key(request)) {
            let limit = self.mirror_limit();
            self.cut_copy(self.current, &limit);
        }
        let mut rules = Vec::new();
        for list in self.architecture.requests.get("recirculate").cloned().unwrap_or_default() {
            let set = self.reentry_metadata(4);
            let copy = Reentry { bytes: Bytes::Deparsed, keep: Keep::Only(self.kept(list)), set, to: nodes.parser };
            let condition = self.request_condition("recirculate", list);
            rules.push(Rule { condition, effect: Effect::Recirculate { copy } });
        }
        if let Some(port) = self.standard_place("egress_port") {
            let port = arithmetic::resize(Hlir::place(port), self.standard_width("egress_port"), 32, false);
            rules.push(Rule { condition: Hlir::Bool(true), effect: Effect::Send { port } });
        }
        let current = self.current;
        let kind = EndKind::Buffer { rules, otherwise: None };
        self.graph.end(current, "v1model.send", Notes::default(), kind);
    }

    /// Whether a request was made, with this field list.
    fn request_condition(&mut self, request: &'static str, list: u32) -> Hlir {
        let flag = self.hidden(request, hlir::Type::Bool);
        let asked = self.read(&flag);
        if self.architecture.requests.get(request).is_some_and(|lists| lists.len() < 2) {
            return asked;
        }
        let number = self.hidden(&format!("{request}_list"), hlir::Type::Bits(32));
        let number = self.read(&number);
        arithmetic::and(asked, arithmetic::is_number(number, u64::from(list), 32))
    }

    fn clone_rule(&mut self, request: &'static str, list: u32, copy: Reentry) -> Rule {
        let condition = self.request_condition(request, list);
        let session = self.hidden(&format!("{request}_session"), hlir::Type::Bits(32));
        let session = self.read(&session);
        Rule { condition, effect: Effect::Clone { session, copy } }
    }

    fn set_if_used(&mut self, set: &mut Vec<(Place, Hlir)>, name: &str, value: Hlir) {
        if self.is_used(name)
            && let Some(place) = self.standard_place(name)
        {
            set.push((place, self.as_standard(name, value)));
        }
    }

    pub(super) fn copy_metadata(&mut self, instance_type: u32) -> Vec<(Place, Hlir)> {
        let mut set = Vec::new();
        if let Some(port) = self.standard_place("egress_port") {
            set.push((port, self.as_standard("egress_port", Hlir::Intrinsic(Intrinsic::CopyPort))));
        }
        if instance_type == 1 {
            self.standard_place("instance_type");
        }
        self.set_if_used(&mut set, "instance_type", Hlir::constant(instance_type, 32));
        self.set_if_used(&mut set, "egress_rid", Hlir::Intrinsic(Intrinsic::CopyInstance));
        self.set_if_used(&mut set, "packet_length", Hlir::Intrinsic(Intrinsic::PacketLength));
        if let Storage::Scalar { leaf, .. } = self.mirror_limit() {
            set.push((self.place(leaf), Hlir::Intrinsic(Intrinsic::CopyTruncation)));
        }
        set
    }

    fn reentry_metadata(&mut self, instance_type: u32) -> Vec<(Place, Hlir)> {
        let mut set = Vec::new();
        self.set_if_used(&mut set, "instance_type", Hlir::constant(instance_type, 32));
        self.set_if_used(&mut set, "packet_length", Hlir::Intrinsic(Intrinsic::PacketLength));
        set
    }

    fn replica_metadata(&mut self) -> Vec<(Place, Hlir)> {
        let mut set = Vec::new();
        if let Some(port) = self.standard_place("egress_port") {
            set.push((port, self.as_standard("egress_port", Hlir::Intrinsic(Intrinsic::CopyPort))));
        }
        self.set_if_used(&mut set, "instance_type", Hlir::constant(5u32, 32));
        self.set_if_used(&mut set, "egress_rid", Hlir::Intrinsic(Intrinsic::CopyInstance));
        set
    }
}

/// The clock as v1model's timestamps have it.
fn microseconds(width: u32) -> Hlir {
    let clock = Hlir::Intrinsic(Intrinsic::Clock);
    let micros = arithmetic::binary(Binary::Divide, clock, Hlir::constant(1000u32, 64));
    arithmetic::resize(micros, 64, width, false)
}
