//! Tests of durable state through its public interface.

mod hash_chain;
mod origins;
