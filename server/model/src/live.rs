//! A model behind a service: one question to one reply, streamed where the service streams.

use std::time::{Duration, Instant};

use reqwest::{Response, StatusCode, Url};
use serde_json::Value;

use crate::ask::{Ask, Reply};
use crate::complaint::{Complaint, shorten};
use crate::connection;
use crate::endpoint;
use crate::error::{ModelError, Outage};
use crate::frames::{BOM, Frames, Framing, LARGEST_ANSWER};
use crate::open_error::OpenError;
use crate::providers::Provider;
use crate::quirks::Quirks;
use crate::retry::Failure;
use crate::service::Service;
use crate::settings::Settings;
use crate::wire::{Gathered, Question, Unusable, Whole, Wire};

/// How OpenAI's streams say that nothing more comes.
const DONE: &[u8] = b"[DONE]";

/// What is waited for after the end of a reply, which some services do not close.
const AFTERMATH: Duration = Duration::from_secs(5);

/// One model at one service.
pub(crate) struct Live {
    service: Service,
    wire: &'static Wire,
    model: String,
    streamed: Url,
    plain: Url,
    stream: bool,
    quirks: Quirks,
}

impl Live {
    /// Sets up the client; sends nothing yet.
    pub(crate) fn open(
        spec: &str,
        provider: &Provider,
        model: &str,
        settings: &Settings,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, OpenError> {
        let wire = provider.wire;
        let address = |base: Option<&str>, stream: bool| {
            let base = base.or(provider.base).ok_or("there is none")?;
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
            quirks: Quirks::default(),
        })
    }

    /// Puts the question once; again only to leave out a parameter this model does not know.
    pub(crate) async fn once(&self, ask: &Ask) -> Result<Reply, Failure> {
        loop {
            let refused = self.quirks.refused();
            let stream = self.stream && !refused.stream;
            let question = Question { model: &self.model, ask, stream, refused };
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
            if !(learns && self.quirks.learn(&body, &Complaint::read(&answer.body))) {
                return Err(self.service.refused(answer.status.as_u16(), &answer));
            }
        }
    }

    async fn reply(&self, response: Response, since: Instant) -> Result<Reply, Failure> {
        let mut gathered = Gathered::default();
        match framing(&response) {
            Some(framing) => self.stream(response, framing, &mut gathered).await?,
            None => {
                let answer = self.service.whole(response).await?;
                if is_stream(&answer.body) {
                    // Under another name, but a stream all the same.
                    let mut frames = Frames::new(Framing::ServerSent);
                    let events = frames.push(&answer.body).map(|it| it.0).unwrap_or_default();
                    let last = frames.finish();
                    let events: Vec<Vec<u8>> = events.into_iter().chain(last).collect();
                    self.take_all(&mut gathered, &events)?;
                    self.ended(&gathered)?;
                } else {
                    self.take(self.wire.whole, &mut gathered, &answer.body)?;
                }
            }
        }
        self.judged(&gathered, since)
    }

    /// A stream that breaks off has said nothing, unless the reply itself had come to its end: what is paid
    /// is not paid again.
    async fn stream(
        &self,
        mut response: Response,
        framing: Framing,
        gathered: &mut Gathered,
    ) -> Result<(), Failure> {
        let mut frames = Frames::new(framing);
        loop {
            // After the reply comes the count of its tokens, if anything.
            let patience = gathered.end.is_some().then_some(AFTERMATH);
            let pushed = self.service.events(&mut response, &mut frames, patience).await;
            let taken = pushed.and_then(|events| match events {
                Some(events) => self.take_all(gathered, &events),
                None => Ok(true),
            });
            match taken {
                Ok(false) => {}
                Ok(true) => break,
                Err(_) if gathered.end.is_some() => return Ok(()),
                Err(failure) => return Err(failure),
            }
        }
        // Half an event is what a broken stream leaves.
        let last = frames.finish().filter(|it| serde_json::from_slice::<Value>(it).is_ok());
        if let Some(last) = last.filter(|_| gathered.end.is_none()) {
            self.take(self.wire.event, gathered, &last)?;
        }
        self.ended(gathered)
    }

    /// Takes in events; whether one of them was the last.
    fn take_all(&self, gathered: &mut Gathered, events: &[Vec<u8>]) -> Result<bool, Failure> {
        for event in events {
            if event == DONE {
                return Ok(true);
            }
            self.take(self.wire.event, gathered, event)?;
        }
        Ok(false)
    }

    fn ended(&self, gathered: &Gathered) -> Result<(), Failure> {
        match gathered.end {
            Some(_) => Ok(()),
            None => Err(Outage::Connection {
                reason: "the stream ended before the reply did".to_owned(),
            }
            .into()),
        }
    }

    fn take(
        &self,
        taking: fn(&mut Gathered, &Value) -> Result<(), Unusable>,
        gathered: &mut Gathered,
        bytes: &[u8],
    ) -> Result<(), Failure> {
        let read = serde_json::from_slice::<Value>(bytes).map_err(|error| error.to_string());
        let taken = match &read {
            Ok(value) => taking(gathered, value),
            Err(error) => Err(Unusable::Garbled(error.clone())),
        };
        taken.map_err(|unusable| match unusable {
            Unusable::Failed(complaint) => {
                self.service.failed(complaint.status.unwrap_or(500), &complaint)
            }
            Unusable::Nonsense(why) => self.service.bad(why, gathered.usage()),
            Unusable::Garbled(why) => {
                let start = shorten(&String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]));
                let answer = self.wire.answer;
                self.service
                    .garbled(format!("it is not the expected {answer} ({why}); it begins: {start}"))
            }
        })
    }

    fn judged(&self, gathered: &Gathered, since: Instant) -> Result<Reply, Failure> {
        let (model, usage) = (self.service.name().to_owned(), gathered.usage());
        match gathered.whole(|text| self.service.clean_reply(text)) {
            Whole::Said { text, calls } => Ok(Reply {
                text,
                tool_calls: calls,
                usage,
                model: (gathered.model.as_deref())
                    .map_or_else(|| self.model.clone(), |name| self.service.clean_reply(name)),
                latency: since.elapsed(),
            }),
            Whole::Truncated(partial) => {
                Err(Failure::Final(ModelError::Truncated { model, partial, usage }))
            }
            Whole::Nothing(what) => Err(self.service.bad(what, usage)),
        }
    }
}

/// Whether a body begins as server-sent events do.
fn is_stream(body: &[u8]) -> bool {
    let body = body.strip_prefix(BOM).unwrap_or(body).trim_ascii_start();
    [&b"data:"[..], b"event:", b":"].iter().any(|it| body.starts_with(it))
}

fn framing(response: &Response) -> Option<Framing> {
    let kind = response.headers().get(reqwest::header::CONTENT_TYPE)?.to_str().ok()?;
    Framing::of(kind)
        .filter(|_| response.content_length().is_none_or(|it| it <= LARGEST_ANSWER as u64))
}
