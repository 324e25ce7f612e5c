//! Tests of the check for definitions that the context has already.

use trellis_engine::issue::{Context, duplicate_definitions};

const AUDIT: &str = "class AuditLog:\n    def write(self, line):\n        pass\n\n\ndef read_config(path):\n    pass\n\n\ndef _own():\n    pass\n";

#[test]
fn a_definition_of_the_context_is_not_made_anew() {
    let mut context = Context::default();
    context.add("core/audit.py", AUDIT.to_owned());
    context.add("docs/standards.MD", "class Prose: no code\n".to_owned());
    assert_eq!((context.code.len(), context.standards.len()), (1, 1));
    let table: [(&str, Option<&str>, &str, &[&str]); 7] = [
        ("a.py", None, "class AuditLog:\n    pass\n", &["class `AuditLog` in core/audit.py"]),
        ("a.py", None, "class Audit_log:\n    pass\n", &["class `AuditLog` in core/audit.py"]),
        (
            "a.py",
            None,
            "def readConfig(path):\n    pass\n",
            &["function `read_config` in core/audit.py"],
        ),
        // The definition existed before; the file is the same; the name is private; the name is a
        // method.
        ("a.py", Some("class AuditLog:\n    pass\n"), "class AuditLog:\n    x = 1\n", &[]),
        ("core/audit.py", None, AUDIT, &[]),
        ("a.py", None, "def _own():\n    pass\n", &[]),
        (
            "a.py",
            None,
            "from core.audit import AuditLog\n\n\nclass A:\n    def read_config(self):\n        pass\n",
            &[],
        ),
    ];
    for (path, before, after, wanted) in table {
        let found = duplicate_definitions(&context, &[(path, before, after)]);
        assert_eq!(found.len(), wanted.len(), "{after}: {found:?}");
        for (found, wanted) in found.iter().zip(wanted) {
            assert!(found.contains(wanted), "{found}");
        }
    }
}
