//! gNMI: the ports of a switch as the interfaces of OpenConfig, to read, to enable and to subscribe to.
//!
//! All that the service needs of the switch is [`Interfaces`]. `docs/gnmi.md` lists the paths. Nothing here knows of P4 or of packets.

mod clock;
mod extension;
mod get;
mod interfaces;
mod json;
#[allow(clippy::all)]
#[rustfmt::skip]
pub mod message;
mod models;
mod path;
mod rpc;
#[allow(clippy::all, clippy::too_many_lines)]
mod service {
    #[rustfmt::skip]
    pub mod client;
    #[rustfmt::skip]
    pub mod server;
}
mod set;
mod stream;
mod subscribe;
mod tree;

pub use extension::Extension;
pub use interfaces::{Changes, Counters, Interface, Interfaces, Refusal, Status};
pub use service::client::g_nmi_client::GNmiClient;

use std::sync::Arc;
use tonic::service::Routes;

/// The service, to be served beside others.
pub fn routes(interfaces: Arc<dyn Interfaces>) -> Routes {
    Routes::new(service::server::g_nmi_server::GNmiServer::new(rpc::Rpc { interfaces }))
}
