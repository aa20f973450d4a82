import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { ClickHouse } from '../../clickhouse/client.js';
import { Decimal, ZERO } from '../../contract/decimal.js';
import type { Environment } from '../../contract/environment.js';
import { MINUTE_MS, minuteOf, type InstantMs, type Interval } from '../../contract/instant.js';
import type { MeterFilter } from '../../contract/meter.js';
import { projectRoot } from '../../runtime/project.js';
import type { MeterReading } from './meter-readings.js';

/** One question: the events of a meter in a window, perhaps narrowed by more filters. */
export type UsageQuestion = {
  readonly meter: MeterReading;
  readonly window: Interval;
  /** Added to the meter's own filters; the minutes cannot answer them, the events can. */
  readonly narrowedBy: readonly MeterFilter[];
};

/** Whose usage: these keys (customerKeysOf), or everybody's but these. */
export type UsageCustomers =
  | { readonly kind: 'only'; readonly keys: readonly string[] }
  | { readonly kind: 'all-but'; readonly keys: readonly string[] };

export type UsageWish = {
  readonly environment: Environment;
  readonly customers: UsageCustomers;
  readonly questions: readonly UsageQuestion[];
  /** Property keys to group by; the answer is then read from the events. */
  readonly properties: readonly string[];
  /** Width of the time slots of the answer in UTC; null for one slot. */
  readonly slotMs: number | null;
};

/** Events of one question in one slot, of one source and one combination of property texts. */
export type UsageCount = {
  readonly question: number;
  /** Start of the slot; 0 without slots. */
  readonly slotMs: InstantMs;
  readonly source: string;
  /** In the order of `properties`; empty text for an event without the property. */
  readonly texts: readonly string[];
  readonly count: Decimal;
};

/** The usage tables as questions are put to them. */
export type UsageStore = {
  /**
   * Counts of all questions, in one round trip per 200 of them. Windows are exact to the
   * millisecond.
   * @returns null when there are more than a million rows, which no answer could hold.
   * @throws DependencyError when ClickHouse fails: a failure never becomes a count.
   */
  readonly count: (wish: UsageWish) => Promise<readonly UsageCount[] | null>;
  /** Customer keys with usage of the meter in the window; null when there are more than 100 000. */
  readonly listCustomerKeys: (
    environment: Environment,
    question: UsageQuestion,
  ) => Promise<readonly string[] | null>;
};

const QUESTIONS_PER_QUERY_MAX = 200;
const ROWS_MAX = 1_000_000;
const KEYS_MAX = 100_000;
/** What DateTime64(3) holds and events may have (domain.md 7.1). */
const EVENT_TIME_MIN = 0;
const EVENT_TIME_END = Date.UTC(2200, 0, 1);

const query = (name: string): string =>
  readFileSync(join(projectRoot, 'clickhouse', 'queries', `${name}.sql`), 'utf8');
const READ_MINUTES = query('read-usage-minutes');
const READ_EVENTS = query('read-usage-events');
const LIST_CUSTOMERS = query('list-usage-customers');

const countRow = z.object({
  reading: z.number().int(),
  slot_ms: z.string(),
  source: z.string(),
  texts: z.array(z.string()),
  event_count: z.string(),
});

type MinuteReading = {
  reading: number;
  meter_id: string;
  generation: number;
  from_s: number;
  to_s: number;
};
type EventReading = {
  reading: number;
  event_name: string;
  filters: readonly MeterFilter[];
  from_ms: number;
  to_ms: number;
};
type Readings = { readonly minutes: MinuteReading[]; readonly events: EventReading[] };

/** The part of a window in which events can lie; empty windows become empty intervals. */
function clamped({ startMs, endMs }: Interval): Interval {
  const start = Math.min(Math.max(startMs, EVENT_TIME_MIN), EVENT_TIME_END);
  return { startMs: start, endMs: Math.max(start, Math.min(endMs, EVENT_TIME_END)) };
}

function eventReading(reading: number, question: UsageQuestion, part: Interval): EventReading {
  const { meter, narrowedBy } = question;
  return {
    reading,
    event_name: meter.eventName,
    filters: [...meter.filters, ...narrowedBy],
    from_ms: part.startMs,
    to_ms: part.endMs,
  };
}

/**
 * Cuts a window into whole minutes, which the minute rows answer, and the edges inside a minute,
 * which the events answer; what the minute rows do not know is read from the events as a whole.
 */
function addReadings(readings: Readings, reading: number, question: UsageQuestion): void {
  const { startMs, endMs } = clamped(question.window);
  const firstMinute = minuteOf(startMs + MINUTE_MS - 1);
  const lastMinute = minuteOf(endMs);
  const hasMinutes = question.narrowedBy.length === 0 && firstMinute < lastMinute;
  const parts = hasMinutes
    ? [
        { startMs, endMs: firstMinute },
        { startMs: lastMinute, endMs },
      ]
    : [{ startMs, endMs }];
  for (const part of parts) {
    if (part.startMs < part.endMs) readings.events.push(eventReading(reading, question, part));
  }
  if (!hasMinutes) return;
  for (const generation of question.meter.generations) {
    readings.minutes.push({
      reading,
      meter_id: question.meter.meterId,
      generation,
      from_s: firstMinute / 1000,
      to_s: lastMinute / 1000,
    });
  }
}

