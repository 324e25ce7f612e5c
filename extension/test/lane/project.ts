// A small Python project with a passing and a failing test.
import { join } from 'node:path';
import { write } from './scratch';

const files = {
  'prices.py': `"""What things cost."""


def total(prices):
    """The sum of all prices."""
    return sum(prices)


def discounted(price, percent):
    """The price with so many percent taken off."""
    return price - percent
`,
  'test_prices.py': `from prices import discounted, total


def test_total():
    assert total([1, 2, 3]) == 6


def test_discounted():
    assert discounted(200, 10) == 180
`,
};

/** Writes the project below a folder, and returns its own. */
export function project(below: string, name = 'shop'): string {
  const root = join(below, name);
  for (const [path, text] of Object.entries(files)) write(join(root, path), text);
  return root;
}
