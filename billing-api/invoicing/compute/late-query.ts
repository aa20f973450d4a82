import type { InvoiceInputs, LatePeriod } from '../../domain/invoice/invoice.js';
import type { EventCorrection } from '../../domain/usage/event-correction.js';
import type { LineMeter } from '../../domain/usage/line-meter.js';
import type { PartitionEnd, UsageWatermark } from '../../domain/usage/watermark.js';
import type { EffectiveMeter } from '../../catalog/meters/effective-meters.js';
import type { Environment } from '../../../contract/environment.js';
import { assertPresent, zip } from '../../../runtime/failure.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { readerBelow } from '../../usage/watermark/read-below.js';
import type { UsageReadDependencies } from '../../usage/usage-customers.js';
import type { LineUsageQuery } from './line-usage-query.js';
import { readLineUsage, type LinesQuery, type UsageOfLines } from './read-line-usage.js';
import { readerOfEvents, storedLines, ungrouped } from './stored-usage.js';
import { storedMeter } from './stored-meter.js';
import { inputsOfParts, withUsageOfParts } from './usage-owners.js';

/** A period whose invoice is final, to be measured and priced again (docs/domain.md 13.8). */
export type LateQuery = LatePeriod & {
  /** By which its usage was read. */
  readonly watermark: UsageWatermark;
  /** The meters of its lines as their readers must read them now. */
  readonly meters: ReadonlyMap<string, EffectiveMeter>;
};

/** The minutes of a meter are those of its version in force; of another one there may be none. */
function isInForce({ meters }: LateQuery, { id, version }: LineMeter): boolean {
  return meters.get(id)?.version === version;
}

/** The lines of a part that minutes tell, or those that only the events tell; as corrected now. */
function linesOf(
  query: LateQuery,
  part: InvoiceInputs,
  areInForce: boolean,
): readonly LineUsageQuery[] {
  const { watermark, meters } = query;
  const meterOf = (meter: LineMeter): EffectiveMeter => {
    const stored = storedMeter(meter, watermark, meters);
    const now = meters.get(meter.id);
    return now === undefined
      ? stored
      : {
          ...stored,
          generations: now.generations,
          // Its event name never changes.
          corrections: now.corrections,
        };
  };
  return storedLines(part, meterOf).filter(({ lineItem: { meter } }) => {
    return isInForce(query, assertPresent(meter, 'the meter of a usage line')) === areInForce;
  });
}

/**
 * A watermark that names the corrections of late periods too: their meters need not be on a line
 * of the subscription any more.
 */
export function withLateCorrections(
  watermark: UsageWatermark,
  late: readonly LateQuery[],
): UsageWatermark {
  const more = late.flatMap(({ meters }) =>
    [...meters].flatMap(([id, { corrections }]) =>
      corrections.length === 0 ? [] : [[id, corrections] as const],
    ),
  );
  if (more.length === 0) return watermark;
  const own = watermark.corrections ?? new Map<string, readonly EventCorrection[]>();
  return { ...watermark, corrections: new Map([...own, ...more]) };
}

type Part = { readonly query: LateQuery; readonly inputs: InvoiceInputs };

function asked({ query, inputs }: Part, areInForce: boolean): LinesQuery {
  const owners = assertPresent(inputs.usageOf, 'the owners of late usage');
  return ungrouped(owners, linesOf(query, inputs, areInForce));
}

function joined(
  some: UsageOfLines | Refusal,
  others: UsageOfLines | Refusal,
): UsageOfLines | Refusal {
  if (isRefusal(some)) return some;
  return isRefusal(others) ? others : new Map([...some, ...others]);
}

/** The period itself, with these inputs. */
function periodOf(query: LateQuery, inputs: InvoiceInputs): LatePeriod {
  const { invoiceId, invoiceNumber, countedBelow, charged, leastAmount } = query;
  return { invoiceId, invoiceNumber, countedBelow, inputs, charged, leastAmount };
}

/**
 * Periods with the usage that is known of them now, exactly below the ends: from minutes, and from
 * the events where a meter has changed since. One whose events have expired cannot be measured any
 * more, so it has none (docs/domain.md 7.9).
 */
export async function readLatePeriods(
  dependencies: UsageReadDependencies,
  {
    environment,
    ends,
  }: { readonly environment: Environment; readonly ends: readonly PartitionEnd[] },
  queries: readonly LateQuery[],
): Promise<ReadonlyMap<LateQuery, LatePeriod>> {
  if (queries.length === 0) return new Map();
  const parts = queries.flatMap((query) =>
    inputsOfParts(query.inputs).map((inputs) => ({ query, inputs })),
  );
  const read = (areInForce: boolean) =>
    readLineUsage(
      areInForce ? readerBelow(dependencies, ends) : readerOfEvents(dependencies.usage, ends),
      environment,
      parts.map((part) => asked(part, areInForce)),
    );
  const usages = zip(await read(true), await read(false)).map(([some, others]) =>
    joined(some, others),
  );
  const ofParts = zip(parts, usages);
  return new Map(
    queries.flatMap((query) => {
      const own = ofParts.filter(([part]) => part.query === query).map(([, usage]) => usage);
      const known = own.filter((usage): usage is UsageOfLines => !isRefusal(usage));
      if (known.length < own.length) return [];
      return [[query, periodOf(query, withUsageOfParts(query.inputs, known))]];
    }),
  );
}
