import { sql, type CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { readRawEventsBegin } from '../../../aggregator/retention/expired-months.js';
import type { Environment } from '../../../contract/environment.js';
import type { InstantMs } from '../../../contract/instant.js';
import { createId } from '../../../runtime/ids.js';
import { instantColumn, integerColumn, noRows } from '../../../sql/columns.js';
import type { Database } from '../../../sql/pool.js';
import { VerbRefused } from '../../stack/verb-refused.js';
import { customerOfKeys, keysOf, type ErasedCustomer } from './named-customer.js';
import type { BatchEvents, Bound, HourEvents } from './stored-rows.js';

/** An erasure that is not finished. */
export type Erasure = {
  readonly id: string;
  readonly environment: Environment;
  readonly customer: ErasedCustomer;
  readonly startedAt: InstantMs;
  /** What an earlier run has noted and perhaps not removed; null when there is nothing. */
  readonly noted: { readonly customer: ErasedCustomer; readonly bounds: readonly Bound[] } | null;
  /**
   * Events that were appended before have been counted as expired; null when none have. No month
   * expires while an erasure runs.
   */
  readonly eventsBeginMs: InstantMs | null;
};

const boundsColumn = z.array(
  z.object({ log: z.string(), partition: z.number(), below: z.number() }),
);
const erasureRow = z.object({
  id: z.string(),
  customer: z.string(),
  started_at: instantColumn,
  customer_keys: z.array(z.string()),
  bounds: boundsColumn.nullable(),
});

/**
 * Overtakes the backfills of the environment, so that what their attempts have read is never shown;
 * they begin anew when no erasure is under way.
 */
async function overtakeBackfills(
  transaction: CommonQueryMethods,
  { tenantId, environmentId }: Environment,
): Promise<void> {
  await transaction.query(sql.type(noRows)`
    UPDATE meter_backfills SET attempts = attempts + 1, claimed_until = NULL
    WHERE tenant_id = ${tenantId} AND environment_id = ${environmentId} AND status <> 'completed'`);
}

/** Each must go on with what it has noted itself, else some events would be noted twice. */
function refuseSeveral(
  interrupted: z.output<typeof erasureRow> | undefined,
  others: readonly z.output<typeof erasureRow>[],
): void {
  if (interrupted === undefined || others.length === 0) return;
  const names = [interrupted, ...others].map(({ customer }) => customer).join('; ');
  throw new VerbRefused(
    `several erasures of these customers were cut short, which have to be ended one by one: run the command again for each of: ${names}`,
  );
}

/**
 * Begins an erasure, or finds the one of the same events that was interrupted; another customer may
 * have got the external id since. From now until its end no backfill of
 * the environment begins or is completed.
 * @throws VerbRefused when several erasures of these customers were interrupted.
 */
export async function beginErasure(
  database: Database,
  environment: Environment,
  customer: ErasedCustomer,
): Promise<Erasure> {
  const { tenantId, environmentId } = environment;
  const keys = sql.array([...keysOf(customer)], 'text');
  return database.transaction(async (transaction) => {
    const [interrupted, ...others] = await transaction.any(sql.type(erasureRow)`
      SELECT id, customer, started_at, customer_keys, bounds FROM event_erasures
      WHERE tenant_id = ${tenantId} AND environment_id = ${environmentId}
        AND finished_at IS NULL AND customer_keys && ${keys}
      ORDER BY id`);
    refuseSeveral(interrupted, others);
    const row =
      interrupted ??
      (await transaction.one(sql.type(erasureRow)`
        INSERT INTO event_erasures
          (id, tenant_id, environment_id, customer, customer_keys, started_at)
        VALUES (${createId('erasure')}, ${tenantId}, ${environmentId}, ${customer.name}, ${keys},
          now())
        RETURNING id, customer, started_at, customer_keys, bounds`));
    await overtakeBackfills(transaction, environment);
    const eventsBeginMs = await readRawEventsBegin({ slonik: transaction });
    const { id, started_at: startedAt, customer_keys: notedKeys, bounds } = row;
    const all = [...new Set([...keysOf(customer), ...notedKeys])];
    return {
      id,
      environment,
      startedAt,
      eventsBeginMs,
      customer: customerOfKeys(customer.name, all),
      noted: bounds && { customer: customerOfKeys(customer.name, notedKeys), bounds },
    };
  });
}

/** Takes an erasure back that has removed nothing yet. */
export async function giveUpErasure({ slonik }: Database, { id }: Erasure): Promise<void> {
  await slonik.query(sql.type(noRows)`
    DELETE FROM event_erasures WHERE id = ${id} AND bounds IS NULL`);
}

/** What is about to be removed. */
export type CountedErasure = {
  readonly bounds: readonly Bound[];
  readonly hours: readonly HourEvents[];
  readonly batches: readonly BatchEvents[];
};

/**
 * Notes what is about to be removed, before anything is. Events that an earlier run of the same
 * erasure has noted are gone by now, so the figures add up.
 */
export async function recordCounts(
  database: Database,
  { id, environment, customer }: Erasure,
  { bounds, hours, batches }: CountedErasure,
): Promise<void> {
  const { tenantId, environmentId } = environment;
  const keys = sql.array([...keysOf(customer)], 'text');
  await database.transaction(async (transaction) => {
    await transaction.query(sql.type(noRows)`
      UPDATE event_erasures SET bounds = ${JSON.stringify(bounds)}::jsonb, customer_keys = ${keys}
      WHERE id = ${id}`);
    await transaction.query(sql.type(noRows)`
      INSERT INTO erased_events (erasure_id, tenant_id, environment_id, hour, events)
      SELECT ${id}, ${tenantId}, ${environmentId},
        to_timestamp(counted."hourMs"::double precision / 1000), counted.events
      FROM jsonb_to_recordset(${JSON.stringify(hours)}::jsonb)
        AS counted ("hourMs" bigint, events bigint)
      ON CONFLICT (erasure_id, hour) DO UPDATE SET events = erased_events.events + EXCLUDED.events`);
    await transaction.query(sql.type(noRows)`
      INSERT INTO erased_batches (log, partition, batch_start, events)
      SELECT log, partition, start, events FROM jsonb_to_recordset(${JSON.stringify(batches)}::jsonb)
        AS counted (log text, partition integer, start bigint, events integer)
      ON CONFLICT (log, partition, batch_start)
      DO UPDATE SET events = erased_batches.events + EXCLUDED.events`);
  });
}

const unfinishedRow = z.object({ customer: z.string(), started_at: instantColumn });

/** Erasures of the environment that were interrupted, oldest first. */
export function listUnfinished(
  { slonik }: Database,
  { tenantId, environmentId }: Environment,
): Promise<readonly z.output<typeof unfinishedRow>[]> {
  return slonik.any(sql.type(unfinishedRow)`
    SELECT customer, started_at FROM event_erasures
    WHERE tenant_id = ${tenantId} AND environment_id = ${environmentId} AND finished_at IS NULL
    ORDER BY id`);
}

/** Events that an erasure has noted in all its runs. */
export async function countErased(
  connection: Pick<CommonQueryMethods, 'one'>,
  { id }: Erasure,
): Promise<number> {
  const { events } = await connection.one(sql.type(z.object({ events: integerColumn }))`
    SELECT coalesce(sum(events), 0) AS events FROM erased_events WHERE erasure_id = ${id}`);
  return events;
}

/**
 * Ends an erasure, in the transaction of its entry in the audit trail; backfills of the environment
 * begin anew, also one that was claimed while the erasure began. What the external ids were is not
 * kept.
 */
export async function finishErasure(
  transaction: CommonQueryMethods,
  { id, environment }: Erasure,
): Promise<InstantMs> {
  await overtakeBackfills(transaction, environment);
  const { finished_at: finishedAt } = await transaction.one(
    sql.type(z.object({ finished_at: instantColumn }))`
      UPDATE event_erasures SET finished_at = now(), customer_keys = '{}', customer = '' WHERE id = ${id}
      RETURNING finished_at`,
  );
  return finishedAt;
}

/** Generations of usage rows: those that may be read now or later, among all up to `last`. */
export type Generations = { readonly kept: readonly number[]; readonly last: number };

/**
 * The lock waits for meters that are being changed, so that every other generation up to the last
 * is of an attempt that was given up.
 */
export function readGenerations(
  database: Database,
  { tenantId, environmentId }: Environment,
): Promise<Generations> {
  return database.transaction(async (transaction) => {
    await transaction.query(sql.type(noRows)`LOCK TABLE meter_versions IN SHARE MODE`);
    const { last } = await transaction.one(sql.type(z.object({ last: integerColumn }))`
      SELECT coalesce(pg_sequence_last_value(
        pg_get_serial_sequence('meter_versions', 'generation')), 0) AS last`);
    const rows = await transaction.any(sql.type(z.object({ generation: integerColumn }))`
      SELECT DISTINCT unnest(read_generations || generation) AS generation FROM meter_versions
      WHERE tenant_id = ${tenantId} AND environment_id = ${environmentId}`);
    return { kept: rows.map(({ generation }) => generation), last };
  });
}
