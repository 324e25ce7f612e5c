//! Possible addresses of an engine: `DOCKER_HOST`, the chosen context, the usual sockets.

use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::error::{ContextError, ContextFault};

/// An engine address to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EngineAddress {
    /// The address, such as `unix:///var/run/docker.sock`.
    pub(super) host: String,
    /// The setting that names the address, for messages.
    pub(super) origin: String,
    /// Encryption of the connection, for an address of TCP.
    pub(super) tls: Option<TlsSettings>,
}

/// Encryption of a connection, as Docker's settings have it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TlsSettings {
    /// The folder with `ca.pem`, `cert.pem` and `key.pem`; each may be absent.
    pub(super) folder: Option<PathBuf>,
    /// True if the engine need not prove that it is the named host.
    pub(super) skips_verify: bool,
}

/// The source of environment variables.
pub type Variables<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// The port of Docker with TLS.
const TLS_PORT: &str = ":2376";

impl EngineAddress {
    /// Returns an address with the encryption that the environment asks for: `https`, the port of
    /// Docker with TLS, `DOCKER_TLS_VERIFY` or `DOCKER_TLS`.
    fn new(host: String, origin: &str, variable: Variables<'_>) -> EngineAddress {
        let has = |name| set(variable, name).is_some();
        let verifies = host.starts_with("https://") || has("DOCKER_TLS_VERIFY");
        let is_usual = host.trim_end_matches('/').ends_with(TLS_PORT);
        let is_tcp = host.starts_with("tcp://") || host.starts_with("https://");
        let tls = is_tcp && (verifies || is_usual || has("DOCKER_TLS"));
        let tls = tls.then(|| TlsSettings {
            folder: set(variable, "DOCKER_CERT_PATH")
                .map(PathBuf::from)
                .or_else(|| docker_folder(variable)),
            skips_verify: has("DOCKER_TLS") && !verifies,
        });
        EngineAddress { host, origin: origin.to_owned(), tls }
    }
}

/// Returns the value of a variable that is not blank.
fn set(variable: Variables<'_>, name: &str) -> Option<String> {
    variable(name).filter(|value| !value.trim().is_empty())
}

/// Returns the folder of Docker's settings.
fn docker_folder(variable: Variables<'_>) -> Option<PathBuf> {
    let folder = set(variable, "DOCKER_CONFIG").map(PathBuf::from);
    folder.or_else(|| Some(PathBuf::from(set(variable, "HOME")?).join(".docker")))
}

/// Returns the addresses to try, best first. An address that the user has set is the only one,
/// since using another engine would surprise them. `variable` reads the environment.
pub(super) fn places(variable: Variables<'_>) -> Result<Vec<EngineAddress>, ContextError> {
    let set = |name: &str| set(variable, name);
    if let Some(host) = set("DOCKER_HOST") {
        return Ok(vec![EngineAddress::new(host, "from DOCKER_HOST", variable)]);
    }
    if let Some(folder) = docker_folder(variable) {
        let chosen = set("DOCKER_CONTEXT").or_else(|| current_context(&folder));
        if let Some(name) = chosen.filter(|name| name != "default") {
            return Ok(vec![in_context(&folder, &name)?]);
        }
    }
    let usual = |host: String| EngineAddress::new(host, "the default place", variable);
    let mut places = vec![usual("unix:///var/run/docker.sock".to_owned())];
    let rootless = set("XDG_RUNTIME_DIR").map(|folder| format!("unix://{folder}/docker.sock"));
    places.extend(rootless.map(usual));
    Ok(places)
}

/// Returns the engine that a person names by its address or by a context's name.
pub(super) fn named(name: &str, variable: Variables<'_>) -> Result<EngineAddress, ContextError> {
    if name.contains("://") {
        return Ok(EngineAddress::new(name.to_owned(), "as given", variable));
    }
    let folder = docker_folder(variable).unwrap_or_else(|| PathBuf::from("/.docker"));
    in_context(&folder, name)
}

