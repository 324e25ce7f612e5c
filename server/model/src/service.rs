//! A service that is asked over HTTP: one address, one key, answers within bounds, failures sorted.

use std::error::Error as _;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, Url};
use serde::Serialize;

use crate::complaint::Complaint;
use crate::endpoint;
use crate::error::{ModelError, Outage};
use crate::open::{OpenError, Settings, Timeouts};
use crate::retry::{Failure, retry_after};
use crate::secret::Secret;

/// No honest answer comes near; a broken service must not fill the memory. In bytes.
const LARGEST_ANSWER: usize = 16 << 20;

/// An address that takes JSON and gives JSON.
pub(crate) struct Service {
    /// Such as `openai:MODEL`, for messages.
    name: String,
    address: Url,
    key: Option<Secret>,
    http: Client,
    timeouts: Timeouts,
}

/// A whole answer, whatever its status.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    retry_after: Option<Duration>,
    location: Option<String>,
    pub(crate) body: Vec<u8>,
    pub(crate) latency: Duration,
}

/// Where a kind of service is looked for.
pub(crate) struct Place {
    pub(crate) url_variable: &'static str,
    pub(crate) key_variable: &'static str,
    /// Whether it may be asked without a key wherever it is, not only on this machine.
    pub(crate) may_be_open: bool,
}

impl Service {
    /// Sets up the client; sends nothing yet. `address` makes of the base URL, if one is given, what is asked.
    pub(crate) fn open(
        spec: &str,
        place: &Place,
        settings: &Settings,
        env: &dyn Fn(&str) -> Option<String>,
        address: impl Fn(Option<&str>) -> Result<Url, String>,
    ) -> Result<Self, OpenError> {
        let base = settings
            .base_url
            .clone()
            .or_else(|| env(place.url_variable).filter(|url| !url.trim().is_empty()));
        let address = address(base.as_deref())
            .map_err(|reason| OpenError::BadBaseUrl { spec: spec.to_owned(), reason })?;
        let key = settings
            .api_key
            .clone()
            .or_else(|| env(place.key_variable).and_then(|key| Secret::new(&key)));
        if key.is_none() && !place.may_be_open && !endpoint::is_loopback(&address) {
            return Err(OpenError::NoKey { spec: spec.to_owned(), variable: place.key_variable });
        }
        let headers =
            headers(key.as_ref()).ok_or_else(|| OpenError::BadKey { spec: spec.to_owned() })?;
        let http = client(&address, headers, &settings.timeouts)?;
        let timeouts = settings.timeouts.clone();
        Ok(Self { name: spec.to_owned(), address, key, http, timeouts })
    }

    /// Such as `openai:MODEL`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Where it answers, without what may be secret in the address.
    pub(crate) fn place(&self) -> String {
        format!("{}{}", endpoint::origin(self.address.as_str()), self.address.path())
    }

    pub(crate) async fn post(&self, body: &impl Serialize) -> Result<Answer, Failure> {
        let start = Instant::now();
        let sent = self.http.post(self.address.clone()).json(body).send().await;
        let response = sent.map_err(|error| self.broken(error))?;
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        Ok(Answer {
            status: response.status(),
            retry_after: header(RETRY_AFTER).and_then(|value| retry_after(value, Timestamp::now())),
            location: header(LOCATION).map(str::to_owned),
            body: self.collect(response).await?,
            latency: start.elapsed(),
        })
    }

    async fn collect(&self, mut response: Response) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.broken(error))? {
            if body.len() + chunk.len() > LARGEST_ANSWER {
                return Err(
                    self.bad(format!("the answer is larger than {} MiB", LARGEST_ANSWER >> 20))
                );
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// What an answer that says no comes to: final, or worth another try.
    pub(crate) fn refused(&self, status: u16, answer: &Answer) -> Failure {
        let message = match &answer.location {
            Some(location) if (300..400).contains(&status) => {
                format!("redirects to {}", endpoint::origin(location))
            }
            _ => Complaint::read(&answer.body).message,
        };
        let message = self.clean_error(&message);
        if status == 429 || status >= 500 {
            return Failure::Passing {
                outage: Outage::Status { status, message },
                retry_after: answer.retry_after,
            };
        }
        Failure::Final(ModelError::Refused { model: self.name.clone(), status, message })
    }

    /// An answer that came and cannot be used.
    pub(crate) fn bad(&self, what: String) -> Failure {
        Failure::Final(ModelError::BadResponse {
            model: self.name.clone(),
            what: self.clean_error(&what),
        })
    }

    /// A request that met no answer, or only part of one.
    fn broken(&self, error: reqwest::Error) -> Failure {
        if error.is_timeout() {
            let limit =
                if error.is_connect() { self.timeouts.connect } else { self.timeouts.total };
            return Outage::TimedOut { after: Some(limit) }.into();
        }
        // The URL may hold a password in its query, and the outer layers only say that sending
        // failed.
        let error = error.without_url();
        let mut reason = error.to_string();
        let mut source = error.source();
        while let Some(inner) = source {
            reason = inner.to_string();
            source = inner.source();
        }
        Outage::Connection { reason: self.clean_error(&reason) }.into()
    }

    fn clean_error(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.scrub_error(text))
    }

    /// A text that came from the service, without the key.
    pub(crate) fn clean_reply(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.scrub_reply(text))
    }
}

/// The headers of every request; `None` if the key does not fit into one.
fn headers(key: Option<&Secret>) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    if let Some(key) = key {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", key.expose())).ok()?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Some(headers)
}

fn client(address: &Url, headers: HeaderMap, timeouts: &Timeouts) -> Result<Client, OpenError> {
    let mut builder = Client::builder()
        .default_headers(headers)
        .user_agent(concat!("trellis/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(timeouts.connect)
        .timeout(timeouts.total)
        // Neither the key nor a prompt goes anywhere but where the user said.
        .redirect(Policy::none())
        // One place decides on retries: `persist`.
        .retry(reqwest::retry::never());
    if endpoint::is_loopback(address) {
        builder = builder.no_proxy();
        if address.scheme() == "http" {
            // No TLS, so a machine without root certificates can still use its own model.
            builder = builder.tls_certs_only([]);
        }
    }
    builder.build().map_err(|error| {
        let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        OpenError::Client { reason }
    })
}
