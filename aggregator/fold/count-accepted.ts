import { environmentKey, type Environment } from '../../contract/environment.js';
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
    // A record may hold parts of several environments and receipts.
    for (const { environment, receivedAtMs } of candidates) {
      const hourMs = Math.floor(receivedAtMs / HOUR_MS) * HOUR_MS;
      const key = `${environmentKey(environment)}|${hourMs}`;
      const count = counts.get(key);
      if (count === undefined) counts.set(key, { environment, hourMs, eventCount: 1 });
      else count.eventCount += 1;
    }
  }
  return [...counts.values()];
}
