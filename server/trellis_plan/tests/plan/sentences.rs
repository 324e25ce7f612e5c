//! Specifications are split into the sentences that a person sees.

use trellis_plan::{SentenceKind, sentences};

fn texts(text: &str) -> Vec<String> {
    sentences(text).into_iter().map(|it| it.text).collect()
}

#[track_caller]
fn assert_split(text: &str, expected: &[&str]) {
    assert_eq!(texts(text), expected, "{text}");
}

#[test]
fn markdown_is_split_by_its_blocks() {
    let text = "---\nauthor: me\n---\n\n# The *Pantry*\n\nIt scales recipes. It writes\nshopping lists!\n\n\
        <!-- not for readers -->\n\n- Amounts are exact.\n- [x] An amount is `1/2`. Or \"1 1/2\".\n  - Nested **item**\n\n\
        > Quoted text.\n\n1. First\n2. Second\n\n| unit | in ml |\n|---|---|\n| cup | 240 |\n\n\
        ```sh\npantry scale 2.\n\npantry list\n```\n\n---\n\nAn [end](http://x.y/z.html).";
    let found = sentences(text);
    let shown: Vec<String> =
        found.iter().map(|it| format!("{} {} {}", it.number, it.kind, it.text)).collect();
    let expected = [
        "1 heading The Pantry",
        "2 sentence It scales recipes.",
        "3 sentence It writes shopping lists!",
        "4 sentence Amounts are exact.",
        "5 sentence An amount is `1/2`.",
        "6 sentence Or \"1 1/2\".",
        "7 sentence Nested item",
        "8 sentence Quoted text.",
        "9 sentence First",
        "10 sentence Second",
        "11 table unit | in ml\ncup | 240",
        "12 code pantry scale 2.\n\npantry list",
        "13 sentence An end.",
    ];
    assert_eq!(shown, expected);
    assert_eq!(sentences(text), found, "the same text, the same sentences");
}

#[test]
fn abbreviations_numbers_and_code_end_no_sentence() {
    assert_split(
        "Use units, e.g. Tea spoons (cf. Fig. 3). It is version 3.5. Done.",
        &["Use units, e.g. Tea spoons (cf. Fig. 3).", "It is version 3.5.", "Done."],
    );
    assert_split(
        "Dr. Who and J. R. R. Tolkien wrote no. 5 in the U.S. Army. The answer is no. Really?",
        &[
            "Dr. Who and J. R. R. Tolkien wrote no. 5 in the U.S. Army.",
            "The answer is no.",
            "Really?",
        ],
    );
    assert_split(
        "Call `a.b. C` first. `mean` returns 0... and so on. See setup.py for more.",
        &["Call `a.b. C` first.", "`mean` returns 0... and so on.", "See setup.py for more."],
    );
    assert_split(
        "It returns n. Otherwise 0, etc. Then it ends.",
        &["It returns n.", "Otherwise 0, etc.", "Then it ends."],
    );
    assert_split("Run `x <FILE>` or x <FILE> now.", &["Run `x <FILE>` or x <FILE> now."]);
}

#[test]
fn other_languages_have_sentences_too() {
    assert_split(
        "Es gibt z. B. Tee, d. h. Kamille. Die Summe ist z.B. Null, vgl. Abb. 2. Fertig!",
        &["Es gibt z. B. Tee, d. h. Kamille.", "Die Summe ist z.B. Null, vgl. Abb. 2.", "Fertig!"],
    );
    assert_split("¿Qué es? Es el Sr. López. Fin.", &["¿Qué es?", "Es el Sr. López.", "Fin."]);
    assert_split("量を読む。表に\n書く。", &["量を読む。", "表に書く。"]);
    assert_split("Это сумма, т.е. Итог. Конец.", &["Это сумма, т.е. Итог.", "Конец."]);
    assert_split("यह जोड़ता है। यह घटाता है।", &["यह जोड़ता है।", "यह घटाता है।"]);
}

#[test]
fn plain_text_is_split_as_well() {
    assert_split(
        "A tool for lists.\r\nIt has:\r\n• adding\r\n• removing\r\n\r\nNo more.",
        &["A tool for lists.", "It has:", "adding", "removing", "No more."],
    );
    assert_split("", &[]);
    assert_split(" \n\n\t\n", &[]);
    assert_split("no end", &["no end"]);
    let found = sentences("<div>\nA <b>bold</b> claim.\n</div>\n");
    assert_eq!((found.len(), found[0].text.as_str()), (1, "A bold claim."));
    assert_eq!(sentences("Title\n=====\n")[0].kind, SentenceKind::Heading);
}

#[test]
fn a_long_description_is_split_in_one_pass() {
    let text = "- It adds `a` and b. It takes e.g. Two.\n".repeat(20_000);
    assert_eq!(sentences(&text).len(), 40_000);
    let text = "word ".repeat(200_000);
    assert_eq!(sentences(&text).len(), 1);
    let text = "> ".repeat(10_000) + "deep";
    assert_eq!(texts(&text).last().map(String::as_str), Some("deep"));
    let text = "a ` b. ".repeat(20_000);
    assert!(!sentences(&text).is_empty());
}
