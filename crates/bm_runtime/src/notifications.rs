//! A publisher of nanomsg, by which BMv2 notifies its controllers: what is published goes to all that are connected.
//!
//! Both ends begin with eight bytes that name their roles. A message is its length and its bytes; over a Unix socket, a byte precedes it.

use std::io::{self, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// `\0SP\0`, the role of a publisher, and two bytes without meaning.
const GREETING: [u8; 8] = [0, b'S', b'P', 0, 0, 0x20, 0, 0];
/// In front of a message over a Unix socket: it is not in shared memory.
const IN_BAND: u8 = 1;
/// A subscriber that takes nothing for so long is left.
const WRITE_TIMEOUT: Duration = Duration::from_millis(200);
/// Messages that wait for the thread that writes. Further ones are lost, as in nanomsg.
const QUEUE: usize = 1024;
/// With one more, the oldest connection is closed.
const MOST_SUBSCRIBERS: usize = 64;

enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

#[derive(Default)]
struct Shared {
    subscribers: Mutex<Vec<Stream>>,
    count: AtomicUsize,
    stop: AtomicBool,
}

/// See the module. It ends when it is dropped, and removes its socket.
pub struct Publisher {
    address: String,
    path: Option<PathBuf>,
    shared: Arc<Shared>,
    messages: SyncSender<Vec<u8>>,
}

impl Publisher {
    /// Listens at `ipc://PATH` or `tcp://ADDRESS:PORT`.
    ///
    /// # Errors
    /// An address of another form, or one that is taken.
    pub fn start(address: &str) -> io::Result<Publisher> {
        let listener = listen(address)?;
        let path = address.strip_prefix("ipc://").map(PathBuf::from);
        let shared = Arc::<Shared>::default();
        let (messages, published) = mpsc::sync_channel(QUEUE);
        let (of_accept, of_write) = (shared.clone(), shared.clone());
        let named = |name: &str| std::thread::Builder::new().name(name.to_string());
        named("subscribers").spawn(move || accept(&listener, &of_accept))?;
        named("notifications").spawn(move || write_all(&published, &of_write))?;
        Ok(Publisher { address: address.to_string(), path, shared, messages })
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    /// Whether a subscriber is connected. One that has gone is noticed with the next message.
    pub fn is_heard(&self) -> bool {
        self.shared.count.load(Ordering::Relaxed) > 0
    }

    /// Takes no more subscribers, and removes the socket.
    pub fn close(&self) {
        if self.shared.stop.swap(true, Ordering::Relaxed) {
            return;
        }
        // Wakes the thread that waits for subscribers.
        drop(connect(&self.address));
        if let Some(path) = &self.path {
            drop(std::fs::remove_file(path));
        }
    }

    pub fn publish(&self, message: Vec<u8>) {
        // A full queue is that of subscribers that take nothing.
        drop(self.messages.try_send(message));
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.close();
    }
}

fn tcp(address: &str) -> Option<String> {
    address.strip_prefix("tcp://").map(|place| place.replace('*', "0.0.0.0"))
}

fn listen(address: &str) -> io::Result<Listener> {
    if let Some(path) = address.strip_prefix("ipc://") {
        remove_stale(Path::new(path));
        return UnixListener::bind(path).map(Listener::Unix);
    }
    let unknown = || io::Error::new(io::ErrorKind::InvalidInput, "write ipc://PATH or tcp://ADDRESS:PORT");
    tcp(address).ok_or_else(unknown).and_then(TcpListener::bind).map(Listener::Tcp)
}

/// The socket of a switch that was killed.
fn remove_stale(path: &Path) {
    let is_socket = path.metadata().is_ok_and(|there| there.file_type().is_socket());
    if is_socket && UnixStream::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
        drop(std::fs::remove_file(path));
    }
}

fn connect(address: &str) -> io::Result<()> {
    match address.strip_prefix("ipc://") {
        Some(path) => UnixStream::connect(path).map(drop),
        None => TcpStream::connect(tcp(address).unwrap_or_default().replace("0.0.0.0", "127.0.0.1")).map(drop),
    }
}

fn accept(listener: &Listener, shared: &Shared) {
    while !shared.stop.load(Ordering::Relaxed) {
        let accepted = match listener {
            Listener::Unix(listener) => listener.accept().map(|(stream, _)| Stream::Unix(stream)),
            Listener::Tcp(listener) => listener.accept().map(|(stream, _)| Stream::Tcp(stream)),
        };
        // The other end's greeting is not read: an end that is no subscriber closes the connection.
        let greeted = accepted.and_then(|mut stream| stream.greet().map(|()| stream));
        let Ok(stream) = greeted else {
            std::thread::sleep(Duration::from_millis(10));
            continue;
        };
        let mut subscribers = shared.subscribers();
        if subscribers.len() >= MOST_SUBSCRIBERS {
            subscribers.remove(0);
        }
        subscribers.push(stream);
        shared.count.store(subscribers.len(), Ordering::Relaxed);
    }
}

fn write_all(messages: &Receiver<Vec<u8>>, shared: &Shared) {
    while let Ok(message) = messages.recv() {
        let mut subscribers = shared.subscribers();
        subscribers.retain_mut(|stream| stream.send(&message).is_ok());
        shared.count.store(subscribers.len(), Ordering::Relaxed);
    }
    // Nothing is published any more.
    shared.subscribers().clear();
}

impl Shared {
    fn subscribers(&self) -> MutexGuard<'_, Vec<Stream>> {
        self.subscribers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stream {
    fn greet(&mut self) -> io::Result<()> {
        match self {
            Stream::Unix(stream) => stream.set_write_timeout(Some(WRITE_TIMEOUT)),
            Stream::Tcp(stream) => stream.set_nodelay(true).and(stream.set_write_timeout(Some(WRITE_TIMEOUT))),
        }?;
        self.write(&GREETING)
    }

    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        let length = (message.len() as u64).to_be_bytes();
        let head = match self {
            Stream::Unix(_) => [&[IN_BAND], &length[..]].concat(),
            Stream::Tcp(_) => length.to_vec(),
        };
        self.write(&[&head, message].concat())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Unix(stream) => stream.write_all(bytes),
            Stream::Tcp(stream) => stream.write_all(bytes),
        }
    }
}
