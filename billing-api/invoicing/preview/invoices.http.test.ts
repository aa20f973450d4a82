import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import type { ClickHouse } from '../../../clickhouse/client.js';
import type { Database } from '../../../sql/pool.js';
import { expectRefusals, makeSubscription, test } from '../../testing/billing-test.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { completeBackfills, finishPartition } from '../../testing/finish-partition.js';
import {
  storeEvents,
  type StoredEvent,
  type UsageTarget,
} from '../../testing/write-usage-minutes.js';
import { generationOf } from '../../testing/meter-generation.js';

const START = { start_date: '2026-10-01T00:00:00Z' };
const OCTOBER = { period_start: '2026-10-01T00:00:00Z', period_end: '2026-11-01T00:00:00Z' };

async function targetOf(
  api: BillingUnderTest,
  database: Database,
  meterId: string,
): Promise<UsageTarget> {
  const generation = await generationOf(database, meterId);
  return { environment: api.environment, meterId, generation };
}

type Fixture = { database: { database: Database }; clickhouse: { client: ClickHouse } };

/** A subscription since October whose meter has counted these events. */
async function withEvents(
  api: BillingUnderTest,
  { database, clickhouse }: Fixture,
  events: readonly StoredEvent[],
) {
  const made = await makeSubscription(api, START);
  const countsOn = [await targetOf(api, database.database, made.meterId)];
  const counted = events.map((event) => ({ ...event, countsOn }));
  await storeEvents({ database, clickhouse }, api.environment, counted);
  return { ...made, countsOn };
}

const previewOf = (api: BillingUnderTest, id: string, members: object = OCTOBER) =>
  api.make('/v1/invoices/preview', { subscription_id: id, ...members });

