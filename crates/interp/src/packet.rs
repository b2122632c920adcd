//! A packet in the switch: its bytes, its storage, and where it comes from.

use crate::bytes::BitString;
use crate::random::{Draws, copy_number, mix};
use crate::storage::{Layout, Storage};
use hlir::{Bytes, Keep, NodeId};
use std::cell::Cell;
use std::rc::Rc;

#[derive(Clone)]
pub struct Packet {
    pub storage: Storage,
    pub bytes: Vec<u8>,
    /// How far the parser has come, in bits.
    pub cursor: usize,
    /// The bytes with which it entered the graph this time.
    original: Rc<[u8]>,
    pub port: u32,
    pub number: u64,
    pub draws: Draws,
    /// Copies made of it so far.
    copies: u64,
    /// Copies that may still be made of what came of one received packet: all of it shares the number.
    budget: Rc<Cell<u32>>,
    /// How often it or its ancestors have entered the graph again.
    pub generation: u32,
    /// Sums up ingress port, nodes visited, and where it was copied or entered again.
    pub path: u64,
}

impl Packet {
    /// A packet that is received, with blank storage. It still has no budget for copies.
    pub fn new(storage: Storage, port: u32, bytes: Vec<u8>, number: u64, seed: u64) -> Packet {
        Packet {
            storage,
            original: bytes.as_slice().into(),
            bytes,
            cursor: 0,
            port,
            number,
            draws: Draws::new(seed, number),
            copies: 0,
            budget: Rc::default(),
            generation: 0,
            path: mix(port.into()),
        }
    }

    /// The packet with a budget of its own: as many copies may come of it, whatever else came of what it was copied from.
    pub fn with_budget(mut self, copies: u32) -> Packet {
        self.budget = Rc::new(Cell::new(copies));
        self
    }

    /// Takes so many copies from the budget, or all that are left; how many.
    pub fn take_copies(&self, wanted: usize) -> usize {
        let left = self.budget.get();
        let taken = left.min(u32::try_from(wanted).unwrap_or(u32::MAX));
        self.budget.set(left - taken);
        taken as usize
    }

    pub fn visit(&mut self, node: NodeId) {
        self.path = mix(self.path ^ u64::from(node.into_raw().into_u32()));
    }

    /// Bits behind the cursor.
    pub fn bits_left(&self) -> u64 {
        (self.bytes.len() * 8 - self.cursor) as u64
    }

    /// The bytes behind the cursor.
    pub fn payload(&self) -> &[u8] {
        &self.bytes[self.cursor.div_ceil(8)..]
    }

    /// Puts other bytes behind the cursor.
    pub fn replace_payload(&mut self, payload: &[u8]) {
        self.bytes.truncate(self.cursor.div_ceil(8));
        self.bytes.extend_from_slice(payload);
    }

    pub fn truncate(&mut self, bytes: u64) {
        self.bytes.truncate(usize::try_from(bytes).unwrap_or(usize::MAX));
        self.cursor = self.cursor.min(self.bytes.len() * 8);
    }

    /// The emitted headers, then what followed the cursor.
    pub fn deparse(&mut self, mut emitted: BitString) {
        emitted = BitString::whole_bytes(emitted);
        emitted.push_bytes(self.payload());
        self.bytes = emitted.into_bytes();
        self.cursor = 0;
    }

    /// A copy as it begins, with a number of its own.
    pub fn copy(&mut self, layout: &Layout, seed: u64, bytes: Bytes, keep: &Keep) -> Packet {
        self.copies += 1;
        let mut copy = self.clone();
        copy.copies = 0;
        copy.number = copy_number(self.number, self.copies);
        copy.draws = Draws::new(seed, copy.number);
        copy.path = mix(self.path ^ self.copies << 32);
        match bytes {
            Bytes::Original => {
                copy.bytes = self.original.to_vec();
                copy.start_again(layout);
            }
            Bytes::Deparsed => copy.start_again(layout),
            Bytes::Current => {}
        }
        match keep {
            Keep::All => {}
            Keep::Only(variables) => copy.storage.forget_variables(layout, variables),
        }
        copy
    }

    /// From now on this is a packet that has entered the graph again. Copies that go on at once are on another path, though they visit the same nodes: those
    /// of a packet whose group waits for the next one come behind what enters again of others.
    pub fn enter_again(&mut self) {
        self.generation += 1;
        self.path = mix(!self.path);
        self.original = self.bytes.as_slice().into();
    }

    fn start_again(&mut self, layout: &Layout) {
        self.cursor = 0;
        self.storage.forget_headers(layout);
    }
}
