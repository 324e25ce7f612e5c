// A draft of a plan: asks the sidecar for its next step until it has a question, a part, or the plan.
import { basename } from 'node:path';
import { commands, l10n, Uri } from 'vscode';
import type { DraftPlanParams, WrittenPlan } from '../protocol';
import { requestSettings } from '../settings/request_settings';
import { type Sidecar, TrellisError } from '../sidecar/api';
import { requestWithProgress } from '../sidecar/job_progress';
import * as notify from '../sidecar/notify';
import { sizeText } from './counts';
import { askQuestions } from './draft_pickers';
import type { DraftChoice, DraftStore } from './draft_store';
import type { PartTabs } from './part_tabs';

const t = l10n.t;

/** What the person gave to the draft. */
type Given = Pick<DraftPlanParams, 'answers' | 'decision'>;

export class PlanDraft {
  private isBusy = false;

  constructor(
    private readonly sidecar: Sidecar,
    private readonly store: DraftStore,
    private readonly tabs: PartTabs,
  ) {}

  /** Begins a draft, which takes the place of the one before. */
  async begin(choice: DraftChoice): Promise<void> {
    await this.store.set({ choice });
    await this.tabs.show();
    await this.advance(choice, {});
  }

  /** Shows what waits, or continues a draft that was stopped. */
  async resume(): Promise<void> {
    const draft = this.current();
    if (draft.part !== undefined) await this.tabs.show();
    // The sidecar may have kept a decision whose call failed, and another part waits now.
    await this.advance(draft.choice, {});
  }

  /** Accepts the part that waits, with the person's edits. */
  async accept(): Promise<void> {
    const { choice, part } = this.waiting();
    const text = (await this.tabs.editedText()) ?? part.edited ?? part.text;
    await this.advance(choice, { decision: text === part.text ? 'accept' : { edited: text } });
  }

  /** Returns whether the part that waits has edits of the person, saved or not. */
  isEdited(): boolean {
    const { part } = this.waiting();
    return (this.tabs.shownText() ?? part.edited ?? part.text) !== part.text;
  }

  /** Sends the part that waits back to the model, and gives up edits that are not saved. */
  async sendBack(words: string): Promise<void> {
    await this.tabs.revert();
    await this.advance(this.waiting().choice, { decision: { sendBack: words } });
  }

  /** Returns the part that waits, with its draft. */
  waiting() {
    const { choice, part } = this.current();
    if (part !== undefined) return { choice, part };
    throw new TrellisError(t('no part waits for a decision'), 65, undefined, 'badInput');
  }

  private current() {
    const draft = this.store.current;
    if (draft !== undefined) return draft;
    const hint = t('start one with "Trellis: New Project from Description…"');
    throw new TrellisError(t('there is no draft'), 65, hint, 'badInput');
  }

  private async advance(choice: DraftChoice, given: Given): Promise<void> {
    // A second click must not decide about the next part.
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      await this.advanceAlone(choice, given);
    } finally {
      this.isBusy = false;
    }
  }

  private async advanceAlone(choice: DraftChoice, given: Given): Promise<void> {
    const settings = await requestSettings('trellis/draftPlan', choice.out);
    const params = { ...settings, ...choice, ...given };
    const title = t('Drafting {0}', basename(choice.out));
    const result = await requestWithProgress(this.sidecar, 'trellis/draftPlan', params, title);
    if (result === undefined) return;
    if (result.state === 'questions') {
      await this.store.set({ choice });
      const answers = await askQuestions(result.questions);
      if (answers !== undefined) await this.advanceAlone(choice, { answers });
    } else if (result.state === 'written') {
      await this.store.set(undefined);
      await this.tabs.show();
      await showPlan(result);
    } else {
      const { part, text, problems } = result;
      const shown = this.store.current?.part;
      if (shown?.part !== part || shown.text !== text)
        await this.store.set({ choice, part: { part, text, problems, mtime: Date.now() } });
      await this.tabs.show();
    }
  }
}

/** Shows the picture of a plan that was written, and offers its run. */
async function showPlan({ plan, files, definitions, problems }: WrittenPlan): Promise<void> {
  const file = Uri.file(plan);
  await commands.executeCommand('trellis.showGraph', file);
  const [generate, show] = [t('Generate…'), t('Show Problems')];
  const done = t('{0}: {1}.', basename(plan), sizeText(files, definitions, t));
  const open =
    problems.length === 1
      ? t('{0} The model left 1 problem.', done)
      : t('{0} The model left {1} problems.', done, problems.length);
  const chosen =
    problems.length === 0 ? await notify.info(done, generate) : await notify.warn(open, show, generate);
  if (chosen === generate) await commands.executeCommand('trellis.generate', file);
  if (chosen === show)
    await notify.details(open, problems.map((it) => `${it.part}: ${it.problem}`).join('\n'));
}
