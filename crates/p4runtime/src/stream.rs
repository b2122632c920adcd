//! StreamChannel: bids of controllers, packets out, acknowledgements.

use crate::device::{Device, lock, no_pipeline};
use crate::election::Outbox;
use crate::failure::{Failure, Outcome};
use crate::packet;
use control::message::runtime::{
    DigestListAck, DigestListAckError, PacketOut, PacketOutError, StreamError, StreamMessageRequest,
    StreamMessageResponse, StreamOtherError, stream_error, stream_message_request::Update, stream_message_response,
};
use std::sync::Arc;
use tonic::{Code, Status, Streaming};

/// One controller's stream.
struct Stream {
    device: Arc<Device>,
    number: u64,
    outbox: Outbox,
    /// Once the controller has made a bid.
    role: Option<String>,
}

/// Serves a stream until the controller closes it, or a bid is refused.
pub async fn serve(device: Arc<Device>, mut requests: Streaming<StreamMessageRequest>, outbox: Outbox) {
    let number = device.next_stream();
    let mut stream = Stream { device, number, outbox, role: None };
    while let Ok(Some(request)) = requests.message().await {
        // The switch may be in another caller's hands for a while.
        if let Err(failure) = tokio::task::block_in_place(|| stream.take(request)) {
            let outbox = stream.outbox.clone();
            stream.leave();
            // The controller has to take what was sent before it can read why the stream ends.
            drop(outbox.send(Err(Status::from(failure))).await);
            return;
        }
    }
    tokio::task::block_in_place(|| stream.leave());
}

impl Stream {
    fn leave(&mut self) {
        if let Some(role) = self.role.take() {
            self.device.elections_mut().leave(self.number, &role);
        }
    }

    /// A failure ends the stream; mistakes in other messages than bids are only reported.
    fn take(&mut self, request: StreamMessageRequest) -> Outcome {
        match request.update {
            Some(Update::Arbitration(bid)) => {
                let mut elections = self.device.elections_mut();
                self.role = Some(elections.bid(self.number, self.role.as_deref(), &bid, &self.outbox)?);
            }
            Some(Update::Packet(packet)) => {
                if let Err(failure) = self.packet_out(&packet) {
                    let packet_out = Some(PacketOut { payload: Vec::new(), ..packet });
                    self.report(failure, stream_error::Details::PacketOut(PacketOutError { packet_out }));
                }
            }
            Some(Update::DigestAck(ack)) => {
                if let Err(failure) = self.acknowledge(&ack) {
                    let digest_list_ack = Some(ack);
                    self.report(failure, stream_error::Details::DigestListAck(DigestListAckError { digest_list_ack }));
                }
            }
            Some(Update::Other(other)) => {
                let failure = Failure::unsupported("this switch has no messages of its own");
                self.report(failure, stream_error::Details::Other(StreamOtherError { other: Some(other) }));
            }
            None => {
                let failure = Failure::invalid("the message is empty");
                self.report(failure, stream_error::Details::Other(StreamOtherError { other: None }));
            }
        }
        Ok(())
    }

    fn check_primary(&self) -> Outcome {
        let role = self.role.as_deref();
        if role.is_some_and(|role| self.device.elections().is_primary(self.number, role)) {
            return Ok(());
        }
        Err(Failure::new(Code::PermissionDenied, "only the primary controller may send this"))
    }

    fn packet_out(&self, packet: &PacketOut) -> Outcome {
        self.check_primary()?;
        let pipeline = self.device.pipeline();
        let pipeline = pipeline.as_ref().ok_or_else(no_pipeline)?;
        let frame = packet::packet_out(&pipeline.schema, packet)?;
        let sent = self.device.with_switch(|switch| {
            // The packet has the numbers of its texts.
            pipeline.follow(switch);
            switch.packet_out(frame)
        });
        Ok(sent?.ok_or_else(no_pipeline)??)
    }

    fn acknowledge(&self, ack: &DigestListAck) -> Outcome {
        self.check_primary()?;
        let pipeline = self.device.pipeline();
        let pipeline = pipeline.as_ref().ok_or_else(no_pipeline)?;
        let digest = pipeline.schema.digest(ack.digest_id)?.digest;
        lock(&self.device.digests).acknowledge(digest, ack.list_id);
        Ok(())
    }

    fn report(&self, failure: Failure, details: stream_error::Details) {
        let error = StreamError {
            canonical_code: failure.code.into(),
            message: failure.sentence,
            space: "bacus".to_string(),
            code: 0,
            details: Some(details),
        };
        let update = Some(stream_message_response::Update::Error(error));
        drop(self.outbox.try_send(Ok(StreamMessageResponse { update })));
    }
}
