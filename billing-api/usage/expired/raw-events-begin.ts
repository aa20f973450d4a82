import { sql } from 'slonik';
import { z } from 'zod';
import type { InstantMs } from '../../../contract/instant.js';
import { instantColumn } from '../../../sql/columns.js';
import type { BillingDatabase } from '../../records/unit.js';

/**
 * Raw events that the log appended before this instant are removed, or are about to be; null while
 * all are kept. It only rises. @throws DependencyError.
 */
export type ReadRawEventsBegin = () => Promise<InstantMs | null>;

/**
 * How long an answer is kept. Nothing is removed sooner than ten minutes after the instant has
 * risen (aggregator/retention/expire-events.ts), and no request takes as long as the rest of them.
 */
const KEPT_MS = 300_000;

const beginRow = z.object({ begin_at: instantColumn.nullable() });

/** What PostgreSQL says now. @throws DependencyError. */
export async function askRawEventsBegin({ slonik }: BillingDatabase): Promise<InstantMs | null> {
  const row = await slonik.one(sql.type(beginRow)`SELECT raw_events_begin_at() AS begin_at`);
  return row.begin_at;
}

/** @param monotonicMs a clock that is never set. */
export function createRawEventsBegin(
  database: BillingDatabase,
  monotonicMs: () => number,
): ReadRawEventsBegin {
  let known: { readonly untilMs: number; readonly beginMs: InstantMs | null } | null = null;
  return async () => {
    const askedAtMs = monotonicMs();
    if (known !== null && askedAtMs < known.untilMs) return known.beginMs;
    known = { untilMs: askedAtMs + KEPT_MS, beginMs: await askRawEventsBegin(database) };
    return known.beginMs;
  };
}
