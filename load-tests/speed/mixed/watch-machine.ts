import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { ClickHouse } from '../../../clickhouse/client.js';
import { messageOf } from '../../../runtime/failure.js';
import { integerColumn } from '../../../sql/columns.js';
import {
  cpuSecondsOf,
  highWaterOf,
  memoryOf,
  productProcesses,
  resetHighWater,
  type Part,
  type ProductProcess,
} from '../processes.js';

const SAMPLE_SECONDS = 5;
const MINUTE_MS = 60_000;

/** One part of the product in one minute. */
export type MemoryMinute = {
  readonly minute: number;
  /** Greatest sum of PSS of a sample, MB. */
  readonly proportional: number;
  /** Sum of the high-water marks of RSS of its processes (VmHWM), MB. */
  readonly highWater: number;
};

const partsRow = z.object({
  table: z.string(),
  parts: integerColumn,
  of_partition: integerColumn,
});
const PARTS_OF_TABLES = `
  SELECT table, sum(active_parts) AS parts, max(active_parts) AS of_partition FROM (
    SELECT table, partition_id, count() AS active_parts FROM system.parts
    WHERE active AND database = currentDatabase() GROUP BY table, partition_id)
  GROUP BY table`;

/** Samples memory, CPU time and ClickHouse's parts from start to end. */
export class MachineWatch {
  readonly memory = new Map<Part, MemoryMinute[]>();
  /** Parts of all tables by seconds since the start. */
  readonly parts: (readonly [seconds: number, parts: number])[] = [];
  /** Why samples of the parts are missing. */
  readonly failures: string[] = [];
  /** Greatest number of active parts of one table's partition, by table. */
  readonly partsMax = new Map<string, number>();
  readonly #startedAt = performance.now();
  #cpuAtStart: ReadonlyMap<Part, number> = new Map();
  #cpuAtEnd: ReadonlyMap<Part, number> = new Map();
  /** Greatest sum of PSS of the running minute. */
  #samples = new Map<Part, number>();

  constructor(
    private readonly to: {
      /** Below this process are all those of the product. */
      readonly root: number;
      readonly clickhouse: ClickHouse;
      readonly onMinute: (minute: number) => void;
    },
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    const { root, onMinute } = this.to;
    this.#cpuAtStart = await cpuSecondsOf(await productProcesses(root));
    await this.#resetHighWater();
    let minute = 1;
    while (!signal.aborted) {
      await delay(1_000 * SAMPLE_SECONDS, undefined, { signal }).catch(() => undefined);
      const processes = await productProcesses(root);
      await this.#sampleMemory(processes);
      await this.#sampleParts().catch((error: unknown) => {
        this.failures.push(`parts: ${messageOf(error)}`);
      });
      this.#cpuAtEnd = await cpuSecondsOf(processes);
      if (performance.now() - this.#startedAt < minute * MINUTE_MS && !signal.aborted) continue;
      await this.#endMinute(minute, processes);
      onMinute(minute);
      minute += 1;
    }
  }

  /** CPU seconds from start to end, by part. */
  get cpuSeconds(): ReadonlyMap<Part, number> {
    const used = [...this.#cpuAtEnd].map(
      ([part, seconds]) => [part, seconds - (this.#cpuAtStart.get(part) ?? 0)] as const,
    );
    return new Map(used);
  }

  async #resetHighWater(): Promise<void> {
    for (const { pid } of await productProcesses(this.to.root)) {
      await resetHighWater(pid).catch(() => undefined);
    }
  }

  async #sampleMemory(processes: readonly ProductProcess[]): Promise<void> {
    const sums = new Map<Part, number>();
    for (const { pid, part } of processes) {
      const memory = await memoryOf(pid);
      if (memory !== null) sums.set(part, (sums.get(part) ?? 0) + memory.proportional);
    }
    for (const [part, sum] of sums) {
      this.#samples.set(part, Math.max(this.#samples.get(part) ?? 0, sum));
    }
  }

  async #endMinute(minute: number, processes: readonly ProductProcess[]): Promise<void> {
    const highWater = new Map<Part, number>();
    for (const { pid, part } of processes) {
      highWater.set(part, (highWater.get(part) ?? 0) + ((await highWaterOf(pid)) ?? 0));
    }
    for (const [part, proportional] of this.#samples) {
      const minutes = this.memory.get(part) ?? [];
      minutes.push({ minute, proportional, highWater: highWater.get(part) ?? 0 });
      this.memory.set(part, minutes);
    }
    this.#samples = new Map();
    await this.#resetHighWater();
  }

  async #sampleParts(): Promise<void> {
    const rows = await this.to.clickhouse.query(PARTS_OF_TABLES, {}, partsRow);
    const seconds = Math.round((performance.now() - this.#startedAt) / 1_000);
    this.parts.push([seconds, rows.reduce((sum, { parts }) => sum + parts, 0)]);
    for (const { table, of_partition: most } of rows) {
      this.partsMax.set(table, Math.max(this.partsMax.get(table) ?? 0, most));
    }
  }
}
