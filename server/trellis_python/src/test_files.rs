//! Recognizes tests by the names of files.

/// Returns whether pytest or unittest collects a file by its name, or shares its fixtures with the
/// folder.
pub fn is_test_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some(stem) = name.strip_suffix(".py") else { return false };
    let is_named = matches!(stem, "conftest" | "test" | "tests");
    is_named || stem.starts_with("test_") || stem.ends_with("_test")
}

/// Returns whether a file belongs to tests: it is one, or lies in a folder of tests.
pub fn belongs_to_tests(path: &str) -> bool {
    let folders = path.rsplit_once('/').map_or("", |it| it.0);
    let in_tests = folders.split('/').any(|it| matches!(it, "test" | "tests" | "testing"));
    in_tests || is_test_file(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_show_tests() {
        let table = [
            ("a/test_x.py", true, true),
            ("x_test.py", true, true),
            ("shop/tests.py", true, true),
            ("a/conftest.py", true, true),
            ("tests/data.py", false, true),
            ("click/testing.py", false, false),
            ("testimony.py", false, false),
            ("test_x.toml", false, false),
        ];
        for (path, is_test, belongs) in table {
            assert_eq!((is_test_file(path), belongs_to_tests(path)), (is_test, belongs), "{path}");
        }
    }
}
