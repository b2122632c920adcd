//! The Portable Switch Architecture: two pipelines of parser, control and deparser, and a buffering manager behind each.
//!
//! The end of ingress clones (also what is dropped), drops, resubmits, replicates, or sends to one port, in this order; the end of egress
//! clones, drops, recirculates or sends. Headers end with their pipeline: egress parses what the deparser of ingress made. Ingress drops
//! by default.

use hlir::source::Span;
use hlir::{Binary, Bytes, Effect, Expression as Hlir, Intrinsic, Keep, NodeId, Notes, Place, Reentry, Rule};

use super::portable::{Luggage, Pool, bound, drop_rule};
use crate::lower::graph::{EndKind, Role};
use crate::lower::objects::{Object, Package};
use crate::lower::scope::Binding;
use crate::lower::storage::Storage;
use crate::lower::value::Value;
use crate::lower::{Lowered, Lowering, arithmetic};
use crate::types::Type;

/// The metadata of both pipelines.
struct Metadata {
    ingress_in: Pool,
    ingress_out: Pool,
    egress_in: Pool,
    egress_out: Pool,
    normal: Storage,
    resubmit: Storage,
    recirculate: Storage,
    clone_i2e: Storage,
    clone_e2e: Storage,
    /// Bytes that a clone is cut to, or 0.
    limit: Storage,
}

/// Nodes that edges lead to before they are filled.
struct Nodes {
    arrive: NodeId,
    ingress: NodeId,
    ingress_parsed: NodeId,
    ingress_done: NodeId,
    ingress_buffer: NodeId,
    egress: NodeId,
    clone: NodeId,
    egress_parsed: NodeId,
    egress_done: NodeId,
    egress_buffer: NodeId,
}

/// How metadata travels to each place where a packet begins anew.
struct Travel {
    normal: Luggage,
    resubmit: Luggage,
    recirculate: Luggage,
    clone_i2e: Luggage,
    clone_e2e: Luggage,
}

impl<'a> Lowering<'a> {
    pub fn lower_psa(&mut self, package: &Package, span: Span) -> Lowered<()> {
        let [ingress, egress] = ["ingress", "egress"].map(|name| match self.package_part(package, name) {
            Some(object) => match self.object(object) {
                Object::Package(pipeline) => Ok(pipeline),
                _ => Err(self.internal(span, "a PSA_Switch without its pipelines")),
            },
            None => Err(self.internal(span, "a PSA_Switch without its pipelines")),
        });
        let (ingress, egress) = (ingress?, egress?);
        let names = ["arrive", "ingress", "ingress_parsed", "ingress_done", "ingress_buffer"];
        let [arrive, in_parser, ingress_parsed, ingress_done, ingress_buffer] =
            names.map(|name| self.plain_block(&format!("psa.{name}")));
        let names = ["egress", "clone", "egress_parsed", "egress_done", "egress_buffer"];
        let [egress_start, clone, egress_parsed, egress_done, egress_buffer] =
            names.map(|name| self.plain_block(&format!("psa.{name}")));
        let nodes = Nodes {
            arrive,
            ingress: in_parser,
            ingress_parsed,
            ingress_done,
            ingress_buffer,
            egress: egress_start,
            clone,
            egress_parsed,
            egress_done,
            egress_buffer,
        };
        let mut metadata = self.psa_metadata(&ingress, span)?;
        let ingress_blocks = self.psa_ingress(&ingress, &mut metadata, &nodes, span)?;
        let egress_blocks = self.psa_egress(&egress, &mut metadata, &nodes, span)?;
        self.in_path("psa", |lowering| {
            let travel = lowering.psa_travel(&metadata);
            // The ends come first: what begins a packet sets only what something asks for.
            lowering.psa_egress_end(&nodes, &metadata, &travel, egress_blocks.2);
            lowering.psa_ingress_end(&nodes, &metadata, &travel, ingress_blocks.2);
            lowering.psa_egress_begin(&nodes, &metadata, &travel, egress_blocks);
            lowering.psa_ingress_begin(&nodes, &metadata, &travel, ingress_blocks);
        });
        self.program.entry = Some(nodes.arrive);
        Ok(())
    }

