import type { Interval } from '../../../contract/instant.js';
import { windowsWithin } from '../calendar/usage-windows.js';
import { bucketCutsOf, cutBuckets } from '../entitlement/cut-buckets.js';
import { allowanceOfLine, type LineAllowance } from '../entitlement/line-allowance.js';
import type { LineMeter } from '../usage/line-meter.js';
import type { LineSelectionInputs, BillableLine } from './invoice.js';
import type { UsageRequirement } from '../usage/line-usage.js';
import { selectLines } from './select-lines.js';

/** A usage line, its meter and what it has free; the same before and after its usage is read. */
export type BillableUsageLine = BillableLine & {
  readonly meter: LineMeter;
  readonly allowance: LineAllowance | null;
};

/**
 * The allowance of a planned usage line.
 * @throws TypeError for a line without a meter.
 */
export function withAllowance(line: BillableLine, inputs: LineSelectionInputs): BillableUsageLine {
  const { lineItem, period } = line;
  const { meter } = lineItem;
  if (meter === null) throw new TypeError(`usage line ${lineItem.id} has no meter`);
  const { subscription: terms, entitlements } = inputs;
  return {
    ...line,
    meter,
    allowance: allowanceOfLine({ meter, window: period, terms, entitlements }),
  };
}

function bucketsOf(line: BillableUsageLine, inputs: LineSelectionInputs) {
  const { meter, period } = line;
  const { bucketSize: size } = meter;
  if (size === null) return null;
  const { timezone, billingAnchorMs: anchorMs } = inputs.subscription;
  const buckets = windowsWithin(period, { size, timezone, anchorMs });
  return cutBuckets(buckets, bucketCutsOf(line));
}

/** Of a bucketed meter the buckets themselves tell what the usage window holds. */
function intervalsOf({ meter, period, allowance }: BillableUsageLine): readonly Interval[] {
  const intervals = (allowance?.windows ?? []).flatMap(({ before, until }) => [
    ...(before === null ? [] : [before]),
    ...(meter.bucketSize === null ? [until] : []),
  ]);
  return intervals.filter(
    ({ startMs, endMs }) => startMs !== period.startMs || endMs !== period.endMs,
  );
}

/**
 * Which usage an invoice needs, for every USAGE line in line order. All of it may be read in one
 * round trip.
 */
export function requiredUsage(inputs: LineSelectionInputs): readonly UsageRequirement[] {
  return selectLines(inputs)
    .filter(({ lineItem }) => lineItem.price.type === 'USAGE')
    .map((planned) => {
      const line = withAllowance(planned, inputs);
      return {
        lineItemId: line.lineItem.id,
        window: line.period,
        buckets: bucketsOf(line, inputs),
        intervals: intervalsOf(line),
      };
    });
}
