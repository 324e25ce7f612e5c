// Writes src/protocol.ts: the types of every method of the sidecar, from its own description.
// `--check` writes nothing and fails where the file is not what the description gives.
import { readFileSync, writeFileSync } from 'node:fs';
import { compile } from 'json-schema-to-typescript';

const description = JSON.parse(readFileSync(new URL('../../fixtures/wire/openrpc.json', import.meta.url)));
const target = new URL('../src/protocol.ts', import.meta.url);

const paramsName = (method) => `${pascal(method.name)}Params`;
const pascal = (name) => name.replace('trellis/', '').replace(/^./, (first) => first.toUpperCase());

const paramsOf = (method) => ({
  type: 'object',
  additionalProperties: false,
  description: method.description,
  required: method.params.filter((it) => it.required).map((it) => it.name),
  properties: Object.fromEntries(method.params.map((it) => [it.name, it.schema])),
});

const definitions = { ...description.components.schemas };
const methods = {};
for (const method of description.methods) {
  // A type of the results may have this name already.
  const name = paramsName(method) in definitions ? `${paramsName(method)}Of` : paramsName(method);
  definitions[name] = paramsOf(method);
  methods[method.name] = {
    type: 'object',
    additionalProperties: false,
    required: ['params', 'result'],
    properties: { params: { $ref: `#/definitions/${name}` }, result: method.result.schema },
  };
}
const events = Object.fromEntries(description['x-notifications'].map((it) => [it.name, it.schema]));

const schema = JSON.parse(
  JSON.stringify({
    title: 'Protocol',
    type: 'object',
    additionalProperties: false,
    required: ['methods', 'notifications'],
    properties: {
      methods: {
        type: 'object',
        additionalProperties: false,
        required: Object.keys(methods),
        properties: methods,
      },
      notifications: {
        type: 'object',
        additionalProperties: false,
        required: Object.keys(events),
        properties: events,
      },
    },
    definitions,
  }).replaceAll('#/components/schemas/', '#/definitions/'),
);

// What stands beside a reference makes a type of its own of each.
const bare = (it) => {
  if (Array.isArray(it)) return it.map(bare);
  if (it === null || typeof it !== 'object') return it;
  if (typeof it.$ref === 'string') return { $ref: it.$ref };
  return Object.fromEntries(Object.entries(it).map(([name, value]) => [name, bare(value)]));
};

const compiled = await compile(bare(schema), 'Protocol', {
  bannerComment:
    '// Made by `npm run protocol` from fixtures/wire/openrpc.json, which `trellis serve --describe` prints.',
  unreachableDefinitions: true,
  additionalProperties: false,
  format: false,
});
// Who refers to a type is no news in a language with an index.
const referred = / \* ?\n \* This interface was referenced by [\s\S]*?(?= \*\/)/g;
// An empty interface would be true of every object.
const empty = /export interface (\w+) \{\s*\}/g;
const text = compiled.replaceAll(referred, '').replaceAll(empty, 'export type $1 = Record<string, never>;');
if (!process.argv.includes('--check')) {
  writeFileSync(target, text);
} else if (readFileSync(target, 'utf8') !== text) {
  console.error('src/protocol.ts is not what fixtures/wire/openrpc.json gives: run `npm run protocol`');
  process.exit(1);
}
