import { decimalOf } from '../../../contract/decimal.js';
import type { MeterFilter } from '../../../contract/meter.js';
import { assertPresent } from '../../../runtime/failure.js';
import type { LineItem } from '../../domain/invoice/line-item.js';
import type { LineMeter } from '../../domain/usage/line-meter.js';
import { findEffectiveMeters, type EffectiveMeter } from '../../catalog/meters/effective-meters.js';
import { findMeters, type MeterRow } from '../../catalog/meters/meters-store.js';
import { priceFromRow } from '../../catalog/prices/price-terms.js';
import type { PriceRow } from '../../catalog/prices/prices-store.js';
import type { LineItemRow } from '../subscriptions-store.js';
import { type ReadDependencies, readUnit } from '../../records/unit.js';
import type { Caller } from '../../records/caller.js';
import { lineCommitmentFrom } from './stored-commitments.js';

function lineMeterOf(meter: MeterRow, reading: EffectiveMeter): LineMeter {
  return {
    id: meter.id,
    version: reading.version,
    displayName: meter.name,
    eventName: reading.eventName,
    aggregationType: meter.aggregation_type,
    filters: reading.filters,
    resetUsage: meter.reset_usage,
    bucketSize: reading.bucketSize,
    groupBy: reading.aggregation.groupBy,
  };
}

/** The meters of line items: as they are stored, and as readers see them. */
export type Metering = {
  readonly meters: ReadonlyMap<string, MeterRow>;
  readonly readings: ReadonlyMap<string, EffectiveMeter>;
};

function meterOfLine(row: LineItemRow, metering: Metering): LineMeter | null {
  if (row.meter_id === null) return null;
  const meter = assertPresent(metering.meters.get(row.meter_id), 'the meter of a line item');
  const reading = assertPresent(metering.readings.get(meter.id), 'a definition of the meter');
  return lineMeterOf(meter, reading);
}

/** A line item as the domain reads it; the prices are those of lines and of time buckets. */
export function lineItemFrom(
  row: LineItemRow,
  prices: ReadonlyMap<string, PriceRow>,
  metering: Metering,
): LineItem {
  const price = assertPresent(prices.get(row.price_id), 'the line price');
  return {
    id: row.id,
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
  };
}

/** What a price narrows its meter by (domain.md 9.3). */
export function filtersOfPrice({ price }: LineItem): readonly MeterFilter[] {
  return Object.entries(price.filterValues).map(([key, values]) => ({ key, values }));
}

/** The meters of these line items as of now. */
export async function findMetering(
  { database }: ReadDependencies,
  caller: Caller,
  lineItems: readonly LineItemRow[],
): Promise<Metering> {
  const ids = lineItems.flatMap((item) => item.meter_id ?? []);
  const { environment } = caller;
  const [readings, meters] = await Promise.all([
    findEffectiveMeters(database, environment, ids),
    readUnit({ database }, environment, ({ tx: transaction }) => findMeters(transaction, ids)),
  ]);
  return { meters, readings };
}
