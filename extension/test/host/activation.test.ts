// The extension inside the real extension host.
import assert from 'node:assert/strict';
import { suite, test } from 'mocha';
import { type CodeLens, commands, extensions, Uri, window, workspace } from 'vscode';

const file = (): Uri => {
  const [folder] = workspace.workspaceFolders ?? [];
  if (folder === undefined) throw new Error('no folder is open');
  return Uri.joinPath(folder.uri, 'taxes.py');
};

suite('activation', () => {
  test('a Python file activates the extension', async () => {
    await window.showTextDocument(await workspace.openTextDocument(file()));
    const ours = extensions.getExtension('trellis.trellis');
    assert.ok(ours);
    await ours.activate();
    assert.equal(ours.isActive, true);
  });

  test('every contributed command exists', async () => {
    const ours = extensions.getExtension('trellis.trellis');
    const contributed: unknown = ours?.packageJSON.contributes.commands;
    assert.ok(Array.isArray(contributed) && contributed.length > 0);
    const known = new Set(await commands.getCommands(true));
    const missing = contributed.map((it) => it.command).filter((it) => !known.has(it));
    assert.deepEqual(missing, []);
  });

  test('the packed sidecar answers with lenses of functions', async () => {
    const document = await workspace.openTextDocument(file());
    const lenses = await lensesOf(document.uri);
    const at = document
      .getText()
      .split('\n')
      .findIndex((it) => it.startsWith('def tax'));
    const lines = new Set(lenses.map((it) => it.range.start.line));
    assert.ok(at > 0 && lines.has(at), `lenses are on lines ${[...lines]}, none on ${at}`);
  });
});

/** Returns the lenses of a document when its provider is registered. */
async function lensesOf(uri: Uri): Promise<CodeLens[]> {
  for (;;) {
    const found = await commands.executeCommand<CodeLens[]>('vscode.executeCodeLensProvider', uri, 100);
    if (found.length > 0) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
