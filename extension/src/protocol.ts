// Made by `npm run protocol` from fixtures/wire/openrpc.json, which `trellis serve --describe` prints.

/**
 * How a fix is given.
 */
export type FixWith = ("reply" | "tools")
/**
 * Where tests run.
 */
export type Choice = ("auto" | "docker" | "local")
/**
 * The state of a job.
 */
export type JobState = (("running" | "done" | "failed" | "cancelled") | "paused")
/**
 * The method of a run, and the method that shows its progress.
 */
export type RunKind = ("generate" | "tasks")
/**
 * Whether a process works on a run, and whether it is finished.
 */
export type RunState = ("finished" | "active" | "stopped")
/**
 * The kind of event, as in the journal.
 */
export type EventKind = ("started" | "ordered" | "state" | "stage" | "model_call" | "tool_call" | "test_run" | "localization" | "regression" | "note" | "accepted" | "taken_back" | "writing" | "kept" | "git" | "committed" | "approval" | "reset" | "rolled_back" | "integration" | "acceptance" | "acceptance_run" | "broken" | "unproven" | "outdated" | "suite" | "tests_written" | "stopped" | "finished")
/**
 * In a word.
 */
export type Answer = ("approve" | "sendBack" | "leave")
/**
 * How the work ended.
 */
export type Outcome = ("merged" | "needsHuman" | "left" | "failed" | "planned")
/**
 * The state of a proposal.
 */
export type State = (("accepted" | "rejected") | "waiting" | "stale" | "undone" | "failed")
/**
 * Source of a fix that no model wrote.
 */
export type FoundBy = "smallEdits"
/**
 * The possible decisions.
 */
export type DecideFixChoice = ("accept" | "reject" | "edit" | "acceptHunks" | "rejectHunks" | "rebase")
/**
 * A published format of planning graphs or lists of tasks.
 */
export type DialectName = ("rpg" | "zerorepo" | "codermind" | "rpg-encoder" | "tasks")
/**
 * Links between nodes.
 */
export type Links = ("both" | "dataFlow" | "structure")
/**
 * What a search goes by.
 */
export type By = ("both" | "words" | "meaning")
/**
 * How bad a problem is.
 */
export type PlanSeverity = ("error" | "warning")
/**
 * The largest change of a node.
 */
export type NodeChangeKind = ("renamed" | "moved" | "changed")
/**
 * How an edge differs.
 */
export type PlanEdgeChangeKind = (("added" | "removed") | "changed")
/**
 * One operation on a planning graph.
 */
export type PlanChange = ({
operation: "add"
/**
 * Id of the new node.
 */
node: string
/**
 * Name, or Class.method [default: the end of the id].
 */
name?: (string | null)
/**
 * Type: function, class, method or module.
 */
kind?: string
/**
 * File, relative to the project.
 */
file?: (string | null)
/**
 * Subgraph.
 */
subgraph?: (string | null)
/**
 * Node that it needs; may be repeated.
 */
needs?: string[]
fields?: NodeFields
} | {
operation: "remove"
/**
 * Id of the node.
 */
node: string
/**
 * Remove methods of the class and nodes of the group too.
 */
withParts?: boolean
} | {
operation: "rename"
/**
 * Id of the node.
 */
node: string
/**
 * New name.
 */
name: string
/**
 * New id [default: the old one with the new name at its end].
 */
newId?: (string | null)
} | {
operation: "move"
/**
 * Id of the node.
 */
node: string
/**
 * File, relative to the project.
 */
file?: (string | null)
/**
 * Subgraph.
 */
subgraph?: (string | null)
} | {
operation: "set"
/**
 * Id of the node.
 */
node: string
fields?: NodeFields
/**
 * Remove this field; may be repeated.
 */
remove?: FieldName[]
} | {
operation: "split"
/**
 * Id of the node.
 */
node: string
/**
 * Ids of the parts; the old id may be one of them.
 */
parts: string[]
} | {
operation: "merge"
/**
 * Ids of the nodes.
 */
nodes: string[]
} | {
operation: "spec"
/**
 * Specification in Markdown or text.
 */
spec: string
/**
 * Numbers of sentences that describe nothing to build, such as 1,4.
 */
background?: number[]
} | {
operation: "link"
/**
 * Id of the node.
 */
node: string
/**
 * Id of the node that it needs.
 */
needed: string
} | {
operation: "unlink"
/**
 * Id of the node.
 */
node: string
/**
 * Id of the node that it needs no more.
 */
needed: string
})
/**
 * Name of a field of a node.
 */
export type FieldName = ("signature" | "docstring" | "examples" | "libraries" | "serves")
/**
 * The rule by which definitions form subgraphs.
 */
export type SubgraphRule = ("package" | "cohesion")
/**
 * Size of the planned project.
 */
export type PlanSize = ("small" | "medium" | "large")
/**
 * A decision on a part of a draft.
 */
export type DraftDecision = ("accept" | {
edited: string
} | {
sendBack: string
})
/**
 * Where a draft is after a call.
 */
export type DraftPlanResult = (({
state: "written"
} & WrittenPlan) | {
state: "questions"
questions: string[]
} | ({
state: "part"
} & DraftedPart))
/**
 * The tool that installs the packages of a project. Other programs are not possible.
 */
export type Installer = ("npm" | "pip" | "go" | "none")
/**
 * What a symbol is.
 */
export type Kind = ("class" | "function" | "method" | "property" | "variable" | "attribute")
/**
 * The type checkers that can be asked.
 */
export type Checker = ("ty" | "pyrefly" | "basedpyright")
/**
 * The frameworks by the names of their programs.
 */
export type Tool = ("pytest" | "unittest" | "jest" | "vitest" | "go")
/**
 * The framework of the written tests.
 */
export type TestFramework = ("pytest" | "unittest")
/**
 * One event.
 */
export type Event = ({
type: "job"
job: string
/**
 * The method that started it, without `trellis/`.
 */
method: string
title: string
state: JobState
/**
 * Why it failed.
 */
error?: (string | null)
hint?: (string | null)
} | {
type: "progress"
job: string
done: number
total: number
percent: number
/**
 * Estimated seconds until the end; left out if unknown.
 */
etaSeconds?: (number | null)
} | {
type: "node"
job: string
node: string
/**
 * `pending`, `in_progress`, `passed`, `failed` or `skipped`.
 */
status: string
reason?: (string | null)
subgraph?: (string | null)
} | {
type: "stage"
job: string
node: string
/**
 * `red`, `green`, or the stage of a prompt, such as `implementation`.
 */
stage: string
/**
 * In a few words.
 */
outcome: string
} | {
type: "test"
job: string
/**
 * The folder of its project.
 */
root: string
id: string
outcome: string
durationMs: number
/**
 * Why it was skipped or expected to fail.
 */
reason?: (string | null)
/**
 * The file that defines it, relative to the root.
 */
path?: (string | null)
/**
 * From 1.
 */
line?: (number | null)
/**
 * What it failed with.
 */
message?: (string | null)
/**
 * The file in which it failed, relative to the root.
 */
failedPath?: (string | null)
/**
 * The line there, from 1.
 */
failedLine?: (number | null)
/**
 * When the tested texts were read, in milliseconds of Unix time.
 */
textOf?: (number | null)
/**
 * The tested texts are not in the project, such as those of a draft.
 */
draft?: boolean
} | {
type: "results"
/**
 * The folder of the project.
 */
root: string
tests: ForeignTest[]
} | {
type: "files"
job: string
root: string
paths: string[]
} | {
type: "proposal"
proposal: string
root: string
state: string
} | {
type: "log"
job?: (string | null)
level: Level
message: string
} | {
type: "missed"
count: number
})
/**
 * The importance of a log line.
 */
export type Level = ("info" | "warning" | "error")
/**
 * What a program can offer after a refused decision.
 */
export type Remedy = ("rebase" | "review")

export interface Protocol {
methods: {
"trellis/generate": {
params: GenerateParams
result: Started
}
"trellis/retryNode": {
params: RetryNodeParams
result: Started
}
"trellis/listModels": {
params: ListModelsParams
result: ModelList
}
"trellis/job": {
params: JobParams
result: JobInfo
}
"trellis/jobs": {
params: JobsParams
result: JobList
}
"trellis/cancelJob": {
params: CancelJobParams
result: JobInfo
}
"trellis/pauseJob": {
params: PauseJobParams
result: JobInfo
}
"trellis/resumeJob": {
params: ResumeJobParams
result: JobInfo
}
"trellis/listRuns": {
params: ListRunsParams
result: RunList
}
"trellis/listFiles": {
params: ListFilesParams
result: FileList
}
"trellis/readFile": {
params: ReadFileParams
result: FileText
}
"trellis/log": {
params: LogParams
result: LogResult
}
"trellis/repair": {
params: RepairParams
result: (JobStarted | RepairResult)
}
"trellis/implement": {
params: ImplementParams
result: (JobStarted | ImplementResult)
}
"trellis/listReviews": {
params: ListReviewsParams
result: ListReviewsResult
}
"trellis/reviewBase": {
params: ReviewBaseParams
result: ReviewBaseResult
}
"trellis/tasks": {
params: TasksParams
result: (JobStarted | TasksResult)
}
"trellis/listFixes": {
params: ListFixesParams
result: ListFixesResult
}
"trellis/getFix": {
params: GetFixParams
result: FixResult
}
"trellis/undoFix": {
params: UndoFixParams
result: UndoFixResult
}
"trellis/proposeFix": {
params: ProposeFixParams
result: (JobStarted | FixResult)
}
"trellis/decideFix": {
params: DecideFixParams
result: (JobStarted | DecideFixResult)
}
"trellis/planCheck": {
params: PlanCheckParams
result: PlanCheckResult
}
"trellis/planOrder": {
params: PlanOrderParams
result: PlanOrderResult
}
"trellis/planShow": {
params: PlanShowParams
result: PlanShowResult
}
"trellis/planNode": {
params: PlanNodeParams
result: PlanNodeResult
}
"trellis/planLevels": {
params: PlanLevelsParams
result: PlanLevelsResult
}
"trellis/planFlows": {
params: PlanFlowsParams
result: PlanFlowsResult
}
"trellis/planDeps": {
params: PlanDepsParams
result: PlanDepsResult
}
"trellis/planSearch": {
params: PlanSearchParams
result: PlanSearchResult
}
"trellis/status": {
params: StatusParams
result: StatusResult
}
"trellis/tasksStatus": {
params: TasksStatusParams
result: TasksStatusResult
}
"trellis/report": {
params: ReportParams
result: ReportResult
}
"trellis/node": {
params: NodeParams
result: NodeResult
}
"trellis/planDiagnostics": {
params: PlanDiagnosticsParams
result: PlanDiagnosticsResult
}
"trellis/planEstimate": {
params: PlanEstimateParams
result: PlanEstimateResult
}
"trellis/rollback": {
params: RollbackParams
result: RollbackResult
}
"trellis/codeView": {
params: CodeViewParams
result: CodeViewResult
}
"trellis/diffPlans": {
params: DiffPlansParams
result: PlanDiffResult
}
"trellis/tracePlan": {
params: TracePlanParams
result: PlanTraceResult
}
"trellis/editPlan": {
params: EditPlanParams
result: PlanEditResult
}
"trellis/planFromCode": {
params: PlanFromCodeParams
result: (JobStarted | PlanFromCodeResult)
}
"trellis/draftPlan": {
params: DraftPlanParams
result: (JobStarted | DraftPlanResult)
}
"trellis/listStacks": {
params: ListStacksParams
result: StackList
}
"trellis/showStack": {
params: ShowStackParams
result: StackShown
}
"trellis/newProject": {
params: NewProjectParams
result: NewProject
}
"trellis/installPackages": {
params: InstallPackagesParams
result: (JobStarted | PackagesInstalled)
}
"trellis/findSymbol": {
params: FindSymbolParams
result: FindSymbolResult
}
"trellis/findReferencingSymbols": {
params: FindReferencingSymbolsParams
result: FindReferencingSymbolsResult
}
"trellis/findCallers": {
params: FindCallersParams
result: FindCallersResult
}
"trellis/findDefinition": {
params: FindDefinitionParams
result: FindDefinitionResult
}
"trellis/findUnused": {
params: FindUnusedParams
result: FindUnusedResult
}
"trellis/checkPlanned": {
params: CheckPlannedParams
result: CheckPlannedResult
}
"trellis/documentSymbols": {
params: DocumentSymbolsParams
result: DocumentSymbolsResult
}
"trellis/replaceSymbolBody": {
params: ReplaceSymbolBodyParams
result: EditResult
}
"trellis/insertBeforeSymbol": {
params: InsertBeforeSymbolParams
result: EditResult
}
"trellis/insertAfterSymbol": {
params: InsertAfterSymbolParams
result: EditResult
}
"trellis/replaceText": {
params: ReplaceTextParams
result: EditResult
}
"trellis/renameSymbol": {
params: RenameSymbolParams
result: RenameSymbolResult
}
"trellis/safeDeleteSymbol": {
params: SafeDeleteSymbolParams
result: SafeDeleteSymbolResult
}
"trellis/undoEdit": {
params: UndoEditParams
result: EditResult
}
"trellis/parseFile": {
params: ParseFileParams
result: ParsedFile
}
"trellis/validateSyntax": {
params: ValidateSyntaxParams
result: Validity
}
"trellis/findTests": {
params: FindTestsParams
result: FoundTests
}
"trellis/runTests": {
params: RunTestsParams
result: (JobStarted | RunTestsResult)
}
"trellis/generateTests": {
params: GenerateTestsParams
result: (JobStarted | Generated)
}
"trellis/localize": {
params: LocalizeParams
result: (JobStarted | LocalizeResult)
}
"trellis/environment": {
params: EnvironmentParams
result: (JobStarted | EnvironmentResult)
}
"trellis/doctor": {
params: DoctorParams
result: DoctorResult
}
"trellis/affectedTests": {
params: AffectedTestsParams
result: AffectedTestsResult
}
"trellis/listTests": {
params: ListTestsParams
result: TestList
}
"trellis/addTestPath": {
params: AddTestPathParams
result: AddedTestPath
}
"trellis/keepTests": {
params: KeepTestsParams
result: KeptTests
}
}
notifications: {
"trellis/event": Event
}
errorData: ErrorData
}
/**
 * Starts generating a repository from a planning graph as a job, or resumes it. Without `graph`, the earlier run in
 * `out` resumes with its own options; options given here win.
 */
export interface GenerateParams {
/**
 * The planning graph, RPG JSON; required for a first run.
 */
graph?: (string | null)
/**
 * Folder of the generated repository.
 */
out: string
/**
 * Nodes worked on at once, 1 to 256; the result is the same for any number. Default 1.
 */
jobs?: (number | null)
/**
 * Nodes per write to the disk, from 1. Default 5.
 */
batch?: (number | null)
/**
 * Start at this node. Nodes before it that have not passed are skipped.
 */
startFromNode?: (string | null)
/**
 * Files that are part of every prompt as project context.
 */
context?: (string[] | null)
/**
 * Specification in prose.
 */
spec?: (string | null)
/**
 * rpg, zerorepo, codermind or rpg-encoder; found out if not given.
 */
dialect?: (string | null)
/**
 * How the model gives a fix.
 */
fixWith?: (FixWith | null)
/**
 * Votes on the cause of a failure, 1 to 15; if left out, one, and more while the cause is unclear.
 */
votes?: (number | null)
/**
 * Which fixes need your approval: `autonomous` (none), `supervised` (all) or `threshold` (those
 * after the second, of little confidence, or of critical files). Default `autonomous`.
 */
approve?: (string | null)
/**
 * Seconds one test may take, from 1. Default 30.
 */
testTimeout?: (number | null)
/**
 * Continue from files that you edited, instead of stopping.
 */
keepEdits?: (boolean | null)
/**
 * Remove the code of nodes that are no longer in the graph, instead of stopping.
 */
dropRemoved?: (boolean | null)
/**
 * Model, as `provider:name` or `recorded:FILE` [default: TRELLIS_MODEL, then `model` in trellis.toml].
 */
model?: (string | null)
/**
 * Model for simple work [default: `simple_model` in trellis.toml, then the model].
 */
simpleModel?: (string | null)
/**
 * Model for hard work, and for fixes after two failed ones [default: `strong_model` in trellis.toml, then the model].
 */
strongModel?: (string | null)
/**
 * Spending limit in US dollars. Earlier starts of the same run count.
 */
budgetUsd?: (number | null)
/**
 * Limit in tokens. Earlier starts of the same run count.
 */
budgetTokens?: (number | null)
/**
 * Send no request to the model after this many minutes.
 */
budgetMinutes?: (number | null)
/**
 * Write every reply of the model to this file, for `--model recorded:FILE`.
 */
record?: (string | null)
/**
 * Wait as long as the recorded model did.
 */
replayLatency?: boolean
sandbox?: Choice
/**
 * Docker image with Python to run tests in [default: python:3.12-slim].
 */
image?: (string | null)
/**
 * Python environment for the tests: its folder or its interpreter. Implies the local sandbox.
 */
interpreter?: (string | null)
allow?: Allowed
}
/**
 * What tests may have beside what every sandbox gives. A person says it, never a project or a model.
 */
