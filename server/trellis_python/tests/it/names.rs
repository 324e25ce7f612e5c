//! Name queries return the same answers whether files were already parsed or not.

use std::sync::Arc;

use trellis_python::{Index, NamePath, TextSource, Words};

struct NoTexts;

impl TextSource for NoTexts {
    fn read(&self, _path: &str) -> Option<Arc<str>> {
        None
    }
}

/// All ways in which a text can define a name that contains "thing".
const DEFINING: [&str; 14] = [
    "def thing(): pass\n",
    "class Something(Base): pass\n",
    "class A:\n    async def \\\n  do_thing(self): pass\n",
    "THING = 1\n",
    "thing: int\n",
    "a, (thing, b) = 1, (2, 3)\n",
    "[a,\n thing] = 1, 2\n",
    "(a, thing) = f(x)\n",
    "x = thing = 1\n",
    "type Things[T] = list[T]\n",
    "thing \\\n = 1\n",
    "if x: thing = 1; other = 2\n",
    "*thing, last = x\n",
    "class A:\n\tthing\t=\t1\n",
];

/// Texts that use such names without defining them.
const NAMING: [&str; 8] = [
    "from m import thing, other\n",
    "import thing\n",
    "x = f(thing, 1)\n",
    "class A(Something): pass\n",
    "self.thing()\nx = thing.y\n",
    "# thing\n",
    "print(\"thing\")\n",
    "for thing in x: pass\n",
];

#[test]
fn definitions_are_found_before_anything_was_parsed() {
    let pattern = NamePath::parse("thing").unwrap();
    for (text, count) in DEFINING.iter().map(|it| (*it, 1)).chain(NAMING.iter().map(|it| (*it, 0)))
    {
        let mut index = Index::new(Arc::new(NoTexts));
        index.put("m.py", Words::of(text), Some(text.into()));
        let before = (index.workspace_symbols("thing", 10), index.find(&pattern, true, &[]));
        assert_eq!(before.0.len(), count, "{text}");
        index.prepare(|| true);
        let after = (index.workspace_symbols("thing", 10), index.find(&pattern, true, &[]));
        assert_eq!(before, after, "{text}");
    }
}
