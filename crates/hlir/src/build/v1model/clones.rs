//! What a clone of v1model has of its packet. A clone of ingress is parsed again: its parser sees the metadata of a packet that has just come in, and
//! what the clone keeps is set behind the parser (`simple_switch`). Headers in the metadata, and those that egress declares, are invalid in a clone.

use super::{Request, V1model};
use crate::build::graph::EndKind;
use crate::build::{arithmetic, assignment};
use crate::{Bytes, Expression, Intrinsic, Keep, NodeId, Notes, Place, Reentry, Statement, VariableId};

impl V1model<'_> {
    /// A clone that ingress requested. Variables that the parser uses begin as those of a packet that has just come in; what the clone is given (port,
    /// type, ...) and what `list` keeps of them waits in copies until the parser has run.
    pub(super) fn clone_of_ingress(&mut self, list: u32) -> Reentry {
        let keep = self.metadata.kept(&self.builder.slots, list);
        let parts = self.parts;
        let parser_uses = |place: Place| parts.parser_uses.iter().any(|used| place == Place::Variable(*used));
        let (given, mut set): (Vec<_>, Vec<_>) =
            self.copy_metadata(1).into_iter().partition(|(place, _)| parser_uses(*place));
        let held = keep.iter().map(|variable| (Place::Variable(*variable), Expression::Variable(*variable)));
        let is_given = |place: Place| given.iter().any(|(given, _)| *given == place);
        let held: Vec<_> = held.filter(|(place, _)| parser_uses(*place) && !is_given(*place)).collect();
        for (place, value) in held.into_iter().chain(given) {
            let Place::Variable(variable) = place else { continue };
            set.push((self.waiting(variable), value));
            set.push((place, arithmetic::zero(self.builder.program.variables[variable].kind)));
        }
        self.set_of_new_packet(&mut set);
        Reentry { bytes: Bytes::Original, keep: Keep::Only(keep), set, to: self.parts.parser }
    }

    /// The port and the length of the bytes received, as the parser of a clone sees them.
    fn set_of_new_packet(&mut self, set: &mut Vec<(Place, Expression)>) {
        let values = [("ingress_port", Intrinsic::IngressPort), ("packet_length", Intrinsic::PacketLength)];
        for (name, value) in values {
            if let Some(variable) = self.used_standard(name)
                && self.parts.parser_uses.contains(&variable)
            {
                set.push((Place::Variable(variable), self.as_standard(name, Expression::Intrinsic(value))));
            }
        }
    }

    /// A clone of ingress goes to egress once it is parsed, without the metadata that its parser saw or wrote.
    pub(super) fn after_parser(&mut self, block: NodeId) {
        if !self.metadata.requests.contains_key(&Request::CloneIngress) {
            self.builder.graph.goto(block, self.parts.verify);
            return;
        }
        let reset = self.builder.plain_block("v1model.clone");
        for variable in &self.parts.parser_uses {
            let value = match self.is_waiting(*variable) {
                Some(waiting) => Expression::Variable(waiting),
                None => arithmetic::zero(self.builder.program.variables[*variable].kind),
            };
            self.builder.emit(reset, assignment(*variable, value));
        }
        self.builder.graph.goto(reset, self.parts.egress_begin);
        let Some(Place::Variable(given)) = self.standard_place("instance_type") else { return };
        let instance_type = Expression::Variable(self.is_waiting(given).unwrap_or(given));
        let condition = arithmetic::is_number(instance_type, 1, self.metadata.standard_width("instance_type"));
        let kind = EndKind::Branch { condition, then: reset, otherwise: self.parts.verify };
        self.builder.graph.end(block, "v1model.is_clone", Notes::default(), kind);
    }

    fn waiting_name(&self, variable: VariableId) -> String {
        format!("kept.{}", self.builder.program.variables[variable].name)
    }

    fn is_waiting(&mut self, variable: VariableId) -> Option<VariableId> {
        let slot = self.metadata.hidden.get(&self.waiting_name(variable))?.slot;
        Some(self.builder.variable(slot))
    }

    /// Where what a variable holds behind the parser of a clone waits for it.
    fn waiting(&mut self, variable: VariableId) -> Place {
        let (name, of_type) = (self.waiting_name(variable), self.builder.program.variables[variable].kind);
        Place::Variable(self.hidden(&name, of_type))
    }

    /// A clone has no metadata: headers in it are invalid, whether the packet's parser or its controls made them valid. A clone of egress runs through
    /// egress once more, so headers that are declared there are invalid as well.
    pub(super) fn forget_headers(&mut self, block: NodeId) {
        let has_clones =
            [Request::CloneIngress, Request::CloneEgress].iter().any(|of| self.metadata.requests.contains_key(of));
        if self.parts.forgotten.is_empty() || !has_clones {
            return;
        }
        let Some(place) = self.standard_place("instance_type") else { return };
        let (instance_type, width) = (Expression::place(place), self.metadata.standard_width("instance_type"));
        let [of_ingress, of_egress] = [1, 2].map(|of| arithmetic::is_number(instance_type.clone(), of, width));
        let then = self.parts.forgotten.iter().flat_map(|header| self.builder.invalidation(*header)).collect();
        let condition = arithmetic::or(of_ingress, of_egress);
        self.builder.emit(block, Statement::If { condition, then, otherwise: Vec::new() });
    }
}
