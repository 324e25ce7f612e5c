//! Definition of methods: name, types and handler.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use jsonrpsee::RpcModule;
use jsonrpsee::core::server::MethodsError;
use jsonrpsee::core::traits::ToRpcParams;
use jsonrpsee::types::{ErrorObjectOwned, Params};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::context::Context;
use super::error::{ParamsError, bad_params, object};
use crate::jobs::JobContext;
use crate::session::Snapshot;
use trellis_workflows::fault::{Exit, Fault};

/// Prefix of all method names.
pub const PREFIX: &str = "trellis/";

/// Side effect of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The call changes nothing.
    Reads,
    /// The call changes files.
    Writes,
    /// The call executes the project's code; refused in folders the user does not trust.
    Runs,
}

/// Description of a method.
pub struct Entry {
    /// Name with the prefix.
    pub name: &'static str,
    /// Purpose of the method: the description of its parameter type.
    pub about: String,
    pub effect: Effect,
    pub params: Schema,
    pub result: Schema,
}

/// Methods that can be called. Clones share one state.
pub type Methods = jsonrpsee::Methods;

/// All methods.
pub struct Table {
    pub module: RpcModule<Context>,
    listed: Vec<MethodSpec>,
}

/// A method without its schemas, which are generated on demand: generating all of them takes longer
/// than the rest of a start.
struct MethodSpec {
    name: &'static str,
    effect: Effect,
    describe: fn(&mut SchemaGenerator) -> Shape,
}

/// Description, parameters and result.
type Shape = (String, Schema, Schema);

/// Descriptions of all methods.
pub struct ApiDescription {
    pub entries: Vec<Entry>,
    generator: SchemaGenerator,
}

impl Table {
    pub(super) fn new(context: Arc<Context>) -> Table {
        Table { module: RpcModule::from_arc(context), listed: Vec::new() }
    }

