//! Rewords complaints about a reply for people.

/// Returns the reason that a reply cannot be used, without the instructions to the model.
pub(super) fn for_people(why: &str) -> String {
    let shapeless = ["it is not clear which", "it defines nothing", "it holds no search/replace"];
    if shapeless.iter().any(|it| why.starts_with(it)) {
        return "it has no search/replace block".to_owned();
    }
    if let Some(same) = why.strip_prefix("it is the very change of ") {
        return format!("it is the same as {}", same.split(':').next().unwrap_or_default());
    }
    let requests = [
        "; answer with search/replace",
        "; name files as",
        "; give the whole path",
        ": change less",
    ];
    let end = requests.iter().filter_map(|it| why.find(it)).min();
    why[..end.unwrap_or(why.len())].to_owned()
}

#[cfg(test)]
mod tests {
    use super::for_people;

    #[test]
    fn people_read_what_is_wrong_and_not_what_the_model_should_do() {
        let shapeless = "it has no search/replace block";
        let table = [
            (
                "it is not clear which `x` is meant; answer with search/replace blocks under their \
                 paths",
                shapeless,
            ),
            ("it holds no search/replace block", shapeless),
            ("it defines nothing; answer with search/replace blocks", shapeless),
            ("it is the very change of fix 2: make another one", "it is the same as fix 2"),
            ("a.py may be x/a.py or y/a.py; give the whole path", "a.py may be x/a.py or y/a.py"),
            (
                "a.py has no `import b`; answer with search/replace blocks that add it",
                "a.py has no `import b`",
            ),
            ("it changes nothing", "it changes nothing"),
        ];
        for (why, shown) in table {
            assert_eq!(for_people(why), shown);
        }
    }
}
