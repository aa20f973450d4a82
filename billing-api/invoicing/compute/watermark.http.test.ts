import { KnownCustomers } from '../../customers/known-customers.js';
import { describe, expect } from 'vitest';
import { finishPartition, intendBatch } from '../../testing/finish-partition.js';
import { insertLines, type StoredEvent } from '../../testing/write-usage-minutes.js';
import { test } from '../../testing/billing-test.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { makePricedPlan, type MeterOptions } from '../../testing/priced-plan.js';
import { decodeSnapshot, encodeSnapshot } from '../../domain/invoice/snapshot/invoice-snapshot.js';
import { createUsageReader, type UsageReader } from '../../usage/store/usage-reader.js';
import { isRefusal } from '../../records/refusal.js';
import { invoiceToDto } from '../../documents/answer/invoice-answer.js';
import { previewInvoice } from '../preview/preview-invoice.js';
import { testOccasion } from '../../testing/test-occasion.js';

const OCTOBER = { period_start: '2026-10-01T00:00:00Z', period_end: '2026-11-01T00:00:00Z' };
const FAR = 1_000_000_000;

/** Every way in which minutes and events are put together. */
const METERS: readonly (readonly [name: string, meter: MeterOptions, price: object])[] = [
  ['a count', { type: 'COUNT' }, {}],
  ['a sum', { type: 'SUM', field: 'n' }, {}],
  ['a mean', { type: 'AVG', field: 'n' }, {}],
  ['a least value', { type: 'MIN', field: 'n' }, {}],
  ['the latest value', { type: 'LATEST', field: 'n' }, {}],
  ['a level over time', { type: 'WEIGHTED_SUM', field: 'n' }, {}],
  ['different texts', { type: 'COUNT_UNIQUE', field: 'n' }, {}],
  ['different texts of all times', { type: 'COUNT_UNIQUE', field: 'n', resetUsage: 'NEVER' }, {}],
  ['a count of all times', { type: 'COUNT', resetUsage: 'NEVER' }, {}],
  ['counts of minutes', { type: 'COUNT', bucketSize: 'MINUTE' }, {}],
  [
    'greatest values of days and groups',
    { type: 'MAX', field: 'n', bucketSize: 'DAY', groupBy: 'g' },
    {},
  ],
  ['a narrowed count', { type: 'COUNT' }, { filter_values: { g: ['a'] } }],
];

const at = (text: string, n: string): StoredEvent => ({
  at: `${text}Z`,
  properties: { n, g: Number(n) % 2 === 0 ? 'a' : 'b' },
});

const FINISHED = [
  at('2026-09-20T00:00:00.000', '3'),
  at('2026-10-02T10:00:10.000', '4'),
  at('2026-10-02T10:00:50.000', '7'),
  at('2026-10-20T12:00:00.000', '6'),
  at('2026-10-31T23:59:59.999', '8'),
];
/** In minutes of finished events and others, far back, and beside the edges of the period. */
const UNFINISHED = [
  at('2026-09-30T23:59:59.999', '90'),
  at('2026-10-01T00:00:00.000', '92'),
  at('2026-10-02T10:00:30.000', '1'),
  at('2026-10-15T00:00:00.000', '94'),
  at('2026-10-31T23:59:59.999', '98'),
];

type Body = Awaited<ReturnType<BillingUnderTest['call']>>['body'];

/** What computing says of a subscription, and the events behind its line. */
async function everythingOf(api: BillingUnderTest, id: string): Promise<Body> {
  const body = { subscription_id: id, ...OCTOBER, explain: true, group_by: ['source'] };
  const preview = await api.make('/v1/invoices/preview', body);
  delete preview.data_until;
  const { line_items: lines } = (await api.call('GET', `/v1/subscriptions/${id}`)).body;
  const query = `period_start=${OCTOBER.period_start}&period_end=${OCTOBER.period_end}`;
  const path = `/v1/subscriptions/lineitems/${lines.at(-1).id}/events?${query}`;
  const { body: events } = await api.call('GET', path);
  return { preview, events };
}

