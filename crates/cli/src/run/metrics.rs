//! `--metrics`: all counts for Prometheus, by HTTP.
//!
//! One answer is made at a time, whole, before it is sent. So a client that reads slowly, or never, holds a thread and its text for some
//! seconds, and neither a lock nor a packet. When there are too many, the oldest is closed.

use super::exposition::{self, P4Counter};
use super::live::Shared;
use super::requests::ControlThread;
use driver::failure::Failure;
use native::Replay;
use std::collections::VecDeque;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Clients at once.
const MOST: usize = 16;
/// From the connection to the end of the answer.
const LONGEST: Duration = Duration::from_secs(10);
/// Bytes of a request.
const LARGEST: usize = 8192;
/// Elements of a counter that are listed. Their sum has all of them.
pub const MOST_ELEMENTS: usize = 1024;

/// What is asked for the counts.
pub struct Source<L: Replay> {
    pub control: ControlThread,
    pub switch: Shared<L>,
}

impl<L: Replay> Source<L> {
    /// All counts as text; none if the switch ends.
    fn text(&self) -> Option<String> {
        let report = self.control.report()?;
        let mut live = self.switch.lock();
        let counters = live.engine().map(P4Counter::all).unwrap_or_default();
        let is_saved = live.check_saved().is_ok();
        drop(live);
        Some(exposition::text(&report, &counters, is_saved))
    }
}

/// Serves at an address on threads of its own, until the process ends. Gives the address.
///
/// # Errors
/// The address is taken, or not of this machine.
pub fn serve<L: Replay>(address: SocketAddr, source: Source<L>) -> Result<SocketAddr, Failure> {
    let failed = |error: std::io::Error| Failure::environment(format!("--metrics: {address}: {error}"));
    let listener = TcpListener::bind(address).map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    let (source, clients) = (Arc::new(Mutex::new(source)), Arc::new(Clients::default()));
    let accept = move || {
        for (number, stream) in (0..).zip(listener.incoming()) {
            let admitted = stream.and_then(|stream| clients.admit(number, &stream).map(|()| stream));
            let Ok(stream) = admitted else {
                // No file descriptor is left, which is so again at once.
                std::thread::sleep(Duration::from_millis(10));
                continue;
            };
            let (source, of_thread) = (source.clone(), clients.clone());
            let answer = move || {
                // A client that has gone needs no answer.
                drop(answer(stream, &source));
                of_thread.leave(number);
            };
            if std::thread::Builder::new().name("metrics".to_string()).spawn(answer).is_err() {
                clients.leave(number);
            }
        }
    };
    std::thread::Builder::new().name("metrics".to_string()).spawn(accept).map_err(failed)?;
    Ok(bound)
}

/// Those that are connected, the oldest first.
#[derive(Default)]
struct Clients(Mutex<VecDeque<(u64, TcpStream)>>);

impl Clients {
    fn admit(&self, number: u64, stream: &TcpStream) -> std::io::Result<()> {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        clients.push_back((number, stream.try_clone()?));
        if clients.len() > MOST
            && let Some((_, oldest)) = clients.pop_front()
        {
            // It may have gone by itself.
            drop(oldest.shutdown(Shutdown::Both));
        }
        Ok(())
    }

    fn leave(&self, number: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|(other, _)| *other != number);
    }
}

fn answer<L: Replay>(mut stream: TcpStream, source: &Mutex<Source<L>>) -> std::io::Result<()> {
    let end = Instant::now() + LONGEST;
    let (status, body) = match request(&mut stream, end)?.as_str() {
        "GET /metrics" => {
            let text = source.lock().unwrap_or_else(PoisonError::into_inner).text();
            text.map_or_else(|| ("503 Service Unavailable", "the switch ends\n".to_string()), |text| ("200 OK", text))
        }
        "GET /" => ("200 OK", "the counts are at /metrics\n".to_string()),
        other if other.starts_with("GET ") => ("404 Not Found", "the counts are at /metrics\n".to_string()),
        _ => ("405 Method Not Allowed", "only GET is understood\n".to_string()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    send(&mut stream, (head + &body).as_bytes(), end)
}

/// Method and path of a request.
fn request(stream: &mut TcpStream, end: Instant) -> std::io::Result<String> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 1024]);
    while !bytes.windows(4).any(|four| four == b"\r\n\r\n") {
        stream.set_read_timeout(Some(left(end)?))?;
        let count = stream.read(&mut piece)?;
        if count == 0 || bytes.len() + count > LARGEST {
            return Err(ErrorKind::InvalidData.into());
        }
        bytes.extend_from_slice(&piece[..count]);
    }
    let text = String::from_utf8_lossy(&bytes);
    let mut words = text.split_whitespace();
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    Ok(format!("{method} {}", path.split('?').next().unwrap_or_default()))
}

fn send(stream: &mut TcpStream, mut bytes: &[u8], end: Instant) -> std::io::Result<()> {
    while !bytes.is_empty() {
        stream.set_write_timeout(Some(left(end)?))?;
        let count = stream.write(bytes)?;
        bytes = &bytes[count..];
    }
    stream.flush()
}

/// The time until then.
fn left(end: Instant) -> std::io::Result<Duration> {
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
}
