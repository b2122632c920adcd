//! Where controllers reach the switch: the flags, and the server behind them.

use super::controller;
use super::miss_library::LibraryHandler;
use clap::Args;
use control::message::runtime::ForwardingPipelineConfig;
use driver::failure::Failure;
use driver::ports::Port;
use driver::stdout::print_line;
use gnmi::Interfaces;
use hlir::Program;
use native::{MissHandler, Replay};
use p4runtime::{Listening, NoConfig, Pipelines, Server, Settings, Target, Tls};
use runtime::open_files;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

#[derive(Args, Clone)]
#[command(next_help_heading = "Controllers")]
pub struct Controllers {
    /// Serve P4Runtime and gNMI there, as 0.0.0.0:9559; repeatable
    #[arg(long = "p4runtime", value_name = "ADDRESS:PORT", value_parser = address)]
    addresses: Vec<SocketAddr>,
    /// Serve the Thrift services of BMv2 there, as 0.0.0.0:9090, for simple_switch_CLI and p4-utils
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    thrift: Option<SocketAddr>,
    /// Device id of P4Runtime and Thrift
    #[arg(long, value_name = "N", default_value_t = 1)]
    device_id: u64,
    /// Port of packet-ins and packet-outs; without it, the switch has neither
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=65_535))]
    pub cpu_port: Option<u32>,
    /// Library that answers misses in tables with @punt_on_miss, instead of controllers (runtime/miss_handler.h)
    #[arg(long, value_name = "FILE.so")]
    miss_handler: Option<PathBuf>,
    /// Answer FAILED_PRECONDITION to a controller that reads the config of a switch without a pipeline, as BMv2 does and p4-utils needs; --thrift implies it
    #[arg(long)]
    refuse_unset_config: bool,
    /// Certificate of the switch (PEM); controllers must use TLS
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// The file of the program that runs at the start, where controllers expect it as they would have pushed it.
    #[arg(skip)]
    pub device_config: Vec<u8>,
    /// Where digests are published to controllers of BMv2.
    #[arg(skip)]
    pub notifications: Option<String>,
    /// Accept only controllers with a certificate of this authority (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_ca: Option<PathBuf>,
}

/// Where controllers can connect already. Their calls wait until the switch serves them.
pub struct Sockets {
    p4runtime: Listening,
    thrift: Option<TcpListener>,
}

/// Names of hosts are not resolved: which of their addresses the server should use would be a guess.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "expected an IP address and a port, such as 127.0.0.1:9559 or [::]:9559".to_string())
}

/// Names that a switch tries for its socket.
const MOST_NAMES: usize = 1000;

/// Where `bacus ctl` finds the switches of a user: each has a socket there with its process's number.
pub fn socket_folder() -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(folder) => PathBuf::from(folder).join("bacus"),
        None => {
            let user = std::fs::metadata("/proc/self").map_or(0, |process| process.uid());
            std::env::temp_dir().join(format!("bacus-{user}"))
        }
    }
}

impl Controllers {
    fn tls(&self) -> Result<Option<Tls>, Failure> {
        let read = |path: &Path| driver::files::contents(path).map(|bytes| bytes.to_vec());
        let Some((certificate, key)) = self.tls_cert.as_deref().zip(self.tls_key.as_deref()) else { return Ok(None) };
        let controllers = self.tls_ca.as_deref().map(read).transpose()?;
        Ok(Some(Tls { certificate: read(certificate)?, key: read(key)?, controllers }))
    }

    /// The user's own code for packets that miss.
    pub fn miss_handler(&self) -> Result<Option<Box<dyn MissHandler>>, Failure> {
        let load = |path: &PathBuf| Ok(Box::new(LibraryHandler::load(path)?) as Box<dyn MissHandler>);
        self.miss_handler.as_ref().map(load).transpose()
    }

    /// Listens, before a program is compiled: scripts start a switch, and connect once its port listens or a moment later.
    /// So does `bacus ctl`, by the socket of the machine's user.
    pub fn listen(&self) -> Result<Sockets, Failure> {
        let refused = |flag: &str, error: std::io::Error| Failure::environment(format!("{flag}: {error}"));
        let mut p4runtime = Listening::at(&self.addresses).map_err(|error| refused("--p4runtime", error))?;
        if let Some(path) = local_socket()
            && let Err(error) = p4runtime.listen_local(&path)
        {
            report_no_socket(&path, &error);
        }
        let bind = |address: SocketAddr| {
            TcpListener::bind(address).map_err(|error| refused(&format!("--thrift: {address}"), error))
        };
        Ok(Sockets { p4runtime, thrift: self.thrift.map(bind).transpose()? })
    }

