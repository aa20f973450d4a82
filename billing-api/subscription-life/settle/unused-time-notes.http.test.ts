import { describe, expect } from 'vitest';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { expectBalancedBooks } from '../../testing/check-books.js';
import type { Answer } from '../../testing/money-test.js';
import { payOpen } from '../../testing/pay-open.js';
import { advance, test as peerTest } from '../../testing/peer-case.js';

type Taxed = {
  /** Taxes `acme` by a percentage, or by an amount for each invoice. */
  readonly tax: (rate: object) => Promise<void>;
  readonly notes: () => Promise<readonly Answer[]>;
};

const test = peerTest.extend<{ world: Taxed }>({
  world: async ({ api }, use) => {
    const search = async (path: string) => (await api.call('GET', path)).body.items as Answer[];
    await use({
      tax: async (rate) => {
        const made = await api.make('/v1/taxes/rates', { name: 'VAT', code: 'VAT', ...rate });
        await api.make('/v1/taxes/associations', {
          tax_rate_code: made.code,
          entity_type: 'tenant',
          auto_apply: true,
        });
      },
      notes: () => search('/v1/creditnotes'),
    });
    await expectBalancedBooks(api);
  },
});

const TWENTY = { tax_rate_type: 'percentage', percentage_value: '20' };
const AT_ONCE = { cancellation_type: 'immediate', proration_behavior: 'create_prorations' };

const read = async (api: BillingUnderTest, { id }: Answer): Promise<Answer> =>
  (await api.call('GET', `/v1/invoices/${id}`)).body;

