//! `--state`: what was acknowledged is there after a kill at any moment, and what cannot be read or written is reported.

use crate::command::{bacus, has_dpdk, scratch};
use crate::primary::{self, ELECTION, arbitrate};
use crate::switch::{Switch, error, folder, objects};
use control::message::runtime::{
    Action, Entity, FieldMatch, GetForwardingPipelineConfigRequest, ReadRequest, TableAction, TableEntry, Update,
    WriteRequest, action, entity, field_match, get_forwarding_pipeline_config_request::ResponseType, table_action,
    update, write_request::Atomicity,
};
use p4runtime::P4RuntimeClient;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tonic::transport::Channel;

/// Room for what the writers write, which takes no time to compile.
const PROGRAM: &str = "\
#include <core.p4>
#include <v1model.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
struct headers { ethernet_t ethernet; }
struct metadata { }
parser parse(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start { p.extract(h.ethernet); transition accept; }
}
control ingress(inout headers h, inout metadata m, inout standard_metadata_t s) {
    action forward(bit<9> port) { s.egress_spec = port; }
    action drop() { mark_to_drop(s); }
    table hosts {
        key = { h.ethernet.dst: exact; }
        actions = { forward; drop; }
        default_action = drop;
        size = 1000000;
    }
    apply { hosts.apply(); }
}
control egress(inout headers h, inout metadata m, inout standard_metadata_t s) { apply { } }
control checksum(inout headers h, inout metadata m) { apply { } }
control deparse(packet_out p, in headers h) { apply { p.emit(h); } }
V1Switch(parse(), checksum(), ingress(), egress(), checksum(), deparse()) main;
";

/// A program and the directory of a switch's state.
struct Place {
    program: String,
    state: PathBuf,
}

impl Place {
    fn new(name: &str) -> Place {
        let folder = scratch(name);
        fs::write(folder.join("hosts.p4"), PROGRAM).unwrap();
        Place { program: folder.join("hosts.p4").display().to_string(), state: folder.join("state") }
    }

    fn switch(&self, name: &str) -> Switch {
        let state = self.state.display().to_string();
        let ports = ["--port", "1=net_null0,no-rx=1", "--p4runtime", "127.0.0.1:0"];
        Switch::start_bare(&folder(name), &[&[self.program.as_str(), "--state", &state][..], &ports[..]].concat())
    }
}

/// A primary controller: its clones write under its election.
#[derive(Clone)]
struct Controller {
    client: P4RuntimeClient<Channel>,
    table: u32,
    action: u32,
}

impl Controller {
    /// And the stream, which has to stay open.
    async fn new(switch: &Switch) -> (Controller, impl Sized + use<>) {
        let mut client = primary::client(switch).await.max_decoding_message_size(usize::MAX);
        let stream = arbitrate(&mut client, ELECTION).await.unwrap();
        let request = GetForwardingPipelineConfigRequest { device_id: 1, response_type: ResponseType::All.into() };
        let config = client.get_forwarding_pipeline_config(request).await.unwrap().into_inner().config.unwrap();
        let info = config.p4info.unwrap();
        let id = |preamble: Option<control::message::config::Preamble>| preamble.unwrap().id;
        let (table, action) = (id(info.tables[0].preamble.clone()), id(info.actions[0].preamble.clone()));
        (Controller { client, table, action }, stream)
    }

