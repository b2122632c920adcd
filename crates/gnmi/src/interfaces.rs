//! What the service needs of the switch: its ports, and a notification when one changes.

use std::sync::Arc;
use tokio::sync::watch;

/// Whether packets can go by a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Up,
    Down,
    /// The device was removed.
    NotPresent,
}

/// Since the switch began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub in_packets: u64,
    pub in_octets: u64,
    pub in_errors: u64,
    pub in_discards: u64,
    pub out_packets: u64,
    pub out_octets: u64,
    pub out_discards: u64,
}

/// A port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Unique in the switch.
    pub name: String,
    /// Its number in the program.
    pub port: u32,
    /// False: it was disabled by its user.
    pub enabled: bool,
    pub status: Status,
    /// When the status changed, in nanoseconds since 1970.
    pub changed_ns: u64,
    pub counters: Counters,
}

/// Why a port cannot be enabled or disabled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    NoSuchInterface,
    /// Its device was removed.
    NotPresent,
    /// Another reason, as a sentence.
    Failed(String),
}

/// The ports of the switch. The methods are called by several threads at once, and may wait for a short time.
pub trait Interfaces: Send + Sync + 'static {
    /// All ports as they are, in the order of their numbers.
    fn interfaces(&self) -> Vec<Interface>;

    /// Enables or disables a port. When it returns, [`Interfaces::interfaces`] shows it.
    ///
    /// # Errors
    /// The port is as before.
    fn set_enabled(&self, name: &str, enabled: bool) -> Result<(), Refusal>;

    /// Notified by the switch.
    fn changes(&self) -> &Changes;
}

/// Through which the switch notifies subscribers that a port has changed, other than in its counters.
#[derive(Clone, Debug)]
pub struct Changes(Arc<watch::Sender<()>>);

impl Default for Changes {
    fn default() -> Changes {
        Changes(Arc::new(watch::Sender::new(())))
    }
}

impl Changes {
    pub fn notify(&self) {
        self.0.send_replace(());
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<()> {
        self.0.subscribe()
    }
}
