//! Connections of controllers, until each has begun to speak: the preface of HTTP/2 and its settings, and a TLS handshake before that.
//!
//! A silent peer has a descriptor all the same, and the process has few. So it is closed after a time, and sooner if there are many of its kind: it
//! is the oldest of them that goes when a new one comes. Only what has begun to speak reaches the service.

use crate::settings::Settings;
use std::collections::VecDeque;
use std::io::{self, Error, ErrorKind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{mpsc, oneshot};
use tokio_rustls::TlsAcceptor;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::Connected;

/// What a client of HTTP/2 sends first, before its settings.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const FRAME_HEADER: usize = 9;
const SETTINGS_FRAME: u8 = 4;
const LARGEST_SETTINGS: usize = 16 * 1024;
const MAX_HEADER_LIST_SIZE: u16 = 6;

/// How long the server waits when the system has no descriptor for the next connection.
const NO_ROOM: Duration = Duration::from_millis(20);

/// What is known of the client of a request.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// Bytes of metadata that it has announced to accept.
    pub largest_metadata: Option<u32>,
    /// Whether it uses the socket of the machine's user.
    pub is_local: bool,
}

/// Bytes from and to a client, whatever is below.
pub trait Bytes: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Bytes for T {}

/// Where clients come in.
pub enum Listener {
    Tcp(TcpListener, Option<TlsAcceptor>),
    /// For the user of this machine alone.
    Unix(UnixListener),
}

/// A connection that has just been made.
struct Accepted {
    bytes: Box<dyn Bytes>,
    tls: Option<TlsAcceptor>,
    is_local: bool,
}

