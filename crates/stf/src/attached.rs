//! What belongs to an entry or to a default action besides its action: a controller's metadata, and the rates of a direct meter. STF has no words for
//! it; files of P4Runtime do.

use super::Mistake;
use super::bind::{Binder, Control, meter_rates};
use super::command::{Attached, Key, Word};
use control::plane::{Element, MeterRates};
use control::{Record, Update};
use hlir::TableId;

impl Attached {
    /// Whether this is what an entry has to which nothing is attached.
    pub fn is_nothing(&self) -> bool {
        match self {
            Attached::Metadata(metadata) => metadata.is_empty(),
            Attached::Rates(rates) => rates.is_none(),
        }
    }
}

impl Binder<'_> {
    pub fn attach(
        &mut self,
        word: &Word,
        priority: Option<&Word>,
        keys: Option<&[Key]>,
        attached: &Attached,
    ) -> Result<Control, Mistake> {
        let Some(table) = self.table(word)? else { return Ok(Control::Nothing) };
        let element = match keys {
            Some(keys) => Element::Entry(self.entry_key(table, priority, keys, word)?),
            None => Element::Default(table),
        };
        let update = match attached {
            Attached::Metadata(metadata) => with_metadata(table, element, metadata.clone()),
            Attached::Rates(rates) => {
                let rates = rates.map(|(committed, peak)| meter_rates(committed, peak)).transpose()?;
                return self.direct_rates(word, table, element, rates);
            }
        };
        Ok(Control::Attach(update))
    }

    fn direct_rates(
        &self,
        word: &Word,
        table: TableId,
        element: Element,
        rates: Option<MeterRates>,
    ) -> Result<Control, Mistake> {
        let program = self.program();
        let direct = program.meters.iter().find(|(_, meter)| meter.table == Some(table));
        match direct {
            Some((meter, _)) => Ok(Control::Attach(Update::SetMeter { meter, element, rates })),
            None if rates.is_none() => Ok(Control::Nothing),
            None => {
                let message = format!("table `{}` has no direct meter", program.tables[table].name);
                Err(Mistake::new(word.place, message))
            }
        }
    }
}

fn with_metadata(table: TableId, element: Element, metadata: Vec<u8>) -> Update {
    Update::Record(match element {
        Element::Entry(key) => Record::Metadata { key, metadata },
        Element::Default(_) | Element::Index(_) => Record::DefaultMetadata { table, metadata },
    })
}
