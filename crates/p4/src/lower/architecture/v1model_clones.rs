//! What a clone of v1model does not have: headers of the metadata, and those that egress declares.

use crate::lower::effects::Touch;
use crate::lower::{Lowering, arithmetic};
use hlir::{Expression, HeaderId};
use std::collections::BTreeSet;

impl Lowering<'_> {
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