fn current_context(folder: &Path) -> Option<String> {
    let config: Value =
        serde_json::from_slice(&trellis_os::files::read(folder.join("config.json")).ok()?).ok()?;
    config["currentContext"].as_str().filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Returns the address of a context, which Docker keeps in a folder named by the hash of its name.
fn in_context(folder: &Path, name: &str) -> Result<EngineAddress, ContextError> {
    let hash: String = Sha256::digest(name).iter().map(|byte| format!("{byte:02x}")).collect();
    let certificates = folder.join("contexts/tls").join(&hash).join("docker");
    let path = folder.join("contexts/meta").join(hash).join("meta.json");
    let wrong = |fault| ContextError { name: name.to_owned(), path: path.clone(), fault };
    let text =
        trellis_os::files::read(&path).map_err(|error| wrong(ContextFault::Unreadable(error)))?;
    let meta: Value = serde_json::from_slice(&text).map_err(|_| wrong(ContextFault::NotJson))?;
    let endpoint = &meta["Endpoints"]["docker"];
    let host = endpoint["Host"].as_str().filter(|host| !host.is_empty());
    let host = host.ok_or_else(|| wrong(ContextFault::NoAddress))?.to_owned();
    let folder = certificates.is_dir().then_some(certificates);
    let skips_verify = endpoint["SkipTLSVerify"] == true;
    let tls = folder.is_some() || skips_verify || host.starts_with("https://");
    let tls = tls.then_some(TlsSettings { folder, skips_verify });
    Ok(EngineAddress { host, origin: format!("from the context {name:?}"), tls })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn hosts(variables: &[(&str, &str)]) -> Result<Vec<String>, ContextError> {
        let find = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
        };
        Ok(places(&find)?.into_iter().map(|place| place.host).collect())
    }

    #[test]
    fn docker_host_is_the_only_place() {
        let found = hosts(&[("DOCKER_HOST", "tcp://box:2375"), ("XDG_RUNTIME_DIR", "/run/user/7")]);
        assert_eq!(found.expect("places"), ["tcp://box:2375"]);
    }

    #[test]
    fn the_environment_asks_for_encryption_as_it_does_for_docker() {
        let tls = |host: &str, variables: &[(&str, &str)]| {
            let find = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| value.to_string())
            };
            let tls = named(host, &find).expect("an address").tls;
            tls.map(|it| (it.folder.map(|it| it.display().to_string()), it.skips_verify))
        };
        let at = |folder: &str| Some(folder.to_owned());
        let (verify, home) = (("DOCKER_TLS_VERIFY", "1"), ("HOME", "/me"));
        assert_eq!(tls("tcp://box:2375", &[home]), None);
        assert_eq!(tls("tcp://box:2375", &[("DOCKER_TLS_VERIFY", "")]), None);
        assert_eq!(tls("tcp://box:1", &[verify, home]), Some((at("/me/.docker"), false)));
        assert_eq!(tls("tcp://box:2376", &[("DOCKER_CERT_PATH", "/c")]), Some((at("/c"), false)));
        assert_eq!(tls("https://box", &[("DOCKER_TLS", "1")]), Some((None, false)));
        assert_eq!(tls("tcp://box:1", &[("DOCKER_TLS", "1")]), Some((None, true)));
        assert_eq!(tls("unix:///x.sock", &[verify]), None);
        assert_eq!(tls("ssh://box:2376", &[verify]), None);
    }

    #[test]
    fn the_usual_sockets_are_tried_in_turn() {
        let found = hosts(&[("DOCKER_HOST", ""), ("XDG_RUNTIME_DIR", "/run/user/7")]);
        let usual = ["unix:///var/run/docker.sock", "unix:///run/user/7/docker.sock"];
        assert_eq!(found.expect("places"), usual);
    }

    #[test]
    fn contexts_are_honoured() {
        let home = tempfile::tempdir().expect("a folder");
        let docker = home.path().join(".docker");
        // The folder name is the hash of "far".
        let hash: String = Sha256::digest("far").iter().map(|it| format!("{it:02x}")).collect();
        let meta = docker.join("contexts/meta").join(&hash);
        fs::create_dir_all(&meta).expect("folders");
        let text = r#"{"Name":"far","Endpoints":{"docker":{"Host":"tcp://far:1"}}}"#;
        fs::write(meta.join("meta.json"), text).expect("a file");
        fs::write(docker.join("config.json"), r#"{"currentContext":"far"}"#).expect("a file");
        let home = home.path().to_str().expect("text");
        assert_eq!(hosts(&[("HOME", home)]).expect("places"), ["tcp://far:1"]);
        let default = hosts(&[("HOME", home), ("DOCKER_CONTEXT", "default")]);
        assert_eq!(default.expect("places"), ["unix:///var/run/docker.sock"]);
        let variable = |name: &str| (name == "HOME").then(|| home.to_owned());
        assert_eq!(named("far", &variable).expect("a context").tls, None);
        let certificates = docker.join("contexts/tls").join(&hash).join("docker");
        fs::create_dir_all(&certificates).expect("folders");
        let tls = named("far", &variable).expect("a context").tls;
        let expected = TlsSettings { folder: Some(certificates), skips_verify: false };
        assert_eq!(tls, Some(expected), "it needs TLS");
        let error = hosts(&[("HOME", home), ("DOCKER_CONTEXT", "lost")]).expect_err("unknown");
        assert!(matches!(error.fault, ContextFault::Unreadable(_)), "{error}");
        let error = error.to_string();
        assert!(error.contains("\"lost\"") && error.contains("docker context use"), "{error}");
    }
}