export interface Allowed {
/**
 * Set a variable for the tests. Repeatable.
 */
env?: string[]
/**
 * Pass a variable of yours to the tests. Repeatable.
 */
passEnv?: string[]
/**
 * Memory limit in MiB [default: 2048].
 */
memory?: (number | null)
/**
 * Number of processors [default: all; 1 in containers].
 */
cores?: (number | null)
/**
 * Let tests use the network, including services on this machine.
 */
network?: boolean
/**
 * Do not let tests write to the project folder.
 */
readOnly?: boolean
/**
 * Run the tests on this Docker engine: an address (`unix://`, `tcp://`), or a Docker context.
 * Repeatable.
 */
engines?: string[]
/**
 * Seconds for all tests of a run, where nothing else is said (default: 1800).
 */
runSeconds?: (number | null)
}
/**
 * A job was started; `trellis/event` reports its progress, `trellis/job` its result.
 */
export interface Started {
/**
 * Its id.
 */
job: string
}
/**
 * Retries one node that failed or was skipped, and the nodes that depend on it, as a job; everything else stays.
 * Options as for `generate`; the graph is that of the earlier run unless you give another.
 */
export interface RetryNodeParams {
/**
 * Id of the node.
 */
node: string
/**
 * The planning graph, RPG JSON; required for a first run.
 */
graph?: (string | null)
/**
 * Folder of the generated repository.
 */
out: string
/**
 * Nodes worked on at once, 1 to 256; the result is the same for any number. Default 1.
 */
jobs?: (number | null)
/**
 * Nodes per write to the disk, from 1. Default 5.
 */
batch?: (number | null)
/**
 * Start at this node. Nodes before it that have not passed are skipped.
 */
startFromNode?: (string | null)
/**
 * Files that are part of every prompt as project context.
 */
context?: (string[] | null)
/**
 * Specification in prose.
 */
spec?: (string | null)
/**
 * rpg, zerorepo, codermind or rpg-encoder; found out if not given.
 */
dialect?: (string | null)
/**
 * How the model gives a fix.
 */
fixWith?: (FixWith | null)
/**
 * Votes on the cause of a failure, 1 to 15; if left out, one, and more while the cause is unclear.
 */
votes?: (number | null)
/**
 * Which fixes need your approval: `autonomous` (none), `supervised` (all) or `threshold` (those
 * after the second, of little confidence, or of critical files). Default `autonomous`.
 */
approve?: (string | null)
/**
 * Seconds one test may take, from 1. Default 30.
 */
testTimeout?: (number | null)
/**
 * Continue from files that you edited, instead of stopping.
 */
keepEdits?: (boolean | null)
/**
 * Remove the code of nodes that are no longer in the graph, instead of stopping.
 */
dropRemoved?: (boolean | null)
/**
 * Model, as `provider:name` or `recorded:FILE` [default: TRELLIS_MODEL, then `model` in trellis.toml].
 */
model?: (string | null)
/**
 * Model for simple work [default: `simple_model` in trellis.toml, then the model].
 */
simpleModel?: (string | null)
/**
 * Model for hard work, and for fixes after two failed ones [default: `strong_model` in trellis.toml, then the model].
 */
strongModel?: (string | null)
/**
 * Spending limit in US dollars. Earlier starts of the same run count.
 */
budgetUsd?: (number | null)
/**
 * Limit in tokens. Earlier starts of the same run count.
 */
budgetTokens?: (number | null)
/**
 * Send no request to the model after this many minutes.
 */
budgetMinutes?: (number | null)
/**
 * Write every reply of the model to this file, for `--model recorded:FILE`.
 */
record?: (string | null)
/**
 * Wait as long as the recorded model did.
 */
replayLatency?: boolean
sandbox?: Choice
/**
 * Docker image with Python to run tests in [default: python:3.12-slim].
 */
image?: (string | null)
/**
 * Python environment for the tests: its folder or its interpreter. Implies the local sandbox.
 */
interpreter?: (string | null)
allow?: Allowed
}
/**
 * Lists models with prices and context sizes. Services are asked for their lists, for at most 5 seconds; where one does
 * not answer, the models with built-in prices are listed. Costs nothing.
 */
export interface ListModelsParams {
/**
 * The folder whose `trellis.toml` applies; default: the first folder of the workspace.
 */
root?: (string | null)
/**
 * A provider, such as `openai`; default: all that have a key or need none.
 */
provider?: (string | null)
}
/**
 * Models by provider.
 */
export interface ModelList {
providers: ModelsOfProvider[]
}
/**
 * The models of one provider.
 */
export interface ModelsOfProvider {
/**
 * Such as `openai`.
 */
provider: string
/**
 * In the order of the service.
 */
models: ModelChoice[]
/**
 * Why the service lists no models; the models are then those with built-in prices.
 */
unlisted?: (UnlistedReason | null)
}
/**
 * A model to choose.
 */
export interface ModelChoice {
/**
 * Such as `openai:gpt-5-mini`.
 */
model: string
/**
 * Name for people, if the service has another one.
 */
label?: (string | null)
/**
 * US dollars per million tokens of a prompt; left out if unknown.
 */
inputUsd?: (number | null)
/**
 * US dollars per million tokens of a reply.
 */
outputUsd?: (number | null)
/**
 * Maximum length of a prompt, in tokens.
 */
contextTokens?: (number | null)
}
/**
 * Why a service lists no models.
 */
export interface UnlistedReason {
/**
 * A sentence without its full stop.
 */
message: string
/**
 * One of the kinds of errors, such as `noKey`.
 */
kind?: (string | null)
}
/**
 * Shows the state of a job, and its result if it has ended.
 */
export interface JobParams {
/**
 * Its id, such as `job-1`.
 */
job: string
}
/**
 * One job.
 */
export interface JobInfo {
/**
 * Its id, such as `job-1`.
 */
job: string
/**
 * The method that started it, without `trellis/`.
 */
method: string
/**
 * A short description.
 */
title: string
state: JobState
/**
 * RFC 3339.
 */
startedAt: string
/**
 * Null if the work has no steps to count.
 */
progress?: (JobProgress | null)
/**
 * The result, when it is done.
 */
result?: {
[k: string]: unknown
}
/**
 * Why it failed.
 */
error?: (JobError | null)
}
/**
 * The progress of a job.
 */
export interface JobProgress {
done: number
total: number
/**
 * Estimated seconds until the end.
 */
etaSeconds?: (number | null)
}
/**
 * Why a job failed.
 */
export interface JobError {
message: string
hint?: (string | null)
/**
 * The exit code of the command line for this error.
 */
exitCode: number
}
/**
 * Lists all jobs of this server, the newest last; of ended jobs, the last hundred.
 */
export type JobsParams = Record<string, never>;
/**
 * Jobs of this server.
 */
export interface JobList {
jobs: JobInfo[]
}
/**
 * Stops a job. Accepted code is kept; the job ends after its current step.
 */
export interface CancelJobParams {
/**
 * Its id.
 */
job: string
}
/**
 * Pauses a job: current steps finish, and nothing new starts until `resumeJob`.
 */
export interface PauseJobParams {
/**
 * Its id.
 */
job: string
}
/**
 * Resumes a paused job.
 */
export interface ResumeJobParams {
/**
 * Its id.
 */
job: string
}
/**
 * Lists the runs of `generate` and of `tasks` in the workspace's folders, down to three levels: which are finished,
 * and which can be resumed.
 */
export interface ListRunsParams {
/**
 * Search this folder instead of the workspace's.
 */
root?: (string | null)
}
/**
 * Runs by folder.
 */
export interface RunList {
runs: Run[]
}
/**
 * One run.
 */
export interface Run {
/**
 * Its output folder.
 */
out: string
kind: RunKind
state: RunState
/**
 * Nodes that have passed, or tasks that are merged.
 */
passed: number
/**
 * All of them.
 */
total: number
/**
 * The planning graph, or the list of tasks, that it was started with; null in journals of earlier versions.
 */
graph?: (string | null)
}
/**
 * Lists the files that a run or a list of tasks wrote, and whether each is unchanged.
 */
export interface ListFilesParams {
/**
 * The output folder of the run.
 */
out: string
}
/**
 * Files of a run, by path.
 */
export interface FileList {
files: FileEntry[]
}
/**
 * One file that a run wrote.
 */
export interface FileEntry {
/**
 * Relative to the folder, with `/`.
 */
path: string
/**
 * `written`: unchanged since the run or the merge; `edited`: someone changed it after that; `missing`: it was
 * removed.
 */
state: string
/**
 * In bytes; null if the file is missing.
 */
size?: (number | null)
}
/**
 * Reads a text file of a run's folder.
 */
export interface ReadFileParams {
/**
 * The output folder of the run.
 */
out: string
/**
 * The file, relative to the folder.
 */
path: string
}
/**
 * A file's text.
 */
export interface FileText {
path: string
text: string
}
/**
 * Reads the journal of a run or a project, the oldest event first: what happened, to which node, why, and at what
 * cost; also checks its hash chain.
 */
export interface LogParams {
/**
 * The output folder of a run, or a project's folder; default: the first folder of the workspace.
 */
root?: (string | null)
/**
 * Only events of this node, subgraph, function or test.
 */
node?: (string | null)
/**
 * Only events of these kinds; all kinds if empty.
 */
kinds?: EventKind[]
/**
 * Only the last events of those selected: 1000 by default, at most 100000.
 */
last?: (number | null)
}
/**
 * The contents of a journal.
 */
export interface LogResult {
/**
 * The oldest first.
 */
entries: LogEntry[]
journal: LogFile
verify: LogVerify
}
/**
 * One event.
 */
export interface LogEntry {
/**
 * Its line in the journal, from 1.
 */
line: number
/**
 * When, in UTC (RFC 3339).
 */
at: string
kind: EventKind
/**
 * The id of a node, subgraph, function or test; null for the run as a whole.
 */
node?: (string | null)
/**
 * What happened, at most 2000 characters.
 */
what: string
/**
 * Why, or further details, at most 2000 characters.
 */
reason?: (string | null)
/**
 * The cost of this step alone; `what` contains sums over many steps.
 */
cost?: (LogCost | null)
}
/**
 * The cost of a step; unknown values are null.
 */
export interface LogCost {
inputTokens?: (number | null)
outputTokens?: (number | null)
/**
 * US dollars.
 */
usd?: (number | null)
milliseconds?: (number | null)
}
/**
 * The file that was read.
 */
export interface LogFile {
path: string
/**
 * The number of complete lines.
 */
lines: number
/**
 * The number of selected events before those returned.
 */
leftOut: number
/**
 * Lines that are not events, whatever you selected; the first hundred.
 */
unreadable: UnreadableLine[]
/**
 * The total number of such lines.
 */
unreadableCount: number
/**
 * A crash cut the last line short; the next line overwrites it.
 */
isTorn: boolean
}
/**
 * A line that is not an event.
 */
export interface UnreadableLine {
/**
 * From 1.
 */
line: number
why: string
}
/**
 * The result of checking the hash chain. If lines were cut off at the end, only `head` shows it: it differs from the
 * one you noted elsewhere.
 */
export interface LogVerify {
/**
 * Whether each line matches the line above.
 */
isIntact: boolean
/**
 * The first line with a chain, from 1; earlier versions wrote the lines above, which the chain covers as a
 * whole.
 */
since?: (number | null)
/**
 * The chain of the last line, which covers the whole file: 64 hexadecimal digits; null if the file is empty or
 * changed.
 */
head?: (string | null)
/**
 * The first line that does not match.
 */
broken?: (BrokenLine | null)
}
/**
 * A line that does not match the line above.
 */
export interface BrokenLine {
/**
 * From 1.
 */
line: number
why: string
}
/**
 * Fix failing tests; every fix is tested on a copy first.
 * 
 * Runs the tests, finds causes, asks the model for a fix of each, and tries it on a copy of the project. Doubtful fixes wait
 * for your approval.
 */
export interface RepairParams {
/**
 * Folder of the project.
 */
root?: string
/**
 * Fix only these failing tests: ids, files or folders. Default: all that fail.
 */
tests?: string[]
/**
 * Check fixes with these test files and folders only. Default: all tests.
 */
suite?: string[]
/**
 * Describe in your own words what is wrong; the model reads it.
 */
issue?: (string | null)
/**
 * Try at most this many fixes for one cause.
 */
maxIterations?: number
/**
 * Collect this many passing fixes and keep the best. Each one is a request to the model.
 */
candidates?: number
/**
 * Which fixes need your approval: none (autonomous), all (supervised), or doubtful ones (threshold).
 */
approve?: (string | null)
/**
 * Ask for approval of every change to these files, such as `billing/**`. Repeatable.
 */
critical?: string[]
/**
 * Let a fix change at most this many lines of one file.
 */
maxLines?: number
/**
 * Skip the diagnosis that the model writes before a fix.
 */
noReport?: boolean
/**
 * Before the model is asked, try small edits of suspicious lines for this many seconds; 0 tries none.
 */
trials?: number
fixWith?: FixWith
/**
 * Change no file; show the fixes, and write the patch with --patch.
 */
dryRun?: boolean
/**
 * Fix the last commit in a separate git worktree. Fixes go to a branch; your files do not change.
 */
worktree?: boolean
/**
 * Commit the fixes that were kept, and nothing else.
 */
commit?: boolean
/**
 * Write the fixes to this file as a patch for `git apply`.
 */
patch?: (string | null)
/**
 * Model, as `provider:name` or `recorded:FILE` [default: TRELLIS_MODEL, then `model` in trellis.toml].
 */
model?: (string | null)
/**
 * Model for simple work [default: `simple_model` in trellis.toml, then the model].
 */
simpleModel?: (string | null)
/**
 * Model for hard work, and for fixes after two failed ones [default: `strong_model` in trellis.toml, then the model].
 */
strongModel?: (string | null)
/**
 * Spending limit in US dollars. Earlier starts of the same run count.
 */
budgetUsd?: (number | null)
/**
 * Limit in tokens. Earlier starts of the same run count.
 */
budgetTokens?: (number | null)
/**
 * Send no request to the model after this many minutes.
 */
budgetMinutes?: (number | null)
/**
 * Write every reply of the model to this file, for `--model recorded:FILE`.
 */
record?: (string | null)
/**
 * Wait as long as the recorded model did.
 */
replayLatency?: boolean
sandbox?: Choice
/**
 * Docker image with Python to run tests in [default: python:3.12-slim].
 */
image?: (string | null)
/**
 * Python environment for the tests: its folder or its interpreter. Implies the local sandbox.
 */
interpreter?: (string | null)
allow?: Allowed
/**
 * Wait for your decision about fixes that need approval. Default: they wait as proposals, and the repair continues.
 */
wait?: boolean
/**
 * Time limit for one test, in seconds.
 */
testTimeout?: number
/**
 * Time limit for all tests of a run, in seconds [default: 1800].
 */
runTimeout?: (number | null)
/**
 * Return immediately with the id of the job; a `trellis/event` reports its end.
 */
background?: boolean
}
/**
 * The job continues; `trellis/event` reports its progress, `trellis/job` its result.
 */
export interface JobStarted {
/**
 * Its id.
 */
job: string
}
/**
 * The result of a repair.
 */
export interface RepairResult {
/**
 * `nothingToDo`, `repaired`, `partly`, `notRepaired` or `needsHuman`.
 */
outcome: string
/**
 * The exit code of the command line: 0 nothing fails any longer, 1 some tests fail, 2 needs your review, or a
 * fix of the environment.
 */
exitCode: number
before: TestCounts
after: TestCounts
/**
 * Kept fixes.
 */
fixes: KeptFix[]
/**
 * Failing tests by likely cause, in the order of work.
 */
groups: GroupShape[]
/**
 * Tests that failed and passed when run again.
 */
flaky: string[]
/**
 * Failing tests that no change of the code can fix.
 */
setAside: SetAside[]
/**
 * The path of the patch, if you asked for it.
 */
patch?: (string | null)
/**
 * The branch with the fixes, if you asked for one.
 */
branch?: (string | null)
/**
 * The commit with the fixes, if you asked for one.
 */
commit?: (string | null)
/**
 * Folder with diagnoses, report and patch, relative to the project; null if nothing failed.
 */
artifacts?: (string | null)
/**
 * US dollars, as far as prices are known; null without prompts to a model.
 */
usd?: (number | null)
/**
 * Tokens in and out; null without prompts to a model.
 */
tokens?: (number | null)
time: Time
/**
 * Further notes, as sentences.
 */
notes: string[]
}
/**
 * Tests by result.
 */
export interface TestCounts {
passing: number
/**
 * Without tests that pass when run again.
 */
failing: number
}
/**
 * A kept fix.
 */
export interface KeptFix {
/**
 * Its id, for `undoFix`; null if nothing was written into the tree.
 */
fix?: (string | null)
reason: string
confidence: ConfidenceShape
/**
 * Relative to the root.
 */
paths: string[]
/**
 * A unified diff.
 */
diff: string
}
/**
 * Confidence from 0 to 1.
 */
export interface ConfidenceShape {
/**
 * 0.3 × diagnostic + 0.3 × fix + 0.4 × coverage.
 */
total: number
/**
 * How clear the location of the bug is: mean of `clarity` and `agreement`.
 */
diagnostic: number
/**
 * How good the fix is by tests, size and history: `passing`, times the mean of `size` and `history`.
 */
fix: number
/**
 * The share of its lines that passing tests execute.
 */
coverage: number
/**
 * The parts of diagnostic and fix; null for the draft of a run.
 */
parts?: (ConfidenceParts | null)
}
/**
 * The parts of a confidence, each from 0 to 1.
 */
