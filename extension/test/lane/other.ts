// Extensions for tests, packed so that an editor can install them.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository, target } from './lanes';

/**
 * Packs an extension of one file, unless it was packed before.
 * @param manifest fields of package.json except name and version
 * @returns the path of the package
 */
export function other(name: string, manifest: object, main: string): string {
  const whole = { name, publisher: 'trellis', version: '0.0.1', main: './main.js', ...manifest };
  const files = { 'package.json': JSON.stringify(whole), 'main.js': main, 'README.md': 'Made for a test.\n' };
  const digest = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16);
  const home = join(target, 'editors', 'others', `${name}-${digest}`);
  if (!existsSync(home)) pack(name, files, home);
  return join(home, `${name}.vsix`);
}

/** Packs files in a folder beside `home`, which is renamed to `home` when it is complete. */
function pack(name: string, files: Readonly<Record<string, string>>, home: string): void {
  mkdirSync(join(home, '..'), { recursive: true });
  const folder = mkdtempSync(`${home}-`);
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  const vsce = join(repository, 'extension', 'node_modules', '@vscode', 'vsce', 'vsce');
  const options = ['--no-dependencies', '--allow-missing-repository', '--skip-license'];
  const args = [vsce, 'package', ...options, '--out', join(folder, `${name}.vsix`)];
  const ran = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  if (ran.status !== 0) throw new Error(`${name} was not packed:\n${ran.stdout}${ran.stderr}`);
  if (existsSync(home)) rmSync(folder, { recursive: true });
  else renameSync(folder, home);
}
