//! Zeroed memory that C and Rust share: aligned to cache lines, and free until it is touched.

use std::ffi::c_void;
use std::marker::PhantomData;

unsafe extern "C" {
    fn region_allocate(bytes: usize) -> *mut c_void;
    fn region_release(memory: *mut c_void, bytes: usize);
}

/// An array of plain numbers or structs of numbers, for all of which zero is a value.
pub struct Region<T> {
    memory: *mut T,
    count: usize,
    kind: PhantomData<T>,
}

// SAFETY: it owns its memory, as a box does.
unsafe impl<T: Send> Send for Region<T> {}
// SAFETY: likewise.
unsafe impl<T: Sync> Sync for Region<T> {}

/// What may be made of zeros.
pub trait Zero: Copy {}

impl Zero for u8 {}
impl Zero for u16 {}
impl Zero for u64 {}
impl Zero for *mut c_void {}
impl Zero for crate::abi::CounterElement {}
impl Zero for crate::abi::MeterElement {}

impl<T: Zero> Region<T> {
    /// For arrays whose size no program chooses.
    pub fn new(count: usize) -> Region<T> {
        Region::of(count as u64).unwrap_or_else(|| panic!("there is address space for {count} elements"))
    }

    /// As many elements, or nothing if there is no address space for them. Memory is only taken when it is written, so a generous count costs nothing.
    pub fn of(count: u64) -> Option<Region<T>> {
        let count = usize::try_from(count).ok()?;
        // No array of Rust's is larger; a program may ask for registers that are.
        let bytes = count.checked_mul(size_of::<T>()).filter(|bytes| isize::try_from(*bytes).is_ok())?;
        // SAFETY: any size may be requested.
        let memory = unsafe { region_allocate(bytes) }.cast::<T>();
        (!memory.is_null()).then_some(Region { memory, count, kind: PhantomData })
    }

    pub fn as_mut_ptr(&self) -> *mut T {
        self.memory
    }

    pub fn len(&self) -> usize {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The element as a worker may be writing it: one read of each of its words.
    pub fn get(&self, index: usize) -> Option<T> {
        // SAFETY: within the array; elements are made of words, which workers write whole.
        (index < self.count).then(|| unsafe { self.memory.add(index).read_volatile() })
    }

    /// False if there is no such index.
    pub fn set(&self, index: usize, value: T) -> bool {
        if index >= self.count {
            return false;
        }
        // SAFETY: as for `get`.
        unsafe { self.memory.add(index).write_volatile(value) };
        true
    }
}

impl Region<u8> {
    /// A number of 1, 2, 4 or 8 bytes at a multiple of its size, in one read: never half of what a worker writes.
    pub fn number(&self, at: usize, bytes: usize) -> Option<u64> {
        let fits = at.is_multiple_of(bytes) && at.checked_add(bytes).is_some_and(|end| end <= self.count);
        // SAFETY: within the array, and aligned as the array is.
        let read = |at: *mut u8| unsafe {
            match bytes {
                1 => at.read_volatile().into(),
                2 => at.cast::<u16>().read_volatile().into(),
                4 => at.cast::<u32>().read_volatile().into(),
                8 => at.cast::<u64>().read_volatile(),
                _ => panic!("no number has {bytes} bytes"),
            }
        };
        fits.then(|| read(self.memory.wrapping_add(at)))
    }

    /// Writes a number as [`Region::number`] reads it. False if there is no such place.
    pub fn set_number(&self, at: usize, bytes: usize, value: u64) -> bool {
        let fits = at.is_multiple_of(bytes) && at.checked_add(bytes).is_some_and(|end| end <= self.count);
        // SAFETY: as for `number`.
        let write = |at: *mut u8| unsafe {
            match bytes {
                1 => at.write_volatile(value as u8),
                2 => at.cast::<u16>().write_volatile(value as u16),
                4 => at.cast::<u32>().write_volatile(value as u32),
                8 => at.cast::<u64>().write_volatile(value),
                _ => panic!("no number has {bytes} bytes"),
            }
        };
        if fits {
            write(self.memory.wrapping_add(at));
        }
        fits
    }
}

impl<T> Drop for Region<T> {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this size.
        unsafe { region_release(self.memory.cast(), self.count * size_of::<T>()) };
    }
}

/// For tables: as [`Region`], by address.
pub(crate) unsafe extern "C" fn allocate(_host: *mut c_void, bytes: usize) -> *mut c_void {
    // SAFETY: any size may be requested.
    unsafe { region_allocate(bytes) }
}

/// # Safety
/// `memory` is from [`allocate`], with the same size.
pub(crate) unsafe extern "C" fn release(_host: *mut c_void, memory: *mut c_void, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { region_release(memory, bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_bytes_than_can_be_counted_are_no_few() {
        assert!(Region::<u64>::of(u64::MAX / 8 + 2).is_none());
        assert!(Region::<u64>::of(u64::MAX).is_none());
    }
}
