//! Multicast groups and clone sessions.

use super::Session;
use super::input::{Input, option, unknown_option};
use super::write::{entity, kind, update};
use crate::failure::Failure;
use crate::output::Report;
use control::message::runtime::{
    CloneSessionEntry, MulticastGroupEntry, PacketReplicationEngineEntry, Replica, entity::Entity,
    packet_replication_engine_entry::Type, replica::PortKind,
};
use num_bigint::BigUint;
use stf::{Line, Mistake, matches};

const VERBS: [&str; 3] = ["add", "modify", "delete"];

fn replication(entry: Type) -> Entity {
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
                    report.row(vec![group.multicast_group_id.into(), show_replicas(&group.replicas).into()]);
                }
            }
            self.print(&report);
            return Ok(());
        };
        let multicast_group_id = option(&mut line, &verb)?;
        let mut group = MulticastGroupEntry { multicast_group_id, ..MulticastGroupEntry::default() };
        while verb.text != "delete" && line.goes_on() {
            group.replicas.push(replica(&mut line)?);
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
        let session_id = option(&mut line, &verb)?;
        let mut session = CloneSessionEntry { session_id, ..CloneSessionEntry::default() };
        while verb.text != "delete" && line.goes_on() {
            if line.is_number() {
                session.replicas.push(replica(&mut line)?);
                continue;
            }
            let expected = "a port, `length BYTES` or `class N`";
            let name = line.name(expected)?;
            match name.text.as_str() {
                "length" => session.packet_length_bytes = option(&mut line, &name)?,
                "class" => session.class_of_service = option(&mut line, &name)?,
                _ => return Err(unknown_option(&name, expected).into()),
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
                    show_replicas(&session.replicas).into(),
                    (session.packet_length_bytes != 0).then_some(i64::from(session.packet_length_bytes)).into(),
                    (session.class_of_service != 0).then_some(session.class_of_service).into(),
                ]);
            }
        }
        self.print(&report);
        Ok(())
    }

    fn replicated(&mut self, filter: Type) -> Result<Vec<Type>, Failure> {
        let found = self.client.read(vec![entity(replication(filter))])?;
        let entries = found.into_iter().filter_map(|found| {
            if let Entity::PacketReplicationEngineEntry(entry) = found.entity? { entry.r#type } else { None }
        });
        Ok(entries.collect())
    }
}

/// A number; 0 means all.
fn number_or_all(line: &mut Line) -> Result<u32, Mistake> {
    let number = if line.goes_on() { matches::small(&line.number()?, "a number")? } else { 0 };
    line.finish()?;
    Ok(number)
}

/// `PORT` or `PORT:INSTANCE`.
fn replica(line: &mut Line) -> Result<Replica, Mistake> {
    let port = matches::small(&line.number()?, "a port")?;
    let instance = if line.accept(":") { matches::small(&line.number()?, "an instance")? } else { 0 };
    let port_kind = Some(PortKind::Port(BigUint::from(port).to_bytes_be()));
    Ok(Replica { instance, port_kind, ..Replica::default() })
}

fn show_replicas(replicas: &[Replica]) -> String {
    let shown = replicas.iter().map(|replica| {
        let port = match &replica.port_kind {
            Some(PortKind::Port(bytes)) => BigUint::from_bytes_be(bytes).to_string(),
            Some(PortKind::EgressPort(port)) => port.to_string(),
            None => "?".to_string(),
        };
        let backups = replica.backup_replicas.iter().map(|backup| format!("|{}", BigUint::from_bytes_be(&backup.port)));
        let instance = if replica.instance == 0 { String::new() } else { format!(":{}", replica.instance) };
        format!("{port}{instance}{}", backups.collect::<String>())
    });
    shown.collect::<Vec<_>>().join(" ")
}
