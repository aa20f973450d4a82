import { KnownCustomers } from '../../customers/known-customers.js';
import { sql, type CommonQueryMethods } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import type { Environment } from '../../../contract/environment.js';
import type { Database } from '../../../sql/pool.js';
import type { BillingDatabase } from '../../records/unit.js';
import { test } from '../../testing/billing-test.js';
import { makePricedPlan } from '../../testing/priced-plan.js';
import { createUsageReader } from '../../usage/store/usage-reader.js';
import { isRefusal } from '../../records/refusal.js';
import { invoiceToDto } from '../../documents/answer/invoice-answer.js';
import { previewInvoice } from '../preview/preview-invoice.js';
import { testOccasion } from '../../testing/test-occasion.js';

const OCTOBER = { period_start: '2026-10-01T00:00:00Z', period_end: '2026-11-01T00:00:00Z' };
const NOW = Date.parse('2026-10-20T00:00:00.000Z');

/** Counts the snapshots and statements, and makes a change after one of the statements. */
class WatchedDatabase {
  snapshots = 0;
  statements = 0;

  constructor(
    private readonly database: Database,
    private readonly after: { readonly statement: number; readonly change: () => Promise<void> },
  ) {}

  /** The checkpoints are read once more after the usage; nothing else is. */
  get slonik(): object {
    return { any: this.database.slonik.any.bind(this.database.slonik) };
  }

  readSnapshot<T>(
    environment: Environment,
    work: (connection: CommonQueryMethods) => Promise<T>,
  ): Promise<T> {
    this.snapshots += 1;
    return this.database.readSnapshot(environment, (connection) =>
      work(new Proxy(connection, { get: (target, name) => this.#watched(target, name) })),
    );
  }

  #watched(target: CommonQueryMethods, name: string | symbol): unknown {
    const member: unknown = Reflect.get(target, name);
    if (typeof member !== 'function') return member;
    return async (...parameters: unknown[]): Promise<unknown> => {
      const rows: unknown = await Reflect.apply(member, target, parameters);
      this.statements += 1;
      if (this.statements === this.after.statement) await this.after.change();
      return rows;
    };
  }
}

/** Price and allowance change together: whoever sees one of them only computes 10.00. */
async function changeTerms(database: Database, amount: string, limit: string): Promise<void> {
  const run = sql.type(z.unknown());
  await ownerOf(database).transaction(async (connection) => {
    await connection.query(run`UPDATE prices SET amount = ${amount}`);
    await connection.query(run`UPDATE entitlements SET usage_limit = ${limit}`);
  });
}

describe('the snapshot of a computed invoice', () => {
  test('sees a change that is made between its statements as a whole or not at all', async ({
    api,
    database,
    clickhouse,
  }) => {
    const plan = await makePricedPlan(
      api,
      { database, clickhouse },
      { meter: { type: 'COUNT' }, price: { amount: '1' } },
    );
    const feature = await api.make('/v1/features', {
      name: 'Calls',
      type: 'metered',
      meter_id: plan.meterId,
    });
    await api.make('/v1/entitlements', {
      entity_type: 'PLAN',
      entity_id: plan.planId,
      plan_id: plan.planId,
      feature_id: feature.id,
      feature_type: 'metered',
      is_enabled: true,
      usage_limit: 5,
    });
    const subscriptionId = await plan.subscribe();
    await plan.count(Array.from({ length: 10 }, () => ({ at: '2026-10-05T00:00:00.000Z' })));
    const preview = async (statement: number): Promise<[string, WatchedDatabase]> => {
      await changeTerms(database.database, '1', '5');
      const change = () => changeTerms(database.database, '2', '0');
      const watched = new WatchedDatabase(database.database, { statement, change });
      const computed = await previewInvoice(
        {
          // Other ways to the database are missing, so a second transaction would throw.
          database: watched as unknown as BillingDatabase,
          usage: createUsageReader(clickhouse.client),
          dataUntil: () => Promise.resolve(null),
          knownCustomers: new KnownCustomers(),
          clock: { now: () => NOW },
        },
        testOccasion({ environment: api.environment, userId: 'user' }),
        { subscription_id: subscriptionId, group_by: ['feature_id'], ...OCTOBER },
      );
      if (isRefusal(computed)) throw new Error(computed.message);
      return [invoiceToDto(computed.document, null).subtotal, watched];
    };
    const [unchanged, { statements, snapshots }] = await preview(0);
    expect([unchanged, snapshots]).toEqual(['5.00', 1]);
    expect(statements).toBeGreaterThan(5);
    for (let statement = 1; statement <= statements; statement += 1) {
      const [subtotal, watched] = await preview(statement);
      expect([statement, subtotal, watched.snapshots]).toEqual([statement, '5.00', 1]);
    }
    await changeTerms(database.database, '2', '0');
    const changed = await api.make('/v1/invoices/preview', {
      subscription_id: subscriptionId,
      ...OCTOBER,
    });
    expect(changed.subtotal).toBe('20.00');
  });
});
