//! HTTP client of one service: one address, one key, bounded answers, classified failures.

use std::error::Error;
use std::io;
use std::iter::successors;
use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::{LOCATION, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};
use serde::Serialize;
use tokio::time::{sleep_until, timeout};

use crate::chat::Usage;
use crate::connection::{self, ServiceDefaults};
use crate::endpoint::{self, BaseUrlError};
use crate::error::{ModelError, TransientError};
use crate::error_body::ErrorBody;
use crate::open_error::OpenError;
use crate::retry::{AttemptError, retry_after};
use crate::secret::Secret;
use crate::settings::{Settings, Timeouts};
use crate::stream_events::{EventDecoder, LARGEST_ANSWER, TooLarge};

/// A service that receives and returns JSON.
pub(crate) struct Service {
    /// Name such as `openai:MODEL`, for messages.
    name: String,
    address: Url,
    key: Option<Secret>,
    http: Client,
    timeouts: Timeouts,
    /// The variable that names the proxy, if there is one.
    proxy: Option<&'static str>,
}

/// A complete answer with any status.
pub(crate) struct HttpResponse {
    pub(crate) status: StatusCode,
    retry_after: Option<Duration>,
    location: Option<String>,
    pub(crate) body: Vec<u8>,
}

impl Service {
    /// Sets up the client; sends no request yet. `address` returns the request URL for the base
    /// URL, if one is given.
    pub(crate) fn open(
        spec: &str,
        place: &ServiceDefaults,
        fixed: &[(&'static str, &'static str)],
        settings: &Settings,
        env: &dyn Fn(&str) -> Option<String>,
        address: impl Fn(Option<&str>) -> Result<Url, BaseUrlError>,
    ) -> Result<Self, OpenError> {
        let base = connection::base(place, settings, env);
        if base.is_none()
            && let Err(reason) = address(None)
        {
            let variable = place.url_variables.first().copied().unwrap_or_default();
            return Err(OpenError::NoBaseUrl { spec: spec.to_owned(), variable, reason });
        }
        let address = address(base.as_deref())
            .map_err(|reason| OpenError::BadBaseUrl { spec: spec.to_owned(), reason })?;
        let key = connection::key(place, settings, env);
        let is_here = endpoint::is_loopback(&address);
        if key.is_none() && !place.may_be_open && !is_here {
            let names: Vec<&str> = place.keys.iter().map(|it| it.variable).collect();
            let variable = match (&settings.key_variable, &settings.like) {
                (Some(named), _) => named.clone(),
                (None, Some(_)) => "its key_variable in trellis.toml".to_owned(),
                (None, None) => names.join(" or "),
            };
            return Err(OpenError::NoKey { spec: spec.to_owned(), variable });
        }
        let headers = connection::headers(key.as_ref(), fixed)
            .ok_or_else(|| OpenError::BadKey { spec: spec.to_owned() })?;
        let timeouts = settings.timeouts.for_service(is_here);
        let http = connection::client(&address, headers, &timeouts)?;
        let key = key.map(|(key, _)| key);
        let proxy = if is_here { None } else { connection::proxy(address.scheme(), env) };
        Ok(Self { name: spec.to_owned(), address, key, http, timeouts, proxy })
    }

