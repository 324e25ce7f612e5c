// The room of proposed fixes: the list, the difference each makes, and decisions about them.
import { commands, type Disposable, type ExtensionContext, l10n, Uri, window } from 'vscode';
import type { JobStore } from '../run/job_store';
import { type Sidecar, TrellisError } from '../sidecar/api';
import * as notify from '../sidecar/notify';
import { guarded } from '../sidecar/report_error';
import { Beside } from './beside';
import { Decisions } from './decide';
import { Desk } from './desk';
import { Drafts } from './drafts';
import { Fixes } from './fixes';
import { Notices } from './notices';
import { lenses } from './over';
import { type Fix, fixOf, isSame, placeOf, seenOf } from './place';
import { announced, ordered, type Proposal } from './queue';
import { documents, Edits, Texts } from './texts';
import { FixTree } from './view';
import { arrivalWords, confidenceWords, pickOf, rowOf } from './words';
import { Writing } from './writing';

const t = l10n.t;

export function approval(context: ExtensionContext, sidecar: Sidecar, jobStore: JobStore): void {
  const fixes = new Fixes(sidecar, jobStore);
  const texts = new Texts(sidecar);
  const drafts = new Drafts(Uri.joinPath(context.storageUri ?? context.globalStorageUri, 'drafts').fsPath);
  const edits = new Edits(texts, drafts);
  const writing = new Writing(edits, drafts);
  const desk = new Desk(texts, drafts, writing, new Beside(context.workspaceState));
  const notices = new Notices();
  const decisions = new Decisions(sidecar, fixes, desk, writing, notices);
  const tree = new FixTree(fixes);
  const follow = fixes.onChange((news) => {
    tree.follow();
    const hasFixes = news.queue.size > 0;
    void commands.executeCommand('setContext', 'trellis.hasFixes', hasFixes);
    // The list says why it could not be read, too.
    void commands.executeCommand('setContext', 'trellis.showFixes', hasFixes || fixes.problems.length > 0);
    for (const it of news.departed) {
      notices.withdraw(it);
      if (!decisions.isDeciding(it)) void desk.leave(it);
    }
  });
  context.subscriptions.push(
    fixes,
    tree,
    follow,
    desk,
    notices,
    ...announcing(fixes, desk, decisions, notices),
    ...documents(texts, edits),
    lenses(texts),
    ...commandsOf(sidecar, fixes, texts, desk, writing, decisions),
  );
  void guarded(t('Could not close the tabs of an earlier window'), () => desk.tidy())();
}

/** Tells of those that have come, until they are looked at or decided. */
function announcing(fixes: Fixes, desk: Desk, decisions: Decisions, notices: Notices): Disposable[] {
  let told: readonly Proposal[] = [];
  const tell = (now: readonly Proposal[]) => {
    if (now.length === told.length && now.every((it, index) => isSame(it, told[index] ?? it))) return;
    told = now;
    const [first] = now;
    if (first === undefined) notices.withdrawNew();
    else
      notices.sayOfNew(first, arrivalWords(now, t), {
        title: t('Review'),
        command: 'trellis.reviewFix',
      });
  };
  return [
    fixes.onChange(({ queue, arrived }) => {
      // Whoever is at it gets the next one after a decision.
      const news = desk.isOccupied ? [] : arrived.filter((it) => !decisions.isDeciding(it));
      tell(announced(told, news, queue));
    }),
    desk.onShow((of) => {
      notices.withdraw(of);
      tell([]);
    }),
  ];
}

