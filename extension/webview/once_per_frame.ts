// Work that is done once per frame, however often it is requested.
export class OncePerFrame {
  private frame: number | undefined;

  constructor(private readonly work: () => void) {}

  /** Does the work before the next frame is drawn. */
  request(): void {
    this.frame ??= requestAnimationFrame(() => this.run());
  }

  /** Does requested work at once. */
  flush(): void {
    if (this.frame === undefined) return;
    cancelAnimationFrame(this.frame);
    this.run();
  }

  private run(): void {
    this.frame = undefined;
    this.work();
  }
}
