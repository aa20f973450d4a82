import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'slonik';
import { describe, expect, vi } from 'vitest';
import { z } from 'zod';
import { createBackfillJobs } from '../../../aggregator/backfill/backfill-jobs.js';
import { backfillMeter } from '../../../aggregator/backfill/backfill-meter.js';
import {
  acceptedEvents,
  createMeter,
  environment,
  eventOf,
  readUsage,
  totals,
  WAIT,
  wrongMarkers,
} from '../../../aggregator/testing/aggregator-world.js';
import { listUnfinished } from './erasures-store.js';
import type { ClickHouse } from '../../../clickhouse/client.js';
import { DependencyError } from '../../../runtime/failure.js';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import {
  differenceOf,
  type ErasureWorld,
  eventsOf,
  idsOf,
  makeCustomer,
  sendOf,
  tablesWith,
  test,
  usageByCustomer,
  whenCounted,
} from '../testing/erasure-world.js';

const erasedEvents = async ({ database }: ErasureWorld): Promise<number> => {
  const events = await ownerOf(database).oneFirst(
    sql.type(z.object({ events: z.string() }))`
      SELECT coalesce(sum(events), 0) AS events FROM erased_events`,
  );
  return Number(events);
};

/** Fails at its nth statement, before or after it took effect; null when it made fewer. */
function failingAt(clickhouse: ClickHouse, nth: number, when: 'before' | 'after') {
  let statements = 0;
  const outage = new DependencyError('killed', { dependency: 'clickhouse', isRetryable: true });
  const failing = new Proxy(clickhouse, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function') return member;
      return async (...parameters: unknown[]): Promise<unknown> => {
        statements += 1;
        const isNth = statements === nth;
        if (isNth && when === 'before') throw outage;
        const result: unknown = await Reflect.apply(member, target, parameters);
        if (isNth) throw outage;
        return result;
      };
    },
  });
  return { failing, hasFailed: () => statements >= nth };
}

/** Failing after one statement is failing before the next, so that every other one is enough. */
describe('an erasure that is cut short', () => {
  test.for(['before', 'after'] as const)(
    'ends the same when it is repeated, whichever statement failed %s its effect',
    { timeout: 120_000 },
    async (when, { erasing: world }) => {
      await createMeter(world.database, '[]');
      const aggregator = await world.startAggregator();
      let round = 0;
      for (let isCut = true; isCut; round += 1) {
        await sendOf(world, environment, [
          ...idsOf(`a${round}`, 6).map(eventsOf('acme')),
          ...idsOf(`b${round}`, 2).map(eventsOf('bolt')),
          eventOf(`a${round}-0`, { properties: { secret: 'yes' } }),
        ]);
        const { failing, hasFailed } = failingAt(world.clickhouse, 2 * round + 1, when);
        const erasing = world.erase('acme', { clickhouse: failing });
        await erasing.catch((error: unknown) => {
          expect(error).toBeInstanceOf(DependencyError);
        });
        isCut = hasFailed();
        // More comes between the two, and is part of the one that is repeated.
        await sendOf(world, environment, [eventsOf('acme')(`more${round}`)]);
        await world.erase('acme');
        const sent = round + 1;
        expect(await usageByCustomer(world)).toEqual([
          { customer: 'tenant_1 e:bolt', events: 2 * sent, usage: 2 * sent },
        ]);
        expect(await erasedEvents(world)).toBe(7 * sent);
        expect(await differenceOf(world)).toBe(0);
        expect(await tablesWith(world.clickhouse, 'secret')).toEqual([]);
      }
      expect(round).toBeGreaterThan(5);
      expect([...aggregator.halted]).toEqual([]);
    },
  );
});

describe('an erasure that is repeated under another name', () => {
  test('goes on with what it had noted, and with what the name stands for now', async ({
    erasing: world,
  }) => {
    await createMeter(world.database, '[]');
    await world.startAggregator();
    const byId = { externalCustomerId: null, customerId: 'cust_2' };
    await sendOf(world, environment, [
      ...idsOf('a', 6).map(eventsOf('acme')),
      ...idsOf('i', 3).map((id) => eventOf(id, byId)),
    ]);
    const { failing } = failingAt(world.clickhouse, 4, 'before');
    await expect(world.erase('acme', { clickhouse: failing })).rejects.toThrow('killed');
    await makeCustomer(world, { id: 'cust_2', externalId: 'acme' });
    expect(await world.erase('acme')).toMatchObject({ events: 9 });
    expect(await usageByCustomer(world)).toEqual([]);
    expect(await differenceOf(world)).toBe(0);
    expect(await listUnfinished(world.owner, environment)).toEqual([]);
  });
});

