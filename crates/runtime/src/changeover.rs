//! The changeover of one worker from a pipeline to the next, at the end of a burst.
//!
//! The control thread prepares everything and publishes it. The worker flushes and detaches the old pipeline, moves its counts and attaches the new one:
//! it never waits for another thread, and needs no memory.
//! ```text
//! control thread                               worker
//! tables, counts, objects of the new one
//! ask: next = changeover (SeqCst)
//! call: attention = 1 (SeqCst)                 end of a burst: takes `next` by a swap, so it is made once
//! waits for done                               flush and detach the old, move counts, attach the new
//!                                              status, then done (Release)
//! done (Acquire): frees the old one            bursts go to the new pipeline
//! ```
//!
//! Workers change at different times. In between, both pipelines run on the same tables, registers and meters;
//! each worker counts for itself, so counts move with it. The old pipeline is freed when the last worker has
//! changed.
//!
//! What a worker runs and reads after the changeover is in no cache of its core. So at the ends of some bursts before,
//! it prefetches a part of that, and forwards packets while the lines come.

use crate::abi;
use crate::control::{Bound, Control, host};
use crate::counted::{Counted, Moves};
use crate::gate::drive_out;
use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::time::Instant;

/// What a worker is attached to. The addresses outlive the attachment.
#[derive(Clone, Copy)]
pub(crate) struct Attachment {
    pub pipeline: *const abi::Pipeline,
    pub shared: *const abi::Shared,
    pub counted: *const Counted,
    pub bound: *const Bound,
    pub generation: u32,
    /// The pipeline's machine code: address and bytes.
    pub code: (*const u8, usize),
}

/// Lines that a worker prefetches at the end of a burst: about as many as a core has outstanding misses.
const LINES_TOGETHER: usize = 24;
const LINE_BYTES: usize = 64;
/// Bytes of an object that are prefetched at most, well below a core's own cache.
const MOST_BYTES: usize = 64 << 10;
/// Bytes of one of the host's own functions.
const FUNCTION_BYTES: usize = 1 << 10;

impl Attachment {
    /// The pipeline's status: 0 if it takes the worker.
    ///
    /// # Safety
    /// The worker is this thread's, and attached to nothing.
    pub unsafe fn attach(&self, worker: *mut abi::Worker, control: &Control) -> c_int {
        // SAFETY: the addresses are good, and the worker is this thread's.
        unsafe {
            (*self.counted).show(&mut *worker);
            (*worker).shared = self.shared;
            control.bind(self.bound);
            (*self.bound).readers.set_held_bursts((*worker).id as usize, (*self.pipeline).held_bursts);
            host(worker).0.set_generation(self.generation);
            (*self.pipeline).attach.map_or(0, |attach| attach(worker))
        }
    }

    /// What a worker uses that attaches to this, and in its first burst.
    ///
    /// # Safety
    /// The addresses are good.
    unsafe fn first_used(&self) -> Vec<(*const u8, usize)> {
        let attach: unsafe fn(&Attachment, *mut abi::Worker, &Control) -> c_int = Attachment::attach;
        let make: unsafe fn(&Changeover, *mut abi::Worker, &Control) -> *const abi::Pipeline = Changeover::make;
        let mut used = vec![
            (make as *const u8, FUNCTION_BYTES),
            (attach as *const u8, FUNCTION_BYTES),
            (drive_out as *const u8, FUNCTION_BYTES),
            (self.pipeline.cast(), size_of::<abi::Pipeline>()),
            (self.shared.cast(), size_of::<abi::Shared>()),
            (self.bound.cast(), size_of::<Bound>()),
            self.code,
        ];
        // SAFETY: the caller's promise.
        used.extend(unsafe { (*self.counted).first_used() });
        used
    }

    /// Sends or frees what the pipeline holds, and leaves it.
    ///
    /// # Safety
    /// The worker is this thread's, and attached to this.
    pub unsafe fn detach(&self, worker: *mut abi::Worker) {
        // SAFETY: the caller's promise.
        unsafe {
            drive_out(worker, self.pipeline);
            self.leave(worker);
        }
    }

    /// Leaves the pipeline, which holds no packet.
    ///
    /// # Safety
    /// That of `detach`.
    unsafe fn leave(&self, worker: *mut abi::Worker) {
        // SAFETY: the caller's promise.
        unsafe {
            let flush = (*worker).flush.expect("a worker is made with its ports' flush");
            if let Some(detach) = (*self.pipeline).detach {
                detach(worker);
            }
            flush(worker);
        }
    }
}

