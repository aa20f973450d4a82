import { maxOf, sumOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import { mustGet } from '../../../runtime/failure.js';
import { roundToMinorDigits } from '../../domain/money/money.js';
import { splitCredit, type SplitCharge } from '../../domain/settlement/split-credit.js';
import type { Unit } from '../../records/unit.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import { findUnused, type ChargedLine, type ItemCharge, type UnusedItem } from './find-unused.js';
import { planCredits, type PlannedCredit } from './plan-credits.js';
import { storeCredits, type GivenCredit } from './store-credits.js';

/** What is given back of a line of an invoice for unused time, without its taxes. */
export type CreditedLine = {
  readonly lineItemId: string;
  readonly period: Interval;
  readonly lineId: string;
  readonly invoiceId: string;
  readonly displayName: string;
  readonly amount: Decimal;
};

/** What of the charges of a line item is given back, and for which time. */
type ItemCredit = {
  readonly lineItemId: string;
  readonly period: Interval;
  /** Rounded to the currency; 0 is left out. */
  readonly amount: Decimal;
  readonly charges: readonly ItemCharge[];
};

/** A credit of a line item, by the lines of invoices that charge it (docs/domain.md 23.1). */
export function linesOfCredit(
  { lineItemId, period, amount, charges }: ItemCredit,
  currency: string,
): readonly CreditedLine[] {
  if (!amount.greaterThan(ZERO)) return [];
  const byId = new Map<string, ChargedLine>();
  const splittable: SplitCharge[] = [];
  for (const { period: own, net, noted = ZERO, line } of charges) {
    if (line === null) continue;
    byId.set(line.id, line);
    const left = net.minus(noted).minus(line.credited);
    splittable.push({ lineId: line.id, period: own, net: maxOf(ZERO, net), left });
  }
  return splitCredit(splittable, { amount, period }, currency).map((part) => {
    const { invoiceId, displayName } = mustGet(byId, part.lineId, 'the line of a charge');
    return { lineItemId, period, invoiceId, displayName, ...part };
  });
}

/** What is unused of charges in advance, rounded line item by line item. */
export function creditsOf(
  unused: readonly UnusedItem[],
  currency: string,
): readonly CreditedLine[] {
  return unused.flatMap(({ row: { id: lineItemId }, exact, period, charges }) => {
    const amount = roundToMinorDigits(exact, currency);
    return linesOfCredit({ lineItemId, period, amount, charges }, currency);
  });
}

/**
 * Gives charges of line items back (docs/domain.md 23.1): what their invoices leave to be paid is
 * lowered first, and the rest goes to wallets, by notes that name their lines. Those invoices are
 * locked.
 */
export async function creditLines(
  unit: Unit,
  credits: readonly CreditedLine[],
): Promise<GivenCredit> {
  return storeCredits(unit, await planCredits(unit, credits), []);
}

/**
 * What of unused charges an invoice may set off: what their own invoices do not leave to be paid,
 * which is lowered first (docs/domain.md 25.3).
 */
export function setOffOf(
  unused: readonly UnusedItem[],
  planned: readonly PlannedCredit[],
  currency: string,
): readonly UnusedItem[] {
  const rest = planned.flatMap((one) => one.rest);
  return unused.flatMap((item) => {
    const own = rest.filter(({ lineItemId }) => lineItemId === item.row.id);
    const exact = sumOf(own.map(({ net }) => net));
    if (exact.isZero()) return [];
    if (exact.equals(roundToMinorDigits(item.exact, currency))) return [item];
    return [{ ...item, exact, proration: null }];
  });
}

/**
 * Gives back what is unused at an instant of everything that a subscription was charged in advance:
 * nothing is owed from then on. Its invoices are locked (`lockUnused`).
 */
export async function creditUnused(
  unit: Unit,
  loaded: BilledSubscription,
  atMs: InstantMs,
): Promise<GivenCredit> {
  const unused = await findUnused(unit, loaded, atMs);
  return creditLines(unit, creditsOf(unused, loaded.subscription.currency));
}
