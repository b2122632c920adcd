//! Whether two programs do the same: equal writes, found by names, and equal random packets on the interpreter.

use control::DataPlane;
use equivalence::{Sample, Source, Write, random_writes};
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, Match, MatchKind, Program, TableId};
use interp::{PORTS, Switch};
use num_bigint::BigUint;

/// Random packets that each pair of programs gets, and entries for each table.
const PACKETS: u64 = 2000;
const ENTRIES: u64 = 12;
/// The first packets are those that the entries were made of.
const FIRST: u64 = 500;
const GAP_NS: u64 = 1000;
/// Copies of one packet. Random sessions and groups make a program that clones what it has cloned reach any budget, and each copy that waits holds
/// the storage of the whole program.
const COPIES: u32 = 64;

/// Sends the same to both programs; the first difference is an error.
pub fn same_packets(one: &Program, other: &Program, samples: &[Sample], seed: u64) -> Result<(), String> {
    let [one, other] = &[one, other].map(|program| {
        let mut program = program.clone();
        program.budget.copies = COPIES;
        program
    });
    let source = Source { capture: samples, seed, ports: 16 };
    let writes = random_writes(one, source, ENTRIES, &|_| Ok(()), &|| None).map_err(|refusal| refusal.to_string())?;
    let (mut first, mut second) = (Switch::new(one, 0, PORTS), Switch::new(other, 0, PORTS));
    for write in &writes {
        let Some(translated) = translated(write, one, other) else { continue };
        if write.apply(&mut first).is_ok() {
            translated.apply(&mut second).map_err(|refusal| format!("{translated:?}: {refusal}"))?;
        }
    }
    for number in FIRST..FIRST + PACKETS {
        let frame = source.packet(number);
        for switch in [&mut first, &mut second] {
            switch.set_clock((number + 1) * GAP_NS);
        }
        let outcomes = [&mut first, &mut second].map(|switch| switch.process(std::slice::from_ref(&frame)));
        let [Ok(expected), Ok(found)] = outcomes else {
            // An assertion has stopped one of them, or both.
            let [one, other] = outcomes.map(|outcome| outcome.is_ok());
            return if one == other { Ok(()) } else { Err(format!("packet {number}: only one of them is stopped")) };
        };
        let outputs = |outcome: &control::plane::Outcome| -> Vec<(u32, Vec<u8>)> {
            outcome.outputs.iter().map(|output| (output.port, output.bytes.clone())).collect()
        };
        let digests = |outcome: &control::plane::Outcome| -> Vec<Vec<BigUint>> {
            outcome.digests.iter().map(|digest| digest.values.clone()).collect()
        };
        if outputs(&expected) != outputs(&found) || digests(&expected) != digests(&found) {
            let (port, bytes) = (frame.port, hex(&frame.bytes));
            return Err(format!(
                "packet {number} at port {port}, {bytes}: expected {}, found {}",
                shown(&outputs(&expected)),
                shown(&outputs(&found))
            ));
        }
    }
    Ok(())
}

fn shown(outputs: &[(u32, Vec<u8>)]) -> String {
    let shown: Vec<String> = outputs.iter().map(|(port, bytes)| format!("{port}:{}", hex(bytes))).collect();
    format!("[{}]", shown.join(" "))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().take(80).map(|byte| format!("{byte:02x}")).collect()
}