describe('a computed invoice', () => {
  test.for(METERS)(
    'counts no event of an unfinished batch on %s',
    async ([, meter, price], { api, database, clickhouse, clock }) => {
      clock.set('2026-11-02T00:00:00Z');
      const engines = { database, clickhouse };
      const plan = await makePricedPlan(api, engines, { meter, price: { amount: '1', ...price } });
      const id = await plan.subscribe();
      await plan.count(FINISHED);
      const before = await everythingOf(api, id);
      expect(before.events.items.length).toBeGreaterThan(0);
      expect(before.events.quantity).toBe(before.preview.line_items[0].quantity);
      await plan.countUnfinished(UNFINISHED);
      expect(await everythingOf(api, id)).toEqual(before);
      await finishPartition(database.database, { logId: 'log', partition: 0, nextOffset: FAR });
      const after = await everythingOf(api, id);
      expect(after.events.items.length).toBeGreaterThan(before.events.items.length);
      expect(after.preview).not.toEqual(before.preview);
    },
  );

  test('counts no event of a partition or a log that was not begun', async ({
    api,
    database,
    clickhouse,
    clock,
  }) => {
    clock.set('2026-11-02T00:00:00Z');
    const options = { meter: { type: 'COUNT' }, price: { amount: '1' } } as const;
    const plan = await makePricedPlan(api, { database, clickhouse }, options);
    const id = await plan.subscribe();
    await plan.count(FINISHED);
    const before = await everythingOf(api, id);
    for (const [logId, partition] of [
      ['log', 3],
      ['other', 0],
    ] as const) {
      const row = {
        tenant_id: api.environment.tenantId,
        environment_id: api.environment.environmentId,
        customer_key: 'e:acme',
        event_name: 'call',
        timestamp: '2026-10-20 12:00:01.000',
        event_id: `${logId}-${partition}`,
        log_id: logId,
        log_partition: partition,
        log_offset: 0,
      };
      await insertLines(clickhouse.client, 'events_v1', [JSON.stringify(row)]);
      await intendBatch(database.database, { logId, partition, end: 1 });
      expect(await everythingOf(api, id)).toEqual(before);
    }
    await finishPartition(database.database, { logId: 'other', partition: 0, nextOffset: 1 });
    // Its minute is not there, since the aggregator wrote none: the events behind the line are.
    const { events } = await everythingOf(api, id);
    expect(events.items).toHaveLength(before.events.items.length + 1);
  });

  test.for([1, 2, 3, 4])(
    'counts none that comes while the usage is read, %i times',
    async (times, { api, database, clickhouse }) => {
      const options = { meter: { type: 'COUNT' }, price: { amount: '1' } } as const;
      const plan = await makePricedPlan(api, { database, clickhouse }, options);
      const id = await plan.subscribe();
      await plan.count(FINISHED);
      const reader = createUsageReader(clickhouse.client);
      let readings = 0;
      const usage: UsageReader = {
        ...reader,
        // Each time an event comes before the first minute that is not trusted any more.
        read: async (batch) => {
          readings += 1;
          const day = String(20 - readings).padStart(2, '0');
          if (readings <= times) {
            await plan.countUnfinished([at(`2026-10-${day}T00:00:00.000`, '1')]);
          }
          return reader.read(batch);
        },
      };
      const computed = await previewInvoice(
        {
          database: database.database,
          usage,
          dataUntil: () => Promise.resolve(null),
          knownCustomers: new KnownCustomers(),
          clock: { now: () => Date.parse('2026-11-02T00:00:00.000Z') },
        },
        testOccasion({ environment: api.environment, userId: 'user' }),
        { subscription_id: id, ...OCTOBER },
      );
      if (isRefusal(computed)) throw new Error(computed.message);
      expect(invoiceToDto(computed.document, null).subtotal).toBe('4.00');
      // After the third reading it reads events only, and asks no more.
      expect(readings).toBe(Math.min(times + 1, 4));
    },
  );
});

test('a snapshot keeps the watermark', () => {
  const watermark = {
    ends: [{ log: 'log', partition: 0, countedBelow: 7 }],
    generations: new Map([['meter_1', [3, 4]]]),
  };
  // Nothing here looks into the inputs.
  const inputs = {} as Parameters<typeof encodeSnapshot>[0]['inputs'];
  const stored = { rulesVersion: 1, inputs, timeZoneData: '2026a', watermark };
  expect(decodeSnapshot(encodeSnapshot(stored))).toEqual(stored);
});
