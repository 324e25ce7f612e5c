// Runs that stopped are offered for going on, for as long as nobody goes on with them.
import { unwatchFile, watchFile } from 'node:fs';
import { join } from 'node:path';
import { commands, Disposable, l10n, workspace } from 'vscode';
import type { Run } from '../protocol';
import type { Board } from '../run/board';
import { isGrowing, isOpen } from '../run/jobs';
import type { Sidecar } from '../sidecar/api';
import { reportError } from '../sidecar/report_error';
import { showTransient } from '../sidecar/transient_notification';

/** Milliseconds between two looks at whether somebody else goes on with a run. */
const LOOKING = 2000;

/** Asks for each of them, one after the other, whenever a sidecar begins to serve. */
export function offers(sidecar: Sidecar, board: Board): Disposable {
  return sidecar.onState((state) => {
    if (state !== 'running' || !workspace.isTrusted) return;
    if (!workspace.getConfiguration('trellis').get('offerResume', true)) return;
    offerAll(sidecar, board).catch((error) => reportError(l10n.t('Could not look for stopped runs'), error));
  });
}

/** Says something of a run that stopped, and offers to go on with it, until somebody does or the sidecar ends. */
export async function offer(sidecar: Sidecar, board: Board, out: string, text: string): Promise<void> {
  const resume = l10n.t('Resume');
  const listening: Disposable[] = [];
  const past = new Promise<void>((resolve) => listening.push(...goneOn(sidecar, board, out, resolve)));
  try {
    if (
      (await showTransient({ text, actions: [resume], cancellable: true, until: past, isBusy: false })) !==
      resume
    )
      return;
  } finally {
    Disposable.from(...listening).dispose();
  }
  await commands.executeCommand('trellis.resumeRun', out);
}

async function offerAll(sidecar: Sidecar, board: Board): Promise<void> {
  const { runs } = await sidecar.request('trellis/listRuns', {});
  // Tasks are gone on with by the command that began them.
  for (const run of runs.filter((it) => it.state === 'stopped' && it.kind === 'generate')) {
    if (sidecar.state !== 'running') return;
    if (!isUnderWay(board, run.out)) await offer(sidecar, board, run.out, question(run));
  }
}

function question({ out, passed, total }: Run): string {
  const name = workspace.asRelativePath(out);
  return l10n.t('The run in {0} stopped after {1} of {2} nodes. Resume it?', name, passed, total);
}

/** Listens for it: here, in another process, or for the end of the sidecar, which makes its own offers anew. */
function goneOn(sidecar: Sidecar, board: Board, out: string, then: () => void): Disposable[] {
  // Looked at, since the editor's watchers leave folders out, and see nothing on some disks.
  const journal = join(out, '.trellis', 'journal.jsonl');
  const look = async () => {
    if (!(await isStopped(sidecar, out))) then();
  };
  watchFile(journal, { interval: LOOKING }, look);
  return [
    new Disposable(() => unwatchFile(journal, look)),
    board.onChange(() => {
      if (isUnderWay(board, out)) then();
    }),
    sidecar.onState(then),
  ];
}

function isUnderWay(board: Board, out: string): boolean {
  return [...board.jobs.values()].some((it) => it.out === out && isGrowing(it) && isOpen(it));
}

async function isStopped(sidecar: Sidecar, out: string): Promise<boolean> {
  try {
    const { runs } = await sidecar.request('trellis/listRuns', { root: out });
    return runs.some((it) => it.out === out && it.state === 'stopped');
  } catch {
    // What cannot be looked at is no reason to take an offer back; going on with it will say what is wrong.
    return true;
  }
}
