import { describe, expect } from 'vitest';
import { drawSeed } from '../../../load-tests/harness/draw-seed.js';
import { createUsageReader } from '../../usage/store/usage-reader.js';
import { createPostgresDataUntil } from '../../usage/watermark/data-until.js';
import { billingNeeds } from '../../testing/bill-environment.js';
import { test } from '../../testing/billed-test.js';
import { CountedStores } from '../../testing/counted-stores.js';
import { makeManySubscribers } from '../../testing/many-subscribers.js';
import { setTestClock } from '../../testing/set-test-clock.js';
import { FINALIZATION, RENEWAL, takeTurn } from './run-billing.js';

const COUNT = Number(process.env['BILLED_SUBSCRIBERS'] ?? '24');
const NOW = '2026-11-06T12:00:00.000Z';

/** More statements than this for a turn would grow with the number of its invoices. */
const STATEMENTS_MAX = { renewal: 45, finalization: 45, clickHouse: 1 };

describe('invoices that the billing run stores', () => {
  const seed = drawSeed();

  test(
    `are those that were previewed, verified from inputs and events, with as many statements as one: seed ${seed}`,
    { timeout: 600_000 },
    async ({ api, clock, database, clickhouse, bill }) => {
      clock.set(NOW);
      const engines = { database, clickhouse };
      await makeManySubscribers(api, engines, { count: COUNT, seed });
      const { environment } = api;
      await setTestClock(database.database, environment, Date.parse(NOW));
      const client = clickhouse.client;
      const stores = new CountedStores({ database: database.database, clickHouse: client });
      const world = { database: database.database, clickHouse: client, environment };
      const needs = {
        ...billingNeeds(world),
        database: stores.database,
        usage: createUsageReader(stores.queries),
        dataUntil: createPostgresDataUntil(database.database, 0),
      };
      const actor = { kind: 'job', job: 'test', runId: 'test' } as const;
      const due = { limit: 100, only: null };
      const occasion = { environment, actor };
      const counted = { renewal: 0, finalization: 0, clickHouse: 0 };
      const kinds = [['renewal', RENEWAL] as const, ['finalization', FINALIZATION] as const];
      for (const [name, kind] of kinds) {
        const { postgres, clickHouse } = await stores.during(async () => {
          const { done } = await takeTurn(needs, occasion, { ...kind, due });
          expect(done).toBe(Math.min(COUNT, 100));
        });
        counted[name] = postgres;
        counted.clickHouse = Math.max(counted.clickHouse, clickHouse);
      }
      for (const [name, count] of Object.entries(counted)) {
        const most = STATEMENTS_MAX[name as keyof typeof counted];
        expect([name, count <= most, count]).toEqual([name, true, count]);
      }
      await bill(NOW);
      const body = { limit: 1_000, billing_reason: 'SUBSCRIPTION_CYCLE' };
      const { body: found } = await api.call('POST', '/v1/invoices/search', { body });
      expect(found.items.length).toBeGreaterThanOrEqual(COUNT);
      for (const invoice of found.items.slice(0, 60)) {
        const { subscription_id, period_start, period_end } = invoice;
        const { body: preview } = await api.call('POST', '/v1/invoices/preview', {
          body: { subscription_id, period_start, period_end },
        });
        const amounts = (of: typeof invoice) => [
          ...[of.subtotal, of.total_discount, of.total_tax, of.total, of.due_date],
          of.line_items.map((line: typeof invoice) => [
            line.display_name,
            line.quantity,
            line.amount,
          ]),
        ];
        expect([invoice.id, amounts(invoice)]).toEqual([invoice.id, amounts(preview)]);
        const { body: verified } = await api.call('GET', `/v1/invoices/${invoice.id}/verify`);
        expect([invoice.id, verified]).toEqual([
          invoice.id,
          expect.objectContaining({
            ...{ same_from_inputs: true, same_from_events: true, differences: [] },
          }),
        ]);
      }
    },
  );
});
