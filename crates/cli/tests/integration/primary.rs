//! A P4Runtime client of a switch that a test has started, as its primary controller.

use crate::switch::Switch;
use control::message::runtime::{MasterArbitrationUpdate, StreamMessageRequest, Uint128, stream_message_request};
use p4runtime::P4RuntimeClient;
use tonic::Status;
use tonic::transport::{Channel, Endpoint};

pub const ELECTION: Option<Uint128> = Some(Uint128 { high: 0, low: 1 });

pub async fn client(switch: &Switch) -> P4RuntimeClient<Channel> {
    let endpoint = Endpoint::from_shared(format!("http://{}", switch.p4runtime())).unwrap();
    P4RuntimeClient::new(endpoint.connect().await.unwrap())
}

/// Is the primary controller while the stream that is returned is open.
///
/// # Errors
/// The switch ends the stream.
pub async fn arbitrate(
    client: &mut P4RuntimeClient<Channel>,
    election_id: Option<Uint128>,
) -> Result<impl Sized + use<>, Status> {
    let bid = MasterArbitrationUpdate { device_id: 1, election_id, ..Default::default() };
    let (sender, requests) = tokio::sync::mpsc::channel(1);
    let bid = StreamMessageRequest { update: Some(stream_message_request::Update::Arbitration(bid)) };
    sender.send(bid).await.unwrap();
    let requests = tokio_stream::wrappers::ReceiverStream::new(requests);
    let mut answers = client.stream_channel(requests).await?.into_inner();
    answers.message().await?;
    Ok((sender, answers))
}
