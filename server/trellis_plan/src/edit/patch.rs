//! Changes JSON text to another value, and keeps everything else byte for byte.

use rustc_hash::FxHashMap;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::layout::Layout;
use crate::json::Object;

/// Returns the text with another value. Objects and lists that stay keep their layout; new parts
/// are laid out like their neighbors.
pub(super) fn patch(text: &str, old: &Value, new: &Value) -> String {
    let mut patcher = Patcher { out: String::with_capacity(text.len()), layout: Layout::of(text) };
    let inside = text.trim();
    let start = text.len() - text.trim_start().len();
    patcher.out.push_str(&text[..start]);
    patcher.value(inside, old, new, None);
    patcher.out.push_str(&text[start + inside.len()..]);
    patcher.out
}

struct Patcher {
    out: String,
    layout: Layout,
}

/// One field of an object, or one element of a list, in the text.
struct Entry<'a> {
    /// Blanks and the comma before the entry.
    lead: &'a str,
    /// The key with its colon; empty in a list.
    key: &'a str,
    text: &'a str,
}

/// An entry of the new text.
struct Wanted<'a> {
    /// Key of a field that the text does not have.
    key: Option<&'a str>,
    /// Index of the entry that stays, and its old value.
    kept: Option<(usize, &'a Value)>,
    new: &'a Value,
}

impl Patcher {
    /// Writes a value; `lead` are the blanks before the entry that holds it.
    fn value(&mut self, text: &str, old: &Value, new: &Value, lead: Option<&str>) {
        match (old, new) {
            _ if old == new => self.out.push_str(text),
            (Value::Object(before), Value::Object(after)) if !before.is_empty() => {
                self.object(text, before, after);
            }
            (Value::Array(before), Value::Array(after)) if !before.is_empty() => {
                self.list(text, before, after);
            }
            _ => self.layout.write(&mut self.out, new, lead.and_then(indentation)),
        }
    }

    fn object(&mut self, text: &str, before: &Map<String, Value>, after: &Map<String, Value>) {
        let Ok(object) = serde_json::from_str::<Object<'_>>(text) else { return };
        let values: Vec<&str> = object.fields.iter().map(|(_, raw)| raw.get()).collect();
        let entries = entries(text, &values);
        let names: Vec<&str> = object.fields.iter().map(|(name, _)| &**name).collect();
        let wanted = wanted_fields(&names, before, after);
        self.container(text, &entries, wanted);
    }

    fn list(&mut self, text: &str, before: &[Value], after: &[Value]) {
        let Ok(values) = serde_json::from_str::<Vec<&RawValue>>(text) else { return };
        let values: Vec<&str> = values.into_iter().map(RawValue::get).collect();
        let entries = entries(text, &values);
        let kept = align(before, after);
        let wanted = after.iter().zip(kept).map(|(new, at)| Wanted {
            key: None,
            kept: at.map(|at| (at, &before[at])),
            new,
        });
        self.container(text, &entries, wanted.collect());
    }

