// The item of the status bar: what is going on, and a click for what can be done about it.
import { commands, type Disposable, l10n, StatusBarAlignment, ThemeColor, window } from 'vscode';
import { type Interpreter, onInterpreter } from '../means/interpreter';
import type { Board } from '../run/board';
import { besides, current, underWay } from '../run/jobs';
import type { Runs } from '../run/runs';
import type { Sidecar } from '../sidecar/api';
import { type Shown, shown } from './status_text';

const COLOURS: Record<Shown['look'], string | undefined> = {
  plain: undefined,
  warning: 'statusBarItem.warningBackground',
  error: 'statusBarItem.errorBackground',
};

export function statusBar(sidecar: Sidecar, board: Board, runs: Runs): Disposable[] {
  const item = window.createStatusBarItem('trellis.run', StatusBarAlignment.Left, 10);
  item.name = l10n.t('Trellis');
  item.command = 'trellis.actions';
  let python: Interpreter | undefined;
  const update = () => {
    const jobs = underWay(board.jobs);
    const out = jobs[0]?.out;
    const cost = out === undefined ? undefined : runs.costOf(out);
    const { text, tooltip: told, look } = shown(sidecar.state, jobs, besides(board.jobs), l10n.t, cost);
    const tooltip =
      python === undefined ? told : `${told}\n${l10n.t('Python: {0} ({1})', python.path, python.by)}`;
    const colour = COLOURS[look];
    item.text = text;
    item.tooltip = tooltip;
    item.accessibilityInformation = { label: `${text.replace(/\$\([^)]*\) ?/g, '')}. ${tooltip}` };
    item.backgroundColor = colour === undefined ? undefined : new ThemeColor(colour);
    void commands.executeCommand('setContext', 'trellis.run', current(board.jobs)?.state ?? 'none');
    void commands.executeCommand('setContext', 'trellis.isBusy', jobs.length > 0);
  };
  update();
  item.show();
  const found = onInterpreter((it) => {
    python = it;
    update();
  });
  return [item, found, sidecar.onState(update), board.onChange(update), runs.onChange(update)];
}