    /// Returns the names of all methods.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.listed.iter().map(|it| it.name)
    }

    /// Generates the descriptions of all methods.
    pub fn described(&self) -> ApiDescription {
        let mut generator = generator();
        let entry = |it: &MethodSpec| {
            let (about, params, result) = (it.describe)(&mut generator);
            Entry { name: it.name, about, effect: it.effect, params, result }
        };
        ApiDescription { entries: self.listed.iter().map(entry).collect(), generator }
    }

    /// Registers an asynchronous method.
    pub(super) fn call<P, R, F, Fut>(&mut self, name: &'static str, effect: Effect, method: F)
    where
        P: DeserializeOwned + JsonSchema + Send + 'static,
        R: Serialize + JsonSchema + 'static,
        F: Fn(Arc<Context>, P) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<R, Fault>> + Send + 'static,
    {
        self.listed.push(MethodSpec { name, effect, describe: shape::<P, R> });
        let known: Arc<LazyLock<BTreeSet<String>>> = Arc::new(LazyLock::new(known::<P>));
        let answer = move |params: Params<'static>, context: Arc<Context>, _| {
            let (method, known) = (method.clone(), known.clone());
            async move {
                if effect == Effect::Runs {
                    context.may_run().map_err(|fault| object(&fault))?;
                }
                let params: P = read(&params, &known).map_err(|why| bad_params(&why, name))?;
                let result = method(context, params).await.map_err(|fault| object(&fault))?;
                serde_json::value::to_raw_value(&result).map_err(|error| {
                    object(&Fault::internal(format!(
                        "{name}: the result cannot be written as JSON: {error}"
                    )))
                })
            }
        };
        let added = self.module.register_async_method(name, answer);
        debug_assert!(added.is_ok(), "there are two methods {name}");
    }

    /// Registers a method that reads or writes files, run on a thread of its own.
    pub(super) fn files<P, R>(
        &mut self,
        name: &'static str,
        effect: Effect,
        method: fn(&Context, P) -> Result<R, Fault>,
    ) where
        P: DeserializeOwned + JsonSchema + Send + 'static,
        R: Serialize + JsonSchema + Send + 'static,
    {
        self.call(name, effect, move |context: Arc<Context>, params: P| async move {
            let work = tokio::task::spawn_blocking(move || method(&context, params));
            work.await
                .unwrap_or_else(|error| Err(Fault::internal(format!("{name} crashed: {error}"))))
        });
    }

    /// Registers long work as a job; the call waits for its end unless `background` is true.
    /// Cancelling the call cancels the job.
    pub(super) fn work<P, R, F, Fut>(
        &mut self,
        name: &'static str,
        effect: Effect,
        title: fn(&P) -> String,
        work: F,
    ) where
        P: DeserializeOwned + JsonSchema + Send + 'static,
        R: Serialize + JsonSchema + 'static,
        F: Fn(Arc<Context>, P, JobContext) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<R, Fault>> + Send + 'static,
    {
        let short = name.strip_prefix(PREFIX).unwrap_or(name);
        self.call(name, effect, move |context: Arc<Context>, params: JobParams<P>| {
            let work = work.clone();
            async move {
                let (title, shared) = (title(&params.params), context.clone());
                let job = context.jobs.start(short, title, |duty| async move {
                    let results = shared.results.clone();
                    let reporter = results.watching(&duty.reporter);
                    let result = work(shared, params.params, JobContext { reporter, ..duty }).await;
                    let shown = result.and_then(|it| {
                        serde_json::to_value(&it).map_err(|error| {
                            Fault::internal(format!(
                                "the result cannot be written as JSON: {error}"
                            ))
                        })
                    });
                    // `keep` reports its own failures.
                    let _ = tokio::task::spawn_blocking(move || results.keep()).await;
                    shown
                });
                if params.background {
                    return Ok(Outcome::Begun(JobStarted { job }));
                }
                let _waiting = context.wait_for_work()?;
                let result = context.jobs.wait(&job).await;
                // Other callers may read the same fault, so it is cloned.
                result
                    .map(|it| Outcome::Done(Done(it, PhantomData::<R>)))
                    .map_err(|it| Fault::clone(&it))
            }
        });
    }

    /// Registers a query on the workspace, unsaved texts included.
    pub(super) fn question<P, R>(
        &mut self,
        name: &'static str,
        method: impl Fn(&Snapshot, &P) -> Result<R, Fault> + Clone + Send + Sync + 'static,
    ) where
        P: DeserializeOwned + JsonSchema + Send + Sync + 'static,
        R: Serialize + JsonSchema + Send + 'static,
    {
        self.call(name, Effect::Reads, move |context: Arc<Context>, params: P| {
            let method = method.clone();
            let asking = context.asker.ask(move |view| method(view, &params));
            async move { asking.await.map_err(Fault::from)? }
        });
    }
}

impl ApiDescription {
    /// Returns the schema generator with all schemas generated so far.
    pub(super) fn generator(&self) -> SchemaGenerator {
        self.generator.clone()
    }

    /// Returns the schemas that the methods' schemas refer to, by name.
    pub(super) fn definitions(&self) -> &Map<String, Value> {
        self.generator.definitions()
    }
}

fn generator() -> SchemaGenerator {
    schemars::generate::SchemaSettings::draft07().into()
}

fn shape<P: JsonSchema, R: JsonSchema>(generator: &mut SchemaGenerator) -> Shape {
    let params = generator.subschema_for::<P>();
    (description::<P>(), params, generator.subschema_for::<R>())
}

/// Returns the names of a method's parameters.
fn known<P: JsonSchema>() -> BTreeSet<String> {
    let mut generator = generator();
    let params = generator.subschema_for::<P>();
    names(params.as_value(), generator.definitions())
}

/// Parses parameters: one object with named fields; missing parameters count as an empty object.
fn read<P: DeserializeOwned>(
    params: &Params<'_>,
    known: &BTreeSet<String>,
) -> Result<P, ParamsError> {
    let text = params.as_str().map(str::trim).filter(|it| !it.is_empty() && *it != "null");
    let text = text.unwrap_or("{}");
    if !text.starts_with('{') {
        return Err(ParamsError::wrong("the parameters must be an object"));
    }
    let all: Map<String, Value> = serde_json::from_str(text).map_err(ParamsError::wrong)?;
    // Types with `serde(flatten)` do not reject unknown names.
    if let Some(name) = all.keys().find(|it| !known.contains(*it)) {
        return Err(ParamsError::unknown(name, known));
    }
    serde_json::from_value(Value::Object(all)).map_err(ParamsError::wrong)
}

