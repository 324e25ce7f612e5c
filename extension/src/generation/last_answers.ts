// The last answers of a person about runs, remembered with the workspace; they are proposed the next time.
import type { Memento } from 'vscode';

const STATE = 'trellis.lastAnswers';

interface Answers {
  /** The planning graph, absolute. */
  readonly graph?: string;
  /** The folder of the run, absolute. */
  readonly out?: string;
}

export class LastAnswers {
  constructor(private readonly memento: Memento) {}

  /** The graph of the last run. */
  get graph(): string | undefined {
    return this.state.graph;
  }

  /** Returns the folder of the last run of a graph. */
  folderOf(graph: string): string | undefined {
    return this.state.graph === graph ? this.state.out : undefined;
  }

  async put(graph: string, out: string): Promise<void> {
    await this.memento.update(STATE, { graph, out });
  }

  private get state(): Answers {
    return this.memento.get<Answers>(STATE, {});
  }
}
