import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { test } from '../testing/billed-test.js';

const shownRow = z.object({
  number: z.string().nullable(),
  reason: z.string(),
  status: z.string(),
  start: z.string(),
  total: z.string(),
});

describe('the run of the billing jobs', () => {
  test('bills each ended period once, and finalizes each draft after its delay', async ({
    api,
    bill,
    database,
  }) => {
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const price = { entity_id: plan.id, currency: 'usd' };
    await api.make('/v1/prices', { ...price, amount: '100', invoice_cadence: 'ARREAR' });
    await api.make('/v1/prices', { ...price, amount: '30', invoice_cadence: 'ADVANCE' });
    await api.make('/v1/customers', { external_id: 'acme' });
    const subscription = await api.make('/v1/subscriptions', {
      external_customer_id: 'acme',
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: '2026-10-01T00:00:00.000Z',
    });
    const opening = (await api.call('GET', `/v1/invoices/${subscription.latest_invoice.id}`)).body;
    expect(opening).toMatchObject({
      invoice_status: 'FINALIZED',
      payment_status: 'PENDING',
      billing_reason: 'SUBSCRIPTION_CREATE',
      total: '30.00',
      due_date: '2026-10-02T00:00:00.000Z',
    });
    const invoices = async () =>
      ownerOf(database.database).any(sql.type(shownRow)`
        SELECT invoice_number AS number, billing_reason AS reason, invoice_status AS status,
          period_start::date::text AS start, total::text FROM invoices ORDER BY billing_sequence`);
    const first = { number: opening.invoice_number, reason: 'SUBSCRIPTION_CREATE' };
    const cycle = { reason: 'SUBSCRIPTION_CYCLE', total: '130' };
    await bill('2026-12-01T01:59:59.999Z');
    expect(await invoices()).toEqual([
      { ...first, status: 'FINALIZED', start: '2026-10-01', total: '30' },
      { ...cycle, number: 'INV-202612-00001', status: 'FINALIZED', start: '2026-10-01' },
      { ...cycle, number: null, status: 'DRAFT', start: '2026-11-01' },
    ]);
    await bill('2026-12-01T02:00:00.000Z');
    await bill('2026-12-01T02:00:00.000Z');
    expect((await invoices()).slice(2)).toEqual([
      { ...cycle, number: 'INV-202612-00002', status: 'FINALIZED', start: '2026-11-01' },
    ]);
  });
});
