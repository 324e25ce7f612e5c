//! The five workflows and what they share.

pub mod affected_tests;
pub mod agent;
pub mod budget;
pub mod config;
pub mod convert;
mod driver;
pub mod embedding_index;
pub mod fault;
pub mod generate;
pub mod issue;
pub mod job_control;
pub mod llm_client;
pub mod llm_session;
pub mod localize;
pub mod models;
pub mod node_status;
pub mod plan_search;
pub mod proposals;
pub mod repair;
pub mod reporter;
pub mod sandbox;
pub mod signals;
pub mod stacks;
pub mod tasks;
pub mod timing;
pub mod tools;
pub mod write_tests;
