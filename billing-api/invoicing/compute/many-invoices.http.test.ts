import { describe, expect, inject } from 'vitest';
import { drawSeed } from '../../../load-tests/harness/draw-seed.js';
import { assertPresent, zip } from '../../../runtime/failure.js';
import { KnownCustomers } from '../../customers/known-customers.js';
import { accept, isRefusal, notFound, Refusal, Refused } from '../../records/refusal.js';
import { test as base } from '../../testing/billing-test.js';
import { CountedStores } from '../../testing/counted-stores.js';
import { makeManySubscribers, type Subscriber } from '../../testing/many-subscribers.js';
import { testOccasion } from '../../testing/test-occasion.js';
import { createUsageReader, type UsageReader } from '../../usage/store/usage-reader.js';
import { createPostgresDataUntil } from '../../usage/watermark/data-until.js';
import { invoiceToDto } from '../../documents/answer/invoice-answer.js';
import { findPreviewQueries } from '../preview/preview-invoice.js';
import { computeInvoice, computeInvoices, type ComputedInvoice } from './compute-invoice.js';
import { documentOfComputed } from './document-of-computed.js';
import type { InvoiceQuery } from './invoice-query.js';

const NOW = '2026-10-20T12:00:00.000Z';
/** A batch is a hundred; made one by one, they take a minute of a core. */
const MANY = inject('isNightly') ? 100 : 40;

/**
 * Statements of three previews of such subscriptions, counted with these counters at 392e3b3 (25
 * November 2026), when each read its records and its usage by itself: 19 or 20 and 1 each.
 */
const THREE_SINGLE = { postgres: 57, clickHouse: 3 };

type Computed = ComputedInvoice<InvoiceQuery> | Refusal;

/** Computes the invoices of subscribers in both ways. */
type Computing = {
  readonly usage: UsageReader;
  readonly stores: CountedStores;
  readonly singly: (ids: readonly string[]) => Promise<readonly Computed[]>;
  readonly together: (ids: readonly string[], usage?: UsageReader) => Promise<readonly Computed[]>;
};

type Made = Computing & { readonly subscribers: readonly Subscriber[] };

const test = base.extend<{ make: (count: number, seed: number) => Promise<Made> }>({
  make: async ({ api, database, clickhouse, clock }, use) => {
    await use(async (count, seed) => {
      clock.set(NOW);
      const engines = { database, clickhouse };
      const subscribers = await makeManySubscribers(api, engines, { count, seed });
      const client = clickhouse.client;
      const stores = new CountedStores({ database: database.database, clickHouse: client });
      const usage = createUsageReader(stores.queries);
      const readDataUntil = createPostgresDataUntil(stores.database, 0);
      const dependencies = {
        database: stores.database,
        usage,
        clock,
        knownCustomers: new KnownCustomers(),
        // Both ways ask for it, at different instants.
        dataUntil: async () => {
          await readDataUntil();
          return null;
        },
      };
      const occasion = testOccasion({ environment: api.environment, userId: api.userId });
      const requestOf = (id: string) => ({ subscription_id: id, group_by: ['feature_id'] });
      const singly: Computing['singly'] = async (ids) => {
        const computed: Computed[] = [];
        for (const id of ids) {
          const invoice = await computeInvoice(dependencies, occasion, async (unit) => {
            const [query] = await findPreviewQueries(unit, [requestOf(id)]);
            return accept(assertPresent(query, 'the only query'));
          });
          computed.push(invoice);
        }
        return computed;
      };
      const together: Computing['together'] = async (ids, reader = usage) => {
        const computed: Computed[] = [];
        const asked = { ...dependencies, usage: reader };
        const invoices = computeInvoices(asked, occasion, (unit) =>
          findPreviewQueries(unit, ids.map(requestOf)),
        );
        for await (const invoice of invoices) computed.push(invoice);
        return computed;
      };
      return { subscribers, usage, stores, singly, together };
    });
  },
});

/** Everything that is known of an invoice: its inputs, and its answer with explanations. */
function everythingOf(computed: Computed): unknown {
  if (isRefusal(computed)) return computed;
  const answer = invoiceToDto(documentOfComputed(computed), { limit: 100, offset: 0 });
  return [computed.inputs, computed.watermark, JSON.stringify(answer)];
}

const idsOf = ({ subscribers }: Made) => subscribers.map(({ subscriptionId }) => subscriptionId);

describe('invoices that are computed together', () => {
  const seed = drawSeed();
  const wait = { timeout: 400_000 };

  test(
    `are ${MANY} previews, with at most the statements that three took: seed ${seed}`,
    wait,
    async ({ make }) => {
      const made = await make(MANY, seed);
      const ids = idsOf(made);
      const single = await made.singly(ids);
      let many: readonly Computed[] = [];
      const statements = await made.stores.during(async () => {
        many = await made.together(ids);
      });
      for (const [alone, together] of zip(single, many)) {
        expect(everythingOf(together)).toEqual(everythingOf(alone));
      }
      const isUsed = (one: Computed) => !isRefusal(one) && one.invoice.totals.subtotal.value.gt(10);
      expect(single.filter(isUsed).length).toBeGreaterThan(MANY / 5);
      expect(statements.postgres).toBeLessThanOrEqual(THREE_SINGLE.postgres);
      expect(statements.clickHouse).toBeLessThanOrEqual(THREE_SINGLE.clickHouse);
    },
  );

  test('come with the reason in place of one that cannot be computed', wait, async ({ make }) => {
    const made = await make(9, seed);
    const { usage, subscribers } = made;
    const ids = idsOf(made);
    const expected = await made.singly(ids);
    const [, second, , fourth] = subscribers;
    const removed = new Refusal('invalid_operation', 'raw events have been removed');
    const isAbout = (
      subscriber: Subscriber | undefined,
      batch: Parameters<UsageReader['read']>[0],
    ) => batch.queries.some(({ customers }) => customers.keys.includes(subscriber?.keys[0] ?? ''));
    const reader: UsageReader = {
      ...usage,
      read: (batch) => {
        if (isAbout(second, batch)) return Promise.reject(new Refused(removed));
        return isAbout(fourth, batch) ? Promise.resolve(null) : usage.read(batch);
      },
    };
    const computed = await made.together([...ids, 'subs_unknown'], reader);
    expect(computed).toHaveLength(ids.length + 1);
    expect(computed[1]).toBe(removed);
    expect(computed[3]).toMatchObject({ code: 'validation_error' });
    expect(computed.at(-1)).toEqual(notFound('subscription', 'subs_unknown'));
    for (const place of [0, 2, 4, 5, 6, 7, 8]) {
      expect(computed.slice(place, place + 1).map(everythingOf)).toEqual(
        expected.slice(place, place + 1).map(everythingOf),
      );
    }
  });

  test('are none for an empty list', async ({ make }) => {
    const made = await make(1, seed);
    expect(await made.together([])).toEqual([]);
  });
});
