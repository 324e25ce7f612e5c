// Requests for fixes of failing tests.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { fixRequests, openTestingView } from './fake_sidecar';
import { editor } from './vscode';

const failing = { root: '/p', test: 'a.py::test_one' };

beforeEach(() => {
  editor.said = [];
});

test('a second request for the same test is answered by a message, also while the first begins', async () => {
  const { sidecar } = openTestingView('/p');
  let end = () => {};
  const found = new Promise<void>((resolve) => {
    end = resolve;
  });
  sidecar.answers['trellis/proposeFix'] = () => found.then(() => ({ fix: 'fix-1' }));
  const requests = fixRequests(sidecar);
  const both = [requests.propose(failing), requests.propose(failing)];
  await Promise.race(both);
  end();
  await Promise.all(both);
  assert.equal(sidecar.params('trellis/proposeFix').length, 1);
  assert.deepEqual(editor.said, ['A fix of test_one is being looked for already.']);
  await requests.propose(failing);
  assert.equal(sidecar.params('trellis/proposeFix').length, 2);
});

test('the draft of a run is not revised, and the person learns how to change it', async () => {
  const { sidecar } = openTestingView('/p');
  const draft = { root: '/p', fix: 'fix-1', node: 'm.a' } as never;
  await fixRequests(sidecar).revise(draft, failing.test);
  assert.equal(sidecar.params('trellis/proposeFix').length, 0);
  assert.match(editor.said.join(), /A run changes its drafts itself/);
});
