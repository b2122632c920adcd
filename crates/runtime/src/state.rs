//! What packets change and a pipeline does not own: registers, meters, multicast groups and mirror sessions.
//!
//! Counters are elsewhere: each worker has its own. Everything here has a fixed address as long as the switch keeps it, so a pipeline can be
//! exchanged around it.

use crate::abi;
use crate::counted::Carried;
use crate::elements::{element_count, elements};
use crate::error::SwitchError;
use crate::pipeline::{self, Description};
use crate::quiescent::{NO_TABLE, Readers};
use crate::region::Region;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

/// An array of bit strings.
pub struct Register {
    description: pipeline::Register,
    elements: Region<u8>,
}

impl Register {
    pub(crate) fn new(description: &pipeline::Register) -> Result<Register, SwitchError> {
        let bytes = description.size.saturating_mul(u64::from(description.element_bytes));
        let elements = Region::of(bytes).ok_or_else(|| {
            SwitchError::no_memory("register", &description.name, description.size, description.element_bytes)
        })?;
        let register = Register { description: description.clone(), elements };
        if register.description.initial.iter().any(|limb| *limb != 0) {
            let initial = register.description.initial.clone();
            for index in 0..register.description.size {
                register.write(index, &initial);
            }
        }
        Ok(register)
    }

    pub fn description(&self) -> &pipeline::Register {
        &self.description
    }

    fn limbs(&self) -> usize {
        self.description.width.div_ceil(64).max(1) as usize
    }

    /// Where the limbs of an element are, and the bytes of each. Workers read and write a limb whole.
    fn places(&self, index: u64) -> Option<(impl Iterator<Item = usize> + use<>, usize)> {
        if index >= self.description.size {
            return None;
        }
        let bytes = self.description.element_bytes as usize;
        let (from, limbs, step) = (index as usize * bytes, self.limbs(), bytes.min(8));
        Some(((0..limbs).map(move |limb| from + limb * step), step))
    }

    /// The element in limbs, low limb first; `None` if there is no such index.
    pub fn read(&self, index: u64) -> Option<Vec<u64>> {
        let (places, step) = self.places(index)?;
        places.map(|at| self.elements.number(at, step)).collect()
    }

    /// False if there is no such index.
    pub fn write(&self, index: u64, limbs: &[u64]) -> bool {
        let Some((places, step)) = self.places(index) else { return false };
        let limbs = limbs.iter().copied().chain(std::iter::repeat(0));
        places.zip(limbs).all(|(at, limb)| self.elements.set_number(at, step, limb))
    }

    /// Up to `count` elements from one on, each in as many bytes as its width needs, the lowest first.
    pub fn packed(&self, first: u64, count: u64) -> Vec<u8> {
        let bytes = self.description.width.div_ceil(8) as usize;
        let end = first.saturating_add(count).min(self.description.size);
        let mut packed = Vec::with_capacity(bytes * end.saturating_sub(first) as usize);
        for index in first..end {
            let Some((places, step)) = self.places(index) else { break };
            let limbs = places.filter_map(|at| self.elements.number(at, step));
            let behind = packed.len() + bytes;
            limbs.for_each(|limb| packed.extend_from_slice(&limb.to_le_bytes()));
            packed.truncate(behind);
        }
        packed
    }

    pub(crate) fn raw(&self) -> abi::StateArray {
        abi::StateArray { count: self.description.size, elements: self.elements.as_mut_ptr() }
    }
}

/// The elements of a meter: by index, or by the counter index of an entry.
pub struct Meter {
    description: pipeline::Meter,
    pub elements: Arc<Region<abi::MeterElement>>,
}

impl Meter {
    pub(crate) fn new(meter: &pipeline::Meter, description: &Description) -> Result<Meter, SwitchError> {
        let count = element_count(meter.size, meter.table, description);
        let elements = Arc::new(elements("meter", &meter.name, count)?);
        Ok(Meter { description: meter.clone(), elements })
    }

    /// Whether it can go on as this meter of another pipeline.
    fn serves(&self, wanted: &pipeline::Meter, carried: &Carried<'_>) -> bool {
        let has = &self.description;
        let same = has.name == wanted.name && has.bytes == wanted.bytes;
        same && carried.fits((wanted.size, wanted.table), (has.size, has.table))
    }

    /// The same elements, as another pipeline describes them.
    fn described(&self, description: &pipeline::Meter) -> Meter {
        Meter { description: description.clone(), elements: self.elements.clone() }
    }

    pub fn description(&self) -> &pipeline::Meter {
        &self.description
    }
}

