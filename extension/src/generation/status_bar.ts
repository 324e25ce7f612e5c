// The status bar item: state of the sidecar and of jobs; a click opens the menu.
import { commands, type Disposable, l10n, StatusBarAlignment, ThemeColor, window } from 'vscode';
import type { JobStore } from '../run/job_store';
import { countOpenShortJobs, currentRun, openLongJobs } from '../run/jobs';
import type { RunStore } from '../run/run_store';
import { type Interpreter, onInterpreter } from '../settings/interpreter';
import type { Sidecar } from '../sidecar/api';
import { type StatusText, statusText } from './status_text';

const COLOURS: Record<StatusText['severity'], string | undefined> = {
  plain: undefined,
  warning: 'statusBarItem.warningBackground',
  error: 'statusBarItem.errorBackground',
};

export function createStatusBar(sidecar: Sidecar, jobStore: JobStore, runs: RunStore): Disposable[] {
  const item = window.createStatusBarItem('trellis.run', StatusBarAlignment.Left, 10);
  item.name = l10n.t('Trellis');
  item.command = 'trellis.actions';
  let python: Interpreter | undefined;
  const update = () => {
    const jobs = openLongJobs(jobStore.jobs);
    const out = jobs[0]?.out;
    const cost = out === undefined ? undefined : runs.costOf(out);
    const {
      text,
      tooltip: statusTooltip,
      severity: look,
    } = statusText(sidecar.state, jobs, countOpenShortJobs(jobStore.jobs), l10n.t, cost);
    const tooltip =
      python === undefined
        ? statusTooltip
        : `${statusTooltip}\n${l10n.t('Python: {0} ({1})', python.path, python.origin)}`;
    const colour = COLOURS[look];
    item.text = text;
    item.tooltip = tooltip;
    item.accessibilityInformation = { label: `${text.replace(/\$\([^)]*\) ?/g, '')}. ${tooltip}` };
    item.backgroundColor = colour === undefined ? undefined : new ThemeColor(colour);
    void commands.executeCommand('setContext', 'trellis.run', currentRun(jobStore.jobs)?.state ?? 'none');
    void commands.executeCommand('setContext', 'trellis.isBusy', jobs.length > 0);
  };
  update();
  item.show();
  const found = onInterpreter((it) => {
    python = it;
    update();
  });
  return [item, found, sidecar.onState(update), jobStore.onChange(update), runs.onChange(update)];
}