    fn host(&self, number: u64) -> TableEntry {
        let value = number.to_be_bytes().into_iter().skip_while(|byte| *byte == 0).collect::<Vec<u8>>();
        let exact = field_match::Exact { value: if value.is_empty() { vec![0] } else { value } };
        let found = FieldMatch { field_id: 1, field_match_type: Some(field_match::FieldMatchType::Exact(exact)) };
        let params = vec![action::Param { param_id: 1, value: vec![1] }];
        let made = table_action::Type::Action(Action { action_id: self.action, params });
        let action = Some(TableAction { r#type: Some(made) });
        TableEntry { table_id: self.table, r#match: vec![found], action, ..Default::default() }
    }

    async fn write(&mut self, kind: update::Type, numbers: impl Iterator<Item = u64>) -> Result<(), tonic::Status> {
        let of = |number| Some(Entity { entity: Some(entity::Entity::TableEntry(self.host(number))) });
        let updates = numbers.map(|number| Update { r#type: kind.into(), entity: of(number) }).collect();
        let atomicity = Atomicity::RollbackOnError.into();
        let request = WriteRequest { device_id: 1, election_id: ELECTION, updates, atomicity, ..Default::default() };
        self.client.write(request).await.map(drop)
    }

    async fn hosts(&mut self) -> BTreeSet<u64> {
        let entry = TableEntry { table_id: self.table, ..Default::default() };
        let entities = vec![Entity { entity: Some(entity::Entity::TableEntry(entry)) }];
        let mut answers =
            self.client.read(ReadRequest { device_id: 1, entities, ..Default::default() }).await.unwrap().into_inner();
        let mut found = BTreeSet::new();
        while let Some(answer) = answers.message().await.unwrap() {
            for entity in answer.entities {
                let Some(entity::Entity::TableEntry(entry)) = entity.entity else { panic!("it is an entry") };
                let Some(field_match::FieldMatchType::Exact(exact)) = &entry.r#match[0].field_match_type else {
                    panic!("it is an exact match")
                };
                found.insert(exact.value.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)));
            }
        }
        found
    }
}

/// Entries of a Write.
const BATCH: u64 = 32;

/// What is known of a batch: the answers that came before the kill.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    There,
    Gone,
    Open,
}

fn entries(batch: u64) -> impl Iterator<Item = u64> {
    batch * BATCH..(batch + 1) * BATCH
}

/// Inserts batches from `first` on, and deletes every third again, until the switch does not answer.
async fn write_until_killed(mut controller: Controller, first: u64) -> BTreeMap<u64, Fate> {
    let mut fates = BTreeMap::new();
    for batch in first.. {
        let inserted = controller.write(update::Type::Insert, entries(batch)).await;
        fates.insert(batch, if inserted.is_ok() { Fate::There } else { Fate::Open });
        if inserted.is_err() {
            return fates;
        }
        if batch % 3 == 2 {
            let deleted = controller.write(update::Type::Delete, entries(batch - 1)).await;
            fates.insert(batch - 1, if deleted.is_ok() { Fate::Gone } else { Fate::Open });
            if deleted.is_err() {
                return fates;
            }
        }
    }
    fates
}

#[test]
fn no_acknowledged_write_is_lost_by_a_kill() {
    const WRITERS: u64 = 16;
    /// Kills of one state: then another begins, for each start reads all that is there.
    const ROUNDS: usize = 40;
    if !has_dpdk() {
        return;
    }
    let place = Place::new("kills");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut fates: BTreeMap<u64, Fate> = BTreeMap::new();
    // Moments between the first answers and many commits; by the clock, so that no two runs are alike.
    let jitter = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().subsec_micros() % 40;
    // Long runs: KILLS=1000.
    let kills = std::env::var("KILLS").map_or(4, |kills| kills.parse().expect("KILLS is a number"));
    let (mut acknowledged, mut written_for) = (0, Duration::ZERO);
    for (round, milliseconds) in [60, 15, 200, 110].into_iter().cycle().take(kills).enumerate() {
        if round > 0 && round.is_multiple_of(ROUNDS) {
            fs::remove_dir_all(&place.state).unwrap();
            fates.clear();
        }
        let mut switch = place.switch("kills");
        runtime.block_on(async {
            let (mut controller, _stream) = Controller::new(&switch).await;
            let there = controller.hosts().await;
            for (batch, fate) in &fates {
                let found = entries(*batch).filter(|number| there.contains(number)).count() as u64;
                let is_right = match fate {
                    Fate::There => found == BATCH,
                    Fate::Gone => found == 0,
                    Fate::Open => found == BATCH || found == 0,
                };
                assert!(is_right, "round {round}: {found} entries of batch {batch}, which was {fate:?}");
            }
            assert!(there.iter().all(|number| fates.contains_key(&(number / BATCH))), "an entry has come from nowhere");
            // What was open is known now.
            for (batch, fate) in &mut fates {
                *fate = if there.contains(&(batch * BATCH)) { Fate::There } else { Fate::Gone };
            }
            let first = |writer| (round as u64 * WRITERS + writer) << 16;
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| tokio::spawn(write_until_killed(controller.clone(), first(writer))))
                .collect();
            let begin = std::time::Instant::now();
            tokio::time::sleep(Duration::from_millis(milliseconds + u64::from(jitter))).await;
            kill(&mut switch);
            written_for += begin.elapsed();
            for writer in writers {
                let found = writer.await.unwrap();
                acknowledged += found.values().filter(|fate| **fate != Fate::Open).count();
                fates.extend(found);
            }
        });
    }
    let rate = acknowledged as f64 * BATCH as f64 / written_for.as_secs_f64();
    eprintln!("{kills} kills: {acknowledged} batches of {BATCH} entries were acknowledged, {rate:.0} entries a second");
    assert!(acknowledged > 50, "only {acknowledged} batches were written: the test shows nothing");
}