export interface ConfidenceParts {
/**
 * Whether the failure is raised where the change is: 1 in the same function, 0.5 in the same file.
 */
clarity: number
/**
 * How suspicious the changed code was; the most suspicious place has 1.
 */
agreement: number
/**
 * The share of possibly affected tests that pass with it.
 */
passing: number
/**
 * 1 for a few lines, 0 for the largest change allowed.
 */
size: number
/**
 * 1 for the first fix, less for each failed one before it.
 */
history: number
}
/**
 * Failing tests with one likely cause.
 */
export interface GroupShape {
/**
 * Sorted.
 */
tests: string[]
diagnosis: DiagnosisShape
attempts: AttemptShape[]
/**
 * Fixes that were suggested or tried, but not chosen.
 */
alternatives: AlternativeShape[]
/**
 * The kept fix: its id, or `kept`.
 */
kept?: (string | null)
/**
 * The fix that needs your review.
 */
waiting?: (string | null)
/**
 * Why it was not repaired.
 */
givenUp?: (string | null)
}
/**
 * The diagnosis of a failure.
 */
export interface DiagnosisShape {
/**
 * The version of this format.
 */
version: number
/**
 * `test_failure`, `build_error`, `runtime_error` or `type_error`.
 */
issueType: string
/**
 * `Critical` (tests cannot be collected, or most fail), `High` (several files, an endless loop), `Medium` (several tests),
 * `Low` (one test).
 */
severity: string
/**
 * The exception of the first test, and its message.
 */
error: string
rootCause: string
/**
 * `model` or `measured`: the source of the cause.
 */
rootCauseBy: string
affectedFiles: AffectedFile[]
/**
 * The model's suggestions before anything was tried.
 */
suggestedFixes: SuggestedFix[]
/**
 * As sentences.
 */
lookedAt: string[]
}
/**
 * A place related to a failure.
 */
export interface AffectedFile {
/**
 * Relative to the root.
 */
path: string
/**
 * The first line of the snippet, from 1.
 */
lineStart: number
/**
 * Its last line.
 */
lineEnd: number
codeSnippet: string
/**
 * How it is related.
 */
issueDescription: string
}
/**
 * A fix in words.
 */
export interface SuggestedFix {
description: string
/**
 * The model's own confidence, from 0 to 1, if it gave one; nothing depends on it.
 */
confidence?: (number | null)
}
/**
 * A fix that was tried.
 */
export interface AttemptShape {
/**
 * From 1.
 */
number: number
/**
 * `passed`, `failed`, `unusable` or `rejected`.
 */
outcome: string
/**
 * Why, or what it does.
 */
what: string
/**
 * A unified diff, if there was a change to try.
 */
diff?: (string | null)
/**
 * Only for one that passed.
 */
confidence?: (ConfidenceShape | null)
/**
 * Signs that it is tailored to its tests, with their places.
 */
shortcuts: string[]
/**
 * `trial` if small edits found it and no model was asked; else left out.
 */
foundBy?: (string | null)
}
/**
 * A fix that was not chosen.
 */
export interface AlternativeShape {
/**
 * `Fix 1`, or `Suggestion 1` with its description.
 */
name: string
/**
 * Its result, and why.
 */
became: string
/**
 * For a fix that passed, measured; for a suggestion, the model's own, from 0 to 1.
 */
confidence?: (number | null)
/**
 * A unified diff, if there is one; for a suggestion that was tried, that of the fix.
 */
diff?: (string | null)
}
/**
 * A failing test that no change of the code can fix.
 */
export interface SetAside {
/**
 * pytest's id, or the path of a file that cannot be collected.
 */
test: string
why: string
}
/**
 * How long it took.
 */
export interface Time {
/**
 * The total time.
 */
seconds: number
/**
 * The part of it that test runs took, each from the start of its process to its end.
 */
testSeconds: number
testRuns: number
}
/**
 * Implement an issue from a spec, test-first, on its own branch.
 * 
 * Writes tests that fail and code that makes them pass, runs linters, asks for your review and merges. All of it happens in a
 * separate git worktree: your files do not change until you approve.
 */
export interface ImplementParams {
/**
 * Folder of the project, in a git repository.
 */
root?: string
/**
 * Number or name of the issue: letters, digits, `-`, `_` and `.`.
 */
issue: string
/**
 * File of the project that describes what to build.
 */
lld: string
/**
 * Python or Markdown files that are part of every prompt: code to use, standards to follow.
 */
context?: string[]
/**
 * How the model works: in one reply, or with tools that edit a copy of the files. Default: tools if the model
 * supports them.
 */
workWith?: (FixWith | null)
/**
 * When a change needs your approval before the merge: never (autonomous), always (supervised), or when in doubt
 * (threshold). Work that does not pass exits with 1 in autonomous mode, otherwise with 2.
 */
approve?: (string | null)
/**
 * Show the steps and the first prompt. Calls no model and writes nothing.
 */
dryRun?: boolean
/**
 * Push to this remote (a name or an address): the branch that was merged into, and branches that need your review,
 * with a pull request on GitHub, Gitea or Forgejo.
 */
push?: (string | null)
/**
 * What becomes of the change that waits for a review, as the result of the call before showed it.
 */
decision?: (Decision | null)
/**
 * Model, as `provider:name` or `recorded:FILE` [default: TRELLIS_MODEL, then `model` in trellis.toml].
 */
model?: (string | null)
/**
 * Model for simple work [default: `simple_model` in trellis.toml, then the model].
 */
simpleModel?: (string | null)
/**
 * Model for hard work, and for fixes after two failed ones [default: `strong_model` in trellis.toml, then the model].
 */
strongModel?: (string | null)
/**
 * Spending limit in US dollars. Earlier starts of the same run count.
 */
budgetUsd?: (number | null)
/**
 * Limit in tokens. Earlier starts of the same run count.
 */
budgetTokens?: (number | null)
/**
 * Send no request to the model after this many minutes.
 */
budgetMinutes?: (number | null)
/**
 * Write every reply of the model to this file, for `--model recorded:FILE`.
 */
record?: (string | null)
/**
 * Wait as long as the recorded model did.
 */
replayLatency?: boolean
sandbox?: Choice
/**
 * Docker image with Python to run tests in [default: python:3.12-slim].
 */
image?: (string | null)
/**
 * Python environment for the tests: its folder or its interpreter. Implies the local sandbox.
 */
interpreter?: (string | null)
allow?: Allowed
/**
 * Try at most this many fixes after the first code; then the work needs your review.
 */
maxRetries?: number
/**
 * Time limit for one test, in seconds.
 */
testTimeout?: number
/**
 * Time limit for all tests of a run, in seconds [default: 1800].
 */
runTimeout?: (number | null)
/**
 * Return immediately with the id of the job; a `trellis/event` reports its end.
 */
background?: boolean
}
/**
 * Your decision about a change that needs a review.
 */
export interface Decision {
answer: Answer
/**
 * The commit you reviewed, from the result; if the files have changed since then, nothing is decided.
 */
tip: string
/**
 * With `sendBack`: the reason, for the model.
 */
words?: (string | null)
/**
 * With `approve`: changed files that stay as they were before the work. All tests that must pass run again without
 * them; if one fails, nothing is merged.
 */
leaveOut?: string[]
/**
 * With `approve`: merges your edits in the worktree since `tip`, too, if the tests pass with them. Otherwise the
 * edited change needs another review.
 */
withEdits?: boolean
}
/**
 * The result of an issue.
 */
export interface ImplementResult {
outcome: Outcome
/**
 * The exit code of the command line: 0 merged, 1 tests fail after all retries and no review was requested, 2
 * needs your review.
 */
exitCode: number
/**
 * It passed every gate and needs a `decision`.
 */
waits: boolean
/**
 * Why it is not merged.
 */
reason?: (string | null)
issue: string
/**
 * The branch of the work, until it is merged.
 */
branch?: (string | null)
/**
 * The project's folder in the worktree, until it is merged; the next call continues with your edits there.
 */
worktree?: (string | null)
/**
 * The last commit of the branch, for a `decision`.
 */
tip?: (string | null)
/**
 * The commit that was merged.
 */
commit?: (string | null)
/**
 * Changed files, relative to the project's folder.
 */
files: string[]
/**
 * The change, as a unified diff.
 */
diff: string
/**
 * Reasons against the change, as sentences.
 */
doubts: string[]
/**
 * Failed attempts, in order.
 */
history: string[]
/**
 * Tests that passed before the work.
 */
passedBefore: number
/**
 * The new tests with the change; null if they did not run.
 */
newTests?: (Counts | null)
/**
 * All tests with the change; null if they did not run.
 */
allTests?: (Counts | null)
/**
 * Folder with both reports, relative to the project's; null if they were not written.
 */
reports?: (string | null)
/**
 * What was pushed, if you asked for it.
 */
pushed: Pushed[]
/**
 * What would be done, and the first prompt, if you asked for that.
 */
plan?: (string | null)
/**
 * US dollars, as far as prices are known; null without prompts to a model.
 */
usd?: (number | null)
/**
 * Tokens in and out; null without prompts to a model.
 */
tokens?: (number | null)
time: Time
/**
 * Further notes, as sentences.
 */
notes: string[]
}
/**
 * Tests of a run.
 */
export interface Counts {
passed: number
failed: number
}
/**
 * A branch, and its state on the remote.
 */
export interface Pushed {
branch: string
/**
 * The page of its pull request.
 */
pullRequest?: (string | null)
/**
 * What failed, and what to do; or a note that the branch was removed after its merge.
 */
note?: (string | null)
}
/**
 * Lists the changes of issues that need your review, the oldest first.
 */
export interface ListReviewsParams {
/**
 * Folder of the project. Default: the first folder of the workspace.
 */
root?: (string | null)
}
/**
 * The changes that need your review. `trellis/implement` with a `decision` merges one, sends it back, or keeps it on its
 * branch.
 */
export interface ListReviewsResult {
reviews: Review[]
/**
 * Files that could not be read, and why.
 */
problems: string[]
}
/**
 * The change of an issue.
 */
export interface Review {
issue: string
/**
 * Title of the issue, with the first line of its spec.
 */
title: string
/**
 * Spec and context files, relative to the project's folder, as `lld` and `context` of `trellis/implement`.
 */
spec: string
context: string[]
/**
 * The branch of the work.
 */
branch: string
/**
 * The branch that it is merged into.
 */
into: string
/**
 * The project's folder in the worktree. A decision takes your edits there into account.
 */
worktree: string
/**
 * The last commit of the work, for a `decision`.
 */
tip: string
/**
 * The changed files.
 */
files: ReviewFile[]
allTests: Counts
/**
 * Tests that passed before the work.
 */
passedBefore: number
/**
 * Reasons against the change, as sentences.
 */
doubts: string[]
/**
 * Further notes, as sentences.
 */
notes: string[]
/**
 * Why your last decision was not carried out.
 */
refused?: (string | null)
/**
 * Folder with both reports, relative to the project's.
 */
reports?: (string | null)
createdAt: string
}
/**
 * A changed file.
 */
export interface ReviewFile {
/**
 * Path relative to the project's folder.
 */
path: string
/**
 * Added lines; null for a file that is not text.
 */
added?: (number | null)
removed?: (number | null)
}
/**
 * Reads a changed file of an issue as it was before the change.
 */
export interface ReviewBaseParams {
/**
 * Folder of the project. Default: the first folder of the workspace.
 */
root?: (string | null)
/**
 * Number or name of the issue.
 */
issue: string
/**
 * Path of the file, relative to the project's folder.
 */
path: string
}
/**
 * The file before the change.
 */
export interface ReviewBaseResult {
/**
 * Null for a new file.
 */
text?: (string | null)
}
/**
 * Build a project from a task list, several tasks in parallel.
 * 
 * Creates the project from a template, then implements each task test-first in its own git worktree and merges it when all tests
 * pass. The same command resumes an earlier start.
 */
export interface TasksParams {
/**
 * Task list: JSON with `tasks`, each with `id`, `description` and optional `implementation_details`, `depends_on`,
 * `story_points`, `keywords`.
 */
file: string
/**
 * Project template; `trellis stacks list` shows all.
 */
stack: string
/**
 * Folder of the project: new, empty, or from an earlier start.
 */
out: string
/**
 * Name of the project: lower-case letters, digits and `-`. Default: the folder's name.
 */
name?: (string | null)
/**
 * Work on this many tasks in parallel.
 */
jobs?: number
workWith?: FixWith
/**
 * Skip the tests of all tasks together at the end.
 */
skipIntegration?: boolean
/**
 * Push to this remote (a name or an address): the branch that was merged into, and branches that need your review,
 * with a pull request on GitHub, Gitea or Forgejo.
 */
push?: (string | null)
/**
 * Model, as `provider:name` or `recorded:FILE` [default: TRELLIS_MODEL, then `model` in trellis.toml].
 */
model?: (string | null)
/**
 * Model for simple work [default: `simple_model` in trellis.toml, then the model].
 */
simpleModel?: (string | null)
/**
 * Model for hard work, and for fixes after two failed ones [default: `strong_model` in trellis.toml, then the model].
 */
strongModel?: (string | null)
/**
 * Spending limit in US dollars. Earlier starts of the same run count.
 */
budgetUsd?: (number | null)
/**
 * Limit in tokens. Earlier starts of the same run count.
 */
budgetTokens?: (number | null)
/**
 * Send no request to the model after this many minutes.
 */
budgetMinutes?: (number | null)
/**
 * Write every reply of the model to this file, for `--model recorded:FILE`.
 */
record?: (string | null)
/**
 * Wait as long as the recorded model did.
 */
replayLatency?: boolean
sandbox?: Choice
/**
 * Docker image with Python to run tests in [default: python:3.12-slim].
 */
image?: (string | null)
/**
 * Python environment for the tests: its folder or its interpreter. Implies the local sandbox.
 */
interpreter?: (string | null)
allow?: Allowed
/**
 * Try at most this many fixes after the first code; then the work needs your review.
 */
maxRetries?: number
/**
 * Time limit for one test, in seconds.
 */
testTimeout?: number
/**
 * Time limit for all tests of a run, in seconds [default: 1800].
 */
runTimeout?: (number | null)
/**
 * Return immediately with the id of the job; a `trellis/event` reports its end.
 */
background?: boolean
}
/**
 * The result of a list of tasks.
 */
export interface TasksResult {
/**
 * `COMPLETE` or `FAILED`; merged tasks stay in either case.
 */
status: string
/**
 * Why it is `FAILED`.
 */
reason?: (string | null)
/**
 * The exit code of the command line: 0 all tasks are merged and pass together, 1 some are not merged or do not
 * pass.
 */
exitCode: number
/**
 * The folder of the repository.
 */
out: string
/**
 * Share of the tasks that are merged, in percent.
 */
progress: number
totalTasks: number
/**
 * Merged tasks, by id.
 */
completedTasks: string[]
/**
 * Why others are not merged, by id; their work is on the branch `trellis/task-ID`.
 */
failedTasks: {
[k: string]: string
}
/**
 * Tasks that depend on a failed one, by id, with the reason.
 */
blockedTasks: {
[k: string]: string
}
/**
 * What was pushed, if you asked for it.
 */
pushed: Pushed[]
/**
 * US dollars, as far as prices are known.
 */
usd: number
/**
 * Tokens in and out.
 */
tokens: number
time: Time
/**
 * Further notes, as sentences.
 */
notes: string[]
}
/**
 * Lists proposed fixes of a project, the oldest first.
 */
export interface ListFixesParams {
/**
 * The project's folder; default: the first folder of the workspace.
 */
root?: (string | null)
/**
 * Only fixes in this state.
 */
state?: (State | null)
}
/**
 * Proposed fixes.
 */
export interface ListFixesResult {
fixes: FixSummary[]
/**
 * Proposals that could not be read, as sentences.
 */
problems: string[]
}
/**
 * A fix in a list.
 */
export interface FixSummary {
/**
 * Such as `fix-1`.
 */
fix: string
state: State
/**
 * From 1; higher each time its texts change.
 */
revision: number
/**
 * RFC 3339.
 */
createdAt: string
/**
 * Why it needs your review.
 */
reason: string
/**
 * The model's words about the change; null without any.
 */
explanation?: (string | null)
/**
 * `smallEdits` if trials of small edits found it and no model was asked; else null.
 */
foundBy?: (FoundBy | null)
/**
 * Results of its test runs; null if its texts have changed since, and for drafts of a run.
 */
facts?: (FixFacts | null)
confidence: ConfidenceShape
test: FailingTest
/**
 * Relative to the root.
 */
paths: string[]
/**
 * Hunks not decided yet.
 */
hunks: number
/**
 * The node of the run whose draft it is: the run itself tests and writes the files. Null for other fixes.
 */
node?: (string | null)
}
/**
 * Results of the tests that ran with a fix.
 */
export interface FixFacts {
/**
 * Number of failing tests that pass with it.
 */
fixed: number
/**
 * Number of failing tests that ran with it.
 */
failing: number
/**
 * Number of tests that it may affect, passed before and still pass.
 */
stillPassing: number
/**
 * Ids of hunks without a line that a passing test executes; null if coverage was not measured.
 */
uncoveredHunks?: (number[] | null)
}
/**
 * The failing test that it fixes.
 */
