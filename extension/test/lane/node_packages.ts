// Packages of npm for the projects of tests, installed once below the target folder.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { target } from './lanes';

/** Puts a package, such as `vitest@3`, and all that it needs into a project. */
export function addPackage(root: string, name: string): void {
  const files = { recursive: true, verbatimSymlinks: true };
  cpSync(join(installed(name), 'node_modules'), join(root, 'node_modules'), files);
}

/** Returns the folder of a package, which the tests of the sandbox install there as well. */
function installed(name: string): string {
  const home = join(target, 'tmp', `npm-${name}`);
  if (existsSync(home)) return home;
  mkdirSync(join(target, 'tmp'), { recursive: true });
  const folder = mkdtempSync(join(target, 'tmp', 'npm-'));
  writeFileSync(join(folder, 'package.json'), '{}');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', name], { cwd: folder, stdio: 'pipe' });
  renameSync(folder, home);
  return home;
}
