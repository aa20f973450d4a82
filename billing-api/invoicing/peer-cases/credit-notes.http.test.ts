import { describe, expect } from 'vitest';
import {
  bodyOfNote,
  giveInvoice,
  makeCustomer,
  makeTax,
  noteOn,
} from '../../testing/given-invoice.js';
import { test, type Answer } from '../../testing/money-test.js';
import { advance, test as peerTest } from '../../testing/peer-case.js';
import { payOpen } from '../../testing/pay-open.js';

/**
 * Worked cases of other billing systems about credit notes, by the ids under which they were
 * collected. Amounts of notes have their tax in them (docs/domain.md 19.2). Where ours differ,
 * docs/domain.md 34.27 and 34.32 say which and why.
 */

/** Amounts by the places of their lines, and the total of the note, or why it is refused. */
type Step = readonly [amounts: Readonly<Record<number, string>>, answer: string | RegExp];
type Noted = {
  readonly currency?: string;
  readonly lines: readonly string[];
  readonly percentOff?: string;
  readonly amountOff?: string;
  readonly tax: string;
  readonly totals: readonly [tax: string, total: string];
  readonly steps: readonly Step[];
};

const CASES: Readonly<Record<string, Noted>> = {
  'LG-05: of two equal lines the last note takes the missing cent': {
    lines: ['68.33', '68.33'],
    tax: '20',
    totals: ['27.33', '163.99'],
    steps: [
      [{ 0: '82.01' }, /at most 82/],
      [{ 0: '82.00' }, '82.00'],
      [{ 1: '82.00' }, /at most 81.99/],
      [{ 1: '81.99' }, '81.99'],
    ],
  },
  'LG-05: the same with the second line first': {
    lines: ['68.33', '68.33'],
    tax: '20',
    totals: ['27.33', '163.99'],
    steps: [
      [{ 1: '82.00' }, '82.00'],
      [{ 0: '82.00' }, /at most 81.99/],
      [{ 0: '81.99' }, '81.99'],
    ],
  },
  'LG-05: the same in one note': {
    lines: ['68.33', '68.33'],
    tax: '20',
    totals: ['27.33', '163.99'],
    steps: [
      [{ 0: '82.00', 1: '82.00' }, /at most 81.99/],
      [{ 0: '82.00', 1: '81.99' }, '163.99'],
    ],
  },
  'LG-05: the same in yen': {
    currency: 'jpy',
    lines: ['6833', '6833'],
    tax: '20',
    totals: ['2733', '16399'],
    steps: [
      [{ 0: '8200' }, '8200'],
      [{ 1: '8200' }, /at most 8199/],
      [{ 1: '8199' }, '8199'],
    ],
  },
  'LG-05: three lines with three digits': {
    currency: 'kwd',
    lines: ['10.333', '10.333', '10.333'],
    tax: '5',
    totals: ['1.550', '32.549'],
    steps: [
      [{ 2: '10.850' }, '10.850'],
      [{ 0: '10.850' }, '10.850'],
      [{ 1: '10.850' }, /at most 10.849/],
      [{ 1: '10.849' }, '10.849'],
    ],
  },
  'LG-05: where the taxes of the lines are less than that of the invoice, the last takes more': {
    lines: ['10.04', '10.04', '10.04', '10.04'],
    tax: '10',
    totals: ['4.02', '44.18'],
    steps: [
      [{ 0: '11.06' }, /at most 11.05/],
      [{ 0: '11.04' }, '11.04'],
      [{ 3: '11.04' }, '11.04'],
      [{ 1: '11.04' }, '11.04'],
      [{ 2: '11.07' }, /at most 11.06/],
      [{ 2: '11.06' }, '11.06'],
      [{ 0: '0.01' }, /takes no credit note/],
    ],
  },
  'LG-06: four equal lines, three in whole, the last in three parts': {
    lines: ['68.33', '68.33', '68.33', '68.33'],
    tax: '20',
    totals: ['54.66', '327.98'],
    steps: [
      [{ 0: '82.00' }, '82.00'],
      [{ 1: '82.00' }, '82.00'],
      [{ 2: '82.00' }, '82.00'],
      [{ 3: '82.00' }, /at most 81.98/],
      [{ 3: '16.40' }, '16.40'],
      [{ 3: '26.80' }, '26.80'],
      [{ 3: '38.79' }, /at most 38.78/],
      [{ 3: '38.78' }, '38.78'],
    ],
  },
  'LG-06: the parts first': {
    lines: ['68.33', '68.33', '68.33', '68.33'],
    tax: '20',
    totals: ['54.66', '327.98'],
    steps: [
      [{ 3: '16.40' }, '16.40'],
      [{ 3: '26.80' }, '26.80'],
      [{ 3: '38.80' }, '38.80'],
      [{ 0: '82.00', 1: '82.00' }, '164.00'],
      [{ 2: '81.99' }, /at most 81.98/],
      [{ 2: '81.98' }, '81.98'],
    ],
  },
  'MT-08: lines with a coupon and a tax, in two notes; a line again is refused': {
    lines: ['10', '20', '30', '40'],
    percentOff: '10',
    tax: '10',
    totals: ['9.00', '99.00'],
    steps: [
      [{ 0: '9.90', 1: '19.80' }, '29.70'],
      [{ 0: '0.01' }, /at most 0/],
      [{ 2: '29.70', 3: '39.60' }, '69.30'],
    ],
  },
  // A rate counts for a whole invoice: the two lines with different ones are two invoices (34.32).
  'LG-07: the line with a coupon and 20 %, in parts': {
    lines: ['399.00'],
    amountOff: '250',
    tax: '20',
    totals: ['29.80', '178.80'],
    steps: [
      // 262.60 less 164.54 of the coupon is 98.06, and 19.61 of tax.
      [{ 0: '117.67' }, '117.67'],
      [{ 0: '61.14' }, /at most 61.13/],
      [{ 0: '61.13' }, '61.13'],
    ],
  },
  'LG-07: the line without a coupon and 10 %': {
    lines: ['179.00'],
    tax: '10',
    totals: ['17.90', '196.90'],
    steps: [[{ 0: '196.90' }, '196.90']],
  },
};

