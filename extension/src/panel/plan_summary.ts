// Size and likely cost of a plan that has not been run, in words.
import type { CostRange, PlanEstimateResult, RunKind } from '../protocol';
import { dollars, shortCount } from '../run/cost';
import type { Translate } from '../translate';

/** Describes a plan: its size, its longest chain, and what a run of it will probably cost. */
export function planSummary(plan: PlanEstimateResult, kind: RunKind, t: Translate): string {
  return [...sizeParts(plan, kind, t), costText(plan, t)].join(' · ');
}

function sizeParts(
  { nodes, subgraphs, levels, chain }: PlanEstimateResult,
  kind: RunKind,
  t: Translate,
): string[] {
  const counted = nodes === 1 ? t('1 node') : t('{0} nodes', nodes);
  const inSubgraphs =
    subgraphs === 1 ? t('{0} in 1 subgraph', counted) : t('{0} in {1} subgraphs', counted, subgraphs);
  const tasks = nodes === 1 ? t('1 task') : t('{0} tasks', nodes);
  const inLevels = levels === 1 ? t('1 level') : t('{0} levels', levels);
  return [kind === 'tasks' ? tasks : inSubgraphs, inLevels, t('longest chain {0}', chain.length)];
}

/** Describes requests, tokens and price, from the least to the usual number. */
function costText({ least, usual, model, noModel }: PlanEstimateResult, t: Translate): string {
  const requests = t('about {0} requests', range(least, usual, (it) => String(it.requests)) ?? '');
  const tokens = range(least, usual, (it) => (it.tokens == null ? undefined : shortCount(it.tokens)));
  const usd = range(least, usual, (it) => (it.usd == null ? undefined : dollars(it.usd)));
  const parts = [
    requests,
    ...(tokens === undefined ? [] : [t('{0} tokens', tokens)]),
    ...(usd === undefined ? [] : [usd]),
  ].join(', ');
  return model
    ? t('{0} with {1}', parts, shortName(model))
    : t('{0}; {1}', parts, noModel ?? t('no model is chosen yet'));
}

/** Formats the range between two costs; `undefined` if the value is unknown. */
function range(
  least: CostRange,
  usual: CostRange,
  format: (it: CostRange) => string | undefined,
): string | undefined {
  const [from, to] = [format(least), format(usual)];
  if (from === undefined || to === undefined) return undefined;
  return from === to ? to : `${from}–${to}`;
}

/** Leaves the folders of a recording out. */
function shortName(model: string): string {
  return model.replace(/^recorded:.*[\\/]/, 'recorded:');
}
