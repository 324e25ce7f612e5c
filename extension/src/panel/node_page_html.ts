// Content of the page of a node: the facts of the sidecar as HTML.
import type { AttemptResult, BlockedNode, NodeFailure, NodeResult, RunKind } from '../protocol';
import { sentence } from '../sentence';
import type { Translate } from '../translate';
import { escaped, withCode } from './html';
import { statusNamed } from './node_rows';

/** State of the node besides the facts, which a run may change at any time. */
export interface NodePageState {
  readonly kind: RunKind;
  /** Status in words. */
  readonly status: string;
  /** Current step of a node in work. */
  readonly stage: string | undefined;
  /** Whether a retry is possible: the folder is trusted, and no run is open. */
  readonly canRetry: boolean;
}

/** Makes the content of the page. */
export function nodePageHtml(facts: NodeResult, state: NodePageState, t: Translate): string {
  return [
    heading(facts, state, t),
    actions(facts, state, t),
    failingTest(facts, t),
    reasons(facts, state, t),
    attempts(facts, t),
    steps(facts, t),
    texts(facts, t),
    blocks(facts.blocks, t),
    specification(facts, t),
  ].join('\n');
}

function heading(facts: NodeResult, { status, stage }: NodePageState, t: Translate): string {
  const now = stage === undefined ? status : `${status} · ${stage}`;
  const places = [facts.id, ...(facts.path ? [facts.path] : [])].map((it) => `<code>${escaped(it)}</code>`);
  return `<h1>${escaped(facts.name)}</h1>
<p id="status" role="status"><span class="dot ${escaped(facts.status)}"></span>${escaped(now)}</p>
<p class="places" aria-label="${escaped(t('Node and file'))}">${places.join(' ')}</p>`;
}

function actions(facts: NodeResult, { kind, canRetry }: NodePageState, t: Translate): string {
  const isOpen = facts.status === 'failed' || facts.status === 'skipped';
  const retry = isOpen
    ? [
        button('retry', t('Retry'), 'primary', canRetry),
        button('retryWith', t('Retry with Another Model…'), '', canRetry),
      ]
    : [];
  const edit = kind === 'tasks' ? t('Edit the Task') : t('Edit the Specification');
  const code =
    facts.status === 'passed' && kind === 'generate' ? [button('node', t('Open Code'), 'primary')] : [];
  const all = [...retry, ...code, button('edit', edit, ''), button('graph', t('Show in Graph'), '')];
  return `<div class="actions" role="group" aria-label="${escaped(t('Actions'))}">${all.join('')}</div>`;
}

function button(action: string, text: string, style: string, isEnabled = true): string {
  const state = isEnabled ? '' : ' disabled';
  return `<button type="button" class="${style}" data-action="${action}"${state}>${escaped(text)}</button>`;
}

function link(action: string, text: string, id?: string): string {
  const target = id === undefined ? '' : ` data-id="${escaped(id)}"`;
  return `<button type="button" class="link" data-action="${action}"${target}>${escaped(text)}</button>`;
}

function section(title: string, content: string): string {
  return content === '' ? '' : `<section><h2>${escaped(title)}</h2>${content}</section>`;
}

function reasons(facts: NodeResult, state: NodePageState, t: Translate): string {
  const { status, cause, reason } = facts;
  if (status === 'passed') return '';
  const why = cause ? `<p>${withCode(sentence(cause))}</p>` : '';
  const given = reason && !cause ? `<pre class="text">${escaped(reason)}</pre>` : '';
  if (status === 'skipped') return section(t('Why it was skipped'), why + given);
  return section(t('Why it failed'), `${why}${given}<p>${withCode(advice(facts, state, t))}</p>`);
}

