//! SetForwardingPipelineConfig, Get and Capabilities (P4Runtime 1.5, sections 14 and 16).

use crate::rig::messages::*;
use crate::rig::{Client, EVERYTHING, PROGRAM, Rig};
use control::DataPlane as _;
use control::message::config::{ActionRef, P4Info};
use control::message::runtime::{
    forwarding_pipeline_config::Cookie, get_forwarding_pipeline_config_request::ResponseType,
    set_forwarding_pipeline_config_request::Action, *,
};
use p4runtime::{NoConfig, Settings};
use tonic::Code;

fn config(text: &str, cookie: u64) -> ForwardingPipelineConfig {
    ForwardingPipelineConfig {
        p4info: Some(control::p4info(&PROGRAM)),
        p4_device_config: text.into(),
        cookie: Some(Cookie { cookie }),
    }
}

/// A program without the table `tenants`.
fn smaller() -> String {
    EVERYTHING.replace("            tenants.apply();\n", "")
}

fn set(client: &mut Client, action: Action, config: Option<ForwardingPipelineConfig>) -> Result<(), Code> {
    client.set_config(action, config).map_err(|status| status.code())
}

fn cookie(client: &mut Client) -> Option<u64> {
    client.get_config(ResponseType::CookieOnly)?.cookie.map(|cookie| cookie.cookie)
}

fn hosts(client: &mut Client) -> usize {
    client.read(table(entry("hosts", vec![], None))).len()
}

#[test]
fn a_switch_waits_for_a_pipeline() {
    let rig = Rig::empty();
    let mut client = rig.primary();
    assert_eq!(client.get_config(ResponseType::All), None);
    let given = config(EVERYTHING, 7);
    assert_eq!(set(&mut client, Action::VerifyAndCommit, Some(given.clone())), Ok(()));
    assert_eq!(client.insert(table(host(1, 1))), Ok(()));
    assert_eq!(client.get_config(ResponseType::All), Some(given.clone()));
    let only = |p4info: bool, program: bool| ForwardingPipelineConfig {
        p4info: given.p4info.clone().filter(|_| p4info),
        p4_device_config: if program { given.p4_device_config.clone() } else { Vec::new() },
        cookie: given.cookie,
    };
    assert_eq!(client.get_config(ResponseType::CookieOnly), Some(only(false, false)));
    assert_eq!(client.get_config(ResponseType::P4infoAndCookie), Some(only(true, false)));
    assert_eq!(client.get_config(ResponseType::DeviceConfigAndCookie), Some(only(false, true)));
}

#[test]
fn a_switch_without_a_config_may_answer_as_bmv2() {
    let rig = Rig::with(Settings { no_config: NoConfig::Refused, ..Settings::default() }, None);
    let mut client = rig.primary();
    let request = GetForwardingPipelineConfigRequest { device_id: 1, response_type: ResponseType::All.into() };
    let status = client.runtime.block_on(client.rpc.get_forwarding_pipeline_config(request));
    assert_eq!(status.map(drop).map_err(|status| status.code()), Err(Code::FailedPrecondition));
    assert_eq!(set(&mut client, Action::VerifyAndCommit, Some(config(EVERYTHING, 7))), Ok(()));
    assert_eq!(cookie(&mut client), Some(7));
}

#[test]
fn a_pipeline_that_runs_already_is_known() {
    let rig = Rig::new();
    let found = rig.client().get_config(ResponseType::All).expect("it runs");
    assert_eq!((found.p4info, found.cookie), (Some(control::p4info(&PROGRAM)), None));
}

#[test]
fn only_the_primary_sets_a_pipeline() {
    let rig = Rig::empty();
    let mut client = rig.client();
    assert_eq!(set(&mut client, Action::VerifyAndCommit, Some(config(EVERYTHING, 1))), Err(Code::PermissionDenied));
    client.bid_with(None);
    client.arbitration();
    assert_eq!(set(&mut client, Action::Verify, Some(config(EVERYTHING, 1))), Err(Code::PermissionDenied));
    let request = SetForwardingPipelineConfigRequest { device_id: 4, ..Default::default() };
    let answer = client.runtime.block_on(client.rpc.set_forwarding_pipeline_config(request));
    assert_eq!(answer.expect_err("there is no device 4").code(), Code::NotFound);
    let request = GetForwardingPipelineConfigRequest { device_id: 4, ..Default::default() };
    let answer = client.runtime.block_on(client.rpc.get_forwarding_pipeline_config(request));
    assert_eq!(answer.expect_err("there is no device 4").code(), Code::NotFound);
}

