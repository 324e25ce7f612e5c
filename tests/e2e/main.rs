//! End-to-end tests of the binary: few, strict, each in its own folder and home.
