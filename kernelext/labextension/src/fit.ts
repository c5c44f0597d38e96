// Keeps a drawing as wide as the box it is in. Watching the box is not enough: where it is wider for a moment, between two frames, while
// JupyterLab puts an output in another's place, what is drawn in that moment is too wide, and the box is seen with one width only.

export class Fit {
  private frame = 0;
  private readonly watch: ResizeObserver | undefined;

  /** box holds the drawing; width is the one that it was drawn for. */
  constructor(private readonly box: HTMLElement, private readonly width: () => number, private readonly draw: () => void) {
    if (typeof ResizeObserver !== 'function') return;
    this.watch = new ResizeObserver(() => this.drawn());
    this.watch.observe(box);
  }

  /** To be called after drawing: in the next frame it is drawn again if it does not fit. */
  drawn(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      const now = this.box.clientWidth;
      if (now && Math.abs(now - this.width()) > 1) this.draw();
    });
  }

  dispose(): void {
    this.watch?.disconnect();
    cancelAnimationFrame(this.frame);
  }
}
