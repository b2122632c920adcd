//! Pipelines that a controller pushes to a switch that was started with a program.

use crate::command::{bacus, has_dpdk, path, scratch};
use crate::primary::{arbitrate, client};
use crate::switch::{Switch, folder, objects};
use control::message::config::P4Info;
use control::message::runtime::{
    ForwardingPipelineConfig, SetForwardingPipelineConfigRequest, Uint128,
    set_forwarding_pipeline_config_request::Action,
};
use prost::Message;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use tonic::Status;

/// The next election number: the stream of the push before may still be open.
static PUSHES: AtomicU64 = AtomicU64::new(1);

/// Pushes a config as the primary controller, with no P4Info.
fn push(switch: &Switch, config: &str) -> Result<(), Status> {
    push_with(switch, config, None)
}

fn push_with(switch: &Switch, config: &str, p4info: Option<P4Info>) -> Result<(), Status> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut service = client(switch).await;
        let election_id = Some(Uint128 { high: 0, low: PUSHES.fetch_add(1, Ordering::Relaxed) });
        let _stream = arbitrate(&mut service, election_id).await?;
        let request = SetForwardingPipelineConfigRequest {
            device_id: 1,
            election_id,
            action: Action::VerifyAndCommit.into(),
            config: Some(ForwardingPipelineConfig { p4info, p4_device_config: config.into(), ..Default::default() }),
            ..Default::default()
        };
        service.set_forwarding_pipeline_config(request).await.map(drop)
    })
}

fn start(name: &str, arguments: &[&str]) -> Option<Switch> {
    let ports = ["--port", "1=net_null0,no-rx=1", "--p4runtime", "127.0.0.1:0"];
    has_dpdk().then(|| Switch::start_bare(&folder(name), &[&[objects().as_str()][..], &ports[..], arguments].concat()))
}