/// A changeover that a worker has not made yet, or has.
pub(crate) struct Changeover {
    from: Attachment,
    to: Attachment,
    moves: Moves,
    /// Whether the worker was attached to the new pipeline before.
    is_back: bool,
    /// Addresses in the cache lines that the worker prefetches, and how many it has.
    lines: Vec<*const u8>,
    prefetched: AtomicUsize,
    status: AtomicI32,
    done: AtomicBool,
}

impl Changeover {
    pub fn new(from: Attachment, to: Attachment, moves: Moves) -> Changeover {
        // SAFETY: the addresses outlive the changeover.
        let mut used = unsafe { to.first_used() };
        used.extend(moves.places());
        let lines = used.into_iter().flat_map(|(at, bytes)| {
            (0..bytes.min(MOST_BYTES).div_ceil(LINE_BYTES)).map(move |line| at.wrapping_add(line * LINE_BYTES))
        });
        Changeover {
            from,
            to,
            lines: lines.collect(),
            moves,
            is_back: false,
            prefetched: AtomicUsize::new(0),
            status: AtomicI32::new(0),
            done: AtomicBool::new(false),
        }
    }

    /// A change to a pipeline that the worker was attached to before, at the end of its burst: nothing is prefetched.
    pub fn return_to(from: Attachment, to: Attachment, moves: Moves) -> Changeover {
        Changeover {
            from,
            to,
            lines: Vec::new(),
            moves,
            is_back: true,
            prefetched: AtomicUsize::new(0),
            status: AtomicI32::new(0),
            done: AtomicBool::new(false),
        }
    }

    /// Prefetches a part of what the changeover will use. False: all has been. By the worker, between two bursts.
    pub fn prefetch(&self, control: &Control) -> bool {
        let begun = Instant::now();
        let from = self.prefetched.load(Ordering::Relaxed);
        let lines = self.lines[from..].iter().take(LINES_TOGETHER);
        self.prefetched.store(from + lines.len(), Ordering::Relaxed);
        let is_some = lines.len() != 0;
        // SAFETY: a prefetch of any address is harmless.
        lines.for_each(|line| unsafe { _mm_prefetch::<_MM_HINT_T1>(line.cast()) });
        control.note_pause(begun.elapsed());
        is_some
    }

    /// The change back, for a worker that has made it.
    pub fn back(&self) -> Changeover {
        Changeover { is_back: true, ..Changeover::new(self.to, self.from, self.moves.back()) }
    }

    /// The status of the new pipeline's `attach`, when the worker has made the changeover. Not 0: it has stayed with the old one.
    pub fn status(&self) -> Option<c_int> {
        self.done.load(Ordering::Acquire).then(|| self.status.load(Ordering::Relaxed))
    }

    /// The pipeline that the worker is attached to behind it.
    ///
    /// # Safety
    /// The worker is this thread's, between two bursts, and attached to the old pipeline.
    pub unsafe fn make(&self, worker: *mut abi::Worker, control: &Control) -> *const abi::Pipeline {
        // Packets that the old pipeline holds are forwarded as in any burst: that is no pause.
        // SAFETY: the caller's promise.
        unsafe { drive_out(worker, self.from.pipeline) };
        let begun = Instant::now();
        // SAFETY: the caller's promise; the addresses outlive the changeover.
        let status = unsafe {
            let (old, new) = (&*self.from.counted, &*self.to.counted);
            // The old pipeline counts until it is detached: what it held is sent and counted before counts
            // move.
            self.from.leave(worker);
            new.take(old, &self.moves);
            if self.is_back {
                new.clear_memory();
            }
            let status = self.to.attach(worker, control);
            if status != 0 {
                old.clear_memory();
                let back = self.from.attach(worker, control);
                assert_eq!(back, 0, "a pipeline that has taken a worker takes it again");
            }
            status
        };
        control.note_pause(begun.elapsed());
        self.status.store(status, Ordering::Relaxed);
        let pipeline = if status == 0 { self.to.pipeline } else { self.from.pipeline };
        // Last: behind it the control thread may free this changeover and the old pipeline.
        self.done.store(true, Ordering::Release);
        pipeline
    }
}
