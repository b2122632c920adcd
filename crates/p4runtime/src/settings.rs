//! Where the server listens, for whom, and how much it takes.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tonic::service::Routes;

/// Certificates in PEM.
#[derive(Clone)]
pub struct Tls {
    pub certificate: Vec<u8>,
    pub key: Vec<u8>,
    /// Whose certificates controllers need; without it they need none.
    pub controllers: Option<Vec<u8>>,
}

/// How long the server waits for a silent controller.
#[derive(Clone, Copy)]
pub struct Timeouts {
    /// From the connection to the first frame, a TLS handshake among it.
    pub greeting: Duration,
    /// From the begin of a request to its end. Streams have none.
    pub request: Duration,
    /// Without anything from the controller, until it gets a keepalive.
    pub quiet: Duration,
    /// For that sign.
    pub answer: Duration,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts {
            greeting: Duration::from_secs(10),
            request: Duration::from_secs(120),
            quiet: Duration::from_secs(30),
            answer: Duration::from_secs(20),
        }
    }
}

/// The answer to a controller that reads the config of a switch without a pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoConfig {
    /// A response whose config is unset (P4Runtime 1.5, 15).
    #[default]
    Unset,
    /// `FAILED_PRECONDITION`, as BMv2 answers. Controllers of p4-utils set their config only then.
    Refused,
}

#[derive(Clone)]
pub struct Settings {
    /// Any number, 0 as well.
    pub device_id: u64,
    /// Where to listen; port 0 takes any that is free.
    pub addresses: Vec<SocketAddr>,
    /// A Unix socket in addition, without certificates.
    pub socket: Option<PathBuf>,
    pub tls: Option<Tls>,
    /// The port that controllers call 0xfffffffd.
    pub cpu_port: Option<u32>,
    /// Bytes of a message at most.
    pub largest_message: usize,
    /// Open streams at most.
    pub most_streams: usize,
    /// Connections at most, of those that have begun to speak.
    pub most_connections: usize,
    /// Connections at most that have not begun to speak: when there is one more, the oldest is closed.
    pub most_silent: usize,
    pub timeouts: Timeouts,
    pub no_config: NoConfig,
    /// Messages that may wait for a controller that does not read.
    pub queue: usize,
    pub threads: usize,
    /// Other services, at the same addresses.
    pub services: Routes,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            device_id: 1,
            addresses: Vec::new(),
            socket: None,
            tls: None,
            cpu_port: None,
            largest_message: 128 << 20,
            most_streams: 1000,
            most_connections: 4096,
            most_silent: 128,
            timeouts: Timeouts::default(),
            no_config: NoConfig::default(),
            queue: 4096,
            threads: 2,
            services: Routes::default(),
        }
    }
}
