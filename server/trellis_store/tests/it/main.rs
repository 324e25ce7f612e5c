//! Tests of durable state through its public interface.

mod damaged;
mod hash_chain;
mod origins;
