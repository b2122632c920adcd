//! A switch in a test: ports that the test changes, the service on loopback, and a client.

use gnmi::message::*;
use gnmi::{Changes, Counters, GNmiClient, Interface, Interfaces, Refusal, Status};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Code, Streaming};

/// Longer than any answer takes.
const TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Default)]
pub struct Ports {
    ports: Mutex<Vec<Interface>>,
    changes: Changes,
    /// That cannot be changed.
    pub refused: Mutex<Option<(String, Refusal)>>,
}

impl Interfaces for Ports {
    fn interfaces(&self) -> Vec<Interface> {
        self.ports.lock().expect("no test panics with it").clone()
    }

    fn set_enabled(&self, name: &str, enabled: bool) -> Result<(), Refusal> {
        let refused = self.refused.lock().expect("no test panics with it").clone();
        if let Some((_, refusal)) = refused.filter(|(refused, _)| refused == name) {
            return Err(refusal);
        }
        self.change(name, |port| {
            port.enabled = enabled;
            port.status = if enabled { Status::Up } else { Status::Down };
        });
        Ok(())
    }

    fn changes(&self) -> &Changes {
        &self.changes
    }
}

impl Ports {
    pub fn change(&self, name: &str, change: impl FnOnce(&mut Interface)) {
        let mut ports = self.ports.lock().expect("no test panics with it");
        change(ports.iter_mut().find(|port| port.name == name).expect("the switch has it"));
        drop(ports);
        self.changes.notify();
    }

    /// Packets are counted, which the switch does not notify of.
    pub fn count(&self, name: &str, packets: u64) {
        let mut ports = self.ports.lock().expect("no test panics with it");
        let port = ports.iter_mut().find(|port| port.name == name).expect("the switch has it");
        port.counters.in_packets += packets;
    }

    pub fn remove(&self, name: &str) {
        self.ports.lock().expect("no test panics with it").retain(|port| port.name != name);
        self.changes.notify();
    }

    pub fn add(&self, name: &str, port: u32) {
        self.ports.lock().expect("no test panics with it").push(interface(name, port));
        self.changes.notify();
    }
}

fn interface(name: &str, port: u32) -> Interface {
    let counters = Counters { in_packets: 10 + u64::from(port), in_octets: 1 << 40, ..Counters::default() };
    Interface { name: name.to_string(), port, enabled: true, status: Status::Up, changed_ns: 5, counters }
}

/// A switch with the ports eth1 and eth2, numbers 1 and 2.
pub struct Rig {
    pub ports: Arc<Ports>,
    pub client: GNmiClient<Channel>,
}

impl Rig {
    pub async fn new() -> Rig {
        let ports = Arc::new(Ports::default());
        ports.add("eth1", 1);
        ports.add("eth2", 2);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
        let address = listener.local_addr().expect("it is bound");
        let router = Server::builder().add_routes(gnmi::routes(ports.clone()));
        tokio::spawn(router.serve_with_incoming(TcpListenerStream::new(listener)));
        let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("it is an address");
        let client = GNmiClient::new(endpoint.connect().await.expect("the service listens"));
        Rig { ports, client }
    }

    pub async fn get(&mut self, request: GetRequest) -> Result<Vec<Notification>, Code> {
        let answer = self.client.get(request).await.map_err(|status| status.code())?;
        Ok(answer.into_inner().notification)
    }

    /// Leaves of one path, as text.
    pub async fn leaves(&mut self, text: &str) -> Result<Vec<String>, Code> {
        let request = GetRequest { path: vec![path(text)], encoding: Encoding::Proto.into(), ..Default::default() };
        let notifications = self.get(request).await?;
        assert_eq!(notifications.len(), 1, "one path was requested");
        Ok(updates(&notifications[0]))
    }

    pub async fn set(&mut self, request: SetRequest) -> Result<SetResponse, Code> {
        self.client.set(request).await.map(tonic::Response::into_inner).map_err(|status| status.code())
    }

    pub async fn subscribe(&mut self, list: SubscriptionList) -> Stream {
        let (sender, requests) = tokio::sync::mpsc::channel(4);
        let request = subscribe_request::Request::Subscribe(list);
        let request = SubscribeRequest { request: Some(request), extension: Vec::new() };
        sender.send(request).await.expect("the stream is open");
        let requests = tokio_stream::wrappers::ReceiverStream::new(requests);
        let answers = self.client.subscribe(requests).await.expect("a stream always opens").into_inner();
        Stream { sender, answers }
    }
}

