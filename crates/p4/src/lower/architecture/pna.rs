//! The Portable NIC Architecture: parser, an optional pre-control, the main control, deparser, and one buffering manager.
//!
//! `drop_packet`, `send_to_port` and `recirculate` leave a verdict in hidden variables; the last of them counts. A packet that none was called
//! for leaves by port 0. Mirror slots are variables, too; the buffering manager makes their copies before it looks at the verdict, so a
//! dropped packet is mirrored as well, with the bytes that the deparser would have sent.

use hlir::notes::{Annotation, AnnotationBody};
use hlir::source::Span;
use hlir::{Binary, Bytes, Call as Op, Effect, Expression as Hlir, Intrinsic, Keep, NodeId, Notes, Reentry, Rule};

use super::portable::{Pool, bound, drop_rule};
use crate::lower::graph::{EndKind, Role};
use crate::lower::objects::Package;
use crate::lower::storage::Storage;
use crate::lower::value::Value;
use crate::lower::{Lowered, Lowering, arithmetic};
use crate::types::Type;

const VERDICT: hlir::Type = hlir::Type::Bits(2);
const SEND: u64 = 0;
const DROP: u64 = 1;
const RECIRCULATE: u64 = 2;

/// Mirror slots that a slot number known only at run time can mean.
const MIRROR_SLOTS: u64 = 4;

/// Ports that the register of directions has an element for.
const DIRECTIONS: u64 = 512;

/// Nodes that edges lead to before they are filled.
struct Nodes {
    arrive: NodeId,
    parsed: NodeId,
    main_done: NodeId,
    buffer: NodeId,
    mirror: NodeId,
}

impl<'a> Lowering<'a> {
    pub fn lower_pna(&mut self, package: &Package, span: Span) -> Lowered<()> {
        let (parser, parser_block) = self.required_block(package, "main_parser", span)?;
        let (control, control_block) = self.required_block(package, "main_control", span)?;
        let (deparser, _) = self.required_block(package, "main_deparser", span)?;
        let [arrive, parsed, pre_done, main_done, buffer, mirror] =
            ["arrive", "parsed", "pre_done", "main_done", "buffer", "mirror"]
                .map(|name| self.plain_block(&format!("pna.{name}")));
        let nodes = Nodes { arrive, parsed, main_done, buffer, mirror };
        let (mut input, mut output) = (Pool::new("pna.input"), Pool::new("pna.output"));
        let (parser_types, types) = (self.parameter_types(&parser_block), self.parameter_types(&control_block));
        let ([_, _, _, parser_input_type], [headers_type, user_type, input_type, output_type]) =
            (&parser_types[..], &types[..])
        else {
            return Err(self.internal(span, "a PNA_NIC whose parts have other parameters"));
        };
        let headers = self.allocate(headers_type, &self.parameter_name(&control_block, 0), &Notes::default());
        let user = self.allocate(user_type, &self.parameter_name(&control_block, 1), &Notes::default());
        let parser_input = self.pooled(parser_input_type, &mut input);
        let main_input = self.pooled(input_type, &mut input);
        let main_output = self.pooled(output_type, &mut output);
        let Some(error) = self.needed_variable(&input.get("parser_error")) else {
            return Err(self.internal(span, "a main control without parser_error"));
        };
        let packet = self.packet_binding();
        let bindings = vec![packet.clone(), bound(&headers), bound(&user), bound(&parser_input)];
        let parser = self.top_parser(parser, bindings, (parsed, parsed), error)?;
        let pre = self.pre_control(package, (headers_type, &headers), (user_type, &user), &mut input, pre_done)?;
        let bindings = [&headers, &user, &main_input, &main_output].map(bound).into();
        let main = self.top_control(control, bindings, main_done, Role::Plain)?;
        let bindings = vec![packet, bound(&headers), bound(&user), bound(&main_output)];
        let deparser = self.top_control(deparser, bindings, buffer, Role::Deparse)?;
        self.in_path("pna", |lowering| {
            lowering.pna_end(&nodes, parser, deparser, &input, &output);
            lowering.pna_begin(&nodes, &input, parser, pre.unwrap_or(pre_done));
            lowering.graph.goto(pre_done, main);
        });
        self.program.entry = Some(nodes.arrive);
        Ok(())
    }