describe('an erasure of several customers', () => {
  test('is one, and ends what an erasure of one of them had begun, but not of two', async ({
    erasing: world,
  }) => {
    await createMeter(world.database, '[]');
    await world.startAggregator();
    await sendOf(world, environment, [
      ...idsOf('a', 5).map(eventsOf('acme')),
      ...idsOf('b', 4).map(eventsOf('bolt')),
      ...idsOf('c', 3).map(eventsOf('cora')),
    ]);
    const { failing } = failingAt(world.clickhouse, 4, 'before');
    await expect(world.erase('acme', { clickhouse: failing })).rejects.toThrow('killed');
    const again = failingAt(world.clickhouse, 4, 'before');
    await expect(world.erase('bolt', { clickhouse: again.failing })).rejects.toThrow('killed');
    await expect(world.erase(['acme', 'bolt'])).rejects.toThrow('for each of: acme; bolt');
    await world.erase('acme');
    expect(await world.erase(['acme', 'bolt', 'unknown'])).toMatchObject({ events: 4 });
    expect(await usageByCustomer(world)).toEqual([
      { customer: 'tenant_1 e:cora', events: 3, usage: 3 },
    ]);
    expect(await erasedEvents(world)).toBe(9);
    expect(await differenceOf(world)).toBe(0);
    expect(await listUnfinished(world.owner, environment)).toEqual([]);
  }, 60_000);
});

describe('an erasure beside', () => {
  test('a load with repeats, and partitions that are taken again all the time, loses and doubles nothing', async ({
    erasing: world,
  }) => {
    await createMeter(world.database, '[]');
    let commands = 0;
    const aggregators = await Promise.all(
      [0, 1].map(() =>
        world.startAggregator(() => {
          commands += 1;
          if (commands % 41 !== 0) return null;
          return commands % 2 === 0 ? 'before' : 'after';
        }),
      ),
    );
    const customers = ['acme', 'bolt', 'cora'];
    const distinct = new Set<string>();
    let isSending = true;
    let sent = 0;
    const sending = (async () => {
      for (let batch = 0; isSending; batch += 1) {
        const events = Array.from({ length: 6 }, (_, index) => {
          // Every third one is an earlier one again.
          const number = index % 3 === 0 ? batch * 2 + index : batch * 4 + index;
          const customer = customers[number % 3] ?? '';
          return eventsOf(customer)(`${customer}-${number}`);
        });
        for (const { eventId } of events) distinct.add(eventId);
        sent += events.length;
        await sendOf(world, environment, events);
        await delay(50);
      }
    })();
    for (let round = 0; round < 3; round += 1) {
      await delay(400);
      await world.erase('acme');
      expect(await differenceOf(world)).toBe(0);
    }
    const erasedWhileSending = await erasedEvents(world);
    isSending = false;
    await sending;
    await whenCounted(world);
    const countOf = (customer: string): number =>
      [...distinct].filter((id) => id.startsWith(customer)).length;
    const { events, usage, duplicates } = await totals(world.clickhouse);
    const left = countOf('acme') - erasedWhileSending;
    expect(erasedWhileSending).toBeGreaterThan(20);
    expect(await usageByCustomer(world)).toEqual(
      [
        { customer: 'tenant_1 e:acme', events: left, usage: left },
        { customer: 'tenant_1 e:bolt', events: countOf('bolt'), usage: countOf('bolt') },
        { customer: 'tenant_1 e:cora', events: countOf('cora'), usage: countOf('cora') },
      ].filter((row) => row.events > 0),
    );
    expect(events).toBe(usage);
    expect(await acceptedEvents(world.clickhouse)).toBe(sent);
    expect(events + duplicates + erasedWhileSending).toBe(sent);
    expect(await wrongMarkers(world.clickhouse)).toEqual([]);
    expect(await differenceOf(world)).toBe(0);
    for (const aggregator of aggregators) expect([...aggregator.halted]).toEqual([]);
  }, 180_000);

  test('a backfill makes it begin anew, and none is shown that has read erased events', async ({
    erasing: world,
  }) => {
    const first = await world.startAggregator();
    await sendOf(world, environment, [
      ...idsOf('a', 10).map(eventsOf('acme')),
      ...idsOf('b', 4).map(eventsOf('bolt')),
    ]);
    await whenCounted(world);
    await first.close();
    await createMeter(world.database, '[]');
    const jobs = createBackfillJobs(world.database);
    const attempt = await jobs.claim();
    if (attempt === null) throw new Error('nothing to claim');
    const watch = { progress: () => undefined, signal: new AbortController().signal };
    const result = await backfillMeter(world.clickhouse, attempt, watch);
    expect(result.eventsMatched).toBe(14);
    expect(await tablesWith(world.clickhouse, 'acme')).toContain('usage_minute_v1');

    // Cut short when the events have been noted: until it is repeated, no attempt begins.
    const { failing } = failingAt(world.clickhouse, 4, 'before');
    await expect(world.erase('acme', { clickhouse: failing })).rejects.toThrow('killed');
    expect(await jobs.complete(attempt, result)).toBe(false);
    expect(await jobs.claim()).toBeNull();
    await world.erase('acme');
    expect(await jobs.complete(attempt, result)).toBe(false);
    expect(await tablesWith(world.clickhouse, 'acme')).toEqual([]);

    await world.startAggregator();
    await vi.waitFor(async () => {
      expect(await readUsage(world)).toBe(4);
    }, WAIT);
    expect(await differenceOf(world)).toBe(0);
  });
});