/// Counts the connections that live.
struct Open(Arc<AtomicUsize>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A client that has begun to speak.
pub struct Connection {
    bytes: Box<dyn Bytes>,
    /// What was read of it so far, in reverse order.
    begin: Vec<u8>,
    peer: Peer,
    _open: Open,
}

/// How many connections there are, and what of them waits for its first bytes. Of all listeners together.
#[derive(Clone)]
pub struct Connections {
    settings: Arc<Settings>,
    open: Arc<AtomicUsize>,
    /// An end of each silent connection, the oldest first: it is closed when this is dropped.
    silent: Arc<Mutex<VecDeque<oneshot::Sender<()>>>>,
    /// Connections that were closed because there were too many.
    refused: Arc<AtomicU64>,
}

impl Connections {
    pub fn new(settings: &Settings) -> Connections {
        Connections {
            settings: Arc::new(settings.clone()),
            open: Arc::default(),
            silent: Arc::default(),
            refused: Arc::default(),
        }
    }

    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Takes clients until `stop`; those that have begun to speak come out.
    pub fn accept(
        &self,
        listener: Listener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> ReceiverStream<io::Result<Connection>> {
        let (ready, incoming) = mpsc::channel(16);
        let connections = self.clone();
        tokio::spawn(async move {
            let mut stop = std::pin::pin!(stop);
            loop {
                tokio::select! {
                    () = &mut stop => return,
                    accepted = connections.next(&listener) => match accepted {
                        Ok(accepted) => connections.begin(accepted, ready.clone()),
                        Err(error) => connections.not_accepted(&error).await,
                    },
                }
            }
        });
        ReceiverStream::new(incoming)
    }

    async fn next(&self, listener: &Listener) -> io::Result<Accepted> {
        match listener {
            Listener::Tcp(listener, tls) => {
                let (stream, _) = listener.accept().await?;
                // A peer that is gone again is found so later.
                drop(stream.set_nodelay(true));
                Ok(Accepted { bytes: Box::new(stream), tls: tls.clone(), is_local: false })
            }
            Listener::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                Ok(Accepted { bytes: Box::new(stream), tls: None, is_local: true })
            }
        }
    }

    /// The system has no descriptor left, or the peer has gone already.
    async fn not_accepted(&self, error: &Error) {
        const OF_PROCESS: i32 = 24;
        const OF_SYSTEM: i32 = 23;
        if matches!(error.raw_os_error(), Some(OF_PROCESS | OF_SYSTEM)) {
            let oldest = self.silent().pop_front();
            self.refused.fetch_add(u64::from(oldest.is_some()), Ordering::Relaxed);
            drop(oldest);
            tokio::time::sleep(NO_ROOM).await;
        }
    }

    fn silent(&self) -> std::sync::MutexGuard<'_, VecDeque<oneshot::Sender<()>>> {
        self.silent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the first bytes of a client, but not forever.
    fn begin(&self, accepted: Accepted, ready: mpsc::Sender<io::Result<Connection>>) {
        let closed = self.silence();
        let connections = self.clone();
        tokio::spawn(async move {
            let greeting = tokio::time::timeout(connections.settings.timeouts.greeting, greet(accepted));
            let greeted = tokio::select! {
                greeted = greeting => greeted,
                _ = closed => return,
            };
            let Ok(Ok((bytes, begin, peer))) = greeted else { return };
            if let Some(open) = connections.room() {
                drop(ready.send(Ok(Connection { bytes, begin, peer, _open: open })).await);
            }
        });
    }

    /// Counts a silent connection, and closes the oldest where there are too many. Resolves when this one is to be closed.
    fn silence(&self) -> oneshot::Receiver<()> {
        let (close, closed) = oneshot::channel();
        let mut silent = self.silent();
        silent.retain(|other| !other.is_closed());
        silent.push_back(close);
        while silent.len() > self.settings.most_silent {
            self.refused.fetch_add(1, Ordering::Relaxed);
            drop(silent.pop_front());
        }
        closed
    }

    fn room(&self) -> Option<Open> {
        let open = Open(self.open.clone());
        let before = self.open.fetch_add(1, Ordering::Relaxed);
        if before < self.settings.most_connections {
            return Some(open);
        }
        self.refused.fetch_add(1, Ordering::Relaxed);
        None
    }
}

/// A client's handshake, preface and settings.
async fn greet(accepted: Accepted) -> io::Result<(Box<dyn Bytes>, Vec<u8>, Peer)> {
    let mut bytes = match accepted.tls {
        Some(tls) => Box::new(tls.accept(accepted.bytes).await?) as Box<dyn Bytes>,
        None => accepted.bytes,
    };
    let foreign = || Error::from(ErrorKind::InvalidData);
    let mut begin = vec![0; PREFACE.len() + FRAME_HEADER];
    bytes.read_exact(&mut begin).await?;
    let (preface, frame) = begin.split_at(PREFACE.len());
    let [high, middle, low, kind, ..] = *frame else { return Err(foreign()) };
    let length = u32::from_be_bytes([0, high, middle, low]) as usize;
    if preface != PREFACE || kind != SETTINGS_FRAME || length > LARGEST_SETTINGS {
        return Err(foreign());
    }
    let mut settings = vec![0; length];
    bytes.read_exact(&mut settings).await?;
    let peer = Peer { largest_metadata: largest_metadata(&settings), is_local: accepted.is_local };
    begin.extend(settings);
    begin.reverse();
    Ok((bytes, begin, peer))
}

/// Each setting has a number of two bytes, and a value of four. The last one of a number counts.
fn largest_metadata(settings: &[u8]) -> Option<u32> {
    let mut values = settings.chunks_exact(6).filter_map(|setting| match *setting {
        [a, b, c, d, e, f] if u16::from_be_bytes([a, b]) == MAX_HEADER_LIST_SIZE => {
            Some(u32::from_be_bytes([c, d, e, f]))
        }
        _ => None,
    });
    values.next_back()
}

impl Connected for Connection {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.begin.is_empty() {
            return Pin::new(&mut self.bytes).poll_read(context, buffer);
        }
        while buffer.remaining() > 0
            && let Some(byte) = self.begin.pop()
        {
            buffer.put_slice(&[byte]);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.bytes).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.bytes).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.bytes).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.bytes).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.bytes.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_metadata_is_among_the_settings() {
        let setting = |number: u16, value: u32| [&number.to_be_bytes()[..], &value.to_be_bytes()].concat();
        let settings = [setting(2, 0), setting(MAX_HEADER_LIST_SIZE, 81_920), setting(4, 65_535)].concat();
        assert_eq!(largest_metadata(&settings), Some(81_920));
        assert_eq!(largest_metadata(&setting(4, 6)), None);
        assert_eq!(largest_metadata(&[]), None);
    }
}
