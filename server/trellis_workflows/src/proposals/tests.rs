//! Tests of drafts that wait for a decision, and of writes that a crash cut short.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use tokio_util::sync::CancellationToken;
use trellis_engine::approval::Confidence;

use super::decide::{Choice, Decided, DecisionRequest, OpenTexts, decide};
use super::pending::{DecidedDraft, PendingProposals};
use super::proposal::{FailingTest, PendingWrite, Proposal, ProposedFile, State};
use super::store::Store;
use super::undo::undo;
use crate::fault::Fault;
use trellis_engine::{Decision, EditedFiles};
use trellis_project::edits::{self, Change};

fn file(base: Option<&str>, proposed: &str) -> ProposedFile {
    let (path, base) = ("a.py".to_owned(), base.map(str::to_owned));
    ProposedFile { path, base, proposed: proposed.to_owned() }
}

fn proposal(file: ProposedFile) -> Proposal {
    let test = FailingTest {
        id: "test_a.py::test_a".to_owned(),
        message: "AssertionError".to_owned(),
        path: None,
        line: None,
    };
    let reason = "it makes the test pass".to_owned();
    Proposal::new(test, reason, Confidence::default(), Vec::new(), vec![file])
}

fn order(choice: Choice, text: Option<&str>) -> DecisionRequest {
    DecisionRequest {
        fix: "fix-1".to_owned(),
        revision: None,
        choice,
        hunks: Vec::new(),
        files: text.map(|it| ("a.py".to_owned(), it.to_owned())).into_iter().collect(),
        note: "as I like it".to_owned(),
    }
}

/// Decides without tests and without open documents.
async fn decided(store: &Store, order: &DecisionRequest) -> Result<Decided, Fault> {
    let open = || async { Ok(OpenTexts::new()) }.boxed();
    decide(store, order, &open, None).await
}

#[tokio::test]
async fn a_run_waits_for_the_answer_and_hears_it_again_after_a_restart() {
    let text = |text: &str| [("a.py".to_owned(), text.to_owned())].into();
    let edit = EditedFiles { files: text("x = 3\n"), before: text("x = 2\n") };
    let table = [
        (order(Choice::Accept, None), Decision::Accept { by: "your review (fix-1)".to_owned() }),
        (order(Choice::Edit, Some("x = 3\n")), Decision::AcceptEdited(edit)),
        (order(Choice::Reject, None), Decision::Reject { why: "as I like it".to_owned() }),
    ];
    for (order, decision) in table {
        let wanted = DecidedDraft { id: "fix-1".to_owned(), decision };
        let root = tempfile::tempdir().expect("a folder");
        let store = Store::of(root.path());
        let report: Arc<Mutex<Vec<String>>> = Arc::default();
        let sink = report.clone();
        let waiting = PendingProposals::new(root.path(), move |_, id| {
            sink.lock().expect("nobody broke it").push(id.to_owned());
        });
        let cancel = CancellationToken::new();
        let draft = || proposal(file(None, "x = 2\n"));
        let person = async {
            while store.get("fix-1").is_err() {
                tokio::task::yield_now().await;
            }
            decided(&store, &order).await.map(|it| it.proposal.state)
        };
        let (answer, state) = tokio::join!(waiting.ask("a.double", draft(), &cancel), person);
        assert_eq!(answer.expect("an answer").as_ref(), Some(&wanted));
        assert!(matches!(state, Ok(State::Accepted | State::Rejected)), "{state:?}");
        assert!(!root.path().join("a.py").exists(), "the run writes it itself");
        let again = PendingProposals::new(root.path(), |_, id| panic!("{id} is not new"));
        let again = again.ask("a.double", draft(), &cancel).await;
        assert_eq!(again.expect("an answer"), Some(wanted));
        assert_eq!(*report.lock().expect("nobody broke it"), ["fix-1"]);
    }
}

