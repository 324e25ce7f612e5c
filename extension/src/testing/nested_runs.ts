// Generated repositories inside of a project: separate projects, with imports that fail in the outer one.
import { relative } from 'node:path';
import type { Run } from '../protocol';
import type { Sidecar } from '../sidecar/api';

/** Lists the folders of runs below a project, without those inside of others. */
export async function nestedRuns(sidecar: Sidecar, root: string): Promise<readonly string[]> {
  return outermostRuns((await sidecar.request('trellis/listRuns', { root })).runs, root);
}

export function outermostRuns(runs: readonly Pick<Run, 'out'>[], root: string): readonly string[] {
  const below = runs.map((it) => it.out).filter((it) => it.startsWith(`${root}/`));
  return below.filter((it) => !below.some((other) => it.startsWith(`${other}/`)));
}

/** Makes pytest's options that exclude folders. */
export function ignoreOptions(root: string, folders: readonly string[]): string[] {
  return folders.map((it) => `--ignore=${relative(root, it)}`);
}
