//! Symbol queries while the same server generates a repository, compared with an idle server and
//! with one beside another generating process: the difference between the last two is the server's
//! own effect, the rest is the machine's.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use lsp::{Client, Failure};
use serde_json::json;

use super::{Failed, Measured, PATIENCE, Times, connect, names};
use crate::setup;
use crate::symbols::corpus::Corpus;
use crate::symbols::server::Server;

/// Number of different names queried.
const NAMES: usize = 100;
/// Number of queries of each kind on an idle server.
const IDLE: usize = 300;
/// Pause between two queries, about a person's typing speed.
const PAUSE: Duration = Duration::from_millis(15);
const JOBS: u16 = 4;

#[derive(Clone, Default)]
struct Asked {
    symbol: Times,
    find: Times,
}

impl Asked {
    fn ask(&mut self, client: &mut Client, name: &str) -> Result<(), Failure> {
        let query = json!({ "query": name });
        self.symbol.add(client.timed("workspace/symbol", query, PATIENCE)?.took);
        let path = json!({ "namePath": name });
        self.find.add(client.timed("trellis/findSymbol", path, PATIENCE)?.took);
        client.listen(PAUSE)
    }

    fn show(&self, when: &str) {
        println!("  workspace/symbol, {when}: {}", self.symbol.shown());
        println!("  findSymbol,       {when}: {}", self.find.shown());
    }
}

pub(super) fn run(server: &Server, corpus: &Corpus) -> Measured {
    let names = names(corpus, NAMES)?;
    let mut client = connect(server, &corpus.root)?;
    // The first answer waits for the index.
    client.request("workspace/symbol", json!({ "query": names[0] }), PATIENCE)?;
    let mut idle = Asked::default();
    for name in names.iter().cycle().take(IDLE) {
        idle.ask(&mut client, name)?;
    }
    // The first run fills the caches.
    beside(server, &mut client, &names)?;
    let outside = beside(server, &mut client, &names)?;
    let inside = within(&mut client, &names)?;
    println!("symbol queries in {}:", corpus.source.display());
    idle.show("idle");
    outside.show(&format!("beside another process that grows with {JOBS} jobs"));
    inside.show(&format!("while it grows with {JOBS} jobs itself"));
    let of = |asked: &Asked| [asked.symbol.percentile(95), asked.find.percentile(95)];
    for (index, what) in ["workspace/symbol", "findSymbol"].into_iter().enumerate() {
        let [idle, outside, inside] = [&idle, &outside, &inside].map(|it| of(it)[index]);
        println!(
            "  {what}, 95th percentiles: growing to idle {:.2}, beside to idle {:.2}, growing to beside {:.2}",
            inside / idle,
            outside / idle,
            inside / outside
        );
    }
    client.shutdown()?;
    Ok(())
}

/// Sends queries while the server itself generates the master fixture.
fn within(client: &mut Client, names: &[String]) -> Result<Asked, Failed> {
    let out = tempfile::tempdir()?;
    let fixture = setup::root().join("fixtures/ml-library");
    let params = json!({
        "graph": fixture.join("rpg.json"), "out": out.path(), "jobs": JOBS, "sandbox": "local",
        "model": format!("recorded:{}", fixture.join("replies.jsonl").display()),
    });
    let started = client.request("trellis/generate", params, PATIENCE)?;
    let job = json!({ "job": started["job"] });
    let mut asked = Asked::default();
    for (count, name) in names.iter().cycle().enumerate() {
        asked.ask(client, name)?;
        if count % 10 == 0 {
            let shape = client.request("trellis/job", job.clone(), PATIENCE)?;
            match shape["state"].as_str() {
                Some("running") => {}
                Some("done") => break,
                _ => return Err(Failed::Other(format!("the generation ended as {shape}"))),
            }
        }
    }
    Ok(asked)
}

/// Sends queries while another process generates the master fixture.
fn beside(server: &Server, client: &mut Client, names: &[String]) -> Result<Asked, Failed> {
    let out = tempfile::tempdir()?;
    let mut growing = Command::new(server.command().get_program());
    arguments(&mut growing, out.path());
    let mut growing = growing.spawn()?;
    let mut asked = Asked::default();
    for name in names.iter().cycle() {
        asked.ask(client, name)?;
        if let Some(status) = growing.try_wait()? {
            let wrong = || Failed::Other(format!("`trellis generate` ended with {status}"));
            // Some nodes of the fixture fail by design.
            return matches!(status.code(), Some(0 | 1)).then_some(asked).ok_or_else(wrong);
        }
    }
    Err(Failed::Other("the folder defines no name".to_owned()))
}

fn arguments(command: &mut Command, out: &Path) {
    let fixture = setup::root().join("fixtures/ml-library");
    command.arg("generate").arg(fixture.join("rpg.json")).arg("--out").arg(out);
    command.arg(format!("--model=recorded:{}", fixture.join("replies.jsonl").display()));
    command.arg(format!("--jobs={JOBS}")).args(["--sandbox=local", "--json"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
}
