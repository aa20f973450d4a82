import type { EffectiveMeter } from '../../catalog/meters/effective-meters.js';
import type { LineMeter } from '../../domain/usage/line-meter.js';
import type { UsageWatermark } from '../../domain/usage/watermark.js';

/**
 * The meter of a stored line as its usage was read, whatever has become of the meter since. Where
 * an archived meter stops counting is taken from the meter as it is now, since that never moves.
 */
export function storedMeter(
  meter: LineMeter,
  { generations, corrections }: UsageWatermark,
  now: ReadonlyMap<string, EffectiveMeter>,
): EffectiveMeter {
  const { field, expression, multiplier } = meter.eventValue;
  return {
    meterId: meter.id,
    version: meter.version,
    eventName: meter.eventName,
    filters: meter.filters,
    aggregation: {
      type: meter.aggregationType,
      field,
      expression,
      multiplier,
      groupBy: meter.groupBy,
    },
    bucketSize: meter.bucketSize,
    resetUsage: meter.resetUsage,
    // Absent means none: no minutes of the meter were there.
    generations: generations.get(meter.id) ?? [],
    ends: now.get(meter.id)?.ends ?? null,
    // Absent means none: nothing of the meter was corrected then.
    corrections: corrections?.get(meter.id) ?? [],
  };
}
