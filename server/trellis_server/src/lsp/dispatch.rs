//! Dispatches `trellis/*` requests to the methods.

use serde_json::{Value, json};
use tower_lsp::jsonrpc::{Error, ErrorCode, Request, Result};

use crate::rpc::{Methods, PREFIX, invoke};

/// Fills in missing parameters of `trellis/*` requests, which JSON-RPC allows, and removes empty
/// ones of `shutdown`, which takes none.
pub(super) fn filled(request: Request) -> Request {
    let params = match (request.method(), request.params()) {
        ("shutdown", Some(given)) if *given == json!({}) || given.is_null() => None,
        (name, None) if name.starts_with(PREFIX) => Some(json!({})),
        _ => return request,
    };
    let (method, id, _) = request.into_parts();
    let filled = Request::build(method);
    let filled = match params {
        Some(params) => filled.params(params),
        None => filled,
    };
    match id {
        Some(id) => filled.id(id).finish(),
        None => filled.finish(),
    }
}

/// Calls a method.
pub(super) async fn call(methods: Methods, name: &'static str, params: Value) -> Result<Value> {
    invoke(&methods, name, params).await.map_err(|object| Error {
        code: ErrorCode::from(i64::from(object.code())),
        message: object.message().to_owned().into(),
        data: object.data().and_then(|data| serde_json::from_str(data.get()).ok()),
    })
}
