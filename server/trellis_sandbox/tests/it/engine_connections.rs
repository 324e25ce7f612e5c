//! Engines over TLS and ssh: certificates as Docker keeps them, and the person's own `ssh`.

use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use tempfile::TempDir;
use tokio::time::timeout;
use tokio_rustls::rustls::{
    RootCertStore, ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::WebPkiClientVerifier,
};
use tokio_util::sync::CancellationToken;
use trellis_sandbox::{
    Config, Docker, ImageSpec, OpenedEngines, Outcome, Request, Runner, Tree, error::DockerError,
};

use crate::{
    fake_engine::{FakeEngine, Fault},
    support::{patience, project, scratch},
};

/// A folder with certificates, contexts and programs of a test.
struct Home {
    folder: TempDir,
    variables: Vec<(&'static str, String)>,
}

impl Home {
    fn new() -> Home {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().display().to_string();
        Home { folder, variables: vec![("HOME", home)] }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Home {
        self.variables.push((name, value.into()));
        self
    }

    async fn open(&self, names: &[&str], project: &Path) -> Result<OpenedEngines, DockerError> {
        let variable = |name: &str| {
            let found = self.variables.iter().rev().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.clone())
        };
        let names: Vec<String> = names.iter().map(|it| (*it).to_owned()).collect();
        let spec = ImageSpec { base: "base:1".to_owned(), requirements: Vec::new() };
        let cache = self.path("cache");
        let opening = Docker::open_all(&names, &variable, project, &spec, &cache, &|_| {});
        timeout(patience(), opening).await.expect("it ends")
    }

    /// Returns the line about an engine that cannot be used; another one remains.
    async fn refusal(&self, name: &str) -> String {
        let (good, folder) = (FakeEngine::new(Fault::None), project());
        let opened = self.open(&[name, &good.name], folder.path()).await.expect("one engine");
        assert_eq!(opened.engines.len(), 1, "the other engine does the work");
        let [line] = opened.absent.as_slice() else { panic!("{:?}", opened.absent) };
        line.to_string()
    }

    /// Runs a test on the engine and checks that it passes there.
    async fn passes_on(&self, name: &str) {
        let folder = project();
        fs::write(folder.path().join("test_a.py"), "def test_a(): pass\n").expect("written");
        let opened = self.open(&[name], folder.path()).await.expect("an engine");
        let config = Config { scratch: scratch(), ..Config::from_environment() };
        let runner = Runner::on_engines(opened.engines, &config);
        let request = Request::new(Tree::Folder(folder.path().to_owned()));
        let cancel = CancellationToken::new();
        let report = timeout(patience(), runner.run(&request, &cancel)).await.expect("it ends");
        assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
        assert_eq!(report.engine.as_deref(), Some(name));
    }

    /// Makes the context `far`.
    fn context(&self, host: &str, skips_verify: bool) -> PathBuf {
        use sha2::{Digest, Sha256};
        let hash: String = Sha256::digest("far").iter().map(|it| format!("{it:02x}")).collect();
        let contexts = self.path(".docker/contexts");
        let (meta, tls) = (contexts.join("meta").join(&hash), contexts.join("tls").join(&hash));
        fs::create_dir_all(&meta).expect("folders");
        let endpoint = serde_json::json!({ "Host": host, "SkipTLSVerify": skips_verify });
        let text = serde_json::json!({ "Name": "far", "Endpoints": { "docker": endpoint } });
        fs::write(meta.join("meta.json"), text.to_string()).expect("a file");
        tls.join("docker")
    }

    /// Makes an `ssh` of shell commands; returns the home with it on `PATH`.
    fn ssh(self, script: &str) -> Home {
        let programs = self.path("bin");
        fs::create_dir(&programs).expect("a folder");
        let program = programs.join("ssh");
        let text = format!("#!/bin/sh\necho $$ \"$@\" >> '{}'\n{script}\n", self.log().display());
        fs::write(&program, text).expect("a file");
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("a mode");
        self.with("PATH", programs.display().to_string())
    }

    fn log(&self) -> PathBuf {
        self.path("ssh.log")
    }

    /// Returns process id and arguments of each start of `ssh`.
    fn starts(&self) -> Vec<(String, String)> {
        let text = fs::read_to_string(self.log()).expect("ssh was started");
        let lines = text.lines().map(|it| it.split_once(' ').expect("an id"));
        lines.map(|(id, rest)| (id.to_owned(), rest.to_owned())).collect()
    }
}

/// The options of `openssl` for a new key.
const KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";

/// An authority with a certificate of a server and one of a client, in files.
struct Authority(PathBuf);

impl Authority {
    fn new(folder: PathBuf) -> Authority {
        fs::create_dir_all(&folder).expect("a folder");
        let authority = Authority(folder);
        let name = authority.0.file_name().expect("a name").to_string_lossy();
        authority.openssl(&format!(
            "req -x509 {KEY} -days 2 -subj /CN={name} -keyout ca.key -out ca.pem"
        ));
        authority.issue("server", "serverAuth", "IP:127.0.0.1");
        authority.issue("client", "clientAuth", "DNS:client");
        authority
    }