/// A subscription, seen by its client.
pub struct Stream {
    pub sender: tokio::sync::mpsc::Sender<SubscribeRequest>,
    answers: Streaming<SubscribeResponse>,
}

impl Stream {
    /// The next answer; none at the end of the stream.
    pub async fn next(&mut self) -> Result<Option<subscribe_response::Response>, Code> {
        let message = tokio::time::timeout(TIMEOUT, self.answers.message()).await.expect("an answer comes in time");
        Ok(message.map_err(|status| status.code())?.and_then(|message| message.response))
    }

    pub async fn notification(&mut self) -> Notification {
        match self.next().await.expect("the stream goes on") {
            Some(subscribe_response::Response::Update(notification)) => notification,
            Some(subscribe_response::Response::SyncResponse(_)) | None => panic!("expected values"),
        }
    }

    /// The leaves until all have been sent once.
    pub async fn synchronized(&mut self) -> Vec<String> {
        let mut leaves = Vec::new();
        loop {
            match self.next().await.expect("the stream goes on").expect("it has not ended") {
                subscribe_response::Response::Update(notification) => leaves.extend(updates(&notification)),
                subscribe_response::Response::SyncResponse(synchronized) => {
                    assert!(synchronized);
                    return leaves;
                }
            }
        }
    }

    pub async fn poll(&mut self) {
        let request = Some(subscribe_request::Request::Poll(Poll {}));
        self.sender.send(SubscribeRequest { request, extension: Vec::new() }).await.expect("the stream is open");
    }
}

/// A path as it is usually written.
pub fn path(text: &str) -> Path {
    let elem = |text: &str| match text.split_once('[') {
        None => PathElem { name: text.to_string(), ..PathElem::default() },
        Some((name, key)) => {
            let (key, value) = key.trim_end_matches(']').split_once('=').expect("a key has a value");
            PathElem { name: name.to_string(), key: BTreeMap::from([(key.to_string(), value.to_string())]) }
        }
    };
    Path { elem: text.split('/').filter(|text| !text.is_empty()).map(elem).collect(), ..Path::default() }
}

pub fn text(path: &Path) -> String {
    let key = |elem: &PathElem| elem.key.iter().map(|(key, value)| format!("[{key}={value}]")).collect::<String>();
    let elems: Vec<String> = path.elem.iter().map(|elem| format!("{}{}", elem.name, key(elem))).collect();
    elems.join("/")
}

#[allow(deprecated)]
fn shown(value: Option<&TypedValue>) -> String {
    match value.and_then(|value| value.value.as_ref()).expect("every update has a value") {
        typed_value::Value::StringVal(text) => text.clone(),
        typed_value::Value::UintVal(number) => number.to_string(),
        typed_value::Value::BoolVal(truth) => truth.to_string(),
        typed_value::Value::JsonVal(json) | typed_value::Value::JsonIetfVal(json) => {
            String::from_utf8(json.clone()).expect("JSON is UTF-8")
        }
        other @ (typed_value::Value::IntVal(_)
        | typed_value::Value::BytesVal(_)
        | typed_value::Value::FloatVal(_)
        | typed_value::Value::AsciiVal(_)
        | typed_value::Value::DoubleVal(_)) => panic!("unexpected value {other:?}"),
    }
}

/// PATH = VALUE of each update, the path without its first element.
pub fn updates(notification: &Notification) -> Vec<String> {
    assert!(notification.timestamp > 0);
    let update = |update: &Update| {
        let path = text(update.path.as_ref().expect("every update has a path"));
        format!("{} = {}", path.trim_start_matches("interfaces/"), shown(update.val.as_ref()))
    };
    notification.update.iter().map(update).collect()
}

pub fn truth(truth: bool) -> Option<TypedValue> {
    Some(TypedValue { value: Some(typed_value::Value::BoolVal(truth)) })
}

pub fn json(text: &str) -> Option<TypedValue> {
    Some(TypedValue { value: Some(typed_value::Value::JsonIetfVal(text.as_bytes().to_vec())) })
}

pub fn update(text: &str, val: Option<TypedValue>) -> Update {
    Update { path: Some(path(text)), val, duplicates: 0 }
}
