//! Replies whose results are large: they are written as JSON once, on the thread of the query.
//!
//! The library turns each result into a tree of values before it is written, which takes longer
//! than most queries. A handler can therefore leave the JSON of its result beside the response.

use std::cell::RefCell;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use tower_lsp::jsonrpc::{Error, Response, Result};

use super::transport::Answering;

tokio::task_local! {
    /// The JSON of the result of the request that this task handles.
    static RESULT: RefCell<Option<Box<RawValue>>>;
}

/// A response, or one whose result is written already.
pub(super) struct Reply {
    response: Response,
    result: Option<Box<RawValue>>,
}

/// Returns the JSON of a result.
pub(super) fn written(result: &impl Serialize) -> Result<Box<RawValue>> {
    serde_json::value::to_raw_value(result).map_err(|error| {
        tracing::error!("a result is not valid JSON: {error}");
        Error::internal_error()
    })
}

/// Sets the result of the request that this task handles; what its handler returns is then ignored,
/// unless it is an error.
pub(super) fn set(result: Box<RawValue>) -> Result<()> {
    let set = RESULT.try_with(|it| *it.borrow_mut() = Some(result));
    set.map_err(|_| Error::internal_error())
}

/// Handles a request, and takes the result that its handler set.
pub(super) fn collected(
    handling: impl Future<Output = std::result::Result<Option<Response>, tower_lsp::ExitedError>>
    + Send
    + 'static,
) -> Answering {
    Box::pin(RESULT.scope(RefCell::new(None), async {
        let response = handling.await?;
        let result = RESULT.with(RefCell::take);
        Ok(response.map(|response| Reply { response, result }))
    }))
}

impl Reply {
    pub(super) fn is_ok(&self) -> bool {
        self.response.is_ok()
    }
}

impl From<Response> for Reply {
    fn from(response: Response) -> Reply {
        Reply { response, result: None }
    }
}

/// A successful response in the order in which the library writes it.
#[derive(Serialize)]
struct Written<'a> {
    jsonrpc: &'static str,
    result: &'a RawValue,
    id: &'a tower_lsp::jsonrpc::Id,
}

impl Serialize for Reply {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match &self.result {
            Some(result) if self.response.is_ok() => {
                Written { jsonrpc: "2.0", result, id: self.response.id() }.serialize(serializer)
            }
            _ => self.response.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tower_lsp::jsonrpc::Id;

    use super::*;

    async fn answer(result: Result<serde_json::Value>) -> String {
        let handling = async {
            set(written(&json!({"b": 1, "a": 2}))?)?;
            result
        };
        let handling = async { Ok(Some(Response::from_parts(Id::Number(7), handling.await))) };
        let reply = collected(handling).await.expect("no exit").expect("a response");
        serde_json::to_string(&reply).expect("JSON")
    }

    #[tokio::test]
    async fn a_written_result_takes_the_place_of_the_returned_one_but_not_of_an_error() {
        let result = r#"{"jsonrpc":"2.0","result":{"b":1,"a":2},"id":7}"#;
        assert_eq!(answer(Ok(json!(null))).await, result);
        let error = answer(Err(Error::request_cancelled())).await;
        assert!(error.contains(r#""error":{"#) && !error.contains("result"), "{error}");
        assert!(set(written(&1).expect("JSON")).is_err(), "no request");
    }
}
