// The editor's own peek of a failure, opened for a test of ours.
import { commands, type TestItem } from 'vscode';
import type { TestView } from './test_view';

/** Opens the peek of a test's failure; returns false if the Testing view has none. */
export async function peekFailure({ tree }: TestView, root: string, test: string): Promise<boolean> {
  const item = tree.find(root, test);
  if (item === undefined) return false;
  return (await commands.executeCommand<boolean>('vscode.peekTestError', editorId(item))) === true;
}

/** Returns the id by which the editor's own commands know a test: those of the controller and of its parents, joined. */
function editorId(item: TestItem): string {
  const path: string[] = [];
  for (let at: TestItem | undefined = item; at !== undefined; at = at.parent) path.unshift(at.id);
  return ['trellis', ...path].join('\0');
}
