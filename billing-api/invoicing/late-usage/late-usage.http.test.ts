import { describe, expect } from 'vitest';
import { test } from '../../testing/billed-test.js';
import { makeSubscription } from '../../testing/billing-test.js';
import { completeBackfills } from '../../testing/finish-partition.js';
import { generationOf } from '../../testing/meter-generation.js';
import { storeEvents } from '../../testing/write-usage-minutes.js';
import { lookForLate } from '../../testing/look-for-late.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Answer = any;

const JANUARY = { billing_cycle: 'calendar', start_date: '2027-01-01T00:00:00.000Z' };

type World = {
  readonly id: string;
  readonly count: (times: readonly string[]) => Promise<void>;
  readonly look: () => Promise<void>;
  readonly invoices: () => Promise<Answer[]>;
};

const times = (day: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${day}T10:${String(at % 60).padStart(2, '0')}:00Z`);

const lateTest = test.extend<{ world: World }>({
  world: async ({ api, database, clickhouse }, use) => {
    const { meterId, id } = await makeSubscription(api, JANUARY);
    await completeBackfills(database.database);
    const { environment } = api;
    const target = {
      environment,
      meterId,
      generation: await generationOf(database.database, meterId),
    };
    await use({
      id,
      count: (all) =>
        storeEvents(
          { database, clickhouse },
          environment,
          all.map((at) => ({ at, eventName: 'call', countsOn: [target] })),
        ),
      look: () =>
        lookForLate({ database: database.database, clickHouse: clickhouse.client, environment }),
      invoices: async () => {
        const { body } = await api.call('POST', '/v1/invoices/search', {
          body: { subscription_id: id, invoice_status: ['FINALIZED'] },
        });
        return body.items.toSorted(
          (a: Answer, b: Answer) => a.billing_sequence - b.billing_sequence,
        );
      },
    });
  },
});

describe('usage that comes after the invoice of its period is final', () => {
  lateTest('is on the next invoice, and verify says the same', async ({ api, bill, world }) => {
    const { count, look, invoices } = world;
    await count(times('2027-01-10', 10));
    await bill('2027-02-01T03:00:00.000Z');
    await count(times('2027-01-20', 90));
    await look();
    const listed = await api.call('GET', '/v1/billing/late-usage');
    expect(listed.body.items).toMatchObject([{ quantity: '90', amount: '22.50' }]);
    await count(times('2027-02-10', 4));
    await bill('2027-03-01T03:00:00.000Z');
    const [first, second] = await invoices();
    expect(first.total).toBe('2.50');
    expect(second.line_items).toMatchObject([
      { amount: '1.00', quantity: '4' },
      { amount: '22.50', quantity: '90', period_start: '2027-01-01T00:00:00.000Z' },
    ]);
    expect(second.total).toBe('23.50');
    const { body } = await api.call('GET', `/v1/invoices/${second.id}/verify`);
    expect(body).toMatchObject({ same_from_inputs: true, same_from_events: true, differences: [] });
  });
});
