import { describe, expect } from 'vitest';
import { test } from '../../testing/billed-test.js';

describe('a subscription that still waits when its end comes (32.2)', () => {
  test('is cancelled by the billing job, and nothing is charged', async ({ api, bill }) => {
    await bill('2026-01-01T00:00:00Z');
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const price = { entity_id: plan.id, currency: 'usd' };
    await api.make('/v1/prices', { ...price, amount: '31', invoice_cadence: 'ARREAR' });
    await api.make('/v1/prices', { ...price, amount: '30', invoice_cadence: 'ADVANCE' });
    await api.make('/v1/customers', { external_id: 'acme' });
    const ends = { start_date: '2026-01-01T00:00:00Z', end_date: '2026-02-10T00:00:00Z' };
    const make = (members: object) =>
      api.make('/v1/subscriptions', {
        external_customer_id: 'acme',
        plan_id: plan.id,
        currency: 'usd',
        billing_period: 'MONTHLY',
        ...ends,
        ...members,
      });
    const draft = await make({ subscription_status: 'draft' });
    const unpaid = await make({ payment_behavior: 'allow_incomplete' });
    const read = async (id: string) => {
      const { body } = await api.call('GET', `/v1/subscriptions/${id}`);
      return [body.subscription_status, body.end_date, body.cancelled_at];
    };
    await bill('2026-02-09T23:59:59Z');
    expect((await read(draft.id))[0]).toBe('draft');
    expect((await read(unpaid.id))[0]).toBe('incomplete');
    await bill('2026-02-11T00:00:00Z');
    await bill('2026-02-11T00:00:00Z');
    for (const { id } of [draft, unpaid]) {
      expect(await read(id)).toEqual([
        'cancelled',
        '2026-02-10T00:00:00.000Z',
        '2026-02-11T00:00:00.000Z',
      ]);
    }
    const { items } = await api.make('/v1/invoices/search', {});
    // What it would have begun with is no claim any more.
    const told = items.map((one: Record<string, unknown>) => [
      one['billing_reason'],
      one['invoice_status'],
    ]);
    expect(told).toEqual([['SUBSCRIPTION_CREATE', 'VOIDED']]);
  });
});
