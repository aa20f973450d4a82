import { sql } from 'slonik';
import { z } from 'zod';
import { plain } from '../../contract/number/decimal.js';
import { mustGet } from '../../runtime/failure.js';
import { findEffectiveMeters, type EffectiveMeter } from '../catalog/meters/effective-meters.js';
import type { CorrectionSummary } from '../declarations/corrections/correction.resource.js';
import type { EventCorrection } from '../domain/usage/event-correction.js';
import { NO_SPLIT, type UsageSlicing } from '../domain/usage/aggregation-spec.js';
import { isOfEnvironment } from '../records/conditions.js';
import { isRefusal } from '../records/refusal.js';
import type { StatementUnit } from '../records/unit.js';
import type { Environment } from '../../contract/environment.js';
import { specOfMeter } from '../usage/aggregation-of-meter.js';
import { partsOf, readUsage, type UsageQuery } from '../usage/read-usage.js';
import { subjectOf } from '../usage/store/cell-query.js';
import type { UsageReader } from '../usage/store/usage-reader.js';
import { wholeOf } from '../usage/usage-answer.js';
import { cutsOf } from '../usage/usage-range.js';
import type { TouchedStretch } from './correction-store.js';

/** More meters of one event name are left out of a preview. */
const METERS_MAX = 100;

/** The meters that count events of these names. */
export async function findTouchedMeters(
  { tx }: StatementUnit,
  touched: readonly TouchedStretch[],
): Promise<readonly EffectiveMeter[]> {
  const names = touched.map(({ eventName }) => eventName);
  const rows = await tx.any(sql.type(z.object({ id: z.string() }))`
    SELECT id FROM meters WHERE event_name = ANY (${sql.array(names, 'text')}) AND ${isOfEnvironment}
    ORDER BY id LIMIT ${METERS_MAX}`);
  const found = await findEffectiveMeters(
    tx,
    rows.map(({ id }) => id),
  );
  return [...found.values()].filter(({ generations }) => generations.length > 0);
}

const SLICINGS = new Map<'whole', UsageSlicing>([['whole', { windows: null, split: NO_SPLIT }]]);

function queryOf(
  meter: EffectiveMeter,
  stretch: TouchedStretch,
  candidate: Pick<EventCorrection, 'id' | 'number'> | null,
): UsageQuery<'whole'> {
  const { startMs, endMs } = stretch;
  const range = { startMs, endMs };
  const { type } = meter.aggregation;
  const grid = { range, timezone: 'UTC', anchorMs: null };
  const cuts = cutsOf(grid, { type, windowSize: null, bucketSize: meter.bucketSize });
  if (isRefusal(cuts)) throw new Error(cuts.message);
  const added = candidate === null ? [] : [{ ...candidate, startMs, endMs }];
  return {
    subject: subjectOf({ ...meter, corrections: [...meter.corrections, ...added] }),
    spec: specOfMeter(meter, range, cuts.buckets),
    narrowedBy: [],
    sources: null,
    slicings: SLICINGS,
  };
}

/**
 * What each meter counts in the time that a correction touches, of the customers that it touches,
 * as it is and as it would be.
 */
export async function touchedQuantities(
  { usage }: { readonly usage: UsageReader },
  environment: Environment,
  of: {
    readonly meters: readonly EffectiveMeter[];
    readonly touched: readonly TouchedStretch[];
    readonly correction: Pick<EventCorrection, 'id' | 'number'>;
  },
): Promise<CorrectionSummary['quantities']> {
  const stretches = new Map(of.touched.map((stretch) => [stretch.eventName, stretch]));
  const quantities: CorrectionSummary['quantities'] = [];
  for (const meter of of.meters) {
    const stretch = mustGet(stretches, meter.eventName, 'the stretch of a touched meter');
    const { customerKeys } = stretch;
    const customers =
      customerKeys === null
        ? ({ kind: 'all-but', keys: [] } as const)
        : ({ kind: 'only', keys: customerKeys } as const);
    const queries = [
      queryOf(meter, stretch, null),
      queryOf(meter, stretch, of.correction),
    ] as const;
    const answers = await readUsage(usage, { environment, customers }, queries);
    if (answers === null) throw new Error(`the buckets of meter ${meter.meterId} are too many`);
    const [before, after] = queries.map((query) => {
      const sliced = mustGet(answers, query, 'the usage of a meter');
      return plain(wholeOf(partsOf(query, sliced, 'whole')).value);
    });
    quantities.push({
      meter_id: meter.meterId,
      quantity_before: before ?? '0',
      quantity_after: after ?? '0',
    });
  }
  return quantities;
}
