import { resolveBillingAnchor } from '../../../../billing-api/domain/calendar/billing-boundaries.js';
import { periodFrom } from '../../../../billing-api/domain/periods/ledger-periods.js';
import {
  appendRow,
  endLedger,
  openLedger,
  recordPause,
  splitLastRow,
} from '../../../../billing-api/domain/periods/ledger-rows.js';
import type {
  LedgerPeriod,
  PeriodLedger,
} from '../../../../billing-api/domain/periods/period-ledger.js';
import type { HistoryOperation, Subscription } from '../subscription.js';
import { ProductFinding } from './product-finding.js';

function apply(ledger: PeriodLedger, operation: HistoryOperation): PeriodLedger {
  switch (operation.type) {
    case 'trial_end':
    case 'renewal':
      return appendRow(ledger);
    case 'threshold':
      return splitLastRow(ledger, operation.at);
    case 'pause':
      return recordPause(ledger, { startMs: operation.from, endMs: operation.at });
    case 'cancel':
      return endLedger(ledger, operation.effective);
  }
}

/** The ledger that the product's own operations make of a history. */
export function productLedger(subscription: Subscription): PeriodLedger {
  const { cycle, length, start, end, trialEnd, zone, givenAnchor, history } = subscription;
  const grid = { billingCycle: cycle, billingPeriod: length.period, timezone: zone };
  const billingAnchorMs = resolveBillingAnchor({
    ...grid,
    startMs: start,
    billingAnchorMs: givenAnchor,
  });
  const opened = openLedger(
    { ...grid, billingPeriodCount: length.count, billingCadence: 'RECURRING', endMs: end },
    { startMs: start, billingAnchorMs, trialEndMs: trialEnd },
  );
  return history.reduce(apply, opened);
}

/**
 * The row with an index, recorded or as renewals would append it.
 * @throws ProductFinding when there is none.
 */
export function productRow(ledger: PeriodLedger, index: number): LedgerPeriod {
  let [row] = ledger.periods;
  while (row.index < index) {
    const next = periodFrom(ledger, row.endMs);
    if (next === null) throw new ProductFinding(`it has no period ${index}`);
    row = next;
  }
  return row;
}
