import { decimalOf } from '../../../contract/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import { priceFromRow, type PriceRow } from '../../declarations/catalog/price.resource.js';
import type { BillingReason } from '../../declarations/invoices/invoice.resource.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import { roundToMinorDigits } from '../../domain/money/money.js';
import { ratePrice } from '../../domain/rating/rate-price.js';
import type { Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import type { InvoiceDocument } from '../document/invoice-document.js';
import { findCouponsOfRest } from '../proration/coupons-of-rest.js';
import { isAdvance } from '../proration/find-unused.js';
import { restOfPeriod } from '../proration/rest-of-period.js';
import { storeProration, type ProratedLine } from './store-proration.js';

/** What a line costs in advance from an instant on; null where that is nothing. */
export function proratedFrom(
  loaded: BilledSubscription,
  { item, price: row }: { readonly item: LineItemRow; readonly price: PriceRow },
  atMs: InstantMs,
): ProratedLine | null {
  if (!isAdvance(item)) return null;
  const price = priceFromRow(row);
  const { period, proration } = restOfPeriod(loaded, price, { atMs, endMs: item.end_date });
  const quantity = decimalOf(item.quantity);
  const charge = ratePrice(price, quantity).amount;
  const exact = charge.times(proration.coveredMs).dividedBy(proration.fullMs);
  const amount = roundToMinorDigits(exact, item.currency);
  return amount.isZero() ? null : { item, quantity, amount, exact, proration, period };
}

/**
 * Charges the rest of the period of lines at once, on one invoice; null without lines.
 * @param added those of them that begin there.
 */
export async function chargeRest(
  unit: Unit,
  loaded: BilledSubscription,
  {
    lines,
    added,
    reason,
  }: {
    readonly lines: readonly ProratedLine[];
    readonly added: readonly LineItemRow[];
    readonly reason: BillingReason;
  },
): Promise<InvoiceDocument | null | Refusal> {
  const [first] = lines;
  if (first === undefined) return null;
  const { period } = first;
  const discounts = await findCouponsOfRest(unit, loaded, { atMs: period.startMs, added });
  return storeProration(unit, loaded, { reason, lines, period, discounts });
}
