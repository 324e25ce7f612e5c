//! A piece of work that is told in words, an issue or a task: tests first, then code over as many files as it takes.
//!
//! What a machine with one function an item does for a planned repository, this does for one that people wrote: the gates are
//! the same, and what counts is what runs show.

mod ask;
mod conflict;
mod context;
mod course;
mod files;
mod gates;
mod losses;
mod shown;

pub use ask::{Feature, ask_code, ask_fix, ask_merge, ask_scaffold, ask_together};
pub use conflict::{Conflict, settled};
pub use context::{Context, repeated};
pub use course::{Asked, Course, End, Ending, Limits, Next, Review, Seen};
pub use files::{Changes, Refused, changes, is_known};
pub use gates::{Gate, Known, green, keeps, red};
pub use losses::{Losses, losses};
pub use shown::{Part, Shown, shown};
