import {
  endDefinition,
  hasLivePrice,
  lockMeterForArchive,
  updateMeter,
} from './meter-changes-store.js';
import type { MeterRow } from './meters-store.js';
import { type WriteDependencies, writeUnit } from '../../records/unit.js';
import type { Caller } from '../../records/caller.js';
import { notFound, Refusal } from '../../records/refusal.js';

/**
 * DELETE /meters/{id}: the meter counts nothing more and keeps what it has counted
 * (domain.md 4).
 */
export async function archiveMeter(
  dependencies: WriteDependencies,
  caller: Caller,
  id: string,
): Promise<MeterRow | Refusal> {
  const now = dependencies.clock.now();
  return writeUnit(
    dependencies,
    caller,
    async ({ tx: transaction }): Promise<MeterRow | Refusal> => {
      const meter = await lockMeterForArchive(transaction, id);
      if (meter === null) return notFound('meter', id);
      if (meter.status !== 'published') {
        return new Refusal('invalid_operation', `the meter is already ${meter.status}`);
      }
      if (await hasLivePrice(transaction, id, now)) {
        return new Refusal('invalid_operation', 'the meter has a price that has not ended');
      }
      await endDefinition(transaction, id);
      const by = { userId: caller.userId, now };
      return updateMeter(transaction, { ...meter, status: 'archived' }, by);
    },
  );
}
