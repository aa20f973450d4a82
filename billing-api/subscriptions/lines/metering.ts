import { assertPresent } from '../../../runtime/failure.js';
import { findEffectiveMeters, type EffectiveMeter } from '../../catalog/meters/effective-meters.js';
import type { MeterRow } from '../../declarations/catalog/meter.resource.js';
import { findMeters } from '../../catalog/meters/meters-store.js';
import type { LineMeter } from '../../domain/usage/line-meter.js';
import type { Transaction } from '../../records/unit.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';

function lineMeterOf(meter: MeterRow, effective: EffectiveMeter): LineMeter {
  const { field, expression, multiplier, groupBy } = effective.aggregation;
  return {
    id: meter.id,
    version: effective.version,
    displayName: meter.name,
    eventName: effective.eventName,
    aggregationType: effective.aggregation.type,
    eventValue: { field, expression, multiplier },
    filters: effective.filters,
    resetUsage: meter.reset_usage,
    bucketSize: effective.bucketSize,
    groupBy,
    ...(meter.bucket_pricing === 'period' ? { isPricedOverPeriod: true } : {}),
  };
}

/** The meters of line items: as they are stored, and as their usage must be read now. */
export type Metering = {
  readonly meters: ReadonlyMap<string, MeterRow>;
  readonly effectiveMeters: ReadonlyMap<string, EffectiveMeter>;
};

/** The meter of a line item as the domain reads it; null for a FIXED line. */
export function meterOfLine(row: LineItemRow, metering: Metering): LineMeter | null {
  if (row.meter_id === null) return null;
  const meter = assertPresent(metering.meters.get(row.meter_id), 'the meter of a line item');
  const effective = assertPresent(
    metering.effectiveMeters.get(meter.id),
    'a definition of the meter',
  );
  return lineMeterOf(meter, effective);
}

/**
 * The meters of these line items, as the transaction sees them.
 * @param known The meters of all of them, where the transaction has read them.
 */
export async function findMetering(
  transaction: Transaction,
  lineItems: readonly LineItemRow[],
  known?: ReadonlyMap<string, MeterRow>,
): Promise<Metering> {
  const ids = lineItems.map((item) => item.meter_id).filter((id) => id !== null);
  return {
    effectiveMeters: await findEffectiveMeters(transaction, ids),
    meters: known ?? (await findMeters(transaction, ids)),
  };
}
