// The project in the pictures: a cart with a failing test.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { write } from '../lane/scratch';

const cart = `"""The cart of a shop."""

# Orders above this amount ship for free.
FREE_FROM = 100


def price_of(items):
    return sum(n * price for n, price in items)


def shipping(items):
    total = price_of(items)
    if total > FREE_FROM:
        return 0
    return 5
`;

const tests = `from shop.cart import price_of, shipping


def test_at_limit():
    assert shipping([(2, 50)]) == 0


def test_below_limit():
    assert shipping([(1, 99)]) == 5


def test_above_limit():
    assert shipping([(1, 101)]) == 0


def test_prices():
    assert price_of([(2, 3)]) == 6
`;

const rates = `"""Taxes and discounts."""


def tax(price):
    return price / 5


def discounted(price, percent):
    return price - percent
`;

const rateTests = `from shop.rates import discounted


def test_ten_percent_off():
    assert discounted(200, 10) == 180
`;

const generated = `import pytest

from shop.rates import tax


def test_nothing_is_not_taxed():
    assert tax(0) == 0


@pytest.mark.parametrize("price", [5, 50, 500])
def test_tax_is_a_fifth(price):
    assert tax(price) == price / 5


def test_cents():
    assert tax(9.99) == pytest.approx(1.998)
`;

const mapping = (testFile: string, ...testNames: string[]) => ({
  testFile,
  testNames,
  generatedAt: '2026-01-01T00:00:00Z',
});

/** The registry of generated tests, which ties them to their functions. */
const registry = {
  version: 1,
  mappings: {
    'shop/cart.py::shipping': mapping(
      'tests/test_cart.py',
      'test_at_limit',
      'test_below_limit',
      'test_above_limit',
    ),
    'shop/cart.py::price_of': mapping('tests/test_cart.py', 'test_prices'),
    'shop/rates.py::discounted': mapping('tests/test_rates.py', 'test_ten_percent_off'),
  },
};

/** Files of a second module, with another failing test. */
export const second = {
  'shop/rates.py': rates,
  'tests/test_rates.py': rateTests,
};

const files = {
  'pytest.ini': '[pytest]\npythonpath = .\n',
  'shop/__init__.py': '',
  'shop/cart.py': cart,
  'tests/test_cart.py': tests,
  '.trellis/registry.json': JSON.stringify(registry),
};

/** Writes the project below a folder, and returns its own. */
export function shop(below: string, more: Readonly<Record<string, string>> = {}): string {
  const root = join(below, 'shop');
  for (const [path, text] of Object.entries({ ...files, ...more })) write(join(root, path), text);
  return root;
}

const block = (file: string, search: string, replace: string) =>
  `${file}\n<<<<<<< SEARCH\n${search}\n=======\n${replace}\n>>>>>>> REPLACE\n`;

const replies = [
  {
    node: 'tests/test_cart.py::test_at_limit',
    stage: 'repair',
    reply:
      'An order of exactly 100 ships for free, too.\n\n' +
      block(
        'shop/cart.py',
        '# Orders above this amount ship for free.',
        '# Orders from this amount on ship for free.',
      ) +
      block('shop/cart.py', '    if total > FREE_FROM:', '    if total >= FREE_FROM:'),
  },
  {
    node: 'tests/test_rates.py::test_ten_percent_off',
    stage: 'repair',
    reply: block('shop/rates.py', '    return price - percent', '    return price * (100 - percent) / 100'),
  },
  { node: 'shop/rates.py::tax', stage: 'write_tests', reply: `\`\`\`python\n${generated}\`\`\`\n` },
];

/** Writes the recorded replies of the model; returns the value of `trellis.model`. */
export function recordedShop(): string {
  const file = join(mkdtempSync(join(tmpdir(), 'trellis-replies-')), 'replies.jsonl');
  write(file, replies.map((it) => `${JSON.stringify({ attempt: 0, ...it })}\n`).join(''));
  return `recorded:${file}`;
}
