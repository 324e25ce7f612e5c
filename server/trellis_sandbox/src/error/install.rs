//! Kinds of failures of package installers, with their remedies.
//!
//! Installers are programs of others that report the kind of a failure in their output alone. This
//! module is the only one that reads it.

use super::{FREE_SPACE, is_full};

/// Signs of a network that does not work, in the output of pip.
const OFFLINE: [&str; 5] =
    ["NewConnectionError", "ConnectionError", "Temporary failure", "ProxyError", "ReadTimeout"];

/// Sign of a package or version that does not exist, in the output of pip.
const NO_MATCH: &str = "No matching distribution";

fn is_offline(output: &str) -> bool {
    OFFLINE.iter().any(|sign| output.contains(sign))
}

/// Kinds of failures of `python -m venv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VenvProblem {
    /// The interpreter cannot install pip.
    NoPip,
    /// Another failure.
    Other,
}

impl VenvProblem {
    /// Recognizes the failure from venv's output.
    pub(crate) fn of(output: &str) -> VenvProblem {
        if output.contains("ensurepip") { VenvProblem::NoPip } else { VenvProblem::Other }
    }

    /// Returns the remedy.
    pub fn hint(self) -> &'static str {
        match self {
            VenvProblem::NoPip => {
                "install the venv module (Debian, Ubuntu: `apt install python3-venv`)"
            }
            VenvProblem::Other => {
                "check that Python is installed completely and the disk has free space"
            }
        }
    }
}

/// Kinds of failures of `pip install`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipProblem {
    /// The package index cannot be reached.
    Offline,
    /// The index has no such package or version.
    NoMatch,
    /// Another failure.
    Other,
}

impl PipProblem {
    /// Recognizes the failure from pip's output.
    pub(crate) fn of(output: &str) -> PipProblem {
        match (is_offline(output), output.contains(NO_MATCH)) {
            (true, _) => PipProblem::Offline,
            (false, true) => PipProblem::NoMatch,
            (false, false) => PipProblem::Other,
        }
    }

    /// Returns the remedy.
    pub fn hint(self) -> &'static str {
        match self {
            PipProblem::Offline => {
                "the package index cannot be reached: check the network, or set PIP_INDEX_URL or \
                 PIP_FIND_LINKS to a mirror or folder"
            }
            PipProblem::NoMatch => {
                "check the name and version; when offline, set PIP_FIND_LINKS to a folder of \
                 wheels"
            }
            PipProblem::Other => "run pip with the same packages yourself",
        }
    }
}

/// Kinds of failures of `uv pip install`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UvProblem {
    /// uv is set to use no network.
    SetOffline,
    /// No versions fit together.
    NoSolution,
    /// Another failure.
    Other,
}

impl UvProblem {
    /// Recognizes the failure from uv's output.
    pub(crate) fn of(output: &str) -> UvProblem {
        let [is_offline, has_none] =
            ["network was disabled", "No solution found"].map(|sign| output.contains(sign));
        match (is_offline, has_none) {
            (true, _) => UvProblem::SetOffline,
            (false, true) => UvProblem::NoSolution,
            (false, false) => UvProblem::Other,
        }
    }

    /// Returns the remedy.
    pub fn hint(self) -> &'static str {
        match self {
            UvProblem::SetOffline => {
                "uv is set to stay offline: unset UV_OFFLINE, or set UV_FIND_LINKS to a folder \
                 of wheels"
            }
            UvProblem::NoSolution => {
                "check the names and versions; for another index set UV_INDEX_URL, because uv \
                 does not read pip.conf"
            }
            UvProblem::Other => "run `uv pip install` with the same packages yourself",
        }
    }
}

/// Kinds of failures of `pip install` in the build of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageInstallProblem {
    /// The package index cannot be reached from a build.
    Offline,
    /// The index has no such package or version.
    NoMatch,
    /// The base image has no Python.
    NoPython,
    /// The engine's disk is full.
    Full,
    /// Another failure.
    Other,
}

impl ImageInstallProblem {
    /// Recognizes the failure from the output of the build.
    pub(crate) fn of(output: &str) -> ImageInstallProblem {
        let no_python = output.contains("python3") && output.contains("not found");
        match PipProblem::of(output) {
            PipProblem::Offline => ImageInstallProblem::Offline,
            PipProblem::NoMatch => ImageInstallProblem::NoMatch,
            PipProblem::Other if is_full(output) => ImageInstallProblem::Full,
            PipProblem::Other if no_python => ImageInstallProblem::NoPython,
            PipProblem::Other => ImageInstallProblem::Other,
        }
    }

    /// Returns the remedy.
    pub(super) fn hint(self) -> &'static str {
        match self {
            ImageInstallProblem::Offline => {
                "a build cannot reach the package index: check the network, set HTTPS_PROXY or \
                 PIP_INDEX_URL (without a password), or choose a base image that already has \
                 these packages"
            }
            ImageInstallProblem::NoMatch => "check the name and version",
            ImageInstallProblem::NoPython => {
                "choose a base image with Python, such as python:3.12-slim"
            }
            ImageInstallProblem::Full => FREE_SPACE,
            ImageInstallProblem::Other => "run the same command in a container of that image",
        }
    }
}
