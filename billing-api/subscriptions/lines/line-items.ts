import { decimalOf } from '../../../contract/decimal.js';
import type { Environment } from '../../../contract/environment.js';
import type { MeterFilter } from '../../../contract/meter.js';
import { assertPresent } from '../../../runtime/failure.js';
import type { LineItem } from '../../domain/invoice/line-item.js';
import type { LineMeter } from '../../domain/usage/line-meter.js';
import { findEffectiveMeters, type EffectiveMeter } from '../../catalog/meters/effective-meters.js';
import type { MeterRow } from '../../catalog/meters/meter.resource.js';
import { findMeters } from '../../catalog/meters/meters-store.js';
import { priceFromRow } from '../../catalog/prices/price.resource.js';
import type { PriceRow } from '../../catalog/prices/price.resource.js';
import type { LineItemRow } from '../line-item.resource.js';
import type { Transaction } from '../../records/unit.js';
import { lineCommitmentFrom } from './stored-commitments.js';

function lineMeterOf(meter: MeterRow, effective: EffectiveMeter): LineMeter {
  return {
    id: meter.id,
    version: effective.version,
    displayName: meter.name,
    eventName: effective.eventName,
    aggregationType: meter.aggregation_type,
    filters: effective.filters,
    resetUsage: meter.reset_usage,
    bucketSize: effective.bucketSize,
    groupBy: effective.aggregation.groupBy,
  };
}

/** The meters of line items: as they are stored, and as their usage must be read now. */
export type Metering = {
  readonly meters: ReadonlyMap<string, MeterRow>;
  readonly effectiveMeters: ReadonlyMap<string, EffectiveMeter>;
};

function meterOfLine(row: LineItemRow, metering: Metering): LineMeter | null {
  if (row.meter_id === null) return null;
  const meter = assertPresent(metering.meters.get(row.meter_id), 'the meter of a line item');
  const effective = assertPresent(
    metering.effectiveMeters.get(meter.id),
    'a definition of the meter',
  );
  return lineMeterOf(meter, effective);
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

/** What a price narrows its meter by (docs/domain.md 9.3). */
export function filtersOfPrice({ price }: LineItem): readonly MeterFilter[] {
  return Object.entries(price.filterValues).map(([key, values]) => ({ key, values }));
}

/** The meters of these line items, as the transaction sees them. */
export async function findMetering(
  transaction: Transaction,
  environment: Environment,
  lineItems: readonly LineItemRow[],
): Promise<Metering> {
  const ids = lineItems.flatMap((item) => item.meter_id ?? []);
  return {
    effectiveMeters: await findEffectiveMeters(transaction, environment, ids),
    meters: await findMeters(transaction, ids),
  };
}
