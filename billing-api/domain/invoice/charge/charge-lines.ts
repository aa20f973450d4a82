import { ONE, ZERO, plain, type Decimal } from '../../../../contract/number/decimal.js';
import type { Interval } from '../../../../contract/instant.js';
import { zip } from '../../../../runtime/failure.js';
import type { SubscriptionCommitment } from '../../commitment/commitment.js';
import { splitCharges, type ChargePart } from '../../commitment/split-charges.js';
import { Money, atLeastZero, roundMoney, sumOfMoney } from '../../money/money.js';
import { commitmentPeriodOf, type CommitmentPeriod } from './commitment-period.js';
import type { InvoiceInputs, InvoiceLine } from '../invoice.js';
import { invoiceScopeOf } from '../invoice-scope.js';
import type { CommitmentTrace } from '../../commitment/commitment-trace.js';
import type { Rounding } from '../line-trace.js';
import type { RatedLine } from './rated-line.js';

/** A line with its amount, or one of the two parts of a split line. */
export type ChargedLine<C extends string = string> = {
  readonly kind: 'charge' | 'overage';
  readonly rated: RatedLine;
  readonly quantity: Decimal;
  readonly exact: Decimal;
  readonly amount: Money<C>;
  readonly mode: Rounding['mode'];
  readonly commitment: CommitmentTrace | null;
  readonly metadata: InvoiceLine['metadata'];
  /** By earlier parts of a split period; absent where there are none. */
  readonly chargedBefore?: Money<C>;
};

/** The unused part of a subscription's commitment; greater than 0. */
export type TrueUp<C extends string = string> = {
  readonly commitment: SubscriptionCommitment;
  /** The amount of the commitment. */
  readonly committed: Money<C>;
  readonly window: Interval;
  /** The used part of the commitment, by earlier invoices and by the lines of this one. */
  readonly utilized: Money<C>;
  readonly amount: Money<C>;
};

export type ChargedLines<C extends string = string> = {
  readonly lines: readonly ChargedLine<C>[];
  readonly trueUp: TrueUp<C> | null;
};

/** What earlier parts of a split period charged for a line; null where there are none. */
function chargedBefore<C extends string>(
  { billable, measured }: RatedLine,
  { earlierSegments = [] }: InvoiceInputs<C>,
  currency: C,
): Money<C> | null {
  const { id } = billable.lineItem;
  const own = earlierSegments.filter(({ lineItemId }) => lineItemId === id);
  if (measured === null || own.length === 0) return null;
  return sumOfMoney(
    own.map(({ amount }) => new Money(amount, currency)),
    currency,
  );
}

/**
 * A line without a commitment of the subscription is rounded by itself (docs/domain.md 6.3), and
 * leaves out what threshold invoices of the same period have charged (docs/domain.md 30.1).
 */
function chargeAlone<C extends string>(rated: RatedLine, inputs: InvoiceInputs<C>): ChargedLine<C> {
  const { currency } = inputs.subscription;
  const before = chargedBefore(rated, inputs, currency);
  const whole = roundMoney(rated.charge, currency);
  return {
    kind: 'charge',
    rated,
    quantity: rated.quantity,
    exact: rated.charge,
    amount: before === null ? whole : whole.minus(before),
    mode: 'half_up_away_from_zero',
    commitment: rated.committed?.trace ?? null,
    metadata: {},
    ...(before === null ? {} : { chargedBefore: before }),
  };
}

type Committed<C extends string> = {
  readonly commitment: SubscriptionCommitment;
  readonly period: CommitmentPeriod<C>;
  readonly rated: RatedLine;
  /** Whether the charges reach the commitment; then the amounts are parts of a rounded sum. */
  readonly isExhausted: boolean;
};

function traceOf<C extends string>(part: ChargePart<C>, committed: Committed<C>): CommitmentTrace {
  const { commitment, period, rated } = committed;
  const { isOverage, base, exact, usedBefore } = part;
  return {
    level: 'subscription',
    type: 'amount',
    amount: commitment.amount,
    window: period.window,
    isLast: period.isLast,
    usedBefore: period.usedBefore.value.plus(usedBefore),
    inCommitment: isOverage ? ZERO : exact,
    overageBase: isOverage ? base : ZERO,
    overageFactor: commitment.overageFactor,
    overage: isOverage ? exact : ZERO,
    trueUp: ZERO,
    splitOf: base.equals(rated.charge) ? null : rated.charge,
  };
}

function chargePart<C extends string>(
  part: ChargePart<C>,
  committed: Committed<C>,
): ChargedLine<C> {
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
  const { amount, overageFactor, isMinimum = false } = commitment;
  const isActive = amount.greaterThan(ZERO) && (overageFactor.greaterThan(ONE) || isMinimum);
  return isActive ? commitment : null;
}

function trueUpOf<C extends string>(
  lines: readonly ChargedLine<C>[],
  commitment: SubscriptionCommitment,
  { window, usedBefore, isLast }: CommitmentPeriod<C>,
): TrueUp<C> | null {
  if (!commitment.isTrueUpEnabled || !isLast) return null;
  const within = lines.filter((line) => line.commitment !== null && line.kind === 'charge');
  const utilized = within.reduce((sum, { amount }) => sum.plus(amount), usedBefore);
  const committed = new Money(commitment.amount, usedBefore.currency);
  const amount = restOf(committed, utilized);
  return amount.isZero() ? null : { commitment, committed, window, utilized, amount };
}

/** The unused part of a commitment; 0 when more than the commitment was used. */
function restOf<C extends string>(committed: Money<C>, used: Money<C>): Money<C> {
  return atLeastZero(committed.minus(used));
}

/**
 * The lines of an invoice with their amounts, in line order: each charge rounded once, usage
 * charges after the commitment of the subscription (docs/domain.md 11.1, 11.2, 13.1.2 c and e).
 */
export function chargeLines<C extends string>(
  rated: readonly RatedLine[],
  inputs: InvoiceInputs<C>,
): ChargedLines<C> {
  const { subscription: terms, period: invoicePeriod } = inputs;
  const { currency } = terms;
  const commitment = activeCommitment(inputs);
  if (commitment === null) {
    return { lines: rated.map((line) => chargeAlone(line, inputs)), trueUp: null };
  }
  const period = commitmentPeriodOf(inputs, {
    duration: commitment.duration,
    windowsFromMs: commitment.windowsFromMs,
    every: terms,
    steps: 1,
    startMs: invoicePeriod.startMs,
    lineItemIds: null,
  });
  const available = restOf(new Money(commitment.amount, currency), period.usedBefore);
  const usage = rated.filter(({ measured }) => measured !== null);
  const { overageFactor } = commitment;
  const parts = splitCharges(usage, { available, overageFactor });
  const charges = usage.reduce((sum, { charge }) => sum.plus(charge), ZERO);
  const isExhausted = charges.greaterThanOrEqualTo(available.value);
  const partsOf = new Map(zip(usage, parts));
  const lines = rated.flatMap((line) => {
    const of = partsOf.get(line);
    if (of === undefined) return [chargeAlone(line, inputs)];
    const committed = { commitment, period, rated: line, isExhausted };
    return of.map((part) => chargePart(part, committed));
  });
  return { lines, trueUp: trueUpOf(lines, commitment, period) };
}
