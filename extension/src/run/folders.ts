// Folders of the disk, by their paths.
import { join } from 'node:path';

/** Whether a path is one of these folders, or lies in one. */
export function isBelow(folders: readonly string[], path: string | undefined): boolean {
  return path !== undefined && folders.some((it) => path === it || path.startsWith(join(it, '/')));
}