export interface FailingTest {
/**
 * pytest's node id.
 */
id: string
/**
 * What it fails with.
 */
message: string
/**
 * The failing place, relative to the root.
 */
path?: (string | null)
/**
 * Its line, from 1.
 */
line?: (number | null)
}
/**
 * Shows a proposed fix with its hunks, its texts and its history.
 */
export interface GetFixParams {
/**
 * The project's folder; default: the first folder of the workspace.
 */
root?: (string | null)
/**
 * Its id, such as `fix-1`.
 */
fix: string
}
/**
 * A fix with all details.
 */
export interface FixResult {
/**
 * Such as `fix-1`.
 */
fix: string
state: State
/**
 * From 1; higher each time its texts change.
 */
revision: number
/**
 * RFC 3339.
 */
createdAt: string
/**
 * Why it needs your review.
 */
reason: string
/**
 * The model's words about the change; null without any.
 */
explanation?: (string | null)
/**
 * `smallEdits` if trials of small edits found it and no model was asked; else null.
 */
foundBy?: (FoundBy | null)
/**
 * Results of its test runs; null if its texts have changed since, and for drafts of a run.
 */
facts?: (FixFacts | null)
confidence: ConfidenceShape
test: FailingTest
/**
 * Relative to the root.
 */
paths: string[]
/**
 * Hunks not decided yet.
 */
hunks: number
/**
 * The node of the run whose draft it is: the run itself tests and writes the files. Null for other fixes.
 */
node?: (string | null)
files: FileShape[]
/**
 * All files as a unified diff.
 */
diff: string
/**
 * Passing tests that it may break.
 */
affected: string[]
/**
 * Other failing tests that it may fix.
 */
failing: string[]
/**
 * Its history, the oldest entry first.
 */
history: HistoryEntry[]
}
/**
 * A file of a fix.
 */
export interface FileShape {
/**
 * Relative to the root.
 */
path: string
/**
 * SHA-256 of the original text; null for a new file.
 */
baseHash?: (string | null)
/**
 * The original text.
 */
base?: (string | null)
/**
 * The text as proposed.
 */
proposed: string
hunks: HunkShape[]
}
/**
 * A part of a change that you can accept or reject by itself.
 */
export interface HunkShape {
/**
 * Counted over all files of this revision, from 1.
 */
id: number
/**
 * As in a unified diff, without context lines.
 */
header: string
/**
 * The first removed line, from 1; for an insertion, the line after it.
 */
oldStart: number
/**
 * The removed lines, without line breaks.
 */
oldLines: string[]
/**
 * The first added line, from 1, in the proposed text.
 */
newStart: number
/**
 * The added lines, without line breaks.
 */
newLines: string[]
}
/**
 * One entry in the history of a proposal.
 */
export interface HistoryEntry {
/**
 * RFC 3339.
 */
at: string
/**
 * What was done: `proposed`, a decision, `undone`, `stale`, `failed`.
 */
what: string
/**
 * Further details, in words.
 */
note: string
/**
 * Number of the edit that was written.
 */
edit?: (number | null)
}
/**
 * Undoes what was last accepted of a fix; refused if its files changed after that.
 */
export interface UndoFixParams {
/**
 * The project's folder; default: the first folder of the workspace.
 */
root?: (string | null)
/**
 * Its id, such as `fix-1`.
 */
fix: string
}
/**
 * What was undone.
 */
export interface UndoFixResult {
/**
 * Such as `fix-1`.
 */
fix: string
state: State
/**
 * From 1; higher each time its texts change.
 */
revision: number
/**
 * RFC 3339.
 */
createdAt: string
/**
 * Why it needs your review.
 */
reason: string
/**
 * The model's words about the change; null without any.
 */
explanation?: (string | null)
/**
 * `smallEdits` if trials of small edits found it and no model was asked; else null.
 */
foundBy?: (FoundBy | null)
/**
 * Results of its test runs; null if its texts have changed since, and for drafts of a run.
 */
facts?: (FixFacts | null)
confidence: ConfidenceShape
test: FailingTest
/**
 * Relative to the root.
 */
paths: string[]
/**
 * Hunks not decided yet.
 */
hunks: number
/**
 * The node of the run whose draft it is: the run itself tests and writes the files. Null for other fixes.
 */
node?: (string | null)
/**
 * Number of the edit that undid it.
 */
edit: number
/**
 * Its files.
 */
written: string[]
}
/**
 * Looks for a fix of one failing test: runs the tests with coverage, tries small edits of suspicious lines, and only
 * if none of them is proven, prompts a model and tries its answers on a copy, at most three times. A fix that passes
 * is stored as a proposal; nothing is written into the project.
 */
export interface ProposeFixParams {
/**
 * The project's folder; default: the first folder of the workspace.
 */
root?: (string | null)
/**
 * pytest's id of the failing test, such as `tests/test_a.py::test_b`; of a file, class or function, the first test
 * that failed in its last run.
 */
test: string
/**
 * A proposed fix of the test that you want changed: the model gets it with your `words`, and the new fix replaces
 * it.
 */
revise?: (string | null)
/**
 * What to change in the fix that `revise` names.
 */
words?: string
/**
 * Test files and folders to run as well, to rank suspects and to see what a fix breaks; all tests if left out.
 */
tests?: string[]
/**
 * Before the model is prompted, try small edits for this many seconds; 0 tries none.
 */
trials?: number
/**
 * Model, as `provider:name` or `recorded:FILE` [default: TRELLIS_MODEL, then `model` in trellis.toml].
 */
model?: (string | null)
/**
 * Model for simple work [default: `simple_model` in trellis.toml, then the model].
 */
simpleModel?: (string | null)
/**
 * Model for hard work, and for fixes after two failed ones [default: `strong_model` in trellis.toml, then the model].
 */
strongModel?: (string | null)
/**
 * Spending limit in US dollars. Earlier starts of the same run count.
 */
budgetUsd?: (number | null)
/**
 * Limit in tokens. Earlier starts of the same run count.
 */
budgetTokens?: (number | null)
/**
 * Send no request to the model after this many minutes.
 */
budgetMinutes?: (number | null)
/**
 * Write every reply of the model to this file, for `--model recorded:FILE`.
 */
record?: (string | null)
/**
 * Wait as long as the recorded model did.
 */
replayLatency?: boolean
/**
 * Seconds one test may take (of Python's), from 1; 30 if left out.
 */
testTimeout?: number
/**
 * Seconds all of them may take, from 1; if left out, as the person's settings say, else 1800.
 */
runTimeout?: (number | null)
sandbox?: Choice
/**
 * Docker image with Python to run tests in [default: python:3.12-slim].
 */
image?: (string | null)
/**
 * Python environment for the tests: its folder or its interpreter. Implies the local sandbox.
 */
interpreter?: (string | null)
allow?: Allowed
/**
 * Return immediately with the id of the job; a `trellis/event` reports its end.
 */
background?: boolean
}
/**
 * Decides about a proposed fix. An accepted fix is first tested on a copy: the failing test must pass with it, and
 * no test that passed may fail; otherwise nothing is written and the state is `failed`. If a file changed since
 * then, the fix is `stale` (error kind `stale`), also for unsaved changes in the editor; `data.remedy` of the error
 * is `rebase` if the fix can be applied to the new text. `trellis/event` reports the tests that ran for written
 * fixes.
 */
export interface DecideFixParams {
/**
 * The project's folder; default: the first folder of the workspace.
 */
root?: (string | null)
/**
 * Its id, such as `fix-1`.
 */
fix: string
decision: DecideFixChoice
/**
 * The revision you reviewed; refused with the kind `stale` if there is a newer one.
 */
revision?: (number | null)
/**
 * Ids of hunks, for `acceptHunks` and `rejectHunks`.
 */
hunks?: number[]
/**
 * Whole texts in place of those proposed, for `edit` and `rebase`. A byte order mark and unchanged line endings
 * stay as proposed, because editors change them.
 */
files?: EditedFile[]
/**
 * Whether to run tests before anything is written; if not, the history says so.
 */
test?: boolean
/**
 * Why, for the history.
 */
note?: string
sandbox?: Choice
/**
 * Docker image with Python to run tests in [default: python:3.12-slim].
 */
image?: (string | null)
/**
 * Python environment for the tests: its folder or its interpreter. Implies the local sandbox.
 */
interpreter?: (string | null)
allow?: Allowed
/**
 * Seconds one test may take (of Python's), from 1; 30 if left out.
 */
testTimeout?: number
/**
 * Seconds all of them may take, from 1; if left out, as the person's settings say, else 1800.
 */
runTimeout?: (number | null)
/**
 * Return immediately with the id of the job; a `trellis/event` reports its end.
 */
background?: boolean
}
/**
 * A text that you edited.
 */
export interface EditedFile {
/**
 * One of the fix's files, relative to the root.
 */
path: string
/**
 * The whole text.
 */
text: string
}
/**
 * The result of a decision.
 */
export interface DecideFixResult {
/**
 * Such as `fix-1`.
 */
fix: string
state: State
/**
 * From 1; higher each time its texts change.
 */
revision: number
/**
 * RFC 3339.
 */
createdAt: string
/**
 * Why it needs your review.
 */
reason: string
/**
 * The model's words about the change; null without any.
 */
explanation?: (string | null)
/**
 * `smallEdits` if trials of small edits found it and no model was asked; else null.
 */
foundBy?: (FoundBy | null)
/**
 * Results of its test runs; null if its texts have changed since, and for drafts of a run.
 */
facts?: (FixFacts | null)
confidence: ConfidenceShape
test: FailingTest
/**
 * Relative to the root.
 */
paths: string[]
/**
 * Hunks not decided yet.
 */
hunks: number
/**
 * The node of the run whose draft it is: the run itself tests and writes the files. Null for other fixes.
 */
node?: (string | null)
/**
 * Number of the edit that was written; null if nothing was written.
 */
edit?: (number | null)
/**
 * Files that were written.
 */
written: string[]
/**
 * Results with the fix: the failing test, other failing tests that it may fix, and tests that only fail with it;
 * empty if none ran.
 */
tests: VerifiedTest[]
/**
 * Ids of tests that failed and pass with it.
 */
mended: string[]
/**
 * Other pending fixes that were applied to the new texts: review them again.
 */
rebased: string[]
/**
 * Further notes, as sentences.
 */
notes: string[]
}
/**
 * The result of a test with the change.
 */
export interface VerifiedTest {
/**
 * pytest's node id.
 */
id: string
/**
 * How it ended, such as `passed` or `failed`; `notRun` if the run ended first.
 */
outcome: string
/**
 * What it failed with.
 */
message?: (string | null)
}
/**
 * Reports all problems of a planning graph.
 */
export interface PlanCheckParams {
/**
 * The planning graph, a JSON file.
 */
graph: string
/**
 * Read the graph in this format, instead of detecting it.
 */
dialect?: (DialectName | null)
}
/**
 * Whether a graph is valid.
 */
export interface PlanCheckResult {
/**
 * The format of the graph.
 */
dialect: string
/**
 * How many there are.
 */
nodes: number
/**
 * How many there are.
 */
edges: number
/**
 * In a fixed order; empty for a valid graph.
 */
problems: PlanProblem[]
/**
 * What a graph may have but should not: files that would import each other in a circle, the shortest first.
 */
warnings: string[]
}
/**
 * A problem of a graph.
 */
export interface PlanProblem {
/**
 * The kind of problem, such as `duplicate-id`.
 */
kind: string
/**
 * The id of the node to check first.
 */
node: string
/**
 * What is wrong.
 */
message: string
/**
 * How to fix it.
 */
hint: string
}
/**
 * Returns the order in which nodes are generated.
 */
export interface PlanOrderParams {
/**
 * The planning graph, a JSON file.
 */
graph: string
/**
 * Read the graph in this format, instead of detecting it.
 */
dialect?: (DialectName | null)
}
/**
 * An order of generation.
 */
export interface PlanOrderResult {
/**
 * Ids of nodes, dependencies first.
 */
order: string[]
/**
 * Ids of nodes that need each other, by circle; `order` has each circle in one piece.
 */
circles: string[][]
/**
 * In a fixed order; empty for a valid graph.
 */
problems: PlanProblem[]
}
/**
 * Shows every node of a planning graph.
 */
export interface PlanShowParams {
/**
 * The planning graph, a JSON file.
 */
graph: string
/**
 * Read the graph in this format, instead of detecting it.
 */
dialect?: (DialectName | null)
}
/**
 * A graph's nodes.
 */
export interface PlanShowResult {
/**
 * The format of the graph.
 */
dialect: string
/**
 * In the order of the file.
 */
nodes: PlanNode[]
/**
 * In a fixed order; empty for a valid graph.
 */
problems: PlanProblem[]
}
/**
 * A node of a graph.
 */
export interface PlanNode {
id: string
name: string
/**
 * What it is, such as `function`.
 */
kind: string
/**
 * Whether code is generated for it.
 */
leaf: boolean
/**
 * The planned file, relative to the project.
 */
filePath?: (string | null)
subgraph?: (string | null)
/**
 * Ids of the nodes that group it.
 */
parents: string[]
/**
 * Ids of the nodes it depends on.
 */
dependsOn: string[]
}
/**
 * Shows one node of a planning graph: its description, its examples, its neighbours, and its problems.
 */
export interface PlanNodeParams {
/**
 * The planning graph, a JSON file.
 */
graph: string
/**
 * The id of the node.
 */
node: string
/**
 * Read the graph in this format, instead of detecting it.
 */
dialect?: (DialectName | null)
}
/**
 * A node of a graph in detail.
 */
export interface PlanNodeResult {
id: string
name: string
/**
 * What it is, such as `function`.
 */
kind: string
/**
 * The planned file, relative to the project.
 */
filePath?: (string | null)
subgraph?: (string | null)
signature?: (string | null)
docstring?: (string | null)
examples: string[]
/**
 * Third-party requirements.
 */
libraries: string[]
/**
 * Ids of the nodes it depends on.
 */
dependsOn: string[]
/**
 * Ids of the nodes that depend on it.
 */
usedBy: string[]
/**
 * Problems of the graph at this node.
 */
problems: PlanProblem[]
/**
 * Whether `editPlan` can change the graph, which only the format `rpg` allows.
 */
editable: boolean
}
/**
 * Shows which nodes of a planning graph, or tasks of a list, can run at the same time, and the longest chain.
 */
export interface PlanLevelsParams {
/**
 * The planning graph or list of tasks, a JSON file.
 */
graph: string
/**
 * Read the graph in this format, instead of detecting it.
 */
dialect?: (DialectName | null)
}
/**
 * Which nodes can run at the same time. A task weighs its story points, every other node 1.
 */
export interface PlanLevelsResult {
/**
 * Ids by level, each level sorted by id: dependencies are in an earlier level.
 */
levels: string[][]
/**
 * Ids of the longest chain, in which each node depends on the one before.
 */
chain: string[]
/**
 * The weight of the chain: more workers do not make it shorter.
 */
chainWeight: number
/**
 * The weight of all nodes.
 */
weight: number
/**
 * In a fixed order; empty for a valid graph.
 */
problems: PlanProblem[]
}
/**
 * Shows the paths through each subgraph that integration tests follow, from where data enters.
 */
export interface PlanFlowsParams {
/**
 * The planning graph, a JSON file.
 */
graph: string
/**
 * Read the graph in this format, instead of detecting it.
 */
dialect?: (DialectName | null)
along?: Links
/**
 * The number of flows per subgraph; 5 if left out.
 */
top?: number
}
/**
 * Paths through subgraphs.
 */
export interface PlanFlowsResult {
/**
 * Sorted by id.
 */
subgraphs: SubgraphFlows[]
}
/**
 * Paths through one subgraph.
 */
export interface SubgraphFlows {
id: string
/**
 * The number of its nodes with generated code.
 */
nodes: number
/**
 * How many of those are part of a flow.
 */
covered: number
/**
 * Ids of nodes; each passes data to the next.
 */
flows: string[][]
}
/**
 * Shows what depends on a node and what it depends on.
 */
export interface PlanDepsParams {
/**
 * The planning graph, a JSON file.
 */
graph: string
/**
 * Read the graph in this format, instead of detecting it.
 */
dialect?: (DialectName | null)
/**
 * The id of the node.
 */
node: string
/**
 * How many hops to follow; 2 if left out.
 */
hops?: number
/**
 * The folder of the run with the status of the nodes; default: that of the graph, if it is in the run's `docs`.
 */
status?: (string | null)
}
/**
 * The nodes around a node.
 */
export interface PlanDepsResult {
/**
 * The requested id.
 */
node: string
/**
 * `pending`, `in_progress`, `passed`, `failed` or `skipped`; null if unknown.
 */
status?: (string | null)
/**
 * How many hops were followed.
 */
hops: number
/**
 * What depends on it, the nearest first.
 */
incoming: ReachedNode[]
/**
 * What it depends on, the nearest first.
 */
outgoing: ReachedNode[]
}
/**
 * A node found from another node.
 */
export interface ReachedNode {
id: string
/**
 * For a method, with its class in front.
 */
name: string
/**
 * The smallest number of hops from the requested node, from 1.
 */
hops: number
/**
 * The id of the node before it on this path.
 */
from: string
/**
 * Why one of the two depends on the other: `dependency` or `data_flow`.
 */
role: string
/**
 * `pending`, `in_progress`, `passed`, `failed` or `skipped`; null if unknown.
 */
status?: (string | null)
}
/**
 * Finds nodes by name in any spelling, or by a description of what they do.
 */
