//! The generated repository as a pure function of the accepted texts, in the plan's order.
//! Therefore any number of parallel jobs, any crash and any resume produce the same bytes.

mod acceptance;
mod causes;
mod cycles;
mod imports;
mod layout;
mod packages;
mod project;
mod readme;
mod recommendations;
mod report;
mod specification;
mod test_results;
mod tree;
mod unrequired;
mod validation;

pub use crate::import_resolution::library_name;
pub use acceptance::AcceptanceLine;
pub use causes::{FailureFacts, recommendation, root_cause};
pub use cycles::{ImportCycle, PlannedCycle, import_cycles, planned_cycles};
pub use layout::Layout;
pub use project::{Project, project_files};
pub use readme::{ModuleFacts, readme, usage};
pub use report::{
    CostLine, FunctionsLine, IntegrationLine, NodeLine, ReportFacts, SubgraphLine, UnconfirmedLine,
    report,
};
pub use specification::SentenceLine;
pub use tree::{Contribution, Sources, pytest_ini, sources, third_party};
pub use unrequired::{UnrequiredLine, unrequired};
pub use validation::{CheckResult, ValidationLine, structure, syntax};
