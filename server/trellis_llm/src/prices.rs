//! Prices and context sizes of models: a built-in table, with the user's values taking precedence.

use std::collections::BTreeMap;

use crate::chat::Usage;

/// Tab-separated: provider, model, and per million tokens of input, output and cached input in US
/// dollars; the context and the longest reply in tokens. A dash stands for an unknown value. The
/// first lines name the source.
const TABLE: &str = include_str!("../data/prices.tsv");

/// Number of tokens that a price refers to.
const MILLION: f64 = 1e6;

/// Prices and limits of one model.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ModelInfo {
    /// US dollars per million tokens of a prompt.
    pub input: f64,
    /// US dollars per million tokens of a reply.
    pub output: f64,
    /// US dollars per million prompt tokens in the provider's cache; `None`: as `input`.
    pub cached: Option<f64>,
    /// Maximum length of a prompt, in tokens.
    pub context: Option<u64>,
    /// Maximum length of a reply, in tokens.
    pub longest_reply: Option<u64>,
}

impl ModelInfo {
    /// Combines two entries: the higher of each price, the smaller of each length.
    fn worst_case(self, other: ModelInfo) -> ModelInfo {
        let cached = |it: ModelInfo| it.cached.unwrap_or(it.input);
        let least = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
        ModelInfo {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cached: Some(cached(self).max(cached(other))),
            context: least(self.context, other.context),
            longest_reply: least(self.longest_reply, other.longest_reply),
        }
    }

    /// Returns the cost of this many tokens, in US dollars.
    pub fn cost(&self, usage: Usage) -> f64 {
        let cached = usage.cached_tokens.min(usage.input_tokens);
        let fresh = (usage.input_tokens - cached) as f64 * self.input;
        let cached = cached as f64 * self.cached.unwrap_or(self.input);
        (fresh + cached + usage.output_tokens as f64 * self.output) / MILLION
    }
}

/// Prices by model name, such as `openai:MODEL`.
#[derive(Debug, Clone, Default)]
pub struct Prices {
    own: BTreeMap<String, ModelInfo>,
    others: BTreeMap<String, ModelInfo>,
}

impl Prices {
    /// Creates the price list. `own`, the user's prices, take precedence over the table; keys are
    /// model names with or without the provider. `others`, for instance a project's prices, apply
    /// to unknown models, and never make a known model cheaper.
    pub fn new(own: BTreeMap<String, ModelInfo>, others: BTreeMap<String, ModelInfo>) -> Self {
        Self { own, others }
    }

    /// Returns the entry of a model such as `openai:MODEL`; a dated name (`MODEL-2026-01-31`) has
    /// the prices of the name without the date. Recordings and services on the user's own machine
    /// cost nothing.
    pub fn of(&self, spec: &str) -> Option<ModelInfo> {
        let (provider, model) = spec.split_once(':').unwrap_or(("", spec));
        let named = |cards: &BTreeMap<String, ModelInfo>| {
            cards.get(spec).or_else(|| cards.get(model)).copied()
        };
        let known = named(&self.own).or_else(|| match provider {
            "recorded" | "ollama" | "lmstudio" => Some(ModelInfo::default()),
            _ => listed(provider, model).or_else(|| listed(provider, undated(model)?)),
        });
        match (known, named(&self.others)) {
            (Some(known), Some(other)) => Some(known.worst_case(other)),
            (known, other) => known.or(other),
        }
    }
}

/// Finds the row of a model. OpenAI's models have the same price at Azure; OpenRouter's names begin
/// with the maker.
fn listed(provider: &str, model: &str) -> Option<ModelInfo> {
    let (provider, model) = match provider {
        "azure" => ("openai", model),
        "openrouter" => match model.split_once('/')? {
            ("google", model) => ("gemini", model),
            (maker, model) => (maker, model),
        },
        _ => (provider, model),
    };
    rows(provider).find(|(name, _)| *name == model).map(|(_, card)| card)
}

/// Returns the models of a provider in the table.
pub(crate) fn rows(provider: &str) -> impl Iterator<Item = (&'static str, ModelInfo)> {
    let rows = TABLE.lines().filter(|line| !line.starts_with('#'));
    let of_provider = move |line: &'static str| {
        let row: Vec<&str> = line.split('\t').collect();
        let [of, name, fields @ ..] = row.as_slice() else { return None };
        (*of == provider).then_some((*name, card(fields)?))
    };
    rows.filter_map(of_provider)
}

fn card(fields: &[&str]) -> Option<ModelInfo> {
    let [input, output, cached, context, longest_reply] = fields else { return None };
    Some(ModelInfo {
        input: input.parse().ok()?,
        output: output.parse().ok()?,
        cached: cached.parse().ok(),
        context: context.parse().ok(),
        longest_reply: longest_reply.parse().ok(),
    })
}

/// Returns the name before `-YYYY-MM-DD` or `-YYYYMMDD`.
fn undated(model: &str) -> Option<&str> {
    let at = model.match_indices('-').map(|(at, _)| at).find(|at| {
        let date: String = model[at + 1..].split('-').collect();
        let dashes = model[at + 1..].matches('-').count();
        date.len() == 8 && date.bytes().all(|it| it.is_ascii_digit()) && matches!(dashes, 0 | 2)
    })?;
    Some(&model[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_read() {
        let rows = TABLE.lines().filter(|line| !line.starts_with('#'));
        for row in rows {
            let fields: Vec<&str> = row.split('\t').collect();
            assert!(fields.len() == 7 && card(&fields[2..]).is_some(), "{row}");
        }
    }

    #[test]
    fn names_with_a_date_or_another_provider_cost_the_same() {
        let prices = Prices::default();
        let known = prices.of("openai:gpt-4.1").expect("a listed model");
        for spec in ["openai:gpt-4.1-2025-04-14", "azure:gpt-4.1", "openrouter:openai/gpt-4.1"] {
            assert_eq!(prices.of(spec), Some(known), "{spec}");
        }
        assert_eq!(prices.of("openai:nobody-knows-it"), None);
        assert_eq!(prices.of("ollama:anything"), Some(ModelInfo::default()));
    }

    #[test]
    fn the_users_prices_come_first() {
        let own = ModelInfo { input: 1.0, output: 10.0, cached: Some(0.5), ..ModelInfo::default() };
        let own = BTreeMap::from([("gpt-4.1".to_owned(), own)]);
        // A lower price from others is ignored.
        let free = BTreeMap::from([("openai:gpt-4.1".to_owned(), ModelInfo::default())]);
        let prices = Prices::new(own, free);
        let card = prices.of("openai:gpt-4.1").expect("the user's");
        let usage =
            Usage { input_tokens: 1_000_000, output_tokens: 100_000, cached_tokens: 400_000 };
        assert!((card.cost(usage) - (0.6 + 0.2 + 1.0)).abs() < 1e-9);
    }
}
