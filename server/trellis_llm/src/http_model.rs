//! A model behind a service: one request to one reply, streamed if the service can stream.

use std::time::{Duration, Instant};

use reqwest::{Response, StatusCode, Url};

use crate::chat::{ChatReply, ChatRequest};
use crate::connection;
use crate::endpoint::{self, BaseUrlError};
use crate::error::{ModelError, TransientError};
use crate::error_body::ErrorBody;
use crate::open_error::OpenError;
use crate::providers::Provider;
use crate::reply_reader::{ReplyReader, is_stream};
use crate::retry::AttemptError;
use crate::service::Service;
use crate::settings::Settings;
use crate::stream_events::{EventDecoder, Framing, LARGEST_ANSWER};
use crate::unsupported_params::UnsupportedParams;
use crate::wire::{CompleteReply, StreamAccumulator, UnusableReply, WireFormat, WireRequest};

/// Maximum wait after the end of a reply, since some services do not close the stream.
const AFTERMATH: Duration = Duration::from_secs(5);

/// One model at one service.
pub(crate) struct HttpModel {
    service: Service,
    wire: &'static WireFormat,
    model: String,
    streamed: Url,
    plain: Url,
    stream: bool,
    quirks: UnsupportedParams,
}

impl HttpModel {
    /// Sets up the client; sends no request yet.
    pub(crate) fn open(
        spec: &str,
        provider: &Provider,
        model: &str,
        settings: &Settings,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, OpenError> {
        let wire = provider.wire;
        let address = |base: Option<&str>, stream: bool| {
            let base = base.or(provider.base).ok_or(BaseUrlError::Missing)?;
            endpoint::below(&(wire.base)(base), wire.home, &(wire.path)(model, stream))
        };
        let service = Service::open(spec, &provider.place, wire.headers, settings, env, |base| {
            address(base, false)
        })?;
        let base = connection::base(&provider.place, settings, env);
        let streamed = address(base.as_deref(), true)
            .map_err(|reason| OpenError::BadBaseUrl { spec: spec.to_owned(), reason })?;
        Ok(Self {
            plain: service.address().clone(),
            service,
            wire,
            model: model.to_owned(),
            streamed,
            stream: settings.stream,
            quirks: UnsupportedParams::default(),
        })
    }

    /// Sends the request once, and again only to omit a parameter that this model does not support.
    pub(crate) async fn once(&self, ask: &ChatRequest) -> Result<ChatReply, AttemptError> {
        loop {
            let refused = self.quirks.refused();
            let stream = self.stream && !refused.stream;
            let question = WireRequest { model: &self.model, ask, stream, refused };
            let body = (self.wire.body)(&question);
            let since = Instant::now();
            let address = if stream { &self.streamed } else { &self.plain };
            let response = self.service.send(address, &body, stream).await?;
            if response.status().is_success() {
                return self.reply(response, since).await;
            }
            let answer = self.service.whole(response).await?;
            let learns =
                matches!(answer.status, StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY);
            if !(learns && self.quirks.learn(&body, &ErrorBody::read(&answer.body))) {
                return Err(self.service.refused(answer.status.as_u16(), &answer));
            }
        }
    }

    async fn reply(&self, response: Response, since: Instant) -> Result<ChatReply, AttemptError> {
        let mut reader = ReplyReader::new(self.wire);
        match framing(&response) {
            Some(framing) => self.stream(response, framing, &mut reader).await?,
            None => {
                let answer = self.service.whole(response).await?;
                if is_stream(&answer.body) {
                    // A stream with another content type.
                    let mut frames = EventDecoder::new(Framing::ServerSent);
                    let events = frames.push(&answer.body).map(|it| it.0).unwrap_or_default();
                    let last = frames.finish();
                    let events: Vec<Vec<u8>> = events.into_iter().chain(last).collect();
                    self.taken(reader.take_all(&events), &reader)?;
                    self.ended(&reader)?;
                } else {
                    self.taken(reader.take_whole(&answer.body), &reader)?;
                }
            }
        }
        self.judged(&reader.gathered, since)
    }

    /// Reads a stream. A stream that breaks off is an error, unless the reply itself was complete:
    /// it is paid for and need not be requested again.
    async fn stream(
        &self,
        mut response: Response,
        framing: Framing,
        reader: &mut ReplyReader,
    ) -> Result<(), AttemptError> {
        let mut frames = EventDecoder::new(framing);
        loop {
            // Only the token counts may follow the reply.
            let patience = reader.is_complete().then_some(AFTERMATH);
            let pushed = self.service.events(&mut response, &mut frames, patience).await;
            let taken = pushed.and_then(|events| match events {
                Some(events) => self.taken(reader.take_all(&events), reader),
                None => Ok(true),
            });
            match taken {
                Ok(false) => {}
                Ok(true) => break,
                Err(_) if reader.is_complete() => return Ok(()),
                Err(failure) => return Err(failure),
            }
        }
        self.taken(reader.take_last(frames), reader)?;
        self.ended(reader)
    }

    fn ended(&self, reader: &ReplyReader) -> Result<(), AttemptError> {
        match reader.is_complete() {
            true => Ok(()),
            false => Err(TransientError::Connection {
                reason: "the stream ended before the reply did".to_owned(),
            }
            .into()),
        }
    }

    /// Converts the fault of an answer to an error with the model's name, without keys.
    fn taken<T>(
        &self,
        taken: Result<T, UnusableReply>,
        reader: &ReplyReader,
    ) -> Result<T, AttemptError> {
        taken.map_err(|unusable| match unusable {
            UnusableReply::Failed(complaint) => {
                self.service.failed(complaint.status.unwrap_or(500), &complaint)
            }
            UnusableReply::Nonsense(why) => self.service.bad(why, reader.gathered.usage()),
            UnusableReply::Garbled(why) => self.service.garbled(why),
        })
    }

    fn judged(
        &self,
        gathered: &StreamAccumulator,
        since: Instant,
    ) -> Result<ChatReply, AttemptError> {
        let (model, usage) = (self.service.name().to_owned(), gathered.usage());
        match gathered.whole(|text| self.service.clean_reply(text)) {
            CompleteReply::Reply { text, calls } => Ok(ChatReply {
                text,
                tool_calls: calls,
                usage,
                model: (gathered.model.as_deref())
                    .map_or_else(|| self.model.clone(), |name| self.service.clean_reply(name)),
                latency: since.elapsed(),
            }),
            CompleteReply::Truncated(partial) => {
                Err(AttemptError::Final(ModelError::Truncated { model, partial, usage }))
            }
            CompleteReply::Nothing(what) => Err(self.service.bad(what, usage)),
        }
    }
}

fn framing(response: &Response) -> Option<Framing> {
    let kind = response.headers().get(reqwest::header::CONTENT_TYPE)?.to_str().ok()?;
    Framing::of(kind)
        .filter(|_| response.content_length().is_none_or(|it| it <= LARGEST_ANSWER as u64))
}
