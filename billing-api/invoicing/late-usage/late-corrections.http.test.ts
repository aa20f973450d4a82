import { describe, expect } from 'vitest';
import { correct, prepare, revert, runCorrectionJobs } from '../../testing/correct-events.js';
import { lookForLate } from '../../testing/look-for-late.js';
import { FINAL, lateTest, linesOf, type Answer } from '../../testing/late-usage-test.js';
import { listEnvironmentsToLookAt } from './corrected-customers.js';

type Engines = Parameters<typeof correct>[0];

const test = lateTest.extend<{ correcting: Engines }>({
  correcting: async ({ api, database, clickhouse }, use) => {
    await use({ api, database: database.database, clickHouse: clickhouse.client });
  },
});

const withdraw = (...ids: readonly string[]) => ({
  type: 'withdraw',
  events: ids.map((event_id) => ({ event_id })),
});

const VERIFIED = { same_from_inputs: true, same_from_events: true, differences: [] };

describe('corrections of periods whose invoices are final', () => {
  test('are listed, credited with taxes on the next invoice, and given back once when reverted', async ({
    api,
    bill,
    world,
    correcting,
  }) => {
    const { customerId, count, look, invoices, listed } = world;
    await api.make('/v1/taxes/rates', { name: 'VAT', code: 'VAT', percentage_value: '10' });
    await api.make('/v1/taxes/associations', {
      tax_rate_code: 'VAT',
      entity_type: 'customer',
      entity_id: customerId,
      auto_apply: true,
    });
    await count('2027-01-10', 10, 'jan');
    await bill(FINAL.january);
    const correction = await correct(correcting, withdraw('jan-0', 'jan-1', 'jan-2', 'jan-3'));
    await look();
    const [january] = await invoices();
    expect([january.subtotal, january.total_tax, january.total]).toEqual(['2.50', '0.25', '2.75']);
    expect(await listed()).toMatchObject([
      {
        invoice_id: january.id,
        quantity: '-4',
        amount: '-1.00',
        charged_amount: '0.00',
        open_amount: '-1.00',
        policy: 'bill',
        event_count: 0,
        first_received_at: null,
      },
    ]);
    const verified = (await api.call('GET', `/v1/invoices/${january.id}/verify`)).body;
    expect(verified).toMatchObject({
      ...VERIFIED,
      came_later: [{ quantity: '-4', event_count: -4 }],
    });
    expect(verified.summary).toMatch(/^same as of .*; 4 units do not count any more$/);
    const told = await api.call('GET', '/v1/webhooks/events?event_type=usage.late');
    expect(told.body.items).toHaveLength(1);
    await count('2027-02-10', 8);
    await bill(FINAL.february);
    const february = (await invoices())[1];
    expect(linesOf(february)).toEqual([
      '2027-02 Calls 8 2.00',
      '2027-01 Late usage: Calls -4 -1.00',
    ]);
    expect([february.subtotal, february.total_tax, february.total]).toEqual([
      '1.00',
      '0.10',
      '1.10',
    ]);
    expect(await listed('?state=open')).toEqual([]);
    const ofFebruary = (await api.call('GET', `/v1/invoices/${february.id}/verify`)).body;
    expect(ofFebruary).toMatchObject({ ...VERIFIED, came_later: [] });
    await revert(correcting, correction.id);
    await look();
    expect(await listed('?state=open')).toMatchObject([
      { invoice_id: january.id, quantity: '0', amount: '0.00', open_amount: '1.00' },
    ]);
    await bill(FINAL.march);
    const march = (await invoices())[2];
    expect(linesOf(march)).toEqual(['2027-03 Calls 0 0.00', '2027-01 Late usage: Calls 4 1.00']);
    expect(march.total).toBe('1.10');
    expect(await listed('?state=open')).toEqual([]);
    await look();
    await bill('2027-05-01T03:00:00.000Z');
    expect((await invoices()).map(({ total }) => total)).toEqual(['2.75', '1.10', '1.10']);
    for (const { id } of await invoices()) {
      expect((await api.call('GET', `/v1/invoices/${id}/verify`)).body).toMatchObject(VERIFIED);
    }
  });

  test('of another customer and another month move what is charged', async ({
    api,
    bill,
    world,
    correcting,
  }) => {
    const { count, look, invoices, listed } = world;
    await api.make('/v1/customers', { external_id: 'other' });
    await count('2027-01-10', 10, 'jan');
    await bill(FINAL.january);
    await correct(correcting, {
      type: 'amend',
      events: [
        { event_id: 'jan-0', external_customer_id: 'other' },
        { event_id: 'jan-1', timestamp: '2027-02-05T00:00:00Z' },
      ],
    });
    await look();
    expect(await listed()).toMatchObject([{ quantity: '-2', amount: '-0.50' }]);
    await count('2027-02-10', 3);
    await bill(FINAL.february);
    expect(linesOf((await invoices())[1])).toEqual([
      '2027-02 Calls 4 1.00',
      '2027-01 Late usage: Calls -2 -0.50',
    ]);
  });

  test('are on drafts, and listed, as soon as they are applied or reverted', async ({
    api,
    bill,
    world,
    correcting,
  }) => {
    const { id, count, listed } = world;
    await count('2027-01-10', 10, 'jan');
    await bill(FINAL.january);
    await count('2027-02-10', 8, 'feb');
    await bill('2027-03-01T00:10:00.000Z');
    const draft = async () => {
      const body = { subscription_id: id, invoice_status: ['DRAFT'] };
      return (await api.call('POST', '/v1/invoices/search', { body })).body.items[0];
    };
    expect(linesOf(await draft())).toEqual(['2027-02 Calls 8 2.00']);
    const { id: correctionId } = await correct(correcting, withdraw('jan-0', 'feb-0', 'feb-1'));
    await runCorrectionJobs(correcting);
    const after = await draft();
    expect([linesOf(after), after.total]).toEqual([
      ['2027-02 Calls 6 1.50', '2027-01 Late usage: Calls -1 -0.25'],
      '1.25',
    ]);
    expect(await listed()).toMatchObject([{ quantity: '-1', charged_amount: '-0.25' }]);
    await revert(correcting, correctionId);
    await runCorrectionJobs(correcting);
    expect(linesOf(await draft())).toEqual(['2027-02 Calls 8 2.00']);
    expect(await listed()).toEqual([]);
  });

  test('are followed by two looks of all environments', async ({
    api,
    bill,
    world,
    correcting,
  }) => {
    const { count, listed } = world;
    const all = { ...correcting, environment: api.environment };
    await count('2027-01-10', 10, 'jan');
    await bill(FINAL.january);
    const left = () => listEnvironmentsToLookAt(correcting.database);
    expect(await left()).toEqual([]);
    await correct(correcting, withdraw('jan-0'));
    expect(await left()).toEqual([api.environment]);
    await lookForLate(all, true);
    expect(await listed()).toMatchObject([{ quantity: '-1' }]);
    expect(await left()).toEqual([api.environment]);
    await lookForLate(all, true);
    expect(await left()).toEqual([]);
  });

  test('that add events have a line once they are counted', async ({
    bill,
    world,
    correcting,
    api,
  }) => {
    const { id, count, look, invoices } = world;
    await count('2027-01-10', 10, 'jan');
    await bill(FINAL.january);
    const ready = await prepare(correcting, {
      type: 'backfill',
      events: ['2027-01-11', '2027-01-12'].map((day, place) => ({
        event_id: `more-${place}`,
        event_name: 'call',
        external_customer_id: 'acme',
        timestamp: `${day}T10:00:00Z`,
      })),
    });
    await api.make(`/v1/corrections/${ready.id}/apply`, { token: ready.token });
    // As the aggregator counts them.
    await count('2027-01-11', 1, 'more');
    await count('2027-01-12', 1, 'again');
    await look();
    await bill(FINAL.february);
    const february = (await invoices())[1];
    expect(linesOf(february)).toEqual(['2027-02 Calls 0 0.00', '2027-01 Late usage: Calls 2 0.50']);
    const preview = await api.call('POST', '/v1/invoices/preview', {
      body: { subscription_id: id },
    });
    expect(linesOf(preview.body as Answer)).toEqual(['2027-03 Calls 0 0.00']);
  });
});
