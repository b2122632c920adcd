//! Starts and stops the server: its threads, its listeners, its TLS.

use crate::config;
use crate::device::{Device, Losses};
use crate::events::{self, Events};
use crate::grpc::Grpc;
use crate::incoming::{Connections, Listener};
use crate::pipelines::Pipelines;
use crate::service::server::p4_runtime_server::P4RuntimeServer;
use crate::service::switch_server::switch_server::SwitchServer;
use crate::settings::Settings;
use crate::target::Target;
use crate::tls;
use control::message::runtime::ForwardingPipelineConfig;
use hlir::Program;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tonic::service::Routes;

/// Events that may wait for the server's thread.
const EVENTS: usize = 65_536;

/// Messages that were dropped because a queue was full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Lost {
    pub packets_in: u64,
    pub digests: u64,
    pub idle: u64,
    /// Frames for the controller that were shorter than their header.
    pub malformed: u64,
    /// Connections that were closed because there were too many.
    pub connections: u64,
}

/// Addresses, and perhaps a Unix socket, where clients can connect already. What they send waits until
/// [`Server::start_at`] serves them.
pub struct Listening {
    addresses: Vec<TcpListener>,
    socket: Option<(UnixListener, SocketFile)>,
}

impl Listening {
    /// # Errors
    /// An address that is taken, which the message names.
    pub fn at(addresses: &[SocketAddr]) -> io::Result<Listening> {
        let bind = |address: &SocketAddr| {
            TcpListener::bind(address).map_err(|error| io::Error::new(error.kind(), format!("{address}: {error}")))
        };
        let addresses = addresses.iter().map(bind).collect::<io::Result<_>>()?;
        Ok(Listening { addresses, socket: None })
    }

    /// Listens at a Unix socket, too.
    ///
    /// # Errors
    /// A path that is taken, is too long for a socket (107 bytes), or cannot be written.
    pub fn listen_local(&mut self, path: &Path) -> io::Result<()> {
        self.socket = Some((local_listener(path)?, SocketFile(path.to_path_buf())));
        Ok(())
    }
}

/// The file of a Unix socket, which is removed with it.
struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

/// A running server. It stops when it is dropped.
pub struct Server {
    device: Arc<Device>,
    events: Events,
    connections: Connections,
    addresses: Vec<SocketAddr>,
    _socket: Option<SocketFile>,
    stop: watch::Sender<bool>,
    runtime: Option<Runtime>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens, and serves on threads of its own. `running` is the pipeline that the target runs already.
    ///
    /// # Errors
    /// An address that is taken, or certificates that are none.
    pub fn start(
        settings: Settings,
        target: Arc<dyn Target>,
        running: Option<(Arc<Program>, ForwardingPipelineConfig)>,
    ) -> io::Result<Server> {
        let mut listening = Listening::at(&settings.addresses)?;
        settings.socket.as_deref().map_or(Ok(()), |path| listening.listen_local(path))?;
        Server::start_at(listening, settings, target, running)
    }

