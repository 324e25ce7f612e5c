//! Possible addresses of an engine: `DOCKER_HOST`, the chosen context, the usual sockets.

use std::path::PathBuf;

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
    /// True if the address comes with certificates.
    pub(super) certified: bool,
}

impl EngineAddress {
    fn new(host: String, origin: &str) -> EngineAddress {
        EngineAddress { host, origin: origin.to_owned(), certified: false }
    }
}

/// Returns the addresses to try, best first. An address that the user has set is the only one,
/// since using another engine would surprise them. `variable` reads the environment.
pub(super) fn places(
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<EngineAddress>, ContextError> {
    let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    if let Some(host) = set("DOCKER_HOST") {
        return Ok(vec![EngineAddress::new(host, "from DOCKER_HOST")]);
    }
    let folder =
        set("DOCKER_CONFIG").map(PathBuf::from).or_else(|| Some(config_folder(&set("HOME")?)));
    if let Some(folder) = folder {
        let chosen = set("DOCKER_CONTEXT").or_else(|| current_context(&folder));
        if let Some(name) = chosen.filter(|name| name != "default") {
            return Ok(vec![in_context(&folder, &name)?]);
        }
    }
    let usual = |host: String| EngineAddress::new(host, "the default place");
    let mut places = vec![usual("unix:///var/run/docker.sock".to_owned())];
    let rootless = set("XDG_RUNTIME_DIR").map(|folder| format!("unix://{folder}/docker.sock"));
    places.extend(rootless.map(usual));
    Ok(places)
}

/// Returns the engine that a person names by its address or by a context's name.
pub(super) fn named(
    name: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<EngineAddress, ContextError> {
    if name.contains("://") {
        return Ok(EngineAddress::new(name.to_owned(), "as given"));
    }
    let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    let folder = set("DOCKER_CONFIG").map(PathBuf::from);
    let folder = folder.or_else(|| Some(config_folder(&set("HOME")?)));
    in_context(&folder.unwrap_or_else(|| config_folder("/")), name)
}

fn config_folder(home: &str) -> PathBuf {
    PathBuf::from(home).join(".docker")
}

fn current_context(folder: &std::path::Path) -> Option<String> {
    let config: Value =
        serde_json::from_slice(&trellis_os::files::read(folder.join("config.json")).ok()?).ok()?;
    config["currentContext"].as_str().filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Returns the address of a context, which Docker keeps in a folder named by the hash of its name.
fn in_context(folder: &std::path::Path, name: &str) -> Result<EngineAddress, ContextError> {
    let hash: String = Sha256::digest(name).iter().map(|byte| format!("{byte:02x}")).collect();
    let certificates = folder.join("contexts/tls").join(&hash);
    let path = folder.join("contexts/meta").join(hash).join("meta.json");
    let wrong = |fault| ContextError { name: name.to_owned(), path: path.clone(), fault };
    let text =
        trellis_os::files::read(&path).map_err(|error| wrong(ContextFault::Unreadable(error)))?;
    let meta: Value = serde_json::from_slice(&text).map_err(|_| wrong(ContextFault::NotJson))?;
    let host = meta["Endpoints"]["docker"]["Host"].as_str().filter(|host| !host.is_empty());
    let host = host.ok_or_else(|| wrong(ContextFault::NoAddress))?.to_owned();
    let (origin, certified) = (format!("from the context {name:?}"), certificates.is_dir());
    Ok(EngineAddress { host, origin, certified })
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
        assert!(!named("far", &variable).expect("a context").certified);
        fs::create_dir_all(docker.join("contexts/tls").join(&hash)).expect("folders");
        assert!(named("far", &variable).expect("a context").certified, "it needs TLS");
        let error = hosts(&[("HOME", home), ("DOCKER_CONTEXT", "lost")]).expect_err("unknown");
        assert!(matches!(error.fault, ContextFault::Unreadable(_)), "{error}");
        let error = error.to_string();
        assert!(error.contains("\"lost\"") && error.contains("docker context use"), "{error}");
    }
}