/// A group or session as the control plane writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    pub members: Vec<abi::Member>,
    /// Bytes that a session's copies keep; 0 for all.
    pub truncation: u32,
}

/// Groups by number, replaced as a whole at each change: there are few, and they change rarely.
pub struct GroupTable {
    groups: BTreeMap<u64, Group>,
    current: Box<AtomicPtr<abi::Groups>>,
    block: Block,
}

/// The memory of one version: the slots and then the groups they point to.
struct Block {
    memory: *mut u8,
    layout: Layout,
}

// SAFETY: a block belongs to its table; readers only read it.
unsafe impl Send for GroupTable {}
// SAFETY: likewise.
unsafe impl Sync for GroupTable {}

impl GroupTable {
    pub(crate) fn new() -> GroupTable {
        let block = Block::build(&BTreeMap::new());
        GroupTable { groups: BTreeMap::new(), current: Box::new(AtomicPtr::new(block.memory.cast())), block }
    }

    pub fn get(&self, number: u64) -> Option<&Group> {
        self.groups.get(&number)
    }

    /// Makes, replaces or removes a group; returns when no worker sees the old ones.
    /// Copy and replace: a few kilobytes for each change, and readers need one acquire load.
    pub fn set(&mut self, number: u64, group: Option<Group>, readers: &Readers) {
        match group {
            Some(group) => drop(self.groups.insert(number, group)),
            None => drop(self.groups.remove(&number)),
        }
        let block = Block::build(&self.groups);
        self.current.store(block.memory.cast(), Ordering::Release);
        readers.wait(NO_TABLE, false);
        self.block = block;
    }

    pub fn clear(&mut self, readers: &Readers) {
        self.groups.clear();
        let block = Block::build(&self.groups);
        self.current.store(block.memory.cast(), Ordering::Release);
        readers.wait(NO_TABLE, false);
        self.block = block;
    }

    pub(crate) fn raw(&self) -> *const AtomicPtr<abi::Groups> {
        &*self.current
    }
}

impl Block {
    fn build(groups: &BTreeMap<u64, Group>) -> Block {
        let slots = (2 * groups.len() + 1).next_power_of_two();
        let slots_at = std::mem::offset_of!(abi::Groups, slots);
        let groups_at = slots_at + slots * size_of::<abi::GroupSlot>();
        let group_bytes = |group: &Group| {
            let bytes = size_of::<abi::Group>() + group.members.len() * size_of::<abi::Member>();
            bytes.next_multiple_of(8)
        };
        let bytes = groups_at + groups.values().map(group_bytes).sum::<usize>();
        let layout = Layout::from_size_align(bytes, 64).expect("a few groups are not too large");
        // SAFETY: the layout is not empty.
        let memory = unsafe { alloc_zeroed(layout) };
        if memory.is_null() {
            handle_alloc_error(layout);
        }
        let mask = slots as u32 - 1;
        let mut at = groups_at;
        // SAFETY: everything is written within the block: first its head, then each group behind the slots, then the slot that points to it.
        unsafe {
            (*memory.cast::<abi::Groups>()).mask = mask;
            let slot_array = memory.add(slots_at).cast::<abi::GroupSlot>();
            for (number, group) in groups {
                let target = memory.add(at).cast::<abi::Group>();
                (*target).count = group.members.len() as u32;
                (*target).truncation = group.truncation;
                let members = (&raw mut (*target).members).cast::<abi::Member>();
                std::ptr::copy_nonoverlapping(group.members.as_ptr(), members, group.members.len());
                let mut slot = group_slot(*number, mask);
                while !(*slot_array.add(slot as usize)).group.is_null() {
                    slot = (slot + 1) & mask;
                }
                slot_array.add(slot as usize).write(abi::GroupSlot { number: *number, group: target });
                at += group_bytes(group);
            }
        }
        Block { memory, layout }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout, and no thread reads it any more.
        unsafe { dealloc(self.memory, self.layout) };
    }
}

/// As `group_hash` in runtime/extern/group.h.
fn group_slot(number: u64, mask: u32) -> u32 {
    (number.wrapping_mul(0x9e3779b97f4a7c15) >> 32) as u32 & mask
}

/// Everything but tables and counters.
pub struct State {
    /// In the order of the pipeline, which shares them with the one that takes its place.
    pub registers: Vec<Arc<Register>>,
    pub meters: Vec<Meter>,
    pub groups: GroupTable,
    pub sessions: GroupTable,
    pub readers: Arc<Readers>,
}

