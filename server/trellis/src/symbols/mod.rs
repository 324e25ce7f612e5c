//! Symbols of the Python files below a folder, and what is asked and done of them, by the command line and by models
//! alike: [`one`] says which is meant, [`deletion`] and [`renaming`] what a change takes, [`shapes`] and [`sheet`] how
//! places and outlines are shown; [`links`] holds a plan against code. But for [`checker`], which asks a type checker,
//! all of it is a matter of an index, not of a disk.

pub(crate) mod deletion;
pub(crate) mod locations;
pub(crate) mod outline_view;
pub(crate) mod plan_links;
pub(crate) mod renaming;
pub(crate) mod type_checker;
pub(crate) mod unique;
