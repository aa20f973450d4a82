import { describe, expect } from 'vitest';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { expectBalancedBooks } from '../../testing/check-books.js';
import { test } from '../../testing/billed-test.js';
import type { Answer } from '../../testing/money-test.js';
import { subscribeMonthly } from '../../testing/subscribe-monthly.js';

const activate = (api: BillingUnderTest, id: string, start: string) =>
  api.call('POST', `/v1/subscriptions/${id}/activate`, { body: { start_date: start } });

async function invoicesOf(api: BillingUnderTest, id: string) {
  const sort = [{ field: 'billing_sequence', direction: 'asc' }];
  const { items } = await api.make('/v1/invoices/search', { subscription_id: id, sort });
  return items.map((one: Answer) => [one.billing_reason, one.period_start, one.total]);
}

describe('a draft of a subscription', () => {
  test('is not billed before it is activated, and then as if it had been made that day', async ({
    api,
    bill,
  }) => {
    const made = await subscribeMonthly(api, { subscription_status: 'draft' });
    const { id } = made.subscription;
    expect(made.subscription).toMatchObject({ subscription_status: 'draft', latest_invoice: null });
    await bill('2026-12-05T00:00:00.000Z');
    expect(await invoicesOf(api, id)).toEqual([]);
    const start = '2026-12-10T00:00:00.000Z';
    const { status, body } = await activate(api, id, start);
    expect([status, body.subscription_status, body.start_date]).toEqual([200, 'active', start]);
    expect(body).toMatchObject({
      billing_anchor: start,
      current_period_start: start,
      current_period_end: '2027-01-10T00:00:00.000Z',
      latest_invoice: { invoice_status: 'FINALIZED', total: '30.00' },
    });
    expect(body.line_items.map((line: Answer) => line.start_date)).toEqual([start, start]);
    await bill('2027-01-10T02:00:00.000Z');
    expect(await invoicesOf(api, id)).toEqual([
      ['SUBSCRIPTION_CREATE', start, '30.00'],
      ['SUBSCRIPTION_CYCLE', start, '130.00'],
    ]);
    const events = await api.call('GET', '/v1/webhooks/events?limit=1000');
    const names = events.body.items
      .filter((event: Answer) => event.entity_id === id)
      .map((event: Answer) => event.event_name);
    expect(names).toEqual(
      expect.arrayContaining(['subscription.draft.created', 'subscription.activated']),
    );
    expect(names).not.toContain('subscription.created');
    await expectBalancedBooks(api);
  });

  test('gives the credits of its grants from its start on', async ({ api, bill }) => {
    const grant = { name: 'Start', credits: '10', cadence: 'ONETIME' };
    const made = await subscribeMonthly(api, {
      subscription_status: 'draft',
      credit_grants: [grant],
    });
    await bill('2026-12-05T00:00:00.000Z');
    const walletsOf = async () =>
      (await api.make('/v1/wallets/search', { external_customer_id: 'acme' })).items;
    expect(await walletsOf()).toEqual([]);
    await activate(api, made.subscription.id, '2026-12-10T00:00:00.000Z');
    await bill('2026-12-10T00:00:00.000Z');
    expect(await walletsOf()).toMatchObject([{ credit_balance: '10' }]);
  });

  test('is activated once, and nothing else is', async ({ api }) => {
    const made = await subscribeMonthly(api, { subscription_status: 'draft' });
    const { id } = made.subscription;
    const start = '2026-12-10T00:00:00.000Z';
    const answers = await Promise.all([1, 2, 3].map(() => activate(api, id, start)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    const late = answers.find(({ status }) => status === 400);
    expect(late?.body.message).toMatch(/the subscription is active/);
    expect(await invoicesOf(api, id)).toHaveLength(1);
    expect((await activate(api, id, 'soon')).body.message).toMatch(/start_date/);
    expect((await activate(api, 'subs_x', start)).status).toBe(404);
  });

  test('can be cancelled, without an invoice', async ({ api }) => {
    const made = await subscribeMonthly(api, { subscription_status: 'draft' });
    const path = `/v1/subscriptions/${made.subscription.id}`;
    const deferred = { cancellation_type: 'end_of_period' };
    expect((await api.call('POST', `${path}/cancel`, { body: deferred })).status).toBe(400);
    const { body } = await api.call('POST', `${path}/cancel`, { body: {} });
    expect(body).toMatchObject({ status: 'cancelled', proration_invoice: null });
  });
});