function readingsOf(wish: UsageWish, from: number): Readings {
  const readings: Readings = { minutes: [], events: [] };
  const questions = wish.questions.slice(from, from + QUESTIONS_PER_QUERY_MAX);
  for (const [index, question] of questions.entries()) {
    // Until its backfill is complete a meter shows nothing, not even of the events themselves.
    if (question.meter.generations.length === 0) continue;
    if (wish.properties.length === 0) addReadings(readings, from + index, question);
    else readings.events.push(eventReading(from + index, question, clamped(question.window)));
  }
  return readings;
}

function boundsOf(readings: Readings): Interval {
  const starts = [
    ...readings.events.map((reading) => reading.from_ms),
    ...readings.minutes.map((reading) => reading.from_s * 1000),
  ];
  const ends = [
    ...readings.events.map((reading) => reading.to_ms),
    ...readings.minutes.map((reading) => reading.to_s * 1000),
  ];
  return {
    startMs: starts.reduce((least, start) => Math.min(least, start), EVENT_TIME_END),
    endMs: ends.reduce((greatest, end) => Math.max(greatest, end), EVENT_TIME_MIN),
  };
}

/** The server takes at most 131 072 bytes in one parameter; these many characters stay below. */
const PARAMETER_PIECES = /[\s\S]{1,30000}/gu;

/**
 * Texts of any length as several parameters each, and the statement that puts them together again.
 * Only names that are made here enter the statement.
 */
function spread(statement: string, texts: Readonly<Record<string, string>>) {
  const parameters: Record<string, string> = {};
  let spreadStatement = statement;
  for (const [name, text] of Object.entries(texts)) {
    const names = (text.match(PARAMETER_PIECES) ?? ['']).map((piece, index) => {
      parameters[`${name}${index}`] = piece;
      return `{${name}${index}:String}`;
    });
    const together = `concat('', ${names.join(', ')})`;
    spreadStatement = spreadStatement.replaceAll(`{${name}:String}`, together);
  }
  return { statement: spreadStatement, parameters };
}

function parametersOf(wish: UsageWish, readings: Readings) {
  const bounds = boundsOf(readings);
  const isOnly = wish.customers.kind === 'only';
  return {
    tenantId: wish.environment.tenantId,
    environmentId: wish.environment.environmentId,
    customerKeys: isOnly ? wish.customers.keys : [],
    fromMs: bounds.startMs,
    toMs: bounds.endMs,
    properties: wish.properties,
    slotMs: wish.slotMs ?? 0,
    rowsMax: ROWS_MAX + 1,
  };
}

/**
 * One statement for all readings. An arm that nobody asks for is left out: it would cost as much to
 * plan as the other, twice the time of a small question (measured).
 */
function statementOf(readings: Readings): string {
  const arms = [
    ...(readings.minutes.length > 0 ? [READ_MINUTES] : []),
    ...(readings.events.length > 0 ? [READ_EVENTS] : []),
  ];
  return `SELECT reading, slot_ms, source, texts, sum(counted) AS event_count
    FROM (${arms.join('\nUNION ALL\n')})
    GROUP BY reading, slot_ms, source, texts
    LIMIT {rowsMax:UInt64}`;
}

/** Reads usage from ClickHouse. */
export function createUsageStore(clickHouse: ClickHouse): UsageStore {
  const countSome = async (wish: UsageWish, from: number): Promise<readonly UsageCount[]> => {
    const readings = readingsOf(wish, from);
    if (readings.minutes.length + readings.events.length === 0) return [];
    const { statement, parameters } = spread(statementOf(readings), {
      minutes: JSON.stringify(readings.minutes),
      events: JSON.stringify(readings.events),
      excludedKeys: JSON.stringify(wish.customers.kind === 'only' ? [] : wish.customers.keys),
    });
    const all = { ...parametersOf(wish, readings), ...parameters };
    const rows = await clickHouse.query(statement, all, countRow);
    return rows.map((row) => ({
      question: row.reading,
      slotMs: Number(row.slot_ms),
      source: row.source,
      texts: row.texts,
      count: new Decimal(row.event_count),
    }));
  };
  return {
    count: async (wish) => {
      if (wish.customers.kind === 'only' && wish.customers.keys.length === 0) return [];
      const counts: UsageCount[] = [];
      for (let from = 0; from < wish.questions.length; from += QUESTIONS_PER_QUERY_MAX) {
        for (const count of await countSome(wish, from)) counts.push(count);
        if (counts.length > ROWS_MAX) return null;
      }
      return counts;
    },
    listCustomerKeys: async (environment, { meter, window }) => {
      const { startMs, endMs } = clamped(window);
      const parameters = {
        ...environment,
        meterId: meter.meterId,
        eventName: meter.eventName,
        fromMs: startMs,
        toMs: endMs,
        rowsMax: KEYS_MAX + 1,
      };
      const row = z.object({ customer_key: z.string() });
      const rows = await clickHouse.query(LIST_CUSTOMERS, parameters, row);
      return rows.length > KEYS_MAX ? null : rows.map((found) => found.customer_key);
    },
  };
}

/** Sum of counts; 0 for none. */
export function totalOf(counts: readonly UsageCount[]): Decimal {
  return counts.reduce((sum, { count }) => sum.plus(count), ZERO);
}
