// Extensions made for a test, packed so that a server can install them.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository, target } from './lanes';

/**
 * Packs an extension of one file.
 * @param manifest what its package.json has beside name and version
 * @returns the path of the package
 */
export function other(name: string, manifest: object, main: string): string {
  mkdirSync(join(target, 'editors'), { recursive: true });
  const folder = mkdtempSync(join(target, 'editors', `${name}-`));
  const whole = { name, publisher: 'trellis', version: '0.0.1', main: './main.js', ...manifest };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(whole));
  writeFileSync(join(folder, 'main.js'), main);
  writeFileSync(join(folder, 'README.md'), 'Made for a test.\n');
  const vsce = join(repository, 'extension', 'node_modules', '@vscode', 'vsce', 'vsce');
  const path = join(folder, `${name}.vsix`);
  const options = ['--no-dependencies', '--allow-missing-repository', '--skip-license', '--out', path];
  const ran = spawnSync(process.execPath, [vsce, 'package', ...options], { cwd: folder, encoding: 'utf8' });
  if (ran.status !== 0) throw new Error(`${name} was not packed:\n${ran.stdout}${ran.stderr}`);
  return path;
}
