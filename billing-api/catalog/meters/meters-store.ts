import { sql } from 'slonik';
import { z } from 'zod';
import type { MeterAggregation } from '../../../contract/aggregation.js';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import type { MeterFilter } from '../../../contract/meter.js';
import { instantColumn, integerColumn, meterFiltersColumn } from '../../../sql/columns.js';
import { aggregationFromRow } from '../../../sql/meter-aggregation.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { isOfEnvironment, rowIsIn, rowIsOfEnvironment } from '../../records/conditions.js';
import { findRecord, findRecords } from '../../records/find-record.js';
import type { Transaction, Unit } from '../../records/unit.js';
import { METERS, type MeterRow } from '../../declarations/catalog/meter.resource.js';

/** What events are counted by: of a COUNT neither field nor expression, which are only kept. */
function countedAggregation(meter: MeterRow): MeterAggregation {
  const aggregation = aggregationFromRow(meter);
  return aggregation.type === 'COUNT'
    ? { ...aggregation, field: null, expression: null }
    : aggregation;
}

/** Puts the definition that the row holds in force; the row again, with its backfill. */
export async function activateDefinition(unit: Unit, meter: MeterRow): Promise<MeterRow | null> {
  await unit.tx.one(sql.type(z.object({ catalog: integerColumn }))`
    SELECT activate_meter_version(
      ${meter.id}, ${meter.version}, ${meter.tenant_id}, ${meter.environment_id},
      ${meter.event_name}, ${JSON.stringify(meter.filters)}::jsonb,
      ${JSON.stringify(countedAggregation(meter))}::jsonb) AS catalog`);
  return findRecord(unit, METERS, meter.id);
}

/** Versions that readers could see at once: complete, and still fed by the live stream. */
export type FedVersion = { readonly version: number; readonly filters: readonly MeterFilter[] };

const fedRow = z.object({ version: z.number().int(), filters: meterFiltersColumn });

/** Newest first. */
export function findFedVersions(unit: Unit, meterId: string): Promise<readonly FedVersion[]> {
  return unit.tx.any(sql.type(fedRow)`
    SELECT version, filters FROM meter_versions
    WHERE meter_id = ${meterId} AND retired_in IS NULL AND read_generations <> '{}'
      AND ${isOfEnvironment}
    ORDER BY version DESC`);
}

/** Lets readers see the rows of an earlier version again, as the version that the row has now. */
export async function revertDefinition(
  unit: Unit,
  meter: MeterRow,
  to: FedVersion,
): Promise<MeterRow | null> {
  await unit.tx.query(sql.type(z.unknown())`
    SELECT revert_meter_version(${meter.id}, ${meter.version}, ${to.version})`);
  return findRecord(unit, METERS, meter.id);
}

/**
 * The instant where raw events begin, when events that the meter has counted were removed by
 * retention; null when all that it counted are still there. Ask after the activation: its lock
 * decides whether a month expired before it.
 */
export async function findLostInput(unit: Unit, meterId: string): Promise<InstantMs | null> {
  return unit.tx.maybeOneFirst(sql.type(z.object({ begin_at: instantColumn }))`
    SELECT raw_events_begin_at() AS begin_at
    WHERE EXISTS (
      SELECT FROM expired_month_environments
      WHERE ${isOfEnvironment} AND append_month >= coalesce(
        (SELECT max(raw_events_begin AT TIME ZONE 'UTC')::date FROM meter_backfills
         WHERE meter_id = ${meterId} AND status = 'completed' AND ${isOfEnvironment}), '-infinity'))`);
}

/** Published meters of an event name. */
export function countMetersOfEvent(unit: Unit, eventName: string): Promise<number> {
  return unit.tx.oneFirst(sql.type(z.object({ count: integerColumn }))`
    SELECT count(*) AS count FROM meters
    WHERE event_name = ${eventName} AND status = 'published' AND ${isOfEnvironment}`);
}

/** The expressions of the published meters of an event name. */
export async function expressionsOfEvent(
  unit: Unit,
  eventName: string,
): Promise<readonly string[]> {
  return unit.tx.anyFirst(sql.type(z.object({ aggregation_expression: z.string() }))`
    SELECT aggregation_expression FROM meters
    WHERE event_name = ${eventName} AND status = 'published' AND ${isOfEnvironment}
      AND aggregation_expression IS NOT NULL`);
}

/** Ends the counting of the meter at exact offsets of the log. */
export async function endDefinition(unit: Unit, meterId: string): Promise<void> {
  await unit.tx.query(sql.type(z.unknown())`SELECT end_meter(${meterId})`);
}

/**
 * A guard: a published price of the meter has not ended, or a subscription goes on that bills by
 * one that has (docs/domain.md 4).
 */
export async function isStillPriced({ tx, now }: Unit, meterId: string): Promise<string | null> {
  const at = sql.fragment`${formatInstant(now)}::timestamptz`;
  const isPriced = await tx.exists(sql.type(z.unknown())`
    SELECT FROM prices
    WHERE meter_id = ${meterId} AND status = 'published' AND ${isOfEnvironment}
      AND (end_date IS NULL OR end_date > ${at})`);
  if (isPriced) return 'has a price that has not ended; end it first';
  const isBilled = await tx.exists(sql.type(z.unknown())`
    SELECT FROM prices
    JOIN subscription_line_items AS line ON line.price_id = prices.id AND line.status = 'published'
      AND (line.end_date IS NULL OR line.end_date > ${at}) AND ${rowIsOfEnvironment('line')}
    JOIN subscriptions ON subscriptions.id = line.subscription_id
      AND ${rowIsIn(['subscriptions', 'subscription_status'], SUBSCRIPTION, 'alive')}
      AND (subscriptions.end_date IS NULL OR subscriptions.end_date > ${at})
      AND ${rowIsOfEnvironment('subscriptions')}
    WHERE prices.meter_id = ${meterId} AND ${rowIsOfEnvironment('prices')}`);
  return isBilled ? 'is on a line of a subscription that goes on' : null;
}

/** The meters with these ids, whatever their status; unknown ids are left out. */
export function findMeters(
  transaction: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, MeterRow>> {
  return findRecords({ tx: transaction }, METERS, ids);
}

/** As `findMeters`; until the transaction ends nobody can archive one that it found. */
export async function findMetersForUse(
  transaction: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, MeterRow>> {
  if (ids.length === 0) return new Map();
  const rows = await transaction.any(sql.type(METERS.row)`
    SELECT * FROM meters
    WHERE id = ANY (${sql.array([...new Set(ids)], 'text')}) AND ${isOfEnvironment}
    ORDER BY id FOR KEY SHARE`);
  return new Map(rows.map((row) => [row.id, row]));
}
