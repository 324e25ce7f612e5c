// Decisions: sent to the sidecar, which tests and writes; said to the person, with what comes next.
import { commands, l10n, workspace } from 'vscode';
import { means } from '../means/means';
import type { DecideFixParams, DecideFixResult, FixResult, Remedy } from '../protocol';
import type { Sidecar } from '../sidecar/api';
import { errorText, isCancelled, toTrellisError } from '../sidecar/errors';
import { requestWithProgress } from '../sidecar/job_progress';
import * as notify from '../sidecar/notify';
import { reportError } from '../sidecar/report_error';
import type { Desk } from './desk';
import type { Fixes } from './fixes';
import type { Notices } from './notices';
import { type Fix, isSame, keyOf } from './place';
import { waiting } from './queue';
import { decidedWords, type Offer, type Said, undoneWords } from './words';
import type { Writing } from './writing';

const t = l10n.t;

/** A decision without the proposal that it is about. */
export type Choice = Pick<DecideFixParams, 'decision' | 'revision' | 'hunks' | 'files'>;

export class Decisions {
  /** What is being decided. */
  private readonly open = new Set<string>();
  /** What was accepted, by the notification that offers to undo it. */
  private readonly undoable = new Map<string, symbol>();

  constructor(
    private readonly sidecar: Sidecar,
    private readonly fixes: Fixes,
    private readonly desk: Desk,
    private readonly writing: Writing,
    private readonly notices: Notices,
  ) {}

  /** Whether a decision about it is under way. */
  isDeciding(fix: Fix): boolean {
    return this.open.has(keyOf(fix));
  }

  /** Decides, and shows what is left to decide: the rest of this one, else the next. */
  async decide(of: Fix, choice: Choice): Promise<void> {
    // A second click while the tests run decides nothing.
    if (this.isDeciding(of)) return;
    this.open.add(keyOf(of));
    try {
      // What a person wrote is in what is sent, or it is lost.
      if (choice.files === undefined && !(await this.writing.mayGo(of))) return;
      this.notices.withdraw(of);
      await this.decided(of, choice, await this.send(of, choice));
    } catch (error) {
      this.refused(of, error);
    } finally {
      this.open.delete(keyOf(of));
    }
  }

  /** Undoes what was accepted last of it. */
  async undo({ root, fix }: Fix): Promise<void> {
    if (!(await this.writing.mayGo({ root, fix }))) return;
    const { written } = await this.sidecar.request('trellis/undoFix', { root, fix });
    if (this.desk.isOccupied) await this.desk.clear({ root, fix });
    // Nothing takes a notification with buttons away, but out of sight it can be put.
    if (this.undoable.delete(keyOf({ root, fix }))) await commands.executeCommand('notifications.hideToasts');
    const now = await this.sidecar.request('trellis/getFix', { root, fix });
    const said = undoneWords(fix, written, now.history, t);
    this.notices.say({ root, fix }, said, { title: t('Review'), command: 'trellis.reviewFix' });
    await this.runAgain(root, now);
  }

  /** Runs the tests that ran for a decision, whose results hold no more. */
  private async runAgain(root: string, { test, affected, failing }: FixResult): Promise<void> {
    if (!workspace.isTrusted) return;
    const paths = [...new Set([test.id, ...affected, ...failing])];
    await commands.executeCommand('trellis.runTests', { root, paths });
  }

  /** Shows a proposal; says where that cannot be done. */
  async show(of: Fix): Promise<void> {
    try {
      await this.desk.show(of);
    } catch (error) {
      await reportError(t('Could not show the fix'), error);
    }
  }

  private async send({ root, fix }: Fix, choice: Choice): Promise<DecideFixResult | undefined> {
    const params = { root, fix, ...choice, ...(await means('trellis/decideFix', root)) };
    return await requestWithProgress(
      this.sidecar,
      'trellis/decideFix',
      params,
      t('Applying your decision about {0}', fix),
    );
  }

  private async decided(of: Fix, choice: Choice, result: DecideFixResult | undefined): Promise<void> {
    if (result === undefined) return;
    const said = decidedWords(result, t);
    if (said.settled && (await this.isAsSent(of, choice))) await this.desk.clear(of);
    if (result.state === 'waiting') await this.showRest(of, choice);
    this.say(of, said);
    if (said.settled) await this.next(of);
  }

  /** Tests take their time, and a person may go on writing. */
  private async isAsSent(of: Fix, { files, revision }: Choice): Promise<boolean> {
    if (files === undefined) return true;
    const now = await this.writing.texts(of, revision);
    return now.every(({ path, text }) => files.some((it) => it.path === path && it.text === text));
  }

  /** What a person wrote is part of the proposal now, and goes on being written. */
  private async showRest(of: Fix, { files }: Choice): Promise<void> {
    await this.desk.clear(of);
    if (files === undefined || files.length === 0) return await this.show(of);
    await this.desk.edit(of);
  }

  /** What is left to decide is said until it is decided; the rest is news. */
  private say(of: Fix, { text, offer, settled }: Said): void {
    if (settled) void this.sayLast(of, text, offer);
    else this.notices.say(of, text, offer);
  }

  private async sayLast({ root, fix }: Fix, text: string, offer: Offer | undefined): Promise<void> {
    const key = keyOf({ root, fix });
    const said = Symbol(fix);
    if (offer !== undefined) this.undoable.set(key, said);
    const chosen = await notify.info(text, ...(offer === undefined ? [] : [offer.title]));
    const isStill = this.undoable.get(key) === said && this.undoable.delete(key);
    // What was undone by other means meanwhile is not undone twice.
    if (offer !== undefined && chosen === offer.title && isStill) {
      await commands.executeCommand(offer.command, { root, fix });
    }
  }

  /** The oldest of those that wait. */
  private async next(after: Fix): Promise<void> {
    const [next] = waiting(this.fixes.queue).filter((it) => !isSame(it, after));
    if (next !== undefined) await this.show({ root: next.root, fix: next.fix });
  }

  /** Why, and what can be done; nothing was written. */
  private refused(of: Fix, error: unknown): void {
    const trellisError = toTrellisError(error);
    const doing = t('Could not apply your decision about {0}', of.fix);
    if (isCancelled(trellisError) || trellisError.remedy === undefined) void reportError(doing, trellisError);
    else this.notices.say(of, `${doing}: ${errorText(trellisError)}`, offers()[trellisError.remedy]);
  }
}

/** What can be done about a decision that was refused. */
function offers(): Record<Remedy, Offer> {
  return {
    rebase: { title: t('Update Fix'), command: 'trellis.rebaseFix' },
    review: { title: t('Review Again'), command: 'trellis.reviewFix' },
  };
}
