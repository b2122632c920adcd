//! Who gets in, and what bad clients can do: certificates, sockets, unknown services, large messages, many connections.

use crate::rig;
use crate::rig::messages::*;
use crate::rig::{Client, Rig};
use control::message::runtime::*;
use control::message::switch::ReportRequest;
use p4runtime::{Listening, Server, Settings, SwitchClient, Tls};
use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
use std::os::unix::fs::FileTypeExt;
use std::sync::Arc;
use tonic::Code;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity};

/// An authority, and what it signs.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: String,
}

impl Authority {
    fn new() -> Authority {
        let mut params = CertificateParams::new(Vec::new()).expect("no name is wrong");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("keys can be made");
        let certificate = params.self_signed(&key).expect("it signs itself").pem();
        Authority { issuer: Issuer::new(params, key), certificate }
    }

    /// Certificate and key.
    fn sign(&self, purpose: ExtendedKeyUsagePurpose) -> (String, String) {
        let mut params = CertificateParams::new(vec!["localhost".to_string()]).expect("it is a name");
        params.extended_key_usages = vec![purpose];
        let key = KeyPair::generate().expect("keys can be made");
        let certificate = params.signed_by(&key, &self.issuer).expect("the authority signs");
        (certificate.pem(), key.serialize_pem())
    }
}

fn secure_rig(authority: &Authority, controllers: Option<&Authority>) -> Rig {
    let (certificate, key) = authority.sign(ExtendedKeyUsagePurpose::ServerAuth);
    let controllers = controllers.map(|controllers| controllers.certificate.clone().into_bytes());
    let tls = Some(Tls { certificate: certificate.into(), key: key.into(), controllers });
    Rig::with(Settings { tls, ..Settings::default() }, Some(rig::EVERYTHING))
}

/// What a controller with these certificates is answered.
fn version(rig: &Rig, trusts: Option<&Authority>, signed_by: Option<&Authority>) -> Result<String, Code> {
    let address = rig.server.addresses()[0];
    let scheme = if trusts.is_some() { "https" } else { "http" };
    let mut endpoint = Endpoint::from_shared(format!("{scheme}://{address}")).expect("it is an address");
    if let Some(authority) = trusts {
        let mut tls = ClientTlsConfig::new()
            .domain_name("localhost")
            .ca_certificate(Certificate::from_pem(&authority.certificate));
        if let Some(signer) = signed_by {
            let (certificate, key) = signer.sign(ExtendedKeyUsagePurpose::ClientAuth);
            tls = tls.identity(Identity::from_pem(certificate, key));
        }
        endpoint = endpoint.tls_config(tls).expect("the certificates are certificates");
    }
    let mut client = Client::try_connect(|| endpoint.connect_lazy());
    let answer = client.runtime.block_on(client.rpc.capabilities(CapabilitiesRequest::default()));
    answer.map(|answer| answer.into_inner().p4runtime_api_version).map_err(|status| status.code())
}

#[test]
fn with_certificates_the_channel_is_secure() {
    let (authority, other) = (Authority::new(), Authority::new());
    let rig = secure_rig(&authority, None);
    assert_eq!(version(&rig, Some(&authority), None), Ok("1.5.0".to_string()));
    assert!(version(&rig, Some(&other), None).is_err(), "the switch is another one");
    assert!(version(&rig, None, None).is_err(), "the channel is open to all");
}

#[test]
fn nobody_gets_in_without_the_certificate() {
    let (authority, controllers, other) = (Authority::new(), Authority::new(), Authority::new());
    let rig = secure_rig(&authority, Some(&controllers));
    assert_eq!(version(&rig, Some(&authority), Some(&controllers)), Ok("1.5.0".to_string()));
    assert!(version(&rig, Some(&authority), None).is_err());
    assert!(version(&rig, Some(&authority), Some(&other)).is_err());
    assert!(version(&rig, Some(&authority), Some(&authority)).is_err(), "the switch's authority is not theirs");
}

#[test]
fn certificates_that_are_none_are_refused_at_the_start() {
    let tls = Some(Tls { certificate: b"none".to_vec(), key: b"none".to_vec(), controllers: None });
    let addresses = vec!["127.0.0.1:0".parse().expect("it is an address")];
    let settings = Settings { addresses, tls, ..Settings::default() };
    assert!(Server::start(settings, Arc::new(rig::Process::default()), None).is_err());
}

