//! Where the server listens, for whom, and how much it takes.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Certificates in PEM.
#[derive(Clone)]
pub struct Tls {
    pub certificate: Vec<u8>,
    pub key: Vec<u8>,
    /// Whose certificates controllers need; without it they need none.
    pub controllers: Option<Vec<u8>>,
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
    /// Messages that may wait for a controller that does not read.
    pub queue: usize,
    pub threads: usize,
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
            queue: 4096,
            threads: 2,
        }
    }
}
