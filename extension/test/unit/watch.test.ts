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

/** A project below an open folder, with what Trellis keeps of it. */
function project(): string {
  const root = join(mkdtempSync(join(tmpdir(), 'watch-')), 'grown');
  mkdirSync(join(root, '.trellis'), { recursive: true });
  return root;
}

/** What a watch tells of until it is asked. */
async function told(act: () => void = () => undefined): Promise<string[]> {
  const roots: string[] = [];
  const watch = new ProposalWatcher((root) => roots.push(root));
  await watch.ready;
  act();
  watch.dispose();
  return roots;
}

test('a project that was there before anybody watched is found once', async () => {
  const [root, other] = [project(), project()];
  files.found = [root, other, root].map((it) => ({ fsPath: join(it, '.trellis', '.gitignore') }));
  assert.deepEqual(await told(), [root, other]);
  // Whoever hides the folder in the list of files has it all the same.
  assert.deepEqual(files.asked, [{ include: '**/.trellis/.gitignore', exclude: null }]);
});

test('a project that comes later is told of by the watcher, and one that is known by neither', async () => {
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

test('what is found after the end is told to nobody', async () => {
  files.found = [{ fsPath: join(project(), '.trellis', '.gitignore') }];
  const roots: string[] = [];
  const watch = new ProposalWatcher((it) => roots.push(it));
  watch.dispose();
  await watch.ready;
  assert.deepEqual(roots, []);
});
