//! A planning graph of nodes in short chains, with the replies of a model, for measurements.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use serde_json::json;

const NODES_IN_A_FILE: usize = 8;

/// Maximum length of a chain of nodes.
pub(crate) const DEPTH: usize = 5;

/// Writes functions that add one to the preceding one's result, in short chains; with a recording.
pub(crate) fn write(root: &Path, nodes: usize) -> io::Result<()> {
    let place = |i: usize| i / NODES_IN_A_FILE;
    let mut replies = String::new();
    let mut all = Vec::new();
    for i in 0..nodes {
        let before = (place(i) % DEPTH > 0).then(|| i - NODES_IN_A_FILE);
        let needs: Vec<String> = before.iter().map(|it| format!("f{it}")).collect();
        all.push(json!({
            "id": format!("f{i}"), "name": format!("f{i}"), "type": "function", "node_type": "leaf",
            "file_path": format!("src/lib/part_{}.py", place(i)), "signature": format!("def f{i}(x: int) -> int"),
            "docstring": "Add a constant.", "dependencies": needs,
        }));
        let (import, body) = match before {
            None => (String::new(), format!("x + {i}")),
            Some(it) => {
                (format!("from lib.part_{} import f{it}\n\n\n", place(it)), format!("f{it}(x) + 1"))
            }
        };
        let wanted = place(i) % DEPTH + i - NODES_IN_A_FILE * (place(i) % DEPTH);
        let code = format!(
            "```python\n{import}def f{i}(x: int) -> int:\n    \"\"\"Add a constant.\"\"\"\n    return {body}\n```"
        );
        let tests = format!(
            "```python\nfrom lib.part_{} import f{i}\n\n\ndef test_f{i}_of_zero():\n    assert f{i}(0) == {wanted}\n\n\ndef test_f{i}_of_one():\n    assert f{i}(1) == {}\n\n\ndef test_f{i}_of_a_negative_number():\n    assert f{i}(-1) == {}\n```",
            place(i),
            wanted + 1,
            wanted as i64 - 1
        );
        for (stage, reply) in [("tests", tests), ("implementation", code)] {
            let line =
                json!({ "node": format!("f{i}"), "stage": stage, "attempt": 0, "reply": reply });
            let _ = writeln!(replies, "{line}");
        }
    }
    let graph = json!({ "nodes": all, "metadata": { "project_name": "lib", "phase": 3 } });
    fs::write(root.join("rpg.json"), graph.to_string())?;
    fs::write(root.join("replies.jsonl"), replies)
}
