import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { test } from '../../testing/billed-test.js';
import { makeSubscription } from '../../testing/billing-test.js';
import { completeBackfills } from '../../testing/finish-partition.js';
import { BILLING_RULES, type BillingRules } from '../../domain/invoice/pricing/rules.js';
import { generationOf } from '../../testing/meter-generation.js';
import { FREE, topUp } from '../../testing/wallet-calls.js';
import { storeEvents } from '../../testing/write-usage-minutes.js';
import { verifyBundle } from './invoice-bundle.js';

const [FIRST] = BILLING_RULES;
/** Charges what the first rules charge. */
const SECOND: BillingRules = { ...FIRST, version: 2 };
/** Charges nothing. */
const THIRD: BillingRules = {
  ...FIRST,
  version: 3,
  priceInvoice: (_, inputs) => FIRST.priceInvoice([], inputs),
  buildInvoice: (inputs) => FIRST.priceInvoice([], inputs),
};

const OCTOBER = { billing_cycle: 'calendar', start_date: '2026-10-01T00:00:00.000Z' };
const AT = ['2026-10-05T10:00:10Z', '2026-10-05T10:00:20Z', '2026-10-20T00:00:00Z'];

const verifyTest = test.extend<{ world: World }>({
  world: async ({ api, bill, database, clickhouse }, use) => {
    const { meterId, id } = await makeSubscription(api, OCTOBER);
    await completeBackfills(database.database);
    const { environment } = api;
    const generation = await generationOf(database.database, meterId);
    const target = { environment, meterId, generation };
    const store = (times: readonly string[]) =>
      storeEvents(
        { database, clickhouse },
        environment,
        times.map((at) => ({ at, eventName: 'call', countsOn: [target] })),
      );
    await store(AT);
    await bill('2026-11-01T02:00:00.000Z');
    const { body } = await api.call('POST', '/v1/invoices/search', {
      body: { subscription_id: id, invoice_status: ['FINALIZED'] },
    });
    const [invoice] = body.items;
    await use({ invoice, store, meterId, verify: async () => verified(api, invoice.id) });
  },
});

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Answer = any;
type World = {
  readonly invoice: Answer;
  readonly meterId: string;
  readonly store: (times: readonly string[]) => Promise<unknown>;
  readonly verify: () => Promise<Answer>;
};

async function verified(
  api: { call: (method: string, path: string) => Promise<{ readonly body: Answer }> },
  id: string,
): Promise<Answer> {
  return (await api.call('GET', `/v1/invoices/${id}/verify`)).body;
}

const SAME = { same_from_inputs: true, same_from_events: true, reason: null, differences: [] };

