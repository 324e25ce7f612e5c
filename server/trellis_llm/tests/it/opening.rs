//! Tests of opening a model by its name: required values, their sources, errors for missing ones.

use trellis_llm::{DefaultModel, OpenError, PROVIDERS, Secret, Settings, choice, open};

use crate::live::{KEY, completion};
use crate::server::{Canned, Server};
use crate::{ask, no_env};

#[test]
fn names_that_lead_nowhere_say_so() {
    for (spec, expected) in [
        ("", "unknown model provider in ``; KNOWN"),
        ("gpt", "unknown model provider in `gpt`; KNOWN"),
        ("opnai:gpt", "unknown model provider in `opnai:gpt`; KNOWN"),
        ("openai:", "`openai:` names a provider, but no model or file"),
        ("anthropic", "`anthropic` names a provider, but no model or file"),
        ("gemini:m", "no API key for `gemini:m`: GOOGLE_API_KEY or GEMINI_API_KEY is not set"),
        ("azure:m", "no address for `azure:m`: AZURE_OPENAI_ENDPOINT is not set (there is none)"),
        ("editor", "`editor` needs a model of the editor, and no editor is connected"),
        ("recorded:", "`recorded:` names a provider, but no model or file"),
        ("openai:gpt", "no API key for `openai:gpt`: OPENAI_API_KEY is not set"),
        (
            "recorded:/no/such",
            "cannot read the recording /no/such: No such file or directory (os error 2)",
        ),
    ] {
        let error = open(spec, &Settings::default(), no_env).unwrap_err();
        let known = format!("known providers: {}", PROVIDERS.join(", "));
        assert_eq!(error.to_string(), expected.replace("KNOWN", &known));
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
        (key, "the API key for `openai:m` contains characters"),
        (
            address,
            "the base URL for `openai:m` cannot be used: it contains a user name or password",
        ),
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

#[test]
fn the_only_key_chooses_where_its_provider_has_a_current_fast_model() {
    for (keys, expected) in [
        (&[][..], DefaultModel::None),
        (&["GEMINI_API_KEY"], DefaultModel::Default("gemini:gemini-flash-latest")),
        (&["OPENAI_API_KEY"], DefaultModel::Unclear(vec!["OPENAI_API_KEY"])),
        (
            &["GEMINI_API_KEY", "ANTHROPIC_API_KEY"],
            DefaultModel::Unclear(vec!["ANTHROPIC_API_KEY", "GEMINI_API_KEY"]),
        ),
    ] {
        let env = |name: &str| keys.contains(&name).then(|| KEY.to_owned());
        assert_eq!(choice(env), expected, "{keys:?}");
    }
}

#[tokio::test]
async fn a_provider_of_ones_own_gets_its_own_key_and_no_other() {
    let server = Server::start(vec![Canned::say(200, &completion("hello"))]).await;
    let env = |name: &str| match name {
        "OPENAI_API_KEY" => Some("sk-of-openai-0123456789".to_owned()),
        "MINE" => Some("key-of-mine-0123456789".to_owned()),
        "OPENAI_BASE_URL" => Some("http://127.0.0.1:1".to_owned()),
        _ => None,
    };
    let own = Settings {
        like: Some("openai".to_owned()),
        base_url: Some(server.url.clone()),
        ..Settings::default()
    };
    let named = Settings { key_variable: Some("MINE".to_owned()), ..own.clone() };
    for (settings, key) in [(own, None), (named, Some("bearer key-of-mine-0123456789"))] {
        open("mine:m", &settings, env).unwrap().ask(&ask("n", "tests", 0)).await.unwrap();
        let head = server.requests().pop().unwrap().head;
        assert!(!head.contains("sk-of-openai"), "{head}");
        assert_eq!(head.contains("authorization"), key.is_some());
        assert!(key.is_none_or(|key| head.contains(key)), "{head}");
    }
}
