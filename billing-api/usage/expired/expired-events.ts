import { z } from 'zod';
import type { ClickHouseQueries } from '../../../clickhouse/client.js';
import type { Environment } from '../../../contract/environment.js';
import {
  formatInstant,
  HOUR_MS,
  type InstantMs,
  type Interval,
} from '../../../contract/instant.js';
import { integerColumn } from '../../../sql/columns.js';
import { queryFile, withLongTexts } from '../../../clickhouse/query-file.js';
import { Refusal, Refused } from '../../records/refusal.js';
import type { ReadRawEventsBegin } from './raw-events-begin.js';

/** A question that only raw events can answer. */
export type RawEventsQuery = {
  /** Null for events of all names. */
  readonly eventName: string | null;
  /** Of the events' own timestamps. */
  readonly range: Interval;
};

const FIND_EXPIRED = queryFile('find-expired-events');
const LIST_EXPIRED = queryFile('list-expired-hours');
const COUNT_EXPIRED = queryFile('count-expired-events');

const foundRow = z.object({
  hours: integerColumn,
  first_ms: integerColumn,
  last_ms: integerColumn,
});
const hourRow = z.object({
  tenant_id: z.string(),
  environment_id: z.string(),
  event_name: z.string(),
  hour_ms: integerColumn,
});
const countRow = z.object({ hour_ms: integerColumn, expired: integerColumn });

const dayOf = (instant: InstantMs): string => formatInstant(instant).slice(0, 10);
const hourFrom = (instant: InstantMs): InstantMs => Math.floor(instant / HOUR_MS) * HOUR_MS;
const hourTo = (instant: InstantMs): InstantMs => Math.ceil(instant / HOUR_MS) * HOUR_MS;

/** Whole hours, each range once: the lines of an invoice ask about the same ones. */
function parametersOf(questions: readonly RawEventsQuery[]) {
  const isAnyName = questions.some(({ eventName }) => eventName === null);
  const asked = new Map<string, { event_name: string; from_ms: InstantMs; to_ms: InstantMs }>();
  for (const { eventName, range } of questions) {
    const event_name = isAnyName || eventName === null ? '' : eventName;
    const one = { event_name, from_ms: hourFrom(range.startMs), to_ms: hourTo(range.endMs) };
    asked.set(JSON.stringify(one), one);
  }
  const ranges = [...asked.values()];
  const names = [...new Set(ranges.map(({ event_name }) => event_name))];
  return { isAnyName, names, ranges: JSON.stringify(ranges) };
}

function refusalOf(
  { first_ms: firstMs, last_ms: lastMs }: z.output<typeof foundRow>,
  beginMs: InstantMs,
): Refusal {
  const [first, end] = [formatInstant(firstMs), formatInstant(lastMs + HOUR_MS)];
  const begin = formatInstant(beginMs);
  return new Refusal(
    'invalid_operation',
    `this needs raw events with timestamps between ${first} and ${end}, and retention has removed ` +
      `those that the log appended before ${begin}. Ask for a time after ${end}, or for the usage of a meter ` +
      'in whole minutes, without property filters and without a split by a property',
  );
}

/**
 * The hours of the events' own time that have removed events, of all environments, each as its
 * `expiredHourKey`. @throws DependencyError.
 */
export async function listExpiredHours(
  clickHouse: ClickHouseQueries,
  range: Interval,
): Promise<ReadonlySet<string>> {
  const parameters = { fromMs: hourFrom(range.startMs), toMs: hourTo(range.endMs) };
  const rows = await clickHouse.query(LIST_EXPIRED, parameters, hourRow);
  return new Set(
    rows.map((row) =>
      expiredHourKey(
        { tenantId: row.tenant_id, environmentId: row.environment_id },
        { eventName: row.event_name, hourMs: row.hour_ms },
      ),
    ),
  );
}

export function expiredHourKey(
  { tenantId, environmentId }: Environment,
  { eventName, hourMs }: { readonly eventName: string; readonly hourMs: InstantMs },
): string {
  return JSON.stringify([tenantId, environmentId, eventName, hourMs]);
}

/** What retention has removed (docs/domain.md 7.9). Every method throws a DependencyError. */
export function createExpiredEvents(clickHouse: ClickHouseQueries, readBegin: ReadRawEventsBegin) {
  return {
    readBegin,
    /** @throws Refused when raw events that an answer needs have been removed. */
    assertStored: async (
      environment: Environment,
      questions: readonly RawEventsQuery[],
    ): Promise<void> => {
      const beginMs = questions.length === 0 ? null : await readBegin();
      if (beginMs === null) return;
      const { ranges, ...plain } = parametersOf(questions);
      const { statement, parameters } = withLongTexts(FIND_EXPIRED, { ranges });
      const all = { ...environment, ...plain, ...parameters, beforeDay: dayOf(beginMs) };
      const [found] = await clickHouse.query(statement, all, foundRow);
      if (found !== undefined && found.hours > 0) throw new Refused(refusalOf(found, beginMs));
    },
    /** Events that arrived before `beginMs` by hour of receipt; `hours` are whole hours. */
    countByHour: async (
      environment: Environment,
      hours: Interval,
      beginMs: InstantMs | null,
    ): Promise<readonly { readonly hourMs: InstantMs; readonly expired: number }[]> => {
      if (beginMs === null) return [];
      const range = { fromMs: hours.startMs, toMs: hours.endMs };
      const parameters = { ...environment, ...range, beforeDay: dayOf(beginMs) };
      const rows = await clickHouse.query(COUNT_EXPIRED, parameters, countRow);
      return rows.map((row) => ({ hourMs: row.hour_ms, expired: row.expired }));
    },
  };
}

export type ExpiredEvents = ReturnType<typeof createExpiredEvents>;