#[test]
fn verifying_changes_nothing() {
    let rig = Rig::new();
    let mut client = rig.primary();
    client.insert(table(host(1, 1))).expect("it suits");
    assert_eq!(set(&mut client, Action::Verify, Some(config(EVERYTHING, 9))), Ok(()));
    assert_eq!((cookie(&mut client), hosts(&mut client)), (None, 1));
    assert_eq!(set(&mut client, Action::Commit, None), Err(Code::NotFound), "nothing was saved");
}

#[test]
fn a_saved_pipeline_is_committed_later() {
    let rig = Rig::new();
    let mut client = rig.primary();
    client.insert(table(host(1, 1))).expect("it suits");
    assert_eq!(set(&mut client, Action::VerifyAndSave, Some(config(EVERYTHING, 9))), Ok(()));
    assert_eq!((cookie(&mut client), hosts(&mut client)), (None, 0), "nothing was written for the saved one");
    assert_eq!(set(&mut client, Action::Commit, Some(config(EVERYTHING, 9))), Err(Code::InvalidArgument));
    assert_eq!(set(&mut client, Action::Commit, None), Ok(()));
    assert_eq!((cookie(&mut client), hosts(&mut client)), (Some(9), 0));
    assert_eq!(set(&mut client, Action::Commit, None), Err(Code::NotFound));
}

#[test]
fn a_commit_clears_what_was_written() {
    let rig = Rig::new();
    let mut client = rig.primary();
    client.insert(table(host(1, 1))).expect("it suits");
    client.insert(multicast(1, vec![replica(1, 1)])).expect("it suits");
    assert_eq!(set(&mut client, Action::VerifyAndCommit, Some(config(EVERYTHING, 9))), Ok(()));
    assert_eq!(hosts(&mut client), 0);
    assert_eq!(client.read(multicast(0, vec![])), []);
}

