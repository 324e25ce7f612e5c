//! Runs questions about an index on threads with deep stacks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::eval::Eval;
use crate::index::{FileId, Index};

/// Stack size of a worker thread. Walks over deep trees and long chains of types need more than the
/// default.
const STACK: usize = 256 << 20;
/// Smallest number of files for which a second thread is worthwhile.
const WORTH_SHARING: usize = 8;
/// Threads beyond one for each processor, so that a short question seldom waits for long ones.
const SPARE: usize = 4;

/// The worker threads, which stay: a rename asks ten questions, and starting a thread with such a
/// stack takes longer than most of them. No question is asked while a value of a file is computed,
/// since a thread that waits takes up other questions.
static WORKERS: LazyLock<ThreadPool> = LazyLock::new(|| {
    let threads = ThreadPoolBuilder::new().num_threads(processors() + SPARE).stack_size(STACK);
    let named = threads.thread_name(|it| format!("search {it}"));
    named.build().unwrap_or_else(|error| panic!("cannot start threads for searches: {error}"))
});

fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Runs a question about one state of an index on a stack that is deep enough.
pub(crate) fn ask<T: Send>(index: &Index, question: impl FnOnce(&Eval<'_>) -> T + Send) -> T {
    WORKERS.install(|| {
        let eval = Eval::new(index, index.borrow_memory());
        let answer = question(&eval);
        index.return_memory(eval.into_memory());
        answer
    })
}

/// Runs a question for each of many files, on all processors.
pub(crate) fn ask_each<T: Send>(
    index: &Index,
    files: &[FileId],
    question: impl Fn(&Eval<'_>, FileId) -> Vec<T> + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let all: Mutex<Vec<(usize, Vec<T>)>> = Mutex::new(Vec::new());
    let work = |eval: &Eval<'_>| {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(number) else { break };
            let found = question(eval, *file);
            if !found.is_empty() {
                all.lock().unwrap_or_else(PoisonError::into_inner).push((number, found));
            }
        }
    };
    let workers = if files.len() < WORTH_SHARING { 1 } else { processors() };
    WORKERS.in_place_scope(|scope| {
        for _ in 1..workers {
            scope.spawn(|_| ask(index, work));
        }
        ask(index, work);
    });
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().flat_map(|(_, found)| found).collect()
}
