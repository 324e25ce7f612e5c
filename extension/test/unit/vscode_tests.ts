// A fake of the editor's Testing view that records what it is told.
import { CancellationTokenSource, type Range, type Uri } from './vscode_values';

export enum TestRunProfileKind {
  Run = 1,
  Debug = 2,
  Coverage = 3,
}

export class TestMessage {
  location: unknown;
  expectedOutput: string | undefined;
  actualOutput: string | undefined;

  constructor(readonly message: string) {}

  static diff(message: string, expected: string, actual: string): TestMessage {
    const made = new TestMessage(message);
    made.expectedOutput = expected;
    made.actualOutput = actual;
    return made;
  }
}

export class TestRunRequest {
  constructor(
    readonly include?: readonly Item[],
    readonly exclude?: readonly Item[],
    readonly profile?: unknown,
    readonly continuous = false,
  ) {}
}

class Items {
  private readonly all = new Map<string, Item>();

  get size(): number {
    return this.all.size;
  }

  get(id: string): Item | undefined {
    return this.all.get(id);
  }

  add(item: Item): void {
    this.all.set(item.id, item);
  }

  delete(id: string): void {
    this.all.delete(id);
  }

  *[Symbol.iterator](): IterableIterator<[string, Item]> {
    yield* [...this.all];
  }
}

export class Item {
  readonly children = new Items();
  canResolveChildren = false;
  busy = false;
  range: Range | undefined;
  error: string | undefined;
  description: string | undefined;
  sortText: string | undefined;

  constructor(
    readonly id: string,
    readonly label: string,
    readonly uri: Uri | undefined,
  ) {}
}

/** A run that records a line for each call, such as `passed a.py::t`. */
export class Run {
  readonly told: string[] = [];
  readonly messages = new Map<string, TestMessage>();
  output = '';
  private readonly source = new CancellationTokenSource();
  readonly token = this.source.token;

  constructor(readonly name: string | undefined) {}

  enqueued = (it: Item) => this.tell('enqueued', it);
  started = (it: Item) => this.tell('started', it);
  passed = (it: Item) => this.tell('passed', it);
  skipped = (it: Item) => this.tell('skipped', it);
  failed = (it: Item, message: TestMessage) => this.tell('failed', it, message);
  errored = (it: Item, message: TestMessage) => this.tell('errored', it, message);
  end = () => this.told.push('end');

  /** Output of single tests, by id. */
  readonly outputs = new Map<string, string>();

  appendOutput(text: string, _location?: unknown, item?: Item): void {
    this.output += text;
    if (item !== undefined) this.outputs.set(item.id.split('\n')[1] ?? '', text);
  }

  private tell(what: string, item: Item, message?: TestMessage): void {
    const id = item.id.split('\n')[1] ?? '';
    this.told.push(id === '' ? what : `${what} ${id}`);
    if (message !== undefined) this.messages.set(id, message);
  }
}

type Work = (request: TestRunRequest, token: unknown) => unknown;

export class Controller {
  readonly items = new Items();
  readonly runs: Run[] = [];
  /** Ids of items whose results were invalidated. */
  readonly outdated: string[] = [];
  resolveHandler: ((item?: Item) => Promise<void>) | undefined;
  refreshHandler: ((token: unknown) => Promise<void>) | undefined;

  createTestItem = (id: string, label: string, uri?: Uri) => new Item(id, label, uri);

  readonly profiles: { label: string; kind: TestRunProfileKind; runHandler: Work }[] = [];

  createRunProfile = (label: string, kind: TestRunProfileKind, runHandler: Work) => {
    const made = { label, kind, runHandler };
    this.profiles.push(made);
    return made;
  };

  createTestRun(_request: TestRunRequest, name?: string): Run {
    const run = new Run(name);
    this.runs.push(run);
    return run;
  }

  invalidateTestResults(items?: Item | readonly Item[]): void {
    for (const it of items === undefined ? [] : [items].flat()) this.outdated.push(it.id);
  }

  /** Ids of all items, without the folder. */
  get ids(): string[] {
    const below = (items: Items): string[] =>
      [...items].flatMap(([, it]) => [it.id.split('\n')[1] ?? it.id, ...below(it.children)]);
    return below(this.items);
  }

  dispose(): void {}
}

export class TestCoverageCount {
  constructor(
    readonly covered: number,
    readonly total: number,
  ) {}
}

export class FileCoverage {
  constructor(
    readonly uri: Uri,
    readonly statementCoverage: TestCoverageCount,
  ) {}
}

export class StatementCoverage {
  constructor(
    readonly executed: boolean,
    readonly location: unknown,
  ) {}
}

export const tests = { createTestController: () => new Controller() };