export interface PlanSearchParams {
/**
 * The planning graph, a JSON file.
 */
graph: string
/**
 * Read the graph in this format, instead of detecting it.
 */
dialect?: (DialectName | null)
/**
 * The search text: a name, a description, an error message.
 */
query: string
/**
 * The number of nodes to show; nodes as good as the last one are included. 5 if left out.
 */
top?: number
/**
 * Only nodes of this subgraph.
 */
subgraph?: (string | null)
/**
 * The embeddings to use: `builtin`, `openai:MODEL` or `ollama:MODEL`; `builtin` if left out.
 */
embeddings?: string
by?: By
}
/**
 * Nodes that match a query.
 */
export interface PlanSearchResult {
query: string
/**
 * The best first.
 */
results: FoundNode[]
/**
 * The time it took; left out if it was not measured.
 */
milliseconds?: (number | null)
}
/**
 * A node that matches a query.
 */
export interface FoundNode {
id: string
/**
 * For a method, with its class in front.
 */
name: string
/**
 * How well it matches; higher is better.
 */
score: number
/**
 * The matched words as written, each once, those of the name first.
 */
matched: string[]
/**
 * The planned file, relative to the project.
 */
path?: (string | null)
subgraph?: (string | null)
}
/**
 * Shows the status of every node of a generated repository.
 */
export interface StatusParams {
/**
 * The output folder of the run.
 */
out: string
}
/**
 * The status of the nodes of a run.
 */
export interface StatusResult {
/**
 * How many nodes have each status.
 */
counts: {
[k: string]: number
}
/**
 * All nodes.
 */
total: number
/**
 * The number of nodes that passed, failed or were skipped.
 */
completed: number
/**
 * The share of these, in percent.
 */
percent: number
/**
 * Ids of running nodes.
 */
current: string[]
/**
 * Ids of nodes that failed.
 */
failed: string[]
/**
 * Ids of skipped nodes, mostly because a dependency failed.
 */
blocked: string[]
/**
 * By id, as in the run's checkpoint.
 */
nodes: {
[k: string]: Entry
}
}
/**
 * One node, as appendix B has it; `subgraph`, `coverage`, `tests`, `flaky` and `model` are ours.
 */
export interface Entry {
status: string
timestamp: string
test_results?: TestResults
retry_count?: number
failure_reason?: (string | null)
subgraph?: (string | null)
/**
 * Percent of its statements that the whole suite executed.
 */
coverage?: (number | null)
/**
 * pytest's ids of its tests, including test classes, as in the files.
 */
tests?: string[]
/**
 * Tests that failed once and passed unchanged.
 */
flaky?: string[]
/**
 * Its prompts and their cost; left out if no model counts tokens.
 */
model?: (ModelCost | null)
}
/**
 * Appendix B's `test_results`.
 */
export interface TestResults {
passed: number
failed: number
}
/**
 * The cost of a node's prompts, in its last attempt.
 */
export interface ModelCost {
calls: number
input_tokens: number
output_tokens: number
/**
 * US dollars.
 */
usd: number
}
/**
 * Shows the progress of a list of tasks, running or finished.
 */
export interface TasksStatusParams {
/**
 * The folder of the repository.
 */
out: string
}
/**
 * The progress of a list of tasks. A task in none of the lists is pending.
 */
export interface TasksStatusResult {
/**
 * `PENDING`, `SCAFFOLDING`, `GENERATING`, `INTEGRATING`, `COMPLETE` or `FAILED`; the last known phase if no
 * process is running.
 */
status: string
/**
 * Why it is `FAILED`.
 */
reason?: (string | null)
/**
 * Whether a process is working in the folder.
 */
running: boolean
/**
 * Share of the tasks that are merged, in percent.
 */
progress: number
totalTasks: number
/**
 * Merged tasks, by id.
 */
completedTasks: string[]
/**
 * Tasks that are running, or done and about to be merged, by id; empty if no process is running: they will start
 * again.
 */
currentTasks: string[]
/**
 * Why they failed, by id.
 */
failedTasks: {
[k: string]: string
}
/**
 * Tasks that depend on a failed one, by id, with the reason.
 */
blockedTasks: {
[k: string]: string
}
/**
 * The list of tasks, as an absolute path.
 */
file: string
/**
 * The template.
 */
stack: string
}
/**
 * Returns the generation report of a generated repository.
 */
export interface ReportParams {
/**
 * The output folder of the run.
 */
out: string
}
/**
 * A generation report.
 */
export interface ReportResult {
/**
 * Where it lies.
 */
path: string
markdown: string
}
/**
 * Shows one node of a run, or one task: why it failed, the failing test, the attempts with their outcomes, the last
 * texts, and what it blocks.
 */
export interface NodeParams {
/**
 * The output folder of the run.
 */
out: string
/**
 * The id of the node or task.
 */
node: string
}
/**
 * A node or a task of a run.
 */
export interface NodeResult {
id: string
/**
 * For a method, with its class in front.
 */
name: string
/**
 * `pending`, `in_progress`, `passed`, `failed` or `skipped`.
 */
status: string
/**
 * Why it failed or was skipped.
 */
reason?: (string | null)
/**
 * The cause in a sentence, if it is known.
 */
cause?: (string | null)
/**
 * What you can do.
 */
recommendation?: (string | null)
/**
 * The planning graph or list of tasks.
 */
graph: string
/**
 * The docstring of a node, or the description of a task.
 */
specification?: (string | null)
/**
 * The planned file, relative to the run's folder.
 */
path?: (string | null)
/**
 * The planned file of its tests, relative to the run's folder.
 */
testPath?: (string | null)
/**
 * The id of the test that failed last.
 */
test?: (string | null)
failure?: (NodeFailure | null)
/**
 * Implementations in order, the first one first; empty for tasks.
 */
attempts: AttemptResult[]
/**
 * Stages of a task, in order.
 */
steps: NodeStep[]
/**
 * The last tests; empty if there are none. A failed node leaves no file.
 */
tests: string
/**
 * The last implementation; empty if there is none.
 */
implementation: string
/**
 * Nodes that have not passed and depend on it, directly or through others.
 */
blocks: BlockedNode[]
}
/**
 * The last failure of a node's tests.
 */
export interface NodeFailure {
exception: string
message: string
/**
 * The deepest place in the project, relative to the run's folder; empty if unknown.
 */
path: string
/**
 * From 1; 0 if unknown.
 */
line: number
/**
 * The right side of the comparison that failed: usually the expected value.
 */
expected?: (string | null)
/**
 * The left side.
 */
actual?: (string | null)
/**
 * The operator between both sides.
 */
operator?: (string | null)
}
/**
 * One implementation, and what its tests gave.
 */
export interface AttemptResult {
/**
 * What its tests gave, in a line.
 */
outcome: string
passed: number
failed: number
/**
 * The first test that failed.
 */
test?: (string | null)
/**
 * The right side of the comparison that failed.
 */
expected?: (string | null)
/**
 * The left side.
 */
actual?: (string | null)
/**
 * The difference to the attempt before, as a unified diff; the whole text for the first one. Null if the text is
 * not known: it could not be run, or an earlier version wrote the journal.
 */
change?: (string | null)
/**
 * Whether the answer held nothing that could be run.
 */
isUnusable: boolean
/**
 * How often the same text was run.
 */
runs: number
/**
 * The model that answered, if one was asked.
 */
model?: (string | null)
/**
 * The diagnosis of the failure.
 */
finding?: (string | null)
}
/**
 * A stage of a task.
 */
export interface NodeStep {
stage: string
reason: string
}
/**
 * A node that waits for another one.
 */
export interface BlockedNode {
id: string
/**
 * For a method, with its class in front.
 */
name: string
/**
 * `pending`, `in_progress`, `failed` or `skipped`.
 */
status: string
}
/**
 * Reports the problems of a planning graph or list of tasks with their lines, also those of text that is not saved
 * or not valid JSON.
 */
export interface PlanDiagnosticsParams {
/**
 * The planning graph or list of tasks, a JSON file.
 */
graph: string
/**
 * The text to check instead of the file's.
 */
text?: (string | null)
}
/**
 * Problems with their places.
 */
export interface PlanDiagnosticsResult {
/**
 * In a fixed order; empty for a valid graph.
 */
diagnostics: PlanDiagnostic[]
}
/**
 * A problem in the text.
 */
export interface PlanDiagnostic {
/**
 * The place; null for the file as a whole.
 */
range?: (PlanRange | null)
severity: PlanSeverity
/**
 * The kind of problem, such as `duplicate-id`, `malformed` or `circular-import`.
 */
kind: string
/**
 * The id of the node to check first; null for the file as a whole.
 */
node?: (string | null)
/**
 * What is wrong.
 */
message: string
/**
 * How to fix it.
 */
hint?: (string | null)
}
/**
 * A place on one line, from 1, in characters.
 */
export interface PlanRange {
line: number
column: number
/**
 * The column behind the last character.
 */
endColumn: number
}
/**
 * Estimates the requests, the tokens and the price of a run of a planning graph or list of tasks. No
 * service is called.
 */
export interface PlanEstimateParams {
/**
 * The planning graph or list of tasks, a JSON file.
 */
graph: string
/**
 * The model, as `provider:name`; default: the one that a run beside the graph would use.
 */
model?: (string | null)
}
/**
 * Size and likely cost of a run.
 */
export interface PlanEstimateResult {
/**
 * Nodes with code, or tasks.
 */
nodes: number
subgraphs: number
/**
 * Groups of nodes that can be generated at the same time.
 */
levels: number
/**
 * Ids of the longest chain, in which each node depends on the one before.
 */
chain: string[]
/**
 * The number of problems; a graph with problems is not generated.
 */
problems: number
least: CostRange
usual: CostRange
/**
 * The names of the models; null if none is configured.
 */
model?: (string | null)
/**
 * Why there is no model.
 */
noModel?: (string | null)
}
/**
 * Requests with tokens and price.
 */
export interface CostRange {
/**
 * The number of requests to the model.
 */
requests: number
/**
 * Null for lists of tasks, whose prompts contain the code so far.
 */
tokens?: (number | null)
/**
 * US dollars; null if tokens or the price of the model are unknown.
 */
usd?: (number | null)
}
/**
 * Rolls a generated repository back to the last subgraph that passed completely.
 */
export interface RollbackParams {
/**
 * The output folder of the run.
 */
out: string
/**
 * Roll back to this subgraph instead of the last one.
 */
to?: (string | null)
}
/**
 * What was undone.
 */
export interface RollbackResult {
/**
 * The current subgraph of the repository.
 */
to: string
/**
 * Its git tag.
 */
tag: string
/**
 * Files that changed, relative to the folder.
 */
files: string[]
/**
 * Ids of nodes that are pending again.
 */
pending: string[]
}
/**
 * Shows a file, or the code of a node: the source, or signatures with the first line of each docstring.
 */
export interface CodeViewParams {
/**
 * A Python file, relative to the root, or the id of a node.
 */
what: string
/**
 * Only this definition: `name`, `Class/name`, `name[1]` for the second of that name.
 */
symbol?: (string | null)
/**
 * Signatures only.
 */
signatures?: boolean
/**
 * The planning graph with the node; default: `docs/rpg.json` below the root, if it exists.
 */
plan?: (string | null)
/**
 * The project's folder; default: the current folder.
 */
root?: (string | null)
}
/**
 * The code shown.
 */
export interface CodeViewResult {
/**
 * Relative to the root, unless you gave a file outside.
 */
path: string
/**
 * Whether it exists.
 */
generated: boolean
/**
 * Classes, functions and methods; empty if the file does not exist.
 */
symbols: CodeSymbol[]
/**
 * The id of the node; left out if you gave a file.
 */
node?: (string | null)
/**
 * `pending`, `in_progress`, `passed`, `failed` or `skipped`; null if unknown, left out without a node.
 */
status?: (string | null)
/**
 * The test file of the node, whether it exists or not; left out unless you gave a leaf.
 */
testPath?: (string | null)
/**
 * The text; left out if you asked for signatures only, or if the file does not exist.
 */
source?: (string | null)
}
/**
 * A class, function or method.
 */
export interface CodeSymbol {
/**
 * Its name path in the file, `Class/name`.
 */
name: string
/**
 * `class`, `function`, `method` or `property`.
 */
kind: string
/**
 * Its first line, from 1, decorators included.
 */
line: number
/**
 * Its last line.
 */
endLine: number
/**
 * From `def` or `class` to before the colon, on one line.
 */
signature: string
/**
 * The first line of its docstring; null without a docstring.
 */
preview?: (string | null)
}
/**
 * Compares two planning graphs or lists of tasks.
 */
export interface DiffPlansParams {
/**
 * The graph before the change, a JSON file.
 */
old: string
/**
 * The graph after the change, a JSON file.
 */
new: string
/**
 * Read both in this format, instead of detecting it.
 */
dialect?: (DialectName | null)
}
/**
 * The differences between two graphs, each list in the order of the file.
 */
export interface PlanDiffResult {
/**
 * Whether the graphs plan the same.
 */
same: boolean
/**
 * The formats of both graphs.
 * 
 * @minItems 2
 * @maxItems 2
 */
dialects: [string, string]
/**
 * Nodes that only the new graph has.
 */
added: DiffNode[]
/**
 * Nodes that only the old graph has.
 */
removed: DiffNode[]
/**
 * Nodes of both graphs with fields that differ.
 */
changed: ChangedNode[]
/**
 * Edges that differ; `dependencies` count as edges.
 */
edges: ChangedEdge[]
/**
 * Fields of `metadata`, and unknown fields of the graph.
 */
metadata: ChangedField[]
/**
 * What the next run does; null for lists of tasks.
 */
regeneration?: (PlanRegeneration | null)
}
/**
 * A node that only one graph has.
 */
export interface DiffNode {
id: string
/**
 * For a method, with its class in front.
 */
name: string
/**
 * What it is, such as `function`.
 */
kind: string
/**
 * The planned file, relative to the project.
 */
filePath?: (string | null)
}
/**
 * A node of both graphs.
 */
export interface ChangedNode {
/**
 * Its id in the new graph.
 */
id: string
/**
 * Its id in the old graph.
 */
oldId: string
change: NodeChangeKind
/**
 * The fields that differ.
 */
fields: ChangedField[]
}
/**
 * A field with two values.
 */
export interface ChangedField {
/**
 * Named as in the format `rpg`.
 */
field: string
/**
 * Null if the old graph does not have it.
 */
old?: {
[k: string]: unknown
}
/**
 * Null if the new graph does not have it.
 */
new?: {
[k: string]: unknown
}
}
/**
 * An edge that differs.
 */
export interface ChangedEdge {
change: PlanEdgeChangeKind
/**
 * The id in the new graph, or that of a removed node.
 */
source: string
/**
 * The id in the new graph, or that of a removed node.
 */
target: string
/**
 * `dependency`, `data_flow`, `hierarchy` or `related`.
 */
role: string
/**
 * Types of the edge in the old graph; empty for an entry of `dependencies`.
 */
oldTypes: string[]
/**
 * Types of the edge in the new graph; empty for an entry of `dependencies`.
 */
newTypes: string[]
}
/**
 * What the next run of `generate` does, if the old graph was generated.
 */
export interface PlanRegeneration {
/**
 * Ids of nodes that are new, or whose own description or dependencies changed.
 */
again: string[]
/**
 * Ids of nodes that did not change, but build on those.
 */
dependents: string[]
/**
 * Ids of nodes whose code is removed; a run asks for `--drop-removed` before that.
 */
removed: string[]
}
/**
 * Follows the sentences of a specification to the nodes that serve them.
 */
export interface TracePlanParams {
/**
 * The planning graph, a JSON file.
 */
graph: string
/**
 * Read the graph in this format, instead of detecting it.
 */
dialect?: (DialectName | null)
/**
 * The specification, in Markdown or text; default: the file that the graph names.
 */
spec?: (string | null)
/**
 * The output folder of a run, for tests and states; default: that of the graph, if it is in the run's `docs`.
 */
run?: (string | null)
}
/**
 * A specification with the nodes that serve it.
 */
export interface PlanTraceResult {
/**
 * The specification that was read; null if only the graph has its sentences.
 */
spec?: (string | null)
/**
 * In the order of the specification.
 */
sentences: TracedSentence[]
/**
 * Sentences that no node serves, nodes that serve no sentence, sentences that changed; in a fixed order.
 */
problems: TraceGap[]
/**
 * What could not be read or may be out of date, as sentences.
 */
notes: string[]
}
/**
 * A sentence with its nodes.
 */
export interface TracedSentence {
/**
 * The number that `serves` of a node names.
 */
number: number
/**
 * `sentence`, `heading`, `code` or `table`.
 */
kind: string
text: string
/**
 * Whether it describes nothing to build.
 */
background: boolean
/**
 * The least advanced state of its nodes; null without a run or without nodes.
 */
status?: (string | null)
/**
 * Nodes that serve it, in the order of the graph.
 */
nodes: ServingNode[]
}
/**
 * A node that serves a sentence.
 */