    /// The pre-control shares the headers and metadata of the main control where the types are the same.
    fn pre_control(
        &mut self,
        package: &Package,
        (headers_type, headers): (&Type, &Storage),
        (user_type, user): (&Type, &Storage),
        input: &mut Pool,
        next: NodeId,
    ) -> Lowered<Option<NodeId>> {
        let Some(object) = self.package_part(package, "pre_control") else { return Ok(None) };
        let (_, block) = self.required_block(package, "pre_control", Span::NONE)?;
        let types = self.parameter_types(&block);
        let [pre_headers, pre_user, input_type, output_type] = &types[..] else { return Ok(None) };
        let headers = if pre_headers == headers_type {
            headers.clone()
        } else {
            self.allocate(pre_headers, "pre_headers", &Notes::default())
        };
        let user = if pre_user == user_type {
            user.clone()
        } else {
            self.allocate(pre_user, "pre_metadata", &Notes::default())
        };
        let input = self.pooled(input_type, input);
        let output = self.pooled(output_type, &mut Pool::new("pna.pre_output"));
        let bindings = [&headers, &user, &input, &output].map(bound).into();
        self.top_control(object, bindings, next, Role::Plain).map(Some)
    }

    fn pna_begin(&mut self, nodes: &Nodes, input: &Pool, parser: NodeId, pre: NodeId) {
        self.current = nodes.arrive;
        self.set_used(&input.get("input_port"), Hlir::Intrinsic(Intrinsic::IngressPort));
        if self.used_variable(&input.get("direction")).is_some() {
            let is_host = self.is_host_port(Hlir::Intrinsic(Intrinsic::IngressPort));
            let [to_host, to_net] = ["NET_TO_HOST", "HOST_TO_NET"].map(|member| self.direction(member));
            self.set_used(&input.get("direction"), arithmetic::choose(is_host, to_net, to_host));
        }
        self.graph.goto(self.current, parser);
        self.current = nodes.parsed;
        let now = self.microseconds();
        self.set_used(&input.get("timestamp"), now);
        self.graph.goto(self.current, pre);
    }

    fn direction(&self, member: &str) -> Hlir {
        Hlir::constant(self.enumeration_number("PNA_Direction_t", member).unwrap_or(0), 32)
    }

    /// Whether a port leads to a host: its value in the register `direction`, which is 0 at first.
    fn is_host_port(&mut self, port: Hlir) -> Hlir {
        let known = self.program.registers.iter().find(|(_, register)| register.name == "direction").map(|(id, _)| id);
        let register = known.unwrap_or_else(|| {
            let name = self.names.object("direction");
            // The controller's view has only what the program declares.
            let annotations = vec![Annotation { name: "hidden".to_string(), body: AnnotationBody::None }];
            let notes = Notes { annotations, ..Notes::default() };
            self.program.registers.alloc(hlir::Register {
                name,
                size: DIRECTIONS,
                width: 1,
                initial: Default::default(),
                notes,
            })
        });
        let storage = self.scratch("is_host", hlir::Type::Bits(1));
        self.assign(&storage, Value::constant(0, 1));
        if let Some(into) = self.leaf_place(&storage) {
            self.call(Op::ReadRegister { register, index: port, into });
        }
        arithmetic::to_bool(self.read(&storage))
    }

