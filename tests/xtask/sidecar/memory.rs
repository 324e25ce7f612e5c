//! Resident memory right after the start, and with a fully indexed large folder; compared with
//! `ty`.

use std::fs;
use std::time::Duration;

use serde_json::json;

use super::{Measured, PATIENCE, connect, names};
use crate::symbols::corpus::Corpus;
use crate::symbols::process::{resident, usage};
use crate::symbols::server::Server;

/// Files that are open at the end.
const OPEN: usize = 20;
/// Time for background work before memory is measured.
const REST: Duration = Duration::from_secs(2);

pub(super) fn run(ours: &Server, ty: &Server, corpus: &Corpus) -> Measured {
    let small = tempfile::tempdir()?;
    let root = small.path().canonicalize()?;
    fs::write(root.join("one.py"), "def one():\n    return 1\n")?;
    let name = names(corpus, 1)?.pop().unwrap_or_default();
    println!("resident memory:");
    for server in [ours, ty] {
        let mut client = connect(server, &root)?;
        client.listen(REST)?;
        let idle = resident(client.process_id());
        client.shutdown()?;
        server.forget();
        let mut client = connect(server, &corpus.root)?;
        client.open(&corpus.files[0].0)?;
        client.request("workspace/symbol", json!({ "query": name }), PATIENCE)?;
        client.listen(REST)?;
        let known = resident(client.process_id());
        let step = (corpus.files.len() / OPEN).max(1);
        for (file, _) in corpus.files.iter().step_by(step).skip(1) {
            client.open(file)?;
        }
        client.request("workspace/symbol", json!({ "query": name }), PATIENCE)?;
        client.listen(REST)?;
        let open = resident(client.process_id());
        let peak = usage(client.process_id()).peak;
        client.shutdown()?;
        println!(
            "  {}: one file {idle:.0} MiB; {} files {known:.0} MiB, {OPEN} of them open {open:.0} MiB, at most {peak:.0} MiB",
            server.name, corpus.count
        );
    }
    Ok(())
}