/// The registers and meters of a pipeline, in its order.
pub(crate) struct StateObjects {
    pub registers: Vec<Arc<Register>>,
    pub meters: Vec<Meter>,
}

impl State {
    pub(crate) fn new(description: &Description, readers: Arc<Readers>) -> Result<State, SwitchError> {
        let (groups, sessions) = (GroupTable::new(), GroupTable::new());
        let mut state = State { registers: Vec::new(), meters: Vec::new(), groups, sessions, readers };
        let objects = state.objects(description, None)?;
        (state.registers, state.meters) = (objects.registers, objects.meters);
        Ok(state)
    }

    /// The registers and meters of a pipeline: those that are here with the same description, if it takes them over, and the others new.
    pub(crate) fn objects(
        &self,
        description: &Description,
        carried: Option<&Carried<'_>>,
    ) -> Result<StateObjects, SwitchError> {
        let register = |wanted: &pipeline::Register| {
            let kept = carried.and_then(|_| self.registers.iter().find(|register| register.description == *wanted));
            kept.map_or_else(|| Register::new(wanted).map(Arc::new), |kept| Ok(kept.clone()))
        };
        let meter = |wanted: &pipeline::Meter| {
            let kept = carried.and_then(|carried| self.meters.iter().find(|meter| meter.serves(wanted, carried)));
            kept.map_or_else(|| Meter::new(wanted, description), |kept| Ok(kept.described(wanted)))
        };
        Ok(StateObjects {
            registers: description.registers.iter().map(register).collect::<Result<_, _>>()?,
            meters: description.meters.iter().map(meter).collect::<Result<_, _>>()?,
        })
    }

    pub fn set_group(&mut self, number: u64, group: Option<Group>) {
        self.groups.set(number, group, &self.readers);
    }

    pub fn set_session(&mut self, number: u64, session: Option<Group>) {
        self.sessions.set(number, session, &self.readers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `group_find` in runtime/extern/group.h.
    fn find(table: &GroupTable, number: u64) -> Option<Vec<u32>> {
        let groups = table.current.load(Ordering::Acquire);
        // SAFETY: a block has `mask + 1` slots, one of them free, and groups have as many members as they declare.
        unsafe {
            let mask = (*groups).mask;
            let slots = (&raw const (*groups).slots).cast::<abi::GroupSlot>();
            let mut at = group_slot(number, mask);
            loop {
                let slot = &*slots.add(at as usize);
                let group = slot.group.as_ref()?;
                if slot.number == number {
                    let members = std::slice::from_raw_parts(group.members.as_ptr(), group.count as usize);
                    return Some(members.iter().map(|member| member.port).collect());
                }
                at = (at + 1) & mask;
            }
        }
    }

    #[test]
    fn groups_are_found_by_number_and_others_are_not() {
        let readers = Readers::new(0);
        let mut table = GroupTable::new();
        assert_eq!(find(&table, 1), None);
        for number in 0..50u32 {
            let members = (0..number % 4).map(|port| abi::Member { port, instance: 0 }).collect();
            table.set(u64::from(number) << 20, Some(Group { members, truncation: 0 }), &readers);
        }
        table.set(3 << 20, None, &readers);
        assert_eq!(find(&table, 2 << 20), Some(vec![0, 1]));
        assert_eq!(find(&table, 4 << 20), Some(vec![]));
        assert_eq!(find(&table, 3 << 20), None);
        assert_eq!(find(&table, 17), None);
    }

    #[test]
    fn registers_hold_any_width_and_begin_as_the_program_says() {
        let description = |width, element_bytes, initial| pipeline::Register {
            name: "r".into(),
            size: 4,
            width,
            element_bytes,
            initial,
        };
        let narrow = Register::new(&description(9, 2, vec![7])).unwrap();
        assert_eq!(narrow.read(3), Some(vec![7]));
        assert!(narrow.write(3, &[0x1ff]) && !narrow.write(4, &[1]));
        assert_eq!((narrow.read(2), narrow.read(3), narrow.read(4)), (Some(vec![7]), Some(vec![0x1ff]), None));
        let wide = Register::new(&description(100, 16, vec![])).unwrap();
        assert!(wide.write(1, &[5, 6]));
        assert_eq!((wide.read(0), wide.read(1)), (Some(vec![0, 0]), Some(vec![5, 6])));
        assert_eq!(narrow.packed(2, 9), [7, 0, 0xff, 1]);
        assert_eq!(wide.packed(1, 1), [5, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0]);
        assert!(narrow.packed(4, 1).is_empty());
    }
}
