//! Times from process start to the response to `initialize`, and to the first answer about a file;
//! alternating with `ty`.

use std::fs;
use std::path::Path;
use std::time::Instant;

use lsp::uri_of;
use serde_json::json;

use super::{Failed, Measured, PATIENCE, Times, connect};
use crate::symbols::corpus::Corpus;
use crate::symbols::server::Server;

/// Starts of each server in each folder.
const STARTS: usize = 20;

#[derive(Default)]
struct Starts {
    initialized: Times,
    outline: Times,
}

pub(super) fn run(ours: &Server, ty: &Server, corpus: &Corpus) -> Measured {
    let small = tempfile::tempdir()?;
    let root = small.path().canonicalize()?;
    fs::write(root.join("one.py"), "def one():\n    return 1\n")?;
    let largest = corpus.files.iter().find(|it| it.0.ends_with("db/models/query.py"));
    let file = largest.or(corpus.files.first()).map(|it| it.0.clone());
    let file = file.ok_or_else(|| Failed::Other("the folder holds no file".to_owned()))?;
    for (root, file) in [(&root, &root.join("one.py")), (&corpus.root, &file)] {
        let mut both = [Starts::default(), Starts::default()];
        for _ in 0..STARTS {
            for (server, starts) in [ours, ty].into_iter().zip(&mut both) {
                server.forget();
                once(server, root, file, starts)?;
            }
        }
        show(root, &both);
    }
    Ok(())
}

fn once(server: &Server, root: &Path, file: &Path, starts: &mut Starts) -> Result<(), Failed> {
    let mut client = connect(server, root)?;
    starts.initialized.add(Instant::now().duration_since(client.started()));
    client.open(file)?;
    let params = json!({ "textDocument": { "uri": uri_of(file) } });
    let answer = client.timed("textDocument/documentSymbol", params, PATIENCE)?;
    starts.outline.add(answer.at.duration_since(client.started()));
    Ok(())
}

fn show(root: &Path, [ours, ty]: &[Starts; 2]) {
    println!("start in {}, {STARTS} times by turns:", root.display());
    show_kind("initialized", &ours.initialized, &ty.initialized);
    show_kind("first outline", &ours.outline, &ty.outline);
}

fn show_kind(what: &str, ours: &Times, ty: &Times) {
    println!("  {what}, trellis: {}", ours.shown());
    println!("  {what}, ty:      {}", ty.shown());
    println!("  {what}, ratio of the medians: {:.2}", ours.median() / ty.median());
}
