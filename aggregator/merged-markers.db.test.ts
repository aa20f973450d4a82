import { describe, expect, vi } from 'vitest';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.js';
import { integerColumn } from '../sql/columns.js';
import type { InjectFailure } from './ownership/run-partition.js';
import {
  createMeter,
  eventOf,
  send,
  test,
  totals,
  WAIT,
  wrongMarkers,
  type World,
} from './testing/aggregator-world.js';

type Moment = readonly [table: 'ids' | 'usage', when: 'before' | 'after'];

/**
 * Fails one insert of the next batch; its partition is not taken again until the table has merged
 * what it holds.
 */
function createFailure() {
  let planned: Moment | null = null;
  let isWaiting = false;
  const inject: InjectFailure = (command) => {
    if (command.kind === 'take' && isWaiting) return 'before';
    if (planned === null || command.kind !== 'insert') return null;
    const [table, when] = planned;
    if (command.tables[0] !== table) return null;
    planned = null;
    isWaiting = true;
    return when;
  };
  return {
    inject,
    plan: (moment: Moment): void => {
      planned = moment;
    },
    get isWaiting(): boolean {
      return isWaiting;
    },
    goOn: (): void => {
      isWaiting = false;
    },
  };
}

/** Rows of markers, by the partition they stand for. */
async function markerRows(clickhouse: ClickHouse): Promise<readonly number[]> {
  const rows = await clickhouse.query(
    `SELECT count() AS found FROM usage_minute_v1 WHERE meter_id = '#batch' GROUP BY source`,
    {},
    z.object({ found: integerColumn }),
  );
  return rows.map(({ found }) => found);
}

/** Until nothing is written meanwhile: the insert beside the one that failed may still run. */
async function merge({ clickhouse }: World): Promise<void> {
  await vi.waitFor(async () => {
    await clickhouse.command('OPTIMIZE TABLE usage_minute_v1 FINAL');
    expect(Math.max(...(await markerRows(clickhouse)))).toBe(1);
  }, WAIT);
}

describe('a batch whose owner fails', () => {
  test.for([
    ['ids', 'before'],
    ['ids', 'after'],
    ['usage', 'before'],
    ['usage', 'after'],
  ] as const)(
    'is written once when markers merge before it is recovered (%s, %s)',
    async (moment, { world }) => {
      await createMeter(world.database, '[]');
      const failure = createFailure();
      await world.startAggregator(failure.inject);
      for (const batch of [0, 1]) {
        await send(
          world.writer,
          Array.from({ length: 20 }, (_, index) => eventOf(`id-${batch}-${index}`)),
        );
        await vi.waitFor(async () => {
          expect((await totals(world.clickhouse)).usage).toBe(20 * (batch + 1));
        }, WAIT);
      }
      await merge(world);
      failure.plan(moment);
      await send(world.writer, [eventOf('last'), eventOf('id-0-0')]);
      await vi.waitFor(() => {
        expect(failure.isWaiting).toBe(true);
      }, WAIT);
      await merge(world);
      failure.goOn();
      await vi.waitFor(async () => {
        expect(await totals(world.clickhouse)).toMatchObject({ events: 41, ids: 41, usage: 41 });
      }, WAIT);
      await send(world.writer, [eventOf('last'), eventOf('next')]);
      await vi.waitFor(async () => {
        const found = await totals(world.clickhouse);
        expect(found).toEqual({ events: 42, ids: 42, usage: 42, duplicates: 2 });
      }, WAIT);
      await merge(world);
      expect(await wrongMarkers(world.clickhouse)).toEqual([]);
    },
  );
});
