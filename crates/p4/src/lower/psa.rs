//! The Portable Switch Architecture: two pipelines of parser, control and deparser, with the buffering managers between and behind them.
//!
//! Headers do not pass from ingress to egress: the egress parser reads the bytes that the ingress deparser has written. What does pass are
//! the structs of metadata that deparsers fill.

use std::collections::HashMap;

use hlir::source::Span;
use hlir::{
    Binary, Bytes, Effect, Expression as Hlir, Intrinsic, Keep, NodeId, Notes, Place, Reentry, Rule, VariableId,
};

use super::call::Passed;
use super::graph::{EndKind, Role};
use super::objects::{Block, Object, ObjectId, Package};
use super::scope::Binding;
use super::storage::{Leaf, Storage};
use super::value::{Target, Value};
use super::{Lowered, Lowering, arithmetic};
use crate::ast::Expression;
use crate::check::Call;
use crate::types::{Type, substitute};

const RECIRCULATE_PORT: u64 = 0xffff_fffa;

/// Packet paths, by their numbers in PSA_PacketPath_t.
const UNICAST: u32 = 1;
const MULTICAST: u32 = 2;
const CLONE_I2E: u32 = 3;
const CLONE_E2E: u32 = 4;
const RESUBMIT: u32 = 5;
const RECIRCULATE: u32 = 6;

/// What each block's parameters are, in order; an empty name is one that its type tells.
const INGRESS_PARSER: &[&str] = &["", "hdr", "meta", "", "resubmit", "recirculate"];
const INGRESS: &[&str] = &["hdr", "meta", "", ""];
const INGRESS_DEPARSER: &[&str] = &["", "clone_i2e", "resubmit", "normal", "hdr", "meta", ""];
const EGRESS_PARSER: &[&str] = &["", "egress.hdr", "egress.meta", "", "normal", "clone_i2e", "clone_e2e"];
const EGRESS: &[&str] = &["egress.hdr", "egress.meta", "", ""];
const EGRESS_DEPARSER: &[&str] = &["", "clone_e2e", "recirculate", "egress.hdr", "egress.meta", "", ""];

type Roles = HashMap<String, Storage>;

impl<'a> Lowering<'a> {
    pub fn lower_psa(&mut self, package: &Package, span: Span) -> Lowered<()> {
        let mut blocks = Vec::new();
        for argument in &package.arguments {
            let Value::Object(object) = argument else { continue };
            if let Object::Package(pipeline) = self.object(*object) {
                blocks.extend(self.blocks_of(&pipeline, span)?);
            }
        }
        let [ip, ig, id, ep, eg, ed] = blocks[..] else {
            return Err(self.internal(span, "a PSA_Switch without its two pipelines"));
        };
        let mut roles = Roles::new();
        let [begin, ingress_begin, ingress_end, egress_begin, egress_end] =
            ["psa.begin", "psa.ingress_begin", "psa.ingress_end", "psa.egress_begin", "psa.egress_end"]
                .map(|name| self.plain_block(name));
        let [before_parser, to_deparser, deparsed, to_egress_deparser] = [(); 4].map(|()| self.bridge());

        let parser_bindings = self.psa_bindings(ip, INGRESS_PARSER, &mut roles)?;
        let ingress_bindings = self.psa_bindings(ig, INGRESS, &mut roles)?;
        let error = self.psa_variable("ingress.parser_error", span)?;
        let parser = self.top_parser(ip, parser_bindings, (ingress_begin, ingress_begin), error)?;
        let ingress = self.top_control(ig, ingress_bindings, ingress_end, Role::Plain)?;
        let bindings = self.psa_bindings(id, INGRESS_DEPARSER, &mut roles)?;
        let deparser = self.top_control(id, bindings, deparsed, Role::Deparse)?;
        self.graph.goto(to_deparser, deparser);

        let bindings = self.psa_bindings(ep, EGRESS_PARSER, &mut roles)?;
        let egress_bindings = self.psa_bindings(eg, EGRESS, &mut roles)?;
        let error = self.psa_variable("egress.parser_error", span)?;
        let egress_parser = self.top_parser(ep, bindings, (egress_begin, egress_begin), error)?;
        let egress = self.top_control(eg, egress_bindings, to_egress_deparser, Role::Plain)?;
        let bindings = self.psa_bindings(ed, EGRESS_DEPARSER, &mut roles)?;
        let egress_deparser = self.top_control(ed, bindings, egress_end, Role::Deparse)?;
        self.graph.goto(to_egress_deparser, egress_deparser);

        self.in_path("psa", |lowering| {
            lowering.graph.goto(before_parser, parser);
            lowering.psa_egress_end(egress_end, egress_parser, before_parser, &roles);
            lowering.psa_egress_begin(egress_begin, egress);
            lowering.psa_ingress_end((ingress_end, to_deparser, deparsed), egress_parser, before_parser, &roles);
            lowering.psa_ingress_begin(ingress_begin, ingress);
            lowering.psa_begin(begin, parser);
        });
        self.program.entry = Some(begin);
        for (name, storage) in &roles {
            if !name.ends_with("hdr") && !name.ends_with("meta") && !storage.headers().is_empty() {
                return Err(self.unsupported(span, "metadata with headers that passes between the pipelines is"));
            }
        }
        Ok(())
    }

