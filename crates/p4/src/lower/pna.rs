//! The Portable NIC Architecture: one parser, one control and one deparser; what becomes of the packet is the last thing the control asked for.
//!
//! A packet about which nothing was asked goes to port 0, as on DPDK. Mirrored copies are taken of the deparsed packet, whether or not the
//! packet itself is dropped, and leave at once. Packets come from the network: the direction is NET_TO_HOST.

use std::collections::HashMap;

use hlir::source::Span;
use hlir::{
    Binary, Bytes, Call as Op, Effect, Expression as Hlir, Intrinsic, Keep, NodeId, Notes, Place, Reentry, Rule,
};

use super::call::Passed;
use super::graph::{EndKind, Role};
use super::objects::{Object, ObjectId, Package};
use super::storage::Storage;
use super::value::Value;
use super::{Lowered, Lowering, arithmetic};
use crate::ast::{DeclarationKind, Expression};
use crate::check::Call;
use crate::types::{Type, substitute};

/// The parts of a PNA_NIC.
struct Parts {
    parser: ObjectId,
    pre: Option<ObjectId>,
    main: ObjectId,
    deparser: ObjectId,
}

impl<'a> Lowering<'a> {
    pub fn lower_pna(&mut self, package: &Package, span: Span) -> Lowered<()> {
        let parts = self.pna_parts(package, span)?;
        let [begin, parsed, control_end, deparsed, send] =
            ["pna.begin", "pna.parsed", "pna.control_end", "pna.deparsed", "pna.send"]
                .map(|name| self.plain_block(name));
        let [to_parser, to_deparser] = [self.bridge(), self.bridge()];
        let mut roles = HashMap::new();
        let pre = match parts.pre {
            Some(pre) => {
                let mut own = HashMap::new();
                let bindings = self.pna_bindings(pre, "pre", &mut own)?;
                self.top_control(pre, bindings, to_parser, Role::Plain)?
            }
            None => to_parser,
        };
        let bindings = self.pna_bindings(parts.parser, "", &mut roles)?;
        let main_bindings = self.pna_bindings(parts.main, "", &mut roles)?;
        let error = self.psa_variable("input.parser_error", span)?;
        let parser = self.top_parser(parts.parser, bindings, (parsed, parsed), error)?;
        self.graph.goto(to_parser, parser);
        let main = self.top_control(parts.main, main_bindings, control_end, Role::Plain)?;
        let bindings = self.pna_bindings(parts.deparser, "", &mut roles)?;
        let deparser = self.top_control(parts.deparser, bindings, deparsed, Role::Deparse)?;
        self.graph.goto(to_deparser, deparser);
        self.in_path("pna", |lowering| {
            lowering.current = parsed;
            lowering.set_used("input.timestamp", Hlir::Intrinsic(Intrinsic::Clock));
            lowering.graph.goto(parsed, main);
            lowering.pna_end(control_end, to_deparser, deparsed, send, begin);
            lowering.current = begin;
            lowering.set_used("input.input_port", Hlir::Intrinsic(Intrinsic::IngressPort));
            lowering.graph.goto(begin, pre);
        });
        self.program.entry = Some(begin);
        Ok(())
    }

    /// The parts, told apart by their parameters: their order differs between versions of the architecture.
    fn pna_parts(&mut self, package: &Package, span: Span) -> Lowered<Parts> {
        let (mut parser, mut pre, mut main, mut deparser) = (None, None, None, None);
        for object in self.blocks_of(package, span)? {
            let Object::Block(block) = self.object(object) else { continue };
            let declared = self.checked.node(block.declaration).declaration();
            let has = |wanted: &str| {
                self.checked.parameters(block.declaration).iter().any(|parameter| {
                    let nominal = self.checked.declared_type(parameter.id).nominal();
                    nominal.is_some_and(|nominal| &*nominal.name == wanted)
                })
            };
            if matches!(declared.map(|found| &found.kind), Some(DeclarationKind::Parser(_))) {
                parser = Some(object);
            } else if has("packet_out") {
                deparser = Some(object);
            } else if has("pna_pre_input_metadata_t") {
                pre = Some(object);
            } else {
                main = Some(object);
            }
        }
        match (parser, main, deparser) {
            (Some(parser), Some(main), Some(deparser)) => Ok(Parts { parser, pre, main, deparser }),
            _ => Err(self.internal(span, "a PNA_NIC without parser, control and deparser")),
        }
    }

