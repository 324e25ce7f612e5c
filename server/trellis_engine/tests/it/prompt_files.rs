//! Versions of the prompt templates, which go into the journal with every request.

/// Stage, the required version of its file, and the hash of the text (FNV-1a of all but the line
/// with the version).
const FILES: [(&str, &str, u32, u64); 22] = [
    ("tests", include_str!("../../prompts/tests.md"), 2, 0x5c0c_bce4_ba08_40ba),
    ("implementation", include_str!("../../prompts/implementation.md"), 2, 0xfbf8_1c61_78b3_eb9f),
    ("fix", include_str!("../../prompts/fix.md"), 2, 0xfba8_68cc_48d3_abd7),
    ("fix_with_tools", include_str!("../../prompts/fix_with_tools.md"), 1, 0x88ca_5126_10f2_89e9),
    ("diagnosis", include_str!("../../prompts/diagnosis.md"), 2, 0x5330_af7d_2a51_9be5),
    ("repair", include_str!("../../prompts/repair.md"), 3, 0xfb17_6499_7bce_e1dd),
    ("write_tests", include_str!("../../prompts/write_tests.md"), 2, 0x567a_379e_d649_0c76),
    ("report", include_str!("../../prompts/report.md"), 3, 0x92d2_00d4_e85d_b1ec),
    ("feature_tests", include_str!("../../prompts/feature_tests.md"), 3, 0xcc99_b866_5925_f76a),
    ("feature_code", include_str!("../../prompts/feature_code.md"), 3, 0x30ed_7a70_8886_cd72),
    ("feature_fix", include_str!("../../prompts/feature_fix.md"), 3, 0x4445_7886_34cb_0844),
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
        2,
        0x45e6_26a8_17a9_683c,
    ),
    (
        "acceptance_tests",
        include_str!("../../prompts/acceptance_tests.md"),
        2,
        0xfcb4_7741_7de2_2718,
    ),
    ("describe", include_str!("../../prompts/describe.md"), 1, 0x2624_8b9b_3fbd_8ee3),
    ("library_tests", include_str!("../../prompts/library_tests.md"), 1, 0x29cf_843a_aed2_70c4),
    ("plan_features", include_str!("../../prompts/plan_features.md"), 2, 0x5a3e_f50b_f9f3_fb76),
    ("plan_layout", include_str!("../../prompts/plan_layout.md"), 2, 0xb08d_2947_4c2f_ec83),
    ("plan_interfaces", include_str!("../../prompts/plan_interfaces.md"), 2, 0x4bde_4cd8_3af4_c3b5),
    ("plan_review", include_str!("../../prompts/plan_review.md"), 2, 0x1031_d251_63af_3a8a),
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
