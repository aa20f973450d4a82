import { DAY_MS, type InstantMs } from '../../contract/instant.js';

/** Leaves out the table partitions of the months before. */
export const IN_MONTHS = "appended_at >= fromUnixTimestamp64Milli({appended_from:Int64}, 'UTC')";

/**
 * Rows of a batch, and those beyond it, were appended at this time or later: a day before the batch
 * began, since a log whose leader changes may set its clock back. 0 when that is not known.
 */
export function appendedFromMs(appendedAtMs: InstantMs | null): InstantMs {
  if (appendedAtMs === null) return 0;
  return Math.max(0, (Math.floor(appendedAtMs / DAY_MS) - 1) * DAY_MS);
}

/**
 * The start of that month. A table has a part for a month at least, which is read as a whole
 * whichever of its days are asked for.
 */
export function monthAppendedFromMs(appendedAtMs: InstantMs): InstantMs {
  const from = new Date(appendedFromMs(appendedAtMs));
  return Date.UTC(from.getUTCFullYear(), from.getUTCMonth());
}
