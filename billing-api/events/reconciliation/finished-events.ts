import { correctedEvents } from '../../../clickhouse/corrected-events.js';
import { z } from 'zod';
import type { ClickHouseQueries } from '../../../clickhouse/client.js';
import type { Environment } from '../../../contract/environment.js';
import { DAY_MS, type InstantMs, type Interval } from '../../../contract/instant.js';
import { integerColumn } from '../../../sql/columns.js';
import type { Checkpoints } from '../../usage/watermark/checkpoints.js';
import type { EffectiveMeter } from '../../catalog/meters/effective-meters.js';
import { queryFile, withLongTexts } from '../../../clickhouse/query-file.js';

/** How far a partition is finished: every batch that ends at or below `next_offset` is. */
export type PartitionBound = {
  readonly log_id: string;
  readonly log_partition: number;
  readonly next_offset: number;
};

/** What was decoded or is stored of one environment in one hour of receipt. */
export type HourOfEnvironment = {
  readonly environment: Environment;
  readonly hourMs: InstantMs;
};
export type AcceptedHour = HourOfEnvironment & { readonly accepted: number };
export type Accepted = {
  readonly hours: readonly AcceptedHour[];
  readonly bounds: readonly PartitionBound[];
};
export type HourStored = HourOfEnvironment & {
  readonly copies: number;
  readonly conflicts: number;
};

/** Events of one hour of receipt by what becomes of them. */
export type HourOutcomes = {
  readonly hourMs: InstantMs;
  readonly counted: number;
  readonly unmatchedCustomer: number;
  readonly unmatchedMeter: number;
};

/** Hours of receipt of one environment, or of all; only finished batches count. */
export type HoursQuery = {
  readonly environment: Environment | null;
  /** Whole hours. */
  readonly hours: Interval;
  readonly bounds: readonly PartitionBound[];
};

const SUM_ACCEPTED = queryFile('sum-accepted-events');
const COUNT_OUTCOMES = queryFile('count-finished-events');
const COUNT_COPIES = queryFile('count-stored-copies');
const COUNT_WITHDRAWN = queryFile('count-withdrawn-events');
const LIST_CUSTOMERS = queryFile('list-received-customers');

const acceptedRow = z.object({
  tenant_id: z.string(),
  environment_id: z.string(),
  hour_ms: integerColumn,
  log_id: z.string(),
  log_partition: z.number().int(),
  accepted: integerColumn,
  counted_below: integerColumn,
});
const copiesRow = z.object({
  tenant_id: z.string(),
  environment_id: z.string(),
  hour_ms: integerColumn,
  copies: integerColumn,
  conflicts: integerColumn,
});
const outcomeRow = z.object({
  hour_ms: integerColumn,
  counted: integerColumn,
  unmatched_customer: integerColumn,
  unmatched_meter: integerColumn,
});

const outcomesFromRow = (row: z.output<typeof outcomeRow>): HourOutcomes => ({
  hourMs: row.hour_ms,
  counted: row.counted,
  unmatchedCustomer: row.unmatched_customer,
  unmatchedMeter: row.unmatched_meter,
});

function rangeOf({ environment, hours }: HoursQuery) {
  return {
    isAnyTenant: environment === null,
    tenantId: environment?.tenantId ?? '',
    environmentId: environment?.environmentId ?? '',
    fromMs: hours.startMs,
    toMs: hours.endMs,
  };
}

/** How far each partition is finished, as the queries look it up. */
export function boundParameters(bounds: readonly PartitionBound[]) {
  const logs = [...new Set(bounds.map(({ log_id }) => log_id))];
  const partitionsMax = Math.max(0, ...bounds.map(({ log_partition }) => log_partition + 1));
  const nextOffsets = Array.from({ length: (logs.length + 1) * partitionsMax }, () => 0);
  for (const { log_id, log_partition, next_offset } of bounds) {
    nextOffsets[(logs.indexOf(log_id) + 1) * partitionsMax + log_partition] = next_offset;
  }
  const logNumbers = logs.map((_, index) => index + 1);
  return {
    lists: { logs, logNumbers, partitionsMax },
    texts: { nextOffsets: JSON.stringify(nextOffsets) },
  };
}

