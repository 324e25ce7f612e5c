//! Default responses of the client to requests of the server.

use serde_json::{Value, json};

/// Returns the whole response to a request of the server: settings are empty, registrations and
/// progress are accepted, edits are refused, and unknown methods get an error.
pub(crate) fn answer(id: &Value, method: &str, params: &Value, folder: &Value) -> Value {
    let result = match method {
        "workspace/configuration" => {
            let count = params["items"].as_array().map_or(0, Vec::len);
            Value::from(vec![Value::Null; count])
        }
        "workspace/workspaceFolders" => json!([folder]),
        "workspace/applyEdit" => json!({"applied": false, "failureReason": "a test applies none"}),
        "window/showDocument" => json!({"success": false}),
        "client/registerCapability"
        | "client/unregisterCapability"
        | "window/workDoneProgress/create"
        | "window/showMessageRequest" => Value::Null,
        refresh if refresh.starts_with("workspace/") && refresh.ends_with("/refresh") => {
            Value::Null
        }
        _ => {
            let error = json!({"code": -32601, "message": format!("no answer to {method}")});
            return json!({"jsonrpc": "2.0", "id": id, "error": error});
        }
    };
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}