    /// Room for the metadata that goes from pipeline to pipeline: its types are those of the deparsers' parameters.
    fn psa_metadata(&mut self, ingress: &Package, span: Span) -> Lowered<Metadata> {
        let (_, parser) = self.required_block(ingress, "ip", span)?;
        let (_, deparser) = self.required_block(ingress, "id", span)?;
        let (parser_types, types) = (self.parameter_types(&parser), self.parameter_types(&deparser));
        let mut room = |of_type: Type, name: &str| self.allocate(&of_type, name, &Notes::default());
        Ok(Metadata {
            normal: room(part(&types, 3), "psa.normal_meta"),
            resubmit: room(part(&types, 2), "psa.resubmit_meta"),
            recirculate: room(part(&parser_types, 5), "psa.recirculate_meta"),
            clone_i2e: room(part(&types, 1), "psa.clone_i2e_meta"),
            clone_e2e: Storage::Nothing,
            limit: room(Type::bits(32), "psa.clone_limit"),
            ingress_in: Pool::new("psa.ingress_input"),
            ingress_out: Pool::new("psa.ingress_output"),
            egress_in: Pool::new("psa.egress_input"),
            egress_out: Pool::new("psa.egress_output"),
        })
    }

    /// The parser, control and deparser of ingress: where each begins.
    fn psa_ingress(
        &mut self,
        package: &Package,
        metadata: &mut Metadata,
        nodes: &Nodes,
        span: Span,
    ) -> Lowered<(NodeId, NodeId, NodeId)> {
        let (parser, parser_block) = self.required_block(package, "ip", span)?;
        let (control, control_block) = self.required_block(package, "ig", span)?;
        let (deparser, _) = self.required_block(package, "id", span)?;
        let (parser_types, types) = (self.parameter_types(&parser_block), self.parameter_types(&control_block));
        let [headers_type, user_type, input_type, output_type] = &types[..] else {
            return Err(self.internal(span, "an ingress without its four parameters"));
        };
        let name = format!("ingress.{}", self.parameter_name(&control_block, 0));
        let headers = self.allocate(headers_type, &name, &Notes::default());
        let name = format!("ingress.{}", self.parameter_name(&control_block, 1));
        let user = self.allocate(user_type, &name, &Notes::default());
        let parser_input = self.pooled(&part(&parser_types, 3), &mut metadata.ingress_in);
        let input = self.pooled(input_type, &mut metadata.ingress_in);
        let output = self.pooled(output_type, &mut metadata.ingress_out);
        let Some(error) = self.needed_variable(&metadata.ingress_in.get("parser_error")) else {
            return Err(self.internal(span, "an ingress without parser_error"));
        };
        let bindings = vec![
            self.packet_binding(),
            bound(&headers),
            bound(&user),
            bound(&parser_input),
            bound(&metadata.resubmit),
            bound(&metadata.recirculate),
        ];
        let done = nodes.ingress_parsed;
        let parser = self.top_parser(parser, bindings, (done, done), error)?;
        let bindings = [&headers, &user, &input, &output].map(bound).into();
        let control = self.top_control(control, bindings, nodes.ingress_done, Role::Plain)?;
        let written = [&metadata.clone_i2e, &metadata.resubmit, &metadata.normal].map(bound);
        let bindings: Vec<Binding> = std::iter::once(self.packet_binding())
            .chain(written)
            .chain([&headers, &user, &output].map(bound))
            .collect();
        let deparser = self.top_control(deparser, bindings, nodes.ingress_buffer, Role::Deparse)?;
        Ok((parser, control, deparser))
    }

