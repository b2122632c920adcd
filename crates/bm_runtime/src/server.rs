//! Listens for Thrift clients: the binary protocol over TCP, several services on a connection (multiplexed), as BMv2 has it.
//!
//! Each connection has a thread. Between calls a client may be silent for ever, as a person at a command line is; a call that has begun must
//! come to its end in time. Where there are too many connections, the one that is silent for the longest time is closed.

use crate::device::{Device, Settings};
use crate::learning::Learning;
use crate::replication::{SimplePre, SimplePreLag, SimpleSwitch};
use crate::service::write_failure;
use crate::standard::Standard;
use p4runtime::Target;
use std::collections::HashMap;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use thrift::protocol::{
    TBinaryInputProtocol, TBinaryOutputProtocol, TInputProtocol, TMessageIdentifier, TMessageType, TOutputProtocol,
    TType,
};
use thrift::{ApplicationError, ApplicationErrorKind, TConfiguration};

/// Elements of a list at most, that a client sends.
const LONGEST_LIST: usize = 1 << 16;
const STACK_BYTES: usize = 512 << 10;
/// How long the server waits when the system has no descriptor for the next connection.
const NO_ROOM: Duration = Duration::from_millis(20);

/// A running server. It stops when it is dropped.
pub struct Server {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    connections: Arc<Connections>,
    learning: Option<Arc<Learning>>,
    thread: Option<JoinHandle<()>>,
}

/// A connection, and when its last call ended; none while a call runs.
struct Open {
    stream: Arc<TcpStream>,
    silent_since: Option<Instant>,
}

#[derive(Default)]
struct Connections {
    open: Mutex<HashMap<u64, Open>>,
    next: AtomicU64,
}

impl Server {
    /// Listens, and serves on threads of its own.
    ///
    /// # Errors
    /// An address that is taken.
    pub fn start(address: SocketAddr, settings: Settings, target: Arc<dyn Target>) -> io::Result<Server> {
        Server::start_at(TcpListener::bind(address)?, settings, target)
    }

    /// As [`Server::start`], for clients that may have connected to the listener before.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start_at(listener: TcpListener, settings: Settings, target: Arc<dyn Target>) -> io::Result<Server> {
        let address = listener.local_addr()?;
        let (stop, connections) = (Arc::new(AtomicBool::new(false)), Arc::new(Connections::default()));
        let device = Arc::new(Device::new(target, settings, address.port()));
        let learning = device.learning.clone();
        let (stopped, of_thread) = (stop.clone(), connections.clone());
        let thread = std::thread::Builder::new()
            .name("thrift".to_string())
            .spawn(move || accept(&listener, &device, &of_thread, &stopped))?;
        Ok(Server { address, stop, connections, learning, thread: Some(thread) })
    }

    /// Where records of digests go, if controllers can subscribe to them.
    pub fn learning(&self) -> Option<Arc<Learning>> {
        self.learning.clone()
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Threads of clients may outlive the server for a moment.
        self.learning.iter().for_each(|learning| learning.close());
        // Wakes the thread that waits for the next client.
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(if address.is_ipv4() { [127, 0, 0, 1].into() } else { [0, 0, 0, 0, 0, 0, 0, 1].into() });
        }
        drop(TcpStream::connect_timeout(&address, Duration::from_secs(1)));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
        self.connections.open().values().for_each(|open| drop(open.stream.shutdown(Shutdown::Both)));
    }
}

impl Connections {
    fn open(&self) -> MutexGuard<'_, HashMap<u64, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room for one more: the thread of the connection that is closed ends by itself.
    fn close_one(&self) {
        let mut open = self.open();
        let silent = open.iter().filter_map(|(number, open)| Some((open.silent_since?, *number)));
        let Some((_, number)) = silent.min() else { return };
        if let Some(closed) = open.remove(&number) {
            drop(closed.stream.shutdown(Shutdown::Both));
        }
    }

    fn add(&self, stream: TcpStream, most: usize) -> Option<(u64, Arc<TcpStream>)> {
        if self.open().len() >= most {
            self.close_one();
        }
        let (stream, number) = (Arc::new(stream), self.next.fetch_add(1, Ordering::Relaxed));
        let mut open = self.open();
        if open.len() >= most {
            return None;
        }
        open.insert(number, Open { stream: stream.clone(), silent_since: Some(Instant::now()) });
        Some((number, stream))
    }

