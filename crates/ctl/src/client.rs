//! The connection to a switch: calls of P4Runtime that wait for their answer.

use crate::failure::{Failure, Label, innermost, sentence};
use crate::gathered::Gathered;
use crate::primary::Primary;
use control::message::runtime::{
    Entity, ForwardingPipelineConfig, GetForwardingPipelineConfigRequest, ReadRequest,
    SetForwardingPipelineConfigRequest, Update, WriteRequest, get_forwarding_pipeline_config_request::ResponseType,
    set_forwarding_pipeline_config_request::Action, write_request::Atomicity,
};
use control::message::switch::{
    AddPortRequest, RemovePortRequest, ReportRequest, ReportResponse, TraceRequest, TraceResponse,
};
use p4runtime::{P4RuntimeClient, SwitchClient, only_device};
use std::io;
use std::time::Duration;
use tokio::runtime::Runtime;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Code, Status};

/// A switch that does not answer by then is not there.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes of metadata that are accepted: the errors of a batch with many updates.
const LARGEST_METADATA: u32 = 64 << 20;

/// Certificates in PEM.
#[derive(Clone, Default)]
pub struct Tls {
    /// Who vouches for the switch.
    pub authority: Vec<u8>,
    /// The client certificate, with its key.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
}

#[derive(Clone)]
pub struct Settings {
    /// `ADDRESS:PORT`, or the path of a socket.
    pub address: String,
    pub tls: Option<Tls>,
    /// None: the one that the switch has.
    pub device: Option<u64>,
    /// Empty: the default role.
    pub role: String,
    /// Whether to take over from another controller.
    pub force: bool,
}

pub struct Client {
    pub(crate) runtime: Runtime,
    pub(crate) service: P4RuntimeClient<Channel>,
    /// What a switch of bacus offers beside P4Runtime.
    switch: SwitchClient<Channel>,
    pub(crate) device: u64,
    pub(crate) role: String,
    pub(crate) force: bool,
    pub(crate) primary: Option<Primary>,
    pub(crate) gathered: Option<Gathered>,
}

