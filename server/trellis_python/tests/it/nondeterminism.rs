//! Code whose result may differ from one run to the next.

use trellis_python::may_vary;

fn varies(source: &str) -> bool {
    may_vary([source], &|module| module == "shop")
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

#[test]
fn a_fixture_of_a_plug_in_may_be_anything() {
    let own = "import pytest\n\n@pytest.fixture\ndef basket(tmp_path):\n    return []\n\n\n\
        @pytest.fixture(name='shop')\ndef any_shop(request, basket):\n    return basket\n";
    let steady = [
        "def test_a(basket, capsys, limit=3):\n    pass\n",
        "import pytest\n\n@pytest.mark.usefixtures('basket')\ndef test_a(shop):\n    pass\n",
        "import pytest\n\n@pytest.mark.parametrize('a, b', [(1, 2)])\n\
         @pytest.mark.parametrize(['c'], [(1,)])\ndef test_a(a, b, c):\n    pass\n",
        "import pytest\n\npytestmark = pytest.mark.parametrize('a', [1])\n\n\ndef test_a(a):\n    pass\n",
        "from unittest import mock\n\n@mock.patch('shop.buy')\ndef test_a(buy):\n    pass\n",
        "from unittest.mock import patch\n\n@patch.object(int, 'real')\ndef test_a(real):\n    pass\n",
        "class TestA:\n    def test_a(self, shop):\n        pass\n",
        "def price(customer):\n    return 1\n",
    ];
    for source in steady {
        assert!(!may_vary([own, source], &|_| false), "{source}");
    }
    for source in [
        "def test_a(faker):\n    pass\n",
        "class TestA:\n    def test_a(self, faker):\n        pass\n",
        "import pytest\n\n@pytest.fixture\ndef name(faker):\n    return faker.name()\n",
        "import pytest\n\n@pytest.mark.usefixtures('freezer')\ndef test_a():\n    pass\n",
        "async def test_a(*, faker):\n    pass\n",
    ] {
        assert!(may_vary([own, source], &|_| false), "{source}");
    }
}
