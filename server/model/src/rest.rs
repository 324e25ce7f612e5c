//! A service that is no model, asked with JSON: one base address, one token, nowhere else to go.
//!
//! What a model's service has to keep, this one keeps as well: the token is in a header and in no text that leaves, no redirect is
//! followed, answers have a bound.

use std::time::Duration;

use reqwest::header::LOCATION;
use reqwest::{Client, Method, Response, Url};
use serde_json::Value;

use crate::complaint::Complaint;
use crate::connection::{self, KeyHeader};
use crate::endpoint;
use crate::secret::Secret;
use crate::service::innermost;
use crate::settings::Timeouts;

/// Bytes of an answer.
const LARGEST: usize = 8 << 20;

/// How a thing is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Get,
    Post,
    Patch,
}

/// An answer that came whole, whatever its status.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    pub status: u16,
    /// None where it is no JSON.
    pub value: Option<Value>,
    /// What it says of itself where it says no: one line, shortened.
    pub complaint: String,
    /// Scheme and host that it points to, of a redirect.
    pub elsewhere: Option<String>,
}

/// A service below one address.
pub struct Rest {
    base: Url,
    token: Secret,
    http: Client,
}

impl Rest {
    /// Sets up the client; sends nothing yet. `patience` is for one answer.
    ///
    /// # Errors
    ///
    /// An address that is none, a token that does not fit into a header, a client that cannot be made.
    pub fn open(base: &str, token: Secret, patience: Duration) -> Result<Rest, String> {
        let base = endpoint::below(base, "", "")?;
        let headers = connection::headers(
            Some(&(token.clone(), KeyHeader::Bearer)),
            &[("accept", "application/json")],
        );
        let headers = headers.ok_or("the token contains characters that a header cannot carry")?;
        let timeouts = Timeouts {
            connect: patience.min(Duration::from_secs(10)),
            idle: None,
            total: Some(patience),
        };
        let http = connection::client(&base, headers, &timeouts).map_err(|it| it.to_string())?;
        Ok(Rest { base, token, http })
    }

    /// Asks for what is at these segments below the base; each is one, whatever it holds.
    ///
    /// # Errors
    ///
    /// Why there is no whole answer.
    pub async fn ask(
        &self,
        verb: Verb,
        segments: &[&str],
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<Said, String> {
        let method = match verb {
            Verb::Get => Method::GET,
            Verb::Post => Method::POST,
            Verb::Patch => Method::PATCH,
        };
        let request = self.http.request(method, self.address(segments, query)?);
        let request = body.iter().fold(request, |request, body| request.json(body));
        let response = request.send().await.map_err(|error| self.broken(error))?;
        self.whole(response).await
    }

    fn address(&self, segments: &[&str], query: &[(&str, &str)]) -> Result<Url, String> {
        let mut address = self.base.clone();
        let mut path = address.path_segments_mut().map_err(|()| "it is not a web address")?;
        path.pop_if_empty().extend(segments);
        drop(path);
        if !query.is_empty() {
            address.query_pairs_mut().extend_pairs(query);
        }
        Ok(address)
    }

    async fn whole(&self, mut response: Response) -> Result<Said, String> {
        let status = response.status();
        let location = response.headers().get(LOCATION).and_then(|it| it.to_str().ok());
        let elsewhere = location.filter(|_| status.is_redirection()).map(endpoint::origin);
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.broken(error))? {
            body.extend_from_slice(&chunk);
            if body.len() > LARGEST {
                return Err(format!("its answer is larger than {} MiB", LARGEST >> 20));
            }
        }
        let text = self.token.scrub_reply(&String::from_utf8_lossy(&body));
        Ok(Said {
            status: status.as_u16(),
            value: serde_json::from_str(&text).ok(),
            complaint: self.token.scrub_error(&Complaint::read(text.as_bytes()).message),
            elsewhere,
        })
    }

    /// Why a request met no answer, without the address.
    fn broken(&self, error: reqwest::Error) -> String {
        if error.is_timeout() {
            return "it did not answer in time".to_owned();
        }
        self.token.scrub_error(&innermost(error))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::thread::JoinHandle;

    use super::*;

    const TOKEN: &str = "forge-token-0123456789abcdef";

    /// A service that gives one answer; and what it was asked.
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

    fn rest(base: &str, patience: Duration) -> Rest {
        Rest::open(base, Secret::new(TOKEN).unwrap(), patience).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn a_question_has_the_token_in_its_header_and_no_answer_shows_it() {
        let (base, asked) = once(
            "HTTP/1.1 401 X\r\nconnection: close\r\n\r\n{\"message\": \"bad forge-token-0123456789abcdef\"}",
        );
        let query = [("head", "o:trellis/a b"), ("state", "open")];
        let said = rest(&base, LONG).ask(Verb::Get, &["repos", "a/b", ".."], &query, None).await;
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
        let said = rest(&base, LONG).ask(Verb::Post, &["x"], &[], Some(&Value::Null)).await;
        let said = said.unwrap();
        assert_eq!((said.status, said.value), (307, None));
        assert_eq!(format!("{}/api/v1", said.elsewhere.unwrap()), other);
        assert!(!untouched.is_finished());
    }

    #[tokio::test]
    async fn silence_ends_and_a_token_that_is_no_header_is_refused() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let said = rest(&base, Duration::from_millis(50)).ask(Verb::Get, &["x"], &[], None).await;
        assert_eq!(said.unwrap_err(), "it did not answer in time");
        let bad = Secret::new("a\nb").unwrap();
        assert!(Rest::open(&base, bad, LONG).is_err());
        let token = Secret::new(TOKEN).unwrap();
        assert!(Rest::open("https://me:pass@git.example", token, LONG).is_err());
    }
}
