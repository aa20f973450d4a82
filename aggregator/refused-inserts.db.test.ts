import { ClickHouseError } from '@clickhouse/client';
import { describe, expect, vi } from 'vitest';
import { z } from 'zod';
import type { TextInsert } from '../clickhouse/client.js';
import { clickHouseOutage } from '../clickhouse/clickhouse-failure.js';
import {
  createMeter,
  eventOf,
  recordOf,
  send,
  test,
  totals,
  WAIT,
  wrongMarkers,
  type World,
} from './testing/aggregator-world.js';

/** ClickHouse refuses these inserts, with such an answer. */
const refuseInserts = (
  { clickhouse }: World,
  refusal: { readonly code: string; readonly isHit: (insert: TextInsert) => boolean },
): void => {
  const { code, isHit } = refusal;
  const insertText = clickhouse.insertText.bind(clickhouse);
  vi.spyOn(clickhouse, 'insertText').mockImplementation((insert) =>
    isHit(insert)
      ? Promise.reject(clickHouseOutage(new ClickHouseError({ message: 'no', code })))
      : insertText(insert),
  );
};

/** The partitions whose gates were raised, one for each time. */
const noteGates = ({ clickhouse }: World): readonly unknown[] => {
  const raised: unknown[] = [];
  const command = clickhouse.command.bind(clickhouse);
  vi.spyOn(clickhouse, 'command').mockImplementation((text, parameters, id) => {
    if (text.includes('INTO ingest_gate_v1')) raised.push(parameters?.['log_partition']);
    return command(text, parameters, id);
  });
  return raised;
};

describe('the aggregator', () => {
  test('counts once what something between it and ClickHouse sends again', async ({ world }) => {
    const insertText = world.clickhouse.insertText.bind(world.clickhouse);
    vi.spyOn(world.clickhouse, 'insertText').mockImplementation(async (insert) => {
      await insertText(insert);
      return insertText(insert);
    });
    await createMeter(world.database, '[]');
    const first = await world.startAggregator(() => null);
    await send(world.writer, [eventOf('a'), eventOf('b'), eventOf('c'), eventOf('a')]);
    const counted = { events: 3, ids: 3, usage: 3, duplicates: 1 };
    await vi.waitFor(async () => {
      expect(await totals(world.clickhouse)).toEqual(counted);
    }, WAIT);
    await first.close();
    const second = await world.startAggregator();
    await send(world.writer, [eventOf('d')]);
    await vi.waitFor(async () => {
      expect(await totals(world.clickhouse)).toEqual({ ...counted, events: 4, ids: 4, usage: 4 });
    }, WAIT);
    expect([...second.halted]).toEqual([]);
    expect(await wrongMarkers(world.clickhouse)).toEqual([]);
  });

  test('sends inserts again under one epoch while ClickHouse has too many parts, and says so at last', async ({
    world,
  }) => {
    let left = 20;
    refuseInserts(world, { code: '252', isHit: () => left-- > 0 });
    const gates = noteGates(world);
    const aggregator = await world.startAggregator(() => null);
    await send(world.writer, [eventOf('a'), eventOf('b'), eventOf('c'), eventOf('d')]);
    await vi.waitFor(async () => {
      expect(await totals(world.clickhouse)).toMatchObject({ events: 4, ids: 4 });
    }, WAIT);
    expect([...aggregator.halted]).toEqual([]);
    expect(gates.toSorted()).toEqual([0, 1]);
    left = Number.POSITIVE_INFINITY;
    await send(world.writer, [eventOf('e')]);
    await vi.waitFor(() => {
      expect([...aggregator.halted.values()]).toEqual(['insert_refused']);
    }, WAIT);
    left = 0;
    await vi.waitFor(async () => {
      expect(await totals(world.clickhouse)).toMatchObject({ events: 5, ids: 5 });
      expect([...aggregator.halted]).toEqual([]);
    }, WAIT);
    expect(await wrongMarkers(world.clickhouse)).toEqual([]);
  });

  test('halts the one partition whose rows ClickHouse refuses, and takes no other again', async ({
    world,
  }) => {
    const ofFirst = ({ parameters }: TextInsert): boolean =>
      z.array(z.number()).parse(parameters?.['gate_partitions']).includes(0);
    refuseInserts(world, { code: '27', isHit: ofFirst });
    const gates = noteGates(world);
    const aggregator = await world.startAggregator(() => null);
    const ids = Array.from({ length: 20 }, (_, index) => `id-${index}`);
    await send(
      world.writer,
      ids.map((id) => eventOf(id)),
    );
    const others = ids.filter((id) => recordOf(eventOf(id)).partition === 1);
    await vi.waitFor(async () => {
      expect(aggregator.halted).toEqual(new Map([[0, 'insert_refused']]));
      expect((await totals(world.clickhouse)).ids).toBe(others.length);
    }, WAIT);
    expect(gates.filter((partition) => partition === 1)).toEqual([1]);
  });

  test('counts once an insert that was written before ClickHouse ran out of memory', async ({
    world,
  }) => {
    const insertText = world.clickhouse.insertText.bind(world.clickhouse);
    let inserts = 0;
    vi.spyOn(world.clickhouse, 'insertText').mockImplementation(async (insert) => {
      const done = await insertText(insert);
      inserts += 1;
      if (done.outcome !== 'inserted' || inserts % 2 === 0) return done;
      throw clickHouseOutage(new ClickHouseError({ message: 'memory', code: '241' }));
    });
    await createMeter(world.database, '[]');
    const aggregator = await world.startAggregator(() => null);
    await send(world.writer, [eventOf('a'), eventOf('b'), eventOf('c'), eventOf('a')]);
    await vi.waitFor(async () => {
      expect(await totals(world.clickhouse)).toEqual({
        events: 3,
        ids: 3,
        usage: 3,
        duplicates: 1,
      });
    }, WAIT);
    await aggregator.close();
    expect(await wrongMarkers(world.clickhouse)).toEqual([]);
  });

  test('says that ClickHouse refuses the inserts, and goes on when it takes them', async ({
    world,
  }) => {
    let isRefusing = true;
    refuseInserts(world, { code: '497', isHit: () => isRefusing });
    const aggregator = await world.startAggregator(() => null);
    await send(world.writer, [eventOf('a')]);
    await vi.waitFor(() => {
      expect([...aggregator.halted.values()]).toEqual(['insert_refused']);
    }, WAIT);
    isRefusing = false;
    await vi.waitFor(async () => {
      expect((await totals(world.clickhouse)).events).toBe(1);
      expect([...aggregator.halted]).toEqual([]);
    }, WAIT);
  });
});
