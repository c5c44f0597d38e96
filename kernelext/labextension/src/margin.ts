// The room at the left of a chart for the labels of its axis: as wide as the widest of them, and the same for charts that stand below each
// other, so that their steps do too.

const least = 54, character = 7.3, air = 14;

export class Margin {
  left = least;
  private readonly charts = new Set<() => void>();

  /** Charts that are to be drawn again when another one needs more room. */
  join(draw: () => void): void { this.charts.add(draw); }
  leave(draw: () => void): void { this.charts.delete(draw); }

  /** Makes room for labels. Room is not taken back, so that charts do not move while one is zoomed. */
  fit(labels: string[], by: () => void): void {
    const need = Math.ceil(air + character * Math.max(0, ...labels.map(l => l.length)));
    if (need <= this.left) return;
    this.left = need;
    for (const draw of this.charts) if (draw !== by) draw();
  }
}
