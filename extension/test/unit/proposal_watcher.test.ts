import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { ProposalWatcher } from '../../src/approval/proposal_watcher';
import { files } from './vscode';

beforeEach(() => {
  files.found = [];
  files.asked = [];
});

/** Makes a project below an open folder, with a folder `.trellis`. */
function project(): string {
  const root = join(mkdtempSync(join(tmpdir(), 'watch-')), 'grown');
  mkdirSync(join(root, '.trellis'), { recursive: true });
  return root;
}

/** Returns the projects that a watcher reports. */
async function told(act: () => void = () => undefined): Promise<string[]> {
  const roots: string[] = [];
  const watch = new ProposalWatcher((root) => roots.push(root));
  await watch.ready;
  act();
  watch.dispose();
  return roots;
}

test('an existing project is found once', async () => {
  const [root, other] = [project(), project()];
  files.found = [root, other, root].map((it) => ({ fsPath: join(it, '.trellis', '.gitignore') }));
  assert.deepEqual(await told(), [root, other]);
  // The search includes folders that the explorer excludes.
  assert.deepEqual(files.asked, [{ include: '**/.trellis/.gitignore', exclude: null }]);
});

test('a new project is reported by the watcher, a known one is not', async () => {
  const root = project();
  const create = (path: string) => () => {
    for (const hear of files.made) hear({ fsPath: path });
  };
  assert.deepEqual(await told(create(join(root, '.trellis'))), [root]);
  assert.deepEqual(await told(create(root)), [root]);
  files.found = [{ fsPath: join(root, '.trellis', '.gitignore') }];
  const roots: string[] = [];
  const watch = new ProposalWatcher((it) => roots.push(it));
  watch.follow(root);
  await watch.ready;
  watch.dispose();
  assert.deepEqual(roots, []);
});

test('nothing is reported after disposal', async () => {
  files.found = [{ fsPath: join(project(), '.trellis', '.gitignore') }];
  const roots: string[] = [];
  const watch = new ProposalWatcher((it) => roots.push(it));
  watch.dispose();
  await watch.ready;
  assert.deepEqual(roots, []);
});
