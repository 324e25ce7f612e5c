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
 * Where a job stands.
 */
export type JobState = (("running" | "done" | "failed" | "cancelled") | "paused")
/**
 * The method of a run, and the one that tells where it stands.
 */
export type RunKind = ("generate" | "tasks")
/**
 * Whether anybody works on a run, and whether it is at its end.
 */
export type RunState = ("finished" | "active" | "stopped")
/**
 * What kind of thing happened, in the words of the file.
 */
export type EventKind = ("started" | "ordered" | "state" | "stage" | "model_call" | "tool_call" | "test_run" | "localization" | "regression" | "note" | "accepted" | "taken_back" | "writing" | "kept" | "git" | "committed" | "approval" | "reset" | "rolled_back" | "integration" | "broken" | "suite" | "tests_written" | "stopped" | "finished")
/**
 * What long work answers.
 */
export type Outcome = (Begun | RepairResult)
/**
 * In a word.
 */
export type Answer = ("approve" | "sendBack" | "leave")
/**
 * What long work answers.
 */
export type Outcome2 = (Begun | ImplementResult)
/**
 * How the work ended, in a word.
 */
export type Outcome3 = ("merged" | "needsHuman" | "left" | "failed" | "planned")
/**
 * What long work answers.
 */
export type Outcome4 = (Begun | TasksResult)
/**
 * Where a proposal stands.
 */
export type State = (("accepted" | "rejected") | "waiting" | "stale" | "undone" | "failed")
/**
 * What long work answers.
 */
export type Outcome5 = (Begun | FixResult2)
/**
 * What can be decided.
 */
export type Choice2 = ("accept" | "reject" | "edit" | "acceptHunks" | "rejectHunks" | "rebase")
/**
 * What long work answers.
 */
export type Outcome6 = (Begun | DecideFixResult)
/**
 * A form in which planning graphs, or lists of tasks, are published.
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
 * What installs the packages of a project. There is no way to name another program.
 */
export type Installer = ("npm" | "pip" | "go" | "none")
/**
 * What long work answers.
 */
export type Outcome7 = (Begun | PackagesInstalled)
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
 * What long work answers.
 */
export type Outcome8 = (Begun | RunTestsResult)
/**
 * How tests are written.
 */
export type TestFramework = ("pytest" | "unittest")
/**
 * What long work answers.
 */
export type Outcome9 = (Begun | Generated)
/**
 * What long work answers.
 */
export type Outcome10 = (Begun | LocalizeResult)
/**
 * What long work answers.
 */
export type Outcome11 = (Begun | EnvironmentResult)
/**
 * One thing that happened.
 */
export type Event = ({
type: "job"
job: string
/**
 * The method that began it, without `trellis/`.
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
 * Seconds until the end, as things go; left out where nothing can be said.
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
 * `red`, `green`, or the stage of a question, such as `implementation`.
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
 * When the texts were read that it ran with, in milliseconds of Unix time.
 */
textOf?: (number | null)
/**
 * It ran with texts that are not in the project, such as a draft's.
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
 * How much a log line matters.
 */
export type Level = ("info" | "warning" | "error")
/**
 * What can be done about a decision that was refused.
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
"trellis/job": {
params: JobParams
result: JobShape
}
"trellis/jobs": {
params: JobsParams
result: JobList
}
"trellis/cancelJob": {
params: CancelJobParams
result: JobShape
}
"trellis/pauseJob": {
params: PauseJobParams
result: JobShape
}
"trellis/resumeJob": {
params: ResumeJobParams
result: JobShape
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
params: LogParamsOf
result: LogResult
}
"trellis/repair": {
params: RepairParams
result: Outcome
}
"trellis/implement": {
params: ImplementParams
result: Outcome2
}
"trellis/tasks": {
params: TasksParams
result: Outcome4
}
"trellis/listFixes": {
params: ListFixesParamsOf
result: ListFixesResult
}
"trellis/getFix": {
params: GetFixParamsOf
result: FixResult
}
"trellis/undoFix": {
params: UndoFixParamsOf
result: UndoFixResult
}
"trellis/proposeFix": {
params: ProposeFixParamsOf
result: Outcome5
}
"trellis/decideFix": {
params: DecideFixParamsOf
result: Outcome6
}
"trellis/planCheck": {
params: PlanCheckParamsOf
result: PlanCheckResult
}
"trellis/planOrder": {
params: PlanOrderParamsOf
result: PlanOrderResult
}
"trellis/planShow": {
params: PlanShowParamsOf
result: PlanShowResult
}
"trellis/planLevels": {
params: PlanLevelsParamsOf
result: PlanLevelsResult
}
"trellis/planFlows": {
params: PlanFlowsParamsOf
result: PlanFlowsResult
}
"trellis/planDeps": {
params: PlanDepsParamsOf
result: PlanDepsResult
}
"trellis/planSearch": {
params: PlanSearchParamsOf
result: PlanSearchResult
}
"trellis/status": {
params: StatusParamsOf
result: StatusResult
}
"trellis/tasksStatus": {
params: TasksStatusParamsOf
result: TasksStatusResult
}
"trellis/report": {
params: ReportParamsOf
result: ReportResult
}
"trellis/rollback": {
params: RollbackParamsOf
result: RollbackResult
}
"trellis/codeView": {
params: CodeViewParamsOf
result: CodeViewResult
}
"trellis/listStacks": {
params: ListStacksParamsOf
result: StackList
}
"trellis/showStack": {
params: ShowStackParamsOf
result: StackShown
}
"trellis/newProject": {
params: NewProjectParamsOf
result: NewProject
}
"trellis/installPackages": {
params: InstallPackagesParamsOf
result: Outcome7
}
"trellis/findSymbol": {
params: FindSymbolParamsOf
result: FindSymbolResult
}
"trellis/findReferencingSymbols": {
params: FindReferencingSymbolsParamsOf
result: FindReferencingSymbolsResult
}
"trellis/findCallers": {
params: FindCallersParamsOf
result: FindCallersResult
}
"trellis/findDefinition": {
params: FindDefinitionParamsOf
result: FindDefinitionResult
}
"trellis/findUnused": {
params: FindUnusedParamsOf
result: FindUnusedResult
}
"trellis/checkPlanned": {
params: CheckPlannedParamsOf
result: CheckPlannedResult
}
"trellis/documentSymbols": {
params: DocumentSymbolsParamsOf
result: DocumentSymbolsResult
}
"trellis/replaceSymbolBody": {
params: ReplaceSymbolBodyParamsOf
result: EditResult
}
"trellis/insertBeforeSymbol": {
params: InsertBeforeSymbolParamsOf
result: EditResult
}
"trellis/insertAfterSymbol": {
params: InsertAfterSymbolParamsOf
result: EditResult
}
"trellis/replaceText": {
params: ReplaceTextParamsOf
result: EditResult
}
"trellis/renameSymbol": {
params: RenameSymbolParamsOf
result: RenameSymbolResult
}
"trellis/safeDeleteSymbol": {
params: SafeDeleteSymbolParamsOf
result: SafeDeleteSymbolResult
}
"trellis/undoEdit": {
params: UndoEditParamsOf
result: EditResult
}
"trellis/parseFile": {
params: ParseFileParamsOf
result: ParsedFile
}
"trellis/validateSyntax": {
params: ValidateSyntaxParamsOf
result: Validity
}
"trellis/runTests": {
params: RunTestsParamsOf
result: Outcome8
}
"trellis/generateTests": {
params: GenerateTestsParamsOf
result: Outcome9
}
"trellis/localize": {
params: LocalizeParamsOf
result: Outcome10
}
"trellis/environment": {
params: EnvironmentParamsOf
result: Outcome11
}
"trellis/doctor": {
params: DoctorParamsOf
result: DoctorResult
}
"trellis/listTests": {
params: ListTestsParamsOf
result: TestList
}
"trellis/addTestPath": {
params: AddTestPathParamsOf
result: AddedTestPath
}
}
notifications: {
"trellis/event": Event
}
}
/**
 * Start or resume the growing of a repository from a planning graph, as a job. Without `graph` the earlier run in
 * `out` goes on with the options it was started with; what is given beside wins.
 */
export interface GenerateParams {
/**
 * The planning graph, RPG JSON; needed for a first run.
 */
graph?: (string | null)
/**
 * Folder to grow the repository in.
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
 * Start at this node; what comes before it must have passed or is skipped.
 */
startFromNode?: (string | null)
/**
 * Files the model is shown as project context.
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
 * Opinions on what a failure means, 1 to 15, all at once; one, and others while it is not clear, if not given.
 */
votes?: (number | null)
/**
 * Which fixes a person has to see before they stay: `autonomous` (none), `supervised` (all) or `threshold` (those
 * after the second, of little confidence, or of critical files). Default `autonomous`.
 */
approve?: (string | null)
/**
 * Seconds one test may take, from 1. Default 30.
 */
testTimeout?: (number | null)
/**
 * Build on files that were changed by hand, instead of stopping.
 */
keepEdits?: (boolean | null)
/**
 * Remove what was grown for nodes that are not in the graph any more, instead of stopping.
 */
dropRemoved?: (boolean | null)
/**
 * Model, as `provider:name` or `recorded:FILE`; else TRELLIS_MODEL, else `model` in trellis.toml.
 */
model?: (string | null)
/**
 * Model for simple work; else `simple_model` in trellis.toml, else the model.
 */
simpleModel?: (string | null)
/**
 * Model for hard work and for fixes after the second failure; else `strong_model` in trellis.toml.
 */
strongModel?: (string | null)
/**
 * Stop before the model's calls cost more US dollars than this, earlier starts of the run included.
 */
budgetUsd?: (number | null)
/**
 * Stop before the model's calls take more tokens than this, earlier starts of the run included.
 */
budgetTokens?: (number | null)
/**
 * Stop before the model is asked longer than this after the start.
 */
budgetMinutes?: (number | null)
/**
 * Write every reply of the model to this file, as a recording.
 */
record?: (string | null)
/**
 * Wait as long as the recorded model did.
 */
replayLatency?: boolean
sandbox?: Choice
/**
 * Docker image with Python that the tests' own image is derived from (default: python:3.12-slim).
 */
image?: (string | null)
/**
 * The environment that tests run in: its folder, or its interpreter. A bare interpreter gets an environment made
 * from it. Tests run locally.
 */
interpreter?: (string | null)
allow?: Allowed
}
/**
 * What tests may have beside what every sandbox gives. A person says it, never a project or a model.
 */
export interface Allowed {
/**
 * A variable for the tests; as often as there are variables.
 */
env?: string[]
/**
 * A variable for the tests that has the value it has here; as often as there are variables.
 */
passEnv?: string[]
/**
 * MiB of memory (default: 2048).
 */
memory?: (number | null)
/**
 * Processors (default: all; in containers 1).
 */
cores?: (number | null)
/**
 * Let tests use the network, this machine's own services among it.
 */
network?: boolean
/**
 * Do not let tests write beside their code.
 */
readOnly?: boolean
/**
 * Seconds for all tests of a run, where nothing else is said (default: 1800).
 */
runSeconds?: (number | null)
}
/**
 * A job was started; `trellis/event` tells how it goes, `trellis/job` what it came to.
 */
export interface Started {
/**
 * Its id.
 */
job: string
}
/**
 * Work again on one node that failed or was skipped, and on what waits for it, as a job; everything else stays as
 * it is. Options as those of `generate`; the graph is that of the earlier run unless another is given.
 */
export interface RetryNodeParams {
/**
 * Id of the node.
 */
node: string
/**
 * The planning graph, RPG JSON; needed for a first run.
 */
graph?: (string | null)
/**
 * Folder to grow the repository in.
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
 * Start at this node; what comes before it must have passed or is skipped.
 */
startFromNode?: (string | null)
/**
 * Files the model is shown as project context.
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
 * Opinions on what a failure means, 1 to 15, all at once; one, and others while it is not clear, if not given.
 */
votes?: (number | null)
/**
 * Which fixes a person has to see before they stay: `autonomous` (none), `supervised` (all) or `threshold` (those
 * after the second, of little confidence, or of critical files). Default `autonomous`.
 */
approve?: (string | null)
/**
 * Seconds one test may take, from 1. Default 30.
 */
testTimeout?: (number | null)
/**
 * Build on files that were changed by hand, instead of stopping.
 */
keepEdits?: (boolean | null)
/**
 * Remove what was grown for nodes that are not in the graph any more, instead of stopping.
 */
dropRemoved?: (boolean | null)
/**
 * Model, as `provider:name` or `recorded:FILE`; else TRELLIS_MODEL, else `model` in trellis.toml.
 */
model?: (string | null)
/**
 * Model for simple work; else `simple_model` in trellis.toml, else the model.
 */
simpleModel?: (string | null)
/**
 * Model for hard work and for fixes after the second failure; else `strong_model` in trellis.toml.
 */
strongModel?: (string | null)
/**
 * Stop before the model's calls cost more US dollars than this, earlier starts of the run included.
 */
budgetUsd?: (number | null)
/**
 * Stop before the model's calls take more tokens than this, earlier starts of the run included.
 */
budgetTokens?: (number | null)
/**
 * Stop before the model is asked longer than this after the start.
 */
budgetMinutes?: (number | null)
/**
 * Write every reply of the model to this file, as a recording.
 */
record?: (string | null)
/**
 * Wait as long as the recorded model did.
 */
replayLatency?: boolean
sandbox?: Choice
/**
 * Docker image with Python that the tests' own image is derived from (default: python:3.12-slim).
 */
image?: (string | null)
/**
 * The environment that tests run in: its folder, or its interpreter. A bare interpreter gets an environment made
 * from it. Tests run locally.
 */
interpreter?: (string | null)
allow?: Allowed
}
/**
 * Say where a job stands, and what it came to if it has ended.
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
export interface JobShape {
/**
 * Its id, such as `job-1`.
 */
job: string
/**
 * The method that began it, without `trellis/`.
 */
method: string
/**
 * What it is about, for a person.
 */
title: string
state: JobState
/**
 * RFC 3339.
 */
startedAt: string
/**
 * None where the work has no steps to count.
 */
progress?: (JobProgress | null)
/**
 * What it came to, when it is done.
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
 * How far a job is.
 */
export interface JobProgress {
done: number
total: number
/**
 * Seconds until the end, as things go.
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
 * The exit code the command line would leave with.
 */
exitCode: number
}
/**
 * List all jobs of this server, the newest last; of ended ones, the last hundred.
 */
export type JobsParams = Record<string, never>;
/**
 * Jobs of this server.
 */
export interface JobList {
jobs: JobShape[]
}
/**
 * Stop a job. What it accepted before is kept; it ends as soon as the step in hand is over.
 */
export interface CancelJobParams {
/**
 * Its id.
 */
job: string
}
/**
 * Hold a job: what is under way is finished, nothing new is begun until `resumeJob`.
 */
export interface PauseJobParams {
/**
 * Its id.
 */
job: string
}
/**
 * Let a held job go on.
 */
export interface ResumeJobParams {
/**
 * Its id.
 */
job: string
}
/**
 * List the runs of `generate` and of `tasks` in the workspace's folders, down to three levels: which have come to their end,
 * and which can be gone on with.
 */
export interface ListRunsParams {
/**
 * Look in this folder in place of the workspace's.
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
 * The planning graph, or the list of tasks, that it was started with; none in journals of before.
 */
graph?: (string | null)
}
/**
 * List the files that a run wrote, or that a list of tasks was made into, and whether each is as it was left.
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
 * `written`: as the run left it, or as it was merged; `edited`: a person changed it since; `missing`: it is gone.
 */
state: string
/**
 * In bytes; none where it is missing.
 */
size?: (number | null)
}
/**
 * Read a text file of a run's folder.
 */
export interface ReadFileParams {
/**
 * The output folder of the run.
 */
out: string
/**
 * The file, relative to it.
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
 * Reads the journal of a run or a project back, the oldest event first: what happened, to which node, why, at what cost;
 * and checks its hash chain.
 */
export interface LogParamsOf {
/**
 * The output folder of a run, or a project's folder; else the workspace's first.
 */
root?: (string | null)
/**
 * Only what happened to this node (or subgraph, function or test).
 */
node?: (string | null)
/**
 * Only events of these kinds; all if none is given.
 */
kinds?: EventKind[]
/**
 * Only the last events, so many of those asked for: 1000 if nothing is said, 100000 at most.
 */
last?: (number | null)
}
/**
 * What a journal says.
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
 * Something that happened.
 */
export interface LogEntry {
/**
 * Its line in the journal, from 1.
 */
line: number
/**
 * When, in UTC, as in RFC 3339.
 */
at: string
kind: EventKind
/**
 * What it is about: the id of a node, subgraph, function or test; none for a run as a whole.
 */
node?: (string | null)
/**
 * What happened, at most 2000 characters.
 */
what: string
/**
 * Why, or what else was said, at most 2000 characters.
 */
reason?: (string | null)
/**
 * Of this step itself; sums over many steps stand in `what`.
 */
cost?: (LogCost | null)
}
/**
 * What a step cost; what is not known is null.
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
 * Whole lines in it.
 */
lines: number
/**
 * Events asked for that are older than the last ones given.
 */
leftOut: number
/**
 * Lines that are no event, whatever was asked for; the first hundred.
 */
unreadable: UnreadableLine[]
/**
 * How many there are in all.
 */
unreadableCount: number
/**
 * The last line was cut short by a crash; the next line written takes its place.
 */
isTorn: boolean
}
/**
 * A line that is no event.
 */
export interface UnreadableLine {
/**
 * From 1.
 */
line: number
why: string
}
/**
 * What the hash chain came to. Lines cut off at the end show only in that `head` is not what was noted elsewhere.
 */
export interface LogVerify {
/**
 * Whether each line follows from the one above.
 */
isIntact: boolean
/**
 * The first line that carries a chain, from 1; earlier versions wrote those above, which it covers as a whole.
 */
since?: (number | null)
/**
 * The chain of the last line, which stands for the whole file: 64 hexadecimal digits; none if it is not intact or empty.
 */
head?: (string | null)
/**
 * The first line that does not follow.
 */
broken?: (BrokenLine | null)
}
/**
 * A line that does not follow from the one above.
 */
export interface BrokenLine {
/**
 * From 1.
 */
line: number
why: string
}
/**
 * Mend what makes tests fail: run them, find the cause, ask a model, prove each fix on a copy, and keep what you let stay.
 */
export interface RepairParams {
/**
 * The project.
 */
root?: string
/**
 * Mend only these failing tests: ids, files or folders; all that fails if none is given.
 */
tests?: string[]
/**
 * Run only these test files and folders beside them; all tests if none is given.
 */
suite?: string[]
/**
 * What is wrong, in your words, for the model.
 */
issue?: (string | null)
/**
 * Fixes that are tried for one cause.
 */
maxIterations?: number
/**
 * Fixes that pass among which the best is chosen; each one is asked for.
 */
candidates?: number
/**
 * Which fixes a person has to see before they stay: none (autonomous), all (supervised), or doubtful ones (threshold).
 */
approve?: (string | null)
/**
 * More files of which you want to see each change, as patterns such as `billing/**`.
 */
critical?: string[]
/**
 * Lines of one file that a fix may change.
 */
maxLines?: number
/**
 * Do not ask the model for a diagnosis before it is asked for a fix.
 */
noReport?: boolean
fixWith?: FixWith
/**
 * Write nothing into the tree; the patch is all there is.
 */
dryRun?: boolean
/**
 * Work on the last commit in a worktree of git; fixes go to a branch, and the tree is not touched.
 */
worktree?: boolean
/**
 * Commit what was kept, and nothing else of the tree.
 */
commit?: boolean
/**
 * Write what was kept to this file as a patch that `git apply` takes.
 */
patch?: (string | null)
/**
 * Model, as `provider:name` or `recorded:FILE`; else TRELLIS_MODEL, else `model` in trellis.toml.
 */
model?: (string | null)
/**
 * Model for simple work; else `simple_model` in trellis.toml, else the model.
 */
simpleModel?: (string | null)
/**
 * Model for hard work and for fixes after the second failure; else `strong_model` in trellis.toml.
 */
strongModel?: (string | null)
/**
 * Stop before the model's calls cost more US dollars than this, earlier starts of the run included.
 */
budgetUsd?: (number | null)
/**
 * Stop before the model's calls take more tokens than this, earlier starts of the run included.
 */
budgetTokens?: (number | null)
/**
 * Stop before the model is asked longer than this after the start.
 */
budgetMinutes?: (number | null)
/**
 * Write every reply of the model to this file, as a recording.
 */
record?: (string | null)
/**
 * Wait as long as the recorded model did.
 */
replayLatency?: boolean
sandbox?: Choice
/**
 * Docker image with Python that the tests' own image is derived from (default: python:3.12-slim).
 */
image?: (string | null)
/**
 * The environment that tests run in: its folder, or its interpreter. A bare interpreter gets an environment made
 * from it. Tests run locally.
 */
interpreter?: (string | null)
allow?: Allowed
/**
 * Wait for decisions about fixes that a person has to see; else they wait as proposals, and the work goes on.
 */
wait?: boolean
/**
 * Seconds one test may take.
 */
testTimeout?: number
/**
 * Seconds all of them may take (default: 1800).
 */
runTimeout?: (number | null)
/**
 * Answer at once with the id of the job, whose end is told by `trellis/event`.
 */
background?: boolean
}
/**
 * The job goes on; `trellis/event` tells how, `trellis/job` what it came to.
 */
export interface Begun {
/**
 * Its id.
 */
job: string
}
/**
 * What a repair came to.
 */
export interface RepairResult {
/**
 * `nothingToDo`, `repaired`, `partly`, `notRepaired` or `needsHuman`.
 */
outcome: string
/**
 * As the command line ends: 0 nothing fails any more, 1 something does, 2 a person has to decide or to mend the environment.
 */
exitCode: number
before: TestCounts
after: TestCounts
/**
 * Fixes that stay.
 */
fixes: KeptFix[]
/**
 * Failing tests by likely cause, in the order in which they were looked at.
 */
groups: GroupShape[]
/**
 * Tests that failed and passed when run again.
 */
flaky: string[]
/**
 * Failing tests that no change of the code mends.
 */
setAside: SetAside[]
/**
 * Where the patch was asked for.
 */
patch?: (string | null)
/**
 * The branch that has the fixes, where they were to go to one.
 */
branch?: (string | null)
/**
 * The commit that has the fixes, where one was asked for.
 */
commit?: (string | null)
/**
 * Folder with diagnoses, report and patch, relative to the project; null where nothing failed.
 */
artifacts?: (string | null)
/**
 * US dollars, as far as prices are known; null where no model was asked.
 */
usd?: (number | null)
/**
 * Tokens in and out; null where no model was asked.
 */
tokens?: (number | null)
time: Time
/**
 * What else there is to say, as sentences.
 */
notes: string[]
}
/**
 * Tests by how they end.
 */
export interface TestCounts {
passing: number
/**
 * Without those that pass when run again.
 */
failing: number
}
/**
 * A fix that stays.
 */
export interface KeptFix {
/**
 * Its id, by which `undoFix` takes it back; null where nothing was written into the tree.
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
 * How clear it is where the bug was: mean of `clarity` and `agreement`.
 */
diagnostic: number
/**
 * What tests, size and history say of it: `passing`, times the mean of `size` and `history`.
 */
fix: number
/**
 * The share of its lines that passing tests execute.
 */
coverage: number
/**
 * What diagnostic and fix are made of; null for the draft of a run.
 */
parts?: (ConfidenceParts | null)
}
/**
 * What a confidence is made of, each from 0 to 1.
 */
export interface ConfidenceParts {
/**
 * Whether the failure is raised where the change is: 1 in the same function, half of it in the same file.
 */
clarity: number
/**
 * How suspicious what it changes was, the most suspicious place being 1.
 */
agreement: number
/**
 * The share of the tests it may affect that pass with it.
 */
passing: number
/**
 * 1 for a few lines, 0 for as many as may change.
 */
size: number
/**
 * 1 for the first fix, less for each one before it that did not do.
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
 * Fixes that were suggested or tried, and not taken.
 */
alternatives: AlternativeShape[]
/**
 * The fix that stays, by its id or `kept`.
 */
kept?: (string | null)
/**
 * The fix that waits for a decision.
 */
waiting?: (string | null)
/**
 * Why it is left as it is.
 */
givenUp?: (string | null)
}
/**
 * What is known of a failure.
 */
export interface DiagnosisShape {
/**
 * Of this shape.
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
 * `model` or `measured`: whose word the cause is.
 */
rootCauseBy: string
affectedFiles: AffectedFile[]
/**
 * As the model says before anything was tried.
 */
suggestedFixes: SuggestedFix[]
/**
 * As sentences.
 */
lookedAt: string[]
}
/**
 * A place that has to do with a failure.
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
 * What it has to do with it.
 */
issueDescription: string
}
/**
 * A fix in words.
 */