    /// What the architecture binds a block's parameters to.
    fn psa_bindings(&mut self, object: ObjectId, names: &[&str], roles: &mut Roles) -> Lowered<Vec<Binding>> {
        let Object::Block(block) = self.object(object) else {
            return Err(self.internal(Span::NONE, "a package argument that is no parser or control"));
        };
        let parameters = self.checked.parameters(block.declaration);
        let mut bindings = Vec::new();
        for (parameter, name) in parameters.iter().zip(names) {
            let of_type = substitute(self.checked.declared_type(parameter.id), &block.scope.types);
            bindings.push(self.architecture_binding(&block, &of_type, name, roles));
        }
        Ok(bindings)
    }

    pub fn architecture_binding(&mut self, _block: &Block, of_type: &Type, role: &str, roles: &mut Roles) -> Binding {
        if matches!(of_type, Type::Extern(_)) {
            return Binding::Value(self.extern_argument(of_type));
        }
        let name = of_type.nominal().map_or("", |nominal| &nominal.name);
        let storage = match name {
            "psa_ingress_parser_input_metadata_t" | "psa_ingress_input_metadata_t" => {
                self.shared_struct(of_type, "ingress")
            }
            "psa_ingress_output_metadata_t" => self.shared_struct(of_type, "ingress_output"),
            "psa_egress_parser_input_metadata_t"
            | "psa_egress_input_metadata_t"
            | "psa_egress_deparser_input_metadata_t" => self.shared_struct(of_type, "egress"),
            "psa_egress_output_metadata_t" => self.shared_struct(of_type, "egress_output"),
            "pna_pre_input_metadata_t" | "pna_main_parser_input_metadata_t" | "pna_main_input_metadata_t" => {
                self.shared_struct(of_type, "input")
            }
            "pna_main_output_metadata_t" => self.shared_struct(of_type, "output"),
            "pna_pre_output_metadata_t" => self.shared_struct(of_type, "pre_output"),
            _ => match roles.get(role) {
                Some(known) => known.clone(),
                None => {
                    let made = self.allocate(of_type, role, &Notes::default());
                    roles.insert(role.to_string(), made.clone());
                    made
                }
            },
        };
        Binding::Target(Target::Storage(storage))
    }

    /// A variable of the architecture's metadata.
    pub fn psa_variable(&mut self, key: &str, span: Span) -> Lowered<VariableId> {
        match self.standard_place(key) {
            Some(Place::Variable(variable)) => Ok(variable),
            _ => Err(self.internal(span, "this architecture: its metadata lacks a field")),
        }
    }

    /// Assigns a field of the architecture's metadata, if the program reads it.
    pub fn set_used(&mut self, key: &str, value: Hlir) {
        if self.is_used(key)
            && let Some(storage) = self.architecture.standard.get(key).cloned()
        {
            self.assign(&storage, Value::Scalar(value));
        }
    }

    /// The same as an assignment of a copy's.
    fn also(&mut self, set: &mut Vec<(Place, Hlir)>, key: &str, value: Hlir) {
        if self.is_used(key)
            && let Some(place) = self.standard_place(key)
        {
            set.push((place, value));
        }
    }

    pub fn field_value(&mut self, key: &str) -> Option<Hlir> {
        self.standard_place(key).map(Hlir::place)
    }

    fn psa_begin(&mut self, block: NodeId, parser: NodeId) {
        self.current = block;
        self.set_used("ingress.ingress_port", Hlir::Intrinsic(Intrinsic::IngressPort));
        self.graph.goto(block, parser);
    }

    fn psa_ingress_begin(&mut self, block: NodeId, next: NodeId) {
        self.current = block;
        self.set_used("ingress.ingress_timestamp", Hlir::Intrinsic(Intrinsic::Clock));
        // Nothing is sent unless the program asks for it.
        self.set_used("ingress_output.drop", Hlir::Bool(true));
        self.graph.goto(block, next);
    }

