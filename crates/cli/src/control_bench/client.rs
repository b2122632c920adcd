//! The controller that measures: the primary one of the default role, by the protocol alone.

use super::rig::Rig;
use control::message::config::P4Info;
use control::message::runtime::{
    ForwardingPipelineConfig, MasterArbitrationUpdate, ReadRequest, SetForwardingPipelineConfigRequest,
    StreamMessageRequest, StreamMessageResponse, Uint128, Update, WriteRequest,
    set_forwarding_pipeline_config_request::Action, stream_message_request, stream_message_response,
};
use driver::failure::Failure;
use p4runtime::P4RuntimeClient;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::{Channel, Endpoint};
use tonic::{Status, Streaming};

/// Behind it a call or message counts as lost.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The message of a status about a connection that could not be made, or broke.
const TRANSPORT: &str = "transport error";
const DEVICE: u64 = 1;
/// Of the primary controller.
const ELECTION: u64 = 1 << 32;

pub type Message = stream_message_response::Update;

/// A connection with a stream that has bid.
pub struct Connection {
    pub service: P4RuntimeClient<Channel>,
    pub requests: mpsc::Sender<StreamMessageRequest>,
    pub answers: Streaming<StreamMessageResponse>,
}

impl Connection {
    /// The primary controller: no election id is higher.
    pub async fn open(address: SocketAddr) -> Result<Connection, Status> {
        Connection::bid(address, ELECTION).await
    }

    /// One of several that are not primary.
    pub async fn open_backup(address: SocketAddr, number: u64) -> Result<Connection, Status> {
        Connection::bid(address, number).await
    }

    async fn bid(address: SocketAddr, election: u64) -> Result<Connection, Status> {
        let unavailable = |error: tonic::transport::Error| Status::unavailable(cause(&error));
        let endpoint = Endpoint::from_shared(format!("http://{address}")).map_err(unavailable)?;
        let channel = endpoint.connect().await.map_err(unavailable)?;
        let mut service = P4RuntimeClient::new(channel).max_decoding_message_size(usize::MAX);
        let (requests, queue) = mpsc::channel(1024);
        let bid = MasterArbitrationUpdate {
            device_id: DEVICE,
            election_id: Some(Uint128 { high: 0, low: election }),
            ..MasterArbitrationUpdate::default()
        };
        let bid = StreamMessageRequest { update: Some(stream_message_request::Update::Arbitration(bid)) };
        drop(requests.send(bid).await);
        let mut answers = service.stream_channel(ReceiverStream::new(queue)).await?.into_inner();
        answers.message().await?;
        Ok(Connection { service, requests, answers })
    }
}

pub struct Client {
    pub runtime: Runtime,
    pub connection: Connection,
}

/// The innermost cause: those around it only report that the transport failed.
fn cause(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), cause)
}

/// The switch refuses what it should not: there is nothing to measure.
pub fn refused(status: &Status) -> Failure {
    let why = if status.message() == TRANSPORT { cause(status) } else { status.message().to_string() };
    Failure::environment(format!("the switch answers {:?}: {why}", status.code()))
}

