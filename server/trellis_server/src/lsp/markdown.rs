//! Escapes foreign text for Markdown: no links, commands or HTML take effect.

/// Escapes a text and keeps its line breaks and indentation.
pub(super) fn text(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(line).collect();
    // Two spaces break a line; an empty line begins a paragraph.
    lines.join("  \n").replace("  \n  \n", "\n\n")
}

fn line(line: &str) -> String {
    let rest = line.trim_start_matches([' ', '\t']);
    let indent = "\u{a0}".repeat(line.len() - rest.len());
    indent + &escaped(rest.trim_end())
}

/// Escapes a part of a line.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c if c.is_ascii_punctuation() => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Returns code between fences that it cannot close.
pub(super) fn code(code: &str) -> String {
    let runs = code.split(|it| it != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or_default().max(2) + 1);
    format!("{fence}python\n{}\n{fence}", code.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup() {
        let cases = [
            ("a *b* c_d", "a \\*b\\* c\\_d"),
            ("[x](command:run)", "\\[x\\]\\(command\\:run\\)"),
            ("<a href='x'>&amp;", "&lt;a href\\=\\'x\\'&gt;&amp;amp\\;"),
            ("http://x.y www.x.y a@b.c", "http\\:\\/\\/x\\.y www\\.x\\.y a\\@b\\.c"),
            ("a\u{1b}[1m", "a \\[1m"),
        ];
        for (raw, wanted) in cases {
            assert_eq!(escaped(raw), wanted);
        }
        assert_eq!(text("# a\n    b\n\n1. c"), "\\# a  \n\u{a0}\u{a0}\u{a0}\u{a0}b\n\n1\\. c");
        assert_eq!(text("===\n---\n\tx"), "\\=\\=\\=  \n\\-\\-\\-  \n\u{a0}x");
        assert_eq!(code("x = 1\n"), "```python\nx = 1\n```");
        assert_eq!(code("x = '```'\n[x](y)"), "````python\nx = '```'\n[x](y)\n````");
    }
}
