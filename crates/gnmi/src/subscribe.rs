//! Subscriptions: what each selects, when it is due, and what has been sent for it.

use crate::clock::now_ns;
use crate::interfaces::Interface;
use crate::json::{self, Form};
use crate::message::{Notification, Path, Subscription, SubscriptionList, SubscriptionMode, Update};
use crate::models::check_models;
use crate::path::{Answer, Pattern};
use crate::tree::{Change, Item, Value};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;
use tonic::Status;

/// A client that asks for more frequent samples gets these.
const SHORTEST: Duration = Duration::from_millis(100);
/// Between samples of counters where the client leaves it to the switch, or wants to know of each change.
const OF_COUNTERS: Duration = Duration::from_secs(1);

/// When the values of a subscription are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    /// When they have changed.
    Changed,
    /// In each interval, those that have changed or all.
    Sampled { redundant: bool },
}

/// A subscription, or that part of it which is sent in the same way.
struct Part {
    pattern: Pattern,
    /// None: leaves of both kinds.
    only: Option<Change>,
    sent: Sent,
    /// How often values are compared or sent. None: only when the switch notifies.
    interval: Option<Duration>,
    next: Option<Instant>,
    heartbeat: Option<Duration>,
    next_heartbeat: Option<Instant>,
    /// By interface and leaf.
    last: BTreeMap<(String, &'static [&'static str]), Value>,
}

/// All subscriptions of a stream.
pub struct Subscriptions {
    parts: Vec<Part>,
    answer: Answer,
    form: Form,
    updates_only: bool,
}

fn duration(nanoseconds: u64) -> Option<Duration> {
    (nanoseconds > 0).then(|| Duration::from_nanos(nanoseconds).max(SHORTEST))
}

impl Part {
    fn new(pattern: &Pattern, only: Option<Change>, sent: Sent, interval: Option<Duration>, heartbeat: u64) -> Part {
        let heartbeat = duration(heartbeat);
        Part {
            pattern: pattern.clone(),
            only,
            sent,
            interval,
            next: None,
            heartbeat,
            next_heartbeat: None,
            last: BTreeMap::new(),
        }
    }

    fn items<'i>(&self, interfaces: &'i [Interface]) -> Vec<Item<'i>> {
        let mut items = self.pattern.items(interfaces);
        items.retain(|item| self.only.is_none_or(|only| item.leaf.change == only));
        items
    }

    /// The items to send, and the paths of leaves that are gone. What is sent is remembered.
    fn due<'i>(
        &mut self,
        interfaces: &'i [Interface],
        all: bool,
    ) -> (Vec<Item<'i>>, Vec<(String, &'static [&'static str])>) {
        let mut items = self.items(interfaces);
        let now: BTreeMap<_, _> =
            items.iter().map(|item| ((item.interface.name.clone(), item.leaf.path), item.value())).collect();
        let gone = self.last.keys().filter(|key| !now.contains_key(*key)).cloned().collect();
        if !all {
            items.retain(|item| {
                let key = (item.interface.name.clone(), item.leaf.path);
                self.last.get(&key) != now.get(&key)
            });
        }
        self.last = now;
        (items, gone)
    }

    /// Begins the intervals that have passed anew. Whether all values are to be sent; none: nothing is due.
    fn take_turn(&mut self, now: Instant) -> Option<bool> {
        let passed = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        let (beats, is_next) = (passed(self.next_heartbeat), passed(self.next));
        if beats {
            self.next_heartbeat = self.heartbeat.map(|interval| now + interval);
        }
        if is_next {
            self.next = self.interval.map(|interval| now + interval);
        }
        (beats || is_next).then_some(beats || self.sent == Sent::Sampled { redundant: true })
    }

    fn begin(&mut self, now: Instant) {
        self.next = self.interval.map(|interval| now + interval);
        self.next_heartbeat = self.heartbeat.map(|interval| now + interval);
    }
}

/// A subscription in the parts that its mode makes of it.
fn parts(pattern: &Pattern, wanted: &Subscription) -> Result<Vec<Part>, Status> {
    let mode = SubscriptionMode::try_from(wanted.mode)
        .map_err(|_| Status::invalid_argument(format!("there is no mode {} of a subscription", wanted.mode)))?;
    let heartbeat = wanted.heartbeat_interval;
    let on_change = |kind, interval| Part::new(pattern, Some(kind), Sent::Changed, interval, heartbeat);
    Ok(match mode {
        SubscriptionMode::OnChange => {
            vec![on_change(Change::Event, None), on_change(Change::Packet, Some(OF_COUNTERS))]
        }
        SubscriptionMode::Sample => {
            let sent = Sent::Sampled { redundant: !wanted.suppress_redundant };
            let interval = duration(wanted.sample_interval).unwrap_or(SHORTEST);
            vec![Part::new(pattern, None, sent, Some(interval), heartbeat)]
        }
        SubscriptionMode::TargetDefined => {
            let interval = duration(wanted.sample_interval).unwrap_or(OF_COUNTERS);
            let counters = Sent::Sampled { redundant: true };
            vec![
                on_change(Change::Event, None),
                Part::new(pattern, Some(Change::Packet), counters, Some(interval), heartbeat),
            ]
        }
    })
}

