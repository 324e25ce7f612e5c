//! Services that speak OpenAI's chat-completions format, at any base URL.

mod wire;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::StatusCode;

use crate::ask::{Ask, Reply};
use crate::complaint::Complaint;
use crate::endpoint;
use crate::error::ModelError;
use crate::model::usable;
use crate::open::{OpenError, Settings};
use crate::retry::Failure;
use crate::service::{Answer, Place, Service};
use wire::Unusable;

/// Where such services are looked for.
pub(crate) const PLACE: Place =
    Place { url_variable: "OPENAI_BASE_URL", key_variable: "OPENAI_API_KEY", may_be_open: false };

/// One model at one service.
pub(crate) struct OpenAi {
    service: Service,
    model: String,
    dialect: Dialect,
}

/// What this model has been seen to refuse: reasoning models take neither a temperature nor
/// `max_tokens`.
#[derive(Default)]
struct Dialect {
    no_temperature: AtomicBool,
    completion_tokens: AtomicBool,
}

impl OpenAi {
    /// Sets up the client; sends nothing yet.
    pub(crate) fn open(
        spec: &str,
        model: &str,
        settings: &Settings,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, OpenError> {
        let address = |base: Option<&str>| endpoint::openai(base, "/chat/completions");
        let service = Service::open(spec, &PLACE, settings, env, address)?;
        Ok(Self { service, model: model.to_owned(), dialect: Dialect::default() })
    }

    /// Puts the question once; again only to leave out a parameter this model does not know.
    pub(crate) async fn once(&self, ask: &Ask) -> Result<Reply, Failure> {
        loop {
            let body = self.body(ask);
            let answer = self.service.post(&body).await?;
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

    fn read(&self, answer: &Answer) -> Result<Reply, Failure> {
        if !answer.status.is_success() {
            return Err(self.service.refused(answer.status.as_u16(), answer));
        }
        let (partial, usage) = match wire::read(&answer.body) {
            Ok(parsed) => return self.reply(parsed, answer.latency),
            Err(Unusable::Failed { status }) => return Err(self.service.refused(status, answer)),
            Err(Unusable::Bad(what)) => return Err(self.service.bad(what)),
            Err(Unusable::Truncated { partial, usage }) => {
                (self.service.clean_reply(&partial), usage)
            }
        };
        Err(Failure::Final(ModelError::Truncated {
            model: self.service.name().to_owned(),
            partial,
            usage,
        }))
    }

    fn reply(&self, parsed: wire::Parsed, latency: Duration) -> Result<Reply, Failure> {
        let text = self.service.clean_reply(&parsed.text);
        let tool_calls =
            wire::tool_calls(&parsed.tool_calls, |text| self.service.clean_reply(text));
        let reply = Reply {
            text,
            tool_calls: tool_calls.map_err(|what| self.service.bad(what))?,
            usage: parsed.usage,
            model: parsed
                .model
                .map_or_else(|| self.model.clone(), |model| self.service.clean_reply(&model)),
            latency,
        };
        usable(self.service.name(), reply).map_err(Failure::Final)
    }
}
