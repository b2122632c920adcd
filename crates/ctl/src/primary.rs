//! Arbitration: how a client becomes the primary controller without replacing another, and the stream that it then reads.
//!
//! It first joins without an election id: the answer shows whether there is a primary controller, and the highest id that ever was. If there is
//! none, it bids that highest id, so that a controller which comes back with its own id is not locked out.

use crate::client::Client;
use crate::failure::{Failure, code_name};
use control::message::runtime::{
    MasterArbitrationUpdate, PacketOut, Role, StreamError, StreamMessageRequest, StreamMessageResponse, Uint128,
    stream_message_request::Update as Request, stream_message_response::Update as Answer,
};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{self, Sender};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};

/// A switch answers bids at once.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// The stream of a primary controller. Once it is closed, another may become primary.
pub struct Primary {
    requests: Sender<StreamMessageRequest>,
    answers: Streaming<StreamMessageResponse>,
    election: Uint128,
    role: String,
}

impl Client {
    /// The role and election id with which writes are allowed.
    pub(crate) fn become_primary(&mut self) -> Result<(String, Uint128), Failure> {
        if self.primary.is_none() {
            self.primary = Some(self.bid(self.role.clone())?);
        }
        let primary = self.primary.as_ref().expect("the bid was won");
        Ok((primary.role.clone(), primary.election))
    }

    /// Receives the switch's notifications. A role of its own disturbs no controller.
    pub(crate) fn listen(&mut self) -> Result<(), Failure> {
        self.flush()?;
        if self.primary.is_none() {
            let own = format!("bacus-ctl-{}", std::process::id());
            let role = if self.role.is_empty() { own } else { self.role.clone() };
            self.primary = Some(self.bid(role)?);
        }
        Ok(())
    }

    fn bid(&mut self, role: String) -> Result<Primary, Failure> {
        let (requests, queue) = mpsc::channel(64);
        let opened = self.runtime.block_on(self.service.stream_channel(ReceiverStream::new(queue)));
        let answers = opened.map_err(|status| Failure::of_call(&status))?.into_inner();
        let mut primary = Primary { requests, answers, election: Uint128::default(), role };
        let (code, highest) = self.arbitrate(&mut primary, None)?;
        let highest = highest.unwrap_or(Uint128 { high: 0, low: 1 });
        primary.election = match (code, self.force) {
            (Code::AlreadyExists, false) => return Err(occupied()),
            (Code::AlreadyExists, true) => above(highest),
            _ => highest,
        };
        let election = primary.election;
        match self.arbitrate(&mut primary, Some(election))? {
            (Code::Ok, _) => Ok(primary),
            _ => Err(occupied()),
        }
    }

    /// The switch's answer to a bid: whether we are primary, and the highest id.
    fn arbitrate(&mut self, primary: &mut Primary, bid: Option<Uint128>) -> Result<(Code, Option<Uint128>), Failure> {
        let role = (!primary.role.is_empty()).then(|| Role { name: primary.role.clone(), ..Role::default() });
        let update = MasterArbitrationUpdate { device_id: self.device, role, election_id: bid, status: None };
        let request = StreamMessageRequest { update: Some(Request::Arbitration(update)) };
        let Primary { requests, answers, .. } = primary;
        let answered = async {
            drop(requests.send(request).await);
            loop {
                match answers.message().await? {
                    Some(StreamMessageResponse { update: Some(Answer::Arbitration(answer)) }) => return Ok(Ok(answer)),
                    Some(StreamMessageResponse { update: Some(Answer::Error(error)) }) => {
                        return Ok(Err(of_stream(&error)));
                    }
                    Some(_) => {}
                    None => return Err(Status::unavailable("the switch closed the stream")),
                }
            }
        };
        let answer = self.runtime.block_on(async { tokio::time::timeout(ANSWER_TIMEOUT, answered).await });
        let answer = answer.map_err(|_| Failure::Unreachable("the switch does not answer a bid".to_string()))?;
        let answer = answer.map_err(|status| match status.code() == Code::InvalidArgument && bid.is_some() {
            // Another controller was quicker with the same id.
            true => occupied(),
            false => Failure::of_call(&status),
        })??;
        Ok((Code::from(answer.status.map_or(0, |status| status.code)), answer.election_id))
    }

    pub(crate) fn send(&mut self, update: Request) -> Result<(), Failure> {
        let Some(primary) = &self.primary else { return Err(Failure::refused("no stream is open")) };
        let request = StreamMessageRequest { update: Some(update) };
        let sent = self.runtime.block_on(primary.requests.send(request));
        sent.map_err(|_| Failure::Unreachable("the switch closed the stream".to_string()))
    }

    /// Sends a packet, and waits until the switch has taken it: an answer to a bid that comes after it proves that.
    pub(crate) fn send_packet(&mut self, packet: PacketOut) -> Result<(), Failure> {
        self.flush()?;
        let (_, election) = self.become_primary()?;
        self.send(Request::Packet(packet))?;
        let Some(mut primary) = self.primary.take() else { return Ok(()) };
        let answered = self.arbitrate(&mut primary, Some(election));
        self.primary = Some(primary);
        answered.map(drop)
    }

    /// Ends the stream, and waits until the switch has seen it: a client that comes next finds no primary controller.
    pub(crate) fn leave(&mut self) {
        let Some(Primary { requests, mut answers, .. }) = self.primary.take() else { return };
        drop(requests);
        let ended = async { while let Ok(Some(_)) = answers.message().await {} };
        drop(self.runtime.block_on(async { tokio::time::timeout(ANSWER_TIMEOUT, ended).await }));
    }

    /// The next message; none if none comes in time, or the user interrupts.
    pub(crate) fn next(&mut self, deadline: Option<Instant>) -> Result<Option<Answer>, Failure> {
        let Some(primary) = &mut self.primary else { return Ok(None) };
        let answers = &mut primary.answers;
        let passed = async {
            match deadline {
                Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
                None => std::future::pending().await,
            }
        };
        let next = async {
            tokio::select! {
                answer = answers.message() => Some(answer),
                () = passed => None,
                _ = tokio::signal::ctrl_c() => None,
            }
        };
        match self.runtime.block_on(next) {
            None => Ok(None),
            Some(Ok(Some(StreamMessageResponse { update }))) => Ok(update),
            Some(Ok(None)) => Err(Failure::Unreachable("the switch closed the stream".to_string())),
            Some(Err(status)) => Err(Failure::of_call(&status)),
        }
    }
}

/// The switch's answer to a message that it refuses.
pub fn of_stream(error: &StreamError) -> Failure {
    Failure::refused(format!("{}: {}", code_name(Code::from(error.canonical_code)), error.message))
}

fn occupied() -> Failure {
    Failure::refused(format!(
        "{}: another controller is primary: --force takes its place, --role NAME writes in another role",
        code_name(Code::PermissionDenied)
    ))
}

fn above(highest: Uint128) -> Uint128 {
    let number = (u128::from(highest.high) << 64 | u128::from(highest.low)).saturating_add(1);
    Uint128 { high: (number >> 64) as u64, low: number as u64 }
}
