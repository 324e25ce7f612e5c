// One connection to the sidecar, made with the library for the Language Server Protocol.
import type { CodeAction, CodeLens, Command, LogOutputChannel, TextDocument, Uri } from 'vscode';
import {
  CloseAction,
  type DynamicFeature,
  ErrorAction,
  LanguageClient,
  type LanguageClientOptions,
  MessageType,
  RevealOutputChannelOn,
  type ServerOptions,
  ShowMessageNotification,
  ShowMessageRequest,
  type StaticFeature,
} from 'vscode-languageclient/node';
import { type LensSettings, shownLenses, showsAction } from './lens_filter';
import * as notify from './notify';
import { logLines } from './process';
import type { ServerSettings } from './server_settings';

export interface ConnectionHandlers {
  /** Called when the stream breaks off without a request to stop. */
  readonly onClosed: () => void;
  /** Called when the output is not a message. */
  readonly onInvalidMessage: (error: Error) => void;
  readonly onLenses: (document: TextDocument, lenses: readonly CodeLens[]) => void;
  /** Decides which lenses and actions a person sees. All lenses are requested, since gutter marks are made of them. */
  readonly lensSettings: (document: Uri) => LensSettings;
  readonly settings: () => ServerSettings;
}

/** The library's client without features that the extension has itself: commands, and progress bars. */
class Connection extends LanguageClient {
  override registerFeature(feature: StaticFeature | DynamicFeature<unknown>): void {
    // The library would register the sidecar's commands; the extension's own commands show their results.
    if ('registrationType' in feature && feature.registrationType.method === 'workspace/executeCommand')
      return;
    super.registerFeature(feature);
  }
}

/** The status bar shows jobs; a progress bar in a notification would stay for hours. */
const noProgressBars: StaticFeature = {
  fillClientCapabilities: (capabilities) => {
    capabilities.window = { ...capabilities.window, workDoneProgress: false };
  },
  initialize: () => undefined,
  getState: () => ({ kind: 'static' }),
  clear: () => undefined,
};

/** Makes the client without starting it. */
export function createConnection(
  server: ServerOptions,
  output: LogOutputChannel,
  handlers: ConnectionHandlers,
): LanguageClient {
  const made = new Connection('trellis', 'Trellis', server, options(output, handlers));
  made.registerFeature(noProgressBars);
  made.onNotification(ShowMessageNotification.type, ({ type, message }) => void notifierFor(type)(message));
  made.onRequest(ShowMessageRequest.type, async ({ type, message, actions = [] }) => {
    const chosen = await notifierFor(type)(message, ...actions.map((it) => it.title));
    return actions.find((it) => it.title === chosen) ?? null;
  });
  return made;
}

/** Chooses the notification for a message; the library's own would make links of text in it. */
function notifierFor(type: MessageType): notify.Notify {
  if (type === MessageType.Error) return notify.error;
  return type === MessageType.Warning ? notify.warn : notify.info;
}

function options(output: LogOutputChannel, handlers: ConnectionHandlers): LanguageClientOptions {
  return {
    documentSelector: [{ scheme: 'file', language: 'python' }],
    outputChannel: output,
    traceOutputChannel: output,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    stdioOptions: { stdout: logLines, stderr: logLines },
    initializationOptions: handlers.settings,
    initializationFailedHandler: () => false,
    errorHandler: {
      error: (error, written) => {
        // If writing fails the reader is gone, which `onClosed` reports.
        if (written === undefined) handlers.onInvalidMessage(error);
        return { action: ErrorAction.Continue, handled: true };
      },
      // The client decides about restarts, not the library.
      closed: () => {
        handlers.onClosed();
        const message = 'the connection to the server is closed';
        return { action: CloseAction.DoNotRestart, handled: true, message };
      },
    },
    middleware: {
      provideCodeLenses: async (document, token, next) => {
        const lenses = await next(document, token);
        if (lenses) handlers.onLenses(document, lenses);
        const path = document.uri.fsPath.replaceAll('\\', '/');
        return lenses && [...shownLenses(path, lenses, handlers.lensSettings(document.uri))];
      },
      provideCodeActions: async (document, range, context, token, next) => {
        const actions = await next(document, range, context, token);
        const settings = handlers.lensSettings(document.uri);
        return actions?.filter((it) => showsAction(commandOf(it), settings));
      },
    },
  };
}

/** Names the command of an action; `undefined` for an action that is only an edit. */
function commandOf(action: CodeAction | Command): string | undefined {
  return typeof action.command === 'string' ? action.command : action.command?.command;
}
