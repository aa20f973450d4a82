/**
 * Whose turn it is among those with due items: they come one after the other in the order of their
 * names, so that a thousand items of one do not hold up another's single one.
 */
export class Turns {
  /** Who had the last turn in this process. */
  last = '';
  readonly #running = new Map<string, number>();

  /** @param runningMax items of one turn that may run at once in this process. */
  constructor(private readonly runningMax: number) {}

  /** Those that have as many running as they may have. */
  get full(): readonly string[] {
    return [...this.#running].filter(([, n]) => n >= this.runningMax).map(([turn]) => turn);
  }

  /** An item begins to run, for as long as it takes. */
  begin(turn: string): void {
    this.#running.set(turn, (this.#running.get(turn) ?? 0) + 1);
  }

  end(turn: string): void {
    const left = (this.#running.get(turn) ?? 0) - 1;
    if (left > 0) this.#running.set(turn, left);
    else this.#running.delete(turn);
  }
}