    /// As [`Server::start`], for clients that may have connected before; `settings.addresses` and `settings.socket` are
    /// not read.
    ///
    /// # Errors
    /// Certificates that are none.
    pub fn start_at(
        listening: Listening,
        settings: Settings,
        target: Arc<dyn Target>,
        running: Option<(Arc<Program>, ForwardingPipelineConfig)>,
    ) -> io::Result<Server> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(settings.threads.max(1))
            .thread_name("p4runtime")
            .enable_all()
            .build()?;
        let device = Arc::new(Device::new(settings.clone(), target, None));
        if let Some((program, config)) = running {
            let mut pipeline = config::running(program, config);
            // A switch that has saved its state begins with what was written.
            device.begin(&mut pipeline, &[]).map_err(|failure| io::Error::other(failure.sentence))?;
            *device.pipeline_mut() = Some(pipeline);
        }
        let (stop, _) = watch::channel(false);
        let grpc = Grpc { device: device.clone(), streams: Arc::default() };
        let connections = Connections::new(&settings);
        let serve = |listener| serve(&runtime, &grpc, &connections, listener, &stop);
        let tls = settings.tls.as_ref().map(tls::acceptor).transpose()?;
        let mut addresses = Vec::new();
        for listener in listening.addresses {
            listener.set_nonblocking(true)?;
            addresses.push(listener.local_addr()?);
            let _inside = runtime.enter();
            serve(Listener::Tcp(tokio::net::TcpListener::from_std(listener)?, tls.clone()));
        }
        let serve_local = |(listener, file)| {
            let _inside = runtime.enter();
            serve(Listener::Unix(tokio::net::UnixListener::from_std(listener)?));
            Ok::<_, io::Error>(file)
        };
        let socket = listening.socket.map(serve_local).transpose()?;
        let (queue, events) = mpsc::sync_channel(EVENTS);
        let of_thread = device.clone();
        let thread = std::thread::Builder::new()
            .name("p4runtime events".to_string())
            .spawn(move || events::run(&of_thread, &events))?;
        Ok(Server {
            events: Events::new(queue, device.clone()),
            device,
            connections,
            addresses,
            _socket: socket,
            stop,
            runtime: Some(runtime),
            thread: Some(thread),
        })
    }

    /// Where it listens.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Through which the process notifies controllers of what happens.
    pub fn events(&self) -> Events {
        self.events.clone()
    }

    /// For servers of other protocols in the same process.
    pub fn pipelines(&self) -> Pipelines {
        Pipelines(self.device.clone())
    }

    pub fn lost(&self) -> Lost {
        let Losses { packets_in, digests, idle, malformed } = &self.device.losses;
        let [packets_in, digests, idle, malformed] =
            [packets_in, digests, idle, malformed].map(|count| count.load(Ordering::Relaxed));
        Lost { packets_in, digests, idle, malformed, connections: self.connections.refused() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        self.events.stop();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
        if let Some(runtime) = self.runtime.take() {
            // Streams of controllers have no end of their own.
            runtime.shutdown_timeout(Duration::from_secs(1));
        }
    }
}

fn builder(settings: &Settings) -> tonic::transport::Server {
    tonic::transport::Server::builder()
        // Of handlers, only waiting for the request counts: what they do with it holds the thread.
        .timeout(settings.timeouts.request)
        .http2_keepalive_interval(Some(settings.timeouts.quiet))
        .http2_keepalive_timeout(Some(settings.timeouts.answer))
        .initial_connection_window_size(Some(8 << 20))
        .initial_stream_window_size(Some(4 << 20))
        .max_concurrent_streams(Some(settings.most_streams.try_into().unwrap_or(u32::MAX)))
}

fn routes(grpc: &Grpc, settings: &Settings) -> Routes {
    let service = P4RuntimeServer::new(grpc.clone())
        .max_decoding_message_size(settings.largest_message)
        .max_encoding_message_size(usize::MAX);
    settings.services.clone().add_service(service).add_service(SwitchServer::new(grpc.clone()))
}

async fn stopped(mut stop: watch::Receiver<bool>) {
    drop(stop.wait_for(|stop| *stop).await);
}

/// Serves all clients of a listener, until `stop`.
fn serve(runtime: &Runtime, grpc: &Grpc, connections: &Connections, listener: Listener, stop: &watch::Sender<bool>) {
    let settings = &grpc.device.settings;
    let incoming = {
        let _inside = runtime.enter();
        connections.accept(listener, stopped(stop.subscribe()))
    };
    let router = builder(settings).add_routes(routes(grpc, settings));
    runtime.spawn(router.serve_with_incoming_shutdown(incoming, stopped(stop.subscribe())));
}

fn local_listener(path: &Path) -> io::Result<UnixListener> {
    // A socket without a listener is left from a switch that was killed.
    if UnixStream::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
        std::fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}
