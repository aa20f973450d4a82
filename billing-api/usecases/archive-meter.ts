import {
  endDefinition,
  hasLivePrice,
  lockMeterForArchive,
  updateMeter,
} from '../store/meter-changes.js';
import type { MeterRow } from '../store/meters.js';
import { writeAs } from '../store/transaction.js';
import type { Caller } from './caller.js';
import type { Writing } from './dependencies.js';
import { notFound, Refusal } from './refusal.js';

/**
 * DELETE /meters/{id}: the meter counts nothing more and keeps what it has counted
 * (domain.md 4).
 */
export async function archiveMeter(
  { database, clock }: Pick<Writing, 'database' | 'clock'>,
  caller: Caller,
  id: string,
): Promise<MeterRow | Refusal> {
  const now = clock.now();
  return writeAs(database, caller, async (transaction): Promise<MeterRow | Refusal> => {
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
  });
}