    fn psa_egress(
        &mut self,
        package: &Package,
        metadata: &mut Metadata,
        nodes: &Nodes,
        span: Span,
    ) -> Lowered<(NodeId, NodeId, NodeId)> {
        let (parser, parser_block) = self.required_block(package, "ep", span)?;
        let (control, control_block) = self.required_block(package, "eg", span)?;
        let (deparser, deparser_block) = self.required_block(package, "ed", span)?;
        let (parser_types, types) = (self.parameter_types(&parser_block), self.parameter_types(&control_block));
        let [headers_type, user_type, input_type, output_type] = &types[..] else {
            return Err(self.internal(span, "an egress without its four parameters"));
        };
        let name = format!("egress.{}", self.parameter_name(&control_block, 0));
        let headers = self.allocate(headers_type, &name, &Notes::default());
        let name = format!("egress.{}", self.parameter_name(&control_block, 1));
        let user = self.allocate(user_type, &name, &Notes::default());
        metadata.clone_e2e = self.allocate(&part(&parser_types, 6), "psa.clone_e2e_meta", &Notes::default());
        // Egress gets what ingress decided.
        metadata.egress_in.share("egress_port", &metadata.ingress_out);
        metadata.egress_in.share("class_of_service", &metadata.ingress_out);
        let parser_input = self.pooled(&part(&parser_types, 3), &mut metadata.egress_in);
        let input = self.pooled(input_type, &mut metadata.egress_in);
        let output = self.pooled(output_type, &mut metadata.egress_out);
        let Some(error) = self.needed_variable(&metadata.egress_in.get("parser_error")) else {
            return Err(self.internal(span, "an egress without parser_error"));
        };
        let bindings: Vec<Binding> = std::iter::once(self.packet_binding())
            .chain([&headers, &user, &parser_input].map(bound))
            .chain([&metadata.normal, &metadata.clone_i2e, &metadata.clone_e2e].map(bound))
            .collect();
        let done = nodes.egress_parsed;
        let parser = self.top_parser(parser, bindings, (done, done), error)?;
        let bindings = [&headers, &user, &input, &output].map(bound).into();
        let control = self.top_control(control, bindings, nodes.egress_done, Role::Plain)?;
        let types = self.parameter_types(&deparser_block);
        let deparser_input = self.pooled(&part(&types, 6), &mut metadata.egress_in);
        let bindings: Vec<Binding> = std::iter::once(self.packet_binding())
            .chain([&metadata.clone_e2e, &metadata.recirculate].map(bound))
            .chain([&headers, &user, &output, &deparser_input].map(bound))
            .collect();
        let deparser = self.top_control(deparser, bindings, nodes.egress_buffer, Role::Deparse)?;
        Ok((parser, control, deparser))
    }

    fn psa_travel(&mut self, metadata: &Metadata) -> Travel {
        Travel {
            normal: self.luggage(&[&metadata.normal]),
            resubmit: self.luggage(&[&metadata.resubmit]),
            recirculate: self.luggage(&[&metadata.recirculate]),
            clone_i2e: self.luggage(&[&metadata.clone_i2e]),
            clone_e2e: self.luggage(&[&metadata.clone_e2e]),
        }
    }

    fn packet_path(&self, path: &str) -> Hlir {
        Hlir::constant(self.enumeration_number("PSA_PacketPath_t", path).unwrap_or(0), 32)
    }

    /// A packet from a port, and how parsed packets come to the control.
    fn psa_ingress_begin(
        &mut self,
        nodes: &Nodes,
        metadata: &Metadata,
        travel: &Travel,
        (parser, control, _): (NodeId, NodeId, NodeId),
    ) {
        self.current = nodes.arrive;
        self.set_used(&metadata.ingress_in.get("ingress_port"), Hlir::Intrinsic(Intrinsic::IngressPort));
        let path = self.packet_path("NORMAL");
        if path != Hlir::constant(0u32, 32) {
            self.set_used(&metadata.ingress_in.get("packet_path"), path);
        }
        self.graph.goto(nodes.arrive, parser);

        self.current = nodes.ingress;
        self.unpack(&travel.resubmit);
        self.unpack(&travel.recirculate);
        self.graph.goto(self.current, parser);

        self.current = nodes.ingress_parsed;
        self.set_used(&metadata.ingress_out.get("drop"), Hlir::Bool(true));
        let now = self.microseconds();
        self.set_used(&metadata.ingress_in.get("ingress_timestamp"), now);
        self.graph.goto(self.current, control);
    }

