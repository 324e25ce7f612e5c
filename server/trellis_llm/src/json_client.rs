//! Client for JSON services other than models: one base URL, one token.
//!
//! The rules for model services apply here as well: the token is sent in a header only and removed
//! from every text, no redirect is followed, answers have a maximum size.

use std::time::Duration;

use reqwest::header::LOCATION;
use reqwest::{Client, Method, Response, Url};
use serde_json::Value;

use crate::connection::{self, KeyHeader};
use crate::endpoint;
use crate::error_body::ErrorBody;
use crate::json_error::{JsonOpenError, JsonRequestError};
use crate::secret::Secret;
use crate::service::innermost;
use crate::settings::Timeouts;

/// Maximum size of an answer, in bytes.
const LARGEST: usize = 8 << 20;

/// HTTP methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpMethod {
    Get,
    Post,
    Patch,
}

/// A complete answer with any status.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonResponse {
    pub status: u16,
    /// Body of the answer; `None` if it is not JSON.
    pub value: Option<Value>,
    /// Error message in one line, shortened.
    pub complaint: String,
    /// Scheme and host of a redirect's target.
    pub elsewhere: Option<String>,
}

/// A client for services below one base URL.
pub struct JsonClient {
    base: Url,
    token: Secret,
    http: Client,
}

impl JsonClient {
    /// Sets up the client; sends no request yet. `patience` is the timeout of one answer.
    ///
    /// # Errors
    ///
    /// An invalid URL, a token that does not fit into a header, a client that cannot be created.
    pub fn open(
        base: &str,
        token: Secret,
        patience: Duration,
    ) -> Result<JsonClient, JsonOpenError> {
        let base = endpoint::below(base, "", "")?;
        let headers = connection::headers(
            Some(&(token.clone(), KeyHeader::Bearer)),
            &[("accept", "application/json")],
        );
        let headers = headers.ok_or(JsonOpenError::BadToken)?;
        let timeouts = Timeouts {
            connect: patience.min(Duration::from_secs(10)),
            idle: None,
            total: Some(patience),
        };
        let http = connection::client(&base, headers, &timeouts)?;
        Ok(JsonClient { base, token, http })
    }

    /// Sends a request to the path of these segments below the base URL. Each segment is escaped,
    /// whatever characters it holds.
    ///
    /// # Errors
    ///
    /// The reason why there is no complete answer.
    pub async fn ask(
        &self,
        verb: HttpMethod,
        segments: &[&str],
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<JsonResponse, JsonRequestError> {
        let method = match verb {
            HttpMethod::Get => Method::GET,
            HttpMethod::Post => Method::POST,
            HttpMethod::Patch => Method::PATCH,
        };
        let request = self.http.request(method, self.address(segments, query)?);
        let request = body.iter().fold(request, |request, body| request.json(body));
        let response = request.send().await.map_err(|error| self.broken(error))?;
        self.whole(response).await
    }

    fn address(&self, segments: &[&str], query: &[(&str, &str)]) -> Result<Url, JsonRequestError> {
        let mut address = self.base.clone();
        let mut path = address.path_segments_mut().map_err(|()| JsonRequestError::NoPath)?;
        path.pop_if_empty().extend(segments);
        drop(path);
        if !query.is_empty() {
            address.query_pairs_mut().extend_pairs(query);
        }
        Ok(address)
    }

    async fn whole(&self, mut response: Response) -> Result<JsonResponse, JsonRequestError> {
        let status = response.status();
        let location = response.headers().get(LOCATION).and_then(|it| it.to_str().ok());
        let elsewhere = location.filter(|_| status.is_redirection()).map(endpoint::origin);
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.broken(error))? {
            body.extend_from_slice(&chunk);
            if body.len() > LARGEST {
                return Err(JsonRequestError::TooLarge { mebibytes: LARGEST >> 20 });
            }
        }
        let text = self.token.scrub_reply(&String::from_utf8_lossy(&body));
        Ok(JsonResponse {
            status: status.as_u16(),
            value: serde_json::from_str(&text).ok(),
            complaint: self.token.scrub_error(&ErrorBody::read(text.as_bytes()).message),
            elsewhere,
        })
    }

    /// Returns the reason of a failed request, without the address.
    fn broken(&self, error: reqwest::Error) -> JsonRequestError {
        if error.is_timeout() {
            return JsonRequestError::TimedOut;
        }
        JsonRequestError::Connection { reason: self.token.scrub_error(&innermost(error)) }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::thread::JoinHandle;

    use super::*;

    const TOKEN: &str = "forge-token-0123456789abcdef";

    /// Starts a service that gives one answer; returns its URL, and the request it received.
    fn once(answer: &'static str) -> (String, JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/api/v1", listener.local_addr().unwrap());
        let asked = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut bytes = [0; 4096];
            let length = stream.read(&mut bytes).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            String::from_utf8_lossy(&bytes[..length]).into_owned()
        });
        (address, asked)
    }

    fn rest(base: &str, patience: Duration) -> JsonClient {
        JsonClient::open(base, Secret::new(TOKEN).unwrap(), patience).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn a_question_has_the_token_in_its_header_and_no_answer_shows_it() {
        let (base, asked) = once(
            "HTTP/1.1 401 X\r\nconnection: close\r\n\r\n{\"message\": \"bad forge-token-0123456789abcdef\"}",
        );
        let query = [("head", "o:trellis/a b"), ("state", "open")];
        let said =
            rest(&base, LONG).ask(HttpMethod::Get, &["repos", "a/b", ".."], &query, None).await;
        let said = said.unwrap();
        assert_eq!((said.status, said.complaint.as_str()), (401, "bad [redacted]"));
        assert_eq!(said.value.unwrap()["message"], "bad [redacted]");
        let asked = asked.join().unwrap();
        assert!(
            asked.starts_with("GET /api/v1/repos/a%2Fb?head=o%3Atrellis%2Fa+b&state=open HTTP"),
            "{asked}"
        );
        assert!(asked.contains(&format!("authorization: Bearer {TOKEN}\r\n")), "{asked}");
    }

    #[tokio::test]
    async fn no_redirect_is_followed_and_what_is_no_json_is_none() {
        let (other, untouched) = once("HTTP/1.1 200 X\r\nconnection: close\r\n\r\n{}");
        let answer = format!(
            "HTTP/1.1 307 X\r\nlocation: {other}?t={TOKEN}\r\ncontent-length: 6\r\n\r\n<html>"
        );
        let (base, _asked) = once(answer.leak());
        let said = rest(&base, LONG).ask(HttpMethod::Post, &["x"], &[], Some(&Value::Null)).await;
        let said = said.unwrap();
        assert_eq!((said.status, said.value), (307, None));
        assert_eq!(format!("{}/api/v1", said.elsewhere.unwrap()), other);
        assert!(!untouched.is_finished());
    }

    #[tokio::test]
    async fn silence_ends_and_a_token_that_is_no_header_is_refused() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let said =
            rest(&base, Duration::from_millis(50)).ask(HttpMethod::Get, &["x"], &[], None).await;
        assert_eq!(said.unwrap_err(), JsonRequestError::TimedOut);
        let bad = Secret::new("a\nb").unwrap();
        let refused = JsonClient::open(&base, bad, LONG).err();
        assert!(matches!(refused, Some(JsonOpenError::BadToken)), "{refused:?}");
        let token = Secret::new(TOKEN).unwrap();
        assert!(JsonClient::open("https://me:pass@git.example", token, LONG).is_err());
    }
}
