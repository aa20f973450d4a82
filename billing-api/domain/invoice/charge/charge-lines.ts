import { ONE, ZERO, plain, type Decimal } from '../../../../contract/decimal.js';
import type { Interval } from '../../../../contract/instant.js';
import { zip } from '../../../../runtime/failure.js';
import type { SubscriptionCommitment } from '../../commitment/commitment.js';
import { splitCharges, type ChargePart } from '../../commitment/split-charges.js';
import { roundMoney } from '../../money.js';
import { commitmentPeriodOf, restOf, type CommitmentPeriod } from './commitment-period.js';
import type { InvoiceInputs, InvoiceLine } from '../invoice.js';
import { invoiceScopeOf } from '../invoice-scope.js';
import type { CommitmentTrace } from '../../commitment/commitment-trace.js';
import type { Rounding } from '../line-trace.js';
import type { RatedLine } from './rated-line.js';

/** A line with its amount, or one of the two parts of a split line. */
export type ChargedLine = {
  readonly kind: 'charge' | 'overage';
  readonly rated: RatedLine;
  readonly quantity: Decimal;
  readonly exact: Decimal;
  readonly amount: Decimal;
  readonly mode: Rounding['mode'];
  readonly commitment: CommitmentTrace | null;
  readonly metadata: InvoiceLine['metadata'];
};

/** The unused part of a subscription's commitment; greater than 0. */
export type TrueUp = {
  readonly commitment: SubscriptionCommitment;
  readonly window: Interval;
  /** The used part of the commitment, by earlier invoices and by the lines of this one. */
  readonly utilized: Decimal;
  readonly amount: Decimal;
};

export type ChargedLines = {
  readonly lines: readonly ChargedLine[];
  readonly trueUp: TrueUp | null;
};

/** A line without a commitment of the subscription is rounded by itself (docs/domain.md 6.3). */
function chargeAlone(rated: RatedLine, currency: string): ChargedLine {
  return {
    kind: 'charge',
    rated,
    quantity: rated.quantity,
    exact: rated.charge,
    amount: roundMoney(rated.charge, currency),
    mode: 'half_up_away_from_zero',
    commitment: rated.committed?.trace ?? null,
    metadata: {},
  };
}

type Committed = {
  readonly commitment: SubscriptionCommitment;
  readonly period: CommitmentPeriod;
  readonly rated: RatedLine;
  /** Whether the charges reach the commitment; then the amounts are parts of a rounded sum. */
  readonly isExhausted: boolean;
};

function traceOf(part: ChargePart, committed: Committed): CommitmentTrace {
  const { commitment, period, rated } = committed;
  const { isOverage, base, exact, usedBefore } = part;
  return {
    level: 'subscription',
    type: 'amount',
    amount: commitment.amount,
    window: period.window,
    isLast: period.isLast,
    usedBefore: period.usedBefore.plus(usedBefore),
    inCommitment: isOverage ? ZERO : exact,
    overageBase: isOverage ? base : ZERO,
    overageFactor: commitment.overageFactor,
    overage: isOverage ? exact : ZERO,
    trueUp: ZERO,
    splitOf: base.equals(rated.charge) ? null : rated.charge,
  };
}

function chargePart(part: ChargePart, committed: Committed): ChargedLine {
  const { isOverage, quantity, exact, amount } = part;
  const factor = plain(committed.commitment.overageFactor);
  return {
    kind: isOverage ? 'overage' : 'charge',
    rated: committed.rated,
    quantity,
    exact,
    amount,
    mode: isOverage || committed.isExhausted ? 'largest_remainder' : 'half_up_away_from_zero',
    commitment: traceOf(part, committed),
    metadata: isOverage ? { is_overage: true, overage_factor: factor } : {},
  };
}

/**
 * The commitment of a subscription; null where it has no effect (docs/domain.md 11.6), and on
 * invoices that bill no usage.
 */
function activeCommitment(inputs: InvoiceInputs): SubscriptionCommitment | null {
  const { commitment } = inputs.subscription;
  if (commitment === null || invoiceScopeOf(inputs).usage === null) return null;
  const isActive = commitment.amount.greaterThan(ZERO) && commitment.overageFactor.greaterThan(ONE);
  return isActive ? commitment : null;
}

function trueUpOf(
  lines: readonly ChargedLine[],
  commitment: SubscriptionCommitment,
  { window, usedBefore, isLast }: CommitmentPeriod,
): TrueUp | null {
  if (!commitment.isTrueUpEnabled || !isLast) return null;
  const within = lines.filter((line) => line.commitment !== null && line.kind === 'charge');
  const utilized = within.reduce((sum, { amount }) => sum.plus(amount), usedBefore);
  const amount = restOf(commitment.amount, utilized);
  return amount.isZero() ? null : { commitment, window, utilized, amount };
}

/**
 * The lines of an invoice with their amounts, in line order: each charge rounded once, usage
 * charges after the commitment of the subscription (docs/domain.md 11.1, 11.2, 13.1.2 c and e).
 */
export function chargeLines(rated: readonly RatedLine[], inputs: InvoiceInputs): ChargedLines {
  const { subscription: terms, period: invoicePeriod } = inputs;
  const { currency } = terms;
  const commitment = activeCommitment(inputs);
  if (commitment === null) {
    return { lines: rated.map((line) => chargeAlone(line, currency)), trueUp: null };
  }
  const period = commitmentPeriodOf(inputs, {
    duration: commitment.duration,
    every: terms,
    steps: 1,
    startMs: invoicePeriod.startMs,
    lineItemIds: null,
  });
  const available = restOf(commitment.amount, period.usedBefore);
  const usage = rated.filter(({ measured }) => measured !== null);
  const { overageFactor } = commitment;
  const parts = splitCharges(usage, { available, overageFactor, currency });
  const charges = usage.reduce((sum, { charge }) => sum.plus(charge), ZERO);
  const isExhausted = charges.greaterThanOrEqualTo(available);
  const partsOf = new Map(zip(usage, parts));
  const lines = rated.flatMap((line) => {
    const of = partsOf.get(line);
    if (of === undefined) return [chargeAlone(line, currency)];
    const committed = { commitment, period, rated: line, isExhausted };
    return of.map((part) => chargePart(part, committed));
  });
  return { lines, trueUp: trueUpOf(lines, commitment, period) };
}
