import { ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { COUNT_EVENTS } from '../../../contract/aggregation.js';
import type { Interval } from '../../../contract/instant.js';
import { assertPresent, mustGet, zip } from '../../../runtime/failure.js';
import type { EffectiveMeter } from '../../catalog/meters/effective-meters.js';
import type { UsageCustomer } from '../../customers/customers-store.js';
import { NO_SPLIT, type UsagePart } from '../../domain/usage/aggregation-spec.js';
import type { PartitionEnd } from '../../domain/usage/watermark.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { accept } from '../../records/refusal.js';
import { specOfMeter } from '../../usage/aggregation-of-meter.js';
import { partsOf, readUsageOfMany, type UsageQuery } from '../../usage/read-usage.js';
import { subjectOf } from '../../usage/store/cell-query.js';
import { usageOfCustomers } from '../../usage/usage-customers.js';
import { cutsOf } from '../../usage/usage-range.js';
import { readerBelow } from '../../usage/watermark/read-below.js';
import type { ExportNeeds } from './export-needs.js';

/** What a customer used of a meter, from events of one source. */
export type SourceFigures = {
  readonly source: string;
  readonly usage: Decimal;
  readonly eventCount: number;
};

/** The usage of a meter that is read of one customer in one interval. */
export type FiguresQuery = {
  readonly customer: UsageCustomer;
  readonly meter: EffectiveMeter;
  readonly interval: Interval;
};

type BySource = 'by-source';

const SLICINGS = new Map<BySource, { windows: null; split: typeof NO_SPLIT }>([
  ['by-source', { windows: null, split: { ...NO_SPLIT, source: true } }],
]);

/** The events that a meter counts, as such: of a meter that never resets, those of the interval. */
export function eventsQuery(meter: EffectiveMeter, interval: Interval): UsageQuery<BySource> {
  const count = { aggregation: COUNT_EVENTS, resetUsage: 'BILLING_PERIOD' } as const;
  return {
    subject: { ...subjectOf(meter), aggregation: COUNT_EVENTS },
    spec: specOfMeter(count, interval, null),
    narrowedBy: [],
    sources: null,
    slicings: SLICINGS,
  };
}

function valueQuery({ customer, meter, interval }: FiguresQuery): UsageQuery<BySource> {
  const grid = { range: interval, timezone: customer.timezone ?? 'UTC', anchorMs: null };
  const { type } = meter.aggregation;
  const cuts = accept(cutsOf(grid, { type, windowSize: null, bucketSize: meter.bucketSize }));
  return {
    subject: subjectOf(meter),
    spec: specOfMeter(meter, interval, cuts.buckets),
    narrowedBy: [],
    sources: null,
    slicings: SLICINGS,
  };
}

function figuresOf(part: UsagePart) {
  return assertPresent(part.windows[0], 'the usage of a source');
}

/** Only sources with events in the interval, by name. */
function sourcesOf(
  counts: readonly UsagePart[],
  values: readonly UsagePart[],
): readonly SourceFigures[] {
  const valueOf = new Map(values.map((part) => [part.source, figuresOf(part).value]));
  return counts
    .map((part) => ({
      source: part.source,
      eventCount: figuresOf(part).eventCount,
      // Absent means zero: none of its events has a value.
      usage: valueOf.get(part.source) ?? ZERO,
    }))
    .filter(({ eventCount }) => eventCount > 0)
    .sort((left, right) => (left.source < right.source ? -1 : 1));
}

/** The usage of each query by source, of the events below the ends alone. */
export async function readFigures(
  needs: ExportNeeds,
  { environment }: Occasion<JobActor>,
  { queries, ends }: { queries: readonly FiguresQuery[]; ends: readonly PartitionEnd[] },
): Promise<readonly (readonly SourceFigures[])[]> {
  const owned = queries.map((query) => ({
    customers: usageOfCustomers([query.customer]),
    queries: [eventsQuery(query.meter, query.interval), valueQuery(query)] as const,
  }));
  const answers = await readUsageOfMany(readerBelow(needs, ends), environment, owned);
  if (answers === null) throw new Error('the window has too many sources to be told apart');
  const parts = (query: UsageQuery<BySource>) =>
    partsOf(query, mustGet(answers, query, 'the usage of a meter'), 'by-source');
  return zip(queries, owned).map(
    ([
      ,
      {
        queries: [counts, values],
      },
    ]) => sourcesOf(parts(counts), parts(values)),
  );
}

/** What was added from one reading to a later one. */
export function addedFigures(
  now: readonly SourceFigures[],
  before: readonly SourceFigures[],
): readonly SourceFigures[] {
  const was = new Map(before.map((one) => [one.source, one]));
  return now
    .map((one) => {
      const earlier = was.get(one.source);
      // No event of the source was there.
      if (earlier === undefined) return one;
      const { source, usage, eventCount } = earlier;
      return { source, usage: one.usage.minus(usage), eventCount: one.eventCount - eventCount };
    })
    .filter(({ eventCount, usage }) => eventCount !== 0 || !usage.isZero());
}
