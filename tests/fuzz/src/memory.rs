//! Measurement of the memory that a call needs.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system's allocator, with a count of the bytes in use.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator with the caller's arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let used = USED.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(used, Relaxed);
        // SAFETY: as the caller states.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller states.
        unsafe { System.dealloc(place, layout) }
    }
}

/// Calls `work` on an input, and panics if it needed more than `base` bytes and `factor` bytes for
/// each byte of the input. Allocations of other threads count as well.
pub fn bounded<T>(input: &[u8], base: usize, factor: usize, work: impl FnOnce() -> T) -> T {
    let before = USED.load(Relaxed);
    PEAK.store(before, Relaxed);
    let result = work();
    let needed = PEAK.load(Relaxed).saturating_sub(before);
    let limit = base + factor * input.len();
    assert!(needed <= limit, "{needed} bytes for an input of {} bytes", input.len());
    result
}
