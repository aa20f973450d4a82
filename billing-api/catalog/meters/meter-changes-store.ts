import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import type { MeterFilter } from '../../../contract/meter.js';
import { meterFiltersColumn, noRows } from '../../../sql/columns.js';
import { METERS, findMeter, type MeterRow } from './meters-store.js';
import type { Transaction } from '../../records/unit.js';

/**
 * A meter that is about to change, with the lock under which its versions and pointer are written.
 */
export function lockMeter(transaction: Transaction, id: string): Promise<MeterRow | null> {
  return transaction.maybeOne(sql.type(METERS.row)`
    SELECT * FROM meters WHERE id = ${id} FOR NO KEY UPDATE`);
}

/** A meter that is about to be archived: no price can be made for it meanwhile. */
export function lockMeterForArchive(
  transaction: Transaction,
  id: string,
): Promise<MeterRow | null> {
  return transaction.maybeOne(sql.type(METERS.row)`
    SELECT * FROM meters WHERE id = ${id} FOR UPDATE`);
}

/** What a change may set. */
export type MeterMembers = Pick<MeterRow, 'id' | 'name' | 'metadata' | 'version' | 'status'> & {
  readonly filters: readonly MeterFilter[];
};
export type ChangedBy = { readonly userId: string; readonly now: InstantMs };

/** Writes the members that can change; what the aggregator counts by is not among them. */
export function updateMeter(
  transaction: Transaction,
  meter: MeterMembers,
  by: ChangedBy,
): Promise<MeterRow> {
  return transaction.one(sql.type(METERS.row)`
    UPDATE meters
    SET name = ${meter.name}, metadata = ${JSON.stringify(meter.metadata)}::jsonb,
      filters = ${JSON.stringify(meter.filters)}::jsonb, version = ${meter.version},
      status = ${meter.status}, updated_by = ${by.userId},
      updated_at = ${formatInstant(by.now)}::timestamptz
    WHERE id = ${meter.id}
    RETURNING *`);
}

/** Versions that readers could see at once: complete, and still fed by the live stream. */
export type FedVersion = { readonly version: number; readonly filters: readonly MeterFilter[] };

const fedRow = z.object({ version: z.number().int(), filters: meterFiltersColumn });

/** Newest first. */
export function findFedVersions(
  transaction: Transaction,
  meterId: string,
): Promise<readonly FedVersion[]> {
  return transaction.any(sql.type(fedRow)`
    SELECT version, filters FROM meter_versions
    WHERE meter_id = ${meterId} AND retired_in IS NULL AND read_generations <> '{}'
    ORDER BY version DESC`);
}

/** Lets readers see the rows of an earlier version again, as the version that the row has now. */
export async function revertDefinition(
  transaction: Transaction,
  meter: MeterRow,
  to: FedVersion,
): Promise<MeterRow | null> {
  await transaction.query(sql.type(z.unknown())`
    SELECT revert_meter_version(${meter.id}, ${meter.version}, ${to.version})`);
  return findMeter(transaction, meter.id);
}

/** Ends the counting of the meter at exact offsets of the log. */
export async function endDefinition(transaction: Transaction, meterId: string): Promise<void> {
  await transaction.query(sql.type(z.unknown())`SELECT end_meter(${meterId})`);
}

/** Whether a published price of the meter has not ended. */
export async function hasLivePrice(
  transaction: Transaction,
  meterId: string,
  now: InstantMs,
): Promise<boolean> {
  const price = await transaction.maybeOne(sql.type(noRows)`
    SELECT FROM prices
    WHERE meter_id = ${meterId} AND status = 'published'
      AND (end_date IS NULL OR end_date > ${formatInstant(now)}::timestamptz)
    LIMIT 1`);
  return price !== null;
}
