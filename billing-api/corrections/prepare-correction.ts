import type { ClickHouse } from '../../clickhouse/client.js';
import { queriesFor } from '../../clickhouse/request-queries.js';
import { formatInstant, type InstantMs } from '../../contract/instant.js';
import { assertPresent } from '../../runtime/failure.js';
import {
  CORRECTIONS,
  type CorrectionRequest,
  type CorrectionRow,
  type CorrectionSummary,
} from '../declarations/corrections/correction.resource.js';
import { CORRECTION } from '../domain/lifecycle/correction-lifecycle.js';
import { findEventCustomerKeys } from '../events/event-customers.js';
import { findEventPositions } from '../events/event-positions.js';
import { readInstant } from '../records/member-rules.js';
import { moveRecord } from '../records/move-record.js';
import type { JobActor, Occasion } from '../records/occasion.js';
import { readRecord } from '../records/find-record.js';
import { isRefusal, Refusal } from '../records/refusal.js';
import { mustRead, mustWrite, type Unit, type WriteDependencies } from '../records/unit.js';
import type { UsageReadDependencies } from '../usage/usage-customers.js';
import { findCheckpoints } from '../usage/watermark/checkpoints.js';
import { addedEventsOf, type CorrectionInput } from './correction-operations.js';
import {
  countFiltered,
  readAt,
  readTouched,
  writeEvents,
  writeFiltered,
  writeMinutes,
  type CorrectedEvent,
  type CorrectionTarget,
  type CountedEvent,
  type EventFilter,
  type FilterChange,
  type TouchedStretch,
} from './correction-store.js';
import { findInForce, nextNumber, noteStretches } from './in-force.js';
import { findTouchedInvoices, touchedInvoices } from './touched-invoices.js';
import { findTouchedMeters, touchedQuantities } from './touched-quantities.js';

/** Events of one correction, at most. */
const EVENTS_MAX = 5_000_000;

export type PrepareDependencies = WriteDependencies &
  UsageReadDependencies & {
    /** As the programs' user, who writes. */
    readonly clickHouse: ClickHouse;
  };

/** What a preparation knows before it looks for events. */
type Known = {
  readonly row: CorrectionRow;
  readonly target: CorrectionTarget;
  readonly lastMove: number;
  /** The customer keys that a filter names; null for everybody. */
  readonly customerKeys: readonly string[] | null;
  readonly now: InstantMs;
};

const instantOf = (text: string): InstantMs =>
  assertPresent(readInstant(text), 'an instant that was checked');

function known(
  dependencies: PrepareDependencies,
  occasion: Occasion<JobActor>,
  { correctionId }: CorrectionInput,
): Promise<Known | null> {
  const { environment } = occasion;
  // It writes: it draws a number.
  return mustWrite(dependencies, occasion, async (unit) => {
    const row = await readRecord(unit, CORRECTIONS, correctionId);
    if (row.correction_status !== 'preparing') return null;
    const { filter = {} } = row.request;
    const customerKeys = await findEventCustomerKeys(unit, filter);
    const { numbers, lastMove } = await findInForce(unit);
    const { ends } = await findCheckpoints(unit.tx);
    const number = await nextNumber(unit);
    const target = { environment, number, inForce: numbers, ends };
    return { row, target, lastMove, customerKeys, now: unit.now };
  });
}

function filterOf(
  filter: NonNullable<CorrectionRequest['filter']>,
  customerKeys: readonly string[] | null,
): EventFilter {
  const { event_name, start_time, end_time, source = null, property_filters = {} } = filter;
  return {
    eventName: event_name.trim(),
    window: { startMs: instantOf(start_time), endMs: instantOf(end_time) },
    customerKeys,
    source,
    properties: Object.entries(property_filters),
  };
}

function changeOf({ type, request: { change } }: CorrectionRow): FilterChange {
  if (type === 'withdraw') return null;
  const { external_customer_id: customer, properties = {}, remove_properties = [] } = change ?? {};
  return {
    set: properties,
    removed: remove_properties,
    customerKey: customer === undefined ? null : `e:${customer}`,
  };
}

/** Writes the events that a filter finds; a refusal for too many, or for none. */
async function writeByFilter(
  { clickHouse }: PrepareDependencies,
  { row, target, customerKeys }: Known,
): Promise<Refusal | null> {
  const filter = filterOf(assertPresent(row.request.filter, 'the filter'), customerKeys);
  const count = await countFiltered(clickHouse, target, filter);
  if (count === 0) return new Refusal('not_found', 'no event that counts matches the filter');
  if (count > EVENTS_MAX) {
    const text = `the filter finds ${count} events; one correction takes at most ${EVENTS_MAX}`;
    return new Refusal('invalid_operation', `${text}: narrow it`);
  }
  await writeFiltered(clickHouse, target, { filter, change: changeOf(row) });
  return null;
}

type EventRequest = NonNullable<CorrectionRequest['events']>[number];

function amended(before: CountedEvent, event: EventRequest): CorrectedEvent {
  const { external_customer_id: customer, timestamp, properties = {} } = event;
  const { remove_properties: removed = [] } = event;
  const left = Object.entries(before.properties).filter(([key]) => !removed.includes(key));
  return {
    effect: 'amended',
    before,
    after: {
      customerKey: customer === undefined ? before.customerKey : `e:${customer}`,
      customerId: customer === undefined ? before.customerId : null,
      timestampMs: timestamp === undefined ? before.timestampMs : instantOf(timestamp),
      properties: Object.fromEntries([...left, ...Object.entries(properties)]),
    },
  };
}

const listed = (ids: readonly string[]): string => {
  const more = ids.length > 5 ? ` and ${ids.length - 5} more` : '';
  return ids.slice(0, 5).join(', ') + more;
};

