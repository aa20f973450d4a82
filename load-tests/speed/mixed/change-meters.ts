import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from '../../../cli/look/api-client.js';
import { messageOf } from '../../../runtime/failure.js';
import { draw, JOB, REGIONS, type Region } from './event-plan.js';
import type { WithId } from './catalog.js';

/** Meters that are made meanwhile and live at a time. */
const LIVING_MAX = 10;

type MeterAnswer = WithId & {
  readonly backfill: { readonly status: 'none' | 'running' | 'completed' | 'failed' };
};
export type ChangingMeter = { readonly id: string; regions: readonly Region[] };

/** Makes meters of jobs of some regions, changes their regions, and archives the oldest. */
export class MeterChanges {
  readonly living: ChangingMeter[] = [];
  /** Steps that the product refused. */
  readonly failures: string[] = [];
  readonly counts = { made: 0, changed: 0, archived: 0 };
  #steps = 0;

  constructor(private readonly api: ApiClient) {}

  /** One step every so many seconds until the signal. */
  async run(everySeconds: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#step().catch((error: unknown) => {
        this.failures.push(`meters: ${messageOf(error)}`);
      });
      await delay(1_000 * everySeconds, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Waits until the meter's definition has been applied to all stored events. */
  async whenApplied({ id }: ChangingMeter, timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!(await this.#isApplied(id))) {
      if (performance.now() > deadline) throw new Error(`${id} was not applied in time`);
      await delay(250);
    }
  }

  async #isApplied(id: string): Promise<boolean> {
    const { backfill } = await this.api.get<MeterAnswer>(`/meters/${id}`);
    return backfill.status === 'none' || backfill.status === 'completed';
  }

  #regions(): readonly Region[] {
    return REGIONS.filter((_, index) => index === 0 || draw(this.#steps, 20 + index, 2) === 0);
  }

  async #step(): Promise<void> {
    this.#steps += 1;
    if (this.#steps % 2 === 0) return this.#change();
    if (this.living.length >= LIVING_MAX) await this.#archive();
    await this.#make();
  }

  async #make(): Promise<void> {
    const regions = this.#regions();
    const { id } = await this.api.post<WithId>('/meters', {
      name: `Jobs, choice ${this.#steps}`,
      event_name: JOB,
      aggregation: { type: 'COUNT' },
      filters: [{ key: 'region', values: regions }],
    });
    this.living.push({ id, regions });
    this.counts.made += 1;
  }

  /** One whose last definition has been applied: another change would be refused before that. */
  async #change(): Promise<void> {
    const meter = this.living[draw(this.#steps, 30, this.living.length)];
    if (meter === undefined || !(await this.#isApplied(meter.id))) return;
    const regions = this.#regions();
    const filters = [{ key: 'region', values: regions }];
    await this.api.put(`/meters/${meter.id}`, { filters });
    meter.regions = regions;
    this.counts.changed += 1;
  }

  async #archive(): Promise<void> {
    const oldest = this.living.shift();
    if (oldest === undefined) return;
    await this.api.delete(`/meters/${oldest.id}`);
    this.counts.archived += 1;
  }
}
