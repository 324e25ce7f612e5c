//! `trellis/*` requests on their way to the methods.

use std::task::{Context, Poll};

use serde_json::{Value, json};
use tower_lsp::LspService;
use tower_lsp::jsonrpc::{Error, ErrorCode, Request, Result};
use tower_service::Service;

use super::server::Backend;
use crate::rpc::{Methods, PREFIX, invoke};

/// A server in which our methods may be called without parameters, as those of JSON-RPC may.
pub(super) struct Filled(pub(super) LspService<Backend>);

impl Service<Request> for Filled {
    type Response = <LspService<Backend> as Service<Request>>::Response;
    type Error = <LspService<Backend> as Service<Request>>::Error;
    type Future = <LspService<Backend> as Service<Request>>::Future;

    fn poll_ready(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<std::result::Result<(), Self::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        if !request.method().starts_with(PREFIX) || request.params().is_some() {
            return self.0.call(request);
        }
        let (method, id, _) = request.into_parts();
        let filled = Request::build(method).params(json!({}));
        self.0.call(match id {
            Some(id) => filled.id(id).finish(),
            None => filled.finish(),
        })
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
