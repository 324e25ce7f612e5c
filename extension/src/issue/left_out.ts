// Files that the person leaves out of a change, remembered with the workspace.
import { EventEmitter, type Memento } from 'vscode';
import { type IssueFile, type IssueRef, type IssueReview, issueKey } from './reviews';

const STATE = 'trellis.leftOut';

export class LeftOut {
  private readonly changeEmitter = new EventEmitter<void>();
  readonly onChange = this.changeEmitter.event;

  constructor(private readonly memento: Memento) {}

  has(file: IssueFile): boolean {
    return this.all.includes(keyOf(file));
  }

  /** Returns the files of a change that are left out. */
  of({ root, issue, files }: IssueReview): string[] {
    return files.map((it) => it.path).filter((path) => this.has({ root, issue, path }));
  }

  async set(file: IssueFile, isLeftOut: boolean): Promise<void> {
    const others = this.all.filter((it) => it !== keyOf(file));
    await this.memento.update(STATE, isLeftOut ? [...others, keyOf(file)] : others);
    this.changeEmitter.fire();
  }

  /** Forgets the files of a decided change. */
  async forget(ref: IssueRef): Promise<void> {
    await this.replace(ref, []);
  }

  /** Leaves out these files of a change, and no others. */
  async replace(ref: IssueRef, paths: readonly string[]): Promise<void> {
    const prefix = `${issueKey(ref)}\n`;
    const others = this.all.filter((it) => !it.startsWith(prefix));
    await this.memento.update(STATE, [...others, ...paths.map((path) => `${prefix}${path}`)]);
    this.changeEmitter.fire();
  }

  dispose(): void {
    this.changeEmitter.dispose();
  }

  private get all(): readonly string[] {
    return this.memento.get<readonly string[]>(STATE, []);
  }
}

function keyOf(file: IssueFile): string {
  return `${issueKey(file)}\n${file.path}`;
}
