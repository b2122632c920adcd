//! Entries as messages, and packets that look them up.

use super::client::{Client, Ids};
use control::message::runtime::{
    Action, Entity, FieldMatch, TableAction, TableEntry, Update, WriteRequest, action::Param, entity, field_match,
    table_action, update::Type,
};
use runtime::Trace;

/// Updates of a batch.
pub const IN_A_BATCH: u32 = 1000;
/// Packets of a trace, at most.
const MOST_PACKETS: u32 = 1 << 20;

/// Ports that packets come in by, as the program has them.
pub const HOSTS: u16 = 1;
pub const PACKET_IN: u16 = 2;
pub const LEARNT: u16 = 3;
pub const ROUTED: u16 = 4;
pub const PAIRED: u16 = 5;

/// Numbers without an order that a cache would see, each from the one before.
pub struct Draw(u64);

impl Draw {
    pub fn new() -> Draw {
        Draw(0x9e37_79b9_7f4a_7c15)
    }

    pub fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (((self.0 >> 32) * u64::from(limit)) >> 32) as u32
    }
}

/// The address of a host.
pub fn address(host: u32) -> u64 {
    0x0200_0000_0000 + u64::from(host)
}

/// The last six bytes: an address on the wire.
pub fn bytes(address: u64) -> [u8; 6] {
    let [_, _, rest @ ..] = address.to_be_bytes();
    rest
}

fn out_port(number: u32) -> u32 {
    8 + number % 8
}

fn params(values: impl IntoIterator<Item = Vec<u8>>) -> Vec<Param> {
    (1..).zip(values).map(|(param_id, value)| Param { param_id, value }).collect()
}

pub fn update(kind: Type, table_id: u32, matched: field_match::FieldMatchType, action: Action) -> Update {
    let entry = TableEntry {
        table_id,
        r#match: vec![FieldMatch { field_id: 1, field_match_type: Some(matched) }],
        action: Some(TableAction { r#type: Some(table_action::Type::Action(action)) }),
        ..TableEntry::default()
    };
    Update { r#type: kind.into(), entity: Some(Entity { entity: Some(entity::Entity::TableEntry(entry)) }) }
}

pub fn exact(value: &[u8]) -> field_match::FieldMatchType {
    field_match::FieldMatchType::Exact(field_match::Exact { value: value.to_vec() })
}

/// The entry of a host in a table with the action `forward`.
pub fn host(ids: &Ids, table: &str, host: u32) -> Update {
    let (address, port) = (address(host), out_port(host));
    let values = [vec![port as u8], bytes(address ^ u64::from(port)).to_vec()];
    let action = Action { action_id: ids.action("forward"), params: params(values) };
    update(Type::Insert, ids.table(table), exact(&bytes(address)), action)
}

/// Batches with the entries of hosts.
pub fn hosts(ids: &Ids, from: u32, count: u32) -> Vec<WriteRequest> {
    let begins = (from..from + count).step_by(IN_A_BATCH as usize);
    let batch = |begin: u32| (begin..(begin + IN_A_BATCH).min(from + count)).map(|number| host(ids, "hosts", number));
    begins.map(|begin| Client::request(batch(begin).collect())).collect()
}

/// An entry without a key but one, whose action has one parameter.
pub fn with_parameter(kind: Type, (table, action): (u32, u32), key: &[u8], value: u32) -> Update {
    let action = Action { action_id: action, params: params([value.to_be_bytes().to_vec()]) };
    update(kind, table, exact(key), action)
}

pub fn frame(dst: u64, src: u64, address: u32, number: u32) -> Vec<u8> {
    let mut frame =
        [&bytes(dst)[..], &bytes(src), &[0x88, 0xb5], &address.to_be_bytes(), &number.to_be_bytes()].concat();
    frame.resize(64, 0);
    frame
}

/// Packets to hosts below `count`, in no order.
pub fn to_hosts(count: u32) -> Trace {
    let mut draw = Draw::new();
    let packets = (4 * count).clamp(1024, MOST_PACKETS);
    let own: Vec<u8> = (0..packets).flat_map(|_| bytes(address(draw.below(count)))).collect();
    Trace::new([(HOSTS, &frame(0, 1, 0, 0)[..])]).overlay(Vec::new(), 0, 6, &own)
}

/// Packets from hosts below `count`, one after the other.
pub fn from_hosts(count: u32) -> Trace {
    let own: Vec<u8> = (0..count).flat_map(|number| bytes(address(number))).collect();
    Trace::new([(LEARNT, &frame(1, 0, 0, 0)[..])]).overlay(Vec::new(), 6, 6, &own)
}

/// Packets to these addresses, by a port whose packets look the address up.
pub fn to_addresses(port: u16, addresses: impl Iterator<Item = u32>) -> Trace {
    let own: Vec<u8> = addresses.flat_map(u32::to_be_bytes).collect();
    Trace::new([(port, &frame(0, 1, 0, 0)[..])]).overlay(Vec::new(), 14, 4, &own)
}

/// Packets to hosts, and one of `every` for the controller.
pub fn with_packet_ins(every: usize, hosts: u32) -> Trace {
    let mut draw = Draw::new();
    let frames: Vec<(u16, Vec<u8>)> = (0..every)
        .map(|at| (if at == 0 { PACKET_IN } else { HOSTS }, frame(address(draw.below(hosts)), 1, 0, 0)))
        .collect();
    Trace::new(frames.iter().map(|(port, frame)| (*port, &frame[..])))
}

/// A route, and what a packet checks of it.
#[derive(Clone, Copy)]
pub struct Route {
    pub prefix: u32,
    pub length: u32,
}

impl Route {
    fn mask(self) -> u32 {
        u32::MAX << (32 - self.length)
    }

    /// The action's arguments with this port.
    pub fn arguments(self, port: u32) -> [u32; 3] {
        [port, self.mask(), self.prefix ^ port]
    }

    pub fn modified(self, ids: &Ids, draw: &mut Draw) -> Update {
        let [port, mask, check] = self.arguments(out_port(draw.below(1 << 16)));
        let values = [vec![port as u8], mask.to_be_bytes().to_vec(), check.to_be_bytes().to_vec()];
        let value = self.prefix.to_be_bytes().to_vec();
        let matched = field_match::FieldMatchType::Lpm(field_match::Lpm { value, prefix_len: self.length as i32 });
        let action = Action { action_id: ids.action("route"), params: params(values) };
        update(Type::Modify, ids.table("routes"), matched, action)
    }
}

/// Different routes, most of them of 24 bits, as in a real table.
pub fn routes(count: u32) -> Vec<Route> {
    let mut draw = Draw::new();
    let mut known = std::collections::HashSet::new();
    let mut routes = Vec::new();
    while routes.len() < count as usize {
        let length = match draw.below(10) {
            0 => 16 + draw.below(4),
            1..4 => 20 + draw.below(4),
            _ => 24,
        };
        let route = Route { prefix: 0, length };
        // Addresses from 1.0.0.0 to 223.255.255.255.
        let prefix = ((1 << 24) + draw.below(223 << 24)) & route.mask();
        if known.insert((prefix, length)) {
            routes.push(Route { prefix, length });
        }
    }
    routes
}
