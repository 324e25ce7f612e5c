//! The command that tells a worker to run the tests of a request.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{
    backend::Backend,
    error::SandboxError,
    frameworks::{Detected, Framework, as_framework, command},
    pool::Lease,
    request::{Request, Selection},
    resource_limits::{Memory, for_worker},
    toolchain::Toolchain,
    trials::TrialPlan,
};

/// The signal that asks the reporter for the stack (`SIGSTKFLT`). No program is known to use it,
/// and the kernel never sends it.
const STACK_SIGNAL: i32 = 16;

/// A command for a worker.
pub(crate) struct WorkerCommand {
    pub(crate) text: Value,
    /// The detected framework and the facts needed to start it; `None` for Python's frameworks.
    pub(crate) detected: Option<Detected>,
}

/// Builds the command that runs `selection` of `request` on the leased worker. Every record of the
/// run begins with `token`.
pub(crate) fn order(
    request: &Request,
    selection: Selection,
    lease: &Lease,
    place: &Backend,
    token: &str,
) -> Result<WorkerCommand, SandboxError> {
    let kind = match request.framework {
        Framework::Pytest if lease.worker.ready.pytest.is_none() => {
            return Err(SandboxError::NoPytest { python: place.python() });
        }
        Framework::Pytest => "pytest",
        Framework::Unittest => "unittest",
        Framework::Jest | Framework::Vitest | Framework::Go => "command",
    };
    let root = lease.visible.shown();
    let mut order = json!({
        "op": "run",
        "kind": kind,
        "cwd": root.to_string_lossy(),
        "root": root.to_string_lossy(),
        "env": place.env(),
        "coverage": request.coverage,
        "execution": request.execution && request.framework == Framework::Pytest,
        "trace": request.trace,
        "cold": request.cold,
        "hash_seed": request.hash_seed,
        "deadline": request.interrupted_after().map(|it| it.as_secs_f64()),
        "deadline_is": request.limit_of_test(),
        "selection": selection,
        "also": if request.targets.is_empty() { &request.also[..] } else { &[] },
        "cores": request.limits.cores,
        "captured": request.limits.output_bytes,
        "rlimits": limits(request, lease),
        "token": token,
        "stack_signal": STACK_SIGNAL,
        "trials": request.trials.as_ref().map(TrialPlan::order),
    });
    let Some(toolchain) = Toolchain::of(request.framework) else {
        if measures_itself(lease.visible.root()) {
            // coverage.py would write its data to the project, which may be read-only.
            let data = lease.worker.writable().cache.join("coverage");
            order["env"]["COVERAGE_FILE"] = data.to_string_lossy().into();
        }
        order["path_entries"] = path_entries(request, root, place);
        order["args"] = match request.framework {
            Framework::Unittest => unittest(&request.targets, root).into(),
            _ => pytest(request, lease).into(),
        };
        return Ok(WorkerCommand { text: order, detected: None });
    };
    let here = lease.visible.root();
    let detected = as_framework(request.framework, here);
    if toolchain == Toolchain::Node
        && !["node_modules", ".pnp.cjs"].iter().any(|it| here.join(it).exists())
    {
        return Err(SandboxError::NoPackages { root: here.to_owned() });
    }
    let report = lease.worker.writable().cache.join("report.json");
    order["args"] = command(&detected, &request.targets, request.whole, &report).into();
    order["collect"] = report.to_string_lossy().into();
    for (name, value) in place.variables(toolchain, lease.worker.writable()) {
        order["env"][name] = value.into();
    }
    Ok(WorkerCommand { text: order, detected: Some(detected) })
}

/// Returns whether the project's settings ask for pytest-cov.
fn measures_itself(root: &Path) -> bool {
    let files = ["pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini"].map(|it| root.join(it));
    files.iter().any(|it| trellis_os::files::read_text(it).is_ok_and(|text| text.contains("--cov")))
}

/// Returns the entries for `sys.path`; null leaves Python's own. `PYTHONPATH` has to be passed this
/// way, since the interpreter started before the user's variables were set.
fn path_entries(request: &Request, root: &Path, place: &Backend) -> Value {
    let given = place.env().get("PYTHONPATH").map(std::env::split_paths).into_iter().flatten();
    let given: Vec<PathBuf> = given.filter(|it| !it.as_os_str().is_empty()).collect();
    if request.source_folders.is_empty() && given.is_empty() {
        return Value::Null;
    }
    let folders = given.iter().chain(&request.source_folders).map(|it| root.join(it));
    let all = [root.to_owned()].into_iter().chain(folders);
    all.map(|it| it.to_string_lossy().into_owned()).collect()
}

fn limits(request: &Request, lease: &Lease) -> Value {
    let processes = lease.worker.sandbox.process_ceiling(&request.limits);
    let memory = match Toolchain::of(request.framework) {
        None => Memory::Touched,
        Some(_) if lease.worker.sandbox.holds_memory() => Memory::Elsewhere,
        Some(_) => Memory::Data,
    };
    for_worker(&request.limits, processes, memory)
}

fn pytest(request: &Request, lease: &Lease) -> Vec<String> {
    let root = lease.visible.shown().display();
    let cache = lease.worker.writable().cache.display();
    // Not `-p no:cacheprovider`: a project may have `--ff` among its options.
    let mut args = vec!["--color=no".to_owned(), "--rootdir".to_owned(), root.to_string()];
    args.extend(["-o".to_owned(), format!("cache_dir={cache}/pytest")]);
    if lease.worker.sandbox.shows_parent_folders() {
        // pytest would list the folder in which it found its settings.
        args.extend(["--confcutdir".to_owned(), root.to_string()]);
    }
    args.extend(request.arguments.iter().cloned());
    args.extend(request.targets.iter().map(|target| not_an_option(target)));
    args
}

/// Returns the target with `./` before a leading dash, which would make it an option.
fn not_an_option(target: &str) -> String {
    if target.starts_with('-') { format!("./{target}") } else { target.to_owned() }
}

/// Returns the arguments for unittest, which takes modules, classes and methods by dotted name,
/// files by path, and a folder only if it is the sole target.
fn unittest(targets: &[String], root: &Path) -> Vec<String> {
    if let [folder] = targets
        && root.join(folder).is_dir()
    {
        let mut args = vec!["discover".to_owned(), format!("--start-directory={folder}")];
        if root.join(folder).join("__init__.py").is_file() {
            args.push("--top-level-directory=.".to_owned());
        }
        return args;
    }
    let name = |target: &String| match target.split_once("::") {
        Some((file, names)) => {
            let module = file.strip_suffix(".py").unwrap_or(file).trim_start_matches("./");
            format!("{}.{}", module.replace('/', "."), names.replace("::", "."))
        }
        None => not_an_option(target),
    };
    targets.iter().map(name).collect()
}