#[test]
fn reconciling_keeps_what_was_written() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let kept = TableEntry { metadata: b"m".to_vec(), ..host(1, 4) };
    let group = multicast(
        1,
        vec![Replica { backup_replicas: vec![BackupReplica { port: vec![2], instance: 1 }], ..replica(1, 1) }],
    );
    client.insert(table(kept.clone())).expect("it suits");
    client.insert(group.clone()).expect("it suits");
    client
        .insert(entity::Entity::DigestEntry(DigestEntry { digest_id: id_of("learned_t"), config: None }))
        .expect("it suits");
    let set_of = ActionProfileActionSet {
        action_profile_actions: vec![ActionProfileAction {
            action: Some(call("forward", &[&[4]])),
            weight: 2,
            watch_kind: None,
        }],
        ..Default::default()
    };
    let shot = Some(TableAction { r#type: Some(table_action::Type::ActionProfileActionSet(set_of)) });
    let shot = entry("paths", vec![exact(1, [8])], shot);
    client.insert(table(shot.clone())).expect("it suits");
    let mut info = config(&smaller(), 5);
    info.p4info = None;
    assert_eq!(set(&mut client, Action::ReconcileAndCommit, Some(info)), Ok(()));
    assert_eq!(cookie(&mut client), Some(5));
    assert_eq!(client.read(table(entry("hosts", vec![], None))), [table(kept)]);
    assert_eq!(client.read(table(entry("paths", vec![], None))), [table(shot)]);
    assert_eq!(client.read(multicast(0, vec![])), [group]);
    assert_eq!(client.read(entity::Entity::DigestEntry(Default::default())).len(), 1);
    assert_eq!(rig.behind().plane.store().digests().count(), 1, "the new pipeline gets the digests' settings");
    rig.behind().receive(9, frame(1, 2, 0));
    assert_eq!(rig.behind().sent, [(4, frame(1, 2, 0))]);
}

#[test]
fn what_cannot_run_leaves_the_pipeline() {
    let rig = Rig::new();
    let mut client = rig.primary();
    client.insert(table(host(1, 1))).expect("it suits");
    let mut other = config(EVERYTHING, 1);
    other.p4info.as_mut().expect("it has one").tables[0].preamble.as_mut().expect("it has one").id += 1;
    let mut wider = config(EVERYTHING, 1);
    wider.p4info.as_mut().expect("it has one").tables[0].match_fields[0].bitwidth = 49;
    for (what, given) in [
        ("no program", Some(config("this is no P4", 1))),
        ("no text", Some(ForwardingPipelineConfig { p4_device_config: vec![0xff], ..config("", 1) })),
        ("an unknown table", Some(other)),
        ("a wider key", Some(wider)),
        ("nothing", None),
    ] {
        for action in [Action::Verify, Action::VerifyAndSave, Action::VerifyAndCommit, Action::ReconcileAndCommit] {
            assert_eq!(set(&mut client, action, given.clone()), Err(Code::InvalidArgument), "{what}");
        }
    }
    assert_eq!(set(&mut client, Action::Unspecified, Some(config(EVERYTHING, 1))), Err(Code::InvalidArgument));
    // The new program lacks a table that was written to.
    let unnamed = smaller().replace("table hosts {", "table guests {").replace("hosts.apply()", "guests.apply()");
    let given = ForwardingPipelineConfig { p4info: None, ..config(&unnamed, 1) };
    assert_eq!(set(&mut client, Action::ReconcileAndCommit, Some(given)), Err(Code::InvalidArgument));
    assert_eq!((cookie(&mut client), hosts(&mut client)), (None, 1));
}

/// P4Runtime 1.5, 14: a config that cannot be realized.
#[test]
fn a_p4info_that_refers_to_what_it_lacks_is_refused() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let with = |change: &dyn Fn(&mut P4Info)| {
        let mut given = config(EVERYTHING, 1);
        change(given.p4info.as_mut().expect("it has one"));
        given
    };
    let unknown = |id| ActionRef { id, ..Default::default() };
    let own = control::p4info(&PROGRAM);
    let elsewhere = own.actions.iter().find(|action| {
        let id = action.preamble.as_ref().map_or(0, |preamble| preamble.id);
        own.tables[0].action_refs.iter().all(|used| used.id != id)
    });
    let elsewhere = elsewhere.and_then(|action| action.preamble.as_ref()).expect("each table has some actions only").id;
    let holes = [
        ("an action", with(&|info| info.tables[0].action_refs.push(unknown(0x01ff_fffe)))),
        ("an action that only others have", with(&|info| info.tables[0].action_refs.push(unknown(elsewhere)))),
        ("an action that was left out", with(&|info| drop(info.actions.remove(0)))),
        ("a default action", with(&|info| info.tables[0].const_default_action_id = 0x01ff_fffe)),
        ("an action profile", with(&|info| info.tables[0].implementation_id = 0x11ff_fffe)),
        ("a direct object", with(&|info| info.tables[0].direct_resource_ids.push(0x13ff_fffe))),
        ("the table of a profile", with(&|info| info.action_profiles[0].table_ids.push(0x02ff_fffe))),
        ("the table of a counter", with(&|info| info.direct_counters[0].direct_table_id = 0x02ff_fffe)),
    ];
    for (what, given) in &holes {
        for action in [Action::Verify, Action::VerifyAndSave, Action::VerifyAndCommit, Action::ReconcileAndCommit] {
            assert_eq!(set(&mut client, action, Some(given.clone())), Err(Code::InvalidArgument), "{what}");
        }
        assert_eq!(set(&mut client, Action::Commit, None), Err(Code::NotFound), "{what} was not saved");
    }
    // What nothing refers to may be left out.
    let some = with(&|info| info.counters.clear());
    assert_eq!(set(&mut client, Action::Verify, Some(some)), Ok(()));
}

#[test]
fn the_version_is_reported() {
    let rig = Rig::empty();
    let mut client = rig.client();
    let mut ask = |device_id| {
        let answer = client.runtime.block_on(client.rpc.capabilities(CapabilitiesRequest { device_id }));
        answer.map(|answer| answer.into_inner().p4runtime_api_version).map_err(|status| status.code())
    };
    assert_eq!(ask(1), Ok("1.5.0".to_string()));
    assert_eq!(ask(9), Err(Code::NotFound));
}
