//! Symbols of the Python files below a folder: queries and changes, shared by the command line and
//! models.
//!
//! [`unique`] resolves a name path, [`deletion`] and [`renaming`] plan changes, [`locations`] and
//! [`outline_view`] format results, and [`plan_links`] compares a plan with code. All of them work
//! on an index, not on the disk, except [`type_checker`], which asks an installed type checker.

pub mod deletion;
pub mod locations;
pub mod outline_view;
pub mod plan_comparison;
pub mod plan_links;
pub mod renaming;
pub mod unique;
