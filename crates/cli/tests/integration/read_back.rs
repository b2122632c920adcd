//! What a controller has read from a switch gives another switch the same state.

use crate::command::{bacus, has_dpdk, path, said, scratch};
use crate::primary::{ELECTION, arbitrate, client};
use crate::switch::{Switch, folder};
use control::message::DESCRIPTORS;
use control::message::runtime::{
    ActionProfileGroup, ActionProfileMember, CloneSessionEntry, CounterData, Entity, MeterConfig, MulticastGroupEntry,
    PacketReplicationEngineEntry, ReadRequest, ReadResponse, TableEntry, WriteRequest, entity,
    packet_replication_engine_entry as engine, table_entry,
};
use p4runtime::P4RuntimeClient;
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor};
use std::fs;
use std::path::{Path, PathBuf};
use tonic::transport::Channel;

fn file(name: &str) -> PathBuf {
    path(&format!("crates/cli/tests/entries/{name}"))
}

fn descriptor(message: &str) -> MessageDescriptor {
    DescriptorPool::decode(DESCRIPTORS).unwrap().get_message_by_name(&format!("p4.v1.{message}")).unwrap()
}

fn switch(name: &str, entries: Option<&Path>) -> Switch {
    let program = file("read.p4").display().to_string();
    let mut arguments = vec![program.as_str(), "--p4runtime", "127.0.0.1:0"];
    arguments.extend(["--port", "1=net_null0,no-rx=1", "--port", "2=net_null1,no-rx=1"]);
    let entries = entries.map(|entries| entries.display().to_string());
    arguments.extend(entries.iter().flat_map(|entries| ["--entries", entries]));
    Switch::without_controller(&folder(name), &arguments)
}

/// Writes a request of the form of text, as the primary controller.
async fn write(client: &mut P4RuntimeClient<Channel>, text: &str) {
    let _stream = arbitrate(client, ELECTION).await.unwrap();
    let parsed = DynamicMessage::parse_text_format(descriptor("WriteRequest"), text).unwrap();
    let WriteRequest { updates, .. } = WriteRequest::decode(parsed.encode_to_vec().as_slice()).unwrap();
    let request = WriteRequest { device_id: 1, election_id: ELECTION, updates, ..Default::default() };
    client.write(request).await.unwrap();
}

/// All that is read of the switch, the tables first, with what belongs to their entries.
async fn read(client: &mut P4RuntimeClient<Channel>) -> ReadResponse {
    use entity::Entity::{ActionProfileGroup as Group, ActionProfileMember as Member};
    let of_entries = TableEntry {
        counter_data: Some(CounterData::default()),
        meter_config: Some(MeterConfig::default()),
        ..TableEntry::default()
    };
    let defaults = TableEntry { is_default_action: true, ..of_entries.clone() };
    let aged = table_entry::IdleTimeout::default();
    let replication =
        |kind| entity::Entity::PacketReplicationEngineEntry(PacketReplicationEngineEntry { r#type: Some(kind) });
    let filters = [
        entity::Entity::TableEntry(TableEntry { time_since_last_hit: Some(aged), ..of_entries }),
        entity::Entity::TableEntry(defaults),
        replication(engine::Type::CloneSessionEntry(CloneSessionEntry::default())),
        replication(engine::Type::MulticastGroupEntry(MulticastGroupEntry::default())),
        Group(ActionProfileGroup::default()),
        Member(ActionProfileMember::default()),
    ];
    let entities = filters.into_iter().map(|filter| Entity { entity: Some(filter) }).collect();
    let request = ReadRequest { device_id: 1, entities, ..ReadRequest::default() };
    let mut answers = client.read(request).await.unwrap().into_inner();
    let mut whole = ReadResponse::default();
    while let Some(answer) = answers.message().await.unwrap() {
        whole.entities.extend(answer.entities);
    }
    whole
}

/// The entities in any one order, without what a file of entries does not bring: each of it is a warning.
fn lasting(mut response: ReadResponse) -> Vec<Entity> {
    for entity in &mut response.entities {
        match &mut entity.entity {
            Some(entity::Entity::TableEntry(entry)) => {
                (entry.counter_data, entry.time_since_last_hit) = (None, None);
            }
            Some(entity::Entity::PacketReplicationEngineEntry(PacketReplicationEngineEntry {
                r#type: Some(engine::Type::CloneSessionEntry(session)),
            })) => session.class_of_service = 0,
            Some(_) | None => {}
        }
    }
    response.entities.sort_by_key(Message::encode_to_vec);
    response.entities
}

#[test]
fn what_was_read_from_a_switch_is_loaded_by_another() {
    if !has_dpdk() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let first = switch("read", None);
    let request = fs::read_to_string(file("read.txtpb")).unwrap();
    let response = runtime.block_on(async {
        let mut client = client(&first).await;
        write(&mut client, &request).await;
        read(&mut client).await
    });
    drop(first);
    let message = DynamicMessage::decode(descriptor("ReadResponse"), response.encode_to_vec().as_slice()).unwrap();
    let directory = scratch("read-back");
    let forms = [
        ("response.txtpb", message.to_text_format()),
        ("response.json", serde_json::to_string_pretty(&message).unwrap()),
    ];
    for (name, text) in forms {
        let form = directory.join(name);
        fs::write(&form, text).unwrap();
        let ran = bacus().arg("entries").arg(file("read.p4")).arg(&form).output().unwrap();
        let printed = said(&ran);
        assert!(ran.status.success(), "{name}: {printed}");
        for skipped in ["`counter_data`", "`time_since_last_hit`", "`class_of_service`"] {
            assert!(
                printed.lines().any(|line| line.contains("warning: skipped") && line.contains(skipped)),
                "{printed}"
            );
        }
        let second = switch("read-again", Some(&form));
        let again = runtime.block_on(async { read(&mut client(&second).await).await });
        assert_eq!(lasting(again), lasting(response.clone()), "{name}");
    }
    fs::remove_dir_all(directory).unwrap();
}

/// A file of updates does what the switch does with them: a MODIFY without a timeout takes the one that was there (P4Runtime 1.5, 9.1).
#[test]
fn a_modification_replaces_the_idle_timeout() {
    if !has_dpdk() {
        return;
    }
    let entry = |kind: &str, timeout: &str| {
        format!(
            "updates {{ type: {kind} entity {{ table_entry {{ table_id: 0x02000001 match {{ field_id: 1 exact {{ value: \"\\x0a\" }} }} \
             action {{ action {{ action_id: 0x01000003 params {{ param_id: 1 value: \"\\x05\" }} }} }} {timeout} }} }} }}\n"
        )
    };
    let request = entry("INSERT", "idle_timeout_ns: 60000000000") + &entry("MODIFY", "");
    let directory = scratch("timeout-modified");
    let form = directory.join("request.txtpb");
    fs::write(&form, &request).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let written = switch("timeout-written", None);
    let written = runtime.block_on(async {
        let mut client = client(&written).await;
        write(&mut client, &request).await;
        lasting(read(&mut client).await)
    });
    let loaded = switch("timeout-loaded", Some(&form));
    let loaded = runtime.block_on(async { lasting(read(&mut client(&loaded).await).await) });
    assert_eq!(loaded, written);
    let timeouts = loaded.iter().filter_map(|entity| match &entity.entity {
        Some(entity::Entity::TableEntry(entry)) => Some(entry.idle_timeout_ns),
        _ => None,
    });
    assert!(timeouts.into_iter().all(|timeout| timeout == 0));
    fs::remove_dir_all(directory).unwrap();
}
