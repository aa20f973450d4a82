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
 * The reason why one invoice cannot bill the periods of a parent and of a grouped child
 * (docs/domain.md 29.2): they do not end together. Null where they do, from the period of the child
 * on that is running.
 */
export function alignmentProblem(parent: PeriodLedger, child: PeriodLedger): string | null {
  const isSame =
    parent.billingPeriod === child.billingPeriod &&
    parent.billingPeriodCount === child.billingPeriodCount;
  if (!isSame) return 'their billing_period or billing_period_count differ';
  if (parent.timezone !== child.timezone) return 'their customer_timezone differs';
  const ofParent = endsOf(parent);
  const ofChild = endsOf(child);
  const from = ofParent.findIndex((endMs) => endMs === ofChild[0]);
  const isAligned =
    from >= 0 &&
    ofParent.slice(from).every((endMs, place) => {
      const own = ofChild[place];
      return own === undefined || own === endMs;
    });
  return isAligned
    ? null
    : 'their billing periods do not end on the same dates; billing_anchor decides where they end';
}
