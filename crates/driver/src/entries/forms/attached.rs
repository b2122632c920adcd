//! What P4Runtime writes with an entry or a default action besides its action: metadata, and the rates of a direct meter.

use super::p4runtime::{Commands, Kind, Reader};
use super::tree::Node;
use control::{Rate, note};
use stf::Mistake;
use stf::command::{Attached, Control, Key, MeterRate, Word};

/// An entry by its priority and its keys, or the default action of its table.
pub struct Owner {
    pub table: Word,
    pub entry: Option<(Option<Word>, Vec<Key>)>,
}

impl Reader<'_> {
    /// A modification takes away what it does not write (P4Runtime 1.5, 9.1).
    pub fn attached(&self, kind: Kind, entry: &Node, owner: &Owner) -> Commands {
        let each = [Attached::Metadata(self.metadata(entry)?), Attached::Rates(self.rates(entry)?)];
        let written = each.into_iter().filter(|one| kind == Kind::Modify || !one.is_nothing());
        let of = |attached| {
            let (priority, keys) = owner.entry.clone().unzip();
            Control::Attach { table: owner.table.clone(), priority: priority.flatten(), keys, attached }
        };
        Ok(written.map(of).collect())
    }

    fn metadata(&self, entry: &Node) -> Result<Vec<u8>, Mistake> {
        let metadata = entry.field("metadata").map_or(Ok(Vec::new()), |node| self.value(node))?;
        let number = entry.field("controller_metadata").map_or(Ok(0), |node| node.count("a number"))?;
        Ok(note::pack(number, &metadata))
    }

    fn rates(&self, entry: &Node) -> Result<Option<(MeterRate, MeterRate)>, Mistake> {
        let Some(config) = entry.field("meter_config").filter(|node| !node.is_default()) else { return Ok(None) };
        config.only(&["cir", "cburst", "pir", "pburst", "eburst"])?;
        if let Some(excess) = config.field("eburst").filter(|node| !node.is_default()) {
            return Err(Mistake::new(excess.place, "a meter of two rates has no excess burst"));
        }
        let of = |name: &str, what: &str| config.field(name).map_or(Ok(0), |node| node.count(what));
        let rate = |rate: &str, burst: &str| {
            let place = config.field(rate).unwrap_or(config).place;
            Ok(MeterRate { place, rate: Rate::of_units(of(rate, "a rate")?), burst: of(burst, "a burst")? })
        };
        Ok(Some((rate("cir", "cburst")?, rate("pir", "pburst")?)))
    }
}
