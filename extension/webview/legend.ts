// The legend: counts by status, and a filter.

/** Statuses that are shown; all of them without a filter. */
export class Legend {
  private readonly buttons: readonly HTMLButtonElement[];
  private readonly all: readonly string[];
  private shown: Set<string>;

  constructor(list: HTMLElement, onChange: () => void) {
    this.buttons = [...list.querySelectorAll('button')];
    this.all = this.buttons.map((it) => it.dataset.status ?? '');
    this.shown = new Set(this.all);
    list.addEventListener('click', ({ target }) => {
      const status = target instanceof Element ? target.closest('button')?.dataset.status : undefined;
      if (status === undefined) return;
      this.toggle(status);
      onChange();
    });
  }

  /** Returns whether nodes with a status are shown; unknown statuses always are. */
  shows(status: string | undefined): boolean {
    return status === undefined || this.shown.has(status) || !this.all.includes(status);
  }

  get isFiltered(): boolean {
    return this.shown.size < this.all.length;
  }

  setCounts(statuses: Iterable<string>): void {
    const counts = new Map<string, number>();
    for (const it of statuses) counts.set(it, (counts.get(it) ?? 0) + 1);
    for (const button of this.buttons) {
      const count = counts.get(button.dataset.status ?? '') ?? 0;
      const shown = button.querySelector('.count');
      if (shown !== null) shown.textContent = String(count);
      button.classList.toggle('none', count === 0);
    }
  }

  /** The first click shows one status alone, further ones add others; without any, all are shown again. */
  private toggle(status: string): void {
    if (!this.isFiltered) this.shown = new Set([status]);
    else if (!this.shown.delete(status)) this.shown.add(status);
    if (this.shown.size === 0) this.shown = new Set(this.all);
    for (const it of this.buttons) it.ariaPressed = String(this.shown.has(it.dataset.status ?? ''));
  }
}
