//! Code whose result may differ from one run to the next.

use trellis_python::may_vary;

fn varies(source: &str) -> bool {
    may_vary(source, &|module| module == "shop")
}

#[test]
fn code_on_its_arguments_alone_does_the_same_in_each_run() {
    for source in [
        "",
        "def add(a, b):\n    return a - b\n",
        "import math\nfrom collections import Counter, OrderedDict\nimport collections.abc\n",
        "from shop.cart import Cart\nfrom . import prices\nfrom .names import clean\n",
        "import pytest\n\n@pytest.mark.parametrize('n', [1, 2])\ndef test(n):\n    assert n\n",
        "totals = {name: 0 for name in ['a']}\n",
        "from pathlib import Path\n\ndef read(path):\n    return Path(path).read_text()\n",
    ] {
        assert!(!varies(source), "{source}");
    }
}

#[test]
fn clocks_randomness_threads_sets_folders_and_other_packages_may_vary() {
    for source in [
        "import random\n",
        "from time import monotonic\n",
        "from datetime import datetime as steady\n",
        "def late():\n    import threading\n",
        "import math, uuid\n",
        "import requests\n",
        "import os.path\n",
        "names = {'a', 'b'}\n",
        "names = {it for it in 'ab'}\n",
        "first = list(set(names))[0]\n",
        "first = next(iter(map(frozenset, names)))\n",
        "key = hash('a') % 8\n",
        "key = 'a'.__hash__() % 8\n",
        "def order(it):\n    return sorted(it, key=id)\n",
        "def all(folder):\n    return [it.name for it in folder.iterdir()]\n",
        "exec(text)\n",
        "def broken(:\n",
    ] {
        assert!(varies(source), "{source}");
    }
}