describe('POST /invoices/preview', () => {
  test('charges the events of the period, without a float on the way', async ({
    api,
    database,
    clickhouse,
  }) => {
    const { id, meterId, priceId, planId } = await withEvents(api, { database, clickhouse }, [
      { at: '2026-09-30T23:59:59.999Z' },
      { at: '2026-10-01T00:00:00.000Z' },
      { at: '2026-10-31T23:59:59.999Z', customerKey: 'e:acme' },
      { at: '2026-11-01T00:00:00.000Z' },
      { at: '2026-10-15T12:00:00.000Z', customerKey: 'e:other' },
    ]);
    const invoice = await previewOf(api, id);
    expect(invoice).toMatchObject({
      id: null,
      invoice_status: 'DRAFT',
      currency: 'usd',
      period_start: '2026-10-01T00:00:00.000Z',
      period_end: '2026-11-01T00:00:00.000Z',
      due_date: '2026-11-02T00:00:00.000Z',
      subtotal: '0.50',
      total: '0.50',
      amount_due: '0.50',
      amount_remaining: '0.50',
      total_tax: '0.00',
    });
    expect(invoice.line_items).toHaveLength(1);
    expect(invoice.line_items[0]).toMatchObject({
      meter_id: meterId,
      price_id: priceId,
      entity_type: 'plan',
      entity_id: planId,
      quantity: '2',
      amount: '0.50',
      usage_analytics: [],
      usage_breakdown: [],
    });
  });

  test('is due by the payment terms, else by the setting of the environment', async ({ api }) => {
    const open = await makeSubscription(api, START);
    const agreed = await api.make('/v1/subscriptions', {
      customer_id: open.customerId,
      plan_id: open.planId,
      currency: 'usd',
      billing_period: 'MONTHLY',
      payment_terms: '15 NET',
      ...START,
    });
    const dueDates = async () =>
      Promise.all([agreed, open].map(async ({ id }) => (await previewOf(api, id)).due_date));
    const byTerms = '2026-11-16T00:00:00.000Z';
    expect(await dueDates()).toEqual([byTerms, '2026-11-02T00:00:00.000Z']);
    await api.call('PUT', '/v1/settings/invoice_config', {
      body: { value: { due_date_days: 14 } },
    });
    expect(await dueDates()).toEqual([byTerms, '2026-11-15T00:00:00.000Z']);
    await api.call('PUT', '/v1/settings/invoice_config', { body: { value: { due_date_days: 0 } } });
    expect(await dueDates()).toEqual([byTerms, '2026-11-01T00:00:00.000Z']);
  });

  test('counts usage under both ids of the customer', async ({ api, database, clickhouse }) => {
    const { id, customerId, countsOn } = await withEvents(api, { database, clickhouse }, [
      { at: '2026-10-02T00:00:00.000Z' },
    ]);
    await storeEvents({ database, clickhouse }, api.environment, [
      { at: '2026-10-02T00:00:00.000Z', customerKey: `i:${customerId}`, countsOn },
    ]);
    expect((await previewOf(api, id)).line_items[0].quantity).toBe('2');
  });

  test('cuts windows inside a minute exact to the millisecond', async ({
    api,
    database,
    clickhouse,
  }) => {
    const { id } = await withEvents(api, { database, clickhouse }, [
      { at: '2026-10-05T10:00:29.999Z' },
      { at: '2026-10-05T10:00:30.000Z' },
      { at: '2026-10-05T10:00:59.999Z' },
      { at: '2026-10-05T10:01:00.000Z' },
      { at: '2026-10-05T10:02:15.249Z' },
      { at: '2026-10-05T10:02:15.250Z' },
    ]);
    const period = {
      period_start: '2026-10-05T10:00:30Z',
      period_end: '2026-10-05T10:02:15.250Z',
    };
    expect((await previewOf(api, id, period)).line_items[0].quantity).toBe('4');
    const inside = {
      period_start: '2026-10-05T10:00:30Z',
      period_end: '2026-10-05T10:00:31Z',
    };
    expect((await previewOf(api, id, inside)).line_items[0].quantity).toBe('1');
  });

  test('splits the line by source and by property, to the cent', async ({
    api,
    database,
    clickhouse,
  }) => {
    const at = '2026-10-02T00:00:00.000Z';
    const { id, meterId } = await withEvents(api, { database, clickhouse }, [
      { at, source: 'web', properties: { region: 'eu' } },
      { at, source: 'web', properties: { region: 'us' } },
      { at, source: 'app', properties: { region: 'eu' } },
      { at, source: 'app' },
    ]);
    const feature = await api.make('/v1/features', {
      name: 'Calls',
      type: 'metered',
      meter_id: meterId,
    });
    const bySource = await previewOf(api, id, { ...OCTOBER, group_by: ['source'] });
    expect(bySource.line_items[0].usage_analytics).toEqual([
      { source: 'app', usage: '2', cost: '0.50', percentage: '50', event_count: 2 },
      { source: 'web', usage: '2', cost: '0.50', percentage: '50', event_count: 2 },
    ]);
    const group_by = ['source', 'feature_id', 'properties.region'];
    const both = await previewOf(api, id, { ...OCTOBER, group_by });
    expect(both.line_items[0].usage_analytics).toEqual(bySource.line_items[0].usage_analytics);
    const regions = both.line_items[0].usage_breakdown.map(
      (row: { grouped_by: Record<string, string>; usage: string; cost: string }) => [
        row.grouped_by['properties.region'],
        row.grouped_by['feature_id'],
        row.usage,
        row.cost,
      ],
    );
    expect(regions).toEqual([
      ['eu', feature.id, '2', '0.50'],
      ['', feature.id, '1', '0.25'],
      ['us', feature.id, '1', '0.25'],
    ]);
    const byFeature = await previewOf(api, id, { ...OCTOBER, group_by: ['feature_id'] });
    expect(byFeature.line_items[0].usage_breakdown).toEqual([
      {
        usage: '4',
        cost: '1.00',
        percentage: '100',
        event_count: 4,
        grouped_by: { feature_id: feature.id },
      },
    ]);
  });

  test('narrows a price by filter_values and a meter by its filters', async ({
    api,
    database,
    clickhouse,
  }) => {
    const meter = await api.make('/v1/meters', {
      name: 'EU calls',
      event_name: 'call',
      aggregation: { type: 'COUNT' },
      filters: [{ key: 'region', values: ['eu'] }],
    });
    const plan = await api.make('/v1/plans', { name: 'Split' });
    const price = { entity_id: plan.id, currency: 'usd', meter_id: meter.id, amount: '1' };
    await api.make('/v1/prices/bulk', {
      items: [
        { ...price, display_name: 'fast', filter_values: { class: ['fast'] } },
        { ...price, display_name: 'slow', filter_values: { class: 'slow' } },
        {
          ...price,
          display_name: 'odd',
          filter_values: Object.fromEntries([['__proto__', 'odd']]),
        },
        { ...price, display_name: 'all' },
      ],
    });
    await api.make('/v1/customers', { external_id: 'acme' });
    const subscription = await api.make('/v1/subscriptions', {
      external_customer_id: 'acme',
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      ...START,
    });
    const countsOn = [await targetOf(api, database.database, meter.id)];
    const at = '2026-10-02T00:00:00.000Z';
    await storeEvents({ database, clickhouse }, api.environment, [
      { at, countsOn, properties: { region: 'eu', class: 'fast' } },
      { at, countsOn, properties: { region: 'eu', class: 'fast' } },
      { at, countsOn, properties: { region: 'eu', class: 'slow' } },
      { at, countsOn, properties: { region: 'eu' } },
      {
        at,
        countsOn,
        properties: Object.fromEntries([
          ['region', 'eu'],
          ['__proto__', 'odd'],
        ]),
      },
      { at, properties: { region: 'us', class: 'slow' } },
    ]);
    const invoice = await previewOf(api, subscription.id);
    const quantities = invoice.line_items.map(
      (line: { display_name: string; quantity: string }) => [line.display_name, line.quantity],
    );
    expect(quantities).toEqual([
      ['fast', '2'],
      ['slow', '1'],
      ['odd', '1'],
      ['all', '5'],
    ]);
    expect(invoice.total).toBe('9.00');
  });

  test('reads hundreds of narrowed prices, whatever the length of their filters', async ({
    api,
    database,
    clickhouse,
  }) => {
    const meter = await api.make('/v1/meters', {
      name: 'Calls',
      event_name: 'call',
      aggregation: { type: 'COUNT' },
      filters: [{ key: 'region', values: ['eu', ...[...Array(900).keys()].map((n) => `r${n}`)] }],
    });
    const plan = await api.make('/v1/plans', { name: 'Wide' });
    const priceOf = (index: number) => ({
      entity_id: plan.id,
      currency: 'usd',
      meter_id: meter.id,
      amount: '1',
      filter_values: { class: [`c${index}`, 'x'.repeat(2000)] },
    });
    for (const start of [0, 100, 200]) {
      const items = [...Array(100).keys()].map((index) => priceOf(start + index));
      await api.make('/v1/prices/bulk', { items });
    }
    await api.make('/v1/customers', { external_id: 'acme' });
    const { id } = await api.make('/v1/subscriptions', {
      external_customer_id: 'acme',
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      ...START,
    });
    const countsOn = [await targetOf(api, database.database, meter.id)];
    await storeEvents(
      { database, clickhouse },
      api.environment,
      [...Array(300).keys()].flatMap((index) =>
        [...Array((index % 3) + 1).keys()].map(() => ({
          at: '2026-10-02T00:00:00.000Z',
          countsOn,
          properties: { region: 'eu', class: `c${index}` },
        })),
      ),
    );
    const invoice = await previewOf(api, id);
    const quantities = invoice.line_items.map((line: { quantity: string }) => line.quantity);
    expect(quantities).toEqual([...Array(300).keys()].map((index) => String((index % 3) + 1)));
    expect(invoice.total).toBe('600.00');
  });

  test('shows nothing of a meter until it is applied to all stored events', async ({
    api,
    database,
    clickhouse,
  }) => {
    await finishPartition(database.database, { logId: 'log', partition: 0, nextOffset: 100 });
    const { id, countsOn, meterId } = await withEvents(api, { database, clickhouse }, []);
    await storeEvents({ database, clickhouse }, api.environment, [
      { at: '2026-10-02T00:00:00.000Z', offset: 100, countsOn },
    ]);
    const grouped = { ...OCTOBER, group_by: ['properties.x'] };
    expect((await api.call('GET', `/v1/meters/${meterId}`)).body.backfill.status).toBe('running');
    expect((await previewOf(api, id)).line_items[0].quantity).toBe('0');
    expect((await previewOf(api, id, grouped)).line_items[0].quantity).toBe('0');
    await completeBackfills(database.database);
    expect((await previewOf(api, id)).line_items[0].quantity).toBe('1');
    expect((await previewOf(api, id, grouped)).line_items[0].quantity).toBe('1');
  });

  test('charges a fixed price in advance and hides zero lines on request', async ({ api }) => {
    const { planId, customerId } = await makeSubscription(api);
    await api.make('/v1/prices', { entity_id: planId, currency: 'usd', amount: '10' });
    const { id } = await api.make('/v1/subscriptions', {
      customer_id: customerId,
      plan_id: planId,
      currency: 'usd',
      billing_period: 'MONTHLY',
      ...START,
    });
    const invoice = await previewOf(api, id);
    expect(invoice.line_items.map((line: { amount: string }) => line.amount)).toEqual([
      '0.00',
      '10.00',
    ]);
    const shown = await previewOf(api, id, { ...OCTOBER, hide_zero_charges_line_items: true });
    expect(shown.line_items).toHaveLength(1);
    expect(shown.line_items[0].period_start).toBe('2026-11-01T00:00:00.000Z');
  });

  test('takes the period that contains now by default', async ({ api, clock }) => {
    clock.set('2026-12-24T10:00:00Z');
    const { id } = await makeSubscription(api, START);
    const invoice = await previewOf(api, id, {});
    expect(invoice.period_start).toBe('2026-12-01T00:00:00.000Z');
    expect(invoice.period_end).toBe('2027-01-01T00:00:00.000Z');
  });

  test('refuses what breaks a rule, and answers 404 for an unknown subscription', async ({
    api,
    database,
  }) => {
    const { id } = await makeSubscription(api, START);
    const body = { subscription_id: id };
    await expectRefusals(api, '/v1/invoices/preview', [
      ['no subscription', {}, 'subscription_id'],
      [
        'an empty period',
        { ...body, period_start: OCTOBER.period_end, period_end: OCTOBER.period_end },
        'period_end',
      ],
      ['a date that is none', { ...body, period_start: '2026-02-29T00:00:00Z' }, 'period_start'],
      ['a date without offset', { ...body, period_start: '2026-02-01T00:00:00' }, 'period_start'],
      ['an unknown group', { ...body, group_by: ['colour'] }, 'group_by'],
      ['a group of no property', { ...body, group_by: ['properties.'] }, 'group_by'],
      [
        'a text for a flag',
        { ...body, hide_zero_charges_line_items: 'yes' },
        'hide_zero_charges_line_items',
      ],
    ]);
    const unknown = await api.call('POST', '/v1/invoices/preview', {
      body: { subscription_id: 'subs_x' },
    });
    expect(unknown.status).toBe(404);
    await ownerOf(database.database).query(sql.type(z.unknown())`
      UPDATE subscriptions SET subscription_status = 'cancelled'`);
    const cancelled = await api.call('POST', '/v1/invoices/preview', { body });
    expect([cancelled.status, cancelled.body.code]).toEqual([400, 'invalid_operation']);
  });
});

