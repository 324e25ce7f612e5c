// Grown repositories below a project: they are projects of their own, and import what the one around them cannot.
import { relative } from 'node:path';
import type { Run } from '../protocol';
import type { Sidecar } from '../sidecar/api';

/** Folders of runs below a project, without those of runs inside of others. */
export async function nestedIn(sidecar: Sidecar, root: string): Promise<readonly string[]> {
  return nested((await sidecar.request('trellis/listRuns', { root })).runs, root);
}

export function nested(runs: readonly Pick<Run, 'out'>[], root: string): readonly string[] {
  const below = runs.map((it) => it.out).filter((it) => it.startsWith(`${root}/`));
  return below.filter((it) => !below.some((other) => it.startsWith(`${other}/`)));
}

/** pytest's options that leave folders out of a project. */
export function leavingOut(root: string, folders: readonly string[]): string[] {
  return folders.map((it) => `--ignore=${relative(root, it)}`);
}
