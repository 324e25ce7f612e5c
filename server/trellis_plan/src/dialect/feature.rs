//! Reads nodes of ZeroRepo and CoderMind: a feature phrase as the name, everything on the code in
//! `meta`.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::identity;
use crate::build::Builder;
use crate::extra_fields::ExtraFields;
use crate::json::{JsonProblem, Object, is_null, text, texts};
use crate::node::{Kind, Level, Node, NodeIx};

/// Adds a feature node. The level of a node without a known `type_name` is set later, by its
/// children.
pub(super) fn node<'a>(
    builder: &mut Builder<'a>,
    object: &Object<'a>,
) -> Result<NodeIx, JsonProblem<'a>> {
    let id = identity(object, "id", "a node")?;
    let feature = object.text("name")?.unwrap_or(Cow::Borrowed(""));
    let meta = match object.get("meta") {
        Some(raw) => Object::parse(raw)?,
        None => Object { fields: Vec::new() },
    };
    let place = match meta.get("path") {
        Some(raw) => place(raw)?,
        None => FeatureLocation::default(),
    };
    let mut node = Node::new(
        &id,
        if feature.is_empty() { &id } else { &feature },
        kind(object, &meta, &place)?,
    );
    if let Some(definition) = &place.definition {
        node.name = definition.as_str().into();
    }
    node.file_path = place.file.as_deref().map(|file| builder.shared(file));
    let written = [meta.text("description")?, meta.text("content")?, Some(feature.clone())];
    node.docstring =
        written.into_iter().flatten().find(|text| !text.trim().is_empty()).map(Into::into);
    node.extra = extra(object, &feature, &node)?;
    Ok(builder.node(node))
}

/// Returns the fields without a counterpart in appendix A.
fn extra<'a>(
    object: &Object<'a>,
    feature: &str,
    node: &Node,
) -> Result<ExtraFields, JsonProblem<'a>> {
    let mut extra = ExtraFields::default();
    if feature != &*node.name {
        extra.push_text("feature", feature);
    }
    if let Some(role) = object.get("node_type") {
        extra.push("feature_type", role);
    }
    for (name, value) in &object.fields {
        if !["id", "name", "node_type", "children"].contains(&&**name) {
            extra.push(name, value);
        }
    }
    Ok(extra)
}

/// Returns the kind of `type_name`, or else the kind suggested by the path and the feature's own
/// type.
fn kind<'a>(
    object: &Object<'a>,
    meta: &Object<'a>,
    place: &FeatureLocation,
) -> Result<Kind, JsonProblem<'a>> {
    if let Some(word) = meta.text("type_name")? {
        return Ok(Kind::parse(&word));
    }
    Ok(match &place.definition {
        Some(name) if name.contains('.') => Kind::Method,
        Some(name) if name.starts_with(char::is_uppercase) => Kind::Class,
        Some(_) => Kind::Function,
        None => Kind::Other(object.text("node_type")?.unwrap_or(Cow::Borrowed("feature")).into()),
    })
}

/// Location of a feature: a file or folder, and the definition in it.
#[derive(Default)]
struct FeatureLocation {
    file: Option<String>,
    definition: Option<String>,
}

/// Splits `a/b.py:Class.method`, `a/b.py::Class::method` and the older `a/b.py::class Name`. A list
/// of several folders has no single location.
fn place(raw: &RawValue) -> Result<FeatureLocation, JsonProblem<'_>> {
    if raw.get().starts_with('[') {
        let folders = texts(raw, "path")?;
        let only = if folders.len() == 1 { folders.into_iter().next() } else { None };
        return Ok(FeatureLocation { file: only.filter(|path| is_place(path)), definition: None });
    }
    let path = text(raw, "path")?;
    let Some((file, rest)) = path.split_once(':') else {
        return Ok(FeatureLocation {
            file: Some(path.into_owned()).filter(|path| is_place(path)),
            definition: None,
        });
    };
    let parts = rest.trim_start_matches(':').split("::").map(|part| {
        let part = part.trim();
        ["class ", "function ", "method "]
            .iter()
            .find_map(|word| part.strip_prefix(word))
            .unwrap_or(part)
    });
    let definition = parts.collect::<Vec<_>>().join(".");
    Ok(FeatureLocation {
        file: Some(file.to_owned()),
        definition: Some(definition).filter(|name| !name.is_empty()),
    })
}

/// Returns whether a path names a file or folder; `.`, the whole repository, does not count.
fn is_place(path: &str) -> bool {
    !path.is_empty() && path != "."
}

/// Makes features without children leaves, unless they are folders, files or packages.
pub(super) fn settle_levels(builder: &mut Builder<'_>) {
    const GROUPS: [&str; 6] =
        ["directory", "file", "package", "repo", "functional_area", "category"];
    let parents = builder.parents();
    for (node, is_parent) in builder.nodes_mut().iter_mut().zip(parents) {
        if let Kind::Other(word) = &node.kind {
            let groups = is_parent || GROUPS.contains(&&**word);
            node.level = if groups { Level::Composite } else { Level::Leaf };
        }
    }
}

/// Returns `repo_name` and `repo_info` under the names of appendix A, and the fields that neither
/// form knows.
pub(super) fn about<'a>(
    top: &Object<'a>,
    known: &[&str],
) -> Result<(ExtraFields, ExtraFields), JsonProblem<'a>> {
    let mut metadata = ExtraFields::default();
    for (theirs, ours) in [("repo_name", "project_name"), ("repo_info", "description")] {
        if let Some(raw) = top.get(theirs).filter(|raw| !is_null(raw)) {
            metadata.push(ours, raw);
        }
    }
    let known: Vec<&str> = known.iter().copied().chain(["repo_name", "repo_info"]).collect();
    Ok((metadata, top.rest(&known)))
}