test('a preview counts the coupons and commitments of earlier invoices (14.4, 11.2)', async ({
  api,
  clock,
}) => {
  clock.set('2026-10-05T00:00:00Z');
  const plan = await api.make('/v1/plans', { name: 'Pro' });
  await api.make('/v1/prices', {
    entity_id: plan.id,
    currency: 'usd',
    amount: '100',
    invoice_cadence: 'ADVANCE',
  });
  await api.make('/v1/customers', { external_id: 'acme' });
  await api.make('/v1/coupons', {
    name: 'Once',
    coupon_code: 'ONCE',
    type: 'fixed',
    amount_off: '10',
    currency: 'usd',
    cadence: 'once',
  });
  const { id, latest_invoice: opening } = await api.make('/v1/subscriptions', {
    external_customer_id: 'acme',
    plan_id: plan.id,
    currency: 'usd',
    billing_period: 'MONTHLY',
    start_date: '2026-10-01T00:00:00Z',
    coupons: ['ONCE'],
  });
  expect(opening.total).toBe('90.00');
  const preview = await api.make('/v1/invoices/preview', { subscription_id: id });
  expect([preview.total_discount, preview.total, preview.warnings]).toEqual(['0.00', '100.00', []]);
  const later = await api.make('/v1/invoices/preview', {
    subscription_id: id,
    period_start: '2026-12-01T00:00:00Z',
    period_end: '2027-01-01T00:00:00Z',
  });
  expect(later.warnings).toEqual([
    'coupons and commitments count what was invoiced for the time before 2026-10-01T00:00:00.000Z; ' +
      'what is between this instant and the period of the preview is not invoiced yet',
  ]);
});

