//! Services that speak OpenAI's chat-completions format, at any base URL.

mod endpoint;
mod wire;

use std::error::Error as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, Url};

use crate::ask::{Ask, Reply};
use crate::error::{ModelError, Outage};
use crate::model::usable;
use crate::open::{OpenError, Settings, Timeouts};
use crate::retry::{Failure, retry_after};
use crate::secret::Secret;
use wire::{Complaint, Unusable};

const KEY_VARIABLE: &str = "OPENAI_API_KEY";
const URL_VARIABLE: &str = "OPENAI_BASE_URL";

/// No honest reply comes near; a broken service must not fill the memory. In bytes.
const LARGEST_ANSWER: usize = 16 << 20;

/// One model at one service.
pub(crate) struct OpenAi {
    /// `openai:MODEL`, for messages.
    name: String,
    model: String,
    endpoint: Url,
    key: Option<Secret>,
    http: Client,
    timeouts: Timeouts,
    dialect: Dialect,
}

/// What this model has been seen to refuse: reasoning models take neither a temperature nor
/// `max_tokens`.
#[derive(Default)]
struct Dialect {
    no_temperature: AtomicBool,
    completion_tokens: AtomicBool,
}

/// A whole answer, whatever its status.
struct Answer {
    status: StatusCode,
    retry_after: Option<Duration>,
    location: Option<String>,
    body: Vec<u8>,
    latency: Duration,
}

impl OpenAi {
    /// Sets up the client; sends nothing yet.
    pub(crate) fn open(
        spec: &str,
        model: &str,
        settings: &Settings,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, OpenError> {
        let base = settings
            .base_url
            .clone()
            .or_else(|| env(URL_VARIABLE).filter(|url| !url.trim().is_empty()));
        let endpoint = endpoint::chat(base.as_deref())
            .map_err(|reason| OpenError::BadBaseUrl { spec: spec.to_owned(), reason })?;
        let key = settings
            .api_key
            .clone()
            .or_else(|| env(KEY_VARIABLE).and_then(|key| Secret::new(&key)));
        if key.is_none() && !endpoint::is_loopback(&endpoint) {
            return Err(OpenError::NoKey { spec: spec.to_owned(), variable: KEY_VARIABLE });
        }
        let headers =
            headers(key.as_ref()).ok_or_else(|| OpenError::BadKey { spec: spec.to_owned() })?;
        let http = client(&endpoint, headers, &settings.timeouts)?;
        Ok(Self {
            name: spec.to_owned(),
            model: model.to_owned(),
            endpoint,
            key,
            http,
            timeouts: settings.timeouts.clone(),
            dialect: Dialect::default(),
        })
    }

    /// Puts the question once; again only to leave out a parameter this model does not know.
    pub(crate) async fn once(&self, ask: &Ask) -> Result<Reply, Failure> {
        loop {
            let body = self.body(ask);
            let answer = self.post(&body).await?;
            if answer.status == StatusCode::BAD_REQUEST && self.learn(&body, &answer) {
                continue;
            }
            return self.read(&answer);
        }
    }

    fn body<'a>(&'a self, ask: &'a Ask) -> wire::Body<'a> {
        wire::Body::new(
            &self.model,
            ask,
            !self.dialect.no_temperature.load(Ordering::Relaxed),
            self.dialect.completion_tokens.load(Ordering::Relaxed),
        )
    }

    /// Whether the answer complains of a parameter that the next body will not have. What counts is
    /// what this body held, not what other tasks have learnt meanwhile; so the loop ends after each
    /// parameter was dropped once.
    fn learn(&self, body: &wire::Body<'_>, answer: &Answer) -> bool {
        let lesson = match Complaint::read(&answer.body).unsupported.as_deref() {
            Some("temperature") if body.has_temperature() => &self.dialect.no_temperature,
            Some("max_tokens") if body.has_max_tokens() => &self.dialect.completion_tokens,
            _ => return false,
        };
        lesson.store(true, Ordering::Relaxed);
        true
    }

    async fn post(&self, body: &wire::Body<'_>) -> Result<Answer, Failure> {
        let start = Instant::now();
        let sent = self.http.post(self.endpoint.clone()).json(body).send().await;
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

    fn read(&self, answer: &Answer) -> Result<Reply, Failure> {
        if !answer.status.is_success() {
            return Err(self.refused(answer.status.as_u16(), answer));
        }
        let (partial, usage) = match wire::read(&answer.body) {
            Ok(parsed) => return self.reply(parsed, answer.latency),
            Err(Unusable::Failed { status }) => return Err(self.refused(status, answer)),
            Err(Unusable::Bad(what)) => return Err(self.bad(what)),
            Err(Unusable::Truncated { partial, usage }) => (self.clean_reply(&partial), usage),
        };
        Err(Failure::Final(ModelError::Truncated { model: self.name.clone(), partial, usage }))
    }

    fn reply(&self, parsed: wire::Parsed, latency: Duration) -> Result<Reply, Failure> {
        let text = self.clean_reply(&parsed.text);
        let tool_calls = wire::tool_calls(&parsed.tool_calls, |text| self.clean_reply(text));
        let reply = Reply {
            text,
            tool_calls: tool_calls.map_err(|what| self.bad(what))?,
            usage: parsed.usage,
            model: parsed
                .model
                .map_or_else(|| self.model.clone(), |model| self.clean_reply(&model)),
            latency,
        };
        usable(&self.name, reply).map_err(Failure::Final)
    }

    fn refused(&self, status: u16, answer: &Answer) -> Failure {
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

    fn bad(&self, what: String) -> Failure {
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

    fn clean_reply(&self, text: &str) -> String {
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

fn client(endpoint: &Url, headers: HeaderMap, timeouts: &Timeouts) -> Result<Client, OpenError> {
    let mut builder = Client::builder()
        .default_headers(headers)
        .user_agent(concat!("trellis/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(timeouts.connect)
        .timeout(timeouts.total)
        // Neither the key nor a prompt goes anywhere but where the user said.
        .redirect(Policy::none())
        // One place decides on retries: `persist`.
        .retry(reqwest::retry::never());
    if endpoint::is_loopback(endpoint) {
        builder = builder.no_proxy();
        if endpoint.scheme() == "http" {
            // No TLS, so a machine without root certificates can still use its own model.
            builder = builder.tls_certs_only([]);
        }
    }
    builder.build().map_err(|error| {
        let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        OpenError::Client { reason }
    })
}