const environmentOf = (row: { tenant_id: string; environment_id: string }): Environment => ({
  tenantId: row.tenant_id,
  environmentId: row.environment_id,
});

/** A meter as the queries want it, but for its filters. */
function countingMeter(meter: EffectiveMeter) {
  return {
    event_name: meter.eventName,
    is_ended: meter.ends !== null,
    ends: (meter.ends ?? []).map(({ log, partition, countedBelow }) => ({
      log,
      partition,
      counted_below: countedBelow,
    })),
  };
}

/**
 * Meters as the queries compare them with combinations of values: a filter names the place of its
 * key among the keys of all, and its texts as `<place>+<value>`, so that texts of two keys differ.
 */
export function placeFilters(meters: readonly EffectiveMeter[]) {
  const keys = [...new Set(meters.flatMap(({ filters }) => filters.map(({ key }) => key)))];
  const compared = meters.map((meter) => ({
    ...countingMeter(meter),
    filters: meter.filters.map(({ key, values }) => {
      const place = keys.indexOf(key) + 1;
      return { place, texts: values.map((value) => `${place}+${value}`) };
    }),
  }));
  const texts = compared.flatMap(({ filters }) => filters.flatMap((filter) => filter.texts));
  return { keys, texts: [...new Set(texts)], compared };
}

/**
 * Meters as `count-finished-events` wants them. Those that count all events of a name for ever need
 * no comparison, and no other meter of that name does.
 */
function matchingParameters(meters: readonly EffectiveMeter[]) {
  const isWhole = ({ filters, ends }: EffectiveMeter): boolean =>
    filters.length === 0 && ends === null;
  const wholeNames = [...new Set(meters.filter(isWhole).map(({ eventName }) => eventName))];
  const narrow = meters.filter(({ eventName }) => !wholeNames.includes(eventName));
  const { keys, texts, compared } = placeFilters(narrow);
  return {
    names: {
      wholeNames,
      narrowNames: [...new Set(narrow.map(({ eventName }) => eventName))],
    },
    texts: {
      narrowKeys: JSON.stringify(keys),
      narrowTexts: JSON.stringify(texts),
      narrowMeters: JSON.stringify(compared),
    },
  };
}

/** The bounds of all partitions that were ever begun, by checkpoints that were read before. */
export function boundsOf(checkpoints: Checkpoints): readonly PartitionBound[] {
  return checkpoints.all.map(({ log, partition, nextOffset }) => ({
    log_id: log,
    log_partition: partition,
    next_offset: nextOffset,
  }));
}

/**
 * The bounds, and beyond them the ends of batches that are counted already. A batch writes its
 * usage, and with it what it accepted, when its events and duplicates are stored, so those are as
 * whole as finished ones; and whatever lies above is not counted yet.
 */
function raisedBounds(
  bounds: readonly PartitionBound[],
  rows: readonly z.output<typeof acceptedRow>[],
): readonly PartitionBound[] {
  const ends = new Map(rows.map((row) => [`${row.log_id}:${row.log_partition}`, row]));
  return bounds.map((bound) => {
    const end = ends.get(`${bound.log_id}:${bound.log_partition}`)?.counted_below ?? 0;
    return { ...bound, next_offset: Math.max(bound.next_offset, end) };
  });
}

/** A statement about the events received in some hours, as they count under these corrections. */
function asTheyCount(statement: string, corrections: readonly number[]): string {
  const scope = 'tenant_id = {tenantId:String} AND environment_id = {environmentId:String}';
  const of = { scope, corrections: '{corrections:Array(UInt64)}' };
  const raw = `received_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
    AND received_at < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
    AND appended_at >= fromUnixTimestamp64Milli({fromMs:Int64} - 86400000, 'UTC')`;
  const events = correctedEvents(corrections.length === 0 ? null : of, raw);
  return statement.replaceAll('$events$', () => events);
}

const withdrawnRow = z.object({ hour_ms: integerColumn, withdrawn: integerColumn });

/** Whose events are which. */
type Matching = {
  readonly meters: readonly EffectiveMeter[];
  /** Customer keys that belong to nobody. */
  readonly unknownKeys: readonly string[];
  /** Raw events that the log appended before are removed by retention; null for none. */
  readonly beginMs: InstantMs | null;
  /** Of the environment's events, those in force. */
  readonly corrections: readonly number[];
};

