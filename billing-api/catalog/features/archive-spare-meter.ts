import { lockRecordForRemoval } from '../../records/find-record.js';
import type { Unit } from '../../records/unit.js';
import { archiveMeterIn } from '../meters/meter-operations.js';
import { METERS } from '../../declarations/catalog/meter.resource.js';
import { isStillPriced } from '../meters/meters-store.js';
import type { FeatureRow } from '../../declarations/catalog/feature.resource.js';
import { findFeaturesOfMeters } from './features-store.js';

/** Whether a meter may go with its feature: nothing else shows it or bills by it. */
async function isMeterSpare(unit: Unit, featureId: string, meterId: string): Promise<boolean> {
  const meter = await lockRecordForRemoval(unit, METERS, meterId);
  if (meter?.status !== 'published') return false;
  const features = await findFeaturesOfMeters(unit.tx, [meterId]);
  if (features.some((feature) => feature.id !== featureId)) return false;
  return (await isStillPriced(unit, meterId)) === null;
}

/** Archives the meter of an archived feature when nothing else needs it. */
export async function archiveSpareMeter(
  unit: Unit,
  { id, meter_id: meterId }: FeatureRow,
): Promise<void> {
  if (meterId === null || !(await isMeterSpare(unit, id, meterId))) return;
  await archiveMeterIn(unit, meterId);
}
