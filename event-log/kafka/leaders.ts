import type { DependencyError } from '../../runtime/failure.js';
import { kafkaFailureOf } from './kafka-failure.js';
import type { Leader, ProduceCluster } from './produce-cluster.js';

/** Leaders are asked for anew now and then, so that a topic that was made anew is noticed. */
const AGE_MAX_MS = 60_000;

export type LeadersEvents = {
  readonly onAnswer: () => void;
  readonly onFailure: (failure: DependencyError) => void;
};

/** The leaders of the partitions, as far as they are known. */
export class Leaders {
  #known: readonly (Leader | null)[] = [];
  #isStale = true;
  /** How often they were forgotten: an answer to a question of before is about another topic. */
  #forgotten = 0;
  #isAsking = false;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly cluster: Pick<ProduceCluster, 'leaders'>,
    private readonly retryMs: number,
    private readonly events: LeadersEvents,
  ) {}

  /** Null when it is not known. */
  of(partition: number): Leader | null {
    const leader = this.#known[partition] ?? null;
    if (leader === null) this.#isStale = true;
    return leader;
  }

  /** Somebody answered that the known leaders are wrong, or does not answer. */
  doubt(): void {
    this.#isStale = true;
  }

  /** Nothing may be sent before the brokers have said anew where, and that it is the same log. */
  forget(): void {
    this.#known = [];
    this.#isStale = true;
    this.#forgotten += 1;
  }

  /** Asks when what is known is doubted or old, and not too often. */
  refresh(): void {
    const nowMs = performance.now();
    const isWanted = this.#isStale || nowMs - this.#askedAtMs > AGE_MAX_MS;
    if (!isWanted || this.#isAsking || this.#timer !== null) return;
    const waitMs = this.#askedAtMs + this.retryMs - nowMs;
    if (waitMs > 0) {
      this.#timer = setTimeout(() => {
        this.#timer = null;
        this.refresh();
      }, Math.ceil(waitMs));
    } else void this.#ask();
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    this.#isStale = false;
    const forgotten = this.#forgotten;
    try {
      const leaders = await this.cluster.leaders();
      if (forgotten === this.#forgotten) this.#known = leaders;
      this.#end();
      this.events.onAnswer();
    } catch (error) {
      const failure = kafkaFailureOf(error, 'no broker answers');
      if (failure.isRetryable) this.doubt();
      else this.forget();
      this.#end();
      this.events.onFailure(failure);
    }
  }

  #end(): void {
    this.#isAsking = false;
    this.#askedAtMs = performance.now();
  }
}
