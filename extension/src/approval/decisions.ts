// Decisions about proposals: sent to the sidecar, which tests and writes, and reported with the next action.
import { commands, l10n, workspace } from 'vscode';
import type { DecideFixParams, DecideFixResult, FixResult, Remedy } from '../protocol';
import { withFullStop } from '../sentence';
import { requestSettings } from '../settings/request_settings';
import type { Sidecar } from '../sidecar/api';
import { errorText, isCancelled, toTrellisError } from '../sidecar/errors';
import { requestWithProgress } from '../sidecar/job_progress';
import * as notify from '../sidecar/notify';
import { reportError } from '../sidecar/report_error';
import type { DiffTabs } from './diff_tabs';
import type { EditedTexts } from './edited_text';
import { decisionMessage, type MessageAction, undoneText } from './messages';
import { showAbout } from './proposal_notifications';
import type { ProposalStore } from './proposal_store';
import { isSameProposal, type ProposalRef, proposalKey } from './proposal_uri';
import { type Proposal, waiting } from './queue';

const t = l10n.t;

/** Parameters of a decision, without the proposal. */
export type DecisionParams = Pick<DecideFixParams, 'decision' | 'revision' | 'hunks' | 'files'>;

export class Decisions {
  /** Proposals with a decision under way. */
  private readonly underWay = new Set<string>();

  constructor(
    private readonly sidecar: Sidecar,
    private readonly proposals: ProposalStore,
    private readonly diffTabs: DiffTabs,
    private readonly editedTexts: EditedTexts,
  ) {}

  /** Returns whether a decision about the proposal is under way. */
  isDeciding(fix: ProposalRef): boolean {
    return this.underWay.has(proposalKey(fix));
  }

  /** Decides, and shows the undecided rest of the proposal, else the next proposal. */
  async decide(ref: ProposalRef, params: DecisionParams): Promise<void> {
    // A second click while tests run is ignored.
    if (this.isDeciding(ref)) return;
    this.underWay.add(proposalKey(ref));
    try {
      // Edits that are not sent would be lost.
      if (params.files === undefined && !(await this.editedTexts.confirmDiscard(ref))) return;
      await this.applyResult(ref, params, await this.send(ref, params));
    } catch (error) {
      this.reportRefusal(ref, error);
    } finally {
      this.underWay.delete(proposalKey(ref));
    }
  }

  /** Accepts all proposals that wait, one after the other; each is tested on top of those before. */
  async acceptAll(): Promise<void> {
    // A run tests and writes its drafts itself.
    const all = waiting(this.proposals.queue).filter((it) => !it.node);
    const accept = all.length === 1 ? t('Accept 1 Fix') : t('Accept {0} Fixes', all.length);
    const detail = t('Each fix is tested before it is written. Fixes that fail stay in the list.');
    if (all.length === 0) return void (await notify.info(t('No fix to review.')));
    if ((await notify.dialog(t('Accept all fixes?'), detail, accept)) !== accept) return;
    const refused: string[] = [];
    for (const it of all) {
      const why = await this.acceptOne(it);
      if (why !== undefined) refused.push(why);
    }
    const text = t('{0} of {1} fixes were accepted.', all.length - refused.length, all.length);
    await (refused.length === 0 ? notify.info : notify.warn)([text, ...refused].join(' '));
  }

  /** Accepts a proposal as it is listed; returns why it was not accepted. */
  private async acceptOne({ root, fix, revision }: Proposal): Promise<string | undefined> {
    const ref = { root, fix };
    if (this.isDeciding(ref)) return t('{0} is being decided.', fix);
    this.underWay.add(proposalKey(ref));
    try {
      if (!(await this.editedTexts.confirmDiscard(ref))) return t('You are editing {0}.', fix);
      const result = await this.send(ref, { decision: 'accept', revision });
      if (result?.state === 'accepted') await this.diffTabs.close(ref);
      return result === undefined || result.state === 'accepted'
        ? undefined
        : decisionMessage(result, t).text;
    } catch (error) {
      return withFullStop(`${fix}: ${errorText(toTrellisError(error))}`);
    } finally {
      this.underWay.delete(proposalKey(ref));
    }
  }