    /// Writes an object or a list that was not empty.
    fn container(&mut self, text: &str, entries: &[Entry<'_>], wanted: Vec<Wanted<'_>>) {
        let first = entries.first().map_or("", |it| it.lead);
        let common = entries
            .get(1)
            .map_or_else(|| format!(",{}", self.layout.lead(first)), |it| it.lead.to_owned());
        let sibling = entries.last().is_some_and(|it| it.text.contains('\n'));
        self.out.push_str(&text[..1]);
        let is_empty = wanted.is_empty();
        for (at, it) in wanted.into_iter().enumerate() {
            let own = it.kept.map(|(place, _)| entries[place].lead).filter(|it| it.contains(','));
            let lead = if at == 0 { first } else { own.unwrap_or(&common) };
            self.out.push_str(lead);
            match (it.kept, it.key) {
                (Some((place, old)), _) => {
                    self.out.push_str(entries[place].key);
                    self.value(entries[place].text, old, it.new, Some(lead));
                }
                (None, Some(key)) => {
                    self.out.push_str(&self.layout.key(key));
                    self.layout.write(&mut self.out, it.new, indentation(lead));
                }
                // An element is laid out in lines if its neighbor is.
                (None, None) => {
                    let indent = indentation(lead).filter(|_| sibling);
                    self.layout.write(&mut self.out, it.new, indent);
                }
            }
        }
        let end = if is_empty { text.len() - 1 } else { end_of(text, entries) };
        self.out.push_str(&text[end..]);
    }
}

/// Returns the fields of an object's new text. `names` are the keys of its text; of a key that occurs
/// several times the last one counts, and the others stay as they are.
fn wanted_fields<'a>(
    names: &[&str],
    before: &'a Map<String, Value>,
    after: &'a Map<String, Value>,
) -> Vec<Wanted<'a>> {
    let places: FxHashMap<&str, usize> =
        names.iter().enumerate().map(|(at, name)| (*name, at)).collect();
    let field = |(name, new): (&'a String, &'a Value)| match (
        places.get(name.as_str()),
        before.get(name),
    ) {
        (Some(&at), Some(old)) => Wanted { key: None, kept: Some((at, old)), new },
        _ => Wanted { key: Some(name), kept: None, new },
    };
    let mut wanted: Vec<Wanted<'_>> = after.iter().map(field).collect();
    if places.len() < names.len() {
        let is_repeated = |(at, name): &(usize, &&str)| {
            places.get(**name) != Some(at) && after.contains_key(**name)
        };
        let repeated = names.iter().enumerate().filter(is_repeated);
        wanted.extend(repeated.filter_map(|(at, name)| {
            let old = before.get(*name)?;
            Some(Wanted { key: None, kept: Some((at, old)), new: old })
        }));
        wanted.sort_by_key(|it| it.kept.map_or(usize::MAX, |(at, _)| at));
    }
    wanted
}

/// Returns the entries of an object or a list, whose values are slices of `text`.
fn entries<'a>(text: &'a str, values: &[&'a str]) -> Vec<Entry<'a>> {
    let mut end = 1;
    let entry = |value: &&'a str| {
        let start = value.as_ptr() as usize - text.as_ptr() as usize;
        let before = &text[end..start];
        let key = before.find('"').unwrap_or(before.len());
        end = start + value.len();
        Entry { lead: &before[..key], key: &before[key..], text: value }
    };
    values.iter().map(entry).collect()
}

/// Returns the end of the last entry.
fn end_of(text: &str, entries: &[Entry<'_>]) -> usize {
    let last = entries.last().map_or(&text[..1], |it| it.text);
    last.as_ptr() as usize + last.len() - text.as_ptr() as usize
}

/// Returns the indentation of a line that begins with these blanks; `None` within a line.
fn indentation(lead: &str) -> Option<&str> {
    lead.rsplit_once('\n').map(|(_, indent)| indent)
}

/// Returns, for each new element, the index of the old one that it continues. Elements are known by
/// their identity; between two known ones, they belong together in order.
fn align(before: &[Value], after: &[Value]) -> Vec<Option<usize>> {
    let mut places: FxHashMap<String, Vec<usize>> = FxHashMap::default();
    for (at, it) in before.iter().enumerate().rev() {
        places.entry(identity(it)).or_default().push(at);
    }
    let mut next = 0;
    let mut out: Vec<Option<usize>> = Vec::with_capacity(after.len());
    for it in after {
        let all = places.get_mut(&identity(it));
        let found = all.and_then(|all| {
            while all.last().is_some_and(|at| *at < next) {
                all.pop();
            }
            all.pop()
        });
        next = found.map_or(next, |at| at + 1);
        out.push(found);
    }
    fill_gaps(&mut out, before.len());
    out
}

/// Gives elements without a counterpart the old ones that are left between their neighbors.
fn fill_gaps(aligned: &mut [Option<usize>], count: usize) {
    let mut free = 0;
    for at in 0..aligned.len() {
        if let Some(place) = aligned[at] {
            free = place + 1;
            continue;
        }
        let bound = aligned[at..].iter().flatten().next().copied().unwrap_or(count);
        if free < bound {
            aligned[at] = Some(free);
            free += 1;
        }
    }
}

fn identity(it: &Value) -> String {
    let names: &[&str] =
        if it.get("id").is_some() { &["id"] } else { &["source", "target", "type"] };
    match it {
        Value::Object(fields) if names.iter().any(|name| fields.contains_key(*name)) => {
            names.iter().map(|name| format!("{:?}", fields.get(*name))).collect()
        }
        other => other.to_string(),
    }
}
