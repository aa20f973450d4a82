import {
  CORRECTIONS,
  type CorrectionRow,
} from '../declarations/corrections/correction.resource.js';
import { correctedCustomersOf } from '../invoicing/late-usage/corrected-customers.js';
import { lookAt, type LateNeeds } from '../invoicing/late-usage/look-for-late-usage.js';
import { readRecord } from '../records/find-record.js';
import type { JobActor, Occasion } from '../records/occasion.js';
import { mustRead } from '../records/unit.js';
import { recomputeDraftsOfCustomers, type FailedDraft } from '../runs/recompute-drafts.js';
import { readCheckpoints } from '../usage/watermark/checkpoints.js';
import { readBackfilled } from './backfilled-events.js';
import type { CorrectionInput } from './correction-operations.js';
import { findNumberOf } from './in-force.js';
import type { PrepareDependencies } from './prepare-correction.js';

type FollowDependencies = PrepareDependencies & LateNeeds;

/** The events of a backfill count as soon as the aggregator has counted them. */
function isCountedLater({ type, correction_status: status }: CorrectionRow): boolean {
  return type === 'backfill' && status === 'applied';
}

/**
 * Lets invoices follow a correction that was applied or reverted: measures final ones again, which
 * gives late usage (docs/domain.md 13.8), and computes drafts again.
 * @returns drafts that could not be computed.
 * @throws Error while events of a backfill are not counted yet, or a database fails; then it is
 *   tried again.
 */
export async function followCorrection(
  dependencies: FollowDependencies,
  occasion: Occasion<JobActor>,
  { correctionId }: CorrectionInput,
): Promise<readonly FailedDraft[]> {
  const { clickHouse, database } = dependencies;
  const { environment } = occasion;
  const { correction, number } = await mustRead(dependencies, occasion, async (unit) => ({
    correction: await readRecord(unit, CORRECTIONS, correctionId),
    number: await findNumberOf(unit, correctionId),
  }));
  if (number === null) return [];
  const { ends: until } = await readCheckpoints(database);
  if (isCountedLater(correction)) {
    const target = { environment, number, inForce: [], ends: until };
    await readBackfilled(clickHouse, target, correction);
  }
  const failed: FailedDraft[] = [];
  for await (const customers of correctedCustomersOf(clickHouse, environment, [number])) {
    await lookAt(dependencies, occasion, { customers, until });
    const keys = customers.map(({ key }) => key);
    failed.push(...(await recomputeDraftsOfCustomers(dependencies, occasion, keys)));
  }
  return failed;
}
