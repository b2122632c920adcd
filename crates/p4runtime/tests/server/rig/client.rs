//! A controller that waits for each answer.

use control::message::runtime::*;
use p4runtime::P4RuntimeClient;
use std::time::Duration;
use stream_message_request::Update as Request;
use stream_message_response::Update as Response;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status, Streaming};

pub const DEVICE: u64 = 1;

pub struct Client {
    pub runtime: Runtime,
    pub rpc: P4RuntimeClient<Channel>,
    pub role: String,
    pub election: Option<Uint128>,
    outgoing: Option<mpsc::Sender<StreamMessageRequest>>,
    incoming: Option<Streaming<StreamMessageResponse>>,
}

pub fn id(low: u64) -> Uint128 {
    Uint128 { high: 0, low }
}

impl Client {
    pub fn connect(address: &str) -> Client {
        let endpoint = Endpoint::from_shared(address.to_string()).expect("it is an address");
        Client::try_connect(|| endpoint.connect_lazy())
    }

    pub fn try_connect(channel: impl FnOnce() -> Channel) -> Client {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("threads can be made");
        let rpc = {
            let _inside = runtime.enter();
            P4RuntimeClient::new(channel()).max_decoding_message_size(usize::MAX)
        };
        Client { runtime, rpc, role: String::new(), election: None, outgoing: None, incoming: None }
    }

    pub fn open(&mut self) -> Result<(), Status> {
        let (outgoing, requests) = mpsc::channel(16);
        let response = self.runtime.block_on(self.rpc.stream_channel(ReceiverStream::new(requests)))?;
        (self.outgoing, self.incoming) = (Some(outgoing), Some(response.into_inner()));
        Ok(())
    }

    pub fn send(&mut self, request: Request) {
        if self.outgoing.is_none() {
            self.open().expect("the stream opens");
        }
        let message = StreamMessageRequest { update: Some(request) };
        let outgoing = self.outgoing.as_ref().expect("the stream is open");
        self.runtime.block_on(outgoing.send(message)).expect("the stream is open");
    }

    /// The next message; none once the server has closed the stream.
    pub fn receive(&mut self) -> Result<Option<Response>, Status> {
        let incoming = self.incoming.as_mut().expect("the stream is open");
        let wait = async { tokio::time::timeout(Duration::from_secs(10), incoming.message()).await };
        let message = self.runtime.block_on(wait).expect("the server answers within 10 seconds")?;
        Ok(message.and_then(|message| message.update))
    }

    /// Whether nothing comes for a while.
    pub fn hears_nothing(&mut self) -> bool {
        let incoming = self.incoming.as_mut().expect("the stream is open");
        let wait = async { tokio::time::timeout(Duration::from_millis(150), incoming.message()).await };
        self.runtime.block_on(wait).is_err()
    }

    pub fn bid(&mut self, update: MasterArbitrationUpdate) {
        self.send(Request::Arbitration(update));
    }

    /// Bids for the role of the client.
    pub fn bid_with(&mut self, election: Option<u64>) {
        self.election = election.map(id);
        let role = (!self.role.is_empty()).then(|| Role { name: self.role.clone(), ..Default::default() });
        self.bid(MasterArbitrationUpdate { device_id: DEVICE, role, election_id: self.election, status: None });
    }

    /// The server's message about the primary controller: a code, and the highest election id.
    pub fn arbitration(&mut self) -> (Code, Option<u64>) {
        match self.receive().expect("the stream stays open") {
            Some(Response::Arbitration(update)) => {
                let code = Code::from(update.status.expect("it has a status").code);
                (code, update.election_id.map(|id| id.low))
            }
            other => panic!("a bid was to be answered, not {other:?}"),
        }
    }

    pub fn become_primary(&mut self, election: u64) {
        self.bid_with(Some(election));
        assert_eq!(self.arbitration(), (Code::Ok, Some(election)));
    }

    /// Closes the stream as one does that goes away.
    pub fn leave(&mut self) {
        (self.outgoing, self.incoming) = (None, None);
        self.runtime.block_on(async { tokio::time::sleep(Duration::from_millis(50)).await });
    }

