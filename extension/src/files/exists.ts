import { FileType, type Uri, workspace } from 'vscode';

/** Returns whether a file exists; folders are none. */
export async function fileExists(uri: Uri): Promise<boolean> {
  try {
    return (await workspace.fs.stat(uri)).type === FileType.File;
  } catch {
    return false;
  }
}
