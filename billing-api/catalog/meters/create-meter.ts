import type { InstantMs } from '../../../contract/instant.js';
import type { MeterFilter } from '../../../contract/meter.js';
import { assertPresent } from '../../../runtime/failure.js';
import { insertMeter, type MeterRow } from './meters-store.js';
import { newRecordColumns, type NewRow } from '../../records/records.js';
import { type Transaction, type WriteDependencies, writeUnit } from '../../records/unit.js';
import type { Caller } from '../../records/caller.js';
import { MemberReader } from '../../records/member-rules.js';
import { readAggregation, readMeterFilters, type AggregationRequest } from './meter-rules.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';

/** A meter as POST /meters names it; types and lengths are already checked. */
export type MeterRequest = {
  readonly name: string;
  readonly event_name: string;
  readonly aggregation: AggregationRequest;
  readonly filters?: readonly MeterFilter[] | undefined;
  readonly reset_usage?: 'BILLING_PERIOD' | 'NEVER' | undefined;
  readonly metadata?: Readonly<Record<string, string | number | boolean>> | undefined;
};

/** The columns that a request decides, or what is wrong with it. */
export function meterColumnsFrom(request: MeterRequest): NewRow | Refusal {
  const reader = new MemberReader();
  const columns = {
    name: reader.name('name', request.name),
    event_name: reader.name('event_name', request.event_name),
    filters: readMeterFilters(reader, request.filters ?? []),
    ...readAggregation(reader, request),
    reset_usage: request.reset_usage ?? 'BILLING_PERIOD',
    version: 1,
    metadata: reader.metadata(request.metadata),
  };
  return reader.refusal() ?? columns;
}

type NewMeter = {
  readonly caller: Caller;
  readonly id: string;
  readonly now: InstantMs;
  readonly columns: NewRow;
};

/** Stores a meter inside a transaction of the caller's environment. */
export async function storeMeter(transaction: Transaction, meter: NewMeter): Promise<MeterRow> {
  const common = newRecordColumns(meter.caller, meter.id, meter.now);
  const row = await insertMeter(transaction, { ...common, ...meter.columns });
  return assertPresent(row, 'the new meter');
}

/** POST /meters: a meter that counts all events, those that came before it included. */
export async function createMeter(
  { database, clock, createId }: WriteDependencies,
  caller: Caller,
  request: MeterRequest,
): Promise<MeterRow | Refusal> {
  const columns = meterColumnsFrom(request);
  if (isRefusal(columns)) return columns;
  const id = createId('meter');
  const now = clock.now();
  return writeUnit({ database, clock, createId }, caller, ({ tx: transaction }) =>
    storeMeter(transaction, { caller, id, now, columns }),
  );
}
