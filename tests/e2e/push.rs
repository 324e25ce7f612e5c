//! Work pushed to a remote, with pull requests on a stand-in for a forge.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use ::lsp::patience;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

use crate::implement::{self, ALONE, code, new_tests, shop};
use crate::repair::{git, text};
use crate::tasks::{self, Task, list, rivals};
use crate::world::{Ran, World};

const TOKEN: &str = "forge-token-0123456789abcdef";

/// A forge with one repository, `o/r`, that lists pull requests like Gitea: all of them, a few per
/// page.
struct Forge {
    host: String,
    state: Arc<Mutex<State>>,
    /// Signals a request for a pull request that gets no response.
    held: Receiver<()>,
}

#[derive(Default)]
struct State {
    pulls: Vec<Value>,
    asked: Vec<Asked>,
    /// Response to requests for a pull request in place of the usual one: status line with headers,
    /// and body.
    says: Option<(String, String)>,
    holds: bool,
}

#[derive(Clone)]
struct Asked {
    what: String,
    token: String,
}

impl Forge {
    fn start() -> Forge {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let host = listener.local_addr().expect("an address").to_string();
        let state = Arc::new(Mutex::new(State::default()));
        let (told, held) = channel();
        let shared = state.clone();
        std::thread::spawn(move || {
            // Connections without a response stay open.
            let mut open = Vec::new();
            for stream in listener.incoming().flatten() {
                open.extend(answer(stream, &shared, &told));
            }
        });
        Forge { host, state, held }
    }

    fn url(&self) -> String {
        format!("http://{}/o/r.git", self.host)
    }

    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().expect("no panic"))
    }

    /// Returns the pull requests of this repository, by branch and title.
    fn pulls(&self) -> Vec<(String, String)> {
        let own = |it: &&Value| it["head"]["repo"]["full_name"] == "o/r";
        let shown = |it: &Value| (text(&it["head"]["ref"]), text(&it["title"]));
        self.with(|it| it.pulls.iter().filter(own).map(shown).collect())
    }

    fn count(&self, verb: &str) -> usize {
        self.with(|it| it.asked.iter().filter(|it| it.what.starts_with(verb)).count())
    }
}