export interface ServingNode {
id: string
/**
 * `pending`, `in_progress`, `passed`, `failed` or `skipped`; null without a run.
 */
status?: (string | null)
/**
 * Ids of its tests, as pytest prints them.
 */
tests: string[]
/**
 * The number of its tests that passed.
 */
passed: number
/**
 * The number of its tests that failed.
 */
failed: number
}
/**
 * A gap between a specification and a graph.
 */
export interface TraceGap {
/**
 * The kind of gap, such as `unserved-sentence`.
 */
kind: string
/**
 * The number of the sentence, if there is one.
 */
sentence?: (number | null)
/**
 * Ids of nodes to check.
 */
nodes: string[]
/**
 * What is wrong.
 */
message: string
/**
 * How to fix it.
 */
hint: string
}
/**
 * Changes a node of a planning graph; dependencies, edges and methods follow, and the rest of the file stays byte for
 * byte. An edit that makes a new problem is refused.
 */
export interface EditPlanParams {
/**
 * The planning graph, a JSON file in the format `rpg`.
 */
graph: string
edit: PlanChange
/**
 * A new file for the result; default: the graph itself.
 */
out?: (string | null)
/**
 * Edit even if that makes new problems.
 */
force?: boolean
/**
 * Only show what would change.
 */
dryRun?: boolean
}
/**
 * Fields of a node.
 */
export interface NodeFields {
/**
 * Signature, such as `def total(values: list[float]) -> float`.
 */
signature?: (string | null)
/**
 * Docstring; tests are written from it.
 */
docstring?: (string | null)
/**
 * Example; may be repeated.
 */
examples?: (string[] | null)
/**
 * Third-party requirement; may be repeated.
 */
libraries?: (string[] | null)
/**
 * Numbers of the sentences that it serves, such as 1,4.
 */
serves?: (number[] | null)
}
/**
 * An edited graph.
 */
export interface PlanEditResult {
/**
 * The file with the edited graph; null if nothing was written.
 */
written?: (string | null)
diff: PlanDiffResult
/**
 * Problems that the edit made and `--force` accepted.
 */
newProblems: PlanProblem[]
/**
 * Consequences to check.
 */
notes: string[]
}
/**
 * Derives the planning graph of a repository from its code.
 */
export interface PlanFromCodeParams {
/**
 * The folder of the repository.
 */
root: string
/**
 * A new file for the graph; nothing is written if left out.
 */
out?: (string | null)
/**
 * Whether files of tests are part of the graph.
 */
tests?: boolean
subgraphs?: SubgraphRule
/**
 * Return immediately with the id of the job; a `trellis/event` reports its end.
 */
background?: boolean
}
/**
 * The planning graph of a repository.
 */
export interface PlanFromCodeResult {
/**
 * The graph, in the format `rpg`; null if it was written.
 */
graph?: {
[k: string]: unknown
}
/**
 * The file with the graph; null if nothing was written.
 */
written?: (string | null)
/**
 * The number of files.
 */
files: number
/**
 * The number of functions, methods and classes.
 */
definitions: number
/**
 * The number of dependencies that are certain.
 */
certain: number
/**
 * The number of dependencies that are only possible; the graph has the reason as `doubt`.
 */
possible: number
/**
 * The number of test files that were left out.
 */
tests: number
/**
 * The number of problems of the graph, by kind; code has some that a plan must not have.
 */
problems: {
[k: string]: number
}
/**
 * Docstrings that a model wrote; null if none was asked.
 */
described?: (DescribedDefinitions | null)
/**
 * Files that cannot be read, definitions that share a name, files that depend on each other; as sentences.
 */
notes: string[]
}
/**
 * Docstrings of a model. Their nodes have `"described": "model"`.
 */
export interface DescribedDefinitions {
/**
 * The number of docstrings that it wrote.
 */
docstrings: number
/**
 * Definitions without a usable docstring.
 */
missing: MissingDocstring[]
/**
 * Number of requests to the model, those of earlier starts included.
 */
requests: number
/**
 * Tokens of this start.
 */
tokens: number
/**
 * Price of this start in US dollars.
 */
usd: number
}
/**
 * A definition that the model did not describe.
 */
export interface MissingDocstring {
/**
 * Id of the node.
 */
node: string
/**
 * A fragment on what was wrong with the reply.
 */
problem: string
}
/**
 * Drafts a plan from a specification, part by part, up to the next question or decision of a person; a further call
 * continues there.
 */
export interface DraftPlanParams {
/**
 * The specification, Markdown or text.
 */
spec: string
/**
 * The file to write; the state of the draft is in `.trellis` beside it.
 */
out: string
size?: PlanSize
/**
 * Lets the model ask up to five questions first.
 */
interview?: boolean
/**
 * Waits for a decision on every part.
 */
stepwise?: boolean
/**
 * Answers to the questions of the last call, one for each; an empty one leaves the matter to the model.
 */
answers?: (string[] | null)
/**
 * Decision on the part of the last call.
 */
decision?: (DraftDecision | null)
/**
 * Model, as `provider:name` or `recorded:FILE` [default: TRELLIS_MODEL, then `model` in trellis.toml].
 */
model?: (string | null)
/**
 * Model for simple work [default: `simple_model` in trellis.toml, then the model].
 */
simpleModel?: (string | null)
/**
 * Model for hard work, and for fixes after two failed ones [default: `strong_model` in trellis.toml, then the model].
 */
strongModel?: (string | null)
/**
 * Spending limit in US dollars. Earlier starts of the same run count.
 */
budgetUsd?: (number | null)
/**
 * Limit in tokens. Earlier starts of the same run count.
 */
budgetTokens?: (number | null)
/**
 * Send no request to the model after this many minutes.
 */
budgetMinutes?: (number | null)
/**
 * Write every reply of the model to this file, for `--model recorded:FILE`.
 */
record?: (string | null)
/**
 * Wait as long as the recorded model did.
 */
replayLatency?: boolean
/**
 * Return immediately with the id of the job; a `trellis/event` reports its end.
 */
background?: boolean
}
/**
 * A plan that was written.
 */
export interface WrittenPlan {
plan: string
/**
 * Number of the specification's sentences.
 */
sentences: number
/**
 * Number of files of the planned package.
 */
files: number
/**
 * Number of functions, methods and classes.
 */
definitions: number
/**
 * Problems that the model did not solve.
 */
problems: DraftProblem[]
/**
 * Number of requests to the model, those of earlier calls included.
 */
requests: number
/**
 * Tokens of this call.
 */
tokens: number
/**
 * Price of this call in US dollars.
 */
usd: number
}
/**
 * A problem of a part.
 */
export interface DraftProblem {
/**
 * As in `DraftedPart`.
 */
part: string
/**
 * A fragment of a sentence.
 */
problem: string
}
/**
 * A part of a draft.
 */
export interface DraftedPart {
/**
 * `features`, `layout`, `interface of io/reader.py`.
 */
part: string
/**
 * JSON, or Python for an interface.
 */
text: string
/**
 * What is wrong with it.
 */
problems: string[]
}
/**
 * Lists the project templates: those of Trellis, your own and the project's.
 */
export interface ListStacksParams {
/**
 * The folder from which to look upwards for the project's own templates; the first folder of the workspace if
 * left out.
 */
root?: (string | null)
}
/**
 * Templates by name.
 */
export interface StackList {
stacks: StackEntry[]
}
/**
 * One template.
 */
export interface StackEntry {
name: string
displayName: string
/**
 * One line.
 */
description: string
/**
 * Such as `backend`.
 */
category: string
/**
 * The command that runs its tests: one program with its arguments.
 */
testCommand: string
/**
 * The file it comes from; null if it is built into Trellis.
 */
file?: (string | null)
}
/**
 * Shows a template with all its files.
 */
export interface ShowStackParams {
/**
 * The name of the template.
 */
stack: string
/**
 * The folder from which to look upwards for the project's own templates; the first folder of the workspace if
 * left out.
 */
root?: (string | null)
}
/**
 * A template with all details.
 */
export interface StackShown {
name: string
displayName: string
/**
 * One line.
 */
description: string
/**
 * Such as `backend`.
 */
category: string
/**
 * The folder for code, relative to the project's root.
 */
srcDir: string
/**
 * The folder for tests, relative to the project's root.
 */
testDir: string
/**
 * The command that runs its tests: one program with its arguments.
 */
testCommand: string
install: Installer
/**
 * Texts by path; `{{project_name}}` is replaced with the project's name.
 */
configFiles: {
[k: string]: string
}
/**
 * Texts by path: some code and a test of it that passes.
 */
helloWorld: {
[k: string]: string
}
/**
 * The code conventions of such a project.
 */
conventions: string
/**
 * The file it comes from; null if it is built into Trellis.
 */
file?: (string | null)
}
/**
 * Creates a new project from a template, in a new or empty folder. Installs nothing.
 */
export interface NewProjectParams {
/**
 * The name of the template.
 */
stack: string
/**
 * The folder of the project.
 */
out: string
/**
 * The name of the project, of lower-case letters, digits and `-`; the folder's name if left out.
 */
projectName?: (string | null)
/**
 * The folder from which to look upwards for the project's own templates; the first folder of the workspace if
 * left out.
 */
root?: (string | null)
}
/**
 * A project that was created.
 */
export interface NewProject {
stack: string
projectName: string
/**
 * Its folder.
 */
out: string
/**
 * Paths of the written files, relative to the folder.
 */
files: string[]
/**
 * The command that runs its tests, once its packages are installed.
 */
testCommand: string
}
/**
 * Installs the packages listed in a project's package.json, requirements.txt, pyproject.toml and go.mod, over the
 * network; runs no code of the project and no scripts of npm packages.
 */
export interface InstallPackagesParams {
/**
 * The folder of the project; the first folder of the workspace if left out.
 */
root?: (string | null)
/**
 * Return immediately with the id of the job; a `trellis/event` reports its end.
 */
background?: boolean
}
/**
 * What was installed.
 */
export interface PackagesInstalled {
installed: InstalledBy[]
}
/**
 * Packages of one language.
 */
export interface InstalledBy {
installer: Installer
/**
 * The file with the installed versions, relative to the project's root: keep it with the sources.
 */
lockFile?: (string | null)
/**
 * For pip: the interpreter that has the packages.
 */
interpreter?: (string | null)
}
/**
 * Finds definitions by name or name path.
 */
export interface FindSymbolParams {
/**
 * `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second with that name.
 */
namePath: string
/**
 * Folder or file to search; default: the current folder.
 */
root?: (string | null)
/**
 * Whether the last part of the name path may be any part of the symbol's name.
 */
substring?: boolean
/**
 * Only symbols of these kinds; all kinds if empty.
 */
kinds?: Kind[]
/**
 * Whether results include the text of the definitions.
 */
body?: boolean
/**
 * How many levels of inner definitions to include; 0 if left out.
 */
depth?: number
}
/**
 * The definitions found.
 */
export interface FindSymbolResult {
/**
 * By file, in text order.
 */
symbols: SymbolMatch[]
}
/**
 * A definition that was found.
 */
export interface SymbolMatch {
name: string
/**
 * `Class/name`, `name[1]` for the second with that name in its scope.
 */
namePath: string
/**
 * `class`, `function`, `method`, `property`, `variable` or `attribute`.
 */
kind: string
range: Range
nameRange: Range
/**
 * From `async`, `def` or `class` to before the colon; null for names that are only bound.
 */
signature?: (string | null)
/**
 * Relative to the folder of the request.
 */
file: string
/**
 * The docstring as a string literal, quotes included; null without one.
 */
docstring?: (string | null)
/**
 * Each with its `@`.
 */
decorators: string[]
/**
 * The line of its name, without its indentation.
 */
preview: string
/**
 * Its text; null if you did not ask for it.
 */
body?: (string | null)
/**
 * Its direct inner definitions; left out if you asked for no levels.
 */
children?: (Definition[] | null)
}
/**
 * A range of a text, without its end.
 */
export interface Range {
start: Position
end: Position
}
/**
 * A position in a text.
 */
export interface Position {
/**
 * From 1.
 */
line: number
/**
 * From 1, in characters.
 */
column: number
}
/**
 * A definition with its inner definitions.
 */
export interface Definition {
name: string
/**
 * `Class/name`, `name[1]` for the second with that name in its scope.
 */
namePath: string
/**
 * `class`, `function`, `method`, `property`, `variable` or `attribute`.
 */
kind: string
range: Range
nameRange: Range
/**
 * From `async`, `def` or `class` to before the colon; null for names that are only bound.
 */
signature?: (string | null)
/**
 * Its direct inner definitions, down to the requested levels.
 */
children: Definition[]
}
/**
 * Lists all references of a symbol: uses, imports, exports, its definition.
 */
export interface FindReferencingSymbolsParams {
/**
 * `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second with that name.
 */
namePath?: (string | null)
/**
 * A place where the symbol is named, instead of its name path.
 */
at?: (SourcePosition | null)
/**
 * Folder to search; default: the current folder.
 */
root?: (string | null)
/**
 * An installed type checker to run as well: results show which possible references it confirms.
 */
confirm?: (Checker | null)
}
/**
 * A place in a file where the symbol is named.
 */
export interface SourcePosition {
/**
 * Relative to the folder of the request.
 */
file: string
/**
 * From 1.
 */
line: number
/**
 * From 1, in characters.
 */
column: number
}
/**
 * References of a symbol.
 */
export interface FindReferencingSymbolsResult {
/**
 * Sorted by path and position.
 */
references: Reference[]
/**
 * Whether there are certainly no others.
 */
complete: boolean
/**
 * Why there may be others, as sentences.
 */
reasons: string[]
}
/**
 * A place that refers to a symbol, or may refer to it.
 */
export interface Reference {
/**
 * Relative to the folder of the request.
 */
file: string
range: Range
/**
 * The text of the line, without its indentation.
 */
line: string
/**
 * Name path of the innermost class or function around; null at module level.
 */
enclosing?: (string | null)
/**
 * The kind of place, such as `definition`, `import` or `use`.
 */
kind: string
/**
 * Whether it certainly refers to the symbol.
 */
certain: boolean
/**
 * Why it is only possible; null if it is certain.
 */
why?: (string | null)
/**
 * The type checker that also found this possible reference, null if it did not; left out if you asked none.
 */
confirmedBy?: (string | null)
}
/**
 * Lists what uses a symbol: the functions and classes around the uses.
 */
export interface FindCallersParams {
/**
 * `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second with that name.
 */
namePath?: (string | null)
/**
 * A place where the symbol is named, instead of its name path.
 */
at?: (SourcePosition | null)
/**
 * Folder to search; default: the current folder.
 */
root?: (string | null)
}
/**
 * What uses a symbol.
 */
export interface FindCallersResult {
/**
 * Sorted by path and position.
 */
callers: Caller[]
/**
 * Whether there are certainly no others.
 */
complete: boolean
/**
 * Why there may be others, as sentences.
 */
reasons: string[]
}
/**
 * A function, class or module that uses a symbol.
 */
export interface Caller {
/**
 * Relative to the folder of the request.
 */
file: string
/**
 * Its name path; null for the module itself.
 */
symbol?: (string | null)
/**
 * Its kind; null for the module itself.
 */
kind?: (string | null)
/**
 * In the order of the text.
 */
uses: Use[]
}
/**
 * One use of a symbol.
 */
export interface Use {
range: Range
/**
 * The text of the line, without its indentation.
 */
line: string
/**
 * Whether it certainly refers to the symbol.
 */
certain: boolean
/**
 * Why it is only possible; null if it is certain.
 */
why?: (string | null)
}
/**
 * Shows where the symbol at a place is defined.
 */
export interface FindDefinitionParams {
at: SourcePosition
/**
 * Folder to search; default: the current folder.
 */
root?: (string | null)
}
/**
 * Where a symbol is defined.
 */
export interface FindDefinitionResult {
/**
 * The places of its definitions; empty if no file of the folder defines it.
 */
definitions: Location[]
}
/**
 * A place in a file.
 */
export interface Location {
/**
 * Relative to the folder of the request.
 */
file: string
range: Range
/**
 * The text of the line, without its indentation.
 */
line: string
/**
 * Name path of the innermost class or function around; null at module level.
 */
enclosing?: (string | null)
}
/**
 * Lists functions, classes and methods that nothing uses outside their own text.
 */
export interface FindUnusedParams {
/**
 * Folder to search; default: the current folder.
 */
root?: (string | null)
}
/**
 * The unused definitions.
 */
export interface FindUnusedResult {
/**
 * By file, in text order.
 */
unused: UnusedSymbol[]
/**
 * Known gaps, as sentences: unused definitions that are not listed, and listed ones that may be used.
 * 
 * @minItems 5
 * @maxItems 5
 */
leftOut: [string, string, string, string, string]
/**
 * Whether every file could be read.
 */
complete: boolean
/**
 * Why something may still be used, as sentences.
 */
reasons: string[]
}
/**
 * A definition that nothing uses.
 */
export interface UnusedSymbol {
name: string
/**
 * `Class/name`, `name[1]` for the second with that name in its scope.
 */
namePath: string
/**
 * `class`, `function`, `method` or `property`.
 */
kind: string
range: Range
nameRange: Range
/**
 * From `async`, `def` or `class` to before the colon.
 */
signature?: (string | null)
/**
 * Relative to the folder of the request.
 */
file: string
/**
 * `FILE:LINE:COLUMN`.
 */
place: string
/**
 * Code somewhere reads this name from an object of unknown type.
 */
possiblyUsed: boolean
}
/**
 * Compares the planned dependencies of a graph with those of the code.
 */
