// `npm run package`: makes a VSIX for one system, with its sidecar and its bill of materials.
//
// TRELLIS_BIN: the sidecar for that system; else ../target/release/trellis. TARGET: the system as vsce names it; else this
// one.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bill } from './bom.mjs';

const extension = fileURLToPath(new URL('../', import.meta.url));
const target = process.env.TARGET ?? `${process.platform}-${process.arch}`;
const windows = target.startsWith('win32');
const name = windows ? 'trellis.exe' : 'trellis';
const built = fileURLToPath(new URL(`../../target/release/${name}`, import.meta.url));
const binary = process.env.TRELLIS_BIN ?? built;
const { version } = JSON.parse(readFileSync(`${extension}package.json`, 'utf8'));
const vsix = `trellis-${target}-${version}.vsix`;

function run(program, ...given) {
  const ran = spawnSync(program, given, { cwd: extension, stdio: 'inherit' });
  if (ran.error) throw ran.error;
  if (ran.status !== 0) process.exit(ran.status ?? 1);
}

if (!existsSync(binary)) {
  console.error(`${binary} is not there: build it by \`cargo xtask release\`, or say TRELLIS_BIN`);
  process.exit(1);
}
rmSync(`${extension}server-bin`, { recursive: true, force: true });
mkdirSync(`${extension}server-bin`);
copyFileSync(binary, `${extension}server-bin/${name}`);
chmodSync(`${extension}server-bin/${name}`, 0o755);
for (const it of ['LICENSE-MIT', 'LICENSE-APACHE'])
  copyFileSync(`${extension}../${it}`, `${extension}${it}.txt`);
rmSync(`${extension}dist`, { recursive: true, force: true });
run(process.execPath, 'scripts/build.mjs', '--production');
writeFileSync(`${extension}bom.cdx.json`, `${await bill(target)}\n`);
run(
  process.execPath,
  'node_modules/@vscode/vsce/vsce',
  'package',
  '--no-dependencies',
  // Pictures are part of the package.
  '--no-rewrite-relative-links',
  '--target',
  target,
  '--out',
  vsix,
);
const megabytes = (path) => (statSync(path).size / 1e6).toFixed(1);
console.log(`${vsix}: ${megabytes(`${extension}${vsix}`)} MB, its sidecar ${megabytes(binary)} MB unpacked`);
