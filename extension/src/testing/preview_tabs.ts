// Differences of generated tests that are not written yet.
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { commands, type Disposable, l10n, type Tab, TabInputTextDiff, Uri, window, workspace } from 'vscode';
import { withoutLinks } from '../sidecar/link_free_text';
import { fields } from '../unknown_value';
import {
  type FunctionId,
  functionIdOf,
  functionName,
  type TestPreview,
  type TestPreviews,
} from './test_previews';

/** Scheme of the texts of test files with generated tests. */
export const PREVIEW_SCHEME = 'trellis-tests';

export class PreviewTabs {
  constructor(private readonly previews: TestPreviews) {}

  begin(): Disposable {
    const text = (uri: Uri) => {
      const id = functionIdOfUri(uri);
      const preview = id && partsOf(uri).side === 'after' ? this.previews.find(id) : undefined;
      return preview?.source ?? '';
    };
    return workspace.registerTextDocumentContentProvider(PREVIEW_SCHEME, {
      provideTextDocumentContent: text,
    });
  }

  /** The function of the active tab. */
  get active(): FunctionId | undefined {
    const tab = window.tabGroups.activeTabGroup.activeTab;
    return tab && functionOf(tab);
  }

  /** Shows the test file before and after. */
  async show(preview: TestPreview): Promise<void> {
    // The provider is asked once for each URI: an earlier preview has other tests.
    await this.close(preview);
    const file = join(preview.root, preview.path);
    const before = existsSync(file) ? Uri.file(file) : uriOf(preview, 'before');
    const title = l10n.t('{0} (tests for {1})', basename(preview.path), functionName(preview));
    await commands.executeCommand('vscode.diff', before, uriOf(preview, 'after'), withoutLinks(title));
  }

  async close(id: FunctionId): Promise<void> {
    const isOwn = (tab: Tab) => {
      const shown = functionOf(tab);
      return shown?.root === id.root && shown.function === id.function;
    };
    const own = window.tabGroups.all.flatMap((it) => it.tabs).filter(isOwn);
    if (own.length > 0) await window.tabGroups.close(own);
  }
}

function uriOf({ root, function: name, path, draft }: TestPreview, side: 'before' | 'after'): Uri {
  const query = JSON.stringify({ root, function: name, side, items: Object.values(draft.items) });
  return Uri.from({ scheme: PREVIEW_SCHEME, path: `/${path}`, query });
}

function functionOf({ input }: Tab): FunctionId | undefined {
  return input instanceof TabInputTextDiff ? functionIdOfUri(input.modified) : undefined;
}

/** Reads the function of a text; `undefined` for URIs of others. */
export function functionIdOfUri(uri: Uri): FunctionId | undefined {
  return uri.scheme === PREVIEW_SCHEME ? functionIdOf(partsOf(uri)) : undefined;
}

function partsOf({ query }: Uri): Readonly<Record<string, unknown>> {
  try {
    return fields(JSON.parse(query));
  } catch {
    // A URI may be made up by anybody.
    return {};
  }
}