/// Returns the names of parameters in a schema.
fn names(schema: &Value, definitions: &Map<String, Value>) -> BTreeSet<String> {
    let named = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next());
    let schema = named.and_then(|it| definitions.get(it)).unwrap_or(schema);
    let properties = schema["properties"].as_object();
    let own = properties.into_iter().flat_map(|it| it.keys().cloned());
    let aliases = properties.into_iter().flat_map(|it| it.values());
    let aliases = aliases.filter_map(|it| Some(it["x-alias"].as_str()?.to_owned()));
    let own = own.chain(aliases);
    let parts = ["allOf", "anyOf", "oneOf"].into_iter();
    let parts = parts.flat_map(|it| schema[it].as_array().into_iter().flatten());
    own.chain(parts.flat_map(|it| names(it, definitions))).collect()
}

/// Returns the doc comment of a type, as one text.
fn description<T: JsonSchema>() -> String {
    let schema = SchemaGenerator::default().into_root_schema_for::<T>();
    schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned()
}

struct Given(Value);

impl ToRpcParams for Given {
    fn to_rpc_params(self) -> Result<Option<Box<RawValue>>, serde_json::Error> {
        serde_json::value::to_raw_value(&self.0).map(Some)
    }
}

/// Calls a method of the table, for transports without a JSON-RPC server of their own.
pub async fn invoke(
    methods: &Methods,
    name: &str,
    params: Value,
) -> Result<Value, ErrorObjectOwned> {
    let started = Instant::now();
    let result = methods.call::<_, Value>(name, Given(params)).await.map_err(|error| match error {
        MethodsError::JsonRpc(object) => object,
        other => object(&Fault::new(Exit::Internal, format!("{name}: {other}"))),
    });
    let (milliseconds, code) =
        (started.elapsed().as_millis(), result.as_ref().err().map(|it| it.code()));
    tracing::debug!(method = name, milliseconds, code, "answered a request");
    result
}

/// Parameters of long work.
struct JobParams<P> {
    params: P,
    background: bool,
}

impl<'de, P: DeserializeOwned> Deserialize<'de> for JobParams<P> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut all = Map::deserialize(from)?;
        let background = match all.remove("background") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(it)) => it,
            Some(_) => return Err(D::Error::custom("`background` must be true or false")),
        };
        let params = serde_json::from_value(Value::Object(all)).map_err(D::Error::custom)?;
        Ok(JobParams { params, background })
    }
}

impl<P: JsonSchema> JsonSchema for JobParams<P> {
    fn schema_name() -> Cow<'static, str> {
        P::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = P::json_schema(generator);
        let about = "Return immediately with the id of the job; a `trellis/event` reports its end.";
        let background = json!({ "description": about, "type": "boolean", "default": false });
        if let Some(all) =
            schema.ensure_object().entry("properties").or_insert(json!({})).as_object_mut()
        {
            all.insert("background".to_owned(), background);
        }
        schema
    }
}

/// The answer of long work.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(bound = "R: JsonSchema")]
enum Outcome<R> {
    Begun(JobStarted),
    Done(Done<R>),
}

/// The job continues; `trellis/event` reports its progress, `trellis/job` its result.
#[derive(Serialize, JsonSchema)]
struct JobStarted {
    /// Its id.
    job: String,
}

/// A result already serialized to JSON.
#[derive(Serialize)]
#[serde(transparent)]
struct Done<R>(Value, #[serde(skip)] PhantomData<R>);

impl<R: JsonSchema> JsonSchema for Done<R> {
    fn schema_name() -> Cow<'static, str> {
        R::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        R::json_schema(generator)
    }
}

impl Entry {
    /// Returns the name without the prefix.
    pub fn short(&self) -> &'static str {
        self.name.strip_prefix(PREFIX).unwrap_or(self.name)
    }

    /// Returns the side effect in the form of the OpenRPC document.
    pub(super) fn effect(&self) -> Value {
        json!(match self.effect {
            Effect::Reads => "reads",
            Effect::Writes => "writes",
            Effect::Runs => "runs",
        })
    }
}
