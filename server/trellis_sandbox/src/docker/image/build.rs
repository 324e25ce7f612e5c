//! Builds an image by adding packages to a base image.

use std::{
    collections::{HashMap, VecDeque},
    env,
};

use bollard::{body_full, query_parameters::BuildImageOptionsBuilder};
use futures_util::StreamExt;
use serde_json::json;

use super::Engine;
use crate::error::{EngineFailure, ImageError, ImageInstallProblem};

/// Maximum lines of pip's output in an error.
const LAST_WORDS: usize = 12;

/// A program that installs its arguments. It needs no shell, and no network if all packages are
/// present. It copes with an interpreter that the distribution manages and with one without pip.
const INSTALL: &str = r#"
import os, subprocess, sys
os.environ.update(PIP_BREAK_SYSTEM_PACKAGES="1", PIP_ROOT_USER_ACTION="ignore", PIP_NO_INPUT="1",
                  PIP_NO_CACHE_DIR="1", PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_COLOR="1")
os.umask(0o022)
if sys.version_info < (3, 9):
    sys.exit("its Python is %s; 3.9 or newer is needed" % sys.version.split()[0])
pip = [sys.executable, "-m", "pip"]
silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
if subprocess.call(pip + ["--version"], **silent):
    subprocess.call([sys.executable, "-m", "ensurepip"], **silent)
sys.exit(subprocess.call(pip + ["install", "--quiet", "--"] + sys.argv[1:]))
"#;

/// Settings that a build needs where the network is restricted. Docker keeps the proxies out of the
/// image. The indexes can be read in its history, so addresses with a password are left out.
const PROXIES: [&str; 6] =
    ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"];
const INDEXES: [&str; 3] = ["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST"];

/// Builds the image `tag` from the image with the id `base`.
pub(super) async fn build(
    engine: &Engine,
    tag: &str,
    base_name: &str,
    base: &str,
    requirements: &[String],
) -> Result<(), ImageError> {
    let failed = |output: String| ImageError::NotBuilt {
        requirements: requirements.to_vec(),
        base: base_name.to_owned(),
        problem: ImageInstallProblem::of(&output),
        output,
    };
    let settings = settings(&|name| env::var(name).ok());
    let labels = HashMap::from([("trellis.environment", base_name)]);
    let options = BuildImageOptionsBuilder::default().t(tag).rm(true).forcerm(true);
    let options = options.labels(&labels).buildargs(&settings).build();
    let context = context(&dockerfile(base, requirements, &settings))
        .map_err(|error| failed(error.to_string()))?;
    let mut words = BuildLog::default();
    let mut steps = engine.docker.build_image(options, None, Some(body_full(context.into())));
    while let Some(step) = steps.next().await {
        match step {
            Ok(step) => words.add(step.stream.as_deref().unwrap_or_default()),
            Err(error) => return Err(failed(words.last_or(&EngineFailure(error).to_string()))),
        }
    }
    Ok(())
}

fn settings(variable: &dyn Fn(&str) -> Option<String>) -> HashMap<String, String> {
    let names = PROXIES.into_iter().chain(INDEXES);
    let set = names.filter_map(|name| Some((name.to_owned(), variable(name)?)));
    set.filter(|(name, value)| !(name.starts_with("PIP_") && value.contains('@'))).collect()
}

fn dockerfile(base: &str, requirements: &[String], settings: &HashMap<String, String>) -> String {
    let declared = INDEXES.into_iter().filter(|name| settings.contains_key(*name));
    let declared: String = declared.map(|name| format!("ARG {name}\n")).collect();
    let mut command = vec!["python3", "-c", INSTALL];
    command.extend(requirements.iter().map(String::as_str));
    format!("FROM {base}\nUSER 0:0\n{declared}RUN {}\nUSER 1000:1000\n", json!(command))
}

/// Returns the archive from which the image is built.
fn context(dockerfile: &str) -> std::io::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(dockerfile.len() as u64);
    header.set_mode(0o644);
    archive.append_data(&mut header, "Dockerfile", dockerfile.as_bytes())?;
    archive.into_inner()
}

/// The output of a build, without the builder's own lines.
#[derive(Default)]
struct BuildLog {
    lines: VecDeque<String>,
    /// The line that has not ended yet.
    open: String,
}

impl BuildLog {
    fn add(&mut self, text: &str) {
        for piece in text.split_inclusive('\n') {
            self.open.push_str(piece);
            if self.open.ends_with('\n') {
                self.line_ends();
            }
        }
    }

    fn line_ends(&mut self) {
        const BUILDER: [&str; 5] =
            ["Step ", "---> ", "Removing intermediate", "Successfully ", "[Warning]"];
        let line = without_colours(&std::mem::take(&mut self.open));
        let line = line.trim();
        if line.is_empty() || BUILDER.iter().any(|start| line.starts_with(start)) {
            return;
        }
        // One of many repeated attempts says as much as all of them.
        let attempt = |line: &str| line.starts_with("WARNING: Retrying");
        if attempt(line) {
            self.lines.retain(|earlier| !attempt(earlier));
        }
        self.lines.push_back(line.to_owned());
        if self.lines.len() > LAST_WORDS {
            self.lines.pop_front();
        }
    }

    /// Returns the last lines joined into one, or `otherwise` if there are none.
    fn last_or(&mut self, otherwise: &str) -> String {
        self.line_ends();
        if self.lines.is_empty() {
            return otherwise.to_owned();
        }
        Vec::from(std::mem::take(&mut self.lines)).join(" / ")
    }
}

/// Removes the colors with which the engine marks standard error.
fn without_colours(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        plain.push_str(piece.split_once('m').map_or(piece, |(_, rest)| rest));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pips_words_are_kept() {
        let mut words = BuildLog::default();
        words.add("Step 3/4 : RUN x\n ---> Running in 1\n");
        words.add("\u{1b}[91mERROR: No matching");
        words.add(" distribution\n\u{1b}[0m");
        assert_eq!(words.last_or("nothing"), "ERROR: No matching distribution");
        assert_eq!(BuildLog::default().last_or("nothing"), "nothing");
    }

    #[test]
    fn passwords_stay_outside() {
        let variable = |name: &str| match name {
            "PIP_INDEX_URL" => Some("https://me:secret@box/simple".to_owned()),
            "PIP_EXTRA_INDEX_URL" => Some("https://box/simple".to_owned()),
            _ => None,
        };
        let settings = settings(&variable);
        assert_eq!(settings.keys().collect::<Vec<_>>(), ["PIP_EXTRA_INDEX_URL"]);
        let text = dockerfile("sha256:1", &["a<2".to_owned()], &settings);
        assert!(
            text.starts_with("FROM sha256:1\nUSER 0:0\nARG PIP_EXTRA_INDEX_URL\nRUN [\"python3\"")
        );
        assert!(text.contains(r#""a<2"]"#) && text.ends_with("\nUSER 1000:1000\n"), "{text}");
    }
}