describe('credit notes as other systems make them', () => {
  test.for(Object.entries(CASES))('%s', async ([, noted], { api, money }) => {
    const { currency = 'usd', percentOff, amountOff } = noted;
    if (percentOff !== undefined) {
      await api.make('/v1/coupons', {
        name: 'Off',
        coupon_code: 'OFF',
        cadence: 'forever',
        type: 'percentage',
        percentage_off: percentOff,
      });
    }
    if (amountOff !== undefined) {
      await api.make('/v1/coupons', {
        name: 'Off',
        coupon_code: 'OFF',
        cadence: 'forever',
        type: 'fixed',
        amount_off: amountOff,
        currency,
      });
    }
    const invoice = await giveInvoice(api, noted.lines, {
      customerId: await makeCustomer(api),
      currency,
      tax_rates: [await makeTax(api, noted.tax)],
      coupons: percentOff === undefined && amountOff === undefined ? [] : ['OFF'],
    });
    expect([invoice.total_tax, invoice.total]).toEqual(noted.totals);
    await money.pay(invoice.id, { payment_status: 'SUCCEEDED' });
    for (const [amounts, answer] of noted.steps) {
      const { status, body } = await noteOn(api, invoice, amounts);
      const isMade = typeof answer === 'string';
      expect([amounts, status]).toEqual([amounts, isMade ? 201 : 400]);
      if (isMade) expect(body.total_amount).toBe(answer);
      else expect(body.message).toMatch(answer);
    }
    expect(await money.read(invoice.id)).toMatchObject({
      refunded_amount: invoice.total,
      payment_status: 'REFUNDED',
    });
    const { items } = await api.make('/v1/wallets/search', {});
    expect(items.map((one: Answer) => one.balance)).toEqual([String(Number(invoice.total))]);
  });

  test.for([
    ['drafts of refunds', 'SUCCEEDED'],
    ['drafts of adjustments', undefined],
  ] as const)(
    'FP-21: two %s that together go beyond the limit: the first is finalized, the second stays a draft',
    async ([, status], { api, money }) => {
      // Drafts count against a new note (19.2), so the limit falls here after both were drafted.
      const customerId = await makeCustomer(api);
      const isRefund = status === 'SUCCEEDED';
      const amount = isRefund ? '100' : '80';
      const invoice = await giveInvoice(api, ['220'], { customerId });
      const pay = async (paid: string) =>
        api.make('/v1/payments', {
          destination_type: 'INVOICE',
          destination_id: invoice.id,
          currency: 'usd',
          payment_method_type: 'OFFLINE',
          amount: paid,
          process_payment: true,
          idempotency_key: paid,
        });
      const put = (id: string, body: object) => api.call('PUT', `/v1/payments/${id}`, { body });
      const payments = isRefund ? [await pay('120'), await pay('100')] : [];
      for (const { id } of payments) await put(id, { payment_status: 'SUCCEEDED' });
      const body = { ...bodyOfNote(invoice, { 0: amount }), process_credit_note: false };
      const draft = () => api.call('POST', '/v1/creditnotes', { body });
      const drafts = [await draft(), await draft()];
      expect(drafts.map((one) => [one.status, one.body.credit_note_status])).toEqual([
        [201, 'DRAFT'],
        [201, 'DRAFT'],
      ]);
      expect((await draft()).status).toBe(400);
      if (isRefund) {
        const refunded = { payment_status: 'PARTIALLY_REFUNDED', refunded_amount: '110' };
        expect((await put(payments[0].id, refunded)).status).toBe(200);
      } else await money.pay(invoice.id, { amount: '130' });
      const finalize = ({ body: { id } }: Answer) =>
        api.call('POST', `/v1/creditnotes/${id}/finalize`, { body: {} });
      const first = await finalize(drafts[0]);
      expect([first.status, first.body.credit_note_status]).toEqual([200, 'FINALIZED']);
      const second = await finalize(drafts[1]);
      expect([second.status, second.body.code]).toEqual([400, 'invalid_operation']);
      const kept = await api.call('GET', `/v1/creditnotes/${drafts[1]?.body.id}`);
      expect(kept.body.credit_note_status).toBe('DRAFT');
      const { items } = await api.make('/v1/wallets/search', {});
      expect(items.map((one: Answer) => one.balance)).toEqual(isRefund ? ['100'] : []);
      expect(await money.read(invoice.id)).toMatchObject(
        isRefund ? { refunded_amount: '210.00' } : { adjustment_amount: '80.00' },
      );
    },
  );

  test('MT-10: of two notes for the same line at the same moment one succeeds', async ({
    api,
    due,
    money: _,
  }) => {
    const notes = await Promise.all([1, 2].map(() => noteOn(api, due, { 0: '122.00' })));
    expect(notes.map(({ status }) => status).sort()).toEqual([201, 400]);
  });
});

peerTest.for([
  ['LG-01', '200', '2025-09-19', '193.33', '50.00', '241.66'],
  ['LG-01, at 16:40 of the first day', '200', '2025-09-18T16:40:00Z', '195.37', '50.00', '244.21'],
  ['LG-02', '160', '2025-09-19', '154.67', '40.00', '193.34'],
] as const)(
  '%s: what is not used comes back with its tax (34.32)',
  async ([, amount, end, unused, tax, total], { api, peer }) => {
    await makeTax(api, '25');
    await peer.live('2025-09-18');
    const taxed = { tax_rate_overrides: [{ tax_rate_code: 'tax 25', currency: 'usd' }] };
    const plan = await peer.plan(advance(amount));
    const subscription = await peer.subscribe(plan, taxed);
    const [opening] = await peer.find(subscription);
    expect(opening.total_tax).toBe(tax);
    await payOpen(api);
    await peer.live(end);
    const prorated = {
      cancellation_type: 'immediate',
      proration_behavior: 'create_prorations',
    };
    const cancelled = await peer.post(subscription, 'cancel', prorated);
    expect([cancelled.total_credit_amount, cancelled.credit.net_amount]).toEqual([total, unused]);
    expect(await peer.credits()).toEqual([total]);
  },
);