    /// Closes the client's direction, and goes on to listen.
    pub fn half_close(&mut self) {
        self.outgoing = None;
    }

    pub fn write_as(&mut self, updates: Vec<Update>, atomicity: write_request::Atomicity) -> Result<(), Status> {
        let request = WriteRequest {
            device_id: DEVICE,
            role: self.role.clone(),
            election_id: self.election,
            updates,
            atomicity: atomicity.into(),
            ..Default::default()
        };
        self.runtime.block_on(self.rpc.write(request)).map(drop)
    }

    pub fn write(&mut self, updates: Vec<Update>) -> Result<(), Status> {
        self.write_as(updates, write_request::Atomicity::ContinueOnError)
    }

    /// What became of one update.
    pub fn update(&mut self, kind: update::Type, entity: entity::Entity) -> Result<(), Code> {
        let update = Update { r#type: kind.into(), entity: Some(Entity { entity: Some(entity) }) };
        let Err(status) = self.write(vec![update]) else { return Ok(()) };
        assert_eq!(status.code(), Code::Unknown, "{status:?}");
        let errors = p4runtime::errors_of(&status);
        assert_eq!(errors.len(), 1, "{status:?}");
        Err(Code::from(errors[0].canonical_code))
    }

    pub fn insert(&mut self, entity: entity::Entity) -> Result<(), Code> {
        self.update(update::Type::Insert, entity)
    }

    pub fn modify(&mut self, entity: entity::Entity) -> Result<(), Code> {
        self.update(update::Type::Modify, entity)
    }

    pub fn delete(&mut self, entity: entity::Entity) -> Result<(), Code> {
        self.update(update::Type::Delete, entity)
    }

    pub fn try_read(&mut self, filters: Vec<entity::Entity>) -> (Vec<entity::Entity>, Option<Status>) {
        let entities = filters.into_iter().map(|entity| Entity { entity: Some(entity) }).collect();
        let request = ReadRequest { device_id: DEVICE, role: String::new(), entities };
        self.runtime.block_on(async {
            let mut found = Vec::new();
            let mut stream = match self.rpc.read(request).await {
                Ok(response) => response.into_inner(),
                Err(status) => return (found, Some(status)),
            };
            loop {
                match stream.message().await {
                    Ok(Some(response)) => found.extend(response.entities.into_iter().filter_map(|found| found.entity)),
                    Ok(None) => return (found, None),
                    Err(status) => return (found, Some(status)),
                }
            }
        })
    }

    pub fn read(&mut self, filter: entity::Entity) -> Vec<entity::Entity> {
        let (found, status) = self.try_read(vec![filter]);
        assert!(status.is_none(), "{status:?}");
        found
    }

    /// Why a filter cannot be read.
    pub fn read_fails(&mut self, filter: entity::Entity) -> Code {
        let (_, status) = self.try_read(vec![filter]);
        let errors = p4runtime::errors_of(&status.expect("the read fails"));
        Code::from(errors[0].canonical_code)
    }

    pub fn set_config(
        &mut self,
        action: set_forwarding_pipeline_config_request::Action,
        config: Option<ForwardingPipelineConfig>,
    ) -> Result<(), Status> {
        let request = SetForwardingPipelineConfigRequest {
            device_id: DEVICE,
            role: self.role.clone(),
            election_id: self.election,
            action: action.into(),
            config,
            ..Default::default()
        };
        self.runtime.block_on(self.rpc.set_forwarding_pipeline_config(request)).map(drop)
    }

    pub fn get_config(
        &mut self,
        response_type: get_forwarding_pipeline_config_request::ResponseType,
    ) -> Option<ForwardingPipelineConfig> {
        let request = GetForwardingPipelineConfigRequest { device_id: DEVICE, response_type: response_type.into() };
        let response = self.runtime.block_on(self.rpc.get_forwarding_pipeline_config(request));
        response.expect("it is answered").into_inner().config
    }
}