impl Client {
    pub fn of(rig: &Rig) -> Result<Client, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::environment(format!("the client's thread: {error}")))?;
        let connection = runtime.block_on(Connection::open(rig.address())).map_err(|status| refused(&status))?;
        Ok(Client { runtime, connection })
    }

    /// Another connection, by which the same controller writes. Its calls are made on this one's thread.
    pub fn another(&self, rig: &Rig) -> Result<P4RuntimeClient<Channel>, Failure> {
        let endpoint = Endpoint::from_shared(format!("http://{}", rig.address()));
        let connected = endpoint.map(|endpoint| self.runtime.block_on(endpoint.connect()));
        let channel = connected.and_then(|channel| channel);
        let channel = channel.map_err(|error| refused(&Status::unavailable(cause(&error))))?;
        Ok(P4RuntimeClient::new(channel))
    }

    pub fn request(updates: Vec<Update>) -> WriteRequest {
        WriteRequest {
            device_id: DEVICE,
            election_id: Some(Uint128 { high: 0, low: ELECTION }),
            updates,
            ..WriteRequest::default()
        }
    }

    /// Writes, and waits until the switch has.
    pub fn write(&mut self, request: WriteRequest) -> Result<(), Status> {
        self.runtime.block_on(self.connection.service.write(request)).map(drop)
    }

    /// Writes all of them, a few under way at once.
    pub fn write_all(&mut self, requests: Vec<WriteRequest>) -> Result<(), Failure> {
        const UNDER_WAY: usize = 2;
        let service = &self.connection.service;
        self.runtime
            .block_on(async {
                let mut calls = tokio::task::JoinSet::new();
                for request in requests {
                    while calls.len() >= UNDER_WAY {
                        joined(calls.join_next().await)?;
                    }
                    let mut service = service.clone();
                    calls.spawn(async move { service.write(request).await.map(drop) });
                }
                while !calls.is_empty() {
                    joined(calls.join_next().await)?;
                }
                Ok(())
            })
            .map_err(|status| refused(&status))
    }

    /// Reads what passes a filter; gives the number of entities. Answers are let go as they come.
    pub fn read(&mut self, request: ReadRequest) -> Result<usize, Failure> {
        let request = ReadRequest { device_id: DEVICE, ..request };
        let service = &mut self.connection.service;
        let read = async {
            let mut answers = service.read(request).await?.into_inner();
            let mut count = 0;
            while let Some(answer) = answers.message().await? {
                count += answer.entities.len();
            }
            Ok(count)
        };
        self.runtime.block_on(read).map_err(|status: Status| refused(&status))
    }

    /// Puts a program in the place of the running one, which leaves it what was written.
    pub fn exchange(&mut self, program: &str) -> Result<(), Failure> {
        let request = SetForwardingPipelineConfigRequest {
            device_id: DEVICE,
            election_id: Some(Uint128 { high: 0, low: ELECTION }),
            action: Action::ReconcileAndCommit.into(),
            config: Some(ForwardingPipelineConfig {
                p4_device_config: program.into(),
                ..ForwardingPipelineConfig::default()
            }),
            ..SetForwardingPipelineConfigRequest::default()
        };
        let set = self.runtime.block_on(self.connection.service.set_forwarding_pipeline_config(request));
        set.map(drop).map_err(|status| refused(&status))
    }

    /// The next message of the stream; none if none comes in time.
    pub fn next(&mut self, timeout: Duration) -> Result<Option<Message>, Failure> {
        let answers = &mut self.connection.answers;
        let next = async { tokio::time::timeout(timeout.min(TIMEOUT), answers.message()).await };
        match self.runtime.block_on(next) {
            Err(_) => Ok(None),
            Ok(Ok(message)) => Ok(message.and_then(|message| message.update)),
            Ok(Err(status)) => Err(refused(&status)),
        }
    }

    pub fn send(&mut self, update: stream_message_request::Update) {
        let request = StreamMessageRequest { update: Some(update) };
        // A stream that has ended is seen where its messages are read.
        drop(self.runtime.block_on(self.connection.requests.send(request)));
    }
}

fn joined(call: Option<Result<Result<(), Status>, tokio::task::JoinError>>) -> Result<(), Status> {
    match call {
        Some(Ok(written)) => written,
        Some(Err(error)) => Err(Status::internal(error.to_string())),
        None => Ok(()),
    }
}

/// The program's tables and actions as the protocol numbers them.
#[derive(Clone)]
pub struct Ids {
    info: Arc<P4Info>,
}

impl Ids {
    pub fn of(program: &hlir::Program) -> Ids {
        Ids { info: Arc::new(control::p4info(program)) }
    }

    pub fn table(&self, alias: &str) -> u32 {
        let preambles = self.info.tables.iter().filter_map(|table| table.preamble.as_ref());
        find(preambles, alias)
    }

    pub fn action(&self, alias: &str) -> u32 {
        let preambles = self.info.actions.iter().filter_map(|action| action.preamble.as_ref());
        find(preambles, alias)
    }

    pub fn digest(&self) -> u32 {
        self.info
            .digests
            .iter()
            .filter_map(|digest| digest.preamble.as_ref())
            .map(|preamble| preamble.id)
            .next()
            .expect("the program has one")
    }
}

fn find<'a>(mut preambles: impl Iterator<Item = &'a control::message::config::Preamble>, alias: &str) -> u32 {
    preambles.find(|preamble| preamble.alias == alias).expect("the program has it").id
}
