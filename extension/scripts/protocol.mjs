// Writes src/protocol.ts: the types of every method of the sidecar, from its API description. With `--check` it writes
// nothing, and fails if the file is not up to date.
import { readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { compile } from 'json-schema-to-typescript';

const description = JSON.parse(readFileSync(new URL('../../fixtures/wire/openrpc.json', import.meta.url)));
const target = new URL('../src/protocol.ts', import.meta.url);

const PREFIX = '#/components/schemas/';
const refTo = (name) => ({ $ref: `${PREFIX}${name}` });
const pascal = (name) => name.replace('trellis/', '').replace(/^./, (first) => first.toUpperCase());

/** Applies `change` to each object in a value, the innermost first. */
const mapped = (value, change) => {
  if (Array.isArray(value)) return value.map((it) => mapped(it, change));
  if (value === null || typeof value !== 'object') return value;
  return change(Object.fromEntries(Object.entries(value).map(([name, it]) => [name, mapped(it, change)])));
};

/** Removes descriptions beside references, which would make a new type of each; properties beside them stay. */
const withoutSiblings = (it) => {
  if (typeof it.$ref !== 'string') return it;
  const ref = { $ref: it.$ref };
  if (it.properties === undefined) return ref;
  const { type, properties, required } = it;
  return { allOf: [{ type, properties, required }, ref] };
};

/** Replaces references by those to the new names of schemas. */
const renamed = (value, names) =>
  mapped(value, (it) => {
    const name = it.$ref?.replace(PREFIX, '');
    return names.has(name) ? refTo(names.get(name)) : it;
  });

/** Collects the names of all schemas that a value refers to, directly or indirectly. */
const reachable = (value, schemas, seen = new Set()) => {
  mapped(value, (it) => {
    const name = it.$ref?.replace(PREFIX, '');
    if (name !== undefined && !seen.has(name)) {
      seen.add(name);
      reachable(schemas[name], schemas, seen);
    }
    return it;
  });
  return seen;
};

// A union of references alone, such as the answer of a job, has no name of its own: it is inlined.
const isUnion = (it) => it.anyOf?.every((one) => typeof one.$ref === 'string');
const given = mapped(description, withoutSiblings);
const unions = Object.fromEntries(Object.entries(given.components.schemas).filter(([, it]) => isUnion(it)));
/** Replaces references to unions by the unions. */
const inlined = (value) =>
  mapped(value, (it) => {
    const union = unions[it.$ref?.replace(PREFIX, '')];
    return union === undefined ? it : { anyOf: union.anyOf };
  });
let schemas = inlined(given.components.schemas);
for (const name of Object.keys(unions)) delete schemas[name];
let methods = inlined(given.methods);

// The parameters of a method are the schema that the description has for them, renamed after the method.
const paramsOf = (method) => ({
  type: 'object',
  description: method.description,
  required: method.params.filter((it) => it.required).map((it) => it.name),
  properties: Object.fromEntries(method.params.map((it) => [it.name, it.schema])),
});
const isParamsOf = (schema, params) =>
  schema.description === params.description &&
  isDeepStrictEqual(schema.properties ?? {}, params.properties) &&
  isDeepStrictEqual(new Set(schema.required), new Set(params.required));
/** New names by original names. */
const names = new Map();
methods = methods.map((method) => {
  const params = paramsOf(method);
  const name = `${pascal(method.name)}Params`;
  const known = Object.keys(schemas).find((it) => !names.has(it) && isParamsOf(schemas[it], params));
  if (known === undefined) schemas[name] = params;
  else names.set(known, name);
  return { ...method, params: refTo(known ?? name) };
});

// The description numbers types with equal names. Types of the same shape are merged; others are named after the
// method that uses them, unless the name without a number is free.
for (const numbered of Object.keys(schemas).filter((it) => /\d$/.test(it))) {
  const base = numbered.replace(/\d+$/, '');
  const first = schemas[base];
  const isFree = first === undefined && ![...names.values()].includes(base);
  const isSame = first !== undefined && isDeepStrictEqual(schemas[numbered], first);
  const user = methods.find((it) => reachable([it.params, it.result], schemas).has(numbered));
  if (isFree || isSame) names.set(numbered, base);
  else if (user !== undefined) names.set(numbered, `${pascal(user.name)}${base}`);
}

schemas = Object.fromEntries(Object.entries(schemas).map(([name, it]) => [names.get(name) ?? name, it]));

const object = (properties) => ({
  type: 'object',
  additionalProperties: false,
  required: Object.keys(properties),
  properties,
});
const byName = (list, schemaOf) => object(Object.fromEntries(list.map((it) => [it.name, schemaOf(it)])));

const protocol = renamed(
  {
    title: 'Protocol',
    ...object({
      methods: byName(methods, ({ params, result }) => object({ params, result: result.schema })),
      notifications: byName(inlined(given['x-notifications']), (it) => it.schema),
      errorData: refTo('ErrorData'),
    }),
    definitions: schemas,
  },
  names,
);

const compiled = await compile(
  JSON.parse(JSON.stringify(protocol).replaceAll(PREFIX, '#/definitions/')),
  'Protocol',
  {
    bannerComment:
      '// Made by `npm run protocol` from fixtures/wire/openrpc.json, which `trellis serve --describe` prints.',
    unreachableDefinitions: false,
    additionalProperties: false,
    format: false,
  },
);
// The generator's lists of references are left out.
const referred = / \* ?\n \* This interface was referenced by [\s\S]*?(?= \*\/)/g;
// An empty interface would accept every object.
const empty = /export interface (\w+) \{\s*\}/g;
const text = compiled.replaceAll(referred, '').replaceAll(empty, 'export type $1 = Record<string, never>;');
if (!process.argv.includes('--check')) {
  writeFileSync(target, text);
} else if (readFileSync(target, 'utf8') !== text) {
  console.error('src/protocol.ts is not what fixtures/wire/openrpc.json gives: run `npm run protocol`');
  process.exit(1);
}