#[tokio::test]
async fn another_draft_takes_the_place_of_one_that_waits() {
    let root = tempfile::tempdir().expect("a folder");
    let waiting = PendingProposals::new(root.path(), |_, _| {});
    let cancel = CancellationToken::new();
    // The draft is presented, and then the wait is dropped.
    for text in ["x = 2\n", "x = 3\n"] {
        let draft = proposal(file(None, text));
        let stop = async {
            let store = Store::of(root.path());
            let is_there = |it: &Proposal| it.files[0].proposed == text;
            while !store.list().is_ok_and(|it| it.proposals.iter().any(is_there)) {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            answer = waiting.ask("a.double", draft, &cancel) => panic!("{answer:?}"),
            () = stop => {}
        }
    }
    let states = |store: &Store| -> Vec<State> {
        store.list().expect("a list").proposals.iter().map(|it| it.state).collect()
    };
    let store = Store::of(root.path());
    assert_eq!(states(&store), [State::Stale, State::Waiting]);
    cancel.cancel();
    let answer = waiting.ask("a.double", proposal(file(None, "x = 3\n")), &cancel).await;
    assert_eq!(answer.expect("no fault"), None);
    assert_eq!(states(&store), [State::Stale, State::Waiting], "it goes on waiting");
}

#[tokio::test]
async fn a_write_that_a_crash_cut_short_was_made_or_was_not() {
    for is_made in [true, false] {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("a.py");
        fs::write(&path, "x = 1\n").expect("a file");
        let store = Store::of(root.path());
        let mut fix = proposal(file(Some("x = 1\n"), "x = 2\n"));
        let lock = store.lock().expect("it is free");
        store.add(&mut fix, &lock).expect("stored");
        let name = "fix-1, revision 1, at noon".to_owned();
        fix.writing = Some(PendingWrite {
            name: name.clone(),
            files: vec![file(Some("x = 2\n"), "x = 2\n")],
            state: State::Accepted,
            what: "accepted".to_owned(),
            note: String::new(),
        });
        store.save(&fix, &lock).expect("stored");
        drop(lock);
        if is_made {
            let source = "x = 1\n".to_owned();
            let edits = trellis_python::TextEdits::between(&source, "x = 2\n");
            let changes = vec![Change { path: path.clone(), source, edits }];
            edits::apply(root.path(), &name, changes).expect("made");
        }
        let text = || fs::read_to_string(&path).expect("a file");
        let answer = decided(&store, &order(Choice::Accept, None)).await;
        if is_made {
            assert!(answer.expect_err("a refusal").message.contains("accepted already"));
        } else {
            assert_eq!(answer.expect("it waits").edit, Some(1));
        }
        assert_eq!(
            (text().as_str(), store.get("fix-1").expect("there").state),
            ("x = 2\n", State::Accepted)
        );
        undo(&store, "fix-1", &OpenTexts::new()).expect("taken back");
        assert_eq!(
            (text().as_str(), store.get("fix-1").expect("there").state),
            ("x = 1\n", State::Undone)
        );
    }
}

#[tokio::test]
async fn a_proposal_leads_nowhere_else() {
    let root = tempfile::tempdir().expect("a folder");
    let outside = tempfile::tempdir().expect("a folder");
    fs::write(outside.path().join("a.py"), "x = 1\n").expect("a file");
    let absolute = outside.path().join("a.py").display().to_string();
    for path in ["../a.py", "linked/a.py", "", absolute.as_str()] {
        let root = tempfile::tempdir_in(root.path()).expect("a folder");
        let link = root.path().join("linked");
        std::os::unix::fs::symlink(outside.path(), link).expect("a link");
        let store = Store::of(root.path());
        let it = ProposedFile { path: path.to_owned(), ..file(Some("x = 1\n"), "x = 2\n") };
        let lock = store.lock().expect("it is free");
        store.add(&mut proposal(it), &lock).expect("stored");
        drop(lock);
        let answer = decided(&store, &order(Choice::Accept, None)).await;
        let said = answer.expect_err("a refusal").message;
        assert!(said.contains("is outside the project"), "{path}: {said}");
    }
    assert_eq!(fs::read_to_string(outside.path().join("a.py")).expect("a file"), "x = 1\n");
}

/// Creates a file and a proposal about it.
fn stored(root: &Path, before: &str, after: &str) -> Store {
    fs::write(root.join("a.py"), before).expect("a file");
    let store = Store::of(root);
    let lock = store.lock().expect("it is free");
    store.add(&mut proposal(file(Some(before), after)), &lock).expect("stored");
    drop(lock);
    store
}

/// Returns the file as an editor has it: without the byte order mark, with one kind of line end.
fn shown() -> OpenTexts {
    [("a.py".to_owned(), "x = 1\r\ny = 1\r\nz = 1\r\n".into())].into()
}

#[tokio::test]
async fn what_an_editor_makes_of_a_text_is_not_written() {
    let (before, after) =
        ("\u{feff}x = 1\r\ny = 1\nz = 1\r\n", "\u{feff}x = 2\r\ny = 1\nz = 1\r\n");
    let edit = order(Choice::Edit, Some("x = 3\r\ny = 1\r\nz = 1\r\n"));
    let table = [(order(Choice::Accept, None), after.to_owned()), (edit, after.replace('2', "3"))];
    for (order, wanted) in table {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("a.py");
        let store = stored(root.path(), before, after);
        let open = || async { Ok(shown()) }.boxed();
        decide(&store, &order, &open, None).await.expect("it is open, and saved");
        assert_eq!(fs::read_to_string(&path).expect("the file"), wanted, "{:?}", order.choice);
        let text = shown()["a.py"].replacen('1', if wanted == after { "2" } else { "3" }, 1);
        let open = [("a.py".to_owned(), text.into())].into();
        undo(&store, "fix-1", &open).expect("taken back");
        assert_eq!(fs::read_to_string(&path).expect("the file"), before);
    }
}

#[tokio::test]
async fn a_rebase_keeps_the_text_of_a_person() {
    let root = tempfile::tempdir().expect("a folder");
    let path = root.path().join("a.py");
    let store = stored(root.path(), "x = 1\n\n\ny = 1\n", "x = 2\n\n\ny = 1\n");
    fs::write(&path, "x = 1\n\n\ny = 5\n").expect("written");
    let own = |choice| order(choice, Some("x = 2  # mine\n\n\ny = 1\n"));
    let stale = decided(&store, &own(Choice::Edit)).await.expect_err("it has changed");
    assert!(stale.to_string().contains("changed since"), "{stale}");
    let rebased = decided(&store, &own(Choice::Rebase)).await.expect("a place");
    let [file] = &rebased.proposal.files[..] else { panic!("one file") };
    assert_eq!(file.base.as_deref(), Some("x = 1\n\n\ny = 5\n"));
    assert_eq!(file.proposed, "x = 2  # mine\n\n\ny = 5\n");
    assert_eq!(rebased.proposal.revision, 2);
}
