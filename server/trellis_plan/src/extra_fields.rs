//! Keeps JSON fields as they were written.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

/// Named JSON values in file order, each kept byte for byte.
#[derive(Clone, Debug, Default)]
pub struct ExtraFields(Vec<(Box<str>, Box<RawValue>)>);

impl ExtraFields {
    pub(crate) fn push(&mut self, name: &str, value: &RawValue) {
        self.0.push((name.into(), value.to_owned()));
    }

    /// Adds a string that the file does not have in this form.
    pub(crate) fn push_text(&mut self, name: &str, text: &str) {
        // A `Value` string always serializes.
        if let Ok(value) = serde_json::value::to_raw_value(text) {
            self.0.push((name.into(), value));
        }
    }

    /// Renames fields whose names an exported plan has for something else.
    pub(crate) fn rename(&mut self, own: &[&str]) {
        for (name, _) in self.0.iter_mut().filter(|(name, _)| own.contains(&&**name)) {
            *name = format!("original_{name}").into();
        }
    }

    /// Returns the value of a name as JSON text; the last one if the file repeats the name.
    pub fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.iter().rev().find(|(n, _)| &**n == name).map(|(_, value)| &**value)
    }

    /// Returns the value of a name if it is a JSON string.
    pub fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.get(name)?.get()).ok()
    }

    /// Returns names and values in file order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Returns the number of fields.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether both have the same fields in the same order, ignoring `skip`.
    pub(crate) fn same_but(&self, other: &ExtraFields, skip: &str) -> bool {
        let kept = |fields: &'_ ExtraFields| -> Vec<(String, String)> {
            let wanted = fields.iter().filter(|(name, _)| *name != skip);
            wanted.map(|(name, value)| (name.to_owned(), value.get().to_owned())).collect()
        };
        kept(self) == kept(other)
    }

    /// Writes every field except `skip` into an open map.
    pub(crate) fn write_into<M: SerializeMap>(
        &self,
        map: &mut M,
        skip: &str,
    ) -> Result<(), M::Error> {
        let wanted = self.iter().filter(|(name, _)| *name != skip);
        wanted.into_iter().try_for_each(|(name, value)| map.serialize_entry(name, value))
    }
}

impl PartialEq for ExtraFields {
    fn eq(&self, other: &Self) -> bool {
        self.iter().map(|(n, v)| (n, v.get())).eq(other.iter().map(|(n, v)| (n, v.get())))
    }
}

impl Serialize for ExtraFields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        self.write_into(&mut map, "")?;
        map.end()
    }
}
