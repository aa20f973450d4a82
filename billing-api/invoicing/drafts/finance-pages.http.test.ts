import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { projectRoot } from '../../../runtime/project.js';
import type { Answer } from '../../testing/money-test.js';
import { advance, test } from '../../testing/peer-case.js';

/** The JSON blocks of a page for finance, in their order. */
function blocksOf(page: string): readonly Answer[] {
  const text = readFileSync(join(projectRoot, 'docs/finance', page), 'utf8');
  return [...text.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, json = '']) => JSON.parse(json));
}

/** January of the pages: 1,600 calls, 100 of them free, tiers, a coupon and a tax. */
describe('the invoice of the pages for finance', () => {
  test('is explained, noted and posted as the pages show', async ({ api, peer }) => {
    await api.make('/v1/taxes/rates', {
      name: 'VAT',
      code: 'vat',
      tax_rate_type: 'percentage',
      percentage_value: '20',
    });
    await api.make('/v1/coupons', {
      name: 'Welcome',
      coupon_code: 'WELCOME',
      cadence: 'forever',
      type: 'percentage',
      percentage_off: '10',
    });
    await peer.live('2025-01-01');
    const calls = await peer.meter('api_call');
    const tiers = [
      { up_to: 100, unit_amount: '0.10' },
      { up_to: 1000, unit_amount: '0.05', flat_amount: '2' },
      { up_to: null, unit_amount: '0.01' },
    ];
    const tiered = { billing_model: 'TIERED', tier_mode: 'SLAB', tiers, display_name: 'API calls' };
    const plan = await peer.plan(
      { meter_id: calls.id, currency: 'usd', ...tiered },
      advance('50', { invoice_cadence: 'ARREAR', display_name: 'Base fee' }),
    );
    const feature = await api.make('/v1/features', {
      name: 'API calls',
      type: 'metered',
      meter_id: calls.id,
    });
    await api.make('/v1/entitlements', {
      plan_id: plan.id,
      feature_id: feature.id,
      usage_limit: 100,
    });
    const subscription = await peer.subscribe(plan, {
      coupons: ['WELCOME'],
      tax_rate_overrides: [{ tax_rate_code: 'vat', currency: 'usd' }],
    });
    await calls.use('2025-01-10', '1600');
    await peer.live('2025-02-01T02:00:00Z');
    const [invoice] = await peer.find(subscription);
    const [line] = invoice.line_items.filter((one: Answer) => one.display_name === 'API calls');
    const path = `/v1/invoices/${invoice.id}`;
    const explained = await api.call('GET', `${path}/line_items/${line.id}/explain`);
    const note = await api.make('/v1/creditnotes', {
      invoice_id: invoice.id,
      reason: 'BILLING_ERROR',
      memo: 'Calls of a test on 10 January',
      line_items: [{ invoice_line_item_id: line.id, amount: '20.00' }],
    });
    const balances = await api.call('GET', '/v1/ledger/balances?currency=usd');
    const verified = await api.call('GET', `${path}/verify`);
    expect(invoice).toMatchObject({
      subtotal: '112.00',
      total_discount: '11.20',
      total_tax: '20.16',
      total: '120.96',
    });
    expect(explained.body).toMatchObject(blocksOf('how-an-amount-is-made.md')[0]);
    expect(note).toMatchObject(blocksOf('a-disputed-line.md')[0]);
    expect((await api.call('GET', path)).body).toMatchObject({ amount_due: '100.96' });
    expect(balances.body).toMatchObject(blocksOf('month-close.md')[0]);
    expect(verified.body).toMatchObject({ same_from_inputs: true, same_from_events: true });
    const limit = { invoice_line_item_id: line.id, amount: '46.97' };
    const tooMuch = { invoice_id: invoice.id, line_items: [limit] };
    expect(await api.call('POST', '/v1/creditnotes', { body: tooMuch })).toMatchObject({
      status: 400,
      body: { details: expect.anything() },
    });
    await api.make('/v1/creditnotes', { ...tooMuch, line_items: [{ ...limit, amount: '46.96' }] });
  });
});
