import type { ReadAhead } from '../gather/read-ahead.js';
import type { OutcomeOf } from '../protocol/expected-outcomes.js';
import type { CommandOf } from '../protocol/state.js';
import type { Flush, SharedCommand, SharedPerformance, WriteTogether } from './flush.js';
import type { Flusher } from './flusher.js';

type Sources = {
  readonly partition: number;
  readonly flusher: Flusher;
  readonly ahead: ReadAhead;
  readonly writeTogether: WriteTogether;
  /** Aborts when the partition is given up. */
  readonly signal: AbortSignal;
};

const UNKNOWN = { outcome: { kind: 'unknown' }, cause: null } as const;

/** The part that one partition takes in the flushes of its process. */
export class FlushMember {
  #flush: Flush | null = null;

  constructor(private readonly sources: Sources) {
    const { flusher, partition, signal } = sources;
    const cancel = (): void => {
      flusher.cancel(partition);
    };
    signal.addEventListener('abort', cancel, { once: true });
  }

  /** Waits for the records of the next batch; unknown when the partition is given up meanwhile. */
  async fetch(command: CommandOf<'fetch'>): Promise<OutcomeOf<'fetch'>> {
    const { flusher, signal } = this.sources;
    this.leave();
    const next = await flusher.next(this.sources, command, signal);
    if (next === null) return UNKNOWN.outcome;
    const { records, catalog, flush } = next;
    this.#flush = flush;
    return { kind: 'fetched', records, catalog };
  }

  /** Performs a command with the partitions of the flush, or alone when it is part of none. */
  async write(command: SharedCommand): Promise<SharedPerformance> {
    const { partition, writeTogether } = this.sources;
    if (this.#flush !== null) return this.#flush.write(partition, command);
    const performed = await writeTogether([{ partition, command }]);
    return performed.get(partition) ?? UNKNOWN;
  }

  /** What this partition does next concerns no other. */
  leave(): void {
    this.#flush?.leave(this.sources.partition);
    this.#flush = null;
  }

  /** Leaves, and reads no more: the partition is taken, or given up. */
  async stop(): Promise<void> {
    this.leave();
    await this.sources.ahead.stop();
  }
}
