//! Requests of clients for all counts. The control thread alone may read the counts of ports, so it answers.

use control::message::switch::ReportResponse;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

/// The control thread looks every few milliseconds.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Asks the control thread. The default one has nothing to ask.
#[derive(Clone, Default)]
pub struct Reports(Option<Sender<Sender<ReportResponse>>>);

/// What clients have asked.
pub type Requests = Receiver<Sender<ReportResponse>>;

pub fn channel() -> (Reports, Requests) {
    let (sender, requests) = mpsc::channel();
    (Reports(Some(sender)), requests)
}

impl Reports {
    /// All counts; none if the switch ends.
    pub fn ask(&self) -> Option<ReportResponse> {
        let (answer, answered) = mpsc::channel();
        self.0.as_ref()?.send(answer).ok()?;
        answered.recv_timeout(ANSWER_TIMEOUT).ok()
    }
}
