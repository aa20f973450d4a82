import { CORRECTIONS } from '../declarations/corrections/correction.resource.js';
import { readRecord } from '../records/find-record.js';
import type { JobActor, Occasion } from '../records/occasion.js';
import { mustWrite } from '../records/unit.js';
import { findCheckpoints } from '../usage/watermark/checkpoints.js';
import { readBackfilled } from './backfilled-events.js';
import { endCorrection, type CorrectionInput } from './correction-operations.js';
import { readTouched, writeEvents, writeMinutes, type CorrectedEvent } from './correction-store.js';
import { findInForce, holdCorrections, nextNumber, noteStretches } from './in-force.js';
import type { PrepareDependencies } from './prepare-correction.js';

/**
 * Withdraws the events of a backfill, once all of them are counted. Those that were duplicates of
 * events which others had sent in the meantime stay as they are.
 * @throws Error while some are not counted yet; then it is tried again.
 */
export async function revertBackfill(
  dependencies: PrepareDependencies,
  occasion: Occasion<JobActor>,
  { correctionId }: CorrectionInput,
): Promise<void> {
  const { clickHouse } = dependencies;
  const { environment } = occasion;
  const found = await mustWrite(dependencies, occasion, async (unit) => {
    const correction = await readRecord(unit, CORRECTIONS, correctionId);
    if (correction.correction_status !== 'reverting') return null;
    const { numbers: inForce } = await findInForce(unit);
    const { ends } = await findCheckpoints(unit.tx);
    const number = await nextNumber(unit);
    return { correction, target: { environment, number, inForce, ends } };
  });
  if (found === null) return;
  const { correction, target } = found;
  const events = await readBackfilled(clickHouse, target, correction);
  const own = events.filter(({ receivedAtMs }) => receivedAtMs === correction.prepared_at);
  const withdrawn = own.map((before): CorrectedEvent => {
    return { effect: 'withdrawn', before, after: { ...before, properties: {} } };
  });
  await writeEvents(clickHouse, target, withdrawn);
  await writeMinutes(clickHouse, target);
  const touched = await readTouched(clickHouse, target);
  await mustWrite(dependencies, occasion, async (unit) => {
    await holdCorrections(unit);
    await noteStretches(unit, correction, { number: target.number, touched });
    return endCorrection(unit, correctionId, { isInForce: true });
  });
}
