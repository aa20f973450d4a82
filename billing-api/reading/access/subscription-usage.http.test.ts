import { describe, expect } from 'vitest';
import { expectRefusals, test } from '../../testing/billing-test.js';
import { makePricedPlan, numbersAt } from '../../testing/priced-plan.js';

const USAGE = '/v1/subscriptions/usage';
const OCTOBER = { start_time: '2026-10-01T00:00:00Z', end_time: '2026-11-01T00:00:00Z' };

describe('POST /subscriptions/usage', () => {
  test('prices usage as an invoice does, and leaves everything else out', async ({
    api,
    database,
    clickhouse,
    clock,
  }) => {
    clock.set('2026-10-20T00:00:00Z');
    const pricing = { meter: { type: 'SUM', field: 'n' } as const, price: { amount: '0.30' } };
    const plan = await makePricedPlan(api, { database, clickhouse }, pricing);
    await api.make('/v1/prices', { entity_id: plan.planId, currency: 'usd', amount: '99' });
    await plan.count(numbersAt(['05T10:00:00.000', '50'], ['06T10:00:00.000', '20']));
    const id = await plan.subscribe();
    const usage = await api.make(USAGE, { subscription_id: id });
    expect(usage).toMatchObject({
      amount: '21.00',
      currency: 'usd',
      start_time: '2026-10-01T00:00:00.000Z',
      end_time: '2026-11-01T00:00:00.000Z',
      commitment_amount: null,
      overage_factor: null,
      commitment_utilized: null,
      overage_amount: '0.00',
      has_overage: false,
    });
    expect(usage.charges).toHaveLength(1);
    expect(usage.charges[0]).toMatchObject({
      amount: '21.00',
      quantity: '70',
      meter_id: plan.meterId,
      meter_display_name: 'Calls',
      is_overage: false,
      overage_factor: null,
    });
    expect(usage.charges[0].price.id).toBe(plan.priceId);
    const day = { start_time: '2026-10-05T00:00:00Z', end_time: '2026-10-06T00:00:00Z' };
    expect((await api.make(USAGE, { subscription_id: id, ...day })).amount).toBe('15.00');
  });

  test('tells what a commitment covers and what goes beyond', async ({
    api,
    database,
    clickhouse,
  }) => {
    const pricing = { meter: { type: 'SUM', field: 'n' } as const, price: { amount: '0.30' } };
    const plan = await makePricedPlan(api, { database, clickhouse }, pricing);
    await plan.count(numbersAt(['05T10:00:00.000', '500']));
    const commitment = { commitment_amount: '100', overage_factor: '1.5', enable_true_up: true };
    const beyond = await plan.subscribe(commitment);
    const usage = await api.make(USAGE, { subscription_id: beyond, ...OCTOBER });
    expect(usage).toMatchObject({
      amount: '175.00',
      commitment_amount: '100.00',
      overage_factor: '1.5',
      commitment_utilized: '100.00',
      overage_amount: '75.00',
      has_overage: true,
    });
    expect(usage.charges.map((one: { is_overage: boolean }) => one.is_overage)).toEqual([
      false,
      true,
    ]);
    expect(usage.charges[1].overage_factor).toBe('1.5');
    const within = await plan.subscribe({ ...commitment, commitment_amount: '200' });
    expect(await api.make(USAGE, { subscription_id: within, ...OCTOBER })).toMatchObject({
      amount: '150.00',
      commitment_utilized: '150.00',
      overage_amount: '0.00',
      has_overage: false,
    });
  });

  test('refuses what breaks a rule, and answers 404 for what is unknown', async ({
    api,
    database,
    clickhouse,
  }) => {
    const pricing = { meter: { type: 'COUNT' } as const, price: { amount: '1' } };
    const plan = await makePricedPlan(api, { database, clickhouse }, pricing);
    const id = await plan.subscribe();
    const { start_time: start } = OCTOBER;
    await expectRefusals(api, USAGE, [
      ['no subscription', {}, 'subscription_id'],
      ['nothing', { subscription_id: id, start_time: start, end_time: start }, 'end_time'],
      ['no date', { subscription_id: id, start_time: 'today' }, 'start_time'],
      ['an unknown member', { subscription_id: id, colour: 1 }, 'colour'],
    ]);
    const unknown = await api.call('POST', USAGE, { body: { subscription_id: 'subs_x' } });
    expect(unknown.status).toBe(404);
  });
});
