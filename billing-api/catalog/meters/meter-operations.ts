import type { Occasion } from '../../records/occasion.js';
import { removeRecord } from '../../records/change-record.js';
import { isEqual } from '../../records/conditions.js';
import { readRecord } from '../../records/find-record.js';
import type { Refusal } from '../../records/refusal.js';
import type { SearchBodyRequest } from '../../records/search-request.js';
import { searchRecords, type Page } from '../../records/search-records.js';
import { readOperation, writeOperation } from '../../records/operation.js';
import { readUnit, type ReadDependencies, type Unit } from '../../records/unit.js';
import { METERS, type MeterRow } from '../../declarations/catalog/meter.resource.js';
import { endDefinition, isStillPriced } from './meters-store.js';

/** GET /meters/{id}, whatever its status. */
export const readMeter = readOperation((unit, id: string) => readRecord(unit, METERS, id));

/** GET /meters. */
export function listMeters(
  dependencies: ReadDependencies,
  occasion: Occasion,
  request: SearchBodyRequest & { readonly event_name?: string | undefined },
): Promise<Page<MeterRow> | Refusal> {
  const conditions = isEqual('event_name', request.event_name);
  return readUnit(dependencies, occasion, (unit) =>
    searchRecords(unit, METERS, { request, conditions }),
  );
}

/** Archives a meter, unless a live price uses it. A refusal ends the unit. */
export async function archiveMeterIn(unit: Unit, id: string): Promise<MeterRow> {
  const meter = await removeRecord(unit, METERS, { id, guards: [isStillPriced] });
  await endDefinition(unit, id);
  return meter;
}

/**
 * DELETE /meters/{id}: the meter counts nothing more and keeps what it has counted
 * (docs/domain.md 4).
 */
export const archiveMeter = writeOperation((unit, id: string) => archiveMeterIn(unit, id));