describe('GET /invoices/{id}/verify', () => {
  verifyTest(
    'stays the same whatever comes later: events, meters, prices, coupons',
    async ({ api, world }) => {
      const { invoice, meterId, store, verify } = world;
      expect(invoice).toMatchObject({ total: '0.75', invoice_status: 'FINALIZED' });
      expect(await verify()).toMatchObject(SAME);
      await store(['2026-10-06T00:00:00Z', '2026-10-07T00:00:00Z']);
      expect(await verify()).toMatchObject(SAME);
      const [line] = invoice.line_items;
      const price = `/v1/prices/${line.price_id}`;
      await api.call('PUT', price, { body: { amount: '9' } });
      await api.call('PUT', `/v1/meters/${meterId}`, {
        body: { filters: [{ key: 'region', values: ['eu'] }] },
      });
      expect(await verify()).toMatchObject(SAME);
      const path = `/v1/invoices/${invoice.id}/line_items/${line.id}`;
      const pages = [];
      let cursor = '';
      do {
        const query = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const { body } = await api.call('GET', `${path}/events?limit=2${query}`);
        pages.push(...body.items);
        expect(body).toMatchObject({ quantity: '3', event_count: 3 });
        cursor = body.next_cursor ?? '';
      } while (cursor !== '');
      expect(pages.map(({ timestamp }: Answer) => Date.parse(timestamp))).toEqual(
        AT.map((at) => Date.parse(at)),
      );
      const { body: explained } = await api.call('GET', `${path}/explain`);
      expect(explained).toMatchObject({
        invoice_id: invoice.id,
        line_item_id: line.id,
        event_count: 3,
        amount: '0.75',
      });
    },
  );

  verifyTest(
    'names what was altered in the database, by line and member',
    async ({ database: { database }, world }) => {
      const { invoice, verify } = world;
      const [line] = invoice.line_items;
      const alterations = [
        [sql.fragment`invoice_line_items SET amount = 1`, 'amount', line.id],
        [sql.fragment`invoice_line_items SET quantity = 4`, 'quantity', line.id],
        [sql.fragment`invoices SET total = 1`, 'total', null],
        [sql.fragment`invoices SET amount_remaining = 0`, 'amount_remaining', null],
        [
          sql.fragment`invoice_computations SET inputs = replace(inputs, '"usd"', '"eur"')`,
          'inputs',
          null,
        ],
        [sql.fragment`invoice_computations SET result_sha256 = 'x'`, 'result', null],
      ] as const;
      for (const [alteration, member, lineId] of alterations) {
        const owner = ownerOf(database);
        await owner.query(
          sql.type(z.unknown())`CREATE TABLE kept_lines AS TABLE invoice_line_items`,
        );
        await owner.query(sql.type(z.unknown())`CREATE TABLE kept_invoices AS TABLE invoices`);
        await owner.query(
          sql.type(z.unknown())`CREATE TABLE kept_inputs AS TABLE invoice_computations`,
        );
        await owner.query(sql.type(z.unknown())`UPDATE ${alteration}`);
        const found = await verify();
        expect([member, found.same_from_inputs]).toEqual([member, false]);
        expect(found.differences).toContainEqual(
          expect.objectContaining({ from: 'inputs', member, line_item_id: lineId }),
        );
        for (const statement of [
          sql.fragment`UPDATE invoice_line_items AS now SET amount = was.amount, quantity = was.quantity
          FROM kept_lines AS was WHERE was.id = now.id`,
          sql.fragment`UPDATE invoices AS now SET total = was.total, amount_remaining = was.amount_remaining
          FROM kept_invoices AS was WHERE was.id = now.id`,
          sql.fragment`UPDATE invoice_computations AS now SET inputs = was.inputs,
          result_sha256 = was.result_sha256 FROM kept_inputs AS was
          WHERE was.invoice_id = now.invoice_id`,
          sql.fragment`DROP TABLE kept_lines, kept_invoices, kept_inputs`,
        ]) {
          await owner.query(sql.type(z.unknown())`${statement}`);
        }
        expect(await verify()).toMatchObject(SAME);
      }
    },
  );

  verifyTest(
    'names what is missing of the events that it counted',
    async ({ clickhouse, world }) => {
      const { verify } = world;
      await clickhouse.client.command(
        "DELETE FROM events_v1 WHERE timestamp = '2026-10-20 00:00:00.000'",
      );
      const found = await verify();
      expect(found).toMatchObject({ same_from_inputs: true, same_from_events: false });
      expect(found.differences).toContainEqual(
        expect.objectContaining({ from: 'events', member: 'quantity', stored: '3', computed: '2' }),
      );
    },
  );

  verifyTest(
    'needs no database for a bundle, and finds what was altered in it',
    async ({ api, world }) => {
      const { invoice } = world;
      const { body: bundle } = await api.call('GET', `/v1/invoices/${invoice.id}/bundle`);
      expect(verifyBundle(bundle)).toEqual([]);
      const altered = { ...bundle, document: bundle.document.replaceAll('"0.75"', '"0.76"') };
      expect(verifyBundle(altered).map(({ member }) => member)).toEqual(
        expect.arrayContaining(['amount', 'total']),
      );
    },
  );

  verifyTest(
    'verifies and finishes by the first rules what they computed, when newer rules have come',
    async ({ api, bill, world, onTestFinished }) => {
      onTestFinished(() => {
        BILLING_RULES.length = 1;
      });
      const { invoice, store, verify } = world;
      const { subscription_id: id } = invoice;
      const find = async (state: string) => {
        const body = { subscription_id: id, invoice_status: [state] };
        return (await api.call('POST', '/v1/invoices/search', { body })).body.items;
      };
      await store(['2026-11-03T00:00:00Z', '2026-12-03T00:00:00Z']);
      await bill('2026-12-01T00:10:00.000Z');
      const [draft] = await find('DRAFT');
      BILLING_RULES.push(SECOND);
      const { customer_id: customerId } = invoice;
      const wallet = await api.make('/v1/wallets', { customer_id: customerId, currency: 'usd' });
      await topUp(api, wallet, { ...FREE, credits_to_add: '0.1' });
      await bill('2026-12-01T02:00:00.000Z');
      expect(await verify()).toMatchObject({ ...SAME, rules_version: 1 });
      const finished = (await api.call('GET', `/v1/invoices/${draft.id}`)).body;
      expect(finished).toMatchObject({
        invoice_status: 'FINALIZED',
        total_prepaid_credits_applied: '0.10',
        amount_due: '0.15',
      });
      expect(await verified(api, draft.id)).toMatchObject({ ...SAME, rules_version: 1 });

      await bill('2027-01-01T00:10:00.000Z');
      const [next] = await find('DRAFT');
      expect(next).toMatchObject({ total: '0.25' });
      BILLING_RULES.push(THIRD);
      await bill('2027-01-01T02:00:00.000Z');
      const free = (await api.call('GET', `/v1/invoices/${next.id}`)).body;
      expect(free).toMatchObject({ invoice_status: 'SKIPPED', total: '0.00' });
      expect(await verified(api, next.id)).toMatchObject({ rules_version: 3, differences: [] });
      expect(await verify()).toMatchObject({ ...SAME, rules_version: 1 });
    },
  );
});
