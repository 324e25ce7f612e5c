// Relations between paths.
import { join, relative } from 'node:path';

/** Returns whether a path is one of the folders, or lies in one. */
export function isBelow(folders: readonly string[], path: string | undefined): boolean {
  return path !== undefined && folders.some((it) => path === it || path.startsWith(join(it, '/')));
}

/**
 * Returns whether a path lies in a folder `.trellis`, whose content, such as worktrees of issues, is not the person's
 * own.
 * @param opened folders that the person opened, which count as their own wherever they lie
 */
export function isInternal(opened: readonly string[], path: string): boolean {
  const around = opened.filter((it) => isBelow([it], path));
  const steps = (around.length === 0 ? [path] : around.map((it) => relative(it, path))).map((it) =>
    it.split(/[\\/]/),
  );
  return steps.every((it) => it.includes('.trellis'));
}
