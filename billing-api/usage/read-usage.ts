import { AGGREGATIONS } from '../../contract/aggregation.js';
import type { Environment } from '../../contract/environment.js';
import type { MeterFilter } from '../../contract/meter.js';
import { mustGet, zip } from '../../runtime/failure.js';
import { aggregateUsage } from '../domain/usage/aggregate-usage.js';
import type {
  AggregationSpec,
  CellSeries,
  UsagePart,
  UsageSlicing,
  UsageSplit,
} from '../domain/usage/aggregation-spec.js';
import { HISTORY_MS, intervalOf, slotsOf } from './cell-slots.js';
import type { CellQuery, UsageCustomers, UsageSubject } from './store/cell-query.js';
import type { UsageReader } from './store/usage-reader.js';

/** What one reader wants to know of one meter or ad-hoc rule. */
export type UsageQuery<Name extends string> = {
  readonly subject: UsageSubject;
  readonly spec: AggregationSpec;
  readonly narrowedBy: readonly MeterFilter[];
  /** Only events of these sources; null for all. */
  readonly sources: readonly string[] | null;
  /** By the name under which its rows are answered; all splits by properties use the same ones. */
  readonly slicings: ReadonlyMap<Name, UsageSlicing>;
};

/** The environment and the customers whose usage is read. */
export type UsageOwner = {
  readonly environment: Environment;
  readonly customers: UsageCustomers;
};

/** Queries about the usage of the same customers. */
export type OwnedQueries<Name extends string> = {
  readonly customers: UsageCustomers;
  readonly queries: readonly UsageQuery<Name>[];
};

/** The rows of every slicing of a query, by its name. */
export type SlicedUsage<Name extends string> = ReadonlyMap<Name, readonly UsagePart[]>;
export type UsageAnswers<Name extends string> = ReadonlyMap<UsageQuery<Name>, SlicedUsage<Name>>;

/** A query to the usage tables, whoever's usage it is about. */
type CellsWanted = Omit<CellQuery, 'customers'>;

/** A query to the usage tables, and the slicings that its cells are read for. */
type CellRead<Name extends string> = {
  readonly query: UsageQuery<Name>;
  readonly cells: CellsWanted;
  readonly slicings: readonly (readonly [name: Name, slicing: UsageSlicing])[];
};

function unionOf(splits: readonly UsageSplit[]): UsageSplit {
  const byProperties = splits.find(({ properties }) => properties.length > 0);
  return {
    source: splits.some(({ source }) => source),
    group: splits.some(({ group }) => group),
    properties: byProperties === undefined ? [] : byProperties.properties,
  };
}

function cellQueryOf<Name extends string>(
  { subject, spec, narrowedBy, sources }: UsageQuery<Name>,
  slicings: readonly UsageSlicing[],
): CellsWanted {
  const hasHistory = spec.resetUsage === 'NEVER';
  const split = unionOf(slicings.map((slicing) => slicing.split));
  const isBucketedByGroup = spec.buckets !== null && spec.hasGroups;
  const { startMs, endMs } = intervalOf(spec, slicings);
  return {
    subject,
    window: { startMs: hasHistory ? HISTORY_MS : startMs, endMs },
    narrowedBy,
    sources,
    slots: slotsOf(spec, slicings),
    split: { ...split, group: split.group || isBucketedByGroup },
    isFirstSlotOnly: hasHistory,
  };
}

/**
 * Cells that add up are read once, as finely as any slicing needs, so that all slicings of an
 * answer agree. Distinct texts do not add up, so every slicing counts them by itself.
 */
function cellReadsOf<Name extends string>(query: UsageQuery<Name>): readonly CellRead<Name>[] {
  const slicings = [...query.slicings];
  const groups = AGGREGATIONS[query.spec.type].hasAdditiveCells
    ? [slicings]
    : slicings.map((one) => [one]);
  return groups.map((group) => {
    const cells = cellQueryOf(
      query,
      group.map(([, slicing]) => slicing),
    );
    return { query, cells, slicings: group };
  });
}

/** The queries that `readUsage` sends to the usage tables. */
export function cellQueriesOf({ customers, queries }: OwnedQueries<string>): readonly CellQuery[] {
  return queries.flatMap(cellReadsOf).map(({ cells }) => ({ customers, ...cells }));
}

/** Where a query has a single slot, the store calls it 0: it begins with the range. */
function withSlotStart(
  found: readonly CellSeries[],
  { query: { spec }, cells: { slots } }: CellRead<string>,
): readonly CellSeries[] {
  if (slots !== null || spec.resetUsage === 'NEVER') return found;
  return found.map((series) => ({ ...series, slots: series.slots.map(() => spec.range.startMs) }));
}

/**
 * The rows of one slicing; none where the query does not ask for it.
 * @throws AssertionFailed when it does and there are none: they must not show as no usage.
 */
export function partsOf<Name extends string>(
  { slicings }: Pick<UsageQuery<Name>, 'slicings'>,
  sliced: SlicedUsage<Name>,
  name: Name,
): readonly UsagePart[] {
  return slicings.has(name) ? mustGet(sliced, name, `the rows of ${name}`) : [];
}

/** The answers of the queries, from what `cellQueriesOf` them found. */
export function answersOf<Name extends string>(
  queries: readonly UsageQuery<Name>[],
  found: readonly (readonly CellSeries[])[],
): UsageAnswers<Name> {
  const reads = queries.flatMap((query) => cellReadsOf(query));
  const answers = new Map<UsageQuery<Name>, Map<Name, readonly UsagePart[]>>(
    queries.map((query) => [query, new Map()]),
  );
  for (const [read, cells] of zip(reads, found)) {
    const series = withSlotStart(cells, read);
    const answer = mustGet(answers, read.query, 'the answer of a query');
    for (const [name, slicing] of read.slicings) {
      answer.set(name, aggregateUsage(read.query.spec, slicing, series));
    }
  }
  return answers;
}

/**
 * Answers queries about many customers from one reading of the usage tables. Usage endpoints,
 * analytics and invoices all get their figures from this function.
 * @returns null when there are more cells than an answer could hold.
 * @throws DependencyError when ClickHouse fails.
 */
export async function readUsageOfMany<Name extends string>(
  reader: Pick<UsageReader, 'read'>,
  environment: Environment,
  owned: readonly OwnedQueries<Name>[],
): Promise<UsageAnswers<Name> | null> {
  const cells = owned.flatMap((one) => cellQueriesOf(one));
  const found = await reader.read({ environment, queries: cells, bound: null });
  if (found === null) return null;
  return answersOf(
    owned.flatMap(({ queries }) => queries),
    found,
  );
}

/** As `readUsageOfMany`, of the same customers. */
export function readUsage<Name extends string>(
  reader: Pick<UsageReader, 'read'>,
  { environment, customers }: UsageOwner,
  queries: readonly UsageQuery<Name>[],
): Promise<UsageAnswers<Name> | null> {
  return readUsageOfMany(reader, environment, [{ customers, queries }]);
}
