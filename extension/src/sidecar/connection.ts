// One life of the sidecar, as the library for the Language Server Protocol sees it.
import type { CodeAction, CodeLens, Command, LogOutputChannel, TextDocument } from 'vscode';
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
import { logLines } from './process';
import * as say from './say';
import type { SidecarSettings } from './settings';
import type { Shows } from './shows';

export interface Ears {
  /** The stream broke off without being asked to. */
  readonly closed: () => void;
  /** Something came that is no message. */
  readonly garbled: (error: Error) => void;
  readonly lenses: (document: TextDocument, lenses: readonly CodeLens[]) => void;
  /** Whether a person sees the lens or action of a command; lenses are asked for either way, since marks are made of them. */
  readonly shows: Shows;
  readonly settings: () => SidecarSettings;
}

/** The library's client without what rooms of ours do: commands, and bars of progress. */
class Connection extends LanguageClient {
  override registerFeature(feature: StaticFeature | DynamicFeature<unknown>): void {
    // It would register the sidecar's commands, which are ours: they show what becomes of them.
    if ('registrationType' in feature && feature.registrationType.method === 'workspace/executeCommand')
      return;
    super.registerFeature(feature);
  }
}

/** The status bar shows jobs; a bar in a notification would stay for hours. */
const noBars: StaticFeature = {
  fillClientCapabilities: (capabilities) => {
    capabilities.window = { ...capabilities.window, workDoneProgress: false };
  },
  initialize: () => undefined,
  getState: () => ({ kind: 'static' }),
  clear: () => undefined,
};

/** Makes it; nothing is started. */
export function connection(server: ServerOptions, output: LogOutputChannel, ears: Ears): LanguageClient {
  const made = new Connection('trellis', 'Trellis', server, options(output, ears));
  made.registerFeature(noBars);
  made.onNotification(ShowMessageNotification.type, ({ type, message }) => void door(type)(message));
  made.onRequest(ShowMessageRequest.type, async ({ type, message, actions = [] }) => {
    const chosen = await door(type)(message, ...actions.map((it) => it.title));
    return actions.find((it) => it.title === chosen) ?? null;
  });
  return made;
}

/** The library would make links of what the sidecar says of others. */
function door(type: MessageType): say.Say {
  if (type === MessageType.Error) return say.error;
  return type === MessageType.Warning ? say.warn : say.info;
}

function options(output: LogOutputChannel, ears: Ears): LanguageClientOptions {
  return {
    documentSelector: [{ scheme: 'file', language: 'python' }],
    outputChannel: output,
    traceOutputChannel: output,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    stdioOptions: { stdout: logLines, stderr: logLines },
    initializationOptions: ears.settings,
    initializationFailedHandler: () => false,
    errorHandler: {
      error: (error, written) => {
        // What cannot be written any more has a reader that is gone, which is heard as well.
        if (written === undefined) ears.garbled(error);
        return { action: ErrorAction.Continue, handled: true };
      },
      // Whether there is another life is not the library's business.
      closed: () => {
        ears.closed();
        const message = 'the connection to the server is closed';
        return { action: CloseAction.DoNotRestart, handled: true, message };
      },
    },
    middleware: {
      provideCodeLenses: async (document, token, next) => {
        const lenses = await next(document, token);
        if (lenses) ears.lenses(document, lenses);
        return lenses?.filter((it) => ears.shows.lens(it.command?.command));
      },
      provideCodeActions: async (document, range, context, token, next) => {
        const actions = await next(document, range, context, token);
        return actions?.filter((it) => ears.shows.action(commandOf(it)));
      },
    },
  };
}

/** What an action runs when it is chosen; none where it is an edit alone. */
function commandOf(action: CodeAction | Command): string | undefined {
  return typeof action.command === 'string' ? action.command : action.command?.command;
}
