//! Languages by the names of files.

use std::path::Path;

use tree_sitter::Language as Grammar;

/// A language with a grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// JavaScript, with JSX.
    JavaScript,
    TypeScript,
    /// TypeScript with JSX.
    Tsx,
    Go,
}

impl Language {
    /// Returns the language of a file; `None` for all others, Python included.
    pub fn of(file: &Path) -> Option<Language> {
        match file.extension()?.to_str()? {
            "js" | "cjs" | "mjs" | "jsx" => Some(Language::JavaScript),
            "ts" | "cts" | "mts" => Some(Language::TypeScript),
            "tsx" => Some(Language::Tsx),
            "go" => Some(Language::Go),
            _ => None,
        }
    }

    pub(crate) fn grammar(self) -> Grammar {
        match self {
            Language::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Language::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Language::Go => tree_sitter_go::LANGUAGE.into(),
        }
    }
}
