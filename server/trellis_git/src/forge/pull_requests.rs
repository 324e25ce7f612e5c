//! Pull requests of a forge, through the part of the API that Gitea, Forgejo and GitHub share.

use std::time::Duration;

use serde_json::{Value, json};
use trellis_llm::{HttpMethod, JsonClient, JsonResponse, Secret};

use super::address::Home;
use super::error::{ClientError, PullRequestError};

/// Timeout of one request.
const PATIENCE: Duration = Duration::from_secs(30);
/// Pull requests per page; forges have upper limits of their own.
const PAGE: usize = 50;
/// Maximum number of pages read.
const PAGES: usize = 40;
/// Maximum bytes of a description; forges refuse longer texts.
const LONGEST: usize = 60_000;

/// Content of a pull request.
pub(super) struct Request<'a> {
    pub(super) into: &'a str,
    pub(super) branch: &'a str,
    pub(super) title: &'a str,
    pub(super) body: &'a str,
}

/// The pull requests of one repository.
pub(super) struct PullRequests {
    rest: JsonClient,
    home: Home,
}

/// An open pull request.
struct Open {
    number: u64,
    body: String,
    url: Option<String>,
}

impl PullRequests {
    /// Creates the client, without sending anything.
    ///
    /// # Errors
    ///
    /// The reason why the API cannot be used.
    pub(super) fn open(api: &str, token: Secret, home: &Home) -> Result<PullRequests, ClientError> {
        Ok(PullRequests { rest: JsonClient::open(api, token, PATIENCE)?, home: home.clone() })
    }

    /// Opens a pull request, or updates the open one of the same branch; a title changed by a
    /// person stays. Returns its page if the forge reports one.
    ///
    /// # Errors
    ///
    /// The problem, and a remedy.
    pub(super) async fn show(&self, it: &Request<'_>) -> Result<Option<String>, PullRequestError> {
        let body = cut(it.body);
        if let Some(open) = self.find(it).await? {
            return self.update(open, body).await;
        }
        let new = json!({ "title": it.title, "body": body, "head": it.branch, "base": it.into });
        let said = self.ask(HttpMethod::Post, &[], &[], Some(&new)).await?;
        match said.status {
            200..=299 => Ok(page(&self.read(said)?)),
            // Another process opened it meanwhile, or the list did not show it.
            409 | 422 => match self.find(it).await? {
                Some(open) => self.update(open, body).await,
                None => Err(self.refused(&said)),
            },
            _ => Err(self.refused(&said)),
        }
    }

    async fn update(&self, open: Open, body: &str) -> Result<Option<String>, PullRequestError> {
        if open.body != body {
            let number = open.number.to_string();
            let new = json!({ "body": body });
            let said = self.ask(HttpMethod::Patch, &[&number], &[], Some(&new)).await?;
            self.read(said)?;
        }
        Ok(open.url)
    }

    /// Finds the open pull request of a branch. GitHub filters by `head`; other forges list all.
    async fn find(&self, it: &Request<'_>) -> Result<Option<Open>, PullRequestError> {
        let (head, size) = (format!("{}:{}", self.home.owner, it.branch), PAGE.to_string());
        for page in 1..=PAGES {
            let page = page.to_string();
            let query = [
                ("state", "open"),
                ("base", it.into),
                ("head", &head),
                ("limit", &size),
                ("per_page", &size),
                ("page", &page),
            ];
            let list = self.read(self.ask(HttpMethod::Get, &[], &query, None).await?)?;
            let list = list.as_array().ok_or_else(|| self.odd())?;
            if let Some(found) = list.iter().find(|pull| self.is_of(pull, it)) {
                return read(found).map(Some).ok_or_else(|| self.odd());
            }
            if list.is_empty() {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// Returns whether a pull request is from this repository's branch, not from a fork's branch of
    /// the same name.
    fn is_of(&self, pull: &Value, it: &Request<'_>) -> bool {
        let own = format!("{}/{}", self.home.owner, self.home.name);
        let from = pull["head"]["repo"]["full_name"].as_str().unwrap_or_default();
        pull["head"]["ref"] == it.branch
            && pull["base"]["ref"] == it.into
            && from.eq_ignore_ascii_case(&own)
    }

    async fn ask(
        &self,
        verb: HttpMethod,
        below: &[&str],
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<JsonResponse, PullRequestError> {
        let Home { owner, name, .. } = &self.home;
        let place = [&["repos", owner, name, "pulls"], below].concat();
        let said = self.rest.ask(verb, &place, query, body).await;
        said.map_err(|error| {
            let host = self.home.host.clone();
            PullRequestError::Unreachable { host, source: error.into() }
        })
    }

    /// Returns the content of a successful response.
    fn read(&self, said: JsonResponse) -> Result<Value, PullRequestError> {
        match said.status {
            200..=299 => said.value.ok_or_else(|| self.odd()),
            _ => Err(self.refused(&said)),
        }
    }

    fn refused(&self, said: &JsonResponse) -> PullRequestError {
        let Home { host, owner, name, .. } = &self.home;
        let host = host.clone();
        if let Some(place) = said.elsewhere.clone() {
            return PullRequestError::Redirected { host, place };
        }
        // The text of a proxy's error page does not help.
        let why = said.value.is_some().then(|| said.complaint.clone());
        let repository = format!("{owner}/{name}");
        PullRequestError::Refused { host, repository, status: said.status, why }
    }

    fn odd(&self) -> PullRequestError {
        PullRequestError::Odd { host: self.home.host.clone() }
    }
}

fn read(pull: &Value) -> Option<Open> {
    let body = pull["body"].as_str().unwrap_or_default().to_owned();
    Some(Open { number: pull["number"].as_u64()?, body, url: page(pull) })
}

/// Returns the page's address if it is an http(s) address, since people click on it.
fn page(pull: &Value) -> Option<String> {
    let url = pull["html_url"].as_str()?;
    let is_page = ["http://", "https://"].iter().any(|it| url.starts_with(it));
    let is_plain = url.len() <= 500 && url.chars().all(|it| it.is_ascii_graphic());
    (is_page && is_plain).then(|| url.to_owned())
}

fn cut(body: &str) -> &str {
    &body[..body.floor_char_boundary(LONGEST)]
}
