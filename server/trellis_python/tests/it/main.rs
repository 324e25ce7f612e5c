//! Tests of the crate through its public interface.

mod accuracy;
mod after_edit;
mod any_edits;
mod calls;
mod classes;
mod edits;
mod fixtures;
mod function_facts;
mod functions;
mod honest;
mod hostile;
mod hunks;
mod import_cycles;
mod losses;
mod marked;
mod merge;
mod mutants;
mod names;
mod outline;
mod reach;
mod relations;
mod resolution;
mod robust;
mod shortcuts;
mod strings;
mod text;