fn answer(mut stream: TcpStream, state: &Mutex<State>, told: &Sender<()>) -> Option<TcpStream> {
    let (asked, body) = question(&stream)?;
    let mut state = state.lock().expect("no panic");
    state.asked.push(asked.clone());
    let words: Vec<&str> = asked.what.split(' ').collect();
    let is_new = words[0] == "POST";
    if is_new && state.holds {
        // The receiver may be gone.
        let _ = told.send(());
        return Some(stream);
    }
    let (head, body) = match state.says.clone().filter(|_| is_new) {
        Some(said) => said,
        None => pulls(&mut state, (words[0], words[1]), &body),
    };
    let length = body.len();
    let head = format!("HTTP/1.1 {head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    // The requester may be gone.
    let _ = stream.write_all((head + &body).as_bytes());
    None
}

fn question(stream: &TcpStream) -> Option<(Asked, Value)> {
    let mut reader = BufReader::new(stream);
    let (mut length, mut token, mut what) = (0, String::new(), String::new());
    reader.read_line(&mut what).ok()?;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let Some((name, value)) = line.split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "authorization" => token = value.trim().to_owned(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((Asked { what, token }, serde_json::from_slice(&body).unwrap_or_default()))
}

/// Handles a request for pull requests.
fn pulls(state: &mut State, (verb, path): (&str, &str), body: &Value) -> (String, String) {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let is = |it: &Value, other: &Value| {
        it["head"]["ref"] == other["head"] && it["head"]["repo"]["full_name"] == "o/r"
    };
    let said = match (verb, path.strip_prefix("/api/v1/repos/o/r/pulls")) {
        ("GET", Some("")) => {
            let page = query.split('&').find_map(|it| it.strip_prefix("page=")?.parse().ok());
            let page: usize = page.unwrap_or(1);
            (200, json!(state.pulls.iter().skip(2 * (page - 1)).take(2).collect::<Vec<_>>()))
        }
        ("POST", Some("")) if state.pulls.iter().any(|it| is(it, body)) => {
            (409, json!({ "message": "pull request already exists" }))
        }
        ("POST", Some("")) => {
            let number = state.pulls.len() + 1;
            let new = pull(number, "o/r", body);
            state.pulls.push(new.clone());
            (201, new)
        }
        ("PATCH", Some(number)) => {
            let number: Option<usize> = number.trim_start_matches('/').parse().ok();
            let found = state.pulls.iter_mut().find(|it| it["number"] == json!(number));
            let found = found.expect("a pull request");
            found["body"] = body["body"].clone();
            (201, found.clone())
        }
        _ => (404, json!({ "message": "not found" })),
    };
    (format!("{} X", said.0), said.1.to_string())
}

fn pull(number: usize, repository: &str, it: &Value) -> Value {
    json!({
        "number": number, "title": it["title"], "body": it["body"], "html_url": format!("https://forge.example/{number}"),
        "head": { "ref": it["head"], "repo": { "full_name": repository } }, "base": { "ref": it["base"] },
    })
}

/// Creates a bare repository that git finds under the forge's address through the user's own
/// settings.
fn remote(world: &World, forge: Option<&Forge>) -> String {
    let place = world.root().join("remote.git").display().to_string();
    git(world.root(), &["init", "--quiet", "--bare", "--initial-branch=main", &place]);
    if let Some(forge) = forge {
        let url = forge.url();
        world.write("home/.gitconfig", &format!("[url \"{place}\"]\n\tinsteadOf = {url}\n"));
    }
    place
}

fn at(world: &World, branch: &str) -> String {
    let name = format!("refs/heads/{branch}");
    let said =
        git(&world.root().join("remote.git"), &["for-each-ref", "--format=%(objectname)", &name]);
    said.trim().to_owned()
}

fn branches(world: &World) -> Vec<String> {
    let said = git(
        &world.root().join("remote.git"),
        &["for-each-ref", "--format=%(refname:short)", "refs/heads"],
    );
    said.lines().map(str::to_owned).collect()
}

fn in_p(world: &World, arguments: &[&str]) -> String {
    git(&world.root().join("p"), arguments).trim().to_owned()
}

fn shop_with(forge: Option<&Forge>) -> World {
    let world = shop(&[("scaffold", &[new_tests()]), ("implementation", &[code()])]);
    let place = remote(&world, forge);
    in_p(&world, &["push", "--quiet", &place, "main"]);
    world
}

fn with_token(world: &World, arguments: &[&str]) -> Command {
    let mut command = world.command(arguments);
    command.env("TRELLIS_FORGE_TOKEN", TOKEN);
    command
}

fn push(world: &World, remote: &str, more: &[&str]) -> Ran {
    let arguments = [&implement::ARGUMENTS[..], &["--push", remote], more].concat();
    Ran::of(with_token(world, &arguments).output().expect("trellis starts"))
}

/// Asserts that only the forge has the token.
fn assert_no_token(world: &World, ran: &Ran) {
    assert!(!ran.stdout.contains(TOKEN) && !ran.stderr.contains(TOKEN), "{}", ran.stderr);
    let found = Command::new("grep").args(["-rl", TOKEN]).current_dir(world.root()).output();
    assert_eq!(String::from_utf8_lossy(&found.expect("grep").stdout), "");
}

#[test]
fn a_merge_is_pushed_and_what_the_remote_refuses_is_pushed_later() {
    let world = shop_with(None);
    in_p(&world, &["remote", "add", "origin", "../remote.git"]);
    let hook = world.write("remote.git/hooks/pre-receive", "#!/bin/sh\necho not today\nexit 1\n");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("a mode");
    let start = at(&world, "main");
    let result = push(&world, "origin", &ALONE).exits(0).json();
    let note = text(&result["pushed"][0]["note"]);
    assert!(note.contains("not today") && result["pushed"][0]["branch"] == "main", "{result:#}");
    assert_eq!((result["outcome"].as_str(), at(&world, "main")), (Some("merged"), start));
    fs::remove_file(hook).expect("removed");
    // The next start, of any work, completes the push.
    let _ = push(&world, "origin", &["--max-retries", "0", "--approve", "threshold"]);
    assert_eq!(at(&world, "main"), text(&result["commit"]));
    let _ = push(&world, "elsewhere", &[]).exits(65).says("there is no remote");
    let _ = push(&world, "ext::sh -c x", &[]).exits(65).says("could run any program");
    // A relative path starts at the current folder.
    let world = shop_with(None);
    let result = push(&world, "./remote.git", &ALONE).exits(0).json();
    assert_eq!(at(&world, "main"), text(&result["commit"]), "{result:#}");
}

#[test]
fn what_waits_for_a_person_has_one_pull_request_until_it_is_merged() {
    let forge = Forge::start();
    let world = shop_with(Some(&forge));
    // A fork's branch of the same name, and other pull requests before this one in the list.
    let other = json!({ "title": "theirs", "head": "trellis/issue-42", "base": "main" });
    forge.with(|it| it.pulls = (1..=3).map(|at| pull(at, "fork/r", &other)).collect());
    let ran = push(&world, &forge.url(), &[]).exits(2);
    let result = ran.json();
    let expected =
        json!([{ "branch": "trellis/issue-42", "pullRequest": "https://forge.example/4" }]);
    assert_eq!(result["pushed"], expected, "{result:#}");
    assert_eq!(at(&world, "trellis/issue-42"), text(&result["tip"]));
    let opened = forge.with(|it| it.pulls[3].clone());
    assert_eq!(
        (&opened["title"], &opened["base"]["ref"]),
        (&json!("Issue 42: A discount"), &json!("main"))
    );
    let body = text(&opened["body"]);
    assert!(
        body.contains("# Implementation of issue 42") && body.contains(&text(&result["reason"])),
        "{body}"
    );
    let tokens = forge.with(|it| it.asked.clone());
    assert!(tokens.iter().all(|it| it.token == format!("Bearer {TOKEN}")), "to the forge alone");
    assert_no_token(&world, &ran);
    // A second push finds the pull request, updates it, and keeps the title that a person gave it.
    forge.with(|it| {
        it.pulls[3]["title"] = json!("Mine");
        it.pulls[3]["body"] = json!("old");
    });
    let again = push(&world, &forge.url(), &[]).exits(2).json();
    assert_eq!(again["pushed"], expected, "{again:#}");
    assert_eq!(forge.pulls(), [("trellis/issue-42".to_owned(), "Mine".to_owned())]);
    assert_eq!(forge.with(|it| it.pulls[3]["body"].clone()), json!(body));
    assert_eq!((forge.count("POST"), forge.count("PATCH")), (1, 1));
    let merged = push(&world, &forge.url(), &ALONE).exits(0).json();
    assert_eq!(at(&world, "main"), text(&merged["commit"]), "{merged:#}");
    assert_eq!(branches(&world), ["main"]);
}

#[test]
fn what_the_forge_answers_instead_is_a_note_and_nothing_else() {
    let forge = Forge::start();
    let world = shop_with(Some(&forge));
    let (elsewhere, message) =
        (Forge::start(), r#"{"message": "no, SECRET"}"#.replace("SECRET", TOKEN));
    let redirect = format!("307 X\r\nlocation: http://{}/api/v1/repos/o/r/pulls", elsewhere.host);
    let table = [
        ("401 X", message.as_str(), "set TRELLIS_FORGE_TOKEN"),
        ("403 X", &message, "permission to write pull requests of o/r"),
        ("404 X", &message, "o/r does not exist"),
        ("422 X", &message, "open the pull request yourself"),
        ("503 X", "<html>", "answers 503: run the same command again later"),
        ("201 X", "<html>", "is not a pull request"),
        (&redirect, "", "the token nowhere else"),
    ];
    for (head, body, words) in table {
        forge.with(|it| it.says = Some((head.to_owned(), body.to_owned())));
        let ran = push(&world, &forge.url(), &[]).exits(2);
        let note = text(&ran.json()["pushed"][0]["note"]);
        assert!(note.contains(words), "{head}: {note}");
        assert_no_token(&world, &ran);
    }
    assert_eq!(elsewhere.count(""), 0, "no redirect is followed");
    assert_eq!(at(&world, "trellis/issue-42"), in_p(&world, &["rev-parse", "trellis/issue-42"]));
}

#[test]
fn commits_of_others_are_never_forced_away() {
    let forge = Forge::start();
    let world = shop_with(Some(&forge));
    let place = world.root().join("remote.git").display().to_string();
    git(world.root(), &["clone", "--quiet", &place, "theirs"]);
    let theirs = world.root().join("theirs");
    world.write("theirs/theirs.txt", "theirs\n");
    git(&theirs, &["add", "."]);
    git(&theirs, &["commit", "--quiet", "-m", "theirs"]);
    git(&theirs, &["push", "--quiet", "origin", "HEAD:main", "HEAD:trellis/issue-42"]);
    let tip = at(&world, "main");
    // The commits were fetched: git knows them, but Trellis still did not push them.
    in_p(&world, &["fetch", "--quiet", &place, "main"]);
    let result = push(&world, &forge.url(), &[]).exits(2).json();
    assert!(text(&result["pushed"][0]["note"]).contains("Trellis did not push"), "{result:#}");
    let result = push(&world, &forge.url(), &ALONE).exits(0).json();
    assert!(text(&result["pushed"][0]["note"]).contains("never force-pushes"), "{result:#}");
    assert_eq!((at(&world, "main"), at(&world, "trellis/issue-42")), (tip.clone(), tip));
    assert_eq!(forge.count("POST"), 0);
}

#[test]
fn killed_between_push_and_pull_request_the_next_start_opens_it() {
    let forge = Forge::start();
    let world = shop_with(Some(&forge));
    forge.with(|it| it.holds = true);
    let url = forge.url();
    let arguments = [&implement::ARGUMENTS[..], &["--push", &url]].concat();
    let mut command = with_token(&world, &arguments);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn();
    let mut child = child.expect("trellis starts");
    forge.held.recv_timeout(patience()).expect("a pull request is asked for");
    kill_process_group(Pid::from_child(&child), Signal::KILL).expect("it can be killed");
    child.wait().expect("it ended");
    assert_eq!((branches(&world).len(), forge.pulls().len()), (2, 0), "pushed, and not opened");
    forge.with(|it| it.holds = false);
    let result = push(&world, &url, &[]).exits(2).json();
    assert_eq!(result["pushed"][0]["pullRequest"], "https://forge.example/1", "{result:#}");
    assert_eq!(at(&world, "trellis/issue-42"), text(&result["tip"]), "ours, wherever it was");
    assert_eq!(forge.pulls().len(), 1);
}

#[test]
fn a_strangers_project_gets_no_token_and_starts_no_program() {
    let forge = Forge::start();
    let world = shop_with(Some(&forge));
    in_p(&world, &["remote", "add", "origin", &forge.url()]);
    let own = world.read("p/.git/config");
    let mark = world.root().join("started");
    let start = format!("touch {}; false", mark.display());
    let hostile = format!(
        "[core]\n\tsshCommand = {start:?}\n[credential]\n\thelper = {:?}\n",
        format!("!{start}")
    );
    world.write("p/.git/config", &format!("{own}\n{hostile}"));
    let result = push(&world, "origin", &[]).exits(2).json();
    let note = text(&result["pushed"][0]["note"]);
    assert!(note.contains("was not sent") && note.contains("TRELLIS_FORGE_HOST="), "{note}");
    assert!(
        note.contains(&format!("http://{}/o/r/compare/main...trellis/issue-42", forge.host)),
        "{note}"
    );
    // For another host, also if the address was typed.
    let for_host = |remote: &str, host: &str| {
        let arguments = [&implement::ARGUMENTS[..], &["--push", remote]].concat();
        let mut command = with_token(&world, &arguments);
        Ran::of(command.env("TRELLIS_FORGE_HOST", host).output().expect("trellis starts"))
    };
    // A remote may have a name like an address.
    in_p(&world, &["config", &format!("remote.{}.url", forge.url()), "/nowhere"]);
    for remote in ["origin", &forge.url()] {
        let _ = for_host(remote, "forge.example").exits(2).says("was not sent");
    }
    assert_eq!(forge.count(""), 0);
    let _ = for_host("origin", &forge.host).exits(2);
    assert_eq!(forge.pulls().len(), 1, "the user has named it");
    // Another way to start a program, and a way to send the token elsewhere.
    in_p(&world, &["remote", "set-url", "origin", "ssh://git@127.0.0.1:1/o/r"]);
    let _ = push(&world, "origin", &[]).exits(2).says("reading");
    // A folder of the project has the project's hooks, however its path is written.
    git(world.root(), &["init", "--quiet", "--bare", "p/evil.git"]);
    let hook = world.write("p/evil.git/hooks/pre-receive", &format!("#!/bin/sh\n{start}\n"));
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("a mode");
    let place = world.root().join("p").display().to_string();
    for url in [
        format!("{place}/evil.git"),
        format!("file://{place}/evil.git"),
        format!("file://localhost{place}/evil.git"),
        format!("file://{place}/%65vil.git"),
        "./evil.git".to_owned(),
    ] {
        in_p(&world, &["remote", "set-url", "origin", &url]);
        let _ = push(&world, "origin", &[]).exits(65).says("git would run its hooks");
    }
    in_p(&world, &["remote", "set-url", "origin", &forge.url()]);
    assert!(!mark.exists());
    world.write("p/trellis.toml", &format!("[forge]\nurl = \"http://{}/api/v1\"\n", forge.host));
    let _ = push(&world, "origin", &[]).exits(65).says("a project cannot set `forge.url`");
}

#[test]
fn tasks_push_what_is_merged_and_offer_what_is_left() {
    let forge = Forge::start();
    let good_and_bad: [Task; 2] = [("good", &[], 0), ("bad", &[], 9)];
    let world = list(&good_and_bad, rivals());
    remote(&world, Some(&forge));
    let run = || {
        let url = forge.url();
        let more = ["--push", &url, "--max-retries", "0"];
        let arguments = [&tasks::ARGUMENTS[..], &more].concat();
        Ran::of(with_token(&world, &arguments).output().expect("trellis starts"))
    };
    let result = run().exits(1).json();
    let failed: Vec<String> =
        result["failedTasks"].as_object().expect("an object").keys().cloned().collect();
    assert_eq!(failed.len(), 2, "{result:#}");
    let left: Vec<String> = failed.iter().map(|it| format!("trellis/task-{it}")).collect();
    assert_eq!(at(&world, "main"), git(&world.out(), &["rev-parse", "main"]).trim());
    assert_eq!(branches(&world), [vec!["main".to_owned()], left.clone()].concat());
    let opened: Vec<String> = forge.pulls().into_iter().map(|it| it.0).collect();
    assert_eq!(opened, left);
    let body = forge.with(|it| text(&it.pulls[1]["body"]));
    assert!(body.contains("app/registry.py"), "{body}");
    // Failed work is tried again, and its new result replaces the branch pushed before.
    let before = at(&world, "trellis/task-bad");
    let again = run().exits(1).json();
    assert_eq!(forge.pulls().len(), 2, "{again:#}");
    let here = git(&world.out(), &["rev-parse", "trellis/task-bad"]);
    assert_eq!(at(&world, "trellis/task-bad"), here.trim(), "{again:#}");
    assert_ne!(before, here.trim());
}