    /// The variables of the structs that pass, as far as they are used.
    fn passing(&self, roles: &Roles, names: &[&str]) -> Keep {
        let mut variables = Vec::new();
        for storage in names.iter().filter_map(|name| roles.get(*name)) {
            for leaf in storage.leaves() {
                if let Leaf::Slot(slot) = leaf {
                    variables.extend(self.slots.variable(slot));
                }
            }
        }
        Keep::Only(variables)
    }

    fn psa_ingress_end(
        &mut self,
        (block, to_deparser, deparsed): (NodeId, NodeId, NodeId),
        egress: NodeId,
        parser: NodeId,
        roles: &Roles,
    ) {
        let drop = self.field_value("ingress_output.drop").unwrap_or(Hlir::Bool(false));
        let mut rules = Vec::new();
        if self.is_used("ingress_output.clone")
            && let Some(condition) = self.field_value("ingress_output.clone")
        {
            let keep = self.passing(roles, &["clone_i2e"]);
            let copy = Reentry { bytes: Bytes::Original, keep, set: self.psa_copy(CLONE_I2E), to: egress };
            let session = self.psa_session("ingress_output.clone_session_id");
            rules.push(Rule { condition, effect: Effect::Clone { session, copy } });
        }
        rules.push(Rule { condition: drop, effect: Effect::Drop { reason: "ingress drop".to_string() } });
        if self.is_used("ingress_output.resubmit")
            && let Some(condition) = self.field_value("ingress_output.resubmit")
        {
            let mut set = Vec::new();
            self.also(&mut set, "ingress.ingress_port", Hlir::Intrinsic(Intrinsic::IngressPort));
            self.also(&mut set, "ingress.packet_path", Hlir::constant(RESUBMIT, 32));
            let copy = Reentry { bytes: Bytes::Original, keep: self.passing(roles, &["resubmit"]), set, to: parser };
            rules.push(Rule { condition, effect: Effect::Resubmit { copy } });
        }
        let after = self.psa_departure(egress);
        // The deparser may fill what a clone or a resubmitted packet takes along: then it runs before them.
        let early = ["clone_i2e", "resubmit"].iter().any(|name| match self.passing(roles, &[name]) {
            Keep::Only(variables) => !variables.is_empty(),
            Keep::All => true,
        });
        if early {
            self.graph.goto(block, to_deparser);
            rules.extend(after);
            let kind = EndKind::Buffer { rules, otherwise: None };
            self.graph.end(deparsed, "psa.traffic_manager", Notes::default(), kind);
        } else {
            let kind = EndKind::Buffer { rules, otherwise: Some(to_deparser) };
            self.graph.end(block, "psa.ingress_buffer", Notes::default(), kind);
            let kind = EndKind::Buffer { rules: after, otherwise: None };
            self.graph.end(deparsed, "psa.traffic_manager", Notes::default(), kind);
        }
    }

    /// To egress: by a multicast group, or by one port.
    fn psa_departure(&mut self, egress: NodeId) -> Vec<Rule> {
        let mut rules = Vec::new();
        if self.is_used("ingress_output.multicast_group")
            && let Some(group) = self.field_value("ingress_output.multicast_group")
        {
            let width = self.width(&group);
            let condition = arithmetic::binary(Binary::NotEqual, group.clone(), Hlir::constant(0u32, width));
            let mut set = self.psa_copy(MULTICAST);
            self.pass_class(&mut set);
            let copy = Reentry { bytes: Bytes::Current, keep: Keep::All, set, to: egress };
            let group = arithmetic::resize(group, width, 32, false);
            rules.push(Rule { condition, effect: Effect::Replicate { group, copy } });
        }
        let mut set = Vec::new();
        if let (Some(port), Some(from)) =
            (self.standard_place("egress.egress_port"), self.field_value("ingress_output.egress_port"))
        {
            set.push((port, from));
        }
        self.also(&mut set, "egress.packet_path", Hlir::constant(UNICAST, 32));
        self.pass_class(&mut set);
        rules.push(Rule { condition: Hlir::Bool(true), effect: Effect::Unicast { set, to: egress } });
        rules
    }

    fn pass_class(&mut self, set: &mut Vec<(Place, Hlir)>) {
        if self.is_used("ingress_output.class_of_service")
            && let Some(class) = self.field_value("ingress_output.class_of_service")
        {
            self.also(set, "egress.class_of_service", class);
        }
    }

