import { ZERO, type Decimal } from '../../contract/decimal.js';
import {
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  type InstantMs,
  type Interval,
} from '../../contract/instant.js';
import type { MeterFilter } from '../../contract/meter.js';
import { customerKeysOf } from '../../contract/usage-event.js';
import type { Clock } from '../../runtime/clock.js';
import {
  windowCountAtLeast,
  windowsIn,
  type WindowSize,
} from '../domain/calendar/usage-windows.js';
import { propertyFiltersProblem } from '../domain/property-filters.js';
import {
  findCustomer,
  findCustomerByExternalId,
  findUnknownCustomerKeys,
  type CustomerRow,
} from '../store/customers.js';
import type { ReadDataUntil } from '../store/data-until.js';
import { findMeterReadings, type MeterReading } from '../store/meter-readings.js';
import { findMeter, type MeterRow } from '../store/meters.js';
import { readAs } from '../store/transaction.js';
import { totalOf, type UsageCount, type UsageCustomers, type UsageStore } from '../store/usage.js';
import type { Caller } from './caller.js';
import type { Reading } from './dependencies.js';
import { MemberReader } from './member-rules.js';
import { invalid, isRefusal, notFound, Refusal } from './refusal.js';

const RANGE_DEFAULT_MS = 7 * DAY_MS;
/** A month of minutes: an answer of a few megabytes, made in about a tenth of a second. */
const WINDOWS_MAX = 44_640;
/** Every event of the range is compared with each of them. */
const UNKNOWN_CUSTOMERS_MAX = 10_000;

export type MeterUsageRequest = {
  readonly meter_id: string;
  readonly external_customer_id?: string | undefined;
  readonly customer_id?: string | undefined;
  readonly filters?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
  readonly window_size?: WindowSize | undefined;
  readonly bucket_size?: WindowSize | undefined;
  readonly billing_anchor?: string | undefined;
  readonly timezone?: string | undefined;
};

export type UsageOfWindow = { readonly window: Interval; readonly value: Decimal };
export type MeterUsage = {
  readonly meter: MeterRow;
  readonly value: Decimal;
  readonly windows: readonly UsageOfWindow[];
  readonly dataUntil: InstantMs | null;
};

export type UsageReading = Reading & {
  readonly usage: UsageStore;
  readonly dataUntil: ReadDataUntil;
  readonly clock: Clock;
};

type Question = {
  readonly window: Interval;
  readonly filters: readonly MeterFilter[];
  readonly windowSize: WindowSize | null;
  readonly anchorMs: InstantMs | null;
  readonly timezone: string | null;
};

function readFilters(reader: MemberReader, request: MeterUsageRequest): readonly MeterFilter[] {
  const filters = request.filters ?? {};
  reader.note('filters', propertyFiltersProblem(filters));
  return Object.entries(filters).map(([key, values]) => ({ key, values }));
}

/** What a request asks, at an instant that stands for an absent end, or what is wrong with it. */
export function questionFrom(request: MeterUsageRequest, now: InstantMs): Question | Refusal {
  const reader = new MemberReader();
  const endMs = reader.instant('end_time', request.end_time) ?? now;
  const startMs = reader.instant('start_time', request.start_time) ?? endMs - RANGE_DEFAULT_MS;
  if (endMs < startMs) reader.note('end_time', 'lies before start_time');
  const question = {
    window: { startMs, endMs },
    filters: readFilters(reader, request),
    windowSize: request.window_size ?? null,
    anchorMs: reader.instant('billing_anchor', request.billing_anchor),
    timezone: reader.timezone('timezone', request.timezone),
  };
  return reader.refusal() ?? question;
}

type Subject = { readonly meter: MeterRow; readonly customer: CustomerRow | null };

/** The meter and the customer that the request names. */
function findSubject(
  { database }: Reading,
  caller: Caller,
  request: MeterUsageRequest,
): Promise<Subject | Refusal> {
  return readAs(database, caller.environment, async (transaction): Promise<Subject | Refusal> => {
    const meter = await findMeter(transaction, request.meter_id);
    if (meter === null) return notFound('meter', request.meter_id);
    // The external id decides when both are given, as with events (domain.md 7.2).
    const { external_customer_id: externalId, customer_id: id } = request;
    if (externalId === undefined && id === undefined) return { meter, customer: null };
    const customer =
      externalId === undefined
        ? await findCustomer(transaction, id ?? '')
        : await findCustomerByExternalId(transaction, externalId);
    return customer === null ? notFound('customer', externalId ?? id ?? '') : { meter, customer };
  });
}

