import { sql } from 'slonik';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { mustGet } from '../../../runtime/failure.js';
import { noRows } from '../../../sql/columns.js';
import { priceFromRow } from '../../declarations/catalog/price.resource.js';
import { lineBillingOf } from '../../domain/invoice/line-billing.js';
import { ownPeriodAt } from '../../domain/periods/own-periods.js';
import { rowIsOfEnvironment } from '../../records/conditions.js';
import type { Unit } from '../../records/unit.js';
import { pausedUntil, type BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import { isAdvance } from '../settle/find-unused.js';

/** Lines of a period that has begun at an instant, and how far it charges them in advance. */
function chargedLines(
  { terms, related }: BilledSubscription,
  atMs: InstantMs,
): readonly (readonly [id: string, until: string])[] {
  const isAlive = (startMs: InstantMs, endMs: InstantMs | null): boolean =>
    startMs <= atMs && atMs < (endMs ?? Infinity);
  return related.lineItems.filter(isAdvance).flatMap((item) => {
    const price = priceFromRow(mustGet(related.prices, item.price_id, 'the price of a line'));
    const own = ownPeriodAt(terms, lineBillingOf(price, terms).steps, atMs);
    if (own === null || own.startMs >= atMs || !isAlive(item.start_date, item.end_date)) return [];
    const untilMs = Math.min(own.endMs, item.end_date ?? Infinity);
    return [[item.id, formatInstant(untilMs)] as const];
  });
}

/**
 * Writes on the lines of a subscription how far they stay charged in advance, because it ends
 * without prorations. A draft that is computed again then charges as much as a final invoice does
 * (docs/domain.md 24.5).
 */
export async function noteChargedUntil(
  unit: Unit,
  loaded: BilledSubscription,
  atMs: InstantMs,
): Promise<void> {
  const charged = chargedLines(pausedUntil(loaded, atMs), atMs);
  if (charged.length === 0) return;
  await unit.tx.query(sql.type(noRows)`
    UPDATE subscription_line_items AS item SET charged_until = kept.until
    FROM ${sql.unnest(charged, ['text', 'timestamptz'])} AS kept (id, until)
    WHERE item.id = kept.id AND ${rowIsOfEnvironment('item')}`);
}
