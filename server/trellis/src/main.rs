//! `trellis`: the sidecar and command line. It depends on every other crate; no crate depends on
//! it.

use std::process::ExitCode;

mod cli;
mod output;

/// The allocator of all threads. Syntax trees are many small pieces, which the system's allocator
/// takes and frees at half the speed.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Disables core dumps, which would contain this process's keys. Child processes inherit the limit.
fn leave_no_core() {
    let nothing = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    // Lowering a limit never fails.
    let _ = rustix::process::setrlimit(rustix::process::Resource::Core, nothing);
}

fn main() -> ExitCode {
    leave_no_core();
    // Fails only if the pool exists already, and no earlier code creates it.
    let _ = rayon::ThreadPoolBuilder::new().stack_size(trellis_os::STACK_BYTES).build_global();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_stack_size(trellis_os::STACK_BYTES)
        .enable_all()
        .build();
    match runtime {
        // Runs on a worker thread: the main thread has the system's stack size, and children die
        // with the thread that started them.
        Ok(runtime) => {
            let end = runtime.block_on(async { tokio::spawn(cli::main()).await });
            runtime.shutdown_timeout(trellis_server::LAST_WORK);
            end.map_or_else(|_| trellis_workflows::fault::Exit::Internal.into(), ExitCode::from)
        }
        Err(error) => {
            output::Output::new(false).note(format_args!("error: cannot start: {error}"));
            trellis_workflows::fault::Exit::Internal.into()
        }
    }
}