    fn openssl(&self, arguments: &str) {
        let mut command = Command::new("openssl");
        let made = command.args(arguments.split(' ')).current_dir(&self.0).output();
        let made = made.expect("openssl");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }

    fn issue(&self, name: &str, usage: &str, alternative: &str) {
        let text = format!(
            "subjectAltName={alternative}\nextendedKeyUsage={usage}\nbasicConstraints=CA:FALSE\n"
        );
        fs::write(self.0.join("extensions"), text).expect("a file");
        self.openssl(&format!("req {KEY} -subj /CN={name} -keyout {name}.key -out {name}.csr"));
        self.openssl(&format!("x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile extensions -out {name}.pem"));
    }

    fn chain(&self, name: &str) -> Vec<CertificateDer<'static>> {
        vec![CertificateDer::from_pem_file(self.0.join(name)).expect("a certificate")]
    }

    /// Returns a server that requires a certificate of this authority from its clients.
    fn server(&self) -> ServerConfig {
        let mut roots = RootCertStore::empty();
        self.chain("ca.pem").into_iter().for_each(|it| roots.add(it).expect("an authority"));
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
        let builder = ServerConfig::builder_with_provider(provider);
        let builder = builder.with_safe_default_protocol_versions().expect("versions");
        let builder = builder.with_client_cert_verifier(verifier.build().expect("a verifier"));
        let key = PrivateKeyDer::from_pem_file(self.0.join("server.key")).expect("a key");
        builder.with_single_cert(self.chain("server.pem"), key).expect("a pair")
    }

    /// Puts the files of a client into a folder under the names that Docker gives them.
    fn give(&self, files: &[&str], folder: &Path) {
        fs::create_dir_all(folder).expect("a folder");
        for name in files {
            let own = match *name {
                "cert.pem" => "client.pem",
                "key.pem" => "client.key",
                name => name,
            };
            fs::copy(self.0.join(own), folder.join(name)).expect("copied");
        }
    }
}

const ALL: [&str; 3] = ["ca.pem", "cert.pem", "key.pem"];