    fn set_silent(&self, number: u64, since: Option<Instant>) {
        if let Some(open) = self.open().get_mut(&number) {
            open.silent_since = since;
        }
    }
}

fn accept(listener: &TcpListener, device: &Arc<Device>, connections: &Arc<Connections>, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, _)) => begin(stream, device, connections),
            Err(_) => {
                connections.close_one();
                std::thread::sleep(NO_ROOM);
            }
        }
    }
}

fn begin(stream: TcpStream, device: &Arc<Device>, connections: &Arc<Connections>) {
    // A peer that is gone again is found so later.
    drop(stream.set_nodelay(true));
    let Some((number, stream)) = connections.add(stream, device.settings.most_connections) else { return };
    let (device, of_thread) = (device.clone(), connections.clone());
    let spawned =
        std::thread::Builder::new().name("thrift client".to_string()).stack_size(STACK_BYTES).spawn(move || {
            // Clients end by closing their end, and rubbish closes the connection: neither is a failure of the switch.
            drop(serve(&stream, &device, |since| of_thread.set_silent(number, since)));
            of_thread.open().remove(&number);
        });
    if spawned.is_err() {
        connections.open().remove(&number);
    }
}

/// The bytes of one call: not too many, and not too slowly.
struct Call<'s> {
    stream: &'s TcpStream,
    left: usize,
    end: Option<Instant>,
}

impl Read for Call<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a call is too long"));
        }
        let left = self.end.map(|end| end.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(left)?;
        let mut stream = self.stream;
        let read = stream.read(buffer)?;
        self.left = self.left.saturating_sub(read);
        Ok(read)
    }
}

/// Serves a client until it goes.
fn serve(stream: &TcpStream, device: &Device, set_silent: impl Fn(Option<Instant>)) -> thrift::Result<()> {
    let Settings { call_timeout, largest_call, .. } = device.settings;
    let mut reader = BufReader::new(Call { stream, left: largest_call, end: None });
    stream.set_write_timeout(Some(call_timeout))?;
    loop {
        *reader.get_mut() = Call { stream, left: largest_call, end: None };
        if reader.fill_buf()?.is_empty() {
            return Ok(());
        }
        set_silent(None);
        reader.get_mut().end = Some(Instant::now() + call_timeout);
        let answer = call(&mut reader, device, largest_call)?;
        let mut writer = stream;
        writer.write_all(&answer)?;
        set_silent(Some(Instant::now()));
    }
}

/// Reads one call, and gives its answer.
fn call(reader: &mut BufReader<Call<'_>>, device: &Device, largest: usize) -> thrift::Result<Vec<u8>> {
    let limits =
        TConfiguration::builder().max_string_size(Some(largest)).max_container_size(Some(LONGEST_LIST)).build()?;
    let mut from = TBinaryInputProtocol::with_config(reader, true, limits);
    let mut answer = Vec::new();
    let mut to = TBinaryOutputProtocol::new(&mut answer, true);
    let message = from.read_message_begin()?;
    let (service, method) = message.name.split_once(':').unwrap_or(("", &message.name));
    let named = TMessageIdentifier::new(method, message.message_type, message.sequence_number);
    if !dispatch(service, &named, device, &mut from, &mut to)? {
        from.skip(TType::Struct)?;
        from.read_message_end()?;
        let sentence = format!("there is no method `{}`", message.name);
        write_failure(&mut to, &named, ApplicationError::new(ApplicationErrorKind::UnknownMethod, sentence))?;
    }
    // A client that wants no answer gets none.
    Ok(if message.message_type == TMessageType::OneWay { Vec::new() } else { answer })
}

/// False if there is no such method.
fn dispatch(
    service: &str,
    message: &TMessageIdentifier,
    device: &Device,
    from: &mut dyn TInputProtocol,
    to: &mut dyn TOutputProtocol,
) -> thrift::Result<bool> {
    if service == <dyn Standard>::NAME {
        (device as &dyn Standard).handle(message, from, to)
    } else if service == <dyn SimplePre>::NAME {
        (device as &dyn SimplePre).handle(message, from, to)
    } else if service == <dyn SimplePreLag>::NAME {
        (device as &dyn SimplePreLag).handle(message, from, to)
    } else if service == <dyn SimpleSwitch>::NAME {
        (device as &dyn SimpleSwitch).handle(message, from, to)
    } else {
        Ok(false)
    }
}
