//! What a clone of v1model has of its packet. A clone of ingress is parsed again: its parser sees the metadata of a packet that has just come in, and
//! what the clone keeps is set behind the parser (`simple_switch`). Headers in the metadata, and those that egress declares, are invalid in a clone.

use std::collections::BTreeSet;

use hlir::{Bytes, Expression, HeaderId, Intrinsic, Keep, NodeId, Notes, Place, Reentry, Statement, VariableId};

use crate::lower::effects::Touch;
use crate::lower::graph::EndKind;
use crate::lower::storage::Storage;
use crate::lower::{Lowering, arithmetic};

impl Lowering<'_> {
    /// The variables of user and standard metadata that what was lowered so far uses: a slot has none before.
    pub fn used_metadata(&self) -> Vec<VariableId> {
        self.architecture.metadata.iter().filter_map(|slot| self.slots.variable(*slot)).collect()
    }

    /// A clone that ingress requested. Variables that the parser uses begin as those of a packet that has just come in; what the clone is given (port,
    /// type, ...) and what `list` keeps of them waits in copies until the parser has run.
    pub fn clone_of_ingress(&mut self, list: u32, parser: NodeId, parser_uses: &[VariableId]) -> Reentry {
        let keep = self.kept(list);
        let parser_uses_place = |place: Place| parser_uses.iter().any(|used| place == Place::Variable(*used));
        let (given, mut set): (Vec<_>, Vec<_>) =
            self.copy_metadata(1).into_iter().partition(|(place, _)| parser_uses_place(*place));
        let held = keep.iter().map(|variable| (Place::Variable(*variable), Expression::Variable(*variable)));
        let is_given = |place: Place| given.iter().any(|(given, _)| *given == place);
        let held: Vec<_> = held.filter(|(place, _)| parser_uses_place(*place) && !is_given(*place)).collect();
        for (place, value) in held.into_iter().chain(given) {
            let Place::Variable(variable) = place else { continue };
            set.push((self.waiting(variable), value));
            set.push((place, arithmetic::zero(self.program.variables[variable].kind)));
        }
        self.set_of_new_packet(parser_uses, &mut set);
        Reentry { bytes: Bytes::Original, keep: Keep::Only(keep), set, to: parser }
    }

    /// The port and the length of the bytes received, as the parser of a clone sees them.
    fn set_of_new_packet(&mut self, parser_uses: &[VariableId], set: &mut Vec<(Place, Expression)>) {
        let values = [("ingress_port", Intrinsic::IngressPort), ("packet_length", Intrinsic::PacketLength)];
        for (name, value) in values {
            if let Some(variable) = self.standard_variable(name)
                && parser_uses.contains(&variable)
            {
                set.push((Place::Variable(variable), self.as_standard(name, Expression::Intrinsic(value))));
            }
        }
    }

    /// A clone of ingress goes to egress once it is parsed, without the metadata that its parser saw or wrote.
    pub fn after_parser(&mut self, block: NodeId, next: NodeId, parser_uses: &[VariableId], egress: NodeId) {
        if !self.architecture.requests.contains_key("clone_i2e") {
            self.graph.goto(block, next);
            return;
        }
        let reset = self.plain_block("v1model.clone");
        self.current = reset;
        for variable in parser_uses {
            let value = match self.architecture.hidden.get(&self.waiting_name(*variable)).cloned() {
                Some(waiting) => self.read(&waiting),
                None => arithmetic::zero(self.program.variables[*variable].kind),
            };
            self.emit(Statement::Assign { target: Place::Variable(*variable), value });
        }
        self.graph.goto(reset, egress);
        let Some(Place::Variable(given)) = self.standard_place("instance_type") else { return };
        let instance_type = match self.architecture.hidden.get(&self.waiting_name(given)).cloned() {
            Some(waiting) => self.read(&waiting),
            None => Expression::Variable(given),
        };
        let condition = arithmetic::is_number(instance_type, 1, self.standard_width("instance_type"));
        let kind = EndKind::Branch { condition, then: reset, otherwise: next };
        self.graph.end(block, "v1model.is_clone", Notes::default(), kind);
    }

    fn waiting_name(&self, variable: VariableId) -> String {
        format!("kept.{}", self.program.variables[variable].name)
    }

    /// Where what a variable holds behind the parser of a clone waits for it.
    fn waiting(&mut self, variable: VariableId) -> Place {
        let (name, of_type) = (self.waiting_name(variable), self.program.variables[variable].kind);
        let storage = self.hidden(&name, of_type);
        let Storage::Scalar { leaf, .. } = storage else { return Place::Variable(variable) };
        self.place(leaf)
    }

    /// Headers that have become valid or invalid since then.
    pub fn written_headers(&self, since: usize) -> BTreeSet<HeaderId> {
        let header = |touch: &Touch| match touch {
            Touch::Header(header) => Some(*header),
            Touch::Variable(_) | Touch::Field(_) => None,
        };
        self.log[since..].iter().filter_map(header).collect()
    }

    /// A clone has no metadata: headers in it are invalid, whether the packet's parser or its controls made them valid. A clone of egress runs through
    /// egress once more, so headers that are declared there are invalid as well.
    pub fn forget_headers(&mut self, headers: &BTreeSet<HeaderId>) {
        if headers.is_empty()
            || !["clone_i2e", "clone_e2e"].iter().any(|of| self.architecture.requests.contains_key(of))
        {
            return;
        }
        let Some(place) = self.standard_place("instance_type") else { return };
        let (instance_type, width) = (Expression::place(place), self.standard_width("instance_type"));
        let [of_ingress, of_egress] = [1, 2].map(|of| arithmetic::is_number(instance_type.clone(), of, width));
        let forget = |lowering: &mut Self| headers.iter().for_each(|header| lowering.set_invalid(*header));
        self.branch(arithmetic::or(of_ingress, of_egress), "", forget, |_| {});
    }
}