export interface SuggestedFix {
description: string
/**
 * The model's own, from 0 to 1; nothing is decided by it.
 */
confidence: number
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
 * A unified diff, where there was a change to try.
 */
diff?: (string | null)
/**
 * Of one that passed.
 */
confidence?: (ConfidenceShape | null)
/**
 * Signs that it was made for its tests alone, with their places.
 */
shortcuts: string[]
}
/**
 * A fix that was not taken.
 */
export interface AlternativeShape {
/**
 * `Fix 1`, or `Suggestion 1` with its words.
 */
name: string
/**
 * What became of it, and why.
 */
became: string
/**
 * Measured of a fix that passed; of a suggestion the model's own, from 0 to 1.
 */
confidence?: (number | null)
/**
 * A unified diff, where it says what to change; that of a suggestion that was tried is the fix's.
 */
diff?: (string | null)
}
/**
 * A failing test that no change of the code mends.
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
 * All of it, by the clock on the wall.
 */
seconds: number
/**
 * Of these, what runs of tests took, each from the start of its process to its end.
 */
testSeconds: number
testRuns: number
}
/**
 * Implement one issue test-first: tests that fail, code that makes them pass, linters, your review, a merge; on a branch and in
 * a worktree of its own, so that your files stay as they are until you approve.
 */
export interface ImplementParams {
/**
 * The project, in a repository of git.
 */
root?: string
/**
 * Number or name of the issue: letters, digits, `-`, `_` and `.`.
 */
issue: string
/**
 * What is wanted, in a file of the project.
 */
lld: string
/**
 * Files of the project, Python or Markdown, that are in every question: code to use, standards to keep.
 */
context?: string[]
/**
 * How tests and code are given: in one reply, or by work with tools on a copy of the files (default: with tools where the
 * model has them).
 */
workWith?: (FixWith | null)
/**
 * Whether a person has to see the change before it is merged: never (autonomous), always (supervised), or where something
 * speaks against it (threshold). With `autonomous` work that does not pass ends with 1, else with 2.
 */
approve?: (string | null)
/**
 * Show what would be done and the first question; ask no model and write nothing.
 */
dryRun?: boolean
/**
 * Push to this remote, a name or an address: the branch that work is merged into, and branches that are left for a person, with
 * a pull request where the remote is of a forge.
 */
push?: (string | null)
/**
 * What becomes of the change that waits for a review, as the result of the call before showed it.
 */
decision?: (Decision | null)
/**
 * Model, as `provider:name` or `recorded:FILE`; else TRELLIS_MODEL, else `model` in trellis.toml.
 */
model?: (string | null)
/**
 * Model for simple work; else `simple_model` in trellis.toml, else the model.
 */
simpleModel?: (string | null)
/**
 * Model for hard work and for fixes after the second failure; else `strong_model` in trellis.toml.
 */
strongModel?: (string | null)
/**
 * Stop before the model's calls cost more US dollars than this, earlier starts of the run included.
 */
budgetUsd?: (number | null)
/**
 * Stop before the model's calls take more tokens than this, earlier starts of the run included.
 */
budgetTokens?: (number | null)
/**
 * Stop before the model is asked longer than this after the start.
 */
budgetMinutes?: (number | null)
/**
 * Write every reply of the model to this file, as a recording.
 */
record?: (string | null)
/**
 * Wait as long as the recorded model did.
 */
replayLatency?: boolean
sandbox?: Choice
/**
 * Docker image with Python that the tests' own image is derived from (default: python:3.12-slim).
 */
image?: (string | null)
/**
 * The environment that tests run in: its folder, or its interpreter. A bare interpreter gets an environment made
 * from it. Tests run locally.
 */
interpreter?: (string | null)
allow?: Allowed
/**
 * Fixes after the first code, of an issue or of each task; then a person is needed.
 */
maxRetries?: number
/**
 * Seconds one test may take.
 */
testTimeout?: number
/**
 * Seconds all of them may take (default: 1800).
 */
runTimeout?: (number | null)
/**
 * Answer at once with the id of the job, whose end is told by `trellis/event`.
 */
background?: boolean
}
/**
 * What somebody says of a change that waits.
 */
export interface Decision {
answer: Answer
/**
 * The commit that was looked at, as the result named it; where the files are others by now, nothing is decided.
 */
tip: string
/**
 * With `sendBack`: what the model is told.
 */
words?: (string | null)
}
/**
 * What came of an issue.
 */