    /// The config of the program of the command line.
    pub fn config_of(&self, program: &Arc<Program>) -> ForwardingPipelineConfig {
        let p4_device_config = self.device_config.clone();
        ForwardingPipelineConfig { p4_device_config, ..controller::config_of(program) }
    }

    /// Starts the servers: P4Runtime with gNMI beside it, and Thrift. `running` is the pipeline that runs already.
    pub fn serve<L: Replay>(
        &self,
        sockets: Sockets,
        target: controller::Controller<L>,
        running: Option<(Arc<Program>, ForwardingPipelineConfig)>,
        interfaces: Arc<dyn Interfaces>,
    ) -> Result<(Server, Option<bm_runtime::Server>), Failure> {
        let settings = Settings {
            device_id: self.device_id,
            addresses: self.addresses.clone(),
            tls: self.tls()?,
            cpu_port: self.cpu_port,
            most_connections: self.most_connections(),
            services: gnmi::routes(interfaces),
            no_config: self.no_config(),
            ..Settings::default()
        };
        let target = Arc::new(target);
        let server = Server::start_at(sockets.p4runtime, settings, target.clone(), running)
            .map_err(|error| Failure::environment(format!("--p4runtime: {error}")))?;
        let serve = |listener| self.serve_thrift(listener, target, server.pipelines());
        let thrift = sockets.thrift.map(serve).transpose()?;
        Ok((server, thrift))
    }

    fn serve_thrift(
        &self,
        listener: TcpListener,
        target: Arc<dyn Target>,
        pipelines: Pipelines,
    ) -> Result<bm_runtime::Server, Failure> {
        let settings = bm_runtime::Settings {
            device_id: self.device_id,
            pipelines: Some(pipelines),
            notifications: self.notifications.clone(),
            log: |sentence| eprintln!("note: Thrift: {sentence}"),
            ..bm_runtime::Settings::default()
        };
        bm_runtime::Server::start_at(listener, settings, target)
            .map_err(|error| Failure::environment(format!("--thrift: {error}")))
    }

    /// A switch that serves Thrift is there for clients of BMv2.
    fn no_config(&self) -> NoConfig {
        if self.refuse_unset_config || self.thrift.is_some() { NoConfig::Refused } else { NoConfig::Unset }
    }

    /// As many as the process may have open files, without those that the switch needs itself.
    fn most_connections(&self) -> usize {
        const RESERVE: usize = 128;
        let limit = open_files::raise_limit();
        let most = limit.saturating_sub(open_files::count() + RESERVE).clamp(1, Settings::default().most_connections);
        if most < Settings::default().most_streams && !self.addresses.is_empty() {
            eprintln!(
                "note: the switch may have {limit} open files, so it takes at most {most} connection{}: raise the hard \
                 limit (`ulimit -H -n`) for more",
                if most == 1 { "" } else { "s" }
            );
        }
        most
    }

    /// Whether controllers are to come from elsewhere: the switch waits for them.
    pub fn are_expected(&self) -> bool {
        !self.addresses.is_empty() || self.thrift.is_some()
    }

    /// The lines of BMv2 about its ports and servers.
    pub fn print_as_bmv2(&self, ports: &[Port], server: &Server, thrift: Option<&bm_runtime::Server>) {
        for port in ports {
            print_line!("Adding interface {} as port {}", port.name(), port.number);
        }
        for address in server.addresses() {
            print_line!("Server listening on {address}");
        }
        if thrift.is_some() {
            print_line!("Thrift server was started");
        }
    }

    /// For the line that reports that the switch is ready.
    pub fn described(&self, server: &Server, thrift: Option<&bm_runtime::Server>) -> String {
        let addresses: Vec<String> = server.addresses().iter().map(ToString::to_string).collect();
        let p4runtime = match addresses.is_empty() {
            true => String::new(),
            false => format!("; P4Runtime {} device {}", addresses.join(" "), self.device_id),
        };
        let thrift = thrift.map(|server| format!("; Thrift {}", server.address())).unwrap_or_default();
        p4runtime + &thrift
    }
}

/// None where no socket can be made: the switch runs without, and a warning reports it.
fn local_socket() -> Option<PathBuf> {
    let folder = socket_folder();
    match claim_folder(&folder) {
        Ok(()) => {
            remove_stale_sockets(&folder);
            Some(own_socket(&folder, std::process::id()))
        }
        Err(error) => {
            report_no_socket(&folder, &error);
            None
        }
    }
}

/// The switch runs without its socket.
fn report_no_socket(path: &Path, error: &std::io::Error) {
    let path = path.display();
    eprintln!(
        "note: {path}: {error}: `bacus ctl` reaches this switch by --p4runtime and --connect only; XDG_RUNTIME_DIR names \
         another directory"
    );
}