    fn pna_end(&mut self, nodes: &Nodes, parser: NodeId, deparser: NodeId, input: &Pool, output: &Pool) {
        let verdict = self.hidden("verdict", VERDICT);
        let mut rules = Vec::new();
        let mut mirrored = Hlir::Bool(false);
        for slot in self.architecture.mirror_slots.clone() {
            let asked = self.hidden(&format!("mirror{slot}"), hlir::Type::Bool);
            let session = self.hidden(&format!("mirror{slot}.session"), hlir::Type::Bits(32));
            let condition = self.read(&asked);
            mirrored = arithmetic::or(mirrored, condition.clone());
            let (port, limit) = (self.mirror_port(), self.mirror_limit());
            for storage in [&port, &limit] {
                self.needed_variable(storage);
            }
            let port = self.used_assignment(&port, Hlir::Intrinsic(Intrinsic::CopyPort));
            let limit = self.used_assignment(&limit, Hlir::Intrinsic(Intrinsic::CopyTruncation));
            let set = port.into_iter().chain(limit).collect();
            let copy = Reentry { bytes: Bytes::Deparsed, keep: Keep::Only(Vec::new()), set, to: nodes.mirror };
            rules.push(Rule { condition, effect: Effect::Clone { session: self.read(&session), copy } });
        }
        let is_mirroring = !rules.is_empty();
        let mut dropped = Hlir::Bool(false);
        if self.architecture.verdicts.contains(&DROP) {
            let value = self.read(&verdict);
            dropped = arithmetic::is_number(value, DROP, 2);
            rules.push(drop_rule(dropped.clone(), "drop_packet"));
        }
        if self.architecture.verdicts.contains(&RECIRCULATE) {
            let value = self.read(&verdict);
            rules.push(self.pna_recirculation(arithmetic::is_number(value, RECIRCULATE, 2), parser, input));
        }
        if let Some(recirculate) = self.used_variable(&output.get("recirculate")) {
            rules.push(self.pna_recirculation(Hlir::Variable(recirculate), parser, input));
        }
        let port = self.hidden("dest_port", hlir::Type::Bits(32));
        let port = match self.used_variable(&port) {
            Some(port) => Hlir::Variable(port),
            None => Hlir::constant(0u32, 32),
        };
        rules.push(Rule { condition: Hlir::Bool(true), effect: Effect::Send { port } });
        self.end_in_buffer(nodes.buffer, "pna.buffer", rules, None);

        if is_mirroring {
            let (port, limit) = (self.mirror_port(), self.mirror_limit());
            self.cut_copy(nodes.mirror, &limit);
            let effect = Effect::Send { port: self.read(&port) };
            self.end_in_buffer(self.current, "pna.mirror", vec![Rule { condition: Hlir::Bool(true), effect }], None);
        }

        // A packet that only ends in the buffer is not deparsed.
        let condition = arithmetic::and(dropped, arithmetic::not(mirrored));
        if condition == Hlir::Bool(false) {
            self.graph.goto(nodes.main_done, deparser);
        } else {
            let kind = EndKind::Branch { condition, then: nodes.buffer, otherwise: deparser };
            self.graph.end(nodes.main_done, "pna.is_dropped", Notes::default(), kind);
        }
    }

    fn mirror_port(&mut self) -> Storage {
        self.hidden("mirror_port", hlir::Type::Bits(32))
    }

    pub fn mirror_limit(&mut self) -> Storage {
        self.hidden("mirror_limit", hlir::Type::Bits(32))
    }

    /// Back to the parser with the bytes as they are now: only where the packet came from stays, and the pass is counted.
    fn pna_recirculation(&mut self, condition: Hlir, parser: NodeId, input: &Pool) -> Rule {
        let pass = input.get("pass");
        let kept = ["input_port", "direction", "pass"].map(|name| input.get(name));
        let keep = self.kept_with(None, &kept.each_ref());
        let mut set = Vec::new();
        if self.used_variable(&pass).is_some() {
            let before = self.read(&pass);
            let width = self.width(&before);
            let next = arithmetic::binary(Binary::Add, before, Hlir::constant(1u32, width));
            set.extend(self.used_assignment(&pass, next));
        }
        set.extend(self.used_assignment(&input.get("recirculated"), Hlir::Bool(true)));
        let copy = Reentry { bytes: Bytes::Deparsed, keep, set, to: parser };
        Rule { condition, effect: Effect::Recirculate { copy } }
    }