export interface ImplementResult {
outcome: Outcome3
/**
 * As the command line ends: 0 merged, 1 the tests fail after the retries and nobody was to be asked, 2 a person is needed.
 */
exitCode: number
/**
 * It passed every gate, and waits for a `decision`.
 */
waits: boolean
/**
 * Why it is not merged.
 */
reason?: (string | null)
issue: string
/**
 * The branch of the work, while it is not merged.
 */
branch?: (string | null)
/**
 * The project's folder in the worktree, while it is not merged; what you edit there is what the next call goes on with.
 */
worktree?: (string | null)
/**
 * The last commit of the branch, which a `decision` names.
 */
tip?: (string | null)
/**
 * The commit that was merged.
 */
commit?: (string | null)
/**
 * Files that the work changes, from the project's folder.
 */
files: string[]
/**
 * The change, as a unified diff.
 */
diff: string
/**
 * What speaks against the change, as sentences.
 */
doubts: string[]
/**
 * What did not do on the way, in the order in which it was tried.
 */
history: string[]
/**
 * Tests that passed before the work.
 */
passedBefore: number
/**
 * The new tests with the change; null where none ran.
 */
newTests?: (Counts | null)
/**
 * All tests with the change; null where they did not run.
 */
allTests?: (Counts | null)
/**
 * Folder with both reports, from the project's; null where it did not come to them.
 */
reports?: (string | null)
/**
 * What was pushed, where that was asked for.
 */
pushed: Pushed[]
/**
 * What would be done, and the first question, where that was asked for.
 */
plan?: (string | null)
/**
 * US dollars, as far as prices are known; null where no model was asked.
 */
usd?: (number | null)
/**
 * Tokens in and out; null where no model was asked.
 */
tokens?: (number | null)
time: Time
/**
 * What else there is to say, as sentences.
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
 * A branch, and what became of it on the remote.
 */
export interface Pushed {
branch: string
/**
 * The page of its pull request.
 */
pullRequest?: (string | null)
/**
 * What did not work, and what to do; or that the branch is gone, since it is merged.
 */
note?: (string | null)
}
/**
 * Make a repository of a list of tasks: a project of a tech stack, then each task test-first in a worktree of its own, several
 * at a time, merged as they pass. Goes on where an earlier start stopped.
 */
export interface TasksParams {
/**
 * The list: JSON with `tasks`, each with `id`, `description`, and as it likes `implementation_details`, `depends_on`,
 * `story_points`, `keywords`.
 */
file: string
/**
 * The tech stack; `trellis stacks list` shows all.
 */
stack: string
/**
 * The folder of the repository: empty, not there, or of an earlier start.
 */
out: string
/**
 * Name of the project, of lower-case letters, digits and `-`; that of the folder if left out.
 */
name?: (string | null)
/**
 * Tasks at a time.
 */
jobs?: number
workWith?: FixWith
/**
 * Do not ask for tests of all tasks together in the end, and for what connects them.
 */
skipIntegration?: boolean
/**
 * Push to this remote, a name or an address: the branch that work is merged into, and branches that are left for a person, with
 * a pull request where the remote is of a forge.
 */
push?: (string | null)
/**
 * Model, as `provider:name` or `recorded:FILE`; else TRELLIS_MODEL, else `model` in trellis.toml.
 */
model?: (string | null)
/**
 * Model for simple work; else `simple_model` in trellis.toml, else the model.
 */
simpleModel?: (string | null)
/**
 * Model for hard work and for fixes after the second failure; else `strong_model` in trellis.toml.
 */
strongModel?: (string | null)
/**
 * Stop before the model's calls cost more US dollars than this, earlier starts of the run included.
 */
budgetUsd?: (number | null)
/**
 * Stop before the model's calls take more tokens than this, earlier starts of the run included.
 */
budgetTokens?: (number | null)
/**
 * Stop before the model is asked longer than this after the start.
 */
budgetMinutes?: (number | null)
/**
 * Write every reply of the model to this file, as a recording.
 */
record?: (string | null)
/**
 * Wait as long as the recorded model did.
 */
replayLatency?: boolean
sandbox?: Choice
/**
 * Docker image with Python that the tests' own image is derived from (default: python:3.12-slim).
 */
image?: (string | null)
/**
 * The environment that tests run in: its folder, or its interpreter. A bare interpreter gets an environment made
 * from it. Tests run locally.
 */
interpreter?: (string | null)
allow?: Allowed
/**
 * Fixes after the first code, of an issue or of each task; then a person is needed.
 */
maxRetries?: number
/**
 * Seconds one test may take.
 */
testTimeout?: number
/**
 * Seconds all of them may take (default: 1800).
 */
runTimeout?: (number | null)
/**
 * Answer at once with the id of the job, whose end is told by `trellis/event`.
 */
background?: boolean
}
/**
 * What a list of tasks came to.
 */
export interface TasksResult {
/**
 * `COMPLETE` or `FAILED`; what is merged stays in either case.
 */
status: string
/**
 * Why it is `FAILED`.
 */
reason?: (string | null)
/**
 * As the command line ends: 0 all tasks are merged and pass together, 1 some are not, or do not.
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
 * Merged, by id.
 */
completedTasks: string[]
/**
 * Why others are not, by id; the work is on the branch `trellis/task-ID`.
 */
failedTasks: {
[k: string]: string
}
/**
 * Those that wait for one that failed, by id, with the reason.
 */
blockedTasks: {
[k: string]: string
}
/**
 * What was pushed, where that was asked for.
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
 * What else there is to say, as sentences.
 */
notes: string[]
}
/**
 * Lists proposed fixes of a project, the oldest first.
 */
export interface ListFixesParamsOf {
/**
 * The project's folder; else the workspace's first.
 */
root?: (string | null)
/**
 * Only those in this state.
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
 * From 1; grows when its texts change.
 */
revision: number
/**
 * RFC 3339.
 */
createdAt: string
/**
 * Why it is put before a person.
 */
reason: string
confidence: ConfidenceShape
test: FailingTest
/**
 * Relative to the root.
 */
paths: string[]
/**
 * Hunks that are left to decide.
 */
hunks: number
/**
 * The node of the run whose draft it is: that tests and writes the files itself. Null for others.
 */
node?: (string | null)
}
/**
 * The test that made somebody look for a fix.
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
 * Shows a proposed fix with its hunks, its texts and what became of it so far.
 */
export interface GetFixParamsOf {
/**
 * The project's folder; else the workspace's first.
 */
root?: (string | null)
/**
 * Its id, such as `fix-1`.
 */
fix: string
}
/**
 * A fix with everything about it.
 */
export interface FixResult {
/**
 * Such as `fix-1`.
 */
fix: string
state: State
/**
 * From 1; grows when its texts change.
 */
revision: number
/**
 * RFC 3339.
 */
createdAt: string
/**
 * Why it is put before a person.
 */
reason: string
confidence: ConfidenceShape
test: FailingTest
/**
 * Relative to the root.
 */
paths: string[]
/**
 * Hunks that are left to decide.
 */
hunks: number
/**
 * The node of the run whose draft it is: that tests and writes the files itself. Null for others.
 */
node?: (string | null)
files: FileShape[]
/**
 * All files as a unified diff.
 */
diff: string
/**
 * Tests that passed and that it may break.
 */
affected: string[]
/**
 * Other tests that failed and that it may mend.
 */
failing: string[]
/**
 * What became of it, the oldest first.
 */
history: Step[]
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
 * SHA-256 of the text it was made for; null for a file that is new.
 */
baseHash?: (string | null)
/**
 * That text.
 */
base?: (string | null)
/**
 * The text as proposed.
 */
proposed: string
hunks: HunkShape[]
}
/**
 * A piece that can be taken or left.
 */
export interface HunkShape {
/**
 * Among those of all files of this revision, from 1.
 */
id: number
/**
 * As unified diffs have it, without lines around.
 */
header: string
/**
 * The first line of what goes, from 1; of an insertion, the line it comes before.
 */
oldStart: number
/**
 * Lines that go, without their line breaks.
 */
oldLines: string[]
/**
 * The first line of what comes, from 1, in the text as proposed.
 */
newStart: number
/**
 * Lines that come, without their line breaks.
 */
newLines: string[]
}
/**
 * What became of a proposal at one time.
 */
export interface Step {
/**
 * RFC 3339.
 */
at: string
/**
 * What was done: `proposed`, a decision, `undone`, `stale`, `failed`.
 */
what: string
/**
 * More about it, in words.
 */
note: string
/**
 * Number of the edit that was written.
 */
edit?: (number | null)
}
/**
 * Takes back what was last accepted of a fix; refused if its files were changed since.
 */
export interface UndoFixParamsOf {
/**
 * The project's folder; else the workspace's first.
 */
root?: (string | null)
/**
 * Its id, such as `fix-1`.
 */
fix: string
}
/**
 * What was taken back.
 */
export interface UndoFixResult {
/**
 * Such as `fix-1`.
 */
fix: string
state: State
/**
 * From 1; grows when its texts change.
 */
revision: number
/**
 * RFC 3339.
 */
createdAt: string
/**
 * Why it is put before a person.
 */
reason: string
confidence: ConfidenceShape
test: FailingTest
/**
 * Relative to the root.
 */
paths: string[]
/**
 * Hunks that are left to decide.
 */
hunks: number
/**
 * The node of the run whose draft it is: that tests and writes the files itself. Null for others.
 */
node?: (string | null)
/**
 * Number of the edit that took it back.
 */
edit: number
/**
 * Its files.
 */
written: string[]
}
/**
 * Looks for a fix of one failing test: runs the tests with coverage, asks a model, tries what it says on a copy, three times at
 * most. What passes is stored as a proposed fix; nothing is written into the project.
 */
export interface ProposeFixParamsOf {
/**
 * The project's folder; else the workspace's first.
 */
root?: (string | null)
/**
 * pytest's id of the failing test, such as `tests/test_a.py::test_b`.
 */
test: string
/**
 * Test files and folders that are run beside it, to tell suspects apart and to see what a fix breaks; all tests if left out.
 */
tests?: string[]
/**
 * Model, as `provider:name` or `recorded:FILE`; else TRELLIS_MODEL, else `model` in trellis.toml.
 */
model?: (string | null)
/**
 * Model for simple work; else `simple_model` in trellis.toml, else the model.
 */
simpleModel?: (string | null)
/**
 * Model for hard work and for fixes after the second failure; else `strong_model` in trellis.toml.
 */
strongModel?: (string | null)
/**
 * Stop before the model's calls cost more US dollars than this, earlier starts of the run included.
 */
budgetUsd?: (number | null)
/**
 * Stop before the model's calls take more tokens than this, earlier starts of the run included.
 */
budgetTokens?: (number | null)
/**
 * Stop before the model is asked longer than this after the start.
 */
budgetMinutes?: (number | null)
/**
 * Write every reply of the model to this file, as a recording.
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
 * Docker image with Python that the tests' own image is derived from (default: python:3.12-slim).
 */
image?: (string | null)
/**
 * The environment that tests run in: its folder, or its interpreter. A bare interpreter gets an environment made
 * from it. Tests run locally.
 */
interpreter?: (string | null)
allow?: Allowed
/**
 * Answer at once with the id of the job, whose end is told by `trellis/event`.
 */
background?: boolean
}
/**
 * A fix with everything about it.
 */
export interface FixResult2 {
/**
 * Such as `fix-1`.
 */
fix: string
state: State
/**
 * From 1; grows when its texts change.
 */
revision: number
/**
 * RFC 3339.
 */
createdAt: string
/**
 * Why it is put before a person.
 */
reason: string
confidence: ConfidenceShape
test: FailingTest
/**
 * Relative to the root.
 */
paths: string[]
/**
 * Hunks that are left to decide.
 */
hunks: number
/**
 * The node of the run whose draft it is: that tests and writes the files itself. Null for others.
 */
node?: (string | null)
files: FileShape[]
/**
 * All files as a unified diff.
 */
diff: string
/**
 * Tests that passed and that it may break.
 */
affected: string[]
/**
 * Other tests that failed and that it may mend.
 */
failing: string[]
/**
 * What became of it, the oldest first.
 */
history: Step[]
}
/**
 * Decides about a proposed fix. What is accepted is tested on a copy first: the failing test has to pass with it, and no test
 * that passed may fail; else nothing is written and the state is `failed`. A file that has changed since makes the fix
 * `stale` (error kind `stale`), also where the change is unsaved in the editor; `data.remedy` of the error is `rebase` where it
 * can be brought to the new text. Tests that ran for what was written are told by `trellis/event`.
 */
export interface DecideFixParamsOf {
/**
 * The project's folder; else the workspace's first.
 */
root?: (string | null)
/**
 * Its id, such as `fix-1`.
 */
fix: string
decision: Choice2
/**
 * The revision that was looked at; refused with the kind `stale` if it is another by now.
 */
revision?: (number | null)
/**
 * Ids of hunks, for `acceptHunks` and `rejectHunks`.
 */
hunks?: number[]
/**
 * Whole texts in place of those proposed, for `edit` and `rebase`. A byte order mark, and the ends of lines that are the
 * same, stay as they were proposed: editors change them.
 */
files?: EditedFile[]
/**
 * Whether tests are run before anything is written; if not, the history says so.
 */
test?: boolean
/**
 * Why, for the history.
 */
note?: string
sandbox?: Choice
/**
 * Docker image with Python that the tests' own image is derived from (default: python:3.12-slim).
 */
image?: (string | null)
/**
 * The environment that tests run in: its folder, or its interpreter. A bare interpreter gets an environment made
 * from it. Tests run locally.
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
 * Answer at once with the id of the job, whose end is told by `trellis/event`.
 */
background?: boolean
}
/**
 * A text of a person's.
 */
export interface EditedFile {
/**
 * One of the fix's files, relative to the root.
 */
path: string
/**
 * All of it.
 */
text: string
}
/**
 * What came of a decision.
 */
export interface DecideFixResult {
/**
 * Such as `fix-1`.
 */
fix: string
state: State
/**
 * From 1; grows when its texts change.
 */
revision: number
/**
 * RFC 3339.
 */
createdAt: string
/**
 * Why it is put before a person.
 */
reason: string
confidence: ConfidenceShape
test: FailingTest
/**
 * Relative to the root.
 */
paths: string[]
/**
 * Hunks that are left to decide.
 */
hunks: number
/**
 * The node of the run whose draft it is: that tests and writes the files itself. Null for others.
 */
node?: (string | null)
/**
 * Number of the edit that was written; null where nothing was.
 */
edit?: (number | null)
/**
 * Files that were written.
 */
written: string[]
/**
 * With the fix: the failing test, others that failed and that it may mend, and tests that fail with it and not without;
 * empty where none were run.
 */
tests: TriedTest[]
/**
 * Ids of tests that failed and pass with it.
 */
mended: string[]
/**
 * Other fixes that wait and were brought to the new texts: look at them again.
 */
rebased: string[]
/**
 * What else there is to say, as sentences.
 */
notes: string[]
}
/**
 * A test with the change.
 */
export interface TriedTest {
/**
 * pytest's node id.
 */
id: string
/**
 * How it ended, such as `passed` or `failed`; `notRun` where it did not come to it.
 */
outcome: string
/**
 * What it failed with.
 */
message?: (string | null)
}
/**
 * Reports every problem of a planning graph at once.
 */
export interface PlanCheckParamsOf {
/**
 * The planning graph, a JSON file.
 */
graph: string
/**
 * Reads the graph as this, whatever it looks like.
 */
dialect?: (DialectName | null)
}
/**
 * Whether a graph is sound.
 */
export interface PlanCheckResult {
/**
 * The form in which the graph is written.
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
 * In a fixed order; none of a sound graph.
 */
problems: PlanProblem[]
/**
 * What a graph may have and had better not: files that would import one another in a circle.
 */
warnings: string[]
}
/**
 * Something wrong with a graph.
 */
export interface PlanProblem {
/**
 * A word for this sort of problem, such as `duplicate-id`.
 */
kind: string
/**
 * The id of the node to look at first.
 */
node: string
/**
 * What is wrong.
 */
message: string
/**
 * How to mend it.
 */
hint: string
}
/**
 * Gives the order in which the nodes are generated.
 */
export interface PlanOrderParamsOf {
/**
 * The planning graph, a JSON file.
 */
graph: string
/**
 * Reads the graph as this, whatever it looks like.
 */
dialect?: (DialectName | null)
}
/**
 * An order of generation.
 */
export interface PlanOrderResult {
/**
 * Ids of nodes, what is needed before what needs it.
 */
order: string[]
/**
 * In a fixed order; none of a sound graph.
 */
problems: PlanProblem[]
}
/**
 * Shows every node of a planning graph.
 */
export interface PlanShowParamsOf {
/**
 * The planning graph, a JSON file.
 */
graph: string
/**
 * Reads the graph as this, whatever it looks like.
 */
dialect?: (DialectName | null)
}
/**
 * A graph's nodes.
 */
export interface PlanShowResult {
/**
 * The form in which the graph is written.
 */
dialect: string
/**
 * In the order of the file.
 */
nodes: PlanNode[]
/**
 * In a fixed order; none of a sound graph.
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
 * The file it is planned in, relative to the project.
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
 * Shows which nodes of a planning graph, or tasks of a list, can be worked on at once, and the chain that takes longest.
 */
export interface PlanLevelsParamsOf {
/**
 * The planning graph or list of tasks, a JSON file.
 */
graph: string
/**
 * Reads the graph as this, whatever it looks like.
 */
dialect?: (DialectName | null)
}
/**
 * Who can be worked on at once. A task weighs its story points, every other node 1.
 */
export interface PlanLevelsResult {
/**
 * Ids by level, each level by id: what is needed stands in an earlier one.
 */
levels: string[][]
/**
 * Ids of the nodes that take longest one after the other, each needing the one before.
 */
chain: string[]
/**
 * What the chain weighs: no number of workers needs less.
 */
chainWeight: number
/**
 * What all nodes weigh.
 */
weight: number
/**
 * In a fixed order; none of a sound graph.
 */
problems: PlanProblem[]
}
/**
 * Shows the ways through each subgraph that integration tests follow, from where data comes in.
 */
export interface PlanFlowsParamsOf {
/**
 * The planning graph, a JSON file.
 */
graph: string
/**
 * Reads the graph as this, whatever it looks like.
 */
dialect?: (DialectName | null)
along?: Links
/**
 * How many flows of one subgraph; 5 if left out.
 */
top?: number
}
/**
 * Ways through subgraphs.
 */
export interface PlanFlowsResult {
/**
 * By id.
 */
subgraphs: SubgraphFlows[]
}
/**
 * Ways through one subgraph.
 */
export interface SubgraphFlows {
id: string
/**
 * How many nodes of it code is generated for.
 */
nodes: number
/**
 * How many of those some flow goes through.
 */
covered: number
/**
 * Ids of nodes, each feeding the next.
 */
flows: string[][]
}
/**
 * Shows who needs a node and what it needs.
 */
export interface PlanDepsParamsOf {
/**
 * The planning graph, a JSON file.
 */
graph: string
/**
 * Reads the graph as this, whatever it looks like.
 */
dialect?: (DialectName | null)
/**
 * The id of the node.
 */
node: string
/**
 * How far to look; 2 if left out.
 */
hops?: number
/**
 * The folder of the run that says where nodes stand; else that of the graph, if it lies in its `docs`.
 */
status?: (string | null)
}
/**
 * What is around a node.
 */
export interface PlanDepsResult {
/**
 * The id that was asked for.
 */
node: string
/**
 * `pending`, `in_progress`, `passed`, `failed` or `skipped`; null where nothing is known.
 */
status?: (string | null)
/**
 * How far was looked.
 */
hops: number
/**
 * Who needs it, the nearest first.
 */
incoming: ReachedNode[]
/**
 * What it needs, the nearest first.
 */
outgoing: ReachedNode[]
}
/**
 * A node that was reached from another.
 */
export interface ReachedNode {
id: string
/**
 * With the class in front, of a method.
 */
name: string
/**
 * The least number of hops from the node asked for, from 1.
 */
hops: number
/**
 * The id of the node it was reached from.
 */
from: string
/**
 * Why one of the two needs the other: `dependency` or `data_flow`.
 */
role: string
/**
 * `pending`, `in_progress`, `passed`, `failed` or `skipped`; null where nothing is known.
 */
status?: (string | null)
}
/**
 * Finds nodes by a name, however it is written, or by what they do, in any words.
 */
export interface PlanSearchParamsOf {
/**
 * The planning graph, a JSON file.
 */
graph: string
/**
 * Reads the graph as this, whatever it looks like.
 */
dialect?: (DialectName | null)
/**
 * What is looked for: a name, a description, an error message.
 */
query: string
/**
 * How many nodes to show; those as good as the last one are shown too. 5 if left out.
 */
top?: number
/**
 * Only nodes of this subgraph.
 */
subgraph?: (string | null)
/**
 * Whose vectors say what texts mean: `builtin`, `openai:MODEL` or `ollama:MODEL`; built-in ones if left out.
 */
embeddings?: string
by?: By
}
/**
 * Nodes that fit a query.
 */
export interface PlanSearchResult {
query: string
/**
 * The best first.
 */
results: FoundNode[]
/**
 * How long it took; absent where it was not measured.
 */
milliseconds?: (number | null)
}
/**
 * A node that fits a query.
 */
export interface FoundNode {
id: string
/**
 * With the class in front, of a method.
 */
name: string
/**
 * How well it fits; more is better.
 */
score: number
/**
 * The matched words as they stand, each once, those of the name first.
 */
matched: string[]
/**
 * The file it is planned in, relative to the project.
 */
path?: (string | null)
subgraph?: (string | null)
}
/**
 * Shows where every node of a grown repository stands.
 */
export interface StatusParamsOf {
/**
 * The output folder of the run.
 */
out: string
}
/**
 * Where the nodes of a run stand.
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
 * Those that passed, failed or were skipped.
 */
completed: number
/**
 * How many of a hundred these are.
 */
percent: number
/**
 * Ids of nodes being worked on.
 */
current: string[]
/**
 * Ids of nodes that failed.
 */
failed: string[]
/**
 * Ids of nodes that were skipped, mostly since a dependency failed.
 */
blocked: string[]
/**
 * By id, as the run's checkpoint has them.
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
 * Percent of its statements that the whole suite's tests executed.
 */
coverage?: (number | null)
/**
 * pytest's ids of its tests, classes of them among these, as they stand in the files.
 */
tests?: string[]
/**
 * Tests that failed once and passed unchanged.
 */
flaky?: string[]
/**
 * What was asked for it and what that cost; absent where no model counts tokens.
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
 * What a node's questions cost, of the attempt that ended.
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
 * Tells how far a list of tasks is that is made into a repository, or was.
 */
export interface TasksStatusParamsOf {
/**
 * The folder of the repository.
 */
out: string
}
/**
 * How far a list of tasks is. A task that stands in none of the lists waits for its turn.
 */
export interface TasksStatusResult {
/**
 * `PENDING`, `SCAFFOLDING`, `GENERATING`, `INTEGRATING`, `COMPLETE` or `FAILED`; as last seen where nobody is at work.
 */
status: string
/**
 * Why it is `FAILED`.
 */
reason?: (string | null)
/**
 * Whether a process is at work in the folder.
 */
running: boolean
/**
 * Share of the tasks that are merged, in percent.
 */
progress: number
totalTasks: number
/**
 * Merged, by id.
 */
completedTasks: string[]
/**
 * Under way, or waiting for their merge, by id; none where nobody is at work: they will begin anew.
 */
currentTasks: string[]
/**
 * Why they came to nothing, by id.
 */
failedTasks: {
[k: string]: string
}
/**
 * Those that wait for one that failed, by id, with the reason.
 */
blockedTasks: {
[k: string]: string
}
/**
 * The list of tasks, absolute.
 */
file: string
/**
 * The tech stack.
 */
stack: string
}
/**
 * Gives the generation report of a grown repository.
 */
export interface ReportParamsOf {
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
 * Takes a grown repository back to the last subgraph that passed as a whole.
 */
export interface RollbackParamsOf {
/**
 * The output folder of the run.
 */
out: string
/**
 * Go back to this subgraph instead of the last one.
 */
to?: (string | null)
}
/**
 * What was taken back.
 */
export interface RollbackResult {
/**
 * The subgraph that the repository is at.
 */
to: string
/**
 * Its tag in git.
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
 * Shows a file, or what was generated for a node: the source, or signatures with the first line of each docstring.
 */
export interface CodeViewParamsOf {
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
 * The planning graph that knows the node; else `docs/rpg.json` below the root, if it is there.
 */
plan?: (string | null)
/**
 * The project's folder; else the current one.
 */
root?: (string | null)
}
/**
 * Code that was looked at.
 */
export interface CodeViewResult {
/**
 * Below the root, unless a file outside was named.
 */
path: string
/**
 * Whether it is there.
 */
generated: boolean
/**
 * Classes, functions and methods; none where nothing is there.
 */
symbols: CodeSymbol[]
/**
 * The id of the node; absent where none was named.
 */
node?: (string | null)
/**
 * `pending`, `in_progress`, `passed`, `failed` or `skipped`, null where nothing is known; absent without a node.
 */
status?: (string | null)
/**
 * The file that a run puts the node's tests in, there or not; absent where no leaf was named.
 */
testPath?: (string | null)
/**
 * The text; absent where only signatures were asked for or nothing is there.
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
 * The first line of its docstring, null without one.
 */
preview?: (string | null)
}
/**
 * Lists the tech stacks that a project can be made of: those of Trellis, the user's and the project's.
 */
export interface ListStacksParamsOf {
/**
 * Where the project's own stacks are looked for, upwards; the first folder of the workspace if left out.
 */
root?: (string | null)
}
/**
 * Tech stacks by name.
 */
export interface StackList {
stacks: StackEntry[]
}
/**
 * One tech stack.
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
 * How its tests are run: one program with its arguments.
 */
testCommand: string
/**
 * The file it comes from; null if it is one of Trellis.
 */
file?: (string | null)
}
/**
 * Shows a tech stack with all its files.
 */
export interface ShowStackParamsOf {
/**
 * The name of the stack.
 */
stack: string
/**
 * Where the project's own stacks are looked for, upwards; the first folder of the workspace if left out.
 */
root?: (string | null)
}
/**
 * A tech stack in full.
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
 * Where code goes, relative to the project's root.
 */
srcDir: string
/**
 * Where tests go, relative to the project's root.
 */
testDir: string
/**
 * How its tests are run: one program with its arguments.
 */
testCommand: string
install: Installer
/**
 * Texts by path; `{{project_name}}` stands for the project's name.
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
 * How code is written in such a project.
 */
conventions: string
/**
 * The file it comes from; null if it is one of Trellis.
 */
file?: (string | null)
}
/**
 * Makes a new project of a tech stack in a folder that is empty or not there. Nothing is installed.
 */
export interface NewProjectParamsOf {
/**
 * The name of the stack.
 */
stack: string
/**
 * The folder of the project.
 */
out: string
/**
 * The name of the project, of lower-case letters, digits and `-`; that of the folder if left out.
 */
projectName?: (string | null)
/**
 * Where the project's own stacks are looked for, upwards; the first folder of the workspace if left out.
 */
root?: (string | null)
}
/**
 * A project that was made.
 */
export interface NewProject {
stack: string
projectName: string
/**
 * Its folder.
 */
out: string
/**
 * Paths of what was written, relative to the folder.
 */
files: string[]
/**
 * How its tests are run, once its packages are installed.
 */
testCommand: string
}
/**
 * Installs the packages that a project's package.json, requirements.txt, pyproject.toml and go.mod ask for, over the
 * network; nothing of the project is executed, and scripts of npm packages are not.
 */
export interface InstallPackagesParamsOf {
/**
 * The folder of the project; the first folder of the workspace if left out.
 */
root?: (string | null)
/**
 * Answer at once with the id of the job, whose end is told by `trellis/event`.
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
 * The file that holds their versions, relative to the project's root: to be kept with the sources.
 */
lockFile?: (string | null)
/**
 * The interpreter that has the packages, of pip.
 */
interpreter?: (string | null)
}
/**
 * Finds definitions by name or name path.
 */
export interface FindSymbolParamsOf {
/**
 * `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second of that name.
 */
namePath: string
/**
 * Folder or file to look in; else the current folder.
 */
root?: (string | null)
/**
 * The last part may be any part of the symbol's name.
 */
substring?: boolean
/**
 * Only symbols of these kinds; of any if empty.
 */
kinds?: Kind[]
/**
 * Whether results hold the definitions' text.
 */
body?: boolean
/**
 * How many levels of what is in the definitions results hold; 0 if left out.
 */
depth?: number
}
/**
 * Definitions that were looked for.
 */
export interface FindSymbolResult {
/**
 * By file, in the order of the text.
 */
symbols: Found[]
}
/**
 * A definition that was looked for.
 */
export interface Found {
name: string
/**
 * `Class/name`, `name[1]` for the second of that name in its scope.
 */
namePath: string
/**
 * `class`, `function`, `method`, `property`, `variable` or `attribute`.
 */
kind: string
range: Stretch
nameRange: Stretch
/**
 * From `async`, `def` or `class` to before the colon; null for names that are only bound.
 */
signature?: (string | null)
/**
 * Relative to the folder asked about.
 */
file: string
/**
 * The string literal that documents it, quotes included; null without one.
 */
docstring?: (string | null)
/**
 * Each with its `@`.
 */
decorators: string[]
/**
 * The line of its name, without its margin.
 */
preview: string
/**
 * Its text, null where it was not asked for.
 */
body?: (string | null)
/**
 * What is right below it; absent where no level was asked for.
 */
children?: (Definition[] | null)
}
/**
 * A stretch of a text, up to but without its end.
 */
export interface Stretch {
start: Point
end: Point
}
/**
 * A point of a text.
 */
export interface Point {
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
 * A definition, and what is in it.
 */
export interface Definition {
name: string
/**
 * `Class/name`, `name[1]` for the second of that name in its scope.
 */
namePath: string
/**
 * `class`, `function`, `method`, `property`, `variable` or `attribute`.
 */
kind: string
range: Stretch
nameRange: Stretch
/**
 * From `async`, `def` or `class` to before the colon; null for names that are only bound.
 */
signature?: (string | null)
/**
 * What is right below it, down to the levels asked for.
 */
children: Definition[]
}
/**
 * Lists every reference of a symbol: uses, imports, exports, its definition.
 */
export interface FindReferencingSymbolsParamsOf {
/**
 * `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second of that name.
 */
namePath?: (string | null)
/**
 * A place where the symbol is named, instead of its name path.
 */
at?: (At | null)
/**
 * Folder to look in; else the current folder.
 */
root?: (string | null)
/**
 * A type checker to ask, too: results say which of the possible references it confirms. It has to be installed.
 */
confirm?: (Checker | null)
}
/**
 * A place where a symbol is named.
 */
export interface At {
/**
 * Relative to the folder asked about.
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
 * In the order of paths and places.
 */
references: Reference[]
/**
 * Whether there are surely no others.
 */
complete: boolean
/**
 * Why there may be others, as sentences.
 */
reasons: string[]
}
/**
 * A place that refers to a symbol, or may.
 */
export interface Reference {
/**
 * Relative to the folder asked about.
 */
file: string
range: Stretch
/**
 * The text of the line around, without its margin.
 */
line: string
/**
 * Name path of the innermost class or function around, null in none.
 */
enclosing?: (string | null)
/**
 * What stands there, such as `definition`, `import` or `use`.
 */
kind: string
/**
 * Whether it surely refers to the symbol.
 */
certain: boolean
/**
 * Why it is merely possible, null where it is certain.
 */
why?: (string | null)
/**
 * The type checker that found a possible one as well, null if it did not; absent where none was asked.
 */
confirmedBy?: (string | null)
}
/**
 * Lists from where a symbol is used, by the functions and classes around the uses.
 */
export interface FindCallersParamsOf {
/**
 * `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second of that name.
 */
namePath?: (string | null)
/**
 * A place where the symbol is named, instead of its name path.
 */
at?: (At | null)
/**
 * Folder to look in; else the current folder.
 */
root?: (string | null)
}
/**
 * Who uses a symbol.
 */
export interface FindCallersResult {
/**
 * In the order of paths and places.
 */
callers: User[]
/**
 * Whether there are surely no others.
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
export interface User {
/**
 * Relative to the folder asked about.
 */
file: string
/**
 * Its name path, null for the module itself.
 */
symbol?: (string | null)
/**
 * What it is, null for the module itself.
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
range: Stretch
/**
 * The text of the line around, without its margin.
 */
line: string
/**
 * Whether it surely refers to the symbol.
 */
certain: boolean
/**
 * Why it is merely possible, null where it is certain.
 */
why?: (string | null)
}
/**
 * Says where the symbol at a place is defined.
 */
export interface FindDefinitionParamsOf {
at: At
/**
 * Folder to look in; else the current folder.
 */
root?: (string | null)
}
/**
 * Where a symbol is defined.
 */
export interface FindDefinitionResult {
/**
 * Where its definitions name it; none of what no file of the folder defines.
 */
definitions: Place[]
}
/**
 * A place in a file.
 */
export interface Place {
/**
 * Relative to the folder asked about.
 */
file: string
range: Stretch
/**
 * The text of the line around, without its margin.
 */
line: string
/**
 * Name path of the innermost class or function around, null in none.
 */
enclosing?: (string | null)
}
/**
 * Lists functions, classes and methods that nothing uses outside their own text.
 */
export interface FindUnusedParamsOf {
/**
 * Folder to look in; else the current folder.
 */
root?: (string | null)
}
/**
 * What nothing uses.
 */
export interface FindUnusedResult {
/**
 * By file, in the order of the text.
 */
unused: UnusedSymbol[]
/**
 * What is not listed though nothing may use it, and what is though something may, as sentences.
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
 * Why something may be used after all, as sentences.
 */
reasons: string[]
}
/**
 * A definition that nothing uses.
 */
export interface UnusedSymbol {
name: string
/**
 * `Class/name`, `name[1]` for the second of that name in its scope.
 */
namePath: string
/**
 * `class`, `function`, `method` or `property`.
 */
kind: string
range: Stretch
nameRange: Stretch
/**
 * From `async`, `def` or `class` to before the colon.
 */
signature?: (string | null)
/**
 * Relative to the folder asked about.
 */
file: string
/**
 * `FILE:LINE:COLUMN`.
 */
place: string
/**
 * An object of unknown type is asked for that name somewhere.
 */
possiblyUsed: boolean
}
/**
 * Checks the planned dependencies of a graph against what the code really uses.
 */
export interface CheckPlannedParamsOf {
/**
 * The planning graph, a JSON file.
 */
graph: string
/**
 * Folder with the code; else the current folder.
 */
root?: (string | null)
/**
 * Reads the graph as this, whatever it looks like.
 */
dialect?: (DialectName | null)
}
/**
 * A planning graph beside the code.
 */
export interface CheckPlannedResult {
/**
 * Which part of the planned dependencies is real, 0 to 1; null where nothing could be checked.
 */
confirmedShare?: (number | null)
/**
 * How many dependencies were checked.
 */
planned: number
/**
 * Planned and real.
 */
confirmed: Dependency[]
/**
 * Planned, not found in the code.
 */
missing: MissingDependency[]
/**
 * In the code, not planned.
 */
unplanned: UnplannedDependency[]
/**
 * Ids of nodes that nothing but tests uses, entry points among them.
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
 * How many planned dependencies cannot be checked, since an end of them is no definition.
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
 * One node needs another.
 */
export interface Dependency {
/**
 * Id of the node that needs.
 */
from: string
/**
 * Id of the node that is needed.
 */
to: string
}
/**
 * A planned dependency that is not in the code.
 */
export interface MissingDependency {
/**
 * Id of the node that needs.
 */
from: string
/**
 * Id of the node that is needed.
 */
to: string
/**
 * A use of unknown type may be it.
 */
possible: boolean
}
/**
 * A dependency in the code that is not planned.
 */
export interface UnplannedDependency {
/**
 * Id of the node that uses.
 */
from: string
/**
 * Id of the node that is used.
 */
to: string
/**
 * Where the first use is, relative to the folder.
 */
file: string
/**
 * Its line, from 1.
 */
line: number
}
/**
 * A node that is elsewhere.
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
export interface DocumentSymbolsParamsOf {
/**
 * The file; one with syntax errors is shown as far as it can be understood.
 */
file: string
/**
 * Only so many levels, from 1; all if left out.
 */
depth?: (number | null)
}
/**
 * What a file defines.
 */
export interface DocumentSymbolsResult {
/**
 * As it was asked for.
 */
file: string
/**
 * What is in no other definition, in the order of the text.
 */
symbols: Definition[]
/**
 * Where the file is no Python, as sentences.
 */
errors: string[]
}
/**
 * Replaces a symbol's body, or all of it with a text that brings its own `def` or `class`. Decorators stay unless the
 * text has some; the docstring is part of the body.
 */
export interface ReplaceSymbolBodyParamsOf {
/**
 * `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second of that name.
 */
namePath: string
/**
 * The new text.
 */
text: string
/**
 * The file, relative to the root; else the root is looked through for the one symbol of that name path.
 */
path?: (string | null)
/**
 * The folder; else the current one.
 */
root?: (string | null)
/**
 * Whether only to show what would change.
 */
dryRun?: boolean
}
/**
 * What was changed, or would be.
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
 * The number by which it is taken back; null if nothing was changed.
 */
undo?: (number | null)
/**
 * What there is to know beside, such as how like the search the text was that was found; as sentences.
 */
notes: string[]
}
/**
 * One edit of a file.
 */
export interface FileEdit {
file: string
range: Stretch
/**
 * What stands there afterwards.
 */
text: string
}
/**
 * Inserts statements above a symbol, its decorators and comments.
 */
export interface InsertBeforeSymbolParamsOf {
/**
 * `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second of that name.
 */
namePath: string
/**
 * The statements.
 */
text: string
/**
 * The file, relative to the root; else the root is looked through for the one symbol of that name path.
 */
path?: (string | null)
/**
 * The folder; else the current one.
 */
root?: (string | null)
/**
 * Whether only to show what would change.
 */
dryRun?: boolean
}
/**
 * Inserts statements below a symbol.
 */
export interface InsertAfterSymbolParamsOf {
/**
 * `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second of that name.
 */
namePath: string
/**
 * The statements.
 */
text: string
/**
 * Inserts at the end of the class instead; `pass` gives way.
 */
inside?: boolean
/**
 * The file, relative to the root; else the root is looked through for the one symbol of that name path.
 */
path?: (string | null)
/**
 * The folder; else the current one.
 */
root?: (string | null)
/**
 * Whether only to show what would change.
 */
dryRun?: boolean
}
/**
 * Replaces text of a file: exact, then with other white space, then the most similar lines (0.8 at least).
 */
export interface ReplaceTextParamsOf {
/**
 * The file, relative to the root.
 */
path: string
/**
 * What is there.
 */
search: string
/**
 * What is to be there.
 */
replace: string
/**
 * Which match, from 1; 0 for all. Without it there must be only one.
 */
occurrence?: (number | null)
/**
 * The folder; else the current one.
 */
root?: (string | null)
/**
 * Whether only to show what would change.
 */
dryRun?: boolean
}
/**
 * Renames a symbol with all its references, imports and exports: every file or none. Refused when a name would come to
 * mean something else; what may mean the symbol, of which nobody can be sure, is not changed but listed.
 */
export interface RenameSymbolParamsOf {
/**
 * `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second of that name.
 */
namePath?: (string | null)
/**
 * A place where the symbol is named, instead of its name path.
 */
at?: (At | null)
/**
 * The new name.
 */
newName: string
/**
 * The one file in which the name path counts, relative to the root.
 */
path?: (string | null)
/**
 * Folder to look in; else the project of the file, or the current folder.
 */
root?: (string | null)
/**
 * Whether only to show what would change.
 */
dryRun?: boolean
}
/**
 * What a rename changed, or would.
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
 * The number by which it is taken back; null if nothing was changed.
 */
undo?: (number | null)
/**
 * Places that may mean the symbol and are not changed.
 */
possible: Possible[]
/**
 * Whether there are surely no other places.
 */
complete: boolean
/**
 * Why there may be others, as sentences.
 */
reasons: string[]
}
/**
 * Where a file gets the new name.
 */
export interface RenamedFile {
/**
 * Relative to the folder asked about.
 */
file: string
/**
 * In the text before, in its order.
 */
places: Stretch[]
}
/**
 * A place that may mean a symbol.
 */
export interface Possible {
/**
 * Relative to the folder asked about.
 */
file: string
range: Stretch
/**
 * The text of the line around, without its margin.
 */
line: string
/**
 * Name path of the innermost class or function around, null in none.
 */
enclosing?: (string | null)
/**
 * Why it is merely possible.
 */
why: string
}
/**
 * Deletes a symbol that nothing uses. Refused, with every use listed, when something does or may do: imports and
 * `__all__` count as well.
 */
export interface SafeDeleteSymbolParamsOf {
/**
 * `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second of that name.
 */
namePath?: (string | null)
/**
 * A place where the symbol is named, instead of its name path.
 */
at?: (At | null)
/**
 * Deletes it even so; what breaks is listed.
 */
force?: boolean
/**
 * The one file in which the name path counts, relative to the root.
 */
path?: (string | null)
/**
 * Folder to look in; else the project of the file, or the current folder.
 */
root?: (string | null)
/**
 * Whether only to show what would change.
 */
dryRun?: boolean
}
/**
 * What was deleted, or would be; nothing where it is still used.
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
 * The number by which it is taken back; null if nothing was changed.
 */
undo?: (number | null)
/**
 * Who uses it, or may.
 */
references: Reference[]
/**
 * Whether there are surely no other uses.
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
 * Relative to the folder asked about.
 */
file: string
/**
 * `Class/name`, `name[1]` for the second of that name in its scope.
 */
namePath: string
}
/**
 * Takes back an edit that one of these methods made; refused if its files were changed since.
 */
