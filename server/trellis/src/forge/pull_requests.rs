//! Pull requests of a forge. Gitea, Forgejo and GitHub speak nearly the same: what is asked here is what they share.

use std::time::Duration;

use serde_json::{Value, json};
use trellis_llm::{HttpMethod, JsonClient, JsonResponse, Secret};

use super::address::Home;

/// For one answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// Of pull requests in a list; no forge gives more at once than it likes.
const PAGE: usize = 50;
/// Lists are read so far.
const PAGES: usize = 40;
/// Forges refuse longer texts, in bytes.
const LONGEST: usize = 60_000;

/// What a person finds on the forge.
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

/// One that is open.
struct Open {
    number: u64,
    body: String,
    url: Option<String>,
}

impl PullRequests {
    /// Sends nothing yet.
    ///
    /// # Errors
    ///
    /// Why it cannot be asked.
    pub(super) fn open(api: &str, token: Secret, home: &Home) -> Result<PullRequests, String> {
        Ok(PullRequests { rest: JsonClient::open(api, token, PATIENCE)?, home: home.clone() })
    }

    /// Opens a pull request, or brings the open one of the same branch up to date; a title that a person has given stays.
    /// Gives its page, where the forge says it.
    ///
    /// # Errors
    ///
    /// What happened, and what to do.
    pub(super) async fn show(&self, it: &Request<'_>) -> Result<Option<String>, String> {
        let body = cut(it.body);
        if let Some(open) = self.find(it).await? {
            return self.update(open, body).await;
        }
        let new = json!({ "title": it.title, "body": body, "head": it.branch, "base": it.into });
        let said = self.ask(HttpMethod::Post, &[], &[], Some(&new)).await?;
        match said.status {
            200..=299 => Ok(page(&self.read(said)?)),
            // It was opened by somebody else meanwhile, or a list did not show it.
            409 | 422 => match self.find(it).await? {
                Some(open) => self.update(open, body).await,
                None => Err(self.refused(&said)),
            },
            _ => Err(self.refused(&said)),
        }
    }

    async fn update(&self, open: Open, body: &str) -> Result<Option<String>, String> {
        if open.body != body {
            let number = open.number.to_string();
            let new = json!({ "body": body });
            let said = self.ask(HttpMethod::Patch, &[&number], &[], Some(&new)).await?;
            self.read(said)?;
        }
        Ok(open.url)
    }

    /// The open pull request of a branch. GitHub looks for it by `head`; others list all.
    async fn find(&self, it: &Request<'_>) -> Result<Option<Open>, String> {
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

    /// Whether a pull request is of this branch of this repository, not of a fork's branch of the same name.
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
    ) -> Result<JsonResponse, String> {
        let Home { owner, name, .. } = &self.home;
        let place = [&["repos", owner, name, "pulls"], below].concat();
        let said = self.rest.ask(verb, &place, query, body).await;
        said.map_err(|why| {
            let host = &self.home.host;
            format!(
                "cannot reach {host} for a pull request: {why}; run the same command again \
                 later"
            )
        })
    }

    /// What a good answer holds.
    fn read(&self, said: JsonResponse) -> Result<Value, String> {
        match said.status {
            200..=299 => said.value.ok_or_else(|| self.odd()),
            _ => Err(self.refused(&said)),
        }
    }

    fn refused(&self, said: &JsonResponse) -> String {
        let Home { host, owner, name, .. } = &self.home;
        let JsonResponse { status, complaint, elsewhere, .. } = said;
        let why = match said.value {
            Some(_) => format!("{host} answers {status}, {complaint}"),
            // A page of a proxy says nothing.
            None => format!("{host} answers {status}"),
        };
        match (status, elsewhere) {
            (_, Some(place)) => format!(
                "{host} redirects to {place}, and Trellis sends the token nowhere else: give \
                 the new address"
            ),
            (401, _) => format!("{why}: set TRELLIS_FORGE_TOKEN to a valid token"),
            (403, _) => format!(
                "{why}: the token needs permission to write pull requests of {owner}/{name}"
            ),
            (404, _) => format!(
                "{why}: {owner}/{name} does not exist, the token cannot see it, or the API has \
                 another address (`[forge]` in your trellis.toml)"
            ),
            (409 | 422, _) => format!("{why}: open the pull request yourself"),
            _ => format!("{why}: run the same command again later"),
        }
    }

    fn odd(&self) -> String {
        let host = &self.home.host;
        format!(
            "the answer of {host} is not a pull request: set the address of its API under \
             `[forge]` in your trellis.toml"
        )
    }
}

fn read(pull: &Value) -> Option<Open> {
    let body = pull["body"].as_str().unwrap_or_default().to_owned();
    Some(Open { number: pull["number"].as_u64()?, body, url: page(pull) })
}

/// A page of the web and nothing else, for people click on it.
fn page(pull: &Value) -> Option<String> {
    let url = pull["html_url"].as_str()?;
    let is_page = ["http://", "https://"].iter().any(|it| url.starts_with(it));
    let is_plain = url.len() <= 500 && url.chars().all(|it| it.is_ascii_graphic());
    (is_page && is_plain).then(|| url.to_owned())
}

fn cut(body: &str) -> &str {
    &body[..body.floor_char_boundary(LONGEST)]
}
