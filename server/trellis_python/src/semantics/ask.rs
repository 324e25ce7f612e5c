//! Runs questions about an index on threads with deep stacks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::eval::Eval;
use crate::index::{FileId, Index};

/// Stack size of a worker thread. Walks over deep trees and long chains of types need more than the
/// default.
const STACK: usize = 256 << 20;
/// Smallest number of files for which a second thread is worthwhile.
const WORTH_SHARING: usize = 8;

/// Runs a question about one state of an index on a stack that is deep enough.
pub(crate) fn ask<T: Send>(index: &Index, question: impl FnOnce(&Eval<'_>) -> T + Send) -> T {
    let run = || {
        let eval = Eval::new(index, index.borrow_memory());
        let answer = question(&eval);
        index.return_memory(eval.into_memory());
        answer
    };
    thread::scope(|scope| {
        let worker = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run);
        match worker.map(|it| it.join()) {
            Ok(Ok(answer)) => answer,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => panic!("cannot start a thread for the search: {error}"),
        }
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
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let workers = if files.len() < WORTH_SHARING { 1 } else { processors };
    thread::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(|| ask(index, work));
        }
        ask(index, work);
    });
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().flat_map(|(_, found)| found).collect()
}