    fn pna_bindings(
        &mut self,
        object: ObjectId,
        prefix: &str,
        roles: &mut HashMap<String, Storage>,
    ) -> Lowered<Vec<super::scope::Binding>> {
        let Object::Block(block) = self.object(object) else {
            return Err(self.internal(Span::NONE, "a package argument that is no parser or control"));
        };
        let mut bindings = Vec::new();
        let mut user = ["hdr", "meta"].iter();
        for parameter in self.checked.parameters(block.declaration) {
            let of_type = substitute(self.checked.declared_type(parameter.id), &block.scope.types);
            let of_architecture = of_type.nominal().is_some_and(|nominal| nominal.name.starts_with("pna_"));
            let role = if of_architecture || matches!(of_type, Type::Extern(_)) {
                String::new()
            } else {
                let name = user.next().copied().unwrap_or("other");
                if prefix.is_empty() { name.to_string() } else { format!("{prefix}.{name}") }
            };
            bindings.push(self.architecture_binding(&block, &of_type, &role, roles));
        }
        Ok(bindings)
    }

    fn pna_end(&mut self, block: NodeId, to_deparser: NodeId, deparsed: NodeId, send: NodeId, begin: NodeId) {
        let mut rules = Vec::new();
        let drop = self.asked("drop").map(|condition| {
            let effect = Effect::Drop { reason: "dropped by the program".to_string() };
            Rule { condition, effect }
        });
        let mirrors = self.architecture.requests.get("mirror").cloned().unwrap_or_default();
        let mut after = Vec::new();
        for slot in &mirrors {
            let Some(condition) = self.asked(&format!("mirror_{slot}")) else { continue };
            let session = self.hidden(&format!("mirror_{slot}_session"), hlir::Type::Bits(32));
            let session = self.read(&session);
            let mut set = Vec::new();
            let port = self.hidden("port", hlir::Type::Bits(32));
            if let Storage::Scalar { leaf, .. } = port {
                set.push((self.place(leaf), Hlir::Intrinsic(Intrinsic::CopyPort)));
            }
            let copy = Reentry { bytes: Bytes::Current, keep: Keep::Only(Vec::new()), set, to: send };
            after.push(Rule { condition, effect: Effect::Clone { session, copy } });
        }
        match drop {
            Some(drop) if mirrors.is_empty() => rules.push(drop),
            Some(drop) => after.push(drop),
            None => {}
        }
        if let Some(condition) = self.asked("recirculate") {
            let mut set = Vec::new();
            let mut kept = Vec::new();
            if self.is_used("input.pass")
                && let Some(Place::Variable(pass)) = self.standard_place("input.pass")
            {
                let width = self.program.variables[pass].kind.width();
                let more = arithmetic::binary(Binary::Add, Hlir::Variable(pass), Hlir::constant(1u32, width));
                set.push((Place::Variable(pass), more));
                kept.push(pass);
            }
            let copy = Reentry { bytes: Bytes::Deparsed, keep: Keep::Only(kept), set, to: begin };
            after.push(Rule { condition, effect: Effect::Recirculate { copy } });
        }
        if rules.is_empty() {
            self.graph.goto(block, to_deparser);
        } else {
            let kind = EndKind::Buffer { rules, otherwise: Some(to_deparser) };
            self.graph.end(block, "pna.drop", Notes::default(), kind);
        }
        if after.is_empty() {
            self.graph.goto(deparsed, send);
        } else {
            let kind = EndKind::Buffer { rules: after, otherwise: Some(send) };
            self.graph.end(deparsed, "pna.buffer", Notes::default(), kind);
        }
        let port = self.hidden("port", hlir::Type::Bits(32));
        let port = self.read(&port);
        let rule = Rule { condition: Hlir::Bool(true), effect: Effect::Send { port } };
        self.graph.end(send, "pna.send", Notes::default(), EndKind::Buffer { rules: vec![rule], otherwise: None });
    }

