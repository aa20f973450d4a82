import { sql } from 'slonik';
import { expect, vi } from 'vitest';
import { z } from 'zod';
import {
  environment,
  eventOf,
  test as base,
  PARTITIONS,
  WAIT,
  type World,
} from '../../../aggregator/testing/aggregator-world.js';
import { balanceClosedHours } from '../../../billing-api/events/reconciliation/balance-closed-hours.js';
import { readCheckpoints } from '../../../billing-api/usage/watermark/checkpoints.js';
import type { ClickHouse } from '../../../clickhouse/client.js';
import type { Environment } from '../../../contract/environment.js';
import { eventKey, partitionOf } from '../../../contract/event-key.js';
import { encodeEventRecord, type UsageEvent } from '../../../contract/usage-event.js';
import { makeKey } from '../../../load-tests/harness/make-key.js';
import { ownerDatabase, ownerOf } from '../../../load-tests/harness/owner.js';
import { integerColumn } from '../../../sql/columns.js';
import type { Database } from '../../../sql/pool.js';
import { eraseCustomer, type Erased } from '../erase/erase-customer.js';
import type { ErasureStores } from '../erase/erasure-stores.js';
import { findErasedCustomers } from '../erase/named-customer.js';
import { operatorsOccasion } from '../as-operator.js';

const run = sql.type(z.unknown());

type ExternalIds = string | readonly string[];

export type ErasureWorld = World & {
  readonly owner: Database;
  readonly stores: ErasureStores;
  /** Erases what events name by these external ids, in the first environment. */
  readonly erase: (externalIds: ExternalIds, stores?: Partial<ErasureStores>) => Promise<Erased>;
};

/** Another tenant, whose customers have the same external ids. */
export const OTHER: Environment = { tenantId: 'tenant_2', environmentId: 'env_2' };

/** An engine-backed log, aggregators, and an operator. */
export const test = base.extend<{ readonly erasing: ErasureWorld }>({
  erasing: async ({ world, database: { url } }, use) => {
    const owner = await ownerDatabase(url);
    for (const of of [environment, OTHER]) await makeKey(world.database, { environment: of });
    const stores: ErasureStores = {
      database: owner,
      clickhouse: world.clickhouse,
      openLog: () => Promise.resolve(world.reader),
    };
    const erase: ErasureWorld['erase'] = async (externalIds, others = {}) => {
      const { environmentId } = environment;
      const occasion = await operatorsOccasion(owner, { environmentId });
      const named = [externalIds]
        .flat()
        .map((externalId) => ({ kind: 'external_id' as const, externalId }));
      const customer = await findErasedCustomers(owner, environment, named);
      return eraseCustomer({ ...stores, ...others }, occasion, customer);
    };
    await use({ ...world, owner, stores, erase });
  },
});

/** Appends events of an environment, one record each, received in the second hour of 1970. */
export async function sendOf(
  { writer }: World,
  of: Environment,
  events: readonly UsageEvent[],
): Promise<void> {
  await writer.append(
    events.map((event) => {
      const key = eventKey(of, event.eventId);
      const record = { environment: of, receivedAtMs: 3_700_000, events: [event] };
      return { partition: partitionOf(key, PARTITIONS), key, value: encodeEventRecord(record) };
    }),
  );
}

/** Ids of events: `prefix-0` and on. */
export const idsOf = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

/** Makes events of a customer from their ids. */
export const eventsOf =
  (externalCustomerId: string) =>
  (id: string): UsageEvent =>
    eventOf(id, { externalCustomerId });

/** Waits until all that was sent is counted. */
export async function whenCounted(world: World): Promise<void> {
  await vi.waitFor(async () => {
    expect(await isAllCounted(world)).toBe(true);
  }, WAIT);
}

/** Whether all that was sent is counted. */
export async function isAllCounted({ database, reader }: World): Promise<boolean> {
  const checkpoints = await readCheckpoints(database);
  for (let partition = 0; partition < PARTITIONS; partition += 1) {
    const { endOffset } = await reader.bounds(partition);
    const counted = checkpoints.nextOffset(reader.identity.logId, partition) ?? 0;
    if (counted < endOffset) return false;
  }
  return true;
}

/** What the reconciliation of all tenants finds of the second hour of 1970. */
export const differenceOf = ({ database, clickhouse }: World): Promise<number> =>
  balanceClosedHours({ database, clickHouse: clickhouse }, 10_800_000);

const usageRow = z.object({ customer: z.string(), events: integerColumn, usage: integerColumn });
export type UsageOfCustomer = z.output<typeof usageRow>;

/** Stored events and the usage of meter m1 that readers see, of every customer. */
export async function usageByCustomer(world: World): Promise<readonly UsageOfCustomer[]> {
  const pointers = await ownerOf(world.database).any(
    sql.type(z.object({ generations: z.array(z.string()) }))`
      SELECT read_generations::text[] AS generations FROM meter_versions WHERE meter_id = 'm1'`,
  );
  const generations = pointers.flatMap((pointer) => pointer.generations.map(Number));
  return world.clickhouse.query(
    `SELECT customer, sum(event_rows) AS events, sum(counted) AS usage FROM (
       SELECT concat(tenant_id, ' ', customer_key) AS customer, 1 AS event_rows, 0 AS counted
       FROM events_v1
       UNION ALL
       SELECT concat(tenant_id, ' ', customer_key) AS customer, 0, event_count
       FROM usage_minute_v1
       WHERE meter_id = 'm1' AND has({generations:Array(UInt64)}, generation))
     GROUP BY customer ORDER BY customer`,
    { generations },
    usageRow,
  );
}

/** Every text of every table in which this text stands. */
export async function tablesWith(clickhouse: ClickHouse, text: string): Promise<readonly string[]> {
  const tables = ['events_v1', 'usage_minute_v1', 'event_duplicates_v1', 'dead_letters_v1'];
  const found: string[] = [];
  for (const table of tables) {
    const [row] = await clickhouse.query(
      `SELECT countIf(position(toString(tuple(*)), {text:String}) > 0) AS found FROM ${table}`,
      { text },
      z.object({ found: integerColumn }),
    );
    if (row?.found !== 0) found.push(table);
  }
  return found;
}

/** Makes a customer of the first environment. */
export async function makeCustomer(
  { database }: World,
  customer: { readonly id: string; readonly externalId: string; readonly status?: string },
): Promise<void> {
  const { tenantId, environmentId } = environment;
  await ownerOf(database).query(run`
    INSERT INTO customers (id, tenant_id, environment_id, external_id, name, metadata, status,
      created_at, updated_at)
    VALUES (${customer.id}, ${tenantId}, ${environmentId}, ${customer.externalId}, 'Name', '{}',
      ${customer.status ?? 'published'}, now(), now())`);
}
