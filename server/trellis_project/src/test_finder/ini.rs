//! Settings files of the form that pytest reads with `iniconfig`.

use std::collections::BTreeMap;

/// Returns the values of a section, by key; `None` if there is no such section. Further lines of a
/// value are indented.
pub(super) fn section(text: &str, name: &str) -> Option<BTreeMap<String, String>> {
    let mut found: Option<BTreeMap<String, String>> = None;
    let (mut is_here, mut key) = (false, String::new());
    for line in text.lines() {
        let plain = line.trim();
        if plain.is_empty() || plain.starts_with(['#', ';']) {
            continue;
        }
        if let Some(title) = line.strip_prefix('[').and_then(|it| it.split(']').next()) {
            is_here = title.trim() == name;
            if is_here {
                found.get_or_insert_default();
            }
            continue;
        }
        let Some(values) = found.as_mut().filter(|_| is_here) else { continue };
        if line.starts_with([' ', '\t']) {
            let value: &mut String = values.entry(key.clone()).or_default();
            *value = format!("{value}\n{plain}");
        } else if let Some((name, value)) = plain.split_once(['=', ':']) {
            key = name.trim().to_owned();
            values.insert(key.clone(), value.trim().to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::section;

    #[test]
    fn a_value_continues_in_indented_lines() {
        let text = "[other]\na = 1\n[pytest]\n# note\ntestpaths =\n    a\n    # no\n    b c\npython_files: x_*.py\n[last]\ntestpaths = z\n";
        let found = section(text, "pytest").expect("a section");
        assert_eq!(found["testpaths"], "\na\nb c");
        assert_eq!(found["python_files"], "x_*.py");
        assert_eq!(section(text, "tool:pytest"), None);
    }
}