#[test]
fn entries_belong_to_the_program_of_the_command_line() {
    let folder = std::env::temp_dir().join(format!("bacus-other-program-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (entries, other) = (folder.join("entries.stf"), folder.join("other.p4"));
    fs::write(&entries, "add hosts 3 drop()\n").unwrap();
    fs::write(&other, fs::read_to_string(objects()).unwrap().replace("hosts", "neighbours")).unwrap();
    let Some(switch) = start("pushed-entries", &["--entries", &entries.display().to_string()]) else { return };
    assert!(switch.ok(&["show", "hosts"]).contains("drop"));
    let (named, other) = (other.display().to_string(), switch.run(&["pipeline", "push", &other.display().to_string()]));
    assert!(other.status.success(), "{named}: {}", String::from_utf8_lossy(&other.stderr));
    switch.ok(&["show", "neighbours"]);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_program_whose_state_several_workers_would_not_keep_is_refused() {
    let file = path("crates/bench/tests/integration/workers.p4");
    let text = fs::read_to_string(&file).unwrap();
    let named = file.display().to_string();
    let arguments = ["--port", "1=net_null0,no-rx=1", "--p4runtime", "127.0.0.1:0", "--workers", "2"];
    if !has_dpdk() {
        return;
    }
    let switch = Switch::start_bare(&folder("pushed-workers"), &[&[named.as_str()][..], &arguments].concat());
    let of_time = text.replace("(bit<32>)h.flow.flow", "(bit<32>)s.ingress_global_timestamp[15:0]");
    let refused = push(&switch, &of_time).expect_err("two workers do not keep its register").to_string();
    assert!(refused.contains("state asks for one worker: register ingress.seen"), "{refused}");
    // The workers spread its packets by another part of them.
    let of_count = text.replace("(bit<32>)h.flow.flow", "h.flow.count").replace("h.flow.count = count;", "");
    assert_eq!(push(&switch, &of_count).map_err(|status| status.to_string()), Ok(()));
}

#[test]
fn a_config_of_another_switch_is_not_read_and_the_log_says_so() {
    let Some(switch) = start("pushed-json", &[]) else { return };
    for (at, config) in ["{ \"program\": \"other.p4\" }", "binary\0\u{1}"].into_iter().enumerate() {
        assert_eq!(push(&switch, config).map_err(|status| status.to_string()), Ok(()), "{config:?}");
        let notes =
            || switch.said_later.lock().unwrap().matches("config for another switch, which is not read").count();
        crate::switch::until(|| notes() == at + 1);
    }
    assert!(switch.ok(&["tables"]).contains("hosts"));
}

#[test]
fn mistakes_of_what_is_pushed_are_called_errors_by_the_client_alone() {
    let Some(switch) = start("pushed-mistake", &[]) else { return };
    let status = push(&switch, "control c( { }").expect_err("it is no program");
    assert!(status.code() == tonic::Code::InvalidArgument && !status.message().starts_with("error"), "{status:?}");
}

/// The JSON of a program, and the P4Info that its names give.
fn routes() -> (String, P4Info) {
    let file = path("crates/cli/tests/bmv2/routes.json");
    let info = scratch("pushed-routes").join("routes.p4info.bin");
    let ran = bacus().arg("compile").arg(file.as_path()).arg("--p4runtime-files").arg(&info).output().unwrap();
    assert!(ran.status.success());
    let info = P4Info::decode(&fs::read(info).unwrap()[..]).unwrap();
    (fs::read_to_string(file).unwrap(), info)
}

#[test]
fn the_json_of_bmv2_runs_with_the_p4info_that_comes_with_it() {
    if !has_dpdk() {
        return;
    }
    let ports = ["--port", "1=net_null0,no-rx=1", "--p4runtime", "127.0.0.1:0"];
    let switch = Switch::start_bare(&folder("pushed-bmv2"), &ports);
    let (json, mut info) = routes();
    let renumbered = 0x0200_0011;
    info.tables[0].preamble.as_mut().unwrap().id = renumbered;
    assert_eq!(push_with(&switch, &json, Some(info.clone())).map_err(|status| status.to_string()), Ok(()));
    switch.ok(&["add", "routes", "10.0.0.0/8", "forward(port:3, mac:5)"]);
    assert!(switch.ok(&["show", "routes"]).contains("forward"));
    // A P4Info that lacks a table is that of another program; nothing of it is loaded.
    let missing = P4Info { tables: vec![info.tables.remove(0)], ..info };
    let status = push_with(&switch, &json, Some(missing)).expect_err("a table is missing");
    assert!(status.message().contains("table `ingress.acl` of the JSON is not in the P4Info"), "{status:?}");
    let status = push(&switch, &json[..json.len() / 2]).expect_err("the half of it is missing");
    assert!(status.message().contains("not valid JSON: EOF"), "{status:?}");
    assert!(switch.ok(&["show", "routes"]).contains("forward"));
}

#[test]
fn a_program_that_is_pushed_again_is_compiled_once() {
    if !has_dpdk() {
        return;
    }
    let (folder, cache) = (folder("pushed-again"), scratch("pushed-again-cache"));
    let mut command = bacus();
    let ports = ["--port", "1=net_null0,no-rx=1", "--p4runtime", "127.0.0.1:0", "--cpu-port", "63"];
    command.env("BACUS_CACHE", &cache).arg("run").args(ports);
    let switch = Switch::ready(&folder, command);
    let (json, info) = routes();
    for _ in 0..2 {
        assert_eq!(push_with(&switch, &json, Some(info.clone())).map_err(|status| status.to_string()), Ok(()));
    }
    let names =
        fs::read_dir(cache.join("pipelines")).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let pushed: Vec<String> = names.filter(|name| name.ends_with(".c") && !name.starts_with("bacus_dpdk")).collect();
    assert!(pushed.len() == 1 && pushed[0].starts_with("pushed-"), "{pushed:?}");
}
