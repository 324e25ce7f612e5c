// Values of the module `vscode`, with the used parts.

export class EventEmitter<T> {
  private readonly listeners = new Set<(it: T) => unknown>();

  readonly event = (listener: (it: T) => unknown): Disposable => {
    this.listeners.add(listener);
    return new Disposable(() => this.listeners.delete(listener));
  };

  fire(it: T): void {
    for (const listener of [...this.listeners]) listener(it);
  }

  dispose(): void {
    this.listeners.clear();
  }
}

/** A disposable object. */
export class Disposable {
  constructor(private readonly end: () => unknown) {}

  static from(...all: { dispose(): unknown }[]): Disposable {
    return new Disposable(() => all.map((it) => it.dispose()));
  }

  dispose(): void {
    this.end();
  }
}

export class Uri {
  private constructor(
    readonly scheme: string,
    readonly path: string,
    readonly query = '',
  ) {}

  static joinPath({ fsPath }: Uri, ...path: string[]) {
    return Uri.file([fsPath, ...path].join('/'));
  }

  static file(path: string): Uri {
    return new Uri('file', path);
  }

  static from(parts: { scheme: string; path?: string; query?: string }): Uri {
    return new Uri(parts.scheme, parts.path ?? '', parts.query);
  }

  get fsPath(): string {
    return this.path;
  }

  toString(): string {
    return `${this.scheme}://${this.path}${this.query === '' ? '' : `?${this.query}`}`;
  }
}

export class TabInputTextDiff {
  constructor(
    readonly original: Uri,
    readonly modified: Uri,
  ) {}
}

export class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}
}

export class Range {
  readonly start: Position;
  readonly end: Position;

  constructor(line: number, character: number, endLine: number, endCharacter: number) {
    this.start = new Position(line, character);
    this.end = new Position(endLine, endCharacter);
  }

  isEqual(other: Range): boolean {
    return JSON.stringify(this) === JSON.stringify(other);
  }
}

export class Selection extends Range {
  constructor(anchor: Position, active: Position) {
    super(anchor.line, anchor.character, active.line, active.character);
  }
}

export class RelativePattern {
  constructor(
    readonly base: unknown,
    readonly pattern: string,
  ) {}
}

export class Location {
  constructor(
    readonly uri: Uri,
    readonly range: Position | Range,
  ) {}
}

export class CancellationTokenSource {
  private readonly emitter = new EventEmitter<undefined>();
  readonly token = { isCancellationRequested: false, onCancellationRequested: this.emitter.event };

  cancel(): void {
    this.token.isCancellationRequested = true;
    this.emitter.fire(undefined);
  }

  dispose(): void {
    this.emitter.dispose();
  }
}

export enum LogLevel {
  Off,
  Trace,
  Debug,
  Info,
  Warning,
  Error,
}

export enum ProgressLocation {
  SourceControl = 1,
  Window = 10,
  Notification = 15,
}

export enum ConfigurationTarget {
  Global = 1,
  Workspace = 2,
  WorkspaceFolder = 3,
}

export class FileSystemError extends Error {
  readonly code = 'Unknown';
}

export enum FileChangeType {
  Changed = 1,
}

export enum FilePermission {
  Readonly = 1,
}

export enum FileType {
  File = 1,
}