    fn psa_ingress_end(&mut self, nodes: &Nodes, metadata: &Metadata, travel: &Travel, deparser: NodeId) {
        let out = &metadata.ingress_out;
        let drop = out.get("drop");
        self.needed_variable(&drop);
        self.current = nodes.ingress_buffer;
        for luggage in [&travel.normal, &travel.resubmit, &travel.clone_i2e] {
            self.pack(luggage);
        }
        let mut rules = Vec::new();
        if self.used_variable(&out.get("clone")).is_some() {
            let keep = self.kept_with(Some(&travel.clone_i2e), &[]);
            let set = self.clone_metadata(metadata, "CLONE_I2E");
            let copy = Reentry { bytes: Bytes::Original, keep, set, to: nodes.clone };
            rules.push(self.session_rule(out, copy));
        }
        rules.push(drop_rule(self.read(&drop), "ingress drop"));
        if self.used_variable(&out.get("resubmit")).is_some() {
            let input = &metadata.ingress_in;
            let keep = self.kept_with(Some(&travel.resubmit), &[&input.get("ingress_port")]);
            let set = self.used_assignment(&input.get("packet_path"), self.packet_path("RESUBMIT"));
            let copy = Reentry { bytes: Bytes::Original, keep, set: set.into_iter().collect(), to: nodes.ingress };
            rules.push(Rule { condition: self.read(&out.get("resubmit")), effect: Effect::Resubmit { copy } });
        }
        if self.used_variable(&out.get("multicast_group")).is_some() {
            rules.push(self.psa_replication(nodes, metadata, travel));
        }
        let set = self.used_assignment(&metadata.egress_in.get("packet_path"), self.packet_path("NORMAL_UNICAST"));
        let effect = Effect::Unicast { set: set.into_iter().collect(), to: nodes.egress };
        rules.push(Rule { condition: Hlir::Bool(true), effect });
        self.end_in_buffer(self.current, "psa.ingress_buffer", rules, None);

        // A packet that only ends here is not deparsed.
        self.current = nodes.ingress_done;
        let to_deparser = self.bridge();
        let clone = match self.used_variable(&out.get("clone")) {
            Some(clone) => Hlir::Variable(clone),
            None => Hlir::Bool(false),
        };
        let condition = arithmetic::and(self.read(&drop), arithmetic::not(clone));
        let kind = EndKind::Branch { condition, then: nodes.ingress_buffer, otherwise: to_deparser };
        self.graph.end(nodes.ingress_done, "psa.is_dropped", Notes::default(), kind);
        self.current = to_deparser;
        self.reset_metadata(&[&metadata.normal, &metadata.resubmit, &metadata.clone_i2e]);
        self.graph.goto(to_deparser, deparser);
    }

    fn psa_replication(&mut self, nodes: &Nodes, metadata: &Metadata, travel: &Travel) -> Rule {
        let input = &metadata.egress_in;
        let group = metadata.ingress_out.get("multicast_group");
        let keep = self.kept_with(Some(&travel.normal), &[&input.get("class_of_service")]);
        let set = self.copy_facts(input, "NORMAL_MULTICAST");
        let copy = Reentry { bytes: Bytes::Deparsed, keep, set, to: nodes.egress };
        let group = self.wide(&group);
        let condition = arithmetic::binary(Binary::NotEqual, group.clone(), Hlir::constant(0u32, 32));
        Rule { condition, effect: Effect::Replicate { group, copy } }
    }