#[test]
fn a_taken_address_is_refused_at_the_start() {
    let rig = Rig::empty();
    let settings = Settings { addresses: rig.server.addresses().to_vec(), ..Settings::default() };
    let error = Server::start(settings, Arc::new(rig::Process::default()), None).err().expect("it is taken");
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
    let address = rig.server.addresses()[0].to_string();
    assert!(error.to_string().starts_with(&format!("{address}: ")), "of several, the message names it: {error}");
}

#[test]
fn a_socket_of_the_machine_serves_as_well() {
    let path = rig::temporary("socket");
    // One that a killed switch has left.
    drop(std::os::unix::net::UnixListener::bind(&path).expect("the directory can be written"));
    let rig = Rig::with(Settings { socket: Some(path.clone()), ..Settings::default() }, Some(rig::EVERYTHING));
    let mut client = Client::connect(&format!("unix://{}", path.display()));
    client.become_primary(1);
    assert_eq!(client.insert(table(host(1, 1))), Ok(()));
    assert!(std::fs::metadata(&path).expect("it is there").file_type().is_socket());
    drop(rig);
    assert!(!path.exists(), "it goes with the server");
}

#[test]
fn clients_of_a_socket_may_connect_before_the_switch_serves() {
    let path = rig::temporary("early");
    let mut listening = Listening::at(&[]).expect("no address is taken");
    listening.listen_local(&path).expect("the directory can be written");
    std::os::unix::net::UnixStream::connect(&path).expect("it listens");
    drop(listening);
    assert!(!path.exists(), "it goes with a switch that could not start");
}

#[test]
fn unknown_services_are_unimplemented() {
    let rig = Rig::new();
    let mut client = rig.client();
    let channel = Endpoint::from_shared(rig.address()).expect("it is an address");
    let status = client.runtime.block_on(async {
        let mut grpc = tonic::client::Grpc::new(channel.connect_lazy());
        grpc.ready().await.expect("the server listens");
        let path = tonic::codegen::http::uri::PathAndQuery::from_static("/gnoi.system.System/Time");
        let codec = tonic_prost::ProstCodec::<CapabilitiesRequest, CapabilitiesResponse>::default();
        grpc.unary(tonic::Request::new(CapabilitiesRequest::default()), path, codec).await.map(drop)
    });
    assert_eq!(status.map_err(|status| status.code()), Err(Code::Unimplemented));
    // The channel goes on to serve.
    assert_eq!(client.read(table(entry("fixed", vec![], None))).len(), 2);
}

/// Counts are the process's; this one has none.
#[test]
fn a_process_without_counts_reports_none() {
    let rig = Rig::new();
    let client = rig.client();
    let channel = Endpoint::from_shared(rig.address()).expect("it is an address");
    let report = |device_id| {
        let request = ReportRequest { device_id };
        client.runtime.block_on(async { SwitchClient::new(channel.connect_lazy()).report(request).await })
    };
    assert_eq!(report(1).map_err(|status| status.code()).map(drop), Err(Code::Unimplemented));
    assert_eq!(report(7).map_err(|status| status.code()).map(drop), Err(Code::NotFound));
}

#[test]
fn messages_are_limited() {
    let rig = Rig::with(Settings { largest_message: 5 << 20, ..Settings::default() }, Some(rig::EVERYTHING));
    let mut client = rig.primary();
    let of_size = |bytes| Some(ForwardingPipelineConfig { p4_device_config: vec![b' '; bytes], ..Default::default() });
    let verify = set_forwarding_pipeline_config_request::Action::Verify;
    let status = client.set_config(verify, of_size(6 << 20)).expect_err("it is too large");
    assert_eq!(status.code(), Code::OutOfRange, "{status:?}");
    assert!(client.set_config(verify, of_size(5_000_000)).is_ok(), "an empty program, with room around it");
}

#[test]
fn a_hundred_connections_are_served() {
    let rig = Rig::new();
    let mut primary = rig.primary();
    let mut clients: Vec<Client> = (0..100).map(|_| rig.client()).collect();
    for client in &mut clients {
        client.bid_with(None);
        assert_eq!(client.arbitration(), (Code::AlreadyExists, Some(1)));
    }
    assert_eq!(primary.insert(table(host(1, 1))), Ok(()));
    for client in &mut clients {
        assert_eq!(client.read(table(entry("hosts", vec![], None))).len(), 1);
    }
    primary.leave();
    for client in &mut clients {
        assert_eq!(client.arbitration(), (Code::NotFound, Some(1)));
    }
}
