// Registers the list of proposals, their diffs, and the commands about them.
import { commands, type Disposable, type ExtensionContext, l10n, Uri, window } from 'vscode';
import { registerIssues } from '../issue/register';
import type { JobStore } from '../run/job_store';
import { type Sidecar, TrellisError } from '../sidecar/api';
import * as notify from '../sidecar/notify';
import { guarded } from '../sidecar/report_error';
import type { FailingTests } from '../testing/failing_tests';
import type { TestPreviews } from '../testing/test_previews';
import { Decisions } from './decisions';
import { registerDiffLenses } from './diff_lenses';
import { DiffTabs } from './diff_tabs';
import { Drafts } from './drafts';
import { EditedTexts } from './edited_text';
import { FixRequests } from './fix_requests';
import { hunkAtCaret } from './hunk_at_caret';
import { arrivalText, explanationOf, pickItem } from './messages';
import { EditFileSystem, ProposalTexts, registerDocuments } from './proposal_documents';
import { showAbout } from './proposal_notifications';
import { ProposalStore } from './proposal_store';
import { ProposalTree } from './proposal_tree';
import { type ProposalRef, proposalRefOf, reviewedOf, textRefOf } from './proposal_uri';
import { ordered, type Proposal } from './queue';
import { showWaitingItem } from './waiting_item';

const t = l10n.t;

export function registerApproval(
  context: ExtensionContext,
  sidecar: Sidecar,
  jobStore: JobStore,
  failingTests: FailingTests,
  previews: TestPreviews,
): void {
  const proposals = new ProposalStore(sidecar, jobStore);
  const texts = new ProposalTexts(sidecar);
  const drafts = new Drafts(Uri.joinPath(context.storageUri ?? context.globalStorageUri, 'drafts').fsPath);
  const edits = new EditFileSystem(texts, drafts);
  const editedTexts = new EditedTexts(edits, drafts);
  const diffTabs = new DiffTabs(texts, drafts, editedTexts);
  const requests = new FixRequests(sidecar, proposals, diffTabs);
  const decisions = new Decisions(sidecar, proposals, diffTabs, editedTexts);
  const issues = registerIssues(context, sidecar, () => proposals.reviews);
  const tree = new ProposalTree(proposals, issues.leftOut, previews);
  const showList = () => {
    tree.update();
    const waiting = proposals.queue.size + proposals.reviews.length + previews.all.length;
    // The list also shows why proposals could not be read.
    const isShown = waiting + proposals.problems.length > 0;
    void commands.executeCommand('setContext', 'trellis.showFixes', isShown);
  };
  showList();
  const follow = proposals.onChange((change) => {
    issues.update(change.arrivedReviews);
    const [hasFixes, hasIssues] = [change.queue.size > 0, proposals.reviews.length > 0];
    void commands.executeCommand('setContext', 'trellis.hasFixes', hasFixes);
    void commands.executeCommand('setContext', 'trellis.hasIssues', hasIssues);
    showList();
    for (const it of change.departed) if (!decisions.isDeciding(it)) void diffTabs.closeUnlessEdited(it);
  });
  context.subscriptions.push(
    proposals,
    tree,
    follow,
    diffTabs,
    announceProposals(proposals, diffTabs, (it) => decisions.isDeciding(it) || requests.isAwaited(it)),
    ...registerDocuments(texts, edits),
    previews.onChange(() => showList()),
    ...showWaitingItem(proposals, previews),
    registerDiffLenses(texts),
    ...registerCommands(sidecar, proposals, texts, diffTabs, editedTexts, decisions),
    ...registerRequests(proposals, texts, diffTabs, requests, failingTests),
  );
  void guarded(t('Could not close the tabs of an earlier window'), () => diffTabs.closeLeftovers())();
}

/**
 * Announces new proposals.
 * @param isExpected decides whether the person gets to see a proposal in another way
 */
function announceProposals(
  proposals: ProposalStore,
  diffTabs: DiffTabs,
  isExpected: (it: Proposal) => boolean,
): Disposable {
  const review = { title: t('Review'), command: 'trellis.reviewFix' };
  return proposals.onChange(({ arrived }) => {
    // A person who reviews gets the next proposal after a decision.
    const news = diffTabs.isAnyOpen ? [] : arrived.filter((it) => !isExpected(it));
    const [first] = news;
    if (first !== undefined) void showAbout(first, arrivalText(news, t), review, t('Later'));
  });
}

