import { decimalOf } from '../../../contract/number/decimal.js';
import type { MeterFilter } from '../../../contract/meter.js';
import { assertPresent } from '../../../runtime/failure.js';
import { priceFromRow, type PriceRow } from '../../declarations/catalog/price.resource.js';
import type { LineItem } from '../../domain/invoice/line-item.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import { meterOfLine, type Metering } from './metering.js';
import { lineCommitmentFrom } from './stored-commitments.js';

/** A line item as the domain reads it; the prices are those of lines and of time buckets. */
export function lineItemFromRow(
  row: LineItemRow,
  prices: ReadonlyMap<string, PriceRow>,
  metering: Metering,
): LineItem {
  const price = assertPresent(prices.get(row.price_id), 'the line price');
  return {
    id: row.id,
    predecessorId: row.predecessor_id,
    createdAtMs: row.created_at,
    entityType: row.entity_type,
    entityId: row.entity_id,
    displayName: row.display_name,
    planDisplayName: row.plan_display_name,
    quantity: decimalOf(row.quantity),
    startMs: row.start_date,
    endMs: row.end_date,
    price: priceFromRow(price),
    meter: meterOfLine(row, metering),
    commitment: lineCommitmentFrom(row, prices),
    ...(row.is_settled ? { isSettled: true } : {}),
    ...(row.is_late ? { isLate: true } : {}),
    ...(row.charged_until === null ? {} : { chargedUntilMs: row.charged_until }),
  };
}

/** What a price narrows its meter by (docs/domain.md 9.3). */
export function filtersOfPrice({ price }: LineItem): readonly MeterFilter[] {
  return Object.entries(price.filterValues).map(([key, values]) => ({ key, values }));
}
