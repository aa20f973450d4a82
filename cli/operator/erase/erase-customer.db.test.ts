import { sql } from 'slonik';
import { describe, expect, vi } from 'vitest';
import { z } from 'zod';
import {
  createMeter,
  environment,
  eventOf,
  readUsage,
  totals,
  WAIT,
} from '../../../aggregator/testing/aggregator-world.js';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import {
  differenceOf,
  eventsOf,
  idsOf,
  makeCustomer,
  OTHER,
  sendOf,
  tablesWith,
  test,
  usageByCustomer,
  whenCounted,
} from '../testing/erasure-world.js';
import { awaitCounted } from './await-counted.js';
import { findErasedCustomer } from './named-customer.js';
import { whileQuiet } from './quiet-partitions.js';
import { withSession } from '../../../sql/session.js';

describe('minutebook customers erase', () => {
  test('removes the events and usage of one customer, and the books balance', async ({
    erasing: world,
  }) => {
    await createMeter(world.database, '[]');
    await makeCustomer(world, { id: 'cust_1', externalId: 'acme' });
    const aggregator = await world.startAggregator();
    await sendOf(world, environment, [
      ...idsOf('a', 20).map(eventsOf('acme')),
      ...idsOf('b', 30).map(eventsOf('bolt')),
      ...idsOf('i', 5).map((id) => eventOf(id, { externalCustomerId: null, customerId: 'cust_1' })),
    ]);
    await sendOf(world, OTHER, idsOf('a', 7).map(eventsOf('acme')));
    // A duplicate of each kind: the same event, and a conflict that names the customer.
    const [again, other] = [eventOf('a-0'), eventOf('a-1', { properties: { secret: 'yes' } })];
    await sendOf(world, environment, [again, other]);
    const letter = JSON.stringify({
      v: 1,
      t: environment.tenantId,
      e: environment.environmentId,
      r: 0,
      events: [['x', 'acme']],
    });
    await world.writer.append([{ partition: 0, key: 'x', value: letter }]);
    await whenCounted(world);
    const before = await usageByCustomer(world);
    expect(await tablesWith(world.clickhouse, 'secret')).toEqual(['event_duplicates_v1']);

    const erased = await world.erase('acme');

    expect(erased).toMatchObject({ events: 25, duplicates: 2, letters: 1 });
    const after = await usageByCustomer(world);
    expect(after).toEqual(
      before.filter(({ customer }) => !/^tenant_1 (e:acme|i:cust_1)$/.test(customer)),
    );
    expect(after).toEqual([
      { customer: 'tenant_1 e:bolt', events: 30, usage: 30 },
      { customer: 'tenant_2 e:acme', events: 7, usage: 0 },
    ]);
    expect(await tablesWith(world.clickhouse, 'secret')).toEqual([]);
    expect(await tablesWith(world.clickhouse, 'cust_1')).toEqual([]);
    expect(await differenceOf(world)).toBe(0);

    // What is sent again counts no more, and what is new counts.
    await sendOf(world, environment, [eventOf('a-3'), eventOf('new'), eventsOf('bolt')('b-0')]);
    await whenCounted(world);
    expect(await usageByCustomer(world)).toContainEqual({
      customer: 'tenant_1 e:acme',
      events: 1,
      usage: 1,
    });
    expect((await totals(world.clickhouse)).duplicates).toBe(4);
    expect(await differenceOf(world)).toBe(0);

    // A meter that comes later counts none of what was erased.
    await createMeter(world.database, '[]', 'm2');
    await vi.waitFor(async () => {
      expect(await readUsage(world, 'm2')).toBe(31);
    }, WAIT);
    expect([...aggregator.halted]).toEqual([]);

    const trail = await ownerOf(world.database).any(
      sql.type(z.unknown())`
        SELECT entity_id, after, actor_kind FROM audit_entries WHERE entity_type = 'event_erasure'`,
    );
    expect(trail).toMatchObject([
      {
        entity_id: erased.id,
        after: { customer: 'acme', events: 25, dead_letters: 1 },
        actor_kind: 'operator',
      },
    ]);
  });

  test('leaves a partition whose last batch it empties to the next owner, again and again', async ({
    erasing: world,
  }) => {
    const first = await world.startAggregator();
    await sendOf(world, environment, idsOf('a', 12).map(eventsOf('acme')));
    await whenCounted(world);
    await sendOf(world, environment, idsOf('b', 4).map(eventsOf('bolt')));
    await whenCounted(world);
    // The last batches are of bolt alone, or of both: whatever they hold goes.
    for (const [name, left] of [
      ['acme', 4],
      ['bolt', 0],
      ['bolt', 0],
    ] as const) {
      await world.erase(name);
      expect((await totals(world.clickhouse)).events).toBe(left);
    }
    await first.close();
    const second = await world.startAggregator();
    await sendOf(world, environment, [...idsOf('a', 3), ...idsOf('c', 3)].map(eventsOf('acme')));
    await whenCounted(world);
    expect([...second.halted]).toEqual([]);
    const { events, duplicates } = await totals(world.clickhouse);
    expect([events, duplicates]).toEqual([3, 3]);
    expect(await differenceOf(world)).toBe(0);
  });

  test('says what waits when nothing is counted, and leaves no erasure behind', async ({
    erasing: world,
  }) => {
    await sendOf(world, environment, [eventOf('a'), eventOf('b')]);
    await expect(awaitCounted(world.owner, world.reader, 300)).rejects.toThrow(
      '2 records of the log wait to be counted',
    );
    const { logId: log } = world.reader.identity;
    await ownerOf(world.database).query(sql.type(z.unknown())`
      INSERT INTO aggregator_checkpoints
        (log, partition, next_offset, intent_end, digest, catalog_version, min_version)
      VALUES (${log}, 0, 0, 1, 'x', 1, 1)`);
    const quiet = withSession(world.owner.url, (session) =>
      whileQuiet(session, () => Promise.resolve(), 300),
    );
    await expect(quiet).rejects.toThrow('a batch was under way at every look');
  });

  test('finds a customer by either id, and says when that is not clear', async ({
    erasing: world,
  }) => {
    const find = (named: Parameters<typeof findErasedCustomer>[2]) =>
      findErasedCustomer(world.owner, environment, named);
    await makeCustomer(world, { id: 'cust_1', externalId: 'acme', status: 'archived' });
    await makeCustomer(world, { id: 'cust_3', externalId: 'bolt' });
    expect(await find({ kind: 'id', id: 'cust_1' })).toEqual({
      name: 'cust_1',
      externalIds: ['acme'],
      ids: ['cust_1'],
    });
    expect(await find({ kind: 'external_id', externalId: 'nobody' })).toEqual({
      name: 'nobody',
      externalIds: ['nobody'],
      ids: [],
    });
    await makeCustomer(world, { id: 'cust_2', externalId: 'acme' });
    expect((await find({ kind: 'external_id', externalId: 'acme' })).ids).toEqual([
      'cust_1',
      'cust_2',
    ]);
    await expect(find({ kind: 'id', id: 'cust_2' })).rejects.toThrow(
      'cust_1 has the external id of cust_2, too',
    );
    await expect(find({ kind: 'id', id: 'cust_9' })).rejects.toThrow('cust_9 is no customer');
  });
});
