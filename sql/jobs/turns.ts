/**
 * Whose turn it is among those with due items: each is passed over until all others had one, so
 * that a thousand items of one do not hold up another's single one.
 */
export class Turns {
  readonly #served = new Set<string>();
  readonly #running = new Map<string, number>();

  /** @param runningMax items of one turn that may run at once in this process. */
  constructor(private readonly runningMax: number) {}

  /** Those that must wait. */
  get passed(): readonly string[] {
    const full = [...this.#running].filter(([, count]) => count >= this.runningMax);
    return [...new Set([...this.#served, ...full.map(([turn]) => turn)])];
  }

  /** Begins a new round; false when the last one had only begun. */
  beginRound(): boolean {
    const hadTurns = this.#served.size > 0;
    this.#served.clear();
    return hadTurns;
  }

  /** Notes that one had its turn in this round. */
  serve(turn: string): void {
    this.#served.add(turn);
  }

  /** An item of it begins to run, for as long as it takes. */
  begin(turn: string): void {
    this.#running.set(turn, (this.#running.get(turn) ?? 0) + 1);
  }

  end(turn: string): void {
    const left = (this.#running.get(turn) ?? 0) - 1;
    if (left > 0) this.#running.set(turn, left);
    else this.#running.delete(turn);
  }
}
