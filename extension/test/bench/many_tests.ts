// A Python project with many tests, each of one function.
import { join } from 'node:path';
import { write } from '../lane/scratch';

/** Number of tests in a file. */
const EACH = 10;

/** Writes a project with so many tests below a folder, and returns its own. */
export function manyTests(below: string, tests: number): string {
  const root = join(below, `tests-${tests}`);
  write(join(root, 'pyproject.toml'), '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n');
  write(join(root, 'shop', '__init__.py'), '');
  write(join(root, 'shop', 'base.py'), 'def clamp(x):\n    return max(0, x)\n');
  for (let part = 0; part * EACH < tests; part += 1) {
    const numbers = [...Array(Math.min(EACH, tests - part * EACH)).keys()];
    write(
      join(root, 'shop', `part${part}.py`),
      `from shop.base import clamp\n${numbers.map((it) => functionOf(it)).join('')}`,
    );
    write(
      join(root, 'tests', `test_part${part}.py`),
      `from shop import part${part}\n${numbers.map((it) => testOf(part, it)).join('')}`,
    );
  }
  return root;
}

function functionOf(number: number): string {
  return `\n\ndef f${number}(x):\n    total = sum(n * x for n in range(20))\n    return clamp(total + ${number})\n`;
}

function testOf(part: number, number: number): string {
  return `\n\ndef test_${part}_${number}():\n    assert part${part}.f${number}(0) == ${number}\n`;
}
