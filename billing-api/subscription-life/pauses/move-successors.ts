import type { InstantMs } from '../../../contract/instant.js';
import {
  LINE_ITEMS,
  type LineItemRow,
} from '../../declarations/subscriptions/line-item.resource.js';
import { updateRecord } from '../../records/change-record.js';
import type { Unit } from '../../records/unit.js';

/**
 * Moves the hand-over of line items that is to be at the end of a period to where the period ends
 * now, so that what is charged from the next period on is (docs/domain.md 27).
 */
export async function moveSuccessors(
  unit: Unit,
  lineItems: readonly LineItemRow[],
  { fromMs, toMs }: { readonly fromMs: InstantMs; readonly toMs: InstantMs },
): Promise<void> {
  const successors = lineItems.filter(
    ({ predecessor_id: before, subscription_phase_id: phase, start_date: startMs }) =>
      before !== null && phase === null && startMs === fromMs,
  );
  const continued = new Set(successors.map((row) => row.predecessor_id));
  for (const row of lineItems) {
    const patch = {
      ...(successors.includes(row) ? { start_date: toMs } : {}),
      ...(continued.has(row.id) && row.end_date === fromMs ? { end_date: toMs } : {}),
    };
    if (Object.keys(patch).length === 0) continue;
    await updateRecord(unit, LINE_ITEMS, { row, patch });
  }
}
