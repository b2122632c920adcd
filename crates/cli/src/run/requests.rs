//! Requests of clients that the control thread alone can answer: it opens, closes and counts the ports.

use control::message::switch::ReportResponse;
use control::{Refusal, RefusalKind};
use driver::ports::Port;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

/// A request wakes the control thread, but a device may take long to open.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

type Answer = Sender<Result<(), Refusal>>;

pub enum Request {
    /// All counts.
    Report(Sender<ReportResponse>),
    AddPort(Port, Answer),
    /// By its number or device.
    RemovePort(String, Answer),
}

/// What clients have asked.
pub type Requests = Receiver<Request>;

/// Asks the control thread. The default one has none to ask.
#[derive(Clone, Default)]
pub struct ControlThread(Option<Sender<Request>>);

pub fn channel() -> (ControlThread, Requests) {
    let (sender, requests) = mpsc::channel();
    (ControlThread(Some(sender)), requests)
}

impl ControlThread {
    /// All counts; none if the switch ends.
    pub fn report(&self) -> Option<ReportResponse> {
        self.ask(Request::Report)
    }

    pub fn add_port(&self, port: Port) -> Result<(), Refusal> {
        self.ask(|answer| Request::AddPort(port, answer)).unwrap_or_else(ended)
    }

    pub fn remove_port(&self, port: &str) -> Result<(), Refusal> {
        self.ask(|answer| Request::RemovePort(port.to_string(), answer)).unwrap_or_else(ended)
    }

    fn ask<T>(&self, request: impl FnOnce(Sender<T>) -> Request) -> Option<T> {
        let (answer, answered) = mpsc::channel();
        self.0.as_ref()?.send(request(answer)).ok()?;
        runtime::rest::rouse();
        answered.recv_timeout(ANSWER_TIMEOUT).ok()
    }
}

fn ended() -> Result<(), Refusal> {
    Err(Refusal::new(RefusalKind::InUse, "the switch does not answer: it ends, or its control thread is busy"))
}
