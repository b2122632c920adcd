//! Capabilities and Get: paths, wildcards, prefixes, encodings.

use crate::rig::{Rig, path, text, updates};
use gnmi::Status;
use gnmi::message::*;
use tonic::Code;

#[tokio::test(flavor = "multi_thread")]
async fn capabilities_name_version_models_and_encodings() {
    let mut rig = Rig::new().await;
    let answer = rig.client.capabilities(CapabilityRequest::default()).await.expect("it is answered").into_inner();
    assert_eq!(answer.g_nmi_version, "0.10.0");
    let names: Vec<&str> = answer.supported_models.iter().map(|model| model.name.as_str()).collect();
    assert_eq!(names, ["openconfig-interfaces", "openconfig-p4rt"]);
    assert_eq!(answer.supported_encodings, [0, 2, 4]);
}

#[tokio::test(flavor = "multi_thread")]
async fn leaves_are_read_by_name_and_by_wildcard() {
    let mut rig = Rig::new().await;
    let one = rig.leaves("interfaces/interface[name=eth2]/state/oper-status").await;
    assert_eq!(one, Ok(vec!["interface[name=eth2]/state/oper-status = UP".to_string()]));
    for text in ["interfaces/interface[name=*]/state/id", "interfaces/interface/state/id", "*/*/state/id"] {
        let both = rig.leaves(text).await.expect("it is there");
        assert_eq!(both, ["interface[name=eth1]/state/id = 1", "interface[name=eth2]/state/id = 2"], "{text}");
    }
    let ids = rig.leaves("interfaces/interface[name=eth1]/.../id").await.expect("it is there");
    assert_eq!(ids, ["interface[name=eth1]/config/id = 1", "interface[name=eth1]/state/id = 1"]);
    rig.ports.change("eth1", |port| port.status = Status::NotPresent);
    let gone = rig.leaves("interfaces/interface[name=eth1]/state/oper-status").await;
    assert_eq!(gone, Ok(vec!["interface[name=eth1]/state/oper-status = NOT_PRESENT".to_string()]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_container_is_all_leaves_below_it() {
    let mut rig = Rig::new().await;
    let counters = rig.leaves("interfaces/interface[name=eth2]/state/counters").await.expect("it is there");
    assert_eq!(counters.len(), 10);
    for counter in ["in-octets = 1099511627776", "in-pkts = 12", "in-unicast-pkts = 12", "out-discards = 0"] {
        let line = format!("interface[name=eth2]/state/counters/{counter}");
        assert!(counters.contains(&line), "{line} in {counters:?}");
    }
    assert_eq!(rig.leaves("").await, rig.leaves("interfaces").await);
    assert_eq!(rig.leaves("").await.map(|leaves| leaves.len()), Ok(42));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_path_has_a_notification() {
    let mut rig = Rig::new().await;
    let paths = ["eth1", "eth2"].map(|name| path(&format!("interfaces/interface[name={name}]/state/ifindex")));
    let request = GetRequest { path: paths.to_vec(), encoding: Encoding::Proto.into(), ..Default::default() };
    let notifications = rig.get(request).await.expect("they are there");
    let leaves: Vec<_> = notifications.iter().map(updates).collect();
    assert_eq!(leaves, [["interface[name=eth1]/state/ifindex = 1"], ["interface[name=eth2]/state/ifindex = 2"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn prefixes_precede_paths() {
    let mut rig = Rig::new().await;
    let mut get = async |prefix: &str, paths: &[&str]| {
        let prefix = Path { target: "s1".to_string(), origin: "openconfig".to_string(), ..path(prefix) };
        let path = paths.iter().map(|text| path(text)).collect();
        let request = GetRequest { prefix: Some(prefix), path, encoding: 2, ..Default::default() };
        let notifications = rig.get(request).await?;
        let prefix = notifications[0].prefix.clone().expect("a prefix is answered by one");
        assert_eq!(prefix.target, "s1");
        Ok((text(&prefix), notifications.iter().flat_map(updates).collect::<Vec<_>>()))
    };
    let under = get("interfaces/interface[name=eth1]/state", &["id", "oper-status"]).await;
    let leaves = ["id = 1", "oper-status = UP"].map(str::to_string).to_vec();
    assert_eq!(under, Ok(("interfaces/interface[name=eth1]/state".to_string(), leaves)));
    // One prefix cannot be that of two interfaces.
    let both = ["interface[name=eth1]/state/id = 1", "interface[name=eth2]/state/id = 2"].map(str::to_string).to_vec();
    assert_eq!(get("interfaces/interface[name=*]", &["state/id"]).await, Ok((String::new(), both)));
    let (prefix, all) = get("interfaces", &[]).await.expect("it is there");
    assert_eq!((prefix.as_str(), all.len()), ("interfaces", 42));
    assert_eq!(get("interfaces/interface[name=eth9]", &["state"]).await, Err(Code::NotFound));
}

async fn json(rig: &mut Rig, text: &str, encoding: Encoding) -> Vec<String> {
    let request = GetRequest { path: vec![path(text)], encoding: encoding.into(), ..Default::default() };
    rig.get(request).await.expect("it is there").iter().flat_map(updates).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn json_has_a_value_for_each_node() {
    let mut rig = Rig::new().await;
    let leaf = json(&mut rig, "interfaces/interface[name=eth1]/state/oper-status", Encoding::Json).await;
    assert_eq!(leaf, ["interface[name=eth1]/state/oper-status = \"UP\""]);
    let octets = "interfaces/interface[name=eth1]/state/counters/in-octets";
    let plain = json(&mut rig, octets, Encoding::Json).await;
    assert_eq!(plain, ["interface[name=eth1]/state/counters/in-octets = 1099511627776"]);
    let ietf = json(&mut rig, octets, Encoding::JsonIetf).await;
    assert_eq!(ietf, ["interface[name=eth1]/state/counters/in-octets = \"1099511627776\""]);
    let config = json(&mut rig, "interfaces/interface/config", Encoding::JsonIetf).await;
    let of = |name: &str, id: u32| {
        let members = format!(
            r#"{{"openconfig-interfaces:enabled":true,"openconfig-interfaces:name":"{name}","openconfig-p4rt:id":{id}}}"#
        );
        format!("interface[name={name}]/config = {members}")
    };
    assert_eq!(config, [of("eth1", 1), of("eth2", 2)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn json_of_the_whole_tree_has_a_list() {
    let mut rig = Rig::new().await;
    let request = |kind| GetRequest {
        path: vec![path("")],
        r#type: i32::from(kind),
        encoding: Encoding::JsonIetf.into(),
        ..Default::default()
    };
    let all = rig.get(request(get_request::DataType::Config)).await.expect("it is there");
    let element = |name: &str, id: u32| {
        format!(r#"{{"config":{{"enabled":true,"name":"{name}","openconfig-p4rt:id":{id}}},"name":"{name}"}}"#)
    };
    let list = format!("[{},{}]", element("eth1", 1), element("eth2", 2));
    assert_eq!(updates(&all[0]), [format!(r#" = {{"openconfig-interfaces:interfaces":{{"interface":{list}}}}}"#)]);
    let state = rig.get(request(get_request::DataType::State)).await.expect("it is there");
    assert!(!updates(&state[0])[0].contains("\"config\""));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_kind_of_mistake_has_its_code() {
    let mut rig = Rig::new().await;
    for (text, code) in [
        ("interfaces/interface[name=eth9]/state/id", Code::NotFound),
        ("interfaces/interface[name=eth1]/config/mtu", Code::Unimplemented),
        ("components/component", Code::Unimplemented),
        ("interfaces/interface[index=1]", Code::InvalidArgument),
    ] {
        assert_eq!(rig.leaves(text).await, Err(code), "{text}");
    }
    let request = || GetRequest { path: vec![path("interfaces")], ..Default::default() };
    let mut code = async |request| rig.get(request).await.expect_err("it is a mistake");
    assert_eq!(code(GetRequest { encoding: Encoding::Ascii.into(), ..request() }).await, Code::Unimplemented);
    assert_eq!(code(GetRequest { encoding: 99, ..request() }).await, Code::Unimplemented);
    assert_eq!(code(GetRequest { r#type: 9, ..request() }).await, Code::InvalidArgument);
    let model = ModelData { name: "openconfig-bgp".to_string(), ..Default::default() };
    assert_eq!(code(GetRequest { use_models: vec![model], ..request() }).await, Code::Unimplemented);
    assert_eq!(code(GetRequest { extension: vec![gnmi::Extension {}], ..request() }).await, Code::Unimplemented);
    let other = Path { origin: "cli".to_string(), ..path("interfaces") };
    assert_eq!(code(GetRequest { path: vec![other], ..request() }).await, Code::Unimplemented);
    #[allow(deprecated)]
    let old = Path { element: vec!["interfaces".to_string()], ..Path::default() };
    assert_eq!(code(GetRequest { path: vec![old], ..request() }).await, Code::InvalidArgument);
}