test('a coupon of a line item names the line that it is taken off, also in a preview', async ({
  api,
  clock,
}) => {
  clock.set('2026-10-05T00:00:00Z');
  const plan = await api.make('/v1/plans', { name: 'Pro' });
  const terms = { entity_id: plan.id, currency: 'usd', invoice_cadence: 'ADVANCE' };
  await api.make('/v1/prices', { ...terms, amount: '100' });
  const price = await api.make('/v1/prices', { ...terms, amount: '20' });
  await api.make('/v1/customers', { external_id: 'acme' });
  await api.make('/v1/coupons', {
    name: 'Half',
    coupon_code: 'HALF',
    type: 'percentage',
    percentage_off: '50',
    cadence: 'forever',
  });
  const { id, latest_invoice: opening } = await api.make('/v1/subscriptions', {
    external_customer_id: 'acme',
    plan_id: plan.id,
    currency: 'usd',
    billing_period: 'MONTHLY',
    start_date: '2026-10-01T00:00:00Z',
    line_item_coupons: { [price.id]: ['HALF'] },
  });
  const preview = await api.make('/v1/invoices/preview', { subscription_id: id });
  const { body: stored } = await api.call('GET', `/v1/invoices/${opening.id}`);
  for (const invoice of [preview, stored]) {
    const [coupon] = invoice.coupon_applications;
    const named = invoice.line_items.find(
      (line: { id: string }) => line.id === coupon.invoice_line_item_id,
    );
    expect([named.price_id, named.line_item_discount]).toEqual([price.id, '10.00']);
  }
});
