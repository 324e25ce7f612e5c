// Edits of the plan that the picture shows, which the sidecar makes in its file.
import { basename } from 'node:path';
import { l10n, type TextDocument, workspace } from 'vscode';
import type { PlanChange, PlanEditResult } from '../protocol';
import { type Sidecar, TrellisError } from '../sidecar/api';
import { errorText, toTrellisError } from '../sidecar/errors';
import * as notify from '../sidecar/notify';
import type { FromForm, ToForm } from './plan_form';
import type { PlanPreview } from './plan_preview';

const t = l10n.t;

export class PlanEditor {
  /** Number of nodes that were asked for: an answer that another request overtook is not shown. */
  private asked = 0;

  constructor(
    private readonly sidecar: Sidecar,
    private readonly preview: PlanPreview,
    private readonly send: (message: ToForm | { readonly type: 'select'; readonly id: string }) => void,
  ) {}

  /** Fills the form with a node of the plan. */
  async show(node: string): Promise<void> {
    const run = this.preview.current?.run;
    if (run === undefined || run.kind === 'tasks') return;
    this.asked += 1;
    const turn = this.asked;
    const send = (message: ToForm) => turn === this.asked && this.send(message);
    try {
      const { problems, ...shown } = await this.sidecar.request('trellis/planNode', {
        graph: run.graph,
        node,
      });
      send({ type: 'form', node: shown, problems: problems.map((it) => it.message) });
    } catch {
      // The node went with an edit in the file; the picture shows the others.
      send({ type: 'form', node: undefined, problems: [] });
    }
  }

  async receive({ type, id, edits }: FromForm): Promise<void> {
    const graph = this.preview.current?.run.graph;
    if (graph === undefined) return;
    try {
      if (type === 'try') await this.tryOut(graph, id, edits);
      else await this.apply(graph, id, edits);
    } catch (error) {
      const text = errorText(toTrellisError(error));
      // What was only tried is said where the person types, and takes nobody to another node.
      this.send(type === 'try' ? { type: 'tried', id, problems: [text] } : { type: 'refused', id, text });
    }
  }

  /** Shows the problems that edits would make. */
  private async tryOut(graph: string, id: string, edits: readonly PlanChange[]): Promise<void> {
    const tried = edits.map((edit) =>
      this.sidecar.request('trellis/editPlan', { graph, edit, dryRun: true, force: true }),
    );
    const problems = (await Promise.all(tried)).flatMap((it) => it.newProblems.map((its) => its.message));
    this.send({ type: 'tried', id, problems });
  }

  private async apply(graph: string, id: string, edits: readonly PlanChange[]): Promise<void> {
    // A view of git's has the same path.
    const isOf = ({ uri }: TextDocument) => uri.scheme === 'file' && uri.fsPath === graph;
    if (workspace.textDocuments.some((it) => isOf(it) && it.isDirty)) {
      const text = t('{0} has unsaved changes', basename(graph));
      throw new TrellisError(text, 65, t('save it first'), 'badInput');
    }
    if (edits.some((it) => it.operation === 'remove') && !(await confirmsRemoval(id))) return;
    let last = id;
    try {
      for (const edit of edits) {
        const done = await this.sidecar.request('trellis/editPlan', { graph, edit });
        last = idAfter(done, last);
      }
    } finally {
      // Edits before one that was refused are in the file.
      await this.preview.reload(graph);
    }
    this.send({ type: 'select', id: last });
    await this.show(last);
  }
}

async function confirmsRemoval(id: string): Promise<boolean> {
  const remove = t('Remove');
  const detail = t('References to it go as well. To undo, use the editor of the file or git.');
  return (await notify.dialog(t('Remove {0} from the plan?', id), detail, remove)) === remove;
}

/** Returns the id of a node after an edit. */
function idAfter({ diff }: PlanEditResult, id: string): string {
  return diff.changed.find((it) => it.oldId === id)?.id ?? id;
}
