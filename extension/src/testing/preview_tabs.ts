// Tabs with the differences that generated tests make.
import { basename } from 'node:path';
import { commands, l10n, type Tab, TabInputTextDiff, Uri, window } from 'vscode';
import { withoutLinks } from '../sidecar/link_free_text';
import { previewTextOf, previewUriParts } from './preview_uri';
import type { TestPreview } from './test_previews';

/** Returns the id of the preview in the active tab. */
export function activePreview(): string | undefined {
  const tab = window.tabGroups.activeTabGroup.activeTab;
  return tab && previewOf(tab);
}

export async function showPreview({ id, generated }: TestPreview): Promise<void> {
  const { path, tests } = generated;
  const passed = tests.filter((it) => it.outcome === 'passed').length;
  const title = l10n.t('{0} ({1} of {2} generated tests pass)', basename(path), passed, tests.length);
  const uri = (side: 'base' | 'proposed') => Uri.from(previewUriParts({ id, side }, path));
  const options = { preview: false };
  await commands.executeCommand('vscode.diff', uri('base'), uri('proposed'), withoutLinks(title), options);
}

/** Closes the tabs of previews. */
export async function closePreviews(isClosed: (id: string) => boolean): Promise<void> {
  const tabs = window.tabGroups.all.flatMap((it) => it.tabs);
  const own = tabs.filter((it) => {
    const id = previewOf(it);
    return id !== undefined && isClosed(id);
  });
  if (own.length > 0) await window.tabGroups.close(own);
}

function previewOf({ input }: Tab): string | undefined {
  return input instanceof TabInputTextDiff ? previewTextOf(input.modified)?.id : undefined;
}
