import { DAY_MS, type InstantMs, type Interval } from '../../../contract/instant.js';
import { MemberReader } from '../../records/member-rules.js';
import type { Refusal } from '../../records/refusal.js';
import { readRange } from '../../records/time-range.js';
import { hourOf } from './hour-ledger.js';

const RANGE_DAYS_MAX = 31;

export type ReconciliationRequest = {
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
};

/** The whole hours that a request's range touches. */
export function hoursFrom(request: ReconciliationRequest, now: InstantMs): Interval | Refusal {
  const reader = new MemberReader();
  const range = readRange(reader, request, { now, days: 1 });
  if (range.endMs - range.startMs > RANGE_DAYS_MAX * DAY_MS) {
    reader.note('start_time', `must be at most ${RANGE_DAYS_MAX} days before end_time`);
  }
  const endMs = -hourOf(-range.endMs);
  return reader.refusal() ?? { startMs: hourOf(range.startMs), endMs };
}
