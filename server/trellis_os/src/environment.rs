//! The environment variables that are passed to other programs.

use std::env;
use std::ffi::OsString;

/// Variables that programs need to find files and settings, and installers to find packages.
const PLAIN: [&str; 24] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "TEMP",
    "TMP",
    "NETRC",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "SOURCE_DATE_EPOCH",
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
];

/// Prefixes of further such variables. Those of installers may hold passwords, which are meant for
/// them.
const FAMILIES: [&str; 9] =
    ["LC_", "XDG_", "PIP_", "UV_", "PYENV_", "CARGO_HOME", "RUSTUP_", "PKG_CONFIG", "NIX_"];

/// Returns the variables for a program that may run untrusted code, as an installer does. None of
/// them could hold an API key of Trellis.
pub fn plain_environment() -> Vec<(OsString, OsString)> {
    env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_plain)).collect()
}

/// Returns the variables of [`plain_environment`] for a program that needs no network: without
/// proxies and the settings of installers, which may hold passwords.
pub fn offline_environment() -> Vec<(OsString, OsString)> {
    let mut all = plain_environment();
    all.retain(|(name, _)| name.to_str().is_some_and(is_offline));
    all
}

fn is_offline(name: &str) -> bool {
    let is_of_the_network = ["PIP_", "UV_", "NETRC"].iter().any(|it| name.starts_with(it))
        || name.to_ascii_lowercase().ends_with("_proxy");
    is_plain(name) && !is_of_the_network
}

fn is_plain(name: &str) -> bool {
    PLAIN.contains(&name)
        || FAMILIES.iter().any(|family| name.starts_with(family))
        || name.to_ascii_lowercase().ends_with("_proxy")
}

#[cfg(test)]
mod tests {
    use super::{is_offline, is_plain};

    #[test]
    fn keys_are_left_out_and_ways_are_kept() {
        for name in ["PATH", "HOME", "HTTPS_PROXY", "no_proxy", "PIP_INDEX_URL", "LC_ALL"] {
            assert!(is_plain(name), "{name}");
        }
        for name in ["OPENAI_API_KEY", "MINE", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "path"] {
            assert!(!is_plain(name), "{name}");
        }
    }

    #[test]
    fn passwords_of_the_network_are_for_those_that_use_it() {
        for name in ["PATH", "HOME", "LC_ALL", "XDG_CONFIG_HOME", "SSL_CERT_FILE"] {
            assert!(is_offline(name), "{name}");
        }
        for name in ["HTTPS_PROXY", "all_proxy", "PIP_INDEX_URL", "UV_INDEX_URL", "NETRC", "MINE"] {
            assert!(!is_offline(name), "{name}");
        }
    }
}