/** Writes events that are named by id; a refusal that names those that cannot be corrected. */
async function writeById(
  { clickHouse }: PrepareDependencies,
  { row, target }: Known,
): Promise<Refusal | null> {
  const events = row.request.events ?? [];
  const ids = events.map(({ event_id: id }) => id);
  const queries = queriesFor(clickHouse, target.environment);
  const positions = await findEventPositions(queries, target.environment, ids);
  const found = new Map(
    (await readAt(clickHouse, target, [...positions.values()])).map((event) => [
      event.eventId,
      event,
    ]),
  );
  const missing = ids.filter((id) => !found.has(id));
  if (missing.length > 0) {
    const why = 'do not count: they are unknown, not counted yet, withdrawn, or have expired';
    return new Refusal('not_found', `events ${why}: ${listed(missing)}`);
  }
  const corrected = events.map((event): CorrectedEvent => {
    const before = assertPresent(found.get(event.event_id), 'an event that was found');
    if (row.type === 'amend') return amended(before, event);
    return { effect: 'withdrawn', before, after: { ...before, properties: {} } };
  });
  await writeEvents(clickHouse, target, corrected);
  return null;
}

/** Writes the events of a backfill, for its preview alone; a refusal when one of them is there. */
async function writeAdded(
  { clickHouse }: PrepareDependencies,
  { row, target, now }: Known,
): Promise<Refusal | null> {
  const events = addedEventsOf(row);
  const ids = events.map(({ eventId }) => eventId);
  const queries = queriesFor(clickHouse, target.environment);
  const positions = await findEventPositions(queries, target.environment, ids);
  const there = ids.filter((id) => positions.has(id));
  if (there.length > 0) {
    const text = 'events have been sent already, and an id counts once';
    return new Refusal('already_exists', `${text}: ${listed(there)}`);
  }
  const added = events.map((event, index): CorrectedEvent => {
    const { externalCustomerId, customerId, properties, timestampMs } = event;
    const customerKey = externalCustomerId === null ? `i:${customerId}` : `e:${externalCustomerId}`;
    const after = { customerKey, customerId, timestampMs, properties };
    const { eventId, eventName, source, isTimestampGiven } = event;
    const position = { logId: '', partition: 0, offset: target.number, index };
    const before = { ...after, eventId, eventName, source, isTimestampGiven, position };
    return {
      effect: 'added',
      before: { ...before, receivedAtMs: now, appendedAtMs: now },
      after,
    };
  });
  await writeEvents(clickHouse, target, added);
  return null;
}

async function summaryOf(
  dependencies: PrepareDependencies,
  { row: { id }, target: { environment, number } }: Known,
  touched: readonly TouchedStretch[],
): Promise<CorrectionSummary> {
  const { meters, found } = await mustRead(dependencies, { environment }, async (unit) => {
    const counting = await findTouchedMeters(unit, touched);
    return {
      meters: counting,
      found: await findTouchedInvoices(unit, { meters: counting, touched }),
    };
  });
  const of = { meters, touched, correction: { id, number } };
  const { ids, count } = found;
  const sum = (name: 'events' | 'customers') => touched.reduce((all, one) => all + one[name], 0);
  return {
    events: sum('events'),
    customers: sum('customers'),
    event_names: touched.map(({ eventName }) => eventName),
    start_time: formatInstant(Math.min(...touched.map(({ startMs }) => startMs))),
    end_time: formatInstant(Math.max(...touched.map(({ endMs }) => endMs))),
    quantities: await touchedQuantities(dependencies, environment, of),
    invoices: await touchedInvoices(dependencies, environment, { ids, ...of }),
    invoice_count: count,
  };
}

type Prepared = {
  readonly touched: readonly TouchedStretch[];
  readonly summary: CorrectionSummary;
};

async function write(dependencies: PrepareDependencies, of: Known): Promise<Prepared | Refusal> {
  const { type, request } = of.row;
  const refusal =
    type === 'backfill'
      ? await writeAdded(dependencies, of)
      : request.filter === undefined
        ? await writeById(dependencies, of)
        : await writeByFilter(dependencies, of);
  if (refusal !== null) return refusal;
  await writeMinutes(dependencies.clickHouse, of.target);
  const touched = await readTouched(dependencies.clickHouse, of.target);
  return { touched, summary: await summaryOf(dependencies, of, touched) };
}

async function store(
  unit: Unit,
  { row, target: { number }, lastMove }: Known,
  prepared: Prepared | Refusal,
): Promise<CorrectionRow> {
  const move = { target: { id: row.id, isExpected: () => true }, lifecycle: CORRECTION } as const;
  if (isRefusal(prepared)) {
    const patch = () => ({ error: prepared.message });
    return moveRecord(unit, CORRECTIONS, { ...move, move: 'fail', to: 'failed', patch });
  }
  await noteStretches(unit, row, { number, touched: prepared.touched });
  const patch = () => ({
    number,
    token: unit.newId('preview'),
    summary: prepared.summary,
    moves_known: lastMove,
    prepared_at: unit.now,
  });
  return moveRecord(unit, CORRECTIONS, { ...move, move: 'prepare', to: 'ready', patch });
}

/**
 * Finds the events of a correction and writes how they would count, under a number of this attempt
 * alone: what an attempt that was cut short has written is never read.
 * @throws DependencyError when a database fails; then it is tried again.
 */
export async function prepareCorrection(
  dependencies: PrepareDependencies,
  occasion: Occasion<JobActor>,
  input: CorrectionInput,
): Promise<void> {
  const of = await known(dependencies, occasion, input);
  if (of === null) return;
  const prepared = await write(dependencies, of);
  await mustWrite(dependencies, occasion, (unit) => store(unit, of, prepared));
}
