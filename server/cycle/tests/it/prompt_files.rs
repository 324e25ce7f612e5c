//! The words a model is given have versions, which go into the journal with every question.

/// Stage, the version the file has to have, and the hash of its words (FNV-1a of all but the version's line).
const FILES: [(&str, &str, u32, u64); 15] = [
    ("tests", include_str!("../../prompts/tests.md"), 1, 0xce64_717c_ceac_029f),
    ("implementation", include_str!("../../prompts/implementation.md"), 1, 0xcc64_a125_0c98_cbcc),
    ("fix", include_str!("../../prompts/fix.md"), 1, 0xc23f_e10c_1a28_ea75),
    ("fix_with_tools", include_str!("../../prompts/fix_with_tools.md"), 1, 0x88ca_5126_10f2_89e9),
    ("diagnosis", include_str!("../../prompts/diagnosis.md"), 1, 0x2fea_96ab_017b_cf75),
    ("repair", include_str!("../../prompts/repair.md"), 1, 0x3fdc_8587_7197_0165),
    ("write_tests", include_str!("../../prompts/write_tests.md"), 1, 0x75a7_5f40_4b9c_da9f),
    ("report", include_str!("../../prompts/report.md"), 1, 0xccde_525c_4022_b39c),
    ("feature_tests", include_str!("../../prompts/feature_tests.md"), 2, 0x8035_872e_2e8d_9b79),
    ("feature_code", include_str!("../../prompts/feature_code.md"), 2, 0x0a0b_88f7_c4da_d1ef),
    ("feature_fix", include_str!("../../prompts/feature_fix.md"), 2, 0x28a6_2bfc_befa_a6d2),
    ("feature_tools", include_str!("../../prompts/feature_tools.md"), 1, 0xad90_7c75_9258_0317),
    (
        "feature_together",
        include_str!("../../prompts/feature_together.md"),
        1,
        0x16af_9bc6_b31d_2e7b,
    ),
    ("feature_merge", include_str!("../../prompts/feature_merge.md"), 1, 0x8608_0f2c_18bc_e62c),
    (
        "integration_tests",
        include_str!("../../prompts/integration_tests.md"),
        1,
        0xf62a_062c_0839_9105,
    ),
];

fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

#[test]
fn other_words_have_another_version() {
    for (stage, text, version, known) in FILES {
        let (first, words) = text.split_once('\n').expect("a first line");
        let found = hash(words);
        assert_eq!(
            (first, found),
            (format!("version: {version}").as_str(), known),
            "prompts/{stage}.md was changed. Journals tell prompts apart by their version: raise it in the file's \
             first line, and put that version and the hash {found:#018x} into the table of this test"
        );
    }
}
