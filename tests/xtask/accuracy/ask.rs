//! Sends the queries of one project to one server.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use lsp::{Client, Encoding, Failure, Place, Texts, Waiting};
use serde_json::{Value, json};

use super::cases::{Case, Rename, Wanted};
use super::edits;

/// Timeout of one request.
const REQUEST: Duration = Duration::from_secs(30);
/// Pause between two attempts of a query.
const PAUSE: Duration = Duration::from_millis(20);

/// Verdict on an answer.
pub(crate) enum Verdict {
    Right,
    Wrong {
        missing: BTreeSet<Place>,
        surplus: BTreeSet<Place>,
        /// Further explanation.
        why: String,
        /// Texts of the files that a rename touches, by path in the project, with line ends as
        /// `\n`.
        texts: BTreeMap<PathBuf, String>,
    },
}

pub(crate) struct Asker {
    client: Client,
    texts: Texts,
    opened: HashSet<PathBuf>,
    prepares: bool,
    root: PathBuf,
}

impl Asker {
    /// Starts the server, opens the file of a place and waits: first for its outline, then until the
    /// references there stay the same for `settle`.
    pub(crate) fn start(
        command: Command,
        root: &Path,
        encoding: Encoding,
        first: &Place,
        settle: Duration,
    ) -> Result<Asker, Failure> {
        let mut client = Client::start(command, root)?;
        let capabilities = client.initialize(&[encoding], &Value::Null, REQUEST)?;
        let prepares = capabilities["renameProvider"]["prepareProvider"] == true;
        let (texts, opened, root) = (Texts::default(), HashSet::new(), root.to_owned());
        let mut asker = Asker { client, texts, opened, prepares, root };
        let params = asker.parameters(first)?;
        let outline = json!({"textDocument": params["textDocument"]});
        let waiting = Waiting { since: Instant::now(), patience: REQUEST, pause: PAUSE };
        asker.client.until("textDocument/documentSymbol", &outline, waiting, |it| !it.is_null())?;
        asker.settle(first, settle)?;
        Ok(asker)
    }

    fn settle(&mut self, at: &Place, time: Duration) -> Result<(), Failure> {
        let deadline = Instant::now() + REQUEST;
        let (mut since, mut last) = (Instant::now(), None);
        while since.elapsed() < time && Instant::now() < deadline {
            let now = self.references(at).ok();
            if now != last {
                (since, last) = (Instant::now(), now);
            }
            self.client.listen(PAUSE)?;
        }
        Ok(())
    }

    /// Opens the file if needed, and returns parameters for the position.
    fn parameters(&mut self, at: &Place) -> Result<Value, Failure> {
        let at = Place { file: self.root.join(&at.file), ..at.clone() };
        if self.opened.insert(at.file.clone()) {
            self.client.open(&at.file)?;
        }
        Ok(self.client.at(&at, &mut self.texts))
    }

    /// Returns the places in an answer, relative to the project.
    fn references(&mut self, at: &Place) -> Result<BTreeSet<Place>, Failure> {
        let mut params = self.parameters(at)?;
        params["context"] = json!({"includeDeclaration": true});
        let answer = self.client.request("textDocument/references", params, REQUEST)?;
        let places = self.client.places(&answer, &mut self.texts)?;
        Ok(places.into_iter().map(|it| self.relative(it)).collect())
    }

    fn relative(&self, place: Place) -> Place {
        let file = place.file.strip_prefix(&self.root).map(Path::to_owned);
        Place { file: file.unwrap_or(place.file), ..place }
    }

    /// Judges the answer to a query for references.
    pub(crate) fn refer(
        &mut self,
        case: &Case,
        wanted: &BTreeSet<Place>,
    ) -> Result<Verdict, Failure> {
        let (found, why) = match self.references(&case.at) {
            Ok(found) => (found, String::new()),
            Err(failure @ Failure::Ended { .. }) => return Err(failure),
            Err(failure) => (BTreeSet::new(), failure.to_string()),
        };
        Ok(verdict(&found, wanted, &case.possible, why))
    }