export interface UndoEditParamsOf {
/**
 * Number of the edit; without one, the last that was not undone.
 */
id?: (number | null)
/**
 * A file or folder of the project that was edited; else the current folder.
 */
root?: (string | null)
}
/**
 * List the functions and methods of a Python file; one that is broken answers as far as it can be understood.
 */
export interface ParseFileParamsOf {
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
 * In the order of the text; those of classes and inside of functions too.
 */
functions: ParsedFunction[]
/**
 * Where the text is no Python; empty for a sound file.
 */
errors: SyntaxProblem[]
}
/**
 * A function or method as it is written.
 */
export interface ParsedFunction {
/**
 * The file it is in, as it was given.
 */
filePath: string
/**
 * Its own name.
 */
name: string
/**
 * The name path that means it alone: `/Cart/total`, `/f[1]`.
 */
namePath: string
/**
 * From `async` or `def` to before the colon.
 */
signature: string
/**
 * Without quotes and margin; null without one.
 */
docstring?: (string | null)
/**
 * The lines of its body as they are written; null inside of another function, whose body has them.
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
 * Inside of another function: nobody outside can call it, and no tests can be written for it.
 */
isNested: boolean
/**
 * Of a method: its class, with the classes around that: `Cart.Line`.
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
 * A place that is no Python.
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
 * Say whether a text is a Python module.
 */
export interface ValidateSyntaxParamsOf {
/**
 * The whole module.
 */
code: string
}
/**
 * Whether a text is Python, and where it is not.
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
 * Runs a project's tests in the sandbox.
 */
export interface RunTestsParamsOf {
/**
 * A test file, folder or id such as `tests/test_a.py::test_b`, relative to the root.
 */
testPath?: (string | null)
/**
 * More of them. Without any, all tests of the root's project are run.
 */
paths?: string[]
/**
 * The folder; else the current one. The project is the one that the tests belong to.
 */
root?: (string | null)
sandbox?: Choice
/**
 * Docker image with Python that the tests' own image is derived from (default: python:3.12-slim).
 */
image?: (string | null)
/**
 * The environment that tests run in: its folder, or its interpreter. A bare interpreter gets an environment made
 * from it. Tests run locally.
 */
interpreter?: (string | null)
allow?: Allowed
/**
 * What runs the tests; found out from the project's files if left out.
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
 * Whether to start a fresh interpreter, instead of forking a warm one.
 */
cold?: boolean
/**
 * Options for pytest, such as `-k` and a name.
 */
arguments?: string[]
/**
 * Answer at once with the id of the job, whose end is told by `trellis/event`.
 */
background?: boolean
}
/**
 * What a run of tests came to.
 */
export interface RunTestsResult {
/**
 * The folder of the project.
 */
root: string
/**
 * The interpreter that they ran with; null in a container.
 */
interpreter?: (string | null)
/**
 * `passed`, `failed`, `collectionError`, `noTests`, `timedOut`, `killedForMemory`, `crashed`, `tampered`,
 * `sandboxLost`, `sandboxUnavailable` or `cancelled`.
 */
outcome: string
/**
 * The framework left no records that could be used, and all this is gathered from text.
 */
parsingFailed: boolean
/**
 * Why, where the outcome alone does not say it.
 */
reason?: (string | null)
/**
 * In the order they ran.
 */
tests: TestShape[]
/**
 * Ids that were collected but have no result.
 */
notRun: string[]
/**
 * Ids that were found and left out by the project's options, a plugin or a hook.
 */
deselected: string[]
/**
 * What else happened, as sentences.
 */
notes: string[]
/**
 * What could not be imported or found.
 */
collectionErrors: FailureShape[]
/**
 * What was held to, and what could not be.
 */
limits: Limit[]
/**
 * Wall time.
 */
durationMs: number
/**
 * Lines executed, by path; null where they were not asked for or cannot be had.
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
 * pytest's node id, relative to the project; that of other frameworks in the same manner.
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
 * What it wrote to standard error, cut likewise.
 */
stderr: string
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
 * The file that could not be collected for it, relative to the project; null for the failure of a test.
 */
collecting?: (string | null)
/**
 * As the framework shows it.
 */
traceback: string
/**
 * Both sides of the comparison that failed, if that is what it was.
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
 * The left side: by custom the actual value.
 */
actual: string
/**
 * The right side: by custom the expected value.
 */
expected: string
}
/**
 * Whether one bound holds.
 */
export interface Limit {
/**
 * What is bounded, such as `memory`.
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
 * Write tests for one function by a model, run them, and say which pass; those that fail are kept, since they may have
 * found a bug.
 */
export interface GenerateTestsParamsOf {
function: FunctionRef
/**
 * The project's root; else found from the file.
 */
projectRoot?: (string | null)
/**
 * Else the one the project's files show.
 */
framework?: (TestFramework | null)
/**
 * Folder for generated tests, below the root; else `tests_dir` in trellis.toml, else `trellis_tests`.
 */
testsDir?: (string | null)
/**
 * Only show what would be written.
 */
preview?: boolean
/**
 * Replace generated tests that were edited since, too.
 */
replaceEdited?: boolean
/**
 * Model, as `provider:name` or `recorded:FILE`; else TRELLIS_MODEL, else `model` in trellis.toml.
 */
model?: (string | null)
/**
 * Model for simple work; else `simple_model` in trellis.toml, else the model.
 */
simpleModel?: (string | null)
/**
 * Model for hard work and for fixes after the second failure; else `strong_model` in trellis.toml.
 */
strongModel?: (string | null)
/**
 * Stop before the model's calls cost more US dollars than this, earlier starts of the run included.
 */
budgetUsd?: (number | null)
/**
 * Stop before the model's calls take more tokens than this, earlier starts of the run included.
 */
budgetTokens?: (number | null)
/**
 * Stop before the model is asked longer than this after the start.
 */
budgetMinutes?: (number | null)
/**
 * Write every reply of the model to this file, as a recording.
 */
record?: (string | null)
/**
 * Wait as long as the recorded model did.
 */
replayLatency?: boolean
sandbox?: Choice
/**
 * Docker image with Python that the tests' own image is derived from (default: python:3.12-slim).
 */
image?: (string | null)
/**
 * The environment that tests run in: its folder, or its interpreter. A bare interpreter gets an environment made
 * from it. Tests run locally.
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
 * Answer at once with the id of the job, whose end is told by `trellis/event`.
 */
background?: boolean
}
/**
 * Which function is meant. A function of `parseFile` will do: what else it says is passed over.
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
 * Its name path; goes before the name.
 */
namePath?: (string | null)
/**
 * The class of a method, where only its own name is given.
 */
className?: (string | null)
}
/**
 * Generated tests, and how they ran.
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
 * What changes in the test file, as a unified diff.
 */
diff: string
/**
 * The function's tests: `test_a`, `TestCart::test_b`; behind the path and `::` they are ids.
 */
testNames: string[]
framework: TestFramework
/**
 * The model asked.
 */
model: string
/**
 * What a person should know, as sentences.
 */
warnings: string[]
/**
 * How the run of these tests ended: `passed`, `failed`, `collectionError`, `timedOut`, …
 */
outcome: string
/**
 * Why, where the outcome alone does not say it.
 */
reason?: (string | null)
/**
 * Each of them.
 */
tests: GeneratedTest[]
/**
 * What kept them from being collected.
 */
errors: TestFailure[]
/**
 * Whether anything was written.
 */
written: boolean
/**
 * The file of settings whose `testpaths` leave the test file out, so that plain `pytest` does not run it; `addTestPath`
 * adds its folder.
 */
leftOutBy?: (string | null)
}
/**
 * How one test ran.
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
 * Its text: of an assertion, what was expected and found.
 */
