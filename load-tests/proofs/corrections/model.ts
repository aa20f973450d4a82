// What docs/domain.md 7.10 says of corrections, and nothing else: the walk compares the product
// with it. It shares no code with the product.

/** An event as it was sent, or as it counts. */
export type ModelEvent = {
  readonly customer: string;
  readonly atMs: number;
  readonly value: number;
  readonly tag: string;
};

type Effect = ModelEvent | 'withdrawn';
type Correction = { readonly effects: ReadonlyMap<string, Effect>; isInForce: boolean };

/** What three meters say of a customer's window. */
export type ModelUsage = {
  readonly count: number;
  readonly sum: number;
  readonly max: number;
  readonly tags: number;
};

export class Model {
  readonly #sent = new Map<string, ModelEvent>();
  readonly #corrections: Correction[] = [];

  /** An id counts once: the first event wins. */
  send(id: string, event: ModelEvent): void {
    if (!this.#sent.has(id)) this.#sent.set(id, event);
  }

  /** How an event counts: as the last correction in force says that names it. */
  counted(id: string): Effect | undefined {
    const last = this.#corrections.findLast(
      ({ isInForce, effects }) => isInForce && effects.has(id),
    );
    return last?.effects.get(id) ?? this.#sent.get(id);
  }

  /** Ids of the events that count. */
  ids(): readonly string[] {
    return [...this.#sent.keys()].filter((id) => this.counted(id) !== 'withdrawn');
  }

  /** @returns the number of the correction. */
  apply(effects: ReadonlyMap<string, Effect>): number {
    return this.#corrections.push({ effects, isInForce: true }) - 1;
  }

  revert(number: number): void {
    const correction = this.#corrections[number];
    if (correction !== undefined) correction.isInForce = false;
  }

  usage(customer: string, fromMs: number, toMs: number): ModelUsage {
    const events = this.ids().flatMap((id) => {
      const event = this.counted(id);
      return event === undefined || event === 'withdrawn' ? [] : [event];
    });
    const own = events.filter(
      (event) => event.customer === customer && event.atMs >= fromMs && event.atMs < toMs,
    );
    return {
      count: own.length,
      sum: own.reduce((sum, { value }) => sum + value, 0),
      max: Math.max(0, ...own.map(({ value }) => value)),
      tags: new Set(own.map(({ tag }) => tag)).size,
    };
  }
}
