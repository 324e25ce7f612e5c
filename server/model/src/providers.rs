//! The services known by name: where they are, where their keys are looked for, how they talk.

use crate::connection::{Key, KeyHeader, Place};
use crate::wire::{self, Wire};

/// The forms a model's name can take.
pub const FORMS: [&str; 10] = [
    "openai:MODEL",
    "anthropic:MODEL",
    "gemini:MODEL",
    "ollama:MODEL",
    "azure:DEPLOYMENT",
    "groq:MODEL",
    "openrouter:MODEL",
    "lmstudio:MODEL",
    "editor[:MODEL]",
    "recorded:FILE",
];

/// A service by name.
pub(crate) struct Provider {
    /// As it stands before the colon of a model's name.
    pub(crate) name: &'static str,
    pub(crate) wire: &'static Wire,
    /// Its public address; none where everybody has one of their own.
    pub(crate) base: Option<&'static str>,
    pub(crate) place: Place,
}

const OPENAI_KEY: [Key; 1] = [Key { variable: "OPENAI_API_KEY", header: KeyHeader::Bearer }];

/// Every provider of live models. Variables are those of the providers' own tools, in the order in which
/// those look.
pub(crate) const PROVIDERS: [Provider; 8] = [
    Provider {
        name: "openai",
        wire: &wire::OPENAI,
        base: Some("https://api.openai.com/v1"),
        place: Place { url_variables: &["OPENAI_BASE_URL"], keys: &OPENAI_KEY, may_be_open: false },
    },
    Provider {
        name: "anthropic",
        wire: &wire::ANTHROPIC,
        base: Some("https://api.anthropic.com"),
        place: Place {
            url_variables: &["ANTHROPIC_BASE_URL"],
            keys: &[
                Key { variable: "ANTHROPIC_API_KEY", header: KeyHeader::Named("x-api-key") },
                Key { variable: "ANTHROPIC_AUTH_TOKEN", header: KeyHeader::Bearer },
            ],
            may_be_open: false,
        },
    },
    Provider {
        name: "gemini",
        wire: &wire::GEMINI,
        base: Some("https://generativelanguage.googleapis.com"),
        place: Place {
            url_variables: &["GOOGLE_GEMINI_BASE_URL"],
            keys: &[
                Key { variable: "GOOGLE_API_KEY", header: KeyHeader::Named("x-goog-api-key") },
                Key { variable: "GEMINI_API_KEY", header: KeyHeader::Named("x-goog-api-key") },
            ],
            may_be_open: false,
        },
    },
    Provider {
        name: "ollama",
        wire: &wire::OLLAMA,
        base: Some("http://127.0.0.1:11434"),
        place: Place {
            url_variables: &["OLLAMA_HOST"],
            keys: &[Key { variable: "OLLAMA_API_KEY", header: KeyHeader::Bearer }],
            may_be_open: true,
        },
    },
    Provider {
        name: "azure",
        wire: &wire::AZURE,
        base: None,
        place: Place {
            url_variables: &["AZURE_OPENAI_ENDPOINT"],
            keys: &[Key { variable: "AZURE_OPENAI_API_KEY", header: KeyHeader::Named("api-key") }],
            may_be_open: false,
        },
    },
    Provider {
        name: "groq",
        wire: &wire::OPENAI,
        base: Some("https://api.groq.com/openai/v1"),
        place: Place {
            url_variables: &["GROQ_BASE_URL"],
            keys: &[Key { variable: "GROQ_API_KEY", header: KeyHeader::Bearer }],
            may_be_open: false,
        },
    },
    Provider {
        name: "openrouter",
        wire: &wire::OPENAI,
        base: Some("https://openrouter.ai/api/v1"),
        place: Place {
            url_variables: &["OPENROUTER_BASE_URL"],
            keys: &[Key { variable: "OPENROUTER_API_KEY", header: KeyHeader::Bearer }],
            may_be_open: false,
        },
    },
    Provider {
        name: "lmstudio",
        wire: &wire::OPENAI,
        base: Some("http://127.0.0.1:1234/v1"),
        place: Place {
            url_variables: &["LMSTUDIO_BASE_URL"],
            keys: &[Key { variable: "LMSTUDIO_API_KEY", header: KeyHeader::Bearer }],
            may_be_open: true,
        },
    },
];

/// Where embeddings in OpenAI's form are looked for.
pub(crate) const OPENAI: &Provider = &PROVIDERS[0];
/// Where Ollama is looked for.
pub(crate) const OLLAMA: &Provider = &PROVIDERS[3];

/// The provider of this name.
pub(crate) fn find(name: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|it| it.name == name)
}

/// What is used where nobody chose: an alias that its provider keeps on its current fast model.
const DEFAULT: (&str, &str) = ("gemini", "gemini:gemini-flash-latest");

/// What the keys in the environment say about the model to take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// The only key is of a provider that has a model which always is its current fast one.
    Default(&'static str),
    /// There are keys, of several providers or of one whose model has to be named: their variables.
    Unclear(Vec<&'static str>),
    /// There is no key.
    None,
}

/// Which model to take where none is named.
pub fn choice(env: impl Fn(&str) -> Option<String>) -> Choice {
    let is_set = |key: &&Key| env(key.variable).is_some_and(|it| !it.trim().is_empty());
    let keys: Vec<(&str, &'static str)> = (PROVIDERS.iter())
        .filter_map(|it| Some((it.name, it.place.keys.iter().find(is_set)?.variable)))
        .collect();
    match keys.as_slice() {
        [] => Choice::None,
        [(name, _)] if *name == DEFAULT.0 => Choice::Default(DEFAULT.1),
        several => Choice::Unclear(several.iter().map(|(_, variable)| *variable).collect()),
    }
}