message: string
/**
 * Where, below the root.
 */
path?: (string | null)
/**
 * From 1.
 */
line?: (number | null)
/**
 * As pytest shows it.
 */
traceback: string
}
/**
 * Ranks the functions and lines that may be why tests fail.
 */
export interface LocalizeParamsOf {
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
 * Docker image with Python that the tests' own image is derived from (default: python:3.12-slim).
 */
image?: (string | null)
/**
 * The environment that tests run in: its folder, or its interpreter. A bare interpreter gets an environment made
 * from it. Tests run locally.
 */
interpreter?: (string | null)
allow?: Allowed
/**
 * Answer at once with the id of the job, whose end is told by `trellis/event`.
 */
background?: boolean
}
/**
 * What may be wrong.
 */
export interface LocalizeResult {
/**
 * What the failures mean, where no opinion is needed for it.
 */
diagnosis?: (DiagnosisShape2 | null)
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
failures: FailingTest2[]
/**
 * What was held to, and what could not be.
 */
limits: Limit[]
/**
 * What else happened, as sentences.
 */
notes: string[]
}
/**
 * What failures mean.
 */
export interface DiagnosisShape2 {
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
 * A function that may be wrong, or a module's top level.
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
}
/**
 * What a score is made of, each between 0 and 1.
 */