    fn psa_session(&mut self, key: &str) -> Hlir {
        let session = self.field_value(key).unwrap_or_else(|| Hlir::constant(0u32, 32));
        let width = self.width(&session);
        arithmetic::resize(session, width, 32, false)
    }

    /// What a copy knows of itself.
    fn psa_copy(&mut self, path: u32) -> Vec<(Place, Hlir)> {
        let mut set = Vec::new();
        if let Some(port) = self.standard_place("egress.egress_port") {
            let width = self.program.place_type(port).width();
            set.push((port, arithmetic::resize(Hlir::Intrinsic(Intrinsic::CopyPort), 32, width, false)));
        }
        self.also(&mut set, "egress.packet_path", Hlir::constant(path, 32));
        self.also(&mut set, "egress.instance", Hlir::Intrinsic(Intrinsic::CopyInstance));
        set
    }

    fn psa_egress_begin(&mut self, block: NodeId, next: NodeId) {
        self.current = block;
        self.set_used("egress.egress_timestamp", Hlir::Intrinsic(Intrinsic::Clock));
        self.graph.goto(block, next);
    }

    fn psa_egress_end(&mut self, block: NodeId, egress: NodeId, parser: NodeId, roles: &Roles) {
        let mut rules = Vec::new();
        if self.is_used("egress_output.clone")
            && let Some(condition) = self.field_value("egress_output.clone")
        {
            let keep = self.passing(roles, &["clone_e2e"]);
            let copy = Reentry { bytes: Bytes::Deparsed, keep, set: self.psa_copy(CLONE_E2E), to: egress };
            let session = self.psa_session("egress_output.clone_session_id");
            rules.push(Rule { condition, effect: Effect::Clone { session, copy } });
        }
        if self.is_used("egress_output.drop")
            && let Some(condition) = self.field_value("egress_output.drop")
        {
            rules.push(Rule { condition, effect: Effect::Drop { reason: "egress drop".to_string() } });
        }
        let Some(port) = self.field_value("egress.egress_port") else { return };
        let width = self.width(&port);
        let mut set = Vec::new();
        self.also(&mut set, "ingress.ingress_port", Hlir::constant(RECIRCULATE_PORT & ((1 << width) - 1), width));
        self.also(&mut set, "ingress.packet_path", Hlir::constant(RECIRCULATE, 32));
        let copy = Reentry { bytes: Bytes::Deparsed, keep: self.passing(roles, &["recirculate"]), set, to: parser };
        let condition = arithmetic::is_number(port.clone(), RECIRCULATE_PORT, width);
        if arithmetic::boolean_of(&condition).is_none() {
            rules.push(Rule { condition, effect: Effect::Recirculate { copy } });
        }
        let port = arithmetic::resize(port, width, 32, false);
        rules.push(Rule { condition: Hlir::Bool(true), effect: Effect::Send { port } });
        self.graph.end(block, "psa.send", Notes::default(), EndKind::Buffer { rules, otherwise: None });
    }

    /// What deparsers ask about the packet: whether it is cloned, resubmitted, recirculated.
    pub fn psa_function(
        &mut self,
        expression: &'a Expression,
        call: &Call,
        passed: Vec<Passed>,
        name: &str,
    ) -> Lowered<Value> {
        if let Some(value) = self.portable_function(expression, &passed, name) {
            return Ok(value);
        }
        let mut field = |key: &str| self.load_standard(key).unwrap_or(Hlir::Bool(false));
        let value = match name {
            "psa_clone_i2e" => field("ingress_output.clone"),
            "psa_resubmit" => {
                arithmetic::and(arithmetic::not(field("ingress_output.drop")), field("ingress_output.resubmit"))
            }
            "psa_normal" => arithmetic::and(
                arithmetic::not(field("ingress_output.drop")),
                arithmetic::not(field("ingress_output.resubmit")),
            ),
            "psa_clone_e2e" => field("egress_output.clone"),
            "psa_recirculate" => {
                let dropped = field("egress_output.drop");
                let port = self.load_standard("egress.egress_port");
                let recirculated = port.map_or(Hlir::Bool(false), |port| {
                    let width = self.width(&port);
                    arithmetic::is_number(port, RECIRCULATE_PORT, width)
                });
                arithmetic::and(arithmetic::not(dropped), recirculated)
            }
            _ => return self.custom_call(expression.span, "", name, call, passed),
        };
        Ok(Value::Scalar(value))
    }

    fn load_standard(&mut self, key: &str) -> Option<Hlir> {
        self.standard_place(key).map(Hlir::place)
    }
}
