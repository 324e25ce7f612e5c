//! Analyzes and edits Python source text: parsing, outlines, imports, uses, and edits that keep it
//! valid.
//!
//! The crate maps text to text: no files, no clock, no processes. Positions are byte offsets inside
//! this crate, and 1-based lines and columns (in characters) wherever they leave it.

mod add_import;
mod append_to_user_file;
mod class_body;
mod code_blocks;
mod collected_tests;
mod comparison;
mod contract;
mod digest;
pub mod distributions;
mod doctests;
mod dynamic;
mod edits;
mod examples;
mod format;
mod fragment;
mod function_facts;
mod functions;
pub mod import_cycles;
mod imports;
mod index;
mod lines;
mod merge;
mod mutants;
mod name_path;
mod needed;
mod nondeterminism;
mod outline;
mod quoted_types;
mod reindent;
mod rename;
mod scope;
mod semantics;
mod shortcuts;
mod signature;
pub mod standard_library;
mod syntax;
mod test_class;
mod test_discovery;
mod test_files;
mod tree;
mod well_known_imports;

pub use add_import::add_import;
pub use class_body::{insert_method, remove_methods};
pub use code_blocks::{CodeBlock, CodeBlocks};
pub use collected_tests::{
    CollectedTest, ModuleName, Modules, TestLines, TestModule, TestNames, collected_tests,
};
pub use comparison::{Comparison, comparison, literal, normalized};
pub use contract::contract_holds;
pub use digest::{digest, interface};
pub use doctests::{Doctests, doctests};
pub use dynamic::dynamic_definitions;
pub use edits::{
    BadEdits, Candidate, EditRefused, Hunk, HunkError, Refused, Replaced, SearchReplace,
    SymbolSelector, TextEdit, TextEdits, apply_hunks, changed_lines, check_no_new_errors,
    delete_symbol, hunks, insert_after_symbol, insert_before_symbol, insert_into_class,
    is_shown_as, rebase, replace_symbol_body, search_replace, unified_diff, with_ends_of,
};
pub use examples::example_problem;
pub use format::formatted;
pub use fragment::{Fragment, Item, ItemKind};
pub use function_facts::{FileFacts, FunctionFact, StatementFact, StatementKind, does_nothing};
pub use functions::{ExternalResource, ExternalUse, Function, Functions, Uses, uses};
pub use imports::{Import, ImportGroups, all_imports, render_imports};
pub use index::{
    CallEdge, CallNode, Caller, Calls, CycleImport, FileId, ImportCycle, Index, InnerDefinition,
    KnownFile, Located, NameTable, OutlineSource, Place, Reach, Reference, ReferenceKind,
    References, Rename, RenameRefused, TextSource, Unused, Words, calls, definition_graph,
    is_document,
};
pub use lines::{Lines, Unit};
pub use merge::{FilePart, Merged, merge};
pub use mutants::{Loss, Mutant, MutantKind, Weakness, mutants};
pub use name_path::{BadNamePath, NamePath};
pub use needed::{Needed, needed_by, needed_fixtures};
pub use nondeterminism::may_vary;
pub use outline::{NamePlace, Outline, Symbol, SymbolKind};
pub use quoted_types::quoted_types;
pub use rename::rename;
pub use scope::{identifiers, unresolved, words};
pub use shortcuts::{Examples, Shortcut, ShortcutKind, shortcuts};
pub use signature::{Signature, SignatureError, as_static, enforce};
pub use syntax::{SyntaxError, check, ends_within_string};
pub use test_class::{in_test_class, is_fixture};
pub use test_discovery::{TestDefinition, tests};
pub use test_files::{belongs_to_tests, is_test_file};
pub use well_known_imports::import_for;
