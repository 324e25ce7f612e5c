//! Splits a specification into numbered sentences, along its Markdown.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::boundaries::split;
use super::{Sentence, SentenceKind};

/// Returns the sentences of a text in Markdown, or of a plain text, numbered from 1.
///
/// A heading, a block of code and a table are one sentence each; paragraphs and list items are
/// split where their sentences end. Comments, front matter and rules are left out. The result
/// depends on the text alone.
pub fn sentences(text: &str) -> Vec<Sentence> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut splitter = Splitter::default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    Parser::new_ext(text, options).for_each(|event| splitter.event(event));
    splitter.flush();
    splitter.found
}

#[derive(Default)]
struct Splitter {
    found: Vec<Sentence>,
    /// Text of the open block.
    open: String,
    kind: SentenceKind,
    /// True inside front matter.
    is_hidden: bool,
}

impl Splitter {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(code) => self.text(&format!("`{code}`")),
            Event::InlineHtml(tag) => self.inline_html(&tag),
            Event::Html(html) => self.text(&without_tags(&html)),
            Event::SoftBreak | Event::HardBreak => self.open.push('\n'),
            Event::Rule => self.flush(),
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        let kind = match tag {
            Tag::Heading { .. } => SentenceKind::Heading,
            Tag::CodeBlock(_) => SentenceKind::Code,
            Tag::Table(_) => SentenceKind::Table,
            Tag::MetadataBlock(_) => {
                self.is_hidden = true;
                return;
            }
            Tag::Paragraph | Tag::Item | Tag::List(_) | Tag::BlockQuote(_) | Tag::HtmlBlock => {
                SentenceKind::Sentence
            }
            _ => return,
        };
        self.flush();
        self.kind = kind;
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::MetadataBlock(_) => self.is_hidden = false,
            TagEnd::TableCell => self.open.push_str(" | "),
            TagEnd::TableHead | TagEnd::TableRow => {
                let row = self.open.trim_end_matches(" | ").len();
                self.open.truncate(row);
                self.open.push('\n');
            }
            TagEnd::Paragraph
            | TagEnd::Heading(_)
            | TagEnd::Item
            | TagEnd::CodeBlock
            | TagEnd::Table
            | TagEnd::BlockQuote(_)
            | TagEnd::HtmlBlock => self.flush(),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if !self.is_hidden {
            self.open.push_str(text);
        }
    }

    /// Keeps what looks like a tag, such as `<FILE>` in a usage; a line break is one.
    fn inline_html(&mut self, tag: &str) {
        if tag.starts_with("<br") {
            self.open.push('\n');
        } else if !tag.starts_with("<!--") {
            self.text(tag);
        }
    }

    /// Ends the open block.
    fn flush(&mut self) {
        let text = std::mem::take(&mut self.open);
        let kind = std::mem::take(&mut self.kind);
        match kind {
            SentenceKind::Sentence => split(&text).into_iter().for_each(|it| self.add(kind, it)),
            SentenceKind::Heading => self.add(kind, one_line(&text)),
            SentenceKind::Code | SentenceKind::Table => self.add(kind, text.trim_end().to_owned()),
        }
    }

    fn add(&mut self, kind: SentenceKind, text: String) {
        if !text.trim().is_empty() {
            self.found.push(Sentence { number: self.found.len() + 1, kind, text });
        }
    }
}

/// Returns the text with single blanks.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the text between the tags and comments of a line of HTML.
fn without_tags(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        out.push_str(before);
        let end = if tag.starts_with("!--") { "-->" } else { ">" };
        rest = tag.split_once(end).map_or("", |(_, after)| after);
    }
    out + rest
}
