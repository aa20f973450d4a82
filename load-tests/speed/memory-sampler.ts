import { readFile } from 'node:fs/promises';
import { atMost, type Finding, type Series } from './section.js';

const INTERVAL_MS = 250;

/**
 * Memory of a process in MB. `resident` (RSS) counts pages that it shares with other programs, such
 * as those of Node itself, in full, and `proportional` (PSS) its part of them.
 */
type Memory = { readonly resident: number; readonly proportional: number };

/** Null once the process has ended. Linux only, like the figures. */
async function memoryOf(pid: number): Promise<Memory | null> {
  const megabytes = (text: string, name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? Number.NaN) / 1024;
  try {
    const sums = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
    return { resident: megabytes(sums, 'Rss'), proportional: megabytes(sums, 'Pss') };
  } catch {
    return null;
  }
}

/** Samples the memory of processes until it is stopped. */
export class MemorySampler {
  readonly #points = new Map<string, [number, Memory][]>();
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly pids: ReadonlyMap<string, number>) {
    this.#timer = setInterval(() => void this.#sample(), INTERVAL_MS);
  }

  /** Resident memory over time. */
  stop(): readonly Series[] {
    clearInterval(this.#timer);
    return [...this.#points].map(([name, points]) => ({
      name,
      points: points.map(([seconds, { resident }]) => [seconds, Math.round(resident)] as const),
    }));
  }

  /** The greatest samples of a process in MB. @throws Error when there are none. */
  peakOf(name: string): Memory {
    const samples = (this.#points.get(name) ?? []).map(([, memory]) => memory);
    if (samples.length === 0) throw new Error(`the memory of ${name} was never read`);
    return {
      resident: Math.max(...samples.map(({ resident }) => resident)),
      proportional: Math.max(...samples.map(({ proportional }) => proportional)),
    };
  }

  /** The finding of P9: the target is of RSS, and PSS stands beside it. */
  findingOf(name: string, megabytesMax: number): Finding {
    const { resident, proportional } = this.peakOf(name);
    const what = `${name}, greatest RSS (PSS ${proportional.toFixed(0)} MB)`;
    return atMost({ id: 'P9', what, unit: 'MB' }, resident, megabytesMax);
  }

  async #sample(): Promise<void> {
    const seconds = (performance.now() - this.#startedAt) / 1000;
    for (const [name, pid] of this.pids) {
      const memory = await memoryOf(pid);
      if (memory === null) continue;
      const points = this.#points.get(name) ?? [];
      points.push([Number(seconds.toFixed(2)), memory]);
      this.#points.set(name, points);
    }
  }
}