/** Events that corrections withdraw; those that retention has removed are expired. */
function createWithdrawnCount(clickHouse: ClickHouseQueries) {
  return async (
    query: HoursQuery,
    { corrections, beginMs }: Pick<Matching, 'corrections' | 'beginMs'>,
  ): Promise<readonly { readonly hourMs: InstantMs; readonly withdrawn: number }[]> => {
    if (corrections.length === 0) return [];
    const parameters = { ...rangeOf(query), corrections, appendedFromMs: beginMs ?? 0 };
    const rows = await clickHouse.query(COUNT_WITHDRAWN, parameters, withdrawnRow);
    return rows.map((row) => ({ hourMs: row.hour_ms, withdrawn: row.withdrawn }));
  };
}

const customerKeyRow = z.object({ customer_key: z.string() });

/** Finished events and duplicates by hour of receipt. Every method throws a DependencyError. */
export function createFinishedEvents(clickHouse: ClickHouseQueries) {
  const storedByHour = async (query: HoursQuery, kinds: readonly string[]) => {
    const { lists, texts } = boundParameters(query.bounds);
    const { statement, parameters } = withLongTexts(COUNT_COPIES, texts);
    const all = { ...rangeOf(query), ...lists, ...parameters, kinds };
    const rows = await clickHouse.query(statement, all, copiesRow);
    return rows.map((row): HourStored => {
      const { copies: found, conflicts } = row;
      const hour = { environment: environmentOf(row), hourMs: row.hour_ms };
      return { ...hour, copies: found, conflicts };
    });
  };

  return {
    /** Events that batches say they decoded, and the bounds by which the rest must be counted. */
    accepted: async (query: HoursQuery): Promise<Accepted> => {
      const texts = { bounds: JSON.stringify(query.bounds) };
      const { statement, parameters } = withLongTexts(SUM_ACCEPTED, texts);
      const all = { ...rangeOf(query), ...parameters };
      const rows = await clickHouse.query(statement, all, acceptedRow);
      const hours = rows
        .filter((row) => row.log_id === '')
        .map((row) => {
          const { accepted, hour_ms: hourMs } = row;
          return { environment: environmentOf(row), hourMs, accepted };
        });
      return { hours, bounds: raisedBounds(query.bounds, rows) };
    },
    duplicatesByHour: (query: HoursQuery) => storedByHour(query, ['duplicate']),
    /** Events and duplicates together, whatever becomes of them. */
    storedByHour: (query: HoursQuery) => storedByHour(query, ['event', 'duplicate']),
    /** Customer keys of events received in these hours; null when there are more than `max`. */
    customerKeys: async (
      query: HoursQuery,
      { corrections, max }: Pick<Matching, 'corrections'> & { readonly max: number },
    ): Promise<readonly string[] | null> => {
      const parameters = { ...rangeOf(query), rowsMax: max + 1, corrections };
      const statement = asTheyCount(LIST_CUSTOMERS, corrections);
      const rows = await clickHouse.query(statement, parameters, customerKeyRow);
      return rows.length > max ? null : rows.map((found) => found.customer_key);
    },
    /** What becomes of events with these meters, and customer keys that belong to nobody. */
    outcomesByHour: async (query: HoursQuery, by: Matching): Promise<readonly HourOutcomes[]> => {
      const { names, texts } = matchingParameters(by.meters);
      const bounds = boundParameters(query.bounds);
      const { corrections } = by;
      const { statement, parameters } = withLongTexts(asTheyCount(COUNT_OUTCOMES, corrections), {
        unknownKeys: JSON.stringify(by.unknownKeys),
        ...texts,
        ...bounds.texts,
      });
      const all = {
        ...rangeOf(query),
        ...bounds.lists,
        ...names,
        ...parameters,
        corrections,
        // Nothing is appended before it is received, clocks being a day apart at most.
        appendedFromMs: Math.max(query.hours.startMs - DAY_MS, by.beginMs ?? 0),
      };
      const rows = await clickHouse.query(statement, all, outcomeRow);
      return rows.map(outcomesFromRow);
    },
    withdrawnByHour: createWithdrawnCount(clickHouse),
  };
}

export type FinishedEvents = ReturnType<typeof createFinishedEvents>;
