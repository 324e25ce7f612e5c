//! From a name to a model: what is needed, where it is looked up, what is said when it is missing.

use model::{OpenError, Secret, Settings, open};

use crate::live::{KEY, completion};
use crate::server::{Canned, Server};
use crate::{ask, no_env};

#[test]
fn names_that_lead_nowhere_say_so() {
    for (spec, expected) in [
        ("", "unknown model provider in ``; known are openai:MODEL, recorded:FILE"),
        ("gpt", "unknown model provider in `gpt`; known are openai:MODEL, recorded:FILE"),
        (
            "opnai:gpt",
            "unknown model provider in `opnai:gpt`; known are openai:MODEL, recorded:FILE",
        ),
        ("openai:", "`openai:` names a provider but no model or file"),
        ("recorded:", "`recorded:` names a provider but no model or file"),
        ("openai:gpt", "no API key for `openai:gpt`: OPENAI_API_KEY is not set"),
        (
            "recorded:/no/such",
            "cannot read the recording /no/such: No such file or directory (os error 2)",
        ),
    ] {
        let error = open(spec, &Settings::default(), no_env).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(!error.hint().is_empty());
    }
}

#[test]
fn a_key_is_optional_on_loopback_only() {
    for (url, expected) in [
        ("http://127.0.0.1:1", true),
        ("http://localhost:1/v1", true),
        ("https://a.example", false),
    ] {
        let settings = Settings { base_url: Some(url.to_owned()), ..Settings::default() };
        match open("openai:m", &settings, no_env) {
            Ok(model) => assert!(expected && model.name() == "openai:m", "{url}"),
            Err(error) => {
                assert!(!expected && matches!(error, OpenError::NoKey { .. }), "{url}: {error}")
            }
        }
    }
}

#[test]
fn unusable_keys_and_addresses_are_refused_without_showing_them() {
    let key = Settings { api_key: Secret::new("sk-ünfit\n-key"), ..Settings::default() };
    let address = Settings {
        base_url: Some("https://me:hunter2@a.example".to_owned()),
        ..Settings::default()
    };
    for (settings, shown) in [
        (key, "the API key for `openai:m` has characters"),
        (address, "the base URL for `openai:m` cannot be used: it holds a user name or password"),
    ] {
        let error = open("openai:m", &settings, no_env).unwrap_err();
        assert!(error.to_string().starts_with(shown), "{error}");
        let all = format!("{error} {error:?}");
        assert!(!all.contains("hunter2") && !all.contains("nfit"), "{all}");
    }
}

#[tokio::test]
async fn the_environment_fills_in_what_settings_leave_open() {
    let server = Server::start(vec![Canned::say(200, &completion("hello"))]).await;
    let env = |name: &str| match name {
        "OPENAI_API_KEY" => Some(format!("{KEY}\n")),
        "OPENAI_BASE_URL" => Some(format!("{}/v1/", server.url)),
        _ => None,
    };
    let own_key = Settings { api_key: Secret::new("of-settings"), ..Settings::default() };
    for (settings, key) in [(Settings::default(), KEY), (own_key, "of-settings")] {
        open("openai:m", &settings, env).unwrap().ask(&ask("n", "tests", 0)).await.unwrap();
        let head = server.requests().pop().unwrap().head;
        assert!(head.contains(&format!("authorization: bearer {key}\r\n")), "{head}");
    }
}

#[tokio::test]
async fn without_a_key_no_authorization_is_sent() {
    let server = Server::start(vec![Canned::say(200, &completion("hello"))]).await;
    let settings = Settings { base_url: Some(server.url.clone()), ..Settings::default() };
    open("openai:m", &settings, no_env).unwrap().ask(&ask("n", "tests", 0)).await.unwrap();
    assert!(!server.requests()[0].head.contains("authorization"));
}
