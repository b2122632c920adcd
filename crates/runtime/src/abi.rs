//! The mirror of `runtime/abi.h`: the structs that host and pipeline share, field by field, in the same order.
//!
//! Written by hand, so that a person reads both sides in one go. `runtime/port/layout.c` has sizes and offsets as the C compiler sees them, and a
//! test here compares every one; `ABI_LAYOUT`, checked when a pipeline is loaded, guards the rest.

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, AtomicU64};

pub const ABI_VERSION: u32 = 7;
/// Words of a map of keys.
pub const KEY_SKETCH_WORDS: usize = 1024;

#[repr(C)]
pub struct Burst {
    pub count: u32,
    pub ports: *const u16,
    pub packets: *mut *mut c_void,
    pub lengths: *mut u16,
}

#[repr(C)]
pub struct Output {
    pub count: u32,
    pub capacity: u32,
    pub packets: *mut *mut c_void,
    pub lengths: *mut u16,
    pub ports: *mut u16,
}

#[repr(C)]
pub struct Released {
    pub count: u32,
    pub capacity: u32,
    pub packets: *mut *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterElement {
    pub packets: u64,
    pub bytes: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeterElement {
    pub committed_rate: [u64; 2],
    pub committed_burst: u64,
    pub peak_rate: [u64; 2],
    pub peak_burst: u64,
    pub committed_tokens: [u64; 2],
    pub peak_tokens: [u64; 2],
    pub time_ns: u64,
    pub configured: u32,
    pub lock: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    pub port: u32,
    pub instance: u32,
}

/// A group's front; `count` members follow.
#[repr(C)]
pub struct Group {
    pub count: u32,
    pub truncation: u32,
    pub members: [Member; 0],
}

#[repr(C)]
pub struct GroupSlot {
    pub number: u64,
    pub group: *const Group,
}

/// The front of a group table; `mask + 1` slots follow.
#[repr(C)]
pub struct Groups {
    pub mask: u32,
    pub slots: [GroupSlot; 0],
}

/// In the place of an action's number: the record has the slot of a selector's group.
pub const SELECTOR_GROUP: u32 = u32::MAX;

/// The front of a selector's group; the records of `count` members follow.
#[repr(C)]
pub struct SelectorGroup {
    pub count: u32,
    pub unused: u32,
    pub records: [u8; 0],
}

#[repr(C)]
pub struct Selection {
    pub groups: AtomicPtr<AtomicPtr<SelectorGroup>>,
}

#[repr(C)]
pub struct StateArray {
    pub count: u64,
    pub elements: *mut u8,
}

pub type Digest = unsafe extern "C" fn(worker: *mut Worker, digest: u32, values: *const u64, limbs: u32);
pub type Log = unsafe extern "C" fn(
    worker: *mut Worker,
    format: *const c_char,
    values: *const u64,
    widths: *const u32,
    count: u32,
);
pub type Fail = unsafe extern "C" fn(worker: *mut Worker, text: *const c_char);
pub type Punt = unsafe extern "C" fn(
    worker: *mut Worker,
    packet: *mut c_void,
    length: u16,
    saved: *const c_void,
    saved_bytes: u32,
    node: u32,
);
pub type Insert =
    unsafe extern "C" fn(worker: *mut Worker, table: u32, key: *const u64, record: *const c_void, timer: u32) -> c_int;

#[repr(C)]
pub struct Shared {
    pub tables: *const *const c_void,
    pub registers: *mut StateArray,
    pub meters: *const *mut MeterElement,
    pub groups: *const AtomicPtr<Groups>,
    pub sessions: *const AtomicPtr<Groups>,
    pub selections: *const *const Selection,
    pub externs: *const *mut c_void,
    pub digest: Digest,
    pub log: Log,
    pub fail: Fail,
    pub punt: Punt,
    pub insert: Insert,
}

#[repr(C)]
pub struct Pool {
    pub handle: *mut c_void,
    pub allocate: Option<unsafe extern "C" fn(pool: *mut Pool) -> *mut c_void>,
    pub buffer_bytes: u32,
    pub headroom_bytes: u32,
    pub count: u32,
    pub unused: u32,
}

/// Ends of bursts, alone on a line.
#[repr(C, align(64))]
#[derive(Default)]
pub struct Quiescent {
    pub bursts: AtomicU64,
}

#[repr(C)]
pub struct Worker {
    pub id: u32,
    pub port_count: u32,
    pub clock_ns: u64,
    pub seed: u64,
    pub packet_number: u64,
    pub shared: *const Shared,
    pub memory: *mut c_void,
    pub pool: *mut Pool,
    pub flush: Option<unsafe extern "C" fn(worker: *mut Worker)>,
    pub host: *mut c_void,
    pub out: Output,
    pub freed: Released,
    pub drops: *mut u64,
    pub hits: *mut u64,
    pub misses: *mut u64,
    pub counters: *const *mut CounterElement,
    pub edges: *mut u64,
    pub key_sketches: *mut u64,
    pub quiescent: Quiescent,
}

#[repr(C)]
pub struct KeyField {
    pub name: *const c_char,
    pub width: u32,
    pub shift: u32,
    pub kind: u32,
    pub mask: *const u64,
}

#[repr(C)]
pub struct LeftOutKey {
    pub name: *const c_char,
    pub width: u32,
    pub kind: u32,
    pub number: u32,
    pub value: *const u64,
}

#[repr(C)]
pub struct Parameter {
    pub name: *const c_char,
    pub width: u32,
    pub offset: u32,
    pub form: u32,
}

#[repr(C)]
pub struct Action {
    pub name: *const c_char,
    pub parameter_count: u32,
    pub parameters: *const Parameter,
}

#[repr(C)]
pub struct TableDescriptor {
    pub name: *const c_char,
    pub structure: u32,
    pub key_bits: u32,
    pub key_limbs: u32,
    pub field_count: u32,
    pub fields: *const KeyField,
    pub left_out_count: u32,
    pub left_out: *const LeftOutKey,
    pub action_count: u32,
    pub actions: *const Action,
    pub record_bytes: u32,
    pub records_own: u32,
    pub size: u64,
    pub idle_timeout: u32,
    pub source: u32,
    pub group_offset: u32,
    pub primary: u32,
    pub part_shift: u32,
    pub part_bits: u32,
}

#[repr(C)]
pub struct CounterDescriptor {
    pub name: *const c_char,
    pub size: u64,
    pub table: u32,
}

#[repr(C)]
pub struct MeterDescriptor {
    pub name: *const c_char,
    pub size: u64,
    pub table: u32,
    pub bytes: u32,
}

#[repr(C)]
pub struct RegisterDescriptor {
    pub name: *const c_char,
    pub size: u64,
    pub width: u32,
    pub element_bytes: u32,
    pub initial: *const u64,
}

#[repr(C)]
pub struct ExternDescriptor {
    pub name: *const c_char,
    pub of_type: *const c_char,
    pub create: unsafe extern "C" fn() -> *mut c_void,
    pub destroy: unsafe extern "C" fn(object: *mut c_void),
}

#[repr(C)]
pub struct SavedField {
    pub name: *const c_char,
    pub width: u32,
    pub offset: u32,
}

#[repr(C)]
pub struct Pipeline {
    pub version: u32,
    pub descriptor: u32,
    pub layout: u64,
    pub program: *const c_char,
    pub burst: u32,
    pub table_count: u32,
    pub tables: *const TableDescriptor,
    pub counter_count: u32,
    pub meter_count: u32,
    pub counters: *const CounterDescriptor,
    pub meters: *const MeterDescriptor,
    pub register_count: u32,
    pub drop_count: u32,
    pub registers: *const RegisterDescriptor,
    pub drops: *const *const c_char,
    pub node_count: u32,
    pub edge_count: u32,
    pub nodes: *const *const c_char,
    pub edges: *const *const c_char,
    pub saved_count: u32,
    pub saved_bytes: u32,
    pub saved: *const SavedField,
    pub worker_bytes: u64,
    pub copy_bytes: u64,
    pub extern_count: u32,
    pub held_bursts: u32,
    pub externs: *const ExternDescriptor,
    pub attach: Option<unsafe extern "C" fn(worker: *mut Worker) -> c_int>,
    pub detach: Option<unsafe extern "C" fn(worker: *mut Worker)>,
    pub process: unsafe extern "C" fn(worker: *mut Worker, burst: *mut Burst),
    pub resume: Option<
        unsafe extern "C" fn(worker: *mut Worker, packet: *mut c_void, length: u16, saved: *const c_void, node: u32),
    >,
}

unsafe extern "C" {
    /// `ABI_LAYOUT` as the host's C compiler saw it.
    pub fn abi_layout() -> u64;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;
    use std::mem::{offset_of, size_of};

    #[repr(C)]
    struct Place {
        name: *const c_char,
        bytes: u64,
    }

    unsafe extern "C" {
        fn abi_place(number: u32) -> *const Place;
    }

    /// The layout of C's side, by name.
    fn places() -> Vec<(String, u64)> {
        (0..)
            // SAFETY: the function gives NULL or a place that lives for ever, for any number.
            .map_while(|number| unsafe { abi_place(number).as_ref() })
            // SAFETY: names are C literals.
            .map(|place| (unsafe { CStr::from_ptr(place.name) }.to_string_lossy().into_owned(), place.bytes))
            .collect()
    }

    macro_rules! places {
        ($($c:literal $rust:ident { $($field:ident),* })*) => {
            vec![$(
                (format!("sizeof {}", $c), size_of::<$rust>() as u64),
                $((format!("{}.{}", $c, stringify!($field)), offset_of!($rust, $field) as u64),)*
            )*]
        };
    }

    #[test]
    #[rustfmt::skip]
    fn both_sides_agree_on_every_field() {
        let ours = places! {
            "burst" Burst { count, ports, packets, lengths }
            "output" Output { count, capacity, packets, lengths, ports }
            "released" Released { count, capacity, packets }
            "counter_element" CounterElement { packets, bytes }
            "meter_element" MeterElement { committed_rate, committed_burst, peak_rate, peak_burst, committed_tokens, peak_tokens, time_ns, configured, lock }
            "member" Member { port, instance }
            "group" Group { count, truncation, members }
            "group_slot" GroupSlot { number, group }
            "groups" Groups { mask, slots }
            "selector_group" SelectorGroup { count, unused, records }
            "selection" Selection { groups }
            "state_array" StateArray { count, elements }
            "shared" Shared { tables, registers, meters, groups, sessions, selections, externs, digest, log, fail, punt, insert }
            "pool" Pool { handle, allocate, buffer_bytes, headroom_bytes, count }
            "worker" Worker { id, port_count, clock_ns, seed, packet_number, shared, memory, pool, flush, host, out, freed, drops, hits, misses,
                counters, edges, key_sketches, quiescent }
            "key_field" KeyField { name, width, shift, kind, mask }
            "left_out_key" LeftOutKey { name, width, kind, number, value }
            "parameter" Parameter { name, width, offset, form }
            "action" Action { name, parameter_count, parameters }
            "table_descriptor" TableDescriptor { name, structure, key_bits, key_limbs, field_count, fields, left_out_count, left_out, action_count, actions,
                record_bytes, records_own, size, idle_timeout, source, group_offset, primary, part_shift, part_bits }
            "counter_descriptor" CounterDescriptor { name, size, table }
            "meter_descriptor" MeterDescriptor { name, size, table, bytes }
            "register_descriptor" RegisterDescriptor { name, size, width, element_bytes, initial }
            "extern_descriptor" ExternDescriptor { name, of_type, create, destroy }
            "saved_field" SavedField { name, width, offset }
            "pipeline" Pipeline { version, descriptor, layout, program, burst, table_count, tables, counter_count, meter_count, counters, meters,
                register_count, drop_count, registers, drops, node_count, edge_count, nodes, edges, saved_count, saved_bytes, saved, worker_bytes, copy_bytes,
                extern_count, held_bursts, externs, attach, detach, process, resume }
        };
        assert_eq!(ours, places());
    }

    #[test]
    fn maps_of_keys_have_the_same_size_on_both_sides() {
        let (_, header) = crate::cache::EMBEDDED.iter().find(|(path, _)| *path == "abi.h").expect("it is embedded");
        assert!(header.contains(&format!("#define KEY_SKETCH_WORDS {KEY_SKETCH_WORDS}u\t")));
    }
}
