//! Symbols of the Python files below a folder: queries and changes, shared by the command line and
//! models.
//!
//! [`unique`] resolves a name path, [`deletion`] and [`renaming`] plan changes, [`locations`] and
//! [`outline_view`] format results, and [`plan_links`] compares a plan with code. All of them work
//! on an index, not on the disk, except [`type_checker`], which asks an installed type checker.

pub(crate) mod deletion;
pub(crate) mod locations;
pub(crate) mod outline_view;
pub(crate) mod plan_comparison;
pub(crate) mod plan_links;
pub(crate) mod renaming;
pub(crate) mod type_checker;
pub(crate) mod unique;