export interface CheckPlannedParams {
/**
 * The planning graph, a JSON file.
 */
graph: string
/**
 * Folder with the code; default: the current folder.
 */
root?: (string | null)
/**
 * Read the graph in this format, instead of detecting it.
 */
dialect?: (DialectName | null)
}
/**
 * A planning graph compared with the code.
 */
export interface CheckPlannedResult {
/**
 * The share of planned dependencies found in the code, 0 to 1; null if none could be checked.
 */
confirmedShare?: (number | null)
/**
 * The number of checked dependencies.
 */
planned: number
/**
 * Planned and found in the code.
 */
confirmed: Dependency[]
/**
 * Planned, but not found in the code.
 */
missing: MissingDependency[]
/**
 * In the code, but not planned.
 */
unplanned: UnplannedDependency[]
/**
 * Ids of nodes that only tests use; entry points are among them.
 */
unused: string[]
/**
 * Ids of nodes without a definition.
 */
absent: string[]
/**
 * Nodes found in another file than planned.
 */
moved: MovedNode[]
/**
 * The number of planned dependencies that cannot be checked, because an end of them is not a definition.
 */
unchecked: number
/**
 * Whether every file could be read.
 */
complete: boolean
/**
 * Which could not, as sentences.
 */
reasons: string[]
}
/**
 * A dependency between two nodes.
 */
export interface Dependency {
/**
 * Id of the dependent node.
 */
from: string
/**
 * Id of the node that it depends on.
 */
to: string
}
/**
 * A planned dependency that is not in the code.
 */
export interface MissingDependency {
/**
 * Id of the dependent node.
 */
from: string
/**
 * Id of the node that it depends on.
 */
to: string
/**
 * A use of unknown type may be this dependency.
 */
possible: boolean
}
/**
 * A dependency in the code that is not planned.
 */
export interface UnplannedDependency {
/**
 * Id of the node that uses the other.
 */
from: string
/**
 * Id of the used node.
 */
to: string
/**
 * The place of the first use, relative to the folder.
 */
file: string
/**
 * Its line, from 1.
 */
line: number
}
/**
 * A node found in another file.
 */
export interface MovedNode {
id: string
/**
 * The file that defines it, relative to the folder.
 */
file: string
}
/**
 * Shows what one file defines, as a tree.
 */
export interface DocumentSymbolsParams {
/**
 * The file; one with syntax errors is shown as far as it can be parsed.
 */
file: string
/**
 * The number of levels to show, from 1; all if left out.
 */
depth?: (number | null)
}
/**
 * What a file defines.
 */
export interface DocumentSymbolsResult {
/**
 * As requested.
 */
file: string
/**
 * Top-level definitions, in text order.
 */
symbols: Definition[]
/**
 * Where the file is not valid Python, as sentences.
 */
errors: string[]
}
/**
 * Replaces a symbol's body, or the whole symbol if the text has its own `def` or `class`. Decorators stay unless the
 * text has its own; the docstring is part of the body.
 */
export interface ReplaceSymbolBodyParams {
/**
 * `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second with that name.
 */
namePath: string
/**
 * The new text.
 */
text: string
/**
 * The file, relative to the root; default: the one file below the root that defines the name path.
 */
path?: (string | null)
/**
 * The folder; default: the current folder.
 */
root?: (string | null)
/**
 * Only show what would change.
 */
dryRun?: boolean
}
/**
 * What changed, or would change.
 */
export interface EditResult {
/**
 * In the order of the text.
 */
edits: FileEdit[]
/**
 * The same as a unified diff.
 */
diff: string
/**
 * The number for `undoEdit`; null if nothing changed.
 */
undo?: (number | null)
/**
 * Notes, as sentences: for example, how similar the text found was to the search.
 */
notes: string[]
}
/**
 * One edit of a file.
 */
export interface FileEdit {
file: string
range: Range
/**
 * The new text.
 */
text: string
}
/**
 * Inserts statements above a symbol, its decorators and comments.
 */
export interface InsertBeforeSymbolParams {
/**
 * `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second with that name.
 */
namePath: string
/**
 * The statements.
 */
text: string
/**
 * The file, relative to the root; default: the one file below the root that defines the name path.
 */
path?: (string | null)
/**
 * The folder; default: the current folder.
 */
root?: (string | null)
/**
 * Only show what would change.
 */
dryRun?: boolean
}
/**
 * Inserts statements below a symbol.
 */
export interface InsertAfterSymbolParams {
/**
 * `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second with that name.
 */
namePath: string
/**
 * The statements.
 */
text: string
/**
 * Insert at the end of the class instead; a lone `pass` is replaced.
 */
inside?: boolean
/**
 * The file, relative to the root; default: the one file below the root that defines the name path.
 */
path?: (string | null)
/**
 * The folder; default: the current folder.
 */
root?: (string | null)
/**
 * Only show what would change.
 */
dryRun?: boolean
}
/**
 * Replaces text in a file: an exact match, else one with other white space, else the most similar lines (at least
 * 0.8).
 */
export interface ReplaceTextParams {
/**
 * The file, relative to the root.
 */
path: string
/**
 * The text to replace.
 */
search: string
/**
 * The new text.
 */
replace: string
/**
 * Which match, from 1; 0 for all. Without it, there must be only one match.
 */
occurrence?: (number | null)
/**
 * The folder; default: the current folder.
 */
root?: (string | null)
/**
 * Only show what would change.
 */
dryRun?: boolean
}
/**
 * Renames a symbol with all its references, imports and exports: in every file or in none. Refused if a name would
 * get another meaning; possible references that cannot be confirmed are listed, not changed.
 */
export interface RenameSymbolParams {
/**
 * `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second with that name.
 */
namePath?: (string | null)
/**
 * A place where the symbol is named, instead of its name path.
 */
at?: (SourcePosition | null)
/**
 * The new name.
 */
newName: string
/**
 * Rename it although a library, or code that takes names from data, looks for the name.
 */
force?: boolean
/**
 * The one file in which to look up the name path, relative to the root.
 */
path?: (string | null)
/**
 * Folder to search; default: the project of the file, or the current folder.
 */
root?: (string | null)
/**
 * Only show what would change.
 */
dryRun?: boolean
}
/**
 * What a rename changed, or would change.
 */
export interface RenameSymbolResult {
edits: RenamedFile[]
/**
 * The name before.
 */
from: string
/**
 * The new name.
 */
to: string
/**
 * The edits as a unified diff.
 */
diff: string
/**
 * The number for `undoEdit`; null if nothing changed.
 */
undo?: (number | null)
/**
 * Places that may refer to the symbol and are not changed.
 */
possible: PossibleReference[]
/**
 * Whether there are certainly no other places.
 */
complete: boolean
/**
 * Why there may be others, as sentences.
 */
reasons: string[]
}
/**
 * The places of the new name in one file.
 */
export interface RenamedFile {
/**
 * Relative to the folder of the request.
 */
file: string
/**
 * Positions in the text before, in order.
 */
places: Range[]
}
/**
 * A place that may refer to a symbol.
 */
export interface PossibleReference {
/**
 * Relative to the folder of the request.
 */
file: string
range: Range
/**
 * The text of the line, without its indentation.
 */
line: string
/**
 * Name path of the innermost class or function around; null at module level.
 */
enclosing?: (string | null)
/**
 * Why it is only possible.
 */
why: string
}
/**
 * Deletes a symbol that nothing uses. Refused if something uses it or may use it, with every use listed: imports and
 * `__all__` count, too.
 */
export interface SafeDeleteSymbolParams {
/**
 * `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second with that name.
 */
namePath?: (string | null)
/**
 * A place where the symbol is named, instead of its name path.
 */
at?: (SourcePosition | null)
/**
 * Delete it anyway; broken uses are listed.
 */
force?: boolean
/**
 * The one file in which to look up the name path, relative to the root.
 */
path?: (string | null)
/**
 * Folder to search; default: the project of the file, or the current folder.
 */
root?: (string | null)
/**
 * Only show what would change.
 */
dryRun?: boolean
}
/**
 * What was deleted, or would be; nothing if it is still used.
 */
export interface SafeDeleteSymbolResult {
/**
 * The definitions of the symbol; none if it was refused.
 */
deleted: Deleted[]
edits: FileEdit[]
/**
 * The edits as a unified diff.
 */
diff: string
/**
 * The number for `undoEdit`; null if nothing changed.
 */
undo?: (number | null)
/**
 * What uses it, or may use it.
 */
references: Reference[]
/**
 * Whether there are certainly no other uses.
 */
complete: boolean
/**
 * Why there may be others, as sentences.
 */
reasons: string[]
}
/**
 * A definition that was deleted.
 */
export interface Deleted {
/**
 * Relative to the folder of the request.
 */
file: string
/**
 * `Class/name`, `name[1]` for the second with that name in its scope.
 */
namePath: string
}
/**
 * Undoes an edit that one of these methods made; refused if its files changed after it.
 */
export interface UndoEditParams {
/**
 * Number of the edit; default: the last one that was not undone.
 */
id?: (number | null)
/**
 * A file or folder of the edited project; default: the current folder.
 */
root?: (string | null)
}
/**
 * Lists the functions and methods of a Python file; one with syntax errors is read as far as possible.
 */
export interface ParseFileParams {
/**
 * The file.
 */
filePath: string
}
/**
 * The functions of a file.
 */
export interface ParsedFile {
/**
 * As it was given.
 */
filePath: string
/**
 * In text order; methods and inner functions, too.
 */
functions: ParsedFunction[]
/**
 * Where the text is not valid Python; empty for a valid file.
 */
errors: SyntaxProblem[]
}
/**
 * A function or method as it is written.
 */
export interface ParsedFunction {
/**
 * Its file, as given.
 */
filePath: string
/**
 * Its own name.
 */
name: string
/**
 * The unique name path: `/Cart/total`, `/f[1]`.
 */
namePath: string
/**
 * From `async` or `def` to before the colon.
 */
signature: string
/**
 * Without quotes and indentation; null without a docstring.
 */
docstring?: (string | null)
/**
 * The lines of its body as written; null inside another function, whose body contains them.
 */
body?: (string | null)
/**
 * Each with its `@`.
 */
decorators: string[]
/**
 * `async def`.
 */
isAsync: boolean
/**
 * A function of a class, properties among them.
 */
isMethod: boolean
/**
 * Inside another function: code outside cannot call it, so no tests can be written for it.
 */
isNested: boolean
/**
 * For a method: its class, with the classes around it: `Cart.Line`.
 */
className?: (string | null)
/**
 * The line of its name, from 1.
 */
line: number
/**
 * The column of its name, from 1, in characters.
 */
column: number
/**
 * Its first line, a decorator's if it has any.
 */
firstLine: number
/**
 * Its last line.
 */
endLine: number
}
/**
 * A place that is not valid Python.
 */
export interface SyntaxProblem {
/**
 * From 1.
 */
line: number
/**
 * From 1, in characters.
 */
column: number
/**
 * A fragment of a sentence.
 */
message: string
}
/**
 * Checks whether a text is a valid Python module.
 */
export interface ValidateSyntaxParams {
/**
 * The whole module.
 */
code: string
}
/**
 * Whether a text is valid Python, and where it is not.
 */
export interface Validity {
valid: boolean
/**
 * What is wrong, a fragment of a sentence.
 */
error?: (string | null)
/**
 * Where, from 1.
 */
line?: (number | null)
/**
 * From 1, in characters.
 */
column?: (number | null)
}
/**
 * Finds the tests of a project in its sources, unsaved texts included. Nothing is executed, so tests that only a
 * run knows, such as cases made by a plugin, are missing. Tests of Python, jest, vitest and Go.
 */
export interface FindTestsParams {
/**
 * The folder; default: the first folder of the workspace. The project is the one that contains it.
 */
root?: (string | null)
/**
 * Files and folders to search, relative to the root; default: all of it.
 */
paths?: string[]
/**
 * The framework whose rules apply; by default pytest's, as it runs the tests of unittest too.
 */
framework?: (Tool | null)
}
/**
 * The tests of a project.
 */
export interface FoundTests {
/**
 * The folder of the project.
 */
root: string
framework: Tool
/**
 * By path. Files without tests are left out; one of which only a run knows the tests has none here.
 */
files: FoundTestFile[]
/**
 * Files that are not valid Python, by path. Their tests are unknown.
 */
invalid: string[]
}
/**
 * A file with tests.
 */
export interface FoundTestFile {
/**
 * Relative to the project; the folder for tests of Go, whose ids name it.
 */
path: string
/**
 * By line, each group before its tests; those from other files come last.
 */
tests: FoundTest[]
}
/**
 * A test, or a group of tests.
 */
export interface FoundTest {
/**
 * The id after the path: `TestCart::test_total`. The cases of a parametrized test are not listed.
 */
name: string
/**
 * Whether it is a class, or a group of jest or vitest.
 */
isGroup?: boolean
/**
 * Whether a decorator makes several cases of it.
 */
hasCases?: boolean
/**
 * The file that defines it, relative to the project, if it is another one.
 */
path?: (string | null)
/**
 * The line of its name, from 1.
 */
line: number
/**
 * The last line of the definition.
 */
endLine: number
}
/**
 * Runs a project's tests in the sandbox.
 */
export interface RunTestsParams {
/**
 * A test file, folder or id such as `tests/test_a.py::test_b`, relative to the root.
 */
testPath?: (string | null)
/**
 * More of them. Without any, all tests of the root's project run.
 */
paths?: string[]
/**
 * The folder; default: the current folder. The project is the one that contains the tests.
 */
root?: (string | null)
sandbox?: Choice
/**
 * Docker image with Python to run tests in [default: python:3.12-slim].
 */
image?: (string | null)
/**
 * Python environment for the tests: its folder or its interpreter. Implies the local sandbox.
 */
interpreter?: (string | null)
allow?: Allowed
/**
 * The framework that runs the tests; detected from the project's files if left out.
 */
framework?: (Tool | null)
/**
 * Seconds one test may take (of Python's), from 1; 30 if left out.
 */
testTimeout?: number
/**
 * Seconds all of them may take, from 1; if left out, as the person's settings say, else 1800.
 */
runTimeout?: (number | null)
/**
 * Whether to measure which lines the tests execute.
 */
coverage?: boolean
/**
 * Whether to record what each test executes and reads, for `affectedTests`. For pytest, and not
 * with `coverage`.
 */
recordExecution?: boolean
/**
 * Whether to start a fresh interpreter, instead of forking a warm one.
 */
cold?: boolean
/**
 * Options for pytest, such as `-k` and a name.
 */
arguments?: string[]
/**
 * Return immediately with the id of the job; a `trellis/event` reports its end.
 */
background?: boolean
}
/**
 * The result of a test run.
 */
export interface RunTestsResult {
/**
 * The folder of the project.
 */
root: string
/**
 * The interpreter that ran them; null in a container.
 */
interpreter?: (string | null)
/**
 * `passed`, `failed`, `collectionError`, `noTests`, `timedOut`, `killedForMemory`, `crashed`, `tampered`,
 * `sandboxLost`, `sandboxUnavailable` or `cancelled`.
 */
outcome: string
/**
 * The framework left no usable records, so the results come from its text output.
 */
parsingFailed: boolean
/**
 * Why, if the outcome alone does not say it.
 */
reason?: (string | null)
/**
 * The engine on which the tests ran, if you named engines.
 */
engine?: (string | null)
/**
 * In the order they ran.
 */
tests: TestShape[]
/**
 * Ids that were collected but have no result.
 */
notRun: string[]
/**
 * Ids that were found, but left out by the project's options, a plugin or a hook.
 */
deselected: string[]
/**
 * Further notes, as sentences.
 */
notes: string[]
/**
 * What could not be imported or found.
 */
collectionErrors: FailureShape[]
/**
 * Which limits were enforced, and which were not.
 */
limits: Limit[]
/**
 * Wall time.
 */
durationMs: number
/**
 * Executed lines, by path; null if you did not ask for them, or if they are not available.
 */
coverage?: ({
[k: string]: LineCoverage
} | null)
}
/**
 * One test.
 */
export interface TestShape {
/**
 * pytest's node id, relative to the project; ids of other frameworks look alike.
 */
id: string
/**
 * How it ended, such as `passed` or `failed`.
 */
outcome: string
/**
 * Set-up, call and tear-down together.
 */
durationMs: number
/**
 * The file that defines it, relative to the project.
 */
path: string
/**
 * The line of its `def`, from 1; null for tests that are not Python functions.
 */
line?: (number | null)
/**
 * Why it was skipped or expected to fail.
 */
reason?: (string | null)
/**
 * Its first failure.
 */
failure?: (FailureShape | null)
/**
 * What it printed, cut at 32,000 characters.
 */
stdout: string
/**
 * What it wrote to standard error, cut in the same way.
 */
stderr: string
/**
 * What it logged, cut in the same way; only pytest captures it.
 */
log: string
/**
 * The parts that it ran with `subTest` or the fixture `subtests`, in order.
 */
subtests: SubtestShape[]
}
/**
 * Why a test failed, or was not collected.
 */
