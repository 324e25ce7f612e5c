//! What models cost and how much they take in: a table in the binary, and what the user says above it.

use std::collections::BTreeMap;

use crate::ask::Usage;

/// Tab-separated: provider, model, and per million tokens of input, output and cached input in US dollars; the
/// context and the longest reply in tokens. A dash where something is not known. Its source is named on top.
const TABLE: &str = include_str!("../data/prices.tsv");

/// Tokens a price is given for.
const MILLION: f64 = 1e6;

/// What is known of one model.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Card {
    /// US dollars per million tokens of a question.
    pub input: f64,
    /// US dollars per million tokens of a reply.
    pub output: f64,
    /// US dollars per million tokens of a question that the provider had in its cache; `None`: as `input`.
    pub cached: Option<f64>,
    /// The longest question, in tokens.
    pub context: Option<u64>,
    /// The longest reply, in tokens.
    pub longest_reply: Option<u64>,
}

impl Card {
    /// Of each price the higher, of each length the smaller.
    fn dearer(self, other: Card) -> Card {
        let cached = |it: Card| it.cached.unwrap_or(it.input);
        let least = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
        Card {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cached: Some(cached(self).max(cached(other))),
            context: least(self.context, other.context),
            longest_reply: least(self.longest_reply, other.longest_reply),
        }
    }

    /// US dollars for this many tokens.
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
    own: BTreeMap<String, Card>,
    others: BTreeMap<String, Card>,
}

impl Prices {
    /// The table, with the user's prices above it: by the model's name with its provider, or without.
    /// Those of others, a project's say, make known what nobody else knows, and nothing cheaper than it is known
    /// to be.
    pub fn new(own: BTreeMap<String, Card>, others: BTreeMap<String, Card>) -> Self {
        Self { own, others }
    }

    /// What is known of `openai:MODEL`; a dated name (`MODEL-2026-01-31`) costs what the name without its
    /// date does. Recordings and services on the user's own machine cost nothing.
    pub fn of(&self, spec: &str) -> Option<Card> {
        let (provider, model) = spec.split_once(':').unwrap_or(("", spec));
        let named =
            |cards: &BTreeMap<String, Card>| cards.get(spec).or_else(|| cards.get(model)).copied();
        let known = named(&self.own).or_else(|| match provider {
            "recorded" | "ollama" | "lmstudio" => Some(Card::default()),
            _ => listed(provider, model).or_else(|| listed(provider, undated(model)?)),
        });
        match (known, named(&self.others)) {
            (Some(known), Some(other)) => Some(known.dearer(other)),
            (known, other) => known.or(other),
        }
    }
}

/// The row of a model. OpenAI's models keep their price at Azure; OpenRouter puts the maker in front.
fn listed(provider: &str, model: &str) -> Option<Card> {
    let (provider, model) = match provider {
        "azure" => ("openai", model),
        "openrouter" => match model.split_once('/')? {
            ("google", model) => ("gemini", model),
            (maker, model) => (maker, model),
        },
        _ => (provider, model),
    };
    let rows = TABLE.lines().filter(|line| !line.starts_with('#'));
    rows.map(|line| line.split('\t').collect::<Vec<_>>())
        .find(|row| row.first() == Some(&provider) && row.get(1) == Some(&model))
        .and_then(|row| card(&row[2..]))
}

fn card(fields: &[&str]) -> Option<Card> {
    let [input, output, cached, context, longest_reply] = fields else { return None };
    Some(Card {
        input: input.parse().ok()?,
        output: output.parse().ok()?,
        cached: cached.parse().ok(),
        context: context.parse().ok(),
        longest_reply: longest_reply.parse().ok(),
    })
}

/// The name in front of `-YYYY-MM-DD` or `-YYYYMMDD`.
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
    fn names_with_a_date_or_another_door_cost_the_same() {
        let prices = Prices::default();
        let known = prices.of("openai:gpt-4.1").expect("a listed model");
        for spec in ["openai:gpt-4.1-2025-04-14", "azure:gpt-4.1", "openrouter:openai/gpt-4.1"] {
            assert_eq!(prices.of(spec), Some(known), "{spec}");
        }
        assert_eq!(prices.of("openai:nobody-knows-it"), None);
        assert_eq!(prices.of("ollama:anything"), Some(Card::default()));
    }

    #[test]
    fn the_users_prices_come_first() {
        let own = Card { input: 1.0, output: 10.0, cached: Some(0.5), ..Card::default() };
        let own = BTreeMap::from([("gpt-4.1".to_owned(), own)]);
        // Who wants it cheaper still is not heard.
        let free = BTreeMap::from([("openai:gpt-4.1".to_owned(), Card::default())]);
        let prices = Prices::new(own, free);
        let card = prices.of("openai:gpt-4.1").expect("the user's");
        let usage =
            Usage { input_tokens: 1_000_000, output_tokens: 100_000, cached_tokens: 400_000 };
        assert!((card.cost(usage) - (0.6 + 0.2 + 1.0)).abs() < 1e-9);
    }
}