describe('a credit for unused time', () => {
  test('carries its taxes, on a note that says so', async ({ api, peer, world }) => {
    await peer.live('2026-01-01');
    await world.tax({ tax_rate_type: 'fixed', fixed_value: '7' });
    const weekly = { billing_period: 'WEEKLY' };
    const subscription = await peer.subscribe(await peer.plan(advance('30', weekly)), weekly);
    await payOpen(api);
    await peer.live('2026-01-02');
    const cancelled = await peer.post(subscription, 'cancel', AT_ONCE);
    // 30.00 and 7.00 of taxes, each × 6 ÷ 7.
    expect(cancelled).toMatchObject({
      total_credit_amount: '31.71',
      proration_details: [{ credit_amount: '25.71' }],
      credit: {
        net_amount: '25.71',
        tax_amount: '6.00',
        lowered_amount: '0.00',
        set_off_amount: '0.00',
        wallet_amount: '31.71',
      },
    });
    expect(await peer.credits()).toEqual(['31.71']);
    const [invoice] = await peer.find(subscription);
    const [note] = await world.notes();
    expect(note).toMatchObject({
      invoice_id: invoice.id,
      reason: 'UNUSED_TIME',
      credit_note_status: 'FINALIZED',
      credit_note_type: 'REFUND',
      refund_status: 'SUCCEEDED',
      total_amount: '31.71',
      line_items: [
        {
          invoice_line_item_id: invoice.line_items[0].id,
          subscription_line_item_id: subscription.line_items[0].id,
          amount: '31.71',
          net_amount: '25.71',
          tax_amount: '6.00',
          period_start: '2026-01-02T00:00:00.000Z',
          period_end: '2026-01-08T00:00:00.000Z',
        },
      ],
    });
    expect(note.credit_note_number).toMatch(/^CN-/);
    expect(await read(api, invoice)).toMatchObject({ total: '37.00', payment_status: 'SUCCEEDED' });
  });

  test('of an invoice that is not paid lowers it, and it is chased for the rest', async ({
    api,
    peer,
  }) => {
    await peer.live('2026-01-01');
    const yearly = { billing_period: 'ANNUAL' };
    const subscription = await peer.subscribe(await peer.plan(advance('2399.95', yearly)), yearly);
    await peer.live('2026-01-31');
    const cancelled = await peer.post(subscription, 'cancel', AT_ONCE);
    expect(cancelled.credit).toMatchObject({ lowered_amount: '2202.69', wallet_amount: '0.00' });
    const [invoice] = await peer.find(subscription);
    expect(await read(api, invoice)).toMatchObject({
      adjustment_amount: '2202.69',
      amount_due: '197.26',
      amount_remaining: '197.26',
      payment_status: 'PENDING',
    });
    expect(await peer.credits()).toEqual([]);
    await payOpen(api);
    await api.make(`/v1/invoices/${invoice.id}/void`, {});
    expect(await peer.credits()).toEqual(['197.26']);
  });

  test.for([
    ['0', '120.00', '61.93', '58.07', []],
    ['50', '70.00', '61.93', '8.07', ['50']],
    ['100', '20.00', '20.00', '0.00', ['41.93', '100']],
  ] as const)(
    'lowers what is owed first: %s of 120.00 paid',
    async ([paid, open, lowered, left, held], { api, peer, world }) => {
      await peer.live('2026-01-01');
      await world.tax(TWENTY);
      const subscription = await peer.subscribe(await peer.plan(advance('100')));
      const [invoice] = await peer.find(subscription);
      if (paid !== '0') {
        await api.call('PUT', `/v1/invoices/${invoice.id}/payment`, { body: { amount: paid } });
      }
      expect((await read(api, invoice)).amount_remaining).toBe(open);
      await peer.live('2026-01-16');
      const { credit } = await peer.post(subscription, 'cancel', AT_ONCE);
      expect(credit).toMatchObject({ net_amount: '51.61', tax_amount: '10.32' });
      expect(credit.lowered_amount).toBe(lowered);
      expect((await read(api, invoice)).amount_remaining).toBe(left);
      expect(await peer.credits()).toEqual(held.slice(0, held.length - 1));
      await api.make(`/v1/invoices/${invoice.id}/void`, {});
      // What was paid, and no more, has come back.
      expect(await peer.credits()).toEqual(held.slice(-1));
    },
  );

  test('in steps gives back what the line costs with its taxes, and no cent more', async ({
    api,
    peer,
    world,
  }) => {
    await peer.live('2026-01-01');
    await world.tax({ tax_rate_type: 'percentage', percentage_value: '7.7' });
    const seats = advance('12.37', { min_quantity: 10 });
    const subscription = await peer.subscribe(await peer.plan(seats));
    await payOpen(api);
    const [invoice] = await peer.find(subscription);
    for (const quantity of ['7', '6', '3', '1']) {
      const { line_items: lines } = await peer.read(subscription);
      const line = lines.find((one: Answer) => one.end_date === null);
      await peer.post(subscription, 'modify/execute', {
        type: 'quantity_change',
        quantity_change_params: { line_items: [{ id: line.id, quantity }] },
      });
    }
    await peer.post(subscription, 'cancel', AT_ONCE);
    const notes = await world.notes();
    expect(notes).toHaveLength(5);
    // All at one instant: what was charged is unused as a whole.
    expect(await peer.credits()).toEqual([String(Number(invoice.total))]);
  });

  test('in a change of plan lowers an old invoice that is not paid, and sets the rest off', async ({
    api,
    peer,
    world,
  }) => {
    await peer.live('2026-01-01');
    await world.tax(TWENTY);
    const [old, target] = [await peer.plan(advance('100')), await peer.plan(advance('200'))];
    const change = async (paid: string) => {
      const subscription = await peer.subscribe(old);
      const [invoice] = await peer.find(subscription);
      const body = { amount: paid };
      if (paid !== '0') await api.call('PUT', `/v1/invoices/${invoice.id}/payment`, { body });
      return { subscription, invoice };
    };
    const all = [await change('0'), await change('120'), await change('100')];
    await peer.live('2026-01-16');
    const found = [];
    for (const { subscription, invoice } of all) {
      const changed = await peer.post(subscription, 'change/execute', {
        target_plan_id: target.id,
        billing_cadence: 'RECURRING',
        billing_cycle: 'anniversary',
        billing_period: 'MONTHLY',
        billing_period_count: 1,
        proration_behavior: 'create_prorations',
      });
      const { amount_remaining: left } = await read(api, invoice);
      const { lowered_amount, set_off_amount } = changed.proration_applied.credit;
      found.push([left, lowered_amount, set_off_amount, changed.invoice.total]);
    }
    expect(found).toEqual([
      ['58.07', '61.93', '0.00', '240.00'],
      // (200.00 less 51.61) and 20 %.
      ['0.00', '0.00', '51.61', '178.07'],
      // 20.00 are 16.67 and 3.33 of taxes: 34.94 are left.
      ['0.00', '20.00', '34.94', '198.07'],
    ]);
    expect(await peer.credits()).toEqual([]);
  });

  test('of a draft that was edited by hand is a line of that draft', async ({
    api,
    peer,
    world,
  }) => {
    await peer.live('2026-01-01');
    await world.tax(TWENTY);
    const subscription = await peer.subscribe(await peer.plan(advance('310')));
    await payOpen(api);
    await peer.turn('2026-02-01T00:30:00.000Z');
    await peer.live('2026-02-01T00:30:00.000Z');
    const draft = (await peer.find(subscription)).find(
      (one: Answer) => one.invoice_status === 'DRAFT',
    );
    await api.make(`/v1/invoices/${draft.id}/line_items`, { display_name: 'Help', amount: '10' });
    await peer.turn('2026-02-15');
    const { credit } = await peer.post(subscription, 'cancel', AT_ONCE);
    // 310.00 × 14 ÷ 28, and 20 %.
    expect(credit).toMatchObject({ lowered_amount: '186.00', wallet_amount: '0.00' });
    await peer.live('2026-02-15T03:00:00.000Z');
    expect(await read(api, draft)).toMatchObject({
      invoice_status: 'FINALIZED',
      subtotal: '165.00',
      total: '198.00',
    });
    await payOpen(api);
    await api.make(`/v1/invoices/${draft.id}/void`, {});
    expect(await peer.credits()).toEqual(['198']);
  });
});
