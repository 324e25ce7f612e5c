//! `trellis mcp`: the methods as tools of the Model Context Protocol, over standard input and
//! output.
//!
//! [`tools`] decides which methods a model gets and how they are described; [`calls`] maps a tool
//! call to a method call and waits for jobs if requested; [`path_policy`] keeps paths from a model
//! inside the workspace.

mod calls;
mod path_policy;
mod tools;

use std::path::PathBuf;
use std::sync::Arc;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError, serve_server_with_ct};
use tokio_util::sync::CancellationToken;

use crate::async_stdin;
use crate::rpc::{self, Context};
use calls::Caller;
use tools::McpTool;
use trellis_workflows::fault::{Exit, Fault};
use trellis_workflows::signals::cancel_on_signal;

/// Instructions to the model about all tools.
const INSTRUCTIONS: &str = "Trellis generates tested Python repositories from planning graphs, and finds, reads and \
     edits Python by symbol. Lines and columns count from 1. Paths in parameters are relative \
     to the first folder of the workspace; paths in results are relative to the folder of the \
     request. `undo_edit` reverts any edit. `generate` and `retry_node` return the id of a job \
     unless `wait` is true; `job` shows its progress.";

/// Serves until the client closes the stream or a signal arrives.
pub async fn serve(folders: Vec<PathBuf>) -> Result<Exit, Fault> {
    let ending = CancellationToken::new();
    cancel_on_signal(ending.clone())?;
    let input = async_stdin::input().map_err(|e| Fault::internal(format!("cannot start: {e}")))?;
    let context = Context::of_folders(folders)?;
    context.settle_edits().await;
    let server = McpServer::new(context.clone());
    let serving = serve_server_with_ct(server, (input, tokio::io::stdout()), ending).await;
    let outcome = match serving {
        Ok(running) => running.waiting().await.map(drop).map_err(Fault::internal),
        // The client left, or the server was asked to end, before initialization.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            Ok(())
        }
        Err(error) => Err(Fault::input(format!("the client does not speak MCP: {error}"))
            .hint("start `trellis mcp` from a client of the Model Context Protocol")),
    };
    context.end().await;
    context.owner.stop().await;
    outcome.map(|()| Exit::Done)
}

/// The MCP server.
struct McpServer {
    offered: Vec<McpTool>,
    caller: Caller,
}

impl McpServer {
    fn new(context: Arc<Context>) -> McpServer {
        let table = rpc::table(context.clone());
        let offered = tools::offered(&table);
        McpServer { offered, caller: Caller::new(context, table.module.into()) }
    }

    fn tools(&self) -> Vec<Tool> {
        self.offered.iter().map(|it| it.tool.clone()).collect()
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let own = Implementation::new("trellis", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities).with_server_info(own).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(offered) = self.offered.iter().find(|it| it.tool.name == request.name) else {
            let message = format!("there is no tool {:?}; `tools/list` lists them", request.name);
            return Err(ErrorData::invalid_params(message, None));
        };
        let arguments = request.arguments.unwrap_or_default();
        Ok(self.caller.call(offered, arguments, &context).await.into())
    }
}