function registerCommands(
  sidecar: Sidecar,
  proposals: ProposalStore,
  texts: ProposalTexts,
  diffTabs: DiffTabs,
  editedTexts: EditedTexts,
  decisions: Decisions,
): Disposable[] {
  const command = (
    name: string,
    failure: string,
    work: (ref: ProposalRef, argument: unknown) => Promise<unknown>,
  ) =>
    commands.registerCommand(
      name,
      guarded(failure, async (argument: unknown) => {
        const about = refOf(argument)
          ? argument
          : (diffTabs.active ?? (await pickProposal(ordered(proposals.queue))));
        const ref = refOf(about);
        if (ref !== undefined) await work(ref, about);
      }),
    );
  const failure = t('Could not apply your decision');
  const decide = (name: string, decision: 'accept' | 'reject') =>
    command(name, failure, (ref, given) => decisions.decide(ref, { decision, ...reviewed(given) }));
  const decideHunk = (name: string, decision: 'acceptHunks' | 'rejectHunks') =>
    commands.registerCommand(
      name,
      guarded(failure, async (argument: unknown) => {
        // A lens names its hunk; keys and palette mean the one at the caret.
        const given = proposalRefOf(argument) === undefined ? await hunkAtCaret(texts) : argument;
        const ref = refOf(given);
        if (ref === undefined)
          await notify.info(t('Open a proposed fix, and move the cursor into a change.'));
        else await decisions.decide(ref, { decision, ...reviewed(given) });
      }),
    );
  return [
    decide('trellis.acceptFix', 'accept'),
    decide('trellis.rejectFix', 'reject'),
    decideHunk('trellis.acceptHunk', 'acceptHunks'),
    decideHunk('trellis.rejectHunk', 'rejectHunks'),
    command('trellis.rebaseFix', t('Could not update the fix'), async (ref, given) => {
      const [draft] = await editedTexts.edited(ref);
      const { revision } = draft ?? reviewed(given);
      const files = [...(await editedTexts.texts(ref, revision))];
      await decisions.decide(ref, {
        decision: 'rebase',
        files,
        ...(revision === undefined ? {} : { revision }),
      });
    }),
    command('trellis.leaveDraft', t('Could not show the fix'), (ref) => diffTabs.discardEdits(ref)),
    command('trellis.reviewFix', t('Could not show the fix'), (ref) => diffTabs.show(ref)),
    command('trellis.editFix', t('Could not edit the fix'), (ref) => diffTabs.edit(ref)),
    command('trellis.openFailingTest', t('Could not open the test'), (ref) => diffTabs.openTest(ref)),
    command('trellis.explainFix', t('Could not show the fix'), (ref) => explain(texts, ref)),
    command('trellis.acceptEdited', failure, (ref, given) =>
      acceptEdited(editedTexts, decisions, ref, given),
    ),
    commands.registerCommand(
      'trellis.undoFix',
      guarded(t('Could not undo the fix'), async (argument: unknown) => {
        const ref = refOf(argument) ?? refOf(await pickProposal(await acceptedProposals(sidecar, proposals)));
        if (ref !== undefined) await decisions.undo(ref);
      }),
    ),
    commands.registerCommand(
      'trellis.acceptAllFixes',
      guarded(failure, () => decisions.acceptAll()),
    ),
    commands.registerCommand(
      'trellis.refreshFixes',
      guarded(t('Could not list the fixes'), () => proposals.refresh()),
    ),
  ];
}

/** Registers the commands that look for fixes. */
function registerRequests(
  proposals: ProposalStore,
  texts: ProposalTexts,
  diffTabs: DiffTabs,
  requests: FixRequests,
  failingTests: FailingTests,
): Disposable[] {
  return [
    commands.registerCommand(
      'trellis.proposeFix',
      guarded(t('No fix was found'), async (argument: unknown) => {
        const test = await failingTests.choose(argument);
        if (test !== undefined) await requests.propose(test);
      }),
    ),
    commands.registerCommand(
      'trellis.reviseFix',
      guarded(t('The fix was not changed'), async (argument: unknown) => {
        const open = ordered(proposals.queue).filter((it) => !it.node);
        const ref = refOf(argument) ?? diffTabs.active ?? refOf(await pickProposal(open));
        if (ref === undefined) return;
        const fix = await texts.get(ref);
        await requests.revise({ ...fix, root: ref.root }, fix.test.id);
      }),
    ),
  ];
}

/** Reads the proposal from a lens, a row, or the URI of a document. */
function refOf(argument: unknown): ProposalRef | undefined {
  if (argument instanceof Uri) return textRefOf(argument);
  return proposalRefOf(argument);
}

/** Reads the reviewed revision, which a decision is about. */
function reviewed(argument: unknown): { revision?: number; hunks: number[] } {
  const seen = argument instanceof Uri ? { revision: textRefOf(argument)?.revision } : reviewedOf(argument);
  const hunks = 'hunks' in seen ? [...seen.hunks] : [];
  return { ...(seen.revision === undefined ? {} : { revision: seen.revision }), hunks };
}

async function acceptEdited(
  editedTexts: EditedTexts,
  decisions: Decisions,
  ref: ProposalRef,
  argument: unknown,
): Promise<void> {
  const { revision } = reviewed(argument);
  const files = [...(await editedTexts.texts(ref, revision))];
  if (files.length === 0) {
    const hint = t('choose "Edit" above the proposal');
    throw new TrellisError(t('you are not editing {0}', ref.fix), 65, hint, 'badInput');
  }
  await decisions.decide(ref, { decision: 'edit', files, ...(revision === undefined ? {} : { revision }) });
}

/** Shows all that is known of a proposal. */
async function explain(texts: ProposalTexts, ref: ProposalRef): Promise<void> {
  const fix = await texts.get(ref);
  await notify.details(`${fix.fix}: ${fix.paths.join(', ')}`, explanationOf(fix, t).join('\n\n'));
}

async function acceptedProposals(sidecar: Sidecar, proposals: ProposalStore): Promise<Proposal[]> {
  const lists = proposals.folders.map(async (root) => {
    const { fixes } = await sidecar.request('trellis/listFixes', { root, state: 'accepted' });
    return fixes.map((it) => ({ ...it, root }));
  });
  return (await Promise.all(lists)).flat().filter((it) => !it.node);
}

/** Returns the only proposal, or the chosen one. */
async function pickProposal(fixes: readonly Proposal[]): Promise<Proposal | undefined> {
  const [first, ...more] = fixes;
  if (first === undefined) {
    await notify.info(t('No matching fix in the open folders.'));
    return undefined;
  }
  if (more.length === 0) return first;
  const items = fixes.map((it) => ({ ...pickItem(it, t), fix: it }));
  const chosen = await window.showQuickPick(items, { title: t('Which fix?') });
  return chosen?.fix;
}