/// Something of every kind that is saved.
const STATE: &str = "\
    members add uplinks 1 forward(1)\n\
    members add uplinks 2 forward(port:4)\n\
    groups add uplinks 9 1 2*3 watch 1 size 8\n\
    add balance 0x1234 group=9 metadata 0x0102ff\n\
    add balance 0x1235 member=2\n\
    default hosts forward(port:1)\n\
    add hosts 2 to_controller(5) timeout 60.000000001\n\
    add policy src:10:00:00:00:00:00&&&f0:00:00:00:00:00 type:1..5 allow() priority 3\n\
    add policy * 0x800 allow() priority 4\n\
    meters set policed type:0x800 priority 4 cir 5 cburst 6 pir 7 pburst 8\n\
    meters set policed default cir 9 cburst 10\n\
    meters set rates 2 cir 1000 cburst 100\n\
    multicast add 4 1 63:7|1:3 metadata 0x09\n\
    sessions add 5 1 length 64 class 2\n\
    value-sets set tagged 0x8100 0x88a8\n\
    digests add station_t list 64 timeout 0.000000001 ack 1.5\n";

const PORT: [&str; 2] = ["--port", "1=net_null0,no-rx=1"];

/// A switch with the objects of all kinds, which keeps its state.
fn with_objects(name: &str, state: &Path, arguments: &[&str]) -> Switch {
    let state = ["--state", state.to_str().unwrap()];
    Switch::start_bare(&folder(name), &[arguments, &state, &PORT].concat())
}

#[test]
fn a_killed_switch_is_back_with_its_pipeline_and_all_that_was_written() {
    if !has_dpdk() {
        return;
    }
    let folder = scratch("state-all");
    let state = folder.join("state");
    // The pipeline comes from a controller.
    let mut switch = with_objects("state-all", &state, &[]);
    switch.ok(&["pipeline", "push", &objects()]);
    let ran = switch.script(STATE, &[]);
    assert!(ran.status.success(), "{}", error(&ran));
    let dump = switch.ok(&["dump"]);
    kill(&mut switch);
    // Without a program, and with another one, which does not run then.
    let mut switch = with_objects("state-all", &state, &[]);
    assert_eq!(switch.ok(&["dump"]), dump);
    switch.ok(&["delete", "hosts", "2"]);
    kill(&mut switch);
    let other = Place::new("state-other");
    let switch = with_objects("state-all", &state, &[&other.program]);
    assert!(switch.said.contains("the pipeline that a controller has set runs"), "{}", switch.said);
    let left = switch.ok(&["dump"]);
    assert_eq!(dump.lines().count(), left.lines().count() + 1, "{left}");
    assert!(!left.contains("add Switch.hosts"), "{left}");
}

