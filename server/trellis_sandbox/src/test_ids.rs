//! Parts of test ids, such as `tests/test_cart.py::TestCart::test_total[2-4]`.

/// Returns the file of a test id.
pub fn file_of(id: &str) -> &str {
    id.split_once("::").map_or(id, |it| it.0)
}

/// Returns whether an id equals that of a file, a class or a function, or lies below it.
pub fn is_below(id: &str, target: &str) -> bool {
    let rest = id.strip_prefix(target);
    rest.is_some_and(|it| it.is_empty() || it.starts_with("::") || it.starts_with('['))
}

/// Returns whether a run of targets, which may be folders, includes an id; all tests without any.
pub fn is_target(targets: &[String], id: &str) -> bool {
    let holds = |target: &String| {
        let folder = target.trim_end_matches('/');
        is_below(id, target) || id.strip_prefix(folder).is_some_and(|it| it.starts_with('/'))
    };
    targets.is_empty() || targets.iter().any(holds)
}

/// Returns whether an id is that of an example in a docstring or a document.
pub fn is_example(id: &str) -> bool {
    let name = id.split_once("::").map_or("", |it| it.1);
    name.split('[').next().unwrap_or_default().contains('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_lie_below_files_folders_classes_and_functions() {
        let id = "t/test_a.py::TestA::test_b[1]";
        assert_eq!([file_of(id), file_of("t/test_a.py")], ["t/test_a.py"; 2]);
        for (target, wanted) in [
            ("t", [false, true]),
            ("t/", [false, true]),
            ("t/test_a.py", [true, true]),
            ("t/test_a.py::TestA", [true, true]),
            ("t/test_a.py::TestA::test_b", [true, true]),
            ("t/test_a.py::TestA::test", [false, false]),
        ] {
            let found = [is_below(id, target), is_target(&[target.to_owned()], id)];
            assert_eq!(found, wanted, "{target}");
        }
        assert!(is_target(&[], id) && !is_example(id) && !is_example("a.py::test_a[1.5]"));
        assert!(is_example("a.py::pkg.a.f") && is_example("a.md::a.md"));
    }
}
