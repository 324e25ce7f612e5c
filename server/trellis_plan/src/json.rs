//! Reads JSON piece by piece, so that every error can name its line and column.
//!
//! A value is first found as a borrowed slice of the file and parsed only later. The slice's
//! address gives its position in the file, so positions need not be stored.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::extra_fields::ExtraFields;

/// An error inside `part`, a slice of the file.
#[derive(Debug)]
pub(crate) struct JsonProblem<'a> {
    pub(crate) part: &'a str,
    /// Line and column within `part`, both from 1.
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl<'a> JsonProblem<'a> {
    pub(crate) fn new(part: &'a RawValue, message: impl fmt::Display) -> Self {
        JsonProblem {
            part: part.get(),
            line: 1,
            column: 1,
            message: message.to_string(),
            hint: None,
        }
    }

    pub(crate) fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    pub(crate) fn from_serde(part: &'a str, error: &serde_json::Error) -> Self {
        let full = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        let message = full.strip_suffix(&place).unwrap_or(&full).to_owned();
        JsonProblem {
            part,
            line: error.line().max(1),
            column: error.column().max(1),
            message,
            hint: None,
        }
    }
}

/// An object's fields in file order, with unparsed values.
pub(crate) struct Object<'a> {
    pub(crate) fields: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> Object<'a> {
    pub(crate) fn parse(raw: &'a RawValue) -> Result<Self, JsonProblem<'a>> {
        serde_json::from_str(raw.get()).map_err(|e| JsonProblem::from_serde(raw.get(), &e))
    }

    /// Returns the last value of a name, unless it is `null`.
    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        let found = self.fields.iter().rev().find(|(n, _)| n == name).map(|&(_, value)| value);
        found.filter(|value| !is_null(value))
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<Cow<'a, str>>, JsonProblem<'a>> {
        self.get(name).map(|raw| text(raw, name)).transpose()
    }

    /// Returns a slice of the file inside this object, as the position of an error on a missing
    /// field.
    pub(crate) fn place(&self) -> &'a str {
        self.fields.first().map_or("", |(_, value)| value.get())
    }

    /// Returns every field not in `known`, kept as written.
    pub(crate) fn rest(&self, known: &[&str]) -> ExtraFields {
        let mut fields = ExtraFields::default();
        for (name, value) in self.fields.iter().filter(|(name, _)| !known.contains(&&**name)) {
            fields.push(name, value);
        }
        fields
    }
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Object<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::with_capacity(8);
                while let Some(Key(name)) = map.next_key()? {
                    fields.push((name, map.next_value()?));
                }
                Ok(Object { fields })
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// An object key, borrowed from the file unless it has escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// Calls `f` with each object of the array `raw`, holding only one at a time. Errors call the array
/// `name`.
pub(crate) fn each_object<'a>(
    raw: &'a RawValue,
    name: &str,
    f: impl FnMut(Object<'a>) -> Result<(), JsonProblem<'a>>,
) -> Result<(), JsonProblem<'a>> {
    each(raw, name, f)
}

/// Calls `f` with each element of the array `raw`, read as `T`.
pub(crate) fn each<'a, T: Deserialize<'a>>(
    raw: &'a RawValue,
    name: &str,
    f: impl FnMut(T) -> Result<(), JsonProblem<'a>>,
) -> Result<(), JsonProblem<'a>> {
    struct Each<'w, 'a, F, T> {
        f: F,
        wrong: &'w mut Option<JsonProblem<'a>>,
        element: std::marker::PhantomData<T>,
    }
    impl<'a, T: Deserialize<'a>, F: FnMut(T) -> Result<(), JsonProblem<'a>>> Visitor<'a>
        for Each<'_, 'a, F, T>
    {
        type Value = ();
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array")
        }
        fn visit_seq<A: SeqAccess<'a>>(mut self, mut seq: A) -> Result<(), A::Error> {
            while let Some(element) = seq.next_element()? {
                if let Err(wrong) = (self.f)(element) {
                    *self.wrong = Some(wrong);
                    // This error only stops the reader; the caller reports `wrong`.
                    return Err(de::Error::custom("stopped"));
                }
            }
            Ok(())
        }
    }
    impl<'a, T: Deserialize<'a>, F: FnMut(T) -> Result<(), JsonProblem<'a>>> DeserializeSeed<'a>
        for Each<'_, 'a, F, T>
    {
        type Value = ();
        fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
            deserializer.deserialize_seq(self)
        }
    }
    if !raw.get().starts_with('[') {
        let found = noun(raw.get());
        return Err(JsonProblem::new(raw, format_args!("`{name}` is {found}, expected an array")));
    }
    let mut wrong = None;
    let mut deserializer = serde_json::Deserializer::from_str(raw.get());
    let done = Each { f, wrong: &mut wrong, element: std::marker::PhantomData }
        .deserialize(&mut deserializer);
    match (wrong, done) {
        // An empty object has no position of its own.
        (Some(wrong), _) if wrong.part.is_empty() => Err(JsonProblem { part: raw.get(), ..wrong }),
        (Some(wrong), _) => Err(wrong),
        (None, Err(e)) => Err(JsonProblem::from_serde(raw.get(), &e)),
        (None, Ok(())) => Ok(()),
    }
}

pub(crate) fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
}

/// Returns the string in `raw`, borrowed unless it has escapes.
pub(crate) fn text<'a>(raw: &'a RawValue, name: &str) -> Result<Cow<'a, str>, JsonProblem<'a>> {
    let json = raw.get();
    let Some(inner) = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return Err(JsonProblem::new(
            raw,
            format_args!("`{name}` is {}, expected a string", noun(json)),
        ));
    };
    if !inner.contains('\\') {
        return Ok(Cow::Borrowed(inner));
    }
    serde_json::from_str::<String>(json)
        .map(Cow::Owned)
        .map_err(|e| JsonProblem::from_serde(json, &e))
}

/// Returns the strings of an array. A lone string counts as an array of one; other elements are
/// kept as their JSON.
pub(crate) fn texts<'a>(raw: &'a RawValue, name: &str) -> Result<Vec<String>, JsonProblem<'a>> {
    if raw.get().starts_with('"') {
        return Ok(vec![text(raw, name)?.into_owned()]);
    }
    let mut found = Vec::new();
    each(raw, name, |element: &RawValue| {
        found.push(if element.get().starts_with('"') {
            text(element, name)?.into_owned()
        } else {
            element.get().to_owned()
        });
        Ok(())
    })?;
    Ok(found)
}

/// Returns the kind of a JSON value, with its article.
pub(crate) fn noun(json: &str) -> &'static str {
    match json.as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}
