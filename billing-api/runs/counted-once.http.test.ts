import { describe, expect } from 'vitest';
import { test } from '../testing/hierarchy-test.js';

/** From three hours before the end of January in Berlin, 23:00 UTC, to five hours after it. */
const HOURS = Array.from({ length: 8 }, (_, hour) => Date.UTC(2026, 0, 31, 20 + hour));

describe('usage at the edge of a period', () => {
  test('is billed once when the customer moves to another time zone in mid-period', async ({
    api,
    bill,
    world,
  }) => {
    const path = `/v1/customers/${world.customers['north']?.id}`;
    const moved = async (timezone: string) =>
      (await api.call('PUT', path, { body: { timezone } })).status;
    expect(await moved('Europe/Berlin')).toBe(200);
    const { id } = await world.subscribe('north', { billing_cycle: 'calendar' });
    expect((await world.read(id)).customer_timezone).toBe('Europe/Berlin');
    for (const at of HOURS) await world.use('north', new Date(at).toISOString(), 1);
    await bill('2026-01-20T00:00:00Z');
    expect(await moved('Pacific/Kiritimati')).toBe(200);
    await bill('2026-02-10T00:00:00Z');
    expect(await moved('America/Los_Angeles')).toBe(200);
    await bill('2026-03-01T06:00:00Z');
    expect(
      await world.invoices({ subscription_id: id, billing_reason: 'SUBSCRIPTION_CYCLE' }),
    ).toEqual([
      '2026-01-01 2026-01-31 SUBSCRIPTION_CYCLE FINALIZED 106.00',
      '2026-01-31 2026-02-28 SUBSCRIPTION_CYCLE FINALIZED 110.00',
    ]);
  });

  test('that arrives late is on the last invoice after a cancellation, as long as that is a draft', async ({
    bill,
    world,
    api,
  }) => {
    const { id } = await world.subscribe('north');
    await world.use('north', '2026-01-10T00:00:00Z', 3);
    await bill('2026-01-12T00:00:00Z');
    const end = '2026-01-20T00:00:00.000Z';
    await api.call('POST', `/v1/subscriptions/${id}/cancel`, {
      body: { cancellation_type: 'scheduled_date', cancel_at: end },
    });
    await bill('2026-01-20T00:30:00Z');
    expect((await world.read(id)).subscription_status).toBe('cancelled');
    const last = { subscription_id: id, billing_reason: 'SUBSCRIPTION_CYCLE' };
    expect(await world.invoices(last)).toEqual([
      '2026-01-01 2026-01-20 SUBSCRIPTION_CYCLE DRAFT 6.00',
    ]);
    await world.use('north', '2026-01-19T23:59:59.999Z', 4);
    await world.use('north', end, 100);
    await bill('2026-01-20T03:00:00Z');
    await bill('2026-03-01T00:00:00Z');
    expect(await world.invoices(last)).toEqual([
      '2026-01-01 2026-01-20 SUBSCRIPTION_CYCLE FINALIZED 14.00',
    ]);
  });
});
