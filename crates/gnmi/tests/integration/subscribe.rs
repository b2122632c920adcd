//! Subscribe: the modes of a list, and those of a subscription.

use crate::rig::{Rig, path, text, updates};
use gnmi::Status;
use gnmi::message::subscription_list::Mode;
use gnmi::message::*;
use tonic::Code;

fn list(mode: Mode, subscription: Vec<Subscription>) -> SubscriptionList {
    SubscriptionList { mode: mode.into(), subscription, ..SubscriptionList::default() }
}

fn subscription(text: &str, mode: SubscriptionMode) -> Subscription {
    Subscription { path: Some(path(text)), mode: mode.into(), ..Subscription::default() }
}

fn on_change(text: &str) -> Subscription {
    subscription(text, SubscriptionMode::OnChange)
}

const STATUS: &str = "interfaces/interface/state/oper-status";

fn status(name: &str, status: &str) -> String {
    format!("interface[name={name}]/state/oper-status = {status}")
}

#[tokio::test(flavor = "multi_thread")]
async fn once_ends_with_all_values() {
    let mut rig = Rig::new().await;
    let mut stream = rig.subscribe(list(Mode::Once, vec![on_change(STATUS)])).await;
    assert_eq!(stream.synchronized().await, [status("eth1", "UP"), status("eth2", "UP")]);
    assert_eq!(stream.next().await, Ok(None));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_poll_is_answered_with_all_values() {
    let mut rig = Rig::new().await;
    let mut stream = rig.subscribe(list(Mode::Poll, vec![on_change(STATUS)])).await;
    assert_eq!(stream.synchronized().await.len(), 2);
    rig.ports.change("eth2", |port| port.status = Status::Down);
    stream.poll().await;
    assert_eq!(stream.synchronized().await, [status("eth1", "UP"), status("eth2", "DOWN")]);
    stream.poll().await;
    assert_eq!(stream.synchronized().await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_sent_when_they_happen() {
    let mut rig = Rig::new().await;
    let mut stream = rig.subscribe(list(Mode::Stream, vec![on_change(STATUS)])).await;
    assert_eq!(stream.synchronized().await.len(), 2);
    for now in [Status::Down, Status::Up] {
        // Of what does not change nothing is sent: neither of the other port nor of another leaf.
        rig.ports.change("eth1", |port| port.changed_ns += 1);
        rig.ports.change("eth1", |port| port.status = now);
        let text = if now == Status::Up { "UP" } else { "DOWN" };
        assert_eq!(updates(&stream.notification().await), [status("eth1", text)]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn interfaces_come_and_go_in_a_stream() {
    let mut rig = Rig::new().await;
    let paths = [STATUS, "interfaces/interface[name=eth3]/state/id"].map(on_change).to_vec();
    let mut stream = rig.subscribe(list(Mode::Stream, paths)).await;
    assert_eq!(stream.synchronized().await.len(), 2);
    rig.ports.add("eth3", 3);
    assert_eq!(updates(&stream.notification().await), [status("eth3", "UP")]);
    assert_eq!(updates(&stream.notification().await), ["interface[name=eth3]/state/id = 3"]);
    rig.ports.remove("eth1");
    let gone: Vec<String> = stream.notification().await.delete.iter().map(text).collect();
    assert_eq!(gone, ["interfaces/interface[name=eth1]/state/oper-status"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn samples_are_sent_again_and_again() {
    let mut rig = Rig::new().await;
    let path = "interfaces/interface[name=eth1]/state/counters/in-pkts";
    let packets = |count| vec![format!("interface[name=eth1]/state/counters/in-pkts = {count}")];
    // Intervals shorter than what the switch has are served as well as it can.
    for sample_interval in [10_000, 150_000_000, 0] {
        let sample = Subscription { sample_interval, ..subscription(path, SubscriptionMode::Sample) };
        let mut stream = rig.subscribe(list(Mode::Stream, vec![sample])).await;
        assert_eq!(stream.synchronized().await, packets(11));
        for _ in 0..3 {
            assert_eq!(updates(&stream.notification().await), packets(11));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn redundant_samples_are_suppressed_but_for_the_heartbeat() {
    let mut rig = Rig::new().await;
    let counters = "interfaces/interface[name=eth1]/state/counters";
    let mut sample = subscription(counters, SubscriptionMode::Sample);
    (sample.sample_interval, sample.suppress_redundant) = (100_000_000, true);
    let mut stream = rig.subscribe(list(Mode::Stream, vec![sample.clone()])).await;
    assert_eq!(stream.synchronized().await.len(), 10);
    rig.ports.count("eth1", 5);
    let changed = updates(&stream.notification().await);
    assert_eq!(
        changed,
        ["in-pkts", "in-unicast-pkts"].map(|name| { format!("interface[name=eth1]/state/counters/{name} = 16") })
    );
    sample.heartbeat_interval = 300_000_000;
    let mut stream = rig.subscribe(list(Mode::Stream, vec![sample])).await;
    assert_eq!(stream.synchronized().await.len(), 10);
    assert_eq!(updates(&stream.notification().await).len(), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_switch_samples_counters_and_sends_changes_of_others() {
    let mut rig = Rig::new().await;
    let whole = subscription("interfaces/interface[name=eth2]", SubscriptionMode::TargetDefined);
    let mut stream = rig.subscribe(list(Mode::Stream, vec![whole])).await;
    assert_eq!(stream.synchronized().await.len(), 21);
    // Counters, after their interval.
    assert_eq!(updates(&stream.notification().await).len(), 10);
    rig.ports.change("eth2", |port| port.status = Status::Down);
    loop {
        let leaves = updates(&stream.notification().await);
        if leaves.len() == 1 {
            assert_eq!(leaves, [status("eth2", "DOWN")]);
            return;
        }
        assert_eq!(leaves.len(), 10);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_counters_are_seen_in_time() {
    let mut rig = Rig::new().await;
    let path = "interfaces/interface[name=eth2]/state/counters/in-pkts";
    let mut stream = rig.subscribe(list(Mode::Stream, vec![on_change(path)])).await;
    assert_eq!(stream.synchronized().await.len(), 1);
    rig.ports.count("eth2", 1);
    let changed = updates(&stream.notification().await);
    assert_eq!(changed, ["interface[name=eth2]/state/counters/in-pkts = 13"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn updates_only_leaves_the_first_values_out() {
    let mut rig = Rig::new().await;
    let wanted = |mode| SubscriptionList { updates_only: true, ..list(mode, vec![on_change(STATUS)]) };
    let mut stream = rig.subscribe(wanted(Mode::Once)).await;
    assert!(stream.synchronized().await.is_empty());
    let mut stream = rig.subscribe(wanted(Mode::Stream)).await;
    assert!(stream.synchronized().await.is_empty());
    rig.ports.change("eth2", |port| port.status = Status::Down);
    assert_eq!(updates(&stream.notification().await), [status("eth2", "DOWN")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn values_are_scalars_unless_json_by_rfc_7951_is_asked_for() {
    let mut rig = Rig::new().await;
    for (encoding, value) in [(Encoding::Json, "UP"), (Encoding::Proto, "UP"), (Encoding::JsonIetf, "\"UP\"")] {
        let subscriptions = vec![on_change("interfaces/interface[name=eth1]/state/oper-status")];
        let list = SubscriptionList { encoding: encoding.into(), ..list(Mode::Once, subscriptions) };
        let mut stream = rig.subscribe(list).await;
        assert_eq!(stream.synchronized().await, [status("eth1", value)]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prefix_holds_for_all_subscriptions() {
    let mut rig = Rig::new().await;
    let prefix = Some(Path { target: "s1".to_string(), ..path("interfaces/interface[name=eth1]") });
    let list = SubscriptionList { prefix, ..list(Mode::Stream, vec![on_change("state/oper-status")]) };
    let mut stream = rig.subscribe(list).await;
    let first = stream.notification().await;
    let prefix = first.prefix.clone().expect("a prefix is answered by one");
    assert_eq!((prefix.target.as_str(), text(&prefix).as_str()), ("s1", "interfaces/interface[name=eth1]"));
    assert_eq!(updates(&first), ["state/oper-status = UP"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_end_a_stream() {
    let mut rig = Rig::new().await;
    for (mode, subscriptions, code) in [
        (Mode::Once, vec![on_change("components")], Code::Unimplemented),
        (Mode::Stream, vec![on_change("interfaces/interface[index=1]")], Code::InvalidArgument),
        (Mode::Stream, vec![], Code::InvalidArgument),
        (Mode::Stream, vec![Subscription { mode: 9, ..on_change("interfaces") }], Code::InvalidArgument),
    ] {
        let mut stream = rig.subscribe(list(mode, subscriptions)).await;
        assert_eq!(stream.next().await, Err(code));
    }
    let bytes = SubscriptionList { encoding: Encoding::Bytes.into(), ..list(Mode::Once, vec![on_change("")]) };
    assert_eq!(rig.subscribe(bytes).await.next().await, Err(Code::Unimplemented));
    // A second list, and a poll of what is no list of polls.
    let mut stream = rig.subscribe(list(Mode::Stream, vec![on_change(STATUS)])).await;
    assert_eq!(stream.synchronized().await.len(), 2);
    stream.poll().await;
    assert_eq!(stream.next().await, Err(Code::InvalidArgument));
}
