//! Multicast groups and clone sessions.

use super::Session;
use super::input::{Input, metadata, option};
use super::write::{entity, kind, port_bytes, port_number, update};
use crate::failure::Failure;
use crate::names::Names;
use crate::output::{Cell, Report};
use control::message::runtime::{
    BackupReplica, CloneSessionEntry, MulticastGroupEntry, PacketReplicationEngineEntry, Replica, entity::Entity,
    packet_replication_engine_entry::Type, replica::PortKind,
};
use serde_json::{Value as Json, json};
use stf::{Line, Mistake, matches};

const VERBS: [&str; 3] = ["add", "modify", "delete"];

pub fn replication(entry: Type) -> Entity {
    Entity::PacketReplicationEngineEntry(PacketReplicationEngineEntry { r#type: Some(entry) })
}

impl Session {
    pub fn multicast(&mut self, input: &mut Input) -> Result<(), Failure> {
        let verb = input.one_of(&VERBS);
        let mut line = input.line()?;
        let Some(verb) = verb else {
            let multicast_group_id = number_or_all(&mut line)?;
            let filter = MulticastGroupEntry { multicast_group_id, ..MulticastGroupEntry::default() };
            let mut report = Report::new(&["group", "replicas"]);
            for found in self.replicated(Type::MulticastGroupEntry(filter))? {
                if let Type::MulticastGroupEntry(group) = found {
                    report.row(vec![group.multicast_group_id.into(), replicas_cell(&group.replicas)]);
                }
            }
            if multicast_group_id != 0 && report.rows.is_empty() {
                return Err(Failure::refused(format!(
                    "there is no multicast group {multicast_group_id}: `multicast` lists all"
                )));
            }
            self.print(&report);
            return Ok(());
        };
        let names = self.names()?;
        let multicast_group_id = option(&mut line, &verb)?;
        let mut group = MulticastGroupEntry { multicast_group_id, ..MulticastGroupEntry::default() };
        while verb.text != "delete" && line.goes_on() {
            match line.next_name() {
                Some("metadata") => {
                    line.name("`metadata`")?;
                    group.metadata = metadata(&mut line)?;
                }
                Some(_) | None => group.replicas.push(replica(&names, &mut line)?),
            }
        }
        line.finish()?;
        let label = format!("multicast group {multicast_group_id}");
        self.write_one(label, update(kind(&verb.text), replication(Type::MulticastGroupEntry(group))))
    }

    pub fn sessions(&mut self, input: &mut Input) -> Result<(), Failure> {
        let verb = input.one_of(&VERBS);
        let mut line = input.line()?;
        let Some(verb) = verb else {
            let session_id = number_or_all(&mut line)?;
            return self.show_sessions(session_id);
        };
        let names = self.names()?;
        let session_id = option(&mut line, &verb)?;
        let mut session = CloneSessionEntry { session_id, ..CloneSessionEntry::default() };
        while verb.text != "delete" && line.goes_on() {
            match line.next_name() {
                Some("length") => session.packet_length_bytes = named_number(&mut line)?,
                Some("class") => session.class_of_service = named_number(&mut line)?,
                Some(_) | None => session.replicas.push(replica(&names, &mut line)?),
            }
        }
        line.finish()?;
        let label = format!("clone session {session_id}");
        self.write_one(label, update(kind(&verb.text), replication(Type::CloneSessionEntry(session))))
    }

    fn show_sessions(&mut self, session_id: u32) -> Result<(), Failure> {
        let filter = CloneSessionEntry { session_id, ..CloneSessionEntry::default() };
        let mut report = Report::new(&["session", "replicas", "length", "class"]);
        for found in self.replicated(Type::CloneSessionEntry(filter))? {
            if let Type::CloneSessionEntry(session) = found {
                report.row(vec![
                    session.session_id.into(),
                    replicas_cell(&session.replicas),
                    (session.packet_length_bytes != 0).then_some(i64::from(session.packet_length_bytes)).into(),
                    (session.class_of_service != 0).then_some(session.class_of_service).into(),
                ]);
            }
        }
        if session_id != 0 && report.rows.is_empty() {
            return Err(Failure::refused(format!("there is no clone session {session_id}: `sessions` lists all")));
        }
        self.print(&report);
        Ok(())
    }

    pub(super) fn replicated(&mut self, filter: Type) -> Result<Vec<Type>, Failure> {
        let found = self.client.read(vec![entity(replication(filter))])?;
        let entries = found.into_iter().filter_map(|found| {
            if let Entity::PacketReplicationEngineEntry(entry) = found.entity? { entry.r#type } else { None }
        });
        Ok(entries.collect())
    }
}

/// `length BYTES` or `class N`.
fn named_number<T: std::str::FromStr>(line: &mut Line) -> Result<T, Mistake> {
    let name = line.name("an option")?;
    option(line, &name)
}

/// A number; 0 means all.
fn number_or_all(line: &mut Line) -> Result<u32, Mistake> {
    let number = if line.goes_on() { matches::small(&line.number()?, "a number")? } else { 0 };
    line.finish()?;
    Ok(number)
}

/// `PORT` or `PORT:INSTANCE`, and what replaces it while the port is down: `|PORT:INSTANCE`.
fn replica(names: &Names, line: &mut Line) -> Result<Replica, Mistake> {
    let (port, instance) = port_and_instance(names, line)?;
    let mut replica = Replica { instance, port_kind: Some(PortKind::Port(port)), ..Replica::default() };
    while line.accept("|") {
        let (port, instance) = port_and_instance(names, line)?;
        replica.backup_replicas.push(BackupReplica { port, instance });
    }
    Ok(replica)
}

fn port_and_instance(names: &Names, line: &mut Line) -> Result<(Vec<u8>, u32), Mistake> {
    let port = names.port(line)?;
    let instance = if line.accept(":") { matches::small(&line.number()?, "an instance")? } else { 0 };
    Ok((port_bytes(port), instance))
}

fn port_of(replica: &Replica) -> u64 {
    match &replica.port_kind {
        Some(PortKind::Port(bytes)) => port_number(bytes),
        Some(PortKind::EgressPort(port)) => (*port).into(),
        None => 0,
    }
}

fn replicas_cell(replicas: &[Replica]) -> Cell {
    let json: Json = replicas.iter().map(json_replica).collect();
    Cell::shown(show_replicas(replicas), json)
}

pub fn show_replicas(replicas: &[Replica]) -> String {
    replicas.iter().map(show_replica).collect::<Vec<_>>().join(" ")
}

/// As [`replica`] reads it.
fn show_replica(replica: &Replica) -> String {
    let show = |port: u64, instance: u32| match instance {
        0 => port.to_string(),
        _ => format!("{port}:{instance}"),
    };
    let backups = replica.backup_replicas.iter().map(|backup| show(port_number(&backup.port), backup.instance));
    [show(port_of(replica), replica.instance)].into_iter().chain(backups).collect::<Vec<_>>().join("|")
}

fn json_replica(replica: &Replica) -> Json {
    let mut object = json!({ "port": port_of(replica), "instance": replica.instance });
    if !replica.backup_replicas.is_empty() {
        let backup = |backup: &BackupReplica| json!({ "port": port_number(&backup.port), "instance": backup.instance });
        object["backups"] = replica.backup_replicas.iter().map(backup).collect();
    }
    object
}
