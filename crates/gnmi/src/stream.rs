//! Subscribe: one stream, from its list of subscriptions to its end.

use crate::extension::check_extensions;
use crate::interfaces::{Interface, Interfaces};
use crate::message::subscribe_request::Request;
use crate::message::subscription_list::Mode;
use crate::message::{Notification, SubscribeRequest, SubscribeResponse, subscribe_response::Response};
use crate::subscribe::Subscriptions;
use std::sync::Arc;
use tokio::sync::mpsc::Sender;
use tokio::task::block_in_place;
use tokio::time::{Instant, sleep_until};
use tokio_stream::StreamExt as _;
use tonic::{Status, Streaming};

type Outbox = Sender<Result<SubscribeResponse, Status>>;

/// Until the client leaves.
///
/// # Errors
/// With which the stream ends.
pub async fn serve(
    switch: Arc<dyn Interfaces>,
    mut requests: Streaming<SubscribeRequest>,
    outbox: &Outbox,
) -> Result<(), Status> {
    let Some(first) = requests.next().await else { return Ok(()) };
    let first = first?;
    check_extensions(&first.extension)?;
    let Some(Request::Subscribe(list)) = first.request else {
        return Err(Status::invalid_argument("the stream must begin with a list of subscriptions"));
    };
    let mode = Mode::try_from(list.mode)
        .map_err(|_| Status::invalid_argument(format!("there is no mode {} of a list", list.mode)))?;
    // Before the first values are read, so that no change between is lost.
    let changes = switch.changes().subscribe();
    let mut stream = Stream { switch, subscriptions: Subscriptions::new(&list)?, outbox };
    stream.send_all().await;
    match mode {
        Mode::Once => Ok(()),
        Mode::Poll => stream.poll(requests).await,
        Mode::Stream => stream.stream(requests, changes).await,
    }
}

struct Stream<'o> {
    switch: Arc<dyn Interfaces>,
    subscriptions: Subscriptions,
    outbox: &'o Outbox,
}

/// What a stream waits for.
enum Woken {
    Request(Option<Result<SubscribeRequest, Status>>),
    Change,
    Clock,
    Left,
}

impl Stream<'_> {
    fn interfaces(&self) -> Vec<Interface> {
        block_in_place(|| self.switch.interfaces())
    }

    async fn send(&self, notifications: Vec<Notification>) {
        for notification in notifications {
            let response = Some(Response::Update(notification));
            // A client that has left is noticed where the stream waits.
            drop(self.outbox.send(Ok(SubscribeResponse { response, extension: Vec::new() })).await);
        }
    }

    async fn send_all(&mut self) {
        let notifications = self.subscriptions.all(&self.interfaces());
        self.send(notifications).await;
        let response = Some(Response::SyncResponse(true));
        drop(self.outbox.send(Ok(SubscribeResponse { response, extension: Vec::new() })).await);
    }

    async fn poll(&mut self, mut requests: Streaming<SubscribeRequest>) -> Result<(), Status> {
        while let Some(request) = requests.next().await {
            match request?.request {
                Some(Request::Poll(_)) => self.send_all().await,
                Some(Request::Subscribe(_)) | None => return Err(one_list()),
            }
        }
        Ok(())
    }

    async fn stream(
        &mut self,
        mut requests: Streaming<SubscribeRequest>,
        mut changes: tokio::sync::watch::Receiver<()>,
    ) -> Result<(), Status> {
        self.subscriptions.begin(Instant::now());
        let mut half_closed = false;
        loop {
            let next = self.subscriptions.next();
            let woken = tokio::select! {
                request = requests.next(), if !half_closed => Woken::Request(request),
                Ok(()) = changes.changed() => Woken::Change,
                () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => Woken::Clock,
                () = self.outbox.closed() => Woken::Left,
            };
            let notifications = match woken {
                Woken::Left => return Ok(()),
                // The client has no more requests, and may go on to listen.
                Woken::Request(None) => {
                    half_closed = true;
                    continue;
                }
                Woken::Request(Some(Err(status))) => return Err(status),
                Woken::Request(Some(Ok(_))) => return Err(one_list()),
                Woken::Change => self.subscriptions.changed(&self.interfaces()),
                Woken::Clock => self.subscriptions.timed(Instant::now(), &self.interfaces()),
            };
            self.send(notifications).await;
        }
    }
}

fn one_list() -> Status {
    Status::invalid_argument("a stream has one list of subscriptions; polls are for lists of the mode POLL")
}