function commandsOf(
  sidecar: Sidecar,
  fixes: Fixes,
  texts: Texts,
  desk: Desk,
  writing: Writing,
  decisions: Decisions,
): Disposable[] {
  const command = (name: string, doing: string, work: (of: Fix, given: unknown) => Promise<unknown>) =>
    commands.registerCommand(
      name,
      guarded(doing, async (given: unknown) => {
        const about = named(given) ? given : (desk.inFront ?? (await pick(ordered(fixes.queue))));
        const of = named(about);
        if (of !== undefined) await work(of, about);
      }),
    );
  const decide = (name: string, decision: 'accept' | 'reject' | 'acceptHunks' | 'rejectHunks') =>
    command(name, t('Could not apply your decision'), (of, given) =>
      decisions.decide(of, { decision, ...whatWasSeen(given) }),
    );
  return [
    decide('trellis.acceptFix', 'accept'),
    decide('trellis.rejectFix', 'reject'),
    decide('trellis.acceptHunk', 'acceptHunks'),
    decide('trellis.rejectHunk', 'rejectHunks'),
    command('trellis.rebaseFix', t('Could not update the fix'), async (of, given) => {
      const [draft] = await writing.changed(of);
      const { revision } = draft ?? whatWasSeen(given);
      const files = [...(await writing.texts(of, revision))];
      await decisions.decide(of, {
        decision: 'rebase',
        files,
        ...(revision === undefined ? {} : { revision }),
      });
    }),
    command('trellis.leaveDraft', t('Could not show the fix'), (of) => desk.back(of)),
    command('trellis.reviewFix', t('Could not show the fix'), (of) => desk.show(of)),
    command('trellis.editFix', t('Could not edit the fix'), (of) => desk.edit(of)),
    command('trellis.openFailingTest', t('Could not open the test'), (of) => desk.openTest(of)),
    command('trellis.explainFix', t('Could not show the fix'), (of) => explain(texts, of)),
    command('trellis.acceptEdited', t('Could not apply your decision'), (of, given) =>
      acceptEdited(writing, decisions, of, given),
    ),
    commands.registerCommand(
      'trellis.undoFix',
      guarded(t('Could not undo the fix'), async (given: unknown) => {
        const of = named(given) ?? named(await pick(await accepted(sidecar, fixes)));
        if (of !== undefined) await decisions.undo(of);
      }),
    ),
    commands.registerCommand(
      'trellis.refreshFixes',
      guarded(t('Could not list the fixes'), () => fixes.refresh()),
    ),
  ];
}

/** By a lens, a row, or the address of a document. */
function named(given: unknown): Fix | undefined {
  if (given instanceof Uri) return placeOf(given);
  return fixOf(given);
}

/** A decision is about the revision that a person has looked at. */
function whatWasSeen(given: unknown): { revision?: number; hunks: number[] } {
  const seen = given instanceof Uri ? { revision: placeOf(given)?.revision } : seenOf(given);
  const hunks = 'hunks' in seen ? [...seen.hunks] : [];
  return { ...(seen.revision === undefined ? {} : { revision: seen.revision }), hunks };
}

async function acceptEdited(writing: Writing, decisions: Decisions, of: Fix, given: unknown): Promise<void> {
  const { revision } = whatWasSeen(given);
  const files = [...(await writing.texts(of, revision))];
  if (files.length === 0) {
    const hint = t('choose "Edit" above the proposal');
    throw new TrellisError(t('you are not editing {0}', of.fix), 65, hint, 'badInput');
  }
  await decisions.decide(of, { decision: 'edit', files, ...(revision === undefined ? {} : { revision }) });
}

/** All that is known of how sure one can be of it. */
async function explain(texts: Texts, of: Fix): Promise<void> {
  const fix = await texts.get(of);
  const { tooltip } = rowOf({ ...fix, root: of.root }, t);
  const title = `${fix.fix}: ${confidenceWords(fix.confidence, t)}`;
  await notify.dialog(title, tooltip.slice(1).join('\n\n'));
}

async function accepted(sidecar: Sidecar, fixes: Fixes): Promise<Proposal[]> {
  const lists = fixes.folders.map(async (root) => {
    const { fixes } = await sidecar.request('trellis/listFixes', { root, state: 'accepted' });
    return fixes.map((it) => ({ ...it, root }));
  });
  return (await Promise.all(lists)).flat().filter((it) => !it.node);
}

/** The only one, or the one chosen. */
async function pick(fixes: readonly Proposal[]): Promise<Proposal | undefined> {
  const [first, ...more] = fixes;
  if (first === undefined) {
    await notify.info(t('No matching fix in the open folders.'));
    return undefined;
  }
  if (more.length === 0) return first;
  const items = fixes.map((it) => ({ ...pickOf(it, t), fix: it }));
  const chosen = await window.showQuickPick(items, { title: t('Which fix?') });
  return chosen?.fix;
}
