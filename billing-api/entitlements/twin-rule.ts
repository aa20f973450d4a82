import type { Interval } from '../../contract/instant.js';
import { overlapOf } from '../domain/calendar/interval.js';
import { Refusal } from '../records/refusal.js';
import type { ReadUnit } from '../records/unit.js';
import type { EntitlementRow } from '../declarations/entitlements/entitlement.resource.js';
import type { EntitlementCommand } from './entitlement-request.js';
import { findTwins } from './entitlements-store.js';

/** An entitlement that was written, and the request that it was made from. */
type Written = readonly [EntitlementRow, EntitlementCommand];

function refusalOf({ entity_type: type }: EntitlementRow, twinId: string): Refusal {
  const owner = type.toLowerCase();
  const problem =
    `this ${owner} has an entitlement to this feature already, ${twinId}: change that one, ` +
    'or send is_additional true, so that both limits add up';
  return new Refusal('already_exists', problem, { feature_id: `is taken by ${twinId}` });
}

function areTwins(left: EntitlementRow, right: EntitlementRow): boolean {
  const of = ({ start_date: start, end_date: end }: EntitlementRow): Interval => ({
    startMs: start ?? -Infinity,
    endMs: end ?? Infinity,
  });
  return (
    left.entity_id === right.entity_id &&
    left.feature_id === right.feature_id &&
    overlapOf(of(left), of(right)) !== null
  );
}

/**
 * One owner has one live entitlement to a feature, unless a request asks for another one: a script
 * that is sent twice must not double an allowance (docs/domain.md 10.1). Compares entitlements that
 * this unit has written with all others, and with the ones before them in the request; a refusal
 * must end the unit. The owners are locked.
 * @returns by the id of an entitlement why it is refused.
 */
export async function twinRefusals(
  { tx }: ReadUnit,
  written: readonly Written[],
): Promise<ReadonlyMap<string, Refusal>> {
  const stored = await findTwins(
    tx,
    written.map(([{ id }]) => id),
  );
  const rows = written.map(([row]) => row);
  const refusals = new Map<string, Refusal>();
  for (const [index, [row, { request }]] of written.entries()) {
    if (request.is_additional === true) continue;
    const before = rows.slice(0, index).find((other) => areTwins(other, row));
    const twinId = stored.get(row.id) ?? before?.id;
    if (twinId !== undefined) refusals.set(row.id, refusalOf(row, twinId));
  }
  return refusals;
}