    /// Returns the name, such as `openai:MODEL`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn address(&self) -> &Url {
        &self.address
    }

    /// Returns the address without parts that may be secret.
    pub(crate) fn place(&self) -> String {
        format!("{}{}", endpoint::origin(self.address.as_str()), self.address.path())
    }

    pub(crate) async fn post(&self, body: &impl Serialize) -> Result<HttpResponse, AttemptError> {
        self.whole(self.send(&self.address, body, false).await?).await
    }

    /// Sends a request without a body.
    pub(crate) async fn get(&self) -> Result<HttpResponse, AttemptError> {
        let sent = self.http.get(self.address.clone()).send().await;
        self.whole(sent.map_err(|error| self.broken(error))?).await
    }

    /// Sends a request and waits for the beginning of the answer; for a stream at most as long as
    /// the idle timeout.
    pub(crate) async fn send(
        &self,
        address: &Url,
        body: &impl Serialize,
        stream: bool,
    ) -> Result<Response, AttemptError> {
        let sent = self.http.post(address.clone()).json(body).send();
        let sent = match stream {
            true => timeout(self.idle(), sent).await.map_err(|_| self.stalled())?,
            false => sent.await,
        };
        sent.map_err(|error| self.broken(error))
    }

    /// Reads an answer, or the error sent instead, to its end.
    pub(crate) async fn whole(&self, response: Response) -> Result<HttpResponse, AttemptError> {
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        Ok(HttpResponse {
            status: response.status(),
            retry_after: header(RETRY_AFTER).and_then(|value| retry_after(value, Timestamp::now())),
            location: header(LOCATION).map(str::to_owned),
            body: self.collect(response).await?,
        })
    }

    async fn collect(&self, mut response: Response) -> Result<Vec<u8>, AttemptError> {
        let mut body = Vec::new();
        loop {
            let chunk = timeout(self.idle(), response.chunk()).await.map_err(|_| self.stalled())?;
            let Some(chunk) = chunk.map_err(|error| self.broken(error))? else { break };
            if body.len() + chunk.len() > LARGEST_ANSWER {
                return Err(self.too_large());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// Returns the next events of a streamed answer; `None` at its end. Only a complete line resets
    /// the timeout: single bytes do not show progress.
    pub(crate) async fn events(
        &self,
        response: &mut Response,
        frames: &mut EventDecoder,
        patience: Option<Duration>,
    ) -> Result<Option<Vec<Vec<u8>>>, AttemptError> {
        let patience = patience.map_or(self.idle(), |it| it.min(self.idle()));
        let deadline = tokio::time::Instant::now() + patience;
        loop {
            let chunk = tokio::select! {
                chunk = response.chunk() => chunk.map_err(|error| self.broken(error))?,
                () = sleep_until(deadline) => return Err(self.stalled()),
            };
            let Some(chunk) = chunk else { return Ok(None) };
            let (events, is_alive) = frames.push(&chunk).map_err(|TooLarge| self.too_large())?;
            if is_alive {
                return Ok(Some(events));
            }
        }
    }

    fn idle(&self) -> Duration {
        self.timeouts.idle.unwrap_or(Duration::MAX / 4).min(Duration::from_secs(86_400))
    }

    fn stalled(&self) -> AttemptError {
        TransientError::Stalled { after: self.idle() }.into()
    }

    fn too_large(&self) -> AttemptError {
        self.garbled(format!("the answer is larger than {} MiB", LARGEST_ANSWER >> 20))
    }

    /// Classifies an answer with an error status: final, or worth a retry.
    pub(crate) fn refused(&self, status: u16, answer: &HttpResponse) -> AttemptError {
        let complaint = match &answer.location {
            Some(location) if (300..400).contains(&status) => {
                let message = format!("redirects to {}", endpoint::origin(location));
                ErrorBody { message, ..ErrorBody::default() }
            }
            _ => ErrorBody::read(&answer.body),
        };
        self.complained(status, &complaint, answer.retry_after)
    }

    /// Classifies a failure reported in an answer with a success status.
    pub(crate) fn failed(&self, status: u16, complaint: &ErrorBody) -> AttemptError {
        self.complained(status, complaint, None)
    }

    fn complained(
        &self,
        status: u16,
        complaint: &ErrorBody,
        retry_after: Option<Duration>,
    ) -> AttemptError {
        let (model, message) = (self.name.clone(), self.clean_error(&complaint.message));
        let may_pass = matches!(status, 408 | 425 | 429) || status >= 500;
        AttemptError::Final(match status {
            413 => ModelError::TooLong { model, message },
            _ if complaint.too_long && status < 500 => ModelError::TooLong { model, message },
            _ if complaint.unpaid => ModelError::Refused { model, status: 402, message },
            400 if complaint.wrong_key => ModelError::Refused { model, status: 401, message },
            _ if may_pass => {
                let outage = TransientError::Status { status, message };
                return AttemptError::Temporary { outage, retry_after };
            }
            _ => ModelError::Refused { model, status, message },
        })
    }

    /// Returns the error of a complete answer without a usable reply.
    pub(crate) fn bad(&self, what: String, usage: Option<Usage>) -> AttemptError {
        AttemptError::Final(ModelError::BadResponse {
            model: self.name.clone(),
            what: self.clean_error(&what),
            usage,
        })
    }

    /// Returns the error of an answer in an unexpected format; a retry may succeed.
    pub(crate) fn garbled(&self, what: String) -> AttemptError {
        TransientError::Garbled { what: self.clean_error(&what) }.into()
    }

    /// Returns the error of a request without a complete answer.
    fn broken(&self, error: reqwest::Error) -> AttemptError {
        if error.is_timeout() {
            let limit = match error.is_connect() {
                true => Some(self.timeouts.connect),
                false => self.timeouts.total,
            };
            return TransientError::TimedOut { after: limit }.into();
        }
        let is_untrusted = is_untrusted(&error);
        let mut reason = self.clean_error(&innermost(error));
        if is_untrusted {
            let model = self.name.clone();
            return AttemptError::Final(ModelError::Untrusted { model, reason });
        }
        reason += &format!(" at {}", self.clean_error(&self.place()));
        if let Some(variable) = self.proxy {
            reason += &format!(" (through the proxy that {variable} names)");
        }
        TransientError::Connection { reason }.into()
    }

    fn clean_error(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.scrub_error(text))
    }

    /// Returns a text from the service, without the key.
    pub(crate) fn clean_reply(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.scrub_reply(text))
    }
}

/// Returns whether the server could not prove its identity.
fn is_untrusted(error: &(dyn Error + 'static)) -> bool {
    use rustls::Error::{InvalidCertRevocationList, InvalidCertificate, NoCertificatesPresented};
    let is_of_certificate = |cause: &rustls::Error| {
        matches!(
            cause,
            InvalidCertificate(_) | InvalidCertRevocationList(_) | NoCertificatesPresented
        )
    };
    successors(Some(error), |&error| cause(error))
        .any(|error| error.downcast_ref().is_some_and(is_of_certificate))
}

/// Returns the direct cause of an error; an error of the system hides it behind a method of its
/// own.
fn cause<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    let held = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    held.map_or_else(|| error.source(), |held| Some(held))
}

/// Returns the cause of an error. The URL may hold a password in its query, and the outer errors
/// only say that sending failed.
pub(crate) fn innermost(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut reason = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        reason = inner.to_string();
        source = inner.source();
    }
    reason
}
