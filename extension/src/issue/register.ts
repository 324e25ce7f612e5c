// Registers the files of changes, their tabs, and the commands about them.
import { commands, type Disposable, type ExtensionContext, l10n, window, workspace } from 'vscode';
import type { Sidecar } from '../sidecar/api';
import * as notify from '../sidecar/notify';
import { guarded } from '../sidecar/report_error';
import { fields } from '../unknown_value';
import { chooseFiles } from './choose_files';
import { LeftOut } from './left_out';
import { announceReview, ReviewDecisions } from './review_decisions';
import { ReviewFiles } from './review_files';
import { ReviewTabs } from './review_tabs';
import { ISSUE_SCHEME } from './review_uri';
import { type IssueReview, isSameIssue, issueRefOf, testsText } from './reviews';

const t = l10n.t;

/** The changes of issues in the list. */
export interface IssueReviews {
  readonly leftOut: LeftOut;
  /** Takes in the list, and announces what is new. */
  update(arrived: readonly IssueReview[]): void;
}

/** @param reviews returns the changes that wait */
export function registerIssues(
  context: ExtensionContext,
  sidecar: Sidecar,
  reviews: () => readonly IssueReview[],
): IssueReviews {
  const leftOut = new LeftOut(context.workspaceState);
  const files = new ReviewFiles(sidecar);
  const tabs = new ReviewTabs(files, reviews);
  const decisions = new ReviewDecisions(sidecar, reviews, tabs, leftOut);
  context.subscriptions.push(
    tabs,
    leftOut,
    workspace.registerFileSystemProvider(ISSUE_SCHEME, files, { isCaseSensitive: true }),
    ...registerCommands(reviews, tabs, decisions, leftOut),
  );
  const update = (arrived: readonly IssueReview[]) => {
    files.update(reviews());
    tabs.updateContext();
    const [first] = arrived.filter((it) => !decisions.isDeciding(it));
    if (first !== undefined) void announceReview(first);
  };
  return { leftOut, update };
}

function registerCommands(
  reviews: () => readonly IssueReview[],
  tabs: ReviewTabs,
  decisions: ReviewDecisions,
  leftOut: LeftOut,
): Disposable[] {
  const command = (name: string, failure: string, work: (review: IssueReview) => Promise<void>) =>
    commands.registerCommand(
      name,
      guarded(failure, async (argument: unknown) => {
        const ref = issueRefOf(argument) ?? tabs.active;
        const named = ref && reviews().find((it) => isSameIssue(it, ref));
        const review = named ?? (await pickReview(reviews()));
        if (review !== undefined) await work(review);
      }),
    );
  const failure = t('Could not apply your decision');
  return [
    command('trellis.reviewIssue', t('Could not show the change'), (it) => tabs.showAll(it)),
    command('trellis.mergeIssue', failure, (it) => decisions.merge(it)),
    command('trellis.requestIssueChanges', failure, (it) => decisions.requestChanges(it)),
    command('trellis.keepIssue', failure, (it) => decisions.keep(it)),
    command('trellis.chooseIssueFiles', t('Could not leave the files out'), (it) => chooseFiles(it, leftOut)),
    commands.registerCommand(
      'trellis.reviewIssueFile',
      guarded(t('Could not show the change'), async (argument: unknown) => {
        const [ref, { path }] = [issueRefOf(argument), fields(argument)];
        if (ref !== undefined && typeof path === 'string') await tabs.showFile({ ...ref, path });
      }),
    ),
  ];
}

/** Returns the only change, or the chosen one. */
async function pickReview(all: readonly IssueReview[]): Promise<IssueReview | undefined> {
  const [first, ...more] = all;
  if (first === undefined) return void (await notify.info(t('No issue to review.')));
  if (more.length === 0) return first;
  const items = all.map((it) => ({ label: it.title, description: testsText(it.allTests, t), review: it }));
  return (await window.showQuickPick(items, { title: t('Which issue?') }))?.review;
}