export interface FailureShape {
/**
 * The exception's class.
 */
exception: string
/**
 * Its text.
 */
message: string
/**
 * The failing place, relative to the project.
 */
path?: (string | null)
/**
 * Its line, from 1.
 */
line?: (number | null)
/**
 * The file that could not be collected, relative to the project; null for the failure of a test.
 */
collecting?: (string | null)
/**
 * As the framework shows it.
 */
traceback: string
/**
 * Both sides of the comparison that failed, if it was one.
 */
comparison?: (ComparisonShape | null)
}
/**
 * A comparison that failed; its sides as `repr` shows them.
 */
export interface ComparisonShape {
/**
 * `==`, `in`, `<`, ...
 */
operator: string
/**
 * The left side: usually the actual value.
 */
actual: string
/**
 * The right side: usually the expected value.
 */
expected: string
}
/**
 * One part of a test.
 */
export interface SubtestShape {
/**
 * Its description, such as `[message] (i=1)`.
 */
name: string
/**
 * How it ended, such as `passed` or `failed`.
 */
outcome: string
/**
 * Its failure.
 */
failure?: (FailureShape | null)
}
/**
 * Whether one limit is enforced.
 */
export interface Limit {
/**
 * What is limited, such as `memory`.
 */
name: string
/**
 * False: test code can exceed it.
 */
enforced: boolean
/**
 * How it is enforced, or why it is not.
 */
how: string
}
/**
 * Line coverage of one file; lines from 1, ascending.
 */
export interface LineCoverage {
/**
 * Statements executed, by import or by a test.
 */
executed: number[]
/**
 * Statements never executed.
 */
missing: number[]
}
/**
 * Writes tests for one function with a model, runs them, and reports which pass; failing ones are kept, because they
 * may have found a bug.
 */
export interface GenerateTestsParams {
function: FunctionRef
/**
 * The project's root; found from the file if left out.
 */
projectRoot?: (string | null)
/**
 * Default: the framework that the project's files show.
 */
framework?: (TestFramework | null)
/**
 * Folder for generated tests, below the root; default: `tests_dir` in trellis.toml, else `trellis_tests`.
 */
testsDir?: (string | null)
/**
 * Only show what would be written.
 */
preview?: boolean
/**
 * Also replace generated tests that someone edited.
 */
replaceEdited?: boolean
/**
 * Model, as `provider:name` or `recorded:FILE` [default: TRELLIS_MODEL, then `model` in trellis.toml].
 */
model?: (string | null)
/**
 * Model for simple work [default: `simple_model` in trellis.toml, then the model].
 */
simpleModel?: (string | null)
/**
 * Model for hard work, and for fixes after two failed ones [default: `strong_model` in trellis.toml, then the model].
 */
strongModel?: (string | null)
/**
 * Spending limit in US dollars. Earlier starts of the same run count.
 */
budgetUsd?: (number | null)
/**
 * Limit in tokens. Earlier starts of the same run count.
 */
budgetTokens?: (number | null)
/**
 * Send no request to the model after this many minutes.
 */
budgetMinutes?: (number | null)
/**
 * Write every reply of the model to this file, for `--model recorded:FILE`.
 */
record?: (string | null)
/**
 * Wait as long as the recorded model did.
 */
replayLatency?: boolean
sandbox?: Choice
/**
 * Docker image with Python to run tests in [default: python:3.12-slim].
 */
image?: (string | null)
/**
 * Python environment for the tests: its folder or its interpreter. Implies the local sandbox.
 */
interpreter?: (string | null)
allow?: Allowed
/**
 * Seconds one test may take (of Python's), from 1; 30 if left out.
 */
testTimeout?: number
/**
 * Seconds all of them may take, from 1; if left out, as the person's settings say, else 1800.
 */
runTimeout?: (number | null)
/**
 * Return immediately with the id of the job; a `trellis/event` reports its end.
 */
background?: boolean
}
/**
 * The function to test. You can pass a function of `parseFile`: its other fields are ignored.
 */
export interface FunctionRef {
/**
 * Its file, absolute or below the project's root.
 */
filePath: string
/**
 * Its name, or its name path: `add`, `Cart.total`, `Cart/total`, `f[1]`.
 */
name: string
/**
 * Its name path, which wins over the name.
 */
namePath?: (string | null)
/**
 * The class of a method, if you only give its own name.
 */
className?: (string | null)
}
/**
 * Generated tests and their results.
 */
export interface Generated {
/**
 * The function: its file below the root, `::`, its name with its classes.
 */
function: string
/**
 * The project's root.
 */
root: string
/**
 * The test file, below the root.
 */
path: string
/**
 * The whole text of the test file with the new tests.
 */
source: string
/**
 * The changes of the test file, as a unified diff.
 */
diff: string
/**
 * The function's tests: `test_a`, `TestCart::test_b`; with the path and `::` in front they are ids.
 */
testNames: string[]
framework: TestFramework
/**
 * The model that was prompted.
 */
model: string
/**
 * What you should know, as sentences.
 */
warnings: string[]
/**
 * How the run of these tests ended: `passed`, `failed`, `collectionError`, `timedOut`, …
 */
outcome: string
/**
 * Why, if the outcome alone does not say it.
 */
reason?: (string | null)
/**
 * The result of each test.
 */
tests: GeneratedTest[]
/**
 * What prevented their collection.
 */
errors: TestFailure[]
/**
 * Whether anything was written.
 */
written: boolean
/**
 * The settings file whose `testpaths` leave the test file out, so that plain `pytest` does not run it;
 * `addTestPath` adds its folder.
 */
leftOutBy?: (string | null)
/**
 * What `keepTests` needs to write the tests of a preview.
 */
draft?: (GeneratedDraft | null)
}
/**
 * The result of one test.
 */
export interface GeneratedTest {
/**
 * As pytest names it.
 */
id: string
/**
 * `passed`, `failed`, `error`, `skipped`, …
 */
outcome: string
durationMs: number
/**
 * The line of its `def` in the test file, from 1.
 */
line?: (number | null)
failure?: (TestFailure | null)
}
/**
 * What failed.
 */
export interface TestFailure {
/**
 * The exception's class.
 */
exception: string
/**
 * Its text: for an assertion, what was expected and found.
 */
message: string
/**
 * The place, relative to the root.
 */
path?: (string | null)
/**
 * From 1.
 */
line?: (number | null)
/**
 * As shown by pytest.
 */
traceback: string
}
/**
 * What is needed to write previewed tests.
 */
export interface GeneratedDraft {
/**
 * SHA-256 of the test file's text before; of the empty text for a new file.
 */
baseHash: string
/**
 * SHA-256 of the text of each generated definition, by name.
 */
items: {
[k: string]: string
}
/**
 * Other files that are written if they are missing: text by path, relative to the root.
 */
support: {
[k: string]: string
}
/**
 * How the run of the tests ended.
 */
outcome: string
}
/**
 * Ranks the functions and lines that most likely make tests fail.
 */
export interface LocalizeParams {
/**
 * The project, of which nothing is changed; else the current folder.
 */
root?: (string | null)
/**
 * Only these tests: ids, files or folders; all if none is given.
 */
tests?: string[]
/**
 * How many suspects to show; 10 if left out.
 */
top?: number
/**
 * Seconds for trying small edits of suspicious lines against the tests; 0 tries none, 20 if left out.
 */
trials?: number
/**
 * Seconds one test may take (of Python's), from 1; 30 if left out.
 */
testTimeout?: number
/**
 * Seconds all of them may take, from 1; if left out, as the person's settings say, else 1800.
 */
runTimeout?: (number | null)
sandbox?: Choice
/**
 * Docker image with Python to run tests in [default: python:3.12-slim].
 */
image?: (string | null)
/**
 * Python environment for the tests: its folder or its interpreter. Implies the local sandbox.
 */
interpreter?: (string | null)
allow?: Allowed
/**
 * Return immediately with the id of the job; a `trellis/event` reports its end.
 */
background?: boolean
}
/**
 * The suspects.
 */
export interface LocalizeResult {
/**
 * What the failures indicate, if a fixed rule applies.
 */
diagnosis?: (LocalizeDiagnosisShape | null)
/**
 * Ids of failing tests that passed when run again unchanged.
 */
flaky: string[]
/**
 * Functions, the most suspicious first.
 */
suspects: Suspect[]
/**
 * Lines of all of them, the most suspicious first.
 */
lines: SuspectLine[]
/**
 * Tests that fail.
 */
failures: LocalizeFailingTest[]
/**
 * Which limits were enforced, and which were not.
 */
limits: Limit[]
/**
 * Further notes, as sentences.
 */
notes: string[]
}
/**
 * What failures indicate.
 */
export interface LocalizeDiagnosisShape {
kind: string
/**
 * The rule's name, such as `undefined-name`.
 */
rule: string
/**
 * One sentence.
 */
why: string
}
/**
 * A suspicious function, or the top level of a module.
 */
export interface Suspect {
/**
 * Relative to the project.
 */
path: string
/**
 * Its most suspicious line, from 1.
 */
line: number
/**
 * Its qualified name; empty for the top level.
 */
symbol: string
/**
 * Between 0 and 1.
 */
score: number
/**
 * Why, in words.
 */
why: string
parts: ScoreParts
/**
 * Its lines, the most suspicious first.
 */
lines: LineOfSuspect[]
/**
 * The repair of the best line that has one.
 */
repair?: (string | null)
/**
 * Whether that is a proof: a passing test runs the line, the line that raised still runs, and
 * nothing is lost that other code uses.
 */
isProven: boolean
}
/**
 * The parts of a score, each between 0 and 1.
 */
export interface ScoreParts {
/**
 * Ochiai over the tests.
 */
spectrum: number
/**
 * Frames of failing tests, and exceptions that only they raise.
 */
traceback: number
/**
 * Branches and values that only failing tests show, among the traced ones.
 */
observed: number
/**
 * 1 for code that a failing test calls directly, less for code called from there.
 */
distance: number
/**
 * 1 for uncommitted code, less for older code.
 */
recency: number
/**
 * By the text of the code.
 */
text: number
/**
 * By trial edits; 0 without any.
 */
trials: number
}
/**
 * A line of a suspect.
 */
export interface LineOfSuspect {
/**
 * From 1.
 */
line: number
/**
 * Between 0 and 1.
 */
score: number
/**
 * Why, in words.
 */
why: string
parts: ScoreParts
/**
 * An edit that makes all failing tests pass and breaks none, as a unified diff.
 */
repair?: (string | null)
/**
 * Whether that is a proof: a passing test runs the line, the line that raised still runs, and
 * nothing is lost that other code uses.
 */
isProven: boolean
}
/**
 * A suspicious line.
 */
export interface SuspectLine {
/**
 * Relative to the project.
 */
path: string
/**
 * From 1.
 */
line: number
/**
 * The qualified name of the function around it; empty at module level.
 */
symbol: string
/**
 * Between 0 and 1.
 */
score: number
/**
 * Why, in words.
 */
why: string
/**
 * An edit that makes all failing tests pass and breaks none, as a unified diff.
 */
repair?: (string | null)
/**
 * Whether that is a proof: a passing test runs the line, the line that raised still runs, and
 * nothing is lost that other code uses.
 */
isProven: boolean
}
/**
 * A test that fails.
 */
export interface LocalizeFailingTest {
id: string
/**
 * The exception's class.
 */
exception: string
/**
 * Its text.
 */
message: string
/**
 * The failing place, relative to the project.
 */
path?: (string | null)
/**
 * Its line, from 1.
 */
line?: (number | null)
}
/**
 * Prepares the environment for a project's tests on this machine, and returns its place: for a debugger, which must
 * start the tests itself.
 */
export interface EnvironmentParams {
/**
 * The project; default: the first folder of the workspace.
 */
root?: (string | null)
/**
 * The environment to use: its folder, or its interpreter. Default: the activated one, the project's own, or one
 * created from its requirements.
 */
interpreter?: (string | null)
/**
 * Return immediately with the id of the job; a `trellis/event` reports its end.
 */
background?: boolean
}
/**
 * An environment that is ready.
 */
export interface EnvironmentResult {
/**
 * The program.
 */
interpreter: string
/**
 * Such as `3.12.4`.
 */
version: string
/**
 * A folder of packages to search after its own: pytest, if the environment has none.
 */
packages?: (string | null)
}
/**
 * Checks this machine: what it has for running tests, and which limits the sandbox enforces.
 */
export interface DoctorParams {
/**
 * The project whose environment is checked; default: the current folder.
 */
root?: (string | null)
}
/**
 * The result of the check.
 */
export interface DoctorResult {
tools: ToolFound[]
/**
 * The limits of local sandboxes; null if local sandboxes do not work here.
 */
localLimits?: (Limit[] | null)
/**
 * Why local sandboxes do not work here.
 */
localError?: (string | null)
/**
 * Whether tests can run, where, and what to do next.
 */
verdict: string
}
/**
 * One thing that was checked.
 */
export interface ToolFound {
name: string
/**
 * Whether it exists and works.
 */
ok: boolean
/**
 * What it is, or why it is missing.
 */
detail: string
/**
 * What does not work without it; null if it exists.
 */
cost?: (string | null)
/**
 * Whether Trellis does all of its work without it.
 */
optional: boolean
}
/**
 * Finds the tests that changes affect: those that executed a changed function, read a changed
 * file, or load a changed module. Runs with `recordExecution` tell what tests execute; test files
 * without such a run are judged by their imports. Nothing is executed.
 */
export interface AffectedTestsParams {
/**
 * The project; default: the first folder of the workspace.
 */
root?: (string | null)
/**
 * Changed files, relative to the root. Without any, all tests are found that have not run, with
 * a record, since the code changed that they need.
 */
paths?: string[]
}
/**
 * The tests that changes affect.
 */
export interface AffectedTestsResult {
/**
 * The folder of the project.
 */
root: string
/**
 * Ids of tests, and paths of files of which all tests are affected, for `paths` of `runTests`.
 */
tests: string[]
/**
 * What changed since the tests ran; of recorded tests only.
 */
changed: ChangedPart[]
/**
 * Modules with syntax errors that tests need. Tests that need them are left out.
 */
broken: BrokenPart[]
/**
 * Ids of recorded tests that are left out.
 */
held: string[]
}
/**
 * A changed part of a project.
 */
export interface ChangedPart {
/**
 * The file or folder, relative to the root; empty for the whole project, on which a test
 * depends that starts processes.
 */
path: string
/**
 * The function, with its classes; null for code outside of functions and for other files.
 */
function?: (string | null)
}
/**
 * A module with a syntax error.
 */
export interface BrokenPart {
/**
 * The file, relative to the root.
 */
path: string
/**
 * The line of the error, from 1.
 */
line: number
/**
 * The parser's message.
 */
message: string
}
/**
 * Lists the functions with generated tests, with their tests and the last results.
 */
export interface ListTestsParams {
/**
 * The project; default: the first folder of the workspace.
 */
root?: (string | null)
}
/**
 * Functions with generated tests.
 */
export interface TestList {
functions: TestedFunction[]
/**
 * Problems of the registry, as sentences.
 */
warnings: string[]
}
/**
 * One function with generated tests.
 */
export interface TestedFunction {
/**
 * The file below the project's root, `::`, the name with its classes.
 */
function: string
/**
 * The test file, below the project's root.
 */
testFile: string
testNames: string[]
/**
 * RFC 3339.
 */
generatedAt: string
/**
 * `passed` or `failed`; null if they did not run.
 */
lastStatus?: (string | null)
/**
 * RFC 3339.
 */
lastRunAt?: (string | null)
}
/**
 * Adds the folder of a test file to `testpaths` in the project's settings, so that plain `pytest` runs it.
 * `undoEdit` reverts it.
 */
export interface AddTestPathParams {
/**
 * The project; default: the first folder of the workspace.
 */
root?: (string | null)
/**
 * The test file, relative to the root.
 */
path: string
}
/**
 * What was added.
 */
export interface AddedTestPath {
/**
 * The settings file, relative to the root.
 */
file: string
/**
 * What was added to its `testpaths`; null if they already contain the test file.
 */
folder?: (string | null)
/**
 * Number of the edit; null if nothing was written.
 */
edit?: (number | null)
}
/**
 * Writes the tests of a preview, if the test file is as the preview found it.
 */
export interface KeepTestsParams {
/**
 * The project: `root` of the preview.
 */
root: string
/**
 * As in the preview.
 */
function: string
/**
 * The test file, relative to the root.
 */
path: string
/**
 * The whole text of the test file, as in the preview.
 */
source: string
/**
 * As in the preview.
 */
testNames: string[]
draft: GeneratedDraft
}
/**
 * What was written.
 */
export interface KeptTests {
/**
 * What you should know, as sentences.
 */
warnings: string[]
/**
 * The settings file whose `testpaths` leave the test file out; `addTestPath` adds its folder.
 */
leftOutBy?: (string | null)
}
/**
 * A test that another process ran.
 */
export interface ForeignTest {
id: string
/**
 * `passed`, `failed` or `skipped`.
 */
outcome: string
/**
 * When the tested texts were read, in milliseconds of Unix time.
 */
textOf: number
/**
 * What it failed with.
 */
message?: (string | null)
/**
 * The file in which it failed, relative to the root.
 */
failedPath?: (string | null)
/**
 * The line there, from 1.
 */
failedLine?: (number | null)
}
/**
 * `data` of an error.
 */
export interface ErrorData {
/**
 * Distinguishes errors with the same code, such as `stale`.
 */
kind: string
/**
 * What to do about it.
 */
hint?: (string | null)
/**
 * What a program may offer to do about it.
 */
remedy?: (Remedy | null)
}
