import { extractText } from 'unpdf';
import { describe, expect } from 'vitest';
import { test } from '../../testing/billed-test.js';
import { makeSubscription } from '../../testing/billing-test.js';
import { invoiceRows } from './invoice-rows.js';

const OCTOBER = { billing_cycle: 'calendar', start_date: '2026-10-01T00:00:00.000Z' };

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Answer = any;

describe('GET /invoices/{id}/pdf and lines.csv', () => {
  test.for([
    ['usd', '12.50'],
    ['jpy', '1200'],
    ['kwd', '3.125'],
  ])('show what the invoice says, in %s', async ([currency, amount], { api }) => {
    const { body: customer } = await api.call('POST', '/v1/customers', {
      body: { external_id: `of ${currency}`, name: 'Ελληνική =1+1', timezone: 'Asia/Tokyo' },
    });
    const { body: invoice } = await api.call('POST', '/v1/invoices', {
      body: {
        customer_id: customer.id,
        currency,
        subtotal: amount,
        total: amount,
        amount_due: amount,
        line_items: [{ display_name: '=cmd', amount }],
      },
    });
    const path = `/v1/invoices/${invoice.id}`;
    const { text: pages, bytes, type } = await pdfOf(api, path);
    const text = pages.join('\n');
    expect(type).toBe('application/pdf');
    for (const part of [invoice.invoice_number, customer.name, amount, 'Asia/Tokyo'])
      expect(text).toContain(part);
    expect(text).not.toContain('DRAFT');
    expect((await pdfOf(api, path)).bytes).toEqual(bytes);
    const link = await api.call('GET', `${path}/pdf?url=true`);
    expect([link.status, Object.keys(link.body.details)]).toEqual([400, ['url']]);
    const { body: csv } = await api.call('GET', `${path}/lines.csv`);
    expect(csv.split('\r\n')[1]).toContain(`,'=cmd,`);
    expect(csv).toContain(`,${amount},`);
  });

  test('say of a draft and of a voided invoice that nothing is to be paid (PDF-4)', async ({
    api,
    bill,
  }) => {
    const { id } = await makeSubscription(api, OCTOBER);
    await bill('2026-11-01T00:30:00.000Z');
    const { body } = await api.call('POST', '/v1/invoices/search', {
      body: { subscription_id: id, invoice_status: ['DRAFT'] },
    });
    const path = `/v1/invoices/${body.items[0].id}`;
    expect((await pdfOf(api, path)).text.join('\n')).toContain('DRAFT: not an invoice yet');
    await api.call('POST', `${path}/void`, { body: {} });
    expect((await pdfOf(api, path)).text.join('\n')).toContain('VOIDED: nothing is to be paid');
  });

  test('say of a fee in advance which month it is for', async ({ api, bill }) => {
    const made = await makeSubscription(api, OCTOBER);
    await api.make('/v1/prices', {
      entity_id: made.planId,
      currency: 'usd',
      amount: '20',
      invoice_cadence: 'ADVANCE',
      display_name: 'Base fee',
    });
    const { id } = await api.make('/v1/subscriptions', {
      customer_id: made.customerId,
      plan_id: made.planId,
      currency: 'usd',
      billing_period: 'MONTHLY',
      ...OCTOBER,
    });
    await bill('2026-11-01T00:30:00.000Z');
    const { items } = await api.make('/v1/invoices/search', {
      subscription_id: id,
      invoice_status: ['DRAFT'],
    });
    const text = (await pdfOf(api, `/v1/invoices/${items[0].id}`)).text.join('\n');
    expect(text).toContain('2026-10-01 to 2026-11-01');
    expect(text).toMatch(/Base fee[^]*2026-11-01 to 2026-12-01/);
    expect(text.match(/ to 2026-/g)).toHaveLength(2);
    // The unit price of the fee, as a preview has it.
    const path = `/v1/invoices/${items[0].id}`;
    const { body: explained } = await api.call('GET', `${path}?explain=true`);
    const fee = invoiceRows(explained).find(({ name }) => name === 'Base fee');
    expect(fee).toMatchObject({ kind: 'line', quantity: '1', unit: '20', amount: '20.00' });
    const plain = await api.call('GET', path);
    expect(plain.body.line_items[0].explanation).toBeUndefined();
    expect(text).toContain('Base fee 1 20 20.00');
    const csv = (await api.call('GET', `${path}/lines.csv`)).body.split('\r\n');
    expect(csv[0]).toMatch(/,unit_amount$/);
    expect(csv.filter((row: string) => row.includes(',Base fee,'))).toEqual([
      expect.stringMatching(/,1,20\.00,.*,usd,20$/),
    ]);
  });

  test('show every line, also one without units, and the lines add up to the total (PDF-1)', async ({
    api,
    bill,
  }) => {
    await bill('2026-10-01T00:00:00.000Z');
    await api.make('/v1/taxes/rates', { name: 'VAT', code: 'vat', percentage_value: '20' });
    await api.make('/v1/taxes/associations', {
      tax_rate_code: 'vat',
      entity_type: 'tenant',
      auto_apply: true,
    });
    await api.make('/v1/coupons', {
      name: 'Ten',
      coupon_code: 'TEN',
      type: 'percentage',
      percentage_off: '10',
      cadence: 'forever',
    });
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const meter = await api.make('/v1/meters', {
      name: 'Calls',
      event_name: 'call',
      aggregation: { type: 'COUNT' },
    });
    const price = { entity_id: plan.id, currency: 'usd' };
    const fee = { ...price, invoice_cadence: 'ARREAR' };
    await api.make('/v1/prices', { ...price, amount: '0.25', meter_id: meter.id });
    await api.make('/v1/prices', { ...fee, amount: '33.335', display_name: 'Base fee' });
    await api.make('/v1/prices', { ...fee, amount: '0', display_name: 'Free support' });
    await api.make('/v1/prices', {
      ...fee,
      display_name: 'Seats',
      tier_mode: 'SLAB',
      tiers: [{ unit_amount: '7', flat_amount: '2', up_to: 10 }, { unit_amount: '5' }],
    });
    await api.make('/v1/customers', { external_id: 'acme', name: 'Acme' });
    await api.make('/v1/subscriptions', {
      external_customer_id: 'acme',
      plan_id: plan.id,
      currency: 'usd',
      coupons: ['TEN'],
      billing_period: 'MONTHLY',
      start_date: '2026-10-01T00:00:00.000Z',
    });
    await bill('2026-11-01T02:00:00.000Z');
    const [found] = (await api.make('/v1/invoices/search', {})).items;
    const { body: invoice } = await api.call('GET', `/v1/invoices/${found.id}`);
    // 33.34 + 0.00 + 9.00 and no calls; less 4.23; 20 % of 38.11.
    expect([invoice.subtotal, invoice.total_discount, invoice.total_tax, invoice.total]).toEqual([
      '42.34',
      '4.23',
      '7.62',
      '45.73',
    ]);
    const text = (await pdfOf(api, `/v1/invoices/${found.id}`)).text.join('\n');
    for (const name of ['Base fee', 'Free support', 'Seats', 'tier 1', 'Ten (TEN), 10', 'VAT, 20'])
      expect(text).toContain(name);
    // A row of the text of a page ends with its amount.
    const amountOf = (name: string): number => {
      const figure = new RegExp(`^${name}.* (-?\\d+\\.\\d\\d)$`, 'm').exec(text)?.[1];
      return Number((figure ?? 'none').replace('.', ''));
    };
    const lines = ['Base fee', 'Free support', 'Seats'].map(amountOf);
    expect(lines).toEqual([3334, 0, 900]);
    const calls = invoice.line_items.find((line: Answer) => line.meter_id !== null);
    expect([calls.quantity, calls.amount, text.includes(calls.display_name)]).toEqual([
      '0',
      '0.00',
      true,
    ]);
    expect(lines.reduce((sum, cent) => sum + cent, 0)).toBe(amountOf('Subtotal'));
    expect(amountOf('Subtotal') + amountOf('Discounts') + amountOf('Taxes')).toBe(4573);
    expect(text).toContain('45.73');
  });

  test('show a credit note with its lines and its total', async ({ api }) => {
    const customer = await api.make('/v1/customers', { external_id: 'a', name: 'Acme' });
    const invoice = await api.make('/v1/invoices', {
      customer_id: customer.id,
      currency: 'usd',
      subtotal: '10',
      total: '10',
      amount_due: '10',
      line_items: [{ display_name: 'Work', amount: '10' }],
    });
    const note = await api.make('/v1/creditnotes', {
      invoice_id: invoice.id,
      process_credit_note: false,
      memo: 'Sorry',
      line_items: [{ invoice_line_item_id: invoice.line_items[0].id, amount: '2.5' }],
    });
    const path = `/v1/creditnotes/${note.id}`;
    const draft = (await pdfOf(api, path)).text.join('\n');
    for (const part of [note.credit_note_number, 'Work', '2.50', 'Sorry', 'Acme', 'DRAFT:'])
      expect(draft).toContain(part);
    await api.call('POST', `${path}/finalize`);
    expect((await pdfOf(api, path)).text.join('\n')).not.toContain('DRAFT:');
  });

  test('know no invoice of another environment', async ({ api }) => {
    for (const file of ['pdf', 'lines.csv']) {
      const { status } = await api.call('GET', `/v1/invoices/inv_unknown/${file}`);
      expect(status).toBe(404);
    }
  });
});

async function pdfOf(api: Answer, path: string) {
  const { body, headers } = await api.call('GET', `${path}/pdf`);
  const bytes = Buffer.from(body, 'latin1');
  const { text } = await extractText(new Uint8Array(bytes), { mergePages: false });
  return { bytes, text, type: headers.get('content-type') };
}
