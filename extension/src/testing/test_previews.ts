// Generated tests that wait for the person, remembered with the workspace: they have been paid for.
import { EventEmitter, type Memento } from 'vscode';
import type { Generated, GeneratedDraft } from '../protocol';
import type { Translate } from '../translate';
import { fields } from '../unknown_value';

const STATE = 'trellis.testPreviews';

/** Generated tests that are not written yet. */
export type TestPreview = Generated & { readonly draft: GeneratedDraft };

/** Identity of a function in a project. */
export interface FunctionId {
  /** Folder of the project, absolute. */
  readonly root: string;
  readonly function: string;
}

export class TestPreviews {
  private readonly changeEmitter = new EventEmitter<void>();
  readonly onChange = this.changeEmitter.event;

  constructor(private readonly memento: Memento) {}

  /** All previews, the oldest first. */
  get all(): readonly TestPreview[] {
    return this.memento.get<readonly TestPreview[]>(STATE, []);
  }

  find(id: FunctionId): TestPreview | undefined {
    return this.all.find((it) => isSame(it, id));
  }

  /** Adds a preview, in place of an earlier one of the same function. */
  async put(preview: TestPreview): Promise<void> {
    await this.set([...this.without(preview), preview]);
  }

  async remove(id: FunctionId): Promise<void> {
    await this.set(this.without(id));
  }

  dispose(): void {
    this.changeEmitter.dispose();
  }

  private without(id: FunctionId): readonly TestPreview[] {
    return this.all.filter((it) => !isSame(it, id));
  }

  private async set(all: readonly TestPreview[]): Promise<void> {
    await this.memento.update(STATE, all);
    this.changeEmitter.fire();
  }
}

/** Returns tests that are not written, if they can be written later. */
export function previewOf(generated: Generated): TestPreview | undefined {
  const { draft, written } = generated;
  return draft && !written ? { ...generated, draft } : undefined;
}

/** Reads the function that a row or an argument of a command names. */
export function functionIdOf(argument: unknown): FunctionId | undefined {
  const { root, function: name } = fields(argument);
  return typeof root === 'string' && typeof name === 'string' ? { root, function: name } : undefined;
}

/** Returns the name of the function, with its classes. */
export function functionName(id: Pick<FunctionId, 'function'>): string {
  return id.function.split('::').at(-1) ?? id.function;
}

/** Makes the title of a preview in lists. */
export function previewTitle(preview: TestPreview, t: Translate): string {
  return t('Tests for {0}', functionName(preview));
}

/** Counts the tests that pass. */
export function passText({ tests }: Pick<Generated, 'tests'>, t: Translate): string {
  const passed = tests.filter((it) => it.outcome === 'passed').length;
  return t('{0} of {1} pass', passed, tests.length);
}

function isSame(one: FunctionId, other: FunctionId): boolean {
  return one.root === other.root && one.function === other.function;
}
