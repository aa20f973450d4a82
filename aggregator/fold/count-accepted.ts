import type { Environment } from '../../contract/environment.js';
import { HOUR_MS, type InstantMs } from '../../contract/instant.js';
import type { DecodedRecord } from './candidate.js';

/** Events of one environment that were received in one hour (UTC), duplicates included. */
export type AcceptedCount = {
  readonly environment: Environment;
  readonly hourMs: InstantMs;
  readonly eventCount: number;
};

/**
 * Counts what was decoded before anything else happens to it, so that the reconciliation has a
 * count that does not depend on de-duplication, matching or folding (docs/domain.md 7.2). In order
 * of appearance.
 */
export function countAccepted(records: readonly DecodedRecord[]): readonly AcceptedCount[] {
  const counts = new Map<string, { -readonly [Key in keyof AcceptedCount]: AcceptedCount[Key] }>();
  for (const { candidates } of records) {
    // One record is of one environment and one receipt.
    const first = candidates[0];
    if (first === undefined) continue;
    const { environment } = first;
    const hourMs = Math.floor(first.receivedAtMs / HOUR_MS) * HOUR_MS;
    const key = `${environment.tenantId}|${environment.environmentId}|${hourMs}`;
    const count = counts.get(key);
    if (count === undefined) {
      counts.set(key, { environment, hourMs, eventCount: candidates.length });
    } else count.eventCount += candidates.length;
  }
  return [...counts.values()];
}