/** Whose usage counts: the customer's, or that of all customers that exist. */
async function customersOf(
  { database, usage }: UsageReading,
  caller: Caller,
  subject: {
    readonly customer: CustomerRow | null;
    readonly reading: MeterReading;
    window: Interval;
  },
): Promise<UsageCustomers | Refusal> {
  const { customer, reading, window } = subject;
  if (customer !== null) {
    const keys = customerKeysOf({ id: customer.id, externalId: customer.external_id });
    return { kind: 'only', keys };
  }
  const question = { meter: reading, window, narrowedBy: [] };
  const keys = await usage.listCustomerKeys(caller.environment, question);
  if (keys === null) {
    return new Refusal('invalid_operation', 'more than 100000 customers; name one of them');
  }
  const unknown = await readAs(database, caller.environment, (transaction) =>
    findUnknownCustomerKeys(transaction, keys),
  );
  if (unknown.length > UNKNOWN_CUSTOMERS_MAX) {
    return new Refusal('invalid_operation', 'too many customers are not known yet; name one');
  }
  return { kind: 'all-but', keys: unknown };
}

/** A slot width of which every inner boundary of the windows is a multiple. */
function slotWidthOf(windows: readonly Interval[]): number {
  const fits = (width: number): boolean =>
    windows.slice(1).every((window) => window.startMs % width === 0);
  return [HOUR_MS, 15 * MINUTE_MS].find(fits) ?? MINUTE_MS;
}

function cut(window: Interval, to: Interval): Interval {
  return {
    startMs: Math.max(window.startMs, to.startMs),
    endMs: Math.min(window.endMs, to.endMs),
  };
}

function tooManyWindows(): Refusal {
  const problem = `the range has more than ${WINDOWS_MAX} windows`;
  return invalid({ window_size: `${problem}; take a larger window_size or a shorter range` });
}

/** The windows of a question; a range with far too many is refused before they are listed. */
export function windowsOf(question: Question, timezone: string): readonly Interval[] | Refusal {
  const { windowSize: size, anchorMs } = question;
  if (size === null) return [];
  if (windowCountAtLeast(question.window, size) > WINDOWS_MAX) return tooManyWindows();
  const windows: Interval[] = [];
  for (const window of windowsIn(question.window, { size, timezone, anchorMs })) {
    windows.push(cut(window, question.window));
    if (windows.length > WINDOWS_MAX) return tooManyWindows();
  }
  return windows;
}

/** Index of the last window that starts at or before the instant; the windows touch each other. */
function windowIndexAt(windows: readonly Interval[], instant: InstantMs): number {
  let low = 0;
  let high = windows.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((windows[middle]?.startMs ?? Infinity) <= instant) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * The value of every window. A meter that never resets counts what was before a window as well
 * (domain.md 7.6).
 */
function valuesOf(
  windows: readonly Interval[],
  counts: readonly UsageCount[],
  isCumulative: boolean,
): readonly UsageOfWindow[] {
  const values = windows.map(() => ZERO);
  for (const { slotMs, count } of counts) {
    const index = windowIndexAt(windows, slotMs);
    values[index] = (values[index] ?? ZERO).plus(count);
  }
  let before = ZERO;
  return windows.map((window, index) => {
    const inside = values[index] ?? ZERO;
    before = before.plus(inside);
    return { window, value: isCumulative ? before : inside };
  });
}

/** POST /events/usage/meter (api.md 10.3). */
export async function readMeterUsage(
  dependencies: UsageReading,
  caller: Caller,
  request: MeterUsageRequest,
): Promise<MeterUsage | Refusal> {
  const question = questionFrom(request, dependencies.clock.now());
  if (isRefusal(question)) return question;
  const subject = await findSubject(dependencies, caller, request);
  if (isRefusal(subject)) return subject;
  const timezone = question.timezone ?? subject.customer?.timezone ?? 'UTC';
  const windows = windowsOf(question, timezone);
  if (isRefusal(windows)) return windows;
  // Before anything is counted, so that it holds for every count.
  const dataUntil = await dependencies.dataUntil();
  const counted = await countEvents(dependencies, caller, { subject, question, windows });
  if (isRefusal(counted)) return counted;
  const isCumulative = subject.meter.reset_usage === 'NEVER';
  return {
    meter: subject.meter,
    value: totalOf(counted),
    windows: windows.length === 0 ? [] : valuesOf(windows, counted, isCumulative),
    dataUntil,
  };
}

async function countEvents(
  dependencies: UsageReading,
  caller: Caller,
  wish: { readonly subject: Subject; readonly question: Question; windows: readonly Interval[] },
): Promise<readonly UsageCount[] | Refusal> {
  const { subject, question, windows } = wish;
  const readings = await findMeterReadings(dependencies.database, caller.environment, [
    subject.meter.id,
  ]);
  const reading = readings.get(subject.meter.id);
  if (reading === undefined) return [];
  const startMs = reading.resetUsage === 'NEVER' ? 0 : question.window.startMs;
  const window = { startMs, endMs: question.window.endMs };
  const { customer } = subject;
  const customers = await customersOf(dependencies, caller, { customer, reading, window });
  if (isRefusal(customers)) return customers;
  const counts = await dependencies.usage.count({
    environment: caller.environment,
    customers,
    questions: [{ meter: reading, window, narrowedBy: question.filters }],
    properties: [],
    slotMs: windows.length === 0 ? null : slotWidthOf(windows),
  });
  return counts ?? invalid({ window_size: 'the answer would have more than 1000000 rows' });
}
