// Decisions about changes of issues: the sidecar continues the work, wherever it was begun.
import { join } from 'node:path';
import { commands, l10n, ProgressLocation, window } from 'vscode';
import type { Decision } from '../protocol';
import { requestSettings } from '../settings/request_settings';
import type { Sidecar } from '../sidecar/api';
import { requestJob } from '../sidecar/job_request';
import * as notify from '../sidecar/notify';
import { showIssueResult } from './implement';
import type { LeftOut } from './left_out';
import type { ReviewTabs } from './review_tabs';
import { type IssueRef, type IssueReview, isSameIssue, issueKey, waitingText } from './reviews';

const t = l10n.t;

export class ReviewDecisions {
  private readonly underWay = new Set<string>();

  /** @param reviews returns the changes that wait */
  constructor(
    private readonly sidecar: Sidecar,
    private readonly reviews: () => readonly IssueReview[],
    private readonly tabs: ReviewTabs,
    private readonly leftOut: LeftOut,
  ) {}

  /** Returns whether a decision about the issue is under way. */
  isDeciding(ref: IssueRef): boolean {
    return this.underWay.has(issueKey(ref));
  }

  /** Merges the change with the person's edits, without the files that are left out. */
  async merge(review: IssueReview): Promise<void> {
    await this.tabs.save(review);
    const leaveOut = this.leftOut.of(review);
    await this.decide(review, { answer: 'approve', tip: review.tip, leaveOut, withEdits: true });
  }

  async requestChanges(review: IssueReview): Promise<void> {
    const words = await window.showInputBox({ title: t('What should change?'), ignoreFocusOut: true });
    if (words === undefined) return;
    await this.decide(review, { answer: 'sendBack', tip: review.tip, words });
  }

  async keep(review: IssueReview): Promise<void> {
    await this.decide(review, { answer: 'leave', tip: review.tip });
  }

  private async decide(review: IssueReview, decision: Decision): Promise<void> {
    // A second click while tests run is ignored.
    if (this.isDeciding(review)) return;
    this.underWay.add(issueKey(review));
    try {
      const title = t('{0}: applying your decision', review.title);
      await window.withProgress({ location: ProgressLocation.Window, title }, () =>
        this.send(review, decision),
      );
    } finally {
      this.underWay.delete(issueKey(review));
    }
  }

  private async send(review: IssueReview, decision: Decision): Promise<void> {
    const { root, issue, spec, context } = review;
    const settings = await requestSettings('trellis/implement', root);
    const files = { lld: join(root, spec), context: context.map((it) => join(root, it)) };
    const result = await requestJob(this.sidecar, 'trellis/implement', {
      ...settings,
      root,
      issue,
      ...files,
      decision,
    });
    await commands.executeCommand('trellis.refreshFixes');
    const still = this.reviews().find((it) => isSameIssue(it, review));
    if (still !== undefined) return void announceReview(still);
    await this.tabs.close(review);
    await this.leftOut.forget(review);
    if (result !== undefined) void showIssueResult(root, result);
  }
}

/** Announces a change that waits. */
export async function announceReview(review: IssueReview): Promise<void> {
  const { text, isGood } = waitingText(review, t);
  const open = t('Review');
  const chosen = await (isGood ? notify.info : notify.warn)(text, open, t('Later'));
  if (chosen !== open) return;
  const { root, issue } = review;
  await commands.executeCommand('trellis.reviewIssue', { root, issue });
}
