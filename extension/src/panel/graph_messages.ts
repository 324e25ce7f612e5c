// Messages between the extension and the page of the planning graph.

import type { Run, RunNode, Status } from '../run/run_state';
import type { Translate } from '../translate';
import { fields } from '../unknown_value';
import { type FromForm, parseForm, type ToForm } from './plan_form';
import type { PlannedRun } from './plan_preview';
import { planSummary } from './plan_summary';

export interface DrawnNode {
  readonly id: string;
  readonly name: string;
  readonly subgraph: string;
  readonly status: Status;
  /** Ids of its dependencies. */
  readonly needs: readonly string[];
}

/** A plan before its run. */
export interface PlanHeader {
  /** Size and cost in words. */
  readonly summary: string;
  /** Number of problems in words; left out for a plan that can be generated. */
  readonly problems?: string;
  /** Text of the button that starts the run. */
  readonly generate: string;
  /** Ids of the longest chain. */
  readonly chain: readonly string[];
  /** Whether its nodes can be edited. */
  readonly isEditable: boolean;
}

/** Messages to the page. */
export type ToPage =
  | {
      readonly type: 'graph';
      /** Folder of the run; the file of a plan without one. */
      readonly out: string;
      readonly plan?: PlanHeader;
      readonly nodes: readonly DrawnNode[];
    }
  | { readonly type: 'states'; readonly states: readonly (readonly [string, Status])[] }
  | { readonly type: 'select'; readonly id: string }
  | ToForm;

/** Messages from the page. */
export type FromPage =
  /** The page is ready; a restored page has a selected node. */
  | { readonly type: 'ready'; readonly chosen: string | undefined }
  | { readonly type: 'open' | 'tests' | 'retry' | 'selected'; readonly id: string }
  /** A button of the header of a plan. */
  | { readonly type: 'generate' | 'problems' }
  | FromForm;

export function graphMessage(run: Run, plan?: PlanHeader): Extract<ToPage, { type: 'graph' }> {
  const nodes = [...run.nodes.values()].map(drawnNode);
  const message = { type: 'graph', out: run.out || run.graph, nodes } as const;
  return plan === undefined ? message : { ...message, plan };
}

/** Makes the header of a plan that has not been run. */
export function planHeader({ run, estimate }: PlannedRun, t: Translate): PlanHeader {
  const { problems, chain } = estimate;
  const header = {
    summary: planSummary(estimate, run.kind, t),
    generate: run.kind === 'tasks' ? t('Build Project…') : t('Generate…'),
    chain,
    isEditable: run.kind !== 'tasks',
  };
  if (problems === 0) return header;
  return { ...header, problems: problems === 1 ? t('1 problem') : t('{0} problems', problems) };
}

export function statesMessage(run: Run, changed: Iterable<string>): Extract<ToPage, { type: 'states' }> {
  const states = [...changed].flatMap((id) => {
    const node = run.nodes.get(id);
    return node === undefined ? [] : [[id, node.status] as const];
  });
  return { type: 'states', states };
}

/** Reads a message of the page; `undefined` for others. */
export function parseMessage(message: unknown): FromPage | undefined {
  const { type, id, chosen } = fields(message);
  if (type === 'generate' || type === 'problems') return { type };
  if (type === 'ready') return { type, chosen: typeof chosen === 'string' ? chosen : undefined };
  const ofForm = parseForm(message);
  if (ofForm !== undefined) return ofForm;
  const known = type === 'open' || type === 'tests' || type === 'retry' || type === 'selected';
  return known && typeof id === 'string' ? { type, id } : undefined;
}

function drawnNode({ id, name, subgraph, status, needs }: RunNode): DrawnNode {
  return { id, name, subgraph, status, needs };
}
