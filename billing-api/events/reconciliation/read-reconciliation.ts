import type { Environment } from '../../../contract/environment.js';
import { DAY_MS, HOUR_MS, type InstantMs, type Interval } from '../../../contract/instant.js';
import type { Clock } from '../../../runtime/clock.js';
import { readCheckpoints, type Checkpoints } from '../../usage/checkpoints.js';
import { findUnknownCustomerKeys } from '../../customers/customers-store.js';
import { findCountingMeters } from '../lookup/event-meters.js';
import {
  boundsOf,
  type HourOutcomes,
  type FinishedEvents,
  type HoursQuery,
} from './finished-events.js';
import type { PendingLog } from '../pending-log.js';
import { type ReadDependencies, readUnit } from '../../records/unit.js';
import type { Caller } from '../../records/caller.js';
import { MemberReader } from '../../records/member-rules.js';
import { isRefusal, Refusal } from '../../records/refusal.js';
import { readRange } from '../../records/time-range.js';

const RANGE_DAYS_MAX = 31;
/** Their names travel to PostgreSQL and back. */
const CUSTOMERS_MAX = 200_000;

export type ReconciliationRequest = {
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
};

/**
 * The events of some hours of receipt, by where they are. `accepted` is counted when events are
 * decoded, the other figures when they are read back: they agree when nothing was lost or doubled.
 */
export type Balance = {
  readonly accepted: number;
  readonly counted: number;
  readonly unmatchedCustomer: number;
  readonly unmatchedMeter: number;
  readonly duplicate: number;
  readonly conflict: number;
  readonly pending: number;
};

export type Reconciliation = {
  readonly hours: readonly (Balance & { readonly hourMs: InstantMs })[];
  readonly totals: Balance;
};

export type ReconciliationDependencies = ReadDependencies & {
  readonly clock: Clock;
  readonly finishedEvents: FinishedEvents;
  readonly pendingLog: PendingLog;
};

const EMPTY: Balance = {
  accepted: 0,
  counted: 0,
  unmatchedCustomer: 0,
  unmatchedMeter: 0,
  duplicate: 0,
  conflict: 0,
  pending: 0,
};

/** 0 once nothing is pending, unless events were lost or doubled. */
export function differenceOf(balance: Balance): number {
  const { accepted, counted, unmatchedCustomer, unmatchedMeter, duplicate, pending } = balance;
  return accepted - counted - unmatchedCustomer - unmatchedMeter - duplicate - pending;
}

const hourOf = (instant: InstantMs): InstantMs => Math.floor(instant / HOUR_MS) * HOUR_MS;

/** The whole hours that a request's range touches. */
function hoursFrom(request: ReconciliationRequest, now: InstantMs): Interval | Refusal {
  const reader = new MemberReader();
  const range = readRange(reader, request, { now, days: 1 });
  if (range.endMs - range.startMs > RANGE_DAYS_MAX * DAY_MS) {
    reader.note('start_time', `lies more than ${RANGE_DAYS_MAX} days before end_time`);
  }
  const endMs = -hourOf(-range.endMs);
  return reader.refusal() ?? { startMs: hourOf(range.startMs), endMs };
}

/** Figures by hour, of which each source adds its own. */
class Ledger {
  readonly #hours: ReadonlyMap<InstantMs, { -readonly [Member in keyof Balance]: number }>;

  constructor({ startMs, endMs }: Interval) {
    const count = Math.round((endMs - startMs) / HOUR_MS);
    const hours = Array.from({ length: count }, (_, index) => startMs + index * HOUR_MS);
    this.#hours = new Map(hours.map((hourMs) => [hourMs, { ...EMPTY }]));
  }

  /** Adds to the hour that contains the instant; hours that nobody asked for are left out. */
  add(instant: InstantMs, figures: Partial<Balance>): void {
    const hour = this.#hours.get(hourOf(instant));
    if (hour === undefined) return;
    for (const member of Object.keys(EMPTY) as (keyof Balance)[]) {
      hour[member] += figures[member] ?? 0;
    }
  }

  result(): Reconciliation {
    const totals = { ...EMPTY };
    for (const hour of this.#hours.values()) {
      for (const member of Object.keys(EMPTY) as (keyof Balance)[]) totals[member] += hour[member];
    }
    return { hours: [...this.#hours].map(([hourMs, hour]) => ({ hourMs, ...hour })), totals };
  }
}

/** Events of the log that are not finished, by hour. */
async function addPending(
  { pendingLog }: ReconciliationDependencies,
  ledger: Ledger,
  of: { readonly environment: Environment; readonly checkpoints: Checkpoints },
): Promise<Refusal | null> {
  const { checkpoints, environment } = of;
  const end = await pendingLog.scan({ checkpoints, partition: null }, ({ record }) => {
    const { tenantId, environmentId } = record.environment;
    const isOwn = tenantId === environment.tenantId && environmentId === environment.environmentId;
    const { length } = record.events;
    if (isOwn) ledger.add(record.receivedAtMs, { accepted: length, pending: length });
  });
  if (end === 'complete') return null;
  return new Refusal(
    'service_unavailable',
    'too many events wait to be processed to count them one by one; try again',
  );
}

/** Stored events by what becomes of them now. */
async function readFates(
  { database, finishedEvents }: ReconciliationDependencies,
  environment: Environment,
  question: HoursQuery,
): Promise<readonly HourOutcomes[] | Refusal> {
  const keys = await finishedEvents.customerKeys(question, CUSTOMERS_MAX);
  if (keys === null) {
    const problem = `events of more than ${CUSTOMERS_MAX} customers; take a shorter range`;
    return new Refusal('invalid_operation', problem);
  }
  const meters = await findCountingMeters(database, environment, null);
  const unknownKeys = await readUnit({ database }, environment, ({ tx: transaction }) =>
    findUnknownCustomerKeys(transaction, keys),
  );
  return finishedEvents.fates(question, { meters, unknownKeys });
}

async function addFinished(
  dependencies: ReconciliationDependencies,
  ledger: Ledger,
  question: HoursQuery & { readonly environment: Environment },
): Promise<Refusal | null> {
  const { finishedEvents } = dependencies;
  const [accepted, repeats, fates] = await Promise.all([
    finishedEvents.accepted(question),
    finishedEvents.repeats(question),
    readFates(dependencies, question.environment, question),
  ]);
  if (isRefusal(fates)) return fates;
  for (const hour of accepted) ledger.add(hour.hourMs, { accepted: hour.accepted });
  for (const { hourMs, copies, conflicts } of repeats) {
    ledger.add(hourMs, { duplicate: copies, conflict: conflicts });
  }
  for (const { hourMs, ...fate } of fates) ledger.add(hourMs, fate);
  return null;
}

/** GET /events/reconciliation (domain.md 7.2, architecture I5). */
export async function readReconciliation(
  dependencies: ReconciliationDependencies,
  caller: Caller,
  request: ReconciliationRequest,
): Promise<Reconciliation | Refusal> {
  const hours = hoursFrom(request, dependencies.clock.now());
  if (isRefusal(hours)) return hours;
  const { environment } = caller;
  // First of all: what is finished by these stays so, and the rest is read from the log.
  const checkpoints = await readCheckpoints(dependencies.database);
  const bounds = boundsOf(checkpoints);
  const ledger = new Ledger(hours);
  const refusal =
    (await addFinished(dependencies, ledger, { environment, hours, bounds })) ??
    (await addPending(dependencies, ledger, { environment, checkpoints }));
  return refusal ?? ledger.result();
}
