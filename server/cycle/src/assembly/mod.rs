//! The repository that comes out: a function of what was accepted, in the plan's order, and of nothing
//! else. So any number of jobs, any crash and any resume end in the same bytes.

mod causes;
mod cycles;
mod imports;
mod layout;
mod packages;
mod project;
mod readme;
mod recommendations;
mod report;
mod test_results;
mod tree;
mod unrequired;
mod validation;

pub use crate::origin::library_name;
pub use causes::{FailureFacts, recommendation, root_cause};
pub use cycles::{ImportCycle, PlannedCycle, import_cycles, planned_cycles};
pub use layout::Layout;
pub use project::{Project, project_files};
pub use readme::{ModuleFacts, readme, usage};
pub use report::{
    CostLine, FunctionsLine, IntegrationLine, NodeLine, ReportFacts, SubgraphLine, UnconfirmedLine,
    report,
};
pub use tree::{Share, Sources, pytest_ini, sources, third_party};
pub use unrequired::{UnrequiredLine, unrequired};
pub use validation::{Checked, ValidationLine, structure, syntax};
