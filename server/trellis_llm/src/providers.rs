//! Known providers: base URLs, variables for keys, wire formats.

use crate::connection::{KeyHeader, KeyVariable, ServiceDefaults};
use crate::wire::{self, WireFormat};

/// The forms of a model's name.
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

/// A named service.
pub(crate) struct Provider {
    /// The part of a model's name before the colon.
    pub(crate) name: &'static str,
    pub(crate) wire: &'static WireFormat,
    /// Public base URL; `None` if every user has a different one.
    pub(crate) base: Option<&'static str>,
    pub(crate) place: ServiceDefaults,
}

const OPENAI_KEY: [KeyVariable; 1] =
    [KeyVariable { variable: "OPENAI_API_KEY", header: KeyHeader::Bearer }];

/// All providers of live models. Variables are those of the providers' own tools, in the order in
/// which those tools read them.
pub(crate) const PROVIDERS: [Provider; 8] = [
    Provider {
        name: "openai",
        wire: &wire::OPENAI,
        base: Some("https://api.openai.com/v1"),
        place: ServiceDefaults {
            url_variables: &["OPENAI_BASE_URL"],
            keys: &OPENAI_KEY,
            may_be_open: false,
        },
    },
    Provider {
        name: "anthropic",
        wire: &wire::ANTHROPIC,
        base: Some("https://api.anthropic.com"),
        place: ServiceDefaults {
            url_variables: &["ANTHROPIC_BASE_URL"],
            keys: &[
                KeyVariable {
                    variable: "ANTHROPIC_API_KEY",
                    header: KeyHeader::Named("x-api-key"),
                },
                KeyVariable { variable: "ANTHROPIC_AUTH_TOKEN", header: KeyHeader::Bearer },
            ],
            may_be_open: false,
        },
    },
    Provider {
        name: "gemini",
        wire: &wire::GEMINI,
        base: Some("https://generativelanguage.googleapis.com"),
        place: ServiceDefaults {
            url_variables: &["GOOGLE_GEMINI_BASE_URL"],
            keys: &[
                KeyVariable {
                    variable: "GOOGLE_API_KEY",
                    header: KeyHeader::Named("x-goog-api-key"),
                },
                KeyVariable {
                    variable: "GEMINI_API_KEY",
                    header: KeyHeader::Named("x-goog-api-key"),
                },
            ],
            may_be_open: false,
        },
    },
    Provider {
        name: "ollama",
        wire: &wire::OLLAMA,
        base: Some("http://127.0.0.1:11434"),
        place: ServiceDefaults {
            url_variables: &["OLLAMA_HOST"],
            keys: &[KeyVariable { variable: "OLLAMA_API_KEY", header: KeyHeader::Bearer }],
            may_be_open: true,
        },
    },
    Provider {
        name: "azure",
        wire: &wire::AZURE,
        base: None,
        place: ServiceDefaults {
            url_variables: &["AZURE_OPENAI_ENDPOINT"],
            keys: &[KeyVariable {
                variable: "AZURE_OPENAI_API_KEY",
                header: KeyHeader::Named("api-key"),
            }],
            may_be_open: false,
        },
    },
    Provider {
        name: "groq",
        wire: &wire::OPENAI,
        base: Some("https://api.groq.com/openai/v1"),
        place: ServiceDefaults {
            url_variables: &["GROQ_BASE_URL"],
            keys: &[KeyVariable { variable: "GROQ_API_KEY", header: KeyHeader::Bearer }],
            may_be_open: false,
        },
    },
    Provider {
        name: "openrouter",
        wire: &wire::OPENAI,
        base: Some("https://openrouter.ai/api/v1"),
        place: ServiceDefaults {
            url_variables: &["OPENROUTER_BASE_URL"],
            keys: &[KeyVariable { variable: "OPENROUTER_API_KEY", header: KeyHeader::Bearer }],
            may_be_open: false,
        },
    },
    Provider {
        name: "lmstudio",
        wire: &wire::OPENAI,
        base: Some("http://127.0.0.1:1234/v1"),
        place: ServiceDefaults {
            url_variables: &["LMSTUDIO_BASE_URL"],
            keys: &[KeyVariable { variable: "LMSTUDIO_API_KEY", header: KeyHeader::Bearer }],
            may_be_open: true,
        },
    },
];

/// Provider of embeddings in OpenAI's format.
pub(crate) const OPENAI: &Provider = &PROVIDERS[0];
/// Ollama's entry.
pub(crate) const OLLAMA: &Provider = &PROVIDERS[3];

/// Returns the provider of this name.
pub(crate) fn find(name: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|it| it.name == name)
}

/// Provider and model used without a choice: an alias that the provider keeps pointing to its
/// current fast model.
const DEFAULT: (&str, &str) = ("gemini", "gemini:gemini-flash-latest");

/// Choice of a default model by the keys in the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefaultModel {
    /// The only key belongs to a provider with an alias for its current fast model.
    Default(&'static str),
    /// Variables of the keys found, of several providers or of one whose model has to be named.
    Unclear(Vec<&'static str>),
    /// There is no key.
    None,
}

/// Chooses the model to use if none is named.
pub fn choice(env: impl Fn(&str) -> Option<String>) -> DefaultModel {
    let is_set = |key: &&KeyVariable| env(key.variable).is_some_and(|it| !it.trim().is_empty());
    let keys: Vec<(&str, &'static str)> = (PROVIDERS.iter())
        .filter_map(|it| Some((it.name, it.place.keys.iter().find(is_set)?.variable)))
        .collect();
    match keys.as_slice() {
        [] => DefaultModel::None,
        [(name, _)] if *name == DEFAULT.0 => DefaultModel::Default(DEFAULT.1),
        several => DefaultModel::Unclear(several.iter().map(|(_, variable)| *variable).collect()),
    }
}
