import { build, type Histogram } from 'hdr-histogram-js';

export type Outcome = {
  readonly requestsPerSecond: number;
  readonly eventsPerSecond: number;
  readonly acceptedEvents: number;
  /** Microseconds; of an open-loop run from the arrival time that was fixed beforehand. */
  readonly latencyMicros: Histogram;
};

/** Answers of one run. Only answers that say "accepted" are throughput. */
export class LoadTally {
  readonly #statuses = new Map<number, number>();
  readonly #latencyMicros = build({ highestTrackableValue: 120_000_000, useWebAssembly: false });

  /** Status 0 is a connection that was lost before the answer. */
  add(status: number, sinceMs: number): void {
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
    this.#latencyMicros.recordValue(Math.max(1, Math.round((performance.now() - sinceMs) * 1000)));
  }

  /**
   * What the run reached.
   * @throws Error unless every answer was 202: a server that refuses is fast, and says nothing.
   */
  outcome(eventsPerRequest: number, seconds: number): Outcome {
    const accepted = this.#statuses.get(202) ?? 0;
    const others = [...this.#statuses].filter(([status]) => status !== 202);
    if (others.length > 0 || accepted === 0) {
      const counts = [...this.#statuses].map(([status, count]) => `${count} × ${status}`);
      throw new Error(`not every request was accepted: ${counts.join(', ') || 'no answer'}`);
    }
    const requestsPerSecond = accepted / seconds;
    return {
      requestsPerSecond,
      eventsPerSecond: requestsPerSecond * eventsPerRequest,
      acceptedEvents: accepted * eventsPerRequest,
      latencyMicros: this.#latencyMicros,
    };
  }
}
