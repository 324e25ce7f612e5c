//! `fuzz-guided`: libFuzzer on the target that `TRELLIS_FUZZ_TARGET` names.

#![no_main]

use std::sync::LazyLock;

use fuzz::{TARGETS, Target};
use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("TRELLIS_FUZZ_TARGET").unwrap_or_default();
    let found = TARGETS.iter().find(|it| it.name == name);
    found.unwrap_or_else(|| panic!("TRELLIS_FUZZ_TARGET names no target: `{name}`"))
});

fuzz_target!(|input: &[u8]| (TARGET.run)(input));
