// Requests of the person for fixes of failing tests, and for other versions of them.
import { l10n, window } from 'vscode';
import { requestSettings } from '../settings/request_settings';
import type { Params, Sidecar } from '../sidecar/api';
import { requestWithProgress } from '../sidecar/job_progress';
import * as notify from '../sidecar/notify';
import { isWithin } from '../testing/ids';
import type { NamedTest } from '../testing/types';
import type { DiffTabs } from './diff_tabs';
import { type ProposalStore, realFolder } from './proposal_store';
import type { Proposal } from './queue';

export class FixRequests {
  /** Tests whose fix is being looked for. */
  private readonly underWay = new Map<string, NamedTest>();

  constructor(
    private readonly sidecar: Sidecar,
    private readonly proposals: Pick<ProposalStore, 'refresh'>,
    private readonly diffTabs: Pick<DiffTabs, 'show'>,
  ) {}

  /** Returns whether the person waits for a proposal, and is shown it without a notification. */
  isAwaited({ root, test }: Proposal): boolean {
    return [...this.underWay.values()].some((it) => it.root === root && isWithin(it.test, test.id));
  }

  /** Looks for a fix, and shows it. */
  async propose({ root, test }: NamedTest): Promise<void> {
    await this.request({ root, test }, l10n.t('Looking for a fix of {0}', nameOf(test)));
  }

  /** Asks for another version of a proposal, in the person's words. */
  async revise({ root, fix, node }: Proposal, test: string): Promise<void> {
    if (node)
      return void (await notify.info(
        l10n.t('A run changes its drafts itself: reject it, and the run continues.'),
      ));
    if (this.isBusy({ root: await realFolder(root), test })) return;
    const words = await window.showInputBox({
      title: l10n.t('What should change in {0}?', fix),
      placeHolder: l10n.t('such as: also handle None'),
      ignoreFocusOut: true,
    });
    if (words === undefined || words.trim() === '') return;
    await this.request({ root, test, revise: fix, words }, l10n.t('Changing {0}', fix));
  }

  /** Returns whether a fix of the test is being looked for, and says so. */
  private isBusy({ root, test }: NamedTest): boolean {
    const isBusy = this.underWay.has(keyOf({ root, test }));
    if (isBusy) void notify.info(l10n.t('A fix of {0} is being looked for already.', nameOf(test)));
    return isBusy;
  }

  private async request(given: Params<'trellis/proposeFix'> & NamedTest, title: string): Promise<void> {
    const root = await realFolder(given.root);
    const key = keyOf({ root, test: given.test });
    if (this.isBusy({ root, test: given.test })) return;
    this.underWay.set(key, { root, test: given.test });
    try {
      const params = { ...(await requestSettings('trellis/proposeFix', root)), ...given };
      const found = await requestWithProgress(this.sidecar, 'trellis/proposeFix', params, title);
      await this.proposals.refresh();
      if (found !== undefined) await this.diffTabs.show({ root, fix: found.fix });
    } finally {
      this.underWay.delete(key);
    }
  }
}

function keyOf({ root, test }: NamedTest): string {
  return `${root}\n${test}`;
}

/** Returns the last part of an id: the name of a test or of a file. */
function nameOf(test: string): string {
  return test.split(/::|\//).at(-1) ?? test;
}
