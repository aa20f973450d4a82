import { readFile } from 'node:fs/promises';
import type { Series } from './section.js';

const INTERVAL_MS = 250;

/** Resident memory of a process in MB; null once it has ended. Linux only, like the figures. */
async function residentMegabytes(pid: number): Promise<number | null> {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return null;
  }
}

/** Samples the resident memory of processes until it is stopped. */
export class MemorySampler {
  readonly #points = new Map<string, [number, number][]>();
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly pids: ReadonlyMap<string, number>) {
    this.#timer = setInterval(() => void this.#sample(), INTERVAL_MS);
  }

  stop(): readonly Series[] {
    clearInterval(this.#timer);
    return [...this.#points].map(([name, points]) => ({ name, points }));
  }

  /** The greatest sample of a process in MB. */
  peakOf(name: string): number {
    return Math.max(0, ...(this.#points.get(name) ?? []).map(([, megabytes]) => megabytes));
  }

  async #sample(): Promise<void> {
    const seconds = (performance.now() - this.#startedAt) / 1000;
    for (const [name, pid] of this.pids) {
      const megabytes = await residentMegabytes(pid);
      if (megabytes === null) continue;
      const points = this.#points.get(name) ?? [];
      points.push([Number(seconds.toFixed(2)), Math.round(megabytes)]);
      this.#points.set(name, points);
    }
  }
}