  /** Undoes the last accepted part of a proposal. */
  async undo({ root, fix }: ProposalRef): Promise<void> {
    if (!(await this.editedTexts.confirmDiscard({ root, fix }))) return;
    const { written } = await this.sidecar.request('trellis/undoFix', { root, fix });
    if (this.diffTabs.isAnyOpen) await this.diffTabs.close({ root, fix });
    const now = await this.sidecar.request('trellis/getFix', { root, fix });
    const text = undoneText(fix, written, now.history, t);
    const review = { title: t('Review'), command: 'trellis.reviewFix' };
    void showAbout({ root, fix }, text, review);
    await this.rerunTests(root, now);
  }

  /** Runs the tests of a decision again, whose results are outdated. */
  private async rerunTests(root: string, { test, affected, failing }: FixResult): Promise<void> {
    if (!workspace.isTrusted) return;
    const paths = [...new Set([test.id, ...affected, ...failing])];
    await commands.executeCommand('trellis.runTests', { root, paths });
  }

  /** Shows a proposal, and reports a failure. */
  async show(ref: ProposalRef): Promise<void> {
    try {
      await this.diffTabs.show(ref);
    } catch (error) {
      await reportError(t('Could not show the fix'), error);
    }
  }

  private async send(
    { root, fix }: ProposalRef,
    params: DecisionParams,
  ): Promise<DecideFixResult | undefined> {
    const whole = { root, fix, ...params, ...(await requestSettings('trellis/decideFix', root)) };
    return await requestWithProgress(
      this.sidecar,
      'trellis/decideFix',
      whole,
      t('Applying your decision about {0}', fix),
    );
  }

  private async applyResult(
    ref: ProposalRef,
    params: DecisionParams,
    result: DecideFixResult | undefined,
  ): Promise<void> {
    if (result === undefined) return;
    const message = decisionMessage(result, t);
    if (message.isSettled && (await this.isUnchanged(ref, params))) await this.diffTabs.close(ref);
    if (result.state === 'waiting') await this.showRemaining(ref, params);
    void showAbout(ref, message.text, message.action);
    if (message.isSettled) await this.showNext(ref);
  }

  /** Returns whether the edits are those that were sent: the person may edit while tests run. */
  private async isUnchanged(ref: ProposalRef, { files, revision }: DecisionParams): Promise<boolean> {
    if (files === undefined) return true;
    const now = await this.editedTexts.texts(ref, revision);
    return now.every(({ path, text }) => files.some((it) => it.path === path && it.text === text));
  }

  /** Shows the rest of a proposal; edits that were sent are part of it now, and stay editable. */
  private async showRemaining(ref: ProposalRef, { files }: DecisionParams): Promise<void> {
    await this.diffTabs.close(ref);
    if (files === undefined || files.length === 0) return await this.show(ref);
    await this.diffTabs.edit(ref);
  }

  /** Shows the oldest waiting proposal. */
  private async showNext(after: ProposalRef): Promise<void> {
    const [next] = waiting(this.proposals.queue).filter((it) => !isSameProposal(it, after));
    if (next !== undefined) await this.show({ root: next.root, fix: next.fix });
  }

  /** Reports why a decision was refused, with an action that helps; nothing was written. */
  private reportRefusal(ref: ProposalRef, error: unknown): void {
    const trellisError = toTrellisError(error);
    const doing = t('Could not apply your decision about {0}', ref.fix);
    if (isCancelled(trellisError) || trellisError.remedy === undefined) void reportError(doing, trellisError);
    else void showAbout(ref, `${doing}: ${errorText(trellisError)}`, remedyActions()[trellisError.remedy]);
  }
}

/** Makes the actions for refused decisions. */
function remedyActions(): Record<Remedy, MessageAction> {
  return {
    rebase: { title: t('Update Fix'), command: 'trellis.rebaseFix' },
    review: { title: t('Review Again'), command: 'trellis.reviewFix' },
  };
}
