//! What belongs to an entry or to a default action besides its action: a controller's metadata, and the rates of a direct meter. STF has no words for
//! it; files of P4Runtime do.

use super::Mistake;
use super::bind::{Binder, Control, meter_rates};
use super::command::{Attached, Key, Word};
use control::plane::{Cell, MeterRates};
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
        let cell = match keys {
            Some(keys) => Cell::Entry(self.entry_key(table, priority, keys, word)?),
            None => Cell::Default(table),
        };
        let update = match attached {
            Attached::Metadata(metadata) => with_metadata(table, cell, metadata.clone()),
            Attached::Rates(rates) => {
                let rates = rates.map(|(committed, peak)| meter_rates(committed, peak)).transpose()?;
                return self.direct_rates(word, table, cell, rates);
            }
        };
        Ok(Control::Attach(update))
    }

    fn direct_rates(
        &self,
        word: &Word,
        table: TableId,
        cell: Cell,
        rates: Option<MeterRates>,
    ) -> Result<Control, Mistake> {
        let program = self.program();
        let direct = program.meters.iter().find(|(_, meter)| meter.table == Some(table));
        match direct {
            Some((meter, _)) => Ok(Control::Attach(Update::SetMeter { meter, cell, rates })),
            None if rates.is_none() => Ok(Control::Nothing),
            None => {
                let message = format!("table `{}` has no direct meter", program.tables[table].name);
                Err(Mistake::new(word.place, message))
            }
        }
    }
}

fn with_metadata(table: TableId, cell: Cell, metadata: Vec<u8>) -> Update {
    Update::Record(match cell {
        Cell::Entry(key) => Record::Metadata { key, metadata },
        Cell::Default(_) | Cell::Index(_) => Record::DefaultMetadata { table, metadata },
    })
}