    /// Whether something was asked for, if the program can ask for it.
    fn asked(&mut self, request: &str) -> Option<Hlir> {
        let flag = self.architecture.hidden.get(request).cloned()?;
        Some(self.read(&flag))
    }

    fn ask(&mut self, request: &str, value: bool) {
        // What the program never asks for needs no taking back.
        let is_new = !self.architecture.hidden.contains_key(request);
        if !value
            && is_new
            && !self.calls_function(match request {
                "drop" => "drop_packet",
                other => other,
            })
        {
            return;
        }
        let flag = self.hidden(request, hlir::Type::Bool);
        self.assign(&flag, Value::boolean(value));
    }

    /// Whether the program calls an extern function anywhere.
    fn calls_function(&self, name: &str) -> bool {
        let mut found = false;
        self.every_expression(&mut |expression| {
            if let Some(crate::check::Callee::Function(function)) =
                self.checked.call(expression).map(|call| &call.callee)
            {
                found |= self.checked.node(*function).name().as_str() == name;
            }
        });
        found
    }

    pub fn pna_function(
        &mut self,
        expression: &'a Expression,
        call: &Call,
        passed: Vec<Passed>,
        name: &str,
    ) -> Lowered<Value> {
        if let Some(value) = self.portable_function(expression, &passed, name) {
            return Ok(value);
        }
        let values: Vec<Value> = passed
            .iter()
            .filter_map(|passed| if let Passed::Value(value) = passed { Some(value.clone()) } else { None })
            .collect();
        match (name, &values[..]) {
            ("drop_packet", _) => {
                self.ask("drop", true);
                self.ask("recirculate", false);
            }
            ("send_to_port", [port]) => {
                let Some(port) = self.as_bits(port.clone()) else { return Ok(Value::Void) };
                let width = self.width(&port);
                let place = self.hidden("port", hlir::Type::Bits(32));
                self.assign(&place, Value::Scalar(arithmetic::resize(port, width, 32, false)));
                self.ask("drop", false);
                self.ask("recirculate", false);
            }
            ("recirculate", _) => {
                self.ask("recirculate", true);
                self.ask("drop", false);
            }
            ("mirror_packet", [slot, session]) => self.mirror(expression, slot, session)?,
            ("add_entry", _) => return self.add_entry(expression, &passed),
            ("allocate_flow_id", _) => return Ok(self.flow_id()),
            ("set_entry_expire_time", [profile]) => {
                let expiry = self.as_bits(profile.clone());
                self.call(Op::RestartTimer { expiry });
            }
            ("restart_expire_timer", _) => self.call(Op::RestartTimer { expiry: None }),
            ("set_entry_expire_time_if", [Value::Scalar(condition), profile]) => {
                let expiry = self.as_bits(profile.clone());
                self.branch(condition.clone(), "", |lowering| lowering.call(Op::RestartTimer { expiry }), |_| {});
            }
            ("update_expire_info", [Value::Scalar(aging), Value::Scalar(expire), profile]) => {
                let expiry = self.as_bits(profile.clone());
                let aging = aging.clone();
                self.branch(
                    expire.clone(),
                    "",
                    |lowering| lowering.call(Op::RestartTimer { expiry }),
                    |lowering| {
                        let restart = |lowering: &mut Self| lowering.call(Op::RestartTimer { expiry: None });
                        lowering.branch(aging, "", restart, |_| {});
                    },
                );
            }
            ("SelectByDirection", [direction, to_host, to_net]) => {
                let Some(direction) = self.as_bits(direction.clone()) else { return Ok(Value::Void) };
                let condition = arithmetic::is_number(direction, 0, 32);
                return Ok(self.choose_value(&condition, to_host.clone(), to_net.clone()));
            }
            _ => return self.custom_call(expression.span, "", name, call, passed),
        }
        Ok(Value::Void)
    }

