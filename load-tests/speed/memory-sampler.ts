import { highWaterOf, memoryOf, resetHighWater } from './processes.js';
import { atMost, type Finding, type Series } from './section.js';

const INTERVAL_MS = 250;

/**
 * The greatest memory of processes from start to stop. The kernel keeps the high-water mark of RSS
 * (VmHWM), which no peak escapes; samples are for the plot, and for PSS, which has no such mark.
 */
export class MemorySampler {
  readonly #points = new Map<string, (readonly [seconds: number, resident: number])[]>();
  readonly #proportional = new Map<string, number>();
  readonly #highWater = new Map<string, number>();
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;

  private constructor(private readonly pids: ReadonlyMap<string, number>) {
    this.#timer = setInterval(() => void this.#sample(), INTERVAL_MS);
  }

  static async start(pids: ReadonlyMap<string, number>): Promise<MemorySampler> {
    for (const pid of pids.values()) await resetHighWater(pid);
    return new MemorySampler(pids);
  }

  /** Resident memory over time. @throws Error when a process has ended meanwhile. */
  async stop(): Promise<readonly Series[]> {
    clearInterval(this.#timer);
    for (const [name, pid] of this.pids) {
      const megabytes = await highWaterOf(pid);
      if (megabytes === null) throw new Error(`${name} has ended while it was measured`);
      this.#highWater.set(name, megabytes);
    }
    return [...this.#points].map(([name, points]) => ({ name, points }));
  }

  /** The finding of P9, after `stop`: the target is of RSS, and PSS stands beside it. */
  findingOf(name: string, megabytesMax: number): Finding {
    const highWater = this.#highWater.get(name) ?? Number.POSITIVE_INFINITY;
    const proportional = this.#proportional.get(name) ?? 0;
    const what = `${name}, VmHWM (greatest PSS sampled ${proportional.toFixed(0)} MB)`;
    return atMost({ id: 'P9', what, unit: 'MB' }, highWater, megabytesMax);
  }

  async #sample(): Promise<void> {
    const seconds = Number(((performance.now() - this.#startedAt) / 1000).toFixed(2));
    for (const [name, pid] of this.pids) {
      const memory = await memoryOf(pid);
      if (memory === null) continue;
      const points = this.#points.get(name) ?? [];
      points.push([seconds, Math.round(memory.resident)]);
      this.#points.set(name, points);
      const most = Math.max(this.#proportional.get(name) ?? 0, memory.proportional);
      this.#proportional.set(name, most);
    }
  }
}