    fn set_verdict(&mut self, verdict: u64) {
        self.architecture.verdicts.insert(verdict);
        let storage = self.hidden("verdict", VERDICT);
        self.assign(&storage, Value::constant(verdict, 2));
    }

    /// The functions that PNA declares and that need no table; `None` for those of others.
    pub fn pna_function(&mut self, name: &str, values: &[Value], result: &Type) -> Option<Value> {
        let number = |lowering: &mut Self, at: usize| {
            let value = lowering.as_bits(values.get(at)?.clone())?;
            let width = lowering.width(&value);
            Some(arithmetic::resize(value, width, 32, false))
        };
        match name {
            "drop_packet" => self.set_verdict(DROP),
            "recirculate" => self.set_verdict(RECIRCULATE),
            "send_to_port" => {
                let port = number(self, 0)?;
                let storage = self.hidden("dest_port", hlir::Type::Bits(32));
                self.assign(&storage, Value::Scalar(port));
                self.set_verdict(SEND);
            }
            "mirror_packet" => {
                let (slot, session) = (number(self, 0)?, number(self, 1)?);
                self.mirror(&slot, &session);
            }
            "is_host_port" => {
                let port = number(self, 0)?;
                return Some(Value::Scalar(self.is_host_port(port)));
            }
            "is_net_port" => {
                let port = number(self, 0)?;
                let is_host = self.is_host_port(port);
                return Some(Value::Scalar(arithmetic::not(is_host)));
            }
            "allocate_flow_id" => return Some(self.flow_id(result)),
            "SelectByDirection" => {
                let [Value::Scalar(direction), to_host, to_net] = values else { return None };
                let is_to_host = match self.expression_type(direction) {
                    hlir::Type::Bool => direction.clone(),
                    hlir::Type::Bits(_) => arithmetic::equal(direction.clone(), self.direction("NET_TO_HOST")),
                };
                return Some(self.choose_value(&is_to_host, to_host.clone(), to_net.clone()));
            }
            _ => return None,
        }
        Some(Value::Void)
    }

    fn mirror(&mut self, slot: &Hlir, session: &Hlir) {
        let known = arithmetic::constant_of(slot).and_then(|(slot, _)| u64::try_from(slot).ok());
        let slots = known.map_or(0..MIRROR_SLOTS, |slot| slot..slot + 1);
        for number in slots {
            self.architecture.mirror_slots.insert(number);
            let asked = self.hidden(&format!("mirror{number}"), hlir::Type::Bool);
            let storage = self.hidden(&format!("mirror{number}.session"), hlir::Type::Bits(32));
            let session = session.clone();
            self.branch(
                arithmetic::is_number(slot.clone(), number, 32),
                "",
                |lowering| {
                    lowering.assign(&asked, Value::boolean(true));
                    lowering.assign(&storage, Value::Scalar(session));
                },
                |_| {},
            );
        }
    }

    /// The next number that no flow has had.
    fn flow_id(&mut self, result: &Type) -> Value {
        let width = self.scalar_type(result).map_or(32, hlir::Type::width);
        let known = self.program.registers.iter().find(|(_, register)| register.name == "flow_ids").map(|(id, _)| id);
        let register = known.unwrap_or_else(|| {
            let name = self.names.object("flow_ids");
            let annotations = vec![Annotation { name: "hidden".to_string(), body: AnnotationBody::None }];
            let notes = Notes { annotations, ..Notes::default() };
            let initial = Default::default();
            self.program.registers.alloc(hlir::Register { name, size: 1, width, initial, notes })
        });
        let storage = self.scratch("flow_id", hlir::Type::Bits(width));
        let index = Hlir::constant(0u32, 1);
        if let Some(into) = self.leaf_place(&storage) {
            self.call(Op::ReadRegister { register, index: index.clone(), into });
        }
        let value = arithmetic::binary(Binary::Add, self.read(&storage), Hlir::constant(1u32, width));
        self.call(Op::WriteRegister { register, index, value });
        self.load(&storage)
    }
}
