//! Arguments of tools: one declaration yields typed arguments, their check, their JSON schema and
//! their short form.

use std::num::NonZeroUsize;

use serde_json::{Map, Value, json};

/// One argument of a tool.
#[derive(Clone, Copy)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) kind: Kind,
    pub(super) required: bool,
}

/// JSON type of an argument.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Text,
    /// A whole number with this minimum.
    Number(usize),
    Flag,
}

/// A type of arguments. `null` counts as absent: many models send it for arguments they leave out.
pub(super) trait Argument: Sized {
    const KIND: Kind;
    const REQUIRED: bool = true;

    /// Parses a value; `None` if it has another type.
    fn of(value: &Value) -> Option<Self>;

    /// Returns the value of an absent argument.
    fn absent() -> Option<Self> {
        None
    }
}

impl Argument for String {
    const KIND: Kind = Kind::Text;

    fn of(value: &Value) -> Option<String> {
        value.as_str().map(str::to_owned)
    }
}

impl Argument for usize {
    const KIND: Kind = Kind::Number(0);

    fn of(value: &Value) -> Option<usize> {
        // Some providers have only one number type and write 3.0 for 3.
        let whole = |it: &f64| it.fract() == 0.0 && (0.0..1e15).contains(it);
        let number = value.as_u64().or_else(|| value.as_f64().filter(whole).map(|it| it as u64));
        number.and_then(|it| usize::try_from(it).ok())
    }
}

impl Argument for NonZeroUsize {
    const KIND: Kind = Kind::Number(1);

    fn of(value: &Value) -> Option<NonZeroUsize> {
        usize::of(value).and_then(NonZeroUsize::new)
    }
}

impl Argument for bool {
    const KIND: Kind = Kind::Flag;

    fn of(value: &Value) -> Option<bool> {
        value.as_bool()
    }
}

impl<T: Argument> Argument for Option<T> {
    const KIND: Kind = T::KIND;
    const REQUIRED: bool = false;

    fn of(value: &Value) -> Option<Option<T>> {
        T::of(value).map(Some)
    }

    fn absent() -> Option<Option<T>> {
        Some(None)
    }
}

/// Description of an argument that names a symbol.
pub(super) const NAME_PATH: &str =
    "`name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second of that name";

/// The arguments of one tool.
pub(super) trait Arguments: Sized {
    const NAME: &'static str;
    /// Purpose and use of the tool, for the model.
    const ABOUT: &'static str;
    const FIELDS: &'static [Field];

    /// Reads the arguments strictly.
    ///
    /// # Errors
    ///
    /// All problems, as sentence fragments.
    fn read(given: &Map<String, Value>) -> Result<Self, Vec<String>>;
}

/// Declares the arguments of a tool: its name, its description, then `field: type = description`
/// each.
macro_rules! tool {
    ($name:literal, $about:literal, $arguments:ident { $($field:ident: $type:ty = $of:expr,)* }) => {
        #[doc = concat!("What `", $name, "` takes.")]
        pub(super) struct $arguments { $($field: $type,)* }

        impl $crate::tools::arguments::Arguments for $arguments {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = $about;
            const FIELDS: &'static [$crate::tools::arguments::Field] = &[
                $($crate::tools::arguments::Field {
                    name: stringify!($field),
                    about: $of,
                    kind: <$type as $crate::tools::arguments::Argument>::KIND,
                    required: <$type as $crate::tools::arguments::Argument>::REQUIRED,
                },)*
            ];

            fn read(given: &serde_json::Map<String, serde_json::Value>) -> Result<Self, Vec<String>> {
                #[allow(unused_mut, reason = "a tool without arguments reads none")]
                let mut reader = $crate::tools::arguments::Reader::new(given, Self::FIELDS);
                $(let $field = reader.take::<$type>(stringify!($field), given);)*
                match ($($field,)*) {
                    ($(Some($field),)*) if reader.wrong.is_empty() => Ok($arguments { $($field,)* }),
                    _ => Err(reader.wrong),
                }
            }
        }
    };
}
pub(super) use tool;

/// Reads arguments and collects their problems.
pub(super) struct Reader {
    pub(super) wrong: Vec<String>,
}

impl Reader {
    pub(super) fn new(given: &Map<String, Value>, fields: &[Field]) -> Reader {
        let unknown = given.keys().filter(|key| fields.iter().all(|it| it.name != *key));
        Reader { wrong: unknown.map(|key| format!("it takes no `{}`", clip(key))).collect() }
    }

    pub(super) fn take<T: Argument>(
        &mut self,
        name: &str,
        given: &Map<String, Value>,
    ) -> Option<T> {
        let (value, wrong) = match given.get(name) {
            None | Some(Value::Null) => (T::absent(), format!("`{name}` is missing")),
            Some(value) => {
                let (wanted, found) = (T::KIND.wanted(), found(value));
                (T::of(value), format!("`{name}` has to be {wanted}, and is {found}"))
            }
        };
        if value.is_none() {
            self.wrong.push(wrong);
        }
        value
    }
}

impl Kind {
    fn wanted(self) -> String {
        match self {
            Kind::Text => "a text".to_owned(),
            Kind::Number(least) => format!("a whole number from {least}"),
            Kind::Flag => "true or false".to_owned(),
        }
    }

    fn schema(self, about: &str) -> Value {
        match self {
            Kind::Text => json!({ "type": "string", "description": about }),
            Kind::Number(least) => {
                json!({ "type": "integer", "minimum": least, "description": about })
            }
            Kind::Flag => json!({ "type": "boolean", "description": about }),
        }
    }
}

/// Returns a JSON schema of type `object`.
pub(super) fn schema(fields: &[Field]) -> Value {
    let property = |it: &Field| (it.name.to_owned(), it.kind.schema(it.about));
    let required = fields.iter().filter(|it| it.required).map(|it| it.name);
    json!({
        "type": "object",
        "properties": fields.iter().map(property).collect::<Map<_, _>>(),
        "required": required.collect::<Vec<_>>(),
        "additionalProperties": false,
    })
}

/// Returns the short form, such as `{path: text, from_line?: number}`.
pub(super) fn short(fields: &[Field]) -> String {
    let field = |it: &Field| {
        let kind = match it.kind {
            Kind::Text => "text",
            Kind::Number(_) => "number",
            Kind::Flag => "true or false",
        };
        format!("{}{}: {kind}", it.name, if it.required { "" } else { "?" })
    };
    format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
}

fn found(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(it) => it.to_string(),
        Value::Number(it) => it.to_string(),
        Value::String(it) => format!("the text {:?}", clip(it)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// Summarizes arguments: short values as they are, long texts by their length, and at most [`MOST`]
/// arguments.
pub(super) fn summary(given: &Map<String, Value>) -> String {
    let one = |(name, value): (&String, &Value)| {
        let shown = match value {
            Value::String(it) if it.len() > SHOWN || it.contains('\n') => {
                format!("({} bytes)", it.len())
            }
            Value::String(it) => it.clone(),
            other => clip(&other.to_string()).to_owned(),
        };
        format!("{}={shown}", clip(name))
    };
    given.iter().take(MOST).map(one).collect::<Vec<_>>().join(" ")
}

/// Maximum number of arguments in a summary; no tool takes more.
const MOST: usize = 6;
/// Maximum bytes of a value in a summary.
const SHOWN: usize = 80;

fn clip(text: &str) -> &str {
    &text[..text.floor_char_boundary(SHOWN)]
}