impl Subscriptions {
    /// # Errors
    /// A mode, an encoding or a path that is not supported.
    pub fn new(list: &SubscriptionList) -> Result<Subscriptions, Status> {
        check_models(&list.use_models)?;
        // JSON is the encoding of a client that names none. Clients written for Stratum then expect scalars.
        let form = match Form::parse(list.encoding)? {
            Form::Json | Form::Scalar => Form::Scalar,
            Form::Ietf => Form::Ietf,
        };
        if list.subscription.is_empty() {
            return Err(Status::invalid_argument("the list has no subscription"));
        }
        let mut all = Vec::new();
        for wanted in &list.subscription {
            let pattern = Pattern::parse(list.prefix.as_ref(), wanted.path.as_ref())?;
            all.extend(parts(&pattern, wanted)?);
        }
        all.retain(has_leaves);
        let answer = Answer::new(list.prefix.as_ref())?;
        Ok(Subscriptions { parts: all, answer, form, updates_only: list.updates_only })
    }

    /// All values, for the first time or for a poll. With `updates_only` none is sent.
    pub fn all(&mut self, interfaces: &[Interface]) -> Vec<Notification> {
        let mut notifications = Vec::new();
        for part in &mut self.parts {
            let (items, _) = part.due(interfaces, true);
            if !self.updates_only {
                notifications.extend(group(&self.answer, self.form, &items, &[]));
            }
        }
        notifications
    }

    /// Intervals begin.
    pub fn begin(&mut self, now: Instant) {
        self.parts.iter_mut().for_each(|part| part.begin(now));
    }

    /// When something is due, whatever changes.
    pub fn next(&self) -> Option<Instant> {
        self.parts.iter().flat_map(|part| [part.next, part.next_heartbeat]).flatten().min()
    }

    /// What is due by the clock.
    pub fn timed(&mut self, now: Instant, interfaces: &[Interface]) -> Vec<Notification> {
        let mut notifications = Vec::new();
        for part in &mut self.parts {
            let Some(all) = part.take_turn(now) else { continue };
            let (items, gone) = part.due(interfaces, all);
            notifications.extend(group(&self.answer, self.form, &items, &gone));
        }
        notifications
    }

    /// What is due since the switch has notified of a change.
    pub fn changed(&mut self, interfaces: &[Interface]) -> Vec<Notification> {
        let mut notifications = Vec::new();
        for part in self.parts.iter_mut().filter(|part| part.sent == Sent::Changed && part.interval.is_none()) {
            let (items, gone) = part.due(interfaces, false);
            notifications.extend(group(&self.answer, self.form, &items, &gone));
        }
        notifications
    }
}

/// Whether the part of a subscription has anything to send, whatever interfaces there are.
fn has_leaves(part: &Part) -> bool {
    let selected = |leaf: &&crate::tree::Leaf| part.pattern.depth(leaf, None).is_some();
    crate::tree::LEAVES.iter().filter(selected).any(|leaf| part.only.is_none_or(|only| leaf.change == only))
}

/// A notification for each interface, and one for all that is gone.
fn group(
    answer: &Answer,
    form: Form,
    items: &[Item<'_>],
    gone: &[(String, &'static [&'static str])],
) -> Vec<Notification> {
    let notification = |update: Vec<Update>, delete: Vec<Path>| Notification {
        timestamp: now_ns(),
        prefix: answer.prefix(),
        update,
        delete,
        atomic: false,
    };
    let update = |item: &Item<'_>| Update {
        path: Some(answer.leaf(&item.interface.name, item.leaf.path)),
        val: Some(json::typed(item.value(), form)),
        duplicates: 0,
    };
    let groups = items.chunk_by(|one, next| one.interface.name == next.interface.name);
    let mut notifications: Vec<_> =
        groups.map(|items| notification(items.iter().map(update).collect(), Vec::new())).collect();
    if !gone.is_empty() {
        let paths = gone.iter().map(|(interface, leaf)| answer.leaf(interface, leaf)).collect();
        notifications.push(notification(Vec::new(), paths));
    }
    notifications
}
