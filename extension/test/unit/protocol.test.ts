// Conformance of src/protocol.ts to the messages that were recorded in fixtures/wire.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';

/** A request with real parameters, and the shape of its answer. */
interface Exchange {
  readonly method: string;
  readonly params: unknown;
  /**
   * Shape of the result, with `"text"`, `"number"`, `"boolean"` and `"null"` for values; absent in a refused request.
   */
  readonly result?: unknown;
}

const repository = process.env.TRELLIS_REPOSITORY ?? '';
const extension = join(repository, 'extension');
const wire = join(repository, 'fixtures', 'wire');

test('every recorded exchange conforms to the types', () => {
  const all = exchanges();
  assert.ok(all.length >= 20, `only ${all.length} exchanges were found in ${wire}`);
  assert.equal(complaints(all), '');
});

test('every type has a name without a number, and is used', () => {
  const text = readFileSync(join(extension, 'src', 'protocol.ts'), 'utf8');
  const names = [...text.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name]) => name ?? '');
  assert.ok(names.length > 100, 'the types were found');
  assert.deepEqual(
    names.filter((it) => /\d$/.test(it)),
    [],
  );
  const words = new Map<string, number>();
  for (const [word] of text.replaceAll(/\/\*[\s\S]*?\*\//g, '').matchAll(/\w+/g))
    words.set(word, (words.get(word) ?? 0) + 1);
  assert.deepEqual(
    names.filter((it) => words.get(it) === 1),
    ['Protocol'],
  );
});

const wrong: readonly { readonly name: string; readonly exchange: Exchange }[] = [
  { name: 'a parameter of another type', exchange: { method: 'trellis/planOrder', params: { graph: 1 } } },
  { name: 'a parameter that is not known', exchange: { method: 'trellis/jobs', params: { grph: 'x' } } },
  { name: 'a method that is not known', exchange: { method: 'trellis/nothing', params: {} } },
  {
    name: 'a field of another type',
    exchange: { method: 'trellis/jobs', params: {}, result: { jobs: 'text' } },
  },
  {
    name: 'a field that is not known',
    exchange: { method: 'trellis/jobs', params: {}, result: { jobs: [], more: 'number' } },
  },
  { name: 'a field that is missing', exchange: { method: 'trellis/jobs', params: {}, result: {} } },
];

test('an exchange that does not conform is found', () => {
  // The compiler runs once for all: each error names the line of its exchange.
  const said = complaints(wrong.map((it) => it.exchange));
  const lines = new Set([...said.matchAll(/exchanges\.ts\((\d+),/g)].map(([, line]) => Number(line)));
  const seen = wrong.filter((_, index) => lines.has(head('').length + index + 1)).map((it) => it.name);
  assert.deepEqual(
    seen,
    wrong.map((it) => it.name),
    said,
  );
});

/** Reads the answered exchanges; parameters of refused requests need not conform. */
function exchanges(): Exchange[] {
  const files = readdirSync(wire).filter((it) => it !== 'openrpc.json');
  const all = files.flatMap((it): Exchange[] => JSON.parse(readFileSync(join(wire, it), 'utf8')));
  return all.filter((it) => it.result !== undefined);
}

/** The values of strings are not recorded: any string conforms where the types name some. */
const head = (protocol: string): string[] => [
  `import type { Protocol } from '${protocol}';`,
  `type Methods = Protocol['methods'];`,
  `type Shape<T> = T extends string ? string : T extends object ? { [K in keyof T]: Shape<T[K]> } : T;`,
  `declare function exchange<M extends keyof Methods>(`,
  `  method: M, params: Methods[M]['params'], result?: Shape<Methods[M]['result']>): void;`,
];

/** Returns the compiler's errors about calls with these exchanges. */
function complaints(all: readonly Exchange[]): string {
  const folder = mkdtempSync(join(extension, 'node_modules', '.cache', 'wire-'));
  try {
    const protocol = relative(folder, join(extension, 'src', 'protocol'));
    const file = join(folder, 'exchanges.ts');
    writeFileSync(file, [...head(protocol), ...all.map(call)].join('\n'));
    return compiled(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function compiled(file: string): string {
  const config = { extends: join(extension, 'tsconfig.json'), include: ['exchanges.ts'] };
  writeFileSync(join(dirname(file), 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(extension, 'node_modules', '.bin', 'tsc');
  const ended = spawnSync(tsc, ['--pretty', 'false', '-p', dirname(file)], { encoding: 'utf8' });
  if (ended.error !== undefined) throw ended.error;
  return ended.status === 0 ? '' : ended.stdout + ended.stderr;
}

function call({ method, params, result }: Exchange): string {
  const given = result === undefined ? '' : `, ${JSON.stringify(valued(result))}`;
  return `exchange('${method}', ${JSON.stringify(params)}${given});`;
}

const values: Readonly<Record<string, unknown>> = { text: 'text', number: 1, boolean: true, null: null };

/** Makes a value of a recorded shape. */
function valued(shape: unknown): unknown {
  if (typeof shape === 'string') {
    if (!(shape in values)) throw new Error(`no shape is called ${shape}`);
    return values[shape];
  }
  if (Array.isArray(shape)) return shape.map(valued);
  if (typeof shape !== 'object' || shape === null) throw new Error(`no shape: ${String(shape)}`);
  return Object.fromEntries(Object.entries(shape).map(([key, it]) => [key, valued(it)]));
}
