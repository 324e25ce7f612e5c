// Imports between files and between folders contain no circle.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';

type Graph = ReadonlyMap<string, readonly string[]>;

const extension = join(process.env.TRELLIS_REPOSITORY ?? '', 'extension');

/** Finds relative imports and re-exports of a file, types included. */
function importsOf(file: string, text: string): string[] {
  const found = text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'(\.{1,2}\/[^']+)'/g);
  return [...found].map(([, path]) => `${normalize(join(dirname(file), path ?? ''))}.ts`);
}

/** Reads the imports of every file below `src` and `webview`. */
function files(): Graph {
  const all = ['src', 'webview'].flatMap((folder) =>
    readdirSync(join(extension, folder), { recursive: true, encoding: 'utf8' }).map((it) => join(folder, it)),
  );
  const sources = all.filter((it) => it.endsWith('.ts'));
  return new Map(sources.map((it) => [it, importsOf(it, readFileSync(join(extension, it), 'utf8'))]));
}

/** Merges the files of each folder; files directly below `src` stand for themselves. */
function folders(graph: Graph): Graph {
  const folderOf = (file: string) => (dirname(file) === 'src' ? file : dirname(file));
  const merged = new Map<string, string[]>();
  for (const [file, imports] of graph) {
    const folder = folderOf(file);
    const others = imports.map(folderOf).filter((it) => it !== folder);
    merged.set(folder, [...(merged.get(folder) ?? []), ...others]);
  }
  return merged;
}

/** Finds groups of nodes that reach each other (Tarjan's strongly connected components), sorted. */
function circles(graph: Graph): string[][] {
  const [index, low, open]: [Map<string, number>, Map<string, number>, string[]] = [new Map(), new Map(), []];
  const found: string[][] = [];
  const visit = (node: string): number => {
    const own = index.size;
    index.set(node, own);
    open.push(node);
    let lowest = own;
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) lowest = Math.min(lowest, visit(next));
      else if (open.includes(next)) lowest = Math.min(lowest, low.get(next) ?? index.get(next) ?? own);
    }
    low.set(node, lowest);
    if (lowest === own) {
      const group = open.splice(open.indexOf(node));
      if (group.length > 1) found.push(group.sort());
    }
    return lowest;
  };
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return found.sort();
}

test('the circles of a graph are found', () => {
  const graph = new Map([
    ['a', ['b']],
    ['b', ['c']],
    ['c', ['a', 'd']],
    ['d', ['e']],
    ['e', []],
    ['f', ['g', 'a']],
    ['g', ['f']],
  ]);
  assert.deepEqual(circles(graph), [
    ['a', 'b', 'c'],
    ['f', 'g'],
  ]);
});

test('imports are found in every form', () => {
  const text = `import './a';
import type { B } from '../b';
export {
  c,
} from './d/c';
const e = await import('./e');
import { f } from 'f';
`;
  assert.deepEqual(importsOf('src/x/y.ts', text), ['src/x/a.ts', 'src/b.ts', 'src/x/d/c.ts', 'src/x/e.ts']);
});

test('every relative import names a file that exists', () => {
  const graph = files();
  assert.ok(graph.size > 50, 'the sources were found');
  const unknown = [...graph].flatMap(([file, imports]) =>
    imports.filter((it) => !graph.has(it)).map((it) => `${file}: ${it}`),
  );
  assert.deepEqual(unknown, []);
});

test('no files import each other in a circle', () => {
  assert.deepEqual(circles(files()), []);
});

test('no folders import each other in a circle', () => {
  assert.deepEqual(circles(folders(files())), []);
});