#[tokio::test(flavor = "multi_thread")]
async fn tests_run_on_an_engine_that_requires_client_certificates() {
    let home = Home::new();
    let authority = Authority::new(home.path("authority"));
    let engine = FakeEngine::with_tls(authority.server()).await;
    authority.give(&ALL, &home.context(&engine.name, false));
    home.passes_on("far").await;
    authority.give(&ALL, &home.path("certificates"));
    let path = home.path("certificates").display().to_string();
    let home = home.with("DOCKER_CERT_PATH", path);
    home.passes_on(&engine.name.replace("tcp://", "https://")).await;
    home.with("DOCKER_TLS_VERIFY", "1").passes_on(&engine.name).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_context_may_leave_the_engine_unverified() {
    let home = Home::new();
    let authority = Authority::new(home.path("authority"));
    let engine = FakeEngine::with_tls(authority.server()).await;
    authority.give(&["cert.pem", "key.pem"], &home.context(&engine.name, true));
    home.passes_on("far").await;
    let folder = home.context(&engine.name, false);
    Authority::new(home.path("other")).give(&["ca.pem"], &folder);
    let line = home.refusal("far").await;
    assert!(line.starts_with("far: its certificate is refused: "), "{line}");
    assert!(line.contains("UnknownIssuer") && line.contains("ca.pem"), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_refuses_the_client_says_so() {
    let home = Home::new();
    let authority = Authority::new(home.path("authority"));
    let engine = FakeEngine::with_tls(authority.server()).await;
    let folder = home.context(&engine.name, false);
    authority.give(&["ca.pem"], &folder);
    let line = home.refusal("far").await;
    assert!(line.starts_with("far: it refuses the client certificate: "), "{line}");
    let other = Authority::new(home.path("other"));
    other.give(&["cert.pem", "key.pem"], &folder);
    let line = home.refusal("far").await;
    assert!(line.starts_with("far: it refuses the client certificate: "), "{line}");
    authority.give(&["cert.pem"], &folder);
    let line = home.refusal("far").await;
    assert!(line.ends_with("certificate and key must belong together"), "{line}");
    fs::remove_file(folder.join("key.pem")).expect("removed");
    let line = home.refusal("far").await;
    assert!(line.ends_with("key.pem is missing, although there is a cert.pem; put its key there"));
    fs::write(folder.join("ca.pem"), "no certificate").expect("written");
    let line = home.refusal("far").await;
    assert!(line.ends_with("ca.pem is not a certificate in PEM; export it again"), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_tls_and_a_host_without_address_are_named() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let server = tokio::spawn(async move {
        use tokio::io::AsyncWriteExt;
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    let home = Home::new();
    Authority::new(home.path("authority")).give(&ALL, &home.path(".docker"));
    let line = home.refusal(&format!("https://127.0.0.1:{port}")).await;
    assert!(line.contains(": it does not use TLS: "), "{line}");
    server.abort();
    let line = home.refusal("tcp://no-such-host.invalid:2376").await;
    assert!(line.contains(": it cannot be reached: ") && line.contains("dns error"), "{line}");
}

/// Returns an `ssh` that carries bytes to the socket of an engine.
fn relay(engine: &FakeEngine) -> String {
    let path = env::var("PATH").expect("PATH is set");
    let socket = engine.name.trim_start_matches("unix://");
    let program = "\
import os, socket, sys, threading
engine = socket.socket(socket.AF_UNIX)
engine.connect(sys.argv[1])
def send():
    while data := os.read(0, 65536):
        engine.sendall(data)
    engine.shutdown(socket.SHUT_WR)
threading.Thread(target=send, daemon=True).start()
while data := engine.recv(65536):
    while data:
        data = data[os.write(1, data):]
";
    format!("PATH='{path}' exec python3 -c '{program}' '{socket}'")
}

#[tokio::test(flavor = "multi_thread")]
async fn tests_run_on_an_engine_behind_ssh() {
    let engine = FakeEngine::new(Fault::None);
    let banner = "echo Authorized uses only >&2\n";
    let home = Home::new().ssh(&format!("{banner}{}", relay(&engine)));
    home.passes_on("ssh://me@box:2222").await;
    home.passes_on("ssh://[::1]/run/it's.sock").await;
    let expected = "-T -o BatchMode=yes -o ConnectTimeout=10 -l me -p 2222 -- box docker system \
                    dial-stdio";
    assert_eq!(home.starts()[0].1, expected);
    let expected = r"-T -o BatchMode=yes -o ConnectTimeout=10 -- ::1 docker --host 'unix:///run/it'\''s.sock' system dial-stdio";
    assert_eq!(home.starts().last().expect("a start").1, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ssh_that_fails_is_quoted_with_the_remedy() {
    let cases = [
        (
            "echo \"Warning: added\" >&2\necho 'me@box: Permission denied (publickey).' >&2\nexit 255",
            "ssh failed: me@box: Permission denied (publickey); `ssh me@box true` must work \
             without a question",
        ),
        (
            "echo 'sh: 1: docker: not found' >&2\nexit 127",
            "the docker client is missing on me@box: sh: 1: docker: not found; install it there, \
             on the PATH of `ssh me@box docker`",
        ),
        (
            "echo 'failed to dial unix /var/run/docker.sock' >&2\nexit 1",
            "docker on me@box ended with 1: failed to dial unix /var/run/docker.sock; check it \
             with `ssh me@box docker info`",
        ),
        (
            "echo 'Welcome to box'\nexec cat",
            "me@box prints \"Welcome to box\" before the reply of Docker; remove this output from \
             the startup files of the shell there",
        ),
    ];
    for (script, reason) in cases {
        let home = Home::new().ssh(&format!("PATH=/usr/bin:/bin\n{script}"));
        assert_eq!(home.refusal("ssh://me@box").await, format!("ssh://me@box: {reason}"));
    }
    let home = Home::new().ssh("exit 255");
    let line = home.refusal("ssh://me@box:2222").await;
    assert!(line.ends_with("`ssh -p 2222 me@box true` must work without a question"), "{line}");
    let line = Home::new().with("PATH", "/nowhere").refusal("ssh://box").await;
    assert_eq!(line, "ssh://box: the program ssh is not on PATH; install a client of SSH");
    let line = Home::new().refusal("ssh://me:secret@box").await;
    assert!(line.contains("use a key of ssh"), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ssh_that_hangs_is_given_up_and_killed() {
    let home = Home::new().ssh("exec /bin/sleep 1000");
    let line = home.refusal("ssh://box").await;
    assert_eq!(line, "ssh://box: no answer within 15 s; check it with `docker info`");
    let ended = async {
        while Path::new("/proc").join(&home.starts()[0].0).exists() {
            tokio::task::yield_now().await;
        }
    };
    timeout(patience(), ended).await.expect("it is killed");
}