    /// Judges the answer to a rename.
    pub(crate) fn rename(&mut self, case: &Case, rename: &Rename) -> Result<Verdict, Failure> {
        let (edits, why) = match self.edits(&case.at, &rename.to)? {
            Ok(edits) => (edits, String::new()),
            Err(why) => (Vec::new(), why),
        };
        let touched = edits.iter().map(|it| self.relative(it.start.clone())).collect();
        let mut verdict = match &rename.wanted {
            Wanted::Refusal(_) if edits.is_empty() => Verdict::Right,
            Wanted::Refusal(reason) => wrong(format!("not refused ({reason})")),
            Wanted::Edits { edits: wanted, optional } => {
                let found = verdict(&touched, wanted, optional, why);
                self.compared(case, rename, &edits, (wanted, optional, &touched)).unwrap_or(found)
            }
        };
        if let Verdict::Wrong { texts, .. } = &mut verdict {
            *texts = edits::applied_below(&self.root, &edits, &mut self.texts);
        }
        Ok(verdict)
    }

    /// Returns the edits of a rename, or why there are none.
    pub(crate) fn edits(
        &mut self,
        at: &Place,
        to: &str,
    ) -> Result<Result<Vec<edits::Edit>, String>, Failure> {
        match self.renamed(at, to) {
            Err(failure @ Failure::Ended { .. }) => Err(failure),
            Err(failure) => Ok(Err(failure.to_string())),
            Ok(answer) => Ok(edits::of(&self.client, &answer, &mut self.texts)),
        }
    }

    /// Sends `prepareRename`, if the server supports it, then `rename`; returns null if either is
    /// refused without an error.
    fn renamed(&mut self, at: &Place, to: &str) -> Result<Value, Failure> {
        let mut params = self.parameters(at)?;
        if self.prepares {
            let method = "textDocument/prepareRename";
            if self.client.request(method, params.clone(), REQUEST)?.is_null() {
                return Ok(Value::Null);
            }
        }
        params["newName"] = to.into();
        self.client.request("textDocument/rename", params, REQUEST)
    }

    /// Returns right if the texts are as wanted, however the edits are split; wrong if the texts
    /// differ although the places match; otherwise `None`.
    fn compared(
        &mut self,
        case: &Case,
        rename: &Rename,
        edits: &[edits::Edit],
        (wanted, optional, touched): (&BTreeSet<Place>, &BTreeSet<Place>, &BTreeSet<Place>),
    ) -> Option<Verdict> {
        let places = wanted.iter().chain(optional.intersection(touched));
        let places: BTreeSet<Place> =
            places.map(|it| Place { file: self.root.join(&it.file), ..it.clone() }).collect();
        let plain = edits::plain(&places, &case.name, &rename.to);
        if edits::applied(edits, &mut self.texts) == edits::applied(&plain, &mut self.texts) {
            return Some(Verdict::Right);
        }
        let same = wanted.is_subset(touched) && touched.len() == places.len();
        same.then(|| wrong("the places are right, the new text is not".to_owned()))
    }

    pub(crate) fn end(self) -> Result<(), Failure> {
        self.client.shutdown().map(drop)
    }
}

fn verdict(
    found: &BTreeSet<Place>,
    wanted: &BTreeSet<Place>,
    optional: &BTreeSet<Place>,
    why: String,
) -> Verdict {
    let missing: BTreeSet<Place> = wanted.difference(found).cloned().collect();
    let surplus = found.difference(wanted).filter(|it| !optional.contains(it)).cloned();
    let surplus: BTreeSet<Place> = surplus.collect();
    if missing.is_empty() && surplus.is_empty() && why.is_empty() {
        return Verdict::Right;
    }
    Verdict::Wrong { missing, surplus, why, texts: BTreeMap::new() }
}

fn wrong(why: String) -> Verdict {
    let (missing, surplus) = (BTreeSet::new(), BTreeSet::new());
    Verdict::Wrong { missing, surplus, why, texts: BTreeMap::new() }
}
