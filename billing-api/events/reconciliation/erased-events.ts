import { sql } from 'slonik';
import { z } from 'zod';
import { environmentKey, type Environment } from '../../../contract/environment.js';
import { formatInstant, type InstantMs, type Interval } from '../../../contract/instant.js';
import { instantColumn, integerColumn } from '../../../sql/columns.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { Refusal } from '../../records/refusal.js';
import type { BillingDatabase } from '../../records/unit.js';
import type { HourOfEnvironment } from './finished-events.js';
import type { HourLedger } from './hour-ledger.js';

// Events that an operator has erased (docs/internals/architecture.md D-019) are accepted and stored
// no more.

const nowRow = z.object({ now: instantColumn });
const erasedRow = z.object({ hour: instantColumn, events: integerColumn });
const ofEnvironmentRow = z.object({ tenant_id: z.string(), environment_id: z.string() });

/**
 * The time before a reading, by the clock of PostgreSQL: whoever asks afterwards for erasures since
 * then learns whether stored events went during the reading.
 */
export async function readErasureClock({ slonik }: BillingDatabase): Promise<InstantMs> {
  const { now } = await slonik.one(sql.type(nowRow)`SELECT now() AS now`);
  return now;
}

/**
 * Erased events of one environment by hour of receipt; null when some were being erased at any time
 * since `since`, so that what was read since then may count them twice, or not at all.
 */
function readErasedHours(
  database: BillingDatabase,
  environment: Environment,
  of: { readonly hours: Interval; readonly since: InstantMs },
): Promise<readonly { readonly hourMs: InstantMs; readonly erased: number }[] | null> {
  const [start, end] = [formatInstant(of.hours.startMs), formatInstant(of.hours.endMs)];
  return database.readSnapshot(environment, async (tx) => {
    const isUnderWay = await tx.exists(sql.type(z.unknown())`
      SELECT FROM event_erasures WHERE ${isOfEnvironment} AND bounds IS NOT NULL
        AND (finished_at IS NULL OR finished_at >= ${formatInstant(of.since)}::timestamptz)`);
    if (isUnderWay) return null;
    const rows = await tx.any(sql.type(erasedRow)`
      SELECT hour, sum(events)::bigint AS events FROM erased_events
      WHERE ${isOfEnvironment} AND hour >= ${start}::timestamptz AND hour < ${end}::timestamptz
      GROUP BY hour`);
    return rows.map(({ hour, events }) => ({ hourMs: hour, erased: events }));
  });
}

/** Asked last, since it also tells whether events went while the others were counted. */
export async function addErased(
  database: BillingDatabase,
  ledger: HourLedger,
  of: {
    readonly environment: Environment;
    readonly hours: Interval;
    readonly since: InstantMs;
  },
): Promise<Refusal | null> {
  const erased = await readErasedHours(database, of.environment, of);
  if (erased === null) {
    return new Refusal(
      'service_unavailable',
      'events are being erased; try again when the operator says that it is done',
    );
  }
  for (const { hourMs, erased: events } of erased) ledger.add(hourMs, { erased: events });
  return null;
}

/** Environments in which events were being erased at any time since `since`. */
export async function readErasingEnvironments(
  { slonik }: BillingDatabase,
  since: InstantMs,
): Promise<ReadonlySet<string>> {
  const rows = await slonik.any(sql.type(ofEnvironmentRow)`
    SELECT tenant_id, environment_id
    FROM list_environments_with_erasures(${formatInstant(since)}::timestamptz)`);
  return new Set(
    rows.map((row) =>
      environmentKey({ tenantId: row.tenant_id, environmentId: row.environment_id }),
    ),
  );
}

/** Erased events of all environments by hour of receipt. */
export async function readAllErasedHours(
  { slonik }: BillingDatabase,
  { startMs, endMs }: Interval,
): Promise<readonly (HourOfEnvironment & { readonly erased: number })[]> {
  const rows = await slonik.any(sql.type(erasedRow.merge(ofEnvironmentRow))`
    SELECT tenant_id, environment_id, hour, events
    FROM list_erased_events(${formatInstant(startMs)}::timestamptz,
      ${formatInstant(endMs)}::timestamptz)`);
  return rows.map((row) => ({
    environment: { tenantId: row.tenant_id, environmentId: row.environment_id },
    hourMs: row.hour,
    erased: row.events,
  }));
}
