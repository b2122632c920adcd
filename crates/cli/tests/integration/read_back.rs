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
