import type { InstantMs } from '../../../contract/instant.js';
import { appendRow, isOver } from './ledger-rows.js';
import { lastRecorded, type PeriodLedger } from './period-ledger.js';

/** Four years of months, so that 29 February and every length of a month are among them. */
const COMPARED = 48;

/** The ends of the running period and of those that follow, as far as they are compared. */
function endsOf(ledger: PeriodLedger): readonly InstantMs[] {
  let current = ledger;
  const ends = [lastRecorded(current).endMs];
  while (ends.length < COMPARED && !isOver(current)) {
    current = appendRow(current);
    ends.push(lastRecorded(current).endMs);
  }
  return ends;
}

/**
 * Why the periods of two subscriptions do not end together (docs/domain.md 29.2); null when they
 * do, from the running period of the child on.
 */
export function alignmentProblem(parent: PeriodLedger, child: PeriodLedger): string | null {
  const isSame =
    parent.billingPeriod === child.billingPeriod &&
    parent.billingPeriodCount === child.billingPeriodCount;
  if (!isSame) return 'they have billing periods of different lengths';
  if (parent.timezone !== child.timezone) return 'they have different time zones';
  const ofParent = endsOf(parent);
  const ofChild = endsOf(child);
  const from = ofParent.findIndex((endMs) => endMs === ofChild[0]);
  const isAligned =
    from >= 0 &&
    ofParent.slice(from).every((endMs, place) => {
      const own = ofChild[place];
      return own === undefined || own === endMs;
    });
  return isAligned ? null : 'their periods do not end at the same instants';
}