#[test]
fn a_changed_program_takes_over_what_has_the_same_names() {
    if !has_dpdk() {
        return;
    }
    let place = Place::new("state-changed");
    let entries = scratch("state-changed-entries").join("entries.stf");
    fs::write(&entries, "add hosts h.ethernet.dst:7 forward(1)\n").unwrap();
    let arguments = [place.program.as_str(), "--entries", entries.to_str().unwrap()];
    let mut switch = with_objects("state-changed", &place.state, &arguments);
    switch.ok(&["add", "hosts", "5", "forward(1)"]);
    switch.ok(&["delete", "hosts", "7"]);
    kill(&mut switch);
    // Another action, and so other numbers.
    let changed = PROGRAM
        .replace("actions = { forward; drop; }", "actions = { drop; mirror; forward; }")
        .replace("action drop()", "action mirror(bit<9> port) { s.egress_spec = port; }\n    action drop()");
    fs::write(&place.program, changed).unwrap();
    for _ in 0..2 {
        let mut switch = with_objects("state-changed", &place.state, &arguments);
        assert!(switch.said.contains("not those of --entries"), "{}", switch.said);
        let shown = switch.ok(&["show", "hosts"]);
        assert!(shown.contains("forward(port:1)") && !shown.contains(":07"), "{shown}");
        kill(&mut switch);
    }
    // A table that is gone: what was written to it is not dropped in silence.
    fs::write(&place.program, PROGRAM.replace("hosts", "neighbours")).unwrap();
    let state = ["--state", place.state.to_str().unwrap()];
    let said = refused(&[&["run", place.program.as_str()][..], &state, &PORT].concat());
    assert!(said.contains("of another program") && said.contains("no table `ingress.hosts`"), "{said}");
}

/// Counts the frames of each type, and has registers of other widths that controllers write.
const REGISTERS: &str = "register<bit<40>>(5000) frames; register<bit<100>>(3) wide;";

fn with_registers(place: &Place) -> String {
    let apply = "bit<40> seen; frames.read(seen, (bit<32>)h.ethernet.type);
        frames.write((bit<32>)h.ethernet.type, seen + 1); bit<100> w; wide.read(w, 0); wide.write(1, w); hosts.apply();";
    let text = PROGRAM
        .replace("hosts.apply();", apply)
        .replace("    action drop()", &format!("{REGISTERS}\n    action drop()"));
    fs::write(&place.program, &text).unwrap();
    text
}

#[test]
fn registers_are_saved_at_an_interval_and_at_the_end_if_asked_for() {
    if !has_dpdk() {
        return;
    }
    let place = Place::new("state-registers");
    let text = with_registers(&place);
    let packets = place.state.with_file_name("packets.stf");
    let frame = |kind: u32| format!("packet 1 000000000001 000000000002 {kind:04x} 00\n");
    fs::write(&packets, frame(7).repeat(3) + &frame(4999)).unwrap();
    let capture = format!("1=pcap:{},", packets.display());
    let start = |flags: &[&str], port: &str| {
        let state = ["--state", place.state.to_str().unwrap(), "--p4runtime", "127.0.0.1:0", "--port", port];
        Switch::start_bare(&folder("state-registers"), &[&[place.program.as_str()], &state[..], flags].concat())
    };
    let value = |switch: &Switch, name: &str, index: &str| -> String {
        let text = switch.ok(&["--json", "registers", name, index]);
        let row: serde_json::Value = serde_json::from_str(&text).unwrap();
        row["value"].to_string()
    };
    let saves_often = ["--state-registers=0.05"];
    let mut switch = start(&saves_often, &capture);
    switch.ok(&["registers", "set", "wide", "2", "0x8000000000000000000000007"]);
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while value(&switch, "frames", "7") != "3" || value(&switch, "frames", "4999") != "1" {
        assert!(std::time::Instant::now() < deadline, "the packets have not come");
    }
    let wide = value(&switch, "wide", "2");
    std::thread::sleep(Duration::from_millis(500));
    kill(&mut switch);
    // Another program, whose registers have other numbers: they are saved anew before it runs.
    fs::write(&place.program, text.replace(REGISTERS, &format!("register<bit<8>>(2) more; {REGISTERS}"))).unwrap();
    for _ in 0..2 {
        let mut switch = start(&["--state-registers=1000"], PORT[1]);
        let found = ["7", "4999", "8"].map(|index| value(&switch, "frames", index));
        assert_eq!((found, value(&switch, "wide", "2")), (["3", "1", "0"].map(String::from), wide.clone()));
        kill(&mut switch);
    }
    // What is written last is saved at the end, and so is that an element is zero again.
    let mut switch = start(&["--state-registers=1000"], PORT[1]);
    switch.ok(&["registers", "set", "frames", "8", "5"]);
    switch.ok(&["registers", "set", "frames", "4999", "0"]);
    let ended = std::process::Command::new("kill").arg(switch.process.id().to_string()).status().unwrap();
    assert!(ended.success() && switch.process.wait().unwrap().success());
    drop(switch);
    // Without the flag they are loaded a last time: what is not saved again would be taken for the state later.
    for (note, values) in [(true, ["3", "0", "5"]), (false, ["0", "0", "0"])] {
        let mut switch = start(&[], PORT[1]);
        assert_eq!(switch.said.contains("not saved again without --state-registers"), note, "{}", switch.said);
        assert_eq!(["7", "4999", "8"].map(|index| value(&switch, "frames", index)), values.map(String::from));
        kill(&mut switch);
    }
}

