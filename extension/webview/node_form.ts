// The form beside the picture of a plan: name, signature, docstring, examples and dependencies of a node.
import { editsOf, type FormInput, type FormNode, isShownAs, type ToForm } from '../src/panel/plan_form';
import type { PlanChange } from '../src/protocol';
import { editor, element, texts } from './page';

/** Milliseconds without input after which it is tried. */
const PAUSE_MS = 300;

export class NodeForm {
  private readonly form = element('form', HTMLFormElement);
  private readonly title = element('form-title', HTMLElement);
  private readonly name = element('form-name', HTMLInputElement);
  private readonly signature = element('form-signature', HTMLTextAreaElement);
  private readonly docstring = element('form-docstring', HTMLTextAreaElement);
  private readonly examples = element('form-examples', HTMLElement);
  private readonly needs = element('form-needs', HTMLElement);
  private readonly need = element('form-need', HTMLInputElement);
  private readonly known = element('form-known', HTMLDataListElement);
  private readonly problems = element('form-problems', HTMLElement);
  private readonly save = element('form-save', HTMLButtonElement);
  private node: FormNode | undefined;
  /** Whether the input was sent, so that the node that comes next takes its place. */
  private isSaving = false;
  /** The last edit that was refused; the person may not have seen it yet. */
  private refusal: Extract<ToForm, { type: 'refused' }> | undefined;
  private waiting: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param onShown called when the form appears or disappears, which changes the size of the picture
   * @param ids returns the ids of all nodes
   * @param onGo called with the id of a node that the person wants to see
   */
  constructor(
    private readonly onShown: () => void,
    private readonly ids: () => Iterable<string>,
    private readonly onGo: (id: string) => void,
  ) {
    this.form.addEventListener('input', ({ target }) => {
      if (target !== this.need) this.changed();
    });
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.submit();
    });
    this.form.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) this.submit();
    });
    this.form.addEventListener('click', ({ target }) => this.clicked(target));
    this.need.addEventListener('change', () => this.link(this.need.value));
    this.need.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter') return;
      // Enter saves elsewhere.
      event.preventDefault();
      this.link(this.need.value);
    });
  }

  /** Id of the shown node. */
  get id(): string | undefined {
    return this.node?.id;
  }

  receive(message: ToForm): void {
    if (message.type === 'form') this.show(message.node, message.problems);
    else if (message.type === 'refused') this.refused(message);
    else if (message.id === this.node?.id) this.list(message.problems, false);
  }

  hide(): void {
    if (this.node !== undefined) this.show(undefined, []);
  }

  /** Makes the shown node, or another one, depend on a node. */
  link(needed: string, id = this.node?.id): void {
    if (needed === '' || id === undefined || needed === id) return;
    this.edit(id, [{ operation: 'link', node: id, needed }]);
  }

  private show(node: FormNode | undefined, problems: readonly string[]): void {
    clearTimeout(this.waiting);
    // A node that comes again, as after a change elsewhere in the file, must not take the person's input.
    const isSame =
      !this.isSaving && node !== undefined && node.id === this.node?.id && this.edits().length > 0;
    this.isSaving = false;
    const before = this.node;
    this.node = node;
    const wasHidden = this.form.hidden;
    this.form.hidden = node === undefined;
    if (wasHidden !== this.form.hidden) this.onShown();
    if (node === undefined) return;
    this.form.dataset.node = node.id;
    this.title.textContent = [node.kind, node.filePath].filter((it) => it).join(' · ');
    this.fillNeeds(node);
    this.fill(node, isSame ? before : undefined);
    for (const it of this.form.querySelectorAll<HTMLInputElement>('input, textarea, button'))
      it.disabled = !node.editable;
    this.list(node.editable ? problems : [texts.readOnly], false);
    this.save.disabled = !isSame;
    if (this.refusal?.id === node.id) this.refused(this.refusal);
    else this.refusal = undefined;
  }

  /** Shows a node; fields that differ from the node `before` have the person's input and stay. */
  private fill(node: FormNode, before: FormNode | undefined): void {
    const texts = (it: FormNode) => [it.name, it.signature ?? '', it.docstring ?? ''];
    const fields = [this.name, this.signature, this.docstring];
    const [now, then] = [texts(node), before && texts(before)];
    for (const [at, field] of fields.entries())
      if (then === undefined || isShownAs(then[at] ?? '', field.value)) field.value = now[at] ?? '';
    const examples = (it: FormNode) => it.examples.map((text) => text.trim()).join('\0');
    const shown = this.input.examples.map((it) => it.trim()).filter((it) => it !== '');
    if (before === undefined || isShownAs(examples(before), shown.join('\0')))
      this.examples.replaceChildren(...[...node.examples, ''].map((it) => this.example(it)));
  }

  private fillNeeds({ dependsOn, id }: FormNode): void {
    this.needs.replaceChildren(
      ...dependsOn.map((needed) => {
        const row = document.createElement('li');
        const go = button(needed, needed);
        go.dataset.go = needed;
        const remove = button('×', `${texts.unlink} ${needed}`);
        remove.dataset.unlink = needed;
        row.append(go, remove);
        return row;
      }),
    );
    this.need.value = '';
    const free = [...this.ids()].filter((it) => it !== id && !dependsOn.includes(it));
    this.known.replaceChildren(
      ...free.map((it) => Object.assign(document.createElement('option'), { value: it })),
    );
  }

  private example(text: string): HTMLTextAreaElement {
    const made = document.createElement('textarea');
    Object.assign(made, { value: text, rows: Math.max(1, text.split('\n').length), spellcheck: false });
    made.ariaLabel = texts.example;
    return made;
  }

  private get input(): FormInput {
    const examples = [...this.examples.querySelectorAll('textarea')].map((it) => it.value);
    return {
      name: this.name.value,
      signature: this.signature.value,
      docstring: this.docstring.value,
      examples,
    };
  }

  private edits(): PlanChange[] {
    return this.node === undefined ? [] : editsOf(this.node, this.input);
  }

  private changed(): void {
    const last = this.examples.lastElementChild;
    if (last instanceof HTMLTextAreaElement && last.value !== '') this.examples.append(this.example(''));
    const edits = this.edits();
    this.refusal = undefined;
    this.save.disabled = edits.length === 0;
    clearTimeout(this.waiting);
    const { id } = this;
    if (id === undefined) return;
    this.waiting = setTimeout(() => editor.postMessage({ type: 'try', id, edits }), PAUSE_MS);
  }

  private submit(): void {
    const edits = this.edits();
    if (this.id !== undefined && edits.length > 0 && !this.save.disabled) this.edit(this.id, edits);
  }

  private edit(id: string, edits: readonly PlanChange[]): void {
    clearTimeout(this.waiting);
    this.refusal = undefined;
    this.isSaving = edits.every((it) => it.operation === 'set' || it.operation === 'rename');
    editor.postMessage({ type: 'edit', id, edits });
  }

  private clicked(target: EventTarget | null): void {
    const { id } = this;
    const clicked = target instanceof Element ? target.closest('button') : null;
    if (clicked === null || id === undefined) return;
    const { unlink, go, remove } = clicked.dataset;
    if (unlink !== undefined) this.edit(id, [{ operation: 'unlink', node: id, needed: unlink }]);
    if (remove !== undefined) this.edit(id, [{ operation: 'remove', node: id, withParts: false }]);
    if (go !== undefined) this.onGo(go);
  }

  /** Shows why an edit was refused; the input stays. */
  private refused(refusal: Extract<ToForm, { type: 'refused' }>): void {
    this.isSaving = false;
    const isShown = refusal.id === this.node?.id;
    this.refusal = refusal;
    if (isShown) this.list([refusal.text], true);
    else this.onGo(refusal.id);
  }

  private list(problems: readonly string[], isRefused: boolean): void {
    this.problems.classList.toggle('refused', isRefused);
    this.problems.replaceChildren(
      ...problems.map((it) => Object.assign(document.createElement('li'), { textContent: it })),
    );
  }
}

function button(text: string, label: string): HTMLButtonElement {
  const made = document.createElement('button');
  Object.assign(made, { type: 'button', textContent: text });
  made.ariaLabel = label;
  return made;
}
