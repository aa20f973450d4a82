import type { InstantMs } from '../../../contract/instant.js';
import { mustGet } from '../../../runtime/failure.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import { priceFromRow } from '../../declarations/catalog/price.resource.js';
import { movedEnd, type AdvanceCharge } from '../../domain/proration/unused-charge.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import {
  loadBilledSubscription,
  type BilledSubscription,
} from '../../subscriptions/loaded-subscription.js';
import { chargeRest, proratedFrom } from '../lines/charge-rest.js';
import type { ProratedLine } from '../lines/store-proration.js';
import { findCharges, isAdvance, lineageOf } from '../proration/find-unused.js';
import { restOfPeriod } from '../proration/rest-of-period.js';

/** What a line item costs from where its charges end, which an end has cut; null for nothing. */
function restOf(
  loaded: BilledSubscription,
  { item, charges }: { readonly item: LineItemRow; readonly charges: readonly AdvanceCharge[] },
  cutMs: InstantMs,
): ProratedLine | null {
  const [first] = charges;
  if (first === undefined || charges.some(({ period }) => period.endMs > cutMs)) return null;
  const price = mustGet(loaded.related.prices, item.price_id, 'the price of a line');
  // The period that was charged, which goes on now. One that ends there is not charged further.
  const cut = { atMs: cutMs - 1, endMs: item.end_date };
  const { own } = restOfPeriod(loaded, priceFromRow(price), cut);
  const fromMs = movedEnd(first, own.pauses, cutMs);
  return own.endMs > fromMs ? proratedFrom(loaded, { item, price }, fromMs) : null;
}

/**
 * Charges what an end that does not come any more has kept from being charged in advance: the rest
 * of the periods that an invoice has charged up to it (docs/domain.md 24.4). A draft is computed
 * again, and then has all of it.
 */
export async function chargeReopened(
  unit: Unit,
  subscriptionId: string,
  cutMs: InstantMs,
): Promise<Refusal | null> {
  const loaded = await loadBilledSubscription(unit, subscriptionId);
  if (isRefusal(loaded)) return loaded;
  const { lineItems } = loaded.related;
  const open = lineItems.filter(
    (item) =>
      isAdvance(item) &&
      item.start_date < cutMs &&
      (item.end_date === null || item.end_date > cutMs),
  );
  const found = await findCharges(unit, lineItems, cutMs - 1);
  const lines = open.flatMap((item) => {
    // Absent means none: no invoice charges the line as far as the end.
    const charges = lineageOf(item, lineItems).flatMap(({ id }) => found.get(id) ?? []);
    const line = restOf(loaded, { item, charges }, cutMs);
    return line === null ? [] : [line];
  });
  const charged = await chargeRest(unit, loaded, { lines, added: [], reason: 'PRORATION' });
  return isRefusal(charged) ? charged : null;
}
