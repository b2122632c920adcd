//! P4Runtime: the switch's server, and the client's side of the protocol.
//!
//! [`Server`] serves one device on its own threads. All that it needs of the process is a [`Target`]; the process's events go
//! through [`Events`]. Nothing here knows how a program is compiled or run.

// Fields that the protocol has given up are still written by older controllers.
#![allow(deprecated)]

mod config;
mod data;
mod details;
mod device;
mod digest;
mod election;
mod encoded;
mod events;
mod failure;
mod grpc;
mod incoming;
mod info;
mod miss;
mod packet;
mod pipelines;
mod port;
mod read;
mod saved;
mod schema;
#[allow(clippy::all, clippy::too_many_lines)]
mod service {
    #[rustfmt::skip]
    pub mod client;
    #[rustfmt::skip]
    pub mod server;
    #[rustfmt::skip]
    pub mod switch_client;
    #[rustfmt::skip]
    pub mod switch_server;
}
mod server;
mod settings;
mod stream;
mod target;
mod tls;
mod value;
mod write;

pub use details::errors_of;
pub use digest::{Configs as DigestConfigs, Digests, List as DigestList};
pub use election::only_device;
pub use events::Events;
pub use miss::Miss;
pub use pipelines::Pipelines;
pub use server::{Listening, Lost, Server};
pub use service::client::p4_runtime_client::P4RuntimeClient;
pub use service::switch_client::switch_client::SwitchClient;
pub use settings::{NoConfig, Settings, Timeouts, Tls};
pub use target::{Prepared, Saving, State, Switch, Target};
