// Folders of the disk, by their paths.
import { join, relative } from 'node:path';

/** Whether a path is one of these folders, or lies in one. */
export function isBelow(folders: readonly string[], path: string | undefined): boolean {
  return path !== undefined && folders.some((it) => path === it || path.startsWith(join(it, '/')));
}

/**
 * Whether a path lies in a folder `.trellis`: what is there, such as worktrees of issues, is no work of the person's.
 * @param opened folders that a person opened themselves, wherever they lie
 */
export function isInternal(opened: readonly string[], path: string): boolean {
  const around = opened.filter((it) => isBelow([it], path));
  const steps = (around.length === 0 ? [path] : around.map((it) => relative(it, path))).map((it) =>
    it.split(/[\\/]/),
  );
  return steps.every((it) => it.includes('.trellis'));
}
