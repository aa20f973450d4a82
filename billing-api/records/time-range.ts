import { DAY_MS, type InstantMs, type Interval } from '../../contract/instant.js';
import { endProblem, type MemberReader } from './member-rules.js';

export type RangeRequest = {
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
};

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