/// The socket of this process. Another process may have left one with the same number, or have it now: a container has numbers of its own, and those of
/// a switch that is killed and started again are equal.
fn own_socket(folder: &Path, process: u32) -> PathBuf {
    let first = folder.join(format!("{process}.sock"));
    let others = (1..).map(|number| folder.join(format!("{process}-{number}.sock")));
    let is_free = |path: &PathBuf| match UnixStream::connect(path) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => std::fs::remove_file(path).is_ok(),
        Err(error) => error.kind() == ErrorKind::NotFound,
        Ok(_) => false,
    };
    std::iter::once(first.clone()).chain(others).take(MOST_NAMES).find(is_free).unwrap_or(first)
}

/// Makes the directory of a user's sockets, where it is missing. Only the user may reach into the switch: one that others could have made is refused.
fn claim_folder(folder: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let (owner, own) = (std::fs::metadata(folder)?.uid(), std::fs::metadata("/proc/self")?.uid());
    if owner != own && own != 0 {
        return Err(std::io::Error::new(ErrorKind::PermissionDenied, "it belongs to another user"));
    }
    // Root of a user namespace may not write to what root owns outside.
    let probe = folder.join(format!(".{}", std::process::id()));
    std::fs::write(&probe, "")?;
    std::fs::remove_file(probe)
}

/// Removes the sockets of switches that were killed: none answers there. One that is younger than a minute may be about to answer.
fn remove_stale_sockets(folder: &Path) {
    const YOUNG: Duration = Duration::from_secs(60);
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_gone = || !Path::new("/proc").join(path.file_stem().unwrap_or_default()).exists();
        let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
        let is_refused = || UnixStream::connect(&path).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused);
        let is_socket = path.extension().is_some_and(|extension| extension == "sock");
        if is_socket && (is_gone() || age().is_some_and(|age| age > YOUNG)) && is_refused() {
            drop(std::fs::remove_file(path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn sockets_of_killed_switches_are_removed() {
        let folder = std::env::temp_dir().join(format!("bacus-sockets-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a directory can be made");
        let socket = |name: &str| folder.join(name);
        // The file of a socket outlives its process. A number beyond the largest of a process is of none.
        for name in ["4194305.sock", "4194306.sock", "1.sock"] {
            drop(UnixListener::bind(socket(name)).expect("a socket can be made"));
        }
        std::fs::remove_file(socket("4194306.sock")).expect("the socket is there");
        let alive = UnixListener::bind(socket("4194306.sock")).expect("a socket can be made");
        std::fs::write(socket("other"), "").expect("a file can be written");
        remove_stale_sockets(&folder);
        let left = ["4194306.sock", "1.sock", "other"].map(|name| socket(name).exists());
        assert_eq!(left, [true; 3], "one answers, one is young, one is no socket");
        assert!(!socket("4194305.sock").exists());
        drop(alive);
        std::fs::remove_dir_all(&folder).expect("the directory is there");
    }

    #[test]
    fn a_number_that_another_process_has_or_had_is_no_obstacle() {
        let folder = std::env::temp_dir().join(format!("bacus-own-socket-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a directory can be made");
        let (first, second) = (folder.join("7.sock"), folder.join("7-1.sock"));
        assert_eq!(own_socket(&folder, 7), first);
        drop(UnixListener::bind(&first).expect("a socket can be made"));
        assert_eq!(own_socket(&folder, 7), first, "its process was killed");
        let alive = UnixListener::bind(&first).expect("what was left is removed");
        assert_eq!(own_socket(&folder, 7), second, "the process of another container answers there");
        drop(alive);
        std::fs::remove_dir_all(&folder).expect("the directory is there");
    }

    #[test]
    fn a_directory_that_cannot_be_written_has_no_sockets() {
        let file = std::env::temp_dir().join(format!("bacus-no-folder-{}", std::process::id()));
        std::fs::write(&file, "").expect("a file can be written");
        assert!(claim_folder(&file).is_err() && claim_folder(&file.join("below")).is_err());
        std::fs::remove_file(&file).expect("the file is there");
        assert!(claim_folder(&file).is_ok());
        std::fs::remove_dir(&file).expect("only the probe was there, and it is gone");
        // A directory of the kernel, which takes no files.
        assert!(claim_folder(Path::new("/proc/self")).is_err());
    }

    #[test]
    fn an_address_has_numbers_and_a_port() {
        assert!(address("127.0.0.1:9559").is_ok() && address("[::1]:9559").is_ok());
        for text in ["9559", ":9559", "localhost:9559", "127.0.0.1"] {
            assert!(address(text).is_err_and(|why| why.contains("127.0.0.1:9559")), "{text}");
        }
    }
}
