import { DAY_MS, type InstantMs, type Interval } from '../../contract/instant.js';
import type { MemberReader } from './member-rules.js';

export type RangeRequest = {
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
};

/** What is wrong with an end that lies before its start; null when one of them is absent. */
export function endProblem(
  startMember: string,
  startMs: InstantMs | null,
  endMs: InstantMs | null,
): string | null {
  const isEarly = startMs !== null && endMs !== null && endMs < startMs;
  return isEarly ? `must not be before ${startMember}` : null;
}

/**
 * `[start_time, end_time)` of a request: the end is now and the start so many days before the end
 * unless they are given. An end before the start is noted as a problem of end_time.
 */
export function readRange(
  reader: MemberReader,
  request: RangeRequest,
  { now, days }: { readonly now: InstantMs; readonly days: number },
): Interval {
  const endMs = reader.instant('end_time', request.end_time) ?? now;
  const startMs = reader.instant('start_time', request.start_time) ?? endMs - days * DAY_MS;
  reader.note('end_time', endProblem('start_time', startMs, endMs));
  return { startMs, endMs };
}
