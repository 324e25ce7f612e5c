// Notifications about proposals, which go away when there is nothing left to do about them.
import { commands } from 'vscode';
import { showTransient } from '../sidecar/transient_notification';
import { type Fix, keyOf } from './place';
import type { Offer } from './words';

/** In place of a proposal. */
const NEW = '';

export class Notices {
  private readonly open = new Map<string, () => void>();

  /** Shows it in place of what was said about the proposal before. */
  say(of: Fix, text: string, offer?: Offer): void {
    void this.show(keyOf(of), text, of, offer);
  }

  /** The same about all that are new, of which the offer is about the first. */
  sayOfNew(first: Fix, text: string, offer: Offer): void {
    void this.show(NEW, text, first, offer);
  }

  withdraw(of: Fix): void {
    this.end(keyOf(of));
  }

  withdrawNew(): void {
    this.end(NEW);
  }

  dispose(): void {
    for (const key of [...this.open.keys()]) this.end(key);
  }

  private async show(key: string, text: string, { root, fix }: Fix, offer: Offer | undefined): Promise<void> {
    this.end(key);
    const past = new Promise<void>((resolve) => this.open.set(key, resolve));
    const actions = offer === undefined ? [] : [offer.title];
    const said = { text, actions, cancellable: offer !== undefined, until: past, isBusy: false };
    const chosen = await showTransient(said);
    if (offer !== undefined && chosen !== undefined)
      await commands.executeCommand(offer.command, { root, fix });
  }

  private end(key: string): void {
    this.open.get(key)?.();
    this.open.delete(key);
  }
}
