//! What other programs see of our environment.

use std::env;
use std::ffi::OsString;

/// Variables that programs need to find their way, and installers to find their packages.
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

/// Families of them. Those of installers may hold passwords, which are theirs.
const FAMILIES: [&str; 9] =
    ["LC_", "XDG_", "PIP_", "UV_", "PYENV_", "CARGO_HOME", "RUSTUP_", "PKG_CONFIG", "NIX_"];

/// The variables that a program started by us gets when it may run a stranger's code, as an installer does: none that
/// could hold a key of ours.
pub fn plain_environment() -> Vec<(OsString, OsString)> {
    env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_plain)).collect()
}

fn is_plain(name: &str) -> bool {
    PLAIN.contains(&name)
        || FAMILIES.iter().any(|family| name.starts_with(family))
        || name.to_ascii_lowercase().ends_with("_proxy")
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn keys_are_left_out_and_ways_are_kept() {
        for name in ["PATH", "HOME", "HTTPS_PROXY", "no_proxy", "PIP_INDEX_URL", "LC_ALL"] {
            assert!(is_plain(name), "{name}");
        }
        for name in ["OPENAI_API_KEY", "MINE", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "path"] {
            assert!(!is_plain(name), "{name}");
        }
    }
}