    fn mirror(&mut self, expression: &'a Expression, slot: &Value, session: &Value) -> Lowered<()> {
        let number = match slot {
            Value::Scalar(slot) => arithmetic::constant_of(slot).and_then(|(number, _)| u32::try_from(number).ok()),
            _ => None,
        };
        let Some(number) = number else {
            return Err(self.unsupported(expression.span, "a mirror slot chosen at run time is"));
        };
        let Some(session) = self.as_bits(session.clone()) else { return Ok(()) };
        let width = self.width(&session);
        let slots = self.architecture.requests.entry("mirror").or_default();
        if !slots.contains(&number) {
            slots.push(number);
        }
        let flag = self.hidden(&format!("mirror_{number}"), hlir::Type::Bool);
        let place = self.hidden(&format!("mirror_{number}_session"), hlir::Type::Bits(32));
        self.assign(&place, Value::Scalar(arithmetic::resize(session, width, 32, false)));
        self.assign(&flag, Value::boolean(true));
        Ok(())
    }

    fn add_entry(&mut self, expression: &'a Expression, passed: &[Passed]) -> Lowered<Value> {
        let Some((table, names)) = self.table_actions.clone() else {
            return Err(self.unsupported(expression.span, "`add_entry` outside of a table's action is"));
        };
        let Some(Passed::Value(Value::Text(wanted))) = passed.first() else {
            return Err(self.unsupported(expression.span, "an `add_entry` whose action is chosen at run time is"));
        };
        let last = wanted.rsplit('.').next().unwrap_or(wanted);
        let Some(action) = names.iter().position(|name| **name == **wanted || **name == *last) else {
            return Err(self.internal(expression.span, "an `add_entry` of an action that the table does not have"));
        };
        let mut arguments = Vec::new();
        if let Some(Passed::Value(data)) = passed.get(1) {
            self.scalars_of(data, &mut arguments);
        }
        let expiry = match passed.get(2) {
            Some(Passed::Value(profile)) => self.as_bits(profile.clone()),
            _ => None,
        };
        let result = self.scratch("failed", hlir::Type::Bool);
        if let Storage::Scalar { leaf, .. } = result {
            let into = Some(self.place(leaf));
            self.call(Op::AddEntry { table, action: action as u32, arguments, expiry, into });
        }
        Ok(self.load(&result))
    }

    fn scalars_of(&mut self, value: &Value, into: &mut Vec<Hlir>) {
        match value {
            Value::Scalar(_) => into.extend(self.as_bits(value.clone())),
            Value::Struct(parts) => parts.iter().for_each(|part| self.scalars_of(part, into)),
            _ => {}
        }
    }

    /// Numbers that were not given out before.
    fn flow_id(&mut self) -> Value {
        let register = match self.architecture.flow_ids {
            Some(register) => register,
            None => {
                let name = self.names.object("pna.flow_ids");
                let notes = Notes {
                    annotations: vec![hlir::program::Annotation { name: "hidden".to_string(), body: None }],
                    ..Notes::default()
                };
                let made = hlir::Register { name, size: 1, width: 32, initial: Default::default(), notes };
                let register = self.program.registers.alloc(made);
                self.architecture.flow_ids = Some(register);
                register
            }
        };
        let storage = self.scratch("flow", hlir::Type::Bits(32));
        if let Storage::Scalar { leaf, .. } = storage {
            let into = self.place(leaf);
            let index = || Hlir::constant(0u32, 32);
            self.call(Op::ReadRegister { register, index: index(), into });
            let value = arithmetic::binary(Binary::Add, Hlir::place(into), Hlir::constant(1u32, 32));
            self.call(Op::WriteRegister { register, index: index(), value });
        }
        self.load(&storage)
    }
}
