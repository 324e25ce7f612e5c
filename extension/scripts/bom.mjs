// `node scripts/bom.mjs [TARGET]`: prints the software bill of materials of a package, as CycloneDX JSON.
//
// It lists what is in the package: crates that the sidecar is linked with (as the lock file says, no build or test
// dependencies), npm packages that were bundled, and data of others. Neither a time nor a random number is in it, so that
// the same sources give the same list.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Contrib, Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';
import { PackageURL } from 'packageurl-js';
import validate from 'spdx-expression-parse';
import { bundled } from './bundles.mjs';

const extension = fileURLToPath(new URL('..', import.meta.url));
const repository = fileURLToPath(new URL('../..', import.meta.url));
const licenses = new Contrib.License.Factories.LicenseFactory(validate);

/** Targets of rustc by those of vsce. */
const TRIPLES = {
  'linux-x64': 'x86_64-unknown-linux-gnu',
  'linux-arm64': 'aarch64-unknown-linux-gnu',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
  'win32-x64': 'x86_64-pc-windows-msvc',
  'win32-arm64': 'aarch64-pc-windows-msvc',
};

/** Data of others in the sidecar; `NOTICE` describes them. */
const DATA = [
  ['bert-base-uncased-vocabulary', 'server/trellis_llm/data/vocab.txt', Enums.ComponentType.Data],
  [
    'static-minilm-256-int8',
    'server/trellis_llm/data/static-minilm-256-int8.bin',
    Enums.ComponentType.MachineLearningModel,
  ],
];

/** Makes the bill of the package for `target`. */
export async function bill(target) {
  const { version } = JSON.parse(readFileSync(join(extension, 'package.json'), 'utf8'));
  const whole = component('application', 'trellis', version, { license: 'MIT OR Apache-2.0' });
  const bom = new Models.Bom({ metadata: new Models.Metadata({ component: whole }) });
  for (const it of [...crates(triple(target)), ...(await packages()), ...DATA.map(data)])
    bom.components.add(it);
  const factory = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  return new Serialize.JsonSerializer(factory).serialize(bom, { sortLists: true, space: 1 });
}

function triple(target) {
  const known = TRIPLES[target];
  if (known) return known;
  throw new Error(`no sidecar is built for ${target}; it is built for ${Object.keys(TRIPLES).join(', ')}`);
}

/** Returns the crates that the binary is linked with, its own included. */
function crates(triple) {
  const asked = ['metadata', '--locked', '--format-version', '1', '--filter-platform', triple];
  const ran = spawnSync('cargo', asked, { cwd: repository, encoding: 'utf8', maxBuffer: 1e9 });
  if (ran.error) throw ran.error;
  if (ran.status !== 0) throw new Error(`cargo metadata: ${ran.stderr}`);
  const { packages, resolve } = JSON.parse(ran.stdout);
  const known = new Map(packages.map((it) => [it.id, it]));
  const needs = new Map(resolve.nodes.map((it) => [it.id, it.deps]));
  const sums = checksums();
  return linked(packages.find((it) => it.name === 'trellis').id, needs).map((id) => {
    const { name, version, license, source } = known.get(id);
    const purl = source ? new PackageURL('cargo', undefined, name, version).toString() : undefined;
    return component('library', name, version, { license, purl, sum: sums.get(`${name} ${version}`) });
  });
}

/** Returns all runtime dependencies of `id`, direct and indirect. */
function linked(id, needs) {
  const found = new Set([id]);
  for (const it of found) {
    const normal = needs.get(it).filter((its) => its.dep_kinds.some(({ kind }) => kind === null));
    for (const { pkg } of normal) found.add(pkg);
  }
  return [...found];
}

/** Reads the SHA-256 of the crates' archives, by `NAME VERSION`. */
function checksums() {
  const lock = readFileSync(join(repository, 'Cargo.lock'), 'utf8');
  const entries = lock.matchAll(/name = "(.+)"\nversion = "(.+)"\nsource = ".+"\nchecksum = "(.+)"/g);
  return new Map([...entries].map(([, name, version, sum]) => [`${name} ${version}`, sum]));
}

/** Returns the packages that the bundles contain code of. */
async function packages() {
  const lock = JSON.parse(readFileSync(join(extension, 'package-lock.json'), 'utf8')).packages;
  return (await bundled()).map((path) => {
    const { version, license, integrity } = lock[path];
    const [name, group] = path.split('node_modules/').at(-1).split('/').reverse();
    const purl = new PackageURL('npm', group, name, version).toString();
    const sum512 = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
    return component('library', name, version, { license, purl, group, sum512 });
  });
}

function data([name, path, type]) {
  const sum = createHash('sha256')
    .update(readFileSync(join(repository, path)))
    .digest('hex');
  return component(type, name, undefined, { license: 'Apache-2.0', sum });
}

function component(type, name, version, { license, purl, group, sum, sum512 }) {
  const hashes = new Models.HashDictionary();
  if (sum) hashes.set(Enums.HashAlgorithm['SHA-256'], sum);
  if (sum512) hashes.set(Enums.HashAlgorithm['SHA-512'], sum512);
  const made = new Models.Component(type, name, {
    version,
    group,
    purl,
    hashes,
    bomRef: purl ?? `${type}:${name}`,
  });
  // Older crates write `/` for `OR`.
  made.licenses.add(licenses.makeFromString(license.replace(/\s*\/\s*/g, ' OR ')));
  return made;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.stdout.write(`${await bill(process.argv[2] ?? `${process.platform}-${process.arch}`)}\n`);
