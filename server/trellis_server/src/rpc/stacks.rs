//! Methods for tech stacks.

use std::path::Path;
use std::sync::Arc;

use super::catalog::blocking;
use super::context::Context;
use super::table::{Effect, Table};
use crate::api::stacks::{
    InstallPackagesParams, ListStacksParams, NewProject, NewProjectParams, PackagesInstalled,
    ShowStackParams, install, list, new_project, show,
};
use crate::jobs::JobContext;
use trellis_workflows::fault::Fault;

pub(super) fn register(table: &mut Table) {
    table.call(
        "trellis/listStacks",
        Effect::Reads,
        |context, mut params: ListStacksParams| async move {
            params.root = Some(context.root(params.root.as_deref()).await);
            blocking(move || list(&params)).await
        },
    );
    table.call(
        "trellis/showStack",
        Effect::Reads,
        |context, mut params: ShowStackParams| async move {
            params.root = Some(context.root(params.root.as_deref()).await);
            blocking(move || show(&params)).await
        },
    );
    table.call("trellis/newProject", Effect::Writes, create_project);
    table.work(
        "trellis/installPackages",
        Effect::Runs,
        |it: &InstallPackagesParams| {
            let root = it.root.as_deref().unwrap_or(Path::new("."));
            format!("packages of {}", root.display())
        },
        packages,
    );
}

async fn create_project(
    context: Arc<Context>,
    mut params: NewProjectParams,
) -> Result<NewProject, Fault> {
    params.root = Some(context.root(params.root.as_deref()).await);
    params.out = context.root(Some(&params.out)).await;
    blocking(move || new_project(&params)).await
}

async fn packages(
    context: Arc<Context>,
    mut params: InstallPackagesParams,
    duty: JobContext,
) -> Result<PackagesInstalled, Fault> {
    params.root = Some(context.root(params.root.as_deref()).await);
    install(&params, &duty.reporter, &duty.control.cancel).await
}
