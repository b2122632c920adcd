//! Set: what it changes, and what leaves everything as it was.

use crate::rig::{Rig, json, path, truth, update};
use gnmi::message::update_result::Operation;
use gnmi::message::*;
use gnmi::{Interfaces as _, Refusal};
use tonic::Code;

fn enabled(rig: &Rig) -> Vec<bool> {
    rig.ports.interfaces().iter().map(|port| port.enabled).collect()
}

fn updates(update: Vec<Update>) -> SetRequest {
    SetRequest { update, ..SetRequest::default() }
}

const ETH1: &str = "interfaces/interface[name=eth1]/config/enabled";
const ETH2: &str = "interfaces/interface[name=eth2]/config/enabled";

#[tokio::test(flavor = "multi_thread")]
async fn interfaces_are_disabled_and_enabled() {
    let mut rig = Rig::new().await;
    let answer = rig.set(updates(vec![update(ETH1, truth(false))])).await.expect("it is changed");
    let results: Vec<_> = answer.response.iter().map(|result| (result.path.clone(), result.op())).collect();
    assert_eq!(results, [(Some(path(ETH1)), Operation::Update)]);
    assert!(answer.timestamp > 0);
    assert_eq!(enabled(&rig), [false, true]);
    let status = rig.leaves("interfaces/interface[name=eth1]/state/admin-status").await;
    assert_eq!(status, Ok(vec!["interface[name=eth1]/state/admin-status = DOWN".to_string()]));
    // Deletions come first, then replacements, then updates.
    let request = SetRequest {
        prefix: Some(path("interfaces")),
        delete: vec![path("interface[name=eth1]/config/enabled"), path("interface[name=eth9]")],
        update: vec![update("interface[name=eth2]/config/enabled", json("false"))],
        ..SetRequest::default()
    };
    let answer = rig.set(request).await.expect("it is changed");
    assert_eq!(answer.response.len(), 3);
    assert_eq!(enabled(&rig), [true, false]);
}

#[tokio::test(flavor = "multi_thread")]
async fn values_may_be_objects() {
    let mut rig = Rig::new().await;
    let config = r#"{"openconfig-interfaces:name": "eth1", "enabled": false, "openconfig-p4rt:id": 1}"#;
    let request = updates(vec![update("interfaces/interface[name=eth1]/config", json(config))]);
    rig.set(request).await.expect("it is changed");
    assert_eq!(enabled(&rig), [false, true]);
    let list = r#"{"interface": [{"name": "eth1", "config": {"enabled": true}}, {"name": "eth2", "config": {"enabled": false}}]}"#;
    rig.set(updates(vec![update("interfaces", json(list))])).await.expect("it is changed");
    assert_eq!(enabled(&rig), [true, false]);
    let root = format!(r#"{{"openconfig-interfaces:interfaces": {}}}"#, list.replace("false", "true"));
    rig.set(updates(vec![update("", json(&root))])).await.expect("it is changed");
    assert_eq!(enabled(&rig), [true, true]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_replacement_leaves_out_has_its_default() {
    let mut rig = Rig::new().await;
    rig.set(updates(vec![update(ETH1, truth(false)), update(ETH2, truth(false))])).await.expect("it is changed");
    let name = update("interfaces/interface[name=eth1]/config", json(r#"{"name": "eth1"}"#));
    rig.set(updates(vec![name.clone()])).await.expect("nothing is to be changed");
    assert_eq!(enabled(&rig), [false, false]);
    rig.set(SetRequest { replace: vec![name], ..SetRequest::default() }).await.expect("it is changed");
    assert_eq!(enabled(&rig), [true, false]);
    rig.set(SetRequest { delete: vec![path("interfaces/interface/config")], ..SetRequest::default() })
        .await
        .expect("it is changed");
    assert_eq!(enabled(&rig), [true, true]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_with_a_mistake_changes_nothing() {
    let mut rig = Rig::new().await;
    let config = "interfaces/interface[name=eth2]/config";
    for (text, value, code) in [
        ("interfaces/interface[name=eth9]/config/enabled", truth(true), Code::NotFound),
        ("interfaces/interface[name=eth2]/config/mtu", truth(true), Code::Unimplemented),
        ("interfaces/interface[name=eth2]/state/enabled", truth(true), Code::InvalidArgument),
        ("interfaces/interface[name=*]/config/enabled", truth(true), Code::InvalidArgument),
        (ETH2, None, Code::InvalidArgument),
        (ETH2, json("1"), Code::InvalidArgument),
        (ETH2, json("{"), Code::InvalidArgument),
        (config, json(r#"{"name": "eth3"}"#), Code::InvalidArgument),
        (config, json(r#"{"mtu": 1500}"#), Code::Unimplemented),
        (config, json(r#"{"openconfig-p4rt:id": 7}"#), Code::InvalidArgument),
        ("interfaces", json(r#"{"interface": [{"config": {}}]}"#), Code::InvalidArgument),
    ] {
        let request = updates(vec![update(ETH1, truth(false)), update(text, value.clone())]);
        assert_eq!(rig.set(request).await, Err(code), "{text} {value:?}");
        assert_eq!(enabled(&rig), [true, true], "{text}");
    }
    let state = SetRequest { delete: vec![path("interfaces/interface/state")], ..SetRequest::default() };
    assert_eq!(rig.set(state).await, Err(Code::InvalidArgument));
    let union = SetRequest { union_replace: vec![update(ETH1, truth(false))], ..SetRequest::default() };
    assert_eq!(rig.set(union).await, Err(Code::Unimplemented));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_of_the_switch_takes_all_back() {
    let mut rig = Rig::new().await;
    for (refusal, code) in [
        (Refusal::NotPresent, Code::FailedPrecondition),
        (Refusal::Failed("the driver cannot".to_string()), Code::Aborted),
    ] {
        *rig.ports.refused.lock().expect("no test panics with it") = Some(("eth2".to_string(), refusal));
        let request = updates(vec![update(ETH1, truth(false)), update(ETH2, truth(false))]);
        assert_eq!(rig.set(request).await, Err(code));
        assert_eq!(enabled(&rig), [true, true]);
    }
}