/// The same write to another program; nothing if that does not have what is written to.
fn translated(write: &Write, one: &Program, other: &Program) -> Option<Write> {
    let table =
        |id: TableId| named(other.tables.iter().map(|(id, table)| (id, table.name.as_str())), &one.tables[id].name);
    Some(match write {
        Write::Insert(id, entry) => Write::Insert(table(*id)?, entry_of(entry, (one, *id), (other, table(*id)?))?),
        Write::Default(id, call) => Write::Default(table(*id)?, call_of(call, (one, *id), (other, table(*id)?))?),
        Write::Member(id, number, call) => {
            let profile = named(other.profiles.iter().map(|(id, of)| (id, of.name.as_str())), &one.profiles[*id].name)?;
            let user = |program: &Program, profile| {
                program.tables.iter().find(|(_, of)| of.profile == Some(profile)).map(|(id, _)| id)
            };
            Write::Member(profile, *number, call_of(call, (one, user(one, *id)?), (other, user(other, profile)?))?)
        }
        Write::Group(id, number, group) => {
            let profile = named(other.profiles.iter().map(|(id, of)| (id, of.name.as_str())), &one.profiles[*id].name)?;
            Write::Group(profile, *number, group.clone())
        }
        Write::Crc(id, parameters) => {
            let crc = named(other.crcs.iter().map(|(id, of)| (id, of.name.as_str())), &one.crcs[*id].name)?;
            Write::Crc(crc, *parameters)
        }
        Write::Multicast(number, group) => Write::Multicast(*number, group.clone()),
        Write::Session(number, session) => Write::Session(*number, session.clone()),
        Write::Meter(id, control::plane::Element::Index(index), rates) => {
            let meter = named(other.meters.iter().map(|(id, of)| (id, of.name.as_str())), &one.meters[*id].name)?;
            Write::Meter(meter, control::plane::Element::Index(*index), *rates)
        }
        // Its key may have another form there.
        Write::Meter(_, control::plane::Element::Entry(_) | control::plane::Element::Default(_), _) => return None,
        Write::ValueSet(id, members) => {
            let set = named(other.value_sets.iter().map(|(id, of)| (id, of.name.as_str())), &one.value_sets[*id].name)?;
            let alike = one.value_sets[*id]
                .fields
                .iter()
                .map(|field| field.2)
                .eq(other.value_sets[set].fields.iter().map(|field| field.2));
            alike.then(|| Write::ValueSet(set, members.clone()))?
        }
    })
}

fn named<'n, T>(mut all: impl Iterator<Item = (T, &'n str)>, name: &str) -> Option<T> {
    all.find(|(_, known)| *known == name).map(|(id, _)| id)
}

fn call_of(
    call: &ActionCall,
    (one, from): (&Program, TableId),
    (other, to): (&Program, TableId),
) -> Option<ActionCall> {
    let name = &one.tables[from].actions[call.action as usize].name;
    let action = other.tables[to].actions.iter().position(|action| action.name == *name)?;
    Some(ActionCall { action: action as u32, arguments: call.arguments.clone() })
}

fn entry_of(entry: &Entry, from: (&Program, TableId), to: (&Program, TableId)) -> Option<Entry> {
    let action = match &entry.action {
        EntryAction::Call(call) => EntryAction::Call(call_of(call, from, to)?),
        other @ (EntryAction::Member(_) | EntryAction::Group(_)) => other.clone(),
        EntryAction::Set(_) => return None,
    };
    let kinds = to.0.key_kinds(to.1);
    if kinds.len() != entry.matches.len() {
        return None;
    }
    // Optional keys are ternary ones in BMv2.
    let matches = entry.matches.iter().zip(kinds).map(|(given, (kind, width))| match (given, kind) {
        (Match::Exact(value), MatchKind::Ternary) => {
            Match::Ternary { value: value.clone(), mask: (BigUint::from(1u8) << width) - 1u8 }
        }
        _ => given.clone(),
    });
    Some(Entry { matches: matches.collect(), action, ..entry.clone() })
}

/// Packets that programs know how to parse: IPv4 with TCP and UDP, IPv6, VLAN, MPLS, ARP.
pub fn usual_packets() -> Vec<Sample> {
    let ethernet = "0a0000000001".to_string() + "0a0000000002";
    let ipv4 = |protocol: &str| format!("4500003c000040004{}{protocol}00000a0000010a000002", "0");
    let transport = "04d20050000000010000000250100400000000000102030405060708090a0b0c";
    let packets = [
        format!("{ethernet}0800{}{transport}", ipv4("06")),
        format!("{ethernet}0800{}{transport}", ipv4("11")),
        format!("{ethernet}810020010800{}{transport}", ipv4("06")),
        format!("{ethernet}86dd6000000000200640{}{}{transport}", "00".repeat(15) + "01", "00".repeat(15) + "02"),
        format!("{ethernet}884700010140{}{transport}", ipv4("06")),
        format!("{ethernet}080600010800060400010a00000000010a0000010000000000000a000002"),
        "00".repeat(64),
        "01".repeat(64),
    ];
    packets.iter().map(|text| Sample { port: None, bytes: bytes(text) }).collect()
}

fn bytes(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().filter_map(|digit| digit.to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}
