import type { InstantMs, Interval } from '../../../contract/instant.js';
import { currentPeriod } from '../../domain/periods/ledger-periods.js';
import type { PeriodLedger } from '../../domain/periods/period-ledger.js';
import type { MemberReader } from '../../records/member-rules.js';

/** A member of a request with its text. */
type Given = readonly [member: string, text: string | undefined];

/**
 * The period that a request names; an absent bound is that of the current billing period. An end
 * that is not later than the start is noted as a problem of the end.
 */
export function readRequestedPeriod(
  reader: MemberReader,
  given: { readonly start: Given; readonly end: Given },
  { terms, now }: { readonly terms: PeriodLedger; readonly now: InstantMs },
): Interval {
  const current = currentPeriod(terms, now);
  const startMs = reader.instant(...given.start) ?? current.startMs;
  const endMs = reader.instant(...given.end) ?? current.endMs;
  if (endMs <= startMs) reader.note(given.end[0], `must be later than ${given.start[0]}`);
  return { startMs, endMs };
}
