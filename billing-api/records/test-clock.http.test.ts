import { describe, expect } from 'vitest';
import { formatInstant } from '../../contract/instant.js';
import { makeSubscription, test } from '../testing/billing-test.js';
import { setTestClock } from '../testing/set-test-clock.js';

const SHOWN = '2031-05-10T12:00:00.000Z';
const LATER = '2031-06-20T00:00:00.000Z';

describe('an environment with a test clock', () => {
  test('stamps what it stores, and its audit trail, with what the clock shows', async ({
    api,
    database,
  }) => {
    await setTestClock(database.database, api.environment, Date.parse(SHOWN));
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    expect([plan.created_at, plan.updated_at]).toEqual([SHOWN, SHOWN]);
    await setTestClock(database.database, api.environment, Date.parse(LATER));
    const changed = await api.call('PUT', `/v1/plans/${plan.id}`, { body: { name: 'Pro 2' } });
    expect(changed.body).toMatchObject({ created_at: SHOWN, updated_at: LATER });
    const { items } = await api.make('/v1/audit/search', { entity_id: plan.id });
    expect(items.map((entry: { created_at: string }) => entry.created_at)).toEqual([LATER, SHOWN]);
  });

  test('starts a subscription then, and previews the period in which the clock stands', async ({
    api,
    database,
  }) => {
    const set = (text: string) =>
      setTestClock(database.database, api.environment, Date.parse(text));
    await set(SHOWN);
    const { id } = await makeSubscription(api);
    const { body } = await api.call('GET', `/v1/subscriptions/${id}`);
    expect(body).toMatchObject({ start_date: SHOWN, billing_anchor: SHOWN });
    const previewed = async () => {
      const preview = await api.make('/v1/invoices/preview', { subscription_id: id });
      return [preview.period_start, preview.period_end];
    };
    expect(await previewed()).toEqual([SHOWN, '2031-06-10T12:00:00.000Z']);
    await set(LATER);
    expect(await previewed()).toEqual(['2031-06-10T12:00:00.000Z', '2031-07-10T12:00:00.000Z']);
  });

  test('takes what a request leaves out of its range from the clock', async ({ api, database }) => {
    await setTestClock(database.database, api.environment, Date.parse(SHOWN));
    const monitoring = await api.call('GET', '/v1/events/monitoring');
    expect(monitoring.body.points.at(-1).timestamp).toBe('2031-05-10T11:00:00.000Z');
    const meter = await api.make('/v1/meters', {
      name: 'Calls',
      event_name: 'call',
      aggregation: { type: 'COUNT' },
    });
    const usage = { meter_id: meter.id, start_time: '2031-05-11T00:00:00Z' };
    const early = await api.call('POST', '/v1/events/usage/meter', { body: usage });
    expect([early.status, early.body.details]).toEqual([400, { end_time: expect.any(String) }]);
    await setTestClock(database.database, api.environment, Date.parse(LATER));
    const late = await api.call('POST', '/v1/events/usage/meter', { body: usage });
    expect(late.status).toBe(200);
  });

  test('shows prices and coupons that have begun by its clock', async ({ api, database }) => {
    await setTestClock(database.database, api.environment, Date.parse(SHOWN));
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const price = await api.make('/v1/prices', {
      entity_id: plan.id,
      currency: 'usd',
      amount: '10',
    });
    const ended = await api.call('DELETE', `/v1/prices/${price.id}`);
    expect(ended.status).toBeLessThan(300);
    const shown = async () => (await api.call('GET', `/v1/plans/${plan.id}`)).body.prices.length;
    expect(await shown()).toBe(0);
    // Back to before its end.
    await setTestClock(database.database, api.environment, Date.parse(SHOWN) - 1);
    expect(await shown()).toBe(1);
    expect(formatInstant(Date.parse(SHOWN))).toBe(SHOWN);
  });
});