/** Options of the command line in the sidecar's advice, and what a person of the editor does instead. */
const OPTIONS: readonly (readonly [RegExp, string])[] = [
  [/run\s+again with `--keep-edits`/g, 'run `trellis generate --keep-edits` in a terminal'],
  [/`--approve autonomous`/g, 'the setting `trellis.approve`: `autonomous`'],
  [/ with `--model`/g, ''],
  [/ \((see )?`--[^`]*`\)/g, ''],
];

/** Returns the advice of the sidecar in terms of the editor. */
function advice({ recommendation }: NodeResult, { kind }: NodePageState, t: Translate): string {
  if (recommendation)
    return OPTIONS.reduce((text, [option, own]) => text.replace(option, own), recommendation);
  if (kind === 'tasks') return t('Make the task clearer, or retry with a stronger model.');
  return t(
    'Compare the failing test with the specification and correct the one that is wrong, or retry with a stronger model.',
  );
}

function failingTest({ test, failure, tests }: NodeResult, t: Translate): string {
  if (!test) return '';
  const name = test.split('::').slice(1).join('::') || test;
  const shown = tests === '' ? `<code>${escaped(name)}</code>` : link('tests', name);
  return section(t('Failing test'), `<p>${shown}</p>${failure ? values(failure, t) : ''}`);
}

function values(failure: NodeFailure, t: Translate): string {
  const { expected, actual, operator } = failure;
  const place = failure.path === '' ? '' : ` (${failure.path}:${failure.line})`;
  const message = `<pre class="text">${escaped(`${failure.exception}: ${failure.message}${place}`)}</pre>`;
  if (typeof expected !== 'string' || typeof actual !== 'string') return message;
  const isEqual = operator === '==';
  const names = isEqual
    ? [t('Expected'), t('Actual')]
    : [t('Right side of {0}', operator ?? ''), t('Left side')];
  const sides = [expected, actual].map(
    (it, at) =>
      `<dt>${escaped(names[at] ?? '')}</dt><dd class="${at === 0 ? 'expected' : 'actual'}"><pre>${escaped(it)}</pre></dd>`,
  );
  return `<dl class="values">${sides.join('')}</dl>${message}`;
}

function attempts({ attempts: all }: NodeResult, t: Translate): string {
  const rows = all.map((it, at) => `<li>${attempt(it, at, at === all.length - 1, t)}</li>`);
  const title = all.length === 1 ? t('1 attempt') : t('{0} attempts', all.length);
  return rows.length === 0 ? '' : section(title, `<ol class="attempts">${rows.join('')}</ol>`);
}

function attempt(it: AttemptResult, at: number, isOpen: boolean, t: Translate): string {
  const kind = at === 0 ? t('First code') : t('Fix {0}', at);
  const counts = it.isUnusable ? t('could not be run') : t('{0} passed, {1} failed', it.passed, it.failed);
  const summary = `<span class="kind">${escaped(kind)}</span> <span>${escaped(counts)}</span> <span class="outcome">${escaped(it.outcome)}</span>`;
  const notes = [
    ...(it.model ? [t('Written by {0}.', it.model)] : []),
    ...(it.runs > 1 ? [t('Run {0} times with the same code.', it.runs)] : []),
    ...(it.finding ? [t('Diagnosis: {0}.', it.finding)] : []),
  ];
  const text = notes.length === 0 ? '' : `<p>${withCode(notes.join(' '))}</p>`;
  const unknown = it.isUnusable ? '' : `<p>${escaped(t('The text of this attempt was not kept.'))}</p>`;
  const change = it.change ? difference(it.change, t) : unknown;
  return `<details${isOpen ? ' open' : ''}><summary>${summary}</summary>${text}${change}</details>`;
}

/** Shows a unified diff line by line; signs tell lines apart without colours. */
function difference(change: string, t: Translate): string {
  const all = change.split('\n');
  // Names of the files come first, and only there.
  const header = all[0]?.startsWith('--- ') ? 2 : 0;
  const lines = all.slice(header).filter((it) => !it.startsWith('\\'));
  const rows = lines.map((it, at) => {
    const isGap = it.startsWith('@@');
    if (isGap) return at === 0 ? '' : '<span class="gap">⋯\n</span>';
    const kind = it.startsWith('+') ? 'added' : it.startsWith('-') ? 'removed' : 'same';
    return `<span class="${kind}">${escaped(it)}\n</span>`;
  });
  return `<pre class="difference" tabindex="0" aria-label="${escaped(t('Difference to the attempt before'))}">${rows.join('')}</pre>`;
}

/** Shows the stages of a task that say something. */
function steps({ steps: all }: NodeResult, t: Translate): string {
  const rows = all
    .filter((it) => it.reason !== '')
    .map(({ stage, reason }) => {
      const [first = '', ...rest] = reason.split('\n');
      const more = rest.length === 0 ? '' : `<pre>${escaped(rest.join('\n').trim())}</pre>`;
      return `<li><strong>${escaped(stage)}</strong> ${escaped(first)}${more}</li>`;
    });
  return rows.length === 0 ? '' : section(t('Steps'), `<ol class="steps">${rows.join('')}</ol>`);
}

function texts({ implementation, tests }: NodeResult, t: Translate): string {
  const code = (text: string, name: string, action: string) =>
    text === ''
      ? ''
      : `<details><summary>${escaped(name)}</summary><p>${link(action, t('Open in an editor'))}</p><pre class="code" tabindex="0" aria-label="${escaped(name)}">${escaped(text)}</pre></details>`;
  return section(
    t('Last texts'),
    code(implementation, t('Last code'), 'code') + code(tests, t('Its tests'), 'tests'),
  );
}

function blocks(all: readonly BlockedNode[], t: Translate): string {
  const rows = all.map(
    (it) => `<li>${link('node', it.name, it.id)} ${escaped(statusNamed(it.status, t))}</li>`,
  );
  const title = all.length === 1 ? t('Blocks 1 node') : t('Blocks {0} nodes', all.length);
  return rows.length === 0 ? '' : section(title, `<ul>${rows.join('')}</ul>`);
}

function specification({ specification: text }: NodeResult, t: Translate): string {
  return text ? section(t('Specification'), `<pre class="text">${escaped(text)}</pre>`) : '';
}