export interface ScoreParts {
/**
 * Ochiai over the tests.
 */
spectrum: number
/**
 * Frames of failing tests.
 */
traceback: number
/**
 * 1 for what a failing test calls itself, less for what that calls.
 */
distance: number
/**
 * 1 for what is not committed yet, less for what is older.
 */
recency: number
/**
 * What its text says.
 */
text: number
/**
 * What trials say; 0 without any.
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
}
/**
 * A line that may be wrong.
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
}
/**
 * A test that fails.
 */
export interface FailingTest2 {
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
 * Makes ready the environment that a project's tests run in on this machine, and says where it is: for a debugger, which has
 * to start the tests itself.
 */
export interface EnvironmentParamsOf {
/**
 * The project; else the first folder of the workspace.
 */
root?: (string | null)
/**
 * The environment to use: its folder, or its interpreter. Else the one that is activated, the project's own, or one made from
 * its requirements.
 */
interpreter?: (string | null)
/**
 * Answer at once with the id of the job, whose end is told by `trellis/event`.
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
 * A folder of packages that have to be found after its own: pytest, where the environment has none.
 */
packages?: (string | null)
}
/**
 * Shows what this machine offers for running tests, and what would be enforced.
 */
export interface DoctorParamsOf {
/**
 * The project whose environment is looked at; else the current folder.
 */
root?: (string | null)
}
/**
 * What a machine offers.
 */
export interface DoctorResult {
tools: ToolFound[]
/**
 * What local sandboxes are bound to; null where there can be none.
 */
localLimits?: (Limit[] | null)
/**
 * Why there can be no local sandbox.
 */
localError?: (string | null)
}
/**
 * One thing that was looked for.
 */
export interface ToolFound {
name: string
/**
 * Whether it is there and works.
 */
ok: boolean
/**
 * What it is, or why it is not there.
 */
detail: string
/**
 * What is lost without it; null if it is there.
 */
cost?: (string | null)
}
/**
 * List the functions that tests were generated for, with their tests and how these last ran.
 */
export interface ListTestsParamsOf {
/**
 * The project; else the first folder of the workspace.
 */
root?: (string | null)
}
/**
 * Functions with generated tests.
 */
export interface TestList {
functions: TestedFunction[]
/**
 * What is wrong with the registry, as sentences.
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
 * `passed` or `failed`; none before they ran.
 */
lastStatus?: (string | null)
/**
 * RFC 3339.
 */
lastRunAt?: (string | null)
}
/**
 * Add the folder of a test file to `testpaths` in the project's settings, so that plain `pytest` runs it. `undoEdit` takes
 * it back.
 */
export interface AddTestPathParamsOf {
/**
 * The project; else the first folder of the workspace.
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
 * The file of settings, relative to the root.
 */
file: string
/**
 * What was added to its `testpaths`; null where they hold the test file already.
 */
folder?: (string | null)
/**
 * Number of the edit; null where nothing was written.
 */
edit?: (number | null)
}
/**
 * A test that another process has run.
 */
export interface ForeignTest {
id: string
/**
 * `passed`, `failed` or `skipped`.
 */
outcome: string
/**
 * When the texts were read that it ran with, in milliseconds of Unix time.
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
 * Start or resume the growing of a repository from a planning graph, as a job. Without `graph` the earlier run in
 * `out` goes on with the options it was started with; what is given beside wins.
 */
export interface Generate {
/**
 * The planning graph, RPG JSON; needed for a first run.
 */
graph?: (string | null)
/**
 * Folder to grow the repository in.
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
 * Start at this node; what comes before it must have passed or is skipped.
 */
startFromNode?: (string | null)
/**
 * Files the model is shown as project context.
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
 * Opinions on what a failure means, 1 to 15, all at once; one, and others while it is not clear, if not given.
 */
votes?: (number | null)
/**
 * Which fixes a person has to see before they stay: `autonomous` (none), `supervised` (all) or `threshold` (those
 * after the second, of little confidence, or of critical files). Default `autonomous`.
 */
approve?: (string | null)
/**
 * Seconds one test may take, from 1. Default 30.
 */
testTimeout?: (number | null)
/**
 * Build on files that were changed by hand, instead of stopping.
 */
keepEdits?: (boolean | null)
/**
 * Remove what was grown for nodes that are not in the graph any more, instead of stopping.
 */
dropRemoved?: (boolean | null)
/**
 * Model, as `provider:name` or `recorded:FILE`; else TRELLIS_MODEL, else `model` in trellis.toml.
 */
model?: (string | null)
/**
 * Model for simple work; else `simple_model` in trellis.toml, else the model.
 */
simpleModel?: (string | null)
/**
 * Model for hard work and for fixes after the second failure; else `strong_model` in trellis.toml.
 */
strongModel?: (string | null)
/**
 * Stop before the model's calls cost more US dollars than this, earlier starts of the run included.
 */
budgetUsd?: (number | null)
/**
 * Stop before the model's calls take more tokens than this, earlier starts of the run included.
 */
budgetTokens?: (number | null)
/**
 * Stop before the model is asked longer than this after the start.
 */
budgetMinutes?: (number | null)
/**
 * Write every reply of the model to this file, as a recording.
 */
record?: (string | null)
/**
 * Wait as long as the recorded model did.
 */
replayLatency?: boolean
sandbox?: Choice
/**
 * Docker image with Python that the tests' own image is derived from (default: python:3.12-slim).
 */
image?: (string | null)
/**
 * The environment that tests run in: its folder, or its interpreter. A bare interpreter gets an environment made
 * from it. Tests run locally.
 */
interpreter?: (string | null)
allow?: Allowed
}
/**
 * Work again on one node that failed or was skipped, and on what waits for it, as a job; everything else stays as
 * it is. Options as those of `generate`; the graph is that of the earlier run unless another is given.
 */
export interface RetryNode {
/**
 * Id of the node.
 */
node: string
/**
 * The planning graph, RPG JSON; needed for a first run.
 */
graph?: (string | null)
/**
 * Folder to grow the repository in.
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
 * Start at this node; what comes before it must have passed or is skipped.
 */
startFromNode?: (string | null)
/**
 * Files the model is shown as project context.
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
 * Opinions on what a failure means, 1 to 15, all at once; one, and others while it is not clear, if not given.
 */
votes?: (number | null)
/**
 * Which fixes a person has to see before they stay: `autonomous` (none), `supervised` (all) or `threshold` (those
 * after the second, of little confidence, or of critical files). Default `autonomous`.
 */
approve?: (string | null)
/**
 * Seconds one test may take, from 1. Default 30.
 */
testTimeout?: (number | null)
/**
 * Build on files that were changed by hand, instead of stopping.
 */
keepEdits?: (boolean | null)
/**
 * Remove what was grown for nodes that are not in the graph any more, instead of stopping.
 */
dropRemoved?: (boolean | null)
/**
 * Model, as `provider:name` or `recorded:FILE`; else TRELLIS_MODEL, else `model` in trellis.toml.
 */
model?: (string | null)
/**
 * Model for simple work; else `simple_model` in trellis.toml, else the model.
 */
simpleModel?: (string | null)
/**
 * Model for hard work and for fixes after the second failure; else `strong_model` in trellis.toml.
 */
strongModel?: (string | null)
/**
 * Stop before the model's calls cost more US dollars than this, earlier starts of the run included.
 */
budgetUsd?: (number | null)
/**
 * Stop before the model's calls take more tokens than this, earlier starts of the run included.
 */
budgetTokens?: (number | null)
/**
 * Stop before the model is asked longer than this after the start.
 */
budgetMinutes?: (number | null)
/**
 * Write every reply of the model to this file, as a recording.
 */
record?: (string | null)
/**
 * Wait as long as the recorded model did.
 */
replayLatency?: boolean
sandbox?: Choice
/**
 * Docker image with Python that the tests' own image is derived from (default: python:3.12-slim).
 */
image?: (string | null)
/**
 * The environment that tests run in: its folder, or its interpreter. A bare interpreter gets an environment made
 * from it. Tests run locally.
 */
interpreter?: (string | null)
allow?: Allowed
}
/**
 * Say where a job stands, and what it came to if it has ended.
 */
export interface Job {
/**
 * Its id, such as `job-1`.
 */
job: string
}
/**
 * List all jobs of this server, the newest last; of ended ones, the last hundred.
 */
export type ListJobs = Record<string, never>;
/**
 * Stop a job. What it accepted before is kept; it ends as soon as the step in hand is over.
 */
export interface CancelJob {
/**
 * Its id.
 */
job: string
}
/**
 * Hold a job: what is under way is finished, nothing new is begun until `resumeJob`.
 */
export interface PauseJob {
/**
 * Its id.
 */
job: string
}
/**
 * Let a held job go on.
 */
export interface ResumeJob {
/**
 * Its id.
 */
job: string
}
/**
 * List the runs of `generate` and of `tasks` in the workspace's folders, down to three levels: which have come to their end,
 * and which can be gone on with.
 */
export interface ListRuns {
/**
 * Look in this folder in place of the workspace's.
 */
root?: (string | null)
}
/**
 * List the files that a run wrote, or that a list of tasks was made into, and whether each is as it was left.
 */
export interface ListFiles {
/**
 * The output folder of the run.
 */
out: string
}
/**
 * Read a text file of a run's folder.
 */
export interface ReadFile {
/**
 * The output folder of the run.
 */
out: string
/**
 * The file, relative to it.
 */
path: string
}
/**
 * Reads the journal of a run or a project back, the oldest event first: what happened, to which node, why, at what cost;
 * and checks its hash chain.
 */
export interface LogParams {
/**
 * The output folder of a run, or a project's folder; else the workspace's first.
 */
root?: (string | null)
/**
 * Only what happened to this node (or subgraph, function or test).
 */
node?: (string | null)
/**
 * Only events of these kinds; all if none is given.
 */
kinds?: EventKind[]
/**
 * Only the last events, so many of those asked for: 1000 if nothing is said, 100000 at most.
 */
last?: (number | null)
}
/**
 * Mend what makes tests fail: run them, find the cause, ask a model, prove each fix on a copy, and keep what you let stay.
 */
export interface RepairArgs {
/**
 * The project.
 */
root?: string
/**
 * Mend only these failing tests: ids, files or folders; all that fails if none is given.
 */
tests?: string[]
/**
 * Run only these test files and folders beside them; all tests if none is given.
 */
suite?: string[]
/**
 * What is wrong, in your words, for the model.
 */
issue?: (string | null)
/**
 * Fixes that are tried for one cause.
 */
maxIterations?: number
/**
 * Fixes that pass among which the best is chosen; each one is asked for.
 */
candidates?: number
/**
 * Which fixes a person has to see before they stay: none (autonomous), all (supervised), or doubtful ones (threshold).
 */
approve?: (string | null)
/**
 * More files of which you want to see each change, as patterns such as `billing/**`.
 */
critical?: string[]
/**
 * Lines of one file that a fix may change.
 */
maxLines?: number
/**
 * Do not ask the model for a diagnosis before it is asked for a fix.
 */
noReport?: boolean
fixWith?: FixWith
/**
 * Write nothing into the tree; the patch is all there is.
 */
dryRun?: boolean
/**
 * Work on the last commit in a worktree of git; fixes go to a branch, and the tree is not touched.
 */
worktree?: boolean
/**
 * Commit what was kept, and nothing else of the tree.
 */
commit?: boolean
/**
 * Write what was kept to this file as a patch that `git apply` takes.
 */
patch?: (string | null)
/**
 * Model, as `provider:name` or `recorded:FILE`; else TRELLIS_MODEL, else `model` in trellis.toml.
 */
model?: (string | null)
/**
 * Model for simple work; else `simple_model` in trellis.toml, else the model.
 */
simpleModel?: (string | null)
/**
 * Model for hard work and for fixes after the second failure; else `strong_model` in trellis.toml.
 */
strongModel?: (string | null)
/**
 * Stop before the model's calls cost more US dollars than this, earlier starts of the run included.
 */
budgetUsd?: (number | null)
/**
 * Stop before the model's calls take more tokens than this, earlier starts of the run included.
 */
budgetTokens?: (number | null)
/**
 * Stop before the model is asked longer than this after the start.
 */
budgetMinutes?: (number | null)
/**
 * Write every reply of the model to this file, as a recording.
 */
record?: (string | null)
/**
 * Wait as long as the recorded model did.
 */
replayLatency?: boolean
sandbox?: Choice
/**
 * Docker image with Python that the tests' own image is derived from (default: python:3.12-slim).
 */
image?: (string | null)
/**
 * The environment that tests run in: its folder, or its interpreter. A bare interpreter gets an environment made
 * from it. Tests run locally.
 */
interpreter?: (string | null)
allow?: Allowed
/**
 * Wait for decisions about fixes that a person has to see; else they wait as proposals, and the work goes on.
 */
wait?: boolean
/**
 * Seconds one test may take.
 */
testTimeout?: number
/**
 * Seconds all of them may take (default: 1800).
 */
runTimeout?: (number | null)
/**
 * Answer at once with the id of the job, whose end is told by `trellis/event`.
 */
background?: boolean
}
/**
 * Implement one issue test-first: tests that fail, code that makes them pass, linters, your review, a merge; on a branch and in
 * a worktree of its own, so that your files stay as they are until you approve.
 */
export interface ImplementArgs {
/**
 * The project, in a repository of git.
 */
root?: string
/**
 * Number or name of the issue: letters, digits, `-`, `_` and `.`.
 */
issue: string
/**
 * What is wanted, in a file of the project.
 */
lld: string
/**
 * Files of the project, Python or Markdown, that are in every question: code to use, standards to keep.
 */
context?: string[]
/**
 * How tests and code are given: in one reply, or by work with tools on a copy of the files (default: with tools where the
 * model has them).
 */
workWith?: (FixWith | null)
/**
 * Whether a person has to see the change before it is merged: never (autonomous), always (supervised), or where something
 * speaks against it (threshold). With `autonomous` work that does not pass ends with 1, else with 2.
 */
approve?: (string | null)
/**
 * Show what would be done and the first question; ask no model and write nothing.
 */
dryRun?: boolean
/**
 * Push to this remote, a name or an address: the branch that work is merged into, and branches that are left for a person, with
 * a pull request where the remote is of a forge.
 */
push?: (string | null)
/**
 * What becomes of the change that waits for a review, as the result of the call before showed it.
 */
decision?: (Decision | null)
/**
 * Model, as `provider:name` or `recorded:FILE`; else TRELLIS_MODEL, else `model` in trellis.toml.
 */
model?: (string | null)
/**
 * Model for simple work; else `simple_model` in trellis.toml, else the model.
 */
simpleModel?: (string | null)
/**
 * Model for hard work and for fixes after the second failure; else `strong_model` in trellis.toml.
 */
strongModel?: (string | null)
/**
 * Stop before the model's calls cost more US dollars than this, earlier starts of the run included.
 */
budgetUsd?: (number | null)
/**
 * Stop before the model's calls take more tokens than this, earlier starts of the run included.
 */
budgetTokens?: (number | null)
/**
 * Stop before the model is asked longer than this after the start.
 */
budgetMinutes?: (number | null)
/**
 * Write every reply of the model to this file, as a recording.
 */
record?: (string | null)
/**
 * Wait as long as the recorded model did.
 */
replayLatency?: boolean
sandbox?: Choice
/**
 * Docker image with Python that the tests' own image is derived from (default: python:3.12-slim).
 */
image?: (string | null)
/**
 * The environment that tests run in: its folder, or its interpreter. A bare interpreter gets an environment made
 * from it. Tests run locally.
 */
interpreter?: (string | null)
allow?: Allowed
/**
 * Fixes after the first code, of an issue or of each task; then a person is needed.
 */
maxRetries?: number
/**
 * Seconds one test may take.
 */
testTimeout?: number
/**
 * Seconds all of them may take (default: 1800).
 */
runTimeout?: (number | null)
/**
 * Answer at once with the id of the job, whose end is told by `trellis/event`.
 */
background?: boolean
}
/**
 * Make a repository of a list of tasks: a project of a tech stack, then each task test-first in a worktree of its own, several
 * at a time, merged as they pass. Goes on where an earlier start stopped.
 */
export interface TasksArgs {
/**
 * The list: JSON with `tasks`, each with `id`, `description`, and as it likes `implementation_details`, `depends_on`,
 * `story_points`, `keywords`.
 */
file: string
/**
 * The tech stack; `trellis stacks list` shows all.
 */
stack: string
/**
 * The folder of the repository: empty, not there, or of an earlier start.
 */
out: string
/**
 * Name of the project, of lower-case letters, digits and `-`; that of the folder if left out.
 */
name?: (string | null)
/**
 * Tasks at a time.
 */
jobs?: number
workWith?: FixWith
/**
 * Do not ask for tests of all tasks together in the end, and for what connects them.
 */
skipIntegration?: boolean
/**
 * Push to this remote, a name or an address: the branch that work is merged into, and branches that are left for a person, with
 * a pull request where the remote is of a forge.
 */
push?: (string | null)
/**
 * Model, as `provider:name` or `recorded:FILE`; else TRELLIS_MODEL, else `model` in trellis.toml.
 */
model?: (string | null)
/**
 * Model for simple work; else `simple_model` in trellis.toml, else the model.
 */
simpleModel?: (string | null)
/**
 * Model for hard work and for fixes after the second failure; else `strong_model` in trellis.toml.
 */
strongModel?: (string | null)
/**
 * Stop before the model's calls cost more US dollars than this, earlier starts of the run included.
 */
budgetUsd?: (number | null)
/**
 * Stop before the model's calls take more tokens than this, earlier starts of the run included.
 */
budgetTokens?: (number | null)
/**
 * Stop before the model is asked longer than this after the start.
 */
budgetMinutes?: (number | null)
/**
 * Write every reply of the model to this file, as a recording.
 */
record?: (string | null)
/**
 * Wait as long as the recorded model did.
 */
replayLatency?: boolean
sandbox?: Choice
/**
 * Docker image with Python that the tests' own image is derived from (default: python:3.12-slim).
 */
image?: (string | null)
/**
 * The environment that tests run in: its folder, or its interpreter. A bare interpreter gets an environment made
 * from it. Tests run locally.
 */
interpreter?: (string | null)
allow?: Allowed
/**
 * Fixes after the first code, of an issue or of each task; then a person is needed.
 */
maxRetries?: number
/**
 * Seconds one test may take.
 */
testTimeout?: number
/**
 * Seconds all of them may take (default: 1800).
 */
runTimeout?: (number | null)
/**
 * Answer at once with the id of the job, whose end is told by `trellis/event`.
 */
background?: boolean
}
/**
 * Lists proposed fixes of a project, the oldest first.
 */
export interface ListFixesParams {
/**
 * The project's folder; else the workspace's first.
 */
root?: (string | null)
/**
 * Only those in this state.
 */
state?: (State | null)
}
/**
 * Shows a proposed fix with its hunks, its texts and what became of it so far.
 */
export interface GetFixParams {
/**
 * The project's folder; else the workspace's first.
 */
root?: (string | null)
/**
 * Its id, such as `fix-1`.
 */
fix: string
}
/**
 * Takes back what was last accepted of a fix; refused if its files were changed since.
 */
export interface UndoFixParams {
/**
 * The project's folder; else the workspace's first.
 */
root?: (string | null)
/**
 * Its id, such as `fix-1`.
 */
fix: string
}
/**
 * Looks for a fix of one failing test: runs the tests with coverage, asks a model, tries what it says on a copy, three times at
 * most. What passes is stored as a proposed fix; nothing is written into the project.
 */
export interface ProposeFixParams {
/**
 * The project's folder; else the workspace's first.
 */
root?: (string | null)
/**
 * pytest's id of the failing test, such as `tests/test_a.py::test_b`.
 */
test: string
/**
 * Test files and folders that are run beside it, to tell suspects apart and to see what a fix breaks; all tests if left out.
 */
tests?: string[]
/**
 * Model, as `provider:name` or `recorded:FILE`; else TRELLIS_MODEL, else `model` in trellis.toml.
 */
model?: (string | null)
/**
 * Model for simple work; else `simple_model` in trellis.toml, else the model.
 */
simpleModel?: (string | null)
/**
 * Model for hard work and for fixes after the second failure; else `strong_model` in trellis.toml.
 */
strongModel?: (string | null)
/**
 * Stop before the model's calls cost more US dollars than this, earlier starts of the run included.
 */
budgetUsd?: (number | null)
/**
 * Stop before the model's calls take more tokens than this, earlier starts of the run included.
 */
budgetTokens?: (number | null)
/**
 * Stop before the model is asked longer than this after the start.
 */
budgetMinutes?: (number | null)
/**
 * Write every reply of the model to this file, as a recording.
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
 * Docker image with Python that the tests' own image is derived from (default: python:3.12-slim).
 */
image?: (string | null)
/**
 * The environment that tests run in: its folder, or its interpreter. A bare interpreter gets an environment made
 * from it. Tests run locally.
 */
interpreter?: (string | null)
allow?: Allowed
/**
 * Answer at once with the id of the job, whose end is told by `trellis/event`.
 */
background?: boolean
}
/**
 * Decides about a proposed fix. What is accepted is tested on a copy first: the failing test has to pass with it, and no test
 * that passed may fail; else nothing is written and the state is `failed`. A file that has changed since makes the fix
 * `stale` (error kind `stale`), also where the change is unsaved in the editor; `data.remedy` of the error is `rebase` where it
 * can be brought to the new text. Tests that ran for what was written are told by `trellis/event`.
 */
export interface DecideFixParams {
/**
 * The project's folder; else the workspace's first.
 */
root?: (string | null)
/**
 * Its id, such as `fix-1`.
 */
fix: string
decision: Choice2
/**
 * The revision that was looked at; refused with the kind `stale` if it is another by now.
 */
revision?: (number | null)
/**
 * Ids of hunks, for `acceptHunks` and `rejectHunks`.
 */
hunks?: number[]
/**
 * Whole texts in place of those proposed, for `edit` and `rebase`. A byte order mark, and the ends of lines that are the
 * same, stay as they were proposed: editors change them.
 */
files?: EditedFile[]
/**
 * Whether tests are run before anything is written; if not, the history says so.
 */
test?: boolean
/**
 * Why, for the history.
 */
note?: string
sandbox?: Choice
/**
 * Docker image with Python that the tests' own image is derived from (default: python:3.12-slim).
 */
image?: (string | null)
/**
 * The environment that tests run in: its folder, or its interpreter. A bare interpreter gets an environment made
 * from it. Tests run locally.
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
 * Answer at once with the id of the job, whose end is told by `trellis/event`.
 */
background?: boolean
}
/**
 * Reports every problem of a planning graph at once.
 */
export interface PlanCheckParams {
/**
 * The planning graph, a JSON file.
 */
graph: string
/**
 * Reads the graph as this, whatever it looks like.
 */
dialect?: (DialectName | null)
}
/**
 * Gives the order in which the nodes are generated.
 */
export interface PlanOrderParams {
/**
 * The planning graph, a JSON file.
 */
graph: string
/**
 * Reads the graph as this, whatever it looks like.
 */
dialect?: (DialectName | null)
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
 * Reads the graph as this, whatever it looks like.
 */
dialect?: (DialectName | null)
}
/**
 * Shows which nodes of a planning graph, or tasks of a list, can be worked on at once, and the chain that takes longest.
 */
export interface PlanLevelsParams {
/**
 * The planning graph or list of tasks, a JSON file.
 */
graph: string
/**
 * Reads the graph as this, whatever it looks like.
 */
dialect?: (DialectName | null)
}
/**
 * Shows the ways through each subgraph that integration tests follow, from where data comes in.
 */
export interface PlanFlowsParams {
/**
 * The planning graph, a JSON file.
 */
graph: string
/**
 * Reads the graph as this, whatever it looks like.
 */
dialect?: (DialectName | null)
along?: Links
/**
 * How many flows of one subgraph; 5 if left out.
 */
top?: number
}
/**
 * Shows who needs a node and what it needs.
 */
export interface PlanDepsParams {
/**
 * The planning graph, a JSON file.
 */
graph: string
/**
 * Reads the graph as this, whatever it looks like.
 */
dialect?: (DialectName | null)
/**
 * The id of the node.
 */
node: string
/**
 * How far to look; 2 if left out.
 */
hops?: number
/**
 * The folder of the run that says where nodes stand; else that of the graph, if it lies in its `docs`.
 */
status?: (string | null)
}
/**
 * Finds nodes by a name, however it is written, or by what they do, in any words.
 */
export interface PlanSearchParams {
/**
 * The planning graph, a JSON file.
 */
graph: string
/**
 * Reads the graph as this, whatever it looks like.
 */
dialect?: (DialectName | null)
/**
 * What is looked for: a name, a description, an error message.
 */
query: string
/**
 * How many nodes to show; those as good as the last one are shown too. 5 if left out.
 */
top?: number
/**
 * Only nodes of this subgraph.
 */
subgraph?: (string | null)
/**
 * Whose vectors say what texts mean: `builtin`, `openai:MODEL` or `ollama:MODEL`; built-in ones if left out.
 */
embeddings?: string
by?: By
}
/**
 * Shows where every node of a grown repository stands.
 */
export interface StatusParams {
/**
 * The output folder of the run.
 */
out: string
}
/**
 * Tells how far a list of tasks is that is made into a repository, or was.
 */
export interface TasksStatusParams {
/**
 * The folder of the repository.
 */
out: string
}
/**
 * Gives the generation report of a grown repository.
 */
export interface ReportParams {
/**
 * The output folder of the run.
 */
out: string
}
/**
 * Takes a grown repository back to the last subgraph that passed as a whole.
 */
export interface RollbackParams {
/**
 * The output folder of the run.
 */
out: string
/**
 * Go back to this subgraph instead of the last one.
 */
to?: (string | null)
}
/**
 * Shows a file, or what was generated for a node: the source, or signatures with the first line of each docstring.
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
 * The planning graph that knows the node; else `docs/rpg.json` below the root, if it is there.
 */
plan?: (string | null)
/**
 * The project's folder; else the current one.
 */
root?: (string | null)
}
/**
 * Lists the tech stacks that a project can be made of: those of Trellis, the user's and the project's.
 */
export interface ListStacksParams {
/**
 * Where the project's own stacks are looked for, upwards; the first folder of the workspace if left out.
 */
root?: (string | null)
}
/**
 * Shows a tech stack with all its files.
 */
export interface ShowStackParams {
/**
 * The name of the stack.
 */
stack: string
/**
 * Where the project's own stacks are looked for, upwards; the first folder of the workspace if left out.
 */
root?: (string | null)
}
/**
 * Makes a new project of a tech stack in a folder that is empty or not there. Nothing is installed.
 */
export interface NewProjectParams {
/**
 * The name of the stack.
 */
stack: string
/**
 * The folder of the project.
 */
out: string
/**
 * The name of the project, of lower-case letters, digits and `-`; that of the folder if left out.
 */
projectName?: (string | null)
/**
 * Where the project's own stacks are looked for, upwards; the first folder of the workspace if left out.
 */
root?: (string | null)
}
/**
 * Installs the packages that a project's package.json, requirements.txt, pyproject.toml and go.mod ask for, over the
 * network; nothing of the project is executed, and scripts of npm packages are not.
 */
export interface InstallPackagesParams {
/**
 * The folder of the project; the first folder of the workspace if left out.
 */
root?: (string | null)
/**
 * Answer at once with the id of the job, whose end is told by `trellis/event`.
 */
background?: boolean
}
/**
 * Finds definitions by name or name path.
 */
export interface FindSymbolParams {
/**
 * `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second of that name.
 */
namePath: string
/**
 * Folder or file to look in; else the current folder.
 */
root?: (string | null)
/**
 * The last part may be any part of the symbol's name.
 */
substring?: boolean
/**
 * Only symbols of these kinds; of any if empty.
 */
kinds?: Kind[]
/**
 * Whether results hold the definitions' text.
 */
body?: boolean
/**
 * How many levels of what is in the definitions results hold; 0 if left out.
 */
depth?: number
}
/**
 * Lists every reference of a symbol: uses, imports, exports, its definition.
 */
export interface FindReferencingSymbolsParams {
/**
 * `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second of that name.
 */
namePath?: (string | null)
/**
 * A place where the symbol is named, instead of its name path.
 */
at?: (At | null)
/**
 * Folder to look in; else the current folder.
 */
root?: (string | null)
/**
 * A type checker to ask, too: results say which of the possible references it confirms. It has to be installed.
 */
confirm?: (Checker | null)
}
/**
 * Lists from where a symbol is used, by the functions and classes around the uses.
 */
export interface FindCallersParams {
/**
 * `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second of that name.
 */
namePath?: (string | null)
/**
 * A place where the symbol is named, instead of its name path.
 */
at?: (At | null)
/**
 * Folder to look in; else the current folder.
 */
root?: (string | null)
}
/**
 * Says where the symbol at a place is defined.
 */
export interface FindDefinitionParams {
at: At
/**
 * Folder to look in; else the current folder.
 */
root?: (string | null)
}
/**
 * Lists functions, classes and methods that nothing uses outside their own text.
 */
export interface FindUnusedParams {
/**
 * Folder to look in; else the current folder.
 */
root?: (string | null)
}
/**
 * Checks the planned dependencies of a graph against what the code really uses.
 */
export interface CheckPlannedParams {
/**
 * The planning graph, a JSON file.
 */
graph: string
/**
 * Folder with the code; else the current folder.
 */
root?: (string | null)
/**
 * Reads the graph as this, whatever it looks like.
 */
dialect?: (DialectName | null)
}
/**
 * Shows what one file defines, as a tree.
 */
export interface DocumentSymbolsParams {
/**
 * The file; one with syntax errors is shown as far as it can be understood.
 */
file: string
/**
 * Only so many levels, from 1; all if left out.
 */
depth?: (number | null)
}
/**
 * Replaces a symbol's body, or all of it with a text that brings its own `def` or `class`. Decorators stay unless the
 * text has some; the docstring is part of the body.
 */
export interface ReplaceSymbolBodyParams {
/**
 * `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second of that name.
 */
namePath: string
/**
 * The new text.
 */
text: string
/**
 * The file, relative to the root; else the root is looked through for the one symbol of that name path.
 */
path?: (string | null)
/**
 * The folder; else the current one.
 */
root?: (string | null)
/**
 * Whether only to show what would change.
 */
dryRun?: boolean
}
/**
 * Inserts statements above a symbol, its decorators and comments.
 */
export interface InsertBeforeSymbolParams {
/**
 * `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second of that name.
 */
namePath: string
/**
 * The statements.
 */
text: string
/**
 * The file, relative to the root; else the root is looked through for the one symbol of that name path.
 */
path?: (string | null)
/**
 * The folder; else the current one.
 */
root?: (string | null)
/**
 * Whether only to show what would change.
 */
dryRun?: boolean
}
/**
 * Inserts statements below a symbol.
 */
export interface InsertAfterSymbolParams {
/**
 * `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second of that name.
 */
namePath: string
/**
 * The statements.
 */
text: string
/**
 * Inserts at the end of the class instead; `pass` gives way.
 */
inside?: boolean
/**
 * The file, relative to the root; else the root is looked through for the one symbol of that name path.
 */
path?: (string | null)
/**
 * The folder; else the current one.
 */
root?: (string | null)
/**
 * Whether only to show what would change.
 */
dryRun?: boolean
}
/**
 * Replaces text of a file: exact, then with other white space, then the most similar lines (0.8 at least).
 */
export interface ReplaceTextParams {
/**
 * The file, relative to the root.
 */
path: string
/**
 * What is there.
 */
search: string
/**
 * What is to be there.
 */
replace: string
/**
 * Which match, from 1; 0 for all. Without it there must be only one.
 */
occurrence?: (number | null)
/**
 * The folder; else the current one.
 */
root?: (string | null)
/**
 * Whether only to show what would change.
 */
dryRun?: boolean
}
/**
 * Renames a symbol with all its references, imports and exports: every file or none. Refused when a name would come to
 * mean something else; what may mean the symbol, of which nobody can be sure, is not changed but listed.
 */
export interface RenameSymbolParams {
/**
 * `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second of that name.
 */
namePath?: (string | null)
/**
 * A place where the symbol is named, instead of its name path.
 */
at?: (At | null)
/**
 * The new name.
 */
newName: string
/**
 * The one file in which the name path counts, relative to the root.
 */
path?: (string | null)
/**
 * Folder to look in; else the project of the file, or the current folder.
 */
root?: (string | null)
/**
 * Whether only to show what would change.
 */
dryRun?: boolean
}
/**
 * Deletes a symbol that nothing uses. Refused, with every use listed, when something does or may do: imports and
 * `__all__` count as well.
 */
export interface SafeDeleteSymbolParams {
/**
 * `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second of that name.
 */
namePath?: (string | null)
/**
 * A place where the symbol is named, instead of its name path.
 */
at?: (At | null)
/**
 * Deletes it even so; what breaks is listed.
 */
force?: boolean
/**
 * The one file in which the name path counts, relative to the root.
 */
path?: (string | null)
/**
 * Folder to look in; else the project of the file, or the current folder.
 */
root?: (string | null)
/**
 * Whether only to show what would change.
 */
dryRun?: boolean
}
/**
 * Takes back an edit that one of these methods made; refused if its files were changed since.
 */
export interface UndoEditParams {
/**
 * Number of the edit; without one, the last that was not undone.
 */
id?: (number | null)
/**
 * A file or folder of the project that was edited; else the current folder.
 */
root?: (string | null)
}
/**
 * List the functions and methods of a Python file; one that is broken answers as far as it can be understood.
 */
export interface ParseFileParams {
/**
 * The file.
 */
filePath: string
}
/**
 * Say whether a text is a Python module.
 */
export interface ValidateSyntaxParams {
/**
 * The whole module.
 */
code: string
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
 * More of them. Without any, all tests of the root's project are run.
 */
paths?: string[]
/**
 * The folder; else the current one. The project is the one that the tests belong to.
 */
root?: (string | null)
sandbox?: Choice
/**
 * Docker image with Python that the tests' own image is derived from (default: python:3.12-slim).
 */
image?: (string | null)
/**
 * The environment that tests run in: its folder, or its interpreter. A bare interpreter gets an environment made
 * from it. Tests run locally.
 */
interpreter?: (string | null)
allow?: Allowed
/**
 * What runs the tests; found out from the project's files if left out.
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
 * Whether to start a fresh interpreter, instead of forking a warm one.
 */
cold?: boolean
/**
 * Options for pytest, such as `-k` and a name.
 */
arguments?: string[]
/**
 * Answer at once with the id of the job, whose end is told by `trellis/event`.
 */
background?: boolean
}
/**
 * Write tests for one function by a model, run them, and say which pass; those that fail are kept, since they may have
 * found a bug.
 */
export interface GenerateTestsParams {
function: FunctionRef
/**
 * The project's root; else found from the file.
 */
projectRoot?: (string | null)
/**
 * Else the one the project's files show.
 */
framework?: (TestFramework | null)
/**
 * Folder for generated tests, below the root; else `tests_dir` in trellis.toml, else `trellis_tests`.
 */
testsDir?: (string | null)
/**
 * Only show what would be written.
 */
preview?: boolean
/**
 * Replace generated tests that were edited since, too.
 */
replaceEdited?: boolean
/**
 * Model, as `provider:name` or `recorded:FILE`; else TRELLIS_MODEL, else `model` in trellis.toml.
 */
model?: (string | null)
/**
 * Model for simple work; else `simple_model` in trellis.toml, else the model.
 */
simpleModel?: (string | null)
/**
 * Model for hard work and for fixes after the second failure; else `strong_model` in trellis.toml.
 */
strongModel?: (string | null)
/**
 * Stop before the model's calls cost more US dollars than this, earlier starts of the run included.
 */
budgetUsd?: (number | null)
/**
 * Stop before the model's calls take more tokens than this, earlier starts of the run included.
 */
budgetTokens?: (number | null)
/**
 * Stop before the model is asked longer than this after the start.
 */
budgetMinutes?: (number | null)
/**
 * Write every reply of the model to this file, as a recording.
 */
record?: (string | null)
/**
 * Wait as long as the recorded model did.
 */
replayLatency?: boolean
sandbox?: Choice
/**
 * Docker image with Python that the tests' own image is derived from (default: python:3.12-slim).
 */
image?: (string | null)
/**
 * The environment that tests run in: its folder, or its interpreter. A bare interpreter gets an environment made
 * from it. Tests run locally.
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
 * Answer at once with the id of the job, whose end is told by `trellis/event`.
 */
background?: boolean
}
/**
 * Ranks the functions and lines that may be why tests fail.
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
 * Docker image with Python that the tests' own image is derived from (default: python:3.12-slim).
 */
image?: (string | null)
/**
 * The environment that tests run in: its folder, or its interpreter. A bare interpreter gets an environment made
 * from it. Tests run locally.
 */
interpreter?: (string | null)
allow?: Allowed
/**
 * Answer at once with the id of the job, whose end is told by `trellis/event`.
 */
background?: boolean
}
/**
 * Makes ready the environment that a project's tests run in on this machine, and says where it is: for a debugger, which has
 * to start the tests itself.
 */
export interface EnvironmentParams {
/**
 * The project; else the first folder of the workspace.
 */
root?: (string | null)
/**
 * The environment to use: its folder, or its interpreter. Else the one that is activated, the project's own, or one made from
 * its requirements.
 */
interpreter?: (string | null)
/**
 * Answer at once with the id of the job, whose end is told by `trellis/event`.
 */
background?: boolean
}
/**
 * Shows what this machine offers for running tests, and what would be enforced.
 */
export interface DoctorParams {
/**
 * The project whose environment is looked at; else the current folder.
 */
root?: (string | null)
}
/**
 * List the functions that tests were generated for, with their tests and how these last ran.
 */
export interface ListTestsParams {
/**
 * The project; else the first folder of the workspace.
 */
root?: (string | null)
}
/**
 * Add the folder of a test file to `testpaths` in the project's settings, so that plain `pytest` runs it. `undoEdit` takes
 * it back.
 */
export interface AddTestPathParams {
/**
 * The project; else the first folder of the workspace.
 */
root?: (string | null)
/**
 * The test file, relative to the root.
 */
path: string
}
/**
 * `data` of an error.
 */
export interface ErrorData {
/**
 * Tells errors of one code apart, such as `stale`.
 */
kind: string
/**
 * What to do about it, for a person.
 */
hint?: (string | null)
/**
 * What a program may offer to do about it.
 */
remedy?: (Remedy | null)
}