impl Client {
    /// Connects, and finds the device.
    ///
    /// # Errors
    /// Nothing answers at the address, or not in this protocol; certificates that do not fit.
    pub fn connect(settings: &Settings) -> Result<Client, Failure> {
        let unreachable =
            |error: &dyn std::fmt::Display| Failure::Unreachable(format!("{}: {error}", settings.address));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error: io::Error| unreachable(&error))?;
        let endpoint = endpoint(settings).map_err(|error| unreachable(&innermost(&error)))?;
        let channel = runtime.block_on(endpoint.connect()).map_err(|error| unreachable(&innermost(&error)))?;
        let switch = SwitchClient::new(channel.clone()).max_decoding_message_size(usize::MAX);
        let service = P4RuntimeClient::new(channel).max_decoding_message_size(usize::MAX);
        let (role, force) = (settings.role.clone(), settings.force);
        let device = settings.device.unwrap_or(1);
        let mut client = Client { runtime, service, switch, device, role, force, primary: None, gathered: None };
        if let Some(device) = client.other_device().map_err(|status| {
            // Plain words to a switch that talks TLS end in a broken connection.
            let is_plain = settings.tls.is_none() && !settings.address.contains('/');
            let hint = if is_plain { "; if the switch talks TLS, name its authority with --tls-ca" } else { "" };
            unreachable(&format!("{}{hint}", sentence(&status)))
        })? {
            match settings.device {
                None => client.device = device,
                Some(named) => {
                    let sentence = format!("the switch has device {device}, not {named}: leave --device-id out");
                    return Err(Failure::refused(sentence));
                }
            }
        }
        Ok(client)
    }

    /// The device of the switch, if it is another than ours.
    fn other_device(&mut self) -> Result<Option<u64>, Status> {
        let request = self.config_request(ResponseType::CookieOnly);
        let asked =
            async { tokio::time::timeout(ANSWER_TIMEOUT, self.service.get_forwarding_pipeline_config(request)).await };
        match self.runtime.block_on(asked) {
            Err(_) => Err(Status::unavailable("no answer in time")),
            Ok(Err(status)) => match (only_device(&status), status.code()) {
                (Some(device), _) => Ok(Some(device)),
                (None, Code::FailedPrecondition | Code::NotFound) => Ok(None),
                (None, _) => Err(status),
            },
            Ok(Ok(_)) => Ok(None),
        }
    }

    fn config_request(&self, what: ResponseType) -> GetForwardingPipelineConfigRequest {
        GetForwardingPipelineConfigRequest { device_id: self.device, response_type: what.into() }
    }

    /// What runs; none if nothing does yet.
    pub fn config(&mut self) -> Result<Option<ForwardingPipelineConfig>, Failure> {
        self.flush()?;
        let request = self.config_request(ResponseType::All);
        match self.runtime.block_on(self.service.get_forwarding_pipeline_config(request)) {
            Ok(answer) => Ok(answer.into_inner().config),
            Err(status) if status.code() == Code::FailedPrecondition => Ok(None),
            Err(status) => Err(Failure::of_call(&status)),
        }
    }

    /// All counts of the switch; none if it is another than a switch of bacus.
    pub fn report(&mut self) -> Result<Option<ReportResponse>, Failure> {
        self.flush()?;
        let request = ReportRequest { device_id: self.device };
        match self.runtime.block_on(self.switch.report(request)) {
            Ok(answer) => Ok(Some(answer.into_inner())),
            Err(status) if status.code() == Code::Unimplemented => Ok(None),
            Err(status) => Err(Failure::of_call(&status)),
        }
    }

    /// Begins a trace of received packets, or goes on with it.
    pub fn trace(&mut self, request: TraceRequest) -> Result<TraceResponse, Failure> {
        self.flush()?;
        let request = TraceRequest { device_id: self.device, ..request };
        let traced = self.runtime.block_on(self.switch.trace(request));
        traced.map(tonic::Response::into_inner).map_err(|status| Failure::of_call(&status))
    }

    /// Opens a device as a port of the switch.
    pub fn add_port(&mut self, number: u32, device: String) -> Result<(), Failure> {
        self.flush()?;
        let request = AddPortRequest { device_id: self.device, number, device };
        let added = self.runtime.block_on(self.switch.add_port(request));
        added.map(drop).map_err(|status| of_ports(&status))
    }

    /// Closes a port of the switch, by its number or device.
    pub fn remove_port(&mut self, port: String) -> Result<(), Failure> {
        self.flush()?;
        let request = RemovePortRequest { device_id: self.device, port };
        let removed = self.runtime.block_on(self.switch.remove_port(request));
        removed.map(drop).map_err(|status| of_ports(&status))
    }

    /// All that passes a filter.
    pub fn read(&mut self, filters: Vec<Entity>) -> Result<Vec<Entity>, Failure> {
        self.flush()?;
        let request = ReadRequest { device_id: self.device, role: String::new(), entities: filters };
        let service = &mut self.service;
        let read = async {
            let mut answers = service.read(request).await?.into_inner();
            let mut found = Vec::new();
            while let Some(answer) = answers.message().await? {
                found.extend(answer.entities);
            }
            Ok(found)
        };
        // A failed read has its reasons in the details of the status.
        self.runtime.block_on(read).map_err(|status: Status| match p4runtime::errors_of(&status).as_slice() {
            [] => Failure::of_call(&status),
            errors => {
                let label = Label { line: None, text: "read".to_string() };
                Failure::of_batch(&status, &vec![label; errors.len()])
            }
        })
    }

    /// Writes as the primary controller; each update has the label by which its failure is reported.
    pub fn write(&mut self, updates: Vec<(Label, Update)>, atomicity: Atomicity) -> Result<(), Failure> {
        self.flush()?;
        let (role, election_id) = self.become_primary()?;
        let (labels, updates): (Vec<_>, Vec<_>) = updates.into_iter().unzip();
        let request = WriteRequest {
            device_id: self.device,
            role,
            election_id: Some(election_id),
            updates,
            atomicity: atomicity.into(),
            ..WriteRequest::default()
        };
        let written = self.runtime.block_on(self.service.write(request));
        written.map(drop).map_err(|status| Failure::of_batch(&status, &labels))
    }

    pub fn set_config(&mut self, config: ForwardingPipelineConfig, action: Action) -> Result<(), Failure> {
        self.flush()?;
        let (role, election_id) = self.become_primary()?;
        let request = SetForwardingPipelineConfigRequest {
            device_id: self.device,
            role,
            election_id: Some(election_id),
            action: action.into(),
            config: Some(config),
            ..SetForwardingPipelineConfigRequest::default()
        };
        let set = self.runtime.block_on(self.service.set_forwarding_pipeline_config(request));
        // Mistakes of the program fill several lines, each with its place.
        set.map(drop).map_err(|status| match status.code() == Code::Unavailable {
            true => Failure::of_call(&status),
            false => Failure::refused(status.message()),
        })
    }
}

/// Why a port is not added or removed; the reason may fill several lines.
fn of_ports(status: &Status) -> Failure {
    if status.code() == Code::Unavailable {
        return Failure::of_call(status);
    }
    let foreign = status.code() == Code::Unimplemented;
    let sentence =
        if foreign { "the ports of this switch cannot be changed: it is no switch of bacus" } else { status.message() };
    Failure::refused(sentence)
}

fn endpoint(settings: &Settings) -> Result<Endpoint, tonic::transport::Error> {
    Ok(plain_or_tls(settings)?.http2_max_header_list_size(LARGEST_METADATA))
}

fn plain_or_tls(settings: &Settings) -> Result<Endpoint, tonic::transport::Error> {
    let address = &settings.address;
    if address.contains('/') {
        return Endpoint::from_shared(format!("unix:{address}"));
    }
    let Some(tls) = &settings.tls else {
        return Ok(Endpoint::from_shared(format!("http://{address}"))?.connect_timeout(ANSWER_TIMEOUT));
    };
    let mut config = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(&tls.authority));
    if let Some((certificate, key)) = &tls.identity {
        config = config.identity(Identity::from_pem(certificate, key));
    }
    Endpoint::from_shared(format!("https://{address}"))?.connect_timeout(ANSWER_TIMEOUT).tls_config(config)
}

impl Drop for Client {
    fn drop(&mut self) {
        self.leave();
    }
}
