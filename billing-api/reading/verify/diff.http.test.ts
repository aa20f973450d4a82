import { describe, expect } from 'vitest';
import { test } from '../../testing/billed-test.js';
import { makeSubscription } from '../../testing/billing-test.js';
import { completeBackfills } from '../../testing/finish-partition.js';
import { generationOf } from '../../testing/meter-generation.js';
import { storeEvents } from '../../testing/write-usage-minutes.js';

const OCTOBER = { billing_cycle: 'calendar', start_date: '2026-10-01T00:00:00.000Z' };

describe('GET /invoices/{id}/diff', () => {
  test('names each line with its cause: between a draft and now, and an invoice and its replacement', async ({
    api,
    bill,
    database,
    clickhouse,
  }) => {
    await api.make('/v1/coupons', {
      name: 'Ten',
      coupon_code: 'TEN',
      type: 'percentage',
      percentage_off: '10',
      cadence: 'forever',
    });
    const { meterId, planId, customerId, id } = await makeSubscription(api, {
      ...OCTOBER,
      coupons: ['TEN'],
    });
    await completeBackfills(database.database);
    const { environment } = api;
    const generation = await generationOf(database.database, meterId);
    const countsOn = [{ environment, meterId, generation }];
    const store = (times: readonly string[]) =>
      storeEvents(
        { database, clickhouse },
        environment,
        times.map((at) => ({ at, countsOn })),
      );
    await store(['2026-10-05T10:00:10Z', '2026-10-05T10:00:20Z']);
    await bill('2026-11-01T00:30:00.000Z');
    const { body } = await api.call('POST', '/v1/invoices/search', {
      body: { subscription_id: id },
    });
    const [draft] = body.items;
    const diff = async (of: string) => (await api.call('GET', `/v1/invoices/${of}/diff`)).body;
    expect(await diff(draft.id)).toMatchObject({
      from: draft.id,
      to: null,
      causes: [],
      totals: { from: '0.45', to: '0.45' },
      lines: [{ change: 'same', amount_from: '0.50', amount_to: '0.50', causes: [] }],
    });
    await store(['2026-10-06T10:00:10Z', '2026-10-07T10:00:20Z']);
    expect(await diff(draft.id)).toMatchObject({
      // 1.00 − 0.10.
      causes: [],
      totals: { from: '0.45', to: '0.90' },
      lines: [
        {
          change: 'changed',
          quantity_from: '2',
          quantity_to: '4',
          amount_from: '0.50',
          amount_to: '1.00',
          causes: ['usage'],
        },
      ],
    });
    await bill('2026-11-01T02:00:00.000Z');
    const path = `/v1/invoices/${draft.id}`;
    await api.call('POST', `${path}/void`, { body: {} });
    const feature = await api.make('/v1/features', {
      name: 'Calls',
      type: 'metered',
      meter_id: meterId,
    });
    await api.make('/v1/entitlements', { feature_id: feature.id, plan_id: planId, usage_limit: 1 });
    await api.make('/v1/taxes/rates', { name: 'VAT', code: 'vat', percentage_value: '20' });
    await api.make('/v1/taxes/associations', {
      tax_rate_code: 'vat',
      entity_type: 'customer',
      entity_id: customerId,
    });
    await api.call('POST', `${path}/recalculate`);
    await bill('2026-11-01T02:00:00.000Z');
    const replaced = (await api.call('GET', path)).body;
    const expected = {
      from: draft.id,
      to: replaced.recalculated_invoice_id,
      // 0.75 − 0.08 = 0.67; 20 % of it is 0.13.
      totals: { from: '0.90', to: '0.80' },
      causes: ['tax'],
      lines: [
        { change: 'changed', amount_from: '1.00', amount_to: '0.75', causes: ['entitlement'] },
      ],
    };
    expect(await diff(draft.id)).toMatchObject(expected);
    expect(await diff(replaced.recalculated_invoice_id)).toMatchObject(expected);
  });
});
