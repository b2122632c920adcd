//! How a client of a running switch finds it: the flags of `bacus ctl` and `bacus stat`.

use crate::run::controllers::socket_folder;
use clap::Args;
use ctl::{Failure, Settings, Tls};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Where the unit of the package has its socket, for its user and root.
const OF_THE_SERVICE: &str = "/run/bacus/bacus";

/// A switch that was started a moment before has read its program by then, and listens.
const START: Duration = Duration::from_millis(500);

#[derive(Args)]
pub struct Connection {
    /// The switch [default: the one that you run on this machine]
    #[arg(long, value_name = "ADDRESS:PORT|SOCKET", value_parser = switch_address)]
    connect: Option<String>,
    /// P4Runtime device id [default: the one that the switch reports]
    #[arg(long, value_name = "N")]
    device_id: Option<u64>,
    /// Use TLS; this authority has signed the switch's certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "connect")]
    tls_ca: Option<PathBuf>,
    /// Client certificate (PEM), for mutual TLS
    #[arg(long, value_name = "FILE", requires_all = ["tls_ca", "tls_key"])]
    tls_cert: Option<PathBuf>,
    /// Key of the client certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

/// The address of a server, or the path of a socket.
fn switch_address(text: &str) -> Result<String, String> {
    let port = text.rsplit_once(':').filter(|(host, _)| !host.contains(':') || host.ends_with(']'));
    let has_port = port.is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    if text.contains('/') || has_port {
        return Ok(text.to_string());
    }
    if Path::new(text).exists() {
        return Ok(format!("./{text}"));
    }
    let host = if text.matches(':').count() > 1 { "[::1]" } else { "192.0.2.1" };
    Err(format!("it has no port: write ADDRESS:PORT, such as {host}:9559, or the path of a socket"))
}

/// The socket of the one switch of this machine's user.
fn the_switch() -> Result<PathBuf, Failure> {
    let (own, of_the_service) = (socket_folder(), Path::new(OF_THE_SERVICE));
    let begin = Instant::now();
    while [own.as_path(), of_the_service].into_iter().all(|folder| ctl::switches(folder).is_empty())
        && begin.elapsed() < START
    {
        std::thread::sleep(START / 20);
    }
    ctl::one_switch(&own).or_else(|failure| ctl::one_switch(of_the_service).map_err(|_| failure))
}

impl Connection {
    /// What a client connects with, for the default role.
    ///
    /// # Errors
    /// The outer one: a file cannot be read. The inner one: no switch, or several, run on this machine.
    pub fn settings(&self) -> Result<Result<Settings, Failure>, driver::failure::Failure> {
        let read = |path: &PathBuf| driver::files::contents(path).map(|bytes| bytes.to_vec());
        let identity = match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => Some((read(certificate)?, read(key)?)),
            _ => None,
        };
        let authority = self.tls_ca.as_ref().map(read).transpose()?;
        let address = match &self.connect {
            Some(address) => Ok(address.clone()),
            None => the_switch().map(|socket| socket.display().to_string()),
        };
        Ok(address.map(|address| Settings {
            address,
            tls: authority.map(|authority| Tls { authority, identity }),
            device: self.device_id,
            role: String::new(),
            force: false,
        }))
    }
}