/// Ends a switch at once, wherever it is. Its file is free when the process is gone.
fn kill(switch: &mut Switch) {
    switch.process.kill().unwrap();
    switch.process.wait().unwrap();
}

/// What a switch prints that does not start.
fn refused(arguments: &[&str]) -> String {
    let ran = bacus().args(arguments).output().unwrap();
    assert!(!ran.status.success());
    error(&ran)
}

#[test]
fn a_state_that_cannot_be_kept_is_refused_at_the_start() {
    if !has_dpdk() {
        return;
    }
    let place = Place::new("state-refused");
    let refused = |state: &Path| {
        let arguments = ["run", &place.program, "--state", state.to_str().unwrap(), PORT[0], PORT[1]];
        refused(&arguments)
    };
    let said = refused(Path::new("/proc/self"));
    assert!(said.contains("error: --state: /proc/self/state.redb: "), "{said}");
    let said = refused(Path::new(&place.program));
    assert!(said.contains("hosts.p4: "), "{said}");
    let other = scratch("state-file");
    fs::write(other.join("state.redb"), "my own file").unwrap();
    let said = refused(&other);
    assert!(said.contains("it is no state of a switch: name another directory"), "{said}");
    let switch = place.switch("state-refused");
    let said = refused(&place.state);
    assert!(said.contains("another switch has it"), "{said}");
    drop(switch);
}

/// A file has no room beyond a limit, as on a full disk: the write is answered with an error, nothing else is taken, and packets flow on.
#[test]
fn a_full_disk_is_reported_and_nothing_is_written_meanwhile() {
    if !has_dpdk() {
        return;
    }
    let place = Place::new("state-full");
    drop(place.switch("state-full"));
    // Blocks of 512 bytes, which some shells count twice.
    let room = fs::metadata(place.state.join("state.redb")).unwrap().len().div_ceil(512) + 2048;
    let mut command = std::process::Command::new("sh");
    let run = format!("trap '' XFSZ; ulimit -f {room}; exec \"$0\" \"$@\"");
    command.args(["-c", &run]).arg(bacus().get_program()).args(["run", &place.program, "--state"]).arg(&place.state);
    command.args(["--p4runtime", "127.0.0.1:0", PORT[0], PORT[1]]);
    for (name, value) in bacus().get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    let mut switch = Switch::ready(&folder("state-full"), command);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let there = runtime.block_on(async {
        let (mut controller, _stream) = Controller::new(&switch).await;
        let mut written = 0;
        let first = loop {
            let numbers = written * 2000..(written + 1) * 2000;
            match controller.write(update::Type::Insert, numbers).await {
                Ok(()) => written += 1,
                Err(status) => break status,
            }
            assert!(written < 200, "the file has grown beyond its limit");
        };
        assert_eq!(first.code(), tonic::Code::ResourceExhausted, "{first:?}");
        assert!(first.message().contains("in effect, but it could not be saved"), "{first:?}");
        let second = controller.write(update::Type::Insert, 900_000..900_001).await.unwrap_err();
        assert_eq!(second.code(), tonic::Code::Unknown, "a batch of which updates failed: {second:?}");
        let there = controller.hosts().await;
        assert!(!there.contains(&900_000), "what cannot be saved is not written");
        written * 2000
    });
    kill(&mut switch);
    drop(switch);
    let switch = place.switch("state-full");
    let found = runtime.block_on(async {
        let (mut controller, _stream) = Controller::new(&switch).await;
        controller.hosts().await
    });
    let is_whole = found.len() as u64 == there || found.len() as u64 == there + 2000;
    assert!(is_whole && (0..there).all(|number| found.contains(&number)), "{} entries of {there}", found.len());
}
