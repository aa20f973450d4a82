import { assertPresent } from '../../../runtime/failure.js';
import type { Caller } from '../../records/caller.js';
import { createRecord } from '../../records/create-record.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { NewRecord } from '../../records/resource.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import { newMeter } from './meter-rules.js';
import { METERS, type CreateMeterBody, type MeterRow } from './meter.resource.js';
import { activateDefinition } from './meters-store.js';

/**
 * Stores a meter and puts its first definition in force in the same unit (docs/architecture.md
 * 3.2), so that a meter which can be read is always one that is counted.
 */
export async function storeMeter(
  unit: Unit,
  meter: NewRecord<(typeof METERS)['columns']>,
): Promise<MeterRow | Refusal> {
  const row = await createRecord(unit, METERS, meter);
  if (isRefusal(row)) return row;
  return assertPresent(await activateDefinition(unit, row), 'the new meter');
}

/** POST /meters: a meter that counts all events, those that came before it included. */
export async function createMeter(
  dependencies: WriteDependencies,
  caller: Caller,
  body: CreateMeterBody,
): Promise<MeterRow | Refusal> {
  const meter = newMeter(body);
  if (isRefusal(meter)) return meter;
  return writeUnit(dependencies, caller, (unit) => storeMeter(unit, meter));
}
