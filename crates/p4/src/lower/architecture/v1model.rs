//! The parts of a v1model program: its parser and controls are lowered here, and connected by [`hlir::build::v1model`].

use std::collections::{BTreeSet, HashMap};

use hlir::build::v1model::{self, Ends, Metadata, Parts, Request};
use hlir::build::{Builder, Known};
use hlir::diagnostic::Diagnostic;
use hlir::source::Span;
use hlir::{Expression as Hlir, HeaderId, Notes, Place, VariableId};

use super::Architecture;
use super::calculations::Calculation;
use crate::ast::walk::declaration_expressions;
use crate::ast::{DeclarationId, Expression, ExpressionKind};
use crate::check::Callee;
use crate::lower::effects::Touch;
use crate::lower::graph::Role;
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
    /// Hashes and checksums so far.
    pub calculations: Vec<Calculation>,
    /// Field lists that each request was made with.
    pub requests: HashMap<Request, Vec<u32>>,
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

        let ends = self.building(Ends::new);
        let [to_ingress, to_deparser] = [self.bridge(), self.bridge()];

        let error = self.standard_place("parser_error");
        let Some(Place::Variable(error)) = error else {
            return Err(self.internal(span, "a v1model without parser_error"));
        };
        let bindings = with_packet(all(&[&headers, &metadata, &standard]));
        let parser = self.top_parser(parser, bindings, (ends.parsed, ends.parsed), error)?;
        let parser_uses = self.used_metadata();

        let after_parser = self.top_control(verify, all(&[&headers, &metadata]), to_ingress, Role::Plain)?;
        let ingress = self.top_control(ingress, all(&[&headers, &metadata, &standard]), ends.ingress, Role::Plain)?;
        self.graph.goto(to_ingress, ingress);
        let egress_control = egress;
        let egress_name = self.block_name(egress);
        let egress_begin = self.plain_block(&format!("{egress_name}.begin"));
        let egress_written = self.position();
        let egress = self.top_control(egress, all(&[&headers, &metadata, &standard]), ends.egress, Role::Plain)?;
        let mut forgotten = self.written_headers(egress_written);
        forgotten.extend(metadata.headers());
        forgotten.retain(|header| !headers.headers().contains(header));
        let egress_drops = self.wrote_standard(egress_written, "egress_spec");
        let egress_asks = egress_drops || self.control_mentions(egress_control, "egress_spec");
        let compute = self.top_control(compute, all(&[&headers, &metadata]), to_deparser, Role::Plain)?;
        let deparser = self.top_control(deparser, with_packet(all(&[&headers])), ends.output, Role::Deparse)?;
        self.graph.goto(to_deparser, deparser);
        self.name_calculations();

        let parts = Parts {
            parser,
            verify: after_parser,
            egress_begin,
            egress,
            compute,
            parser_uses,
            forgotten,
            egress_drops,
            egress_asks,
        };
        let metadata = self.known_metadata();
        self.building(|builder| v1model::connect(builder, metadata, &ends, &parts));
        Ok(())
    }

    /// What the architecture's builder knows of the metadata.
    fn known_metadata(&mut self) -> Metadata {
        let known = |storages: &HashMap<String, Storage>| -> HashMap<String, Known> {
            let known = |(name, storage): (&String, &Storage)| match storage {
                Storage::Scalar { leaf: Leaf::Slot(slot), of_type } => {
                    Some((name.clone(), Known { slot: *slot, of_type: *of_type }))
                }
                _ => None,
            };
            storages.iter().filter_map(known).collect()
        };
        let state = &mut self.architecture;
        Metadata {
            standard: known(&state.standard),
            hidden: known(&state.hidden),
            slots: std::mem::take(&mut state.metadata),
            lists: std::mem::take(&mut state.lists),
            requests: std::mem::take(&mut state.requests),
            uses_multicast: state.uses_multicast,
        }
    }

    /// Runs a step of the builder on the program that is being lowered.
    fn building<T>(&mut self, build: impl FnOnce(&mut Builder) -> T) -> T {
        let mut builder = Builder {
            program: std::mem::take(&mut self.program),
            graph: std::mem::take(&mut self.graph),
            slots: std::mem::take(&mut self.slots),
            names: std::mem::take(&mut self.names),
        };
        let result = build(&mut builder);
        Builder { program: self.program, graph: self.graph, slots: self.slots, names: self.names } = builder;
        result
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
}
