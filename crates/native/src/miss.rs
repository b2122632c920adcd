//! Code within the process that answers packets which find nothing in a table with `@punt_on_miss`.

use control::{DataPlane, Refusal};
use hlir::TableId;

/// A controller without a connection. The control thread calls it; what it writes is there when the packet is looked up again.
pub trait MissHandler: Send {
    /// A packet has found nothing in this table.
    ///
    /// # Errors
    /// What the switch refused. The packet waits on.
    fn missed(&mut self, table: TableId, packet: &[u8], plane: &mut dyn DataPlane) -> Result<(), Refusal>;
}
