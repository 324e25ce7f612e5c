//! Access control: programs on this machine connect with the token. Web pages are refused although
//! their browser runs on this machine; the browser's request names the page's origin and the host
//! name used.

use std::future::{Ready, ready};
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::future::Either;
use jsonrpsee::server::{HttpBody, HttpRequest, HttpResponse};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;
use tower_service::Service;

/// Host names of the loopback interface.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Requirements on a handshake.
pub(super) struct AccessPolicy {
    token: [u8; 32],
    origins: Vec<String>,
}

/// Reason why a handshake is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rejection {
    status: u16,
    why: &'static str,
}

impl AccessPolicy {
    pub(super) fn new(token: &str, origins: Vec<String>) -> AccessPolicy {
        AccessPolicy { token: digest(token), origins }
    }

    fn check<B>(&self, request: &HttpRequest<B>) -> Result<(), Rejection> {
        let header = |name| request.headers().get_all(name).iter();
        let refuse = |status, why| Err(Rejection { status, why });
        let mut hosts = header("host").map(|it| it.to_str().unwrap_or_default());
        if !hosts.next().is_some_and(is_loopback) || hosts.next().is_some() {
            return refuse(403, "the host must be 127.0.0.1");
        }
        let is_allowed = |it: &str| self.origins.iter().any(|own| own.eq_ignore_ascii_case(it));
        if !header("origin").all(|it| it.to_str().is_ok_and(is_allowed)) {
            return refuse(
                403,
                "pages of this origin cannot connect; allow it with `--allow-origin`",
            );
        }
        let bearer = header("authorization").find_map(|it| bearer(it.to_str().ok()?));
        let query = request.uri().query().unwrap_or_default().split('&');
        let given = bearer.or_else(|| query.into_iter().find_map(|it| it.strip_prefix("token=")));
        match given {
            Some(given) if self.is_token(given) => Ok(()),
            Some(_) => refuse(401, "the token is wrong for this server"),
            None => refuse(401, "send the token: `Authorization: Bearer TOKEN`, or `?token=TOKEN`"),
        }
    }

    /// Compares digests completely, so that the time reveals nothing about the token.
    fn is_token(&self, given: &str) -> bool {
        let differs = |sum, (a, b): (&u8, &u8)| std::hint::black_box(sum | (a ^ b));
        digest(given).iter().zip(&self.token).fold(0, differs) == 0
    }
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|it| it.is_ascii_digit()) => name,
        _ => host,
    };
    LOOPBACK.iter().any(|it| it.eq_ignore_ascii_case(name))
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Layer that passes only authorized requests to the server behind it.
#[derive(Clone)]
pub(super) struct AuthLayer<S> {
    rules: Arc<AccessPolicy>,
    server: S,
    admitted: CancellationToken,
}

impl<S> AuthLayer<S> {
    pub(super) fn new(rules: Arc<AccessPolicy>, server: S) -> AuthLayer<S> {
        AuthLayer { rules, server, admitted: CancellationToken::new() }
    }

    /// Returns a token that is cancelled once a request is authorized.
    pub(super) fn admitted(&self) -> CancellationToken {
        self.admitted.clone()
    }
}

impl<B, S: Service<HttpRequest<B>, Response = HttpResponse>> Service<HttpRequest<B>>
    for AuthLayer<S>
{
    type Response = HttpResponse;
    type Error = S::Error;
    type Future = Either<S::Future, Ready<Result<HttpResponse, S::Error>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.server.poll_ready(context)
    }

    fn call(&mut self, request: HttpRequest<B>) -> Self::Future {
        match self.rules.check(&request) {
            Ok(()) => {
                self.admitted.cancel();
                Either::Left(self.server.call(request))
            }
            Err(refusal) => Either::Right(ready(Ok(refusal.response()))),
        }
    }
}

impl Rejection {
    fn response(self) -> HttpResponse {
        let response = HttpResponse::builder()
            .status(self.status)
            .header("connection", "close")
            .header("content-type", "text/plain; charset=utf-8")
            .body(HttpBody::from(format!("{}\n", self.why)));
        // The builder cannot fail here; an empty response would refuse as well.
        response.unwrap_or_else(|_| HttpResponse::new(HttpBody::empty()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: (&str, &str) = ("authorization", "Bearer secret");
    const HERE: (&str, &str) = ("host", "127.0.0.1:4000");

    #[test]
    fn only_who_shows_the_token_and_is_no_page_of_the_web_may_connect() {
        let rules = AccessPolicy::new("secret", vec!["http://localhost:3000".to_owned()]);
        type Headers<'a> = &'a [(&'a str, &'a str)];
        let table: [(&str, Headers<'_>, u16); 20] = [
            ("/", &[HERE, GOOD], 0),
            ("/", &[("host", "LOCALHOST"), ("authorization", "bearer  secret")], 0),
            ("/", &[("host", "[::1]:4000"), GOOD], 0),
            ("/?token=secret", &[HERE], 0),
            ("/any?x=1&token=secret", &[HERE], 0),
            ("/", &[HERE, GOOD, ("origin", "http://localhost:3000")], 0),
            ("/", &[HERE], 401),
            ("/?token=", &[HERE], 401),
            ("/?token=secre", &[HERE], 401),
            ("/?token=secrets", &[HERE], 401),
            ("/", &[HERE, ("authorization", "Basic secret")], 401),
            ("/?token=secret", &[HERE, ("authorization", "Bearer wrong")], 401),
            ("/", &[HERE, GOOD, ("origin", "http://localhost:3001")], 403),
            ("/", &[HERE, GOOD, ("origin", "null")], 403),
            ("/", &[HERE, GOOD, ("origin", "")], 403),
            ("/", &[HERE, GOOD, ("origin", "http://localhost:3000"), ("origin", "x")], 403),
            ("/", &[GOOD], 403),
            ("/", &[("host", "evil.example:4000"), GOOD], 403),
            ("/", &[("host", "127.0.0.1.evil.example"), GOOD], 403),
            ("/", &[HERE, ("host", "evil.example"), GOOD], 403),
        ];
        for (uri, headers, status) in table {
            let mut request = HttpRequest::builder().uri(uri);
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let request = request.body(()).expect("a request");
            let found = rules.check(&request).err().map_or(0, |it| it.status);
            assert_eq!(found, status, "{uri} {headers:?}");
        }
    }
}
