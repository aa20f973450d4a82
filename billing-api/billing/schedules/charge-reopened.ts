import { decimalOf, ZERO } from '../../../contract/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import { assertPresent, mustGet } from '../../../runtime/failure.js';
import { groupBy } from '../../../runtime/group-by.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import { priceFromRow } from '../../declarations/catalog/price.resource.js';
import { percentageLeft } from '../../domain/adjustments/percentage-left.js';
import { settlePrice } from '../../domain/proration/price-change.js';
import { movedEnd, type AdvanceCharge } from '../../domain/proration/unused-charge.js';
import { ratePrice } from '../../domain/rating/rate-price.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import {
  loadBilledSubscription,
  type BilledSubscription,
} from '../../subscriptions/loaded-subscription.js';
import { proratedFrom } from '../lines/charge-rest.js';
import { storeProration, type ProratedLine } from '../lines/store-proration.js';
import { findCouponsOfRest, NO_COUPONS, type CouponsOfRest } from '../proration/coupons-of-rest.js';
import { creditLines } from '../proration/credit-lines.js';
import { findCharges, isAdvance, lineageOf } from '../proration/find-unused.js';
import { lockCharges } from '../proration/lock-charges.js';
import { restOfPeriod } from '../proration/rest-of-period.js';

/** A line item that goes on beyond an end which does not come any more, and its charges. */
type Reopened = {
  readonly item: LineItemRow;
  /** Of the item and those that it continues, in the period that the end had cut. */
  readonly charges: readonly AdvanceCharge[];
  /** Of the item alone. */
  readonly own: readonly AdvanceCharge[];
};

/** What is due of a line item for the time after the end, and why. */
type Due = ProratedLine & {
  /** No invoice charges that time; or one does, by another price or quantity. */
  readonly kind: 'uncharged' | 'changed';
};

type Reopening = {
  readonly loaded: BilledSubscription;
  /** The end that does not come. */
  readonly cutMs: InstantMs;
  readonly discounts: CouponsOfRest;
};

/** The period of a line item that the end had cut, from the end on. */
function reopenedPeriod({ loaded, cutMs }: Reopening, { price_id, end_date: endMs }: LineItemRow) {
  const price = priceFromRow(mustGet(loaded.related.prices, price_id, 'the price of a line'));
  const { own, ...rest } = restOfPeriod(loaded, price, { atMs: cutMs - 1, fromMs: cutMs, endMs });
  return { price, pauses: own.pauses, ...rest };
}

/** What a line item costs from the end on, less what is paid for that time. */
function settledChange(reopening: Reopening, { item, charges }: Reopened): Due | null {
  const { price, pauses, period, proration } = reopenedPeriod(reopening, item);
  const quantity = decimalOf(item.quantity);
  const { currency } = item;
  const full = ratePrice(price, quantity).amount;
  const left = percentageLeft(reopening.discounts.coupons, item.id);
  const rest = { rest: period, proration, charges, pauses, left };
  const settled = settlePrice({ ...rest, full, currency });
  if (settled.amount.isZero()) return null;
  return { kind: 'changed', item, quantity, ...settled, proration, period };
}

/** What is due of a line item from the end on; null where that is nothing. */
function dueOf(reopening: Reopening, reopened: Reopened): Due | null {
  const { item, charges, own } = reopened;
  const { loaded, cutMs } = reopening;
  if (charges.length === 0) return null;
  const { pauses, period } = reopenedPeriod(reopening, item);
  const reachOf = (of: readonly AdvanceCharge[]): number =>
    Math.max(...of.map((charge) => movedEnd(charge, pauses, cutMs)));
  const reachMs = reachOf(charges);
  // A draft is computed again, and then has all of it.
  if (reachMs < cutMs || reachOf(own) >= period.endMs) return null;
  if (reachMs >= period.endMs) return settledChange(reopening, reopened);
  const price = mustGet(loaded.related.prices, item.price_id, 'the price of a line');
  const line = proratedFrom(loaded, { item, price }, reachMs);
  return line === null ? null : { ...line, kind: 'uncharged' };
}

/** The line items in advance that go on beyond the end. */
async function findReopened(
  unit: Unit,
  { related, terms }: BilledSubscription,
  cutMs: InstantMs,
): Promise<readonly Reopened[]> {
  const { lineItems } = related;
  const pauses = terms.periods.flatMap((period) => period.pauses);
  const paused = pauses.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
  const afterMs = cutMs - paused - 1;
  await lockCharges(unit, lineItems, afterMs);
  const found = await findCharges(unit, lineItems, afterMs);
  const goesOn = ({ start_date: startMs, end_date: endMs }: LineItemRow): boolean =>
    startMs < cutMs && cutMs < (endMs ?? Infinity);
  return lineItems
    .filter((item) => isAdvance(item) && goesOn(item))
    .map((item) => {
      // Absent means none: no invoice charges the line as far as the end.
      const chargesOf = ({ id }: LineItemRow): readonly AdvanceCharge[] => found.get(id) ?? [];
      const charges = lineageOf(item, lineItems).flatMap(chargesOf);
      return { item, charges, own: chargesOf(item) };
    });
}

/** Charges what is due, or gives it back. */
async function settle(
  unit: Unit,
  { loaded, discounts }: Reopening,
  lines: readonly Due[],
): Promise<Refusal | null> {
  const less = lines.filter(({ amount }) => amount.isNegative());
  const credits = less.map(({ item, amount, period }) => ({
    ...{ lineItemId: item.id, amount: amount.negated(), period },
  }));
  const credited = await creditLines(unit, loaded.subscription, credits);
  if (isRefusal(credited)) return credited;
  const more = groupBy(
    lines.filter(({ amount }) => amount.greaterThan(ZERO)),
    ({ kind }) => kind,
  );
  for (const [kind, charged] of more) {
    const { period } = assertPresent(charged[0], 'a line of an end that was undone');
    // What another price costs has its discounts already, as what it sets off has them.
    const taken = kind === 'changed' ? NO_COUPONS : discounts;
    const stored = await storeProration(unit, loaded, {
      ...{ reason: 'PRORATION', lines: charged, period, discounts: taken },
    });
    if (isRefusal(stored)) return stored;
  }
  return null;
}

/**
 * Settles what an end that does not come any more has kept from being charged in advance: the rest
 * of the periods that an invoice has charged up to it, and the time after it that an invoice has
 * charged by a price or a quantity which changed meanwhile (docs/domain.md 24.4). A draft is
 * computed again, and then has all of it.
 */
export async function chargeReopened(
  unit: Unit,
  subscriptionId: string,
  cutMs: InstantMs,
): Promise<Refusal | null> {
  const loaded = await loadBilledSubscription(unit, subscriptionId);
  if (isRefusal(loaded)) return loaded;
  const reopened = await findReopened(unit, loaded, cutMs);
  const charged = loaded.related.lineItems.map(({ id }) => id);
  const discounts = await findCouponsOfRest(unit, loaded, { atMs: cutMs - 1, charged });
  const lines = reopened.flatMap((each) => {
    const due = dueOf({ loaded, cutMs, discounts }, each);
    return due === null ? [] : [due];
  });
  return settle(unit, { loaded, cutMs, discounts }, lines);
}