    /// What a copy gets about itself.
    fn copy_facts(&mut self, input: &Pool, path: &str) -> Vec<(Place, Hlir)> {
        // Where the copy goes must be known, whether or not the program looks at it.
        self.needed_variable(&input.get("egress_port"));
        [
            self.used_assignment(&input.get("egress_port"), Hlir::Intrinsic(Intrinsic::CopyPort)),
            self.used_assignment(&input.get("instance"), Hlir::Intrinsic(Intrinsic::CopyInstance)),
            self.used_assignment(&input.get("packet_path"), self.packet_path(path)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn clone_metadata(&mut self, metadata: &Metadata, path: &str) -> Vec<(Place, Hlir)> {
        let mut set = self.copy_facts(&metadata.egress_in, path);
        self.needed_variable(&metadata.limit);
        set.extend(self.used_assignment(&metadata.limit, Hlir::Intrinsic(Intrinsic::CopyTruncation)));
        set
    }

    fn session_rule(&mut self, out: &Pool, copy: Reentry) -> Rule {
        let session = self.wide(&out.get("clone_session_id"));
        Rule { condition: self.read(&out.get("clone")), effect: Effect::Clone { session, copy } }
    }

    fn psa_egress_begin(
        &mut self,
        nodes: &Nodes,
        metadata: &Metadata,
        travel: &Travel,
        (parser, control, _): (NodeId, NodeId, NodeId),
    ) {
        self.current = nodes.egress;
        for luggage in [&travel.normal, &travel.clone_i2e, &travel.clone_e2e] {
            self.unpack(luggage);
        }
        self.graph.goto(self.current, parser);

        if self.used_variable(&metadata.limit).is_some() {
            self.cut_copy(nodes.clone, &metadata.limit);
            self.graph.goto(self.current, nodes.egress);
        }

        self.current = nodes.egress_parsed;
        let now = self.microseconds();
        self.set_used(&metadata.egress_in.get("egress_timestamp"), now);
        self.graph.goto(self.current, control);
    }

    fn psa_egress_end(&mut self, nodes: &Nodes, metadata: &Metadata, travel: &Travel, deparser: NodeId) {
        self.current = nodes.egress_done;
        self.reset_metadata(&[&metadata.clone_e2e, &metadata.recirculate]);
        self.graph.goto(self.current, deparser);

        let out = &metadata.egress_out;
        self.current = nodes.egress_buffer;
        self.pack(&travel.clone_e2e);
        self.pack(&travel.recirculate);
        let mut rules = Vec::new();
        if self.used_variable(&out.get("clone")).is_some() {
            let keep = self.kept_with(Some(&travel.clone_e2e), &[]);
            let set = self.clone_metadata(metadata, "CLONE_E2E");
            let copy = Reentry { bytes: Bytes::Deparsed, keep, set, to: nodes.clone };
            rules.push(self.session_rule(out, copy));
        }
        if self.used_variable(&out.get("drop")).is_some() {
            rules.push(drop_rule(self.read(&out.get("drop")), "egress drop"));
        }
        let port = self.wide(&metadata.egress_in.get("egress_port"));
        rules.push(self.psa_recirculation(nodes, metadata, travel, &port));
        rules.push(Rule { condition: Hlir::Bool(true), effect: Effect::Send { port } });
        self.end_in_buffer(self.current, "psa.egress_buffer", rules, None);
    }

    fn psa_recirculation(&mut self, nodes: &Nodes, metadata: &Metadata, travel: &Travel, port: &Hlir) -> Rule {
        let number = self.architecture_constant("PSA_PORT_RECIRCULATE").unwrap_or(0xffff_fffa);
        let keep: Keep = self.kept_with(Some(&travel.recirculate), &[]);
        let input = &metadata.ingress_in;
        let set = [
            self.used_assignment(&input.get("ingress_port"), Hlir::constant(number, 32)),
            self.used_assignment(&input.get("packet_path"), self.packet_path("RECIRCULATE")),
        ];
        let set = set.into_iter().flatten().collect();
        let copy = Reentry { bytes: Bytes::Deparsed, keep, set, to: nodes.ingress };
        Rule { condition: arithmetic::is_number(port.clone(), number, 32), effect: Effect::Recirculate { copy } }
    }

    /// The functions that PSA declares; `None` for those of others.
    pub fn psa_function(&mut self, name: &str, of_type: &Type, value: &Value, other: &Value) -> Option<Hlir> {
        let field = |lowering: &Self, name: &str| {
            let at = lowering.checked.fields_of(of_type).iter().position(|field| &*field.name == name)?;
            match value {
                Value::Struct(parts) => parts.get(at).cloned()?.scalar(),
                _ => None,
            }
        };
        let kept = |lowering: &Self| Some(arithmetic::not(field(lowering, "drop")?));
        match name {
            "psa_clone_i2e" | "psa_clone_e2e" => field(self, "clone"),
            "psa_resubmit" => Some(arithmetic::and(kept(self)?, field(self, "resubmit")?)),
            "psa_normal" => Some(arithmetic::and(kept(self)?, arithmetic::not(field(self, "resubmit")?))),
            "psa_recirculate" => {
                let number = self.architecture_constant("PSA_PORT_RECIRCULATE").unwrap_or(0xffff_fffa);
                let Value::Struct(parts) = other else { return None };
                let port = parts.first().cloned()?.scalar()?;
                let width = self.width(&port);
                let port = arithmetic::resize(port, width, 32, false);
                Some(arithmetic::and(kept(self)?, arithmetic::is_number(port, number, 32)))
            }
            _ => None,
        }
    }
}

fn part(types: &[Type], at: usize) -> Type {
    types.get(at).cloned().unwrap_or(Type::Void)
}
