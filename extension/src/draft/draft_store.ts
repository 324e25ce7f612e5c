// The draft that a person works on, remembered with the workspace; the sidecar keeps what was decided.
import { EventEmitter, type Memento } from 'vscode';
import type { DraftedPart, DraftPlanParams } from '../protocol';

const STATE = 'trellis.planDraft';

/** What the person chose for a draft; paths are absolute. */
export type DraftChoice = Pick<DraftPlanParams, 'spec' | 'out' | 'size' | 'interview' | 'stepwise' | 'model'>;

/** A part that waits for a decision. */
export interface WaitingPart extends DraftedPart {
  /** The text as the person saved it. */
  readonly edited?: string;
  /** Milliseconds since 1970. */
  readonly mtime: number;
}

export interface OpenDraft {
  readonly choice: DraftChoice;
  /** Absent while questions wait, and after a stop. */
  readonly part?: WaitingPart;
}

export class DraftStore {
  private readonly changeEmitter = new EventEmitter<void>();
  readonly onChange = this.changeEmitter.event;

  constructor(private readonly memento: Memento) {}

  get current(): OpenDraft | undefined {
    return this.memento.get<OpenDraft>(STATE);
  }

  async set(draft: OpenDraft | undefined): Promise<void> {
    await this.memento.update(STATE, draft);
    this.changeEmitter.fire();
  }

  dispose(): void {
    this.changeEmitter.dispose();
  }
}
