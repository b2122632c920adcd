//! Which controller of a role may write: the one with the highest election id that was ever seen.

use crate::failure::{Failure, Outcome};
use control::message::runtime::{
    MasterArbitrationUpdate, Role, StreamMessageResponse, Uint128, stream_message_response::Update,
};
use control::message::status;
use std::collections::HashMap;
use tokio::sync::mpsc::Sender;
use tonic::{Code, Status};

/// Where messages for a controller go. It is bounded: what a controller does not read in time is lost.
pub type Outbox = Sender<Result<StreamMessageResponse, Status>>;

struct Controller {
    stream: u64,
    election: Option<u128>,
    outbox: Outbox,
}

#[derive(Default)]
struct Contest {
    highest: Option<u128>,
    controllers: Vec<Controller>,
}

pub struct Elections {
    device: u64,
    most_streams: usize,
    contests: HashMap<String, Contest>,
}

/// The one device of a switch that refused a request for another.
pub fn only_device(refusal: &Status) -> Option<u64> {
    refusal.message().rsplit_once("only device ")?.1.parse().ok()
}

/// The name of a role. Older controllers give a number in its place; the default role has neither.
pub fn role_name(name: &str, id: u64) -> String {
    if name.is_empty() && id != 0 { format!("#{id}") } else { name.to_string() }
}

fn number(id: &Uint128) -> u128 {
    u128::from(id.high) << 64 | u128::from(id.low)
}

fn message(number: u128) -> Uint128 {
    Uint128 { high: (number >> 64) as u64, low: number as u64 }
}

impl Contest {
    fn primary(&self) -> Option<&Controller> {
        let highest = self.highest?;
        self.controllers.iter().find(|controller| controller.election == Some(highest))
    }

    /// The answer to an arbitration: the controller's own role and id, and the highest id.
    fn notify(&self, device: u64, role: &str, controller: &Controller) {
        let (code, words) = match self.primary() {
            Some(primary) if primary.stream == controller.stream => (Code::Ok, "you are the primary controller"),
            Some(_) => (Code::AlreadyExists, "another controller is primary"),
            None => (Code::NotFound, "there is no primary controller"),
        };
        let named = Role { name: role.to_string(), ..Role::default() };
        let update = MasterArbitrationUpdate {
            device_id: device,
            role: (!role.is_empty()).then_some(named),
            election_id: self.highest.map(message),
            status: Some(status::Status { code: code.into(), message: words.to_string(), details: Vec::new() }),
        };
        // A controller that does not read learns nothing, and delays no other.
        drop(controller.outbox.try_send(Ok(StreamMessageResponse { update: Some(Update::Arbitration(update)) })));
    }

    /// The primary controller is notified last.
    fn notify_all(&self, device: u64, role: &str) {
        let primary = self.primary().map(|primary| primary.stream);
        let others = self.controllers.iter().filter(|controller| Some(controller.stream) != primary);
        others.chain(self.primary()).for_each(|controller| self.notify(device, role, controller));
    }
}

impl Elections {
    pub fn new(device: u64, most_streams: usize) -> Elections {
        Elections { device, most_streams, contests: HashMap::new() }
    }

    pub fn check_device(&self, device: u64) -> Outcome {
        if device == self.device {
            return Ok(());
        }
        Err(Failure::missing(format!("there is no device {device} here, only device {}", self.device)))
    }

    /// Takes a controller's bid. `role` is that of its earlier bids on this stream. Gives the role; a failure ends the stream.
    pub fn bid(
        &mut self,
        stream: u64,
        role: Option<&str>,
        update: &MasterArbitrationUpdate,
        outbox: &Outbox,
    ) -> Outcome<String> {
        let given = update.role.clone().unwrap_or_default();
        let name = role_name(&given.name, given.id);
        if role.is_none() {
            self.check_device(update.device_id)?;
        } else if update.device_id != self.device || role != Some(&name) {
            let sentence = "the device and the role of a stream stay the same: open another stream";
            return Err(Failure::new(Code::FailedPrecondition, sentence));
        }
        if given.config.is_some() {
            return Err(Failure::invalid("this switch knows no configurations of roles: every role may do everything"));
        }
        let election = update.election_id.as_ref().map(number);
        let live: usize = self.contests.values().map(|contest| contest.controllers.len()).sum();
        let contest = self.contests.entry(name.clone()).or_default();
        let others = contest.controllers.iter().filter(|controller| controller.stream != stream);
        if election.is_some() && others.clone().any(|controller| controller.election == election) {
            // Controllers look for these words.
            return Err(Failure::invalid("election id already exists: another controller of the role has it"));
        }
        if role.is_none() && live >= self.most_streams {
            let sentence = format!("there are {live} controllers already");
            return Err(Failure::new(Code::ResourceExhausted, sentence));
        }
        let was_primary = contest.primary().is_some_and(|primary| primary.stream == stream);
        contest.controllers.retain(|controller| controller.stream != stream);
        contest.controllers.push(Controller { stream, election, outbox: outbox.clone() });
        let wins = election.is_some() && election >= contest.highest;
        if wins {
            contest.highest = election;
        }
        if wins || was_primary {
            contest.notify_all(self.device, &name);
        } else if let Some(controller) = contest.controllers.last() {
            contest.notify(self.device, &name, controller);
        }
        Ok(name)
    }

    /// A stream has ended. Without its primary, a role has none until a controller bids as much again.
    pub fn leave(&mut self, stream: u64, role: &str) {
        let Some(contest) = self.contests.get_mut(role) else { return };
        let was_primary = contest.primary().is_some_and(|primary| primary.stream == stream);
        contest.controllers.retain(|controller| controller.stream != stream);
        if was_primary {
            contest.notify_all(self.device, role);
        }
    }

    pub fn is_primary(&self, stream: u64, role: &str) -> bool {
        let primary = self.contests.get(role).and_then(Contest::primary);
        primary.is_some_and(|primary| primary.stream == stream)
    }

    /// Whether the primary controller of the role has this id.
    pub fn check_primary(&self, role: &str, election: Option<&Uint128>) -> Outcome {
        let contest = self.contests.get(role);
        if contest.is_none() && !role.is_empty() {
            return Err(Failure::missing(format!("there is no role `{role}`")));
        }
        let primary = contest.and_then(Contest::primary).and_then(|primary| primary.election);
        if primary.is_some() && primary == election.map(number) {
            return Ok(());
        }
        Err(Failure::new(Code::PermissionDenied, "only the primary controller may write"))
    }

    /// Sends a message to the primary controller of every role. Gives how many could not take it.
    pub fn send(&self, update: Update) -> u64 {
        let (mut update, mut lost) = (Some(update), 0);
        let mut primaries = self.contests.values().filter_map(Contest::primary).peekable();
        while let Some(primary) = primaries.next() {
            let update = if primaries.peek().is_some() { update.clone() } else { update.take() };
            lost += u64::from(primary.outbox.try_send(Ok(StreamMessageResponse { update })).is_err());
        }
        lost
    }

    /// Messages that some primary controller can still take; none if there is no primary controller.
    pub fn room(&self) -> Option<usize> {
        self.contests.values().filter_map(Contest::primary).map(|primary| primary.outbox.capacity()).max()
    }

    pub fn has_primary(&self) -> bool {
        self.contests.values().any(|contest| contest.primary().is_some())
    }
}
