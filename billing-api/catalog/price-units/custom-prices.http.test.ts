import { describe, expect } from 'vitest';
import { expectRefusals, test } from '../../testing/billing-test.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { makePricedPlan } from '../../testing/priced-plan.js';

const TOKENS = {
  name: 'Tokens',
  code: 'TOK',
  symbol: 'T',
  base_currency: 'usd',
  conversion_rate: '0.01',
};
const custom = (config: object) => ({
  price_unit_type: 'CUSTOM',
  price_unit_config: { price_unit: 'TOK', ...config },
});

async function makeUnit(api: BillingUnderTest, members: object = {}) {
  const unit = await api.make('/v1/prices/units', { ...TOKENS, ...members });
  const plan = await api.make('/v1/plans', { name: 'Pro' });
  return { unit, owned: { plan_id: plan.id as string, currency: 'usd' } };
}

const searchOf = async (api: BillingUnderTest, body: object) =>
  (await api.make('/v1/prices/search', body)).items;

describe('a price in a price unit', () => {
  test('has its figures in units as given, and in money at the rate of the unit', async ({
    api,
  }) => {
    const { unit, owned } = await makeUnit(api);
    const price = await api.make('/v1/prices', { ...owned, ...custom({ amount: '309.50' }) });
    const shown = { price_unit_amount: '309.5', display_price_unit_amount: 'T309.5' };
    expect(price).toMatchObject({
      price_unit_type: 'CUSTOM',
      price_unit: 'TOK',
      price_unit_id: unit.id,
      ...shown,
      amount: '3.095',
      display_amount: '$3.095',
      conversion_rate: '0.01',
      pricing_unit: unit,
    });
    const tiers = [
      { up_to: 10, unit_amount: '7', flat_amount: '100' },
      { up_to: null, unit_amount: '0.5' },
    ];
    const tiered = await api.make('/v1/prices', {
      ...owned,
      ...custom({ price_unit_tiers: tiers }),
    });
    expect(tiered).toMatchObject({
      billing_model: 'TIERED',
      amount: null,
      display_price_unit_amount: null,
      tiers: [
        { up_to: 10, unit_amount: '0.07', flat_amount: '1' },
        { up_to: null, unit_amount: '0.005', flat_amount: null },
      ],
      price_unit_tiers: [
        { up_to: 10, unit_amount: '7', flat_amount: '100' },
        { up_to: null, unit_amount: '0.5', flat_amount: null },
      ],
    });
    expect(await searchOf(api, { price_ids: [price.id], expand: 'pricing_unit' })).toMatchObject([
      { ...shown, pricing_unit: unit },
    ]);
    // The symbol is that of the unit, whose code and rate never change.
    await api.call('PUT', `/v1/prices/units/${unit.id}`, { body: { symbol: '◎' } });
    const read = (await api.call('GET', `/v1/plans/${owned.plan_id}`)).body.prices[0];
    expect(read).toMatchObject({ ...shown, display_price_unit_amount: '◎309.5' });
    const clone = await api.make(`/v1/plans/${owned.plan_id}/clone`, {});
    expect(clone.prices).toMatchObject([{ ...shown, display_price_unit_amount: '◎309.5' }, {}]);
  });

  test('is billed in money, and shown in units on previews and usage', async ({
    api,
    clock,
    database,
    clickhouse,
  }) => {
    clock.set('2026-10-10T00:00:00Z');
    await makeUnit(api);
    const options = { meter: { type: 'COUNT' }, price: custom({ amount: '103' }) } as const;
    const plan = await makePricedPlan(api, { database, clickhouse }, options);
    await plan.count([1, 2, 3].map((day) => ({ at: `2026-10-0${day}T08:00:00Z` })));
    const id = await plan.subscribe();
    // 3 × 103 tokens × 0.01 usd (docs/domain.md 8.6).
    const preview = await api.make('/v1/invoices/preview', { subscription_id: id });
    expect([preview.total, preview.line_items]).toMatchObject([
      '3.09',
      [{ amount: '3.09', price_unit: 'TOK', price_unit_amount: '309' }],
    ]);
    const usage = await api.make('/v1/subscriptions/usage', { subscription_id: id });
    expect(usage).toMatchObject({
      amount: '3.09',
      charges: [{ amount: '3.09', price: { display_price_unit_amount: 'T103', amount: '1.03' } }],
    });
    const { line_items: lines } = (await api.call('GET', `/v1/subscriptions/${id}`)).body;
    expect(lines).toMatchObject([{ price_unit: 'TOK', price: { price_unit_amount: '103' } }]);
  });

  test('comes with a subscription too, in its lines and in place of what the plan says', async ({
    api,
    clock,
  }) => {
    clock.set('2026-10-10T00:00:00Z');
    const { owned } = await makeUnit(api);
    const fee = await api.make('/v1/prices', { ...owned, ...custom({ amount: '1000' }) });
    const { id: customer } = await api.make('/v1/customers', { external_id: 'acme' });
    const terms = { customer_id: customer, ...owned, billing_period: 'MONTHLY' };
    const subscription = await api.make('/v1/subscriptions', {
      ...terms,
      override_line_items: [{ price_id: fee.id, price_unit_amount: '250' }],
      line_items: [{ price: { currency: 'usd', ...custom({ amount: '30' }) } }],
    });
    expect(subscription.line_items).toMatchObject([
      { price: { amount: '2.5', price_unit_amount: '250', parent_price_id: fee.id } },
      { price: { amount: '0.3', price_unit_amount: '30', display_price_unit_amount: 'T30' } },
    ]);
    const { id } = subscription;
    expect((await api.call('GET', `/v1/subscriptions/${id}`)).body).toEqual(subscription);
    const preview = await api.make('/v1/invoices/preview', { subscription_id: id });
    expect(preview).toMatchObject({ total: '2.80' });
    const override = { price_id: fee.id, amount: '1' };
    await expectRefusals(api, '/v1/subscriptions', [
      ['money', { ...terms, override_line_items: [override] }, 'override_line_items.0.amount'],
      [
        'an unknown unit',
        { ...terms, line_items: [{ price: { currency: 'usd', ...custom({ price_unit: 'CU' }) } }] },
        'line_items.0.price.price_unit_config.price_unit',
      ],
    ]);
  });

  test('is replaced by one in the same unit, at the rate that it has', async ({ api }) => {
    const { unit, owned } = await makeUnit(api);
    const price = await api.make('/v1/prices', { ...owned, ...custom({ amount: '100' }) });
    const put = (body: object) => api.call('PUT', `/v1/prices/${price.id}`, { body });
    for (const [body, member] of [
      [{ amount: '1' }, 'amount'],
      [{ price_unit_config: { price_unit: 'CU', amount: '1' } }, 'price_unit_config.price_unit'],
      [{ price_unit_config: { price_unit: 'TOK', amount: '-1' } }, 'price_unit_config.amount'],
    ] as const) {
      const refused = await put(body);
      expect([refused.status, Object.keys(refused.body.details)]).toEqual([400, [member]]);
    }
    const { body: next } = await put({ price_unit_config: { price_unit: 'TOK', amount: '150' } });
    expect(next).toMatchObject({
      amount: '1.5',
      price_unit_amount: '150',
      conversion_rate: '0.01',
      price_unit_id: unit.id,
      parent_price_id: price.id,
    });
  });

  test('is refused when it breaks a rule, naming the member', async ({ api }) => {
    const { owned, unit } = await makeUnit(api);
    const gone = await api.make('/v1/prices/units', { ...TOKENS, code: 'OLD' });
    await api.call('DELETE', `/v1/prices/units/${gone.id}`);
    const unitOf = (code: string) => custom({ price_unit: code, amount: '1' });
    const CODE = 'price_unit_config.price_unit';
    await expectRefusals(api, '/v1/prices', [
      ['a unit that is unknown', { ...owned, ...unitOf('CU') }, CODE],
      ['a unit that is archived', { ...owned, ...unitOf('OLD') }, CODE],
      ['an id for a code', { ...owned, ...unitOf(unit.id) }, CODE],
      ['another currency', { ...owned, currency: 'eur', ...unitOf('TOK') }, CODE],
      ['no unit', { ...owned, price_unit_type: 'CUSTOM' }, 'price_unit_config'],
      ['no figures', { ...owned, ...custom({}) }, 'price_unit_config.amount'],
      ['money beside it', { ...owned, ...unitOf('TOK'), amount: '1' }, 'amount'],
      [
        'a unit of a price in money',
        { ...owned, ...unitOf('TOK'), price_unit_type: 'FIAT' },
        'price_unit_config',
      ],
    ]);
    expect(await searchOf(api, {})).toEqual([]);
  });

  test('keeps its unit from being archived, also when it has ended and when both come at once', async ({
    api,
  }) => {
    const { unit, owned } = await makeUnit(api);
    const { id } = await api.make('/v1/prices', { ...owned, ...custom({ amount: '1' }) });
    await api.call('DELETE', `/v1/prices/${id}`);
    const refused = await api.call('DELETE', `/v1/prices/units/${unit.id}`);
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_operation']);
    for (let round = 0; round < 8; round += 1) {
      const code = `R${round}`;
      const { id: raced } = await api.make('/v1/prices/units', { ...TOKENS, code });
      const body = { ...owned, ...custom({ price_unit: code, amount: '1' }) };
      const [removed, priced] = await Promise.all([
        api.call('DELETE', `/v1/prices/units/${raced}`),
        api.call('POST', '/v1/prices', { body }),
      ]);
      expect([
        [200, 400],
        [400, 201],
      ]).toContainEqual([removed.status, priced.status]);
      const { status } = (await api.call('GET', `/v1/prices/units/${raced}`)).body;
      expect(status).toBe(priced.status === 201 ? 'published' : 'archived');
    }
  });
});
