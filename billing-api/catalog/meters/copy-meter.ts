import { holdPublished } from '../../records/find-record.js';
import { ownColumnsOf } from '../../records/resource.js';
import type { Unit } from '../../records/unit.js';
import { storeMeter } from './define-meter.js';
import { METERS, type MeterRow } from '../../declarations/catalog/meter.resource.js';

/** A new meter that counts what a published one counts, from its first event on. */
export async function copyMeter(unit: Unit, id: string): Promise<MeterRow> {
  const source = await holdPublished(unit, METERS, id);
  const { metadata } = source;
  const first = { version: 1, read_version: 1 };
  return storeMeter(unit, { ...ownColumnsOf(METERS, source), ...first, metadata });
}
