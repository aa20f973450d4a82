import { build, type Histogram } from 'hdr-histogram-js';
import type { Plot } from '../section.js';

const MICROS_MAX = 600_000_000;
const newHistogram = (): Histogram =>
  build({ highestTrackableValue: MICROS_MAX, useWebAssembly: false });

/** Latencies of several kinds of requests, of each minute and of the whole run. */
export class MinuteLatencies {
  readonly #whole = new Map<string, Histogram>();
  readonly #current = new Map<string, Histogram>();
  readonly #minutes = new Map<string, (readonly [minute: number, p99: number])[]>();

  record(kind: string, milliseconds: number): void {
    const micros = Math.min(MICROS_MAX, Math.max(1, Math.round(milliseconds * 1_000)));
    for (const histograms of [this.#whole, this.#current]) {
      const histogram = histograms.get(kind) ?? newHistogram();
      histogram.recordValue(micros);
      histograms.set(kind, histogram);
    }
  }

  /** Ends a minute: its p99s become points. */
  endMinute(minute: number): void {
    for (const [kind, histogram] of this.#current) {
      const points = this.#minutes.get(kind) ?? [];
      points.push([minute, histogram.getValueAtPercentile(99) / 1_000]);
      this.#minutes.set(kind, points);
    }
    this.#current.clear();
  }

  get kinds(): readonly string[] {
    return [...this.#whole.keys()];
  }

  count(kind: string): number {
    return this.#whole.get(kind)?.totalCount ?? 0;
  }

  /** Milliseconds of the whole run; 0 when nothing was recorded. */
  at(kind: string, percentile: number): number {
    return (this.#whole.get(kind)?.getValueAtPercentile(percentile) ?? 0) / 1_000;
  }

  /** The p99s of the minutes of a kind. */
  p99s(kind: string): readonly number[] {
    return (this.#minutes.get(kind) ?? []).map(([, p99]) => p99);
  }

  plot(): Plot {
    const series = [...this.#minutes].map(([name, points]) => ({ name, points }));
    return { title: 'p99 by the minute', xLabel: 'minutes', yLabel: 'ms', series };
  }
}

/** The straight line through the points that is nearest to them: how much y grows for 1 of x. */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const count = points.length;
  if (count < 2) return 0;
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / count;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / count;
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  if (spread === 0) return 0;
  return points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
}

/** How much the line through the last half of the points grows over that half. */
export function growthOfLastHalf(points: readonly (readonly [number, number])[]): number {
  const half = points.slice(Math.floor(points.length / 2));
  const [first, last] = [half[0], half.at(-1)];
  if (first === undefined || last === undefined) return 0;
  return slopeOf(half) * (last[0] - first[0]);
}
